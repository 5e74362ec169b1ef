// Streams of changes, written as the reader takes them.
//
// As with a run's log (stream.c), the library asks for bytes when the socket has room; without
// something to say the stream sleeps, and the hub or its deadline wakes it.
//
// Not here: what changed (observe/change_ring.c).
#include "server/exchange/change_stream.h"
#include "base/array.h"
#include "base/memory.h"
#include "server/http/connection.h"
#include "server/http/sleeper.h"
#include "server/server.h"
#include <microhttpd.h>

enum { PENDING_MAX = 4 << 20, BLOCK_SIZE = 128 };

struct ChangeStream {
    HubWaiter waiter;
    Sleeper sleeper;
    Deadline deadline;
    Watch watch;
    Server *server;
    ChangeReader reader;
    Buf pending;
    size_t sent;
    int64_t write_at_ms;     // not before [change-stream-1]
    int64_t silent_at_ms;    // when a heartbeat is due
    int64_t cluster_at_ms;   // when it is told to look again; 0 = never
    _Atomic bool is_changed; // something came since it looked
    _Atomic bool has_left;
};

// The server stops.
static void wake(HubWaiter *waiter) {
    sleeper_wake(&container_of(waiter, struct ChangeStream, waiter)->sleeper);
}

// One that is held back knows already, and looks when its deadline comes.
static void mark_changed(HubWaiter *waiter, const void *context) {
    (void)context;
    struct ChangeStream *stream = container_of(waiter, struct ChangeStream, waiter);
    if (!atomic_exchange(&stream->is_changed, true)) sleeper_wake(&stream->sleeper);
}

void change_streams_wake(Server *server) {
    if (atomic_load(&server->hub.counts[HUB_CHANGES]) > 0)
        hub_each(&server->hub, HUB_CHANGES, mark_changed, NULL);
}

static void deadline_is_due(Deadline *deadline) {
    sleeper_wake(&container_of(deadline, struct ChangeStream, deadline)->sleeper);
}

static void reader_left(Watch *watch) {
    struct ChangeStream *stream = container_of(watch, struct ChangeStream, watch);
    atomic_store(&stream->has_left, true);
    sleeper_wake(&stream->sleeper);
}

static ssize_t take_pending(struct ChangeStream *stream, char *buffer, size_t room) {
    size_t left = stream->pending.len - stream->sent;
    size_t size = left < room ? left : room;
    memcpy(buffer, stream->pending.data + stream->sent, size);
    stream->sent += size;
    return (ssize_t)size;
}

// What is to be said now, into `pending`.
static void look(struct ChangeStream *stream, int64_t now_ms) {
    Buf *out = &stream->pending;
    buf_clear(out);
    stream->sent = 0;
    if (now_ms >= stream->write_at_ms && atomic_exchange(&stream->is_changed, false))
        change_ring_read(&stream->server->changes, &stream->reader, out);
    if (stream->cluster_at_ms != 0 && now_ms >= stream->cluster_at_ms) {
        change_write_resync(out, stream->reader.after, "cluster", stream->reader.kinds);
        stream->cluster_at_ms = now_ms + CHANGE_CLUSTER_MS;
    }
    if (out->len == 0 && now_ms >= stream->silent_at_ms) buf_append_cstr(out, ": heartbeat\n\n");
    if (out->len == 0) return;
    stream->write_at_ms = now_ms + CHANGE_PAUSE_MS;
    stream->silent_at_ms = now_ms + CHANGE_HEARTBEAT_MS;
}

static int64_t next_look_ms(const struct ChangeStream *stream) {
    int64_t at_ms = stream->silent_at_ms;
    if (stream->cluster_at_ms != 0 && stream->cluster_at_ms < at_ms) at_ms = stream->cluster_at_ms;
    bool is_held_back = atomic_load(&stream->is_changed);
    return is_held_back && stream->write_at_ms < at_ms ? stream->write_at_ms : at_ms;
}

static ssize_t change_read(void *context, uint64_t position, char *buffer, size_t room) {
    (void)position;
    struct ChangeStream *stream = context;
    if (stream->sent < stream->pending.len) return take_pending(stream, buffer, room);
    sleeper_begin(&stream->sleeper); // before looking: whoever stops the server wakes us once
    bool is_over = server_is_stopping(stream->server) || atomic_load(&stream->has_left);
    if (is_over) return MHD_CONTENT_READER_END_WITH_ERROR;
    look(stream, server_clock_ms());
    if (stream->pending.is_overflown) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->pending.len > 0) return take_pending(stream, buffer, room);
    buf_done(&stream->pending); // [change-stream-2]
    buf_init(&stream->pending, PENDING_MAX);
    server_set_deadline(stream->server, &stream->deadline, next_look_ms(stream));
    sleeper_sleep(&stream->sleeper);
    return 0;
}

static void change_free(void *context) {
    struct ChangeStream *stream = context;
    Server *server = stream->server;
    hub_remove(&server->hub, &stream->waiter);
    server_clear_deadline(server, &stream->deadline);
    server_unwatch(server, &stream->watch);
    change_ring_leave(&server->changes);
    atomic_fetch_sub(&server->counters.streams, 1);
    buf_done(&stream->pending);
    mem_free((void *)(uintptr_t)stream->reader.run_id.data);
    mem_free(stream);
}

// The first event says whom the reader talks to, and from which number on it is told.
static void say_hello(struct ChangeStream *stream) {
    JsonWriter json;
    change_ring_read(&stream->server->changes, &stream->reader, &stream->pending);
    Buf hello;
    buf_init(&hello, PENDING_MAX);
    buf_printf(&hello, "id: %lld\nevent: hello\ndata: ", (long long)stream->reader.after);
    json_writer_init(&json, &hello, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "node", engine_node_name(stream->server->engine));
    json_put_cstr(&json, "version", abide_version());
    json_write_object_end(&json);
    buf_append_cstr(&hello, "\n\n");
    buf_append_str(&hello, buf_str(&stream->pending)); // what it missed comes behind
    buf_done(&stream->pending);
    stream->pending = hello;
}

void change_stream_begin(Exchange *exchange, const ChangeReader *reader) {
    Server *server = exchange->server;
    if (atomic_load(&server->hub.counts[HUB_CHANGES]) >= CHANGE_READERS_MAX) {
        exchange_refuse_with(exchange, ERR_BUSY, "SERVER_BUSY",
                             "%d readers follow what changes already; try again later",
                             CHANGE_READERS_MAX);
        return;
    }
    struct ChangeStream *stream = mem_zalloc(sizeof *stream);
    int64_t now_ms = server_clock_ms();
    stream->server = server;
    stream->reader = *reader;
    if (!str_is_null(reader->run_id))
        stream->reader.run_id.data = mem_copy(reader->run_id.data, reader->run_id.len);
    sleeper_init(&stream->sleeper, exchange->connection);
    stream->deadline.due = deadline_is_due;
    stream->watch.left = reader_left;
    stream->write_at_ms = now_ms;
    stream->silent_at_ms = now_ms + CHANGE_HEARTBEAT_MS;
    if (engine_is_shared(server->engine)) stream->cluster_at_ms = now_ms + CHANGE_CLUSTER_MS;
    buf_init(&stream->pending, PENDING_MAX);
    stream->waiter = (HubWaiter){.kind = HUB_CHANGES, .key = STR("changes"), .wake = wake};
    list_init(&stream->waiter.link);
    change_ring_enter(&server->changes);
    hub_add(&server->hub, &stream->waiter);
    say_hello(stream);
    connection_watch(exchange, &stream->watch);
    atomic_fetch_add(&server->counters.streams, 1);
    exchange->changes = stream;
    exchange->is_patient = true;
    exchange->status = 200;
    exchange->content_type = "text/event-stream";
    exchange_set_header(exchange, "Cache-Control", STR("no-store"));
    exchange->stage = EXCHANGE_ANSWERED;
}

// ---- what requests change ----

typedef struct PathChange {
    const char *prefix; // of the route's pattern
    ChangeKind kind;
} PathChange;

static const PathChange path_changes[] = {
    {"/v1/schedules/", CHANGE_SCHEDULES}, {"/v1/topics/", CHANGE_TOPICS},
    {"/v1/events/", CHANGE_TOPICS},       {"/v1/queues/", CHANGE_QUEUES},
    {"/v1/workflows/", CHANGE_WORKFLOWS}, {"/v1/runs/{id}", CHANGE_RUNS},
};

void change_streams_answered(const Exchange *exchange) {
    const Route *route = exchange->route;
    bool is_change = route != NULL && strcmp(route->method, "GET") != 0 &&
                     exchange->status >= 200 && exchange->status < 300;
    if (!is_change) return;
    Server *server = exchange->server;
    Change change = {.kind = CHANGE_RUNS, .id = exchange->parameters[0]};
    bool is_known = strcmp(route->pattern, "/v1/runs/bulk") == 0;
    change.is_whole = is_known;
    for (size_t i = 0; i < COUNT_OF(path_changes) && !is_known; i++) {
        is_known =
            strncmp(route->pattern, path_changes[i].prefix, strlen(path_changes[i].prefix)) == 0;
        change.kind = path_changes[i].kind;
    }
    if (strcmp(route->method, "DELETE") == 0 && strcmp(route->pattern, "/v1/runs/{id}") == 0)
        change.status = "removed";
    if (is_known && change_ring_note(&server->changes, &change)) change_streams_wake(server);
}

struct MHD_Response *change_stream_response(struct ChangeStream *stream) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, change_read, stream,
                                             change_free);
}
