// Errors: making, throwing and describing them; the captured stack and its text.
//
// An error object has `stack` in slot 0 (HOLE until somebody reads it, then the text) and
// `message` in slot 1 when it has one, the order V8 shows. FlowErrorObject.frames is a storage
// cell: a string that is not used any more (snapshots have it), then two numbers per frame.
//
//   [error-1] A captured frame is (routine, place): routine >= 0 is an index into the module, < 0
//        is -1 - index into the prelude; place is the pc, plus STACK_CONSTRUCT for `new`.
//   [error-2] Capturing allocates a few words and runs no script code; neither does the text.
//   [error-3] The first line is made with the text: a constructor that sets `name` after super()
//        shows.
//   [error-4] An error that came from outside was thrown by no function. Its frames are those that
//        wait for it when it first reaches a reaction, and they stay. A frame whose instruction is
//        AWAIT is shown as "async".
#include "flow/value/error.h"
#include "flow/builtin/objects.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"
#include <stdarg.h>
#include <stdio.h>

enum {
    STACK_FRAMES_MAX = 10,
    STACK_CONSTRUCT = 1 << 28,
    MESSAGE_MAX = 512,
    WAITING_STEPS_MAX = 256, // from promise to promise, in search of who waits
};

static FlowProtoId error_proto(FlowErrorKind kind) {
    static const FlowProtoId protos[ERROR_KIND_COUNT] = {
        [ERROR_KIND_ERROR] = PROTO_ERROR,
        [ERROR_KIND_TYPE] = PROTO_TYPE_ERROR,
        [ERROR_KIND_RANGE] = PROTO_RANGE_ERROR,
        [ERROR_KIND_REFERENCE] = PROTO_REFERENCE_ERROR,
        [ERROR_KIND_SYNTAX] = PROTO_SYNTAX_ERROR,
        [ERROR_KIND_URI] = PROTO_URI_ERROR,
        [ERROR_KIND_EVAL] = PROTO_EVAL_ERROR,
        [ERROR_KIND_AGGREGATE] = PROTO_AGGREGATE_ERROR,
        [ERROR_KIND_TASK] = PROTO_TASK_ERROR,
        [ERROR_KIND_TIMEOUT] = PROTO_TIMEOUT_ERROR,
        [ERROR_KIND_CANCELLED] = PROTO_CANCELLED_ERROR,
        [ERROR_KIND_CHILD] = PROTO_CHILD_ERROR,
    };
    return protos[kind];
}

static void flow_error_capture(FlowVm *vm, FlowErrorObject *error);

FlowErrorObject *flow_error_alloc(FlowVm *vm, FlowObject *proto, FlowValue message) {
    FlowErrorObject *error =
        (FlowErrorObject *)flow_object_alloc(vm, KIND_ERROR, sizeof *error, proto);
    error->frames = FLOW_UNDEFINED;
    FlowObject *object = &error->object;
    flow_object_define(vm, object, FLOW_KEY(vm, stack), FLOW_HOLE, PROPERTY_HIDDEN);
    if (!flow_is_undefined(message)) {
        flow_object_define(vm, object, FLOW_KEY(vm, message), message, PROPERTY_HIDDEN);
    }
    flow_error_capture(vm, error);
    return error;
}

FlowObject *flow_error_new(FlowVm *vm, FlowErrorKind kind, FlowString *message) {
    FlowObject *proto = vm->realm->protos[error_proto(kind)];
    return &flow_error_alloc(vm, proto, flow_from_string(message))->object;
}

// --- the stack

// "Name: message", from data properties only [error-2].
static FlowString *error_header(FlowVm *vm, FlowObject *error) {
    FlowValue name = flow_object_get_data(vm, error, FLOW_KEY(vm, name));
    FlowValue message = flow_object_get_data(vm, error, FLOW_KEY(vm, message));
    FlowString *left = flow_is_string(name) ? flow_as_string(name) : flow_string_cstr(vm, "Error");
    bool has_message = flow_is_string(message) && flow_string_length(flow_as_string(message));
    if (!has_message) return left;
    if (flow_string_length(left) == 0) return flow_as_string(message);
    FlowString *joined = flow_string_concat(vm, left, flow_string_cstr(vm, ": "));
    joined = joined ? flow_string_concat(vm, joined, flow_as_string(message)) : NULL;
    return joined ? joined : left;
}

// Helpers of the interpreter are not shown; prelude methods are, as built-ins.
static bool is_hidden_prelude(const FlowRoutine *routine) {
    FlowString *name = flow_as_string(routine->name);
    if (flow_string_length(name) == 0 || flow_string_is_wide(name)) return true;
    return name->latin1[0] < 'A' || name->latin1[0] > 'Z';
}

typedef struct StackCapture {
    FlowValue entries[STACK_FRAMES_MAX * 2]; // [error-1]
    uint32_t count;
} StackCapture;

static bool is_full(const StackCapture *capture) { return capture->count == STACK_FRAMES_MAX * 2; }

static void capture_frame(StackCapture *capture, const FlowRoutine *routine, int32_t place) {
    bool is_prelude = routine->flags & ROUTINE_PRELUDE;
    if (is_full(capture) || (is_prelude && is_hidden_prelude(routine))) return;
    int32_t index = (int32_t)routine->index;
    capture->entries[capture->count++] = flow_int(is_prelude ? -1 - index : index);
    capture->entries[capture->count++] = flow_int(place);
}

static const FlowPromise *promise_or_null(FlowValue value) {
    return flow_is_kind(value, KIND_PROMISE) ? flow_as_pointer(value) : NULL;
}

// The promise that has the outcome of a coroutine; NULL when nobody can wait for it.
static const FlowPromise *outcome_of(const FlowCoroutine *coroutine) {
    if (coroutine->promise) return coroutine->promise;
    return coroutine->first_request ? coroutine->first_request->promise : NULL;
}

// Captures the function that a reaction resumes, if it does, and answers which promise has the
// outcome of the reaction.
static const FlowPromise *capture_reaction(StackCapture *capture, const FlowReaction *reaction) {
    switch ((FlowReactionKind)reaction->cell.small) {
    case REACTION_AWAIT:
    case REACTION_GENERATOR_RETURN: {
        const FlowCoroutine *coroutine = flow_as_pointer(reaction->target);
        const FlowClosure *closure = flow_as_pointer(coroutine->function);
        bool is_waiting = coroutine->state == COROUTINE_SUSPENDED && coroutine->is_awaiting;
        if (is_waiting) capture_frame(capture, closure->routine, (int32_t)coroutine->pc);
        return outcome_of(coroutine);
    }
    case REACTION_COMBINATOR:
        return promise_or_null(((FlowCombinator *)flow_as_pointer(reaction->target))->promise);
    case REACTION_THEN:
    case REACTION_FINALLY:
    case REACTION_FINALLY_VALUE:
    case REACTION_RESOLVE:
    case REACTION_SYNC_ITERATOR: return promise_or_null(reaction->promise);
    }
    return NULL;
}

// [error-4] Who waits for `promise`, who waits for that, and so on: what a stack would show if
//      awaiting
// were calling. Of several that wait for one promise, the one that came first.
static void capture_waiting(StackCapture *capture, const FlowPromise *promise) {
    for (int i = 0; promise && promise->first && i < WAITING_STEPS_MAX && !is_full(capture); i++)
        promise = capture_reaction(capture, promise->first);
}

static void capture_store(FlowVm *vm, FlowErrorObject *error, const StackCapture *capture) {
    uint32_t count = capture->count;
    FlowStorage *storage = flow_heap_alloc(&vm->heap, KIND_ELEMENTS,
                                           sizeof *storage + (count + 1) * sizeof(FlowValue));
    storage->cell.aux = storage->count = count + 1;
    storage->values[0] = flow_from_string(flow_string_empty(vm)); // [error-3]
    memcpy(storage->values + 1, capture->entries, count * sizeof *capture->entries);
    error->frames = flow_from_cell(storage);
}

static void flow_error_capture(FlowVm *vm, FlowErrorObject *error) {
    StackCapture capture = {.count = 0};
    const FlowCoroutine *bottom = NULL;
    for (uint32_t i = vm->frame_count; i-- > 0;) {
        const FlowFrame *frame = &vm->frames[i];
        if (frame->kind != FRAME_SCRIPT) continue;
        int32_t place = frame->pc ? (int32_t)(frame->pc - 1) : 0;
        if (frame->flags & FRAME_CONSTRUCT) place |= STACK_CONSTRUCT;
        capture_frame(&capture, frame->closure->routine, place);
        bottom = frame->coroutine;
        if (is_full(&capture)) break;
    }
    bool is_handler = vm->driver == DRIVER_REACTION || vm->driver == DRIVER_FINALLY;
    if (bottom) capture_waiting(&capture, outcome_of(bottom));
    else if (is_handler && capture.count > 0)
        capture_waiting(&capture, promise_or_null(vm->driver_reaction->promise));
    capture_store(vm, error, &capture);
}

void flow_error_place(FlowVm *vm, FlowValue value, const FlowReaction *reaction) {
    if (!flow_is_kind(value, KIND_ERROR)) return;
    FlowErrorObject *error = flow_as_pointer(value);
    if (!flow_is_cell(error->frames)) return;                               // its text was read
    if (((FlowStorage *)flow_as_pointer(error->frames))->count > 1) return; // it has a place
    StackCapture capture = {.count = 0};
    capture_waiting(&capture, capture_reaction(&capture, reaction));
    if (capture.count > 0) capture_store(vm, error, &capture);
}

// "Array_prototype_map" is shown as "Array.map".
static void append_prelude_name(FlowStringBuilder *out, FlowString *name) {
    static const char middle[] = "_prototype_";
    uint32_t length = flow_string_length(name);
    for (uint32_t i = 0; i < length; i++) {
        bool is_middle = length - i >= sizeof middle - 1 &&
                         memcmp(name->latin1 + i, middle, sizeof middle - 1) == 0;
        if (is_middle) i += (uint32_t)sizeof middle - 2;
        flow_builder_unit(out, is_middle || name->latin1[i] == '_' ? '.' : name->latin1[i]);
    }
}

static void append_place(FlowStringBuilder *out, const FlowModule *module, const FlowLine *line) {
    char text[64];
    FlowString *file = flow_string_utf8(out->vm, module->file_name);
    flow_builder_string(out, file);
    snprintf(text, sizeof text, ":%u:%u", line ? line->line : 0, line ? line->column : 0);
    flow_builder_ascii(out, text);
}

static bool is_at_await(const FlowRoutine *routine, int32_t place) {
    uint32_t pc = (uint32_t)(place & ~STACK_CONSTRUCT);
    return pc < routine->code_count && routine->code[pc].op == OP_AWAIT;
}

static void append_frame(FlowStringBuilder *out, int32_t index, int32_t place) {
    FlowVm *vm = out->vm;
    const FlowModule *module = index < 0 ? vm->realm->prelude : vm->module;
    const FlowRoutine *routine = &module->routines[index < 0 ? -1 - index : index];
    FlowString *name = flow_as_string(routine->name);
    flow_builder_ascii(out, "\n    at ");
    if (index < 0) {
        append_prelude_name(out, name);
        flow_builder_ascii(out, " (<anonymous>)");
        return;
    }
    bool has_name = flow_string_length(name) && !(routine->flags & ROUTINE_MODULE);
    if (is_at_await(routine, place)) flow_builder_ascii(out, "async ");
    if (place & STACK_CONSTRUCT) flow_builder_ascii(out, "new ");
    if (has_name) {
        flow_builder_string(out, name);
        flow_builder_ascii(out, " (");
    }
    const FlowLine *line = flow_routine_position(routine, (uint32_t)(place & ~STACK_CONSTRUCT));
    append_place(out, module, line);
    if (has_name) flow_builder_unit(out, ')');
}

FlowString *flow_error_stack(FlowVm *vm, FlowErrorObject *error) {
    FlowStringBuilder out;
    FlowValue pending = vm->exception; // a text that is too long must not look like a throw
    flow_builder_init(&out, vm);
    if (flow_is_cell(error->frames)) {
        FlowStorage *storage = flow_as_pointer(error->frames);
        flow_builder_string(&out, error_header(vm, &error->object)); // [error-3]
        for (uint32_t i = 1; i + 1 < storage->count; i += 2) {
            append_frame(&out, flow_as_int(storage->values[i]),
                         flow_as_int(storage->values[i + 1]));
        }
    }
    FlowString *text = flow_builder_finish(&out);
    vm->exception = pending;
    error->frames = FLOW_UNDEFINED;
    return text ? text : flow_string_empty(vm);
}

// --- throwing

bool flow_throw(FlowVm *vm, FlowValue value) {
    // HOLE means "no exception"; a register of a made-up snapshot may hold it all the same.
    vm->exception = flow_is_hole(value) ? FLOW_UNDEFINED : value;
    return false;
}

// Texts on their way into a message end at a NUL, so one that belongs to them travels as two bytes
// that no UTF-8 has.
static const char nul_bytes[] = "\xC0\x80";

static Str restore_nuls(char *text) {
    size_t len = 0;
    for (const char *at = text; *at; len++) {
        bool is_nul = at[0] == nul_bytes[0] && at[1] == nul_bytes[1];
        text[len] = is_nul ? 0 : *at;
        at += is_nul ? 2 : 1;
    }
    return (Str){text, len};
}

bool flow_throw_error(FlowVm *vm, FlowErrorKind kind, const char *format, ...) {
    char text[MESSAGE_MAX];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    FlowString *message = flow_string_utf8(vm, restore_nuls(text));
    return flow_throw(vm, flow_from_object(flow_error_new(vm, kind, message)));
}

bool flow_throw_memory(FlowVm *vm) {
    return flow_throw_error(vm, ERROR_KIND_RANGE, "out of memory budget (%llu bytes)",
                            (unsigned long long)vm->limits.heap_bytes);
}

bool flow_throw_read(FlowVm *vm, FlowValue object, FlowKey key) {
    char text[FLOW_TEXT_MAX];
    return flow_throw_type(vm, "Cannot read properties of %s (reading '%s')",
                           flow_is_null(object) ? "null" : "undefined",
                           flow_describe_key(vm, key, text));
}

bool flow_throw_write(FlowVm *vm, FlowValue object, FlowKey key) {
    char text[FLOW_TEXT_MAX];
    return flow_throw_type(vm, "Cannot set properties of %s (setting '%s')",
                           flow_is_null(object) ? "null" : "undefined",
                           flow_describe_key(vm, key, text));
}

// --- describing

static const char *copy_text(FlowVm *vm, FlowString *s, char ret_text[FLOW_TEXT_MAX]) {
    Buf buf;
    uint32_t length = flow_string_length(s);
    if (length > FLOW_TEXT_MAX) s = flow_string_substring(vm, s, 0, FLOW_TEXT_MAX);
    buf_init(&buf, FLOW_TEXT_MAX * 4);
    flow_string_to_utf8(vm, s, &buf);
    size_t len = 0;
    for (size_t i = 0; i < buf.len && len < FLOW_TEXT_MAX - 2; i++) {
        if (buf.data[i] == 0) ret_text[len++] = nul_bytes[0];
        ret_text[len++] = buf.data[i] == 0 ? nul_bytes[1] : buf.data[i];
    }
    ret_text[len] = 0;
    buf_done(&buf);
    return ret_text;
}

const char *flow_describe_key(FlowVm *vm, FlowKey key, char ret_text[FLOW_TEXT_MAX]) {
    if (flow_key_is_symbol(key)) return flow_describe(vm, (FlowValue){key.bits}, ret_text);
    FlowValue value = flow_key_to_value(vm, key);
    return copy_text(vm, flow_as_string(value), ret_text);
}

static const char *describe_function(FlowVm *vm, FlowObject *function,
                                     char ret_text[FLOW_TEXT_MAX]) {
    if (function->cell.kind == KIND_CLOSURE) {
        const FlowRoutine *routine = ((FlowClosure *)function)->routine;
        Str source = {routine->module->source.data + routine->source_start,
                      routine->source_end - routine->source_start};
        if (!(routine->flags & ROUTINE_PRELUDE)) {
            snprintf(ret_text, FLOW_TEXT_MAX, "%.*s", STR_ARG(source));
            return ret_text;
        }
    }
    char inner[FLOW_TEXT_MAX] = "";
    FlowValue name = flow_object_get_data(vm, function, FLOW_KEY(vm, name));
    bool has_name = function->cell.kind != KIND_BOUND_FUNCTION && flow_is_string(name);
    if (has_name) copy_text(vm, flow_as_string(name), inner);
    snprintf(ret_text, FLOW_TEXT_MAX, "function %.*s() { [native code] }", FLOW_TEXT_MAX - 32,
             inner);
    return ret_text;
}

// As V8 does it without running script code: "#<Class>" for objects that print as objects do,
// "[object Tag]" for those with a toString of their own, errors by name and message.
static const char *describe_object(FlowVm *vm, FlowObject *object, char ret_text[FLOW_TEXT_MAX]) {
    if (flow_is_callable(flow_from_object(object))) {
        return describe_function(vm, object, ret_text);
    }
    FlowProperty text = {0};
    bool has_text = flow_object_lookup(vm, object, FLOW_KEY(vm, toString), &text);
    const FlowRealm *realm = vm->realm;
    bool is_error = object->cell.kind == KIND_ERROR ||
                    (has_text && text.holder == flow_object_body(vm, realm->protos[PROTO_ERROR]));
    if (is_error) return copy_text(vm, error_header(vm, object), ret_text);
    char inner[FLOW_TEXT_MAX];
    if (has_text && text.holder == flow_object_body(vm, realm->protos[PROTO_OBJECT])) {
        FlowValue constructor = flow_object_get_data(vm, object, FLOW_KEY(vm, constructor));
        FlowValue name = FLOW_UNDEFINED;
        if (flow_is_callable(constructor)) {
            name = flow_object_get_data(vm, flow_as_object(constructor), FLOW_KEY(vm, name));
        }
        if (flow_is_string(name) && flow_string_length(flow_as_string(name))) {
            snprintf(ret_text, FLOW_TEXT_MAX, "#<%.*s>", FLOW_TEXT_MAX - 8,
                     copy_text(vm, flow_as_string(name), inner));
            return ret_text;
        }
    }
    FlowValue tag = flow_object_get_data(vm, object, FLOW_SYMBOL(vm, SYMBOL_TO_STRING_TAG));
    const char *shown = flow_is_string(tag) ? copy_text(vm, flow_as_string(tag), inner)
                                            : flow_builtin_tag(flow_from_object(object));
    snprintf(ret_text, FLOW_TEXT_MAX, "[object %.*s]", FLOW_TEXT_MAX - 16, shown);
    return ret_text;
}

const char *flow_describe(FlowVm *vm, FlowValue value, char ret_text[FLOW_TEXT_MAX]) {
    if (flow_is_object(value)) return describe_object(vm, flow_as_object(value), ret_text);
    if (flow_is_symbol(value)) {
        FlowValue description = flow_as_symbol(value)->description;
        if (flow_as_symbol(value)->cell.aux & SYMBOL_PRIVATE) {
            return copy_text(vm, flow_as_string(description), ret_text);
        }
        char inner[FLOW_TEXT_MAX] = "";
        if (flow_is_string(description)) copy_text(vm, flow_as_string(description), inner);
        snprintf(ret_text, FLOW_TEXT_MAX, "Symbol(%.*s)", FLOW_TEXT_MAX - 12, inner);
        return ret_text;
    }
    if (flow_is_hole(value) || flow_is_cell(value)) value = FLOW_UNDEFINED;
    return copy_text(vm, flow_to_string(vm, value), ret_text);
}
