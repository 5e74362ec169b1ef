// Turns: everything a run did between two waits, in one operation.
//
//   claim and sizes -> participant -> log -> children -> tasks -> events -> what comes next
//
//   [turn-1] The claim is checked first: unknown, ended, fenced, in this order.
//   [turn-2] A checkpoint in the middle of a turn (one log entry, NEXT_CONTINUE) costs one insert;
//        the run's row is not written. With waits it takes what is there already, as parking
//        would, and goes on.
//   [turn-3] A participant's writes are undone when it fails, and then nothing of the turn is kept.
//   [turn-4] A run that was asked to end ends CANCELLED, whatever its last turn says.
//   [turn-5] Checkpoints of earlier incarnations stand before input_seq or have position -1, so
//        looking for checkpoints begins at input_seq.
//   [turn-6] A turn that was foreseen counts only if the operation before it woke the run, with
//        that one entry and for this very claim: then the turn knew all that the log holds.
//
// Not here: parking (waits/wait.c), endings (runs/end.c), further attempts (runs/retry.c).
#include "base/assert.h"
#include "store/kernel/events/events.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"
#include "store/kernel/tasks/embedded.h"
#include "store/kernel/tasks/tasks.h"
#include "store/kernel/waits/waits.h"

// ---- checks ----

static Status claim_require(Kernel *kernel, int64_t key, int64_t epoch, Run *ret_run) { // [turn-1]
    Status status = run_load(kernel, key, ret_run);
    if (status == ERR_NOT_FOUND) {
        return kernel_refuse(kernel, status, "RUN_NOT_FOUND", "there is no run with key %lld",
                             (long long)key);
    }
    TRY(status);
    const RunRow *row = &ret_run->row;
    if (run_state_is_terminal(row->state)) {
        return kernel_refuse(kernel, ERR_TERMINAL, "RUN_TERMINAL", "the run \"%.*s\" has %s",
                             STR_ARG(row->id), run_state_name(row->state));
    }
    bool is_ours = kernel->batch->node == 0 || row->owner == kernel->batch->node;
    if (row->state == RUN_RUNNING && is_ours && row->epoch == epoch) return OK;
    return kernel_refuse(kernel, ERR_FENCED, "RUN_FENCED",
                         "the claim on run \"%.*s\" with epoch %lld is over; it has epoch %lld",
                         STR_ARG(row->id), (long long)epoch, (long long)row->epoch);
}

// A turn that was executed before what woke its run was committed: that must have come to pass.
static Status foreseen_check(Kernel *kernel, const TurnCommit *turn) { // [turn-6]
    const Op *cause = kernel->last_op;
    bool is_it = cause && cause->kind == OP_COMPLETE_TASK && cause->out.status == OK &&
                 cause->out.complete_task.woken_run == turn->run &&
                 cause->out.complete_task.woken_epoch == turn->epoch &&
                 cause->out.complete_task.woken_seq == turn->foreseen_seq;
    if (is_it || turn->foreseen_seq == 0) return OK;
    return kernel_refuse(kernel, ERR_FENCED, "RUN_FENCED",
                         "the run with key %lld was not woken by what the turn was executed for",
                         (long long)turn->run);
}

// ---- children and tasks that are waited for by id ----

typedef struct IdList { // the ids of specs that begin with one
    const void *specs;
    size_t stride;
    size_t count;
    size_t next; // where the last search ended: waits mostly come in the order of the specs
} IdList;

static bool id_find(IdList *list, Str id, size_t *ret_place) {
    for (size_t i = 0; i < list->count; i++) {
        size_t place = (list->next + i) % list->count;
        const Str *found =
            (const Str *)(const void *)((const char *)list->specs + place * list->stride);
        if (!str_equal(*found, id)) continue;
        list->next = place + 1;
        *ret_place = place;
        return true;
    }
    return false;
}

typedef struct TurnIds {
    IdList children;
    IdList tasks;
} TurnIds;

_Static_assert(offsetof(RunSpec, id) == 0 && offsetof(TaskSpec, id) == 0, "IdList needs it");

static TurnIds turn_ids(const TurnCommit *turn) {
    return (TurnIds){{turn->children, sizeof(RunSpec), turn->child_count, 0},
                     {turn->tasks, sizeof(TaskSpec), turn->task_count, 0}};
}

static Status target_lookup(Kernel *kernel, const Run *run, WaitItem *item) {
    Status status;
    if (item->kind == WAIT_CHILD) {
        Run child;
        status = run_load_id(kernel, item->name, &child);
        if (status == OK) item->target = child.row.key;
        if (status == OK) item->label = child.row.workflow;
        bool is_foreign = status == OK && child.row.parent != run->row.key;
        if (is_foreign) TRY(fork_find_child(kernel, run, item));
    } else {
        TaskRow task;
        status = task_load_id(kernel, item->name, &task);
        if (status == OK) item->target = task.key;
        if (status == OK) item->label = task.name;
        bool is_foreign = status == OK && task.run != run->row.key;
        if (is_foreign) TRY(fork_find_task(kernel, run, item));
    }
    if (status != ERR_NOT_FOUND) return status;
    return kernel_refuse(kernel, ERR_INVALID, "WAIT_TARGET",
                         "the turn waits for \"%.*s\", which does not exist", STR_ARG(item->name));
}

// Before anything is written: each target exists or is made by this very turn. The items are
// copied, because the caller may submit the same batch again.
static Status targets_prepare(Kernel *kernel, const TurnCommit *turn, const Run *run,
                              WaitSet *ret_set) {
    *ret_set = turn->waits;
    TRY(check_waits(kernel, ret_set, &run->row));
    ret_set->items = ARENA_ARRAY(&kernel->scratch, WaitItem, ret_set->count);
    memcpy(ret_set->items, turn->waits.items, ret_set->count * sizeof(WaitItem));
    TurnIds ids = turn_ids(turn);
    for (size_t i = 0; i < ret_set->count; i++) {
        WaitItem *item = &ret_set->items[i];
        size_t place;
        if (!wait_item_has_target(item) || item->target != 0) continue;
        IdList *list = item->kind == WAIT_CHILD ? &ids.children : &ids.tasks;
        if (!id_find(list, item->name, &place)) TRY(target_lookup(kernel, run, item));
    }
    return OK;
}

static void targets_fill(const TurnCommit *turn, const TurnReply *reply, WaitSet *set) {
    TurnIds ids = turn_ids(turn);
    for (size_t i = 0; i < set->count; i++) {
        WaitItem *item = &set->items[i];
        size_t place;
        if (item->target != 0) continue;
        if (item->kind == WAIT_CHILD && id_find(&ids.children, item->name, &place)) {
            item->target = reply->child_keys[place];
            item->label = turn->children[place].workflow;
        } else if (item->kind == WAIT_TASK && id_find(&ids.tasks, item->name, &place)) {
            item->target = reply->task_keys[place];
            item->label = turn->tasks[place].name;
        }
    }
}

// ---- effects ----

// Ends the savepoint of a participant. ERR_CONFLICT is an answer; else the batch has failed: it is
// done again without one that broke it, or whose connection is lost each time it is called.
static Status participation_end(Kernel *kernel, OpMemo *memo, bool is_kept) {
    enum { LOSSES_MAX = 3 };
    RowStore *rows = kernel->writer;
    Diag *diag = &kernel->rows_diag;
    Status status = is_kept ? rows->ops->release(rows, diag) : rows->ops->rollback_to(rows, diag);
    if (status == OK || status == ERR_CONFLICT) return status;
    if (status == ERR_INVALID) kernel->is_repetition_wanted = true;
    else memo->loss_count++;
    if (status == ERR_INVALID || memo->loss_count >= LOSSES_MAX) {
        memo->eviction = arena_str(kernel->batch->arena, str_from(diag->message));
    }
    kernel->failure = ERR_UNAVAILABLE;
    return kernel->failure;
}

static Status participant_failed(Kernel *kernel, const TurnCommit *turn, const char *code,
                                 const char *reason) {
    return kernel_refuse(kernel, ERR_CONFLICT, code,
                         "the step \"%.*s\" failed within the "
                         "transaction%s%s",
                         STR_ARG(turn->log[0].name), reason[0] ? ": " : "", reason);
}

// Calls the participant between savepoint and its end.
static Status participation_run(Kernel *kernel, Op *op, StepDatabase database) {
    const TurnCommit *turn = &op->in.turn;
    Str data = STR_NULL;
    Status answer =
        turn->participant(turn->participant_context, database, kernel->batch->arena, &data);
    bool is_large = answer == OK && data.len > LIMIT_PAYLOAD_SIZE;
    Status status = participation_end(kernel, &op->memo, answer == OK && !is_large);
    if (status == ERR_CONFLICT) {
        Diag diag = kernel->rows_diag;
        diag_clear(&kernel->rows_diag);
        return participant_failed(kernel, turn, "STEP_UNDONE", diag.message);
    }
    if (status != OK) return status;
    if (is_large) {
        return participant_failed(kernel, turn, "PAYLOAD_TOO_LARGE", "its result is too large");
    }
    if (answer != OK) {
        op->out.turn.step_error = data;
        return participant_failed(kernel, turn, "STEP_FAILED", "");
    }
    op->out.turn.log[0].data = data;
    return OK;
}

static Status turn_participate(Kernel *kernel, Op *op) { // [turn-3]
    const TurnCommit *turn = &op->in.turn;
    RowStore *rows = kernel->writer;
    if (turn->log_count == 0) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_LOG_ENTRY",
                             "a step that takes part in the transaction needs a log entry");
    }
    if (!str_is_null(op->memo.eviction)) { // [step-database-3]
        return participant_failed(kernel, turn, "STEP_EXPELLED", op->memo.eviction.data);
    }
    Status status = rows->ops->savepoint(rows, &kernel->rows_diag);
    if (status != OK) {
        kernel->failure = status;
        return status;
    }
    StepDatabase database = rows->ops->database(rows);
    if (database.handle != NULL) return participation_run(kernel, op, database);
    TRY(participation_end(kernel, &op->memo, false));
    return kernel_refuse(kernel, ERR_UNSUPPORTED, "PARTICIPANT_UNSUPPORTED",
                         "a step cannot take part in a transaction of the %s store",
                         kernel->ops.name);
}

// The entries as they will be written: the caller's stay as they are. [ops-1] of store/ops.h
static LogRow *log_copy(Kernel *kernel, const TurnCommit *turn) {
    if (turn->log_count == 0) return NULL;
    LogRow *log = ARENA_ARRAY(kernel->batch->arena, LogRow, turn->log_count);
    memcpy(log, turn->log, turn->log_count * sizeof(LogRow));
    return log;
}

static Status turn_effects(Kernel *kernel, const TurnCommit *turn, TurnReply *reply, Run *run) {
    Arena *arena = kernel->batch->arena;
    for (size_t i = 0; i < turn->log_count; i++) {
        TRY(run_log(kernel, run, &reply->log[i]));
        // A step told the workflow that it is to end: its next wait must not tell it again.
        if (turn->log[i].outcome == OUTCOME_CANCELLED) run_mark_cancel_told(&run->row);
    }
    if (turn->child_count > 0) {
        reply->child_keys = ARENA_ARRAY(arena, int64_t, turn->child_count);
    }
    for (size_t i = 0; i < turn->child_count; i++) {
        RunCreated created;
        TRY(run_create(kernel, &turn->children[i], run, &created));
        reply->child_keys[i] = created.key;
    }
    if (turn->task_count > 0) reply->task_keys = ARENA_ARRAY(arena, int64_t, turn->task_count);
    for (size_t i = 0; i < turn->task_count; i++) {
        bool is_new;
        TRY(task_create(kernel, &turn->tasks[i], run, &reply->task_keys[i], &is_new));
    }
    for (size_t i = 0; i < turn->event_count; i++) {
        Published published;
        TRY(event_publish(kernel, &turn->events[i], FULL_DEAD_LETTER, &published));
    }
    return OK;
}

// ---- what comes next ----

// The snapshot knows of everything the turn itself wrote. [runs-6]
static void turn_keep_snapshot(Run *run, const TurnCommit *turn) {
    if (str_is_null(turn->snapshot)) return;
    run->row.snapshot = turn->snapshot;
    run->row.place = turn->place;
    run->row.log_seq = run->facts.last_seq;
}

static Status next_continue(Kernel *kernel, Op *op, Run *run, WaitSet *set) { // [turn-2]
    const TurnCommit *turn = &op->in.turn;
    turn_keep_snapshot(run, turn);
    if (set->count > 0) {
        Resolved resolved;
        targets_fill(turn, &op->out.turn, set);
        TRY(wait_take(kernel, run, set, &resolved));
        op->out.turn.resolved = resolved.rows;
        op->out.turn.resolved_count = resolved.count;
    }
    if (run->row.is_pause_wanted) return run_hold(kernel, run, RUN_RUNNING, STR_NULL);
    bool is_changed = !str_is_null(turn->snapshot) ||
                      run->row.cancel_at_ms != run->before.cancel_at_ms ||
                      run->row.attempts != run->before.attempts;
    return is_changed ? run_store(kernel, run) : OK;
}

static Status next_suspend(Kernel *kernel, Op *op, Run *run, WaitSet *set) {
    const TurnCommit *turn = &op->in.turn;
    TurnReply *reply = &op->out.turn;
    Resolved resolved;
    targets_fill(turn, reply, set);
    turn_keep_snapshot(run, turn);
    int64_t affinity = turn->is_kept ? kernel->batch->node : 0;
    TRY(wait_suspend(kernel, run, set, affinity, &resolved));
    reply->resolved = resolved.rows;
    reply->resolved_count = resolved.count;
    return OK;
}

static Status next_end(Kernel *kernel, const TurnCommit *turn, Run *run) {
    Ending ending = {RUN_COMPLETED, OUTCOME_OK, turn->result};
    if (turn->next == NEXT_FAIL || turn->next == NEXT_RETRY) {
        ending = (Ending){RUN_FAILED, OUTCOME_ERROR, turn->result};
    }
    if (turn->next == NEXT_CANCELLED || run_is_cancel_wanted(&run->row)) { // [turn-4]
        // What a cleanup returns is no error: the run ends with one all the same.
        bool has_error = turn->next != NEXT_COMPLETE && !str_is_null(turn->result);
        ending = (Ending){RUN_CANCELLED, OUTCOME_CANCELLED,
                          has_error ? turn->result : ERROR_RUN_CANCELLED};
    }
    return run_end(kernel, run, &ending);
}

static Status next_pause(Kernel *kernel, const TurnCommit *turn, Run *run) {
    if (run_is_cancel_wanted(&run->row)) return next_end(kernel, turn, run); // [turn-4]
    turn_keep_snapshot(run, turn);
    return run_hold(kernel, run, RUN_RUNNING, turn->result);
}

static Status next_retry(Kernel *kernel, const TurnCommit *turn, Run *run) {
    int64_t deadline = run->row.deadline_at_ms;
    bool is_late = deadline != 0 && deadline <= turn->retry_at_ms;
    if (is_late || run_is_cancel_wanted(&run->row)) return next_end(kernel, turn, run); // [turn-4]
    return run_retry(kernel, run, turn->result, turn->retry_at_ms);
}

// A run may go on as a new one for ever; its history must not grow for ever.
Status earlier_log_trim(Kernel *kernel, const Run *run) {
    int64_t last = run->facts.last_seq - LIMIT_EARLIER_LOG;
    bool is_done = last <= 0;
    for (int64_t after = 0; !is_done;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        size_t count;
        TRY(log_page(kernel, run->row.key, &after, &rows, &count));
        for (size_t i = 0; i < count && rows[i].seq <= last; i++) {
            TRY(kernel_remove(kernel, TABLE_LOG, &rows[i]));
        }
        is_done = count < PAGE_ROWS || after >= last;
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

static Status next_continue_as(Kernel *kernel, const TurnCommit *turn, Run *run) {
    int64_t dropped;
    TRY(earlier_log_trim(kernel, run));
    TRY(checkpoints_drop(kernel, run, 0, &dropped));
    TRY(tasks_let_go(kernel, run));
    TRY(snapshots_drop(kernel, run, 1));
    TRY(states_clear(kernel, run));
    TRY(run_note(kernel, run, LOG_CONTINUED, turn->result));
    run->row.incarnation++;
    run->row.retries = 0;                     // what begins now has all its attempts before it
    run->row.input_seq = run->facts.last_seq; // [turn-5]
    run->row.log_seq = run->facts.last_seq;
    run->row.snapshot = STR_NULL;
    run->row.place = PLACE_START;
    if (run->row.is_pause_wanted) return run_hold(kernel, run, RUN_RUNNING, STR_NULL);
    return run_store(kernel, run);
}

// Lost executions are counted in a row, [nodes-6]: a run that commits got on. One that is paused
// keeps the count, for people to see.
static void turn_count_attempt(const TurnCommit *turn, Run *run) {
    if (turn->is_attempt) run_note_attempt(&run->row);
    else if (turn->next != NEXT_PAUSE) run->row.attempts = 0;
}

static Status turn_next(Kernel *kernel, Op *op, Run *run, WaitSet *set) {
    const TurnCommit *turn = &op->in.turn;
    switch (turn->next) {
    case NEXT_CONTINUE: return next_continue(kernel, op, run, set);
    case NEXT_SUSPEND: return next_suspend(kernel, op, run, set);
    case NEXT_COMPLETE:
    case NEXT_FAIL:
    case NEXT_CANCELLED: return next_end(kernel, turn, run);
    case NEXT_PAUSE: return next_pause(kernel, turn, run);
    case NEXT_CONTINUE_AS: return next_continue_as(kernel, turn, run);
    case NEXT_RETRY: return next_retry(kernel, turn, run);
    }
    UNREACHABLE();
}

Status apply_commit_turn(Kernel *kernel, Op *op) {
    const TurnCommit *turn = &op->in.turn;
    TurnReply *reply = &op->out.turn;
    Run run;
    WaitSet set = {0};
    TRY(claim_require(kernel, turn->run, turn->epoch, &run));
    TRY(foreseen_check(kernel, turn));
    reply->state = run.row.state;
    reply->is_cancel_wanted = run_is_cancel_wanted(&run.row);
    if (turn->next < NEXT_CONTINUE || turn->next > NEXT_RETRY) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_TURN", "a turn must say what comes next");
    }
    TRY(check_effects(kernel, turn, &run.row));
    bool is_looking = turn->next == NEXT_CONTINUE && turn->waits.count > 0;
    if (turn->next == NEXT_SUSPEND || is_looking) TRY(targets_prepare(kernel, turn, &run, &set));
    TRY(run_last_seq(kernel, &run));
    run.may_embed = embedded_is_fit(kernel, turn, &run);
    reply->log = log_copy(kernel, turn);
    if (turn->participant) TRY(turn_participate(kernel, op));
    reply->before_seq = run.row.log_seq;
    reply->start_seq = run.facts.last_seq;
    TRY(turn_effects(kernel, turn, reply, &run));
    reply->turn_seq = run.facts.last_seq;
    TRY(snapshot_keep(kernel, turn, &run, reply->start_seq)); // with the values from before it
    for (size_t i = 0; i < turn->state_count; i++) {
        TRY(state_set(kernel, &run, &turn->states[i]));
    }
    turn_count_attempt(turn, &run);
    TRY(turn_next(kernel, op, &run, &set));
    reply->state = run.row.state;
    reply->last_seq = run.facts.last_seq;
    reply->is_idle = run.row.idle_since_ms != 0;
    return OK;
}

// ---- the claim alone, the log alone ----

Status apply_release(Kernel *kernel, Op *op) {
    Run run;
    TRY(claim_require(kernel, op->in.release.run, op->in.release.epoch, &run));
    return run_unclaim(kernel, &run);
}

Status apply_append_log(Kernel *kernel, Op *op) {
    Run run;
    TRY(check_log_entry(kernel, &op->in.append_log.entry));
    Status status = run_load(kernel, op->in.append_log.run, &run);
    if (status == ERR_NOT_FOUND) {
        return kernel_refuse(kernel, status, "RUN_NOT_FOUND", "there is no run with key %lld",
                             (long long)op->in.append_log.run);
    }
    TRY(status);
    if (run_state_is_terminal(run.row.state)) {
        return kernel_refuse(kernel, ERR_TERMINAL, "RUN_TERMINAL", "the run \"%.*s\" has %s",
                             STR_ARG(run.row.id), run_state_name(run.row.state));
    }
    if (!op->in.append_log.is_any_epoch && op->in.append_log.epoch != run.row.epoch) {
        return kernel_refuse(kernel, ERR_FENCED, "RUN_FENCED",
                             "the run \"%.*s\" has epoch %lld, not %lld", STR_ARG(run.row.id),
                             (long long)run.row.epoch, (long long)op->in.append_log.epoch);
    }
    LogRow entry = op->in.append_log.entry;
    TRY(run_log(kernel, &run, &entry));
    if (!op->in.append_log.has_idle_since) return OK;
    run.row.idle_since_ms = op->in.append_log.idle_since_ms;
    return run_store(kernel, &run);
}
