// The workflow API: Task, Timer, Signal, Event, Workflow, Stream, State, Context, crypto.
//
// prelude/workflow.js checks and converts what the script gave (names to strings, data to JSON);
// the intrinsics here ask the host. Everything that ends later is an awaitable: a promise with a
// number, kept in vm->awaitables until the host settles it.
//
//   [builtin-host-1] The host is asked after everything that can fail on our side, so a script
//        error never leaves something started behind.
#include "base/limits.h"
#include "base/time/duration.h"
#include "flow/builtin/core.h"
#include "flow/check/api.h"
#include "flow/vm/vm.h"
#include <stdio.h>

// A string argument as UTF-8; null Str when it is undefined. `ret_buf` owns the text.
static Str text_argument(FlowVm *vm, const FlowNativeCall *call, uint32_t index, Buf *ret_buf) {
    buf_init(ret_buf, (size_t)LIMIT_PAYLOAD_SIZE * 2);
    FlowValue value = flow_argument(call, index);
    if (!flow_is_string(value)) return STR_NULL;
    flow_string_to_utf8(vm, flow_as_string(value), ret_buf);
    buf_cstr(ret_buf);
    return (Str){ret_buf->data, ret_buf->len};
}

static FlowNativeResult throw_diag_as(FlowVm *vm, FlowErrorKind kind, const Diag *diag) {
    flow_throw_error(vm, kind, "%s", diag->message);
    FlowObject *error = flow_as_object(vm->exception);
    if (diag->code[0]) {
        FlowString *code = flow_string_cstr(vm, diag->code);
        flow_object_put(vm, error, FLOW_KEY(vm, code), flow_from_string(code));
    }
    return NATIVE_THROW;
}

static FlowNativeResult throw_diag(FlowVm *vm, const Diag *diag) {
    return throw_diag_as(vm, ERROR_KIND_ERROR, diag);
}

static FlowNativeResult throw_unavailable(FlowVm *vm, const char *what) {
    return flow_native_throw(vm, ERROR_KIND_ERROR, "%s is not available here", what);
}

static int64_t ms_argument(const FlowNativeCall *call, uint32_t index) {
    FlowValue value = flow_argument(call, index);
    return flow_is_number(value) ? (int64_t)flow_as_number(value) : -1;
}

typedef struct HostTexts {
    Buf name;
    Buf input;
    Buf options;
    Buf secrets;
} HostTexts;

static void host_texts_done(HostTexts *texts) {
    buf_done(&texts->name);
    buf_done(&texts->input);
    buf_done(&texts->options);
    buf_done(&texts->secrets);
}

// %hostStart(kind, name, inputJson, optionsJson, delayMs, atMs, timeoutMs, secretsJson)
static FlowStart start_request(FlowVm *vm, const FlowNativeCall *call, HostTexts *texts) {
    return (FlowStart){
        .kind = (FlowAwaitKind)flow_as_int(flow_argument(call, 0)),
        .name = text_argument(vm, call, 1, &texts->name),
        .input_json = text_argument(vm, call, 2, &texts->input),
        .options_json = text_argument(vm, call, 3, &texts->options),
        .delay_ms = ms_argument(call, 4),
        .at_ms = ms_argument(call, 5),
        .timeout_ms = ms_argument(call, 6),
        .secrets_json = text_argument(vm, call, 7, &texts->secrets),
    };
}

static FlowNativeResult check_sizes(FlowVm *vm, const FlowStart *start) {
    if (start->name.len > LIMIT_NAME_SIZE) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "the name is longer than %d bytes",
                                 LIMIT_NAME_SIZE);
    }
    if (start->input_json.len > LIMIT_PAYLOAD_SIZE ||
        start->options_json.len > LIMIT_PAYLOAD_SIZE ||
        start->secrets_json.len > LIMIT_PAYLOAD_SIZE) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "the payload is larger than %d bytes",
                                 LIMIT_PAYLOAD_SIZE);
    }
    return NATIVE_OK;
}

// Options are held to the table of the API, whatever host there is: one that is misspelt would
// otherwise be one that silently does not apply.
static FlowNativeResult check_options(FlowVm *vm, const FlowStart *start, const char *call_name) {
    if (str_is_null(start->options_json)) return NATIVE_OK;
    Arena arena;
    arena_init(&arena);
    Diag diag;
    Status status = flow_api_read_options(call_name, start->options_json, &arena, &diag);
    arena_done(&arena);
    return status == OK ? NATIVE_OK : throw_diag_as(vm, ERROR_KIND_TYPE, &diag);
}

static const char *const call_names[FLOW_AWAIT_COUNT] = {
    [FLOW_AWAIT_TASK] = "Task.run",         [FLOW_AWAIT_TIMER] = "Timer.delay",
    [FLOW_AWAIT_SIGNAL] = "Signal.when",    [FLOW_AWAIT_EVENT] = "Event.wait",
    [FLOW_AWAIT_WORKFLOW] = "Workflow.run",
};

// What the script gets: a promise that knows its id. `handle == id` and `${handle}` mean the id
// (Symbol.toPrimitive), so that the `item_id` of a race can be compared with either.
static FlowPromise *handle_new(FlowVm *vm, FlowAwaitKind kind, Str id) {
    FlowPromise *promise = flow_promise_new(vm);
    flow_vm_awaitable_add(vm, promise, kind);
    FlowValue text = flow_from_string(flow_string_utf8(vm, id));
    flow_object_define(vm, &promise->object, FLOW_KEY(vm, id), text, 0);
    FlowKey key = FLOW_SYMBOL(vm, SYMBOL_TO_PRIMITIVE);
    FlowValue convert = flow_object_get_data(vm, vm->realm->protos[PROTO_HANDLE], key);
    flow_object_define(vm, &promise->object, key, convert, 0);
    return promise;
}

static FlowNativeResult handle_to_primitive(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!flow_is_kind(self, KIND_PROMISE)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "not a handle of a task or wait");
    }
    return flow_native_return(call,
                              flow_object_get_data(vm, flow_as_object(self), FLOW_KEY(vm, id)));
}

static FlowNativeResult start_awaitable(FlowVm *vm, FlowNativeCall *call, FlowStart *start) {
    FlowNativeResult checked = check_sizes(vm, start);
    if (checked == NATIVE_OK) checked = check_options(vm, start, call_names[start->kind]);
    if (checked != NATIVE_OK) return checked;
    if (!vm->host || !vm->host->ops->start) {
        return flow_native_throw(vm, ERROR_KIND_ERROR, "no handler for %s '%.*s'",
                                 start->kind == FLOW_AWAIT_TASK ? "task" : "wait",
                                 STR_ARG(start->name));
    }
    if (vm->awaitable_count >= vm->limits.pending_awaitables) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "more than %u pending tasks and waits",
                                 vm->limits.pending_awaitables);
    }
    start->id = vm->next_awaitable_id;
    Str handle_id = STR_NULL;
    Diag diag = {0};
    Status status = vm->host->ops->start(vm->host, start, &handle_id, &diag); // [builtin-host-1]
    if (status != OK) return throw_diag(vm, &diag);
    char number[24];
    snprintf(number, sizeof number, "%u", start->id);
    Str id = str_is_null(handle_id) ? str_from(number) : handle_id;
    return flow_native_return(call, flow_from_object(handle_new(vm, start->kind, id)));
}

static FlowNativeResult host_start(FlowVm *vm, FlowNativeCall *call) {
    HostTexts texts;
    FlowStart start = start_request(vm, call, &texts);
    FlowNativeResult result = start_awaitable(vm, call, &start);
    host_texts_done(&texts);
    return result;
}

// Workflow.start: the same request, an independent run.
static FlowNativeResult host_start_run(FlowVm *vm, FlowNativeCall *call) {
    HostTexts texts;
    FlowStart start = start_request(vm, call, &texts);
    FlowNativeResult result = check_sizes(vm, &start);
    if (result == NATIVE_OK) result = check_options(vm, &start, "Workflow.start");
    if (result == NATIVE_OK && (!vm->host || !vm->host->ops->start_run)) {
        result = throw_unavailable(vm, "Workflow.start");
    }
    if (result == NATIVE_OK) {
        Str run_id = STR_NULL;
        Diag diag = {0};
        Status status = vm->host->ops->start_run(vm->host, &start, &run_id, &diag);
        if (status != OK) result = throw_diag(vm, &diag);
        else call->result = flow_from_string(flow_string_utf8(vm, run_id));
    }
    host_texts_done(&texts);
    return result;
}

// %hostEffect(kind, name, json)
static FlowNativeResult host_effect(FlowVm *vm, FlowNativeCall *call) {
    HostTexts texts = {0};
    FlowEffect effect = {
        .kind = (FlowEffectKind)flow_as_int(flow_argument(call, 0)),
        .name = text_argument(vm, call, 1, &texts.name),
        .json = text_argument(vm, call, 2, &texts.input),
    };
    FlowNativeResult result = NATIVE_OK;
    if (!vm->host || !vm->host->ops->effect) {
        if (effect.kind != FLOW_EFFECT_LOG) result = throw_unavailable(vm, "this effect");
    } else if (effect.json.len > LIMIT_PAYLOAD_SIZE) {
        result = flow_native_throw(vm, ERROR_KIND_RANGE, "the payload is larger than %d bytes",
                                   LIMIT_PAYLOAD_SIZE);
    } else {
        Diag diag = {0};
        Status status = vm->host->ops->effect(vm->host, &effect, &diag);
        if (status != OK) result = throw_diag(vm, &diag);
    }
    host_texts_done(&texts);
    return result;
}

static FlowNativeResult host_state_get(FlowVm *vm, FlowNativeCall *call) {
    if (!vm->host || !vm->host->ops->state_get) return throw_unavailable(vm, "State.get");
    HostTexts texts = {0};
    Str key = text_argument(vm, call, 0, &texts.name);
    Str json = STR_NULL;
    Diag diag = {0};
    FlowNativeResult result = NATIVE_OK;
    Status status = vm->host->ops->state_get(vm->host, key, &json, &diag);
    if (status == OK && !str_is_null(json)) {
        status = flow_json_to_value(vm, json, &call->result, &diag);
    }
    if (status != OK) result = throw_diag(vm, &diag);
    host_texts_done(&texts);
    return result;
}

// ---- conditions ----

static bool is_looked_at(const FlowVm *vm) { return vm->host && vm->host->ops->check; }

// %hostLooks()
static FlowNativeResult host_looks(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_bool(is_looked_at(vm)));
}

// %hostCheck(kind, name, isTrue)
static FlowNativeResult host_check(FlowVm *vm, FlowNativeCall *call) {
    if (!is_looked_at(vm)) return NATIVE_OK;
    Buf name;
    FlowCheck check = {
        .kind = (FlowCheckKind)flow_as_int(flow_argument(call, 0)),
        .name = text_argument(vm, call, 1, &name),
        .is_true = flow_to_boolean(flow_argument(call, 2)),
    };
    vm->host->ops->check(vm->host, &check);
    buf_done(&name);
    return NATIVE_OK;
}

// %hostLook(): a promise that the VM settles when it is time to look again (vm.c).
static FlowNativeResult host_look(FlowVm *vm, FlowNativeCall *call) {
    FlowPromise *promise = flow_promise_new(vm);
    flow_vm_awaitable_add(vm, promise, FLOW_AWAIT_LOOK);
    return flow_native_return(call, flow_from_object(promise));
}

static FlowNativeResult host_continue_as(FlowVm *vm, FlowNativeCall *call) {
    vm->state = VM_ENDED;
    vm->outcome = FLOW_CONTINUE_AS;
    vm->result = flow_argument(call, 0);
    vm->fuel = 0; // the interpreter stops before the next instruction
    return NATIVE_OK;
}

// %durationMs(value): number of seconds, or text; throws what the script did wrong.
static FlowNativeResult host_duration(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    double ms;
    if (flow_is_number(value)) {
        ms = ceil(flow_as_number(value) * 1000 - 1e-6);
    } else if (flow_is_string(value)) {
        Buf text;
        int64_t parsed = 0;
        Diag diag = {0};
        Status status = duration_parse(text_argument(vm, call, 0, &text), &parsed, &diag);
        buf_done(&text);
        if (status != OK) return flow_native_throw(vm, ERROR_KIND_RANGE, "%s", diag.message);
        ms = (double)parsed;
    } else {
        char shown[FLOW_TEXT_MAX];
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "a duration is a number of seconds or a text like \"15m\", not %s",
                                 flow_describe(vm, value, shown));
    }
    if (!(ms >= 0) || ms > (double)LIMIT_DURATION_MS) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "a duration must lie between 0 and 100 years");
    }
    return flow_native_return(call, flow_number(ms));
}

// %instantMs(text)
static FlowNativeResult host_instant(FlowVm *vm, FlowNativeCall *call) {
    Buf text;
    int64_t at_ms = 0;
    Diag diag = {0};
    Status status = instant_parse(text_argument(vm, call, 0, &text), &at_ms, &diag);
    buf_done(&text);
    if (status != OK) return flow_native_throw(vm, ERROR_KIND_RANGE, "%s", diag.message);
    return flow_native_return(call, flow_number((double)at_ms));
}

FlowNativeResult flow_global_context(FlowVm *vm, FlowNativeCall *call) {
    if (flow_is_hole(vm->context)) {
        if (!vm->host || !vm->host->ops->context) return throw_unavailable(vm, "Context");
        Str json = STR_NULL;
        Diag diag = {0};
        Status status = vm->host->ops->context(vm->host, &json, &diag);
        FlowValue context = FLOW_UNDEFINED;
        if (status == OK) status = flow_json_to_value(vm, json, &context, &diag);
        if (status != OK) return throw_diag(vm, &diag);
        vm->context = context;
    }
    return flow_native_return(call, vm->context);
}

// --- crypto

static uint64_t host_random(FlowVm *vm) {
    return vm->host && vm->host->ops->random_u64 ? vm->host->ops->random_u64(vm->host) : 0;
}

static FlowNativeResult crypto_random_uuid(FlowVm *vm, FlowNativeCall *call) {
    if (!vm->host || !vm->host->ops->random_u64) {
        return throw_unavailable(vm, "crypto.randomUUID");
    }
    uint64_t high = host_random(vm);
    uint64_t low = host_random(vm);
    high = (high & 0xFFFFFFFFFFFF0FFFull) | 0x4000;              // version 4
    low = (low & 0x3FFFFFFFFFFFFFFFull) | 0x8000000000000000ull; // variant 1
    char text[40];
    snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
             (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0xFFFF), (unsigned)(low >> 48),
             (unsigned long long)(low & 0xFFFFFFFFFFFFull));
    return flow_native_return(call, flow_from_string(flow_string_cstr(vm, text)));
}

// --- tables

static const FlowNativeEntry task_members[] = {
    PRELUDE("run", "Task_run", 3),   PRELUDE("delay", "Timer_delay", 1),
    PRELUDE("all", "Task_all", 1),   PRELUDE("any", "Task_any", 1),
    PRELUDE("race", "Task_race", 1), NATIVE_END,
};
static const FlowNativeEntry timer_members[] = {
    PRELUDE("delay", "Timer_delay", 1),
    PRELUDE("until", "Timer_until", 1),
    NATIVE_END,
};
static const FlowNativeEntry signal_members[] = {
    PRELUDE("next", "Signal_next", 1),
    PRELUDE("when", "Signal_when", 2),
    NATIVE_END,
};
static const FlowNativeEntry event_members[] = {
    PRELUDE("wait", "Event_wait", 2),
    PRELUDE("emit", "Event_emit", 2),
    NATIVE_END,
};
static const FlowNativeEntry workflow_members[] = {
    PRELUDE("run", "Workflow_run", 3),
    PRELUDE("start", "Workflow_start", 3),
    PRELUDE("continueAs", "Workflow_continueAs", 1),
    NATIVE_END,
};
static const FlowNativeEntry stream_members[] = {
    PRELUDE("write", "Stream_write", 2),
    NATIVE_END,
};
static const FlowNativeEntry state_members[] = {
    PRELUDE("set", "State_set", 2),
    PRELUDE("get", "State_get", 1),
    NATIVE_END,
};
static const FlowNativeEntry crypto_members[] = {
    NATIVE("randomUUID", crypto_random_uuid, 0),
    NATIVE_END,
};

#define NAMESPACE(text, table)                                                                     \
    { .name = text, .statics = table, .tag = text }
const FlowClassEntry flow_class_task = NAMESPACE("Task", task_members);
const FlowClassEntry flow_class_timer = NAMESPACE("Timer", timer_members);
const FlowClassEntry flow_class_signal = NAMESPACE("Signal", signal_members);
const FlowClassEntry flow_class_event = NAMESPACE("Event", event_members);
const FlowClassEntry flow_class_workflow = NAMESPACE("Workflow", workflow_members);
const FlowClassEntry flow_class_stream = NAMESPACE("Stream", stream_members);
const FlowClassEntry flow_class_state = NAMESPACE("State", state_members);
const FlowClassEntry flow_class_crypto = {
    .name = "crypto", .statics = crypto_members, .tag = "Crypto"};

const FlowNativeEntry flow_globals_check[] = {
    PRELUDE("Invariant", "Invariant", 2),
    PRELUDE("Always", "Always", 2),
    PRELUDE("Eventually", "Eventually", 2),
    NATIVE_END,
};

static const FlowNativeEntry handle_members[] = {
    NATIVE("@@toPrimitive", handle_to_primitive, 1),
    NATIVE_END,
};
const FlowClassEntry flow_class_handle = {
    .name = "%Handle", .members = handle_members, .proto_id = 1 + PROTO_HANDLE};

const FlowNativeEntry flow_intrinsics_host[] = {
    NATIVE("hostStart", host_start, 8),
    NATIVE("hostStartRun", host_start_run, 4),
    NATIVE("hostEffect", host_effect, 3),
    NATIVE("hostStateGet", host_state_get, 1),
    NATIVE("hostLooks", host_looks, 0),
    NATIVE("hostCheck", host_check, 3),
    NATIVE("hostLook", host_look, 0),
    NATIVE("hostContinueAs", host_continue_as, 1),
    NATIVE("durationMs", host_duration, 1),
    NATIVE("instantMs", host_instant, 1),
    NATIVE_END,
};
