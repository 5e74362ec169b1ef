// Scenario: reading the file.
//
// Invariants [scenario-1], [scenario-2] are in explore/scenario.h.
//
// Not here: when something is answered or sent (choices.c).
#include "explore/scenario.h"
#include "json/value.h"
#include <string.h>

typedef struct Reading {
    Arena *arena;
    Str key; // what is being read, for messages
    PartKind kind;
    Diag *diag;
} Reading;

static Status refuse(const Reading *reading, const char *what) {
    return diag_set(reading->diag, ERR_INVALID, "BAD_MOCK", "\"%.*s\": %s", STR_ARG(reading->key),
                    what);
}

static const JsonValue *only_member(const JsonValue *value, const char *name) {
    bool is_it = value->kind == JSON_KIND_OBJECT && value->count == 1;
    return is_it ? json_member(value, str_from(name)) : NULL;
}

// [scenario-1]
static Str compact(Arena *arena, Str raw) {
    char *text = arena_alloc(arena, raw.len + 1);
    size_t len = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.data[i];
        if (c == '"') is_quoted = !is_quoted;
        bool is_space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (is_space && !is_quoted) continue;
        text[len++] = c;
        if (is_quoted && c == '\\') text[len++] = raw.data[++i];
    }
    text[len] = 0;
    return (Str){text, len};
}

static bool is_never(const JsonValue *value) {
    const JsonValue *never = only_member(value, "never");
    return never != NULL && never->kind == JSON_KIND_BOOL && never->boolean;
}

static Status read_error(const Reading *reading, const JsonValue *error, Reply *ret) {
    if (reading->kind == PART_SIGNAL || reading->kind == PART_EVENT)
        return refuse(reading, "a signal or an event cannot be an error");
    if (error->kind != JSON_KIND_OBJECT)
        return refuse(reading, "error must be an object like {\"type\": …, \"message\": …}");
    Str type = STR("Error"), message = STR_NULL;
    TRY(json_get_string(error, "type", &type, reading->diag));
    TRY(json_get_string(error, "message", &message, reading->diag));
    TRY(json_get_bool(error, "final", &ret->is_final, reading->diag));
    ret->is_error = true;
    ret->type = arena_str(reading->arena, type);
    ret->json = compact(reading->arena, error->raw);
    return OK;
}

static Status read_reply(const Reading *reading, const JsonValue *value, Reply *ret) {
    *ret = (Reply){.is_never = is_never(value)};
    if (ret->is_never) return OK;
    if (only_member(value, "any") != NULL || only_member(value, "maybe") != NULL)
        return refuse(reading, "any and maybe cannot stand inside of each other here");
    const JsonValue *error = only_member(value, "error");
    if (error != NULL) return read_error(reading, error, ret);
    const JsonValue *result = only_member(value, "result");
    ret->json = compact(reading->arena, result != NULL ? result->raw : value->raw);
    return OK;
}

static Status read_call(const Reading *reading, const JsonValue *value, Call *ret) {
    const JsonValue *any = only_member(value, "any");
    if (any == NULL) {
        ret->replies = ARENA_NEW(reading->arena, Reply);
        ret->count = 1;
        return read_reply(reading, value, ret->replies);
    }
    if (any->kind != JSON_KIND_ARRAY || any->count == 0)
        return refuse(reading, "any must be a list of what may be answered");
    ret->replies = ARENA_ARRAY(reading->arena, Reply, any->count);
    JSON_EACH (reply, any) TRY(read_reply(reading, reply, &ret->replies[ret->count++]));
    return OK;
}

static Status read_calls(const Reading *reading, const JsonValue *value, Part *part) {
    part->is_list = value->kind == JSON_KIND_ARRAY;
    if (!part->is_list) {
        part->calls = ARENA_NEW(reading->arena, Call);
        part->call_count = 1;
        return read_call(reading, value, part->calls);
    }
    part->calls = ARENA_ARRAY(reading->arena, Call, value->count + 1);
    JSON_EACH (item, value) TRY(read_call(reading, item, &part->calls[part->call_count++]));
    return OK;
}

static bool has_never(const Part *part) {
    for (size_t i = 0; i < part->call_count; i++)
        for (size_t k = 0; k < part->calls[i].count; k++)
            if (part->calls[i].replies[k].is_never) return true;
    return false;
}

static Status check_new(const Reading *reading, const JsonValue *object, const JsonValue *member) {
    JSON_EACH (other, object) {
        if (other == member) return OK;
        if (str_equal(other->key, member->key)) break;
    }
    return refuse(reading, "is there twice");
}

static Status read_part(Reading *reading, const JsonValue *member, Part *part) {
    static const Str prefixes[] = {[PART_WORKFLOW] = STR("workflow:"),
                                   [PART_SIGNAL] = STR("signal:"),
                                   [PART_EVENT] = STR("event:")};
    *part = (Part){.kind = PART_TASK, .key = reading->key, .name = reading->key};
    for (int kind = PART_WORKFLOW; kind <= PART_EVENT; kind++) {
        Str prefix = prefixes[kind];
        if (!str_starts_with(reading->key, prefix)) continue;
        part->kind = (PartKind)kind;
        part->name = (Str){reading->key.data + prefix.len, reading->key.len - prefix.len};
    }
    reading->kind = part->kind;
    part->is_never = is_never(member);
    const JsonValue *maybe = only_member(member, "maybe");
    bool is_sent = part->kind == PART_SIGNAL || part->kind == PART_EVENT;
    if (maybe != NULL && !is_sent)
        return refuse(reading, "maybe is for signals and events; a task may {\"never\": true}");
    part->is_optional = maybe != NULL;
    TRY(read_calls(reading, maybe != NULL ? maybe : member, part));
    if (is_sent && !part->is_never && has_never(part))
        return refuse(reading, "what may be sent or not is {\"maybe\": …}");
    return OK;
}

// The expression becomes a script of its own, and the world its input.
static Status read_condition(const Reading *reading, const JsonValue *member, Condition *ret) {
    Str name = {reading->key.data + 6, reading->key.len - 6};
    if (member->kind != JSON_KIND_STRING)
        return refuse(reading, "a check is a text with an expression, as in \"done.charge <= 1\"");
    Str source = arena_printf(reading->arena,
                              "const { status, result, error, calls, done, once, sent, taken, "
                              "order, inputs } = Inputs\nreturn !!(\n%.*s\n)\n",
                              STR_ARG(member->string));
    const char *expression = arena_cstr(reading->arena, member->string);
    Diag cause;
    *ret = (Condition){.name = name};
    ret->looks_at_order = strstr(expression, "order") || strstr(expression, "inputs");
    if (flow_compile(STR("check"), source, &ret->module, NULL, &cause) == OK) return OK;
    return refuse(reading, cause.message);
}

Status scenario_read(Arena *arena, Str text, Scenario *ret_scenario, Diag *diag) {
    JsonValue *object;
    Scenario scenario = {0};
    TRY(json_parse(arena, arena_str(arena, text), &object, diag));
    if (object->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_MOCK",
                        "mocks are an object: task name, workflow:NAME, signal:NAME, event:TOPIC "
                        "or check:NAME to what is answered");
    scenario.parts = ARENA_ARRAY(arena, Part, object->count + 1);
    scenario.conditions = ARENA_ARRAY(arena, Condition, object->count + 1);
    Status status = OK;
    JSON_EACH (member, object) {
        Reading reading = {.arena = arena, .key = arena_str(arena, member->key), .diag = diag};
        if (status == OK) status = check_new(&reading, object, member);
        if (status != OK) break;
        if (str_starts_with(member->key, STR("check:")))
            status =
                read_condition(&reading, member, &scenario.conditions[scenario.condition_count++]);
        else status = read_part(&reading, member, &scenario.parts[scenario.part_count++]);
    }
    if (status == OK) *ret_scenario = scenario;
    else scenario_done(&scenario);
    return status;
}

void scenario_done(Scenario *scenario) {
    for (size_t i = 0; i < scenario->condition_count; i++)
        flow_module_release(scenario->conditions[i].module);
    *scenario = (Scenario){0};
}

const Part *scenario_part(const Scenario *scenario, PartKind kind, Str name) {
    for (size_t i = 0; i < scenario->part_count; i++)
        if (scenario->parts[i].kind == kind && str_equal(scenario->parts[i].name, name))
            return &scenario->parts[i];
    return NULL;
}

const Call *part_call(const Part *part, size_t number) {
    if (!part->is_list) return part->calls;
    return number < part->call_count ? &part->calls[number] : NULL;
}
