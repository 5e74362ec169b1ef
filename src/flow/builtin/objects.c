// What the built-ins around objects share: going on in the prelude, and the small questions about
// values that prelude routines ask as intrinsics.
//
//   [objects-1] An intrinsic here gets what the routine has already converted: a number where it
//        says number. It never needs script code to run.
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

FlowNativeResult flow_native_slow(FlowVm *vm, FlowNativeCall *call) {
    const FlowNativeEntry *entry =
        ((const FlowNativeFunction *)flow_as_pointer(call->function))->entry;
    call->call_function = flow_prelude_function(vm, entry->prelude);
    call->call_this = *call->this_value;
    call->call_arguments = flow_array_from(vm, call->arguments, call->count);
    call->call_new_target = FLOW_UNDEFINED;
    return NATIVE_CALL;
}

double flow_relative_index(double integer, double length) {
    if (integer < 0) return integer + length < 0 ? 0 : integer + length;
    return integer > length ? length : integer;
}

// --- intrinsics: what kind of value

static FlowNativeResult is_object(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_object(flow_argument(call, 0))));
}

static FlowNativeResult is_callable(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_callable(flow_argument(call, 0))));
}

static FlowNativeResult is_constructor(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_constructor(flow_argument(call, 0))));
}

static FlowNativeResult is_array(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_array(flow_argument(call, 0))));
}

static FlowNativeResult to_object(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    if (flow_is_object(value)) return flow_native_return(call, value);
    if (flow_is_nullish(value) && call->count > 1) {
        char text[FLOW_TEXT_MAX];
        return flow_native_throw(vm, ERROR_KIND_TYPE, "%s called on null or undefined",
                                 flow_describe(vm, call->arguments[1], text));
    }
    FlowObject *object = flow_to_object(vm, value);
    if (!object) return NATIVE_THROW;
    return flow_native_return(call, flow_from_object(object));
}

// --- numbers, already converted by unary plus [objects-1]

static double number_argument(const FlowNativeCall *call, uint32_t index) {
    FlowValue value = flow_argument(call, index);
    ASSERT(flow_is_number(value));
    return flow_as_number(value);
}

// %length(n): ToLength.
static FlowNativeResult to_length(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    if (flow_is_int(flow_argument(call, 0))) {
        int32_t small = flow_as_int(call->arguments[0]);
        return flow_native_return(call, flow_int(small < 0 ? 0 : small));
    }
    double length = flow_to_integer(number_argument(call, 0));
    if (length < 0) length = 0;
    if (length > 9007199254740991.0) length = 9007199254740991.0;
    return flow_native_return(call, flow_number(length));
}

// %integer(n): ToIntegerOrInfinity.
static FlowNativeResult to_integer(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    if (flow_is_int(flow_argument(call, 0))) return flow_native_return(call, call->arguments[0]);
    double integer = flow_to_integer(number_argument(call, 0));
    return flow_native_return(call, flow_number(integer == 0 ? 0 : integer));
}

// %relative(n, length): a start or end as slice and its kin understand it.
static FlowNativeResult to_relative(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    double integer = flow_to_integer(number_argument(call, 0));
    double at = flow_relative_index(integer, number_argument(call, 1));
    return flow_native_return(call, flow_number(at == 0 ? 0 : at));
}

// --- errors

static FlowNativeResult throw_text(FlowVm *vm, FlowNativeCall *call, FlowErrorKind kind) {
    FlowValue message = flow_argument(call, 0);
    ASSERT(flow_is_string(message));
    flow_throw(vm, flow_from_object(flow_error_new(vm, kind, flow_as_string(message))));
    return NATIVE_THROW;
}

static FlowNativeResult type_error(FlowVm *vm, FlowNativeCall *call) {
    return throw_text(vm, call, ERROR_KIND_TYPE);
}

static FlowNativeResult range_error(FlowVm *vm, FlowNativeCall *call) {
    return throw_text(vm, call, ERROR_KIND_RANGE);
}

static FlowNativeResult not_callable(FlowVm *vm, FlowNativeCall *call) {
    char text[FLOW_TEXT_MAX];
    return flow_native_throw(vm, ERROR_KIND_TYPE, "%s is not a function",
                             flow_describe(vm, flow_argument(call, 0), text));
}

static FlowNativeResult describe(FlowVm *vm, FlowNativeCall *call) {
    char text[FLOW_TEXT_MAX];
    flow_describe(vm, flow_argument(call, 0), text);
    return flow_native_return(call, flow_from_string(flow_string_utf8(vm, str_from(text))));
}

// "number 5 is not iterable (…)", as V8 says where it has no source text to show.
static FlowNativeResult not_iterable(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    char text[FLOW_TEXT_MAX];
    const char *tail = "is not iterable (cannot read property Symbol(Symbol.iterator))";
    if (flow_is_undefined(value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "undefined %s", tail);
    }
    if (flow_is_object(value)) {
        const char *type = flow_is_callable(value) ? "function" : "object";
        return flow_native_throw(vm, ERROR_KIND_TYPE, "%s %s", type, tail);
    }
    return flow_native_throw(vm, ERROR_KIND_TYPE, "%s %s %s", flow_typeof(value),
                             flow_describe(vm, value, text), tail);
}

// --- symbols

static FlowNativeResult well_known_symbol(FlowVm *vm, FlowNativeCall *call) {
    FlowSymbol *symbol = vm->realm->symbols[flow_native_magic(call)];
    return flow_native_return(call, flow_from_symbol(symbol));
}

const FlowNativeEntry flow_intrinsics_object[] = {
    NATIVE("isObject", is_object, 1),
    NATIVE("isCallable", is_callable, 1),
    NATIVE("isConstructor", is_constructor, 1),
    NATIVE("isArray", is_array, 1),
    NATIVE("toObject", to_object, 2),
    NATIVE("length", to_length, 1),
    NATIVE("integer", to_integer, 1),
    NATIVE("relative", to_relative, 2),
    NATIVE("typeError", type_error, 1),
    NATIVE("rangeError", range_error, 1),
    NATIVE("notCallable", not_callable, 1),
    NATIVE("notIterable", not_iterable, 1),
    NATIVE("describe", describe, 1),
    NATIVE_MAGIC("symbolIsConcatSpreadable", well_known_symbol, 0, SYMBOL_IS_CONCAT_SPREADABLE),
    NATIVE_MAGIC("symbolToStringTag", well_known_symbol, 0, SYMBOL_TO_STRING_TAG),
    NATIVE_END,
};
