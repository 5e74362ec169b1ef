// RedisLink: one connection to the server, used by one thread at a time.
//
// hiredis connects and reads the protocol; sending is done here, because a library must not let its
// host be killed by SIGPIPE.
//
//   [redis-link-1] A connection that failed, or did not answer in time, is dropped at once, and
//        with it what was known of the server. What became of a commit is settled before anything
//        else is said to the server (remote.h).
//   [redis-link-2] Every command is answered before the next one is sent.
//   [redis-link-3] Nobody waits long for a server that stands still: after a few seconds without an
//        answer a new connection is tried. One that is busy with a long function says at least that
//        (BUSY).
#include "base/env.h"
#include "store/redis/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

void redis_link_init(RedisLink *link, RedisAddress *address) {
    *link = (RedisLink){.address = address};
    snprintf(link->holder, sizeof(link->holder), "%016llx",
             (unsigned long long)env_random_u64(env_system()));
    redis_call_init(link);
    buf_init(&link->keys, REDIS_CALL_SIZE_MAX);
    buf_init(&link->arguments, REDIS_CALL_SIZE_MAX);
    buf_init(&link->name, 1 << 10);
    buf_init(&link->bytes, REDIS_CALL_SIZE_MAX);
}

void redis_link_drop(RedisLink *link) {
    if (link->context != NULL) redisFree(link->context);
    link->context = NULL;
    link->layout[0] = '\0';
}

void redis_link_done(RedisLink *link) {
    redis_link_drop(link);
    buf_done(&link->keys);
    buf_done(&link->arguments);
    buf_done(&link->name);
    buf_done(&link->bytes);
}

// ---- sending and receiving ----

static Status lose(RedisLink *link, const char *reason, Diag *diag) { // [redis-link-1]
    char text[160];
    snprintf(text, sizeof(text), "%s", reason);
    redis_link_drop(link);
    return redis_lost(text, diag);
}

Status redis_link_send(RedisLink *link, Str bytes, Diag *diag) {
    if (link->context == NULL) return redis_lost(NULL, diag);
    for (size_t sent = 0; sent < bytes.len;) {
        ssize_t count = send(link->context->fd, bytes.data + sent, bytes.len - sent, MSG_NOSIGNAL);
        if (count > 0) sent += (size_t)count;
        else if (count == 0 || errno != EINTR) return lose(link, strerror(errno), diag);
    }
    return OK;
}

static redisContext *context_new(const RedisAddress *address, int timeout_ms) {
    struct timeval patience = {.tv_sec = timeout_ms / 1000};
    return address->path != NULL ? redisConnectUnixWithTimeout(address->path, patience)
                                 : redisConnectWithTimeout(address->host, address->port, patience);
}

static bool wait_for_file(int file, int timeout_ms) {
    struct pollfd poll_for = {.fd = file, .events = POLLIN};
    int count;
    do count = poll(&poll_for, 1, timeout_ms);
    while (count < 0 && errno == EINTR);
    return count > 0;
}

// Whether the server says anything to a new client. [redis-link-3]
static bool server_answers(const RedisLink *link) {
    redisContext *context = context_new(link->address, REDIS_SILENCE_MS);
    if (context == NULL) return false;
    static const char ping[] = "PING\r\n";
    bool is_heard = context->err == 0 &&
                    send(context->fd, ping, sizeof(ping) - 1, MSG_NOSIGNAL) > 0 &&
                    wait_for_file(context->fd, REDIS_SILENCE_MS);
    redisFree(context);
    return is_heard;
}

static int64_t now_ns(void) { return (int64_t)env_monotonic_ns(env_system()); }

// [redis-link-3] So that those who have other connections, or come back at once, need not find out
//      too.
static void silence_note(RedisLink *link) {
    atomic_store(&link->address->silent_until_ns, now_ns() + REDIS_SILENCE_KEPT_MS * 1000000LL);
}

static bool is_silent(const RedisLink *link) {
    int64_t until_ns = atomic_load(&link->address->silent_until_ns);
    return until_ns != 0 && now_ns() < until_ns;
}

// False: nothing came in time, or nothing will come any more.
static bool wait_for_bytes(RedisLink *link, int timeout_ms) {
    for (int waited_ms = 0; waited_ms < timeout_ms;) {
        int left_ms = timeout_ms - waited_ms;
        int wait_ms = left_ms < REDIS_SILENCE_MS ? left_ms : REDIS_SILENCE_MS;
        if (wait_for_file(link->context->fd, wait_ms)) return true;
        waited_ms += wait_ms;
        if (link->is_new || !server_answers(link)) {
            silence_note(link);
            return false;
        }
    }
    return false;
}

Status redis_link_receive(RedisLink *link, int timeout_ms, redisReply **ret_reply, Diag *diag) {
    void *reply = NULL;
    link->trouble = REDIS_TROUBLE_OTHER;
    for (;;) {
        if (link->context == NULL) return redis_lost(NULL, diag);
        if (redisGetReplyFromReader(link->context, &reply) != REDIS_OK) {
            return lose(link, link->context->errstr, diag);
        }
        if (reply != NULL) break;
        if (!wait_for_bytes(link, timeout_ms)) return lose(link, "no answer in time", diag);
        if (redisBufferRead(link->context) != REDIS_OK) {
            return lose(link, link->context->errstr, diag);
        }
    }
    redisReply *answer = reply;
    if (answer->type == REDIS_REPLY_ERROR) {
        Status status = redis_error((Str){answer->str, answer->len}, &link->trouble, diag);
        freeReplyObject(answer);
        return status;
    }
    *ret_reply = answer;
    return OK;
}

Status redis_link_command(RedisLink *link, const Str *words, size_t count, redisReply **ret_reply,
                          Diag *diag) {
    buf_clear(&link->bytes);
    buf_printf(&link->bytes, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) redis_wire_append(&link->bytes, words[i]);
    TRY(redis_link_send(link, buf_str(&link->bytes), diag));
    return redis_link_receive(link, REDIS_ANSWER_TIMEOUT_MS, ret_reply, diag);
}

// ---- connecting ----

static Status command_done(RedisLink *link, const Str *words, size_t count, Diag *diag) {
    redisReply *reply = NULL;
    TRY(redis_link_command(link, words, count, &reply, diag));
    freeReplyObject(reply);
    return OK;
}

static Status introduce(RedisLink *link, Diag *diag) {
    const RedisAddress *address = link->address;
    if (address->password != NULL) {
        Str words[] = {STR("AUTH"), str_from(address->user), str_from(address->password)};
        if (address->user == NULL) words[1] = words[2];
        TRY(command_done(link, words, address->user != NULL ? 3 : 2, diag));
    }
    if (address->database != 0) {
        char number[16];
        snprintf(number, sizeof(number), "%d", address->database);
        TRY(command_done(link, (Str[]){STR("SELECT"), str_from(number)}, 2, diag));
    }
    Status named =
        command_done(link, (Str[]){STR("CLIENT"), STR("SETNAME"), STR("abide")}, 3, NULL);
    (void)named; // just for those who look at CLIENT LIST
    return link->context != NULL ? OK : redis_lost(NULL, diag);
}

// A server that has gone away has said so: nothing else arrives while we ask nothing.
// [redis-link-2]
static void farewell_read(RedisLink *link) {
    if (link->context != NULL && wait_for_file(link->context->fd, 0)) redis_link_drop(link);
}

Status redis_link_reach(RedisLink *link, Diag *diag) {
    if (is_silent(link)) return redis_lost("the server does not answer", diag); // [redis-link-3]
    farewell_read(link);
    if (link->context != NULL) return OK;
    const RedisAddress *address = link->address;
    link->context = context_new(address, REDIS_CONNECT_TIMEOUT_MS);
    if (link->context == NULL) return redis_lost("no memory for a connection", diag);
    if (link->context->err != 0) {
        char text[400];
        if (address->path != NULL) {
            snprintf(text, sizeof(text), "%s: %s", address->path, link->context->errstr);
        } else {
            snprintf(text, sizeof(text), "%s:%d: %s", address->host, address->port,
                     link->context->errstr);
        }
        redis_link_drop(link);
        return redis_lost(text, diag);
    }
    (void)fcntl(link->context->fd, F_SETFD, FD_CLOEXEC);
    struct timeval answer = {.tv_sec = REDIS_ANSWER_TIMEOUT_MS / 1000};
    (void)redisSetTimeout(link->context, answer); // of sending; for the rest there is poll
    if (address->path == NULL) (void)redisEnableKeepAlive(link->context);
    link->is_new = true;
    Status status = introduce(link, diag);
    link->is_new = false;
    if (status != OK) redis_link_drop(link);
    return status;
}

static Status settle(RedisLink *link, Diag *diag) { // [remote-4]
    RedisAddress *address = link->address;
    pthread_mutex_lock(&address->mutex);
    int64_t lost_number = address->lost_number;
    bool is_settled = lost_number == address->settled_number;
    pthread_mutex_unlock(&address->mutex);
    if (is_settled) return OK;
    redisReply *reply = NULL;
    redis_call_begin(link);
    redis_call_add_head(link, VERSION_ANY);
    TRY(redis_call_run(link, "settle", &reply, diag));
    Status status = redis_call_status(link, reply, diag);
    freeReplyObject(reply);
    TRY(status);
    pthread_mutex_lock(&address->mutex);
    if (address->settled_number < lost_number) address->settled_number = lost_number;
    pthread_mutex_unlock(&address->mutex);
    return OK;
}

Status redis_link_connect(RedisLink *link, Diag *diag) {
    TRY(redis_link_reach(link, diag));
    TRY(settle(link, diag));
    return link->layout[0] ? OK : redis_layout_open(link, false, diag);
}
