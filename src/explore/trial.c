// Trial: the engine of one history.
//
// The moves of the driver (api/driver) are made here one after the other: execute, hand back,
// prepare, commit, finish, until there is nothing to do. A crash drops the coordinator with all it
// has in memory and starts another one on the same store, which recovers as any process does.
//
// Not here: what may happen (choices.c), what must not (end.c).
#include "explore/trial.h"
#include "base/limits.h"
#include "engine/definitions/definition.h"
#include "engine/definitions/start.h"
#include "engine/runners/filter.h"
#include <stdarg.h>

enum { CLAIM_MAX = 100, SLICE_INSTRUCTIONS = 1000000 };

// The longest there is. What is due then is due by somebody who does not die in this history.
static const int64_t lease_ms = LIMIT_DURATION_MS;

// ---- the world of the engine ----

static int64_t env_now(Env *env) { return ((TrialEnv *)env)->now_ms; }
static uint64_t env_monotonic(Env *env) { return (uint64_t)((TrialEnv *)env)->now_ms * 1000000u; }
static uint64_t env_random(Env *env) { return random_next(&((TrialEnv *)env)->random_state); }
static const EnvOps env_ops = {
    .now_ms = env_now, .monotonic_ns = env_monotonic, .random_u64 = env_random};

static void world_execute(World *world, Execution *execution) {
    list_append(&((Trial *)world)->executing, &execution->link);
}

static void world_notify(World *world, const EngineEvent *event) {
    static const Str uncaught = STR("\"Uncaught (in promise) ");
    if (event->kind != ENGINE_LINE || !str_starts_with(event->detail, uncaught)) return;
    Str text = {event->detail.data + uncaught.len, event->detail.len - uncaught.len - 1};
    trial_fail((Trial *)world, "unhandled", event->run_id, "a rejection is handled by nobody: %.*s",
               STR_ARG(text));
}

static const WorldOps world_ops = {.execute = world_execute, .notify = world_notify};

static Hope *find_hope(Trial *self, Str run, Str name) {
    for (size_t i = 0; i < self->hopes.count; i++) {
        Hope *hope = &self->hopes.data[i];
        if (str_equal(hope->run, run) && str_equal(hope->name, name)) return hope;
    }
    Hope hope = {arena_str(&self->arena, run), arena_str(&self->arena, name), false};
    vec_push(&self->hopes, hope);
    return &vec_last(&self->hopes);
}

static void look(void *context, const RunView *view, const FlowCheck *check) {
    Trial *self = context;
    if (check->kind == FLOW_CHECK_EVENTUALLY) {
        Hope *hope = find_hope(self, view->id, check->name);
        hope->is_true = hope->is_true || check->is_true;
        return;
    }
    if (check->is_true) return;
    bool is_always = check->kind == FLOW_CHECK_ALWAYS;
    trial_fail(self, is_always ? "always" : "invariant", check->name, "%s \"%.*s\" is not true",
               is_always ? "Always" : "Invariant", STR_ARG(check->name));
}

void trial_fail(Trial *self, const char *kind, Str name, const char *format, ...) {
    if (trial_has_failed(self)) return; // the first one counts
    va_list arguments;
    va_start(arguments, format);
    self->violation = (Violation){kind, arena_str(&self->arena, name),
                                  arena_vprintf(&self->arena, format, arguments)};
    va_end(arguments);
}

// ---- children that the file answers for ----

// The child does one task, named as the key of the file, and ends as that does.
static int child_body(NativeContext *context, const char *input) {
    const Part *part = context->runner->user;
    TaskSpec spec = {.name = part->key, .input = str_from(input), .max_attempts = 1};
    WaitItem item = {.kind = WAIT_TASK};
    Str result = STR_NULL;
    int code = native_task_start(context, &spec, &item.name);
    if (code == NATIVE_OK) code = native_wait(context, &item, 1, NULL, &result);
    if (code == NATIVE_OK) return native_complete(context, result);
    return code; // what failed last is what the run fails with
}

static Status add_children(Trial *self, Diag *diag) {
    const Scenario *scenario = self->subject->scenario;
    self->children = ARENA_ARRAY(&self->arena, NativeRunner, scenario->part_count + 1);
    for (size_t i = 0; i < scenario->part_count; i++) {
        Part *part = &scenario->parts[i];
        if (part->kind != PART_WORKFLOW) continue;
        Batch batch;
        batch_init(&batch, &self->step, self->env.now_ms);
        Op *op = batch_add(&batch, OP_DEFINE);
        op->in.define.name = part->name;
        op->in.define.version = VERSION_NATIVE;
        op->in.define.kind = RUN_NATIVE;
        native_runner_init(&self->children[i], child_body, part);
        TRY(store_commit(self->store, &batch, diag));
    }
    return OK;
}

static Status register_children(Trial *self) {
    const Scenario *scenario = self->subject->scenario;
    for (size_t i = 0; i < scenario->part_count; i++)
        if (scenario->parts[i].kind == PART_WORKFLOW)
            TRY(coordinator_add_runner(self->coordinator, scenario->parts[i].name,
                                       &self->children[i].base));
    return OK;
}

// ---- the engine comes and goes ----

static Status start_engine(Trial *self, Diag *diag) {
    CoordinatorSetup setup = {.env = &self->env.base, .store = self->store, .world = &self->world};
    setup.config = (CoordinatorConfig){
        .node_name = STR("abide sim"),
        .lease_ms = lease_ms,
        .is_exclusive = true,
        .max_active_runs = TRIAL_RUNS_MAX,
        .max_parked_runs = TRIAL_RUNS_MAX,
        .first_tasks = 1,
        .max_tasks = 1,
        .store_retry_attempts = 1,
        .timer_resolution_ms = 1,
        .sweep_ms = lease_ms,
        .task_lease_ms = lease_ms,
        .run_retention_ms = KEEP_FOR_EVER,
        .max_turn_slices = 50,
        .slice_instructions = SLICE_INSTRUCTIONS,
        .looker = &self->looker,
    };
    TRY(coordinator_new(&setup, &self->coordinator, diag));
    TRY(register_children(self));
    RecoveryReport report;
    return coordinator_recover(self->coordinator, &report, diag);
}

static void drop_engine(Trial *self) {
    LIST_EACH_SAFE (link, after, &self->executing) {
        list_remove(link);
        Execution *execution = container_of(link, Execution, link);
        execution->is_undone = true;
        coordinator_executed(self->coordinator, execution);
    }
    coordinator_free(self->coordinator);
    self->coordinator = NULL;
}

static void crash(Trial *self, Commit *commit) {
    Diag diag;
    Status status = diag_set(&diag, ERR_UNAVAILABLE, "STORE_IO", "crashed");
    self->armed = CHOICE_START;
    coordinator_finish(self->coordinator, commit, status, &diag);
    drop_engine(self);
    status = start_engine(self, &diag);
    ASSERT(status == OK); // a memory store is never away
}

static bool has_turn(const Batch *batch) {
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ops[i]->kind == OP_COMMIT_TURN) return true;
    return false;
}

static void commit(Trial *self, Commit *prepared) {
    Diag diag;
    diag_clear(&diag);
    bool is_fatal = self->armed != CHOICE_START && has_turn(&prepared->batch);
    if (is_fatal && self->armed == CHOICE_CRASH_BEFORE) {
        crash(self, prepared);
        return;
    }
    Status status = store_commit(self->store, &prepared->batch, &diag);
    if (is_fatal) crash(self, prepared);
    else coordinator_finish(self->coordinator, prepared, status, &diag);
}

static bool execute_one(Trial *self) {
    if (list_is_empty(&self->executing)) return false;
    List *link = self->executing.next;
    list_remove(link);
    Execution *execution = container_of(link, Execution, link);
    execution_perform(execution, &self->env.base);
    coordinator_executed(self->coordinator, execution);
    return true;
}

void trial_settle(Trial *self) {
    for (;;) {
        while (execute_one(self)) {}
        Commit *prepared = coordinator_prepare(self->coordinator);
        if (prepared != NULL) commit(self, prepared);
        else if (list_is_empty(&self->executing)) return;
    }
}

// ---- asking ----

static void ask_done(Request *request) { *(bool *)request->context = true; }

Status trial_ask(Trial *self, Request *request) {
    OpIn in = request->op.in;
    OpKind kind = request->op.kind;
    do {
        bool is_done = false;
        *request = (Request){.op = {.kind = kind, .in = in}, .arena = &self->step};
        request->done = ask_done;
        request->context = &is_done;
        list_init(&request->link);
        coordinator_submit(self->coordinator, request);
        trial_settle(self);
        ASSERT(is_done);
    } while (request_is_unanswered(request->op.out.status));
    return request->op.out.status;
}

static RunPage next_runs(Trial *self, int64_t cursor) {
    const RunFilter filter = {
        .is_oldest_first = true, .cursor = cursor, .limit = LIMIT_LIST_PAGE, .has_snapshots = true};
    RunPage page = {0};
    Diag diag;
    Status status = store_list_runs(self->store, &self->step, &filter, &page, &diag);
    ASSERT(status == OK);
    return page;
}

RunPage trial_runs(Trial *self) {
    RunPage all = next_runs(self, 0);
    if (all.next == 0) return all;
    RunRow *rows = ARENA_ARRAY(&self->step, RunRow, TRIAL_RUNS_MAX);
    RunPage page = all;
    for (all = (RunPage){.rows = rows};; page = next_runs(self, page.next)) {
        for (size_t i = 0; i < page.count && all.count < TRIAL_RUNS_MAX; i++)
            rows[all.count++] = page.rows[i];
        if (page.next == 0) return all;
        if (all.count < TRIAL_RUNS_MAX) continue;
        trial_fail(self, "endless", STR("runs"), "there are more than %d runs", TRIAL_RUNS_MAX);
        return all;
    }
}

bool trial_is_live(const RunPage *runs) {
    for (size_t i = 0; i < runs->count; i++)
        if (!run_state_is_terminal(runs->rows[i].state)) return true;
    return false;
}

int64_t trial_next_due(Trial *self) {
    int64_t next_ms = 0;
    Diag diag;
    Status status = store_next_due(self->store, &self->step, &next_ms, &diag);
    ASSERT(status == OK);
    return next_ms < self->subject->start_ms + lease_ms ? next_ms : 0;
}

// ---- tasks ----

static size_t task_number(const Trial *self, Str name, Str id) {
    size_t number = 1;
    for (size_t i = 0; i < self->attempts.count; i++) {
        const Attempt *other = &self->attempts.data[i];
        if (str_equal(other->task, id)) return other->number;
        if (str_equal(other->name, name) && other->number >= number) number = other->number + 1;
    }
    return number;
}

static const Part *part_of_task(const Trial *self, Str name) {
    const Scenario *scenario = self->subject->scenario;
    for (size_t i = 0; i < scenario->part_count; i++) {
        const Part *part = &scenario->parts[i];
        bool is_task = part->kind == PART_TASK || part->kind == PART_WORKFLOW;
        if (is_task && str_equal(part->key, name)) return part;
    }
    return NULL;
}

static void take_attempt(Trial *self, const TaskRow *task) {
    Attempt attempt = {
        .task = arena_str(&self->arena, task->id),
        .name = arena_str(&self->arena, task->name),
        .part = part_of_task(self, task->name),
        .number = task_number(self, task->name, task->id),
        .token = task->token,
        .input = arena_str(&self->arena, task->input),
    };
    attempt.label = arena_printf(&self->arena, "%.*s#%zu", STR_ARG(attempt.name), attempt.number);
    if (task->attempt > 1)
        attempt.label = arena_printf(&self->arena, "%.*s.%lld", STR_ARG(attempt.label),
                                     (long long)task->attempt);
    if (attempt.part != NULL)
        attempt.call = self->calls[attempt.part - self->subject->scenario->parts]++;
    vec_push(&self->attempts, attempt);
}

void trial_claim(Trial *self) {
    for (size_t count = CLAIM_MAX; count == CLAIM_MAX;) {
        Request request = {.op.kind = OP_CLAIM_TASKS};
        request.op.in.claim_tasks.worker = STR("abide sim");
        request.op.in.claim_tasks.is_any_queue = true;
        request.op.in.claim_tasks.max = CLAIM_MAX;
        request.op.in.claim_tasks.lease_ms = lease_ms;
        if (trial_ask(self, &request) != OK) return;
        count = request.op.out.claim_tasks.task_count;
        for (size_t i = 0; i < count; i++) take_attempt(self, &request.op.out.claim_tasks.tasks[i]);
    }
}

// ---- beginning and end ----

static Status define(Trial *self, Diag *diag) {
    Batch batch;
    batch_init(&batch, &self->step, self->env.now_ms);
    Op *op = batch_add(&batch, OP_DEFINE);
    op->in.define.file = flow_module_file_name(self->subject->module);
    TRY(definition_fill(self->subject->module, &self->step, op, diag));
    TRY(store_commit(self->store, &batch, diag));
    if (op->out.status != OK) *diag = op->out.diag;
    TRY(op->out.status);
    return add_children(self, diag);
}

Status trial_init(Trial *self, const ExploreSubject *subject, Diag *diag) {
    *self = (Trial){.world.ops = &world_ops, .subject = subject};
    self->env = (TrialEnv){.base.ops = &env_ops, .now_ms = subject->start_ms, .random_state = 1};
    self->looker = (FlowLooker){look, self};
    arena_init(&self->arena);
    arena_init(&self->step);
    list_init(&self->executing);
    self->calls = ARENA_ARRAY(&self->arena, size_t, subject->scenario->part_count + 1);
    self->sent = ARENA_ARRAY(&self->arena, size_t, subject->scenario->part_count + 1);
    self->digests = ARENA_ARRAY(&self->arena, uint64_t, subject->scenario->part_count + 1);
    StoreConfig config = {.filter_matches = filter_matches,
                          .run_prepare = start_prepare,
                          .event_retention_ms = lease_ms};
    Status status = store_open(STR("memory:"), &config, &self->store, diag);
    if (status == OK) status = define(self, diag);
    if (status == OK) status = start_engine(self, diag);
    if (status != OK) trial_done(self);
    return status;
}

void trial_done(Trial *self) {
    if (self->coordinator != NULL) drop_engine(self);
    if (self->store != NULL) store_close(self->store);
    vec_free(&self->attempts);
    vec_free(&self->effects);
    vec_free(&self->hopes);
    arena_done(&self->arena);
    arena_done(&self->step);
}
