// Finding a string in a string, from the front and from the back, in linear time.
//
// Latin-1 from the front is memmem's. For everything else there is the two-way algorithm of
// Crochemore and Perrin: the needle is cut at a critical place, compared to the right of it first
// and then to the left, and a mismatch moves it so far that no unit is looked at more than three
// times. It needs no memory. Short needles are tried at each place: that is quicker, and bounded.
//
//   [string-find-1] At most a constant number of looks per unit of text and needle, whatever they
//        hold; for needles below NAIVE_MAX that constant is their length.
#include "flow/vm/vm.h"

enum {
    FIND_SHORT = 256, // units in which memmem does not pay for its preparations
    NAIVE_MAX = 8,    // longest needle that is tried place by place
};

typedef struct Units { // read from the front or from the back
    const uint8_t *latin1;
    const uint16_t *wide;
    int64_t count;
    bool is_reversed;
} Units;

static Units units_of(const FlowString *flat, uint32_t start, uint32_t end, bool is_reversed) {
    bool is_wide = flow_string_is_wide(flat);
    return (Units){.latin1 = is_wide ? NULL : flat->latin1 + start,
                   .wide = is_wide ? flat->wide + start : NULL,
                   .count = (int64_t)end - start,
                   .is_reversed = is_reversed};
}

static inline uint16_t unit(const Units *units, int64_t i) {
    if (units->is_reversed) i = units->count - 1 - i;
    return units->wide ? units->wide[i] : units->latin1[i];
}

// --- two ways

// Where the greatest suffix in the order (or its opposite) begins, less one; and its period.
static int64_t greatest_suffix(const Units *x, bool is_opposite, int64_t *ret_period) {
    int64_t suffix = -1, at = 0, step = 1, period = 1;
    while (at + step < x->count) {
        uint16_t a = unit(x, at + step), b = unit(x, suffix + step);
        if (a == b) {
            if (step != period) step++;
            else at += period, step = 1;
        } else if (is_opposite ? a > b : a < b) {
            at += step;
            step = 1;
            period = at - suffix;
        } else {
            suffix = at++;
            step = period = 1;
        }
    }
    *ret_period = period;
    return suffix;
}

static bool has_period(const Units *x, int64_t count, int64_t period) {
    for (int64_t i = 0; i < count; i++) {
        if (unit(x, i) != unit(x, i + period)) return false;
    }
    return true;
}

// x in y. `memory`: how much of the needle's left part is known to match, less one.
static int64_t find_two_way(const Units *x, const Units *y) {
    int64_t period, other_period;
    int64_t cut = greatest_suffix(x, false, &period);
    int64_t other = greatest_suffix(x, true, &other_period);
    if (other > cut) cut = other, period = other_period;
    int64_t m = x->count;
    bool is_periodic = has_period(x, cut + 1, period);
    if (!is_periodic) period = (cut + 1 > m - cut - 1 ? cut + 1 : m - cut - 1) + 1;
    int64_t memory = -1;
    for (int64_t at = 0; at <= y->count - m;) {
        int64_t i = (cut > memory ? cut : memory) + 1;
        while (i < m && unit(x, i) == unit(y, at + i)) i++;
        if (i < m) {
            at += i - cut;
            memory = -1;
            continue;
        }
        i = cut;
        while (i > memory && unit(x, i) == unit(y, at + i)) i--;
        if (i <= memory) return at;
        at += period;
        memory = is_periodic ? m - period - 1 : -1;
    }
    return -1;
}

static int64_t find_naive(const Units *x, const Units *y) {
    uint16_t first = unit(x, 0);
    for (int64_t at = 0; at <= y->count - x->count; at++) {
        if (unit(y, at) != first) continue;
        int64_t i = 1;
        while (i < x->count && unit(x, i) == unit(y, at + i)) i++;
        if (i == x->count) return at;
    }
    return -1;
}

static int64_t find_units(const Units *x, const Units *y) { // [string-find-1]
    return x->count <= NAIVE_MAX ? find_naive(x, y) : find_two_way(x, y);
}

// --- Latin-1

static int64_t find_latin1(const FlowString *flat, const FlowString *needle, uint32_t from) {
    uint32_t count = flow_string_length(needle);
    const uint8_t *at = flat->latin1 + from;
    size_t left = flow_string_length(flat) - from;
    if (left > FIND_SHORT || count == 1) {
        at = count == 1 ? memchr(at, needle->latin1[0], left)
                        : memmem(at, left, needle->latin1, count);
        return at ? at - flat->latin1 : -1;
    }
    const uint8_t *last = at + left - count;
    for (; at <= last; at++) {
        at = memchr(at, needle->latin1[0], (size_t)(last - at) + 1);
        if (!at) return -1;
        if (memcmp(at + 1, needle->latin1 + 1, count - 1) == 0) return at - flat->latin1;
    }
    return -1;
}

// --- the functions

int64_t flow_string_find(const FlowString *flat, const FlowString *needle, uint32_t from) {
    uint32_t length = flow_string_length(flat);
    uint32_t count = flow_string_length(needle);
    if (count > length || from > length - count) return -1;
    if (count == 0) return from;
    if (!flow_string_is_wide(flat)) {
        return flow_string_is_wide(needle) ? -1 : find_latin1(flat, needle, from);
    }
    Units x = units_of(needle, 0, count, false);
    Units y = units_of(flat, from, length, false);
    int64_t found = find_units(&x, &y);
    return found < 0 ? -1 : found + from;
}

int64_t flow_string_find_last(const FlowString *flat, const FlowString *needle, uint32_t from) {
    uint32_t length = flow_string_length(flat);
    uint32_t count = flow_string_length(needle);
    if (count > length) return -1;
    if (from > length - count) from = length - count;
    if (count == 0) return from;
    if (flow_string_is_wide(needle) && !flow_string_is_wide(flat)) return -1;
    Units x = units_of(needle, 0, count, true);
    Units y = units_of(flat, 0, from + count, true);
    int64_t found = find_units(&x, &y);
    return found < 0 ? -1 : (int64_t)from - found;
}
