// Reads of states: the values that a run has set for others to see.
//
// A list is never cut: a run may set no more values than fit into one page.
//
// Not here: setting them (kernel/runs/states.c), the state of a run (reads/runs.c).
#include "store/reads/internal.h"

Status read_state(Reads *reads, const StateRef *state, Str *ret_value) {
    RunRow run;
    StateRow row;
    TRY(read_run(reads, state->run, &run));
    StateRow wanted = {.run = run.key, .name = state->name};
    Status status = rows_get(reads->rows, TABLE_STATES, &wanted, reads->arena, &row);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "STATE_NOT_FOUND",
                        "the run \"%.*s\" has not set \"%.*s\"", STR_ARG(run.id),
                        STR_ARG(state->name));
    }
    TRY(status);
    *ret_value = row.value;
    return OK;
}

Status read_states(Reads *reads, RunRef which, StateList *ret_list) {
    RunRow run;
    TRY(read_run(reads, which, &run));
    StateRow wanted = {.run = run.key};
    Scan scan = scan_of(TABLE_STATES, SCAN_PRIMARY, &wanted, LIMIT_LIST_PAGE);
    return rows_scan(reads->rows, &scan, reads->arena, &ret_list->rows, &ret_list->count);
}
