// KeyRanges: each range is an entry of an ordered map, its lower end the key.
//
// What is asked again and again is one look: the last range that begins at or before a key. Adding
// takes out what it touches and puts one range in its place ([key-ranges-1]); cutting puts back
// what stands out on either side.
//
// Not here: what the keys mean (row_key.c), who learns what (remote/rows.c).
#include "store/remote/key_ranges.h"
#include "base/assert.h"
#include "base/memory.h"

enum { RANGE_KEY_MAX = 64 << 20 };

typedef struct KnownRange {
    size_t high_len; // 0 = no end [key-ranges-2]
    char high[];
} KnownRange;

static Str range_high(const KnownRange *range) { return (Str){range->high, range->high_len}; }

// Upper ends: an empty one is above all others.
static int compare_ends(Str a, Str b) {
    if (a.len == 0 || b.len == 0) return (a.len == 0) - (b.len == 0);
    return str_compare(a, b);
}

// The end lies beyond the key.
static bool end_is_after(Str end, Str key) { return end.len == 0 || str_compare(end, key) > 0; }

void key_ranges_init(KeyRanges *ranges) {
    ordered_init(&ranges->by_low);
    buf_init(&ranges->scratch, RANGE_KEY_MAX);
}

static void ranges_free(KeyRanges *ranges) {
    OrderedNode *node = ordered_first_from(&ranges->by_low, STR(""));
    for (; node != NULL; node = ordered_next(node)) mem_free(ordered_value(node));
    ordered_done(&ranges->by_low);
}

void key_ranges_done(KeyRanges *ranges) {
    ranges_free(ranges);
    buf_done(&ranges->scratch);
}

void key_ranges_clear(KeyRanges *ranges) {
    if (ranges->by_low.count == 0) return;
    ranges_free(ranges);
    ordered_init(&ranges->by_low);
}

static void range_put(KeyRanges *ranges, Str low, Str high) {
    KnownRange *range = mem_alloc(sizeof(KnownRange) + high.len);
    range->high_len = high.len;
    if (high.len > 0) memcpy(range->high, high.data, high.len);
    bool is_new = ordered_insert(&ranges->by_low, low, range);
    ASSERT(is_new);
}

// The last range that begins at or before `key`.
static OrderedNode *range_before(KeyRanges *ranges, Str key) {
    buf_clear(&ranges->scratch);
    buf_append_str(&ranges->scratch, key);
    buf_append_char(&ranges->scratch, '\0'); // just above the key itself
    ASSERT(!ranges->scratch.is_overflown);
    return ordered_last_before(&ranges->by_low, buf_str(&ranges->scratch));
}

bool key_ranges_end_of(KeyRanges *ranges, Str key, Str *ret_high) {
    const OrderedNode *node = range_before(ranges, key);
    if (node == NULL) return false;
    Str high = range_high(ordered_value(node));
    if (!end_is_after(high, key)) return false;
    *ret_high = high;
    return true;
}

bool key_ranges_has(KeyRanges *ranges, Str key) {
    Str high;
    return key_ranges_end_of(ranges, key, &high);
}

bool key_ranges_start_of(const KeyRanges *ranges, Str high, Str *ret_low) {
    const OrderedNode *node =
        high.len == 0 ? ordered_last(&ranges->by_low) : ordered_last_before(&ranges->by_low, high);
    if (node == NULL || compare_ends(range_high(ordered_value(node)), high) < 0) return false;
    *ret_low = ordered_key(node);
    return true;
}

// Takes a range out; its ends are copied into `low` and `high` where these are wanted.
static void range_take(KeyRanges *ranges, OrderedNode *node, Buf *low, Buf *high) {
    KnownRange *range = ordered_value(node);
    if (low != NULL) {
        buf_clear(low);
        buf_append_str(low, ordered_key(node));
    }
    if (high != NULL) {
        buf_clear(high);
        buf_append_str(high, range_high(range));
    }
    // The key is a part of the node, which goes with its removal.
    buf_clear(&ranges->scratch);
    buf_append_str(&ranges->scratch, ordered_key(node));
    ordered_remove(&ranges->by_low, buf_str(&ranges->scratch));
    mem_free(range);
}

void key_ranges_add(KeyRanges *ranges, Str low, Str high) {
    if (high.len > 0 && str_compare(low, high) >= 0) return;
    Str end;
    // Most often it is known already, or a lone new piece.
    if (key_ranges_end_of(ranges, low, &end) && compare_ends(end, high) >= 0) return;
    Buf first, last;
    buf_init(&first, RANGE_KEY_MAX);
    buf_init(&last, RANGE_KEY_MAX);
    buf_append_str(&first, low);
    buf_append_str(&last, high);
    OrderedNode *node = range_before(ranges, low);
    Str node_high = node != NULL ? range_high(ordered_value(node)) : STR_NULL;
    if (node != NULL && (end_is_after(node_high, low) || str_equal(node_high, low))) {
        bool is_longer = compare_ends(node_high, high) > 0;
        range_take(ranges, node, &first, is_longer ? &last : NULL);
    }
    for (;;) { // [key-ranges-1]
        node = ordered_first_from(&ranges->by_low, buf_str(&first));
        if (node == NULL) break;
        if (last.len > 0 && str_compare(ordered_key(node), buf_str(&last)) > 0) break;
        bool is_longer = compare_ends(range_high(ordered_value(node)), buf_str(&last)) > 0;
        range_take(ranges, node, NULL, is_longer ? &last : NULL);
    }
    range_put(ranges, buf_str(&first), buf_str(&last));
    buf_done(&first);
    buf_done(&last);
}

void key_ranges_cut(KeyRanges *ranges, Str low, Str high) {
    ASSERT(high.len > 0);
    Buf first, last;
    buf_init(&first, RANGE_KEY_MAX);
    buf_init(&last, RANGE_KEY_MAX);
    for (;;) { // from the last range that begins before `high` downwards
        OrderedNode *node = ordered_last_before(&ranges->by_low, high);
        if (node == NULL || !end_is_after(range_high(ordered_value(node)), low)) break;
        range_take(ranges, node, &first, &last);
        if (compare_ends(buf_str(&last), high) > 0) range_put(ranges, high, buf_str(&last));
        if (str_compare(buf_str(&first), low) < 0) range_put(ranges, buf_str(&first), low);
    }
    buf_done(&first);
    buf_done(&last);
}
