// The workflow API as data: every object, call, argument and option that abide adds to JavaScript.
//
//   [api-1] One table. The static check of a file (check.h), the readers at run time
//        (builtin/host.c) and `abide check --api` go by it, and a test holds the objects of the
//        realm to it.
//   [api-2] What it allows is what run time takes: a literal that it refuses would have thrown.
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "json/value.h"
#include "model/spec.h"

typedef enum FlowApiType {
    API_ANY,      // plain data
    API_NAME,     // text that is not empty, at most `max` bytes
    API_SECRET,   // the name of a secret, written as it is
    API_NAMES,    // an array of them
    API_INTEGER,  // min … max
    API_NUMBER,   // likewise, fractions allowed
    API_DURATION, // "2s", "PT15M", or a number of seconds
    API_INSTANT,  // RFC 3339 text or a Date
    API_MOMENT,   // the same, or milliseconds since 1970
    API_CHOICE,   // one of `choices`
    API_FILTER,   // what an event has to be: engine/runners/filter.h
    API_ITEMS,    // an array or another iterable
    API_OPTIONS,  // an object with `fields` and nothing else
    API_KIND,     // a name, or an object with `fields`: the type of a stream entry
    API_FUNCTION, // () => condition
    API_TYPE_COUNT
} FlowApiType;

// A parameter of a call, or a member of an options object. Lists of them end with a NULL name.
typedef struct FlowApiField {
    const char *name;
    FlowApiType type;
    bool is_required;
    SpecField spec;                    // the rule that it goes by; SPEC_NONE: `max` bytes
    int64_t max;                       // bytes of a name that no spec has; of a duration, ms
    const struct FlowApiField *fields; // API_OPTIONS, API_KIND
    const char *const *choices;        // API_CHOICE; ends with NULL
} FlowApiField;

typedef enum FlowApiResult {
    API_RESULT_NONE,
    API_RESULT_VALUE,
    API_RESULT_HANDLE, // a promise with an `id`
    API_RESULT_PROMISE,
    API_RESULT_PROPERTY, // not a call: a value to read
} FlowApiResult;

typedef struct FlowApiMember {
    const char *name;
    const char *call; // "Task.run"; NULL: it is none
    FlowApiResult result;
    const FlowApiField *parameters; // NULL: it takes none
    const char *also;               // what people call it elsewhere, separated by spaces; or NULL
} FlowApiMember;

typedef struct FlowApiObject {
    const char *name;
    const FlowApiMember *members; // ends with a NULL name
} FlowApiObject;

extern const FlowApiMember flow_api_functions[];  // of no object: Invariant; ends likewise
const FlowApiMember *flow_api_function(Str name); // NULL: none
extern const FlowApiObject flow_api_objects[];    // ends with a NULL name
const FlowApiObject *flow_api_object(Str name);   // NULL: none
const FlowApiMember *flow_api_member(const FlowApiObject *object, Str name); // NULL: none
const FlowApiMember *flow_api_call(const char *call);              // "Task.run"; one that there is
const FlowApiField *flow_api_options(const FlowApiMember *member); // its options; NULL: none
const FlowApiField *flow_api_field(const FlowApiField *fields, Str name); // NULL: none
uint32_t flow_api_field_count(const FlowApiField *fields);                // of NULL: 0
const char *flow_api_type_name(FlowApiType type);                         // "duration"

// A value that a literal does not tell: everything fits it, whatever the field.
enum { API_UNKNOWN_VALUE = JSON_KIND_COUNT };

typedef struct FlowApiFault {
    const JsonValue *at;
    bool is_key;            // the name is wrong, not the value
    Str message;            // "`Task.run` has no option `timout`"
    const char *code;       // of the refusal at run time; NULL = BAD_OPTION
    Str hint;               // what there is instead; null = the message says it
    const char *suggestion; // the name that was probably meant; NULL = none is near
} FlowApiFault;

typedef struct FlowApiCheck {
    const char *call; // "Task.run"
    Arena *arena;     // texts of the faults
    void (*report)(void *context, const FlowApiFault *fault);
    void *context;
} FlowApiCheck;
// Reports every member of `object` that is not among the fields, or has an impossible value.
void flow_api_check_options(const FlowApiCheck *check, const FlowApiField *fields,
                            const JsonValue *object);
// Reports what is wrong with the value of a field; `path` is how messages call it.
void flow_api_check_value(const FlowApiCheck *check, const FlowApiField *field, Str path,
                          const JsonValue *value);
// The options of "Task.run": the first fault as ERR_INVALID, with the code of its rule, or
// BAD_OPTION and the names that are known.
MUST_CHECK Status flow_api_read_options(const char *call, Str options_json, Arena *arena,
                                        Diag *diag);

// A sentence about "Task", "Task.run", "Context.runId"; NULL: there is none (api_about.c).
const char *flow_api_about_member(const char *path);
// A sentence about an option of "Task.run" or "config", by its path: "retry.delay".
const char *flow_api_about_option(Str call, Str path);

// "a, b, c": the names of the fields.
Str flow_api_field_names(const FlowApiField *fields, Arena *arena);
// Everything of this file, the keys of `config` and what JavaScript has built in, as JSON.
void flow_api_print(Buf *ret_json);
