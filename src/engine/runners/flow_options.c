// Options of the workflow API: what may stand in the third argument of Task.run and its like.
//
// Which members there are, and what each may be, is the table of the API (flow/check/api.h): the VM
// has held the options to it before they come here, so that a misspelt one is an error and not
// ignored. Durations are as everywhere: "2s", "PT15M", or a number of seconds.
//
// Not here: what the options do (the store's specs).
#include "engine/runners/flow_options.h"
#include "base/limits.h"
#include "base/text/name.h"
#include "base/time/duration.h"
#include "engine/definitions/start.h"
#include "engine/runners/filter.h"
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

// A name, by the rule that holds for all of them; left alone when there is none.
static Status get_name(const JsonValue *options, const char *member, Str *ret_name, Diag *diag) {
    TRY(json_get_string(options, member, ret_name, diag));
    if (str_is_null(*ret_name)) return OK;
    return name_check(*ret_name, member, "BAD_OPTION", LIMIT_NAME_SIZE, diag);
}

static Status join_strings(Arena *arena, const JsonValue *array, const char *what, Str *ret_joined,
                           Diag *diag) {
    Str joined = STR_NULL;
    JSON_EACH (item, array) {
        if (item->kind != JSON_KIND_STRING)
            return diag_set(diag, ERR_INVALID, "BAD_OPTION", "%s must be a list of strings", what);
        Str text = item->string;
        TRY(name_check(text, what, "BAD_OPTION", LIMIT_NAME_SIZE, diag));
        joined = str_is_null(joined)
                     ? arena_str(arena, text)
                     : arena_printf(arena, "%.*s\n%.*s", STR_ARG(joined), STR_ARG(text));
    }
    *ret_joined = joined;
    return OK;
}

static Status read_retry(Arena *arena, const JsonValue *retry, TaskSpec *spec, Diag *diag) {
    double factor = (double)spec->backoff_factor_pct / 100, jitter = 0;
    const JsonValue *types = NULL;
    TRY(json_get_i64(retry, "attempts", &spec->max_attempts, diag));
    TRY(json_get_duration_ms(retry, "delay", &spec->backoff_ms, diag));
    TRY(json_get_duration_ms(retry, "maxDelay", &spec->backoff_max_ms, diag));
    TRY(json_get_number(retry, "factor", &factor, diag));
    TRY(json_get_number(retry, "jitter", &jitter, diag));
    TRY(json_get_array(retry, "nonRetryable", &types, diag));
    spec->backoff_factor_pct = (int64_t)(factor * 100);
    spec->jitter_pct = (int64_t)(jitter * 100);
    if (types != NULL)
        TRY(join_strings(arena, types, "retry.nonRetryable", &spec->non_retryable, diag));
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
    Str key = STR_NULL;
    TRY(get_name(options, "queue", &spec->queue, diag));
    TRY(json_get_i64(options, "priority", &spec->priority, diag));
    TRY(json_get_duration_ms(options, "timeout", &spec->run_timeout_ms, diag));
    TRY(json_get_duration_ms(options, "scheduleTimeout", &spec->start_timeout_ms, diag));
    TRY(json_get_duration_ms(options, "heartbeatTimeout", &spec->heartbeat_ms, diag));
    TRY(json_get_duration_ms(options, "delay", &spec->delay_ms, diag));
    TRY(get_name(options, "concurrencyKey", &spec->concurrency_key, diag));
    TRY(get_name(options, "key", &key, diag));
    if (!str_is_null(key)) spec->id = arena_printf(arena, "task:%.*s", STR_ARG(key));
    TRY(json_get_object(options, "retry", &retry, diag));
    return retry != NULL ? read_retry(arena, retry, spec, diag) : OK;
}

Status flow_run_options(Arena *arena, Str options_json, int64_t now_ms, RunSpec *spec, Diag *diag) {
    const JsonValue *options = NULL, *tags = NULL;
    if (!str_is_null(options_json)) TRY(parse_object(arena, options_json, &options, diag));
    if (options == NULL) return OK;
    int64_t delay_ms = 0;
    Str close = STR_NULL;
    TRY(get_name(options, "id", &spec->id, diag));
    TRY(get_name(options, "key", &spec->dedupe_key, diag));
    TRY(json_get_duration_ms(options, "delay", &delay_ms, diag));
    TRY(json_get_instant_ms(options, "startAt", &spec->start_at_ms, diag));
    TRY(json_get_duration_ms(options, "timeout", &spec->timeout_ms, diag));
    TRY(json_get_duration_ms(options, "ttl", &spec->keep_ms, diag));
    TRY(json_get_i64(options, "priority", &spec->priority, diag));
    TRY(get_name(options, "queue", &spec->queue, diag));
    TRY(json_get_array(options, "tags", &tags, diag));
    TRY(json_get_string(options, "parentClose", &close, diag));
    if (delay_ms > 0 && spec->start_at_ms != 0)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "give delay or startAt, not both");
    if (delay_ms > 0) spec->start_at_ms = now_ms + delay_ms;
    spec->given = start_given(options);
    if (tags != NULL) TRY(join_strings(arena, tags, "tags", &spec->tags, diag));
    if (str_equal(close, STR("cancel"))) spec->close_policy = CLOSE_CANCEL;
    return OK;
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
