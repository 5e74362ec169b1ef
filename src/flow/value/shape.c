// Shapes: see object.h for what they are.
//
//   [shape-1] The tip of a chain (keys->count == shape->count) may append to the shared key table;
//        any other shape that branches copies its prefix first.
//   [shape-2] A shared (realm) shape never gains transitions from a VM; object.c turns objects with
//        such a shape into dictionaries before adding.
//   [shape-3] Transition tables hold NULL, a child, or the shape itself as tombstone of a dead
//        child.
#include "flow/value/shape.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "flow/vm/vm.h"

static FlowShape *flow_shape_new(FlowVm *vm, FlowObject *proto) {
    FlowShape *shape = flow_heap_alloc(&vm->heap, KIND_SHAPE, sizeof *shape);
    shape->proto = proto;
    return shape;
}

static FlowKeys *keys_new(FlowVm *vm, uint32_t capacity) {
    size_t size = sizeof(FlowKeys) + capacity * sizeof(struct FlowKeyEntry);
    FlowKeys *keys = flow_heap_alloc(&vm->heap, KIND_KEYS, size);
    keys->cell.aux = capacity;
    return keys;
}

static void keys_index(FlowKeys *keys, uint32_t entry) {
    uint32_t mask = keys->hash_capacity - 1;
    uint32_t i = flow_key_hash(keys->entries[entry].key) & mask;
    while (keys->hash[i]) i = (i + 1) & mask;
    keys->hash[i] = entry + 1;
}

static void keys_rehash(FlowVm *vm, FlowKeys *keys) {
    flow_heap_buffer_free(&vm->heap, keys->hash, keys->hash_capacity * sizeof *keys->hash);
    keys->hash_capacity = 32;
    while (keys->hash_capacity < keys->cell.aux * 2) keys->hash_capacity *= 2;
    keys->hash = flow_heap_buffer(&vm->heap, keys->hash_capacity * sizeof *keys->hash);
    for (uint32_t i = 0; i < keys->count; i++) {
        if (keys->entries[i].key.bits) keys_index(keys, i);
    }
}

static FlowKeys *keys_copy(FlowVm *vm, const FlowKeys *keys, uint32_t count, uint32_t capacity) {
    FlowKeys *copy = keys_new(vm, capacity);
    if (count) memcpy(copy->entries, keys->entries, count * sizeof *copy->entries);
    copy->count = count;
    if (count > SHAPE_LINEAR_MAX) keys_rehash(vm, copy);
    return copy;
}

static void keys_append(FlowVm *vm, FlowKeys *keys, FlowKey key, uint32_t attributes) {
    ASSERT(keys->count < keys->cell.aux);
    keys->entries[keys->count] = (struct FlowKeyEntry){key, attributes, 0};
    keys->count++;
    if (keys->hash) keys_index(keys, keys->count - 1);
    else if (keys->count > SHAPE_LINEAR_MAX) keys_rehash(vm, keys);
}

bool flow_shape_find(const FlowShape *shape, FlowKey key, uint32_t *ret_slot, uint32_t *ret_attrs) {
    const FlowKeys *keys = shape->keys;
    if (!keys) return false;
    uint32_t found = UINT32_MAX;
    if (!keys->hash) {
        for (uint32_t i = 0; i < shape->count; i++) {
            if (keys->entries[i].key.bits == key.bits) {
                found = i;
                break;
            }
        }
    } else {
        uint32_t mask = keys->hash_capacity - 1;
        for (uint32_t i = flow_key_hash(key) & mask; keys->hash[i]; i = (i + 1) & mask) {
            if (keys->entries[keys->hash[i] - 1].key.bits == key.bits) {
                found = keys->hash[i] - 1;
                break;
            }
        }
    }
    if (found >= shape->count) return false;
    *ret_slot = found;
    *ret_attrs = keys->entries[found].attributes;
    return true;
}

// --- transitions

static uint32_t transition_hash(FlowKey key, uint32_t attributes) {
    return flow_key_hash(key) * 31 + attributes;
}

static bool transition_is(const FlowShape *child, FlowKey key, uint32_t attributes) {
    const struct FlowKeyEntry *entry = &child->keys->entries[child->count - 1];
    return entry->key.bits == key.bits && entry->attributes == attributes;
}

static FlowShape *transition_find(const FlowShape *shape, FlowKey key, uint32_t attributes) {
    if (shape->transition_count == 0) return NULL;
    if (shape->transition_count == 1) {
        return transition_is(shape->single, key, attributes) ? shape->single : NULL;
    }
    uint32_t mask = shape->transition_capacity - 1;
    uint32_t i = transition_hash(key, attributes) & mask;
    for (; shape->transitions[i]; i = (i + 1) & mask) {
        FlowShape *child = shape->transitions[i];
        if (child != shape && transition_is(child, key, attributes)) return child;
    }
    return NULL;
}

static void transition_insert(FlowShape **table, uint32_t capacity, FlowShape *child) {
    const struct FlowKeyEntry *entry = &child->keys->entries[child->count - 1];
    uint32_t mask = capacity - 1;
    uint32_t i = transition_hash(entry->key, entry->attributes) & mask;
    while (table[i]) i = (i + 1) & mask;
    table[i] = child;
}

static void transition_grow(FlowVm *vm, FlowShape *shape) {
    uint32_t old_capacity = shape->transition_count > 1 ? shape->transition_capacity : 0;
    FlowShape **old = old_capacity ? shape->transitions : NULL;
    uint32_t alive = 1;
    for (uint32_t i = 0; i < old_capacity; i++) alive += old[i] && old[i] != shape;
    uint32_t capacity = 8;
    while (capacity < alive * 2 + 2) capacity *= 2;
    FlowShape **table = flow_heap_buffer(&vm->heap, capacity * sizeof *table);
    if (!old) transition_insert(table, capacity, shape->single);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i] && old[i] != shape) transition_insert(table, capacity, old[i]);
    }
    flow_heap_buffer_free(&vm->heap, old, old_capacity * sizeof *old);
    shape->transitions = table;
    shape->transition_capacity = capacity;
    shape->transition_count = old ? alive - 1 : 1;
    // A table is told from a single child by a count above one, tombstones included.
    if (shape->transition_count < 2) shape->transition_count = 2;
}

static void transition_add(FlowVm *vm, FlowShape *shape, FlowShape *child) {
    if (shape->transition_count == 0) {
        if (!shape->is_listed) {
            shape->is_listed = 1;
            shape->next_shape = vm->heap.shapes;
            vm->heap.shapes = shape;
        }
        shape->single = child;
        shape->transition_count = 1;
        return;
    }
    if (shape->transition_count == 1 ||
        (shape->transition_count + 1) * 4 > shape->transition_capacity * 3) {
        transition_grow(vm, shape);
    }
    transition_insert(shape->transitions, shape->transition_capacity, child);
    shape->transition_count++;
}

// --- adding

static FlowShape *dictionary_add(FlowVm *vm, FlowShape *shape, FlowKey key, uint32_t attributes) {
    FlowKeys *keys = shape->keys;
    vm->fuel -= 16; // a key of its own, and a place in the index
    if (!keys || keys->count == keys->cell.aux) {
        uint32_t count = keys ? keys->count : 0;
        shape->keys = keys_copy(vm, keys, count, count < 8 ? 16 : count * 2);
        if (keys && !(keys->cell.flags & CELL_SHARED)) flow_heap_free(&vm->heap, keys);
    }
    keys_append(vm, shape->keys, key, attributes);
    shape->count++;
    shape->live_count++;
    return shape;
}

FlowShape *flow_shape_add(FlowVm *vm, FlowShape *shape, FlowKey key, uint32_t attributes) {
    if (flow_shape_is_dictionary(shape)) return dictionary_add(vm, shape, key, attributes);
    FlowShape *child = transition_find(shape, key, attributes);
    if (child) return child;
    FlowKeys *keys = shape->keys;
    if (!keys || keys->count != shape->count || keys->count == keys->cell.aux) { // [shape-1]
        uint32_t count = shape->count;
        keys = keys_copy(vm, keys, count, count < 2 ? 4 : count * 2);
    }
    keys_append(vm, keys, key, attributes);
    child = flow_shape_new(vm, shape->proto);
    child->keys = keys;
    child->count = shape->count + 1;
    child->parent = shape;
    transition_add(vm, shape, child);
    return child;
}

FlowShape *flow_shape_empty_dictionary(FlowVm *vm, FlowObject *proto) {
    FlowShape *shape = flow_shape_new(vm, proto);
    shape->cell.aux |= SHAPE_DICTIONARY;
    return shape;
}

FlowShape *flow_shape_to_dictionary(FlowVm *vm, const FlowShape *from) {
    FlowShape *shape = flow_shape_empty_dictionary(vm, from->proto);
    uint32_t count = from->count;
    if (count) shape->keys = keys_copy(vm, from->keys, count, count < 8 ? 16 : count * 2);
    shape->count = count;
    for (uint32_t i = 0; i < count; i++) shape->live_count += shape->keys->entries[i].key.bits != 0;
    return shape;
}

void flow_shape_remove(FlowShape *shape, uint32_t slot) {
    ASSERT(flow_shape_is_dictionary(shape) && slot < shape->count);
    // The entry stays, so that probing by hash goes on past it.
    shape->keys->entries[slot].key.bits = 0;
    shape->live_count--;
}

void flow_shape_set_attributes(FlowShape *shape, uint32_t slot, uint32_t attributes) {
    ASSERT(flow_shape_is_dictionary(shape) && slot < shape->count);
    shape->keys->entries[slot].attributes = attributes;
}

// --- roots

static uint32_t root_slot(const FlowVm *vm, const FlowObject *proto) {
    uint32_t mask = vm->root_capacity - 1;
    uint32_t i = (uint32_t)hash_u64((uint64_t)(uintptr_t)proto) & mask;
    while (vm->roots[i].shape && vm->roots[i].proto != proto) i = (i + 1) & mask;
    return i;
}

static void roots_rebuild(FlowVm *vm, uint32_t capacity, bool marked_only) {
    FlowRootShape *old = vm->roots;
    uint32_t old_capacity = vm->root_capacity;
    vm->roots = mem_zalloc(capacity * sizeof *vm->roots);
    vm->root_capacity = capacity;
    vm->root_count = 0;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (!old[i].shape) continue;
        if (marked_only && !(old[i].shape->cell.flags & CELL_MARKED)) continue;
        vm->roots[root_slot(vm, old[i].proto)] = old[i];
        vm->root_count++;
    }
    mem_free(old);
}

FlowShape *flow_shape_root(FlowVm *vm, FlowObject *proto) {
    if ((vm->root_count + 1) * 4 > vm->root_capacity * 3) {
        roots_rebuild(vm, vm->root_capacity ? vm->root_capacity * 2 : 8, false);
    }
    FlowRootShape *root = &vm->roots[root_slot(vm, proto)];
    if (!root->shape) {
        root->proto = proto;
        root->shape = flow_shape_new(vm, proto);
        vm->root_count++;
        if (proto && (vm->building || !(proto->cell.flags & CELL_SHARED))) {
            proto->cell.aux |= OBJECT_IS_PROTOTYPE;
        }
    }
    return root->shape;
}

void flow_shape_sweep_roots(FlowVm *vm) {
    if (vm->root_capacity) roots_rebuild(vm, vm->root_capacity, true);
}
