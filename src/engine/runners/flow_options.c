// Options of the workflow API: what may stand in the third argument of Task.run and its like.
//
// Which members there are, and what each may be, is the table of the API (flow/check/api.h): the VM
// has held the options to it before they come here, so that a misspelt one is an error and not
// ignored. Durations are as everywhere: "2s", "PT15M", or a number of seconds.
//
// Not here: how members become a spec (engine/spec_json.c), what they may be (model/spec.c).
#include "engine/runners/flow_options.h"
#include "base/time/duration.h"
#include "engine/runners/filter.h"
#include "engine/spec_json.h"
#include "json/value.h"

static Status parse_object(Arena *arena, Str json, const JsonValue **ret_object, Diag *diag) {
    JsonValue *value;
    TRY(json_parse(arena, arena_str(arena, json), &value, diag));
    if (value->kind == JSON_KIND_NULL) {
        *ret_object = NULL;
        return OK;
    }
    if (value->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "options must be an object, not %s",
                        json_kind_name(value->kind));
    *ret_object = value;
    return OK;
}

Status flow_task_options(Arena *arena, Str options_json, TaskSpec *spec, Diag *diag) {
    spec->max_attempts = 3;
    spec->backoff_ms = 1000;
    spec->backoff_max_ms = 3600000;
    spec->backoff_factor_pct = 200;
    const JsonValue *options = NULL, *retry = NULL;
    if (!str_is_null(options_json)) TRY(parse_object(arena, options_json, &options, diag));
    if (options == NULL) return OK;
    const SpecReader reader = {options, arena, SPELLED_CAMEL};
    Str key = STR_NULL;
    TRY(spec_read_task(&reader, spec, diag));
    TRY(json_get_string(options, "key", &key, diag));
    if (!str_is_null(key)) spec->id = arena_printf(arena, "task:%.*s", STR_ARG(key));
    TRY(json_get_object(options, "retry", &retry, diag));
    if (retry == NULL) return OK;
    static const SpecRetryNames names = {"delay", "max_delay", "factor"};
    return spec_read_retry(&(SpecReader){retry, arena, SPELLED_CAMEL}, &names, spec, diag);
}

Status flow_run_options(Arena *arena, Str options_json, int64_t now_ms, RunSpec *spec, Diag *diag) {
    const JsonValue *options = NULL;
    if (!str_is_null(options_json)) TRY(parse_object(arena, options_json, &options, diag));
    if (options == NULL) return OK;
    return spec_read_run(&(SpecReader){options, arena, SPELLED_CAMEL}, now_ms, spec, diag);
}

Status idle_timeout_parse(Str text, int64_t *ret_ms, Diag *diag) {
    if (str_equal(text, STR("off"))) {
        *ret_ms = -1;
        return OK;
    }
    Diag ignored;
    if (duration_parse(text, ret_ms, &ignored) == OK && *ret_ms > 0) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                    "the idle timeout \"%.*s\" is neither a duration nor \"off\"", STR_ARG(text));
}

Status flow_event_options(Arena *arena, Str options_json, Str *ret_filter, Diag *diag) {
    *ret_filter = STR_NULL;
    const JsonValue *options = NULL;
    if (!str_is_null(options_json)) TRY(parse_object(arena, options_json, &options, diag));
    if (options == NULL) return OK;
    json_get_raw(options, "filter", ret_filter);
    return str_is_null(*ret_filter) ? OK : filter_check(*ret_filter, diag);
}
