// Strings to and from UTF-8 and numbers, and the builder that natives use.
//
// UTF-8 here is WTF-8: a lone surrogate is three bytes, so that any script string survives a
// round trip. Bytes that are neither become U+FFFD.
//
//   [string-convert-1] The builder stays narrow until a unit needs more, so that finished strings
//        keep string.h [value-string-3] without a second look at most of them.
#include "base/memory.h"
#include "base/text/number.h"
#include "base/text/utf.h"
#include "flow/value/error.h"
#include "flow/vm/vm.h"

bool flow_is_space(uint16_t unit) {
    if (unit < 128) return unit == ' ' || (unit >= 9 && unit <= 13);
    return unit == 0xA0 || unit == 0xFEFF || unit == 0x1680 || (unit >= 0x2000 && unit <= 0x200A) ||
           unit == 0x2028 || unit == 0x2029 || unit == 0x202F || unit == 0x205F || unit == 0x3000;
}

// Decodes one character of WTF-8; always moves on.
static uint32_t wtf8_next(const uint8_t **at, const uint8_t *end) {
    const uint8_t *p = *at;
    uint32_t lead = *p++;
    uint32_t extra = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t code_point = lead;
    if (extra) {
        code_point = lead & (0x3Fu >> extra);
        bool is_bad = lead < 0xC2 || lead > 0xF4 || (uint32_t)(end - p) < extra;
        for (uint32_t i = 0; !is_bad && i < extra; i++) {
            if ((p[i] & 0xC0) != 0x80) is_bad = true;
            code_point = code_point << 6 | (p[i] & 0x3Fu);
        }
        if (is_bad || code_point < least[extra] || code_point > 0x10FFFF) {
            *at = p;
            return 0xFFFD;
        }
        p += extra;
    }
    *at = p;
    return code_point;
}

size_t flow_wtf8_to_utf16(Str text, uint16_t *ret_units) {
    const uint8_t *at = (const uint8_t *)text.data;
    const uint8_t *end = at + text.len;
    size_t count = 0;
    while (at < end) {
        uint32_t code_point = wtf8_next(&at, end);
        if (code_point > 0xFFFF) {
            ret_units[count++] = (uint16_t)(0xD800 + ((code_point - 0x10000) >> 10));
            code_point = 0xDC00 + ((code_point - 0x10000) & 0x3FF);
        }
        ret_units[count++] = (uint16_t)code_point;
    }
    return count;
}

FlowString *flow_string_utf8(FlowVm *vm, Str text) {
    const uint8_t *at = (const uint8_t *)text.data;
    const uint8_t *end = at + text.len;
    size_t ascii = 0;
    while (ascii < text.len && at[ascii] < 0x80) ascii++;
    if (ascii == text.len) return flow_string_latin1(vm, at, text.len);
    size_t count = 0;
    bool is_wide = false;
    for (const uint8_t *p = at; p < end;) {
        uint32_t code_point = wtf8_next(&p, end);
        count += code_point > 0xFFFF ? 2 : 1;
        if (code_point > 255) is_wide = true;
    }
    FlowString *s = flow_string_alloc(vm, count, is_wide);
    size_t i = 0;
    while (at < end) {
        uint32_t code_point = wtf8_next(&at, end);
        if (!is_wide) {
            s->latin1[i++] = (uint8_t)code_point;
        } else if (code_point > 0xFFFF) {
            s->wide[i++] = (uint16_t)(0xD800 + ((code_point - 0x10000) >> 10));
            s->wide[i++] = (uint16_t)(0xDC00 + ((code_point - 0x10000) & 0x3FF));
        } else {
            s->wide[i++] = (uint16_t)code_point;
        }
    }
    return s;
}

static void append_wide_utf8(const FlowString *flat, Buf *out) {
    uint32_t length = flow_string_length(flat);
    char bytes[4];
    for (uint32_t i = 0; i < length; i++) {
        uint32_t unit = flat->wide[i];
        if (unit >= 0xD800 && unit < 0xDC00 && i + 1 < length && flat->wide[i + 1] >= 0xDC00 &&
            flat->wide[i + 1] < 0xE000) {
            unit = 0x10000 + ((unit - 0xD800) << 10) + (flat->wide[++i] - 0xDC00u);
        }
        buf_append(out, bytes, utf8_encode(unit, bytes));
    }
}

void flow_string_to_utf8(FlowVm *vm, FlowString *s, Buf *out) {
    FlowString *flat = flow_string_flat(vm, s);
    if (flow_string_is_wide(flat)) {
        append_wide_utf8(flat, out);
        return;
    }
    uint32_t length = flow_string_length(flat);
    uint32_t start = 0;
    for (uint32_t i = 0; i < length; i++) {
        if (flat->latin1[i] < 0x80) continue;
        char bytes[4];
        buf_append(out, flat->latin1 + start, i - start);
        buf_append(out, bytes, utf8_encode(flat->latin1[i], bytes));
        start = i + 1;
    }
    buf_append(out, flat->latin1 + start, length - start);
}

FlowString *flow_string_number(FlowVm *vm, double value) {
    char text[NUMBER_TEXT_MAX];
    size_t length = number_format(value, text);
    return flow_string_latin1(vm, (const uint8_t *)text, length);
}

size_t flow_number_text(FlowValue number, char ret_text[FLOW_NUMBER_TEXT_MAX]) {
    if (flow_is_int(number)) return number_format_i64(flow_as_int(number), ret_text);
    return number_format(flow_as_double(number), ret_text);
}

static double parse_radix(const char *digits, size_t length, uint32_t radix) {
    if (length == 0) return NAN;
    double value = 0;
    for (size_t i = 0; i < length; i++) {
        char c = digits[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 99;
        if (digit >= radix) return NAN;
        value = value * radix + digit;
    }
    return value;
}

static double parse_number_text(const char *text, size_t length) {
    if (length == 0) return 0;
    if (length > 2 && text[0] == '0') {
        char kind = (char)(text[1] | 0x20);
        uint32_t radix = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
        if (radix) return parse_radix(text + 2, length - 2, radix);
    }
    size_t sign = text[0] == '+' || text[0] == '-';
    if (length - sign == 8 && memcmp(text + sign, "Infinity", 8) == 0) {
        return text[0] == '-' ? -INFINITY : INFINITY;
    }
    if (sign == length || text[sign] == '+' || text[sign] == '-') return NAN;
    double value;
    size_t used = number_parse(text + sign, length - sign, &value);
    if (used != length - sign) return NAN;
    return text[0] == '-' ? -value : value;
}

double flow_string_to_number(FlowVm *vm, FlowString *s) {
    FlowString *flat = flow_string_flat(vm, s);
    uint32_t start = 0;
    uint32_t end = flow_string_length(flat);
    vm->fuel -= end / 4;
    while (start < end && flow_is_space(flow_string_at(flat, start))) start++;
    while (end > start && flow_is_space(flow_string_at(flat, end - 1))) end--;
    if (!flow_string_is_wide(flat)) {
        return parse_number_text((const char *)flat->latin1 + start, end - start);
    }
    char *text = mem_alloc((size_t)(end - start) + 1);
    for (uint32_t i = start; i < end; i++) {
        text[i - start] = flat->wide[i] < 128 ? (char)flat->wide[i] : '?';
    }
    double value = parse_number_text(text, end - start);
    mem_free(text);
    return value;
}

// --- builder

void flow_builder_init(FlowStringBuilder *builder, FlowVm *vm) {
    builder->vm = vm;
    builder->data = builder->first;
    builder->length = 0;
    builder->capacity = sizeof builder->first;
    builder->is_wide = false;
    builder->is_too_long = false;
}

void flow_builder_done(FlowStringBuilder *builder) {
    if (builder->data != builder->first) mem_free(builder->data);
    builder->data = builder->first;
    builder->length = builder->capacity = 0;
}

// Moves what there is into a buffer of its own.
static void builder_grow(FlowStringBuilder *builder, size_t capacity, bool is_wide) {
    void *old = builder->data;
    builder->vm->fuel -= (int64_t)(capacity / STRING_BYTES_PER_FUEL);
    void *data = mem_alloc(capacity * (is_wide ? 2 : 1));
    if (is_wide && !builder->is_wide) {
        for (size_t i = 0; i < builder->length; i++) ((uint16_t *)data)[i] = builder->latin1[i];
    } else {
        memcpy(data, old, builder->length * (is_wide ? 2 : 1));
    }
    if (old != builder->first) mem_free(old);
    builder->data = data;
    builder->capacity = capacity;
    builder->is_wide = is_wide;
}

// Room for `extra` units of the given width; false when that would be too long.
static bool builder_reserve(FlowStringBuilder *builder, size_t extra, bool needs_wide) {
    if (builder->is_too_long) return false;
    size_t needed = builder->length + extra;
    // The buffer is outside the heap but must not outgrow its budget.
    if (needed > builder->vm->limits.string_length || needed > builder->vm->heap.limit) {
        builder->is_too_long = true;
        return false;
    }
    if (needed > builder->capacity || (needs_wide && !builder->is_wide)) {
        size_t capacity = builder->capacity * 2;
        if (needed <= builder->capacity) capacity = builder->capacity;
        if (capacity > builder->vm->heap.limit) capacity = builder->vm->heap.limit;
        if (capacity < needed) capacity = needed;
        builder_grow(builder, capacity, builder->is_wide || needs_wide);
    }
    return true;
}

void flow_builder_unit_slowly(FlowStringBuilder *builder, uint16_t unit) {
    if (!builder_reserve(builder, 1, unit > 255)) return;
    if (builder->is_wide) builder->wide[builder->length++] = unit;
    else builder->latin1[builder->length++] = (uint8_t)unit;
}

void flow_builder_code_point(FlowStringBuilder *builder, uint32_t code_point) {
    if (code_point > 0xFFFF) {
        flow_builder_unit(builder, (uint16_t)(0xD800 + ((code_point - 0x10000) >> 10)));
        flow_builder_unit(builder, (uint16_t)(0xDC00 + ((code_point - 0x10000) & 0x3FF)));
    } else {
        flow_builder_unit(builder, (uint16_t)code_point);
    }
}

void flow_builder_ascii(FlowStringBuilder *builder, const char *text) {
    for (; *text; text++) flow_builder_unit(builder, (uint8_t)*text);
}

void flow_builder_range(FlowStringBuilder *builder, FlowString *flat, uint32_t start,
                        uint32_t end) {
    size_t count = end - start;
    if (!builder_reserve(builder, count, flow_string_is_wide(flat))) return;
    if (!builder->is_wide) {
        if (count) memcpy(builder->latin1 + builder->length, flat->latin1 + start, count);
    } else if (flow_string_is_wide(flat)) {
        memcpy(builder->wide + builder->length, flat->wide + start, count * 2);
    } else {
        for (size_t i = 0; i < count; i++) {
            builder->wide[builder->length + i] = flat->latin1[start + i];
        }
    }
    builder->length += count;
}

void flow_builder_string(FlowStringBuilder *builder, FlowString *s) {
    FlowString *flat = flow_string_flat(builder->vm, s);
    flow_builder_range(builder, flat, 0, flow_string_length(flat));
}

FlowString *flow_builder_finish(FlowStringBuilder *builder) {
    FlowString *s = NULL;
    if (builder->is_too_long) {
        flow_throw_range(builder->vm, "Invalid string length");
    } else if (!flow_heap_has_room(&builder->vm->heap, builder->length * 2)) {
        flow_throw_memory(builder->vm);
    } else if (builder->is_wide) {
        s = flow_string_utf16(builder->vm, builder->wide, builder->length);
    } else {
        s = flow_string_latin1(builder->vm, builder->latin1, builder->length);
    }
    flow_builder_done(builder);
    return s;
}
