// Native runs: matching a function's durable calls with what is recorded.
//
// The function is called from the top in every turn. Each durable call takes the next position
// and looks there: a checkpoint answers at once; none means the call is new, and it either adds
// an entry to the turn (emit, child, task, mark) or ends the turn (step, wait).
//
// Invariants [runners-native-1]-[runners-native-4] are in native.h.
//
// Not here: what abide_… functions accept (api/context.c), threads (api/driver/pool.c), commits.
#include "engine/runners/native.h"
#include "base/containers/hash.h"
#include "base/limits.h"
#include "base/text/hex.h"
#include "base/text/number.h"
#include "base/time/duration.h"
#include "json/escape.h"

// ---- finding and adding checkpoints ----

static const LogRow *recorded_at(const NativeContext *context, int64_t position) {
    if (position >= (int64_t)context->view->checkpoint_count) return NULL;
    return &context->view->checkpoints[position];
}

static int park(NativeContext *context, TurnNext next, Str result) {
    context->is_parked = true;
    context->output->next = next;
    context->output->result = result;
    return NATIVE_SUSPENDED;
}

// [runners-native-1] The function asks for something else than it did before: hold the run for a
//      person.
static int pause_changed(NativeContext *context, const LogRow *found, Str wanted) {
    Str message = arena_printf(context->arena,
                               "durable call %lld of run %.*s is recorded as \"%.*s\", but the "
                               "workflow now asks for \"%.*s\"; deploy the code it was recorded "
                               "with and resume, or rewind the run",
                               (long long)context->position, STR_ARG(context->view->id),
                               STR_ARG(found->name), STR_ARG(wanted));
    turn_output_clear(context->output);
    return park(context, NEXT_PAUSE, error_object(context->arena, STR("WorkflowChanged"), message));
}

static int64_t next_iteration(const NativeContext *context, LogKind kind, Str name) {
    for (size_t i = context->output->log.count; i-- > 0;) {
        const LogRow *row = &context->output->log.data[i];
        if (row->kind == (int64_t)kind && str_equal(row->name, name)) return row->iteration + 1;
    }
    for (size_t i = context->view->checkpoint_count; i-- > 0;) {
        const LogRow *row = &context->view->checkpoints[i];
        if (row->kind == (int64_t)kind && str_equal(row->name, name)) return row->iteration + 1;
    }
    return 0;
}

typedef enum Lookup { LOOKUP_RECORDED, LOOKUP_NEW, LOOKUP_STOP } Lookup;

// Decides what the next durable call meets. LOOKUP_STOP: answer *ret_code at once.
static Lookup look_up(NativeContext *context, LogKind kind, Str name, const LogRow **ret_row,
                      int *ret_code) {
    *ret_code = NATIVE_SUSPENDED;
    if (context->is_parked) return LOOKUP_STOP; // [runners-native-3]
    const LogRow *row = recorded_at(context, context->position);
    if (row == NULL) return LOOKUP_NEW;
    if (row->kind != (int64_t)kind || !str_equal(row->name, name)) {
        *ret_code = pause_changed(context, row, name);
        return LOOKUP_STOP;
    }
    context->position++;
    *ret_row = row;
    return LOOKUP_RECORDED;
}

static LogRow *add_entry(NativeContext *context, LogKind kind, Str name, Str data) {
    LogRow row = {
        .kind = kind,
        .position = context->position,
        .iteration = next_iteration(context, kind, name),
        .name = arena_str(context->arena, name),
        .data = data,
    };
    vec_push(&context->output->log, row);
    return &vec_last(&context->output->log);
}

static bool has_room(NativeContext *context) {
    return context->output->log.count < LIMIT_EFFECTS_PER_TURN;
}

static int refuse_effect(NativeContext *context) {
    return native_refuse(context, NATIVE_LIMIT, STR("TURN_TOO_LARGE"),
                         STR("a turn may have at most 20000 effects between two waits or steps"));
}

// ---- steps ----

void native_call_run(NativeCall *call, NativeCallFunction function, Str input) {
    int code = function(call, input.data);
    if (call->has_error) return;
    if (code == NATIVE_OK) return;
    // It answered an error without saying which.
    call->has_error = true;
    call->is_final = code == NATIVE_INVALID;
    call->error_type = STR("StepError");
    call->error =
        error_object(call->arena, call->error_type,
                     arena_printf(call->arena, "%.*s answered code %d", STR_ARG(call->name), code));
}

static int answer_outcome(NativeContext *context, const LogRow *row, Str *ret_data) {
    switch ((Outcome)row->outcome) {
    case OUTCOME_OK:
        if (ret_data) *ret_data = row->data;
        return NATIVE_OK;
    case OUTCOME_TIMEOUT: return NATIVE_TIMEOUT;
    case OUTCOME_CANCELLED: return NATIVE_CANCELLED;
    case OUTCOME_ERROR:
    case OUTCOME_COUNT: break;
    }
    context->error = row->data;
    return NATIVE_FAILED;
}

// Parks until the backoff is over; the failed attempt is in the log already.
static int park_for_retry(NativeContext *context, const NativeStep *step, int64_t attempt) {
    uint64_t random = env_random_u64(context->env);
    WaitItem *item = ARENA_NEW(context->arena, WaitItem);
    item->kind = WAIT_RETRY;
    item->position = NO_POSITION;
    item->name = arena_str(context->arena, step->name);
    item->deadline_at_ms = env_now_ms(context->env) + retry_delay_ms(&step->retry, attempt, random);
    context->output->waits = (WaitSet){.mode = WAIT_FIRST, .items = item, .count = 1};
    return park(context, NEXT_SUSPEND, STR_NULL);
}

static int finish_step(NativeContext *context, const NativeStep *step, const NativeCall *call) {
    int64_t attempt = call->attempt;
    if (!call->has_error) {
        LogRow *row = add_entry(context, LOG_STEP, step->name, call->result);
        row->attempt = attempt;
        return park(context, NEXT_CONTINUE, STR_NULL); // [runners-native-2]
    }
    bool is_retried = !call->is_final && retry_is_allowed(&step->retry, attempt, call->error_type);
    LogRow *row =
        add_entry(context, is_retried ? LOG_STEP_ATTEMPT : LOG_STEP, step->name, call->error);
    row->attempt = attempt;
    row->outcome = OUTCOME_ERROR;
    if (is_retried) return park_for_retry(context, step, attempt);
    return park(context, NEXT_CONTINUE, STR_NULL);
}

typedef struct Participation { // a step that runs inside the store's transaction
    NativeContext context;     // a copy: the function's own one is gone by then
    NativeStep step;
    NativeCall call;
} Participation;

static Status participate(void *opaque, StepDatabase database, Arena *arena, Str *ret_data) {
    Participation *part = opaque;
    part->call.arena = arena;
    part->call.database = database;
    part->call.has_result = part->call.has_error = part->call.is_final = false;
    part->call.result = STR_NULL;
    native_call_run(&part->call, part->step.function, part->step.input);
    *ret_data = part->call.has_error ? part->call.error : part->call.result;
    return part->call.has_error ? ERR_CONFLICT : OK;
}

static int park_for_transaction(NativeContext *context, const NativeStep *step,
                                const NativeCall *call) {
    Participation *part = ARENA_NEW(context->arena, Participation);
    part->context = *context;
    part->step = *step;
    part->call = *call;
    // The participant fills the data of log[0]: its entry must come first.
    LogRow *row = add_entry(context, LOG_STEP, step->name, STR_NULL);
    row->attempt = call->attempt;
    LogRow entry = *row;
    for (size_t i = context->output->log.count - 1; i > 0; i--)
        context->output->log.data[i] = context->output->log.data[i - 1];
    context->output->log.data[0] = entry;
    context->output->participant = participate;
    context->output->participant_context = part;
    return park(context, NEXT_CONTINUE, STR_NULL);
}

void native_participant_failed(void *participant_context, TurnOutput *output, const Op *op) {
    Participation *part = participant_context;
    LogRow entry = output->log.data[0];
    for (size_t i = 1; i < output->log.count; i++) output->log.data[i - 1] = output->log.data[i];
    output->log.count--;
    output->participant = NULL;
    output->participant_context = NULL;
    part->context.output = output;
    part->context.is_parked = false;
    part->context.position = entry.position;
    part->call.has_error = true;
    Str error = op->out.turn.step_error;
    if (str_is_null(error)) { // the store undid it for a reason of its own
        part->call.error_type = str_from(op->out.diag.code);
        error = error_object(part->context.arena, part->call.error_type,
                             str_from(op->out.diag.message));
    }
    part->call.error = arena_str(part->context.arena, error);
    part->call.error_type = arena_str(part->context.arena, part->call.error_type);
    if (str_is_null(part->call.error_type)) part->call.error_type = STR("StepError");
    (void)finish_step(&part->context, &part->step, &part->call);
}

// Cancellation surfaces once, at the first step or wait that is not recorded yet; what comes
// after it is cleanup and runs undisturbed.
static bool is_cancel_to_be_told(const NativeContext *context) {
    if (!context->view->is_cancel_wanted) return false;
    for (size_t i = context->view->checkpoint_count; i-- > 0;)
        if (context->view->checkpoints[i].outcome == OUTCOME_CANCELLED) return false;
    return true;
}

int native_step(NativeContext *context, const NativeStep *step, Str *ret_result) {
    const LogRow *row = NULL;
    int code;
    switch (look_up(context, LOG_STEP, step->name, &row, &code)) {
    case LOOKUP_STOP: return code;
    case LOOKUP_RECORDED: return answer_outcome(context, row, ret_result);
    case LOOKUP_NEW: break;
    }
    if (!has_room(context)) return refuse_effect(context);
    if (is_cancel_to_be_told(context)) {
        add_entry(context, LOG_STEP, step->name, STR_NULL)->outcome = OUTCOME_CANCELLED;
        return park(context, NEXT_CONTINUE, STR_NULL);
    }
    int64_t iteration = next_iteration(context, LOG_STEP, step->name);
    NativeCall call = {
        .arena = context->arena,
        .name = arena_str(context->arena, step->name),
        .run_id = context->view->id,
        .attempt = context->view->next_attempts + 1,
        .lost_count = context->view->attempts,
        .user = context->runner->user,
        .is_cancelled = context->view->is_cancel_wanted,
    };
    call.key = arena_printf(context->arena, "%.*s/%lld/%.*s/%lld", STR_ARG(call.run_id),
                            (long long)context->view->incarnation, STR_ARG(step->name),
                            (long long)iteration);
    if (step->is_in_transaction) return park_for_transaction(context, step, &call);
    native_call_run(&call, step->function, step->input);
    return finish_step(context, step, &call);
}

// ---- waits ----

int native_wait(NativeContext *context, WaitItem *items, size_t count, int64_t *ret_slot,
                Str *ret_payload) {
    // The name recorded for a wait is that of the item that resolved it, so only the kind and the
    // set of names can be checked.
    if (context->is_parked) return NATIVE_SUSPENDED;
    const LogRow *row = recorded_at(context, context->position);
    if (row != NULL) {
        bool is_known = false;
        for (size_t i = 0; i < count; i++)
            if (str_equal(items[i].name, row->name)) is_known = true;
        if (row->kind != LOG_WAIT || !is_known) return pause_changed(context, row, items[0].name);
        context->position++;
        if (ret_slot) *ret_slot = row->slot;
        return answer_outcome(context, row, ret_payload);
    }
    int64_t iteration = next_iteration(context, LOG_WAIT, items[0].name);
    WaitItem *kept = ARENA_ARRAY(context->arena, WaitItem, count);
    for (size_t i = 0; i < count; i++) {
        kept[i] = items[i];
        kept[i].slot = (int64_t)i;
        kept[i].position = context->position;
        kept[i].iteration = iteration;
        kept[i].name = arena_str(context->arena, items[i].name);
        kept[i].filter = arena_str(context->arena, items[i].filter);
    }
    context->output->waits = (WaitSet){.mode = WAIT_FIRST, .items = kept, .count = count};
    return park(context, NEXT_SUSPEND, STR_NULL);
}

// ---- effects that gather in the turn ----

// The id in a LOG_CHILD or LOG_TASK entry.
static Str recorded_id(NativeContext *context, const LogRow *row) {
    if (row->data.len < 2) return STR("");
    char *text = arena_alloc(context->arena, row->data.len);
    size_t len = json_string_decode((Str){row->data.data + 1, row->data.len - 2}, text);
    text[len] = 0;
    return (Str){text, len};
}

// Name and iteration tell a child from all others of the run.
static Str child_id(NativeContext *context, Str name) {
    Str what =
        arena_printf(context->arena, "%.*s\n%d\n%lld\n%.*s\n%lld", STR_ARG(context->view->id),
                     (int)LOG_CHILD, (long long)context->view->incarnation, STR_ARG(name),
                     (long long)next_iteration(context, LOG_CHILD, name));
    return derived_id(context->arena, "run_", what);
}

int native_child_start(NativeContext *context, RunSpec *spec, Str *ret_id) {
    const LogRow *row = NULL;
    int code;
    switch (look_up(context, LOG_CHILD, spec->workflow, &row, &code)) {
    case LOOKUP_STOP: return code;
    case LOOKUP_RECORDED: *ret_id = recorded_id(context, row); return NATIVE_OK;
    case LOOKUP_NEW: break;
    }
    if (!has_room(context)) return refuse_effect(context);
    if (str_is_null(spec->id)) spec->id = child_id(context, spec->workflow);
    (void)add_entry(context, LOG_CHILD, spec->workflow, json_quote(context->arena, spec->id));
    spec->parent_position = context->position++;
    vec_push(&context->output->children, *spec);
    *ret_id = spec->id;
    return NATIVE_OK;
}

int native_task_start(NativeContext *context, TaskSpec *spec, Str *ret_id) {
    const LogRow *row = NULL;
    int code;
    switch (look_up(context, LOG_TASK, spec->name, &row, &code)) {
    case LOOKUP_STOP: return code;
    case LOOKUP_RECORDED: *ret_id = recorded_id(context, row); return NATIVE_OK;
    case LOOKUP_NEW: break;
    }
    if (!has_room(context)) return refuse_effect(context);
    spec->id = task_id_at(context->arena, context->view, context->position);
    (void)add_entry(context, LOG_TASK, spec->name, json_quote(context->arena, spec->id));
    spec->position = context->position++;
    vec_push(&context->output->tasks, *spec);
    *ret_id = spec->id;
    return NATIVE_OK;
}

// An entry with no answer of its own.
static int record(NativeContext *context, LogKind kind, Str name, Str data,
                  const LogRow **ret_row) {
    int code;
    switch (look_up(context, kind, name, ret_row, &code)) {
    case LOOKUP_STOP: return code;
    case LOOKUP_RECORDED: return NATIVE_OK;
    case LOOKUP_NEW: break;
    }
    if (!has_room(context)) return refuse_effect(context);
    *ret_row = NULL;
    (void)add_entry(context, kind, name, arena_str(context->arena, data));
    context->position++;
    return NATIVE_OK;
}

int native_emit(NativeContext *context, Str topic, Str payload) {
    const LogRow *row = NULL;
    int code = record(context, LOG_EMIT, topic, payload, &row);
    if (code != NATIVE_OK || row != NULL) return code;
    EventSpec event = {
        .topic = arena_str(context->arena, topic),
        .id = arena_printf(context->arena, "%.*s/%lld/%lld", STR_ARG(context->view->id),
                           (long long)context->view->incarnation, (long long)context->position - 1),
        .payload = arena_str(context->arena, payload),
    };
    vec_push(&context->output->events, event);
    return NATIVE_OK;
}

int native_stream_write(NativeContext *context, Str type, Str value) {
    const LogRow *row = NULL;
    return record(context, LOG_STREAM, type, value, &row);
}

int native_mark_i64(NativeContext *context, Str name, int64_t value, int64_t *ret_value) {
    char text[NUMBER_TEXT_MAX];
    size_t len = number_format_i64(value, text);
    const LogRow *row = NULL;
    int code = record(context, LOG_MARK, name, (Str){text, len}, &row);
    if (code != NATIVE_OK) return code;
    *ret_value = value;
    if (row == NULL) return NATIVE_OK;
    int64_t kept = 0;
    bool is_negative = row->data.len > 0 && row->data.data[0] == '-';
    for (size_t i = is_negative; i < row->data.len; i++)
        kept = kept * 10 + (is_negative ? -(row->data.data[i] - '0') : row->data.data[i] - '0');
    *ret_value = kept;
    return NATIVE_OK;
}

// ---- how it ends ----

static int end(NativeContext *context, TurnNext next, Str result) {
    if (context->is_parked) return NATIVE_SUSPENDED;
    context->has_outcome = true;
    context->is_parked = true;
    context->output->next = next;
    context->output->result = result;
    return NATIVE_OK;
}

int native_complete(NativeContext *context, Str result) {
    return end(context, NEXT_COMPLETE, arena_str(context->arena, result));
}

int native_fail(NativeContext *context, Str type, Str message) {
    return end(context, NEXT_FAIL, error_object(context->arena, type, message));
}

int native_continue_as(NativeContext *context, Str input) {
    return end(context, NEXT_CONTINUE_AS, arena_str(context->arena, input));
}

int native_refuse(NativeContext *context, int code, Str name, Str message) {
    if (context->is_parked) return NATIVE_SUSPENDED;
    context->error = error_object(context->arena, name, message);
    return code;
}

// The function returned without abide_complete, abide_fail or abide_continue_as.
static void conclude(NativeContext *context, int code) {
    TurnOutput *output = context->output;
    switch (code) {
    case NATIVE_OK: output->next = NEXT_COMPLETE; break;
    case NATIVE_CANCELLED:
        output->next = NEXT_CANCELLED;
        output->result =
            error_object(context->arena, STR("CancelledError"), STR("the run was cancelled"));
        break;
    case NATIVE_TIMEOUT:
        output->next = NEXT_FAIL;
        output->result = error_object(context->arena, STR("TimeoutError"), STR("a wait timed out"));
        break;
    default:
        output->next = NEXT_FAIL;
        output->is_final = code == NATIVE_INVALID; // as for steps
        output->result =
            !str_is_null(context->error)
                ? context->error
                : error_object(context->arena, STR("Error"),
                               arena_printf(context->arena, "the workflow answered code %d", code));
    }
}

static void native_turn(Runner *base, const RunView *view, Env *env, Arena *arena,
                        TurnOutput *output) {
    NativeRunner *runner = (NativeRunner *)base;
    NativeContext context = {
        .view = view, .runner = runner, .env = env, .arena = arena, .output = output};
    output->retry = runner->retry;
    int code = runner->function(&context, view->input.data);
    if (context.is_parked) return;
    if (context.position < (int64_t)view->checkpoint_count) {
        (void)pause_changed(&context, &view->checkpoints[context.position], STR("the end"));
        return;
    }
    conclude(&context, code);
}

static const RunnerOps native_ops = {.turn = native_turn};

void native_runner_init(NativeRunner *runner, NativeFunction function, void *user) {
    *runner = (NativeRunner){.base.ops = &native_ops, .function = function, .user = user};
}
