// Checks of what callers hand in: every bad argument is named, and nothing has happened yet.
//
// Text is UTF-8 without control characters, sizes are those of base/limits.h, payloads are JSON.
// Here is also where answers of the inside become the codes and sentences of include/abide.h.
//
// Not here: whether things exist (the store says).
#include "api/api.h"
#include "base/limits.h"
#include "base/time/duration.h"
#include "json/validate.h"
#include <stdio.h>

static int code_of(Status status, const Diag *diag) {
    static const int codes[STATUS_COUNT] = {
        [OK] = ABIDE_OK,
        [ERR_NOT_FOUND] = ABIDE_NOT_FOUND,
        [ERR_FENCED] = ABIDE_FENCED,
        [ERR_TERMINAL] = ABIDE_TERMINAL,
        [ERR_CONFLICT] = ABIDE_CONFLICT,
        [ERR_INVALID] = ABIDE_INVALID,
        [ERR_LIMIT] = ABIDE_LIMIT,
        [ERR_UNSUPPORTED] = ABIDE_UNSUPPORTED,
        [ERR_UNAVAILABLE] = ABIDE_UNAVAILABLE,
        [ERR_CORRUPT] = ABIDE_CORRUPT,
    };
    if (diag != NULL && strcmp(diag->code, "CLOSED") == 0) return ABIDE_CLOSED;
    return codes[status];
}

int api_answer(abide_error *error, Status status, const Diag *diag) {
    int code = code_of(status, diag);
    if (error == NULL) return code;
    *error = (abide_error){.code = code};
    if (status == OK) return code;
    snprintf(error->name, sizeof error->name, "%s",
             diag->code[0] != 0 ? diag->code : status_name(status));
    snprintf(error->message, sizeof error->message, "%s", diag->message);
    return code;
}

int api_refuse(abide_error *error, int code, const char *name, const char *format, ...) {
    if (error == NULL) return code;
    *error = (abide_error){.code = code};
    snprintf(error->name, sizeof error->name, "%s", name);
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return code;
}

Status api_check_name(const char *text, const char *what, Str *ret_name, Diag *diag) {
    Str name = str_from(text);
    TRY(name_check(name, what, "BAD_NAME", LIMIT_NAME_SIZE, diag));
    *ret_name = name;
    return OK;
}

Status api_check_run_id(const char *text, Str *ret_id, Diag *diag) {
    Str id = str_from(text);
    TRY(name_check(id, "the run id", "BAD_ID", LIMIT_RUN_ID_SIZE, diag));
    *ret_id = id;
    return OK;
}

Status api_check_payload(const char *json, const char *what, Str *ret_payload, Diag *diag) {
    Str payload = str_from(json);
    if (json == NULL) {
        *ret_payload = STR_NULL;
        return OK;
    }
    if (payload.len > LIMIT_PAYLOAD_SIZE)
        return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                        "%s has %zu bytes; at most %d are allowed", what, payload.len,
                        LIMIT_PAYLOAD_SIZE);
    Diag found;
    Status status = json_validate(payload, &found);
    if (status != OK)
        return diag_set(diag, ERR_INVALID, "BAD_JSON", "%s is not JSON: %s", what, found.message);
    *ret_payload = payload;
    return OK;
}

Status api_check_duration(const char *text, int64_t fallback_ms, int64_t *ret_ms, Diag *diag) {
    if (text == NULL) {
        *ret_ms = fallback_ms;
        return OK;
    }
    return duration_parse(str_from(text), ret_ms, diag);
}

Status api_check_retry(const abide_retry *retry, Arena *arena, RetryPolicy *policy, Diag *diag) {
    if (retry->attempts < 0 || retry->factor < 0 || retry->jitter < 0 || retry->jitter > 1)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                        "retry: attempts and factor must not be negative, jitter is 0 … 1");
    policy->max_attempts = retry->attempts == 0 ? 3 : retry->attempts;
    policy->factor_pct = retry->factor == 0 ? 200 : (int64_t)(retry->factor * 100);
    policy->jitter_pct = (int64_t)(retry->jitter * 100);
    TRY(api_check_duration(retry->delay, 1000, &policy->delay_ms, diag));
    TRY(api_check_duration(retry->max_delay, 3600000, &policy->max_delay_ms, diag));
    Str joined = STR_NULL;
    for (const char *const *type = retry->non_retryable; type != NULL && *type != NULL; type++)
        joined = str_is_null(joined) ? arena_str(arena, str_from(*type))
                                     : arena_printf(arena, "%.*s\n%s", STR_ARG(joined), *type);
    policy->non_retryable = joined;
    return OK;
}

static Status check_tags(const abide_start_options *options, Arena *arena, Str *ret_tags,
                         Diag *diag) {
    *ret_tags = STR_NULL;
    if (options->tag_count == 0) return OK;
    bool is_count = options->tag_count > 0 && options->tag_count <= (int)LIMIT_TAG_COUNT;
    if (!is_count || options->tags == NULL)
        return diag_set(diag, ERR_INVALID, "BAD_TAG", "a run may have at most %d tags",
                        LIMIT_TAG_COUNT);
    Str joined = STR_NULL;
    for (int i = 0; i < options->tag_count; i++) {
        Str tag = str_from(options->tags[i]);
        TRY(name_check(tag, "a tag", "BAD_TAG", LIMIT_TAG_SIZE, diag));
        joined = i == 0 ? arena_str(arena, tag)
                        : arena_printf(arena, "%.*s\n%.*s", STR_ARG(joined), STR_ARG(tag));
    }
    *ret_tags = joined;
    return OK;
}

static Status check_leftovers(const abide_start_options *options, RunSpec *spec, Diag *diag) {
    if (options->leftover_signals < LEFTOVER_DISCARD ||
        options->leftover_signals > LEFTOVER_DEAD_LETTER)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "leftover_signals is %d",
                        options->leftover_signals);
    spec->leftover_policy = options->leftover_signals;
    if (options->leftover_signals == LEFTOVER_TO_TOPIC)
        TRY(api_check_name(options->leftover_topic, "leftover_topic", &spec->leftover_topic, diag));
    return OK;
}

Status api_check_start(const abide_start_options *options, int64_t now_ms, Arena *arena,
                       RunSpec *spec, Diag *diag) {
    if (options == NULL) return OK;
    if (options->id != NULL) TRY(api_check_run_id(options->id, &spec->id, diag));
    if (options->key != NULL) {
        spec->dedupe_key = str_from(options->key);
        TRY(name_check(spec->dedupe_key, "the idempotency key", "BAD_KEY", LIMIT_KEY_SIZE, diag));
    }
    int64_t delay_ms;
    TRY(api_check_duration(options->delay, 0, &delay_ms, diag));
    if (options->start_at_ms < 0)
        return diag_set(diag, ERR_INVALID, "BAD_TIME", "start_at_ms is negative");
    if (delay_ms > 0 && options->start_at_ms > 0)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "set delay or start_at_ms, not both");
    spec->start_at_ms = delay_ms > 0 ? now_ms + delay_ms : options->start_at_ms;
    TRY(api_check_duration(options->timeout, 0, &spec->timeout_ms, diag));
    if (options->retention != NULL) spec->given |= GIVEN_KEEP;
    if (options->priority != 0) spec->given |= GIVEN_PRIORITY;
    if (options->retention != NULL && strcmp(options->retention, "forever") == 0)
        spec->keep_ms = -1;
    else TRY(api_check_duration(options->retention, spec->keep_ms, &spec->keep_ms, diag));
    if (options->priority < PRIORITY_MIN || options->priority > PRIORITY_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "priority is %d; allowed are %d … %d",
                        options->priority, PRIORITY_MIN, PRIORITY_MAX);
    spec->priority = options->priority;
    TRY(check_tags(options, arena, &spec->tags, diag));
    TRY(check_leftovers(options, spec, diag));
    if (options->close_policy != CLOSE_ABANDON && options->close_policy != CLOSE_CANCEL)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "close_policy is %d",
                        options->close_policy);
    spec->close_policy = options->close_policy;
    return OK;
}
