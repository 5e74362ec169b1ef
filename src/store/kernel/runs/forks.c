// Forks of scripts: a new run that begins at a turn of another one.
//
// The new run gets the snapshot of that turn and what was delivered to it. Its script then still
// names the tasks and children that the old run had begun and not seen the end of; as a task wakes
// only the run it belongs to, the new run gets its own.
//   [forks-1] What had ended well or failed is copied with its outcome; what had not, or was
//        cancelled with the old run, is begun anew for the new one. The old run is not changed.
//   [forks-2] Which tasks and children those are is in the log: begun, and not delivered. A number
//        may stand in several rows (after a rewind, a continue-as); the newest one that was begun
//        when the log says so counts.
//   [forks-3] A wait of the new run that names a task or child of another run means its own one of
//        the same position, if there is one.
//   [forks-4] A retry takes up what failed: tasks and children that had failed, delivered to its
//        turn or not seen yet, are begun anew, and their failures are not delivered again.
//
// Not here: finding the turn (runs/snapshots.c), forks of native runs (runs/create.c).
#include "base/containers/hash.h"
#include "base/text/hex.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"
#include "store/kernel/tasks/tasks.h"

typedef struct Begun { // [forks-2]
    int64_t at_ms;
} Begun;

// Derived from both, so that a repeated fork makes the same ones.
static Str fork_id(Kernel *kernel, const char *prefix, Str old_id, Str run_id) {
    uint8_t digest[SHA256_SIZE];
    char hex[33] = "";
    Sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, old_id.data, old_id.len);
    sha256_update(&sha, "\n", 1);
    sha256_update(&sha, run_id.data, run_id.len);
    sha256_final(&sha, digest);
    hex_write(hex, digest, 16);
    return arena_printf(&kernel->scratch, "%s_%s", prefix, hex);
}

// Of a task or child, delivered to the turn that is taken up again.
static bool is_tried_anew(const FlowPoint *point, const LogRow *wait) { // [forks-4]
    return point->is_retry && wait->seq > point->row.log_seq && wait->outcome == OUTCOME_ERROR &&
           !str_is_null(log_entry_target(wait));
}

// Walks the log up to the turn: notes what is open, copies what was delivered to the turn.
static Status log_copy(Kernel *kernel, const Run *from, Run *to, const FlowPoint *point,
                       Map *open) {
    size_t count = PAGE_ROWS;
    for (int64_t after = from->row.input_seq; count == PAGE_ROWS;) {
        LogRow wanted = {.run = from->row.key}, *rows = NULL;
        Scan scan = scan_of(TABLE_LOG, SCAN_PRIMARY, &wanted, PAGE_ROWS);
        scan.has_min = true;
        scan.min = after + 1;
        scan.has_max = true;
        scan.max = point->row.start_seq;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            LogRow *row = &rows[i];
            after = row->seq;
            if (!log_has_position(row)) continue;
            if (row->kind == LOG_TASK || row->kind == LOG_CHILD) {
                Begun *begun = ARENA_NEW(&kernel->scratch, Begun);
                begun->at_ms = row->at_ms;
                map_put(open, (uint64_t)row->position, begun);
            } else if (row->kind == LOG_WAIT && !is_tried_anew(point, row)) {
                (void)map_remove(open, (uint64_t)row->position);
                if (row->seq > point->row.log_seq) TRY(run_log(kernel, to, row));
            }
        }
    }
    return OK;
}

// True once for the newest one that was begun at that position at that time.
static bool open_take(Map *open, int64_t position, int64_t begun_at_ms) {
    if (!is_position(position)) return false;
    const Begun *begun = map_get(open, (uint64_t)position);
    if (!begun || begun->at_ms != begun_at_ms) return false;
    (void)map_remove(open, (uint64_t)position);
    return true;
}

// ---- tasks ----

static Status task_begin_anew(Kernel *kernel, const TaskRow *task, Str id, Run *to) {
    TaskSpec spec = {.id = id,
                     .name = task->name,
                     .queue = task->queue,
                     .input = task->input,
                     .position = task->position,
                     .priority = task->priority,
                     .max_attempts = task->max_attempts,
                     .backoff_ms = task->backoff_ms,
                     .backoff_max_ms = task->backoff_max_ms,
                     .backoff_factor_pct = task->backoff_factor_pct,
                     .jitter_pct = task->jitter_pct,
                     .start_timeout_ms = task->start_timeout_ms,
                     .run_timeout_ms = task->run_timeout_ms,
                     .heartbeat_ms = task->heartbeat_ms,
                     .non_retryable = task->non_retryable,
                     .concurrency_key = task->concurrency_key,
                     .secrets = task->secrets};
    int64_t key;
    bool is_new;
    return task_create(kernel, &spec, to, &key, &is_new);
}

static Status task_fork(Kernel *kernel, const TaskRow *task, Run *to, bool is_retry) { // [forks-1]
    Str id = fork_id(kernel, "task", task->id, to->row.id);
    bool has_outcome = task->state == TASK_COMPLETED || (task->state == TASK_FAILED && !is_retry);
    if (!has_outcome) {
        return task_begin_anew(kernel, task, id, to);
    }
    TaskRow copy = *task;
    copy.key = kernel_next_key(kernel);
    copy.id = id;
    copy.run = to->row.key;
    TRY(kernel_insert(kernel, TABLE_TASKS, &copy));
    kernel_count(kernel, COUNTER_TASKS_FIRST + copy.state, 1);
    return OK;
}

static Status tasks_fork(Kernel *kernel, const Run *from, Run *to, Map *open, bool is_retry) {
    TaskRow wanted = {.run = from->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_RUN, &wanted, PAGE_ROWS);
    scan.is_descending = true;
    while (scan.limit > 0) {
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!open_take(open, rows[i].position, rows[i].created_at_ms)) continue;
            TRY(task_refresh(kernel, &rows[i]));
            TRY(task_fork(kernel, &rows[i], to, is_retry));
        }
    }
    to->facts.may_have |= MAY_HAVE_TASKS;
    return OK;
}

// ---- children ----

static Status child_fork(Kernel *kernel, const RunRow *child, Run *to) { // [forks-1]
    RunSpec spec = {.id = fork_id(kernel, "run", child->id, to->row.id),
                    .workflow = child->workflow,
                    .definition = child->definition,
                    .kind = child->kind,
                    .priority = child->priority,
                    .keep_ms = child->keep_ms,
                    .queue = child->queue,
                    .tags = child->tags,
                    .leftover_policy = child->leftover_policy,
                    .leftover_topic = child->leftover_topic,
                    .parent_position = child->parent_position,
                    .close_policy = child->close_policy};
    TRY(run_input(kernel, child, &spec.input));
    RunCreated created;
    return run_create(kernel, &spec, to, &created);
}

static Status children_fork(Kernel *kernel, const Run *from, Run *to, Map *open, bool is_retry) {
    RunRow wanted = {.parent = from->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_RUNS, RUNS_BY_PARENT, &wanted, PAGE_ROWS);
    scan.is_descending = true;
    while (scan.limit > 0) {
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!open_take(open, rows[i].parent_position, rows[i].created_at_ms)) continue;
            bool has_outcome =
                rows[i].state == RUN_COMPLETED || (rows[i].state == RUN_FAILED && !is_retry);
            if (!has_outcome) TRY(child_fork(kernel, &rows[i], to));
        }
    }
    return OK;
}

Status flow_fork(Kernel *kernel, Run *from, Run *to, const FlowPoint *point) {
    if (point->row.number == 0) return OK; // from the start
    Map open;
    map_init(&open);
    Status status = log_copy(kernel, from, to, point, &open);
    if (status == OK) status = tasks_fork(kernel, from, to, &open, point->is_retry);
    if (status == OK) status = children_fork(kernel, from, to, &open, point->is_retry);
    map_done(&open);
    if (status == OK) status = states_restore(kernel, to, point->row.state);
    to->row.snapshot = point->row.snapshot;
    to->row.place = point->row.place;
    return status;
}

// ---- whose is it? ----

Status fork_find_task(Kernel *kernel, const Run *run, WaitItem *item) { // [forks-3]
    TaskRow wanted = {.run = run->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_RUN, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (rows[i].position == item->position) item->target = rows[i].key;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

Status fork_find_child(Kernel *kernel, const Run *run, WaitItem *item) { // [forks-3]
    RunRow wanted = {.parent = run->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_RUNS, RUNS_BY_PARENT, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (rows[i].parent_position == item->position) item->target = rows[i].key;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}
