// String: the methods that look for one string in another.
//
//   [string-search-1] What was compared is paid for, also when nothing was found.
//
// Not here: patterns (regexp/methods.c), replacing (text/string_replace.c).
#include "flow/builtin/objects.h"
#include "flow/builtin/text/string.h"
#include "flow/vm/vm.h"
#include <math.h>

// startsWith and its kin refuse regular expressions: what has a true Symbol.match, or is one.
static bool is_regexp(FlowVm *vm, FlowValue value) {
    if (!flow_is_object(value)) return false;
    FlowProperty property;
    if (flow_object_lookup(vm, flow_as_object(value), FLOW_SYMBOL(vm, SYMBOL_MATCH), &property) &&
        !(property.attributes & PROPERTY_ACCESSOR) && !flow_is_undefined(property.value)) {
        return flow_to_boolean(property.value);
    }
    return flow_is_kind(value, KIND_REGEXP);
}

static FlowNativeResult this_and_needle(FlowVm *vm, FlowNativeCall *call, const char *method,
                                        FlowString **ret_s, FlowString **ret_needle) {
    TRY_NATIVE(flow_this_string(vm, call, method, ret_s));
    if (is_regexp(vm, flow_argument(call, 0))) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "First argument to %s must not be a regular expression", method);
    }
    return flow_argument_string(vm, call, 0, ret_needle);
}

static bool has_at(FlowVm *vm, const FlowString *s, const FlowString *needle, uint32_t at) {
    uint32_t count = flow_string_length(needle);
    if (count > flow_string_length(s) - at) return false;
    uint32_t i = 0;
    while (i < count && flow_string_at(s, at + i) == flow_string_at(needle, i)) i++;
    flow_native_charge(vm, i);
    return i == count;
}

int64_t flow_string_find_paid(FlowVm *vm, const FlowString *s, const FlowString *needle,
                              uint32_t from) {
    int64_t found = flow_string_find(s, needle, from);
    uint64_t seen = (found < 0 ? flow_string_length(s) : (uint64_t)found) - from;
    uint64_t work = seen + flow_string_length(needle);
    flow_native_charge(vm, flow_string_is_wide(s) ? work * 4 : work); // Latin-1 is memmem's
    return found;
}

FlowNativeResult flow_string_includes_native(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    FlowString *needle;
    double from;
    TRY_NATIVE(this_and_needle(vm, call, "String.prototype.includes", &s, &needle));
    TRY_NATIVE(flow_argument_integer(vm, call, 1, &from));
    int64_t found =
        flow_string_find_paid(vm, s, needle, flow_string_clamp(from, flow_string_length(s)));
    return flow_native_return(call, flow_bool(found >= 0));
}

FlowNativeResult flow_string_starts_with_native(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    FlowString *needle;
    double from;
    TRY_NATIVE(this_and_needle(vm, call, "String.prototype.startsWith", &s, &needle));
    TRY_NATIVE(flow_argument_integer(vm, call, 1, &from));
    return flow_native_return(
        call, flow_bool(has_at(vm, s, needle, flow_string_clamp(from, flow_string_length(s)))));
}

FlowNativeResult flow_string_ends_with_native(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    FlowString *needle;
    TRY_NATIVE(this_and_needle(vm, call, "String.prototype.endsWith", &s, &needle));
    double end = flow_string_length(s);
    if (!flow_is_undefined(flow_argument(call, 1))) {
        TRY_NATIVE(flow_argument_integer(vm, call, 1, &end));
    }
    uint32_t stop = flow_string_clamp(end, flow_string_length(s));
    uint32_t count = flow_string_length(needle);
    bool is_there = count <= stop && has_at(vm, s, needle, stop - count);
    return flow_native_return(call, flow_bool(is_there));
}

FlowNativeResult flow_string_index_of_native(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    FlowString *needle;
    double from;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.indexOf", &s));
    TRY_NATIVE(flow_argument_string(vm, call, 0, &needle));
    TRY_NATIVE(flow_argument_integer(vm, call, 1, &from));
    int64_t found =
        flow_string_find_paid(vm, s, needle, flow_string_clamp(from, flow_string_length(s)));
    return flow_native_return(call, flow_int((int32_t)found));
}

FlowNativeResult flow_string_last_index_of_native(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    FlowString *needle;
    double from;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.lastIndexOf", &s));
    TRY_NATIVE(flow_argument_string(vm, call, 0, &needle));
    TRY_NATIVE(flow_argument_number(vm, call, 1, &from));
    uint32_t length = flow_string_length(s);
    uint32_t count = flow_string_length(needle);
    if (count > length) return flow_native_return(call, flow_int(-1));
    uint32_t at = isnan(from) ? length - count : flow_string_clamp(trunc(from), length - count);
    int64_t found = flow_string_find_last(s, needle, at);
    flow_native_charge(vm, ((uint64_t)(found < 0 ? at : at - (uint32_t)found) + count) * 4);
    return flow_native_return(call, flow_int((int32_t)found));
}
