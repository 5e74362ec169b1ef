// Reads of tasks, newest first: of a run, in some states, of a name or a queue.
//
// Embedded tasks stand in the rows of their runs (reads/embedded.c).
// Resume tasks have no rows: a run that is ready and that nobody owns stands for one. They are
// added to what is found (reads/resume.c).
//
// Not here: queues (reads/queues.c), claiming (kernel/tasks/claims.c).
#include "model/phase.h"
#include "store/reads/internal.h"

Status read_task(Reads *reads, Str id, TaskRow *ret_task) {
    TaskRow wanted = {.id = id}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_ID, &wanted, 1);
    TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &count));
    if (count == 0) {
        Status status = embedded_find(reads, id, ret_task);
        if (status == ERR_NOT_FOUND) status = resume_find(reads, id, ret_task);
        if (status != ERR_NOT_FOUND) return status;
        return diag_set(reads->diag, ERR_NOT_FOUND, "TASK_NOT_FOUND", "there is no task \"%.*s\"",
                        STR_ARG(id));
    }
    *ret_task = rows[0];
    return OK;
}

bool task_is_wanted(const void *row, void *context) {
    const TaskRow *task = row;
    const TaskFilter *filter = context;
    if (filter->states && !(filter->states & (1u << task->state))) return false;
    if (!str_is_null(filter->name) && !str_equal(task->name, filter->name)) return false;
    return str_is_null(filter->queue) || str_equal(task->queue, filter->queue);
}

// All but those that have completed, which are in no index of their own (task_phase).
static void walk_phases(Walk *walk, uint32_t states, TaskRow *matches) {
    for (int state = TASK_QUEUED; state < TASK_STATE_COUNT; state++) {
        int64_t phase = task_phase(state);
        if (!(states & (1u << state)) || matches[phase].phase != 0) continue;
        matches[phase].phase = phase;
        walk_add(walk, TASKS_BY_PHASE, &matches[phase], 1);
    }
}

Status read_tasks(Reads *reads, const TaskFilter *asked, TaskPage *ret_page) {
    TaskFilter filter = *asked;
    TaskRow matches[TASK_STATE_COUNT] = {0};
    Walk walk = {.table = TABLE_TASKS,
                 .is_descending = true,
                 .page = filter.page,
                 .wanted = task_is_wanted,
                 .context = &filter};
    RunRow run;
    bool is_of_run = filter.run.key != 0 || !str_is_null(filter.run.id);
    if (is_of_run) {
        TRY(read_run(reads, filter.run, &run));
        matches[0].run = run.key;
        walk_add(&walk, TASKS_BY_RUN, &matches[0], 1);
    } else if (filter.states && !(filter.states & (1u << TASK_COMPLETED))) {
        walk_phases(&walk, filter.states, matches);
    } else {
        walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    }
    TRY(walk_run(reads, &walk));
    *ret_page = (TaskPage){(TaskRow *)(void *)walk.rows, walk.count, walk.next};
    TRY(embedded_merge(reads, &filter, is_of_run ? &run : NULL, ret_page));
    return resume_merge(reads, &filter, ret_page);
}
