// What Redis has to do for remote/listen.h: SUBSCRIBE.
//
// A commit publishes to the store's channel when it concerns others; Redis hands that on after the
// commit's effects are in its log.
//
// Not here: the thread, and what a lost connection means (remote/listen.c); who sends
// (redis/functions.lua).
#include "store/remote/listen.h"
#include "base/memory.h"
#include "store/redis/internal.h"

typedef struct RedisListener {
    RemoteListener base;
    RedisLink link;
} RedisListener;

static Status listener_connect(RemoteListener *listener) {
    RedisLink *link = &((RedisListener *)listener)->link;
    redis_link_drop(link);
    TRY(redis_link_reach(link, NULL));
    redis_channel_name(&link->name, link->address);
    redisReply *reply = NULL;
    Str words[] = {STR("SUBSCRIBE"), buf_str(&link->name)};
    TRY(redis_link_command(link, words, 2, &reply, NULL));
    freeReplyObject(reply);
    return OK;
}

static int listener_file(const RemoteListener *listener) {
    const RedisLink *link = &((const RedisListener *)listener)->link;
    return redis_link_is_alive(link) ? link->context->fd : -1;
}

static bool listener_take(RemoteListener *listener) {
    RedisLink *link = &((RedisListener *)listener)->link;
    bool is_news = false;
    bool is_good = redisBufferRead(link->context) == REDIS_OK;
    for (void *reply = NULL; is_good; freeReplyObject(reply)) {
        is_good = redisGetReplyFromReader(link->context, &reply) == REDIS_OK;
        if (!is_good || reply == NULL) break;
        is_news |= !redis_reply_is(reply, 2, link->address->writer); // [listen-3]
    }
    if (!is_good) redis_link_drop(link);
    return is_news;
}

static void listener_close(RemoteListener *listener) {
    RedisListener *self = (RedisListener *)listener;
    RedisAddress *address = self->link.address;
    redis_link_done(&self->link);
    redis_address_leave(address);
    mem_free(self);
}

static const RemoteListenerOps redis_listener_ops = {
    .connect = listener_connect,
    .file = listener_file,
    .take = listener_take,
    .close = listener_close,
};

RemoteListener *redis_listener_new(RedisAddress *address) {
    RedisListener *self = mem_zalloc(sizeof(RedisListener));
    self->base.ops = &redis_listener_ops;
    redis_address_join(address);
    redis_link_init(&self->link, address);
    return &self->base;
}
