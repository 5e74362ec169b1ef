// Server-sent events, and the dates of HTTP.
//
// The wire is read as it comes; a line may arrive in any number of pieces. A connection that breaks
// is made anew with the id of the last event that was handed on, so a server may restart under a
// reader without it noticing more than a pause.
//
// Invariant [client-5] is in client.h.
//
// Not here: calls that answer once (client.c).
#include "base/time/duration.h"
#include "cli/client/client_internal.h"
#include <stdio.h>
#include <unistd.h>

enum {
    LINE_MAX_SIZE = 16 << 20,
    EVENT_ID_MAX = 64,
    RECONNECT_PAUSE_MS = 250,
    RECONNECTS_MAX = 40, // in a row, without an event between them
};

typedef struct Stream {
    const ClientStream *wanted;
    Transfer transfer;
    Buf line;
    Buf data;
    char id[EVENT_ID_MAX];
    char kind[EVENT_ID_MAX];
    char last_id[EVENT_ID_MAX]; // of the last event handed on
    bool has_data;
    bool is_ended; // the callback has enough
    int failure_count;
} Stream;

static void hand_on(Stream *stream) {
    if (!stream->has_data) return;
    ClientEvent event = {
        .id = stream->id[0] ? str_from(stream->id) : STR_NULL,
        .kind = stream->kind[0] ? str_from(stream->kind) : STR_NULL,
        .data = buf_str(&stream->data),
    };
    stream->failure_count = 0;
    if (!stream->wanted->on_event(stream->wanted->context, &event)) stream->is_ended = true;
    if (stream->id[0]) memcpy(stream->last_id, stream->id, sizeof stream->last_id);
    stream->has_data = false;
    stream->kind[0] = 0;
    buf_clear(&stream->data);
}

static void keep(char target[EVENT_ID_MAX], Str value) {
    snprintf(target, EVENT_ID_MAX, "%.*s", STR_ARG(value));
}

static void take_line(Stream *stream, Str line) {
    if (line.len > 0 && line.data[line.len - 1] == '\r') line.len--;
    if (line.len == 0) {
        hand_on(stream);
        return;
    }
    const char *colon = memchr(line.data, ':', line.len);
    if (colon == line.data) return; // a comment: the heartbeat
    size_t name_len = colon != NULL ? (size_t)(colon - line.data) : line.len;
    Str name = {line.data, name_len};
    size_t skip = colon == NULL ? line.len : name_len + 1;
    if (skip < line.len && line.data[skip] == ' ') skip++;
    Str value = {line.data + skip, line.len - skip};
    if (str_equal(name, STR("id"))) {
        keep(stream->id, value);
    } else if (str_equal(name, STR("event"))) {
        keep(stream->kind, value);
    } else if (str_equal(name, STR("data"))) {
        if (stream->has_data) buf_append_char(&stream->data, '\n');
        buf_append_str(&stream->data, value);
        stream->has_data = true;
    }
}

static size_t take_piece(char *data, size_t size, size_t count, void *context) {
    Transfer *transfer = context;
    Stream *stream = transfer->context;
    size_t len = size * count, from = 0;
    long http_status = 0;
    const Client *client = transfer->client;
    client->curl->easy_getinfo(client->handle, CURLINFO_RESPONSE_CODE, &http_status);
    if (http_status != 200) { // a problem document
        buf_append(&transfer->body, data, len);
        return len;
    }
    for (size_t i = 0; i < len && !stream->is_ended; i++) {
        if (data[i] != '\n') continue;
        buf_append(&stream->line, data + from, i - from);
        take_line(stream, buf_str(&stream->line));
        buf_clear(&stream->line);
        from = i + 1;
    }
    if (stream->is_ended) return 0;
    buf_append(&stream->line, data + from, len - from);
    return stream->line.is_overflown || stream->data.is_overflown ? 0 : len;
}

static Status refused(Stream *stream, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    JsonValue *json = NULL;
    Str body = buf_str(&stream->transfer.body);
    if (json_parse(&arena, body, &json, NULL) != OK) json = NULL;
    ClientAnswer answer = {.http_status = stream->transfer.http_status, .body = body, .json = json};
    Status status = client_read_problem(stream->transfer.client, &answer, diag);
    arena_done(&arena);
    return status;
}

// One connection. *ret_again: it broke off, and another one is worth it.
static Status connect_once(Stream *stream, const ClientRequest *request, bool *ret_again,
                           Diag *diag) {
    Transfer *transfer = &stream->transfer;
    buf_clear(&transfer->body);
    buf_clear(&stream->line);
    buf_clear(&stream->data);
    stream->has_data = false;
    stream->kind[0] = 0;
    stream->id[0] = 0;
    transfer->last_event_id = stream->last_id[0] ? str_from(stream->last_id) : STR_NULL;
    transfer->http_status = 0;
    CURLcode code = client_perform(transfer->client, request, transfer);
    *ret_again = false;
    if (stream->is_ended) return OK;
    if (code == CURLE_OK && (transfer->http_status == 200 || transfer->http_status == 204))
        return OK;
    bool is_away = code != CURLE_OK || transfer->http_status == 503;
    *ret_again = is_away && !client_is_stopped(transfer->client) &&
                 stream->failure_count++ < RECONNECTS_MAX && !stream->line.is_overflown;
    return code != CURLE_OK ? client_explain(transfer->client, code, diag) : refused(stream, diag);
}

Status client_stream(Client *client, const ClientStream *wanted, Diag *diag) {
    Stream stream = {.wanted = wanted};
    stream.transfer =
        (Transfer){.client = client, .take = take_piece, .context = &stream, .is_stream = true};
    buf_init(&stream.transfer.body, 1 << 20);
    buf_init(&stream.line, LINE_MAX_SIZE);
    buf_init(&stream.data, LINE_MAX_SIZE);
    keep(stream.last_id, wanted->after);
    const ClientRequest request = {.method = "GET", .path = wanted->path};
    bool is_again = false;
    bool has_connected = false;
    Status status;
    do {
        if (is_again) usleep(RECONNECT_PAUSE_MS * 1000);
        status = connect_once(&stream, &request, &is_again, diag);
        has_connected = has_connected || stream.transfer.http_status != 0;
    } while (is_again && has_connected); // a server that never answered is not waited for
    buf_done(&stream.transfer.body);
    buf_done(&stream.line);
    buf_done(&stream.data);
    return status;
}

int64_t http_date_parse(Str text) {
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char copy[40], month[4] = "";
    int day, year, hour, minute, second;
    if (text.len >= sizeof copy) return 0;
    snprintf(copy, sizeof copy, "%.*s", STR_ARG(text));
    if (sscanf(copy, "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &day, month, &year, &hour, &minute,
               &second) != 6)
        return 0;
    for (int i = 0; i < 12; i++) {
        if (strcmp(month, months[i]) != 0) continue;
        int64_t seconds = hour * 3600 + minute * 60 + second;
        return (civil_to_days(year, i + 1, day) * 86400 + seconds) * 1000;
    }
    return 0;
}
