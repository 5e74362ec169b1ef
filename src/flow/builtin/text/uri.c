// encodeURIComponent, encodeURI and their inverses.
//
// Text goes through UTF-8; a lone surrogate or a malformed escape is a URIError, as is UTF-8 that
// is overlong, a surrogate or beyond Unicode.
//   [uri-1] decodeURI leaves the escapes of reserved characters as they are written.
#include "base/text/hex.h"
#include "base/text/utf.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

// Not escaped by either; encodeURI also leaves what has a meaning in a URI.
static const char unescaped_marks[] = "-_.!~*'()";
static const char reserved_marks[] = ";/?:@&=+$,#";

static bool is_alphanumeric(uint16_t unit) {
    return (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'z') ||
           (unit >= 'A' && unit <= 'Z');
}

static bool is_one_of(uint16_t unit, const char *set) {
    return unit > 0 && unit < 128 && strchr(set, unit);
}

static FlowNativeResult malformed(FlowVm *vm, FlowStringBuilder *builder) {
    flow_builder_done(builder);
    return flow_native_throw(vm, ERROR_KIND_URI, "URI malformed");
}

static FlowNativeResult finish(FlowNativeCall *call, FlowStringBuilder *builder) {
    FlowString *text = flow_builder_finish(builder);
    return text ? flow_native_return(call, flow_from_string(text)) : NATIVE_THROW;
}

static void put_escape(FlowStringBuilder *builder, uint8_t byte) {
    flow_builder_unit(builder, '%');
    flow_builder_unit(builder, (uint8_t) "0123456789ABCDEF"[byte >> 4]);
    flow_builder_unit(builder, (uint8_t) "0123456789ABCDEF"[byte & 15]);
}

// magic: 1 for encodeURI, 0 for encodeURIComponent.
static FlowNativeResult global_encode(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &s));
    bool is_whole_uri = flow_native_magic(call) == 1;
    uint32_t length = flow_string_length(s);
    flow_native_charge(vm, (uint64_t)length * 16);
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t code_point = flow_string_at(s, i);
        if (code_point < 128 &&
            (is_alphanumeric((uint16_t)code_point) ||
             is_one_of((uint16_t)code_point, unescaped_marks) ||
             (is_whole_uri && is_one_of((uint16_t)code_point, reserved_marks)))) {
            flow_builder_unit(&builder, (uint16_t)code_point);
            continue;
        }
        if (code_point >= 0xDC00 && code_point <= 0xDFFF) return malformed(vm, &builder);
        if (code_point >= 0xD800 && code_point <= 0xDBFF) {
            uint32_t low = i + 1 < length ? flow_string_at(s, i + 1) : 0;
            if (low < 0xDC00 || low > 0xDFFF) return malformed(vm, &builder);
            code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
            i++;
        }
        char bytes[4];
        size_t count = utf8_encode(code_point, bytes);
        for (size_t j = 0; j < count; j++) put_escape(&builder, (uint8_t)bytes[j]);
    }
    return finish(call, &builder);
}

// The byte of the escape at `at`; -1 when it is none.
static int escaped_byte(const FlowString *s, uint32_t at) {
    if (at + 2 >= flow_string_length(s) || flow_string_at(s, at) != '%') return -1;
    int high = hex_value(flow_string_at(s, at + 1));
    int low = hex_value(flow_string_at(s, at + 2));
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Reads the escapes of one character from `at` on; 0 when they are malformed, else how many units
// they take.
static uint32_t decode_character(const FlowString *s, uint32_t at, uint32_t *ret_code_point) {
    int first = escaped_byte(s, at);
    if (first < 0) return 0;
    uint32_t count = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char bytes[4] = {(char)first};
    if (count == 0) return 0;
    for (uint32_t i = 1; i < count; i++) {
        int byte = escaped_byte(s, at + 3 * i);
        if (byte < 0) return 0;
        bytes[i] = (char)byte;
    }
    if (utf8_sequence_len(bytes, bytes + count) != count) return 0;
    const char *from = bytes;
    *ret_code_point = utf8_decode(&from, bytes + count);
    return 3 * count;
}

// magic: 1 for decodeURI, 0 for decodeURIComponent.
static FlowNativeResult global_decode(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &s));
    bool is_whole_uri = flow_native_magic(call) == 1;
    uint32_t length = flow_string_length(s);
    flow_native_charge(vm, (uint64_t)length * 16);
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (uint32_t i = 0; i < length;) {
        uint16_t unit = flow_string_at(s, i);
        if (unit != '%') {
            flow_builder_unit(&builder, unit);
            i++;
            continue;
        }
        uint32_t code_point;
        uint32_t used = decode_character(s, i, &code_point);
        if (used == 0) return malformed(vm, &builder);
        if (is_whole_uri && code_point < 128 && is_one_of((uint16_t)code_point, reserved_marks)) {
            flow_builder_range(&builder, s, i, i + used);
        } else {
            flow_builder_code_point(&builder, code_point);
        }
        i += used;
    }
    return finish(call, &builder);
}

const FlowNativeEntry flow_globals_uri[] = {
    NATIVE_MAGIC("decodeURI", global_decode, 1, 1),
    NATIVE_MAGIC("decodeURIComponent", global_decode, 1, 0),
    NATIVE_MAGIC("encodeURI", global_encode, 1, 1),
    NATIVE_MAGIC("encodeURIComponent", global_encode, 1, 0),
    NATIVE_END,
};
