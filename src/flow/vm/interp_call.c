// Call instructions off the fast path, and the errors that name what the script wrote.
//
// The loop in interp.c calls plain closures and natives itself; here is everything else. The
// compiler leaves the source text of callees and iterables beside the code (FlowDescription), and
// messages use it in V8's words.
//
// Not here: how a frame is made (call.c).
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/interp_internal.h"
#include <stdio.h>

// V8's words for a value it has no source text for: "number 5", "object null", "undefined".
static void default_call_site(FlowVm *vm, FlowValue value, char ret_text[FLOW_TEXT_MAX]) {
    char text[FLOW_TEXT_MAX];
    if (flow_is_string(value)) {
        snprintf(ret_text, FLOW_TEXT_MAX, "string \"%.*s\"", FLOW_TEXT_MAX - 12,
                 flow_describe(vm, value, text));
    } else if (flow_is_undefined(value) || flow_is_object(value) || flow_is_symbol(value)) {
        snprintf(ret_text, FLOW_TEXT_MAX, "%s", flow_typeof(value));
    } else {
        snprintf(ret_text, FLOW_TEXT_MAX, "%s %.*s", flow_typeof(value), FLOW_TEXT_MAX - 12,
                 flow_describe(vm, value, text));
    }
}

static bool throw_not_iterable(FlowVm *vm, FlowValue value, FlowValue source, const char *what) {
    char text[FLOW_TEXT_MAX];
    if (flow_is_hole(source)) {
        default_call_site(vm, value, text);
        return flow_throw_type(
            vm, "%s is not iterable (cannot read property Symbol(Symbol.iterator))", text);
    }
    flow_describe(vm, source, text);
    size_t length = strlen(text);
    static const char call[] = "(...)";
    bool is_call = length > sizeof call && strcmp(text + length - sizeof call + 1, call) == 0;
    if (is_call) {
        if (what[0] != 'a') text[length - sizeof call + 1] = 0; // V8 keeps it in "async iterable"
        return flow_throw_type(vm, "%s is not a function or its return value is not %s", text,
                               what);
    }
    return flow_throw_type(vm, "%s is not %s", text, what);
}

// A call whose result is iterated at once: V8 speaks of both. Answers false when it is not one.
static bool throw_iterated_call(FlowVm *vm, FlowInstruction in, FlowValue source) {
    const FlowFrame *frame = interp_frame(vm);
    const FlowRoutine *routine = frame->closure->routine;
    const FlowInstruction *next = &routine->code[frame->pc]; // a call is never the last one
    if (flow_is_hole(source) || next->b != in.c) return false;
    FlowValue iterated = flow_routine_description(routine, frame->pc);
    char text[FLOW_TEXT_MAX];
    if (next->op == OP_GET_ITERATOR && next->c == 1 && !flow_is_hole(iterated)) { // yield*
        flow_throw_type(vm, "%s is not iterable", flow_describe(vm, iterated, text));
        return true;
    }
    bool is_spread = next->op == OP_ARRAY_SPREAD && next->c == 0 && !flow_is_hole(iterated);
    if (next->op == OP_GET_ASYNC_ITERATOR && !flow_is_hole(iterated)) {
        flow_throw_type(vm, "%s is not a function or its return value is not async iterable",
                        flow_describe(vm, iterated, text));
        return true;
    }
    if (!is_spread && (next->op != OP_GET_ITERATOR || next->c == 1)) return false;
    flow_throw_type(vm, "%s is not a function or its return value is not iterable",
                    flow_describe(vm, source, text));
    return true;
}

static bool throw_not_function(FlowVm *vm, FlowInstruction in, FlowValue function) {
    const FlowFrame *frame = interp_frame(vm);
    FlowValue source = flow_routine_description(frame->closure->routine, frame->pc - 1);
    if (throw_iterated_call(vm, in, source)) return false;
    return interp_throw_described(vm, function, "function");
}

bool interp_throw_described(FlowVm *vm, FlowValue value, const char *what) {
    FlowFrame *frame = interp_frame(vm);
    const FlowRoutine *routine = frame->closure->routine;
    bool is_prelude = routine->flags & ROUTINE_PRELUDE; // a script did not write that text
    FlowValue source = is_prelude ? FLOW_HOLE : flow_routine_description(routine, frame->pc - 1);
    if (strstr(what, "iterable")) return throw_not_iterable(vm, value, source, what);
    char text[FLOW_TEXT_MAX];
    flow_describe(vm, flow_is_hole(source) ? value : source, text);
    return flow_throw_type(vm, "%s is not a %s", text, what);
}

bool interp_call(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue function = vm->stack[base + in.a];
    if (!flow_is_callable(function)) return throw_not_function(vm, in, function);
    return flow_vm_enter(vm, &(FlowInvocation){.function = function,
                                               .new_target = FLOW_UNDEFINED,
                                               .base = base + in.a + 1,
                                               .count = in.b,
                                               .return_to = base + in.c,
                                               .return_kind = RETURN_STORE});
}

bool interp_new(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue function = vm->stack[base + in.a];
    if (!flow_is_constructor(function)) {
        return interp_throw_described(vm, function, "constructor");
    }
    return flow_vm_enter(vm, &(FlowInvocation){.function = function,
                                               .new_target = vm->stack[base + in.a + 1],
                                               .base = base + in.a + 1,
                                               .count = in.b,
                                               .return_to = base + in.c,
                                               .return_kind = RETURN_STORE});
}

bool interp_call_spread(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    uint32_t block = base + in.a;
    FlowValue function = vm->stack[block];
    bool is_new = in.op == OP_NEW_SPREAD;
    if (is_new ? !flow_is_constructor(function) : !flow_is_callable(function)) {
        return is_new ? interp_throw_described(vm, function, "constructor")
                      : throw_not_function(vm, in, function);
    }
    FlowArray *arguments = flow_as_array(vm->stack[block + 2]);
    uint32_t count = arguments->length;
    if (count > CALL_ARGUMENTS_MAX) {
        return flow_throw_range(vm, "Maximum call stack size exceeded");
    }
    if (!flow_vm_reserve_stack(vm, block + 2 + count)) return false;
    const FlowStorage *dense = flow_dense(&arguments->object);
    if (dense && dense->count == count) {
        memcpy(vm->stack + block + 2, dense->values, count * sizeof *dense->values);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            vm->stack[block + 2 + i] = flow_object_element(vm, &arguments->object, i);
        }
    }
    return flow_vm_enter(
        vm, &(FlowInvocation){.function = function,
                              .new_target = is_new ? vm->stack[block + 1] : FLOW_UNDEFINED,
                              .base = block + 1,
                              .count = count,
                              .return_to = base + in.c,
                              .return_kind = RETURN_STORE});
}

bool interp_intrinsic(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowObject *function = vm->realm->intrinsics[in.c];
    return flow_vm_enter(vm, &(FlowInvocation){.function = flow_from_object(function),
                                               .new_target = FLOW_UNDEFINED,
                                               .base = base + in.a + 1,
                                               .count = in.b,
                                               .return_to = base + in.a,
                                               .return_kind = RETURN_STORE});
}

bool interp_return_derived(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue value = vm->stack[base + in.a];
    FlowValue this_value = vm->stack[base + in.b];
    if (!flow_is_object(value)) {
        if (!flow_is_undefined(value)) {
            return flow_throw_type(vm, "Derived constructors may only return object or undefined");
        }
        if (flow_is_hole(this_value)) {
            return flow_throw_reference(vm, "Must call super constructor in derived class before "
                                            "accessing 'this' or returning from derived "
                                            "constructor");
        }
        value = this_value;
    }
    return flow_vm_return(vm, value);
}

bool interp_throw_damaged(FlowVm *vm) {
    return flow_throw_error(vm, ERROR_KIND_ERROR, "internal error: damaged execution state");
}

bool interp_throw_uninitialized(FlowVm *vm, FlowValue name) {
    char text[FLOW_TEXT_MAX];
    return flow_throw_reference(vm, "Cannot access '%s' before initialization",
                                flow_describe(vm, name, text));
}

bool interp_throw_error(FlowVm *vm, FlowInstruction in) {
    FlowValue message = interp_frame(vm)->closure->routine->constants[in.wide];
    FlowErrorKind kind = in.a < ERROR_KIND_COUNT ? (FlowErrorKind)in.a : ERROR_KIND_ERROR;
    FlowString *text = flow_is_string(message) ? flow_as_string(message) : flow_string_empty(vm);
    return flow_throw(vm, flow_from_object(flow_error_new(vm, kind, text)));
}
