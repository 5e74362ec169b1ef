// Results: what a turn's outcome looks like from outside, and what comes in from there.
//
// Texts of the last result live in FlowVmTexts until the next one.
//
//   [vm-result-1] Reading a failed run's error runs no script code: only data properties are looked
//        at.
//   [vm-result-2] A settlement that cannot be read (bad JSON) changes nothing.
#include "base/array.h"
#include "base/memory.h"
#include "flow/mask/hide.h"
#include "flow/value/object_layout.h"
#include "flow/vm/promise.h"
#include "flow/vm/vm.h"

enum { TEXT_MAX = 64 << 20, FAILURE_TEXT_MAX = 256 << 10 };

typedef struct FlowVmTexts {
    Buf json;
    Buf name;
    Buf message;
    Buf code;
    Buf stack;
    Buf details;
    FlowWait *waits;
} FlowVmTexts;

void flow_vm_texts_free(FlowVm *vm) {
    FlowVmTexts *texts = vm->texts;
    if (!texts) return;
    buf_done(&texts->json);
    buf_done(&texts->name);
    buf_done(&texts->message);
    buf_done(&texts->code);
    buf_done(&texts->stack);
    buf_done(&texts->details);
    mem_free(texts->waits);
    mem_free(texts);
    vm->texts = NULL;
}

static FlowVmTexts *texts_new(FlowVm *vm) {
    flow_vm_texts_free(vm);
    FlowVmTexts *texts = mem_zalloc(sizeof *texts);
    buf_init(&texts->json, TEXT_MAX);
    buf_init(&texts->name, FAILURE_TEXT_MAX);
    buf_init(&texts->message, FAILURE_TEXT_MAX);
    buf_init(&texts->code, FAILURE_TEXT_MAX);
    buf_init(&texts->stack, FAILURE_TEXT_MAX);
    buf_init(&texts->details, FAILURE_TEXT_MAX);
    vm->texts = texts;
    return texts;
}

static void append_property(FlowVm *vm, FlowObject *error, FlowKey key, Buf *out) {
    FlowValue value = flow_object_get_data(vm, error, key);
    if (flow_is_string(value)) flow_string_to_utf8(vm, flow_as_string(value), out);
}

static void fill_failure(FlowVm *vm, FlowVmTexts *texts, FlowFailure *ret) {
    FlowValue error = vm->result;
    bool has_code = false;
    if (flow_is_object(error)) {
        FlowObject *object = flow_as_object(error);
        append_property(vm, object, FLOW_KEY(vm, name), &texts->name);
        append_property(vm, object, FLOW_KEY(vm, message), &texts->message);
        append_property(vm, object, FLOW_KEY(vm, stack), &texts->stack);
        FlowValue code = flow_object_get_data(vm, object, FLOW_KEY(vm, code));
        has_code = flow_is_string(code);
        append_property(vm, object, FLOW_KEY(vm, code), &texts->code);
    } else {
        char text[FLOW_TEXT_MAX];
        buf_append_cstr(&texts->message, flow_describe(vm, error, text));
    }
    if (texts->name.len == 0) buf_append_cstr(&texts->name, "Error");
    if (texts->stack.len == 0) {
        buf_printf(&texts->stack, "%s: %s", buf_cstr(&texts->name), buf_cstr(&texts->message));
    }
    flow_json_from_value(vm, error, &texts->details);
    *ret = (FlowFailure){
        .name = buf_str(&texts->name),
        .message = buf_str(&texts->message),
        .code = has_code ? buf_str(&texts->code) : STR_NULL,
        .stack = buf_str(&texts->stack),
        .json = buf_str(&texts->details),
    };
}

// ---- what the script waits for ----

enum { GROUPS_MAX = 15 }; // further combinators are told of each item

typedef struct Groups {
    const FlowCombinator *combinators[GROUPS_MAX];
    uint8_t count;
    uint8_t last; // the one found last: items mostly come combinator by combinator
} Groups;

static uint8_t quiet_of(const FlowCombinator *combinator) {
    switch ((FlowCombinatorKind)combinator->cell.small) {
    case COMBINATOR_ALL: return FLOW_QUIET_FULFILLED;
    case COMBINATOR_ALL_SETTLED: return FLOW_QUIET_FULFILLED | FLOW_QUIET_REJECTED;
    case COMBINATOR_ANY:
    case COMBINATOR_TASK_ANY: return FLOW_QUIET_REJECTED;
    case COMBINATOR_RACE:
    case COMBINATOR_TASK_RACE: break;
    }
    return 0;
}

static uint8_t group_of(Groups *groups, const FlowCombinator *combinator) {
    if (groups->count > 0 && groups->combinators[groups->last] == combinator)
        return (uint8_t)(groups->last + 1);
    for (groups->last = 0; groups->last < groups->count; groups->last++)
        if (groups->combinators[groups->last] == combinator) return (uint8_t)(groups->last + 1);
    if (groups->count == GROUPS_MAX) {
        groups->last = 0;
        return 0;
    }
    groups->combinators[groups->count++] = combinator;
    return groups->count;
}

static void fill_group(Groups *groups, const FlowPromise *promise, FlowWait *wait) {
    const FlowCombinator *combinator = flow_promise_feeds(promise);
    uint8_t quiet = combinator ? quiet_of(combinator) : 0;
    if (quiet == 0) return;
    wait->group = group_of(groups, combinator);
    if (wait->group != 0) wait->quiet = quiet;
}

static void fill_waits(FlowVm *vm, FlowVmTexts *texts, FlowRunResult *ret) {
    Groups groups = {0};
    texts->waits = mem_zalloc((vm->awaitable_count + 1) * sizeof *texts->waits);
    ret->is_stuck = true;
    ret->waits = texts->waits;
    for (uint32_t i = 0; i < vm->awaitable_count; i++) {
        const FlowAwaitable *awaitable = &vm->awaitables[i];
        if (awaitable->kind == FLOW_AWAIT_LOOK) continue; // nobody outside settles it
        bool is_awaited = flow_promise_is_awaited(awaitable->promise);
        FlowWait *wait = &texts->waits[ret->wait_count++];
        *wait = (FlowWait){
            .id = awaitable->id, .kind = (FlowAwaitKind)awaitable->kind, .is_awaited = is_awaited};
        if (!is_awaited) continue;
        ret->is_stuck = false;
        fill_group(&groups, awaitable->promise, wait);
    }
}

void flow_vm_fill_result(FlowVm *vm, FlowOutcome outcome, FlowRunResult *ret) {
    *ret = (FlowRunResult){.outcome = outcome};
    if (outcome == FLOW_PREEMPTED) return;
    FlowVmTexts *texts = texts_new(vm);
    switch (outcome) {
    case FLOW_COMPLETED:
    case FLOW_CONTINUE_AS:
        if (flow_is_string(vm->result)) {
            flow_string_to_utf8(vm, flow_as_string(vm->result), &texts->json);
        } else {
            buf_append_cstr(&texts->json, "null");
        }
        ret->result_json = buf_str(&texts->json);
        return;
    case FLOW_FAILED:
        flow_mask_hide(vm);
        fill_failure(vm, texts, &ret->failure);
        return;
    case FLOW_PARKED: fill_waits(vm, texts, ret); return;
    case FLOW_PREEMPTED: return;
    }
}

// --- settling

static FlowErrorKind error_kind_of(const char *class_name) {
    static const struct {
        const char *name;
        FlowErrorKind kind;
    } kinds[] = {
        {"TaskError", ERROR_KIND_TASK},           {"TimeoutError", ERROR_KIND_TIMEOUT},
        {"CancelledError", ERROR_KIND_CANCELLED}, {"ChildWorkflowError", ERROR_KIND_CHILD},
        {"TypeError", ERROR_KIND_TYPE},           {"RangeError", ERROR_KIND_RANGE},
    };
    for (size_t i = 0; class_name && i < COUNT_OF(kinds); i++) {
        if (strcmp(kinds[i].name, class_name) == 0) return kinds[i].kind;
    }
    return ERROR_KIND_ERROR;
}

static void set_cause(FlowVm *vm, FlowObject *error, FlowValue cause) {
    flow_object_define(vm, error, FLOW_KEY(vm, cause), cause, PROPERTY_HIDDEN);
}

static void copy_own(FlowVm *vm, FlowObject *target, FlowValue source) {
    if (!flow_is_object(source)) return;
    FlowArray *keys = flow_object_keys(vm, flow_as_object(source), KEYS_STRINGS);
    for (uint32_t i = 0; i < keys->length; i++) {
        FlowValue name = flow_object_element(vm, &keys->object, i);
        FlowKey key = flow_key_string(vm, flow_as_string(name));
        bool is_reserved = key.bits == FLOW_NAME(vm, message).bits ||
                           key.bits == FLOW_NAME(vm, stack).bits ||
                           key.bits == FLOW_NAME(vm, cause).bits;
        if (is_reserved) continue;
        flow_object_put(vm, target, key, flow_object_get_data(vm, flow_as_object(source), key));
    }
}

enum { CAUSES_MAX = 32 }; // of causes; what lies deeper stays data

static FlowValue field_of(FlowVm *vm, FlowValue data, FlowKey key) {
    bool is_record = flow_is_object(data) && !flow_is_array(data);
    return is_record ? flow_object_get_data(vm, flow_as_object(data), key) : FLOW_UNDEFINED;
}

// {"name" or "type", "message", …} becomes an Error that shows them, and so do its causes; other
// data stays data. A failed run keeps what was thrown, with its cause, in "value".
static FlowValue cause_from_data(FlowVm *vm, FlowValue data) {
    FlowValue first = data;
    FlowObject *effect = NULL; // what `data` is the cause of
    for (int i = 0; i < CAUSES_MAX; i++) {
        FlowValue message = field_of(vm, data, FLOW_KEY(vm, message));
        if (!flow_is_string(message)) break;
        FlowObject *error = flow_error_new(vm, ERROR_KIND_ERROR, flow_as_string(message));
        copy_own(vm, error, data);
        FlowValue type = field_of(vm, data, flow_key_cstr(vm, "type"));
        if (flow_is_string(type) && !flow_is_string(field_of(vm, data, FLOW_KEY(vm, name)))) {
            flow_object_define(vm, error, FLOW_KEY(vm, name), type, PROPERTY_HIDDEN);
        }
        if (effect) set_cause(vm, effect, flow_from_object(error));
        else first = flow_from_object(error);
        FlowValue cause = field_of(vm, data, FLOW_KEY(vm, cause));
        if (flow_is_undefined(cause)) {
            cause = field_of(vm, field_of(vm, data, FLOW_KEY(vm, value)), FLOW_KEY(vm, cause));
        }
        if (flow_is_undefined(cause)) break;
        set_cause(vm, error, cause);
        effect = error;
        data = cause;
    }
    return first;
}

static Status settlement_error(FlowVm *vm, const FlowSettlement *settlement, FlowValue *ret,
                               Diag *diag) {
    FlowValue properties = FLOW_UNDEFINED;
    FlowValue cause = FLOW_UNDEFINED;
    if (!str_is_null(settlement->properties_json)) {
        TRY(flow_json_to_value(vm, settlement->properties_json, &properties, diag));
    }
    if (!str_is_null(settlement->cause_json)) {
        TRY(flow_json_to_value(vm, settlement->cause_json, &cause, diag));
    }
    FlowString *message =
        flow_string_utf8(vm, str_is_null(settlement->message) ? STR("") : settlement->message);
    FlowObject *error = flow_error_new(vm, error_kind_of(settlement->error_class), message);
    copy_own(vm, error, properties);
    if (!str_is_null(settlement->code)) {
        FlowString *code = flow_string_utf8(vm, settlement->code);
        flow_object_put(vm, error, FLOW_KEY(vm, code), flow_from_string(code));
    }
    if (!str_is_null(settlement->cause_json)) {
        set_cause(vm, error, cause_from_data(vm, cause));
    }
    *ret = flow_from_object(error);
    return OK;
}

Status flow_vm_settle(FlowVm *vm, const FlowSettlement *settlement, Diag *diag) {
    FlowPromise *promise = flow_vm_awaitable_find(vm, settlement->id);
    if (!promise) {
        return diag_set(diag, ERR_NOT_FOUND, "AWAITABLE_NOT_FOUND", "awaitable %u is not pending",
                        settlement->id);
    }
    FlowValue value = FLOW_UNDEFINED;
    if (settlement->is_rejected) {
        TRY(settlement_error(vm, settlement, &value, diag));
        flow_promise_reject(vm, promise, value);
    } else {
        if (!str_is_null(settlement->json)) {
            TRY(flow_json_to_value(vm, settlement->json, &value, diag));
        }
        flow_promise_resolve(vm, promise, value);
    }
    flow_vm_awaitable_remove(vm, settlement->id);
    return OK;
}
