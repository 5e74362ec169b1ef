// In-process tasks: claimed in batches, executed by the world, their leases kept alive.
//
// The engine is a worker like any other: it claims tasks whose names are registered here, of any
// queue and within that queue's limits, with a fencing token each, and reports results through
// the same operations as a remote one. A claim rides in the batch that queues the tasks, so
// handing them out costs no commit of its own, and mostly not even a statement: they are inserted
// as leased.
//
// Invariants [work-tasks-1], [work-tasks-2] are in tasks.h; how many are claimed is in
// task_window.h.
//
// Not here: what a task is and how it is retried (store/kernel/tasks/tasks.c).
#include "engine/work/tasks.h"
#include "base/assert.h"
#include "base/memory.h"
#include "model/trace.h"

typedef struct TaskFunction {
    NativeCallFunction function;
    void *user;
} TaskFunction;

void tasks_init(Tasks *self, const CoordinatorSetup *setup, Executions *executions,
                Intake *intake) {
    *self = (Tasks){.setup = setup, .executions = executions, .intake = intake};
    task_window_init(&self->window, setup->config.first_tasks, setup->config.max_tasks);
    strmap_init(&self->functions);
    heap_init(&self->heartbeats);
}

void tasks_done(Tasks *self) {
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(&self->functions, &at, &name, &entry);) {
        mem_free((void *)(uintptr_t)name.data);
        mem_free(entry);
    }
    strmap_done(&self->functions);
    vec_free(&self->names);
    heap_done(&self->heartbeats);
}

// ---- functions ----

Status tasks_add(Tasks *self, Str name, NativeCallFunction function, void *user) {
    if (strmap_get(&self->functions, name) != NULL) return ERR_CONFLICT;
    TaskFunction *entry = mem_zalloc(sizeof(TaskFunction));
    *entry = (TaskFunction){.function = function, .user = user};
    Str own = {mem_copy(name.data, name.len), name.len};
    strmap_put(&self->functions, own, entry);
    vec_push(&self->names, own);
    task_window_hear(&self->window);
    return OK;
}

void tasks_replace(Tasks *self, Str name, NativeCallFunction function, void *user) {
    TaskFunction *entry = strmap_get(&self->functions, name);
    if (entry == NULL) {
        Status status = tasks_add(self, name, function, user);
        ASSERT(status == OK);
        return;
    }
    *entry = (TaskFunction){.function = function, .user = user};
}

// ---- leases ----

void tasks_add_heartbeats(Tasks *self, Commit *commit) {
    while (commit_room(commit) > 0) {
        HeapNode *node = heap_peek(&self->heartbeats);
        if (node == NULL || node->at > commit->batch.now_ms) return;
        (void)heap_pop(&self->heartbeats);
        task_window_slow(&self->window);
        Execution *execution = container_of(node, Execution, heartbeat);
        Op *op = commit_add_own(commit, OP_HEARTBEAT_TASK);
        op->in.heartbeat.id = arena_str(&commit->arena, execution->task.id);
        op->in.heartbeat.token = execution->task.token;
        op->in.heartbeat.lease_ms = self->setup->config.task_lease_ms;
        node->at = commit->batch.now_ms + self->setup->config.task_lease_ms / 3;
        heap_push(&self->heartbeats, node);
    }
}

bool tasks_release(Tasks *self, Commit *commit) {
    while (commit_room(commit) > 0) {
        HeapNode *node = heap_pop(&self->heartbeats);
        if (node == NULL) return true;
        const Execution *execution = container_of(node, Execution, heartbeat);
        Op *op = commit_add_own(commit, OP_RELEASE_TASK);
        op->in.release_task.id = arena_str(&commit->arena, execution->task.id);
        op->in.release_task.token = execution->task.token;
    }
    return false;
}

int64_t tasks_next_heartbeat_ms(const Tasks *self) {
    const HeapNode *first = heap_peek(&self->heartbeats);
    return first != NULL ? first->at : NEVER_MS;
}

// ---- claiming and executing ----

bool tasks_can_claim(const Tasks *self) {
    return self->names.count > 0 && task_window_room(&self->window) > 0;
}

bool tasks_may_ask(const Tasks *self, const Commit *commit) {
    const CoordinatorConfig *config = &self->setup->config;
    size_t most = (size_t)(config->max_tasks + config->max_active_runs);
    if (most < commit->most) most = commit->most;
    return self->intake->result_count <= most; // [work-tasks-1]
}

void tasks_add_claim(Tasks *self, Commit *commit) {
    int64_t asked =
        task_window_ask(&self->window, (int64_t)commit->made_tasks, (int64_t)commit->most);
    Op *op = commit_add_own(commit, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = self->setup->config.node_name;
    op->in.claim_tasks.is_any_queue = true;
    op->in.claim_tasks.is_eager = true; // nothing is added behind it
    op->in.claim_tasks.first_queue = self->first_queue++;
    // A copy: more may be registered while the batch is on its way.
    size_t count = self->names.count;
    op->in.claim_tasks.names = ARENA_ARRAY(&commit->arena, Str, count);
    if (count > 0) memcpy(op->in.claim_tasks.names, self->names.data, count * sizeof(Str));
    op->in.claim_tasks.name_count = count;
    op->in.claim_tasks.max = asked;
    op->in.claim_tasks.lease_ms = self->setup->config.task_lease_ms;
}

static void set_trace(const Tasks *self, Execution *execution, Str run_id, Str tags) {
    if (!self->is_traced && str_is_null(tags_trace(tags))) return;
    TraceParent run;
    (void)trace_of_run(run_id, tags, &run, NULL);
    TraceParent attempt = trace_of_attempt(&run, execution->task.id, execution->task.attempt);
    TraceParentText text = trace_parent_format(&attempt);
    execution->call.traceparent = arena_str(&execution->arena, str_from(text.text));
    execution->call.tracestate = arena_str(&execution->arena, tags_trace_state(tags));
}

static void execute_task(Tasks *self, const TaskRow *row, const TaskRun *run) {
    const TaskFunction *entry = strmap_get(&self->functions, row->name);
    ASSERT(entry != NULL);
    Execution *execution = executions_get(self->executions, EXECUTE_TASK);
    execution->function = entry->function;
    row_copy(&tables[TABLE_TASKS], &execution->arena, row, &execution->task);
    execution->call = (NativeCall){
        .arena = &execution->arena,
        .name = execution->task.name,
        .run_id = arena_str(&execution->arena, run->id),
        .key = execution->task.id,
        .attempt = row->attempt,
        .user = entry->user,
    };
    if (!str_is_null(run->id)) set_trace(self, execution, run->id, run->tags);
    execution->heartbeat.at = env_now_ms(self->setup->env) + self->setup->config.task_lease_ms / 3;
    heap_push(&self->heartbeats, &execution->heartbeat);
    task_window_began(&self->window);
    executions_hand_out(self->executions, execution);
}

void tasks_apply_claimed(Tasks *self, const Op *op, size_t made_count) {
    if (op->out.status != OK) {
        task_window_forget(&self->window, op->in.claim_tasks.max);
        return;
    }
    size_t count = op->out.claim_tasks.task_count;
    for (size_t i = 0; i < count; i++)
        execute_task(self, &op->out.claim_tasks.tasks[i], &op->out.claim_tasks.runs[i]);
    TaskClaimAnswer answer = {.asked = op->in.claim_tasks.max,
                              .made = (int64_t)made_count,
                              .count = (int64_t)count,
                              .is_cut = op->out.claim_tasks.is_cut};
    task_window_answered(&self->window, &answer);
}

void tasks_forget_claims(Tasks *self, const Commit *commit) {
    for (size_t i = 0; i < commit->items.count; i++) {
        const CommitItem *item = &commit->items.data[i];
        bool is_ours = item->op->kind == OP_CLAIM_TASKS && item->request == NULL; // not a worker's
        if (is_ours) task_window_forget(&self->window, item->op->in.claim_tasks.max);
    }
}

void tasks_came_back(Tasks *self, Execution *execution) {
    task_window_ended(&self->window);
    heap_remove(&self->heartbeats, &execution->heartbeat);
}

void tasks_fill_result(Execution *execution, Commit *commit) {
    const NativeCall *call = &execution->call;
    if (execution->is_undone) {
        Op *op = commit_add_result(commit, OP_RELEASE_TASK, execution);
        op->in.release_task.id = execution->task.id;
        op->in.release_task.token = execution->task.token;
    } else if (call->has_error) {
        Op *op = commit_add_result(commit, OP_FAIL_TASK, execution);
        op->in.fail_task.id = execution->task.id;
        op->in.fail_task.token = execution->task.token;
        op->in.fail_task.type = call->error_type;
        op->in.fail_task.error = call->error;
        op->in.fail_task.is_final = call->is_final;
    } else {
        Op *op = commit_add_result(commit, OP_COMPLETE_TASK, execution);
        op->in.complete_task.id = execution->task.id;
        op->in.complete_task.token = execution->task.token;
        op->in.complete_task.result = call->result;
    }
}

void tasks_refused(Tasks *self, Execution *execution, Status status, const Diag *diag) {
    LOG(self->setup->logger, LOG_ERROR, "task %.*s: the store refuses what came of it: %s",
        STR_ARG(execution->task.id), diag->message);
    if (execution->is_repaired || execution->is_undone) { // its lease runs out
        executions_put(self->executions, execution);
        return;
    }
    NativeCall *call = &execution->call;
    Str code = str_from(diag->code);
    if (code.len == 0) code = str_from(status_name(status));
    call->error_type = arena_str(&execution->arena, code);
    call->error = error_object(&execution->arena, code, str_from(diag->message));
    if (!call->has_error) call->is_final = true; // it would come to the same result
    call->has_error = true;
    execution->is_repaired = true;
    intake_add_result(self->intake, execution, INTAKE_BACK);
}

// Taken, or not wanted any more (fenced, gone): either way this attempt is over.
void tasks_apply_result(Tasks *self, Execution *execution, const Op *op) {
    bool is_over = op->out.status == OK || op->out.status == ERR_FENCED ||
                   op->out.status == ERR_NOT_FOUND || op->out.status == ERR_TERMINAL ||
                   op->out.status == ERR_CONFLICT;
    if (is_over) executions_put(self->executions, execution);
    else tasks_refused(self, execution, op->out.status, &op->out.diag);
}

void tasks_apply_heartbeat(Tasks *self, const Op *op) {
    if (op->out.status == ERR_FENCED)
        LOG(self->setup->logger, LOG_WARN, "task %.*s lost its lease",
            STR_ARG(op->in.heartbeat.id));
}
