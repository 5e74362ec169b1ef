// Coordinator: its life, its inputs, and the loop that the driver turns.
//
// One thread, one owner:  gather inputs -> one batch -> commit (the driver) -> release effects.
// Why batches: a commit costs one fsync or one round trip whatever its size, so the cost per
// input falls as load rises, and there is exactly one point where the world may change.
//
// Invariants [coordinator-1]-[coordinator-5] are in coordinator.h, with a picture of the parts.
//
// Not here: what goes into a batch (gather.c), what its answers do (apply.c), failed commits
// (failed.c), executing (dispatch.c), threads (api/driver/driver.c).
#include "base/limits.h"
#include "base/memory.h"
#include "base/version.h"
#include "engine/coordinator/internal.h"
#include "store/reads.h"

// ---- life ----

Commit *commit_new(Coordinator *c) { return commits_get(&c->commits, c->workflows.set); }

Status coordinator_join(Coordinator *c, Diag *diag) {
    Commit *commit = commit_new(c);
    Op *op = commit_add_own(commit, OP_JOIN);
    op->in.join.name = c->setup.config.node_name;
    op->in.join.version = str_from(program_version);
    op->in.join.lease_ms = c->setup.config.lease_ms;
    op->in.join.is_exclusive = c->setup.config.is_exclusive;
    Status status = store_commit(c->setup.store, &commit->batch, diag);
    if (status == OK) status = op->out.status;
    if (status == OK) {
        c->commits.node = op->out.join.node;
        due_clock_renewed(&c->due, commit->batch.now_ms);
    }
    commits_put(&c->commits, commit);
    return status;
}

static void tell_parked(void *context, int64_t run, bool is_parked) {
    World *world = context;
    if (world->ops->parked != NULL) world->ops->parked(world, run, is_parked);
}

static void init_runner(FlowRunner *runner, const CoordinatorConfig *config) {
    flow_runner_init(runner, config->run_retention_ms, config->keep_snapshots);
    runner->is_child_failure_isolated = config->is_child_failure_isolated;
    runner->looker = config->looker;
    if (config->slice_instructions > 0)
        runner->limits.instructions_per_turn = (uint64_t)config->slice_instructions;
    if (config->script_memory > 0) runner->limits.heap_bytes = (uint64_t)config->script_memory;
}

static void init_parts(Coordinator *c) {
    const CoordinatorSetup *setup = &c->setup;
    workflows_init(&c->workflows);
    modules_init(&c->modules, setup->store);
    init_runner(&c->flow_runner, &setup->config);
    commits_init(&c->commits, setup->env);
    executions_init(&c->executions, setup->world);
    intake_init(&c->intake);
    pace_init(&c->pace);
    residents_init(&c->residents);
    c->residents.on_parked = tell_parked;
    c->residents.on_parked_context = setup->world;
    loading_init(&c->loading, setup, &c->commits, &c->residents);
    notices_init(&c->notices, setup);
    idle_init(&c->idle, setup, &(IdleParts){&c->residents, &c->modules, &c->notices});
    tasks_init(&c->tasks, setup, &c->executions, &c->intake);
    handed_init(&c->handed);
    due_clock_init(&c->due, setup);
    own_work_init(&c->own, setup, &(OwnWorkParts){&c->due, &c->idle, &c->tasks, &c->residents});
    awaits_init(&c->awaits, setup->store);
    outcomes_init(&c->outcomes, setup);
}

Status coordinator_new(const CoordinatorSetup *setup, Coordinator **ret_coordinator, Diag *diag) {
    Coordinator *c = mem_zalloc(sizeof(Coordinator));
    c->setup = *setup;
    init_parts(c);
    Status status = coordinator_join(c, diag);
    if (status != OK) {
        coordinator_free(c);
        return status;
    }
    *ret_coordinator = c;
    return OK;
}

// A commit that will never be finished: its callers are told, its executions are dropped.
static void abandon(Coordinator *c, Commit *commit) {
    Diag diag;
    (void)diag_set(&diag, ERR_UNAVAILABLE, "OUTCOME_UNKNOWN",
                   "the engine stopped before the store answered");
    for (size_t i = 0; i < commit->items.count; i++) {
        CommitItem *item = &commit->items.data[i];
        if (item->request != NULL) request_answer(item->request, ERR_UNAVAILABLE, &diag);
        if (item->execution != NULL) execution_free(item->execution);
    }
    commits_put(&c->commits, commit);
}

static void refuse_closed(Request *request) {
    Diag diag;
    Status status = diag_set(&diag, ERR_CLOSED, "CLOSED", "the engine is shutting down");
    request_answer(request, status, &diag);
}

void coordinator_free(Coordinator *c) {
    while (c->outcomes.failed_count > 0) abandon(c, outcomes_take_first(&c->outcomes));
    Diag diag;
    Status status = diag_set(&diag, ERR_CLOSED, "CLOSED", "the engine is shutting down");
    foresee_refuse_reports(c, status, &diag);
    for (Request *request; (request = intake_take_either(&c->intake)) != NULL;)
        refuse_closed(request);
    awaits_close(&c->awaits);
    awaits_done(&c->awaits);
    due_clock_done(&c->due);
    handed_done(&c->handed);
    tasks_done(&c->tasks);
    idle_done(&c->idle);
    loading_done(&c->loading);
    residents_done(&c->residents);
    intake_done(&c->intake);
    executions_done(&c->executions);
    commits_done(&c->commits);
    modules_done(&c->modules);
    workflows_done(&c->workflows);
    mem_free(c);
}

// ---- functions that this process has ----

Status coordinator_add_runner(Coordinator *c, Str workflow, Runner *runner) {
    TRY(workflows_add(&c->workflows, workflow, runner));
    c->due.has_unclaimed = true; // there may be runs that wait for it
    return OK;
}

void coordinator_serve(Coordinator *c, int64_t definition, bool is_served) {
    workflows_serve(&c->workflows, definition, is_served);
    if (is_served) c->due.has_unclaimed = true; // there may be runs that wait for it
}

Status coordinator_add_task(Coordinator *c, Str name, NativeCallFunction function, void *user) {
    return tasks_add(&c->tasks, name, function, user);
}

void coordinator_replace_task(Coordinator *c, Str name, NativeCallFunction function, void *user) {
    tasks_replace(&c->tasks, name, function, user);
}

void coordinator_set_idle_timeout(Coordinator *c, Str workflow, int64_t timeout_ms) {
    idle_set_timeout(&c->idle, workflow, timeout_ms);
}

void coordinator_trace_children(Coordinator *c) { c->is_traced = c->tasks.is_traced = true; }

// ---- inputs ----

void coordinator_submit(Coordinator *c, Request *request) {
    if (c->is_stopping) refuse_closed(request);
    else if (!foresee_report(c, request)) intake_add_request(&c->intake, request, INTAKE_BACK);
}

void coordinator_executed(Coordinator *c, Execution *execution) {
    executions_came_back(&c->executions, execution);
    if (execution->kind == EXECUTE_RUN) {
        dispatch_came_back(c, execution);
        return;
    }
    tasks_came_back(&c->tasks, execution);
    if (!foresee_turn(c, execution)) intake_add_result(&c->intake, execution, INTAKE_BACK);
}

void coordinator_await(Coordinator *c, Await *await) { awaits_add(&c->awaits, await); }
void coordinator_call_off(Coordinator *c, Await *await) { awaits_call_off(&c->awaits, await); }

void coordinator_expire_awaits(Coordinator *c) {
    awaits_expire(&c->awaits, env_now_ms(c->setup.env));
}

int64_t coordinator_next_await_ms(const Coordinator *c) { return awaits_next_ms(&c->awaits); }

void coordinator_hear(Coordinator *c) {
    c->due.has_unclaimed = true;
    task_window_hear(&c->tasks.window);
    awaits_recheck(&c->awaits);
    world_tell(c->setup.world, ENGINE_LOG_GREW, STR_NULL, STR_NULL, STR_NULL);
    world_tell(c->setup.world, ENGINE_TASKS_READY, STR_NULL, STR_NULL, STR_NULL);
}

// ---- the loop ----

Commit *coordinator_prepare(Coordinator *c) {
    coordinator_expire_awaits(c); // whatever the store does
    if (failed_is_pending(c)) return failed_retry(c);
    notices_flush(&c->notices, env_now_ms(c->setup.env));
    if (coordinator_is_executing(c)) {
        (void)due_clock_refresh(&c->due); // or when it comes round again
        if (loading_adopts_at_ms(&c->loading) <= env_now_ms(c->setup.env))
            loading_adopt(&c->loading);
        dispatch_runs(c);
    }
    return gather(c);
}

void coordinator_finish(Coordinator *c, Commit *commit, Status status, const Diag *diag) {
    commits_came_back(&c->commits);
    apply_damage(c, commit);
    uint64_t ended_ns = env_monotonic_ns(c->setup.env);
    if (status != OK) {
        pace_failed(&c->pace, ended_ns);
        failed_commit(c, commit, status, diag);
        return;
    }
    outcomes_note_good(&c->outcomes);
    pace_good(&c->pace, commit->batch.count, commit->began_ns, ended_ns);
    apply_commit(c, commit);
    commits_put(&c->commits, commit);
    // At once, so that they execute while the next batch is being committed.
    if (coordinator_is_executing(c)) dispatch_runs(c);
}

static int64_t next_work_ms(const Coordinator *c) {
    if (failed_is_pending(c)) return failed_next_ms(c);
    if (!intake_is_empty(&c->intake)) return 0;
    int64_t at_ms = c->due.renew_at_ms;
    if (!coordinator_is_executing(c)) return at_ms;
    if (c->residents.counts[PHASE_READY] > 0) return 0;
    if (due_clock_wants_refresh(&c->due)) return 0;
    at_ms = earlier_ms(at_ms, loading_adopts_at_ms(&c->loading));
    at_ms = earlier_ms(at_ms, c->due.claim_again_ms);
    at_ms = earlier_ms(at_ms, tasks_next_heartbeat_ms(&c->tasks));
    at_ms = earlier_ms(at_ms, notices_next_ms(&c->notices));
    return earlier_ms(at_ms, own_work_next_ms(&c->own));
}

int64_t coordinator_next_wake_ms(Coordinator *c) {
    return earlier_ms(next_work_ms(c), coordinator_next_await_ms(c));
}

// ---- beginning and end ----

static Status recover_step(Coordinator *c, OpKind kind, Op *ret_op, Diag *diag) {
    Commit *commit = commit_new(c);
    commits_sign(&c->commits, commit);
    commit->batch.claim_max = own_work_runs_room(&c->own);
    Op *op = commit_add_own(commit, kind);
    if (kind == OP_CLAIM) op->in.claim.max = own_work_runs_room(&c->own);
    else op->in.fire_due.max = LIMIT_FIRE_ROWS;
    Status status = store_commit(c->setup.store, &commit->batch, diag);
    apply_damage(c, commit);
    if (status == OK) {
        apply_commit(c, commit);
        status = op->out.status;
        *ret_op = *op;
        if (status != OK) *diag = op->out.diag;
    }
    commits_put(&c->commits, commit);
    return status;
}

static Status count_runs(const Coordinator *c, RunState state, int64_t *ret_count, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    StoreStats stats;
    Status status = store_stats(c->setup.store, &arena, &stats, diag);
    if (status == OK) *ret_count = stats.counters[COUNTER_RUNS_FIRST + state];
    arena_done(&arena);
    return status;
}

static Status recover(Coordinator *c, RecoveryReport *ret_report, Diag *diag) {
    RecoveryReport report = {0};
    if (c->commits.node == 0) TRY(coordinator_join(c, diag));
    TRY(count_runs(c, RUN_RUNNING, &report.resumed_running, diag));
    c->is_working = true;
    loading_adopt(&c->loading); // what an earlier attempt claimed, if its answer was lost
    Op op;
    TRY(recover_step(c, OP_CLAIM, &op, diag));
    if (!c->setup.config.is_exclusive) report.taken_over = op.out.claim.taken_over;
    do {
        TRY(recover_step(c, OP_FIRE_DUE, &op, diag));
        report.timers_due += op.out.fire_due.woken_count;
        report.starts_due += op.out.fire_due.started_count;
        // What is due beyond one table of active runs is fired in the normal course.
    } while (op.out.fire_due.has_more && own_work_runs_room(&c->own) > 0);
    TRY(count_runs(c, RUN_SUSPENDED, &report.suspended, diag));
    task_window_note_tasks(&c->tasks.window);
    *ret_report = report;
    return OK;
}

Status coordinator_recover(Coordinator *c, RecoveryReport *ret_report, Diag *diag) {
    Status status = recover(c, ret_report, diag);
    if (status != ERR_FENCED) return status;
    failed_fenced_off(c); // it was stopped in the middle of it, for longer than its lease
    return recover(c, ret_report, diag);
}

void coordinator_stop(Coordinator *c) {
    c->is_stopping = true;
    awaits_close(&c->awaits);
}

static bool is_quiet_beside(Coordinator *c, size_t out_count) {
    return c->executions.out_count == out_count && intake_is_empty(&c->intake) &&
           c->commits.out_count == 0 && c->outcomes.failed_count == 0;
}

bool coordinator_is_quiet(Coordinator *c) { return is_quiet_beside(c, 0); }

bool coordinator_is_idle(Coordinator *c, int64_t *ret_next_ms) {
    return coordinator_is_idle_beside(c, 0, ret_next_ms);
}

bool coordinator_is_idle_beside(Coordinator *c, size_t out_count, int64_t *ret_next_ms) {
    if (c->commits.node == 0 || !is_quiet_beside(c, out_count)) return false;
    if (coordinator_next_wake_ms(c) <= env_now_ms(c->setup.env)) return false;
    // The moment in memory may be that of a lease which has ended well since.
    if (coordinator_is_executing(c)) {
        c->due.is_stale = true;
        if (!due_clock_refresh(&c->due)) return false; // the store is away
    }
    int64_t fires_at_ms = due_clock_fires_at_ms(&c->due);
    *ret_next_ms = c->is_working && fires_at_ms != NEVER_MS ? fires_at_ms : 0;
    return true;
}

// What other nodes, or the next process, find by themselves.
static void log_left(const Coordinator *c, const Diag *diag) {
    size_t result_count = c->intake.result_count;
    for (size_t i = 0; i < c->outcomes.failed_count; i++)
        result_count += c->outcomes.failed[i]->items.count;
    LOG(c->setup.logger, LOG_WARN,
        "the store does not answer (%s): %zu runs are not handed back and %zu results are not "
        "stored; they are taken up when the lease of this node is over, or by the next process",
        diag->message, residents_owned(&c->residents), result_count);
}

Status coordinator_leave(Coordinator *c, Diag *diag) {
    if (coordinator_is_stranded(c)) {
        log_left(c, &c->outcomes.reason);
        *diag = c->outcomes.reason;
        return ERR_UNAVAILABLE;
    }
    Status status = OK;
    for (bool has_more = true; has_more && status == OK;) {
        Commit *commit = commit_new(c);
        commits_sign(&c->commits, commit);
        has_more = !tasks_release(&c->tasks, commit);
        Op *op = has_more ? NULL : commit_add_own(commit, OP_LEAVE);
        status = store_commit(c->setup.store, &commit->batch, diag);
        if (status == OK && op != NULL) status = op->out.status;
        else if (status_is_away(status)) log_left(c, diag);
        commits_put(&c->commits, commit);
    }
    return status;
}

CoordinatorStats coordinator_stats(const Coordinator *c) {
    return (CoordinatorStats){
        .commits = c->commit_count,
        .operations = c->operation_count,
        .store_errors = c->outcomes.error_count,
        .turns = c->turn_count,
        .steps = c->step_count,
        .reloads = c->idle.reload_count,
        .releases = c->idle.release_count,
    };
}

size_t coordinator_resident_count(const Coordinator *c) { return c->residents.by_key.count; }
size_t coordinator_resident_size(const Coordinator *c) { return c->residents.total_size; }
size_t coordinator_active_count(const Coordinator *c) { return residents_owned(&c->residents); }
int64_t coordinator_node(const Coordinator *c) { return c->commits.node; }
