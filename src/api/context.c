// The calls a workflow or step makes: C strings and durations in, durable calls out.
//
// Bad arguments are refused with a code the function passes up; the run then fails with an error
// that names the argument. Checks come before the durable call, so a refused call takes no place
// in the run's sequence.
//
// Not here: what is recorded and replayed (engine/runners/native.c).
#include "api/api.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/time/duration.h"
#include "json/write.h"
#include "model/spec.h"
#include <stdio.h>

// Answers a refused argument.
static int refuse(abide_ctx *ctx, const Diag *diag) {
    return native_refuse(ctx, ABIDE_INVALID, str_from(diag->code), str_from(diag->message));
}

static int give(int code, Str text, const char **ret_text) {
    if (ret_text != NULL) *ret_text = code == ABIDE_OK ? text.data : NULL;
    return code;
}

// ---- steps ----

int abide_step_with(abide_ctx *ctx, const char *name, abide_call_fn fn, const char *input,
                    const abide_step_options *options, const char **ret_result) {
    static const abide_step_options defaults = {0};
    if (options == NULL) options = &defaults;
    Diag diag;
    NativeStep step = {.function = fn, .input = str_from(input)};
    Status status = api_check_name(name, "the step name", &step.name, &diag);
    if (status == OK && fn == NULL)
        status = diag_set(&diag, ERR_INVALID, "BAD_ARGUMENT", "step \"%s\" has no function", name);
    if (status == OK) status = api_check_retry(&options->retry, ctx->arena, &step.retry, &diag);
    if (status != OK) return refuse(ctx, &diag);
    step.is_in_transaction = options->in_transaction != 0;
    if (step.is_in_transaction) step.input = arena_str(ctx->arena, step.input);
    Str result = STR_NULL;
    return give(native_step(ctx, &step, &result), result, ret_result);
}

int abide_step(abide_ctx *ctx, const char *name, abide_call_fn fn, const char *input,
               const char **ret_result) {
    return abide_step_with(ctx, name, fn, input, NULL, ret_result);
}

// ---- waits ----

static Status set_deadline(abide_ctx *ctx, const char *duration, WaitItem *item, Diag *diag) {
    int64_t ms;
    if (duration == NULL) return OK;
    TRY(duration_parse(str_from(duration), &ms, diag));
    item->deadline_at_ms = env_now_ms(ctx->env) + ms;
    return OK;
}

static int wait_one(abide_ctx *ctx, WaitItem *item, const char *timeout, const char **ret_payload) {
    Diag diag;
    if (set_deadline(ctx, timeout, item, &diag) != OK) return refuse(ctx, &diag);
    Str payload = STR_NULL;
    return give(native_wait(ctx, item, 1, NULL, &payload), payload, ret_payload);
}

int abide_sleep(abide_ctx *ctx, const char *duration) {
    WaitItem item = {.kind = WAIT_TIMER, .name = STR("sleep")};
    return wait_one(ctx, &item, duration != NULL ? duration : "", NULL);
}

int abide_sleep_until(abide_ctx *ctx, int64_t at_ms) {
    // A moment of 0 would mean "no deadline".
    WaitItem item = {.kind = WAIT_TIMER, .name = STR("sleep"), .deadline_at_ms = at_ms};
    if (at_ms <= 0) item.deadline_at_ms = 1;
    return wait_one(ctx, &item, NULL, NULL);
}

static int wait_named(abide_ctx *ctx, WaitKind kind, const char *name, const abide_wait *wait,
                      const char **ret_payload) {
    WaitItem item = {.kind = kind};
    Diag diag;
    const char *what = kind == WAIT_EVENT ? "the topic" : "the signal name";
    if (api_check_name(name, what, &item.name, &diag) != OK) return refuse(ctx, &diag);
    return wait_one(ctx, &item, wait != NULL ? wait->timeout : NULL, ret_payload);
}

int abide_await_event(abide_ctx *ctx, const char *topic, const abide_wait *wait,
                      const char **ret_payload) {
    return wait_named(ctx, WAIT_EVENT, topic, wait, ret_payload);
}

int abide_await_signal(abide_ctx *ctx, const char *name, const abide_wait *wait,
                       const char **ret_payload) {
    return wait_named(ctx, WAIT_SIGNAL, name, wait, ret_payload);
}

// A child that failed is an error of its own type, unless failures are isolated.
static int settle_handle(abide_ctx *ctx, bool is_task, int code, Str *payload) {
    if (code != ABIDE_FAILED || is_task) return code;
    Buf text;
    buf_init(&text, 2 * LIMIT_ERROR_SIZE);
    JsonWriter writer;
    json_writer_init(&writer, &text, STR_NULL);
    json_write_object_begin(&writer);
    json_put_cstr(&writer, "type", "ChildWorkflowError");
    json_put_cstr(&writer, "message", "the child run failed");
    json_put_raw(&writer, "cause", ctx->error);
    json_write_object_end(&writer);
    if (!text.is_overflown) ctx->error = arena_str(ctx->arena, buf_str(&text));
    buf_done(&text);
    if (!ctx->runner->is_child_failure_isolated) return code;
    *payload = json_wrap(ctx->arena, "error", ctx->error);
    return ABIDE_OK;
}

static int wait_handle(abide_ctx *ctx, abide_handle handle, const abide_wait *wait,
                       const char **ret_result) {
    if (ctx->is_parked) return ABIDE_SUSPENDED;
    WaitItem item = {.kind = handle.is_task ? WAIT_TASK : WAIT_CHILD};
    Diag diag;
    Status status = api_check_run_id(handle.id, &item.name, &diag);
    if (status == OK) status = set_deadline(ctx, wait != NULL ? wait->timeout : NULL, &item, &diag);
    if (status != OK) return refuse(ctx, &diag);
    Str payload = STR_NULL;
    int code = native_wait(ctx, &item, 1, NULL, &payload);
    return give(settle_handle(ctx, handle.is_task, code, &payload), payload, ret_result);
}

static Status fill_any(abide_ctx *ctx, const abide_any *from, WaitItem *item, Diag *diag) {
    switch (from->kind) {
    case ABIDE_ANY_EVENT:
    case ABIDE_ANY_SIGNAL:
        item->kind = from->kind == ABIDE_ANY_EVENT ? WAIT_EVENT : WAIT_SIGNAL;
        TRY(api_check_name(from->name, "the name of an item", &item->name, diag));
        break;
    case ABIDE_ANY_TIMER:
        item->kind = WAIT_TIMER;
        item->name = STR("sleep");
        return set_deadline(ctx, from->delay != NULL ? from->delay : "", item, diag);
    case ABIDE_ANY_HANDLE:
        item->kind = from->handle.is_task ? WAIT_TASK : WAIT_CHILD;
        TRY(api_check_run_id(from->handle.id, &item->name, diag));
        break;
    default:
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "an item has the unknown kind %d",
                        from->kind);
    }
    return set_deadline(ctx, from->delay, item, diag);
}

int abide_await_any(abide_ctx *ctx, const abide_any *items, int count, int *ret_index,
                    const char **ret_payload) {
    Diag diag;
    if (ctx->is_parked) return ABIDE_SUSPENDED;
    if (items == NULL || count < 1 || count > (int)LIMIT_WAITS_PER_RUN) {
        (void)diag_set(&diag, ERR_INVALID, "BAD_OPTION", "await_any takes 1 … %d items",
                       LIMIT_WAITS_PER_RUN);
        return refuse(ctx, &diag);
    }
    WaitItem *waits = ARENA_ARRAY(ctx->arena, WaitItem, (size_t)count);
    for (int i = 0; i < count; i++)
        if (fill_any(ctx, &items[i], &waits[i], &diag) != OK) return refuse(ctx, &diag);
    Str payload = STR_NULL;
    int64_t slot = 0;
    int code = native_wait(ctx, waits, (size_t)count, &slot, &payload);
    if (code == ABIDE_SUSPENDED) return code;
    if (slot < 0 || slot >= count) slot = 0;
    if (ret_index != NULL) *ret_index = (int)slot;
    if (items[slot].kind == ABIDE_ANY_HANDLE)
        code = settle_handle(ctx, items[slot].handle.is_task != 0, code, &payload);
    return give(code, payload, ret_payload);
}

// ---- children and tasks ----

int abide_child_start(abide_ctx *ctx, const char *workflow, const char *input,
                      const abide_start_options *options, abide_handle *ret_handle) {
    RunSpec spec = {.kind = RUN_NATIVE, .keep_ms = ctx->runner->child_keep_ms};
    Diag diag;
    Str payload = STR_NULL;
    Status status = api_check_name(workflow, "the workflow name", &spec.workflow, &diag);
    if (status == OK) status = api_check_payload(input, "the input", &payload, &diag);
    if (status == OK)
        status = api_check_start(options, env_now_ms(ctx->env), ctx->arena, &spec, &diag);
    if (status != OK) return refuse(ctx, &diag);
    spec.workflow = arena_str(ctx->arena, spec.workflow);
    spec.input = arena_str(ctx->arena, payload);
    spec.id = arena_str(ctx->arena, spec.id);
    spec.dedupe_key = STR_NULL; // the derived id deduplicates
    spec.leftover_topic = arena_str(ctx->arena, spec.leftover_topic);
    Str id = STR_NULL;
    int code = native_child_start(ctx, &spec, &id);
    if (code == ABIDE_OK && ret_handle != NULL) *ret_handle = (abide_handle){.id = id.data};
    return code;
}

int abide_child_await(abide_ctx *ctx, abide_handle child, const abide_wait *wait,
                      const char **ret_result) {
    child.is_task = 0;
    return wait_handle(ctx, child, wait, ret_result);
}

int abide_child(abide_ctx *ctx, const char *workflow, const char *input, const char **ret_result) {
    abide_handle child;
    ABIDE_TRY(abide_child_start(ctx, workflow, input, NULL, &child));
    return abide_child_await(ctx, child, NULL, ret_result);
}

static Status fill_task(abide_ctx *ctx, const abide_task_options *options, TaskSpec *spec,
                        Diag *diag) {
    static const abide_task_options defaults = {0};
    if (options == NULL) options = &defaults;
    RetryPolicy policy = {0};
    TRY(api_check_retry(&options->retry, ctx->arena, &policy, diag));
    spec->max_attempts = policy.max_attempts;
    spec->backoff_ms = policy.delay_ms;
    spec->backoff_max_ms = policy.max_delay_ms;
    spec->backoff_factor_pct = policy.factor_pct;
    spec->jitter_pct = policy.jitter_pct;
    spec->non_retryable = policy.non_retryable;
    TRY(spec_check_number(SPEC_PRIORITY, NULL, options->priority, diag));
    spec->priority = options->priority;
    Str queue = str_from(options->queue), key = str_from(options->concurrency_key);
    if (options->queue != NULL) TRY(spec_check_name(SPEC_QUEUE, NULL, queue, diag));
    if (options->concurrency_key != NULL)
        TRY(spec_check_name(SPEC_CONCURRENCY_KEY, NULL, key, diag));
    spec->queue = arena_str(ctx->arena, queue);
    spec->concurrency_key = arena_str(ctx->arena, key);
    const struct {
        const char *name, *text;
        int64_t *ret_ms;
    } durations[] = {
        {"delay", options->delay, &spec->delay_ms},
        {"timeout", options->timeout, &spec->run_timeout_ms},
        {"schedule_timeout", options->schedule_timeout, &spec->start_timeout_ms},
        {"heartbeat_timeout", options->heartbeat_timeout, &spec->heartbeat_ms},
    };
    for (size_t i = 0; i < COUNT_OF(durations); i++)
        TRY(spec_read_duration(durations[i].name, str_from(durations[i].text), durations[i].ret_ms,
                               diag));
    return OK;
}

int abide_task_start(abide_ctx *ctx, const char *task, const char *input,
                     const abide_task_options *options, abide_handle *ret_handle) {
    TaskSpec spec = {0};
    Diag diag;
    Str payload = STR_NULL;
    Status status = api_check_name(task, "the task name", &spec.name, &diag);
    if (status == OK) status = api_check_payload(input, "the input", &payload, &diag);
    if (status == OK) status = fill_task(ctx, options, &spec, &diag);
    if (status != OK) return refuse(ctx, &diag);
    spec.name = arena_str(ctx->arena, spec.name);
    spec.input = arena_str(ctx->arena, payload);
    Str id = STR_NULL;
    int code = native_task_start(ctx, &spec, &id);
    if (code == ABIDE_OK && ret_handle != NULL)
        *ret_handle = (abide_handle){.id = id.data, .is_task = 1};
    return code;
}

int abide_task_await(abide_ctx *ctx, abide_handle task, const abide_wait *wait,
                     const char **ret_result) {
    task.is_task = 1;
    return wait_handle(ctx, task, wait, ret_result);
}

// ---- effects ----

int abide_publish(abide_ctx *ctx, const char *topic, const char *payload) {
    Str name, text;
    Diag diag;
    if (api_check_name(topic, "the topic", &name, &diag) != OK) return refuse(ctx, &diag);
    if (api_check_payload(payload, "the payload", &text, &diag) != OK) return refuse(ctx, &diag);
    return native_emit(ctx, name, text);
}

int abide_stream_write(abide_ctx *ctx, const char *type, const char *value) {
    Str name = STR("event"), text;
    Diag diag;
    if (type != NULL && api_check_name(type, "the type", &name, &diag) != OK)
        return refuse(ctx, &diag);
    if (api_check_payload(value, "the value", &text, &diag) != OK) return refuse(ctx, &diag);
    return native_stream_write(ctx, name, text);
}

int abide_now(abide_ctx *ctx, int64_t *ret_ms) {
    return native_mark_i64(ctx, STR("now"), env_now_ms(ctx->env), ret_ms);
}

int abide_random(abide_ctx *ctx, uint64_t *ret_value) {
    int64_t kept = 0;
    int code = native_mark_i64(ctx, STR("random"), (int64_t)env_random_u64(ctx->env), &kept);
    if (code == ABIDE_OK) *ret_value = (uint64_t)kept;
    return code;
}

// ---- how it ends, and what it knows ----

int abide_complete(abide_ctx *ctx, const char *result) {
    Str text;
    Diag diag;
    if (api_check_payload(result, "the result", &text, &diag) != OK)
        return native_fail(ctx, str_from(diag.code), str_from(diag.message));
    return native_complete(ctx, text);
}

int abide_fail(abide_ctx *ctx, const char *message) {
    return native_fail(ctx, STR("Error"), str_from(message != NULL ? message : "failed"));
}

int abide_fail_with(abide_ctx *ctx, const char *type, const char *message) {
    return native_fail(ctx, str_from(type != NULL ? type : "Error"),
                       str_from(message != NULL ? message : "failed"));
}

int abide_continue_as(abide_ctx *ctx, const char *input) {
    Str text;
    Diag diag;
    if (api_check_payload(input, "the input", &text, &diag) != OK)
        return native_fail(ctx, str_from(diag.code), str_from(diag.message));
    return native_continue_as(ctx, text);
}

int abide_is_cancelled(abide_ctx *ctx) { return ctx->view->is_cancel_wanted; }
const char *abide_error_json(abide_ctx *ctx) { return ctx->error.data; }
const char *abide_run_id(abide_ctx *ctx) { return ctx->view->id.data; }
const char *abide_workflow_name(abide_ctx *ctx) { return ctx->view->workflow.data; }
const char *abide_parent_id(abide_ctx *ctx) { return ctx->view->parent_id.data; }
int64_t abide_started_at(abide_ctx *ctx) { return ctx->view->started_at_ms; }
int abide_attempt(abide_ctx *ctx) { return (int)ctx->view->attempts; }
int abide_run_attempt(abide_ctx *ctx) { return (int)ctx->view->retries + 1; }
int abide_incarnation(abide_ctx *ctx) { return (int)ctx->view->incarnation; }
void *abide_user_data(abide_ctx *ctx) { return ctx->runner->user; }

const char *abide_printf(abide_ctx *ctx, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(ctx->arena, format, args).data;
    va_end(args);
    return text;
}

const char *abide_quote(abide_ctx *ctx, const char *text) {
    return json_quote(ctx->arena, str_from(text != NULL ? text : "")).data;
}

// ---- inside a step or task ----

int abide_return(abide_call *call, const char *result) {
    Str text;
    Diag diag;
    if (api_check_payload(result, "the result", &text, &diag) != OK)
        return abide_throw_final(call, diag.code, diag.message);
    call->has_result = true;
    call->result = arena_str(call->arena, text);
    return ABIDE_OK;
}

int abide_throw(abide_call *call, const char *type, const char *message) {
    call->has_error = true;
    call->error_type = arena_str(call->arena, str_from(type != NULL ? type : "Error"));
    call->error =
        error_object(call->arena, call->error_type, str_from(message != NULL ? message : "failed"));
    return ABIDE_FAILED;
}

int abide_throw_final(abide_call *call, const char *type, const char *message) {
    call->is_final = true;
    return abide_throw(call, type, message);
}

// The error object with the members of `details` added; without them when they are no object.
static Str add_details(abide_call *call, Str error, const char *details) {
    JsonValue *value, *object;
    Diag diag;
    Str text = arena_str(call->arena, str_from(details));
    if (json_parse(call->arena, text, &value, &diag) != OK || value->kind != JSON_KIND_OBJECT)
        return error;
    if (json_parse(call->arena, error, &object, &diag) != OK) return error;
    Buf joined;
    JsonWriter writer;
    buf_init(&joined, LIMIT_ERROR_SIZE);
    json_writer_init(&writer, &joined, STR_NULL);
    json_write_object_begin(&writer);
    JSON_EACH (member, object) {
        json_write_key(&writer, member->key);
        json_write_raw(&writer, member->raw);
    }
    JSON_EACH (member, value) {
        if (json_member(object, member->key) != NULL) continue;
        json_write_key(&writer, member->key);
        json_write_raw(&writer, member->raw);
    }
    json_write_object_end(&writer);
    Str answer = joined.is_overflown ? error : arena_str(call->arena, buf_str(&joined));
    buf_done(&joined);
    return answer;
}

int abide_throw_with(abide_call *call, const char *type, const char *message, const char *details,
                     int is_final) {
    int code = abide_throw(call, type, message);
    if (is_final) call->is_final = true;
    if (details != NULL) call->error = add_details(call, call->error, details);
    return code;
}

int abide_call_attempt(abide_call *call) { return (int)(call->attempt + call->lost_count); }
const char *abide_call_run_id(abide_call *call) { return call->run_id.data; }
const char *abide_call_traceparent(abide_call *call) { return call->traceparent.data; }
const char *abide_call_tracestate(abide_call *call) { return call->tracestate.data; }
const char *abide_call_name(abide_call *call) { return call->name.data; }
const char *abide_call_key(abide_call *call) { return call->key.data; }
void *abide_call_user_data(abide_call *call) { return call->user; }
int abide_call_is_cancelled(abide_call *call) { return call->is_cancelled; }
void *abide_call_sqlite(abide_call *call) {
    return call->database.kind == DATABASE_SQLITE ? call->database.handle : NULL;
}

void *abide_call_postgres(abide_call *call) {
    return call->database.kind == DATABASE_POSTGRES ? call->database.handle : NULL;
}

const char *abide_call_printf(abide_call *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(call->arena, format, args).data;
    va_end(args);
    return text;
}
