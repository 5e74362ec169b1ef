// Further attempts: a run that failed begins again from its input.
//
//     RUNNING -> PENDING (until the pause is over) -> RUNNING, with nothing of the attempt before
//
// Who decides whether, and when, is the engine: the policy belongs to the workflow. Here the failed
// attempt is settled and the next one prepared, in the commit of the turn that failed.
//   [retry-1] The next attempt knows nothing of the one before: checkpoints, snapshots and values
//        are gone, the incarnation is another, so ids derived from it are new. What the attempt had
//        consumed stays consumed; signals and events that are pending stay pending.
//   [retry-2] Its history stays: an entry with the error and the time, then the input once more,
//        which is where the next attempt begins ([turn-5] of runs/turn.c).
//   [retry-3] What it had begun is settled as if the run had been cut off: tasks are cancelled,
//        children that are to end with the run are asked to end; nobody waits for any of them any
//        more.
//   [retry-4] To everybody else the run goes on: its parent, a schedule and those who wait for its
//        result see only how the last attempt ends. Its deadline stays.
//
// Not here: the policy (engine/runners/retry.c).
#include "base/assert.h"
#include "json/write.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"
#include "store/kernel/tasks/tasks.h"

static Str retry_data(Kernel *kernel, Str error, int64_t at_ms) {
    Buf text;
    JsonWriter json;
    buf_init(&text, error.len + 100);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_raw(&json, "error", error);
    json_put_instant(&json, "next_at", at_ms);
    json_write_object_end(&json);
    ASSERT(!text.is_overflown);
    Str data = arena_str(&kernel->scratch, buf_str(&text));
    buf_done(&text);
    return data;
}

static Status log_attempts(Kernel *kernel, Run *run, Str input, Str data) { // [retry-2]
    LogRow failed = {.kind = LOG_RETRY,
                     .position = NO_POSITION,
                     .attempt = run->row.retries + 1,
                     .outcome = OUTCOME_ERROR,
                     .data = data};
    LogRow started = {.kind = LOG_STARTED,
                      .position = NO_POSITION,
                      .attempt = run->row.retries + 2,
                      .data = input};
    TRY(run_log(kernel, run, &failed));
    return run_log(kernel, run, &started);
}

Status run_retry(Kernel *kernel, Run *run, Str error, int64_t at_ms) {
    ASSERT(run->row.state == RUN_RUNNING && !run_is_cancel_wanted(&run->row));
    int64_t now = kernel_now(kernel), dropped;
    if (at_ms < now) at_ms = now;
    Str input;
    TRY(run_input(kernel, &run->row, &input));
    TRY(earlier_log_trim(kernel, run));
    TRY(checkpoints_drop(kernel, run, 0, &dropped)); // [retry-1]
    TRY(tasks_cancel(kernel, run, 0));               // [retry-3]
    TRY(snapshots_drop(kernel, run, 1));
    TRY(states_clear(kernel, run));
    TRY(log_attempts(kernel, run, input, retry_data(kernel, error, at_ms)));
    RunRow *row = &run->row;
    row->retries++;
    row->incarnation++;
    row->input_seq = run->facts.last_seq;
    row->log_seq = run->facts.last_seq;
    row->snapshot = STR_NULL;
    row->place = PLACE_START;
    row->owner = 0;
    row->claim_rank = 0;
    row->affinity = 0;
    row->due_at_ms = at_ms;
    bool is_held = row->is_pause_wanted;
    if (is_held) {
        TRY(run_hold(kernel, run, RUN_PENDING, STR_NULL));
    } else {
        run_set_state(kernel, run, RUN_PENDING);
        TRY(run_store(kernel, run));
    }
    return children_cancel(kernel, run); // now that none of them can find it waiting
}
