// What a run says, as envelopes: {"value", "qualified_name", "type", "types"}.
//
// Envelopes are made from the log as it is read: what the workflow wrote to its stream, its end,
// and, for those who ask, what the engine did. Their numbers are those of the log, so a reader who
// comes back goes on where it was.
//
// Not here: waiting for more (stream.c).
#include "base/memory.h"
#include "server/handlers/handler.h"
#include "store/reads.h"
#include <stdio.h>

typedef struct Envelope {
    Str value; // JSON object
    Str type;
    Str module; // that a client finds the class in; null = the protocol's own
    Str loaded; // the class it is loaded as, if not `type`: the nearest one every client has
    Str types;  // parents, joined by '\n'; null = none
} Envelope;

typedef struct EnvelopeFormat {
    StreamFormat base;
    HandlerStream options;
    int64_t timeout_ms; // overall time-out of the run; 0 = none
    char workflow[];    // its name
} EnvelopeFormat;

static const Str STOP = STR("StopEvent");
static const Str INTERNAL = STR("InternalDispatchEvent");

// ---- envelopes ----

Str handler_one_line(Arena *arena, Str json) {
    if (str_is_null(json)) return json;
    bool is_broken = memchr(json.data, '\n', json.len) || memchr(json.data, '\r', json.len);
    JsonValue *value;
    Diag diag;
    if (!is_broken || json_parse(arena, json, &value, &diag) != OK) return json;
    Buf text;
    JsonWriter writer;
    buf_init(&text, json.len + 1);
    json_writer_init(&writer, &text, STR_NULL);
    json_write_value(&writer, value);
    Str copy = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static void put_full_name(JsonWriter *json, const Envelope *envelope) {
    char name[2 * LIMIT_NAME_SIZE_MAX + 32];
    Str module = str_is_null(envelope->module) ? STR("workflows.events") : envelope->module;
    Str class_name = str_is_null(envelope->loaded) ? envelope->type : envelope->loaded;
    int len = snprintf(name, sizeof name, "%.*s.%.*s", STR_ARG(module), STR_ARG(class_name));
    json_put_string(json, "qualified_name", (Str){name, (size_t)len});
}

static void put_envelope(JsonWriter *json, const Envelope *envelope, bool has_full_name) {
    json_write_object_begin(json);
    json_put_raw(json, "value", envelope->value);
    if (has_full_name) put_full_name(json, envelope);
    else json_put_null(json, "qualified_name");
    json_put_string(json, "type", envelope->type);
    json_write_key(json, STR("types"));
    if (str_is_null(envelope->types)) {
        json_write_null(json);
    } else {
        json_write_array_begin(json);
        Str left = envelope->types, type;
        while (str_split(&left, '\n', &type)) json_write_string(json, type);
        json_write_array_end(json);
    }
    json_write_object_end(json);
}

// A value that is no object is wrapped.
static Str object_of(Arena *arena, Str json) {
    json = handler_one_line(arena, json);
    if (str_is_null(json) || str_equal(json, STR("null"))) return STR("{}");
    if (json.data[0] == '{') return json;
    return json_wrap(arena, "result", json);
}

void handler_put_stop(JsonWriter *json, Arena *arena, Str result, bool has_full_name) {
    Str line = handler_one_line(arena, result);
    bool is_null = str_is_null(line) || str_equal(line, STR("null"));
    Envelope envelope = {.type = STOP};
    envelope.value = is_null ? STR("{}") : json_wrap(arena, "result", line);
    put_envelope(json, &envelope, has_full_name);
}

// ---- what the engine did ----

static Str text_or(const JsonValue *object, const char *name, Str otherwise) {
    const JsonValue *member = object ? json_member(object, str_from(name)) : NULL;
    return member && member->kind == JSON_KIND_STRING ? member->string : otherwise;
}

// What clients must find in the event of a time-out.
static void put_timeout(JsonWriter *json, const EnvelopeFormat *format) {
    json_put_number(json, "timeout", (double)format->timeout_ms / 1000);
    json_write_key(json, STR("active_steps"));
    json_write_array_begin(json);
    json_write_cstr(json, format->workflow);
    json_write_array_end(json);
}

static Str error_value(Arena *arena, const EnvelopeFormat *format, Outcome outcome, Str error) {
    JsonValue *parsed = NULL;
    Diag diag;
    if (!str_is_null(error) && json_parse(arena, error, &parsed, &diag) != OK) parsed = NULL;
    const JsonValue *object = parsed && parsed->kind == JSON_KIND_OBJECT ? parsed : NULL;
    Buf text;
    JsonWriter json;
    buf_init(&text, LIMIT_PAYLOAD_SIZE);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_cstr(&json, "step_name", format->workflow);
    json_put_string(&json, "exception_type", text_or(object, "type", STR("Error")));
    json_put_string(&json, "exception_message", text_or(object, "message", STR("")));
    json_put_string(&json, "traceback", text_or(object, "stack", STR("")));
    if (outcome == OUTCOME_TIMEOUT) put_timeout(&json, format);
    json_write_object_end(&json);
    Str copy = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static Envelope end_of(Arena *arena, const EnvelopeFormat *format, const LogRow *entry) {
    Envelope envelope = {.types = STOP};
    envelope.value = error_value(arena, format, (Outcome)entry->outcome, entry->data);
    switch ((Outcome)entry->outcome) {
    case OUTCOME_TIMEOUT: envelope.type = STR("WorkflowTimedOutEvent"); break;
    case OUTCOME_CANCELLED:
        envelope.type = STR("WorkflowCancelledEvent");
        envelope.value = STR("{}"); // it has no fields of its own
        break;
    default: envelope.type = STR("WorkflowFailedEvent"); break;
    }
    return envelope;
}

typedef struct StepChange {
    Str name;
    const char *state;
    Str input, output; // names of events; null = none
} StepChange;

static Envelope step_of(Arena *arena, const StepChange *change) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 8 * LIMIT_NAME_SIZE);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "name", change->name);
    json_put_cstr(&json, "step_state", change->state);
    json_put_cstr(&json, "worker_id", "0");
    json_put_string(&json, "input_event_name", // clients want a name
                    str_is_null(change->input) ? change->name : change->input);
    json_put_string(&json, "output_event_name", change->output);
    json_write_object_end(&json);
    Envelope envelope = {.value = arena_str(arena, buf_str(&text)),
                         .type = STR("StepStateChanged"),
                         .types = INTERNAL};
    buf_done(&text);
    return envelope;
}

static Envelope unhandled_of(Arena *arena, const LogRow *entry) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 16 * LIMIT_NAME_SIZE);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "event_type", entry->name);
    json_put_string(&json, "qualified_name", entry->name);
    json_put_null(&json, "step_name");
    json_put_bool(&json, "idle", str_equal(entry->data, STR("true")));
    json_write_object_end(&json);
    Envelope envelope = {.value = arena_str(arena, buf_str(&text)),
                         .type = STR("UnhandledEvent"),
                         .types = INTERNAL};
    buf_done(&text);
    return envelope;
}

// The name of the task or child that has ended; false when something else was delivered. Older
// entries have the id alone.
static bool find_ended(Server *server, Arena *arena, const LogRow *entry, Str *ret_name) {
    Str target = log_entry_target(entry);
    *ret_name = log_entry_name(entry);
    if (str_is_null(target)) return false;
    if (!str_equal(*ret_name, target)) return true;
    TaskRow task;
    Diag diag;
    if (store_find_task(engine_store(server->engine), arena, target, &task, &diag) != OK)
        return false;
    *ret_name = task.name;
    return true;
}

static bool internal_of(EnvelopeFormat *format, Server *server, Arena *arena, const LogRow *entry,
                        Envelope *ret_envelope) {
    Envelope plain = {.value = STR("{}"), .types = INTERNAL};
    StepChange change = {.name = entry->name, .state = "running"};
    switch ((LogKind)entry->kind) {
    case LOG_IDLE: plain.type = STR("WorkflowIdleEvent"); break;
    case LOG_RELEASED: // this and the next are ours: clients do not have the class
        plain.type = STR("WorkflowReleasedEvent");
        plain.loaded = INTERNAL;
        break;
    case LOG_RELOADED:
        plain.type = STR("WorkflowReloadedEvent");
        plain.loaded = INTERNAL;
        break;
    case LOG_UNHANDLED: *ret_envelope = unhandled_of(arena, entry); return true;
    case LOG_STARTED:
        change.name = str_from(format->workflow);
        change.input = STR("StartEvent");
        break;
    case LOG_TASK:
    case LOG_CHILD: change.state = "preparing"; break;
    case LOG_STEP: change.state = "not_running"; break;
    case LOG_WAIT:
        if (find_ended(server, arena, entry, &change.name)) {
            change.state = "not_running";
        } else {
            change.name = str_from(format->workflow);
            change.input = log_entry_name(entry);
        }
        break;
    default: return false;
    }
    *ret_envelope = plain.type.len > 0 ? plain : step_of(arena, &change);
    return true;
}

// ---- the stream ----

// What a client without the class can load an event as: the first of its parents that is one of the
// protocol's, or Event, which takes any fields.
static Str nearest_of(const Envelope *envelope) {
    for (Str left = envelope->types, type; str_split(&left, '\n', &type);)
        if (handler_is_own(type)) return type;
    return STR("Event");
}

// A type may be written with the module of its class: "app.events.Progress".
static void name_written(Envelope *envelope) {
    Str full = envelope->type, last = handler_last_part(full);
    bool has_module = last.len > 0 && last.len + 1 < full.len;
    if (has_module) {
        envelope->type = last;
        envelope->module = (Str){full.data, full.len - last.len - 1};
    } else if (!handler_is_own(full)) {
        envelope->loaded = nearest_of(envelope);
    }
}

static Envelope written_of(Arena *arena, const LogRow *entry) {
    Str left = entry->name, type = STR_NULL;
    Envelope envelope = {.value = object_of(arena, entry->data), .type = STR("StreamEvent")};
    if (str_split(&left, '\n', &type)) envelope.type = type;
    envelope.types = str_is_null(left) ? STR_NULL : left;
    name_written(&envelope);
    return envelope;
}

static bool is_stop(const Envelope *envelope) {
    Str left = envelope->types, type;
    if (str_equal(envelope->type, STOP)) return true;
    while (str_split(&left, '\n', &type))
        if (str_equal(type, STOP)) return true;
    return false;
}

static bool envelope_of(EnvelopeFormat *format, Server *server, Arena *arena, const LogRow *entry,
                        Envelope *ret_envelope) {
    if (entry->kind == LOG_STREAM) {
        *ret_envelope = written_of(arena, entry);
    } else if (entry->kind == LOG_FINISHED && entry->outcome != OUTCOME_OK) {
        *ret_envelope = end_of(arena, format, entry);
    } else if (entry->kind != LOG_FINISHED) {
        return format->options.has_internal &&
               internal_of(format, server, arena, entry, ret_envelope);
    }
    return true;
}

static bool write_envelope(StreamFormat *base, Server *server, const LogRow *row,
                           const RenderMask *mask, Buf *out) {
    LogRow shown = *row;
    const LogRow *entry = &shown;
    shown.data = render_log_data(row, mask);
    EnvelopeFormat *format = (EnvelopeFormat *)base;
    bool has_full_names = format->options.has_full_names;
    bool is_result = entry->kind == LOG_FINISHED && entry->outcome == OUTCOME_OK;
    Arena arena;
    arena_init(&arena);
    Envelope envelope = {.type = STOP};
    bool is_shown = envelope_of(format, server, &arena, entry, &envelope);
    bool is_last = is_shown && is_stop(&envelope);
    if (is_shown) {
        JsonWriter json;
        json_writer_init(&json, out, STR_NULL);
        if (format->options.is_sse) buf_printf(out, "id: %lld\ndata: ", (long long)entry->seq);
        if (is_result) handler_put_stop(&json, &arena, entry->data, has_full_names);
        else put_envelope(&json, &envelope, has_full_names);
        buf_append_cstr(out, format->options.is_sse ? "\n\n" : "\n");
    }
    arena_done(&arena);
    return !is_last;
}

void handler_stream_begin(Exchange *exchange, const HandlerStream *options, const RunRow *run,
                          int64_t after) {
    EnvelopeFormat *format = mem_zalloc(sizeof *format + run->workflow.len + 1);
    format->base = (StreamFormat){
        .write = write_envelope,
        .content_type =
            options->is_sse ? "text/event-stream; charset=utf-8" : "application/x-ndjson",
        .heartbeat = options->is_sse ? ": heartbeat\n\n" : NULL,
        .is_owned = true,
    };
    format->options = *options;
    if (run->deadline_at_ms > run->started_at_ms && run->started_at_ms > 0)
        format->timeout_ms = run->deadline_at_ms - run->started_at_ms;
    memcpy(format->workflow, run->workflow.data, run->workflow.len);
    stream_begin(exchange, &format->base, run->id, after);
}
