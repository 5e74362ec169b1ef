// Handlers: the runs of this server as an established protocol shows them, whose clients must work
// unchanged (HTTP.md, "Handler API").
//
// A handler is a run under the name the client gave it; an event that is posted to it is a signal
// named after its type; what a run writes to its stream, and its end, are events.
//
//   [handler-1] Errors are {"detail": text}; all keys of a handler and of an envelope are always
//        there.
//   [handler-2] A status is running, completed, failed or cancelled: whatever has not ended is
//        running.
//   [handler-3] Every envelope is one line of JSON.
//   [handler-4] A handler_id is used again by a new run once its run has ended; a run_id is one
//        run's.
#pragma once
#include "server/exchange/parts.h"
#include "server/exchange/stream.h"

enum { HANDLER_PAGE_SIZE = 8 << 20 }; // bytes of rows that a list reads at a time

// What every route of that protocol may answer, and what those of one handler do.
#define HANDLER_MALFORMED                                                                          \
    { 400, "The request is malformed.", "Detail" }
#define HANDLER_UNKNOWN                                                                            \
    { 404, "There is no such handler.", "Detail" }
#define HANDLER_NO_WORKFLOW                                                                        \
    { 404, "There is no such workflow.", "Detail" }

// ---- handlers/view.c ----
// {"status": word}
void handler_send_word(Exchange *exchange, int http_status, const char *word);
void handler_refuse(Exchange *exchange, int http_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Refused by the engine or the store: their text, with the status that fits.
void handler_refuse_diag(Exchange *exchange, Status status, const Diag *diag);
// False: it was answered with 404 or why the store cannot tell.
bool handler_find(Exchange *exchange, Str id, RunRow *ret_run);
// The run as HandlerData; `is_unwrapped`: its result is what the workflow returned.
bool handler_put(Exchange *exchange, JsonWriter *json, const RunRow *run, bool is_unwrapped);
// … as the whole answer: 202 while it goes on (or `running_status`), 200 completed, 500 otherwise.
void handler_send(Exchange *exchange, const RunRow *run, int running_status, bool is_unwrapped);
// … as the answer of who started it and does not wait: 200, however quickly it ended.
void handler_send_started(Exchange *exchange, const RunRow *run);

// ---- handlers/event.c ----
typedef struct HandlerEvent {
    Str type;  // null when none was given
    Str value; // JSON
} HandlerEvent;
// What a client sent as an event: {"value", "type", …}, a bare object, or either as a JSON string.
// `_data` is unwrapped. An event that is posted may have a type and no value.
MUST_CHECK Status handler_event_read(Exchange *exchange, const JsonValue *given,
                                     HandlerEvent *ret_event, Diag *diag);
// … to start with: `type` may be one of its own fields.
MUST_CHECK Status handler_start_read(Exchange *exchange, const JsonValue *given,
                                     HandlerEvent *ret_event, Diag *diag);
// "app.events.Approved" -> "Approved"
Str handler_last_part(Str name);
// Whether it may be the name of a class, and whether it is one of the protocol's own events.
bool handler_is_class(Str name);
bool handler_is_own(Str type);
// The members of both objects; those of the first win, and `second` may be one of them.
Str handler_join(Arena *arena, const JsonValue *first, const JsonValue *second);

// ---- handlers/stream.c ----
typedef struct HandlerStream {
    bool is_sse;         // otherwise one envelope per line
    bool has_internal;   // also what the engine does
    bool has_full_names; // qualified_name is filled in
} HandlerStream;
void handler_stream_begin(Exchange *exchange, const HandlerStream *options, const RunRow *run,
                          int64_t after);
// The envelope of a result.
void handler_put_stop(JsonWriter *json, Arena *arena, Str result, bool has_full_name);
// JSON on one line. [handler-3]
Str handler_one_line(Arena *arena, Str json);
