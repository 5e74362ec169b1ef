// Hearing of what other nodes write: SUBSCRIBE on a connection of its own, waited for by a thread.
//
// A commit that concerns others (work to be claimed, runs that ended) publishes to the store's
// channel; Redis hands that on after the commit's effects are in its log.
//
//   [N1] Nothing depends on it: a node that heard nothing looks around when it renews its lease.
//   [N2] After each connection the listener is called once, because something may have been missed.
//   [N3] What our own writer sent is no news.
//   [N4] A lost connection is made again, with pauses that grow.
#include "base/memory.h"
#include "store/redis_internal.h"
#include "store/store.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 5000 };

struct RedisListener {
    RedisLink link;
    StoreListener listener;
    pthread_t thread;
    int stop_pipe[2]; // closing the writing end ends the thread
};

// True when the thread is to end. -1 waits without end, and for the server too.
static bool wait_for(const RedisListener *self, int timeout_ms) {
    struct pollfd files[2] = {{.fd = self->stop_pipe[0], .events = POLLIN}};
    nfds_t count = 1;
    if (timeout_ms < 0) {
        files[1] = (struct pollfd){.fd = self->link.context->fd, .events = POLLIN};
        count = 2;
    }
    while (poll(files, count, timeout_ms) < 0 && errno == EINTR) {}
    return files[0].revents != 0;
}

static Status subscribe(RedisListener *self) {
    RedisLink *link = &self->link;
    redis_link_drop(link);
    TRY(redis_link_reach(link, NULL));
    redis_channel_name(&link->name, link->address);
    redisReply *reply = NULL;
    Str words[] = {STR("SUBSCRIBE"), buf_str(&link->name)};
    TRY(redis_link_command(link, words, 2, &reply, NULL));
    freeReplyObject(reply);
    return OK;
}

// Takes what has arrived; true when some of it is news. [N3]
static bool messages_take(RedisListener *self) {
    RedisLink *link = &self->link;
    bool is_news = false;
    for (;;) {
        void *reply = NULL;
        if (redisGetReplyFromReader(link->context, &reply) != REDIS_OK) redis_link_drop(link);
        if (reply == NULL) return is_news;
        is_news |= !redis_reply_is(reply, 2, link->address->writer);
        freeReplyObject(reply);
    }
}

static void *listener_main(void *context) {
    RedisListener *self = context;
    for (int pause_ms = PAUSE_FIRST_MS;;) {
        if (subscribe(self) != OK) { // [N4]
            if (wait_for(self, pause_ms)) return NULL;
            pause_ms = 2 * pause_ms < PAUSE_MAX_MS ? 2 * pause_ms : PAUSE_MAX_MS;
            continue;
        }
        pause_ms = PAUSE_FIRST_MS;
        bool is_news = true; // [N2]
        while (redis_link_is_alive(&self->link)) {
            if (is_news) self->listener.changed(self->listener.context);
            if (wait_for(self, -1)) return NULL;
            if (redisBufferRead(self->link.context) != REDIS_OK) redis_link_drop(&self->link);
            is_news = redis_link_is_alive(&self->link) && messages_take(self);
        }
    }
}

RedisListener *redis_listener_start(RedisAddress *address, const StoreListener *listener) {
    RedisListener *self = mem_zalloc(sizeof(RedisListener));
    redis_address_join(address);
    redis_link_init(&self->link, address);
    self->listener = *listener;
    bool is_made = pipe2(self->stop_pipe, O_CLOEXEC) == 0;
    if (is_made && pthread_create(&self->thread, NULL, listener_main, self) == 0) return self;
    if (is_made) {
        close(self->stop_pipe[0]);
        close(self->stop_pipe[1]);
    }
    redis_link_done(&self->link);
    redis_address_leave(address);
    mem_free(self);
    return NULL; // [N1]
}

void redis_listener_stop(RedisListener *self) {
    if (self == NULL) return;
    close(self->stop_pipe[1]);
    pthread_join(self->thread, NULL);
    close(self->stop_pipe[0]);
    RedisAddress *address = self->link.address;
    redis_link_done(&self->link);
    redis_address_leave(address);
    mem_free(self);
}
