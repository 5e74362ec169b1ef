// Where: runs for which an expression is true, in the innermost frame of where they wait.
//
// Only runs of scripts that stand somewhere can be asked: suspended and paused ones. Their
// snapshots are read from the store as of the last commit; no run is woken or loaded.
//
//   [where-1] A request looks at a bounded number of runs and instructions, then its page ends with
//        a cursor, whether or not something was found. Going on at the cursor looks at every run
//        that was there before the first page exactly once.
//   [where-2] A run for which the expression fails, or whose snapshot cannot be read, is none for
//        which it is true; it is counted, and the first reason is kept.
#pragma once
#include "engine/definitions/modules.h"
#include "store/reads.h"

enum {
    WHERE_LOOKS_MAX = 20000,             // runs of one page
    WHERE_INSTRUCTIONS_MAX = 40000000,   // of one page
    WHERE_RUN_INSTRUCTIONS_MAX = 100000, // of one run
};

typedef struct WherePage {
    RunPage runs; // without snapshots
    int64_t looked_at;
    int64_t errors;
    Diag first_error; // empty when there are none
} WherePage;

// Conditions that the store does not know; they are asked before the expression.
typedef struct WhereSieve {
    MUST_CHECK Status (*takes)(void *context, const RunRow *run, bool *ret_is_taken, Diag *diag);
    bool (*is_spent)(void *context); // it has cost enough: the page ends
    void *context;
} WhereSieve;

typedef struct WhereQuery {
    RunFilter filter; // all conditions hold
    Str expression;
    int64_t now_ms;          // what Date.now answers
    const WhereSieve *sieve; // NULL = none
} WhereQuery;

// Whether it is an expression at all; the same codes.
MUST_CHECK Status where_check(Str expression, Diag *diag);
// Codes: EXPRESSION_INVALID, EXPRESSION_REFUSED, and those of the store.
MUST_CHECK Status where_list_runs(Store *store, Arena *arena, const WhereQuery *query,
                                  WherePage *ret_page, Diag *diag);
