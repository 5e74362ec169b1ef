// Specs: the rules.
//
// Ranges and codes stand in one table; the sentences are made of it. Whoever reads a description
// knows how the value is written (JSON, a C struct, a literal of a script) and brings it here.
//
// Invariants [spec-1], [spec-2] are in spec.h.
//
// Not here: whether things exist (the store says), JSON (engine/spec_json.c).
#include "model/spec.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/text/name.h"
#include "base/time/duration.h"
#include "model/rows.h"
#include <math.h>
#include <stdio.h>

static const char *const leftovers[] = {"discard", "topic", "dead_letter"};
const char *const spec_close_policies[] = {"abandon", "cancel", NULL};

#define NAME(text, its_code, limit_field)                                                          \
    {                                                                                              \
        .name = (text), .kind = SPEC_NAME, .code = (its_code),                                     \
        .limit = offsetof(Limits, limit_field)                                                     \
    }
#define NUMBER(text, its_kind, least, most)                                                        \
    { .name = (text), .kind = (its_kind), .code = "BAD_OPTION", .min = (least), .max = (most) }
#define CHOICE(text, first, last, words)                                                           \
    {                                                                                              \
        .name = (text), .kind = SPEC_CHOICE, .code = "BAD_OPTION", .min = (first), .max = (last),  \
        .choices = (words)                                                                         \
    }

const SpecRule spec_rules[SPEC_FIELD_COUNT] = {
    [SPEC_WORKFLOW] = NAME("workflow", "BAD_NAME", name_size),
    [SPEC_RUN_ID] = NAME("id", "BAD_ID", run_id_size),
    [SPEC_RUN_KEY] = NAME("key", "BAD_KEY", key_size),
    [SPEC_TAG] = NAME("a tag", "BAD_TAG", tag_size),
    [SPEC_QUEUE] = NAME("queue", "BAD_NAME", name_size),
    [SPEC_LEFTOVER_TOPIC] = NAME("leftover_topic", "BAD_NAME", topic_size),
    [SPEC_TASK_NAME] = NAME("name", "BAD_NAME", name_size),
    [SPEC_TASK_ID] = NAME("id", "BAD_ID", run_id_size),
    [SPEC_CONCURRENCY_KEY] = NAME("concurrency_key", "BAD_KEY", key_size),
    [SPEC_ERROR_TYPE] = NAME("an error type", "BAD_NAME", name_size),
    [SPEC_SCHEDULE_NAME] = NAME("the schedule's name", "BAD_NAME", schedule_name_size),
    [SPEC_PRIORITY] = NUMBER("priority", SPEC_WHOLE, PRIORITY_MIN, PRIORITY_MAX),
    [SPEC_ATTEMPTS] = NUMBER("attempts", SPEC_WHOLE, 1, 1000000),
    [SPEC_RETRY_FACTOR] = NUMBER("retry_factor", SPEC_NUMBER, 0, 1000),
    [SPEC_RETRY_JITTER] = NUMBER("jitter", SPEC_NUMBER, 0, 1),
    [SPEC_OVERLAP] = CHOICE("overlap", OVERLAP_SKIP, OVERLAP_CANCEL_OLD, overlap_names),
    [SPEC_LEFTOVERS] =
        CHOICE("leftover_signals", LEFTOVER_DISCARD, LEFTOVER_DEAD_LETTER, leftovers),
    [SPEC_CLOSE_POLICY] = CHOICE("close_policy", CLOSE_ABANDON, CLOSE_CANCEL, spec_close_policies),
};

static const SpecRule *rule_of(SpecField field, const char **what) {
    ASSERT(field > SPEC_NONE && field < SPEC_FIELD_COUNT);
    const SpecRule *rule = &spec_rules[field];
    if (*what == NULL) *what = rule->name;
    return rule;
}

static size_t spec_name_max(SpecField field) {
    const SpecRule *rule = &spec_rules[field];
    ASSERT(rule->kind == SPEC_NAME);
    return *(const uint32_t *)(const void *)((const char *)limits_in_force + rule->limit);
}

Status spec_check_name(SpecField field, const char *what, Str name, Diag *diag) {
    const SpecRule *rule = rule_of(field, &what);
    return name_check(name, what, rule->code, spec_name_max(field), diag);
}

Status spec_check_number(SpecField field, const char *what, double value, Diag *diag) {
    const SpecRule *rule = rule_of(field, &what);
    bool is_whole = rule->kind == SPEC_WHOLE;
    ASSERT(is_whole || rule->kind == SPEC_NUMBER);
    bool is_good = value >= (double)rule->min && value <= (double)rule->max &&
                   (!is_whole || value == floor(value));
    if (is_good) return OK;
    return diag_set(diag, ERR_INVALID, rule->code, "%s takes a %s from %lld … %lld, not %.15g",
                    what, is_whole ? "whole number" : "number", (long long)rule->min,
                    (long long)rule->max, value);
}

static Status refuse_choice(const SpecRule *rule, const char *what, Str word, Diag *diag) {
    char all[128];
    size_t len = 0;
    for (int64_t i = rule->min; i <= rule->max; i++)
        len += (size_t)snprintf(all + len, sizeof all - len, "%s%s", i == rule->min ? "" : ", ",
                                rule->choices[i - rule->min]);
    ASSERT(len < sizeof all);
    return diag_set(diag, ERR_INVALID, rule->code, "%s takes one of %s, not %.*s", what, all,
                    STR_ARG(word));
}

Status spec_check_choice(SpecField field, const char *what, int64_t value, Diag *diag) {
    const SpecRule *rule = rule_of(field, &what);
    ASSERT(rule->kind == SPEC_CHOICE);
    if (value >= rule->min && value <= rule->max) return OK;
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)value);
    return refuse_choice(rule, what, (Str){text, (size_t)len}, diag);
}

Status spec_read_choice(SpecField field, const char *what, Str word, int64_t *ret_value,
                        Diag *diag) {
    const SpecRule *rule = rule_of(field, &what);
    ASSERT(rule->kind == SPEC_CHOICE);
    for (int64_t i = rule->min; i <= rule->max; i++) {
        if (!str_equal(word, str_from(rule->choices[i - rule->min]))) continue;
        *ret_value = i;
        return OK;
    }
    return refuse_choice(rule, what, word, diag);
}

Status spec_read_duration(const char *name, Str text, int64_t *ret_ms, Diag *diag) {
    if (str_is_null(text)) return OK;
    Diag found;
    Status status = duration_parse(text, ret_ms, &found);
    if (status == OK) return OK;
    return diag_set(diag, status, found.code, "field \"%s\": %s", name, found.message);
}

Status spec_add_name(SpecField field, Arena *arena, Str name, Str *list, Diag *diag) {
    TRY(spec_check_name(field, NULL, name, diag));
    size_t count = 1;
    for (Str left = *list, piece; str_split(&left, '\n', &piece);) count++;
    if (field == SPEC_TAG && count > LIMIT_TAG_COUNT)
        return diag_set(diag, ERR_INVALID, "BAD_TAG", "a run may have at most %d tags",
                        LIMIT_TAG_COUNT);
    *list = str_is_null(*list) ? arena_str(arena, name)
                               : arena_printf(arena, "%.*s\n%.*s", STR_ARG(*list), STR_ARG(name));
    return OK;
}

Status spec_start_time(int64_t now_ms, int64_t delay_ms, int64_t start_at_ms, int64_t *ret_at_ms,
                       Diag *diag) {
    ASSERT(delay_ms >= 0);
    if (start_at_ms < 0)
        return diag_set(diag, ERR_INVALID, "BAD_TIME", "the time of the start is negative");
    if (delay_ms > 0 && start_at_ms > 0)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "give delay or start_at, not both");
    *ret_at_ms = delay_ms > 0 ? now_ms + delay_ms : start_at_ms;
    return OK;
}

Status spec_check_leftovers(int64_t policy, Str topic, Diag *diag) {
    TRY(spec_check_choice(SPEC_LEFTOVERS, NULL, policy, diag));
    bool has_topic = !str_is_null(topic);
    if (has_topic != (policy == LEFTOVER_TO_TOPIC))
        return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                        "leftover_topic is given if, and only if, leftover_signals is topic");
    return has_topic ? spec_check_name(SPEC_LEFTOVER_TOPIC, NULL, topic, diag) : OK;
}

Status spec_schedule_kind(Str cron, Str every, bool has_at, int64_t *ret_kind, Diag *diag) {
    int given = !str_is_null(cron) + !str_is_null(every) + has_at;
    if (given != 1)
        return diag_set(diag, ERR_INVALID, "BAD_SCHEDULE",
                        "give exactly one of cron, every and at; %d are given", given);
    *ret_kind = has_at ? SCHEDULE_ONCE : str_is_null(cron) ? SCHEDULE_INTERVAL : SCHEDULE_CRON;
    return OK;
}

Status spec_check_input(Str input, Diag *diag) {
    if (input.len <= LIMIT_PAYLOAD_SIZE) return OK;
    return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                    "the input has %zu bytes; at most %d are allowed", input.len,
                    LIMIT_PAYLOAD_SIZE);
}
