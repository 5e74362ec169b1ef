// Executions: the pool they come from, and what an executor does with one.
//
// They are kept for reuse because their arenas and vectors have grown to what turns need. Nothing
// of the turn before is left in one that is handed out.
//
// Invariants [execution-1], [execution-2] are in execution.h.
//
// Not here: threads (api/driver/driver.c), what an output means (coordinator/runs.c, tasks.c).
#include "engine/world/execution.h"
#include "base/assert.h"
#include "base/memory.h"
#include "engine/runners/flow.h"
#include "engine/world/secrets.h"

void executions_init(Executions *self, World *world) {
    *self = (Executions){.world = world};
    list_init(&self->spare);
}

void executions_done(Executions *self) {
    ASSERT(self->out_count == 0); // [execution-1]
    LIST_EACH_SAFE (node, after, &self->spare) execution_free(container_of(node, Execution, link));
}

Execution *executions_get(Executions *self, ExecutionKind kind) {
    List *node = list_first(&self->spare);
    Execution *execution;
    if (node != NULL) {
        list_remove(node);
        execution = container_of(node, Execution, link);
    } else {
        execution = mem_zalloc(sizeof(Execution));
        list_init(&execution->link);
        arena_init(&execution->arena);
        turn_output_init(&execution->output);
    }
    execution->kind = kind;
    execution->run = 0;
    return execution;
}

static void drop_machine(Execution *execution) {
    flow_runner_drop(execution->output.machine);
    flow_runner_drop(execution->view.machine); // it was never performed
    execution->output.machine = execution->view.machine = NULL;
    if (execution->kind == EXECUTE_RUN) flow_module_release(execution->view.module);
    execution->view.module = NULL;
}

void execution_tell(Execution *execution, const TurnVerdict *verdict) {
    if (execution->tell == NULL) return;
    void (*tell)(void *, const TurnVerdict *) = execution->tell;
    execution->tell = NULL;
    tell(execution->tell_context, verdict);
}

static void tell_lost(Execution *execution, Status status, const char *code, const char *text) {
    if (execution->tell == NULL) return;
    TurnVerdict verdict = {.status = status};
    (void)diag_set(&verdict.diag, status, code, "%s", text);
    execution_tell(execution, &verdict);
}

void executions_put(Executions *self, Execution *execution) {
    tell_lost(execution, ERR_FENCED, "RUN_FENCED", "the run is not this node's any more");
    execution->is_remote = false;
    drop_machine(execution);
    execution->slice_count = 0;
    arena_reset(&execution->arena); // [execution-2]
    turn_output_clear(&execution->output);
    execution->output.retry = (RetryPolicy){0};
    execution->is_repaired = execution->is_undone = execution->is_reloaded = false;
    execution->is_attempt = false;
    execution->foreseen_seq = 0;
    execution->cause = NULL;
    execution->report = NULL;
    execution->woken_ns = execution->began_ns = execution->took_ns = 0;
    list_append(&self->spare, &execution->link);
}

void execution_free(Execution *execution) {
    tell_lost(execution, ERR_CLOSED, "CLOSED", "the engine stopped before the store answered");
    drop_machine(execution);
    arena_done(&execution->arena);
    turn_output_done(&execution->output);
    mem_free(execution);
}

void executions_hand_out(Executions *self, Execution *execution) {
    self->out_count++;
    self->world->ops->execute(self->world, execution);
}

void executions_came_back(Executions *self, const Execution *execution) {
    ASSERT(self->out_count > 0 && list_is_empty(&execution->link));
    self->out_count--;
}

static void perform_task(Execution *execution) {
    NativeCall *call = &execution->call;
    Str input;
    Diag diag;
    if (secrets_fill(&execution->task, &execution->arena, &input, &diag) == OK) {
        native_call_run(call, execution->function, input);
        return;
    }
    call->has_error = call->is_final = true;
    call->error_type = SECRET_ERROR;
    call->error = secrets_error(&diag, &execution->arena);
}

void execution_perform(Execution *execution, Env *env) {
    uint64_t began_ns = env_monotonic_ns(env);
    if (execution->began_ns == 0) {
        execution->began_ns = began_ns;
        execution->began_at_ms = env_now_ms(env);
    }
    if (execution->kind == EXECUTE_RUN) {
        execution->runner->ops->turn(execution->runner, &execution->view, env, &execution->arena,
                                     &execution->output);
        execution->view.machine = NULL; // the turn took it over
    } else {
        perform_task(execution);
    }
    execution->took_ns += env_monotonic_ns(env) - began_ns;
}
