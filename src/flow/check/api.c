// The table of the workflow API, and finding things in it.
//
// Invariants [api-1], [api-2] are in check/api.h.
//
// Not here: what the calls do (builtin/host.c, prelude/workflow.js), what the options do
// (engine/runners/flow_options.c), the keys of `config` (config.c).
#include "flow/check/api.h"
#include "base/assert.h"
#include "base/limits.h"
#include <string.h>

#define NAME_FIELD(text)                                                                           \
    { .name = text, .type = API_NAME, .max = LIMIT_NAME_SIZE_MAX }
#define DURATION_FIELD(text)                                                                       \
    { .name = text, .type = API_DURATION, .max = LIMIT_DURATION_MS }
#define REQUIRED_NAME(text)                                                                        \
    { .name = text, .type = API_NAME, .is_required = true, .max = LIMIT_NAME_SIZE_MAX }
#define INPUT_FIELD                                                                                \
    { .name = "input", .type = API_ANY }
#define OPTIONS_FIELD(table)                                                                       \
    { .name = "options", .type = API_OPTIONS, .fields = table }
#define PRIORITY_FIELD                                                                             \
    { .name = "priority", .type = API_INTEGER, .spec = SPEC_PRIORITY }
#define FIELDS_END                                                                                 \
    { .name = NULL }
#define MEMBERS_END                                                                                \
    { .name = NULL }

// ---- options ----

static const FlowApiField task_retry[] = {
    {.name = "attempts", .type = API_INTEGER, .spec = SPEC_ATTEMPTS},
    DURATION_FIELD("delay"),
    {.name = "factor", .type = API_NUMBER, .spec = SPEC_RETRY_FACTOR},
    DURATION_FIELD("maxDelay"),
    {.name = "jitter", .type = API_NUMBER, .spec = SPEC_RETRY_JITTER},
    {.name = "nonRetryable", .type = API_NAMES, .spec = SPEC_ERROR_TYPE},
    FIELDS_END,
};

static const FlowApiField task_options[] = {
    {.name = "queue", .type = API_NAME, .spec = SPEC_QUEUE},
    PRIORITY_FIELD,
    {.name = "retry", .type = API_OPTIONS, .fields = task_retry},
    DURATION_FIELD("timeout"),
    DURATION_FIELD("scheduleTimeout"),
    DURATION_FIELD("heartbeatTimeout"),
    NAME_FIELD("key"),
    {.name = "concurrencyKey", .type = API_NAME, .spec = SPEC_CONCURRENCY_KEY},
    DURATION_FIELD("delay"),
    FIELDS_END,
};

static const FlowApiField run_options[] = {
    {.name = "id", .type = API_NAME, .spec = SPEC_RUN_ID},
    {.name = "key", .type = API_NAME, .spec = SPEC_RUN_KEY},
    DURATION_FIELD("delay"),
    {.name = "startAt", .type = API_INSTANT},
    DURATION_FIELD("timeout"),
    PRIORITY_FIELD,
    {.name = "queue", .type = API_NAME, .spec = SPEC_QUEUE},
    {.name = "tags", .type = API_NAMES, .spec = SPEC_TAG},
    DURATION_FIELD("ttl"),
    {.name = "parentClose", .type = API_CHOICE, .choices = spec_close_policies},
    FIELDS_END,
};

static const FlowApiField signal_options[] = {DURATION_FIELD("timeout"), FIELDS_END};
static const FlowApiField event_options[] = {
    DURATION_FIELD("timeout"), {.name = "filter", .type = API_FILTER}, FIELDS_END};
static const FlowApiField stream_kind[] = {
    {.name = "type", .type = API_NAME, .is_required = true, .max = LIMIT_PAYLOAD_SIZE_MAX},
    {.name = "types", .type = API_ITEMS},
    FIELDS_END,
};

// ---- parameters ----

static const FlowApiField task_run[] = {REQUIRED_NAME("name"), INPUT_FIELD,
                                        OPTIONS_FIELD(task_options), FIELDS_END};
static const FlowApiField workflow_run[] = {REQUIRED_NAME("name"), INPUT_FIELD,
                                            OPTIONS_FIELD(run_options), FIELDS_END};
static const FlowApiField combine[] = {{.name = "items", .type = API_ITEMS, .is_required = true},
                                       FIELDS_END};
static const FlowApiField delay[] = {
    {.name = "duration", .type = API_DURATION, .is_required = true, .max = LIMIT_DURATION_MS},
    FIELDS_END,
};
static const FlowApiField until[] = {{.name = "date", .type = API_MOMENT, .is_required = true},
                                     FIELDS_END};
static const FlowApiField signal_next[] = {REQUIRED_NAME("name"), FIELDS_END};
static const FlowApiField signal_when[] = {REQUIRED_NAME("name"), OPTIONS_FIELD(signal_options),
                                           FIELDS_END};
static const FlowApiField event_wait[] = {REQUIRED_NAME("topic"), OPTIONS_FIELD(event_options),
                                          FIELDS_END};
static const FlowApiField event_emit[] = {
    REQUIRED_NAME("topic"), {.name = "payload", .type = API_ANY}, FIELDS_END};
static const FlowApiField continue_as[] = {INPUT_FIELD, FIELDS_END};
static const FlowApiField stream_write[] = {
    {.name = "value", .type = API_ANY, .is_required = true},
    {.name = "type", .type = API_KIND, .max = LIMIT_PAYLOAD_SIZE_MAX, .fields = stream_kind},
    FIELDS_END,
};
static const FlowApiField state_set[] = {
    REQUIRED_NAME("key"), {.name = "value", .type = API_ANY, .is_required = true}, FIELDS_END};
static const FlowApiField secret_options[] = {NAME_FIELD("prefix"), FIELDS_END};
static const FlowApiField secret_get[] = {
    {.name = "name", .type = API_SECRET, .is_required = true},
    OPTIONS_FIELD(secret_options),
    FIELDS_END,
};
static const FlowApiField state_get[] = {REQUIRED_NAME("key"), FIELDS_END};

// ---- objects ----

static const FlowApiMember task_members[] = {
    {"run", "Task.run", API_RESULT_HANDLE, task_run,
     "start call execute exec queue submit schedule invoke"},
    {"delay", "Task.delay", API_RESULT_HANDLE, delay, "sleep wait"},
    {"all", "Task.all", API_RESULT_PROMISE, combine, "every join"},
    {"any", "Task.any", API_RESULT_PROMISE, combine, "some"},
    {"race", "Task.race", API_RESULT_PROMISE, combine, "first"},
    MEMBERS_END,
};
static const FlowApiMember timer_members[] = {
    {"delay", "Timer.delay", API_RESULT_HANDLE, delay, "sleep wait pause after for"},
    {"until", "Timer.until", API_RESULT_HANDLE, until, "at on sleepUntil delayUntil waitUntil"},
    MEMBERS_END,
};
static const FlowApiMember signal_members[] = {
    {"next", "Signal.next", API_RESULT_HANDLE, signal_next, "once"},
    {"when", "Signal.when", API_RESULT_HANDLE, signal_when, "wait waitFor receive get on"},
    MEMBERS_END,
};
static const FlowApiMember event_members[] = {
    {"wait", "Event.wait", API_RESULT_HANDLE, event_wait,
     "when next on once subscribe waitFor receive"},
    {"emit", "Event.emit", API_RESULT_NONE, event_emit, "publish send raise fire dispatch"},
    MEMBERS_END,
};
static const FlowApiMember workflow_members[] = {
    {"run", "Workflow.run", API_RESULT_HANDLE, workflow_run, "call execute invoke child"},
    {"start", "Workflow.start", API_RESULT_VALUE, workflow_run, "spawn launch begin"},
    {"continueAs", "Workflow.continueAs", API_RESULT_NONE, continue_as,
     "continue continueAsNew restart"},
    MEMBERS_END,
};
static const FlowApiMember stream_members[] = {
    {"write", "Stream.write", API_RESULT_NONE, stream_write, "push send append emit put"},
    MEMBERS_END,
};
static const FlowApiMember state_members[] = {
    {"set", "State.set", API_RESULT_NONE, state_set, "put update save store"},
    {"get", "State.get", API_RESULT_VALUE, state_get, "read load fetch"},
    MEMBERS_END,
};
static const FlowApiMember secret_members[] = {
    {"get", "Secret.get", API_RESULT_VALUE, secret_get, "read load fetch env"},
    MEMBERS_END,
};
static const FlowApiMember context_members[] = {
    {"runId", NULL, API_RESULT_PROPERTY, NULL, "id"},
    {"workflow", NULL, API_RESULT_PROPERTY, NULL, "name workflowName"},
    {"version", NULL, API_RESULT_PROPERTY, NULL, NULL},
    {"attempt", NULL, API_RESULT_PROPERTY, NULL, "attempts retries"},
    {"parentId", NULL, API_RESULT_PROPERTY, NULL, "parent parentRunId"},
    {"startedAt", NULL, API_RESULT_PROPERTY, NULL, "started startTime createdAt"},
    {"tags", NULL, API_RESULT_PROPERTY, NULL, NULL},
    {"namespace", NULL, API_RESULT_PROPERTY, NULL, NULL},
    MEMBERS_END,
};

const FlowApiObject flow_api_objects[] = {
    // [api-1]
    {"Task", task_members},         {"Timer", timer_members},
    {"Signal", signal_members},     {"Event", event_members},
    {"Stream", stream_members},     {"State", state_members},
    {"Workflow", workflow_members}, {"Context", context_members},
    {"Secret", secret_members},     {NULL, NULL},
};

static const FlowApiField invariant[] = {
    REQUIRED_NAME("name"), {.name = "condition", .type = API_ANY, .is_required = true}, FIELDS_END};
static const FlowApiField watched[] = {
    REQUIRED_NAME("name"),
    {.name = "condition", .type = API_FUNCTION, .is_required = true},
    FIELDS_END,
};

const FlowApiMember flow_api_functions[] = {
    {"Invariant", "Invariant", API_RESULT_NONE, invariant, NULL},
    {"Always", "Always", API_RESULT_NONE, watched, NULL},
    {"Eventually", "Eventually", API_RESULT_NONE, watched, NULL},
    MEMBERS_END,
};

// ---- finding ----

static const FlowApiMember *find_member(const FlowApiMember *members, Str name) {
    for (const FlowApiMember *member = members; member->name; member++)
        if (str_equal(name, str_from(member->name))) return member;
    return NULL;
}

const FlowApiMember *flow_api_function(Str name) { return find_member(flow_api_functions, name); }

const FlowApiObject *flow_api_object(Str name) {
    for (const FlowApiObject *object = flow_api_objects; object->name; object++)
        if (str_equal(name, str_from(object->name))) return object;
    return NULL;
}

const FlowApiMember *flow_api_member(const FlowApiObject *object, Str name) {
    return find_member(object->members, name);
}

const FlowApiMember *flow_api_call(const char *call) {
    const char *dot = strchr(call, '.');
    ASSERT(dot != NULL);
    const FlowApiObject *object = flow_api_object((Str){call, (size_t)(dot - call)});
    ASSERT(object != NULL);
    const FlowApiMember *member = flow_api_member(object, str_from(dot + 1));
    ASSERT(member != NULL);
    return member;
}

const FlowApiField *flow_api_options(const FlowApiMember *member) {
    for (const FlowApiField *field = member->parameters; field && field->name; field++)
        if (field->type == API_OPTIONS) return field->fields;
    return NULL;
}

const FlowApiField *flow_api_field(const FlowApiField *fields, Str name) {
    for (const FlowApiField *field = fields; field && field->name; field++)
        if (str_equal(name, str_from(field->name))) return field;
    return NULL;
}

uint32_t flow_api_field_count(const FlowApiField *fields) {
    uint32_t count = 0;
    while (fields && fields[count].name) count++;
    return count;
}

const char *flow_api_type_name(FlowApiType type) {
    static const char *const names[API_TYPE_COUNT] = {
        [API_ANY] = "any",           [API_NAME] = "name",         [API_NAMES] = "names",
        [API_INTEGER] = "integer",   [API_NUMBER] = "number",     [API_DURATION] = "duration",
        [API_INSTANT] = "instant",   [API_MOMENT] = "moment",     [API_CHOICE] = "choice",
        [API_FILTER] = "filter",     [API_ITEMS] = "items",       [API_OPTIONS] = "options",
        [API_KIND] = "name|options", [API_FUNCTION] = "function", [API_SECRET] = "name",
    };
    return names[type];
}

Str flow_api_field_names(const FlowApiField *fields, Arena *arena) {
    Str names = STR_NULL;
    for (const FlowApiField *field = fields; field && field->name; field++)
        names = str_is_null(names) ? str_from(field->name)
                                   : arena_printf(arena, "%.*s, %s", STR_ARG(names), field->name);
    return names;
}
