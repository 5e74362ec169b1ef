// Unicode data: generated tables (tools/make_unicode_tables.mjs) and what one can ask them.
//
//   [unicode-tables-1] All tables are sorted by character, so that a lookup is a binary search.
//   [unicode-tables-2] Characters below 128 are not in the case tables.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FlowCaseRun { // first, first + step, … (`count` of them) map to themselves + delta
    uint32_t first;
    uint16_t count;
    uint16_t step;
    int32_t delta;
} FlowCaseRun;

typedef struct FlowCaseSpecial { // one character that becomes two or three; unused ones are 0
    uint32_t code_point;
    uint32_t to[3];
} FlowCaseSpecial;

typedef struct FlowDecomposition { // full decomposition, UTF-16 in the pool
    uint32_t code_point;
    uint16_t pool_index;
    uint8_t length;    // units
    uint8_t is_compat; // 0 comes before 1 for the same character
} FlowDecomposition;

typedef struct FlowComposition { // first + second = whole; sorted by first, then second
    uint32_t first;
    uint32_t second;
    uint32_t whole;
} FlowComposition;

typedef struct FlowCombiningRun {
    uint32_t first;
    uint16_t count;
    uint16_t combining_class;
} FlowCombiningRun;

typedef enum FlowUnicodeKind {
    UNICODE_BINARY,
    UNICODE_CATEGORY,
    UNICODE_SCRIPT,
    UNICODE_SCRIPT_EXTENSIONS,
} FlowUnicodeKind;

typedef struct FlowUnicodeProperty {
    const char *name;
    uint32_t stream_index;
    uint16_t stream_size; // bytes
    uint16_t kind;        // FlowUnicodeKind
} FlowUnicodeProperty;

// --- generated
extern const FlowCaseRun flow_unicode_upper_runs[];
extern const uint32_t flow_unicode_upper_run_count;
extern const FlowCaseSpecial flow_unicode_upper_special[];
extern const uint32_t flow_unicode_upper_special_count;
extern const FlowCaseRun flow_unicode_lower_runs[];
extern const uint32_t flow_unicode_lower_run_count;
extern const FlowCaseSpecial flow_unicode_lower_special[];
extern const uint32_t flow_unicode_lower_special_count;
// Characters that /iu (basic: /i) holds to be the same. Each class ascends; top bit: its last one.
extern const uint32_t flow_unicode_case_classes[];
extern const uint32_t flow_unicode_case_classes_count;
extern const uint32_t flow_unicode_case_classes_basic[];
extern const uint32_t flow_unicode_case_classes_basic_count;
extern const FlowDecomposition flow_unicode_decompositions[];
extern const uint32_t flow_unicode_decomposition_count;
extern const uint16_t flow_unicode_decomposition_pool[];
extern const FlowComposition flow_unicode_compositions[];
extern const uint32_t flow_unicode_composition_count;
extern const FlowCombiningRun flow_unicode_combining_runs[];
extern const uint32_t flow_unicode_combining_run_count;
extern const FlowUnicodeProperty flow_unicode_properties[];
extern const uint32_t flow_unicode_property_count;
extern const uint8_t flow_unicode_property_stream[];

// --- questions (text/unicode.c)
enum { UNICODE_CASE_MAX = 3 };
// Full case mappings without context; answer the number of characters written.
uint32_t flow_unicode_to_upper(uint32_t code_point, uint32_t ret_to[UNICODE_CASE_MAX]);
uint32_t flow_unicode_to_lower(uint32_t code_point, uint32_t ret_to[UNICODE_CASE_MAX]);
// Canonical combining class.
uint32_t flow_unicode_combining_class(uint32_t code_point);
// The full decomposition (UTF-16, also for Hangul through `scratch`); length 0: none.
const uint16_t *flow_unicode_decompose(uint32_t code_point, bool is_compat, uint16_t scratch[4],
                                       uint32_t *ret_length);
// The composed character, or 0 when the two do not compose.
uint32_t flow_unicode_compose(uint32_t first, uint32_t second);

// A property by its name as \p{…} has it: `name` alone, or with a value (value_len > 0).
// NULL: there is none.
const FlowUnicodeProperty *flow_unicode_property(const char *name, size_t name_len,
                                                 const char *value, size_t value_len);
typedef struct FlowUnicodeRanges { // walks the ranges of a property
    const uint8_t *at;
    const uint8_t *end;
    uint32_t next;
} FlowUnicodeRanges;
FlowUnicodeRanges flow_unicode_ranges(const FlowUnicodeProperty *property);
bool flow_unicode_next_range(FlowUnicodeRanges *ranges, uint32_t *ret_first, uint32_t *ret_last);
bool flow_unicode_has_property(uint32_t code_point, const FlowUnicodeProperty *property);
