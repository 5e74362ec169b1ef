// Case conversion and normalization of whole strings.
//
// Case: full Unicode mappings ("ß" becomes "SS"), and the one rule with context: a capital sigma
// at the end of a word becomes a final sigma. No language has rules of its own here.
//
// Normalization: decompose, put combining marks in canonical order, and for NFC and NFKC compose
// again. Latin-1 text below U+00A0 is in every form already.
#include "base/containers/vec.h"
#include "flow/builtin/text/string.h"
#include "flow/builtin/text/unicode_tables.h"
#include "flow/vm/vm.h"

enum { CASE_RANGES_MAX = 1024, SIGMA_WORK = 1024 };

static uint32_t code_point_at(const FlowString *s, uint32_t at, uint32_t *ret_size) {
    uint32_t unit = flow_string_at(s, at);
    *ret_size = 1;
    if (unit < 0xD800 || unit > 0xDBFF || at + 1 >= flow_string_length(s)) return unit;
    uint32_t low = flow_string_at(s, at + 1);
    if (low < 0xDC00 || low > 0xDFFF) return unit;
    *ret_size = 2;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

// The code point that ends before `at`, and where it starts.
static uint32_t code_point_before(const FlowString *s, uint32_t at, uint32_t *ret_start) {
    uint32_t unit = flow_string_at(s, at - 1);
    *ret_start = at - 1;
    if (unit < 0xDC00 || unit > 0xDFFF || at < 2) return unit;
    uint32_t high = flow_string_at(s, at - 2);
    if (high < 0xD800 || high > 0xDBFF) return unit;
    *ret_start = at - 2;
    return 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
}

// --- case

// The tables are packed and can only be read from the start, which a text full of sigmas would have
// us do for each. So the two that are needed are unpacked once for a text with a sigma.
typedef struct CodePointSet {
    uint32_t count;
    uint32_t firsts[CASE_RANGES_MAX], lasts[CASE_RANGES_MAX]; // inclusive, ascending
} CodePointSet;

typedef struct CaseSets {
    CodePointSet cased, ignorable; // count 0: not unpacked
} CaseSets;

static void unpack(CodePointSet *set, const char *name) {
    FlowUnicodeRanges ranges =
        flow_unicode_ranges(flow_unicode_property(name, strlen(name), NULL, 0));
    while (flow_unicode_next_range(&ranges, &set->firsts[set->count], &set->lasts[set->count])) {
        set->count++;
        ASSERT(set->count < CASE_RANGES_MAX);
    }
}

static bool set_has(const CodePointSet *set, uint32_t code_point) {
    uint32_t low = 0;
    uint32_t high = set->count;
    while (low < high) { // the first range that ends at or behind it
        uint32_t middle = (low + high) / 2;
        if (set->lasts[middle] < code_point) low = middle + 1;
        else high = middle;
    }
    return low < set->count && code_point >= set->firsts[low];
}

// A cased letter before it and none after it, marks and the like not counted.
static bool is_final_sigma(CaseSets *sets, const FlowString *s, uint32_t at) {
    if (sets->cased.count == 0) {
        unpack(&sets->cased, "Cased");
        unpack(&sets->ignorable, "Case_Ignorable");
    }
    uint32_t before = at;
    bool has_letter = false;
    while (before > 0) {
        uint32_t code_point = code_point_before(s, before, &before);
        if (set_has(&sets->ignorable, code_point)) continue;
        has_letter = set_has(&sets->cased, code_point);
        break;
    }
    if (!has_letter) return false;
    for (uint32_t after = at + 1; after < flow_string_length(s);) {
        uint32_t size;
        uint32_t code_point = code_point_at(s, after, &size);
        after += size;
        if (!set_has(&sets->ignorable, code_point)) return !set_has(&sets->cased, code_point);
    }
    return true;
}

// ASCII without letters of the other case needs no copy: the common `key.toLowerCase()`.
static FlowString *convert_ascii(FlowVm *vm, FlowString *s, bool is_upper, bool *ret_done) {
    uint32_t length = flow_string_length(s);
    bool has_change = false;
    *ret_done = false;
    for (uint32_t i = 0; i < length; i++) {
        uint8_t c = s->latin1[i];
        if (c >= 0x80) return NULL;
        has_change |= is_upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
    }
    *ret_done = true;
    if (!has_change) return s;
    FlowString *result = flow_string_alloc(vm, length, false);
    for (uint32_t i = 0; i < length; i++) {
        uint8_t c = s->latin1[i];
        bool is_other = is_upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
        result->latin1[i] = is_other ? c ^ 0x20 : c;
    }
    return result;
}

static FlowString *convert_case(FlowVm *vm, FlowString *s, bool is_upper) {
    if (!flow_string_is_wide(s)) {
        bool is_done;
        FlowString *result = convert_ascii(vm, s, is_upper, &is_done);
        if (is_done) return result;
    }
    CaseSets sets;
    sets.cased.count = sets.ignorable.count = 0;
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    uint32_t size;
    for (uint32_t i = 0; i < flow_string_length(s); i += size) {
        uint32_t code_point = code_point_at(s, i, &size);
        if (code_point == 0x3A3 && !is_upper) {
            flow_native_charge(vm, SIGMA_WORK);
            flow_builder_unit(&builder, is_final_sigma(&sets, s, i) ? 0x3C2 : 0x3C3);
            continue;
        }
        uint32_t to[UNICODE_CASE_MAX];
        uint32_t count = is_upper ? flow_unicode_to_upper(code_point, to)
                                  : flow_unicode_to_lower(code_point, to);
        for (uint32_t j = 0; j < count; j++) flow_builder_code_point(&builder, to[j]);
    }
    return flow_builder_finish(&builder);
}

FlowString *flow_string_lower(FlowVm *vm, FlowString *flat) {
    return convert_case(vm, flat, false);
}
FlowString *flow_string_upper(FlowVm *vm, FlowString *flat) { return convert_case(vm, flat, true); }

// --- normalization

typedef VEC(uint32_t) CodePoints;

static void append_decomposed(CodePoints *out, uint32_t code_point, bool is_compat) {
    uint16_t scratch[4];
    uint32_t length;
    const uint16_t *units = flow_unicode_decompose(code_point, is_compat, scratch, &length);
    if (length == 0) {
        vec_push(out, code_point);
        return;
    }
    for (uint32_t i = 0; i < length; i++) {
        uint32_t unit = units[i];
        if (unit >= 0xD800 && unit <= 0xDBFF) {
            unit = 0x10000 + ((unit - 0xD800) << 10) + (units[++i] - 0xDC00u);
        }
        vec_push(out, unit);
    }
}

// Stable order by combining class within each run of marks. Insertion sort would be quadratic for
// a hostile run of marks, so each run is sorted by counting its 256 classes.
static void order_marks(CodePoints *text) {
    CodePoints sorted = {0};
    for (size_t start = 0; start < text->count;) {
        if (flow_unicode_combining_class(text->data[start]) == 0) {
            start++;
            continue;
        }
        size_t counts[257] = {0};
        size_t end = start;
        for (; end < text->count; end++) {
            uint32_t class = flow_unicode_combining_class(text->data[end]);
            if (class == 0) break;
            counts[class + 1]++;
        }
        for (size_t i = 1; i < 257; i++) counts[i] += counts[i - 1];
        vec_clear(&sorted);
        vec_reserve(&sorted, end - start);
        sorted.count = end - start;
        for (size_t i = start; i < end; i++) {
            sorted.data[counts[flow_unicode_combining_class(text->data[i])]++] = text->data[i];
        }
        memcpy(text->data + start, sorted.data, sizeof(uint32_t) * (end - start));
        start = end;
    }
    vec_free(&sorted);
}

// In place: a mark joins the last starter unless something between them blocks it.
static void compose(CodePoints *text) {
    size_t out = 0;
    size_t starter = SIZE_MAX;
    uint32_t last_class = 0;
    for (size_t i = 0; i < text->count; i++) {
        uint32_t code_point = text->data[i];
        uint32_t class = flow_unicode_combining_class(code_point);
        bool is_adjacent = starter != SIZE_MAX && out == starter + 1;
        if (starter != SIZE_MAX && (is_adjacent || (class != 0 && last_class < class))) {
            uint32_t whole = flow_unicode_compose(text->data[starter], code_point);
            if (whole) {
                text->data[starter] = whole;
                continue;
            }
        }
        if (class == 0) starter = out;
        last_class = class;
        text->data[out++] = code_point;
    }
    text->count = out;
}

FlowString *flow_string_normalize(FlowVm *vm, FlowString *flat, NormalForm form) {
    uint32_t length = flow_string_length(flat);
    uint32_t plain = 0;
    while (plain < length && flow_string_at(flat, plain) < 0xA0) plain++;
    if (plain == length) return flat;
    if (!flow_heap_has_room(&vm->heap, (size_t)length * 8)) {
        flow_throw_memory(vm);
        return NULL;
    }
    flow_native_charge(vm, (uint64_t)length * 256);
    CodePoints text = {0};
    uint32_t size;
    bool is_compat = form == FORM_NFKC || form == FORM_NFKD;
    for (uint32_t i = 0; i < length; i += size) {
        append_decomposed(&text, code_point_at(flat, i, &size), is_compat);
        if (text.count * sizeof *text.data > vm->heap.limit) { // one may become eighteen
            vec_free(&text);
            flow_throw_memory(vm);
            return NULL;
        }
    }
    order_marks(&text);
    if (form == FORM_NFC || form == FORM_NFKC) compose(&text);
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (size_t i = 0; i < text.count; i++) flow_builder_code_point(&builder, text.data[i]);
    vec_free(&text);
    return flow_builder_finish(&builder);
}
