// Compiled patterns: made once, shared by every VM and thread, counted.
#pragma once
#include "flow/regexp/internal.h"
#include <stdatomic.h>

typedef struct RegexpPattern {
    atomic_uint reference_count;
    uint32_t hash;
    uint16_t *source;
    uint32_t length;
    uint32_t flags;
    Arena arena; // tree and program
    RegexpTree tree;
    RegexpProgram program;
    struct {
        _Atomic(RegexpFast *) code; // NULL until it is worth it
        atomic_uint work;           // units that our own engine has looked at
        atomic_bool is_unusable;
    } fast[2]; // Latin-1 subjects, wide ones
} RegexpPattern;

typedef struct RegexpMade { // what regexp_pattern_get did
    bool is_new;            // it was not in the cache
    uint32_t work;
    char message[REGEXP_MESSAGE_MAX];
} RegexpMade;
// NULL: the pattern is wrong, and the message says why.
RegexpPattern *regexp_pattern_get(const uint16_t *source, uint32_t length, uint32_t flags,
                                  RegexpMade *ret_made);
void regexp_pattern_release(void *pattern);
// By whichever engine suits.
RegexpOutcome regexp_pattern_match(RegexpPattern *pattern, const RegexpSubject *subject,
                                   uint32_t start, RegexpBudget *budget, int32_t *ret_captures);
// "dgimsuy" to bits; false: unknown or repeated.
bool regexp_parse_flags(const uint16_t *flags, size_t length, uint32_t *ret_flags);
