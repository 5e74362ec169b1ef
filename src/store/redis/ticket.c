// The ticket: who has it keeps other writers out, for a few seconds at most.
//
//   [ticket-1] It protects nothing: that is what versions are for. It ends by itself, so a node
//        that dies or stands still with it holds up the others for no longer than that.
//   [ticket-2] Who waits is woken when it is given back, by a list that is popped from.
#include "store/redis/internal.h"
#include <stdio.h>

enum {
    WAITS_MAX = 400, // when others are always quicker
    WAIT_MS_MIN = 20,
    WAIT_MS_MAX = 1000,
};

static Status ticket_wait(RedisLink *link, int64_t wait_ms, Diag *diag) { // [ticket-2]
    char seconds[24];
    snprintf(seconds, sizeof(seconds), "%.3f", (double)wait_ms / 1000);
    redis_key_name(&link->name, link->address, REDIS_KEY_FREED);
    redisReply *reply = NULL;
    Str words[] = {STR("BLPOP"), buf_str(&link->name), str_from(seconds)};
    TRY(redis_link_command(link, words, 3, &reply, diag));
    freeReplyObject(reply);
    return OK;
}

Status redis_call_patiently(RedisLink *link, const char *function, redisReply **ret_reply,
                            Diag *diag) {
    int64_t waited_ms = 0;
    for (int waits = 0;; waits++) {
        redisReply *reply = NULL;
        TRY(redis_call_run(link, function, &reply, diag));
        bool is_busy = redis_reply_is(reply, 0, "busy");
        if (!is_busy || waited_ms >= REDIS_BUSY_TIMEOUT_MS || waits == WAITS_MAX) {
            *ret_reply = reply;
            return OK;
        }
        int64_t wait_ms = 0;
        bool is_known = redis_reply_i64(reply, 1, &wait_ms) && wait_ms >= 0;
        if (!is_known || wait_ms > WAIT_MS_MAX) wait_ms = WAIT_MS_MAX;
        if (wait_ms < WAIT_MS_MIN) wait_ms = WAIT_MS_MIN;
        freeReplyObject(reply);
        waited_ms += wait_ms;
        TRY(ticket_wait(link, wait_ms, diag));
    }
}

void redis_ticket_release(RedisLink *link) {
    if (!redis_link_is_alive(link)) return; // [ticket-1]
    redisReply *reply = NULL;
    redis_call_begin(link);
    redis_call_add_head(link, VERSION_ANY);
    if (redis_call_run(link, "release", &reply, NULL) == OK) freeReplyObject(reply);
}
