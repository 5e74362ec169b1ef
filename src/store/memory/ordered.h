// Ordered: a map from byte strings to pointers, kept in order. A skip list.
//
//   [ordered-1] Keys are copied and unique; order is memcmp, shorter first.
//   [ordered-2] The shape depends only on the sequence of calls, never on a clock or an address.
//   [ordered-3] A node stays where it is until it is removed; removing others does not move it.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

typedef struct OrderedNode OrderedNode;

enum { ORDERED_LEVELS = 24 };

typedef struct Ordered {
    OrderedNode *head; // before the first; has all levels and no key
    OrderedNode *last; // NULL when empty
    int level_count;
    size_t count;
    uint64_t random_state;
} Ordered;

void ordered_init(Ordered *map);
void ordered_done(Ordered *map);                         // the values are the owner's
bool ordered_insert(Ordered *map, Str key, void *value); // false: the key is there already
void *ordered_remove(Ordered *map, Str key);             // NULL when absent
void *ordered_get(const Ordered *map, Str key);          // NULL when absent

OrderedNode *ordered_first_from(const Ordered *map, Str key);  // first with key >= `key`, or NULL
OrderedNode *ordered_last_before(const Ordered *map, Str key); // last with key < `key`, or NULL
OrderedNode *ordered_last(const Ordered *map);
OrderedNode *ordered_next(const OrderedNode *node); // NULL at the end
OrderedNode *ordered_prev(const OrderedNode *node); // NULL at the beginning
Str ordered_key(const OrderedNode *node);
void *ordered_value(const OrderedNode *node);
