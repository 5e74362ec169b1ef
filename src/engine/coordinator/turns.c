// Turns: the output of an execution becomes an operation, and its answer a change of what is in
// memory.
//
//     EXECUTING -> COMMITTING -> READY (goes on) | PARKED (suspended) | gone (ended)
//
// An output that the store refuses is replaced by a failure with the reason, once; what is refused
// even then rests, and is tried again after a while.
//
// Not here: which runs execute (dispatch.c), interpreting a run (runners/), parked runs
// (residents/idle.c).
#include "base/assert.h"
#include "engine/coordinator/internal.h"
#include "json/value.h"
#include "model/trace.h"

// ---- the output of a turn, as an operation ----

// The entries of a turn whose run was brought back first; what a participant fills stays in front.
static void prepend_reloaded(Execution *execution, TurnCommit *turn) {
    size_t first = turn->participant != NULL ? 1 : 0, rest = turn->log_count - first;
    LogRow *log = ARENA_ARRAY(&execution->arena, LogRow, turn->log_count + 1);
    if (first == 1) log[0] = turn->log[0];
    log[first] = (LogRow){.kind = LOG_RELOADED, .position = NO_POSITION};
    if (rest > 0) memcpy(&log[first + 1], &turn->log[first], rest * sizeof(LogRow));
    turn->log = log;
    turn->log_count++;
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
static void fill_retry(const Coordinator *c, Execution *execution, TurnCommit *turn) {
    const TurnOutput *output = &execution->output;
    int64_t attempt = execution->view.retries + 1;
    if (turn->next != NEXT_FAIL || output->is_final || attempt >= output->retry.max_attempts)
        return;
    Str type;
    if (error_is_final(&execution->arena, output->result, &type)) return;
    if (!retry_is_allowed(&output->retry, attempt, type)) return;
    turn->next = NEXT_RETRY;
    turn->retry_at_ms = env_now_ms(c->setup.env) +
                        retry_delay_ms(&output->retry, attempt, env_random_u64(c->setup.env));
}

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
static void fill_children(const Coordinator *c, Execution *execution) {
    for (size_t i = 0; i < execution->output.children.count; i++) {
        RunSpec *child = &execution->output.children.data[i];
        bool is_native = workflows_get(&c->workflows, child->workflow) != NULL;
        if (child->kind == 0 && is_native) child->kind = RUN_NATIVE;
        else if (child->kind == RUN_NATIVE && !is_native) child->kind = 0;
        hand_on_trace(c, execution, child);
    }
}

void turns_fill(const Coordinator *c, Execution *execution, TurnCommit *turn) {
    fill_children(c, execution);
    const TurnOutput *output = &execution->output;
    *turn = (TurnCommit){
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
        .place = output->place,
        .keep_snapshots = output->keep_snapshots,
        .is_kept = !c->setup.config.is_exclusive,
        .is_attempt = execution->is_attempt,
        .result = output->result,
        .participant = output->participant,
        .participant_context = output->participant_context,
    };
    fill_retry(c, execution, turn);
    if (execution->is_reloaded && !output->is_unreadable) prepend_reloaded(execution, turn);
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
        c->step_count++;
        world_tell(c->setup.world, ENGINE_STEP, run->id, run->workflow, reply->log[i].name);
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
        c->setup.world->ops->notify(c->setup.world, &event);
    }
}

static void apply_paused(Coordinator *c, ResidentRun *run, const Execution *execution) {
    bool is_own = execution->output.next == NEXT_PAUSE; // and not asked for
    world_tell(c->setup.world, ENGINE_RUN_PAUSED, run->id, run->workflow,
               is_own ? execution->output.result : STR_NULL);
    if (is_own) notices_paused(&c->notices, run, execution);
    residents_remove(&c->residents, run);
}

static void apply_output(Coordinator *c, ResidentRun *run, Execution *execution, const Op *op) {
    run->claim.attempts = 0;
    run->claim.is_attempt = false;
    measure_turn(c->setup.world, execution, op);
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
    run->claim.is_cancel_wanted = run->claim.is_cancel_wanted || reply->is_cancel_wanted;
    run->last_seq = reply->last_seq;
    if (!execution->is_attempt) run->woken_ns = 0;
    if (execution->is_reloaded && !execution->output.is_unreadable) { // the turn has seen it
        run->is_reloaded = false;
        idle_tell_reloaded(&c->idle, run);
    }
    world_tell(c->setup.world, ENGINE_LOG_GREW, run->id, run->workflow, STR_NULL);
    if (execution->is_attempt) run->claim.is_attempt = true;
    else apply_output(c, run, execution, op);
    switch ((RunState)reply->state) {
    case RUN_RUNNING: residents_move(&c->residents, run, PHASE_READY); break;
    case RUN_SUSPENDED:
        idle_parked(&c->idle, run, &execution->output);
        world_tell(c->setup.world, ENGINE_RUN_SUSPENDED, run->id, run->workflow, STR_NULL);
        if (reply->is_idle)
            world_tell(c->setup.world, ENGINE_RUN_IDLE, run->id, run->workflow, STR_NULL);
        break;
    case RUN_PENDING:
        world_tell(c->setup.world, ENGINE_RUN_RETRIED, run->id, run->workflow, op->in.turn.result);
        residents_remove(&c->residents, run);
        break;
    case RUN_PAUSED: apply_paused(c, run, execution); break;
    default: residents_remove(&c->residents, run); // runs_apply_ended tells
    }
}

void turns_refused(Coordinator *c, Execution *execution, Status status, const Diag *diag) {
    execution_tell(execution, &(TurnVerdict){.status = status, .diag = *diag});
    if (execution->is_repaired) {
        LOG(c->setup.logger, LOG_ERROR,
            "run %.*s: the store refused its failure too: %s; it is tried again in %d s",
            STR_ARG(execution->view.id), diag->message, REFUSED_REST_MS / 1000);
        // It stays ours in the store, so nobody else would take it up.
        loading_adopt_later(&c->loading, env_now_ms(c->setup.env) + REFUSED_REST_MS);
        ResidentRun *run = residents_get(&c->residents, execution->run);
        if (run != NULL) residents_remove(&c->residents, run);
        executions_put(&c->executions, execution);
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
    intake_add_result(&c->intake, execution, INTAKE_BACK);
}

void turns_apply(Coordinator *c, Execution *execution, const Op *op) {
    ResidentRun *run = residents_get(&c->residents, execution->run);
    ASSERT(run != NULL && run->phase == PHASE_COMMITTING);
    bool is_foreseen = execution->foreseen_seq != 0;
    execution->foreseen_seq = 0; // it has come to pass, or has not
    switch (op->out.status) {
    case OK:
        if (is_foreseen)
            world_tell(c->setup.world, ENGINE_RUN_RESUMED, run->id, run->workflow, STR_NULL);
        apply_committed(c, run, execution, op);
        execution_tell(execution, &(TurnVerdict){.state = op->out.turn.state,
                                                 .turn_seq = op->out.turn.turn_seq,
                                                 .last_seq = op->out.turn.last_seq});
        break;
    case ERR_CONFLICT:
        if (execution->output.participant != NULL) {
            native_participant_failed(execution->output.participant_context, &execution->output,
                                      op);
            intake_add_result(&c->intake, execution, INTAKE_BACK);
            return;
        }
        turns_refused(c, execution, op->out.status, &op->out.diag);
        return;
    case ERR_FENCED:
    case ERR_TERMINAL:
    case ERR_NOT_FOUND:
        execution_tell(execution, &(TurnVerdict){.status = op->out.status, .diag = op->out.diag});
        if (is_foreseen) {
            foresee_forget(c, run);
        } else if (!resident_has_claim(run, execution->epoch)) { // it may be ours under a newer one
            run->is_stale = true;
            residents_move(&c->residents, run, PHASE_READY);
        } else {
            residents_remove(&c->residents, run);
        }
        break;
    default: turns_refused(c, execution, op->out.status, &op->out.diag); return;
    }
    executions_put(&c->executions, execution);
}
