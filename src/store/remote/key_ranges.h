// KeyRanges: which parts of an ordered set of byte keys are known. A set of half-open ranges.
//
//   [key-ranges-1] Ranges are disjoint and do not touch: adding merges.
//   [key-ranges-2] An empty upper end means that the range has none.
#pragma once
#include "base/containers/buf.h"
#include "store/memory/ordered.h"

typedef struct KeyRanges {
    Ordered by_low; // KnownRange
    Buf scratch;
} KeyRanges;

void key_ranges_init(KeyRanges *ranges);
void key_ranges_done(KeyRanges *ranges);
void key_ranges_clear(KeyRanges *ranges);
void key_ranges_add(KeyRanges *ranges, Str low, Str high);
// Nothing in [low, high) is known any more. The upper end must not be empty.
void key_ranges_cut(KeyRanges *ranges, Str low, Str high);
bool key_ranges_has(KeyRanges *ranges, Str key);
// The end of the range that holds `key` (empty = it has none); false when `key` is not known.
bool key_ranges_end_of(KeyRanges *ranges, Str key, Str *ret_high);
// The beginning of the range that reaches up to `high` or beyond (empty = for ever); false when
// what is just below is not known.
bool key_ranges_start_of(const KeyRanges *ranges, Str high, Str *ret_low);
