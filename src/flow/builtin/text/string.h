// String built-ins: what their files, and those of RegExp, share.
#pragma once
#include "flow/builtin/primitives.h"

// A position that scripts give, held within the string.
static inline uint32_t flow_string_clamp(double position, uint32_t length) {
    return position <= 0 ? 0 : position >= length ? length : (uint32_t)position;
}
// flow_string_find, paid for. `from` is at most the length.
int64_t flow_string_find_paid(FlowVm *vm, const FlowString *s, const FlowString *needle,
                              uint32_t from);

// --- case and normalization (text/string_case.c); NULL: exception pending
FlowString *flow_string_lower(FlowVm *vm, FlowString *flat);
FlowString *flow_string_upper(FlowVm *vm, FlowString *flat);
typedef enum NormalForm { FORM_NFC, FORM_NFD, FORM_NFKC, FORM_NFKD } NormalForm;
FlowString *flow_string_normalize(FlowVm *vm, FlowString *flat, NormalForm form);

// --- order of people (text/string_compare.c)
enum {                        // flags
    COMPARE_NUMERIC = 1,      // runs of digits compare as numbers
    COMPARE_BASE = 2,         // a = á = A
    COMPARE_ACCENT = 4,       // a = A, a != á
    COMPARE_CASE = 8,         // a = á, a != A
    COMPARE_UPPER_FIRST = 16, // caseFirst: "upper"
};

// --- replacement templates: $$ $& $` $' $1 $<name> (text/string_replace.c)
typedef struct StringMatch {
    FlowString *subject; // flat
    uint32_t start;
    uint32_t end;
    const int32_t *captures; // pairs from capture 1 on: start, end; start < 0: did not take part
    uint32_t capture_count;
    // Named groups: answers the number of the capture, or 0. NULL: the pattern has no names.
    uint32_t (*find_name)(const void *context, const FlowString *name, uint32_t start,
                          uint32_t end);
    const void *find_context;
} StringMatch;
void flow_string_substitute(FlowStringBuilder *builder, FlowString *template,
                            const StringMatch *match);

// --- methods in other files than text/string.c
FlowNativeResult flow_string_includes_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_starts_with_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_ends_with_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_index_of_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_last_index_of_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_replace_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_replace_all_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_split_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_locale_compare_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_intrinsic_locale_compare(FlowVm *vm, FlowNativeCall *call);

// The result of a native: the string, or the exception when it is NULL.
static inline FlowNativeResult flow_native_string(FlowNativeCall *call, const FlowString *s) {
    return s ? flow_native_return(call, flow_from_string(s)) : NATIVE_THROW;
}
