// Objects: allocation, slots, copies of realm objects, prototypes and integrity levels.
// Properties by key are in property.c, array elements in elements.c, functions in function.c.
//
//   [value-object-5] slots has room for shape->count values: inline behind the struct (cell.small
//        of them) or in a FlowStorage of its own (OBJECT_SLOTS_APART).
//   [value-object-6] An object whose shape is shared (a copy of a realm object) becomes a
//        dictionary before its first change.
#include "base/memory.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

enum { INLINE_SLOTS_DEFAULT = 4, INLINE_SLOTS_MAX = 24, SLOTS_APART_MIN = 8 };

static FlowObject *object_alloc(FlowVm *vm, FlowKind kind, size_t size, FlowShape *shape,
                                uint32_t inline_count) {
    FlowObject *object = flow_heap_take(&vm->heap, kind, size + inline_count * sizeof(FlowValue));
    object->shape = shape;
    object->cell.small = (uint8_t)inline_count;
    object->slots = (FlowValue *)(void *)((char *)object + size); // unset until the shape has them
    object->elements = NULL;
    if (size > sizeof *object) memset(object + 1, 0, size - sizeof *object);
    return object;
}

FlowObject *flow_object_alloc(FlowVm *vm, FlowKind kind, size_t size, FlowObject *proto) {
    return object_alloc(vm, kind, size, flow_shape_root(vm, proto), 0);
}

FlowObject *flow_object_new_sized(FlowVm *vm, FlowObject *proto, uint32_t slot_count) {
    if (slot_count > INLINE_SLOTS_MAX) slot_count = INLINE_SLOTS_MAX;
    FlowShape *shape = proto == vm->realm->protos[PROTO_OBJECT] && vm->plain_shape
                           ? vm->plain_shape
                           : flow_shape_root(vm, proto);
    return object_alloc(vm, KIND_OBJECT, sizeof(FlowObject), shape, slot_count);
}

FlowObject *flow_object_new(FlowVm *vm, FlowObject *proto) {
    return flow_object_new_sized(vm, proto, INLINE_SLOTS_DEFAULT);
}

FlowObject *flow_object_plain(FlowVm *vm) {
    return flow_object_new_sized(vm, vm->realm->protos[PROTO_OBJECT], INLINE_SLOTS_DEFAULT);
}

FlowSlotObject *flow_slot_object_new(FlowVm *vm, FlowKind kind, FlowObject *proto) {
    FlowSlotObject *object = (FlowSlotObject *)flow_object_alloc(vm, kind, sizeof *object, proto);
    for (int i = 0; i < 4; i++) object->internal[i] = FLOW_UNDEFINED;
    return object;
}

FlowBox *flow_box_new(FlowVm *vm, FlowValue value) {
    FlowBox *box = flow_heap_take(&vm->heap, KIND_BOX, sizeof *box);
    box->value = value;
    return box;
}

FlowAccessor *flow_accessor_new(FlowVm *vm, FlowValue getter, FlowValue setter) {
    FlowAccessor *accessor = flow_heap_alloc(&vm->heap, KIND_ACCESSOR, sizeof *accessor);
    accessor->getter = getter;
    accessor->setter = setter;
    return accessor;
}

// --- slots

static FlowStorage *slots_storage(const FlowObject *body) {
    return (FlowStorage *)(void *)((char *)body->slots - offsetof(FlowStorage, values));
}

void flow_object_append_slot(FlowVm *vm, FlowObject *body, FlowShape *shape, FlowValue value) {
    uint32_t slot = shape->count - 1;
    bool is_apart = body->cell.flags & OBJECT_SLOTS_APART;
    uint32_t capacity = is_apart ? slots_storage(body)->cell.aux : body->cell.small;
    if (slot >= capacity) {
        uint32_t grown = capacity * 2 < SLOTS_APART_MIN ? SLOTS_APART_MIN : capacity * 2;
        FlowStorage *storage =
            flow_heap_take(&vm->heap, KIND_SLOTS, sizeof *storage + grown * sizeof(FlowValue));
        storage->cell.aux = grown;
        storage->count = storage->unused = 0;
        if (slot) memcpy(storage->values, body->slots, slot * sizeof(FlowValue));
        if (is_apart && !(slots_storage(body)->cell.flags & CELL_SHARED)) {
            flow_heap_free(&vm->heap, slots_storage(body));
        }
        body->slots = storage->values;
        body->cell.flags |= OBJECT_SLOTS_APART;
    }
    body->slots[slot] = value;
    body->shape = shape;
}

void flow_object_to_dictionary(FlowVm *vm, FlowObject *body) {
    bool is_private = flow_shape_is_dictionary(body->shape) &&
                      (vm->building || !(body->shape->cell.flags & CELL_SHARED));
    if (!is_private) body->shape = flow_shape_to_dictionary(vm, body->shape);
}

void flow_object_touch_proto(FlowVm *vm, const FlowObject *body) {
    if (body->cell.aux & OBJECT_IS_PROTOTYPE) vm->proto_epoch++;
}

// Objects that get more than `max` properties become dictionaries.
static void object_prepare_add(FlowVm *vm, FlowObject *body, uint32_t max) {
    flow_object_touch_proto(vm, body);
    const FlowShape *shape = body->shape;
    bool is_foreign = shape->cell.flags & CELL_SHARED && !vm->building; // [value-object-6]
    if (is_foreign || (shape->count >= max && !flow_shape_is_dictionary(shape))) {
        flow_object_to_dictionary(vm, body);
    }
}

void flow_object_add(FlowVm *vm, FlowObject *body, FlowKey key, FlowValue value,
                     uint32_t attributes) {
    object_prepare_add(vm, body, SHAPE_PROPERTIES_MAX);
    flow_object_append_slot(vm, body, flow_shape_add(vm, body->shape, key, attributes), value);
}

void flow_object_add_computed(FlowVm *vm, FlowObject *body, FlowKey key, FlowValue value,
                              uint32_t attributes) {
    object_prepare_add(vm, body, SHAPE_COMPUTED_MAX);
    flow_object_append_slot(vm, body, flow_shape_add(vm, body->shape, key, attributes), value);
}

void flow_object_compact(FlowVm *vm, FlowObject *body) {
    FlowShape *shape = body->shape;
    ASSERT(flow_shape_is_dictionary(shape));
    if (shape->count <= shape->live_count * 2 + 8) return;
    FlowShape *packed = flow_shape_empty_dictionary(vm, shape->proto);
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[i];
        if (!entry->key.bits) continue;
        body->slots[packed->count] = body->slots[i];
        flow_shape_add(vm, packed, entry->key, entry->attributes);
    }
    body->shape = packed;
}

// --- copies of realm objects

FlowObject *flow_object_override(FlowVm *vm, FlowObject *object) {
    if (!(object->cell.flags & CELL_SHARED) || vm->override_count == 0) return object;
    for (uint32_t i = 0; i < vm->override_count; i++) {
        if (vm->overrides[i].original == object) return vm->overrides[i].copy;
    }
    return object;
}

static FlowCell *elements_copy(FlowVm *vm, const FlowCell *elements) {
    if (!elements) return NULL;
    size_t size = flow_cell_size(elements);
    FlowCell *copy = flow_heap_alloc(&vm->heap, (FlowKind)elements->kind, size);
    memcpy(copy + 1, elements + 1, size - sizeof *copy);
    copy->aux = elements->aux;
    return copy;
}

FlowObject *flow_object_writable_body(FlowVm *vm, FlowObject *object) {
    if (!(object->cell.flags & CELL_SHARED) || vm->building) return object;
    FlowObject *body = flow_object_override(vm, object);
    if (body != object) return body;
    // Hidden state is not copied: everybody who needs it looks at the original [value-object-2]. An
    // array must stay an array, because its length is in the struct.
    bool is_array = object->cell.kind == KIND_ARRAY;
    size_t size = is_array ? sizeof(FlowArray) : sizeof(FlowObject);
    uint32_t count = object->shape->count;
    FlowObject *copy = object_alloc(vm, is_array ? KIND_ARRAY : KIND_OBJECT, size,
                                    flow_shape_to_dictionary(vm, object->shape), 0);
    copy->cell.aux = object->cell.aux | OBJECT_IS_PROTOTYPE;
    if (count) {
        FlowStorage *storage = flow_heap_alloc(&vm->heap, KIND_SLOTS,
                                               sizeof *storage + (count + 4) * sizeof(FlowValue));
        storage->cell.aux = count + 4;
        memcpy(storage->values, object->slots, count * sizeof(FlowValue));
        copy->slots = storage->values;
        copy->cell.flags |= OBJECT_SLOTS_APART;
    }
    copy->elements = elements_copy(vm, object->elements);
    if (is_array) ((FlowArray *)copy)->length = ((FlowArray *)object)->length;
    if (vm->override_count == vm->override_capacity) {
        vm->override_capacity = vm->override_capacity ? vm->override_capacity * 2 : 4;
        vm->overrides = mem_realloc(vm->overrides, vm->override_capacity * sizeof *vm->overrides);
    }
    vm->overrides[vm->override_count++] = (FlowOverride){object, copy};
    vm->proto_epoch++;
    flow_vm_drop_caches(vm);
    return copy;
}

// --- prototypes

FlowObject *flow_object_proto(FlowVm *vm, FlowObject *object) {
    vm->fuel--; // chains may be long
    return flow_object_body(vm, object)->shape->proto;
}

static FlowShape *shape_with_proto(FlowVm *vm, const FlowShape *from, FlowObject *proto) {
    if (flow_shape_is_dictionary(from)) {
        flow_shape_root(vm, proto); // marks the object as a prototype
        FlowShape *shape = flow_shape_to_dictionary(vm, from);
        shape->proto = proto;
        return shape;
    }
    FlowShape *shape = flow_shape_root(vm, proto);
    for (uint32_t i = 0; i < from->count; i++) {
        shape = flow_shape_add(vm, shape, from->keys->entries[i].key,
                               from->keys->entries[i].attributes);
    }
    return shape;
}

bool flow_object_set_proto(FlowVm *vm, FlowObject *object, FlowObject *proto) {
    FlowObject *body = flow_object_body(vm, object);
    if (body->shape->proto == proto) return true;
    if (body->cell.aux & OBJECT_NOT_EXTENSIBLE) return false;
    if (object == vm->realm->protos[PROTO_OBJECT]) return false; // immutable prototype
    for (FlowObject *at = proto; at; at = flow_object_proto(vm, at)) {
        if (at == object) return false;
    }
    body = flow_object_writable_body(vm, object);
    flow_object_touch_proto(vm, body);
    body->shape = shape_with_proto(vm, body->shape, proto);
    return true;
}

FlowObject *flow_object_of_primitive(FlowVm *vm, FlowValue value) {
    const FlowRealm *realm = vm->realm;
    if (flow_is_string(value)) return realm->protos[PROTO_STRING];
    if (flow_is_number(value)) return realm->protos[PROTO_NUMBER];
    if (flow_is_boolean(value)) return realm->protos[PROTO_BOOLEAN];
    if (flow_is_symbol(value)) return realm->protos[PROTO_SYMBOL];
    if (flow_is_bigint(value)) return realm->protos[PROTO_BIGINT];
    return NULL;
}

// --- integrity

bool flow_object_is_extensible(FlowVm *vm, FlowObject *object) {
    return !(flow_object_body(vm, object)->cell.aux & OBJECT_NOT_EXTENSIBLE);
}

void flow_object_prevent_extensions(FlowVm *vm, FlowObject *object) {
    FlowObject *body = flow_object_writable_body(vm, object);
    if (body->cell.aux & OBJECT_LAZY_FUNCTION) flow_function_materialize(vm, body);
    // A shape that is shared with extensible objects would let a cached add through.
    flow_object_to_dictionary(vm, body);
    body->cell.aux |= OBJECT_NOT_EXTENSIBLE;
}

static uint32_t frozen_attributes(uint32_t attributes, bool is_seal_only) {
    attributes &= ~(uint32_t)PROPERTY_CONFIGURABLE;
    if (!is_seal_only && !(attributes & PROPERTY_ACCESSOR)) {
        attributes &= ~(uint32_t)PROPERTY_WRITABLE;
    }
    return attributes;
}

void flow_object_freeze(FlowVm *vm, FlowObject *object, bool is_seal_only) {
    flow_object_prevent_extensions(vm, object);
    FlowObject *body = flow_object_writable_body(vm, object);
    flow_object_touch_proto(vm, body);
    FlowShape *shape = body->shape;
    for (uint32_t i = 0; i < shape->count; i++) {
        struct FlowKeyEntry *entry = &shape->keys->entries[i];
        // Private names are no properties: freezing does not touch them.
        if (!entry->key.bits || flow_key_is_private(entry->key)) continue;
        entry->attributes = frozen_attributes(entry->attributes, is_seal_only);
    }
    body->cell.aux |= OBJECT_ELEMENTS_SEALED;
    if (!is_seal_only) {
        body->cell.aux |= OBJECT_ELEMENTS_FROZEN;
        if (body->cell.kind == KIND_ARRAY) body->cell.aux |= OBJECT_LENGTH_READONLY;
    }
    FlowSparse *sparse = flow_sparse(body);
    for (uint32_t i = 0; sparse && i < sparse->count; i++) {
        sparse->entries[i].attributes =
            frozen_attributes(sparse->entries[i].attributes, is_seal_only);
    }
}

static bool attributes_pass(uint32_t attributes, bool is_seal_only) {
    return frozen_attributes(attributes, is_seal_only) == attributes;
}

bool flow_object_test_integrity(FlowVm *vm, FlowObject *object, bool is_seal_only) {
    FlowObject *body = flow_object_body(vm, object);
    if (!(body->cell.aux & OBJECT_NOT_EXTENSIBLE)) return false;
    if (body->cell.aux & OBJECT_LAZY_FUNCTION) flow_function_materialize(vm, body);
    for (uint32_t i = 0; i < body->shape->count; i++) {
        const struct FlowKeyEntry *entry = &body->shape->keys->entries[i];
        if (!entry->key.bits || flow_key_is_private(entry->key)) continue;
        if (!attributes_pass(entry->attributes, is_seal_only)) return false;
    }
    if (body->cell.kind == KIND_ARRAY && !is_seal_only &&
        !(body->cell.aux & OBJECT_LENGTH_READONLY)) {
        return false;
    }
    FlowProperty element;
    for (uint32_t i = flow_elements_next(body, 0); i != UINT32_MAX;
         i = flow_elements_next(body, i + 1)) {
        if (flow_elements_get(body, i, &element) &&
            !attributes_pass(element.attributes, is_seal_only)) {
            return false;
        }
    }
    return true;
}
