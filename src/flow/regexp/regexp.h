// RegExp objects: what the interpreter, the compiler and the string methods need of them.
//
// A RegExp object (KIND_REGEXP) holds: internal[0] source, [1] flags as text, [2] the compiled
// pattern (a FlowBytes cell, or undefined after a snapshot: it is made again), [3] flags as bits.
// `lastIndex` is its first own property.
#pragma once
#include "flow/builtin/primitives.h"
#include "flow/regexp/check.h"

// /source/flags. NULL: SyntaxError pending.
FlowObject *flow_regexp_new(FlowVm *vm, FlowString *source, FlowString *flags);

// --- for the built-ins
typedef struct RegexpFound { // a match; captures are units of the subject
    int32_t *captures;       // pairs; the whole match first
    uint32_t capture_count;  // without the whole match
    bool is_found;           // else nothing else is set
    int32_t few[32];         // where `captures` points unless there are many
} RegexpFound;
void flow_regexp_found_done(RegexpFound *found);

// A RegExp nobody has tampered with: no own property but a writable lastIndex that is a number,
// and the built-in prototype and constructor as they were. Then everything it does is known.
bool flow_regexp_is_pristine(FlowVm *vm, FlowValue value);
uint32_t flow_regexp_flags(const FlowSlotObject *regexp); // REGEXP_*
// What one native does with a RegExp and a string, however many matches that takes: a native cannot
// be stopped in the middle, so all of them together have a limit.
typedef struct RegexpSearch {
    FlowVm *vm;
    FlowSlotObject *regexp;
    FlowString *subject; // flat
    uint64_t steps;      // left for all of it
} RegexpSearch;
RegexpSearch flow_regexp_search(FlowVm *vm, FlowSlotObject *regexp, FlowString *subject);
// Matches from `start` on. Answers NATIVE_OK, or what the native must return at once.
FlowNativeResult flow_regexp_find(RegexpSearch *search, uint32_t start, RegexpFound *ret_found);
// RegExpBuiltinExec with `last_index` already converted: updates lastIndex; null or the match.
FlowNativeResult flow_regexp_exec(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                  FlowString *subject, double last_index);
FlowValue flow_regexp_groups(FlowVm *vm, FlowSlotObject *regexp, FlowString *subject,
                             const RegexpFound *found); // undefined without names
// The number of a named capture whose name is part of `text`; 0: there is none.
uint32_t flow_regexp_name(const void *regexp, const FlowString *text, uint32_t start, uint32_t end);
bool flow_regexp_has_names(const FlowSlotObject *regexp);
double flow_regexp_last_index(FlowVm *vm, FlowSlotObject *regexp); // of a pristine one
// False: it is read-only, TypeError pending.
bool flow_regexp_set_last_index(FlowVm *vm, FlowSlotObject *regexp, double index);
// AdvanceStringIndex.
uint32_t flow_regexp_advance(const FlowString *subject, uint32_t index, bool is_unicode);

// --- natives in regexp/accessors.c
FlowNativeResult flow_regexp_flag_native(FlowVm *vm, FlowNativeCall *call); // magic: a flag bit
FlowNativeResult flow_regexp_flags_text_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_source_native(FlowVm *vm, FlowNativeCall *call);

// --- natives in regexp/methods.c
FlowNativeResult flow_regexp_symbol_match(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_symbol_match_all(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_symbol_replace(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_symbol_search(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_symbol_split(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_intrinsic_matches(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_intrinsic_iterator(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_intrinsic_iterator_state(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_regexp_intrinsic_iterator_end(FlowVm *vm, FlowNativeCall *call);
// The string methods, when their first argument is a pristine RegExp.
FlowNativeResult flow_string_replace_regexp(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_split_regexp(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_match_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_match_all_native(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_string_search_native(FlowVm *vm, FlowNativeCall *call);
