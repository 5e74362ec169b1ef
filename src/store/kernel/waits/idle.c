// Idle: when a run waits for the outside world and for nothing else, and what its log says about
// being in memory.
//
// Idleness is computed from what the run waits for and from its open tasks whenever one of the two
// changes; what is kept is only since when (idle_since_ms, which listings filter by) and the entry
// in the log that its readers see.
//   [waits-idle-1] A transition to idle writes one LOG_IDLE entry, in the operation that makes it;
//        waking clears idle_since_ms. So the two never disagree, whatever crashes.
//   [waits-idle-2] A run with open tasks is not idle, also when it does not wait for them: it
//        becomes so with the end of the last one. Tasks of a run that have ended stay so, and new
//        ones have higher keys: so looking begins behind those that were found ended
//        (tasks_ended_key), and each task of a run is passed once, however many it has.
//   [waits-idle-3] RELEASED and RELOADED entries are written for parked runs of the named epoch
//        only: an event that came first has made the run RUNNING, and then there is nothing to
//        release.
//   [waits-idle-4] Who releases a run for its time-out says how long it is to have been idle: a run
//        may have been parked for longer, while a task of it was open.
//
// Not here: when runs leave memory (engine/residents/idle.c), waking (waits/wait.c).
#include "store/kernel/runs/runs.h"
#include "store/kernel/waits/waits.h"

enum { OPEN_PAGE = 8 }; // tasks that are looked at together

static bool task_is_open(const TaskRow *task) {
    return task->state == TASK_QUEUED || task->state == TASK_LEASED;
}

// [waits-idle-2] Whether an open one is among them; those before it are passed for good.
static bool pass_ended(Run *run, const TaskRow *tasks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (task_is_open(&tasks[i])) return true;
        run->facts.tasks_ended_key = tasks[i].key;
    }
    return false;
}

static Status has_open_task(Kernel *kernel, Run *run, bool *ret_is_it) {
    int64_t before = run->facts.tasks_ended_key;
    *ret_is_it = false;
    if (run->facts.tasks_ended_key < run->row.tasks_ended_key)
        run->facts.tasks_ended_key = run->row.tasks_ended_key;
    size_t count = run->facts.may_have & MAY_HAVE_TASKS ? OPEN_PAGE : 0;
    while (count == OPEN_PAGE && !*ret_is_it) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TaskRow wanted = {.run = run->row.key}, *rows = NULL;
        Scan scan = scan_of(TABLE_TASKS, TASKS_BY_RUN, &wanted, OPEN_PAGE);
        scan.after_key = run->facts.tasks_ended_key;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        *ret_is_it = pass_ended(run, rows, count);
        arena_rewind(&kernel->scratch, mark);
    }
    if (run->facts.tasks_ended_key != before) run_keep_facts(kernel, run);
    return OK;
}

Status idle_enter(Kernel *kernel, Run *run, const WaitSet *set) {
    bool is_busy = false;
    run->row.idle_since_ms = 0;
    if (!wait_set_is_idle(set)) return OK;
    TRY(has_open_task(kernel, run, &is_busy));
    run->row.tasks_ended_key = run->facts.tasks_ended_key;
    if (is_busy) return OK; // [waits-idle-2]
    TRY(run_last_seq(kernel, run));
    bool has_news = run->facts.last_seq != run->row.log_seq;
    TRY(run_note(kernel, run, LOG_IDLE, STR_NULL)); // [waits-idle-1]
    // Nothing that was delivered lies before it, so whoever loads the run need not read past it.
    if (!has_news) run->row.log_seq = run->facts.last_seq;
    run->row.idle_since_ms = kernel_now(kernel);
    return OK;
}

Status idle_look_again(Kernel *kernel, Run *run, const WaitSet *set) {
    if (run->row.idle_since_ms != 0) return OK;
    TRY(idle_enter(kernel, run, set));
    if (run->row.idle_since_ms == 0) return OK;
    grown_push(kernel, run);
    return run_store(kernel, run);
}

// ---- in memory or not ----

static Status require_parked(Kernel *kernel, const Run *run, const MemoryNote *note) {
    const RunRow *row = &run->row;
    if (run_state_is_terminal(row->state)) {
        return kernel_refuse(kernel, ERR_TERMINAL, "RUN_TERMINAL", "the run \"%.*s\" has %s",
                             STR_ARG(row->id), run_state_name(row->state));
    }
    if (!note->is_any_epoch && note->epoch != row->epoch) {
        return kernel_refuse(kernel, ERR_FENCED, "RUN_FENCED",
                             "the run \"%.*s\" has epoch %lld, not %lld", STR_ARG(row->id),
                             (long long)row->epoch, (long long)note->epoch);
    }
    if (row->state == RUN_SUSPENDED) return OK; // [waits-idle-3]
    return kernel_refuse(kernel, ERR_CONFLICT, "RUN_NOT_IDLE",
                         "the run \"%.*s\" is %s; only runs that wait are released",
                         STR_ARG(row->id), run_state_name(row->state));
}

static Status require_idle_since(Kernel *kernel, const Run *run,
                                 int64_t idle_ms) { // [waits-idle-4]
    int64_t since_ms = run->row.idle_since_ms, now_ms = kernel_now(kernel);
    if (since_ms == 0 || now_ms - since_ms >= idle_ms) return OK;
    return kernel_refuse(kernel, ERR_CONFLICT, "RUN_NOT_IDLE",
                         "the run \"%.*s\" has been idle for %lld ms only", STR_ARG(run->row.id),
                         (long long)(now_ms - since_ms));
}

static Status require_quiet(Kernel *kernel, Run *run) {
    WaitSet set;
    bool is_busy;
    TRY(run_waits(kernel, run, &set));
    TRY(has_open_task(kernel, run, &is_busy));
    if (!is_busy && wait_set_is_quiet(&set)) return OK;
    return kernel_refuse(kernel, ERR_CONFLICT, "RUN_NOT_IDLE",
                         "the run \"%.*s\" has work under way: a task, or a step to be tried again",
                         STR_ARG(run->row.id));
}

Status apply_note_memory(Kernel *kernel, Op *op) {
    Run run;
    bool has_id = !str_is_null(op->in.memory.run_id);
    Status status = has_id ? run_load_id(kernel, op->in.memory.run_id, &run)
                           : run_load(kernel, op->in.memory.run, &run);
    if (status == ERR_NOT_FOUND) {
        return kernel_refuse(kernel, status, "RUN_NOT_FOUND", "there is no run \"%.*s\" (%lld)",
                             STR_ARG(op->in.memory.run_id), (long long)op->in.memory.run);
    }
    TRY(status);
    bool is_release = op->kind == OP_NOTE_RELEASED;
    op->out.memory.run = run.row.key;
    op->out.memory.state = run.row.state;
    op->out.memory.idle_since_ms = run.row.idle_since_ms;
    TRY(require_parked(kernel, &run, &op->in.memory));
    if (is_release && !op->in.memory.is_forced) {
        TRY(require_quiet(kernel, &run));
        TRY(require_idle_since(kernel, &run, op->in.memory.idle_ms));
    }
    TRY(run_last_seq(kernel, &run));
    if (op->in.memory.has_entry) {
        TRY(run_note(kernel, &run, is_release ? LOG_RELEASED : LOG_RELOADED, STR_NULL));
        grown_push(kernel, &run);
    }
    op->out.memory.last_seq = run.facts.last_seq;
    if (!is_release || run.row.affinity == 0 || run.row.affinity != kernel->batch->node) return OK;
    run.row.affinity = 0;
    return run_store(kernel, &run);
}
