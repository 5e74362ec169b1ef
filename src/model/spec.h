// Specs: what may stand in the description of a run, a task or a schedule. HTTP, C, scripts,
// configs of workflows and the store hold what they are given to the same rules, in the same words.
//
//   [spec-1] One rule per field: its kind, its range, its code. Nobody else compares with a range.
//   [spec-2] A value that is refused has the same code and the same sentence, wherever it came
//        from.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "base/text/str.h"
#include <stdint.h>

typedef enum SpecField {
    SPEC_NONE, // a field that is no part of a spec
    // names
    SPEC_WORKFLOW,
    SPEC_RUN_ID,
    SPEC_RUN_KEY,
    SPEC_TAG,
    SPEC_QUEUE,
    SPEC_LEFTOVER_TOPIC,
    SPEC_TASK_NAME,
    SPEC_TASK_ID,
    SPEC_CONCURRENCY_KEY,
    SPEC_ERROR_TYPE, // that is not tried again
    SPEC_SCHEDULE_NAME,
    // numbers
    SPEC_PRIORITY,
    SPEC_ATTEMPTS,
    SPEC_RETRY_FACTOR,
    SPEC_RETRY_JITTER,
    // one of several words
    SPEC_OVERLAP,
    SPEC_LEFTOVERS,
    SPEC_CLOSE_POLICY,
    SPEC_FIELD_COUNT
} SpecField;

typedef enum SpecKind {
    SPEC_NAME,   // by the rule of base/text/name.h
    SPEC_WHOLE,  // a whole number
    SPEC_NUMBER, // fractions too
    SPEC_CHOICE,
} SpecKind;

typedef struct SpecRule {
    const char *name; // as HTTP writes it: "concurrency_key"
    SpecKind kind;
    const char *code;           // of what is refused
    int64_t min, max;           // of numbers; of choices: their values
    const char *const *choices; // SPEC_CHOICE: from `min` on
    size_t limit;               // SPEC_NAME: where base/limits.h has its most bytes
} SpecRule;

extern const SpecRule spec_rules[SPEC_FIELD_COUNT];
extern const char *const spec_close_policies[]; // ends with NULL

// In messages a field is called `what`, or by its own name when that is NULL.
MUST_CHECK Status spec_check_name(SpecField field, const char *what, Str name, Diag *diag);
MUST_CHECK Status spec_check_number(SpecField field, const char *what, double value, Diag *diag);
MUST_CHECK Status spec_check_choice(SpecField field, const char *what, int64_t value, Diag *diag);
MUST_CHECK Status spec_read_choice(SpecField field, const char *what, Str word, int64_t *ret_value,
                                   Diag *diag);
// A duration as text; null leaves *ret_ms alone. `name` is that of the field.
MUST_CHECK Status spec_read_duration(const char *name, Str text, int64_t *ret_ms, Diag *diag);
// A name more in a list that '\n' joins (null at first); of tags there is a limit.
MUST_CHECK Status spec_add_name(SpecField field, Arena *arena, Str name, Str *list, Diag *diag);
// When a run begins, of what was given: at most one of the two is not 0. 0 = at once.
MUST_CHECK Status spec_start_time(int64_t now_ms, int64_t delay_ms, int64_t start_at_ms,
                                  int64_t *ret_at_ms, Diag *diag);
// Leftover signals go to a topic if, and only if, one is named.
MUST_CHECK Status spec_check_leftovers(int64_t policy, Str topic, Diag *diag);
// Which kind of schedule it is: exactly one of the three is given.
MUST_CHECK Status spec_schedule_kind(Str cron, Str every, bool has_at, int64_t *ret_kind,
                                     Diag *diag);
MUST_CHECK Status spec_check_input(Str input, Diag *diag);
