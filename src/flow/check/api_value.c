// Options and values held against the table: the same sentences at run time, about JSON, and in the
// static check, about the literals of a file.
//
// A null is as good as nothing, as it is for the readers; what a literal does not tell fits.
//
// Invariants [api-1], [api-2] are in check/api.h.
#include "base/secret.h"
#include "base/text/name.h"
#include "base/text/suggest.h"
#include "base/time/duration.h"
#include "flow/check/api.h"
#include <math.h>
#include <stdio.h>

static void tell(const FlowApiCheck *check, FlowApiFault fault) {
    check->report(check->context, &fault);
}

static void say(const FlowApiCheck *check, const JsonValue *at, Str message) {
    tell(check, (FlowApiFault){.at = at, .message = message});
}

static void wrong_type(const FlowApiCheck *check, Str path, const JsonValue *value,
                       const char *wanted) {
    say(check, value,
        arena_printf(check->arena, "`%.*s` of `%s` takes %s, not %s", STR_ARG(path), check->call,
                     wanted, json_kind_name(value->kind)));
}

static void wrong_value(const FlowApiCheck *check, Str path, const JsonValue *value,
                        const char *why) {
    say(check, value,
        arena_printf(check->arena, "`%.*s` of `%s`: %s", STR_ARG(path), check->call, why));
}

// ---- values ----

static const char *what(const FlowApiCheck *check, Str path) {
    return arena_printf(check->arena, "`%.*s` of `%s`", STR_ARG(path), check->call).data;
}

static void refuse(const FlowApiCheck *check, const JsonValue *value, const SpecRule *rule,
                   const Diag *diag) {
    tell(check, (FlowApiFault){.at = value,
                               .message = arena_str(check->arena, str_from(diag->message)),
                               .code = rule->code});
}

static void check_name(const FlowApiCheck *check, const FlowApiField *field, Str path,
                       const JsonValue *value) {
    Diag diag;
    if (value->kind != JSON_KIND_STRING) {
        wrong_type(check, path, value, "a string");
        return;
    }
    const char *called = what(check, path);
    Status status =
        field->spec != SPEC_NONE
            ? spec_check_name(field->spec, called, value->string, &diag)
            : name_check(value->string, called, "BAD_OPTION", (size_t)field->max, &diag);
    if (status != OK) refuse(check, value, &spec_rules[field->spec], &diag);
}

static void check_names(const FlowApiCheck *check, const FlowApiField *field, Str path,
                        const JsonValue *value) {
    if (value->kind != JSON_KIND_ARRAY) {
        wrong_type(check, path, value, "an array of strings");
        return;
    }
    JSON_EACH (item, value) {
        if ((int)item->kind == API_UNKNOWN_VALUE) continue;
        check_name(check, field, path, item);
    }
}

static void check_number(const FlowApiCheck *check, const FlowApiField *field, Str path,
                         const JsonValue *value) {
    bool is_whole = field->type == API_INTEGER;
    if (value->kind != JSON_KIND_NUMBER) {
        wrong_type(check, path, value, is_whole ? "a whole number" : "a number");
        return;
    }
    Diag diag;
    if (spec_check_number(field->spec, what(check, path), value->number, &diag) != OK)
        refuse(check, value, &spec_rules[field->spec], &diag);
}

static void check_duration(const FlowApiCheck *check, const FlowApiField *field, Str path,
                           const JsonValue *value) {
    int64_t ms;
    Diag diag;
    if (value->kind == JSON_KIND_NUMBER) {
        if (!(value->number >= 0 && value->number * 1000 <= (double)field->max))
            wrong_value(check, path, value, "a duration lies between 0 and 100 years");
    } else if (value->kind != JSON_KIND_STRING) {
        wrong_type(check, path, value, "a duration (text like \"15m\", or seconds)");
    } else if (duration_parse(value->string, &ms, &diag) != OK) {
        wrong_value(check, path, value, diag.message);
    }
}

static void check_instant(const FlowApiCheck *check, const FlowApiField *field, Str path,
                          const JsonValue *value) {
    int64_t ms;
    Diag diag;
    bool takes_number = field->type == API_MOMENT;
    if (takes_number && value->kind == JSON_KIND_NUMBER) return;
    if (value->kind != JSON_KIND_STRING)
        wrong_type(check, path, value,
                   takes_number ? "a Date, a time in milliseconds or an RFC 3339 text"
                                : "a time (RFC 3339 text or a Date)");
    else if (instant_parse(value->string, &ms, &diag) != OK)
        wrong_value(check, path, value, diag.message);
}

static void check_choice(const FlowApiCheck *check, const FlowApiField *field, Str path,
                         const JsonValue *value) {
    Str all = STR_NULL;
    Suggestion guess = {.wanted = value->kind == JSON_KIND_STRING ? value->string : STR_NULL};
    for (const char *const *choice = field->choices; *choice; choice++) {
        if (str_equal(guess.wanted, str_from(*choice))) return;
        suggest(&guess, *choice);
        all = arena_printf(check->arena, "%.*s%s\"%s\"", STR_ARG(all),
                           str_is_null(all) ? "" : " or ", *choice);
    }
    tell(check, (FlowApiFault){.at = value,
                               .message = arena_printf(check->arena, "`%.*s` of `%s` takes %.*s",
                                                       STR_ARG(path), check->call, STR_ARG(all)),
                               .suggestion = guess.best});
}

static void check_items(const FlowApiCheck *check, Str path, const JsonValue *value) {
    if (value->kind != JSON_KIND_ARRAY && value->kind != JSON_KIND_STRING)
        wrong_type(check, path, value, "an array");
}

// Which secrets a script uses is to be seen by reading it.
static void check_secret(const FlowApiCheck *check, Str path, const JsonValue *value) {
    bool is_text = value->kind == JSON_KIND_STRING;
    if ((int)value->kind == API_UNKNOWN_VALUE)
        wrong_value(check, path, value, "write the name of the secret as it is, in quotes");
    else if (!is_text || !secret_is_name(value->string))
        wrong_value(check, path, value,
                    "the name of a secret is a letter, then letters, digits and \"_\", 64 at most");
}

static void check_object(const FlowApiCheck *check, const FlowApiField *fields, Str path,
                         const JsonValue *object);

void flow_api_check_value(const FlowApiCheck *check, const FlowApiField *field, Str path,
                          const JsonValue *value) {
    if (field->type == API_SECRET) {
        check_secret(check, path, value);
        return;
    }
    if ((int)value->kind == API_UNKNOWN_VALUE) return;
    if (value->kind == JSON_KIND_NULL && !field->is_required) return; // as if it were not there
    switch (field->type) {
    case API_NAME: check_name(check, field, path, value); break;
    case API_NAMES: check_names(check, field, path, value); break;
    case API_INTEGER:
    case API_NUMBER: check_number(check, field, path, value); break;
    case API_DURATION: check_duration(check, field, path, value); break;
    case API_INSTANT:
    case API_MOMENT: check_instant(check, field, path, value); break;
    case API_CHOICE: check_choice(check, field, path, value); break;
    case API_ITEMS: check_items(check, path, value); break;
    case API_OPTIONS:
        if (value->kind == JSON_KIND_OBJECT) check_object(check, field->fields, path, value);
        else wrong_type(check, path, value, "an object");
        break;
    case API_KIND:
        if (value->kind == JSON_KIND_OBJECT) check_object(check, field->fields, path, value);
        else check_name(check, field, path, value);
        break;
    case API_FILTER: // its parts are the engine's to read: engine/runners/filter.h
        if (value->kind != JSON_KIND_OBJECT && value->kind != JSON_KIND_STRING)
            wrong_type(check, path, value, "an object, or a text with a condition");
        break;
    case API_FUNCTION: wrong_type(check, path, value, "a function, as in () => true"); break;
    case API_SECRET:
    case API_ANY:
    case API_TYPE_COUNT: break;
    }
}

// ---- names ----

static void unknown_option(const FlowApiCheck *check, const FlowApiField *fields, Str path,
                           const JsonValue *member) {
    Suggestion guess = {.wanted = member->key};
    for (const FlowApiField *field = fields; field->name; field++) suggest(&guess, field->name);
    Str names = flow_api_field_names(fields, check->arena);
    tell(check,
         (FlowApiFault){
             .at = member,
             .is_key = true,
             .message = arena_printf(check->arena, "`%s` has no option `%.*s`", check->call,
                                     STR_ARG(path)),
             .hint = guess.best
                         ? arena_printf(check->arena, "Did you mean `%s`? The options are %.*s",
                                        guess.best, STR_ARG(names))
                         : arena_printf(check->arena, "The options are %.*s", STR_ARG(names)),
             .suggestion = guess.best,
         });
}

static void check_required(const FlowApiCheck *check, const FlowApiField *fields,
                           const JsonValue *object) {
    for (const FlowApiField *field = fields; field->name; field++)
        if (field->is_required && json_member(object, str_from(field->name)) == NULL)
            say(check, object,
                arena_printf(check->arena, "`%s` needs the option `%s`", check->call, field->name));
}

static void check_object(const FlowApiCheck *check, const FlowApiField *fields, Str path,
                         const JsonValue *object) {
    bool is_complete = true;
    JSON_EACH (member, object) {
        if (str_is_null(member->key)) { // a computed name of a literal, or something spread
            is_complete = false;
            continue;
        }
        const FlowApiField *field = flow_api_field(fields, member->key);
        Str inner = str_is_null(path) ? member->key
                                      : arena_printf(check->arena, "%.*s.%.*s", STR_ARG(path),
                                                     STR_ARG(member->key));
        if (field == NULL) unknown_option(check, fields, inner, member);
        else flow_api_check_value(check, field, inner, member);
    }
    if (is_complete) check_required(check, fields, object);
}

void flow_api_check_options(const FlowApiCheck *check, const FlowApiField *fields,
                            const JsonValue *object) {
    check_object(check, fields, STR_NULL, object);
}

// ---- run time ----

static void keep_first(void *context, const FlowApiFault *fault) {
    FlowApiFault *first = context;
    if (str_is_null(first->message)) *first = *fault;
}

Status flow_api_read_options(const char *call, Str options_json, Arena *arena, Diag *diag) {
    JsonValue *value;
    TRY(json_parse(arena, options_json, &value, diag));
    if (value->kind == JSON_KIND_NULL) return OK;
    if (value->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "the options of %s must be an object",
                        call);
    FlowApiFault first = {0};
    FlowApiCheck check = {call, arena, keep_first, &first};
    flow_api_check_options(&check, flow_api_options(flow_api_call(call)), value);
    if (str_is_null(first.message)) return OK;
    bool has_hint = !str_is_null(first.hint);
    return diag_set(diag, ERR_INVALID, first.code != NULL ? first.code : "BAD_OPTION", "%.*s%s%.*s",
                    STR_ARG(first.message), has_hint ? ". " : "", STR_ARG(first.hint));
}
