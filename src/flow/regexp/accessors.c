// RegExp: its flags and its source, as scripts read them.
//
// They are getters of the prototype, which answers for itself too, as the standard says.
//
// Not here: making and matching (regexp/regexp.c).
#include "flow/builtin/objects.h"
#include "flow/builtin/text/string.h"
#include "flow/regexp/compile.h"
#include "flow/regexp/regexp.h"
#include "flow/vm/vm.h"

FlowNativeResult flow_regexp_flag_native(FlowVm *vm, FlowNativeCall *call) {
    FlowValue receiver = *call->this_value;
    if (flow_is_kind(receiver, KIND_REGEXP)) {
        uint32_t flags = flow_regexp_flags(flow_as_pointer(receiver));
        return flow_native_return(call, flow_bool(flags & flow_native_magic(call)));
    }
    if (flow_is_object(receiver) && flow_as_object(receiver) == vm->realm->protos[PROTO_REGEXP]) {
        return flow_native_return(call, FLOW_UNDEFINED);
    }
    const FlowNativeEntry *entry =
        ((const FlowNativeFunction *)flow_as_pointer(call->function))->entry;
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "RegExp.prototype.%s getter called on non-RegExp object", entry->name);
}

FlowNativeResult flow_regexp_flags_text_native(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_regexp_is_pristine(vm, *call->this_value)) return flow_native_slow(vm, call);
    uint32_t flags = flow_regexp_flags(flow_as_pointer(*call->this_value));
    char text[8];
    size_t length = 0;
    if (flags & REGEXP_HAS_INDICES) text[length++] = 'd';
    if (flags & REGEXP_GLOBAL) text[length++] = 'g';
    if (flags & REGEXP_IGNORE_CASE) text[length++] = 'i';
    if (flags & REGEXP_MULTILINE) text[length++] = 'm';
    if (flags & REGEXP_DOT_ALL) text[length++] = 's';
    if (flags & REGEXP_UNICODE) text[length++] = 'u';
    if (flags & REGEXP_STICKY) text[length++] = 'y';
    return flow_native_string(call, flow_string_latin1(vm, (const uint8_t *)text, length));
}

// Text that could stand between slashes: those and line ends are escaped.
static FlowString *escape_source(FlowVm *vm, FlowString *source) {
    uint32_t length = flow_string_length(source);
    if (length == 0) return flow_string_cstr(vm, "(?:)");
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    bool is_in_class = false;
    for (uint32_t i = 0; i < length; i++) {
        uint16_t c = flow_string_at(source, i);
        uint16_t next = i + 1 < length ? flow_string_at(source, i + 1) : 0;
        if (c == '\\' && i + 1 < length && next != '\n' && next != '\r' && next != 0x2028 &&
            next != 0x2029) {
            flow_builder_unit(&builder, c);
            flow_builder_unit(&builder, next);
            i++;
            continue;
        }
        if (c == '[') is_in_class = true;
        if (c == ']') is_in_class = false;
        // The backslash before a line end is dropped: \n says the same.
        if (c == '\\' && i + 1 < length) continue;
        if (c == '/' && !is_in_class) flow_builder_ascii(&builder, "\\/");
        else if (c == '\n') flow_builder_ascii(&builder, "\\n");
        else if (c == '\r') flow_builder_ascii(&builder, "\\r");
        else if (c == 0x2028) flow_builder_ascii(&builder, "\\u2028");
        else if (c == 0x2029) flow_builder_ascii(&builder, "\\u2029");
        else flow_builder_unit(&builder, c);
    }
    return flow_builder_finish(&builder);
}

FlowNativeResult flow_regexp_source_native(FlowVm *vm, FlowNativeCall *call) {
    FlowValue receiver = *call->this_value;
    if (flow_is_kind(receiver, KIND_REGEXP)) {
        const FlowSlotObject *regexp = flow_as_pointer(receiver);
        FlowString *source = flow_string_flat(vm, flow_as_string(regexp->internal[0]));
        return flow_native_string(call, escape_source(vm, source));
    }
    if (flow_is_object(receiver) && flow_as_object(receiver) == vm->realm->protos[PROTO_REGEXP]) {
        return flow_native_string(call, flow_string_cstr(vm, "(?:)"));
    }
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "RegExp.prototype.source getter called on non-RegExp object");
}
