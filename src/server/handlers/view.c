// Runs as handlers.
//
// Invariants [handler-1] to [handler-4] are in handler.h. A handler's id is its run's id; what a
// client starts under the name of one that has ended takes its place.
//
// Not here: events (handlers/event.c, handlers/stream.c), the routes (handlers/handlers.c).
#include "base/time/duration.h"
#include "server/handlers/handler.h"
#include "server/http/problem.h"
#include <stdarg.h>
#include <stdio.h>

static void send_member(Exchange *exchange, int http_status, const char *key, const char *text) {
    JsonWriter *json = exchange_begin(exchange, http_status);
    json_write_object_begin(json);
    json_put_cstr(json, key, text);
    json_write_object_end(json);
    if (http_status == 503) exchange_set_header(exchange, "Retry-After", STR("1"));
    exchange_send(exchange);
}

void handler_send_word(Exchange *exchange, int http_status, const char *word) {
    send_member(exchange, http_status, "status", word);
}

void handler_refuse(Exchange *exchange, int http_status, const char *format, ...) {
    char text[DIAG_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send_member(exchange, http_status, "detail", text);
}

void handler_refuse_diag(Exchange *exchange, Status status, const Diag *diag) {
    send_member(exchange, problem_status(status, diag->code), "detail", diag->message);
}

bool handler_find(Exchange *exchange, Str id, RunRow *ret_run) {
    Diag diag;
    diag_clear(&diag);
    Status status = store_run_by_id(exchange_store(exchange), &exchange->arena, id, ret_run, &diag);
    if (status == ERR_NOT_FOUND) handler_refuse(exchange, 404, "Handler not found");
    else if (status != OK) handler_refuse_diag(exchange, status, &diag);
    return status == OK;
}

static const char *handler_status(int64_t state) {
    switch ((RunState)state) {
    case RUN_COMPLETED: return "completed";
    case RUN_FAILED: return "failed";
    case RUN_CANCELLED: return "cancelled";
    default: return "running";
    }
}

// 2026-11-15T19:33:44.952000+00:00
static void handler_put_time(JsonWriter *json, const char *key, int64_t at_ms) {
    char text[INSTANT_TEXT_MAX], longer[INSTANT_TEXT_MAX + 16];
    if (at_ms == 0) {
        json_put_null(json, key);
        return;
    }
    size_t len = instant_format(at_ms, text); // ends with .952Z
    snprintf(longer, sizeof longer, "%.*s000+00:00", (int)len - 1, text);
    json_put_cstr(json, key, longer);
}

// What a person is told about an error object.
static Str error_text(Arena *arena, Str error) {
    JsonValue *value;
    Diag diag;
    if (str_is_null(error) || json_parse(arena, error, &value, &diag) != OK) return error;
    if (value->kind == JSON_KIND_STRING) return value->string;
    const JsonValue *message =
        value->kind == JSON_KIND_OBJECT ? json_member(value, STR("message")) : NULL;
    bool is_text = message != NULL && message->kind == JSON_KIND_STRING;
    return is_text ? message->string : error;
}

// Of one that has not ended: why it does not go on. Null when nothing keeps it.
static Str hindrance(Exchange *exchange, const RunRow *run, const RunMore *more) {
    if (run->state == RUN_PAUSED) return more->pause_reason;
    return parts_unreadable(exchange, run);
}

static void put_end(Exchange *exchange, JsonWriter *json, const RunRow *run, Str end,
                    bool is_unwrapped) {
    Arena *arena = &exchange->arena;
    bool is_completed = run->state == RUN_COMPLETED;
    json_put_string(json, "error", is_completed ? STR_NULL : error_text(arena, end));
    json_write_key(json, STR("result"));
    if (!is_completed) json_write_null(json);
    else if (is_unwrapped) json_write_raw(json, handler_one_line(arena, end));
    else handler_put_stop(json, arena, end, true);
}

bool handler_put(Exchange *exchange, JsonWriter *json, const RunRow *run, bool is_unwrapped) {
    RunResult end = {0};
    Diag diag;
    diag_clear(&diag);
    if (run_state_is_terminal(run->state)) {
        Status status = store_find_result(exchange_store(exchange), &exchange->arena,
                                          run_of_id(run->id), &end, &diag);
        if (status != OK) {
            handler_refuse_diag(exchange, status, &diag);
            return false;
        }
    }
    RunMore more = parts_run_more(exchange, run);
    if (!run_state_is_terminal(run->state)) end.json = hindrance(exchange, run, &more);
    RenderMask mask = parts_mask(exchange, run);
    Str end_name = run->state == RUN_COMPLETED ? STR("result") : STR("error");
    end.json = engine_hide(&mask.masks, end_name, end.json, mask.arena);
    json_write_object_begin(json);
    json_put_string(json, "handler_id", run->id);
    json_put_string(json, "workflow_name", run->workflow);
    IdText run_id = id_at("run_", run->created_at_ms, (uint64_t)run->key); // [handler-4]
    json_put_string(json, "run_id", id_str(&run_id));
    put_end(exchange, json, run, end.json, is_unwrapped);
    json_put_cstr(json, "status", handler_status(run->state));
    handler_put_time(json, "started_at", run->created_at_ms);
    handler_put_time(json, "updated_at", run->updated_at_ms);
    handler_put_time(json, "completed_at", run->finished_at_ms);
    handler_put_time(json, "idle_since", run->idle_since_ms);
    json_put_bool(json, "released", more.is_released);
    json_write_object_end(json);
    return true;
}

void handler_send_started(Exchange *exchange, const RunRow *run) {
    JsonWriter *json = exchange_begin(exchange, 200);
    if (handler_put(exchange, json, run, false)) exchange_send(exchange);
}

void handler_send(Exchange *exchange, const RunRow *run, int running_status, bool is_unwrapped) {
    int status = run->state == RUN_COMPLETED         ? 200
                 : run_state_is_terminal(run->state) ? 500
                                                     : running_status;
    JsonWriter *json = exchange_begin(exchange, status);
    if (handler_put(exchange, json, run, is_unwrapped)) exchange_send(exchange);
}
