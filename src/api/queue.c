// Queues: their limits, and what there is in them.
//
//   [api-queue-1] What is refused here has not reached the store; what the store refuses changed
//        nothing.
//   [api-queue-3] A zeroed abide_queue_limits is the queue that nobody set, so 0 tasks of a key at
//        a time means one here and ABIDE_UNLIMITED is said explicitly; the store's 0 is "no limit".
//
// Not here: what limits do (store/kernel/tasks/queues.c, store/kernel/tasks/keys.c).
#include "api/api.h"
#include "base/limits.h"
#include "store/reads.h"
#include <stdio.h>

static int ask(abide_engine *engine, Request *request, abide_error *error) {
    Status status = driver_request(&engine->driver, request);
    return api_answer(error, status, &request->op.out.diag);
}

static Status check_limits(const abide_queue_limits *limits, QueueRow *row, Diag *diag) {
    row->max_running = limits->max_running;
    row->max_per_key = limits->max_per_key;
    if (limits->max_per_key == 0) row->max_per_key = QUEUE_PER_KEY_DEFAULT; // [api-queue-3]
    if (limits->max_per_key == ABIDE_UNLIMITED) row->max_per_key = 0;
    row->rate_count = limits->rate_count;
    row->is_paused = limits->is_paused != 0;
    return api_check_duration(limits->rate_period, 0, &row->rate_period_ms, diag);
}

int abide_queue_set(abide_engine *engine, const char *name, const abide_queue_limits *limits,
                    abide_error *error) {
    if (engine == NULL || limits == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and limits are required");
    Request request = {.op.kind = OP_SET_QUEUE};
    Diag diag;
    QueueRow *row = &request.op.in.set_queue.row;
    Status status = api_check_name(name, "the queue name", &row->name, &diag);
    if (status == OK) status = check_limits(limits, row, &diag);
    return status == OK ? ask(engine, &request, error) : api_answer(error, status, &diag);
}

static int change(abide_engine *engine, OpKind kind, const char *name, int *ret_changed,
                  abide_error *error) {
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
    Request request = {.op.kind = kind};
    Diag diag;
    Status status = api_check_name(name, "the queue name", &request.op.in.queue.name, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int code = ask(engine, &request, error);
    if (code == ABIDE_OK && ret_changed != NULL) *ret_changed = request.op.out.queue.is_changed;
    return code;
}

int abide_queue_remove(abide_engine *engine, const char *name, int *ret_changed,
                       abide_error *error) {
    return change(engine, OP_REMOVE_QUEUE, name, ret_changed, error);
}

int abide_queue_pause(abide_engine *engine, const char *name, int *ret_changed,
                      abide_error *error) {
    return change(engine, OP_PAUSE_QUEUE, name, ret_changed, error);
}

int abide_queue_resume(abide_engine *engine, const char *name, int *ret_changed,
                       abide_error *error) {
    return change(engine, OP_RESUME_QUEUE, name, ret_changed, error);
}

// ---- looking ----

static void describe(const QueueStat *stat, abide_queue_info *ret_info) {
    const QueueRow *row = &stat->row;
    bool is_used_up = row->rate_count > 0 && row->rate_used >= row->rate_count;
    *ret_info = (abide_queue_info){
        .is_set = row->is_explicit != 0,
        .is_paused = row->is_paused != 0,
        .max_running = (int)row->max_running,
        .max_per_key = row->max_per_key == 0 ? ABIDE_UNLIMITED : (int)row->max_per_key,
        .rate_count = (int)row->rate_count,
        .rate_period_ms = row->rate_period_ms,
        .queued_count = row->queued_count,
        .blocked_count = row->blocked_count,
        .running_count = row->running_count,
        .oldest_at_ms = stat->oldest_at_ms,
        .open_at_ms = is_used_up ? row->rate_at_ms + row->rate_period_ms : 0,
    };
    snprintf(ret_info->name, sizeof ret_info->name, "%.*s", STR_ARG(row->name));
}

int abide_queue_get(abide_engine *engine, const char *name, abide_queue_info *ret_info,
                    abide_error *error) {
    if (engine == NULL || ret_info == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and ret_info are required");
    Str wanted;
    QueueStat queue;
    Diag diag;
    Status status = api_check_name(name, "the queue name", &wanted, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    Arena arena;
    arena_init(&arena);
    status = store_find_queue(engine->store, &arena, wanted, &queue, &diag);
    if (status == OK) describe(&queue, ret_info);
    arena_done(&arena);
    return api_answer(error, status, &diag);
}

int abide_queue_list(abide_engine *engine, int (*visit)(void *user, const abide_queue_info *info),
                     void *user, abide_error *error) {
    if (engine == NULL || visit == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and visit are required");
    Arena arena; // the last name of a page is needed for the next one
    arena_init(&arena);
    NamePageSpec spec = {.limit = LIMIT_LIST_PAGE};
    Diag diag;
    Status status = OK;
    for (bool has_more = true; has_more && status == OK;) {
        QueuePage page;
        status = store_list_queues(engine->store, &arena, &spec, &page, &diag);
        has_more = status == OK && page.has_more;
        for (size_t i = 0; status == OK && i < page.count; i++) {
            abide_queue_info info;
            describe(&page.rows[i], &info);
            spec.after = page.rows[i].row.name;
            if (visit(user, &info) == 0) continue;
            has_more = false;
            break;
        }
    }
    arena_done(&arena);
    return api_answer(error, status, &diag);
}
