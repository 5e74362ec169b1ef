// Strings: making them, ropes, comparing. Conversions and the builder are in string_convert.c,
// searching is in string_find.c, interning in atom.c; see string.h for the invariants.
//
// Why ropes: `s += part` in a loop would be quadratic otherwise. A rope node is 32 bytes, so short
// results are copied at once (ROPE_MIN_LENGTH).
#include "flow/value/string.h"
#include "base/containers/hash.h"
#include "base/containers/vec.h"
#include "flow/vm/vm.h"

enum { ROPE_MIN_LENGTH = 24 };

static size_t string_size(size_t length, bool is_wide) {
    size_t size = offsetof(FlowString, latin1) + (is_wide ? length * 2 : length);
    return size < sizeof(FlowString) ? sizeof(FlowString) : size;
}

FlowString *flow_string_alloc(FlowVm *vm, size_t length, bool is_wide) {
    ASSERT(length <= UINT32_MAX);
    FlowString *s = flow_heap_take(&vm->heap, KIND_STRING, string_size(length, is_wide));
    s->cell.aux = (uint32_t)length;
    s->hash = 0;
    s->depth = 0;
    if (is_wide) s->cell.flags |= STRING_WIDE;
    return s;
}

FlowString *flow_string_empty(FlowVm *vm) { return flow_as_string(FLOW_NAME(vm, empty)); }

FlowString *flow_string_unit(FlowVm *vm, uint16_t unit) {
    if (unit < 256 && vm->realm->units[unit]) return vm->realm->units[unit];
    FlowString *s = flow_string_alloc(vm, 1, unit > 255);
    if (unit > 255) s->wide[0] = unit;
    else s->latin1[0] = (uint8_t)unit;
    return s;
}

FlowString *flow_string_latin1(FlowVm *vm, const uint8_t *units, size_t count) {
    if (count <= 1 && vm->realm->units[0]) {
        return count ? flow_string_unit(vm, units[0]) : flow_string_empty(vm);
    }
    FlowString *s = flow_string_alloc(vm, count, false);
    if (count) memcpy(s->latin1, units, count);
    return s;
}

FlowString *flow_string_cstr(FlowVm *vm, const char *ascii) {
    return flow_string_latin1(vm, (const uint8_t *)ascii, strlen(ascii));
}

FlowString *flow_string_utf16(FlowVm *vm, const uint16_t *units, size_t count) {
    uint16_t all = 0;
    for (size_t i = 0; i < count; i++) all |= units[i];
    if (all > 255) {
        FlowString *s = flow_string_alloc(vm, count, true);
        memcpy(s->wide, units, count * 2);
        return s;
    }
    if (count <= 1 && vm->realm->units[0]) {
        return count ? flow_string_unit(vm, units[0]) : flow_string_empty(vm);
    }
    FlowString *s = flow_string_alloc(vm, count, false);
    for (size_t i = 0; i < count; i++) s->latin1[i] = (uint8_t)units[i];
    return s;
}

FlowString *flow_string_substring(FlowVm *vm, FlowString *s, uint32_t start, uint32_t end) {
    ASSERT(start <= end && end <= flow_string_length(s));
    if (end - start == flow_string_length(s)) return s;
    FlowString *flat = flow_string_flat(vm, s);
    if (end == start) return flow_string_empty(vm);
    if (flow_string_is_wide(flat)) return flow_string_utf16(vm, flat->wide + start, end - start);
    return flow_string_latin1(vm, flat->latin1 + start, end - start);
}

// Copies the units of a flat string into storage of the given width.
static void copy_units(FlowString *to, size_t at, const FlowString *from) {
    size_t count = flow_string_length(from);
    if (!flow_string_is_wide(to)) {
        memcpy(to->latin1 + at, from->latin1, count);
    } else if (flow_string_is_wide(from)) {
        memcpy(to->wide + at, from->wide, count * 2);
    } else {
        for (size_t i = 0; i < count; i++) to->wide[at + i] = from->latin1[i];
    }
}

FlowString *flow_string_concat(FlowVm *vm, FlowString *a, FlowString *b) {
    uint64_t length = (uint64_t)flow_string_length(a) + flow_string_length(b);
    if (flow_string_length(a) == 0) return b;
    if (flow_string_length(b) == 0) return a;
    bool is_wide = (a->cell.flags | b->cell.flags) & STRING_WIDE;
    // A rope that could never be made flat is not made at all.
    if (length > vm->limits.string_length || length << is_wide > vm->heap.limit) return NULL;
    if (length < ROPE_MIN_LENGTH) {
        FlowString *left = flow_string_flat(vm, a);
        FlowString *right = flow_string_flat(vm, b);
        FlowString *s = flow_string_alloc(vm, (size_t)length, is_wide);
        copy_units(s, 0, left);
        copy_units(s, flow_string_length(left), right);
        return s;
    }
    FlowString *rope = flow_heap_take(&vm->heap, KIND_STRING, sizeof(FlowString));
    rope->cell.aux = (uint32_t)length;
    rope->cell.flags |= STRING_ROPE;
    rope->hash = 0;
    rope->depth = 0;
    if (is_wide) rope->cell.flags |= STRING_WIDE;
    rope->left = a;
    rope->right = b;
    return rope;
}

FlowString *flow_string_concat_number(FlowVm *vm, FlowString *text, FlowValue number,
                                      bool is_number_first) {
    char digits[FLOW_NUMBER_TEXT_MAX];
    size_t count = flow_number_text(number, digits);
    size_t length = flow_string_length(text);
    bool is_short = length && length + count < ROPE_MIN_LENGTH;
    if (is_short && !(text->cell.flags & (STRING_ROPE | STRING_WIDE))) {
        FlowString *s = flow_string_alloc(vm, length + count, false);
        memcpy(s->latin1 + (is_number_first ? count : 0), text->latin1, length);
        memcpy(s->latin1 + (is_number_first ? 0 : length), digits, count);
        return s;
    }
    FlowString *other = flow_string_latin1(vm, (const uint8_t *)digits, count);
    return is_number_first ? flow_string_concat(vm, other, text)
                           : flow_string_concat(vm, text, other);
}

FlowString *flow_string_flatten(FlowVm *vm, FlowString *rope) {
    if (!rope->right) return rope->left; // [value-string-2]
    FlowString *flat = flow_string_alloc(vm, flow_string_length(rope), flow_string_is_wide(rope));
    vm->fuel -= flow_string_length(rope) / STRING_BYTES_PER_FUEL;
    // From the end, so that the usual left-deep rope needs a stack of one.
    size_t end = flow_string_length(rope);
    VEC(FlowString *) pending = {0};
    vec_push(&pending, rope->left);
    FlowString *at = rope->right;
    for (;;) {
        while (at->cell.flags & STRING_ROPE && at->right) {
            vec_push(&pending, at->left);
            at = at->right;
        }
        if (at->cell.flags & STRING_ROPE) at = at->left;
        end -= flow_string_length(at);
        copy_units(flat, end, at);
        if (pending.count == 0) break;
        at = vec_pop(&pending);
    }
    ASSERT(end == 0);
    vec_free(&pending);
    rope->left = flat;
    rope->right = NULL;
    // Comparing strings is no place to collect at: the turn ends, and the next begins with it.
    if (vm->heap.bytes > vm->heap.limit && vm->fuel > 0) vm->fuel = 0;
    return flat;
}

uint32_t flow_string_hash(FlowString *flat) {
    if (flat->cell.flags & STRING_HASHED) return flat->hash;
    size_t size =
        flow_string_is_wide(flat) ? (size_t)flow_string_length(flat) * 2 : flow_string_length(flat);
    uint64_t hash = hash_bytes(flat->latin1, size);
    flat->hash = (uint32_t)(hash ^ hash >> 32);
    flat->cell.flags |= STRING_HASHED;
    return flat->hash;
}

enum { COMPARE_BLOCK = 256 }; // bytes that a comparison looks at for nothing

// memcmp, paid for as far as it went.
static int compare_bytes(FlowVm *vm, const uint8_t *a, const uint8_t *b, size_t size) {
    while (size > COMPARE_BLOCK) {
        int order = memcmp(a, b, COMPARE_BLOCK);
        if (order) return order;
        vm->fuel -= COMPARE_BLOCK / STRING_BYTES_PER_FUEL;
        a += COMPARE_BLOCK;
        b += COMPARE_BLOCK;
        size -= COMPARE_BLOCK;
    }
    return memcmp(a, b, size);
}

bool flow_string_equal(FlowVm *vm, FlowString *a, FlowString *b) {
    if (a == b) return true;
    if (flow_string_length(a) != flow_string_length(b)) return false;
    if ((a->cell.flags & b->cell.flags) & STRING_ATOM) return false;
    a = flow_string_flat(vm, a);
    b = flow_string_flat(vm, b);
    if (flow_string_is_wide(a) != flow_string_is_wide(b)) return false; // [value-string-3]
    size_t count = flow_string_length(a);
    return compare_bytes(vm, a->latin1, b->latin1, flow_string_is_wide(a) ? count * 2 : count) == 0;
}

int flow_string_compare(FlowVm *vm, FlowString *a, FlowString *b) {
    if (a == b) return 0;
    a = flow_string_flat(vm, a);
    b = flow_string_flat(vm, b);
    uint32_t a_length = flow_string_length(a);
    uint32_t b_length = flow_string_length(b);
    uint32_t common = a_length < b_length ? a_length : b_length;
    if (!flow_string_is_wide(a) && !flow_string_is_wide(b)) {
        int order = compare_bytes(vm, a->latin1, b->latin1, common);
        if (order) return order < 0 ? -1 : 1;
    } else {
        uint32_t i = 0;
        while (i < common && flow_string_at(a, i) == flow_string_at(b, i)) i++;
        vm->fuel -= i / 8;
        if (i < common) return flow_string_at(a, i) < flow_string_at(b, i) ? -1 : 1;
    }
    return a_length == b_length ? 0 : a_length < b_length ? -1 : 1;
}

bool flow_string_equals_ascii(FlowVm *vm, FlowString *s, const char *ascii) {
    size_t length = strlen(ascii);
    if (flow_string_length(s) != length || flow_string_is_wide(s)) return false;
    return memcmp(flow_string_flat(vm, s)->latin1, ascii, length) == 0;
}

bool flow_string_to_index(const FlowString *flat, uint32_t *ret_index) {
    uint32_t length = flow_string_length(flat);
    if (length == 0 || length > 10 || flow_string_is_wide(flat)) return false;
    if (flat->latin1[0] == '0' && length > 1) return false;
    uint64_t index = 0;
    for (uint32_t i = 0; i < length; i++) {
        if (flat->latin1[i] < '0' || flat->latin1[i] > '9') return false;
        index = index * 10 + (uint32_t)(flat->latin1[i] - '0');
    }
    if (index >= UINT32_MAX) return false;
    *ret_index = (uint32_t)index;
    return true;
}

FlowSymbol *flow_symbol_new(FlowVm *vm, FlowValue description) {
    FlowSymbol *symbol = flow_heap_alloc(&vm->heap, KIND_SYMBOL, sizeof *symbol);
    symbol->description = description;
    symbol->hash = (uint32_t)hash_u64((uint64_t)(uintptr_t)symbol);
    return symbol;
}

FlowSymbol *flow_symbol_private(FlowVm *vm, FlowValue text) {
    FlowSymbol *symbol = flow_symbol_new(vm, text);
    symbol->cell.aux |= SYMBOL_PRIVATE;
    return symbol;
}
