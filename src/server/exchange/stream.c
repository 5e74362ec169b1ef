// Streams of a run's log, written as the reader takes them.
//
// The library asks for bytes when the socket has room. When there is nothing to say the stream
// sleeps; the hub wakes it when the log has grown, the ticker when it has been silent too long or
// its reader has left.
//
// Invariants [stream-1]-[stream-6] are in stream.h.
#include "server/exchange/stream.h"
#include "base/memory.h"
#include "server/exchange/parts.h"
#include "server/exchange/render.h"
#include "server/http/connection.h"
#include "server/http/sleeper.h"
#include "store/reads.h"
#include <microhttpd.h>

enum {
    STREAM_READ_ENTRIES = 100,
    STREAM_READ_SIZE = 256 << 10,  // a read goes on to the end of the entry that passes it
    STREAM_PENDING_MAX = 64 << 20, // of one entry as JSON
    STREAM_BLOCK_SIZE = 128, // for readers without chunks; others get what fits the connection
    STREAM_HEARTBEAT_MS = 25000
};

struct Stream {
    HubWaiter waiter;
    Sleeper sleeper;
    Deadline heartbeat;
    Watch watch;
    Server *server;
    StreamFormat *format;
    int64_t after;
    Buf pending;
    Holding holding; // of `pending`
    size_t sent;
    bool has_finished;
    _Atomic bool is_heartbeat_due;
    _Atomic bool has_left; // its reader did
};

static void log_has_grown(HubWaiter *waiter) {
    sleeper_wake(&container_of(waiter, struct Stream, waiter)->sleeper);
}

static void heartbeat_is_due(Deadline *deadline) {
    struct Stream *stream = container_of(deadline, struct Stream, heartbeat);
    atomic_store(&stream->is_heartbeat_due, true);
    sleeper_wake(&stream->sleeper);
}

static void reader_left(Watch *watch) {
    struct Stream *stream = container_of(watch, struct Stream, watch);
    atomic_store(&stream->has_left, true);
    sleeper_wake(&stream->sleeper);
}

// One line of data per line of text: payloads are as they came, and may have line ends between
// their tokens. A reader joins them again.
static void append_data(Buf *out, Str text) {
    size_t from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.data[i] != '\n' && text.data[i] != '\r') continue;
        buf_append_cstr(out, "data: ");
        buf_append(out, text.data + from, i - from);
        buf_append_char(out, '\n');
        if (i + 1 < text.len && text.data[i] == '\r' && text.data[i + 1] == '\n') i++;
        from = i + 1;
    }
    buf_append_char(out, '\n');
}

static bool write_log_entry(StreamFormat *format, Server *server, const LogRow *entry,
                            const RenderMask *mask, Buf *out) {
    (void)format;
    (void)server;
    Buf data;
    JsonWriter json;
    buf_init(&data, STREAM_PENDING_MAX);
    json_writer_init(&json, &data, STR_NULL);
    render_log_entry(&json, entry, mask);
    buf_printf(out, "id: %lld\nevent: %s\n", (long long)entry->seq, log_kind_name(entry->kind));
    append_data(out, buf_str(&data));
    out->is_overflown |= data.is_overflown;
    buf_done(&data);
    return entry->kind != LOG_FINISHED;
}

StreamFormat stream_log_sse = {
    .write = write_log_entry, .content_type = "text/event-stream", .heartbeat = ": heartbeat\n\n"};

// Counts what is pending. False when there is too much together. [stream-6]
static bool has_room(struct Stream *stream) {
    Holding *holding = &stream->holding;
    holding_remove(holding, holding->size);
    holding_add(holding, stream->pending.capacity);
    return stream->pending.capacity <= HELD_SMALL || !holding_is_over(holding, 0);
}

// As of the version that the run has now.
static Status find_mask(struct Stream *stream, const LogPage *page, Arena *arena,
                        RenderMask *ret_mask, Diag *diag) {
    RunRow run;
    *ret_mask = (RenderMask){.arena = arena};
    if (page->count == 0) return OK;
    Store *store = engine_store(stream->server->engine);
    TRY(store_run_by_key(store, arena, page->rows[0].run, &run, diag));
    *ret_mask = parts_mask_of_definition(stream->server, arena, run.definition);
    return OK;
}

// False when the store does not answer, or there is no room: the reader comes back later.
static bool read_more(struct Stream *stream) {
    Arena arena;
    arena_init(&arena);
    Diag diag;
    const LogFilter filter = {.run = run_of_id(stream->waiter.key),
                              .page = {.after = stream->after,
                                       .limit = STREAM_READ_ENTRIES,
                                       .size_max = STREAM_READ_SIZE}};
    LogPage page;
    Status status =
        store_read_log(engine_store(stream->server->engine), &arena, &filter, &page, &diag);
    RenderMask mask;
    if (status == OK) status = find_mask(stream, &page, &arena, &mask, &diag);
    buf_clear(&stream->pending);
    stream->sent = 0;
    for (size_t i = 0; status == OK && i < page.count && !stream->has_finished; i++) {
        StreamFormat *format = stream->format;
        stream->after = page.rows[i].seq;
        stream->has_finished =
            !format->write(format, stream->server, &page.rows[i], &mask, &stream->pending);
    }
    arena_done(&arena);
    return status == OK && !stream->pending.is_overflown && has_room(stream);
}

static void schedule_heartbeat(struct Stream *stream) {
    int64_t now_ms = server_clock_ms();
    server_set_deadline(stream->server, &stream->heartbeat, now_ms + STREAM_HEARTBEAT_MS);
}

static ssize_t take_pending(struct Stream *stream, char *buffer, size_t room) {
    size_t left = stream->pending.len - stream->sent;
    size_t size = left < room ? left : room;
    memcpy(buffer, stream->pending.data + stream->sent, size);
    stream->sent += size;
    if (stream->sent == stream->pending.len) schedule_heartbeat(stream);
    return (ssize_t)size;
}

static ssize_t stream_read(void *context, uint64_t position, char *buffer, size_t room) {
    (void)position;
    struct Stream *stream = context;
    if (stream->sent < stream->pending.len) return take_pending(stream, buffer, room);
    if (stream->has_finished) return MHD_CONTENT_READER_END_OF_STREAM;
    sleeper_begin(&stream->sleeper); // before looking: whoever stops the server wakes us once
    if (server_is_stopping(stream->server)) return MHD_CONTENT_READER_END_WITH_ERROR; // [stream-2]
    int64_t before;
    do { // entries may have nothing to say
        before = stream->after;
        if (!read_more(stream)) return MHD_CONTENT_READER_END_WITH_ERROR;
    } while (stream->pending.len == 0 && stream->after != before && !stream->has_finished);
    if (stream->pending.len == 0 && stream->has_finished) return MHD_CONTENT_READER_END_OF_STREAM;
    bool is_silent = atomic_exchange(&stream->is_heartbeat_due, false) && stream->pending.len == 0;
    if (is_silent && stream->format->heartbeat != NULL)
        buf_append_cstr(&stream->pending, stream->format->heartbeat);
    if (stream->pending.len > 0) return take_pending(stream, buffer, room);
    if (atomic_load(&stream->has_left)) return MHD_CONTENT_READER_END_WITH_ERROR; // [stream-5]
    holding_done(&stream->holding);
    buf_done(&stream->pending); // [stream-3] one that sleeps holds no buffer
    buf_init(&stream->pending, STREAM_PENDING_MAX);
    sleeper_sleep(&stream->sleeper);
    return 0;
}

static void stream_free(void *context) {
    struct Stream *stream = context;
    Server *server = stream->server;
    hub_remove(&server->hub, &stream->waiter);
    server_clear_deadline(server, &stream->heartbeat);
    server_unwatch(server, &stream->watch);
    atomic_fetch_sub(&server->counters.streams, 1);
    holding_done(&stream->holding);
    buf_done(&stream->pending);
    if (stream->format->is_owned) mem_free(stream->format);
    mem_free((void *)(uintptr_t)stream->waiter.key.data);
    mem_free(stream);
}

void stream_begin(Exchange *exchange, StreamFormat *format, Str run_id, int64_t after) {
    Server *server = exchange->server;
    struct Stream *stream = mem_zalloc(sizeof *stream);
    stream->server = server;
    sleeper_init(&stream->sleeper, exchange->connection);
    stream->heartbeat.due = heartbeat_is_due;
    stream->watch.left = reader_left;
    stream->format = format;
    stream->after = after;
    buf_init(&stream->pending, STREAM_PENDING_MAX);
    holding_init(&stream->holding, &server->held);
    holding_admit(&stream->holding);
    stream->waiter = (HubWaiter){
        .kind = HUB_READERS,
        .key = {mem_copy(run_id.data, run_id.len), run_id.len},
        .wake = log_has_grown,
    };
    list_init(&stream->waiter.link);
    hub_add(&server->hub, &stream->waiter);
    schedule_heartbeat(stream);
    connection_watch(exchange, &stream->watch);
    atomic_fetch_add(&server->counters.streams, 1);
    exchange->stream = stream;
    exchange->is_patient = true;
    exchange->status = 200;
    exchange->content_type = format->content_type;
    exchange_set_header(exchange, "Cache-Control", STR("no-store"));
    exchange->stage = EXCHANGE_ANSWERED;
}

struct MHD_Response *stream_response(struct Stream *stream) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_SIZE, stream_read,
                                             stream, stream_free);
}
