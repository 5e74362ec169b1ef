// Unicode: lookups in the generated tables.
//
// Everything is a binary search in a sorted table; nothing is cached, nothing allocates. Hangul
// syllables decompose and compose by arithmetic, as the Unicode standard gives it.
//   [unicode-tables-1], [unicode-tables-2] of the header hold for what the generator writes.
#include "flow/builtin/text/unicode_tables.h"
#include <string.h>

enum {
    HANGUL_FIRST = 0xAC00,
    HANGUL_COUNT = 11172,
    HANGUL_LEAD = 0x1100,
    HANGUL_LEAD_COUNT = 19,
    HANGUL_VOWEL = 0x1161,
    HANGUL_VOWEL_COUNT = 21,
    HANGUL_TRAIL = 0x11A7,
    HANGUL_TRAIL_COUNT = 28,
};

static uint32_t map_single(const FlowCaseRun *runs, uint32_t count, uint32_t code_point) {
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (runs[middle].first <= code_point) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return code_point;
    const FlowCaseRun *run = &runs[low - 1];
    uint32_t distance = code_point - run->first;
    if (distance >= (uint32_t)run->count * run->step || distance % run->step) return code_point;
    return (uint32_t)((int32_t)code_point + run->delta);
}

static const FlowCaseSpecial *find_special(const FlowCaseSpecial *table, uint32_t count,
                                           uint32_t code_point) {
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (table[middle].code_point < code_point) low = middle + 1;
        else high = middle;
    }
    return low < count && table[low].code_point == code_point ? &table[low] : NULL;
}

static uint32_t copy_special(const FlowCaseSpecial *special, uint32_t ret_to[UNICODE_CASE_MAX]) {
    uint32_t count = 0;
    while (count < UNICODE_CASE_MAX && special->to[count]) {
        ret_to[count] = special->to[count];
        count++;
    }
    return count;
}

uint32_t flow_unicode_to_upper(uint32_t code_point, uint32_t ret_to[UNICODE_CASE_MAX]) {
    if (code_point < 128) {
        ret_to[0] = code_point >= 'a' && code_point <= 'z' ? code_point - 32 : code_point;
        return 1;
    }
    const FlowCaseSpecial *special =
        find_special(flow_unicode_upper_special, flow_unicode_upper_special_count, code_point);
    if (special) return copy_special(special, ret_to);
    ret_to[0] = map_single(flow_unicode_upper_runs, flow_unicode_upper_run_count, code_point);
    return 1;
}

uint32_t flow_unicode_to_lower(uint32_t code_point, uint32_t ret_to[UNICODE_CASE_MAX]) {
    if (code_point < 128) {
        ret_to[0] = code_point >= 'A' && code_point <= 'Z' ? code_point + 32 : code_point;
        return 1;
    }
    const FlowCaseSpecial *special =
        find_special(flow_unicode_lower_special, flow_unicode_lower_special_count, code_point);
    if (special) return copy_special(special, ret_to);
    ret_to[0] = map_single(flow_unicode_lower_runs, flow_unicode_lower_run_count, code_point);
    return 1;
}

uint32_t flow_unicode_combining_class(uint32_t code_point) {
    if (code_point < 0x300) return 0;
    uint32_t low = 0;
    uint32_t high = flow_unicode_combining_run_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (flow_unicode_combining_runs[middle].first <= code_point) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return 0;
    const FlowCombiningRun *run = &flow_unicode_combining_runs[low - 1];
    return code_point - run->first < run->count ? run->combining_class : 0;
}

static const uint16_t *decompose_hangul(uint32_t code_point, uint16_t scratch[4],
                                        uint32_t *ret_length) {
    uint32_t index = code_point - HANGUL_FIRST;
    uint32_t trail = index % HANGUL_TRAIL_COUNT;
    index /= HANGUL_TRAIL_COUNT;
    scratch[0] = (uint16_t)(HANGUL_LEAD + index / HANGUL_VOWEL_COUNT);
    scratch[1] = (uint16_t)(HANGUL_VOWEL + index % HANGUL_VOWEL_COUNT);
    scratch[2] = (uint16_t)(HANGUL_TRAIL + trail);
    *ret_length = trail ? 3 : 2;
    return scratch;
}

const uint16_t *flow_unicode_decompose(uint32_t code_point, bool is_compat, uint16_t scratch[4],
                                       uint32_t *ret_length) {
    *ret_length = 0;
    if (code_point < 0xA0) return NULL;
    if (code_point - HANGUL_FIRST < HANGUL_COUNT) {
        return decompose_hangul(code_point, scratch, ret_length);
    }
    uint32_t low = 0;
    uint32_t high = flow_unicode_decomposition_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (flow_unicode_decompositions[middle].code_point < code_point) low = middle + 1;
        else high = middle;
    }
    // A character has up to two entries: the canonical one comes first.
    const FlowDecomposition *found = NULL;
    for (uint32_t i = low; i < flow_unicode_decomposition_count; i++) {
        const FlowDecomposition *entry = &flow_unicode_decompositions[i];
        if (entry->code_point != code_point) break;
        if (!entry->is_compat || is_compat) found = entry;
    }
    if (!found) return NULL;
    *ret_length = found->length;
    return flow_unicode_decomposition_pool + found->pool_index;
}

static uint32_t compose_hangul(uint32_t first, uint32_t second) {
    if (first - HANGUL_LEAD < HANGUL_LEAD_COUNT && second - HANGUL_VOWEL < HANGUL_VOWEL_COUNT) {
        uint32_t syllable = ((first - HANGUL_LEAD) * HANGUL_VOWEL_COUNT + (second - HANGUL_VOWEL));
        return HANGUL_FIRST + syllable * HANGUL_TRAIL_COUNT;
    }
    if (first - HANGUL_FIRST < HANGUL_COUNT && (first - HANGUL_FIRST) % HANGUL_TRAIL_COUNT == 0 &&
        second > HANGUL_TRAIL && second - HANGUL_TRAIL < HANGUL_TRAIL_COUNT) {
        return first + (second - HANGUL_TRAIL);
    }
    return 0;
}

uint32_t flow_unicode_compose(uint32_t first, uint32_t second) {
    uint32_t low = 0;
    uint32_t high = flow_unicode_composition_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const FlowComposition *at = &flow_unicode_compositions[middle];
        if (at->first < first || (at->first == first && at->second < second)) low = middle + 1;
        else high = middle;
    }
    if (low < flow_unicode_composition_count && flow_unicode_compositions[low].first == first &&
        flow_unicode_compositions[low].second == second) {
        return flow_unicode_compositions[low].whole;
    }
    return compose_hangul(first, second);
}

static bool same_text(const char *text, const char *other, size_t other_len) {
    return strlen(text) == other_len && memcmp(text, other, other_len) == 0;
}

const FlowUnicodeProperty *flow_unicode_property(const char *name, size_t name_len,
                                                 const char *value, size_t value_len) {
    bool has_value = value_len > 0;
    FlowUnicodeKind kind = UNICODE_CATEGORY;
    if (has_value) {
        if (same_text("General_Category", name, name_len) || same_text("gc", name, name_len)) {
            kind = UNICODE_CATEGORY;
        } else if (same_text("Script", name, name_len) || same_text("sc", name, name_len)) {
            kind = UNICODE_SCRIPT;
        } else if (same_text("Script_Extensions", name, name_len) ||
                   same_text("scx", name, name_len)) {
            kind = UNICODE_SCRIPT_EXTENSIONS;
        } else {
            return NULL;
        }
        name = value;
        name_len = value_len;
    }
    for (uint32_t i = 0; i < flow_unicode_property_count; i++) {
        const FlowUnicodeProperty *property = &flow_unicode_properties[i];
        if (!same_text(property->name, name, name_len)) continue;
        if (property->kind == kind || (!has_value && property->kind == UNICODE_BINARY)) {
            return property;
        }
    }
    return NULL;
}

FlowUnicodeRanges flow_unicode_ranges(const FlowUnicodeProperty *property) {
    const uint8_t *start = flow_unicode_property_stream + property->stream_index;
    return (FlowUnicodeRanges){start, start + property->stream_size, 0};
}

static uint32_t next_varint(FlowUnicodeRanges *ranges) {
    uint32_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
        uint8_t byte = *ranges->at++;
        value |= (uint32_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
}

bool flow_unicode_next_range(FlowUnicodeRanges *ranges, uint32_t *ret_first, uint32_t *ret_last) {
    if (ranges->at >= ranges->end) return false;
    *ret_first = ranges->next + next_varint(ranges);
    *ret_last = *ret_first + next_varint(ranges);
    ranges->next = *ret_last + 1;
    return true;
}

bool flow_unicode_has_property(uint32_t code_point, const FlowUnicodeProperty *property) {
    FlowUnicodeRanges ranges = flow_unicode_ranges(property);
    uint32_t first;
    uint32_t last;
    while (flow_unicode_next_range(&ranges, &first, &last)) {
        if (code_point <= last) return code_point >= first;
    }
    return false;
}
