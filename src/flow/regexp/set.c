// Sets of characters: the classes of regular expressions as sorted ranges.
//
// Ignoring case is done here once and for all: a set is closed over what counts as the same, so
// that matching is a plain lookup. The classes of equal characters are generated tables, one for
// patterns with the flag u (simple case folding) and one without (upper case of single units).
#include "base/array.h"
#include "base/text/str.h"
#include "flow/builtin/text/unicode_tables.h"
#include "flow/regexp/internal.h"
#include <stdlib.h>

enum { CHARACTER_MAX = 0x10FFFF };

void regexp_ranges_add(RegexpRanges *ranges, uint32_t first, uint32_t last) {
    vec_push(ranges, (RegexpRange){first, last});
}

void regexp_ranges_add_all(RegexpRanges *ranges, const RegexpRanges *others) {
    for (size_t i = 0; i < others->count; i++) vec_push(ranges, others->data[i]);
}

static int compare_ranges(const void *a, const void *b) {
    const RegexpRange *x = a;
    const RegexpRange *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

void regexp_ranges_normalize(RegexpRanges *ranges) {
    if (ranges->count < 2) return;
    qsort(ranges->data, ranges->count, sizeof(RegexpRange), compare_ranges);
    size_t out = 0;
    for (size_t i = 1; i < ranges->count; i++) {
        RegexpRange *last = &ranges->data[out];
        RegexpRange range = ranges->data[i];
        if (range.first <= last->last + 1) {
            if (range.last > last->last) last->last = range.last;
        } else {
            ranges->data[++out] = range;
        }
    }
    ranges->count = out + 1;
}

void regexp_ranges_invert(RegexpRanges *ranges) {
    regexp_ranges_normalize(ranges);
    RegexpRanges result = {0};
    uint32_t next = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        RegexpRange range = ranges->data[i];
        if (range.first > next) vec_push(&result, (RegexpRange){next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= CHARACTER_MAX) vec_push(&result, (RegexpRange){next, CHARACTER_MAX});
    vec_free(ranges);
    *ranges = result;
}

static bool ranges_have(const RegexpRange *ranges, size_t count, uint32_t character) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].last < character) low = middle + 1;
        else high = middle;
    }
    return low < count && ranges[low].first <= character;
}

// ASCII alone: letters, and with u the two characters outside that fold to k and s.
static void close_ascii(RegexpRanges *ranges, bool is_unicode) {
    size_t count = ranges->count;
    for (uint32_t c = 'a'; c <= 'z'; c++) {
        bool has_lower = ranges_have(ranges->data, count, c);
        bool has_upper = ranges_have(ranges->data, count, c - 32);
        if (!has_lower && !has_upper) continue;
        if (has_lower != has_upper) {
            uint32_t other = has_lower ? c - 32 : c;
            vec_push(ranges, (RegexpRange){other, other});
        }
        if (is_unicode && c == 'k') vec_push(ranges, (RegexpRange){0x212A, 0x212A});
        if (is_unicode && c == 's') vec_push(ranges, (RegexpRange){0x17F, 0x17F});
        // Pushing moves nothing below `count`, which stays sorted.
    }
}

void regexp_ranges_close_case(RegexpRanges *ranges, bool is_unicode) {
    regexp_ranges_normalize(ranges);
    if (ranges->count == 0) return;
    if (ranges->data[ranges->count - 1].last < 128) {
        close_ascii(ranges, is_unicode);
        regexp_ranges_normalize(ranges);
        return;
    }
    const uint32_t *table =
        is_unicode ? flow_unicode_case_classes : flow_unicode_case_classes_basic;
    uint32_t table_count =
        is_unicode ? flow_unicode_case_classes_count : flow_unicode_case_classes_basic_count;
    size_t count = ranges->count;
    for (uint32_t start = 0; start < table_count;) {
        uint32_t end = start;
        bool is_met = false;
        for (;; end++) {
            uint32_t member = table[end] & 0x7FFFFFFF;
            if (ranges_have(ranges->data, count, member)) is_met = true;
            if (table[end] >> 31) break;
        }
        for (uint32_t i = start; is_met && i <= end; i++) {
            uint32_t member = table[i] & 0x7FFFFFFF;
            vec_push(ranges, (RegexpRange){member, member});
        }
        start = end + 1;
    }
    regexp_ranges_normalize(ranges);
}

uint32_t regexp_canonicalize(uint32_t character, bool is_unicode) {
    if (character < 128) {
        return character >= 'a' && character <= 'z' ? character - 32 : character;
    }
    const uint32_t *table =
        is_unicode ? flow_unicode_case_classes : flow_unicode_case_classes_basic;
    uint32_t count =
        is_unicode ? flow_unicode_case_classes_count : flow_unicode_case_classes_basic_count;
    for (uint32_t i = 0, start = 0; i < count; i++) {
        // The least of a class: a capital when it is ASCII, as above.
        if ((table[i] & 0x7FFFFFFF) == character) return table[start] & 0x7FFFFFFF;
        if (table[i] >> 31) start = i + 1;
    }
    return character;
}

static void add_word(RegexpRanges *ranges, uint32_t flags) {
    regexp_ranges_add(ranges, '0', '9');
    regexp_ranges_add(ranges, 'A', 'Z');
    regexp_ranges_add(ranges, '_', '_');
    regexp_ranges_add(ranges, 'a', 'z');
    if ((flags & REGEXP_UNICODE) && (flags & REGEXP_IGNORE_CASE)) {
        regexp_ranges_add(ranges, 0x17F, 0x17F);
        regexp_ranges_add(ranges, 0x212A, 0x212A);
    }
}

static void add_space(RegexpRanges *ranges) {
    static const RegexpRange spaces[] = {
        {9, 13},          {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
        {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
    };
    for (size_t i = 0; i < COUNT_OF(spaces); i++) vec_push(ranges, spaces[i]);
}

static void add_inverted(RegexpRanges *ranges, RegexpRanges *piece, bool is_negated) {
    if (is_negated) regexp_ranges_invert(piece);
    regexp_ranges_add_all(ranges, piece);
    vec_free(piece);
}

void regexp_ranges_add_class(RegexpRanges *ranges, RegexpClass class, bool is_negated,
                             uint32_t flags) {
    RegexpRanges piece = {0};
    if (class == CLASS_DIGIT) regexp_ranges_add(&piece, '0', '9');
    else if (class == CLASS_SPACE) add_space(&piece);
    else add_word(&piece, flags);
    add_inverted(ranges, &piece, is_negated);
}

bool regexp_ranges_add_property(RegexpRanges *ranges, Str text, bool is_negated) {
    const char *equals = memchr(text.data, '=', text.len);
    size_t name_len = equals ? (size_t)(equals - text.data) : text.len;
    const char *value = equals ? equals + 1 : NULL;
    size_t value_len = equals ? text.len - name_len - 1 : 0;
    if (name_len == 0 || (equals && value_len == 0)) return false;
    const FlowUnicodeProperty *property =
        flow_unicode_property(text.data, name_len, value, value_len);
    if (!property) return false;
    RegexpRanges piece = {0};
    FlowUnicodeRanges walk = flow_unicode_ranges(property);
    uint32_t first;
    uint32_t last;
    while (flow_unicode_next_range(&walk, &first, &last)) regexp_ranges_add(&piece, first, last);
    add_inverted(ranges, &piece, is_negated);
    return true;
}

bool regexp_set_has(const RegexpSet *set, uint32_t character) {
    if (character < 256) return set->bitmap[character / 32] >> character % 32 & 1;
    return ranges_have(set->ranges, set->count, character);
}

RegexpSet *regexp_set_new(Arena *arena, const RegexpRanges *normalized) {
    RegexpSet *set = ARENA_NEW(arena, RegexpSet);
    RegexpRange *ranges = ARENA_ARRAY(arena, RegexpRange, normalized->count);
    for (size_t i = 0; i < normalized->count; i++) {
        ranges[i] = normalized->data[i];
        for (uint32_t c = ranges[i].first; c <= ranges[i].last && c < 256; c++) {
            set->bitmap[c / 32] |= 1u << c % 32;
        }
    }
    set->ranges = ranges;
    set->count = (uint32_t)normalized->count;
    return set;
}
