// localeCompare: the order people expect, not the order of code units.
//
// Three levels, as in the Unicode collation algorithm and as engines do for en-US: first the
// letters (a < b whatever their accents or case), then accents (e < é), then case (a < A). White
// space and punctuation come before digits, digits before letters.
//
//   [string-compare-1] For ASCII and Latin letters the answer is that of ICU's root collation.
//   [string-compare-2] Other scripts compare by code point on the first level, which keeps scripts
//        apart and most alphabets in order; no language's own rules are applied.
#include "base/array.h"
#include "base/containers/vec.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/text/string.h"
#include "flow/builtin/text/unicode_tables.h"
#include "flow/vm/vm.h"

// What is not a letter, in the order of the root collation: these are 1, 2, 3, …
static const uint16_t symbol_order[] = {
    0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, ' ',  '_',  '-',  ',',  ';',  ':',  '!',  0xA1, '?', 0xBF,
    '.',  0xB7, '\'', '"',  0xAB, 0xBB, '(',  ')',  '[',  ']',  '{',  '}',  0xA7, 0xB6, '@', '*',
    '/',  '\\', '&',  '#',  '%',  '`',  0xB4, '^',  0xAF, 0xA8, 0xB8, 0xB0, 0xA9, 0xAE, '+', 0xB1,
    0xF7, 0xD7, '<',  '=',  '>',  0xAC, '|',  0xA6, '~',  0xA4, 0xA2, '$',  0xA3, 0xA5,
};
enum {
    SYMBOL_COUNT = COUNT_OF(symbol_order),
    PRIMARY_DIGIT = 0x100,  // '0'
    PRIMARY_NUMBER = 0x110, // numeric mode: a run of digits, by its length
    PRIMARY_LETTER = 0x200, // 'a'; Latin letters follow with gaps
    PRIMARY_OTHER = 0x1000, // plus the code point
    DIGIT_RUN_MAX = 0xE0,
};

// Accents in the order of the root collation; others come after, by code point.
static const uint16_t accent_order[] = {0x301, 0x300, 0x306, 0x302, 0x30C, 0x30A, 0x308,
                                        0x30B, 0x303, 0x307, 0x338, 0x327, 0x328, 0x304};

// Letters that are others with something added, though Unicode does not decompose them.
static const struct {
    uint16_t letter;
    uint16_t base;
    uint16_t second; // another letter, or a mark
} extra_letters[] = {
    {0xC6, 'A', 'E'},    {0xE6, 'a', 'e'},    {0x152, 'O', 'E'},   {0x153, 'o', 'e'},
    {0xD8, 'O', 0x338},  {0xF8, 'o', 0x338},  {0xD0, 'D', 0x338},  {0xF0, 'd', 0x338},
    {0x110, 'D', 0x335}, {0x111, 'd', 0x335}, {0x126, 'H', 0x335}, {0x127, 'h', 0x335},
    {0x141, 'L', 0x335}, {0x142, 'l', 0x335}, {0xDF, 's', 's'},    {0x1E9E, 'S', 'S'},
};

typedef struct Element {
    uint32_t primary; // 0: a mark, which only counts on the second level
    uint16_t secondary;
    uint16_t tertiary; // 0 small, 1 capital or a variant
} Element;

typedef struct Elements {
    Element *data;
    size_t count;
    size_t capacity;
} Elements;

static uint16_t accent_weight(uint32_t mark) {
    for (uint16_t i = 0; i < COUNT_OF(accent_order); i++) {
        if (accent_order[i] == mark) return (uint16_t)(i + 2);
    }
    return (uint16_t)(32 + (mark & 0x7FFF));
}

// 0: ignored altogether (control characters).
static uint32_t primary_of(uint32_t code_point, bool *ret_is_capital) {
    *ret_is_capital = false;
    if (code_point >= '0' && code_point <= '9') return PRIMARY_DIGIT + (code_point - '0');
    if (code_point >= 'a' && code_point <= 'z') return PRIMARY_LETTER + (code_point - 'a') * 4;
    if (code_point >= 'A' && code_point <= 'Z') {
        *ret_is_capital = true;
        return PRIMARY_LETTER + (code_point - 'A') * 4;
    }
    if (code_point < 0x100) {
        for (uint32_t i = 0; i < SYMBOL_COUNT; i++) {
            if (symbol_order[i] == code_point) return i + 1;
        }
    }
    bool is_format = code_point == 0xAD || code_point == 0xFEFF ||
                     (code_point >= 0x200B && code_point <= 0x200F) ||
                     (code_point >= 0x202A && code_point <= 0x202E) ||
                     (code_point >= 0x2060 && code_point <= 0x206F);
    if (code_point < 0xA0 || is_format) return 0;
    switch (code_point) { // letters of their own between or behind the 26
    case 0x131: return PRIMARY_LETTER + ('i' - 'a') * 4 + 2;
    case 0x138: return PRIMARY_LETTER + ('q' - 'a') * 4 + 2;
    case 0x14A: *ret_is_capital = true; return PRIMARY_LETTER + ('n' - 'a') * 4 + 2;
    case 0x14B: return PRIMARY_LETTER + ('n' - 'a') * 4 + 2;
    case 0x166: *ret_is_capital = true; return PRIMARY_LETTER + ('t' - 'a') * 4 + 2;
    case 0x167: return PRIMARY_LETTER + ('t' - 'a') * 4 + 2;
    case 0xDE: *ret_is_capital = true; return PRIMARY_LETTER + ('z' - 'a') * 4 + 2;
    case 0xFE: return PRIMARY_LETTER + ('z' - 'a') * 4 + 2;
    }
    uint32_t lower[UNICODE_CASE_MAX];
    if (flow_unicode_to_lower(code_point, lower) == 1 && lower[0] != code_point) {
        *ret_is_capital = true;
        code_point = lower[0];
    }
    return PRIMARY_OTHER + code_point;
}

static void put_element(Elements *out, uint32_t code_point, bool is_variant) {
    if (flow_unicode_combining_class(code_point) != 0) {
        vec_push(out, (Element){0, accent_weight(code_point), 0});
        return;
    }
    bool is_capital;
    uint32_t primary = primary_of(code_point, &is_capital);
    if (primary) vec_push(out, (Element){primary, 1, (uint16_t)(is_capital + 2 * is_variant)});
}

static void put_character(Elements *out, uint32_t code_point) {
    if (code_point < 0xA0) {
        put_element(out, code_point, false);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(extra_letters); i++) {
        if (extra_letters[i].letter != code_point) continue;
        bool is_pair = extra_letters[i].second < 0x300;
        put_element(out, extra_letters[i].base, is_pair);
        if (is_pair) vec_push(out, (Element){0, 0x7000, 0}); // æ after ae
        put_element(out, extra_letters[i].second, is_pair);
        return;
    }
    uint16_t scratch[4];
    uint32_t length;
    const uint16_t *units = flow_unicode_decompose(code_point, true, scratch, &length);
    if (length == 0) {
        put_element(out, code_point, false);
        return;
    }
    uint32_t canonical_length;
    uint16_t other[4];
    flow_unicode_decompose(code_point, false, other, &canonical_length);
    bool is_symbol = primary_of(code_point, &(bool){false}) <= SYMBOL_COUNT;
    if (is_symbol) { // ¨ and its kin have a place of their own
        put_element(out, code_point, false);
        return;
    }
    for (uint32_t i = 0; i < length; i++) {
        uint32_t unit = units[i];
        if (unit >= 0xD800 && unit <= 0xDBFF) {
            unit = 0x10000 + ((unit - 0xD800) << 10) + (units[++i] - 0xDC00u);
        }
        put_element(out, unit, canonical_length == 0);
    }
}

// A run of digits: its length without leading zeros, then the digits. Answers where it ends.
static uint32_t put_number(Elements *out, const FlowString *s, uint32_t at) {
    uint32_t length = flow_string_length(s);
    while (at < length && flow_string_at(s, at) == '0') at++;
    uint32_t end = at;
    while (end < length && flow_string_at(s, end) >= '0' && flow_string_at(s, end) <= '9' &&
           end - at < DIGIT_RUN_MAX) {
        end++;
    }
    vec_push(out, (Element){PRIMARY_NUMBER + (end - at), 1, 0});
    for (; at < end; at++) put_element(out, flow_string_at(s, at), false);
    return end;
}

static Elements elements_of(const FlowString *s, uint32_t flags) {
    Elements out = {0};
    uint32_t length = flow_string_length(s);
    for (uint32_t i = 0; i < length;) {
        uint32_t unit = flow_string_at(s, i);
        if (flags & COMPARE_NUMERIC && unit >= '0' && unit <= '9') {
            i = put_number(&out, s, i);
            continue;
        }
        i++;
        if (unit >= 0xD800 && unit <= 0xDBFF && i < length) {
            uint32_t low = flow_string_at(s, i);
            if (low >= 0xDC00 && low <= 0xDFFF) {
                unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                i++;
            }
        }
        put_character(&out, unit);
    }
    return out;
}

static int order_of(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int compare_primary(const Elements *a, const Elements *b) {
    size_t i = 0;
    size_t j = 0;
    for (;;) {
        while (i < a->count && a->data[i].primary == 0) i++;
        while (j < b->count && b->data[j].primary == 0) j++;
        if (i == a->count || j == b->count) return (i < a->count) - (j < b->count);
        int order = order_of(a->data[i++].primary, b->data[j++].primary);
        if (order) return order;
    }
}

static int compare_secondary(const Elements *a, const Elements *b) {
    size_t common = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < common; i++) {
        int order = order_of(a->data[i].secondary, b->data[i].secondary);
        if (order) return order;
    }
    return order_of((uint32_t)a->count, (uint32_t)b->count);
}

static int compare_tertiary(const Elements *a, const Elements *b) {
    size_t i = 0;
    size_t j = 0;
    for (;;) {
        while (i < a->count && a->data[i].primary == 0) i++;
        while (j < b->count && b->data[j].primary == 0) j++;
        if (i == a->count || j == b->count) return 0; // equal on the first level
        int order = order_of(a->data[i++].tertiary, b->data[j++].tertiary);
        if (order) return order;
    }
}

static int flow_string_compare_locale(FlowVm *vm, FlowString *a, FlowString *b, uint32_t flags) {
    if (flow_string_equal(vm, a, b)) return 0;
    a = flow_string_flat(vm, a);
    b = flow_string_flat(vm, b);
    flow_native_charge(vm, ((uint64_t)flow_string_length(a) + flow_string_length(b)) * 32);
    Elements left = elements_of(a, flags);
    Elements right = elements_of(b, flags);
    int order = compare_primary(&left, &right);
    if (order == 0 && !(flags & (COMPARE_BASE | COMPARE_CASE))) {
        order = compare_secondary(&left, &right);
    }
    if (order == 0 && !(flags & (COMPARE_BASE | COMPARE_ACCENT))) {
        order = compare_tertiary(&left, &right);
        if (flags & COMPARE_UPPER_FIRST) order = -order;
    }
    vec_free(&left);
    vec_free(&right);
    return order;
}

// The elements of both are outside of the heap, but must not outgrow its budget.
static FlowNativeResult compare_room(FlowVm *vm, FlowNativeCall *call, const FlowString *a,
                                     const FlowString *b) {
    size_t bytes = ((size_t)flow_string_length(a) + flow_string_length(b)) * 2 * sizeof(Element);
    return flow_heap_has_room(&vm->heap, bytes) ? NATIVE_OK : flow_native_room(vm, call, bytes);
}

// Plain comparison; locales and options are read by the prelude.
FlowNativeResult flow_string_locale_compare_native(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_is_undefined(flow_argument(call, 1)) || !flow_is_undefined(flow_argument(call, 2))) {
        return flow_native_slow(vm, call);
    }
    FlowString *s;
    FlowString *other;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.localeCompare", &s));
    TRY_NATIVE(flow_argument_string(vm, call, 0, &other));
    TRY_NATIVE(compare_room(vm, call, s, other));
    return flow_native_return(call, flow_int(flow_string_compare_locale(vm, s, other, 0)));
}

// %localeCompare(a, b, flags): all converted.
FlowNativeResult flow_intrinsic_locale_compare(FlowVm *vm, FlowNativeCall *call) {
    FlowString *a = flow_as_string(flow_argument(call, 0));
    FlowString *b = flow_as_string(flow_argument(call, 1));
    uint32_t flags = (uint32_t)flow_as_int(flow_argument(call, 2));
    TRY_NATIVE(compare_room(vm, call, a, b));
    return flow_native_return(call, flow_int(flow_string_compare_locale(vm, a, b, flags)));
}
