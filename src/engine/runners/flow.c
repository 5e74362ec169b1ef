// Flow runs: one turn of a script.
//
// The VM asks for effects through its host interface; here they become entries of the turn's
// output. What has an outcome later is noted in the machine's table under the number the VM gave
// it; when the script parks, what it still waits for becomes the run's wait set, with that number
// as the slot, and comes back as a delivery under it.
//
// Invariants [flow-1]-[flow-3] are in runners/flow.h.
//
// Not here: the table and its snapshot (flow_machine.c), options (flow_options.c), the VM (flow/).
#include "engine/runners/flow.h"
#include "base/limits.h"
#include "base/text/name.h"
#include "engine/runners/flow_machine.h"
#include "engine/runners/flow_options.h"
#include "flow/check/config.h"
#include "flow/snapshot/place.h"
#include "json/write.h"
#include "model/trace.h"

typedef struct FlowTurn { // the host of one turn
    FlowHost host;
    FlowRunner *runner;
    const RunView *view;
    Env *env;
    Arena *arena;
    TurnOutput *output;
    FlowMachine *machine;
    int64_t start_count; // Workflow.start calls of this turn, for derived ids
    bool is_restoring;   // the snapshot could not be read, if it ends here
} FlowTurn;

// ---- ids and entries ----

// The VM's number of a child tells it from all others of the run.
static Str child_id(const FlowTurn *turn, int64_t number) {
    Str what = arena_printf(turn->arena, "%.*s\nrun\n%lld\n%lld", STR_ARG(turn->view->id),
                            (long long)turn->view->incarnation, (long long)number);
    return derived_id(turn->arena, "run_", what);
}

// The beginning of a step is found by its name and has its number as its position; anything else
// has none.
enum { NO_STEP = -1 };

typedef struct Entry {
    LogKind kind;
    int64_t step;
    Str name;
    Str data;
} Entry;

static Status add_log(FlowTurn *turn, Entry entry, Diag *diag) {
    if (turn->output->log.count >= LIMIT_EFFECTS_PER_TURN)
        return diag_set(diag, ERR_LIMIT, "TURN_TOO_LARGE",
                        "a turn may have at most %d effects between two waits",
                        LIMIT_EFFECTS_PER_TURN);
    LogRow row = {.kind = entry.kind,
                  .position = entry.step,
                  .name = arena_str(turn->arena, entry.name),
                  .data = arena_str(turn->arena, entry.data)};
    vec_push(&turn->output->log, row);
    return OK;
}

static Status check_text(Str text, const char *what, Diag *diag) {
    return name_check(text, what, "BAD_NAME", LIMIT_NAME_SIZE, diag);
}

static Status check_size(Str json, const char *what, Diag *diag) {
    if (json.len <= LIMIT_PAYLOAD_SIZE) return OK;
    return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                    "%s has %zu bytes; at most %d are allowed", what, json.len, LIMIT_PAYLOAD_SIZE);
}

// ---- what the script starts ----

static Status start_task(FlowTurn *turn, const FlowStart *start, FlowPending *pending, Diag *diag) {
    TaskSpec spec = {0};
    TRY(check_text(start->name, "the task name", diag));
    TRY(check_size(start->input_json, "the task's input", diag));
    TRY(flow_task_options(turn->arena, start->options_json, &spec, diag));
    if (str_is_null(spec.id)) spec.id = task_id_at(turn->arena, turn->view, start->id);
    spec.name = arena_str(turn->arena, start->name);
    spec.input = arena_str(turn->arena, start->input_json);
    spec.secrets = arena_str(turn->arena, start->secrets_json);
    spec.position = start->id;
    Entry begun = {LOG_TASK, start->id, spec.name, json_quote(turn->arena, spec.id)};
    TRY(add_log(turn, begun, diag));
    vec_push(&turn->output->tasks, spec);
    pending->kind = WAIT_TASK;
    pending->target_id = spec.id;
    return OK;
}

static Status fill_child(FlowTurn *turn, const FlowStart *start, RunSpec *spec, Diag *diag) {
    *spec = (RunSpec){.keep_ms = turn->runner->keep_ms};
    TRY(check_text(start->name, "the workflow name", diag));
    TRY(check_size(start->input_json, "the child's input", diag));
    TRY(flow_run_options(turn->arena, start->options_json, env_now_ms(turn->env), spec, diag));
    spec->workflow = arena_str(turn->arena, start->name);
    spec->input = arena_str(turn->arena, start->input_json);
    return OK;
}

static Status start_child(FlowTurn *turn, const FlowStart *start, FlowPending *pending,
                          Diag *diag) {
    RunSpec spec;
    TRY(fill_child(turn, start, &spec, diag));
    if (str_is_null(spec.id)) spec.id = child_id(turn, start->id);
    spec.parent_position = start->id;
    Entry begun = {LOG_CHILD, start->id, spec.workflow, json_quote(turn->arena, spec.id)};
    TRY(add_log(turn, begun, diag));
    vec_push(&turn->output->children, spec);
    pending->kind = WAIT_CHILD;
    pending->target_id = spec.id;
    return OK;
}

static Status host_start(FlowHost *host, const FlowStart *start, Str *ret_handle_id, Diag *diag) {
    FlowTurn *turn = (FlowTurn *)host;
    int64_t now_ms = env_now_ms(turn->env);
    FlowPending pending = {.id = start->id, .since_ms = now_ms, .name = start->name};
    if (start->timeout_ms >= 0) pending.deadline_at_ms = now_ms + start->timeout_ms;
    switch (start->kind) {
    case FLOW_AWAIT_TASK: TRY(start_task(turn, start, &pending, diag)); break;
    case FLOW_AWAIT_WORKFLOW: TRY(start_child(turn, start, &pending, diag)); break;
    case FLOW_AWAIT_TIMER:
        pending.kind = WAIT_TIMER;
        pending.name = STR("timer");
        pending.deadline_at_ms = start->at_ms >= 0 ? start->at_ms : now_ms + start->delay_ms;
        if (pending.deadline_at_ms <= 0) pending.deadline_at_ms = 1; // 0 would mean "never"
        break;
    case FLOW_AWAIT_SIGNAL:
        TRY(check_text(start->name, "the signal name", diag));
        pending.kind = WAIT_SIGNAL;
        break;
    case FLOW_AWAIT_EVENT:
        TRY(check_text(start->name, "the topic", diag));
        TRY(flow_event_options(turn->arena, start->options_json, &pending.filter, diag));
        pending.kind = WAIT_EVENT;
        break;
    case FLOW_AWAIT_NONE:
    case FLOW_AWAIT_LOOK:
    case FLOW_AWAIT_COUNT: UNREACHABLE();
    }
    if (str_is_null(pending.target_id))
        TRY(add_log(turn, (Entry){LOG_WAITING, start->id, pending.name, STR_NULL}, diag));
    flow_machine_add(turn->machine, &pending);
    *ret_handle_id = pending.target_id;
    return OK;
}

static Status host_start_run(FlowHost *host, const FlowStart *start, Str *ret_run_id, Diag *diag) {
    FlowTurn *turn = (FlowTurn *)host;
    RunSpec spec;
    TRY(fill_child(turn, start, &spec, diag));
    if (str_is_null(spec.id)) {
        // Numbered behind everything the log holds, so that a repeated turn counts alike.
        int64_t number = turn->view->last_seq * 1000000 + turn->start_count++;
        spec.id = child_id(turn, -1 - number);
    }
    spec.parent_position = NOT_AWAITED;
    Entry begun = {LOG_CHILD, NO_STEP, spec.workflow, json_quote(turn->arena, spec.id)};
    TRY(add_log(turn, begun, diag));
    vec_push(&turn->output->children, spec);
    *ret_run_id = spec.id;
    return OK;
}

static Status set_state(FlowTurn *turn, Str name, Str json, Diag *diag) {
    TRY(check_text(name, "the key", diag));
    if (json.len > LIMIT_STATE_SIZE)
        return diag_set(diag, ERR_LIMIT, "STATE_TOO_LARGE",
                        "the value of \"%.*s\" has %zu bytes; at most %d are allowed",
                        STR_ARG(name), json.len, LIMIT_STATE_SIZE);
    bool is_new = str_is_null(flow_machine_get_state(turn->machine, name));
    if (is_new && turn->machine->state.count >= LIMIT_STATES_PER_RUN)
        return diag_set(diag, ERR_LIMIT, "TOO_MANY_STATES",
                        "a run may set %d keys; \"%.*s\" would be one more", LIMIT_STATES_PER_RUN,
                        STR_ARG(name));
    flow_machine_set_state(turn->machine, name, json);
    StateSpec spec = {arena_str(turn->arena, name), arena_str(turn->arena, json)};
    for (size_t i = 0; i < turn->output->states.count; i++) {
        if (!str_equal(turn->output->states.data[i].name, name)) continue;
        turn->output->states.data[i] = spec;
        return OK;
    }
    vec_push(&turn->output->states, spec);
    return OK;
}

static Status host_effect(FlowHost *host, const FlowEffect *effect, Diag *diag) {
    FlowTurn *turn = (FlowTurn *)host;
    switch (effect->kind) {
    case FLOW_EFFECT_EMIT: {
        TRY(check_text(effect->name, "the topic", diag));
        TRY(check_size(effect->json, "the payload", diag));
        EventSpec event = {.topic = arena_str(turn->arena, effect->name),
                           .payload = arena_str(turn->arena, effect->json)};
        event.id = arena_printf(turn->arena, "%.*s/%lld/%zu", STR_ARG(turn->view->id),
                                (long long)turn->view->last_seq, turn->output->events.count);
        TRY(add_log(turn, (Entry){LOG_EMIT, NO_STEP, effect->name, effect->json}, diag));
        vec_push(&turn->output->events, event);
        return OK;
    }
    case FLOW_EFFECT_STREAM:
        TRY(check_size(effect->json, "the value", diag));
        return add_log(turn, (Entry){LOG_STREAM, NO_STEP, effect->name, effect->json}, diag);
    case FLOW_EFFECT_STATE: return set_state(turn, effect->name, effect->json, diag);
    case FLOW_EFFECT_LOG:
        return add_log(
            turn, (Entry){LOG_LINE, NO_STEP, effect->name, json_quote(turn->arena, effect->json)},
            diag);
    }
    UNREACHABLE();
}

static Status host_state_get(FlowHost *host, Str key, Str *ret_json, Diag *diag) {
    (void)diag;
    *ret_json = flow_machine_get_state(((FlowTurn *)host)->machine, key);
    return OK;
}

static Status host_context(FlowHost *host, Str *ret_json, Diag *diag) {
    (void)diag;
    FlowTurn *turn = (FlowTurn *)host;
    const RunView *view = turn->view;
    Buf text;
    buf_init(&text, LIMIT_PAYLOAD_SIZE);
    JsonWriter writer;
    json_writer_init(&writer, &text, STR_NULL);
    json_write_object_begin(&writer);
    json_put_string(&writer, "runId", view->id);
    json_put_string(&writer, "workflow", view->workflow);
    json_put_string(&writer, "version", flow_module_hash(view->module));
    json_put_i64(&writer, "attempt", view->retries + 1); // counted from 1, as tasks are
    json_put_string(&writer, "parentId", view->parent_id);
    json_put_instant(&writer, "startedAt", view->started_at_ms);
    json_write_key(&writer, STR("tags"));
    json_write_array_begin(&writer);
    size_t start = 0;
    Str tags = tags_without_trace(view->tags);
    for (size_t i = 0; !str_is_null(tags) && i <= tags.len; i++) {
        if (i < tags.len && tags.data[i] != '\n') continue;
        json_write_string(&writer, (Str){tags.data + start, i - start});
        start = i + 1;
    }
    json_write_array_end(&writer);
    json_put_cstr(&writer, "namespace", "default");
    json_write_object_end(&writer);
    *ret_json = arena_str(turn->arena, buf_str(&text));
    buf_done(&text);
    return OK;
}

// {"task":name,"attempts":number}, or of a child {"workflow":…}.
static Str failure_properties(Arena *arena, bool is_task, Str name, const LogRow *entry) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 6 * name.len + 100); // every byte of it may need an escape
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, is_task ? "task" : "workflow", name);
    json_put_i64(&json, "attempts", entry->attempt);
    json_write_object_end(&json);
    Str properties = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return properties;
}

static int64_t host_now_ms(FlowHost *host) { return env_now_ms(((FlowTurn *)host)->env); }
static uint64_t host_random(FlowHost *host) { return env_random_u64(((FlowTurn *)host)->env); }

static const FlowHostOps host_ops = {
    .start = host_start,
    .effect = host_effect,
    .state_get = host_state_get,
    .start_run = host_start_run,
    .context = host_context,
    .now_ms = host_now_ms,
    .random_u64 = host_random,
};

static void host_check(FlowHost *host, const FlowCheck *check) {
    FlowTurn *turn = (FlowTurn *)host;
    turn->runner->looker->check(turn->runner->looker->context, turn->view, check);
}

static const FlowHostOps looked_at_ops = {
    .start = host_start,
    .effect = host_effect,
    .state_get = host_state_get,
    .start_run = host_start_run,
    .context = host_context,
    .check = host_check,
    .now_ms = host_now_ms,
    .random_u64 = host_random,
};

// ---- what came for it ----

static void fill_rejection(FlowTurn *turn, const LogRow *entry, const FlowPending *pending,
                           FlowSettlement *settlement) {
    settlement->is_rejected = true;
    if (entry->outcome == OUTCOME_TIMEOUT) {
        settlement->error_class = "TimeoutError";
        settlement->message =
            arena_printf(turn->arena, "timed out waiting for %s \"%.*s\"",
                         wait_kind_name((int64_t)pending->kind), STR_ARG(pending->name));
        return;
    }
    bool is_task = pending->kind == WAIT_TASK;
    settlement->error_class = is_task ? "TaskError" : "ChildWorkflowError";
    settlement->message = arena_printf(turn->arena, "%s \"%.*s\" failed",
                                       is_task ? "task" : "child", STR_ARG(pending->name));
    settlement->properties_json = failure_properties(turn->arena, is_task, pending->name, entry);
    settlement->cause_json = entry->data;
}

// A failure that does not propagate: the value that abide_child answers with, too.
static Str isolated_failure(FlowTurn *turn, const FlowSettlement *rejected) {
    Buf text;
    buf_init(&text, LIMIT_PAYLOAD_SIZE + LIMIT_ERROR_SIZE);
    JsonWriter writer;
    json_writer_init(&writer, &text, STR_NULL);
    json_write_object_begin(&writer);
    json_write_key(&writer, STR("error"));
    json_write_object_begin(&writer);
    json_put_cstr(&writer, "type", rejected->error_class);
    json_put_string(&writer, "message", rejected->message);
    json_put_raw(&writer, "cause", rejected->cause_json);
    json_write_object_end(&writer);
    json_write_object_end(&writer);
    ASSERT(!text.is_overflown); // entries of the log have limits, and names too
    Str json = arena_str(turn->arena, buf_str(&text));
    buf_done(&text);
    return json;
}

static Status settle(FlowTurn *turn, const LogRow *entry, Diag *diag) {
    FlowMachine *machine = turn->machine;
    if (entry->outcome == OUTCOME_CANCELLED) {
        flow_vm_cancel(machine->vm, STR("the run was cancelled"));
        return OK;
    }
    FlowPending *pending = flow_machine_find(machine, entry->slot);
    if (pending == NULL) return OK; // settled before: a delivery is written once, read once
    FlowSettlement settlement = {.id = (uint32_t)entry->slot};
    if (entry->outcome == OUTCOME_OK) settlement.json = entry->data;
    else fill_rejection(turn, entry, pending, &settlement);
    bool is_isolated = settlement.is_rejected && pending->kind == WAIT_CHILD &&
                       entry->outcome == OUTCOME_ERROR && turn->runner->is_child_failure_isolated;
    if (is_isolated) {
        settlement =
            (FlowSettlement){.id = settlement.id, .json = isolated_failure(turn, &settlement)};
    }
    Status status = flow_vm_settle(machine->vm, &settlement, diag);
    flow_machine_remove(machine, entry->slot);
    return status == ERR_NOT_FOUND ? OK : status;
}

// ---- how the turn ends ----

static void fail_turn(FlowTurn *turn, Str type, Str message) {
    turn_output_clear(turn->output);
    turn->output->next = NEXT_FAIL;
    turn->output->result = error_object(turn->arena, type, message);
}

// What people look at when they ask why: an entry of its own, beside the error.
static void keep_post_mortem(FlowTurn *turn) {
    const TurnOutput *output = turn->output;
    size_t effect_count = output->log.count + output->children.count + output->tasks.count +
                          output->events.count + output->states.count;
    if (effect_count >= LIMIT_EFFECTS_PER_TURN) return; // the failure itself has to be committed
    Buf text;
    Diag diag;
    buf_init(&text, LIMIT_ERROR_SIZE);
    if (flow_vm_post_mortem(turn->machine->vm, &text))
        (void)!add_log(turn, (Entry){LOG_FAILURE, NO_STEP, STR_NULL, buf_str(&text)}, &diag);
    buf_done(&text);
}

static void end_failed(FlowTurn *turn, const FlowFailure *failure) {
    Buf text;
    buf_init(&text, LIMIT_ERROR_SIZE);
    JsonWriter writer;
    json_writer_init(&writer, &text, STR_NULL);
    json_write_object_begin(&writer);
    json_put_string(&writer, "type", failure->name);
    json_put_string(&writer, "message", failure->message);
    if (!str_is_null(failure->code)) json_put_string(&writer, "code", failure->code);
    json_put_string(&writer, "stack", failure->stack);
    if (!str_is_null(failure->json)) json_put_raw(&writer, "value", failure->json);
    json_write_object_end(&writer);
    turn->output->next = NEXT_FAIL;
    turn->output->result = text.is_overflown
                               ? error_object(turn->arena, failure->name, failure->message)
                               : arena_str(turn->arena, buf_str(&text));
    if (str_equal(failure->name, STR("CancelledError"))) turn->output->next = NEXT_CANCELLED;
    else keep_post_mortem(turn);
    buf_done(&text);
}

_Static_assert((int)FLOW_QUIET_FULFILLED == (int)WAIT_QUIET_OK &&
                   (int)FLOW_QUIET_REJECTED == (int)WAIT_QUIET_ERROR,
               "the same bits");

// Only what ends by itself: a signal or an event is consumed by being delivered.
static void set_group(const FlowTurn *turn, WaitItem *item, const FlowWait *wait) {
    if (item->kind != WAIT_TASK && item->kind != WAIT_CHILD) return;
    item->group = wait->group;
    item->quiet = wait->quiet;
    if (item->kind != WAIT_CHILD || !turn->runner->is_child_failure_isolated) return;
    // Its failure will fulfil the promise, so it counts as a success does.
    bool is_quiet = wait->quiet & WAIT_QUIET_OK;
    item->quiet = is_quiet ? WAIT_QUIET_OK | WAIT_QUIET_ERROR : 0;
    if (!is_quiet) item->group = 0;
}

// [flow-3] The wait set is what the script waits for now.
static void end_parked(FlowTurn *turn, const FlowRunResult *result) {
    FlowMachine *machine = turn->machine;
    WaitItem *items = ARENA_ARRAY(turn->arena, WaitItem, result->wait_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < result->wait_count; i++) {
        if (!result->waits[i].is_awaited) continue;
        const FlowPending *pending = flow_machine_find(machine, result->waits[i].id);
        if (pending == NULL) continue;
        items[count++] = (WaitItem){
            .kind = pending->kind,
            .slot = pending->id,
            .position = pending->id,
            .deadline_at_ms = pending->deadline_at_ms,
            .since_ms = pending->since_ms,
            .name = arena_str(turn->arena,
                              str_is_null(pending->target_id) ? pending->name : pending->target_id),
            .filter = arena_str(turn->arena, pending->filter),
        };
        set_group(turn, &items[count - 1], &result->waits[i]);
    }
    if (count == 0 || result->is_stuck) {
        fail_turn(turn, STR("StuckError"),
                  STR("the script waits for a promise that nothing can settle any more"));
        return;
    }
    if (count > LIMIT_WAITS_PER_RUN) {
        fail_turn(turn, STR("LimitError"), STR("the script waits for more than 10000 things"));
        return;
    }
    Buf bytes;
    Diag diag;
    buf_init(&bytes, turn->runner->limits.snapshot_bytes + LIMIT_PAYLOAD_SIZE);
    Status status = flow_machine_snapshot(machine, &bytes, &diag);
    if (status != OK) fail_turn(turn, STR("SnapshotError"), str_from(diag.message));
    else {
        turn->output->next = NEXT_SUSPEND;
        turn->output->waits = (WaitSet){.mode = WAIT_EACH, .items = items, .count = count};
        turn->output->snapshot = arena_str(turn->arena, buf_str(&bytes));
        turn->output->place = flow_vm_place(machine->vm);
        turn->output->machine = machine;
    }
    buf_done(&bytes);
}

static void end_turn(FlowTurn *turn, const FlowRunResult *result) {
    switch (result->outcome) {
    case FLOW_COMPLETED:
        turn->output->next = NEXT_COMPLETE;
        turn->output->result = arena_str(turn->arena, result->result_json);
        break;
    case FLOW_CONTINUE_AS:
        turn->output->next = NEXT_CONTINUE_AS;
        turn->output->result = arena_str(turn->arena, result->result_json);
        break;
    case FLOW_FAILED: end_failed(turn, &result->failure); break;
    case FLOW_PARKED: end_parked(turn, result); break;
    case FLOW_PREEMPTED:
        turn->output->is_preempted = true;
        turn->output->machine = turn->machine;
        break;
    }
}

// ---- the turn ----

static Status read_config(FlowTurn *turn) {
    const RunView *view = turn->view;
    uint32_t index;
    FlowConfig config = {.keep_snapshots = turn->runner->keep_snapshots};
    TRY(flow_module_find_workflow(view->module, view->workflow, &index));
    flow_config_read(turn->arena, flow_module_workflow(view->module, index).config_json, &config);
    turn->machine->keep_snapshots = config.keep_snapshots;
    turn->machine->idle_timeout_ms = config.idle_timeout_ms;
    turn->machine->retry = (RetryPolicy){.max_attempts = config.retry.attempts,
                                         .delay_ms = config.retry.delay_ms,
                                         .max_delay_ms = config.retry.max_delay_ms,
                                         .factor_pct = config.retry.factor_pct};
    return OK;
}

static Status take_machine(FlowTurn *turn, Diag *diag) {
    const RunView *view = turn->view;
    FlowVmOptions options = {
        .module = view->module,
        .input_json = view->input,
        .host = &turn->host,
        .limits = turn->runner->limits,
    };
    if (turn->output->is_preempted) { // goes on with itself
        turn->machine = turn->output->machine;
        turn->output->machine = NULL;
        turn->output->is_preempted = false;
    } else if (view->machine != NULL) {
        turn->machine = view->machine;
    } else if (!str_is_null(view->snapshot)) {
        turn->is_restoring = true;
        TRY(flow_machine_restore(view->snapshot, &options, &turn->machine, diag));
        turn->is_restoring = false;
        TRY(read_config(turn));
    } else {
        TRY(flow_module_find_workflow(view->module, view->workflow, &options.workflow_index));
        TRY(flow_machine_start(&options, &turn->machine, diag));
        TRY(read_config(turn));
    }
    flow_vm_set_host(turn->machine->vm, &turn->host);
    return OK;
}

static void flow_turn(Runner *base, const RunView *view, Env *env, Arena *arena,
                      TurnOutput *output) {
    FlowRunner *runner = (FlowRunner *)base;
    FlowTurn turn = {
        .host.ops = runner->looker != NULL ? &looked_at_ops : &host_ops,
        .runner = runner,
        .view = view,
        .env = env,
        .arena = arena,
        .output = output,
    };
    Diag diag;
    diag_clear(&diag);
    bool is_continued = output->is_preempted;
    Status status = take_machine(&turn, &diag);
    for (size_t i = 0; status == OK && !is_continued && i < view->delivery_count; i++)
        status = settle(&turn, &view->deliveries[i], &diag);
    if (turn.is_restoring) { // [flow-4]
        output->next = NEXT_PAUSE;
        output->is_unreadable = true;
        output->result = error_object(arena, str_from(diag.code), str_from(diag.message));
    } else if (status != OK) {
        fail_turn(&turn, str_from(diag.code), str_from(diag.message));
    } else {
        FlowRunResult result;
        output->keep_snapshots = turn.machine->keep_snapshots;
        output->idle_timeout_ms = turn.machine->idle_timeout_ms;
        output->retry = turn.machine->retry;
        flow_vm_run(turn.machine->vm, &result);
        end_turn(&turn, &result);
    }
    if (output->machine == NULL) flow_machine_free(turn.machine);
}

static const RunnerOps flow_ops = {.turn = flow_turn};

void flow_runner_init(FlowRunner *runner, int64_t keep_ms, int64_t keep_snapshots) {
    *runner = (FlowRunner){.base.ops = &flow_ops,
                           .limits = FLOW_LIMITS_DEFAULT,
                           .keep_ms = keep_ms,
                           .keep_snapshots = keep_snapshots};
}

void flow_runner_drop(void *machine) { flow_machine_free(machine); }

size_t flow_runner_machine_size(const void *machine) {
    if (machine == NULL) return 0;
    FlowVmStats stats;
    flow_vm_stats(((const FlowMachine *)machine)->vm, &stats);
    return sizeof(FlowMachine) + stats.total_bytes;
}
