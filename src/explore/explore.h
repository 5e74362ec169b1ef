// Explore: what becomes of a script, whatever the world does. For `abide sim`.
//
// A history is a list of choices: which task answers what, what is sent when, when time passes,
// what breaks. Each is played on a real coordinator and kernel over a memory store, in virtual
// time, so what a late result or a crash does is what it does in production. Histories are gone
// through depth first; a state that was seen is not gone on from again. What does not come to an
// end that way within the limit is followed by random histories.
//
//   [explore-1] The same script, scenario, options and seed make the same histories, in the same
//        order, with the same outcome.
//   [explore-2] A violation that is reported has been played: its steps lead to it again.
#pragma once
#include "explore/scenario.h"

typedef struct ExploreOptions {
    uint64_t history_limit; // of those gone through in order
    uint64_t seed_count;    // random ones, when the limit came first
    uint64_t seed;
    int64_t time_limit_ms; // of the real clock; 0 = none
    size_t depth_max;      // choices of a history; from there on it only goes to its end
    size_t fault_max;      // faults in one history
    // Called now and then; may be NULL.
    void (*progress)(void *context, uint64_t history_count, uint64_t state_count);
    void *context;
} ExploreOptions;

#define EXPLORE_OPTIONS_DEFAULT                                                                    \
    ((ExploreOptions){                                                                             \
        .history_limit = 20000, .seed_count = 1000, .seed = 1, .depth_max = 60, .fault_max = 1})

typedef struct ExploreSubject { // what is tried
    FlowModule *module;
    uint32_t workflow_index;
    Str input_json; // null: none
    const Scenario *scenario;
    int64_t start_ms; // of virtual time
} ExploreSubject;

typedef struct Violation {
    const char
        *kind; // "invariant", "always", "eventually", "check", "stuck", "endless", "mistake",
               // "unhandled", "lost"; NULL: none
    Str name;  // of the condition, or what it is about
    Str text;  // a sentence
} Violation;

typedef struct ExploreStep {
    Str line;      // as a script says it
    int64_t at_ms; // since the start
} ExploreStep;

typedef struct ExploreReport { // in the arena it was made with
    Violation violation;
    ExploreStep *steps; // the shortest that was found to lead to it
    size_t step_count;
    uint64_t history_count; // played before it was found, or in all
    uint64_t state_count;
    bool is_whole; // every history within depth and faults was gone through
} ExploreReport;

// ERR_INVALID and others: the run could not be started at all.
MUST_CHECK Status explore(const ExploreSubject *subject, const ExploreOptions *options,
                          Arena *arena, ExploreReport *ret_report, Diag *diag);

// A history as text, beginning with a line "history" (script.c). `command` is how to replay it.
void explore_write_script(const ExploreReport *report, const char *command, Buf *text);
bool explore_is_script(Str text);
// Plays such a text. ERR_INVALID, code BAD_SCRIPT: a line is none, or cannot happen where it
// stands. What was found is in the report.
MUST_CHECK Status explore_replay(const ExploreSubject *subject, Str script, Arena *arena,
                                 ExploreReport *ret_report, Diag *diag);
