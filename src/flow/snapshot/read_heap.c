// Snapshot reader, heap, first half: strings, shapes, and the allocation of every node.
//
//   [read-heap-1] After the directory each node has its cell with kind and size; bodies come later
//        (snapshot/read_body.c), so that references may point forward.
//   [read-heap-2] Keys of shapes are atoms that are no array index, or symbols; none comes twice.
//   [read-heap-3] Functions know their routine or native entry from here on: bodies rely on it.
#include "base/memory.h"
#include "flow/builtin/core.h"
#include "flow/builtin/number/bigint_math.h"
#include "flow/snapshot/internal.h"

enum { INLINE_MAX = 24, INLINE_SPARE = 2 };

// --- strings

static FlowString *read_utf16(SnapshotReader *r, uint32_t length) {
    if ((uint64_t)length * 2 > bytes_left(&r->in)) {
        snapshot_fail(r, "a string is cut off");
        return NULL;
    }
    FlowString *s = flow_string_alloc(r->vm, length, true);
    uint16_t all = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint16_t unit = (uint16_t)(r->in.at[i * 2] | r->in.at[i * 2 + 1] << 8);
        s->wide[i] = unit;
        all |= unit;
    }
    r->in.at += (size_t)length * 2;
    if (all < 256) snapshot_fail(r, "a string is wider than it must be");
    return s;
}

static FlowString *read_string(SnapshotReader *r, bool *ret_is_key) {
    uint64_t head = snapshot_get_number(r, (uint64_t)r->vm->limits.string_length << 5);
    uint32_t length = (uint32_t)(head >> 3);
    *ret_is_key = head & 1;
    if (!snapshot_has_room(r, (size_t)length * 2 + sizeof(FlowString))) return NULL;
    uint32_t encoding = head >> 1 & 3;
    if (encoding == TEXT_UTF16) return read_utf16(r, length);
    if (length > bytes_left(&r->in) || encoding > TEXT_UTF16) {
        snapshot_fail(r, "a string is cut off");
        return NULL;
    }
    const uint8_t *bytes = r->in.at;
    r->in.at += length;
    if (encoding == TEXT_UTF8) return flow_string_utf8(r->vm, (Str){(const char *)bytes, length});
    FlowString *s = flow_string_alloc(r->vm, length, false);
    if (length) memcpy(s->latin1, bytes, length);
    return s;
}

void snapshot_read_strings(SnapshotReader *r) {
    uint32_t count = snapshot_get_count(r);
    if (!snapshot_has_room(r, (size_t)count * sizeof *r->strings)) return;
    r->strings = mem_alloc(count * sizeof *r->strings + 1);
    while (r->string_count < count && !snapshot_is_bad(r)) {
        bool is_key;
        FlowString *s = read_string(r, &is_key);
        if (!s) return;
        if (is_key) {
            FlowString *atom = flow_atom(r->vm, s);
            bool is_spare = atom != s && !(s->cell.flags & CELL_SHARED);
            if (is_spare) flow_heap_free(&r->vm->heap, s);
            s = atom;
        }
        r->strings[r->string_count++] = flow_from_string(s);
    }
}

// --- shapes

void snapshot_read_shapes(SnapshotReader *r) {
    uint32_t count = snapshot_get_count(r);
    if (!snapshot_has_room(r, (size_t)count * sizeof *r->shapes)) return;
    r->shapes = mem_zalloc(count * sizeof *r->shapes + 1);
    while (r->shape_count < count && !snapshot_is_bad(r)) {
        SnapshotShape *shape = &r->shapes[r->shape_count++];
        uint64_t head = snapshot_get_number(r, (uint64_t)UINT32_MAX << SHAPE_COUNT_SHIFT);
        shape->is_dictionary = head & SHAPE_IS_DICTIONARY;
        shape->count = (uint32_t)(head >> SHAPE_COUNT_SHIFT);
        shape->first_key = (uint32_t)r->keys.count;
        shape->proto = snapshot_get_raw(r);
        if (shape->count > bytes_left(&r->in) ||
            (!shape->is_dictionary && shape->count > SHAPE_PROPERTIES_MAX)) {
            snapshot_fail(r, "a shape has too many keys");
            return;
        }
        for (uint32_t i = 0; i < shape->count && !snapshot_is_bad(r); i++) {
            FlowValue key = snapshot_get_raw(r);
            uint64_t attributes = PROPERTY_DEFAULT;
            if (!(head & SHAPE_ALL_DEFAULT)) attributes = snapshot_get_number(r, 15);
            vec_push(&r->keys, (SnapshotKey){key, (uint32_t)attributes});
        }
    }
}

// What was read as a number while there were no nodes (snapshot/read_value.c [read-value-2]).
static FlowValue resolve(SnapshotReader *r, FlowValue value) {
    if (!flow_is_int(value)) return value;
    uint32_t index = (uint32_t)flow_as_int(value);
    if (index < r->node_count) return r->nodes[index].value;
    snapshot_fail(r, "a reference leads nowhere");
    return FLOW_UNDEFINED;
}

static bool is_key(FlowValue value) { // [read-heap-2]
    if (flow_is_symbol(value)) return true;
    if (!flow_is_string(value)) return false;
    const FlowString *s = flow_as_string(value);
    return flow_string_is_atom(s) && !(s->cell.flags & STRING_IS_INDEX);
}

static void build_shape(SnapshotReader *r, SnapshotShape *shape) {
    FlowValue proto_value = resolve(r, shape->proto);
    if (!flow_is_object(proto_value) && !flow_is_null(proto_value)) {
        snapshot_fail(r, "a prototype is no object");
        return;
    }
    FlowObject *proto = flow_is_null(proto_value) ? NULL : flow_as_object(proto_value);
    FlowShape *built = shape->is_dictionary ? flow_shape_empty_dictionary(r->vm, proto)
                                            : flow_shape_root(r->vm, proto);
    if (proto && !(proto->cell.flags & CELL_SHARED)) proto->cell.aux |= OBJECT_IS_PROTOTYPE;
    size_t most = sizeof(FlowShape) + 4 * sizeof(struct FlowKeyEntry);
    if (!snapshot_has_room(r, most * (shape->count + (size_t)1))) return;
    for (uint32_t i = 0; i < shape->count; i++) {
        const SnapshotKey *entry = &r->keys.data[shape->first_key + i];
        FlowValue value = resolve(r, entry->key);
        uint32_t slot;
        uint32_t attributes;
        FlowKey key = {value.bits};
        if (!is_key(value) || flow_shape_find(built, key, &slot, &attributes)) {
            snapshot_fail(r, "a shape has a bad key");
            return;
        }
        built = flow_shape_add(r->vm, built, key, entry->attributes);
    }
    shape->shape = built;
}

void snapshot_build_shapes(SnapshotReader *r) {
    for (uint32_t i = 0; i < r->shape_count && !snapshot_is_bad(r); i++) {
        build_shape(r, &r->shapes[i]);
    }
}

// --- directory

static FlowObject *alloc_object(SnapshotReader *r, FlowKind kind, size_t size,
                                const SnapshotReadNode *node) {
    uint32_t count = node->shape ? r->shapes[node->shape - 1].count : 0;
    uint32_t inline_count = count > INLINE_MAX ? 0 : count;
    if (kind == KIND_OBJECT && count == 0) inline_count = INLINE_SPARE;
    size += inline_count * sizeof(FlowValue);
    if (!snapshot_has_room(r, size)) return NULL;
    FlowObject *object = flow_heap_alloc(&r->vm->heap, kind, size);
    object->cell.small = (uint8_t)inline_count;
    if (inline_count) {
        object->slots =
            (FlowValue *)(void *)((char *)object + size - inline_count * sizeof(FlowValue));
    }
    return object;
}

static FlowObject *alloc_closure(SnapshotReader *r, const SnapshotReadNode *node) {
    uint64_t number = snapshot_get_number(r, UINT32_MAX);
    const FlowModule *module = number & 1 ? r->vm->realm->prelude : r->vm->module;
    uint32_t index = (uint32_t)(number >> 1);
    if (index >= module->routine_count || (number & 1 && !r->has_prelude)) {
        snapshot_fail(r, "there is no such routine");
        return NULL;
    }
    const FlowRoutine *routine = &module->routines[index];
    size_t size = sizeof(FlowClosure) + routine->upvalue_count * sizeof(FlowValue);
    FlowObject *object = alloc_object(r, KIND_CLOSURE, size, node);
    if (object) ((FlowClosure *)object)->routine = routine; // [read-heap-3]
    return object;
}

static FlowObject *alloc_native(SnapshotReader *r, const SnapshotReadNode *node) {
    const FlowNativeEntry *entry = snapshot_get_realm(r);
    bool is_known = false;
    for (int i = 0; i < 2; i++) {
        is_known |= entry == &flow_resolving_entries[i] || entry == &flow_combinator_entries[i];
    }
    if (!is_known) {
        snapshot_fail(r, "a native function cannot be made of that");
        return NULL;
    }
    FlowObject *object = alloc_object(r, KIND_NATIVE_FUNCTION, sizeof(FlowNativeFunction), node);
    if (object) ((FlowNativeFunction *)object)->entry = entry;
    return object;
}

static FlowObject *alloc_bound(SnapshotReader *r, const SnapshotReadNode *node) {
    uint64_t count = snapshot_get_number(r, CALL_ARGUMENTS_MAX);
    FlowObject *object = alloc_object(r, KIND_BOUND_FUNCTION,
                                      sizeof(FlowBoundFunction) + count * sizeof(FlowValue), node);
    if (object) ((FlowBoundFunction *)object)->count = (uint32_t)count;
    return object;
}

static FlowValue alloc_symbol(SnapshotReader *r) {
    uint64_t flags = snapshot_get_number(r, SYMBOL_PRIVATE | SYMBOL_REGISTERED | SYMBOL_METHOD);
    FlowValue description = snapshot_get_value(r);
    bool needs_text = flags != 0;
    if (!flow_is_string(description) && (needs_text || !flow_is_undefined(description))) {
        snapshot_fail(r, "a symbol has a bad description");
        return FLOW_UNDEFINED;
    }
    if (!snapshot_has_room(r, sizeof(FlowSymbol))) return FLOW_UNDEFINED;
    FlowSymbol *symbol = flow_symbol_new(r->vm, description);
    symbol->cell.aux = (uint32_t)flags;
    return flow_from_symbol(symbol);
}

static FlowValue alloc_bigint(SnapshotReader *r) {
    uint64_t head = snapshot_get_number(r, (uint64_t)BIGINT_DIGITS_MAX << 1 | 1);
    uint32_t count = (uint32_t)(head >> 1);
    if ((uint64_t)count * 4 > bytes_left(&r->in) || !snapshot_has_room(r, (size_t)count * 4 + 32)) {
        snapshot_fail(r, "a BigInt is cut off");
        return FLOW_UNDEFINED;
    }
    FlowBigInt *bigint =
        flow_heap_alloc(&r->vm->heap, KIND_BIGINT, sizeof *bigint + count * sizeof *bigint->digits);
    bigint->cell.aux = count;
    bigint->is_negative = head & 1;
    for (uint32_t i = 0; i < count; i++) bigint->digits[i] = bytes_get_u32(&r->in);
    bool is_normal = count ? bigint->digits[count - 1] != 0 : !bigint->is_negative;
    snapshot_require(r, is_normal, "a BigInt has leading zeros");
    return flow_from_bigint(bigint);
}

static size_t object_size(FlowKind kind) {
    switch (kind) {
    case KIND_ARRAY: return sizeof(FlowArray);
    case KIND_ERROR: return sizeof(FlowErrorObject);
    case KIND_PROMISE: return sizeof(FlowPromise);
    case KIND_COROUTINE: return sizeof(FlowCoroutine);
    default: return kind >= KIND_FIRST_SLOT_OBJECT ? sizeof(FlowSlotObject) : sizeof(FlowObject);
    }
}

static FlowValue alloc_cell(SnapshotReader *r, FlowKind kind, size_t size) {
    if (!snapshot_has_room(r, size)) return FLOW_UNDEFINED;
    return flow_from_cell(flow_heap_alloc(&r->vm->heap, kind, size));
}

static FlowValue alloc_node(SnapshotReader *r, SnapshotNodeKind kind,
                            const SnapshotReadNode *node) {
    FlowObject *object;
    switch (kind) {
    case NODE_CLOSURE: object = alloc_closure(r, node); break;
    case NODE_NATIVE: object = alloc_native(r, node); break;
    case NODE_BOUND: object = alloc_bound(r, node); break;
    case NODE_SYMBOL: return alloc_symbol(r);
    case NODE_BIGINT: return alloc_bigint(r);
    case NODE_BOX: return alloc_cell(r, KIND_BOX, sizeof(FlowBox));
    case NODE_COMBINATOR: return alloc_cell(r, KIND_COMBINATOR, sizeof(FlowCombinator));
    default: {
        FlowKind flow_kind = snapshot_flow_kind(kind);
        object = alloc_object(r, flow_kind, object_size(flow_kind), node);
        break;
    }
    }
    return object ? flow_from_object(object) : FLOW_UNDEFINED;
}

static bool is_object_node(SnapshotNodeKind kind) {
    return kind != NODE_SYMBOL && kind != NODE_BIGINT && kind != NODE_BOX &&
           kind != NODE_COMBINATOR;
}

void snapshot_read_directory(SnapshotReader *r) {
    uint32_t count = snapshot_get_count(r);
    if (!snapshot_has_room(r, (size_t)count * sizeof *r->nodes)) return;
    r->nodes = mem_zalloc(count * sizeof *r->nodes + 1);
    while (r->node_count < count && !snapshot_is_bad(r)) {
        SnapshotReadNode *node = &r->nodes[r->node_count];
        uint8_t head = bytes_get_u8(&r->in);
        SnapshotNodeKind kind = head & NODE_KIND_MASK;
        if (kind >= NODE_KIND_COUNT || (!is_object_node(kind) && head != kind)) {
            snapshot_fail(r, "a node is of an unknown kind");
            return;
        }
        if (head & NODE_HAS_SHAPE) {
            uint64_t shape = snapshot_get_number(r, UINT32_MAX - 1);
            if (shape >= r->shape_count) {
                snapshot_fail(r, "there is no such shape");
                return;
            }
            node->shape = (uint32_t)shape + 1;
        }
        if (head & NODE_HAS_EXTRAS) node->extras = (uint32_t)snapshot_get_number(r, EXTRA_ALL);
        node->value = alloc_node(r, kind, node);
        r->node_count++;
    }
}
