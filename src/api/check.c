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
#include "model/spec.h"
#include <stdio.h>

static int code_of(Status status) {
    static const int codes[STATUS_COUNT] = {
        [OK] = ABIDE_OK,
        [ERR_NOT_FOUND] = ABIDE_NOT_FOUND,
        [ERR_FENCED] = ABIDE_FENCED,
        [ERR_TERMINAL] = ABIDE_TERMINAL,
        [ERR_CONFLICT] = ABIDE_CONFLICT,
        [ERR_INVALID] = ABIDE_INVALID,
        [ERR_LIMIT] = ABIDE_LIMIT,
        [ERR_FULL] = ABIDE_LIMIT,
        [ERR_UNSUPPORTED] = ABIDE_UNSUPPORTED,
        [ERR_OLDER] = ABIDE_UNSUPPORTED,
        [ERR_LOCKED] = ABIDE_CONFLICT,
        [ERR_UNAVAILABLE] = ABIDE_UNAVAILABLE,
        [ERR_BUSY] = ABIDE_UNAVAILABLE,
        [ERR_CLOSED] = ABIDE_CLOSED,
        [ERR_INTERRUPTED] = ABIDE_UNAVAILABLE,
        [ERR_CORRUPT] = ABIDE_CORRUPT,
    };
    return codes[status];
}

int api_answer(abide_error *error, Status status, const Diag *diag) {
    int code = code_of(status);
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
    *policy = (RetryPolicy){
        .max_attempts = 3, .factor_pct = 200, .delay_ms = 1000, .max_delay_ms = 3600000};
    if (retry->attempts != 0) {
        TRY(spec_check_number(SPEC_ATTEMPTS, NULL, retry->attempts, diag));
        policy->max_attempts = retry->attempts;
    }
    if (retry->factor != 0) {
        TRY(spec_check_number(SPEC_RETRY_FACTOR, "factor", retry->factor, diag));
        policy->factor_pct = (int64_t)(retry->factor * 100);
    }
    TRY(spec_check_number(SPEC_RETRY_JITTER, NULL, retry->jitter, diag));
    policy->jitter_pct = (int64_t)(retry->jitter * 100);
    TRY(spec_read_duration("delay", str_from(retry->delay), &policy->delay_ms, diag));
    TRY(spec_read_duration("max_delay", str_from(retry->max_delay), &policy->max_delay_ms, diag));
    for (const char *const *type = retry->non_retryable; type != NULL && *type != NULL; type++)
        TRY(spec_add_name(SPEC_ERROR_TYPE, arena, str_from(*type), &policy->non_retryable, diag));
    return OK;
}

static Status check_tags(const abide_start_options *options, Arena *arena, Str *ret_tags,
                         Diag *diag) {
    if (options->tag_count < 0 || (options->tag_count > 0 && options->tags == NULL))
        return diag_set(diag, ERR_INVALID, "BAD_TAG", "tags and tag_count do not fit together");
    for (int i = 0; i < options->tag_count; i++)
        TRY(spec_add_name(SPEC_TAG, arena, str_from(options->tags[i]), ret_tags, diag));
    return OK;
}

static Status check_keeping(const char *retention, RunSpec *spec, Diag *diag) {
    if (retention == NULL) return OK;
    spec->given |= GIVEN_KEEP;
    if (strcmp(retention, "forever") == 0) {
        spec->keep_ms = KEEP_FOR_EVER;
        return OK;
    }
    return spec_read_duration("retention", str_from(retention), &spec->keep_ms, diag);
}

Status api_check_start(const abide_start_options *options, int64_t now_ms, Arena *arena,
                       RunSpec *spec, Diag *diag) {
    if (options == NULL) return OK;
    spec->id = str_from(options->id);
    spec->dedupe_key = str_from(options->key);
    spec->leftover_topic = str_from(options->leftover_topic);
    spec->leftover_policy = options->leftover_signals;
    spec->close_policy = options->close_policy;
    spec->priority = options->priority;
    if (options->priority != 0) spec->given |= GIVEN_PRIORITY;
    int64_t delay_ms = 0;
    if (options->id != NULL) TRY(spec_check_name(SPEC_RUN_ID, NULL, spec->id, diag));
    if (options->key != NULL) TRY(spec_check_name(SPEC_RUN_KEY, NULL, spec->dedupe_key, diag));
    TRY(spec_read_duration("delay", str_from(options->delay), &delay_ms, diag));
    TRY(spec_start_time(now_ms, delay_ms, options->start_at_ms, &spec->start_at_ms, diag));
    TRY(spec_read_duration("timeout", str_from(options->timeout), &spec->timeout_ms, diag));
    TRY(check_keeping(options->retention, spec, diag));
    TRY(spec_check_number(SPEC_PRIORITY, NULL, options->priority, diag));
    TRY(check_tags(options, arena, &spec->tags, diag));
    TRY(spec_check_choice(SPEC_CLOSE_POLICY, NULL, options->close_policy, diag));
    return spec_check_leftovers(spec->leftover_policy, spec->leftover_topic, diag);
}
