// Unicode identifiers: a binary search in ranges that a generator wrote.
//
// The tables cost about 6 KiB and are touched only by names that are not ASCII. A table of bits
// would answer faster and cost 130 KiB; a name in Greek or Chinese costs ten comparisons a
// character, which no profile will ever show.
#include "flow/lexer/unicode_id.h"
#include "base/array.h"
#include "flow/lexer/unicode_id_table.h"
#include <stddef.h>

static bool is_in_ranges(const uint32_t *ranges, size_t count, uint32_t code_point) {
    size_t low = 0;
    size_t high = count;
    while (low < high) { // the first range that begins after code_point
        size_t middle = low + (high - low) / 2;
        if (ranges[middle] >> 11 <= code_point) low = middle + 1;
        else high = middle;
    }
    return low > 0 && code_point - (ranges[low - 1] >> 11) <= (ranges[low - 1] & 0x7FF);
}

bool unicode_is_id_start(uint32_t code_point) {
    return is_in_ranges(id_start_ranges, COUNT_OF(id_start_ranges), code_point);
}

bool unicode_is_id_continue(uint32_t code_point) {
    return unicode_is_id_start(code_point) ||
           is_in_ranges(id_continue_ranges, COUNT_OF(id_continue_ranges), code_point);
}

bool unicode_is_space(uint32_t code_point) {
    return code_point == 0xA0 || code_point == 0xFEFF || code_point == 0x1680 ||
           (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x202F ||
           code_point == 0x205F || code_point == 0x3000;
}
