// btoa and atob, with the rules of the web.
//
// Bytes are characters below 256. When decoding, white space is skipped and padding may be missing;
// the URL-safe alphabet (-_) is read too, which browsers refuse.
//   [base64-1] A bad character is an error named InvalidCharacterError, as the web's DOMException
//        is.
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The web's DOMException has the name of the condition; so has ours.
static FlowNativeResult throw_named(FlowVm *vm, const char *name, const char *message) {
    FlowObject *error = flow_error_new(vm, ERROR_KIND_ERROR, flow_string_cstr(vm, message));
    flow_object_define(vm, error, FLOW_KEY(vm, name), flow_from_string(flow_string_cstr(vm, name)),
                       PROPERTY_HIDDEN);
    flow_throw(vm, flow_from_object(error));
    return NATIVE_THROW;
}

static FlowNativeResult require_argument(FlowVm *vm) {
    return flow_native_throw(vm, ERROR_KIND_TYPE, "The \"input\" argument must be specified");
}

static FlowNativeResult global_btoa(FlowVm *vm, FlowNativeCall *call) {
    if (call->count == 0) return require_argument(vm);
    FlowString *s;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &s));
    if (flow_string_is_wide(s)) {
        return throw_named(vm, "InvalidCharacterError", "Invalid character");
    }
    uint32_t length = flow_string_length(s);
    flow_native_charge(vm, (uint64_t)length * 4);
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (uint32_t i = 0; i < length; i += 3) {
        uint32_t left = length - i;
        uint32_t bits = (uint32_t)s->latin1[i] << 16;
        if (left > 1) bits |= (uint32_t)s->latin1[i + 1] << 8;
        if (left > 2) bits |= s->latin1[i + 2];
        flow_builder_unit(&builder, (uint8_t)alphabet[bits >> 18]);
        flow_builder_unit(&builder, (uint8_t)alphabet[bits >> 12 & 63]);
        flow_builder_unit(&builder, left > 1 ? (uint8_t)alphabet[bits >> 6 & 63] : '=');
        flow_builder_unit(&builder, left > 2 ? (uint8_t)alphabet[bits & 63] : '=');
    }
    FlowString *text = flow_builder_finish(&builder);
    return text ? flow_native_return(call, flow_from_string(text)) : NATIVE_THROW;
}

static int letter_value(uint16_t unit) {
    if (unit >= 'A' && unit <= 'Z') return unit - 'A';
    if (unit >= 'a' && unit <= 'z') return unit - 'a' + 26;
    if (unit >= '0' && unit <= '9') return unit - '0' + 52;
    if (unit == '+' || unit == '-') return 62;
    return unit == '/' || unit == '_' ? 63 : -1;
}

static bool is_base64_space(uint16_t unit) {
    return unit == ' ' || unit == '\t' || unit == '\n' || unit == '\f' || unit == '\r';
}

// The letters alone; false when something else is in the text.
static bool collect_letters(const FlowString *s, uint8_t *letters, uint32_t *ret_count) {
    uint32_t length = flow_string_length(s);
    uint32_t count = 0;
    uint32_t padding = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint16_t unit = flow_string_at(s, i);
        if (is_base64_space(unit)) continue;
        if (unit == '=') {
            padding++;
            continue;
        }
        int value = letter_value(unit);
        if (value < 0 || padding) return false;
        letters[count++] = (uint8_t)value;
    }
    *ret_count = count;
    return padding == 0 || (padding <= 2 && (count + padding) % 4 == 0);
}

static FlowNativeResult global_atob(FlowVm *vm, FlowNativeCall *call) {
    if (call->count == 0) return require_argument(vm);
    FlowString *s;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &s));
    size_t room = flow_string_length(s);
    if (!flow_heap_has_room(&vm->heap, room * 2)) return flow_native_room(vm, call, room * 2);
    flow_native_charge(vm, room * 4);
    FlowString *letters = flow_string_alloc(vm, room, false);
    uint32_t count;
    bool is_valid = collect_letters(s, letters->latin1, &count);
    if (!is_valid || count % 4 == 1) {
        bool is_short = is_valid;
        return throw_named(vm, "InvalidCharacterError",
                           is_short ? "The string to be decoded is not correctly encoded."
                                    : "Invalid character");
    }
    size_t size = 0;
    uint8_t *out = letters->latin1; // never ahead of what is read
    for (uint32_t i = 0; i + 1 < count; i += 4) {
        uint8_t group[4] = {0};
        uint32_t left = count - i < 4 ? count - i : 4;
        for (uint32_t j = 0; j < left; j++) group[j] = letters->latin1[i + j];
        out[size++] = (uint8_t)(group[0] << 2 | group[1] >> 4);
        if (left > 2) out[size++] = (uint8_t)(group[1] << 4 | group[2] >> 2);
        if (left > 3) out[size++] = (uint8_t)(group[2] << 6 | group[3]);
    }
    FlowString *text = flow_string_latin1(vm, out, size);
    flow_heap_free(&vm->heap, letters);
    return flow_native_return(call, flow_from_string(text));
}

const FlowNativeEntry flow_globals_base64[] = {
    NATIVE("atob", global_atob, 1),
    NATIVE("btoa", global_btoa, 1),
    NATIVE_END,
};
