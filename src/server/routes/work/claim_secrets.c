// Secrets of claimed tasks: filled in behind the store, so that only the answer has them.
//
// A task whose secret is not set here must not begin, and nobody else may know better: the attempt
// fails for good, with the name of what is missing, and the worker does not see the task.
//
// Not here: what is put where (engine/world/secrets.h).
#include "server/routes/work/claim_secrets.h"
#include "engine/world/secrets.h"

static void fail_task(Exchange *exchange, const TaskRow *task, const Diag *diag, Op *op) {
    op->kind = OP_FAIL_TASK;
    op->in.fail_task.id = task->id;
    op->in.fail_task.token = task->token;
    op->in.fail_task.type = SECRET_ERROR;
    op->in.fail_task.error = secrets_error(diag, &exchange->arena);
    op->in.fail_task.is_final = true;
}

size_t claim_secrets_fill(Exchange *exchange, Request **ret_failed, bool **ret_is_failed) {
    Op *op = &exchange->request->op;
    size_t count = op->out.claim_tasks.task_count, failed_count = 0;
    for (size_t i = 0; i < count; i++) {
        TaskRow *task = &op->out.claim_tasks.tasks[i];
        Diag diag;
        if (secrets_fill(task, &exchange->arena, &task->input, &diag) == OK) continue;
        if (failed_count == 0) {
            *ret_failed = ARENA_ARRAY(&exchange->arena, Request, count);
            *ret_is_failed = ARENA_ARRAY(&exchange->arena, bool, count);
        }
        (*ret_is_failed)[i] = true;
        fail_task(exchange, task, &diag, &(*ret_failed)[failed_count++].op);
    }
    return failed_count;
}
