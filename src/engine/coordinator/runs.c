// Runs: from ready to executed to committed, and what stays in memory in between.
//
//     READY -> EXECUTING -> COMMITTING -> READY (goes on) | PARKED (suspended) | gone (ended)
//
// A run that becomes ready is taken up from memory when it is there, from the operation that
// created it when it is new, and from the store otherwise; loading happens just before it is
// executed, so that a crowd of ready runs does not fill the memory.
//
// Not here: gathering batches (coordinator.c), interpreting a run (native.c).
#include "base/limits.h"
#include "engine/coordinator/internal.h"
#include "json/value.h"
#include "model/trace.h"
#include "store/reads.h"

enum { FIRST_EPOCH = 1 }; // of the claim that begins a run: there was nothing to be brought back

// ---- the output of a turn, as an operation ----

// The entries of a turn whose run was brought back first; what a participant fills stays in front.
static void prepend_reloaded(Execution *execution, TurnCommit *commit) {
    size_t first = commit->participant != NULL ? 1 : 0, rest = commit->log_count - first;
    LogRow *log = ARENA_ARRAY(&execution->arena, LogRow, commit->log_count + 1);
    if (first == 1) log[0] = commit->log[0];
    log[first] = (LogRow){.kind = LOG_RELOADED, .position = -1};
    if (rest > 0) memcpy(&log[first + 1], &commit->log[first], rest * sizeof(LogRow));
    commit->log = log;
    commit->log_count++;
}

// Whether the error itself says that the run need not be tried again: {retryable: false} of what a
// script has thrown. *ret_type is its type.
static bool error_is_final(Arena *arena, Str error, Str *ret_type) {
    JsonValue *object;
    *ret_type = STR_NULL;
    if (str_is_null(error) || json_parse(arena, error, &object, NULL) != OK) return false;
    const JsonValue *type = json_member(object, STR("type"));
    if (type != NULL && type->kind == JSON_KIND_STRING) *ret_type = type->string;
    const JsonValue *value = json_member(object, STR("value"));
    const JsonValue *retryable = value != NULL ? json_member(value, STR("retryable")) : NULL;
    return retryable != NULL && retryable->kind == JSON_KIND_BOOL && !retryable->boolean;
}

// A run that has failed begins again from its input, if its workflow says so.
static void fill_retry(const Coordinator *c, Execution *execution, TurnCommit *commit) {
    const TurnOutput *output = &execution->output;
    int64_t attempt = execution->view.retries + 1;
    if (commit->next != NEXT_FAIL || output->is_final || attempt >= output->retry.max_attempts)
        return;
    Str type;
    if (error_is_final(&execution->arena, output->result, &type)) return;
    if (!retry_is_allowed(&output->retry, attempt, type)) return;
    commit->next = NEXT_RETRY;
    commit->retry_at_ms =
        env_now_ms(c->env) + retry_delay_ms(&output->retry, attempt, env_random_u64(c->env));
}

void runs_fill_commit(const Coordinator *c, Execution *execution, TurnCommit *commit) {
    const TurnOutput *output = &execution->output;
    *commit = (TurnCommit){
        .run = execution->run,
        .epoch = execution->epoch,
        .next = output->next,
        .log = output->log.data,
        .log_count = output->log.count,
        .children = output->children.data,
        .child_count = output->children.count,
        .tasks = output->tasks.data,
        .task_count = output->tasks.count,
        .events = output->events.data,
        .event_count = output->events.count,
        .states = output->states.data,
        .state_count = output->states.count,
        .waits = output->waits,
        .snapshot = output->snapshot,
        .keep_snapshots = output->keep_snapshots,
        .is_kept = !c->config.is_exclusive,
        .is_attempt = execution->is_attempt,
        .result = output->result,
        .participant = output->participant,
        .participant_context = output->participant_context,
    };
    fill_retry(c, execution, commit);
    if (execution->is_reloaded && !output->is_unreadable) prepend_reloaded(execution, commit);
}

void coordinator_trace_children(Coordinator *c) { c->is_traced = true; }

// A child belongs to the trace of its parent.
static void hand_on_trace(const Coordinator *c, Execution *execution, RunSpec *child) {
    const RunView *view = &execution->view;
    if (!c->is_traced && str_is_null(tags_trace(view->tags))) return;
    TraceParent run;
    (void)trace_of_run(view->id, view->tags, &run, NULL);
    child->tags =
        tags_with_trace(&execution->arena, child->tags, &run, tags_trace_state(view->tags));
}

// A child that names a workflow registered here is native; any other is a script's.
void runs_fill_children(Coordinator *c, Execution *execution) {
    for (size_t i = 0; i < execution->output.children.count; i++) {
        RunSpec *child = &execution->output.children.data[i];
        bool is_native = strmap_get(&c->runners, child->workflow) != NULL;
        if (child->kind == 0 && is_native) child->kind = RUN_NATIVE;
        else if (child->kind == RUN_NATIVE && !is_native) child->kind = 0;
        hand_on_trace(c, execution, child);
    }
}

// ---- answers to a turn ----

// The entries of a turn ascend by position, except that a participant's stands first.
static void add_entries(Coordinator *c, ResidentRun *run, const Op *op) {
    size_t first = op->in.turn.participant != NULL ? 1 : 0, count = op->in.turn.log_count;
    const TurnReply *reply = &op->out.turn;
    for (size_t i = first; i < count; i++) resident_add_entry(&c->residents, run, &reply->log[i]);
    if (first == 1) resident_add_entry(&c->residents, run, &reply->log[0]);
    for (size_t i = 0; i < count; i++) {
        if (reply->log[i].kind != LOG_STEP) continue;
        c->stats.steps++;
        notify(c, ENGINE_STEP, run->id, run->workflow, reply->log[i].name);
    }
    for (size_t i = 0; i < reply->resolved_count; i++)
        resident_add_entry(&c->residents, run, &reply->resolved[i]);
}

// What a script says while it runs, for who listens.
static void notify_said(Coordinator *c, const ResidentRun *run, const Op *op) {
    for (size_t i = 0; i < op->in.turn.log_count; i++) {
        const LogRow *entry = &op->out.turn.log[i];
        EngineEvent event = {.run_id = run->id,
                             .workflow = run->workflow,
                             .name = entry->name,
                             .detail = entry->data};
        if (entry->kind == LOG_LINE) event.kind = ENGINE_LINE;
        else if (entry->kind == LOG_STREAM) event.kind = ENGINE_STREAM;
        else if (entry->kind == LOG_EMIT) event.kind = ENGINE_PUBLISHED;
        else continue;
        c->world->ops->notify(c->world, &event);
    }
}

// It was brought back for this turn, and the turn has seen what was kept of it.
static void tell_reloaded(Coordinator *c, ResidentRun *run) {
    run->is_reloaded = false;
    c->stats.reloads++;
    notify(c, ENGINE_RUN_RELOADED, run->id, run->workflow, STR_NULL);
    notice_run(c, NOTICE_RELOADED, run->id, run->workflow);
}

static void apply_paused(Coordinator *c, ResidentRun *run, const Execution *execution) {
    bool is_own = execution->output.next == NEXT_PAUSE; // and not asked for
    notify(c, ENGINE_RUN_PAUSED, run->id, run->workflow,
           is_own ? execution->output.result : STR_NULL);
    if (is_own) notice_paused(c, run, execution);
    residents_remove(&c->residents, run);
}

static void apply_output(Coordinator *c, ResidentRun *run, Execution *execution, const Op *op) {
    run->attempts = 0;
    run->is_attempt = false;
    measure_turn(c, execution, op);
    resident_clear_deliveries(&c->residents, run);
    notify_said(c, run, op);
    if (op->in.turn.next == NEXT_CONTINUE_AS)
        resident_restart(&c->residents, run, op->in.turn.result);
    else add_entries(c, run, op);
    resident_set_machine(&c->residents, run, execution->output.machine);
    execution->output.machine = NULL;
}

static void apply_committed(Coordinator *c, ResidentRun *run, Execution *execution, const Op *op) {
    const TurnReply *reply = &op->out.turn;
    run->is_cancel_wanted = run->is_cancel_wanted || reply->is_cancel_wanted;
    run->last_seq = reply->last_seq;
    if (!execution->is_attempt) run->woken_ns = 0;
    if (execution->is_reloaded && !execution->output.is_unreadable) tell_reloaded(c, run);
    notify(c, ENGINE_LOG_GREW, run->id, run->workflow, STR_NULL);
    if (execution->is_attempt) run->is_attempt = true;
    else apply_output(c, run, execution, op);
    switch ((RunState)reply->state) {
    case RUN_RUNNING: residents_move(&c->residents, run, PHASE_READY); break;
    case RUN_SUSPENDED:
        idle_parked(c, run, execution);
        notify(c, ENGINE_RUN_SUSPENDED, run->id, run->workflow, STR_NULL);
        if (reply->is_idle) notify(c, ENGINE_RUN_IDLE, run->id, run->workflow, STR_NULL);
        break;
    case RUN_PENDING:
        notify(c, ENGINE_RUN_RETRIED, run->id, run->workflow, op->in.turn.result);
        residents_remove(&c->residents, run);
        break;
    case RUN_PAUSED: apply_paused(c, run, execution); break;
    default: residents_remove(&c->residents, run); // runs_apply_ended tells
    }
}

void runs_refused(Coordinator *c, Execution *execution, Status status, const Diag *diag) {
    if (execution->is_repaired) {
        LOG(c->logger, LOG_ERROR,
            "run %.*s: the store refused its failure too: %s; it is tried again in %d s",
            STR_ARG(execution->view.id), diag->message, REFUSED_REST_MS / 1000);
        // It stays ours in the store, so nobody else would take it up.
        c->adopt_at_ms = env_now_ms(c->env) + REFUSED_REST_MS;
        ResidentRun *run = residents_get(&c->residents, execution->run);
        if (run != NULL) residents_remove(&c->residents, run);
        execution_put(c, execution);
        return;
    }
    Str code = str_from(diag->code), message = str_from(diag->message);
    Str error = error_object(&execution->arena, code.len > 0 ? code : STR("Refused"), message);
    turn_output_clear(&execution->output);
    // What is damaged may be mended: the run waits for that.
    execution->output.next = status == ERR_CORRUPT ? NEXT_PAUSE : NEXT_FAIL;
    execution->output.result = error;
    execution->is_repaired = true;
    execution->is_attempt = false;
    executed_add(c, execution);
}

void runs_apply_commit(Coordinator *c, Execution *execution, Op *op) {
    ResidentRun *run = residents_get(&c->residents, execution->run);
    ASSERT(run != NULL && run->phase == PHASE_COMMITTING);
    switch (op->out.status) {
    case OK: apply_committed(c, run, execution, op); break;
    case ERR_CONFLICT:
        if (execution->output.participant != NULL) {
            native_participant_failed(execution->output.participant_context, &execution->output,
                                      op);
            executed_add(c, execution);
            return;
        }
        runs_refused(c, execution, op->out.status, &op->out.diag);
        return;
    case ERR_FENCED:
    case ERR_TERMINAL:
    case ERR_NOT_FOUND:
        if (run->epoch != execution->epoch) { // ours again under a newer epoch
            run->is_stale = true;
            residents_move(&c->residents, run, PHASE_READY);
        } else {
            residents_remove(&c->residents, run);
        }
        break;
    default: runs_refused(c, execution, op->out.status, &op->out.diag); return;
    }
    execution_put(c, execution);
}

// ---- runs that became ready ----

// The row of a run that this very batch created, so that it need not be read back.
static const RunSpec *created_spec(const Turn *turn, int64_t key, Str *ret_parent_id) {
    for (size_t i = 0; i < turn->items.count; i++) {
        const Op *op = turn->items.data[i].op;
        if (op->out.status != OK) continue;
        if (op->kind == OP_CREATE_RUN && op->out.create_run.is_new && op->out.create_run.key == key)
            return &op->in.create_run.spec;
        if (op->kind != OP_COMMIT_TURN || turn->items.data[i].execution == NULL) continue;
        for (size_t j = 0; j < op->in.turn.child_count; j++) {
            if (op->out.turn.child_keys[j] != key) continue;
            *ret_parent_id = STR_NULL;
            return NULL; // its parent's id may be gone with the parent: load it
        }
    }
    return NULL;
}

static ResidentRun *take_new(Coordinator *c, const Turn *turn, const ReadyRun *ready) {
    Str parent_id = STR_NULL;
    const RunSpec *spec = created_spec(turn, ready->run, &parent_id);
    RunRow row = {
        .key = ready->run,
        .epoch = ready->epoch,
        .id = ready->id,
        .workflow = ready->workflow,
        .kind = ready->kind,
        .started_at_ms = turn->batch.now_ms,
        .tags = spec ? spec->tags : STR_NULL,
    };
    ResidentRun *run = residents_add(&c->residents, &row, spec ? spec->input : STR_NULL, parent_id);
    run->is_stale = spec == NULL || ready->kind == RUN_FLOW;
    run->is_absent = true;
    run->is_cancel_wanted = ready->is_cancel_wanted;
    if (ready->epoch > FIRST_EPOCH) notify(c, ENGINE_RUN_RESUMED, run->id, run->workflow, STR_NULL);
    return run;
}

static void take_known(Coordinator *c, ResidentRun *run, const ReadyRun *ready) {
    run->epoch = ready->epoch;
    run->is_cancel_wanted = ready->is_cancel_wanted;
    if (!phase_is_parked(run->phase)) {
        run->is_stale = true; // a forced change: what is in memory may be wrong
        return;
    }
    // [M1] Another node may have executed it since: then the log holds more than we know. What was
    // delivered quietly when it parked is known already.
    size_t known = 0;
    while (known < ready->resolved_count && ready->resolved[known].seq <= run->last_seq) known++;
    bool is_complete = ready->last_seq - run->last_seq == (int64_t)(ready->resolved_count - known);
    residents_move(&c->residents, run, PHASE_READY);
    for (size_t i = known; i < ready->resolved_count && is_complete; i++)
        resident_add_entry(&c->residents, run, &ready->resolved[i]);
    run->is_stale = run->is_stale || !is_complete;
    notify(c, ENGINE_RUN_RESUMED, run->id, run->workflow, STR_NULL);
}

void runs_apply_ready(Coordinator *c, const Turn *turn) {
    uint64_t now_ns = turn->batch.out.ready_count > 0 ? env_monotonic_ns(c->env) : 0;
    for (size_t i = 0; i < turn->batch.out.ready_count; i++) {
        const ReadyRun *ready = &turn->batch.out.ready[i];
        ResidentRun *run = residents_get(&c->residents, ready->run);
        notify(c, ENGINE_LOG_GREW, ready->id, ready->workflow, STR_NULL);
        if (run != NULL) take_known(c, run, ready);
        else run = take_new(c, turn, ready);
        if (ready->resolved_count > 0) run->woken_ns = now_ns;
    }
}

void runs_apply_grown(Coordinator *c, const Turn *turn) {
    for (size_t i = 0; i < turn->batch.out.grown_count; i++)
        notify(c, ENGINE_LOG_GREW, turn->batch.out.grown[i].id, STR_NULL, STR_NULL);
}

// Once per run, wherever it was when it ended: executing, in memory or released.
static void notify_end(Coordinator *c, const EndedRun *ended) {
    EngineEventKind kind = 0;
    switch ((RunState)ended->state) {
    case RUN_COMPLETED: kind = ENGINE_RUN_COMPLETED; break;
    case RUN_FAILED: kind = ENGINE_RUN_FAILED; break;
    case RUN_CANCELLED: kind = ENGINE_RUN_CANCELLED; break;
    default: UNREACHABLE();
    }
    notify(c, kind, ended->id, ended->workflow, ended->error);
}

void runs_apply_ended(Coordinator *c, const Turn *turn) {
    for (size_t i = 0; i < turn->batch.out.ended_count; i++) {
        const EndedRun *ended = &turn->batch.out.ended[i];
        ResidentRun *run = residents_get(&c->residents, ended->run);
        // One that is executing meets its end when it commits.
        if (run != NULL && run->phase != PHASE_EXECUTING && run->phase != PHASE_COMMITTING)
            residents_remove(&c->residents, run);
        notify_end(c, ended);
        notify(c, ENGINE_LOG_GREW, ended->id, STR_NULL, STR_NULL);
        measure_ended(c, ended, turn->batch.now_ms);
        awaits_ended(c, ended->id, ended->state);
    }
}

// ---- loading ----

typedef enum LoadAnswer {
    LOAD_DONE,
    LOAD_GONE,   // it is not ours any more
    LOAD_LATER,  // the store is away
    LOAD_BROKEN, // what the store has of it is damaged
} LoadAnswer;

static Str load_parent_id(Coordinator *c, int64_t parent) {
    if (parent == 0) return STR_NULL;
    RunRow row;
    Diag diag;
    bool is_known = store_run_by_key(c->store, &c->scratch, parent, &row, &diag) == OK;
    return is_known ? row.id : STR_NULL;
}

// Replaces what is in memory by what the store says.
static LoadAnswer load(Coordinator *c, ResidentRun **run, Diag *diag) {
    int64_t key = (*run)->key;
    RunLoad loaded;
    Status status = store_load_run(c->store, &c->scratch, key, &loaded, diag);
    if (status == ERR_NOT_FOUND) return LOAD_GONE;
    if (status == ERR_CORRUPT) return LOAD_BROKEN;
    if (status != OK) {
        LOG(c->logger, LOG_ERROR, "loading run %.*s: %s", STR_ARG((*run)->id), diag->message);
        return LOAD_LATER;
    }
    const RunRow *row = &loaded.run;
    if (row->state != RUN_RUNNING || row->owner != c->node) return LOAD_GONE;
    Str parent_id = load_parent_id(c, row->parent);
    uint64_t woken_ns = (*run)->woken_ns;
    bool is_reloaded = (*run)->is_reloaded || ((*run)->is_absent && row->epoch > FIRST_EPOCH);
    residents_remove(&c->residents, *run);
    *run = residents_add(&c->residents, row, loaded.input, parent_id);
    (*run)->woken_ns = woken_ns;
    (*run)->is_reloaded = is_reloaded;
    for (size_t i = 0; i < loaded.log_count; i++)
        resident_add_entry(&c->residents, *run, &loaded.log[i]);
    return LOAD_DONE;
}

// Brings memory up to the store if it is behind. LOAD_GONE: the run was dropped.
static LoadAnswer make_fresh(Coordinator *c, ResidentRun **run, Diag *diag) {
    if (!(*run)->is_stale) return LOAD_DONE;
    LoadAnswer answer = load(c, run, diag);
    arena_reset(&c->scratch);
    if (answer == LOAD_GONE) residents_remove(&c->residents, *run);
    return answer;
}

void runs_adopt(Coordinator *c) {
    OwnedFilter filter = {.node = c->node, .page.limit = LIMIT_ADOPT_ROWS};
    c->has_unadopted = true;
    for (;;) {
        RunPage page;
        Diag diag;
        if (store_list_owned(c->store, &c->scratch, &filter, &page, &diag) != OK) break;
        c->has_unadopted = page.count == LIMIT_ADOPT_ROWS;
        for (size_t i = 0; i < page.count; i++) {
            const RunRow *row = &page.rows[i];
            filter.page.after = row->key;
            if (residents_get(&c->residents, row->key) != NULL) continue;
            ResidentRun *run = residents_add(&c->residents, row, STR_NULL, STR_NULL);
            run->is_stale = run->is_absent = true;
        }
        bool is_last = page.count < LIMIT_ADOPT_ROWS;
        arena_reset(&c->scratch);
        if (is_last) break;
    }
    arena_reset(&c->scratch);
}

// ---- executing ----

static Execution *execution_of(Coordinator *c, ResidentRun *run) {
    Execution *execution = execution_get(c);
    execution->kind = EXECUTE_RUN;
    execution->run = run->key;
    execution->epoch = run->epoch;
    execution->woken_ns = run->woken_ns;
    execution->is_reloaded = run->is_reloaded;
    resident_view(run, &execution->view);
    return execution;
}

// The run cannot be executed at all: it is held with the reason instead of being tried for ever,
// and goes on from where it is once that is mended.
static void pause_unexecuted(Coordinator *c, ResidentRun *run, const Diag *diag) {
    Execution *execution = execution_of(c, run);
    flow_runner_drop(execution->view.machine);
    execution->view.machine = NULL;
    execution->output.next = NEXT_PAUSE;
    execution->output.is_unreadable = true;
    execution->output.result =
        error_object(&execution->arena, str_from(diag->code), str_from(diag->message));
    residents_move(&c->residents, run, PHASE_COMMITTING);
    executed_add(c, execution);
}

// A run whose executions were lost: the store is told before it is tried again, so that it is known
// who was under way if this process ends too; and one that was lost too often is not tried again.
static void begin_again(Coordinator *c, ResidentRun *run) {
    bool is_given_up = c->config.max_crashes > 0 && run->attempts >= c->config.max_crashes;
    Execution *execution = execution_get(c);
    execution->kind = EXECUTE_RUN;
    execution->run = run->key;
    execution->epoch = run->epoch;
    execution->is_reloaded = run->is_reloaded;
    execution->view = (RunView){.id = arena_str(&execution->arena, run->id)};
    execution->is_attempt = !is_given_up;
    execution->output.next = is_given_up ? NEXT_PAUSE : NEXT_CONTINUE;
    if (is_given_up) {
        execution->output.result = arena_printf(
            &execution->arena,
            "{\"type\":\"CrashError\",\"code\":\"RUN_CRASHES\",\"message\":\"%lld processes in a "
            "row ended while this run was under way; mend what its next step does, then resume "
            "it\"}",
            (long long)run->attempts);
    }
    residents_move(&c->residents, run, PHASE_COMMITTING);
    executed_add(c, execution);
}

static bool is_suspect(const Coordinator *c, const ResidentRun *run) {
    enum { LAST_TRIES = 2 };
    int64_t limit = c->config.max_crashes;
    return limit > 0 && run->attempts >= (limit > LAST_TRIES ? limit - LAST_TRIES : 1);
}

// When a process ends everything that was under way is lost, whoever ended it. So the last tries of
// a run that loses one execution after the other are made one run at a time: who is lost then was
// the cause, and those who were merely beside it get on.
static bool must_wait(const Coordinator *c, const ResidentRun *run) {
    if (!is_suspect(c, run)) return false;
    const ResidentRun *other = residents_get(&c->residents, c->suspect);
    return other != NULL && other != run && is_suspect(c, other) &&
           (other->is_attempt || other->phase == PHASE_COMMITTING);
}

static void let_next_suspect_try(Coordinator *c) {
    List *node = list_first(&c->residents.phases[PHASE_SUSPECT]);
    if (node == NULL) return;
    ResidentRun *run = container_of(node, ResidentRun, link);
    if (!must_wait(c, run)) residents_move(&c->residents, run, PHASE_READY);
}

static void execute(Coordinator *c, ResidentRun *run, Runner *runner, FlowModule *module) {
    if (must_wait(c, run)) {
        residents_move(&c->residents, run, PHASE_SUSPECT);
        return;
    }
    if (is_suspect(c, run)) c->suspect = run->key;
    if (run->attempts > 0 && !run->is_attempt) {
        begin_again(c, run);
        return;
    }
    Execution *execution = execution_of(c, run);
    execution->runner = runner;
    execution->view.module = module != NULL ? flow_module_retain(module) : NULL;
    residents_move(&c->residents, run, PHASE_EXECUTING);
    c->executing_count++;
    c->world->ops->execute(c->world, execution);
}

static bool dispatch_native(Coordinator *c, ResidentRun *run) {
    RunnerEntry *entry = strmap_get(&c->runners, run->workflow);
    ASSERT(entry != NULL); // [S4] of store/batch.h
    execute(c, run, entry->runner, NULL);
    return true;
}

// False when the store is away.
static bool dispatch_flow(Coordinator *c, ResidentRun *run) {
    FlowModule *module = NULL;
    Diag diag;
    Status status = modules_get(c, run->definition, &module, &diag);
    arena_reset(&c->scratch);
    if (status == ERR_UNAVAILABLE) return false;
    if (status == OK) execute(c, run, &c->flow_runner.base, module);
    else pause_unexecuted(c, run, &diag);
    return true;
}

// Whether the run is still this execution's: it may have ended meanwhile (time-out, cancellation),
// or have been taken over. In doubt it is.
bool runs_is_owned(Coordinator *c, const Execution *execution) {
    RunRow row;
    Diag diag;
    Status status = store_run_by_key(c->store, &c->scratch, execution->run, &row, &diag);
    bool is_owned = status != ERR_NOT_FOUND;
    if (status == OK)
        is_owned =
            row.state == RUN_RUNNING && row.epoch == execution->epoch && row.owner == c->node;
    arena_reset(&c->scratch);
    return is_owned;
}

bool runs_continue(Coordinator *c, Execution *execution) {
    if (++execution->slice_count < c->config.max_turn_slices) {
        c->executing_count++;
        c->world->ops->execute(c->world, execution);
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

enum { DISPATCH_MS = 50 }; // spent on loading runs before others get their turn

void runs_dispatch(Coordinator *c) {
    let_next_suspect_try(c);
    size_t count = c->residents.counts[PHASE_READY];
    uint64_t until_ns = env_monotonic_ns(c->env) + DISPATCH_MS * 1000000u;
    for (size_t i = 0; i < count && env_monotonic_ns(c->env) <= until_ns; i++) {
        List *node = list_first(&c->residents.phases[PHASE_READY]);
        if (node == NULL) return;
        ResidentRun *run = container_of(node, ResidentRun, link);
        Diag diag;
        LoadAnswer answer = make_fresh(c, &run, &diag);
        if (answer == LOAD_LATER) return;
        if (answer == LOAD_BROKEN) pause_unexecuted(c, run, &diag);
        if (answer != LOAD_DONE) continue;
        bool is_flow = run->kind == RUN_FLOW;
        bool is_dispatched = is_flow ? dispatch_flow(c, run) : dispatch_native(c, run);
        if (!is_dispatched) return;
    }
}
