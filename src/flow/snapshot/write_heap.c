// Snapshot writer, heap: the body of each kind of node, shapes, and the directory.
//
// What a cell refers to is the table of heap_trace.c; this is the same knowledge, written down.
//
//   [write-heap-1] Things with one owner are written inside it: reactions in their promise,
//        requests in their generator, tables in their collection, accessors in their property.
//   [write-heap-2] Deleted properties and table entries are left out; slots are renumbered by that,
//        which nobody notices because inline caches are not part of a snapshot.
//   [write-heap-3] Registers of a suspended coroutine are those its instruction keeps alive (LIVE).
#include "base/array.h"
#include "base/assert.h"
#include "flow/snapshot/internal.h"

// --- shapes and properties

static uint32_t live_count(const FlowShape *shape) {
    return flow_shape_is_dictionary(shape) ? shape->live_count : shape->count;
}

static void put_key(SnapshotWriter *w, FlowKey key) {
    FlowValue value = {key.bits};
    if (flow_is_string(value)) {
        FlowString *atom = flow_as_string(value);
        if (flow_module_string_number(w->vm->module, atom) == UINT32_MAX) {
            snapshot_text_index(w, atom, true);
        }
    }
    snapshot_put_value(w, value);
}

void snapshot_write_shape(SnapshotWriter *w, const FlowShape *shape) {
    bool is_all_default = true;
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[i];
        is_all_default &= !entry->key.bits || entry->attributes == PROPERTY_DEFAULT;
    }
    uint64_t head = (uint64_t)live_count(shape) << SHAPE_COUNT_SHIFT;
    if (flow_shape_is_dictionary(shape)) head |= SHAPE_IS_DICTIONARY;
    if (is_all_default) head |= SHAPE_ALL_DEFAULT;
    snapshot_put_number(w, head);
    snapshot_put_object(w, shape->proto);
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[i];
        if (!entry->key.bits) continue; // [write-heap-2]
        put_key(w, entry->key);
        if (!is_all_default) snapshot_put_number(w, entry->attributes);
    }
}

void snapshot_write_property(SnapshotWriter *w, FlowValue value, uint32_t attributes) {
    if (attributes & PROPERTY_ACCESSOR) {
        const FlowAccessor *accessor = flow_as_pointer(value);
        snapshot_put_value(w, accessor->getter);
        snapshot_put_value(w, accessor->setter);
    } else {
        snapshot_put_value(w, value);
    }
}

uint32_t snapshot_extras(const FlowObject *object) {
    static const struct {
        uint32_t flag;
        uint32_t extra;
    } pairs[] = {
        {OBJECT_NOT_EXTENSIBLE, EXTRA_NOT_EXTENSIBLE},
        {OBJECT_ELEMENTS_SEALED, EXTRA_SEALED},
        {OBJECT_ELEMENTS_FROZEN, EXTRA_FROZEN},
        {OBJECT_LENGTH_READONLY, EXTRA_LENGTH_READONLY},
    };
    uint32_t extras = 0;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        if (object->cell.aux & pairs[i].flag) extras |= pairs[i].extra;
    }
    const FlowStorage *dense = flow_dense(object);
    const FlowSparse *sparse = flow_sparse(object);
    if (dense && dense->count) extras |= EXTRA_DENSE;
    if (sparse && sparse->count) extras |= EXTRA_SPARSE;
    bool is_function =
        object->cell.kind == KIND_CLOSURE || object->cell.kind == KIND_NATIVE_FUNCTION;
    if (is_function && !(object->cell.aux & OBJECT_LAZY_FUNCTION)) extras |= EXTRA_MATERIALIZED;
    return extras;
}

void snapshot_write_elements(SnapshotWriter *w, const FlowObject *body) {
    const FlowStorage *dense = flow_dense(body);
    const FlowSparse *sparse = flow_sparse(body);
    if (dense && dense->count) {
        snapshot_put_number(w, dense->count);
        for (uint32_t i = 0; i < dense->count; i++) snapshot_put_value(w, dense->values[i]);
    } else if (sparse && sparse->count) {
        snapshot_put_number(w, sparse->count);
        uint32_t next = 0;
        for (uint32_t i = 0; i < sparse->count; i++) {
            const struct FlowSparseEntry *entry = &sparse->entries[i];
            snapshot_put_number(w, entry->index - next);
            snapshot_put_number(w, entry->attributes);
            snapshot_write_property(w, entry->value, entry->attributes);
            next = entry->index + 1;
        }
    }
}

// --- promises

void snapshot_write_reaction(SnapshotWriter *w, const FlowReaction *reaction) {
    const FlowValue fields[6] = {reaction->on_fulfilled, reaction->on_rejected, reaction->target,
                                 reaction->promise,      reaction->resolve,     reaction->reject};
    uint32_t mask = reaction->cell.aux ? REACTION_HAS_INDEX : 0;
    for (uint32_t i = 0; i < 6; i++) mask |= (uint32_t)!flow_is_undefined(fields[i]) << i;
    snapshot_put_number(w, reaction->cell.small);
    snapshot_put_number(w, mask);
    for (uint32_t i = 0; i < 6; i++) {
        if (mask & 1u << i) snapshot_put_value(w, fields[i]);
    }
    if (reaction->cell.aux) snapshot_put_number(w, reaction->cell.aux);
}

static void write_promise(SnapshotWriter *w, const FlowPromise *promise) {
    uint32_t head = promise->state;
    if (promise->is_handled) head |= PROMISE_IS_HANDLED;
    if (promise->is_resolved) head |= PROMISE_IS_RESOLVED;
    if (promise->awaitable_id) head |= PROMISE_IS_AWAITABLE;
    if (promise->first) head |= PROMISE_HAS_REACTIONS;
    snapshot_put_number(w, head);
    if (promise->awaitable_id) {
        snapshot_put_number(w, promise->awaitable_id);
        snapshot_put_number(w, promise->await_kind);
    }
    if (promise->state != PROMISE_PENDING) snapshot_put_value(w, promise->result);
    if (!promise->first) return;
    uint32_t count = 0;
    for (const FlowReaction *at = promise->first; at; at = at->next) count++;
    snapshot_put_number(w, count);
    for (const FlowReaction *at = promise->first; at; at = at->next) {
        snapshot_write_reaction(w, at); // [write-heap-1]
    }
}

static void write_combinator(SnapshotWriter *w, const FlowCombinator *combinator) {
    snapshot_put_number(w, combinator->cell.small);
    snapshot_put_number(w, combinator->cell.aux);
    snapshot_put_object(w, combinator->values);
    snapshot_put_object(w, combinator->ids);
    snapshot_put_value(w, combinator->promise);
    snapshot_put_value(w, combinator->resolve);
    snapshot_put_value(w, combinator->reject);
}

// --- coroutines

static void write_requests(SnapshotWriter *w, const FlowRequest *first) {
    uint32_t count = 0;
    for (const FlowRequest *at = first; at; at = at->next) count++;
    snapshot_put_number(w, count);
    for (const FlowRequest *at = first; at; at = at->next) {
        snapshot_put_number(w, at->cell.small);
        snapshot_put_value(w, at->value);
        snapshot_put_object(w, at->promise);
    }
}

static void write_coroutine(SnapshotWriter *w, const FlowCoroutine *coroutine) {
    uint32_t head = coroutine->state;
    if (coroutine->has_returned_promise) head |= COROUTINE_HAS_RETURNED;
    if (coroutine->promise) head |= COROUTINE_HAS_PROMISE;
    if (coroutine->first_request) head |= COROUTINE_HAS_REQUESTS;
    snapshot_put_number(w, head);
    snapshot_put_value(w, coroutine->function);
    bool is_suspended =
        coroutine->state == COROUTINE_START || coroutine->state == COROUTINE_SUSPENDED;
    if (is_suspended) {
        const FlowRoutine *routine =
            ((const FlowClosure *)flow_as_pointer(coroutine->function))->routine;
        const FlowStorage *registers = coroutine->registers;
        snapshot_put_number(w, coroutine->pc);
        if (routine->module == w->vm->module)
            flow_place_add(&w->places, routine->index, coroutine->pc, coroutine->is_awaiting);
        ASSERT(registers->count == routine->code[coroutine->pc].c); // [write-heap-3]
        for (uint32_t i = 0; i < registers->count; i++) {
            snapshot_put_value(w, registers->values[i]);
        }
    }
    if (coroutine->promise) snapshot_put_object(w, coroutine->promise);
    if (coroutine->first_request) write_requests(w, coroutine->first_request);
}

// --- functions

static void write_closure(SnapshotWriter *w, const FlowClosure *closure) {
    const FlowRoutine *routine = closure->routine;
    if (routine->flags & ROUTINE_PRELUDE) w->has_prelude = true;
    uint32_t head = 0;
    if (closure->home) head |= CLOSURE_HAS_HOME;
    if (!flow_is_undefined(closure->fields)) head |= CLOSURE_HAS_FIELDS;
    if (!flow_is_hole(closure->name)) head |= CLOSURE_HAS_NAME;
    snapshot_put_number(w, head);
    if (head & CLOSURE_HAS_HOME) snapshot_put_object(w, closure->home);
    if (head & CLOSURE_HAS_FIELDS) snapshot_put_value(w, closure->fields);
    if (head & CLOSURE_HAS_NAME) snapshot_put_value(w, closure->name);
    const FlowValue *upvalues =
        w->rewrite ? w->rewrite->upvalues(w->rewrite, closure) : closure->upvalues;
    for (uint32_t i = 0; i < routine->upvalue_count; i++) snapshot_put_value(w, upvalues[i]);
}

// Values up to the last that is not undefined.
static void write_values(SnapshotWriter *w, const FlowValue *values, uint32_t count) {
    while (count && flow_is_undefined(values[count - 1])) count--;
    snapshot_put_number(w, count);
    for (uint32_t i = 0; i < count; i++) snapshot_put_value(w, values[i]);
}

static void write_bound(SnapshotWriter *w, const FlowBoundFunction *bound) {
    snapshot_put_value(w, bound->target);
    snapshot_put_value(w, bound->this_value);
    for (uint32_t i = 0; i < bound->count; i++) snapshot_put_value(w, bound->arguments[i]);
}

// --- errors: the captured stack; prelude routines by name, because only the name is shown

static void write_error(SnapshotWriter *w, const FlowErrorObject *error) {
    if (!flow_is_cell(error->frames)) {
        snapshot_put_number(w, 0);
        return;
    }
    const FlowStorage *frames = flow_as_pointer(error->frames);
    ASSERT(frames->count % 2 == 1);
    uint32_t pairs = (frames->count - 1) / 2;
    snapshot_put_number(w, 1 + (uint64_t)pairs);
    snapshot_put_value(w, frames->values[0]);
    for (uint32_t i = 0; i < pairs; i++) {
        int32_t index = flow_as_int(frames->values[1 + i * 2]);
        int32_t place = flow_as_int(frames->values[2 + i * 2]);
        snapshot_put_number(w, index < 0 ? 0 : 1 + (uint64_t)index);
        if (index < 0) snapshot_put_value(w, w->vm->realm->prelude->routines[-1 - index].name);
        snapshot_put_number(w, (uint32_t)place);
    }
}

// --- collections

static void snapshot_write_table(SnapshotWriter *w, const FlowTable *table, bool has_values) {
    bool is_dense = true;
    uint32_t first = table->next_sequence;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        if (flow_is_hole(table->entries[i].key)) continue;
        if (seen++ == 0) first = table->entries[i].sequence;
        is_dense &= table->entries[i].sequence == first + seen - 1;
    }
    is_dense &= table->next_sequence == first + seen;
    snapshot_put_number(w, (uint64_t)seen << 1 | (is_dense ? TABLE_IS_DENSE : 0));
    snapshot_put_number(w, is_dense ? first : table->next_sequence);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const FlowTableEntry *entry = &table->entries[i];
        if (flow_is_hole(entry->key)) continue;
        if (!is_dense) snapshot_put_number(w, entry->sequence - expected);
        expected = entry->sequence + 1;
        snapshot_put_value(w, entry->key);
        if (has_values) snapshot_put_value(w, entry->value);
    }
}

static void write_slot_object(SnapshotWriter *w, const FlowSlotObject *object) {
    switch ((FlowKind)object->object.cell.kind) {
    case KIND_MAP: snapshot_write_table(w, flow_as_pointer(object->internal[0]), true); return;
    case KIND_SET: snapshot_write_table(w, flow_as_pointer(object->internal[0]), false); return;
    case KIND_WEAK_MAP:
    case KIND_WEAK_SET: return; // written last: snapshot/write.c
    case KIND_REGEXP: write_values(w, object->internal, 2); return; // compiled again when used
    default: write_values(w, object->internal, 4); return;
    }
}

// --- nodes

static void write_object(SnapshotWriter *w, SnapshotNode *node) {
    const FlowObject *object = (const FlowObject *)node->cell;
    const FlowShape *shape = object->shape;
    const FlowRoutine *routine =
        object->cell.kind == KIND_CLOSURE ? ((const FlowClosure *)object)->routine : NULL;
    bool is_default =
        shape->count == 0 && !flow_shape_is_dictionary(shape) &&
        shape->proto == snapshot_default_proto(w->vm, (FlowKind)object->cell.kind, routine);
    uint32_t extras = snapshot_extras(object);
    uint32_t index = is_default ? 0 : 1 + snapshot_shape_index(w, shape);
    // The vector may have moved: numbers are given out while shapes are written.
    node = &w->nodes.data[w->next_body];
    node->shape = index;
    node->extras = extras;
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[i];
        if (entry->key.bits) snapshot_write_property(w, object->slots[i], entry->attributes);
    }
    snapshot_write_elements(w, object);
}

static void write_hidden(SnapshotWriter *w, const FlowCell *cell) {
    switch ((FlowKind)cell->kind) {
    case KIND_ARRAY: {
        const FlowArray *array = (const FlowArray *)cell;
        const FlowStorage *dense = flow_dense(&array->object);
        snapshot_put_number(w, array->length - (dense ? dense->count : 0));
        return;
    }
    case KIND_ERROR: write_error(w, (const FlowErrorObject *)cell); return;
    case KIND_CLOSURE: write_closure(w, (const FlowClosure *)cell); return;
    case KIND_NATIVE_FUNCTION: write_values(w, ((const FlowNativeFunction *)cell)->data, 4); return;
    case KIND_BOUND_FUNCTION: write_bound(w, (const FlowBoundFunction *)cell); return;
    case KIND_PROMISE: write_promise(w, (const FlowPromise *)cell); return;
    case KIND_COROUTINE: write_coroutine(w, (const FlowCoroutine *)cell); return;
    default:
        if (cell->kind >= KIND_FIRST_SLOT_OBJECT) {
            write_slot_object(w, (const FlowSlotObject *)cell);
        }
        return;
    }
}

void snapshot_write_body(SnapshotWriter *w, uint32_t index) {
    FlowCell *cell = w->nodes.data[index].cell;
    if (cell->kind >= KIND_FIRST_OBJECT) {
        write_object(w, &w->nodes.data[index]);
        write_hidden(w, cell);
    } else if (cell->kind == KIND_BOX) {
        snapshot_put_value(w, ((const FlowBox *)cell)->value);
    } else if (cell->kind == KIND_COMBINATOR) {
        write_combinator(w, (const FlowCombinator *)cell);
    } // symbols and BigInts are in the directory, whole
}

static void directory_parameter(SnapshotWriter *w, const FlowCell *cell) {
    switch ((FlowKind)cell->kind) {
    case KIND_CLOSURE: {
        const FlowRoutine *routine = ((const FlowClosure *)cell)->routine;
        snapshot_put_number(w, (uint64_t)routine->index << 1 | routine->module->is_prelude);
        return;
    }
    case KIND_NATIVE_FUNCTION:
        snapshot_put_realm(w, ((const FlowNativeFunction *)cell)->entry);
        return;
    case KIND_BOUND_FUNCTION:
        snapshot_put_number(w, ((const FlowBoundFunction *)cell)->count);
        return;
    case KIND_SYMBOL:
        snapshot_put_number(w, cell->aux);
        snapshot_put_value(w, ((const FlowSymbol *)cell)->description);
        return;
    case KIND_BIGINT: {
        const FlowBigInt *bigint = (const FlowBigInt *)cell;
        snapshot_put_number(w, (uint64_t)cell->aux << 1 | (bigint->is_negative ? 1 : 0));
        for (uint32_t i = 0; i < cell->aux; i++) bytes_put_u32(w->out, bigint->digits[i]);
        return;
    }
    default: return;
    }
}

void snapshot_write_directory(SnapshotWriter *w, Buf *out) {
    Buf *before = w->out;
    w->out = out;
    snapshot_put_number(w, w->nodes.count);
    for (size_t i = 0; i < w->nodes.count; i++) {
        const SnapshotNode *node = &w->nodes.data[i];
        uint8_t head = (uint8_t)snapshot_node_kind(node->cell);
        if (node->shape) head |= NODE_HAS_SHAPE;
        if (node->extras) head |= NODE_HAS_EXTRAS;
        buf_append_char(out, (char)head);
        if (node->shape) snapshot_put_number(w, node->shape - 1);
        if (node->extras) snapshot_put_number(w, node->extras);
        directory_parameter(w, node->cell);
    }
    w->out = before;
}
