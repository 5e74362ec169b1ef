// Rewinding scripts: the beginnings of turns that are kept, and going back to one.
//
// A turn of a script can be executed again from the snapshot it began with and what was delivered
// to it. The snapshot is in the run's row until the turn commits; if the turn began a step, it
// moves into a row of its own in that same commit. A run that parks once and never goes back to
// that costs nothing.
//   [snapshots-1] Only turns that began a step are kept: a task, a child, a timer, or a wait for a
//        signal or an event. The first turn has no snapshot and needs none: it begins with the
//        input.
//   [snapshots-2] Step numbers (positions) ascend with time, so everything begun in or after a turn
//        has at least the position of its first step.
//   [snapshots-3] Going back drops what the log says from the turn on, but not what was delivered
//        to it; tasks and awaited children begun since are cancelled. What had been begun before
//        and has ended since is found by the repeated turn when it parks (waits/wait.c).
//   [snapshots-4] Signals and events that were consumed since are not given back; runs that were
//        started independently, and events that were emitted, stay.
//   [snapshots-5] An unknown step, and one whose snapshot is no longer kept, change nothing.
//   [snapshots-6] The last turn of a failed run is no row: its snapshot stays in the run's own row
//        ([end-5] of runs/end.c), and what was delivered to it stands in the log past log_seq.
//
// Not here: forks (runs/forks.c), native runs (runs/change.c).
#include "store/kernel/runs/snapshots.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/tasks/tasks.h"

static bool log_begins_step(const LogRow *entry) {
    if (!log_has_position(entry)) return false;
    return entry->kind == LOG_TASK || entry->kind == LOG_CHILD || entry->kind == LOG_WAITING;
}

// ---- keeping ----

static Status next_number(Kernel *kernel, Run *run) {
    if (run->facts.next_kept > 0) return OK;
    run->facts.next_kept = 1;
    if (!(run->facts.may_have & MAY_HAVE_SNAPSHOTS)) return OK;
    SnapshotRow wanted = {.run = run->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_SNAPSHOTS, SCAN_PRIMARY, &wanted, 1);
    scan.is_descending = true;
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count > 0) run->facts.next_kept = rows[0].number + 1;
    return OK;
}

// Removes what is older than the newest `keep`, as far as there is something.
static Status snapshots_prune(Kernel *kernel, const Run *run, int64_t keep) {
    for (int64_t number = run->facts.next_kept - 1 - keep; number > 0; number--) {
        SnapshotRow wanted = {.run = run->row.key, .number = number}, row;
        ArenaMark mark = arena_mark(&kernel->scratch);
        Status status = kernel_get(kernel, TABLE_SNAPSHOTS, &wanted, &row);
        arena_rewind(&kernel->scratch, mark);
        if (status == ERR_NOT_FOUND) return OK; // [snapshot-2] then there is none below either
        TRY(status);
        TRY(kernel_remove(kernel, TABLE_SNAPSHOTS, &wanted));
    }
    return OK;
}

static Status snapshot_stored(Kernel *kernel, const Run *run, Str *ret_snapshot) {
    RunRow wanted = {.key = run->row.key}, stored;
    const void *found = NULL;
    TRY(kernel_find(kernel, &(RowKey){TABLE_RUNS, SCAN_PRIMARY, &wanted}, &found));
    Str snapshot = ((const RunRow *)found)->snapshot;
    if (snapshot.data != TEXT_KEPT.data) {
        *ret_snapshot = arena_str(&kernel->scratch, snapshot);
        return OK;
    }
    TRY(kernel_get(kernel, TABLE_RUNS, &wanted, &stored));
    *ret_snapshot = stored.snapshot;
    return OK;
}

Status snapshot_keep(Kernel *kernel, const TurnCommit *turn, Run *run, int64_t start_seq) {
    int64_t position = INT64_MAX;
    for (size_t i = 0; i < turn->log_count; i++) { // [snapshots-1]
        const LogRow *entry = &turn->log[i];
        if (log_begins_step(entry) && entry->position < position) position = entry->position;
    }
    bool is_kept = run->row.kind == RUN_FLOW && turn->keep_snapshots > 0 && position != INT64_MAX &&
                   !str_is_null(run->before.snapshot) && turn->next != NEXT_CONTINUE_AS &&
                   turn->next != NEXT_RETRY;
    if (!is_kept) return OK;
    Str snapshot;
    TRY(snapshot_stored(kernel, run, &snapshot));
    TRY(next_number(kernel, run));
    SnapshotRow row = {.run = run->row.key,
                       .number = run->facts.next_kept++,
                       .log_seq = run->before.log_seq,
                       .start_seq = start_seq,
                       .end_seq = run->facts.last_seq,
                       .position = position,
                       .place = run->before.place,
                       .snapshot = snapshot};
    TRY(states_encode(kernel, run, &row.state));
    TRY(kernel_insert(kernel, TABLE_SNAPSHOTS, &row));
    run->facts.may_have |= MAY_HAVE_SNAPSHOTS;
    run_keep_facts(kernel, run);
    return snapshots_prune(kernel, run, turn->keep_snapshots);
}

Status snapshots_drop(Kernel *kernel, Run *run, int64_t from_number) {
    if (!(run->facts.may_have & MAY_HAVE_SNAPSHOTS)) return OK;
    for (size_t count = PAGE_ROWS; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        SnapshotRow wanted = {.run = run->row.key}, *rows = NULL;
        Scan scan = scan_of(TABLE_SNAPSHOTS, SCAN_PRIMARY, &wanted, PAGE_ROWS);
        scan.has_min = true;
        scan.min = from_number;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            TRY(kernel_remove(kernel, TABLE_SNAPSHOTS, &rows[i]));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    run->facts.next_kept = 0; // not known: it is looked up when it is needed
    run_keep_facts(kernel, run);
    return OK;
}

// ---- finding ----

typedef struct StepSearch {
    StepChoice step;
    int64_t count; // occurrences seen
    int64_t seq;   // of what was found; 0 = nothing
    bool is_first; // it was begun in the first turn: nothing had been delivered before it
} StepSearch;

static Status step_search(Kernel *kernel, const RunRow *run, StepSearch *search) {
    size_t count = PAGE_ROWS;
    bool is_first = true;
    for (int64_t after = run->input_seq; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (rows[i].kind == LOG_WAIT && log_has_position(&rows[i])) is_first = false;
            if (!log_begins_step(&rows[i]) || !str_equal(rows[i].name, search->step.name)) continue;
            int64_t iteration = search->count++;
            if (!search->step.is_last && search->step.iteration != iteration) continue;
            search->seq = rows[i].seq;
            search->is_first = is_first;
        }
        arena_rewind(&kernel->scratch, mark);
        if (!search->step.is_last && search->seq != 0) return OK;
    }
    return OK;
}

static Status kept_find(Kernel *kernel, const RunRow *run, FlowPoint *point) {
    for (int64_t after = 0;;) {
        SnapshotRow wanted = {.run = run->key}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_SNAPSHOTS, SCAN_PRIMARY, &wanted, 1);
        scan.has_min = true;
        scan.min = after + 1;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        if (count == 0) return ERR_NOT_FOUND;
        after = rows[0].number;
        bool is_it = rows[0].start_seq < point->step_seq && point->step_seq <= rows[0].end_seq;
        if (!is_it) continue;
        point->row = rows[0];
        return OK;
    }
}

Status flow_point_find(Kernel *kernel, const RunRow *run, StepChoice *step,
                       FlowPoint *ret_point) { // [snapshots-5]
    StepSearch search = {.step = *step};
    TRY(step_search(kernel, run, &search));
    if (search.seq == 0) {
        return kernel_refuse(kernel, ERR_NOT_FOUND, "STEP_NOT_FOUND",
                             "the run \"%.*s\" has not begun a step \"%.*s\" so often",
                             STR_ARG(run->id), STR_ARG(step->name));
    }
    if (step->is_last) step->iteration = search.count - 1;
    *ret_point = (FlowPoint){.step_seq = search.seq};
    if (search.is_first) {
        ret_point->row.log_seq = ret_point->row.start_seq = run->input_seq;
        ret_point->row.place = PLACE_START;
        return OK;
    }
    Status status = kept_find(kernel, run, ret_point);
    if (status != ERR_NOT_FOUND) return status;
    return kernel_refuse(kernel, ERR_CONFLICT, "SNAPSHOT_NOT_KEPT",
                         "the snapshot from before the step \"%.*s\" of run \"%.*s\" is no longer "
                         "kept; choose a later step, the first one, or raise keepSnapshots",
                         STR_ARG(step->name), STR_ARG(run->id));
}

static Status refuse_not_kept(Kernel *kernel, const RunRow *run) {
    return kernel_refuse(kernel, ERR_CONFLICT, "SNAPSHOT_NOT_KEPT",
                         "the snapshot with which the last turn of run \"%.*s\" began was not "
                         "kept; fork it from a step",
                         STR_ARG(run->id));
}

// What was delivered past the snapshot, and the first step that was begun with it.
static Status last_turn_read(Kernel *kernel, const RunRow *run, int64_t after, SnapshotRow *row) {
    for (size_t count = PAGE_ROWS; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            const LogRow *entry = &rows[i];
            if (!log_has_position(entry)) continue;
            if (entry->kind == LOG_WAIT) row->start_seq = entry->seq;
            if (log_begins_step(entry) && entry->position < row->position)
                row->position = entry->position;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

Status flow_point_last(Kernel *kernel, Run *run, FlowPoint *ret_point) { // [snapshots-6]
    FlowPoint point = {0};
    SnapshotRow *row = &point.row;
    TRY(run_last_seq(kernel, run));
    if (str_is_null(run->row.snapshot)) { // its first turn, unless something was delivered to it
        row->log_seq = row->start_seq = run->row.input_seq;
        TRY(last_turn_read(kernel, &run->row, run->row.input_seq, row));
        if (row->start_seq != run->row.input_seq) return refuse_not_kept(kernel, &run->row);
        *ret_point = (FlowPoint){.row = {.log_seq = run->row.input_seq}};
        ret_point->row.start_seq = run->row.input_seq;
        return OK;
    }
    TRY(next_number(kernel, run));
    *row = (SnapshotRow){.run = run->row.key,
                         .number = run->facts.next_kept,
                         .log_seq = run->row.log_seq,
                         .start_seq = run->row.log_seq,
                         .end_seq = run->facts.last_seq,
                         .position = INT64_MAX,
                         .place = run->row.place};
    TRY(snapshot_stored(kernel, run, &row->snapshot));
    TRY(states_encode(kernel, run, &row->state));
    TRY(last_turn_read(kernel, &run->row, run->row.log_seq, row));
    *ret_point = point;
    return OK;
}

// ---- going back ----

static Status log_drop(Kernel *kernel, const Run *run, int64_t after_seq, int64_t *ret_count) {
    size_t count = PAGE_ROWS;
    *ret_count = 0;
    for (int64_t after = after_seq; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->row.key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!log_has_position(&rows[i]) || rows[i].kind == LOG_REWOUND) continue;
            *ret_count += log_begins_step(&rows[i]);
            rows[i].position = NO_POSITION;
            TRY(kernel_update_columns(kernel, TABLE_LOG, &rows[i], kernel->log_position_bit));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

static Status children_cancel_from(Kernel *kernel, Run *run, int64_t from_position) {
    if (!(run->facts.may_have & MAY_HAVE_CHILDREN)) return OK;
    RunRow wanted = {.parent = run->row.key}, *children = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_RUNS, RUNS_BY_PARENT, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        TRY(kernel_scan_on(kernel, &scan, &children, &count));
        for (size_t i = 0; i < count; i++) {
            if (children[i].parent_position < from_position) continue;
            Run child;
            bool is_changed;
            TRY(run_load(kernel, children[i].key, &child));
            TRY(run_cancel(kernel, &child, STR("\"the parent run was set back\""), SETTLE_GRACE_MS,
                           &is_changed));
        }
    }
    return OK;
}

Status flow_rewind(Kernel *kernel, Op *op, Run *run) {
    FlowPoint point;
    StepChoice step = op->in.rewind.step;
    TRY(flow_point_find(kernel, &run->row, &step, &point));
    const SnapshotRow *row = &point.row;
    TRY(definition_at(kernel, &run->row, point.step_seq, &run->row.definition));
    TRY(log_drop(kernel, run, row->start_seq, &op->out.rewind.dropped_count)); // [snapshots-3]
    TRY(tasks_cancel(kernel, run, row->position));
    LogRow rewound = {.kind = LOG_REWOUND,
                      .position = row->position,
                      .name = step.name,
                      .iteration = step.iteration};
    TRY(run_log(kernel, run, &rewound));
    TRY(snapshots_drop(kernel, run, row->number));
    TRY(states_clear(kernel, run));
    TRY(states_restore(kernel, run, row->state));
    op->out.rewind.position = row->position;
    run_shift_deadline(kernel, run);
    run->row.epoch++;
    run->row.incarnation++;
    run->row.attempts = 0;
    run->row.is_pause_wanted = 0;
    run->row.snapshot = row->snapshot;
    run->row.place = row->place;
    run->row.log_seq = row->log_seq;
    TRY(run_make_ready(kernel, run, (Resolved){0})); // first, so that children wake nobody
    return children_cancel_from(kernel, run, row->position);
}
