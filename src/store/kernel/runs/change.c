// Changes from outside: cancel, pause, resume, rewind.
//
//   [change-1] A terminal run is never changed; cancelling it answers OK and is_changed = false.
//   [change-2] A cancellation that was acknowledged ends in CANCELLED: at once, through the
//        workflow's own cleanup, or when the grace is over. Pausing a run that was asked to end
//        does nothing.
//   [change-3] While a run is paused its overall deadline stands still; the deadlines of its waits
//        do not, and what came due meanwhile is delivered when it is resumed.
//   [change-4] Rewinding fences the executor and drops checkpoints by position, never by name or
//        time.
//
// Not here: forks (runs/create.c), rewinding scripts (runs/snapshots.c).
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"
#include "store/kernel/tasks/tasks.h"
#include "store/kernel/waits/waits.h"

void run_shift_deadline(const Kernel *kernel, Run *run) { // [change-3]
    if (run->row.state != RUN_PAUSED || run->row.deadline_at_ms == 0) return;
    int64_t paused_ms = kernel_now(kernel) - run->row.updated_at_ms;
    if (paused_ms > 0) run->row.deadline_at_ms += paused_ms;
}

static Status refuse_terminal(Kernel *kernel, const Run *run, const char *hint) {
    return kernel_refuse(kernel, ERR_TERMINAL, "RUN_TERMINAL", "the run \"%.*s\" has %s%s",
                         STR_ARG(run->row.id), run_state_name(run->row.state), hint);
}

// ---- cancel ----

static bool run_never_started(const RunRow *row) {
    return row->state == RUN_PENDING ||
           (row->state == RUN_PAUSED && row->paused_state == RUN_PENDING);
}

static Status cancel_sooner(Kernel *kernel, Run *run, int64_t end_at_ms, bool *ret_is_changed) {
    *ret_is_changed = end_at_ms < run->row.deadline_at_ms || run->row.deadline_at_ms == 0;
    if (!*ret_is_changed) return OK;
    run->row.deadline_at_ms = end_at_ms;
    run->row.due_at_ms = earliest_of(run->row.due_at_ms, end_at_ms);
    return run_store(kernel, run);
}

static Status cancel_tell(Kernel *kernel, Run *run) {
    if (run->row.state == RUN_SUSPENDED) {
        WaitSet set;
        TRY(run_waits(kernel, run, &set));
        Delivery delivery = {.item = &set.items[0], .outcome = OUTCOME_CANCELLED};
        run_mark_cancel_told(&run->row); // [runs-5] delivered
        return wait_deliver(kernel, run, &delivery, 1);
    }
    // Its next suspension delivers it.
    if (run->row.state == RUN_PAUSED) return run_make_ready(kernel, run, (Resolved){0});
    run->row.due_at_ms = run->row.deadline_at_ms;
    return run_store(kernel, run);
}

Status run_cancel(Kernel *kernel, Run *run, Str reason, int64_t grace_ms, bool *ret_is_changed) {
    *ret_is_changed = false;
    if (run_state_is_terminal(run->row.state)) return OK; // [change-1]
    bool is_repeated = run_is_cancel_wanted(&run->row);
    bool is_at_once = grace_ms <= 0 || run_never_started(&run->row);
    int64_t end_at_ms = kernel_now(kernel) + grace_ms;
    if (is_repeated && !is_at_once) return cancel_sooner(kernel, run, end_at_ms, ret_is_changed);
    *ret_is_changed = true;
    if (!is_repeated) TRY(run_note(kernel, run, LOG_CANCEL_REQUESTED, reason));
    if (is_at_once) return run_cancel_now(kernel, run);
    run_shift_deadline(kernel, run);
    run->row.cancel_at_ms = kernel_now(kernel);
    run->row.deadline_at_ms = earliest_of(run->row.deadline_at_ms, end_at_ms); // [runs-5]
    run->row.is_pause_wanted = 0;
    return cancel_tell(kernel, run);
}

Status apply_cancel(Kernel *kernel, Op *op) {
    Run run;
    TRY(kernel_check_size(kernel, "the reason", op->in.cancel.reason, LIMIT_ERROR_SIZE));
    if (op->in.cancel.grace_ms < 0 || op->in.cancel.grace_ms > LIMIT_DURATION_MS) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_DURATION",
                             "a grace period is not negative and at most a hundred years");
    }
    TRY(run_require(kernel, op->in.cancel.run_id, &run));
    return run_cancel(kernel, &run, op->in.cancel.reason, op->in.cancel.grace_ms,
                      &op->out.cancel.is_changed);
}

// ---- pause and resume ----

Status apply_pause(Kernel *kernel, Op *op) {
    Run run;
    TRY(run_require(kernel, op->in.hold.run_id, &run));
    RunRow *row = &run.row;
    if (run_state_is_terminal(row->state)) return refuse_terminal(kernel, &run, "");
    if (row->state == RUN_PAUSED || row->is_pause_wanted) return OK;
    if (run_is_cancel_wanted(row)) return OK; // [change-2]
    op->out.hold.is_changed = true;
    bool is_executed = row->state == RUN_RUNNING && run_has_owner(row);
    if (!is_executed) return run_hold(kernel, &run, (RunState)row->state, STR_NULL);
    row->is_pause_wanted = 1;
    return run_store(kernel, &run);
}

Status apply_resume(Kernel *kernel, Op *op) {
    Run run;
    TRY(run_require(kernel, op->in.hold.run_id, &run));
    RunRow *row = &run.row;
    bool is_running = row->state == RUN_RUNNING && row->is_pause_wanted;
    if (row->state != RUN_PAUSED && !is_running) return OK;
    op->out.hold.is_changed = true;
    TRY(run_note(kernel, &run, LOG_RESUMED, STR_NULL));
    if (is_running) {
        row->is_pause_wanted = 0;
        return run_store(kernel, &run);
    }
    row->attempts = 0; // who resumes it wants it tried again
    switch ((RunState)row->paused_state) {
    case RUN_PENDING: // its start time was kept; if it is past, it starts with the next FIRE_DUE
        if (row->started_at_ms != 0)
            run_shift_deadline(kernel, &run); // [change-3] between two attempts
        run_set_state(kernel, &run, RUN_PENDING);
        row->paused_state = 0;
        kernel_note_due(kernel, row->due_at_ms);
        return run_store(kernel, &run);
    case RUN_SUSPENDED: run_shift_deadline(kernel, &run); return wait_resume(kernel, &run);
    default: run_shift_deadline(kernel, &run); return run_make_ready(kernel, &run, (Resolved){0});
    }
}

// ---- checkpoints ----

bool log_is_checkpoint(const LogRow *entry) {
    if (!log_has_position(entry)) return false;
    switch ((LogKind)entry->kind) {
    case LOG_STEP:
    case LOG_WAIT:
    case LOG_CHILD:
    case LOG_TASK:
    case LOG_EMIT:
    case LOG_STREAM:
    case LOG_MARK: return true;
    default: return false;
    }
}

bool log_is_positioned(const LogRow *entry) {
    return log_is_checkpoint(entry) || (entry->kind == LOG_STEP_ATTEMPT && log_has_position(entry));
}

static bool step_matches(const LogRow *entry, const StepChoice *step) {
    if (!log_is_checkpoint(entry) || entry->kind == LOG_EMIT || entry->kind == LOG_STREAM ||
        entry->kind == LOG_MARK) {
        return false;
    }
    return str_equal(entry->name, step->name) &&
           (step->is_last || entry->iteration == step->iteration);
}

Status step_find(Kernel *kernel, const RunRow *run, StepChoice *step, int64_t *ret_position) {
    const StepChoice wanted = *step;
    int64_t found = -1;
    size_t count = PAGE_ROWS;
    for (int64_t after = run->input_seq; count == PAGE_ROWS;) { // [turn-5]
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            int64_t position = rows[i].position;
            if (!step_matches(&rows[i], &wanted)) continue;
            bool is_better = wanted.is_last ? position > found : position < found;
            if (found >= 0 && !is_better) continue;
            found = position;
            step->iteration = rows[i].iteration;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    if (found < 0) {
        return kernel_refuse(kernel, ERR_NOT_FOUND, "STEP_NOT_FOUND",
                             "the run \"%.*s\" has no checkpoint of a step \"%.*s\"",
                             STR_ARG(run->id), STR_ARG(step->name));
    }
    *ret_position = found;
    return OK;
}

Status checkpoints_drop(Kernel *kernel, Run *run, int64_t from_position, int64_t *ret_count) {
    size_t count = PAGE_ROWS;
    *ret_count = 0;
    for (int64_t after = run->row.input_seq; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->row.key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!log_is_positioned(&rows[i]) || rows[i].position < from_position) continue;
            *ret_count += log_is_checkpoint(&rows[i]);
            rows[i].position = NO_POSITION;
            TRY(kernel_update_columns(kernel, TABLE_LOG, &rows[i], kernel->log_position_bit));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

Status apply_rewind(Kernel *kernel, Op *op) { // [change-4]
    Run run;
    int64_t position;
    TRY(run_require(kernel, op->in.rewind.run_id, &run));
    if (run_state_is_terminal(run.row.state)) {
        return refuse_terminal(kernel, &run, " and is final; fork it to try again from a step");
    }
    if (run.row.kind == RUN_FLOW) return flow_rewind(kernel, op, &run);
    StepChoice step = op->in.rewind.step;
    TRY(step_find(kernel, &run.row, &step, &position));
    TRY(checkpoints_drop(kernel, &run, position, &op->out.rewind.dropped_count));
    TRY(tasks_cancel(kernel, &run, position));
    LogRow rewound = {
        .kind = LOG_REWOUND, .position = position, .name = step.name, .iteration = step.iteration};
    TRY(run_log(kernel, &run, &rewound));
    op->out.rewind.position = position;
    run_shift_deadline(kernel, &run);
    run.row.epoch++;
    run.row.incarnation++;
    run.row.attempts = 0;
    run.row.is_pause_wanted = 0;
    run.row.snapshot = STR_NULL;
    run.row.log_seq = run.facts.last_seq;
    return run_make_ready(kernel, &run, (Resolved){0});
}
