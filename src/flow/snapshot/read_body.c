// Snapshot reader, heap, second half: the content of every node. Each field that C code relies on
// is checked for its kind here; what only the whole shows is left to snapshot/check.c.
//
//   [read-body-1] Script values hold no HOLE and no cells. HOLE may stand in elements, boxes,
//        registers, and where an error's stack has not been rendered; a cell only where it is named
//        below.
//   [read-body-2] Reactions, requests, tables and accessors are made here, inside their one owner.
//   [read-body-3] A dictionary belongs to one object: it changes in place.
#include "base/secret.h"
#include "flow/builtin/core.h"
#include "flow/builtin/objects.h"
#include "flow/code/opcodes.h"
#include "flow/snapshot/internal.h"

// --- properties

FlowValue snapshot_read_property(SnapshotReader *r, uint32_t attributes) {
    if (!(attributes & PROPERTY_ACCESSOR)) return snapshot_get_value(r);
    FlowValue getter = snapshot_get_callable(r, true);
    FlowValue setter = snapshot_get_callable(r, true);
    if (!snapshot_has_room(r, sizeof(FlowAccessor))) return FLOW_UNDEFINED;
    return flow_from_cell(flow_accessor_new(r->vm, getter, setter));
}

static void reserve_slots(SnapshotReader *r, FlowObject *object, uint32_t count) {
    if (count <= object->cell.small) return;
    size_t size = sizeof(FlowStorage) + count * sizeof(FlowValue);
    if (!snapshot_has_room(r, size)) return;
    FlowStorage *storage = flow_heap_alloc(&r->vm->heap, KIND_SLOTS, size);
    storage->cell.aux = count;
    object->slots = storage->values;
    object->cell.flags |= OBJECT_SLOTS_APART;
}

static void read_slots(SnapshotReader *r, FlowObject *object) {
    const FlowShape *shape = object->shape;
    for (uint32_t i = 0; i < shape->count && !snapshot_is_bad(r); i++) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[i];
        bool is_stack = object->cell.kind == KIND_ERROR &&
                        entry->key.bits == FLOW_NAME(r->vm, stack).bits &&
                        !(entry->attributes & PROPERTY_ACCESSOR);
        if (is_stack && bytes_left(&r->in) && *r->in.at == TAG_HOLE) { // [read-body-1]
            object->slots[i] = snapshot_get_raw(r);
        } else {
            object->slots[i] = snapshot_read_property(r, entry->attributes);
        }
    }
}

static void read_dense(SnapshotReader *r, FlowObject *body) {
    uint32_t count = snapshot_get_count(r);
    size_t size = sizeof(FlowStorage) + count * sizeof(FlowValue);
    if (count == 0) snapshot_fail(r, "elements are missing");
    if (snapshot_is_bad(r) || !snapshot_has_room(r, size)) return;
    FlowStorage *storage = flow_heap_alloc(&r->vm->heap, KIND_ELEMENTS, size);
    storage->cell.aux = storage->count = count;
    body->elements = &storage->cell;
    for (uint32_t i = 0; i < count; i++) {
        storage->values[i] = snapshot_get_raw(r);
        if (flow_is_cell(storage->values[i])) snapshot_fail(r, "an element is no value");
    }
    snapshot_require(r, !flow_is_hole(storage->values[count - 1]), "elements end in a hole");
}

static void read_sparse(SnapshotReader *r, FlowObject *body) {
    uint32_t count = snapshot_get_count(r);
    size_t size = sizeof(FlowSparse) + count * sizeof(struct FlowSparseEntry);
    if (count == 0) snapshot_fail(r, "elements are missing");
    if (snapshot_is_bad(r) || !snapshot_has_room(r, size)) return;
    FlowSparse *sparse = flow_heap_alloc(&r->vm->heap, KIND_SPARSE, size);
    sparse->cell.aux = count;
    sparse->is_sorted = 1;
    body->elements = &sparse->cell;
    uint64_t next = 0;
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        uint64_t index = next + snapshot_get_number(r, UINT32_MAX);
        uint32_t attributes = (uint32_t)snapshot_get_number(r, 15);
        if (index >= UINT32_MAX) {
            snapshot_fail(r, "an index is out of range");
            return;
        }
        sparse->entries[i] = (struct FlowSparseEntry){(uint32_t)index, attributes,
                                                      snapshot_read_property(r, attributes)};
        sparse->count = i + 1;
        next = index + 1;
    }
}

void snapshot_read_elements(SnapshotReader *r, FlowObject *body, uint32_t extras) {
    if (extras & EXTRA_DENSE && extras & EXTRA_SPARSE) snapshot_fail(r, "elements of two kinds");
    else if (extras & EXTRA_DENSE) read_dense(r, body);
    else if (extras & EXTRA_SPARSE) read_sparse(r, body);
}

static void set_flags(SnapshotReader *r, FlowObject *object, uint32_t extras) {
    bool is_array = object->cell.kind == KIND_ARRAY;
    bool is_function =
        object->cell.kind == KIND_CLOSURE || object->cell.kind == KIND_NATIVE_FUNCTION;
    if (extras & EXTRA_NOT_EXTENSIBLE) {
        object->cell.aux |= OBJECT_NOT_EXTENSIBLE;
        // A shape that others share would let a cached add through.
        snapshot_require(r, flow_shape_is_dictionary(object->shape), "a sealed shape is shared");
    }
    if (extras & EXTRA_SEALED) object->cell.aux |= OBJECT_ELEMENTS_SEALED;
    if (extras & EXTRA_FROZEN) object->cell.aux |= OBJECT_ELEMENTS_FROZEN;
    if (extras & EXTRA_LENGTH_READONLY) {
        object->cell.aux |= OBJECT_LENGTH_READONLY;
        snapshot_require(r, is_array, "only arrays have a length");
    }
    if (is_function && !(extras & EXTRA_MATERIALIZED)) {
        object->cell.aux |= OBJECT_LAZY_FUNCTION;
        snapshot_require(r, object->shape->count == 0, "a lazy function has properties");
    }
    snapshot_require(r, is_function || !(extras & EXTRA_MATERIALIZED), "only functions are lazy");
}

static void read_object(SnapshotReader *r, FlowObject *object, const SnapshotReadNode *node) {
    if (node->shape) {
        SnapshotShape *shape = &r->shapes[node->shape - 1];
        if (shape->is_dictionary && shape->is_used) { // [read-body-3]
            snapshot_fail(r, "two objects share a dictionary");
            return;
        }
        shape->is_used = true;
        object->shape = shape->shape;
    } else {
        const FlowRoutine *routine =
            object->cell.kind == KIND_CLOSURE ? ((FlowClosure *)object)->routine : NULL;
        FlowKind kind = (FlowKind)object->cell.kind;
        FlowObject *proto = snapshot_default_proto(r->vm, kind, routine);
        FlowObject *const *protos = r->vm->realm->protos;
        object->shape = proto == protos[PROTO_OBJECT]  ? r->vm->plain_shape
                        : proto == protos[PROTO_ARRAY] ? r->vm->array_shape
                                                       : flow_shape_root(r->vm, proto);
    }
    reserve_slots(r, object, object->shape->count);
    if (snapshot_is_bad(r)) return;
    set_flags(r, object, node->extras);
    read_slots(r, object);
    snapshot_read_elements(r, object, node->extras);
}

static void read_length(SnapshotReader *r, FlowArray *array) {
    const FlowStorage *dense = flow_dense(&array->object);
    uint64_t length = snapshot_get_number(r, UINT32_MAX) + (dense ? dense->count : 0);
    snapshot_require(r, length <= UINT32_MAX && length >= flow_elements_end(&array->object),
                     "an array is shorter than its elements");
    array->length = (uint32_t)length;
}

// --- errors

static void read_error(SnapshotReader *r, FlowErrorObject *error) {
    error->frames = FLOW_UNDEFINED;
    uint64_t head = snapshot_get_number(r, 1 + 64);
    if (head == 0) return;
    uint32_t pairs = (uint32_t)head - 1;
    size_t size = sizeof(FlowStorage) + (1 + pairs * 2) * sizeof(FlowValue);
    if (!snapshot_has_room(r, size)) return;
    FlowStorage *storage = flow_heap_alloc(&r->vm->heap, KIND_ELEMENTS, size);
    storage->cell.aux = 1 + pairs * 2;
    storage->values[0] = snapshot_get_value(r);
    storage->count = 1;
    snapshot_require(r, flow_is_string(storage->values[0]), "an error has no headline");
    for (uint32_t i = 0; i < pairs && !snapshot_is_bad(r); i++) {
        uint64_t number = snapshot_get_number(r, UINT32_MAX);
        int32_t index = (int32_t)number - 1;
        bool is_shown = true;
        if (number == 0) { // a routine of the prelude, by name
            FlowValue name = snapshot_get_value(r);
            Buf text;
            buf_init(&text, 256);
            if (flow_is_string(name)) flow_string_to_utf8(r->vm, flow_as_string(name), &text);
            uint32_t found = flow_module_find_routine(r->vm->realm->prelude, buf_str(&text));
            is_shown = found != UINT32_MAX;
            index = -1 - (int32_t)found;
            buf_done(&text);
        } else if (number > r->vm->module->routine_count) {
            snapshot_fail(r, "a stack names no routine");
        }
        int32_t place = (int32_t)snapshot_get_number(r, INT32_MAX);
        if (!is_shown) continue;
        storage->values[storage->count++] = flow_int(index);
        storage->values[storage->count++] = flow_int(place);
    }
    error->frames = flow_from_cell(storage);
}

// --- functions

static void read_closure(SnapshotReader *r, FlowClosure *closure) {
    const FlowRoutine *routine = closure->routine;
    uint64_t head = snapshot_get_number(r, CLOSURE_ALL);
    closure->fields = FLOW_UNDEFINED;
    closure->name = FLOW_HOLE;
    if (head & CLOSURE_HAS_HOME) closure->home = flow_as_pointer(snapshot_get_object(r));
    if (head & CLOSURE_HAS_FIELDS) closure->fields = snapshot_get_callable(r, false);
    if (head & CLOSURE_HAS_NAME) {
        closure->name = snapshot_get_value(r);
        snapshot_require(r, flow_is_string(closure->name), "a function's name is no string");
    }
    if (routine->flags & ROUTINE_CONSTRUCTOR) {
        closure->object.cell.aux |= OBJECT_CLASS_CONSTRUCTOR;
    }
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        FlowValue value =
            routine->upvalues[i].is_box ? snapshot_get_kind(r, KIND_BOX) : snapshot_get_raw(r);
        bool is_box = flow_is_cell(value);
        snapshot_require(r, is_box == routine->upvalues[i].is_box, "a box is where a value goes");
        closure->upvalues[i] = value;
    }
}

static void read_native(SnapshotReader *r, FlowNativeFunction *function) {
    uint64_t count = snapshot_get_number(r, 4);
    for (uint32_t i = 0; i < 4; i++) {
        function->data[i] = i < count ? snapshot_get_raw(r) : FLOW_UNDEFINED;
    }
    bool is_resolving = function->entry == &flow_resolving_entries[0] ||
                        function->entry == &flow_resolving_entries[1];
    const FlowValue *data = function->data;
    bool is_fine = is_resolving
                       ? flow_is_kind(data[0], KIND_PROMISE) && flow_is_cell(data[1]) &&
                             flow_as_cell(data[1])->kind == KIND_BOX && count == 2
                       : flow_is_cell(data[0]) && flow_as_cell(data[0])->kind == KIND_COMBINATOR &&
                             flow_is_int(data[1]) && flow_as_int(data[1]) >= 0 &&
                             flow_is_cell(data[2]) && flow_as_cell(data[2])->kind == KIND_BOX &&
                             count == 3;
    snapshot_require(r, is_fine, "a native function holds the wrong things");
}

static void read_bound(SnapshotReader *r, FlowBoundFunction *bound) {
    bound->target = snapshot_get_callable(r, false);
    bound->this_value = snapshot_get_value(r);
    for (uint32_t i = 0; i < bound->count && !snapshot_is_bad(r); i++) {
        bound->arguments[i] = snapshot_get_value(r);
    }
}

// --- collections

static FlowTable *snapshot_read_table(SnapshotReader *r, bool has_values) {
    uint64_t head = snapshot_get_number(r, (uint64_t)UINT32_MAX << 1 | 1);
    uint64_t count = head >> 1;
    if (count > bytes_left(&r->in) || !snapshot_has_room(r, (count * 2 + 8) * 32)) {
        snapshot_fail(r, "a collection is cut off");
        return NULL;
    }
    FlowTable *table = flow_table_new(r->vm, (uint32_t)count);
    uint64_t number = snapshot_get_number(r, UINT32_MAX);
    bool is_dense = head & TABLE_IS_DENSE;
    uint64_t next = is_dense ? number : 0;
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        if (!is_dense) next += snapshot_get_number(r, UINT32_MAX);
        FlowValue key = snapshot_get_value(r);
        FlowValue value = has_values ? snapshot_get_value(r) : FLOW_UNDEFINED;
        if (next >= UINT32_MAX) snapshot_fail(r, "a collection counts too far");
        if (snapshot_is_bad(r)) break;
        table->next_sequence = (uint32_t)next++;
        FlowTable *same = flow_table_put(r->vm, table, key, value);
        snapshot_require(r, same == table && table->live_count == i + 1, "a key comes twice");
    }
    if (!is_dense) snapshot_require(r, number >= next, "a collection counts backward");
    table->next_sequence = (uint32_t)(is_dense ? next : number);
    return table;
}

static bool is_index(FlowValue value) { // a whole number from 0 to 2^32-1
    if (!flow_is_number(value)) return false;
    double number = flow_as_number(value);
    return number >= 0 && number <= UINT32_MAX && number == trunc(number);
}

static bool is_time(FlowValue value) { // what TimeClip lets through
    if (!flow_is_number(value)) return false;
    double time = flow_as_number(value);
    return isnan(time) || (fabs(time) <= 8.64e15 && time == trunc(time));
}

static bool iterator_is_fine(const FlowValue *internal) {
    FlowValue over = internal[0];
    if (!flow_is_int(internal[2])) return false;
    switch ((FlowIteratorKind)flow_as_int(internal[2])) {
    case ITERATOR_ARRAY_KEYS:
    case ITERATOR_ARRAY_VALUES:
    case ITERATOR_ARRAY_ENTRIES:
        return (flow_is_undefined(over) || flow_is_object(over)) && flow_is_number(internal[1]) &&
               flow_as_number(internal[1]) >= 0;
    case ITERATOR_MAP_KEYS:
    case ITERATOR_MAP_VALUES:
    case ITERATOR_MAP_ENTRIES:
        return (flow_is_undefined(over) || flow_is_kind(over, KIND_MAP)) && is_index(internal[1]);
    case ITERATOR_SET_VALUES:
    case ITERATOR_SET_ENTRIES:
        return (flow_is_undefined(over) || flow_is_kind(over, KIND_SET)) && is_index(internal[1]);
    case ITERATOR_STRING:
        return (flow_is_undefined(over) || flow_is_string(over)) && flow_is_int(internal[1]) &&
               flow_as_int(internal[1]) >= 0;
    case ITERATOR_REGEXP_STRING:
        return flow_is_object(over) && flow_is_string(internal[1]) && flow_is_int(internal[3]);
    }
    return false;
}

static bool slots_are_fine(FlowKind kind, const FlowValue *internal) {
    switch (kind) {
    case KIND_BOOLEAN_OBJECT: return flow_is_boolean(internal[0]);
    case KIND_NUMBER_OBJECT: return flow_is_number(internal[0]);
    case KIND_DATE: return is_time(internal[0]);
    case KIND_STRING_OBJECT: return flow_is_string(internal[0]);
    case KIND_SYMBOL_OBJECT: return flow_is_symbol(internal[0]);
    case KIND_BIGINT_OBJECT: return flow_is_bigint(internal[0]);
    case KIND_REGEXP: return flow_is_string(internal[0]) && flow_is_string(internal[1]);
    case KIND_ITERATOR: return iterator_is_fine(internal);
    case KIND_SECRET:
        return flow_is_string(internal[0]) && flow_is_string(internal[1]) &&
               flow_string_length(flow_as_string(internal[0])) <= SECRET_NAME_MAX;
    default: return true;
    }
}

static void read_slot_object(SnapshotReader *r, FlowSlotObject *object) {
    FlowKind kind = (FlowKind)object->object.cell.kind;
    for (uint32_t i = 0; i < 4; i++) object->internal[i] = FLOW_UNDEFINED;
    if (kind >= KIND_MAP && kind <= KIND_WEAK_SET) {
        bool is_weak = kind == KIND_WEAK_MAP || kind == KIND_WEAK_SET;
        FlowTable *table =
            is_weak ? flow_table_new(r->vm, 0) : snapshot_read_table(r, kind == KIND_MAP);
        if (table) object->internal[0] = flow_from_cell(table);
        return;
    }
    uint64_t count = snapshot_get_number(r, 4);
    for (uint32_t i = 0; i < count; i++) {
        FlowValue value = snapshot_get_raw(r);
        bool is_combinator = kind == KIND_HOST_OBJECT && i == 0 && flow_is_cell(value) &&
                             flow_as_cell(value)->kind == KIND_COMBINATOR;
        bool is_plain = !flow_is_hole(value) && !flow_is_cell(value);
        snapshot_require(r, is_plain || is_combinator, "hidden state is no value");
        object->internal[i] = value;
    }
    if (kind == KIND_SECRET) r->vm->has_secrets = true;
    snapshot_require(r, slots_are_fine(kind, object->internal), "hidden state of a wrong type");
}

// --- the rest, and all of them

static void read_box(SnapshotReader *r, FlowBox *box) {
    box->value = snapshot_get_raw(r);
    snapshot_require(r, !flow_is_cell(box->value), "a box in a box");
}

static void read_node(SnapshotReader *r, const SnapshotReadNode *node) {
    FlowCell *cell = flow_as_cell(node->value);
    if (cell->kind >= KIND_FIRST_OBJECT) {
        read_object(r, (FlowObject *)cell, node);
        if (snapshot_is_bad(r)) return;
    }
    switch ((FlowKind)cell->kind) {
    case KIND_BOX: read_box(r, (FlowBox *)cell); return;
    case KIND_COMBINATOR: snapshot_read_combinator(r, (FlowCombinator *)cell); return;
    case KIND_ARRAY: read_length(r, (FlowArray *)cell); return;
    case KIND_ERROR: read_error(r, (FlowErrorObject *)cell); return;
    case KIND_CLOSURE: read_closure(r, (FlowClosure *)cell); return;
    case KIND_NATIVE_FUNCTION: read_native(r, (FlowNativeFunction *)cell); return;
    case KIND_BOUND_FUNCTION: read_bound(r, (FlowBoundFunction *)cell); return;
    case KIND_PROMISE: snapshot_read_promise(r, (FlowPromise *)cell); return;
    case KIND_COROUTINE: snapshot_read_coroutine(r, (FlowCoroutine *)cell); return;
    default:
        if (cell->kind >= KIND_FIRST_SLOT_OBJECT) read_slot_object(r, (FlowSlotObject *)cell);
        return;
    }
}

void snapshot_read_bodies(SnapshotReader *r) {
    for (uint32_t i = 0; i < r->node_count && !snapshot_is_bad(r); i++) {
        read_node(r, &r->nodes[i]);
    }
}

void snapshot_read_weak(SnapshotReader *r) {
    for (uint32_t i = 0; i < r->node_count && !snapshot_is_bad(r); i++) {
        FlowValue node = r->nodes[i].value;
        bool is_map = flow_is_kind(node, KIND_WEAK_MAP);
        if (!is_map && !flow_is_kind(node, KIND_WEAK_SET)) continue;
        FlowSlotObject *object = flow_as_pointer(node);
        uint32_t count = snapshot_get_count(r);
        for (uint32_t k = 0; k < count && !snapshot_is_bad(r); k++) {
            FlowValue key = snapshot_get_value(r);
            FlowValue value = snapshot_get_value(r);
            if (!snapshot_has_room(r, 128)) return;
            FlowTable *table =
                flow_table_put(r->vm, flow_as_pointer(object->internal[0]), key, value);
            snapshot_require(r, table && table->live_count == k + 1, "a key comes twice");
            if (table) object->internal[0] = flow_from_cell(table);
        }
    }
}
