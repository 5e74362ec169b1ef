// Events as clients send them.
//
//   {"value": {…}, "type": "Approved", "qualified_name": "app.Approved"}   ("data" for "value")
//   {"name": "x"}                                                          the fields themselves
//   "{\"value\": …}"                                                       either, as a JSON string
//
// Fields that the client's class does not declare are nested under `_data`; they belong to the
// rest.
//
// Not here: events that leave (handlers/stream.c).
#include "base/array.h"
#include "server/handlers/handler.h"

enum { STRINGS_DEEP = 2 }; // a JSON string of a JSON string is enough

static const JsonValue *find_value(const JsonValue *object) {
    const JsonValue *value = json_member(object, STR("value"));
    return value != NULL ? value : json_member(object, STR("data"));
}

// Whether all members are those of an event around its value, which may be missing when there is
// a type.
static bool is_envelope(const JsonValue *object) {
    static const char *const names[] = {"value", "data",           "type",
                                        "types", "qualified_name", "__is_pydantic"};
    if (object->count == 0) return false;
    JSON_EACH (member, object) {
        bool is_known = false;
        for (size_t i = 0; i < COUNT_OF(names); i++)
            is_known = is_known || str_equal(member->key, str_from(names[i]));
        if (!is_known) return false;
    }
    return true;
}

static void put_member(JsonWriter *json, const JsonValue *member) {
    json_write_key(json, member->key);
    json_write_value(json, member);
}

Str handler_join(Arena *arena, const JsonValue *first, const JsonValue *second) {
    Buf text;
    JsonWriter json;
    buf_init(&text, LIMIT_PAYLOAD_SIZE);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    JSON_EACH (member, first) {
        if (member != second) put_member(&json, member);
    }
    JSON_EACH (member, second) {
        if (json_member(first, member->key) == NULL) put_member(&json, member);
    }
    json_write_object_end(&json);
    Str copy = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static Str value_text(Arena *arena, const JsonValue *value) {
    const JsonValue *dynamic =
        value->kind == JSON_KIND_OBJECT ? json_member(value, STR("_data")) : NULL;
    if (dynamic == NULL || dynamic->kind != JSON_KIND_OBJECT) return value->raw;
    return handler_join(arena, value, dynamic);
}

bool handler_is_class(Str name) {
    for (size_t i = 0; i < name.len; i++) {
        unsigned char byte = (unsigned char)name.data[i];
        bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
        bool is_digit = i > 0 && byte >= '0' && byte <= '9';
        if (!is_letter && !is_digit && byte != '_' && byte < 0x80) return false;
    }
    return name.len > 0;
}

bool handler_is_own(Str type) {
    static const char *const names[] = {"Event",
                                        "StartEvent",
                                        "StopEvent",
                                        "InputRequiredEvent",
                                        "HumanResponseEvent",
                                        "InternalDispatchEvent",
                                        "StepStateChanged",
                                        "WorkflowIdleEvent",
                                        "UnhandledEvent",
                                        "WorkflowFailedEvent",
                                        "WorkflowTimedOutEvent",
                                        "WorkflowCancelledEvent"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal(type, str_from(names[i]))) return true;
    return false;
}

Str handler_last_part(Str name) {
    size_t from = name.len;
    while (from > 0 && name.data[from - 1] != '.') from--;
    return (Str){name.data + from, name.len - from};
}

static Status read_type(const JsonValue *object, Str *ret_type, Diag *diag) {
    Str qualified = STR_NULL;
    const JsonValue *type = json_member(object, STR("type"));
    const JsonValue *name = json_member(object, STR("qualified_name"));
    *ret_type = STR_NULL;
    if (type != NULL && type->kind != JSON_KIND_NULL)
        TRY(json_get_string(object, "type", ret_type, diag));
    if (name != NULL && name->kind != JSON_KIND_NULL)
        TRY(json_get_string(object, "qualified_name", &qualified, diag));
    if (str_is_null(*ret_type) && qualified.len > 0) *ret_type = handler_last_part(qualified);
    return OK;
}

static Status event_read(Exchange *exchange, const JsonValue *given, bool is_posted,
                         HandlerEvent *ret_event, Diag *diag) {
    Arena *arena = &exchange->arena;
    for (int deep = 0; given->kind == JSON_KIND_STRING && deep < STRINGS_DEEP; deep++) {
        JsonValue *parsed;
        TRY(exchange_parse(exchange, given->string, &parsed, diag));
        given = parsed;
    }
    *ret_event = (HandlerEvent){.type = STR_NULL};
    if (given->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST",
                        "an event must be a JSON object, or one as a string");
    const JsonValue *value = find_value(given);
    bool is_whole = is_envelope(given) && (value != NULL || is_posted);
    if (!is_whole) {
        ret_event->value = value_text(arena, given);
        return OK;
    }
    TRY(read_type(given, &ret_event->type, diag));
    ret_event->value = value != NULL ? value_text(arena, value) : STR("{}");
    return OK;
}

Status handler_event_read(Exchange *exchange, const JsonValue *given, HandlerEvent *ret_event,
                          Diag *diag) {
    return event_read(exchange, given, true, ret_event, diag);
}

Status handler_start_read(Exchange *exchange, const JsonValue *given, HandlerEvent *ret_event,
                          Diag *diag) {
    return event_read(exchange, given, false, ret_event, diag);
}
