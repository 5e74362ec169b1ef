// Starting and steering runs: each function checks its arguments, asks the coordinator for one
// operation, and waits until that is durable.
//
// Strings of a request belong to the caller, who waits.
//
// Not here: what the operations do (store/kernel/).
#include "api/api.h"
#include "base/limits.h"
#include "base/memory.h"
#include "engine/definitions/move.h"
#include "engine/definitions/set.h"
#include "model/spec.h"
#include <stdio.h>

static int finish(abide_engine *engine, Request *request, abide_error *error) {
    Status status = driver_request(&engine->driver, request);
    return api_answer(error, status, &request->op.out.diag);
}

static int missing_engine(abide_error *error) {
    return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
}

// ---- start ----

typedef struct StartArguments {
    const char *workflow;
    const char *input;
    const abide_start_options *options;
} StartArguments;

static Status fill_start(abide_engine *engine, const StartArguments *given, Arena *arena,
                         RunSpec *spec, Diag *diag) {
    spec->workflow = str_from(given->workflow);
    TRY(spec_check_name(SPEC_WORKFLOW, NULL, spec->workflow, diag));
    TRY(api_check_payload(given->input, "the input", &spec->input, diag));
    spec->kind = RUN_NATIVE;
    spec->keep_ms = engine->run_retention_ms;
    spec->parent_position = NOT_AWAITED;
    TRY(api_check_start(given->options, env_now_ms(engine->driver.env), arena, spec, diag));
    if (!engine_knows(engine, spec->workflow)) spec->kind = 0; // a deployed script, or nothing
    return OK;
}

// "there is no workflow "ordr"; did you mean "order"?"
static void suggest_workflow(abide_engine *engine, Arena *arena, Str name, abide_error *error) {
    if (error == NULL) return;
    const char *nearest = engine_nearest_workflow(engine, arena, name);
    size_t len = strlen(error->message);
    if (nearest != NULL)
        snprintf(error->message + len, sizeof error->message - len, "; did you mean \"%s\"?",
                 nearest);
}

int abide_start_once(abide_engine *engine, const char *workflow, const char *input,
                     const abide_start_options *options, char ret_id[ABIDE_RUN_ID_SIZE],
                     int *ret_is_new, abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_CREATE_RUN};
    RunSpec *spec = &request.op.in.create_run.spec;
    Arena arena;
    arena_init(&arena);
    request.arena = &arena;
    Diag diag;
    StartArguments given = {workflow, input, options};
    Status status = fill_start(engine, &given, &arena, spec, &diag);
    int code;
    if (status != OK) {
        code = api_answer(error, status, &diag);
    } else {
        IdText text;
        if (str_is_null(spec->id)) spec->id = engine_new_id(engine, "run_", &text);
        code = finish(engine, &request, error);
        if (code == ABIDE_OK) {
            Str id = request.op.out.create_run.id;
            if (ret_id != NULL) snprintf(ret_id, ABIDE_RUN_ID_SIZE, "%.*s", STR_ARG(id));
            if (ret_is_new != NULL) *ret_is_new = request.op.out.create_run.is_new;
        } else if (request.op.out.status == ERR_NOT_FOUND) {
            suggest_workflow(engine, &arena, spec->workflow, error);
        }
    }
    arena_done(&arena);
    return code;
}

int abide_start(abide_engine *engine, const char *workflow, const char *input,
                const abide_start_options *options, char ret_id[ABIDE_RUN_ID_SIZE],
                abide_error *error) {
    return abide_start_once(engine, workflow, input, options, ret_id, NULL, error);
}

// ---- events and signals ----

typedef struct EventId {
    IdText text; // when it is generated
    Str id;
    bool is_deduplicated; // it is the caller's
} EventId;

static Status check_event_id(abide_engine *engine, const abide_emit_options *options,
                             EventId *ret_id, Diag *diag) {
    ret_id->is_deduplicated = options != NULL && options->id != NULL;
    if (ret_id->is_deduplicated)
        return api_check_name(options->id, "the event id", &ret_id->id, diag);
    ret_id->id = engine_new_id(engine, "evt_", &ret_id->text);
    return OK;
}

int abide_emit(abide_engine *engine, const char *topic, const char *payload,
               const abide_emit_options *options, int64_t *ret_resumed, abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_PUBLISH};
    EventSpec *event = &request.op.in.publish.event;
    Diag diag;
    EventId id;
    Status status = api_check_name(topic, "the topic", &event->topic, &diag);
    if (status == OK) status = api_check_payload(payload, "the payload", &event->payload, &diag);
    if (status == OK) status = check_event_id(engine, options, &id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    event->id = id.id;
    event->is_deduplicated = id.is_deduplicated;
    int code = finish(engine, &request, error);
    if (code == ABIDE_OK && ret_resumed != NULL)
        *ret_resumed = request.op.out.publish.resumed_count;
    return code;
}

int abide_signal(abide_engine *engine, const char *run_id, const char *name, const char *payload,
                 const abide_emit_options *options, abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_SIGNAL};
    Op *op = &request.op;
    Diag diag;
    EventId id;
    Status status = api_check_run_id(run_id, &op->in.signal.run_id, &diag);
    if (status == OK) status = api_check_name(name, "the signal name", &op->in.signal.name, &diag);
    if (status == OK)
        status = api_check_payload(payload, "the payload", &op->in.signal.payload, &diag);
    if (status == OK) status = check_event_id(engine, options, &id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    op->in.signal.id = id.id;
    op->in.signal.is_deduplicated = id.is_deduplicated;
    return finish(engine, &request, error);
}

int abide_set_topic(abide_engine *engine, const char *topic, const abide_topic_policy *policy,
                    abide_error *error) {
    if (engine == NULL || policy == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and policy are required");
    Request request = {.op.kind = OP_SET_TOPIC};
    TopicRow *row = &request.op.in.set_topic.row;
    Diag diag;
    Status status = api_check_name(topic, "the topic", &row->name, &diag);
    if (status == OK) status = api_check_duration(policy->expire, 0, &row->expire_ms, &diag);
    if (status == OK &&
        (policy->consume < CONSUME_ONE || policy->consume > CONSUME_ALL ||
         policy->visible < VISIBLE_ALL || policy->visible > VISIBLE_AFTER_WAIT || policy->cap < 0))
        status = diag_set(&diag, ERR_INVALID, "BAD_OPTION",
                          "consume %d, visible %d or cap %d is out of range", policy->consume,
                          policy->visible, policy->cap);
    if (status != OK) return api_answer(error, status, &diag);
    row->consume = policy->consume;
    row->visible = policy->visible;
    row->cap = policy->cap;
    row->is_explicit = 1;
    return finish(engine, &request, error);
}

// ---- changing a run ----

int abide_cancel(abide_engine *engine, const char *run_id, const char *reason, int *ret_changed,
                 abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_CANCEL};
    Op *op = &request.op;
    Arena arena;
    arena_init(&arena);
    Diag diag;
    int code;
    Status status = api_check_run_id(run_id, &op->in.cancel.run_id, &diag);
    if (status != OK) {
        code = api_answer(error, status, &diag);
    } else {
        if (reason != NULL) op->in.cancel.reason = json_quote(&arena, str_from(reason));
        op->in.cancel.grace_ms = engine->cancel_grace_ms;
        code = finish(engine, &request, error);
        if (code == ABIDE_OK && ret_changed != NULL) *ret_changed = op->out.cancel.is_changed;
    }
    arena_done(&arena);
    return code;
}

static int hold(abide_engine *engine, OpKind kind, const char *run_id, int *ret_changed,
                abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = kind};
    Diag diag;
    Status status = api_check_run_id(run_id, &request.op.in.hold.run_id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int code = finish(engine, &request, error);
    if (code == ABIDE_OK && ret_changed != NULL) *ret_changed = request.op.out.hold.is_changed;
    return code;
}

int abide_pause(abide_engine *engine, const char *run_id, int *ret_changed, abide_error *error) {
    return hold(engine, OP_PAUSE, run_id, ret_changed, error);
}

int abide_resume(abide_engine *engine, const char *run_id, int *ret_changed, abide_error *error) {
    return hold(engine, OP_RESUME, run_id, ret_changed, error);
}

static int move(abide_engine *engine, OpKind kind, const char *run_id, int *ret_changed,
                abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = kind};
    MemoryNote *note = &request.op.in.memory;
    note->is_asked = true;
    Diag diag;
    Status status = api_check_run_id(run_id, &note->run_id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int code = finish(engine, &request, error);
    if (code == ABIDE_OK && ret_changed != NULL) *ret_changed = note->has_entry;
    return code;
}

int abide_release(abide_engine *engine, const char *run_id, int *ret_changed, abide_error *error) {
    return move(engine, OP_NOTE_RELEASED, run_id, ret_changed, error);
}

int abide_load(abide_engine *engine, const char *run_id, int *ret_changed, abide_error *error) {
    return move(engine, OP_NOTE_RELOADED, run_id, ret_changed, error);
}

static Status check_iteration(int given, StepChoice *step, Diag *diag) {
    step->iteration = given;
    step->is_last = given == ABIDE_LAST_ITERATION;
    if (given >= ABIDE_LAST_ITERATION) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_OPTION", "iteration is %d; they count from 0", given);
}

int abide_rewind(abide_engine *engine, const char *run_id, const char *step, int iteration,
                 abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_REWIND};
    Op *op = &request.op;
    Diag diag;
    Status status = api_check_run_id(run_id, &op->in.rewind.run_id, &diag);
    if (status == OK)
        status = api_check_name(step, "the step name", &op->in.rewind.step.name, &diag);
    if (status == OK) status = check_iteration(iteration, &op->in.rewind.step, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    return finish(engine, &request, error);
}

static Status check_flags(int flags, Diag *diag) {
    if ((flags & ~ABIDE_DRY_RUN) == 0) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_OPTION", "flags is %d; 0 or ABIDE_DRY_RUN", flags);
}

int abide_move(abide_engine *engine, const char *run_id, const char *version, int flags,
               int *ret_changed, abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_MOVE};
    MoveAnswer answer = {0};
    Diag diag;
    Arena arena;
    MoveWish wish = {.store = engine_store(engine), .arena = &arena};
    arena_init(&arena);
    if (ret_changed != NULL) *ret_changed = 0;
    Status status = api_check_run_id(run_id, &wish.run_id, &diag);
    if (status == OK && version != NULL)
        status = api_check_name(version, "the version", &wish.version, &diag);
    if (status == OK) status = check_flags(flags, &diag);
    if (status == OK) status = move_fill(&wish, &request.op, &answer, &diag);
    bool is_told = status != OK || answer.is_there || (flags & ABIDE_DRY_RUN) != 0;
    int code = is_told ? api_answer(error, status, &diag) : finish(engine, &request, error);
    if (!is_told && code == ABIDE_OK && ret_changed != NULL) *ret_changed = 1;
    arena_done(&arena);
    return code;
}

typedef struct SetCall { // what was given
    abide_engine *engine;
    const char *run_id, *values_json;
    int flags;
} SetCall;

static Status fill_set(const SetCall *call, Arena *arena, Op *op, Str *ret_changes, Diag *diag) {
    SetWish wish = {.store = engine_store(call->engine), .arena = arena};
    JsonValue *values = NULL;
    if (call->values_json == NULL)
        return diag_set(diag, ERR_INVALID, "BAD_ARGUMENT", "values_json is required");
    if ((call->flags & ~ABIDE_DRY_RUN) != 0)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "flags is %d; 0 or ABIDE_DRY_RUN",
                        call->flags);
    TRY(api_check_run_id(call->run_id, &wish.run_id, diag));
    TRY(json_parse(arena, str_from(call->values_json), &values, diag));
    wish.values = values;
    return set_fill(&wish, op, ret_changes, diag);
}

int abide_set_variables(abide_engine *engine, const char *run_id, const char *values_json,
                        int flags, char **ret_json, abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    const SetCall call = {engine, run_id, values_json, flags};
    Request request = {.op.kind = OP_MOVE};
    Str changes = STR_NULL;
    Diag diag;
    Arena arena;
    arena_init(&arena);
    if (ret_json != NULL) *ret_json = NULL;
    bool is_dry = (flags & ABIDE_DRY_RUN) != 0;
    Status status = fill_set(&call, &arena, &request.op, &changes, &diag);
    int code =
        status != OK || is_dry ? api_answer(error, status, &diag) : finish(engine, &request, error);
    if (code == ABIDE_OK && ret_json != NULL) {
        Str text = arena_printf(&arena, "{\"changed\":%s,\"values\":%.*s}",
                                is_dry ? "false" : "true", STR_ARG(changes));
        *ret_json = mem_copy(text.data, text.len);
    }
    arena_done(&arena);
    return code;
}

// Whatever the two have in common.
static Status check_fork(const char *run_id, const abide_fork_options *options, Op *op,
                         Str *ret_version, Diag *diag) {
    TRY(api_check_run_id(run_id, &op->in.fork.run_id, diag));
    if (options->id != NULL) TRY(api_check_run_id(options->id, &op->in.fork.new_id, diag));
    if (options->version != NULL)
        TRY(api_check_name(options->version, "the version", ret_version, diag));
    TRY(check_flags(options->flags, diag));
    if (options->version != NULL || options->flags == 0) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_OPTION", "ABIDE_DRY_RUN goes with a version");
}

static int finish_fork(abide_engine *engine, const abide_fork_options *options, Request *request,
                       Str version, abide_error *error) {
    if (str_is_null(version)) return finish(engine, request, error);
    Arena arena;
    Diag diag;
    MoveAnswer answer;
    arena_init(&arena);
    MoveWish wish = {.store = engine_store(engine),
                     .arena = &arena,
                     .run_id = request->op.in.fork.run_id,
                     .version = version};
    Status status = move_fill_fork(&wish, &request->op, &answer, &diag);
    bool is_told = status != OK || options->flags != 0;
    int code = is_told ? api_answer(error, status, &diag) : finish(engine, request, error);
    arena_done(&arena);
    return code;
}

static void put_id(int code, Str id, char ret_id[ABIDE_RUN_ID_SIZE]) {
    if (code == ABIDE_OK && ret_id != NULL)
        snprintf(ret_id, ABIDE_RUN_ID_SIZE, "%.*s", STR_ARG(id));
}

static int missing_options(abide_error *error) {
    Diag diag;
    return api_answer(error, diag_set(&diag, ERR_INVALID, "BAD_OPTION", "options is NULL"), &diag);
}

int abide_fork_with(abide_engine *engine, const char *run_id, const abide_fork_options *options,
                    char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    if (options == NULL) return missing_options(error);
    Request request = {.op.kind = OP_FORK};
    Op *op = &request.op;
    Diag diag;
    IdText text;
    Str version = STR_NULL;
    Status status = check_fork(run_id, options, op, &version, &diag);
    if (status == OK && options->step != NULL)
        status = api_check_name(options->step, "the step name", &op->in.fork.step.name, &diag);
    if (status == OK) status = check_iteration(options->iteration, &op->in.fork.step, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    if (options->id == NULL) op->in.fork.new_id = engine_new_id(engine, "run_", &text);
    int code = finish_fork(engine, options, &request, version, error);
    put_id(code, op->in.fork.new_id, ret_id);
    return code;
}

int abide_fork(abide_engine *engine, const char *run_id, const char *step, int iteration,
               const char *new_id, char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error) {
    abide_fork_options options = {.id = new_id, .step = step, .iteration = iteration};
    return abide_fork_with(engine, run_id, &options, ret_id, error);
}

int abide_retry_run_with(abide_engine *engine, const char *run_id,
                         const abide_fork_options *options, char ret_id[ABIDE_RUN_ID_SIZE],
                         abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    if (options == NULL) return missing_options(error);
    Request request = {.op.kind = OP_FORK};
    Op *op = &request.op;
    Diag diag;
    RetryId text;
    Str version = STR_NULL;
    op->in.fork.is_retry = true;
    Status status = check_fork(run_id, options, op, &version, &diag);
    if (status == OK && options->step != NULL)
        status = diag_set(&diag, ERR_INVALID, "BAD_OPTION", "a retry has no step; fork the run");
    if (status != OK) return api_answer(error, status, &diag);
    int code = finish_fork(engine, options, &request, version, error);
    Str id = options->id != NULL ? str_from(options->id) : run_retry_id(str_from(run_id), &text);
    put_id(code, id, ret_id);
    return code;
}

int abide_retry_run(abide_engine *engine, const char *run_id, const char *new_id,
                    char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error) {
    abide_fork_options options = {.id = new_id};
    return abide_retry_run_with(engine, run_id, &options, ret_id, error);
}

int abide_purge(abide_engine *engine, const char *run_id, abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_PURGE_RUN};
    Diag diag;
    Status status = api_check_run_id(run_id, &request.op.in.purge.run_id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    return finish(engine, &request, error);
}
