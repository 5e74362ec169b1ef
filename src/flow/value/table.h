// Table: the ordered hash table behind Map, Set and their weak kin.
//
// Entries are in order of insertion; deleting leaves a HOLE key. Each entry has a sequence number
// that only grows, and iterators remember the number of the entry they come to next: so growing
// and compacting never disturbs a running iteration.
//
//   [table-1] entries[0 .. count) ascend by sequence; `live_count` of them have a key.
//   [table-2] A table is replaced when it grows or is cleared (compacting is done in place): the
//        owner (FlowSlotObject.internal[0]) is updated and the old cell is freed.
//   [table-3] Weak collections hold their keys strongly: nothing a script can do shows the
//        difference.
#pragma once
#include "flow/value/object.h"

typedef struct FlowTableEntry {
    FlowValue key; // HOLE: deleted; normalised (-0 is 0)
    FlowValue value;
    uint32_t sequence;
    uint32_t next; // 1 + index of the next entry in the bucket
} FlowTableEntry;

typedef struct FlowTable {
    FlowCell cell; // aux = capacity of entries, a power of two
    uint32_t count;
    uint32_t live_count;
    uint32_t next_sequence;   // survives replacement
    uint32_t first_live;      // entries before it are deleted
    FlowTableEntry entries[]; // then uint32_t buckets[capacity]: 1 + index of the first entry
} FlowTable;

static inline uint32_t *flow_table_buckets(FlowTable *table) {
    return (uint32_t *)(void *)(table->entries + table->cell.aux);
}
// internal[0] of KIND_MAP, KIND_SET, KIND_WEAK_MAP, KIND_WEAK_SET: the table (cell value).
FlowTable *flow_table_new(FlowVm *vm, uint32_t capacity);
FlowTableEntry *flow_table_find(FlowVm *vm, FlowTable *table, FlowValue key); // NULL: absent
// Adds or replaces; answers the table, which is another one when it had to grow. NULL: too large,
// exception pending.
FlowTable *flow_table_put(FlowVm *vm, FlowTable *table, FlowValue key, FlowValue value);
bool flow_table_remove(FlowVm *vm, FlowTable *table, FlowValue key);
FlowTable *flow_table_clear(FlowVm *vm, FlowTable *table);
// The first entry with a sequence number >= `from` that is not deleted; NULL at the end.
// `ret_holes`: how many deleted ones it had to pass, for those who pay for it.
FlowTableEntry *flow_table_next(FlowTable *table, uint32_t from, uint32_t *ret_holes);
