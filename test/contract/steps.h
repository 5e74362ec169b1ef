// Steps that take part in the store's transaction (P4), for the contract tests.
#pragma once
#include "contract/contract.h"

typedef struct Part {                    // of one step in the transaction
    const char *sql;                     // NULL = none
    void (*more)(StepDatabase database); // after it, or NULL
    Status answer;
    const char *data; // of its answer; NULL = "1"
    int call_count;
    bool is_sql_good; // the last time
} Part;

// Runs statements on the handle that a step was given.
bool step_sql(StepDatabase database, const char *sql);
// A turn with that step, in the present batch.
Op *add_part(World *world, Claimed claimed, Part *part);
// Alone in a batch of its own.
Op *run_part(World *world, Claimed claimed, Part *part, Status expected);
// The application's table: one row, 5.
void make_account(World *world);
int64_t balance(World *world);
