// Dispatch: READY runs are handed to the world, and what comes back waits to be committed.
//
//     READY -> EXECUTING -> COMMITTING        or  READY -> COMMITTING  when it cannot be executed
//
// A run whose executions get lost, one process after the other, is a suspect: its last tries are
// made alone, so that it takes no other run with it.
//
// Not here: bringing runs into memory (residents/loading.c), the output (turns.c).
#include "base/assert.h"
#include "base/memory.h"
#include "engine/coordinator/internal.h"
#include "json/write.h"

Execution *dispatch_begin(Coordinator *c, ResidentRun *run) {
    ASSERT(run->phase != PHASE_EXECUTING && run->phase != PHASE_COMMITTING); // [coordinator-3]
    Execution *execution = executions_get(&c->executions, EXECUTE_RUN);
    execution->run = run->key;
    execution->epoch = run->claim.epoch;
    execution->woken_ns = run->woken_ns;
    execution->is_reloaded = run->is_reloaded;
    resident_view(run, &execution->view);
    return execution;
}

// The run cannot be executed at all: it is held with the reason instead of being tried for ever,
// and goes on from where it is once that is mended.
static void pause_unexecuted(Coordinator *c, ResidentRun *run, const Diag *diag) {
    Execution *execution = dispatch_begin(c, run);
    flow_runner_drop(execution->view.machine);
    execution->view.machine = NULL;
    execution->output.next = NEXT_PAUSE;
    execution->output.is_unreadable = true;
    execution->output.result =
        error_object(&execution->arena, str_from(diag->code), str_from(diag->message));
    residents_move(&c->residents, run, PHASE_COMMITTING);
    intake_add_result(&c->intake, execution, INTAKE_BACK);
}

// A run whose executions were lost: the store is told before it is tried again, so that it is known
// who was under way if this process ends too; and one that was lost too often is not tried again.
static void begin_again(Coordinator *c, ResidentRun *run) {
    bool is_given_up =
        c->setup.config.max_crashes > 0 && run->claim.attempts >= c->setup.config.max_crashes;
    Execution *execution = executions_get(&c->executions, EXECUTE_RUN);
    execution->run = run->key;
    execution->epoch = run->claim.epoch;
    execution->is_reloaded = run->is_reloaded;
    execution->view = (RunView){.id = arena_str(&execution->arena, run->id)};
    execution->is_attempt = !is_given_up;
    execution->output.next = is_given_up ? NEXT_PAUSE : NEXT_CONTINUE;
    if (is_given_up) {
        Str message = arena_printf(&execution->arena,
                                   "%lld processes in a row ended while this run was under way; "
                                   "mend what its next step does, then resume it",
                                   (long long)run->claim.attempts);
        execution->output.result =
            json_error(&execution->arena, STR("CrashError"), STR("RUN_CRASHES"), message);
    }
    residents_move(&c->residents, run, PHASE_COMMITTING);
    intake_add_result(&c->intake, execution, INTAKE_BACK);
}

static bool is_suspect(const Coordinator *c, const ResidentRun *run) {
    enum { LAST_TRIES = 2 };
    int64_t limit = c->setup.config.max_crashes;
    return limit > 0 && run->claim.attempts >= (limit > LAST_TRIES ? limit - LAST_TRIES : 1);
}

// When a process ends everything that was under way is lost, whoever ended it. So the last tries of
// a run that loses one execution after the other are made one run at a time: who is lost then was
// the cause, and those who were merely beside it get on.
static bool must_wait(const Coordinator *c, const ResidentRun *run) {
    if (!is_suspect(c, run)) return false;
    const ResidentRun *other = residents_get(&c->residents, c->suspect);
    return other != NULL && other != run && is_suspect(c, other) &&
           (other->claim.is_attempt || other->phase == PHASE_COMMITTING);
}

static void let_next_suspect_try(Coordinator *c) {
    List *node = list_first(&c->residents.phases[PHASE_SUSPECT]);
    if (node == NULL) return;
    ResidentRun *run = container_of(node, ResidentRun, link);
    if (!must_wait(c, run)) residents_move(&c->residents, run, PHASE_READY);
}

static void execute(Coordinator *c, ResidentRun *run, Runner *runner, FlowModule *module) {
    ASSERT(run->phase == PHASE_READY && !run->is_stale);
    if (must_wait(c, run)) {
        residents_move(&c->residents, run, PHASE_SUSPECT);
        return;
    }
    if (is_suspect(c, run)) c->suspect = run->key;
    if (run->claim.attempts > 0 && !run->claim.is_attempt) {
        begin_again(c, run);
        return;
    }
    Execution *execution = dispatch_begin(c, run);
    execution->runner = runner;
    execution->is_remote = run->kind == RUN_CODE;
    execution->view.module = module != NULL ? flow_module_retain(module) : NULL;
    residents_move(&c->residents, run, PHASE_EXECUTING);
    executions_hand_out(&c->executions, execution);
}

// ---- runs that nobody executes any more ----

typedef struct HandBack {
    Request request;
    Coordinator *coordinator;
} HandBack;

static void handed_back(Request *request) {
    HandBack *self = container_of(request, HandBack, request);
    Coordinator *c = self->coordinator;
    ResidentRun *run = residents_get(&c->residents, request->op.in.release.run);
    if (run != NULL) residents_remove(&c->residents, run);
    // It is ours still, so nobody else would take it up.
    if (request_is_unanswered(request->op.out.status))
        loading_adopt_later(&c->loading, env_now_ms(c->setup.env) + REFUSED_REST_MS);
    mem_free(self);
}

// Nobody asks for turns of its version any more: others may claim it.
static void hand_back(Coordinator *c, ResidentRun *run) {
    HandBack *self = mem_zalloc(sizeof(HandBack));
    self->coordinator = c;
    list_init(&self->request.link);
    self->request.done = handed_back;
    self->request.op.kind = OP_RELEASE;
    self->request.op.in.release.run = run->key;
    self->request.op.in.release.epoch = run->claim.epoch;
    residents_move(&c->residents, run, PHASE_COMMITTING);
    coordinator_submit(c, &self->request);
}

static void dispatch_code(Coordinator *c, ResidentRun *run) {
    if (workflows_is_served(&c->workflows, run->claim.definition)) execute(c, run, NULL, NULL);
    else hand_back(c, run);
}

// False when the store is away.
static bool dispatch(Coordinator *c, ResidentRun *run) {
    if (run->kind == RUN_CODE) {
        dispatch_code(c, run);
        return true;
    }
    if (run->kind != RUN_FLOW) {
        Runner *runner = workflows_get(&c->workflows, run->workflow);
        ASSERT(runner != NULL); // [store-batch-4] of store/batch.h
        execute(c, run, runner, NULL);
        return true;
    }
    FlowModule *module = NULL;
    Diag diag;
    Status status = modules_get(&c->modules, run->claim.definition, &module, &diag);
    if (status_is_away(status)) return false;
    if (status == OK) execute(c, run, &c->flow_runner.base, module);
    else pause_unexecuted(c, run, &diag);
    return true;
}

enum { DISPATCH_MS = 50 }; // spent on loading runs before others get their turn

// False when the store is away.
static bool dispatch_some(Coordinator *c, size_t max, size_t *ret_count) {
    const LoadedRun *loaded = loading_next(&c->loading, max, ret_count);
    bool is_away = false;
    for (size_t i = 0; i < *ret_count && !is_away; i++) {
        ResidentRun *run = residents_get(&c->residents, loaded[i].key);
        ASSERT((run == NULL) == (loaded[i].answer == LOAD_GONE));
        ASSERT(run == NULL || run->phase == PHASE_READY);
        switch (loaded[i].answer) {
        case LOAD_DONE: is_away = !dispatch(c, run); break;
        case LOAD_BROKEN: pause_unexecuted(c, run, &loaded[i].diag); break;
        case LOAD_LATER: is_away = true; break;
        case LOAD_GONE: break;
        }
    }
    return !is_away;
}

void dispatch_runs(Coordinator *c) {
    let_next_suspect_try(c);
    size_t left = c->residents.counts[PHASE_READY];
    uint64_t until_ns = env_monotonic_ns(c->setup.env) + DISPATCH_MS * 1000000u;
    while (left > 0 && env_monotonic_ns(c->setup.env) <= until_ns) {
        size_t count;
        if (!dispatch_some(c, left, &count) || count == 0) return;
        left -= count;
    }
}

// ---- after execution ----

// A script used up its slice: it goes to the end of the queue. False when it has had enough; then
// its output says so.
static bool go_on(Coordinator *c, Execution *execution) {
    if (++execution->slice_count < c->setup.config.max_turn_slices) {
        executions_hand_out(&c->executions, execution);
        return true;
    }
    TurnOutput *output = &execution->output;
    flow_runner_drop(output->machine);
    turn_output_clear(output);
    output->machine = NULL;
    output->next = NEXT_FAIL;
    output->result = error_object(&execution->arena, STR("BudgetError"),
                                  STR("the script used up its instructions without waiting"));
    return false;
}

void dispatch_came_back(Coordinator *c, Execution *execution) {
    ResidentRun *run = residents_get(&c->residents, execution->run);
    ASSERT(run != NULL && run->phase == PHASE_EXECUTING); // [coordinator-3]
    if (execution->foreseen_seq != 0 && !foresee_came_back(c, execution, run)) return;
    const TurnOutput *output = &execution->output;
    bool is_cut_short =
        output->is_preempted &&
        (c->is_stopping || !loading_is_owned(&c->loading, execution->run, execution->epoch));
    bool is_taken = !resident_has_claim(run, execution->epoch);
    if (is_taken || execution->is_undone || is_cut_short) {
        // The run was taken from under it (rewind, forced change): the output is worthless.
        // A script's VM went with the execution; its snapshot is in the store.
        run->is_stale = run->is_stale || is_taken || run->kind == RUN_FLOW;
        executions_put(&c->executions, execution);
        residents_move(&c->residents, run, PHASE_READY);
        return;
    }
    if (output->is_preempted && go_on(c, execution)) return;
    c->turn_count++;
    residents_move(&c->residents, run, PHASE_COMMITTING);
    intake_add_result(&c->intake, execution, INTAKE_BACK);
}
