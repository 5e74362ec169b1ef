// Deadlines and watches.
//
// The thread sleeps on two descriptors, a timer and the set of watched sockets, without the lock.
// What the set has to say is taken from it with the server locked: whoever clears a watch holds the
// same lock, so a watch that is reported is still there. Invariants [ticker-1]-[ticker-3] are in
// ticker.h.
//
// The timer follows the wall clock, as deadlines do, also when somebody sets it.
//
// Not here: what is due (connection.c, stream.c, routes/work/claim.c), who waits for what (hub.c).
#include "server/http/ticker.h"
#include "base/array.h"
#include "server/server.h"
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { WATCH_EVENTS_MAX = 64 };

// ---- deadlines ----

// With the server locked.
static void set_timer(ServerTicker *ticker, int64_t at_ms) {
    ticker->tick_at_ms = at_ms;
    if (ticker->timer < 0) return; // it was never started
    if (at_ms < 1) at_ms = 1;      // 0 would stop it
    struct itimerspec at = {
        .it_value = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000}};
    if (at_ms == INT64_MAX) at = (struct itimerspec){0};
    int failed = timerfd_settime(ticker->timer, TFD_TIMER_ABSTIME, &at, NULL);
    ASSERT(failed == 0);
}

void ticker_stir(Server *server) { set_timer(&server->ticker, 0); }

void server_set_deadline(Server *server, Deadline *deadline, int64_t at_ms) {
    pthread_mutex_lock(&server->lock);
    ServerTicker *ticker = &server->ticker;
    heap_remove(&ticker->deadlines, &deadline->node);
    deadline->node.at = at_ms;
    heap_push(&ticker->deadlines, &deadline->node);
    if (at_ms < ticker->tick_at_ms) set_timer(ticker, at_ms);
    pthread_mutex_unlock(&server->lock);
}

void server_repeat_deadline(Server *server, Deadline *deadline, int64_t at_ms) {
    deadline->node.at = at_ms;
    heap_push(&server->ticker.deadlines, &deadline->node);
}

// The timer is left as it is: moving deadlines about, as every request does, costs no system call.
void server_clear_deadline(Server *server, Deadline *deadline) {
    pthread_mutex_lock(&server->lock);
    heap_remove(&server->ticker.deadlines, &deadline->node);
    pthread_mutex_unlock(&server->lock);
}

// With the server locked. Answers when to look again.
static int64_t fire_deadlines(ServerTicker *ticker, int64_t now_ms) {
    for (HeapNode *node; (node = heap_peek(&ticker->deadlines)) != NULL;) {
        if (node->at > now_ms) return node->at;
        (void)heap_pop(&ticker->deadlines);
        Deadline *deadline = container_of(node, Deadline, node);
        deadline->due(deadline);
    }
    return INT64_MAX;
}

// ---- watches ----

// With the server locked.
static void forget(ServerTicker *ticker, Watch *watch) {
    (void)epoll_ctl(ticker->watched, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->is_set = false;
}

void server_watch(Server *server, Watch *watch, int fd) {
    // Ends and errors only: a socket with bytes to read is of no interest.
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.ptr = watch};
    pthread_mutex_lock(&server->lock);
    ASSERT(!watch->is_set || watch->fd == fd);
    if (!watch->is_set) {
        watch->fd = fd;
        watch->is_set = epoll_ctl(server->ticker.watched, EPOLL_CTL_ADD, fd, &event) == 0;
        if (!watch->is_set) watch->left(watch);
    }
    pthread_mutex_unlock(&server->lock);
}

void server_unwatch(Server *server, Watch *watch) {
    pthread_mutex_lock(&server->lock);
    if (watch->is_set) forget(&server->ticker, watch); // [ticker-3]
    pthread_mutex_unlock(&server->lock);
}

// With the server locked. [ticker-2]
static void hear_watches(ServerTicker *ticker) {
    struct epoll_event events[WATCH_EVENTS_MAX];
    int count;
    do {
        count = epoll_wait(ticker->watched, events, WATCH_EVENTS_MAX, 0);
        for (int i = 0; i < count; i++) {
            Watch *watch = events[i].data.ptr;
            forget(ticker, watch);
            watch->left(watch); // it may be gone after that
        }
    } while (count == WATCH_EVENTS_MAX);
}

// ---- the thread ----

static void *ticker_main(void *context) {
    Server *server = context;
    ServerTicker *ticker = &server->ticker;
    struct pollfd sources[] = {{.fd = ticker->timer, .events = POLLIN},
                               {.fd = ticker->watched, .events = POLLIN}};
    pthread_mutex_lock(&server->lock);
    while (!server->is_stopping) {
        set_timer(ticker, fire_deadlines(ticker, server_clock_ms()));
        pthread_mutex_unlock(&server->lock);
        (void)poll(sources, COUNT_OF(sources), -1);
        pthread_mutex_lock(&server->lock);
        hear_watches(ticker);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

Status ticker_start(Server *server, Diag *diag) {
    ServerTicker *ticker = &server->ticker;
    heap_init(&ticker->deadlines);
    ticker->tick_at_ms = INT64_MAX;
    ticker->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    ticker->watched = epoll_create1(EPOLL_CLOEXEC);
    int failure = ticker->timer < 0 || ticker->watched < 0 ? errno : 0;
    if (failure == 0) failure = pthread_create(&ticker->thread, NULL, ticker_main, server);
    ticker->is_running = failure == 0;
    if (failure == 0) return OK;
    return diag_set(diag, ERR_UNAVAILABLE, "LISTEN_FAILED",
                    "the server's timer cannot be started: %s; look at the limits on open files, "
                    "threads and memory (ulimit -n, -u, -v)",
                    strerror(failure));
}

void ticker_join(Server *server) {
    if (server->ticker.is_running) pthread_join(server->ticker.thread, NULL);
    server->ticker.is_running = false;
}

void ticker_done(Server *server) {
    ServerTicker *ticker = &server->ticker;
    ASSERT(!ticker->is_running);
    if (ticker->timer >= 0) close(ticker->timer);
    if (ticker->watched >= 0) close(ticker->watched);
    heap_done(&ticker->deadlines);
}
