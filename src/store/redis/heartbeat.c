// Leases beside the rows (nodes/heartbeats.c): one call says that a node lives, and is answered
// with the version of the store, what all nodes have said last, and the node's own row.
//
//   [heartbeat-1] A heartbeat raises no version and waits for no ticket.
//   [heartbeat-2] The server does not look into rows: whether the node was fenced off is read here.
//   [heartbeat-3] Heartbeats are kept as durably as the log of the server is, and in its order. A
//        server that lost its last seconds has lost the last heartbeat of a node at most, and the
//        one before it holds for most of a lease ([redis-rows-3]); the next one is never further
//        away than a third.
#include "base/text/number.h"
#include "store/redis/internal.h"
#include <stdio.h>

static void call_begin(RedisLink *link, const Heartbeat *heartbeat) {
    redis_call_begin(link);
    if (heartbeat->node == 0) return;
    redis_call_add_head(link, VERSION_ANY);
    redis_call_add_i64(link, heartbeat->node);
    char words[48];
    int len = snprintf(words, sizeof(words), "%lld %lld", (long long)heartbeat->until_ms,
                       (long long)heartbeat->resident_count);
    redis_call_add(link, (Str){words, (size_t)len});
    redis_call_add_i64(link, heartbeat->until_ms - HEARTBEAT_KEEP_MS);
    NodeRow wanted = {.key = heartbeat->node};
    Scan scan = scan_of(TABLE_NODES, SCAN_PRIMARY, &wanted, 1);
    redis_call_add_scan(link, &scan);
}

// Names and words in turn; what makes no sense is nobody's heartbeat.
static void heartbeats_take(const redisReply *reply, Heartbeat *heartbeat, Arena *arena) {
    heartbeat->count = 0;
    heartbeat->heartbeats = ARENA_ARRAY(arena, NodeHeartbeat, reply->elements / 2 + 1);
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        NodeHeartbeat found = {0};
        Str words = redis_reply_str(reply, i + 1), word;
        if (!redis_reply_i64(reply, i, &found.node) || !str_split(&words, ' ', &word)) continue;
        if (!number_parse_count(word, INT64_MAX, &found.until_ms)) continue;
        bool has_more = str_split(&words, ' ', &word);
        if (has_more) (void)number_parse_count(word, INT64_MAX, &found.resident_count);
        heartbeat->heartbeats[heartbeat->count++] = found;
    }
}

static Status answer_take(RedisLink *link, const redisReply *reply, Heartbeat *heartbeat,
                          Arena *arena, Diag *diag) {
    size_t expected = heartbeat->node != 0 ? 4 : 3;
    if (reply->elements != expected || reply->element[2]->type != REDIS_REPLY_ARRAY) {
        return redis_strange("an answer that makes no sense", diag);
    }
    heartbeats_take(reply->element[2], heartbeat, arena);
    if (heartbeat->node == 0) return OK;
    Fetch own = {.scan = {.table = TABLE_NODES}};
    TRY(redis_take_rows(link, reply->element[3], arena, &own, diag));
    const NodeRow *node = (const NodeRow *)(const void *)own.rows;
    heartbeat->is_fenced = own.count == 0 || node_is_fenced(node); // [heartbeat-2]
    return OK;
}

static Status heartbeat_once(RedisLink *link, Heartbeat *heartbeat, Arena *arena,
                             int64_t *ret_version, Diag *diag) {
    redisReply *reply = NULL;
    call_begin(link, heartbeat);
    TRY(redis_call_run(link, heartbeat->node != 0 ? "heartbeat" : "leases", &reply,
                       diag)); // [heartbeat-1]
    Status status = redis_call_status(link, reply, diag);
    if (status == OK && !redis_reply_i64(reply, 1, ret_version)) {
        status = redis_strange("an answer without a version", diag);
    }
    if (status == OK) status = answer_take(link, reply, heartbeat, arena, diag);
    freeReplyObject(reply);
    return status;
}

Status redis_heartbeat(RedisLink *link, Heartbeat *heartbeat, Arena *arena, int64_t *ret_version,
                       Diag *diag) {
    Status status = heartbeat_once(link, heartbeat, arena, ret_version, diag);
    bool has_new_layout = status == ERR_CONFLICT && link->layout[0] == '\0';
    if (!has_new_layout) return status;
    TRY(redis_layout_open(link, false, diag)); // a newer abide has added columns
    return heartbeat_once(link, heartbeat, arena, ret_version, diag);
}
