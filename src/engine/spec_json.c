// Specs as JSON: one reader for the bodies of HTTP and the options of scripts.
//
// Both mean the same fields and differ in how they write them; so the names here are those of HTTP,
// and the reader spells them as scripts do where those are read.
//
// Invariants [spec-json-1], [spec-json-2] are in spec_json.h.
//
// Not here: what the fields may be (model/spec.c), who may set them (routes, flow/check/api.c).
#include "engine/spec_json.h"
#include "base/assert.h"
#include "base/limits.h"

enum { SPELLED_MAX = 32 };

typedef struct Spelled {
    char text[SPELLED_MAX];
} Spelled;

static Spelled spell(const SpecReader *reader, const char *name) {
    Spelled answer = {0};
    size_t len = 0;
    for (bool is_raised = false; *name; name++) {
        is_raised = reader->spelling == SPELLED_CAMEL && *name == '_';
        if (is_raised) name++;
        ASSERT(len + 1 < sizeof answer.text);
        answer.text[len++] = is_raised ? (char)(*name - ('a' - 'A')) : *name;
    }
    return answer;
}

// ---- values ----

static Status read_name(const SpecReader *reader, SpecField field, const char *name, Str *ret_name,
                        Diag *diag) {
    Spelled spelled = spell(reader, name);
    Str found = STR_NULL;
    TRY(json_get_string(reader->object, spelled.text, &found, diag));
    if (str_is_null(found)) return OK;
    TRY(spec_check_name(field, spelled.text, found, diag));
    *ret_name = arena_str(reader->arena, found);
    return OK;
}

static Status read_names(const SpecReader *reader, SpecField field, const char *name, Str *ret_list,
                         Diag *diag) {
    const JsonValue *array = NULL;
    Str list = STR_NULL;
    TRY(json_get_array(reader->object, spell(reader, name).text, &array, diag));
    if (array == NULL) return OK;
    JSON_EACH (item, array) {
        if (item->kind != JSON_KIND_STRING)
            return diag_set(diag, ERR_INVALID, spec_rules[field].code, "%s is a string, not %s",
                            spec_rules[field].name, json_kind_name(item->kind));
        TRY(spec_add_name(field, reader->arena, item->string, &list, diag));
    }
    *ret_list = list;
    return OK;
}

static Status read_duration(const SpecReader *reader, const char *name, int64_t *ret_ms,
                            Diag *diag) {
    return json_get_duration_ms(reader->object, spell(reader, name).text, ret_ms, diag);
}

static Status read_whole(const SpecReader *reader, SpecField field, int64_t *value, Diag *diag) {
    Spelled spelled = spell(reader, spec_rules[field].name);
    int64_t found = *value;
    if (!json_has(reader->object, spelled.text)) return OK;
    TRY(json_get_i64(reader->object, spelled.text, &found, diag));
    TRY(spec_check_number(field, spelled.text, (double)found, diag));
    *value = found;
    return OK;
}

// A fraction, kept in hundredths.
static Status read_percent(const SpecReader *reader, SpecField field, const char *name,
                           int64_t *ret_pct, Diag *diag) {
    Spelled spelled = spell(reader, name);
    double value = 0;
    if (!json_has(reader->object, spelled.text)) return OK;
    TRY(json_get_number(reader->object, spelled.text, &value, diag));
    TRY(spec_check_number(field, spelled.text, value, diag));
    *ret_pct = (int64_t)(value * 100);
    return OK;
}

static Status read_choice(const SpecReader *reader, SpecField field, const char *name,
                          int64_t *ret_value, Diag *diag) {
    Spelled spelled = spell(reader, name);
    Str word = STR_NULL;
    TRY(json_get_string(reader->object, spelled.text, &word, diag));
    return str_is_null(word) ? OK : spec_read_choice(field, spelled.text, word, ret_value, diag);
}

static int64_t given(const SpecReader *reader) {
    return (json_has(reader->object, "priority") ? GIVEN_PRIORITY : 0) |
           (json_has(reader->object, "ttl") ? GIVEN_KEEP : 0);
}

// ---- runs ----

RunSpec spec_run_default(int64_t keep_ms) {
    return (RunSpec){.keep_ms = keep_ms, .parent_position = NOT_AWAITED};
}

static Status read_leftovers(const SpecReader *reader, RunSpec *spec, Diag *diag) {
    TRY(read_choice(reader, SPEC_LEFTOVERS, "leftover_signals", &spec->leftover_policy, diag));
    TRY(json_get_string(reader->object, spell(reader, "leftover_topic").text, &spec->leftover_topic,
                        diag));
    return spec_check_leftovers(spec->leftover_policy, spec->leftover_topic, diag);
}

Status spec_read_run(const SpecReader *reader, int64_t now_ms, RunSpec *spec, Diag *diag) {
    int64_t delay_ms = 0, start_at_ms = spec->start_at_ms;
    TRY(read_name(reader, SPEC_RUN_ID, "id", &spec->id, diag));
    TRY(read_name(reader, SPEC_RUN_KEY, "key", &spec->dedupe_key, diag));
    TRY(read_name(reader, SPEC_QUEUE, "queue", &spec->queue, diag));
    TRY(read_whole(reader, SPEC_PRIORITY, &spec->priority, diag));
    TRY(json_get_instant_ms(reader->object, spell(reader, "start_at").text, &start_at_ms, diag));
    TRY(read_duration(reader, "delay", &delay_ms, diag));
    TRY(spec_start_time(now_ms, delay_ms, start_at_ms, &spec->start_at_ms, diag));
    TRY(read_duration(reader, "timeout", &spec->timeout_ms, diag));
    TRY(read_duration(reader, "ttl", &spec->keep_ms, diag));
    TRY(read_names(reader, SPEC_TAG, "tags", &spec->tags, diag));
    TRY(read_choice(reader, SPEC_CLOSE_POLICY, "parent_close", &spec->close_policy, diag));
    spec->given = given(reader);
    return read_leftovers(reader, spec, diag);
}

// ---- tasks ----

Status spec_read_task(const SpecReader *reader, TaskSpec *spec, Diag *diag) {
    TRY(read_name(reader, SPEC_TASK_NAME, "name", &spec->name, diag));
    TRY(read_name(reader, SPEC_TASK_ID, "id", &spec->id, diag));
    TRY(read_name(reader, SPEC_QUEUE, "queue", &spec->queue, diag));
    TRY(read_name(reader, SPEC_CONCURRENCY_KEY, "concurrency_key", &spec->concurrency_key, diag));
    TRY(read_whole(reader, SPEC_PRIORITY, &spec->priority, diag));
    TRY(read_duration(reader, "delay", &spec->delay_ms, diag));
    TRY(read_duration(reader, "timeout", &spec->run_timeout_ms, diag));
    TRY(read_duration(reader, "schedule_timeout", &spec->start_timeout_ms, diag));
    return read_duration(reader, "heartbeat_timeout", &spec->heartbeat_ms, diag);
}

Status spec_read_retry(const SpecReader *reader, const SpecRetryNames *names, TaskSpec *spec,
                       Diag *diag) {
    TRY(read_whole(reader, SPEC_ATTEMPTS, &spec->max_attempts, diag));
    TRY(read_duration(reader, names->delay, &spec->backoff_ms, diag));
    TRY(read_duration(reader, names->max_delay, &spec->backoff_max_ms, diag));
    TRY(read_percent(reader, SPEC_RETRY_FACTOR, names->factor, &spec->backoff_factor_pct, diag));
    TRY(read_percent(reader, SPEC_RETRY_JITTER, "jitter", &spec->jitter_pct, diag));
    return read_names(reader, SPEC_ERROR_TYPE, "non_retryable", &spec->non_retryable, diag);
}

// ---- schedules ----

Status spec_read_schedule(const SpecReader *reader, ScheduleRow *row, Diag *diag) {
    bool is_paused = false;
    TRY(read_name(reader, SPEC_WORKFLOW, "workflow", &row->workflow, diag));
    TRY(read_choice(reader, SPEC_OVERLAP, "overlap", &row->overlap, diag));
    TRY(read_duration(reader, "jitter", &row->jitter_ms, diag));
    TRY(read_duration(reader, "catch_up", &row->catch_up_ms, diag));
    TRY(read_whole(reader, SPEC_PRIORITY, &row->priority, diag));
    TRY(read_duration(reader, "timeout", &row->timeout_ms, diag));
    TRY(read_duration(reader, "ttl", &row->keep_ms, diag));
    TRY(read_names(reader, SPEC_TAG, "tags", &row->tags, diag));
    TRY(json_get_bool(reader->object, "paused", &is_paused, diag));
    row->is_paused = is_paused;
    row->given = given(reader);
    return OK;
}
