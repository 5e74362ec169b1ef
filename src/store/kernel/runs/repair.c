// Repair: a run that failed is taken up again at its last good place, by a new run.
//
// What has ended is final (P8): parents, schedules and people have seen the failure. So the new run
// is a fork, which begins where the failed one was last well, with what it had by then.
//   [repair-1] Its id is made of the old one, "order-7" -> "order-7~2" -> "order-7~3": who repeats
//        a retry finds the run that the first one made, and nothing is begun twice.
//   [repair-2] A script begins at the beginning of its last turn, with what was delivered to that.
//        Tasks and children that had failed are begun anew ([forks-4] of runs/forks.c).
//   [repair-3] A C workflow has all its checkpoints but the failed one. Of a task or child that
//        failed it begins with the call that began it.
//
// Not here: making the run (runs/create.c), finding the turn (runs/snapshots.c).
#include "json/write.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"

Status retry_check(Kernel *kernel, const Run *run) {
    if (run->row.state == RUN_FAILED) return OK;
    bool is_ended = run_state_is_terminal(run->row.state);
    return kernel_refuse(kernel, ERR_CONFLICT, "RUN_NOT_FAILED",
                         "the run \"%.*s\" is %s; only a run that failed can be retried%s",
                         STR_ARG(run->row.id), run_state_name(run->row.state),
                         is_ended ? ", others can be forked" : "");
}

// ---- the new run ----

Status retry_id(Kernel *kernel, const Run *run, Str *ret_id) { // [repair-1]
    RetryId text;
    *ret_id = arena_str(&kernel->scratch, run_retry_id(run->row.id, &text));
    return kernel_check_name(kernel, "the run id", *ret_id, LIMIT_RUN_ID_SIZE);
}

Status retry_find(Kernel *kernel, Str id, Op *op, bool *ret_is_there) {
    Run found;
    Status status = run_load_id(kernel, id, &found);
    *ret_is_there = status == OK;
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    op->out.fork.key = found.row.key;
    op->out.fork.id = kernel_answer(kernel, id);
    return OK;
}

static Str json_text(Kernel *kernel, Str text) {
    Buf quoted;
    JsonWriter json;
    buf_init(&quoted, 6 * text.len + 2); // every byte of it may need an escape
    json_writer_init(&json, &quoted, STR_NULL);
    json_write_string(&json, text);
    Str data = arena_str(&kernel->scratch, buf_str(&quoted));
    buf_done(&quoted);
    return data;
}

Status retry_note(Kernel *kernel, Run *run, Str failed_id) {
    Str quoted = json_text(kernel, failed_id);
    Str data = arena_printf(&kernel->scratch, "{\"run\":%.*s}", STR_ARG(quoted));
    return run_note(kernel, run, LOG_RETRIED, data);
}

// ---- where it begins ----

Status retry_point(Kernel *kernel, Run *run, FlowPoint *ret_point) { // [repair-2]
    TRY(flow_point_last(kernel, run, ret_point));
    ret_point->is_retry = true;
    return OK;
}

// The call that began the task or child of that id; left as it is when there is none.
static Status begun_find(Kernel *kernel, const RunRow *run, Str id, int64_t *position) {
    Str quoted = json_text(kernel, id);
    size_t count = PAGE_ROWS;
    for (int64_t after = run->input_seq; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            bool is_begun = rows[i].kind == LOG_TASK || rows[i].kind == LOG_CHILD;
            if (is_begun && log_has_position(&rows[i]) && str_equal(rows[i].data, quoted))
                *position = rows[i].position;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

Status retry_position(Kernel *kernel, const Run *run, int64_t *ret_position) { // [repair-3]
    int64_t last = -1, outcome = OUTCOME_OK;
    Str target = STR_NULL;
    size_t count = PAGE_ROWS;
    for (int64_t after = run->row.input_seq; count == PAGE_ROWS;) {
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->row.key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!log_is_checkpoint(&rows[i]) || rows[i].position < last) continue;
            last = rows[i].position;
            outcome = rows[i].outcome;
            target = log_entry_target(&rows[i]);
        }
    }
    bool is_failed = outcome == OUTCOME_ERROR || outcome == OUTCOME_TIMEOUT;
    *ret_position = is_failed ? last : last + 1;
    if (!is_failed || str_is_null(target)) return OK;
    return begun_find(kernel, &run->row, target, ret_position);
}
