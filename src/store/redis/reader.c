// The reader's side of Redis, and opening a store there.
//
// Redis keeps no old versions. A read that asks once has one view by itself; one that asks more
// often names the version of its first answer with each question, and begins again if another one
// has come. A read that had to begin again takes the ticket, so that nobody writes until its end.
//
//   [redis-reader-1] All answers of a read are of one version.
#include "base/assert.h"
#include "base/memory.h"
#include "base/version.h"
#include "store/module.h"
#include "store/redis/internal.h"
#include <stdio.h>

enum { CHECK_ROWS = 500 };

typedef struct RedisReader {
    RemoteReader base;
    RedisLink link;
    int64_t version; // of the read; VERSION_ANY until its first answer
    bool has_ticket;
} RedisReader;

static const RemoteReaderOps redis_reader_ops;

static RedisReader *redis_reader(RemoteReader *reader) {
    ASSERT(reader->ops == &redis_reader_ops);
    return (RedisReader *)reader;
}

static Status reader_begin(RemoteReader *reader, Diag *diag) {
    RedisReader *self = redis_reader(reader);
    self->version = VERSION_ANY;
    self->has_ticket = false;
    return redis_link_connect(&self->link, diag);
}

static void reader_end(RemoteReader *reader) {
    RedisReader *self = redis_reader(reader);
    if (self->has_ticket) redis_ticket_release(&self->link);
    self->has_ticket = false;
}

static Status call(RedisReader *self, const FetchList *list, bool is_retry, redisReply **ret_reply,
                   Diag *diag) {
    RedisLink *link = &self->link;
    redis_call_begin(link);
    redis_call_add_head(link, self->version); // [redis-reader-1]
    if (is_retry) {
        redis_call_add_i64(link, REDIS_TICKET_MS);
        redis_call_add(link, STR(""));
        redis_call_add_i64(link, 0);
    }
    for (size_t i = 0; i < list->count; i++) redis_call_add_scan(link, &list->fetches[i].scan);
    if (!is_retry) return redis_call_run(link, "read", ret_reply, diag);
    TRY(redis_call_patiently(link, "fetch", ret_reply, diag));
    self->has_ticket |= redis_reply_is(*ret_reply, 0, "ok");
    return OK;
}

static Status answer_take(RedisReader *self, const redisReply *reply, const FetchList *list,
                          Diag *diag) {
    TRY(redis_call_status(&self->link, reply, diag));
    if (reply->elements != 3 + list->count || !redis_reply_i64(reply, 1, &self->version)) {
        return redis_strange("an answer that makes no sense", diag);
    }
    for (size_t i = 0; i < list->count; i++) {
        TRY(redis_take_rows(&self->link, reply->element[3 + i], list->arena, &list->fetches[i],
                            diag));
    }
    return OK;
}

static Status reader_ask(RemoteReader *reader, const FetchList *list, bool is_retry, Diag *diag) {
    RedisReader *self = redis_reader(reader);
    redisReply *reply = NULL;
    TRY(call(self, list, is_retry, &reply, diag));
    Status status = answer_take(self, reply, list, diag);
    freeReplyObject(reply);
    return status;
}

static Status reader_heartbeat(RemoteReader *reader, Heartbeat *heartbeat, Arena *arena,
                               Diag *diag) {
    RedisReader *self = redis_reader(reader);
    int64_t version = VERSION_ANY;
    if (!redis_link_is_alive(&self->link)) return redis_lost(NULL, diag);
    return redis_heartbeat(&self->link, heartbeat, arena, &version, diag);
}

static bool reader_is_lost(const RemoteReader *reader) {
    return !redis_link_is_alive(&((const RedisReader *)reader)->link);
}

// ---- checking ----

typedef struct Checked { // one table
    TableNumber table;
    int64_t row_count;
    int64_t member_counts[1 + TABLE_INDEXES_MAX]; // the primary order first
} Checked;

// Whether the members that these rows should have are in the indexes.
static Status page_check(RedisReader *self, const Fetch *fetch, Checked *checked, Diag *diag) {
    RedisLink *link = &self->link;
    const Table *table = &tables[checked->table];
    redis_call_begin(link);
    redis_call_add_head(link, self->version);
    redis_call_add_members(link, fetch);
    redisReply *reply = NULL;
    TRY(redis_call_run(link, "count", &reply, diag));
    Status status = redis_call_status(link, reply, diag);
    size_t expected = 2 + 2 * (1 + (size_t)table->index_count);
    if (status == OK && reply->elements != expected) {
        status = redis_strange("an answer that makes no sense", diag);
    }
    bool is_last = (int64_t)fetch->count < fetch->scan.limit;
    checked->row_count += (int64_t)fetch->count;
    for (int i = 0; status == OK && i <= table->index_count; i++) {
        int64_t wanted = 0, member_count = -1, present = -1;
        for (size_t k = 0; k < fetch->count; k++) {
            wanted += redis_is_listed(table, i - 1, fetch->rows + k * table->row_size);
        }
        checked->member_counts[i] += wanted;
        bool is_good = redis_reply_i64(reply, 2 + 2 * (size_t)i, &member_count) &&
                       redis_reply_i64(reply, 3 + 2 * (size_t)i, &present) && present == wanted;
        if (is_last) is_good = is_good && member_count == checked->member_counts[i];
        if (!is_good) {
            char text[160];
            snprintf(text, sizeof(text),
                     "%s of %s lists %lld rows, of which %lld fit; %lld should be there",
                     i > 0 ? table->indexes[i - 1].name : "order", table->name,
                     (long long)member_count, (long long)present, (long long)wanted);
            status = redis_strange(text, diag);
        }
    }
    int64_t row_count = -1;
    if (status == OK && is_last &&
        (!redis_reply_i64(reply, 1, &row_count) || row_count != checked->row_count)) {
        status = redis_strange("rows are there that no index names", diag);
    }
    freeReplyObject(reply);
    return status;
}

static Status table_check(RedisReader *self, TableNumber number, bool is_retry, Diag *diag) {
    const Table *table = &tables[number];
    Checked checked = {.table = number};
    Arena pages[2]; // the last row of a page says where the next one begins
    arena_init(&pages[0]);
    arena_init(&pages[1]);
    Fetch fetch = {.scan = {.table = number, .index = SCAN_PRIMARY, .limit = CHECK_ROWS}};
    Status status;
    for (int page = 0;; page = 1 - page) {
        arena_reset(&pages[page]);
        FetchList list = {.fetches = &fetch, .count = 1, .arena = &pages[page]};
        status = reader_ask(&self->base, &list, is_retry, diag);
        if (status == OK) status = page_check(self, &fetch, &checked, diag);
        if (status != OK || (int64_t)fetch.count < fetch.scan.limit) break;
        fetch.scan.after_row = fetch.rows + (fetch.count - 1) * table->row_size;
    }
    arena_done(&pages[0]);
    arena_done(&pages[1]);
    return status;
}

static Status reader_check(RemoteReader *reader, bool is_retry, Diag *diag) {
    RedisReader *self = redis_reader(reader);
    for (int table = 0; table < TABLE_COUNT; table++) {
        TRY(table_check(self, (TableNumber)table, is_retry, diag));
    }
    return OK;
}

// ---- opening ----

static void reader_close(RemoteReader *reader) {
    RedisReader *self = redis_reader(reader);
    RedisAddress *address = self->link.address;
    redis_link_done(&self->link);
    redis_address_leave(address);
    mem_free(self);
}

static const RemoteReaderOps redis_reader_ops = {
    .name = "redis",
    .begin = reader_begin,
    .ask = reader_ask,
    .is_lost = reader_is_lost,
    .heartbeat = reader_heartbeat,
    .end = reader_end,
    .check = reader_check,
    .close = reader_close,
};

static Status reader_open(RedisAddress *address, RemoteReader **ret_reader, RedisServer *ret_server,
                          Diag *diag) {
    RedisReader *self = mem_zalloc(sizeof(RedisReader));
    self->base.ops = &redis_reader_ops;
    redis_address_join(address);
    redis_link_init(&self->link, address);
    Status status = redis_link_reach(&self->link, diag);
    if (status == OK && ret_server != NULL) {
        status = redis_server_look(&self->link, false, ret_server, diag);
    }
    if (status == OK) status = redis_link_connect(&self->link, diag);
    if (status != OK) {
        reader_close(&self->base);
        return status;
    }
    *ret_reader = &self->base;
    return OK;
}

static Status open_both(Str url, const StoreConfig *config, RemotePair *ret_pair, Diag *diag) {
    RedisAddress *address = NULL;
    TRY(redis_address_new(url, &address, diag)); // ours, until both have theirs
    Remote *remote = NULL;
    RemoteReader *reader = NULL;
    RedisServer server = {0};
    bool is_writing = !config->is_read_only;
    Status status = OK;
    if (is_writing) status = redis_remote_open(address, &remote, &server, diag);
    if (status == OK) status = reader_open(address, &reader, is_writing ? NULL : &server, diag);
    if (status != OK && remote != NULL) remote->ops->close(remote);
    if (status == OK) {
        *ret_pair = (RemotePair){remote, reader};
        LOG(config->logger, server.is_promised ? LOG_INFO : LOG_WARN, "%s", server.promise);
    }
    redis_address_leave(address);
    return status;
}

STORE_MODULE(redis) = {program_version, store_interface, open_both};
