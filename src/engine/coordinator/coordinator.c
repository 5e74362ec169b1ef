// Coordinator: gathers inputs into a batch, and deals out what the store answered.
//
// One thread, one owner:  gather inputs -> one batch -> commit (the driver) -> release effects.
// Why batches: a commit costs one fsync or one round trip whatever its size, so the cost per
// input falls as load rises, and there is exactly one point where the world may change.
//
// Invariants [C1]-[C4] are in coordinator.h.
//
// Not here: what a run's output means (coordinator/runs.c), in-process tasks
// (coordinator/tasks.c), failed commits (coordinator/outcome.c), waiting for results
// (coordinator/await.c), threads (api/driver.c).
#include "base/limits.h"
#include "base/memory.h"
#include "base/version.h"
#include "engine/coordinator/internal.h"
#include "store/reads.h"

// ---- pools of executions and turns ----

Execution *execution_get(Coordinator *c) {
    List *node = list_first(&c->spare_executions);
    if (node != NULL) {
        list_remove(node);
        return container_of(node, Execution, link);
    }
    Execution *execution = mem_zalloc(sizeof(Execution));
    list_init(&execution->link);
    arena_init(&execution->arena);
    turn_output_init(&execution->output);
    return execution;
}

static void drop_machine(Execution *execution) {
    flow_runner_drop(execution->output.machine);
    flow_runner_drop(execution->view.machine); // it was never performed
    execution->output.machine = execution->view.machine = NULL;
    if (execution->kind == EXECUTE_RUN) flow_module_release(execution->view.module);
    execution->view.module = NULL;
}

void execution_put(Coordinator *c, Execution *execution) {
    drop_machine(execution);
    execution->slice_count = 0;
    arena_reset(&execution->arena);
    turn_output_clear(&execution->output);
    execution->output.retry = (RetryPolicy){0};
    execution->is_repaired = execution->is_undone = execution->is_reloaded = false;
    execution->is_attempt = false;
    execution->woken_ns = execution->began_ns = execution->took_ns = 0;
    list_append(&c->spare_executions, &execution->link);
}

static void execution_free(Execution *execution) {
    drop_machine(execution);
    arena_done(&execution->arena);
    turn_output_done(&execution->output);
    mem_free(execution);
}

// A driver has at most two turns out, so two spares are all there can be; their lists hang on
// the first item vector slot, so they are kept in a small array instead.
typedef struct SpareTurn {
    List link;
    Turn turn;
} SpareTurn;

Turn *turn_get(Coordinator *c) {
    List *node = list_first(&c->spare_turns);
    SpareTurn *spare;
    if (node != NULL) {
        list_remove(node);
        spare = container_of(node, SpareTurn, link);
    } else {
        spare = mem_zalloc(sizeof(SpareTurn));
        list_init(&spare->link);
        arena_init(&spare->turn.arena);
    }
    batch_init(&spare->turn.batch, &spare->turn.arena, env_now_ms(c->env));
    spare->turn.most = LIMIT_BATCH_OPS;
    spare->turn.batch.secret = c->lease_secret;
    spare->turn.executes = workflow_set_retain(c->executes);
    spare->turn.batch.executes = spare->turn.executes;
    return &spare->turn;
}

void turn_put(Coordinator *c, Turn *turn) {
    SpareTurn *spare = container_of(turn, SpareTurn, turn);
    vec_clear(&turn->items);
    turn->made_tasks = 0;
    workflow_set_release(turn->executes);
    turn->executes = NULL;
    arena_reset(&turn->arena);
    list_append(&c->spare_turns, &spare->link);
}

static void spare_turn_free(SpareTurn *spare) {
    vec_free(&spare->turn.items);
    arena_done(&spare->turn.arena);
    mem_free(spare);
}

void notify(Coordinator *c, EngineEventKind kind, Str run_id, Str workflow, Str detail) {
    EngineEvent event = {.kind = kind, .run_id = run_id, .workflow = workflow, .detail = detail};
    c->world->ops->notify(c->world, &event);
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
        native_call_run(&execution->call, execution->function, execution->task.input);
    }
    execution->took_ns += env_monotonic_ns(env) - began_ns;
}

// ---- life ----

Status coordinator_join(Coordinator *c, Diag *diag) {
    Turn *turn = turn_get(c);
    Op *op = turn_add(turn, OP_JOIN, NULL, NULL);
    op->in.join.name = c->config.node_name;
    op->in.join.version = str_from(program_version);
    op->in.join.lease_ms = c->config.lease_ms;
    op->in.join.is_exclusive = c->config.is_exclusive;
    Status status = store_commit(c->store, &turn->batch, diag);
    if (status == OK) status = op->out.status;
    if (status == OK) {
        c->node = op->out.join.node;
        c->renew_at_ms = turn->batch.now_ms + c->config.lease_ms / 3;
    }
    turn_put(c, turn);
    return status;
}

static void tell_parked(void *context, int64_t run, bool is_parked) {
    World *world = ((Coordinator *)context)->world;
    if (world->ops->parked != NULL) world->ops->parked(world, run, is_parked);
}

Status coordinator_new(const CoordinatorSetup *setup, Coordinator **ret_coordinator, Diag *diag) {
    Coordinator *c = mem_zalloc(sizeof(Coordinator));
    c->env = setup->env;
    for (int i = 0; i < 4; i++) c->lease_secret.words[i] = env_random_u64(c->env);
    c->store = setup->store;
    c->world = setup->world;
    c->logger = setup->logger;
    c->config = setup->config;
    strmap_init(&c->runners);
    c->executes = workflow_set_new();
    strmap_init(&c->tasks);
    flow_runner_init(&c->flow_runner, c->config.run_retention_ms, c->config.keep_snapshots);
    c->flow_runner.is_child_failure_isolated = c->config.is_child_failure_isolated;
    if (c->config.slice_instructions > 0)
        c->flow_runner.limits.instructions_per_turn = (uint64_t)c->config.slice_instructions;
    if (c->config.script_memory > 0)
        c->flow_runner.limits.heap_bytes = (uint64_t)c->config.script_memory;
    map_init(&c->modules);
    strmap_init(&c->idle_timeouts);
    residents_init(&c->residents);
    c->residents.on_parked = tell_parked;
    c->residents.on_parked_context = c;
    list_init(&c->requests);
    list_init(&c->executed);
    list_init(&c->spare_executions);
    list_init(&c->spare_turns);
    heap_init(&c->heartbeats);
    awaits_init(c);
    arena_init(&c->scratch);
    c->is_due_unknown = true;
    c->task_window = c->config.first_tasks;
    c->batch_most = LIMIT_BATCH_OPS;
    c->sweep_at_ms = env_now_ms(c->env) + c->config.sweep_ms;
    Status status = coordinator_join(c, diag);
    if (status != OK) {
        coordinator_free(c);
        return status;
    }
    *ret_coordinator = c;
    return OK;
}

static void free_registered(StrMap *map) {
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(map, &at, &name, &entry);) {
        mem_free((void *)(uintptr_t)name.data);
        mem_free(entry);
    }
    strmap_done(map);
}

// A turn that will never be finished: its callers are told, its executions are dropped.
static void abandon_turn(Coordinator *c, Turn *turn) {
    Diag diag;
    (void)diag_set(&diag, ERR_UNAVAILABLE, "OUTCOME_UNKNOWN",
                   "the engine stopped before the store answered");
    for (size_t i = 0; i < turn->items.count; i++) {
        TurnItem *item = &turn->items.data[i];
        if (item->request != NULL) request_answer(c, item->request, ERR_UNAVAILABLE, &diag);
        if (item->execution != NULL) execution_free(item->execution);
    }
    turn_put(c, turn);
}

static void refuse_closed(Coordinator *c, Request *request) {
    Diag diag;
    (void)diag_set(&diag, ERR_UNAVAILABLE, "CLOSED", "the engine is shutting down");
    request_answer(c, request, ERR_UNAVAILABLE, &diag);
}

void coordinator_free(Coordinator *c) {
    ASSERT(c->executing_count == 0);
    for (size_t i = 0; i < c->uncertain_count; i++) abandon_turn(c, c->uncertain[i]);
    LIST_EACH_SAFE (node, after, &c->requests) {
        list_remove(node);
        refuse_closed(c, container_of(node, Request, link));
    }
    awaits_refuse(c);
    LIST_EACH_SAFE (node, after, &c->executed) execution_free(container_of(node, Execution, link));
    LIST_EACH_SAFE (node, after, &c->spare_executions)
        execution_free(container_of(node, Execution, link));
    LIST_EACH_SAFE (node, after, &c->spare_turns)
        spare_turn_free(container_of(node, SpareTurn, link));
    workflow_set_release(c->executes);
    free_registered(&c->runners);
    free_registered(&c->tasks);
    free_registered(&c->idle_timeouts);
    vec_free(&c->task_names);
    residents_done(&c->residents);
    modules_done(c);
    awaits_done(c);
    heap_done(&c->heartbeats);
    arena_done(&c->scratch);
    mem_free(c);
}

Status coordinator_add_runner(Coordinator *c, Str workflow, Runner *runner) {
    if (strmap_get(&c->runners, workflow) != NULL) return ERR_CONFLICT;
    RunnerEntry *entry = mem_zalloc(sizeof(RunnerEntry));
    entry->name = (Str){mem_copy(workflow.data, workflow.len), workflow.len};
    entry->runner = runner;
    strmap_put(&c->runners, entry->name, entry);
    WorkflowSet *before = c->executes;
    c->executes = workflow_set_with(before, entry->name);
    workflow_set_release(before);
    c->has_unclaimed = true; // there may be runs that wait for it
    return OK;
}

bool coordinator_has_runner(Coordinator *c, Str workflow) {
    return strmap_get(&c->runners, workflow) != NULL;
}

Status coordinator_add_task(Coordinator *c, Str name, NativeCallFunction function, void *user) {
    if (strmap_get(&c->tasks, name) != NULL) return ERR_CONFLICT;
    TaskEntry *entry = mem_zalloc(sizeof(TaskEntry));
    *entry = (TaskEntry){
        .name = {mem_copy(name.data, name.len), name.len}, .function = function, .user = user};
    strmap_put(&c->tasks, entry->name, entry);
    vec_push(&c->task_names, entry->name);
    c->has_tasks = c->has_heard = true;
    return OK;
}

void coordinator_replace_task(Coordinator *c, Str name, NativeCallFunction function, void *user) {
    TaskEntry *entry = strmap_get(&c->tasks, name);
    if (entry == NULL) {
        Status status = coordinator_add_task(c, name, function, user);
        ASSERT(status == OK);
        return;
    }
    entry->function = function;
    entry->user = user;
}

// ---- inputs ----

void request_answer(Coordinator *c, Request *request, Status status, const Diag *diag) {
    (void)c;
    request->op.out.status = status;
    if (diag != NULL) request->op.out.diag = *diag;
    request->done(request);
}

void coordinator_submit(Coordinator *c, Request *request) {
    if (c->is_stopping) {
        refuse_closed(c, request);
        return;
    }
    list_append(&c->requests, &request->link);
    c->request_count++;
}

void coordinator_executed(Coordinator *c, Execution *execution) {
    ASSERT(c->executing_count > 0);
    c->executing_count--;
    if (execution->kind == EXECUTE_TASK) {
        ASSERT(c->task_count > 0);
        c->task_count--;
        heap_remove(&c->heartbeats, &execution->heartbeat);
        executed_add(c, execution);
        return;
    }
    ResidentRun *run = residents_get(&c->residents, execution->run);
    ASSERT(run != NULL && run->phase == PHASE_EXECUTING);
    bool is_cut_short =
        execution->output.is_preempted && (c->is_stopping || !runs_is_owned(c, execution));
    if (run->epoch != execution->epoch || execution->is_undone || is_cut_short) {
        // The run was taken from under it (rewind, forced change): the output is worthless.
        // A script's VM went with the execution; its snapshot is in the store.
        run->is_stale = run->is_stale || run->epoch != execution->epoch || run->kind == RUN_FLOW;
        execution_put(c, execution);
        residents_move(&c->residents, run, PHASE_READY);
        return;
    }
    if (execution->output.is_preempted && runs_continue(c, execution)) return;
    c->stats.turns++;
    residents_move(&c->residents, run, PHASE_COMMITTING);
    executed_add(c, execution);
}

// ---- preparing a batch ----

// [C5] When the next timer fires, with all others that are due by then; 0 = there is none.
int64_t fires_at_ms(const Coordinator *c) {
    int64_t span_ms = c->config.timer_resolution_ms, due_ms = c->next_due_ms;
    bool is_exact = span_ms <= 1 || due_ms <= DUE_AT_ONCE || due_ms % span_ms == 0;
    return is_exact ? due_ms : due_ms - due_ms % span_ms + span_ms;
}

int64_t runs_room(const Coordinator *c) {
    int64_t owned = (int64_t)residents_owned(&c->residents);
    return owned >= c->config.max_active_runs ? 0 : c->config.max_active_runs - owned;
}

void coordinator_hear(Coordinator *c) {
    c->has_unclaimed = c->has_tasks = c->has_heard = true;
    awaits_recheck(c);
    notify(c, ENGINE_LOG_GREW, STR_NULL, STR_NULL, STR_NULL);
    notify(c, ENGINE_TASKS_READY, STR_NULL, STR_NULL, STR_NULL);
}

// Others have written, or died.
static void look_around(Coordinator *c) {
    c->is_due_unknown = true;
    coordinator_hear(c);
}

// Runs that were left to another node are claimed if it has not taken them in time.
static void note_left(Coordinator *c, int64_t until_ms) {
    if (until_ms <= c->left_until_ms) return;
    c->left_until_ms = until_ms;
    if (c->claim_again_ms == 0) c->claim_again_ms = until_ms;
}

void look_at_left(Coordinator *c, int64_t now_ms) {
    if (c->claim_again_ms == 0 || now_ms < c->claim_again_ms) return;
    c->has_unclaimed = true;
    c->claim_again_ms = c->left_until_ms > now_ms ? c->left_until_ms : 0;
    if (c->claim_again_ms == 0) c->left_until_ms = 0;
}

static void refresh_due(Coordinator *c) {
    if (!c->is_due_unknown || c->is_firing) return;
    Diag diag;
    if (store_next_due(c->store, &c->scratch, &c->next_due_ms, &diag) == OK)
        c->is_due_unknown = false;
    arena_reset(&c->scratch);
}

Turn *coordinator_prepare(Coordinator *c) {
    coordinator_expire_awaits(c); // whatever the store does
    if (c->uncertain_count > 0 || c->node == 0) return outcome_retry(c);
    notices_flush(c, env_now_ms(c->env));
    if (c->is_working && !c->is_stopping) {
        refresh_due(c);
        if (c->adopt_at_ms > 0 && env_now_ms(c->env) >= c->adopt_at_ms) {
            c->adopt_at_ms = 0;
            c->has_unadopted = true;
        }
        if (c->has_unadopted) runs_adopt(c);
        runs_dispatch(c);
    }
    return turn_gather(c);
}

// ---- dealing out the answers ----

static void apply_fired(Coordinator *c, const Op *op) {
    c->is_firing = false;
    if (op->out.status != OK) return;
    if (op->out.fire_due.fired_count > 0) measure_fired(c, op->out.fire_due.fired_count);
    if (op->out.fire_due.has_more) c->next_due_ms = DUE_AT_ONCE;
    else c->is_due_unknown = true;
}

static void apply_renewed(Coordinator *c, const Op *op) {
    if (c->config.is_exclusive) return;
    if (!op->out.renew.is_quiet) look_around(c); // if no word of what others did has come
    // The next renewal comes when somebody else would be dead: if he is, he is found at once.
    int64_t next_ms = op->out.status == OK ? op->out.renew.next_end_ms : 0;
    if (next_ms > 0 && next_ms < c->renew_at_ms) c->renew_at_ms = next_ms;
}

static void apply_own(Coordinator *c, const Op *op) {
    if (op->out.status != OK) own_refused(c, op);
    switch (op->kind) {
    case OP_RENEW: apply_renewed(c, op); break;
    case OP_FIRE_DUE: apply_fired(c, op); break;
    case OP_CLAIM:
        c->is_claiming = false;
        if (op->out.status != OK || op->out.claim.count >= op->in.claim.max || op->out.claim.is_cut)
            c->has_unclaimed = true;
        if (op->out.status == OK) notice_taken_over(c, op->out.claim.taken_over);
        break;
    case OP_CLAIM_TASKS: tasks_apply_claimed(c, op); break;
    case OP_HEARTBEAT_TASK: tasks_apply_heartbeat(c, op); break;
    case OP_NOTE_RELEASED: idle_apply(c, op); break;
    case OP_SWEEP:
        if (op->out.status == OK && op->out.sweep.has_more) c->sweep_at_ms = env_now_ms(c->env);
        c->is_due_unknown = true; // a node that is gone may have been the only one to know
        break;
    default: break;
    }
}

static void apply_request(Coordinator *c, Request *request) {
    const Op *op = &request->op;
    if (op->out.status == OK && op->kind == OP_CANCEL)
        notify(c, ENGINE_LOG_GREW, op->in.cancel.run_id, STR_NULL, STR_NULL);
    else if (op->out.status == OK && (op->kind == OP_PAUSE || op->kind == OP_RESUME))
        notify(c, ENGINE_LOG_GREW, op->in.hold.run_id, STR_NULL, STR_NULL);
    else if (op->out.status == OK && op->kind == OP_REWIND)
        notify(c, ENGINE_LOG_GREW, op->in.rewind.run_id, STR_NULL, STR_NULL);
    else if (op->kind == OP_NOTE_RELEASED || op->kind == OP_NOTE_RELOADED) idle_apply(c, op);
    request->done(request);
}

// [C1] The batch is durable: everybody learns what became of their part of it.
void turn_apply(Coordinator *c, Turn *turn) {
    c->stats.commits++;
    c->stats.operations += (int64_t)turn->batch.count;
    if (turn->batch.out.unclaimed_count > 0) c->has_unclaimed = true;
    note_left(c, turn->batch.out.left_until_ms);
    if (turn->batch.out.has_tasks) {
        c->has_tasks = true;
        notify(c, ENGINE_TASKS_READY, STR_NULL, STR_NULL, STR_NULL);
    }
    int64_t due = turn->batch.out.earliest_due_ms;
    if (due > 0 && (c->next_due_ms == 0 || due < c->next_due_ms)) c->next_due_ms = due;
    for (size_t i = 0; i < turn->batch.out.started_count; i++) {
        const StartedRun *started = &turn->batch.out.started[i];
        notify(c, ENGINE_RUN_STARTED, started->id, started->workflow, STR_NULL);
    }
    for (size_t i = 0; i < turn->batch.out.reserved_count; i++) {
        const ReservedRun *reserved = &turn->batch.out.reserved[i];
        notice_run(c, NOTICE_RESERVED, reserved->id, reserved->workflow);
    }
    measure_tasks(c, turn);
    // Runs first: those parked here may have been woken by a later operation of the same batch.
    for (size_t i = 0; i < turn->items.count; i++) {
        TurnItem *item = &turn->items.data[i];
        if (item->execution == NULL) continue;
        if (item->execution->kind == EXECUTE_RUN) runs_apply_commit(c, item->execution, item->op);
        else tasks_apply_result(c, item->execution, item->op);
    }
    runs_apply_ready(c, turn);
    runs_apply_ended(c, turn);
    runs_apply_grown(c, turn);
    for (size_t i = 0; i < turn->items.count; i++) {
        TurnItem *item = &turn->items.data[i];
        if (item->request != NULL) apply_request(c, item->request);
        else if (item->execution == NULL) apply_own(c, item->op);
    }
}

static void tell_damage(Coordinator *c, const Turn *turn) {
    if (str_is_null(turn->batch.out.damage)) return;
    LOG(c->logger, LOG_ERROR, "%.*s", STR_ARG(turn->batch.out.damage));
    notify(c, ENGINE_LOG_GREW, STR_NULL, STR_NULL, STR_NULL);
}

void coordinator_finish(Coordinator *c, Turn *turn, Status status, const Diag *diag) {
    ASSERT(c->turns_out > 0);
    c->turns_out--;
    tell_damage(c, turn);
    if (status != OK) {
        outcome_failed(c, turn, status, diag);
        return;
    }
    if (c->health == STORE_IS_DOWN) {
        c->health = STORE_IS_UP;
        notify(c, ENGINE_STORE_UP, STR_NULL, STR_NULL, STR_NULL);
    }
    c->retry_count = 0;
    if (c->uncertain_count == 0) c->down_since_ms = 0;
    pace_good(c, turn);
    turn_apply(c, turn);
    turn_put(c, turn);
    // At once, so that they execute while the next batch is being committed.
    if (c->is_working && !c->is_stopping) runs_dispatch(c);
}

static int64_t next_work_ms(Coordinator *c) {
    if (c->uncertain_count > 0 || c->node == 0) return outcome_next_ms(c);
    if (c->request_count > 0 || !list_is_empty(&c->executed)) return 0;
    int64_t at = c->renew_at_ms;
    if (!c->is_working || c->is_stopping) return at;
    if (!list_is_empty(&c->residents.phases[PHASE_READY])) return 0;
    if ((c->is_due_unknown && !c->is_firing) || c->has_unadopted) return 0;
    if (c->claim_again_ms > 0 && c->claim_again_ms < at) at = c->claim_again_ms;
    if (c->adopt_at_ms > 0 && c->adopt_at_ms < at) at = c->adopt_at_ms;
    HeapNode *first = heap_peek(&c->heartbeats);
    if (first != NULL && first->at < at) at = first->at;
    if (notices_next_ms(c) < at) at = notices_next_ms(c);
    int64_t own_at = own_next_ms(c);
    return own_at < at ? own_at : at;
}

int64_t coordinator_next_wake_ms(Coordinator *c) {
    int64_t work_ms = next_work_ms(c), await_ms = coordinator_next_await_ms(c);
    return await_ms < work_ms ? await_ms : work_ms;
}

// ---- beginning and end ----

static Status recover_step(Coordinator *c, OpKind kind, Op *ret_op, Diag *diag) {
    Turn *turn = turn_get(c);
    turn->batch.node = c->node;
    turn->batch.number = ++c->batch_number;
    turn->batch.claim_max = runs_room(c);
    Op *op = turn_add(turn, kind, NULL, NULL);
    if (kind == OP_CLAIM) op->in.claim.max = runs_room(c);
    else op->in.fire_due.max = LIMIT_FIRE_ROWS;
    Status status = store_commit(c->store, &turn->batch, diag);
    tell_damage(c, turn);
    if (status == OK) {
        turn_apply(c, turn);
        status = op->out.status;
        *ret_op = *op;
        if (status != OK) *diag = op->out.diag;
    }
    turn_put(c, turn);
    return status;
}

static Status recover(Coordinator *c, RecoveryReport *ret_report, Diag *diag) {
    RecoveryReport report = {0};
    if (c->node == 0) TRY(coordinator_join(c, diag));
    StoreStats stats;
    TRY(store_stats(c->store, &c->scratch, &stats, diag));
    arena_reset(&c->scratch);
    report.resumed_running = stats.counters[COUNTER_RUNS_FIRST + RUN_RUNNING];
    c->is_working = true;
    runs_adopt(c); // what an earlier attempt claimed, if its answer was lost
    Op op;
    TRY(recover_step(c, OP_CLAIM, &op, diag));
    if (!c->config.is_exclusive) report.taken_over = op.out.claim.taken_over;
    do {
        TRY(recover_step(c, OP_FIRE_DUE, &op, diag));
        report.timers_due += op.out.fire_due.woken_count;
        report.starts_due += op.out.fire_due.started_count;
        // What is due beyond one table of active runs is fired in the normal course.
    } while (op.out.fire_due.has_more && runs_room(c) > 0);
    TRY(store_stats(c->store, &c->scratch, &stats, diag));
    arena_reset(&c->scratch);
    report.suspended = stats.counters[COUNTER_RUNS_FIRST + RUN_SUSPENDED];
    c->has_tasks = true;
    *ret_report = report;
    return OK;
}

Status coordinator_recover(Coordinator *c, RecoveryReport *ret_report, Diag *diag) {
    Status status = recover(c, ret_report, diag);
    if (status != ERR_FENCED) return status;
    outcome_fenced_off(c); // it was stopped in the middle of it, for longer than its lease
    return recover(c, ret_report, diag);
}

void coordinator_stop(Coordinator *c) {
    c->is_stopping = true;
    awaits_refuse(c);
}

bool coordinator_is_quiet(Coordinator *c) {
    return c->executing_count == 0 && list_is_empty(&c->executed) && c->request_count == 0 &&
           c->turns_out == 0 && c->uncertain_count == 0;
}

bool coordinator_is_idle(Coordinator *c, int64_t *ret_next_ms) {
    if (c->node == 0 || !coordinator_is_quiet(c)) return false;
    if (coordinator_next_wake_ms(c) <= env_now_ms(c->env)) return false;
    // The moment in memory may be that of a lease which has ended well since.
    if (c->is_working && !c->is_stopping) {
        c->is_due_unknown = true;
        refresh_due(c);
        if (c->is_due_unknown) return false; // the store is away
    }
    *ret_next_ms = c->is_working ? fires_at_ms(c) : 0;
    return true;
}

// What other nodes, or the next process, find by themselves.
static void log_left(const Coordinator *c, const Diag *diag) {
    size_t result_count = 0;
    LIST_EACH (node, &c->executed) result_count++;
    for (size_t i = 0; i < c->uncertain_count; i++) result_count += c->uncertain[i]->items.count;
    LOG(c->logger, LOG_WARN,
        "the store does not answer (%s): %zu runs are not handed back and %zu results are not "
        "stored; they are taken up when the lease of this node is over, or by the next process",
        diag->message, residents_owned(&c->residents), result_count);
}

Status coordinator_leave(Coordinator *c, Diag *diag) {
    if (coordinator_is_stranded(c)) {
        log_left(c, &c->down_reason);
        *diag = c->down_reason;
        return ERR_UNAVAILABLE;
    }
    Status status = OK;
    for (bool has_more = true; has_more && status == OK;) {
        Turn *turn = turn_get(c);
        turn->batch.node = c->node;
        turn->batch.number = ++c->batch_number;
        has_more = !tasks_release(c, turn);
        Op *op = has_more ? NULL : turn_add(turn, OP_LEAVE, NULL, NULL);
        status = store_commit(c->store, &turn->batch, diag);
        if (status == OK && op != NULL) status = op->out.status;
        else if (status == ERR_UNAVAILABLE) log_left(c, diag);
        turn_put(c, turn);
    }
    return status;
}

CoordinatorStats coordinator_stats(const Coordinator *c) { return c->stats; }
size_t coordinator_resident_count(const Coordinator *c) { return c->residents.by_key.count; }
size_t coordinator_resident_size(const Coordinator *c) { return c->residents.total_size; }
size_t coordinator_active_count(const Coordinator *c) { return residents_owned(&c->residents); }
int64_t coordinator_node(const Coordinator *c) { return c->node; }
