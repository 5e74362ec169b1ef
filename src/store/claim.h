// A claim: what the store tells a node of a run's row when the run is to be executed there.
//
// Whoever executes a run has no copy of its row: all that a turn depends on and that may change
// between two turns is here, and each claim says all of it anew.
#pragma once
#include "model/marks.h"

typedef struct RunClaim {
    int64_t epoch; // its number: a later one makes it void
    int64_t incarnation;
    int64_t definition; // the version it is pinned to; 0 for C workflows
    int64_t started_at_ms;
    int64_t attempts; // executions in a row that were lost before this one
    int64_t retries;  // attempts of the whole run that failed before this one
    bool is_attempt;  // the store knows that one more is under way
    bool is_cancel_wanted;
} RunClaim;

static inline RunClaim run_claim_of(const RunRow *row) {
    return (RunClaim){
        .epoch = row->epoch,
        .incarnation = row->incarnation,
        .definition = row->definition,
        .started_at_ms = row->started_at_ms,
        .attempts = run_lost(row),
        .retries = row->retries,
        .is_attempt = run_is_attempt_noted(row),
        .is_cancel_wanted = run_is_cancel_wanted(row),
    };
}
