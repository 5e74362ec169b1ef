// Endings: a run becomes terminal, and everything that hung on it is settled with it; later it
// is purged without leaving anything behind.
//
//   [end-1] The run's own row is terminal before anything else is touched, so nothing that follows
//        can find it alive.
//   [end-2] Unread signals follow the run's policy; children follow their close policy; a parent
//        that waits is woken; a schedule's tick that waits for the end starts. Tasks go on when the
//        workflow ended by itself (nobody waits for them: fire and forget); when it was cut off
//        they are cancelled, or told to stop at their next heartbeat. Those that a cancelled run
//        queued after it was told are its cleanup, and go on.
//   [end-3] Ending never recurses deeper than one child: a child ends at once only while it is
//        PENDING, and such a run has no children that would: it has not begun, or it begins again
//        and those of its failed attempt were asked to end with that ([retry-3] of runs/retry.c).
//   [end-4] Purging removes the run's row last, so an interrupted purge is taken up again. Tasks
//        that still have to be done outlive their run and stand alone from then on.
//   [end-5] A script that failed keeps the snapshot with which its last turn began, and the number
//        of the last entry that the snapshot knew of: what people look at, and where it can be
//        taken up again (flow_point_last of runs/snapshots.c).
//
// Not here: who decides that a run ends (runs/turn.c, runs/change.c, kernel/due.c).
#include "base/array.h"
#include "base/assert.h"
#include "store/kernel/events/events.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/schedules/schedules.h"
#include "store/kernel/tasks/tasks.h"
#include "store/kernel/waits/waits.h"

const Str ERROR_RUN_TIMEOUT =
    STR("{\"type\":\"TimeoutError\",\"message\":\"the run exceeded its overall time-out\"}");
const Str ERROR_RUN_CANCELLED =
    STR("{\"type\":\"CancelledError\",\"message\":\"the run was cancelled\"}");

static const int64_t total_of_state[RUN_STATE_COUNT] = {
    [RUN_COMPLETED] = COUNTER_COMPLETED_TOTAL,
    [RUN_FAILED] = COUNTER_FAILED_TOTAL,
    [RUN_CANCELLED] = COUNTER_CANCELLED_TOTAL,
};

static void ended_push(Kernel *kernel, const RunRow *row, const Ending *ending) {
    bool is_well = ending->state == RUN_COMPLETED;
    Batch *batch = kernel->batch;
    batch->out.ended = batch_reserve(batch, batch->out.ended, batch->out.ended_count,
                                     &batch->out.ended_capacity, sizeof(EndedRun));
    batch->out.ended[batch->out.ended_count++] = (EndedRun){
        .run = row->key,
        .id = kernel_answer(kernel, row->id),
        .workflow = kernel_answer(kernel, row->workflow),
        .tags = kernel_answer(kernel, row->tags),
        .state = row->state,
        .created_at_ms = row->created_at_ms,
        .error = is_well ? STR_NULL : kernel_answer(kernel, ending->result),
    };
}

static Status leftover_settle(Kernel *kernel, Run *run, const EventRow *signal) {
    TRY(signal_remove(kernel, run, signal));
    if (run->row.leftover_policy == LEFTOVER_TO_TOPIC && run->row.leftover_topic.len > 0) {
        EventSpec event = {
            .topic = run->row.leftover_topic, .id = signal->id, .payload = signal->payload};
        Published published;
        return event_publish(kernel, &event, FULL_DEAD_LETTER, &published);
    }
    if (run->row.leftover_policy == LEFTOVER_DISCARD) return OK;
    DeadLetterRow letter = {.id = signal->id,
                            .run_id = run->row.id,
                            .name = signal->name,
                            .reason = STR("run ended"),
                            .payload = signal->payload};
    return dead_letter_add(kernel, &letter);
}

static Status leftovers_settle(Kernel *kernel, Run *run) {
    if (!(run->facts.may_have & MAY_HAVE_SIGNALS)) return OK;
    for (;;) {
        EventRow wanted = {.run = run->row.key}, *signals = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_EVENTS, EVENTS_BY_RUN, &wanted, PAGE_ROWS);
        TRY(kernel_scan(kernel, &scan, &signals, &count));
        for (size_t i = 0; i < count; i++) TRY(leftover_settle(kernel, run, &signals[i]));
        if (count < PAGE_ROWS) break;
    }
    run->facts.signal_count = 0;
    run->facts.has_signal_count = true;
    run->facts.may_have &= ~(uint32_t)MAY_HAVE_SIGNALS;
    run_keep_facts(kernel, run);
    return OK;
}

Status children_cancel(Kernel *kernel, Run *run) {
    if (!(run->facts.may_have & MAY_HAVE_CHILDREN)) return OK;
    RunRow wanted = {.parent = run->row.key}, *children = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_RUNS, RUNS_BY_PARENT, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        TRY(kernel_scan_on(kernel, &scan, &children, &count));
        for (size_t i = 0; i < count; i++) {
            if (children[i].close_policy != CLOSE_CANCEL) continue;
            if (run_state_is_terminal(children[i].state)) continue;
            Run child;
            bool is_changed;
            TRY(run_load(kernel, children[i].key, &child));
            TRY(run_cancel(kernel, &child, STR("\"the parent run ended\""), SETTLE_GRACE_MS,
                           &is_changed));
        }
    }
    return OK;
}

static Status cursors_remove(Kernel *kernel, Run *run, int64_t *ret_count) {
    *ret_count = 0;
    if (!(run->facts.may_have & MAY_HAVE_CURSORS)) return OK;
    for (;;) {
        CursorRow wanted = {.run = run->row.key}, *cursors = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_CURSORS, SCAN_PRIMARY, &wanted, PAGE_ROWS);
        TRY(kernel_scan(kernel, &scan, &cursors, &count));
        for (size_t i = 0; i < count; i++) TRY(kernel_remove(kernel, TABLE_CURSORS, &cursors[i]));
        *ret_count += (int64_t)count;
        if (count < PAGE_ROWS) break;
    }
    run->facts.may_have &= ~(uint32_t)MAY_HAVE_CURSORS;
    run_keep_facts(kernel, run);
    return OK;
}

// Of a cancelled run: the place from which on its tasks are those of its cleanup. Its log says what
// it did since it was told, which is the first CANCELLED it saw after the request.
static Status cleanup_find(Kernel *kernel, const Run *run, int64_t *ret_position) {
    int64_t first = INT64_MAX; // of the tasks seen so far, from the end backwards
    size_t count = PAGE_ROWS;
    *ret_position = INT64_MAX;
    for (int64_t before = INT64_MAX; count == PAGE_ROWS;) {
        LogRow wanted = {.run = run->row.key}, *rows = NULL;
        Scan scan = scan_of(TABLE_LOG, SCAN_PRIMARY, &wanted, PAGE_ROWS);
        scan.has_max = true;
        scan.max = before;
        scan.is_descending = true;
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            const LogRow *entry = &rows[i];
            before = entry->seq - 1;
            if (entry->kind == LOG_CANCEL_REQUESTED) return OK;
            bool is_task = entry->kind == LOG_TASK && log_has_position(entry);
            if (is_task && entry->position < first) first = entry->position;
            bool is_telling = entry->kind == LOG_WAIT || entry->kind == LOG_STEP;
            if (is_telling && entry->outcome == OUTCOME_CANCELLED) *ret_position = first;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

static Status tasks_settle(Kernel *kernel, Run *run, Outcome outcome) { // [end-2]
    int64_t cleanup = INT64_MAX;
    if (outcome != OUTCOME_CANCELLED && outcome != OUTCOME_TIMEOUT) return OK;
    if (!(run->facts.may_have & MAY_HAVE_TASKS)) return OK;
    if (outcome == OUTCOME_CANCELLED) TRY(cleanup_find(kernel, run, &cleanup));
    return tasks_cancel_before(kernel, run, cleanup);
}

Status run_end(Kernel *kernel, Run *run, const Ending *ending) {
    TRY(run_drop_waiters(kernel, run));
    LogRow finished = {.kind = LOG_FINISHED,
                       .position = NO_POSITION,
                       .outcome = ending->outcome,
                       .data = ending->result};
    TRY(run_log(kernel, run, &finished));
    run_set_state(kernel, run, ending->state);
    int64_t now = kernel_now(kernel);
    RunRow *row = &run->row;
    row->owner = 0;
    row->affinity = 0;
    row->claim_rank = 0;
    row->finished_at_ms = now;
    row->due_at_ms = run_purge_at_ms(row, now);
    row->idle_since_ms = 0;
    row->paused_state = 0;
    row->is_pause_wanted = 0;
    row->result_seq = finished.seq;
    row->waits = STR_NULL;
    if (ending->state != RUN_FAILED) row->snapshot = STR_NULL; // [end-5]
    if (str_is_null(row->snapshot)) row->log_seq = finished.seq;
    TRY(run_store(kernel, run)); // [end-1]
    kernel_count(kernel, total_of_state[ending->state], 1);
    ended_push(kernel, row, ending);
    int64_t removed; // [end-2]
    TRY(leftovers_settle(kernel, run));
    TRY(tasks_settle(kernel, run, ending->outcome));
    TRY(cursors_remove(kernel, run, &removed));
    TRY(children_cancel(kernel, run));
    TRY(wait_child_ended(kernel, &run->row, ending->result));
    return schedule_continue(kernel, run);
}

Status run_cancel_now(Kernel *kernel, Run *run) {
    if (!run_is_cancel_wanted(&run->row)) run->row.cancel_at_ms = kernel_now(kernel);
    run->row.epoch++;
    Ending ending = {RUN_CANCELLED, OUTCOME_CANCELLED, ERROR_RUN_CANCELLED};
    return run_end(kernel, run, &ending);
}

// ---- purge ----

// Removes up to *budget rows; *ret_is_empty says that none is left.
static Status belongings_remove(Kernel *kernel, const Scan *which, int64_t *budget,
                                bool *ret_is_empty) {
    *ret_is_empty = false;
    while (*budget > 0) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        Scan scan = *which;
        scan.limit = *budget < PAGE_ROWS ? *budget : PAGE_ROWS;
        char *rows = NULL;
        size_t count = 0;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            const void *row = rows + i * tables[scan.table].row_size;
            TRY(scan.table == TABLE_TASKS ? task_leave(kernel, row)
                                          : kernel_remove(kernel, scan.table, row));
        }
        *budget -= (int64_t)count;
        arena_rewind(&kernel->scratch, mark);
        if ((int64_t)count < scan.limit) {
            *ret_is_empty = true;
            return OK;
        }
    }
    return OK;
}

// Children outlive their parent; they just have none any more.
static Status children_orphan(Kernel *kernel, Run *run) {
    if (!(run->facts.may_have & MAY_HAVE_CHILDREN)) return OK;
    for (;;) {
        RunRow wanted = {.parent = run->row.key}, *children = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_RUNS, RUNS_BY_PARENT, &wanted, PAGE_ROWS);
        TRY(kernel_scan(kernel, &scan, &children, &count));
        for (size_t i = 0; i < count; i++) {
            Run child;
            TRY(run_load(kernel, children[i].key, &child));
            child.row.parent = 0;
            TRY(run_store(kernel, &child));
        }
        if (count < PAGE_ROWS) return OK;
    }
}

static bool purge_needs(const Run *run, TableNumber table) {
    switch (table) {
    case TABLE_TAGS: return !str_is_null(run->row.tags);
    case TABLE_TASKS: return (run->facts.may_have & MAY_HAVE_TASKS) != 0;
    case TABLE_SNAPSHOTS: return (run->facts.may_have & MAY_HAVE_SNAPSHOTS) != 0;
    case TABLE_STATES: return (run->facts.may_have & MAY_HAVE_STATES) != 0;
    default: return true;
    }
}

Status run_purge(Kernel *kernel, Run *run, int64_t *budget, bool *ret_is_gone) {
    ASSERT(run_state_is_terminal(run->row.state));
    int64_t key = run->row.key;
    *ret_is_gone = false;
    LogRow log = {.run = key};
    TagRow tag = {.run = key};
    TaskRow task = {.run = key};
    SnapshotRow snapshot = {.run = key};
    StateRow state = {.run = key};
    DedupeRow dedupe = {.scope = dedupe_signal_scope(kernel, key)};
    const Scan scans[] = {
        {.table = TABLE_LOG, .index = SCAN_PRIMARY, .match = &log, .match_count = 1},
        {.table = TABLE_TASKS, .index = TASKS_BY_RUN, .match = &task, .match_count = 1},
        {.table = TABLE_DEDUPE, .index = SCAN_PRIMARY, .match = &dedupe, .match_count = 1},
        {.table = TABLE_SNAPSHOTS, .index = SCAN_PRIMARY, .match = &snapshot, .match_count = 1},
        {.table = TABLE_STATES, .index = SCAN_PRIMARY, .match = &state, .match_count = 1},
        {.table = TABLE_TAGS, .index = TAGS_BY_RUN, .match = &tag, .match_count = 1},
    };
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        if (!purge_needs(run, scans[i].table)) continue;
        bool is_empty;
        TRY(belongings_remove(kernel, &scans[i], budget, &is_empty));
        if (!is_empty) return OK;
    }
    int64_t removed;
    TRY(leftovers_settle(kernel, run));
    TRY(cursors_remove(kernel, run, &removed));
    TRY(children_orphan(kernel, run));
    TRY(kernel_remove(kernel, TABLE_RUNS, &run->row)); // [end-4]
    kernel_count(kernel, COUNTER_RUNS_FIRST + run->row.state, -1);
    TRY(places_note(kernel, &run->row, NULL));
    fact_cache_remove(&kernel->facts, key);
    *budget -= 1;
    *ret_is_gone = true;
    return OK;
}

Status apply_purge_run(Kernel *kernel, Op *op) {
    Run run;
    TRY(run_require(kernel, op->in.purge.run_id, &run));
    if (!run_state_is_terminal(run.row.state)) {
        return kernel_refuse(kernel, ERR_CONFLICT, "RUN_NOT_TERMINAL",
                             "the run \"%.*s\" is %s; only runs that have ended can be purged",
                             STR_ARG(op->in.purge.run_id), run_state_name(run.row.state));
    }
    int64_t budget = INT64_MAX;
    bool is_gone;
    TRY(run_purge(kernel, &run, &budget, &is_gone));
    ASSERT(is_gone);
    return OK;
}
