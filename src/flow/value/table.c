// Table: entries in order of insertion, found by hash. See table.h for the invariants.
//
// Buckets are chains of entry indices, as many as there is room for entries. Deleting unlinks the
// entry and leaves a HOLE key in its place; when more than half of the entries are holes they are
// moved together. Sequence numbers stay with their entries, so iterators do not notice.
#include "flow/value/table.h"
#include "base/containers/hash.h"
#include "flow/value/error.h"
#include "flow/value/operators.h"
#include "flow/vm/vm.h"

enum { TABLE_CAPACITY_MIN = 4, TABLE_CAPACITY_MAX = 1 << 26, TABLE_COMPACT_MIN = 16 };

// Keyed (base/containers/hash.h): a script or its input cannot choose keys that share a bucket.
static uint32_t hash_of(FlowVm *vm, FlowValue key) {
    if (flow_is_string(key)) return flow_string_hash(flow_string_flat(vm, flow_as_string(key)));
    if (flow_is_bigint(key)) {
        vm->fuel -= flow_as_bigint(key)->cell.aux / 4;
        return flow_bigint_hash(flow_as_bigint(key));
    }
    return (uint32_t)hash_u64(key.bits);
}

// -0 is 0; every int32 is stored as such, so that equal numbers have equal bits.
static FlowValue normalize(FlowValue key) {
    if (!flow_is_double(key)) return key;
    double number = flow_as_double(key);
    return number == 0 ? flow_int(0) : flow_number(number);
}

static bool keys_equal(FlowVm *vm, FlowValue a, FlowValue b) {
    if (flow_same_bits(a, b)) return true;
    if (flow_is_string(a) && flow_is_string(b)) {
        return flow_string_equal(vm, flow_as_string(a), flow_as_string(b));
    }
    if (flow_is_bigint(a) && flow_is_bigint(b)) {
        vm->fuel -= flow_as_bigint(a)->cell.aux / 4;
        return flow_bigint_compare(flow_as_bigint(a), flow_as_bigint(b)) == 0;
    }
    return false;
}

static size_t table_size(uint32_t capacity) {
    return sizeof(FlowTable) + capacity * (sizeof(FlowTableEntry) + sizeof(uint32_t));
}

FlowTable *flow_table_new(FlowVm *vm, uint32_t capacity) {
    uint32_t rounded = TABLE_CAPACITY_MIN;
    while (rounded < capacity && rounded < TABLE_CAPACITY_MAX) rounded *= 2;
    FlowTable *table = flow_heap_alloc(&vm->heap, KIND_TABLE, table_size(rounded));
    table->cell.aux = rounded;
    return table;
}

static void link_entry(FlowVm *vm, FlowTable *table, uint32_t index) {
    FlowTableEntry *entry = &table->entries[index];
    uint32_t *bucket = &flow_table_buckets(table)[hash_of(vm, entry->key) & (table->cell.aux - 1)];
    entry->next = *bucket;
    *bucket = index + 1;
}

FlowTableEntry *flow_table_find(FlowVm *vm, FlowTable *table, FlowValue key) {
    key = normalize(key);
    uint32_t at = flow_table_buckets(table)[hash_of(vm, key) & (table->cell.aux - 1)];
    while (at) {
        FlowTableEntry *entry = &table->entries[at - 1];
        if (keys_equal(vm, entry->key, key)) return entry;
        at = entry->next;
    }
    return NULL;
}

// Copies the live entries of `from` behind each other into `to`, which is empty or `from` itself.
static void move_live(FlowVm *vm, FlowTable *to, FlowTable *from) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        if (flow_is_hole(from->entries[i].key)) continue;
        to->entries[kept++] = from->entries[i];
    }
    to->next_sequence = from->next_sequence;
    to->count = to->live_count = kept;
    to->first_live = 0;
    memset(flow_table_buckets(to), 0, to->cell.aux * sizeof(uint32_t));
    for (uint32_t i = 0; i < kept; i++) link_entry(vm, to, i);
}

static FlowTable *table_grown(FlowVm *vm, FlowTable *table) {
    if (table->live_count <= table->count / 2) {
        move_live(vm, table, table);
        return table;
    }
    uint32_t capacity = table->cell.aux * 2;
    if (capacity > TABLE_CAPACITY_MAX) {
        flow_throw_range(vm, "Map maximum size exceeded");
        return NULL;
    }
    if (capacity > 256 && !flow_heap_has_room(&vm->heap, table_size(capacity))) {
        flow_throw_memory(vm);
        return NULL;
    }
    FlowTable *grown = flow_table_new(vm, capacity);
    move_live(vm, grown, table);
    flow_heap_free(&vm->heap, table);
    return grown;
}

FlowTable *flow_table_put(FlowVm *vm, FlowTable *table, FlowValue key, FlowValue value) {
    key = normalize(key);
    FlowTableEntry *old = flow_table_find(vm, table, key);
    if (old) {
        old->value = value;
        return table;
    }
    if (table->count == table->cell.aux) {
        table = table_grown(vm, table);
        if (!table) return NULL;
    }
    if (table->next_sequence == UINT32_MAX) {
        flow_throw_range(vm, "Map maximum size exceeded");
        return NULL;
    }
    uint32_t index = table->count++;
    table->live_count++;
    table->entries[index] =
        (FlowTableEntry){.key = key, .value = value, .sequence = table->next_sequence++};
    link_entry(vm, table, index);
    return table;
}

bool flow_table_remove(FlowVm *vm, FlowTable *table, FlowValue key) {
    key = normalize(key);
    uint32_t *link = &flow_table_buckets(table)[hash_of(vm, key) & (table->cell.aux - 1)];
    while (*link && !keys_equal(vm, table->entries[*link - 1].key, key)) {
        link = &table->entries[*link - 1].next;
    }
    if (!*link) return false;
    FlowTableEntry *entry = &table->entries[*link - 1];
    *link = entry->next;
    entry->key = FLOW_HOLE;
    entry->value = FLOW_UNDEFINED;
    table->live_count--;
    while (table->first_live < table->count &&
           flow_is_hole(table->entries[table->first_live].key)) {
        table->first_live++;
    }
    bool is_sparse = table->count >= TABLE_COMPACT_MIN && table->live_count < table->count / 2;
    if (is_sparse) move_live(vm, table, table);
    return true;
}

FlowTable *flow_table_clear(FlowVm *vm, FlowTable *table) {
    FlowTable *empty = flow_table_new(vm, 0);
    empty->next_sequence = table->next_sequence;
    flow_heap_free(&vm->heap, table);
    return empty;
}

// Index of the first entry whose sequence number is not below `from`.
static uint32_t table_search(const FlowTable *table, uint32_t from) {
    if (table->count == 0 || from <= table->entries[0].sequence) return 0;
    // Without compaction the numbers are dense, and the guess is right.
    uint32_t guess = from - table->entries[0].sequence;
    if (guess < table->count && table->entries[guess].sequence == from) return guess;
    uint32_t low = 0;
    uint32_t high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->entries[middle].sequence < from) low = middle + 1;
        else high = middle;
    }
    return low;
}

FlowTableEntry *flow_table_next(FlowTable *table, uint32_t from, uint32_t *ret_holes) {
    uint32_t at = table_search(table, from);
    if (at < table->first_live) at = table->first_live;
    uint32_t first = at;
    while (at < table->count && flow_is_hole(table->entries[at].key)) at++;
    *ret_holes = at - first;
    return at < table->count ? &table->entries[at] : NULL;
}
