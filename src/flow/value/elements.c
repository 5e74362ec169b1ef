// Elements: properties whose key is an array index, and the arrays made of them.
//
// Dense storage while the indices are close together and all attributes are the default ones,
// a sorted list otherwise. Arrays keep their length apart, so `new Array(1e9)` costs nothing.
//
//   [elements-1] Dense: count <= capacity, values[i] is HOLE for a missing element; the last is
//        none.
//   [elements-2] Sparse: entries ascend by index, accessors are marked by PROPERTY_ACCESSOR.
//        Readers of JSON append them as they come (flow_elements_append); who looks next sorts them
//        (flow_sparse).
//   [elements-3] An array's length is above every index in use.
#include "base/memory.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

enum {
    DENSE_ALWAYS = 1 << 12,     // indices below it are always dense
    DENSE_LENGTH_MAX = 1 << 22, // arrays up to this length are dense however they are filled
};

FlowArray *flow_array_new(FlowVm *vm, uint32_t capacity) {
    FlowArray *array = flow_heap_alloc(&vm->heap, KIND_ARRAY, sizeof *array);
    array->object.shape =
        vm->array_shape ? vm->array_shape : flow_shape_root(vm, vm->realm->protos[PROTO_ARRAY]);
    if (capacity) flow_array_reserve(vm, array, capacity);
    return array;
}

FlowArray *flow_array_from(FlowVm *vm, const FlowValue *values, uint32_t count) {
    FlowArray *array = flow_array_new(vm, count);
    if (count) {
        FlowStorage *storage = (FlowStorage *)array->object.elements;
        memcpy(storage->values, values, count * sizeof *values);
        storage->count = count;
    }
    array->length = count;
    return array;
}

static void dense_reserve(FlowVm *vm, FlowObject *body, uint32_t capacity) {
    FlowStorage *old = flow_dense(body);
    if (old && old->cell.aux >= capacity) return;
    FlowStorage *storage =
        flow_heap_take(&vm->heap, KIND_ELEMENTS, sizeof *storage + capacity * sizeof(FlowValue));
    storage->cell.aux = capacity;
    storage->count = 0; // what is above is never looked at
    storage->unused = 0;
    if (old) {
        storage->count = old->count;
        memcpy(storage->values, old->values, old->count * sizeof(FlowValue));
        if (!(old->cell.flags & CELL_SHARED)) flow_heap_free(&vm->heap, old);
    }
    body->elements = &storage->cell;
}

void flow_array_reserve(FlowVm *vm, FlowArray *array, uint32_t capacity) {
    if (!flow_sparse(&array->object)) dense_reserve(vm, &array->object, capacity);
}

static uint32_t grown_capacity(uint32_t needed) {
    uint64_t capacity = (uint64_t)needed + (needed >> 1) + 4;
    return capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;
}

void flow_array_push(FlowVm *vm, FlowArray *array, FlowValue value) {
    FlowObject *body = &array->object;
    FlowStorage *storage = flow_dense(body);
    uint32_t count = storage ? storage->count : 0;
    if (flow_sparse(body) || count != array->length) {
        flow_elements_put(vm, body, array->length, value, PROPERTY_DEFAULT);
        return;
    }
    // No look at the budget here: what C code collects must not lose elements (heap.h
    // [value-heap-1]).
    if (!storage || count == storage->cell.aux) {
        dense_reserve(vm, body, grown_capacity(count));
        storage = flow_dense(body);
    }
    storage->values[storage->count++] = value;
    array->length++;
}

void flow_array_append(FlowVm *vm, FlowArray *array, const FlowValue *values, uint32_t count) {
    if (count == 0) return;
    flow_array_reserve(vm, array, array->length + count);
    FlowStorage *storage = flow_dense(&array->object);
    if (!storage || storage->count != array->length) {
        for (uint32_t i = 0; i < count; i++) flow_array_push(vm, array, values[i]);
        return;
    }
    memcpy(storage->values + storage->count, values, count * sizeof *values);
    storage->count += count;
    array->length += count;
}

FlowValue *flow_array_dense(FlowArray *array) {
    static FlowValue nothing[1];
    if (array->length == 0) return nothing;
    FlowStorage *storage = flow_dense(&array->object);
    if (!storage || storage->count != array->length) return NULL;
    for (uint32_t i = 0; i < storage->count; i++) {
        if (flow_is_hole(storage->values[i])) return NULL;
    }
    return storage->values;
}

// --- sparse

// Position of the first entry whose index is not below `index`.
static uint32_t sparse_find(const FlowSparse *sparse, uint32_t index) {
    uint32_t low = 0;
    uint32_t high = sparse->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sparse->entries[middle].index < index) low = middle + 1;
        else high = middle;
    }
    return low;
}

static FlowSparse *sparse_new(FlowVm *vm, uint32_t capacity) {
    FlowSparse *sparse = flow_heap_alloc(
        &vm->heap, KIND_SPARSE, sizeof *sparse + capacity * sizeof(struct FlowSparseEntry));
    sparse->cell.aux = capacity;
    sparse->is_sorted = 1;
    return sparse;
}

static uint32_t integrity_mask(const FlowObject *body) {
    uint32_t mask = PROPERTY_DEFAULT;
    if (body->cell.aux & OBJECT_ELEMENTS_SEALED) mask &= ~(uint32_t)PROPERTY_CONFIGURABLE;
    if (body->cell.aux & OBJECT_ELEMENTS_FROZEN) mask &= ~(uint32_t)PROPERTY_WRITABLE;
    return mask;
}

static void flow_elements_to_sparse(FlowVm *vm, FlowObject *body) {
    if (flow_sparse(body)) return;
    FlowStorage *dense = flow_dense(body);
    uint32_t count = 0;
    for (uint32_t i = 0; dense && i < dense->count; i++) count += !flow_is_hole(dense->values[i]);
    FlowSparse *sparse = sparse_new(vm, count + 4);
    for (uint32_t i = 0; dense && i < dense->count; i++) {
        if (flow_is_hole(dense->values[i])) continue;
        sparse->entries[sparse->count++] =
            (struct FlowSparseEntry){i, integrity_mask(body), dense->values[i]};
    }
    if (dense && !(dense->cell.flags & CELL_SHARED)) flow_heap_free(&vm->heap, dense);
    body->elements = &sparse->cell;
}

// The entries, with room for one more.
static FlowSparse *sparse_reserve(FlowVm *vm, FlowObject *body) {
    FlowSparse *sparse = (FlowSparse *)body->elements;
    if (sparse->count < sparse->cell.aux) return sparse;
    FlowSparse *grown = sparse_new(vm, grown_capacity(sparse->count));
    memcpy(grown->entries, sparse->entries, sparse->count * sizeof *sparse->entries);
    grown->count = sparse->count;
    grown->is_sorted = sparse->is_sorted;
    if (!(sparse->cell.flags & CELL_SHARED)) flow_heap_free(&vm->heap, sparse);
    body->elements = &grown->cell;
    return grown;
}

static void sparse_put(FlowVm *vm, FlowObject *body, struct FlowSparseEntry entry) {
    FlowSparse *sparse = flow_sparse(body);
    uint32_t at = sparse_find(sparse, entry.index);
    if (at < sparse->count && sparse->entries[at].index == entry.index) {
        sparse->entries[at] = entry;
        return;
    }
    sparse = sparse_reserve(vm, body);
    vm->fuel -= (sparse->count - at) / 4;
    memmove(sparse->entries + at + 1, sparse->entries + at,
            (sparse->count - at) * sizeof *sparse->entries);
    sparse->entries[at] = entry;
    sparse->count++;
}

// Moving the later entries for each that comes would make many in any order cost their square.
static void sparse_append(FlowVm *vm, FlowObject *body, struct FlowSparseEntry entry) {
    FlowSparse *sparse = sparse_reserve(vm, body);
    if (sparse->count && entry.index <= sparse->entries[sparse->count - 1].index) {
        sparse->is_sorted = 0;
    }
    sparse->entries[sparse->count++] = entry;
    vm->fuel -= 4;
}

static void merge_entries(struct FlowSparseEntry *to, const struct FlowSparseEntry *from,
                          size_t middle, size_t count) {
    for (size_t left = 0, right = middle, at = 0; at < count; at++) {
        bool is_right = left == middle || (right < count && from[right].index < from[left].index);
        to[at] = is_right ? from[right++] : from[left++];
    }
}

void flow_sparse_sort(FlowSparse *sparse) {
    size_t count = sparse->count;
    struct FlowSparseEntry *from = sparse->entries;
    struct FlowSparseEntry *spare = mem_alloc(count * sizeof *spare);
    struct FlowSparseEntry *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t rest = count - i;
            merge_entries(to + i, from + i, width < rest ? width : rest,
                          2 * width < rest ? 2 * width : rest);
        }
        struct FlowSparseEntry *merged = to;
        to = from;
        from = merged;
    }
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) { // of entries for one index the last counts
        if (i + 1 < count && from[i].index == from[i + 1].index) continue;
        sparse->entries[kept++] = from[i];
    }
    mem_free(spare);
    sparse->count = kept;
    sparse->is_sorted = 1;
}

// --- by index

bool flow_elements_get(const FlowObject *body, uint32_t index, FlowProperty *ret) {
    FlowStorage *dense = flow_dense(body);
    if (dense) {
        if (index >= dense->count || flow_is_hole(dense->values[index])) return false;
        *ret = (FlowProperty){.value = dense->values[index],
                              .getter = FLOW_UNDEFINED,
                              .setter = FLOW_UNDEFINED,
                              .place = &dense->values[index],
                              .attributes = integrity_mask(body)};
        return true;
    }
    FlowSparse *sparse = flow_sparse(body);
    if (!sparse) return false;
    uint32_t at = sparse_find(sparse, index);
    if (at == sparse->count || sparse->entries[at].index != index) return false;
    struct FlowSparseEntry *entry = &sparse->entries[at];
    *ret = (FlowProperty){.value = entry->value,
                          .getter = FLOW_UNDEFINED,
                          .setter = FLOW_UNDEFINED,
                          .place = &entry->value,
                          .attributes = entry->attributes};
    if (entry->attributes & PROPERTY_ACCESSOR) {
        FlowAccessor *accessor = flow_as_pointer(entry->value);
        ret->value = FLOW_HOLE;
        ret->getter = accessor->getter;
        ret->setter = accessor->setter;
        ret->place = NULL;
    }
    return true;
}

// Whether index may be stored densely although there is a gap before it.
static bool is_dense_enough(const FlowVm *vm, const FlowObject *body, uint32_t index,
                            uint32_t count) {
    if (index < DENSE_ALWAYS || index <= (uint64_t)count * 2 + 16) return true;
    return body->cell.kind == KIND_ARRAY && index < ((const FlowArray *)body)->length &&
           ((const FlowArray *)body)->length <= DENSE_LENGTH_MAX &&
           flow_heap_has_room(&vm->heap, (size_t)index * sizeof(FlowValue));
}

static bool dense_put(FlowVm *vm, FlowObject *body, uint32_t index, FlowValue value) {
    FlowStorage *dense = flow_dense(body);
    uint32_t count = dense ? dense->count : 0;
    if (index >= vm->limits.array_length) return false;
    if (!dense || index >= dense->cell.aux) {
        uint32_t capacity = index + 1 > 4 && index == count ? grown_capacity(index + 1) : index + 1;
        if (capacity < 4) capacity = 4;
        if (capacity > 1024 &&
            !flow_heap_has_room(&vm->heap, (size_t)capacity * sizeof(FlowValue))) {
            return false;
        }
        dense_reserve(vm, body, capacity);
        dense = flow_dense(body);
    }
    for (uint32_t i = count; i < index; i++) dense->values[i] = FLOW_HOLE;
    dense->values[index] = value;
    if (index >= count) dense->count = index + 1;
    return true;
}

void flow_elements_append(FlowVm *vm, FlowObject *body, uint32_t index, FlowValue value) {
    bool is_sparse = body->elements && body->elements->kind == KIND_SPARSE;
    struct FlowSparseEntry entry = {index, PROPERTY_DEFAULT, value};
    if (is_sparse) sparse_append(vm, body, entry);
    else flow_elements_put(vm, body, index, value, PROPERTY_DEFAULT);
}

bool flow_elements_put(FlowVm *vm, FlowObject *body, uint32_t index, FlowValue value,
                       uint32_t attributes) {
    FlowStorage *dense = flow_dense(body);
    uint32_t count = dense ? dense->count : 0;
    bool is_new_range = index >= count;
    bool fits = attributes == PROPERTY_DEFAULT && !flow_sparse(body) &&
                !(body->cell.aux & (OBJECT_ELEMENTS_SEALED | OBJECT_ELEMENTS_FROZEN)) &&
                (!is_new_range || is_dense_enough(vm, body, index, count));
    if (fits) {
        if (!dense_put(vm, body, index, value)) return false;
    } else {
        flow_elements_to_sparse(vm, body);
        sparse_put(vm, body, (struct FlowSparseEntry){index, attributes, value});
    }
    flow_object_touch_proto(vm, body);
    if (body->cell.kind == KIND_ARRAY && index >= ((FlowArray *)body)->length) { // [elements-3]
        ((FlowArray *)body)->length = index + 1;
    }
    return true;
}

void flow_elements_remove(FlowVm *vm, FlowObject *body, uint32_t index) {
    FlowStorage *dense = flow_dense(body);
    FlowSparse *sparse = flow_sparse(body);
    flow_object_touch_proto(vm, body);
    if (dense && index < dense->count) {
        dense->values[index] = FLOW_HOLE;
        while (dense->count && flow_is_hole(dense->values[dense->count - 1])) dense->count--;
    } else if (sparse) {
        uint32_t at = sparse_find(sparse, index);
        if (at == sparse->count || sparse->entries[at].index != index) return;
        vm->fuel -= (sparse->count - at) / 4;
        memmove(sparse->entries + at, sparse->entries + at + 1,
                (sparse->count - at - 1) * sizeof *sparse->entries);
        sparse->count--;
    }
}

uint32_t flow_elements_end(const FlowObject *body) {
    FlowStorage *dense = flow_dense(body);
    FlowSparse *sparse = flow_sparse(body);
    if (dense) return dense->count;
    return sparse && sparse->count ? sparse->entries[sparse->count - 1].index + 1 : 0;
}

uint32_t flow_elements_next(const FlowObject *body, uint32_t from) {
    FlowStorage *dense = flow_dense(body);
    for (uint32_t i = from; dense && i < dense->count; i++) {
        if (!flow_is_hole(dense->values[i])) return i;
    }
    FlowSparse *sparse = flow_sparse(body);
    if (!sparse) return UINT32_MAX;
    uint32_t at = sparse_find(sparse, from);
    return at < sparse->count ? sparse->entries[at].index : UINT32_MAX;
}

FlowValue flow_object_element(FlowVm *vm, FlowObject *object, uint32_t index) {
    FlowObject *body = flow_object_body(vm, object);
    FlowStorage *dense = flow_dense(body);
    if (dense && index < dense->count) return dense->values[index];
    FlowProperty property;
    if (!flow_object_get_own(vm, object, flow_key_index(index), &property)) return FLOW_HOLE;
    return property.attributes & PROPERTY_ACCESSOR ? FLOW_HOLE : property.value;
}

bool flow_array_set_length(FlowVm *vm, FlowArray *array, uint32_t length) {
    FlowArray *body = (FlowArray *)flow_object_writable_body(vm, &array->object);
    if (length == body->length) return true;
    if (body->object.cell.aux & OBJECT_LENGTH_READONLY) return false;
    if (length > body->length) {
        body->length = length;
        return true;
    }
    FlowStorage *dense = flow_dense(&body->object);
    FlowSparse *sparse = flow_sparse(&body->object);
    if (dense && dense->count > length) {
        if (body->object.cell.aux & OBJECT_ELEMENTS_SEALED) {
            body->length = dense->count;
            return false;
        }
        dense->count = length;
        while (dense->count && flow_is_hole(dense->values[dense->count - 1])) dense->count--;
        if (dense->count == 0 && dense->cell.aux > 64 && !(dense->cell.flags & CELL_SHARED)) {
            flow_heap_free(&vm->heap, dense);
            body->object.elements = NULL;
        }
    }
    while (sparse && sparse->count && sparse->entries[sparse->count - 1].index >= length) {
        const struct FlowSparseEntry *last = &sparse->entries[sparse->count - 1];
        if (!(last->attributes & PROPERTY_CONFIGURABLE)) {
            body->length = last->index + 1;
            return false;
        }
        sparse->count--;
    }
    body->length = length;
    return true;
}
