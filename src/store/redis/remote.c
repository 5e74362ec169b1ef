// The writer's side of Redis: what remote.h asks for, one call each.
//
//   a batch that read nothing:  commit                                   one round trip
//   one that had to read:       read | … | commit
//   one that begins anew:       fetch (takes the ticket) | … | commit (gives it back)
//
// Redis has no transactions that last over several calls. A batch is fenced by the version: if that
// is another one than the batch was made on, nothing is written. So that a batch that has to be
// made again cannot fail for ever, it begins by taking a ticket, which keeps others from writing.
//
//   [redis-remote-1] Every call that reads or writes names the version it expects, if any is known.
//   [redis-remote-2] The ticket is a courtesy that ends by itself; a writer that stood still while
//        it held one finds another version and begins again.
//   [redis-remote-3] A connection lost while a commit was under way is noted in the address: the
//        version is raised before anything is read or written on another one, and then the old
//        commit has happened or is refused. [remote-4]
#include "base/assert.h"
#include "base/memory.h"
#include "store/redis/internal.h"
#include "store/remote/listen.h"

typedef struct RedisRemote {
    Remote base;
    RedisLink link;
    bool is_open; // a transaction is
    bool has_ticket;
    bool is_first; // nothing has been known yet
} RedisRemote;

static const RemoteOps redis_remote_ops;

static RedisRemote *redis_remote(Remote *remote) {
    ASSERT(remote->ops == &redis_remote_ops);
    return (RedisRemote *)remote;
}

static Status remote_connect(Remote *remote, bool *ret_is_new, Diag *diag) {
    RedisRemote *self = redis_remote(remote);
    ASSERT(!self->is_open);
    bool was_ready = redis_link_is_alive(&self->link) && self->link.layout[0] != '\0';
    const redisContext *before = self->link.context;
    TRY(redis_link_connect(&self->link, diag));
    *ret_is_new = self->is_first || !was_ready || self->link.context != before;
    self->is_first = false;
    return OK;
}

static void ticket_release(RedisRemote *self) {
    if (self->has_ticket) redis_ticket_release(&self->link);
    self->has_ticket = false;
}

static Status failed(RedisRemote *self, Status status) {
    self->is_open = false;
    ticket_release(self);
    return status;
}

// ---- reading ----

static void changes_take(const redisReply *reply, int64_t distance, Arena *arena,
                         Changes *ret_changes) {
    *ret_changes = (Changes){.is_complete = distance == 0};
    if (distance <= 0 || reply->type != REDIS_REPLY_ARRAY || reply->elements != (size_t)distance) {
        return;
    }
    Str *bodies = ARENA_ARRAY(arena, Str, (size_t)distance);
    for (size_t i = 0; i < reply->elements; i++) {
        Str body = redis_reply_str(reply, i);
        if (str_is_null(body)) return; // [remote-6]
        bodies[i] = arena_str(arena, body);
    }
    *ret_changes = (Changes){bodies, reply->elements, true};
}

static Status fetched_take(RedisRemote *self, const redisReply *reply, int64_t *version,
                           const FetchList *list, Diag *diag) {
    int64_t present = 0;
    if (reply->elements != 3 + list->count || !redis_reply_i64(reply, 1, &present)) {
        return redis_strange("an answer that makes no sense", diag);
    }
    if (list->changes != NULL && !self->is_open && *version != VERSION_ANY) {
        changes_take(reply->element[2], present - *version, list->arena, list->changes);
    }
    for (size_t i = 0; i < list->count; i++) {
        TRY(redis_take_rows(&self->link, reply->element[3 + i], list->arena, &list->fetches[i],
                            diag));
    }
    *version = present;
    return OK;
}

static Status fetch_once(RedisRemote *self, int64_t *version, const FetchList *list, Diag *diag) {
    RedisLink *link = &self->link;
    bool has_changes = !self->is_open && list->changes != NULL && *version != VERSION_ANY;
    bool is_anew = !self->is_open && (has_changes || *version == VERSION_ANY);
    redis_call_begin(link);
    redis_call_add_head(link, has_changes ? VERSION_ANY : *version); // [redis-remote-1]
    if (is_anew) {
        redis_call_add_i64(link, REDIS_TICKET_MS);
        if (has_changes) redis_call_add_i64(link, *version);
        else redis_call_add(link, STR(""));
        redis_call_add_i64(link, CHANGES_KEPT);
    }
    for (size_t i = 0; i < list->count; i++) redis_call_add_scan(link, &list->fetches[i].scan);
    redisReply *reply = NULL;
    TRY(is_anew ? redis_call_patiently(link, "fetch", &reply, diag)
                : redis_call_run(link, "read", &reply, diag));
    Status status = redis_call_status(link, reply, diag);
    if (status == OK) {
        self->has_ticket |= is_anew;
        status = fetched_take(self, reply, version, list, diag);
    }
    freeReplyObject(reply);
    return status;
}

static Status remote_fetch(Remote *remote, int64_t *version, const FetchList *list, Diag *diag) {
    RedisRemote *self = redis_remote(remote);
    if (!redis_link_is_alive(&self->link)) return failed(self, redis_lost(NULL, diag));
    Status status = fetch_once(self, version, list, diag);
    // A newer abide has added columns. At the beginning nothing depends on the ones we knew.
    bool has_new_layout = status == ERR_CONFLICT && self->link.layout[0] == '\0';
    if (has_new_layout && !self->is_open) {
        status = redis_layout_open(&self->link, false, diag);
        if (status == OK) status = fetch_once(self, version, list, diag);
    }
    if (status != OK) return failed(self, status);
    self->is_open = true;
    return OK;
}

// ---- writing ----

static void note_lost(RedisRemote *self) { // [redis-remote-3]
    RedisAddress *address = self->link.address;
    pthread_mutex_lock(&address->mutex);
    address->lost_number++;
    pthread_mutex_unlock(&address->mutex);
}

static Status version_check(RedisRemote *self, int64_t version, Diag *diag) {
    redisReply *reply = NULL;
    redis_call_begin(&self->link);
    redis_call_add_head(&self->link, version);
    TRY(redis_call_run(&self->link, "read", &reply, diag));
    Status status = redis_call_status(&self->link, reply, diag);
    freeReplyObject(reply);
    return status;
}

static Status remote_commit(Remote *remote, int64_t version, const WriteList *list, Diag *diag) {
    RedisRemote *self = redis_remote(remote);
    RedisLink *link = &self->link;
    if (!redis_link_is_alive(link)) return failed(self, redis_lost(NULL, diag));
    if (list->count == 0) {
        Status status = self->is_open ? OK : version_check(self, version, diag);
        return failed(self, status); // just the end of it
    }
    redis_call_begin(link);
    redis_call_add_head(link, version); // [redis-remote-1]
    redis_channel_name(&link->name, link->address);
    redis_call_add(link, list->has_news ? buf_str(&link->name) : STR(""));
    redis_call_add(link, str_is_null(list->body) ? STR("") : list->body);
    redis_call_add_i64(link, CHANGES_KEPT);
    redis_call_add_writes(link, list);
    redisReply *reply = NULL;
    Status status = redis_call_patiently(link, "commit", &reply, diag);
    if (status != OK) {
        if (!redis_link_is_alive(link)) note_lost(self);
        return failed(self, status);
    }
    status = redis_call_status(link, reply, diag);
    freeReplyObject(reply);
    self->is_open = false;
    if (status == OK) self->has_ticket = false; // it has been given back
    return status == OK ? OK : failed(self, status);
}

static Status remote_heartbeat(Remote *remote, Heartbeat *heartbeat, Arena *arena,
                               int64_t *ret_version, Diag *diag) {
    RedisRemote *self = redis_remote(remote);
    if (!redis_link_is_alive(&self->link)) return failed(self, redis_lost(NULL, diag));
    Status status = redis_heartbeat(&self->link, heartbeat, arena, ret_version, diag);
    return status == OK ? OK : failed(self, status);
}

static void remote_rollback(Remote *remote) {
    RedisRemote *self = redis_remote(remote);
    self->is_open = false;
    ticket_release(self);
}

static RemoteListener *remote_listener_new(Remote *remote) {
    return redis_listener_new(redis_remote(remote)->link.address);
}

static void remote_close(Remote *remote) {
    RedisRemote *self = redis_remote(remote);
    RedisAddress *address = self->link.address;
    redis_link_done(&self->link);
    redis_address_leave(address);
    mem_free(self);
}

static const RemoteOps redis_remote_ops = {
    .name = "redis",
    .wants_before = true,
    .connect = remote_connect,
    .fetch = remote_fetch,
    .commit = remote_commit,
    .heartbeat = remote_heartbeat,
    .rollback = remote_rollback,
    .listener_new = remote_listener_new,
    .close = remote_close,
};

Status redis_remote_open(RedisAddress *address, Remote **ret_remote, RedisServer *ret_server,
                         Diag *diag) {
    RedisRemote *self = mem_zalloc(sizeof(RedisRemote));
    self->base.ops = &redis_remote_ops;
    self->is_first = true;
    redis_address_join(address);
    redis_link_init(&self->link, address);
    memcpy(address->writer, self->link.holder, sizeof(address->writer));
    Status status = redis_link_reach(&self->link, diag);
    if (status == OK) status = redis_server_look(&self->link, true, ret_server, diag);
    if (status == OK) status = redis_layout_open(&self->link, true, diag);
    if (status != OK) {
        remote_close(&self->base);
        return status;
    }
    *ret_remote = &self->base;
    return OK;
}
