// Heap tracing: what each kind of cell refers to. The collector marks through this table, and it
// is the reference for anybody else who has to walk a heap.
//
//   [heap-trace-1] A field that can hold a heap pointer is named here, or the cell it names dies
//        early.
//   [heap-trace-2] Transitions of shapes are weak: a shape lives while an object, a child or a
//        cache of roots uses it; forget_transitions unlinks the dead ones before a sweep.
#include "flow/code/code.h"
#include "flow/value/heap.h"
#include "flow/value/table.h"
#include "flow/vm/native.h"
#include "flow/vm/promise.h"

static void mark_values(FlowHeap *heap, const FlowValue *values, size_t count) {
    for (size_t i = 0; i < count; i++) flow_heap_mark(heap, values[i]);
}

static void trace_string(FlowHeap *heap, FlowCell *cell) {
    FlowString *s = (FlowString *)cell;
    if (!(cell->flags & STRING_ROPE)) return;
    flow_heap_mark_cell(heap, s->left);
    flow_heap_mark_cell(heap, s->right);
}

static void trace_symbol(FlowHeap *heap, FlowCell *cell) {
    flow_heap_mark(heap, ((FlowSymbol *)cell)->description);
}

static void trace_keys(FlowHeap *heap, FlowCell *cell) {
    FlowKeys *keys = (FlowKeys *)cell;
    for (uint32_t i = 0; i < keys->count; i++) {
        if (keys->entries[i].key.bits) flow_heap_mark(heap, (FlowValue){keys->entries[i].key.bits});
    }
}

static void trace_shape(FlowHeap *heap, FlowCell *cell) {
    FlowShape *shape = (FlowShape *)cell;
    flow_heap_mark_cell(heap, shape->proto);
    flow_heap_mark_cell(heap, shape->keys);
    flow_heap_mark_cell(heap, shape->parent);
}

static void trace_elements(FlowHeap *heap, FlowCell *cell) {
    FlowStorage *storage = (FlowStorage *)cell;
    mark_values(heap, storage->values, storage->count);
}

static void trace_sparse(FlowHeap *heap, FlowCell *cell) {
    FlowSparse *sparse = (FlowSparse *)cell;
    for (uint32_t i = 0; i < sparse->count; i++) flow_heap_mark(heap, sparse->entries[i].value);
}

static void trace_box(FlowHeap *heap, FlowCell *cell) {
    flow_heap_mark(heap, ((FlowBox *)cell)->value);
}

static void trace_accessor(FlowHeap *heap, FlowCell *cell) {
    flow_heap_mark(heap, ((FlowAccessor *)cell)->getter);
    flow_heap_mark(heap, ((FlowAccessor *)cell)->setter);
}

static void trace_reaction(FlowHeap *heap, FlowCell *cell) {
    FlowReaction *reaction = (FlowReaction *)cell;
    flow_heap_mark_cell(heap, reaction->next);
    flow_heap_mark(heap, reaction->on_fulfilled);
    flow_heap_mark(heap, reaction->on_rejected);
    flow_heap_mark(heap, reaction->target);
    flow_heap_mark(heap, reaction->promise);
    flow_heap_mark(heap, reaction->resolve);
    flow_heap_mark(heap, reaction->reject);
}

static void trace_combinator(FlowHeap *heap, FlowCell *cell) {
    FlowCombinator *combinator = (FlowCombinator *)cell;
    flow_heap_mark_cell(heap, combinator->values);
    flow_heap_mark_cell(heap, combinator->ids);
    flow_heap_mark(heap, combinator->promise);
    flow_heap_mark(heap, combinator->resolve);
    flow_heap_mark(heap, combinator->reject);
}

static void trace_request(FlowHeap *heap, FlowCell *cell) {
    FlowRequest *request = (FlowRequest *)cell;
    flow_heap_mark_cell(heap, request->next);
    flow_heap_mark(heap, request->value);
    flow_heap_mark_cell(heap, request->promise);
}

static void trace_table(FlowHeap *heap, FlowCell *cell) {
    FlowTable *table = (FlowTable *)cell;
    for (uint32_t i = 0; i < table->count; i++) {
        flow_heap_mark(heap, table->entries[i].key);
        flow_heap_mark(heap, table->entries[i].value);
    }
}

static void trace_object(FlowHeap *heap, FlowCell *cell) {
    FlowObject *object = (FlowObject *)cell;
    flow_heap_mark_cell(heap, object->shape);
    flow_heap_mark_cell(heap, object->elements);
    if (cell->flags & OBJECT_SLOTS_APART) {
        flow_heap_mark_cell(heap, (char *)object->slots - offsetof(FlowStorage, values));
    }
    mark_values(heap, object->slots, object->shape->count);
}

static void trace_error(FlowHeap *heap, FlowCell *cell) {
    trace_object(heap, cell);
    flow_heap_mark(heap, ((FlowErrorObject *)cell)->frames);
}

static void trace_closure(FlowHeap *heap, FlowCell *cell) {
    trace_object(heap, cell);
    FlowClosure *closure = (FlowClosure *)cell;
    flow_heap_mark_cell(heap, closure->home);
    flow_heap_mark(heap, closure->fields);
    flow_heap_mark(heap, closure->name);
    mark_values(heap, closure->upvalues, closure->routine->upvalue_count);
}

static void trace_native_function(FlowHeap *heap, FlowCell *cell) {
    trace_object(heap, cell);
    mark_values(heap, ((FlowNativeFunction *)cell)->data, 4);
}

static void trace_bound_function(FlowHeap *heap, FlowCell *cell) {
    trace_object(heap, cell);
    FlowBoundFunction *bound = (FlowBoundFunction *)cell;
    flow_heap_mark(heap, bound->target);
    flow_heap_mark(heap, bound->this_value);
    mark_values(heap, bound->arguments, bound->count);
}

static void trace_promise(FlowHeap *heap, FlowCell *cell) {
    trace_object(heap, cell);
    FlowPromise *promise = (FlowPromise *)cell;
    flow_heap_mark(heap, promise->result);
    flow_heap_mark_cell(heap, promise->first);
    flow_heap_mark_cell(heap, promise->last);
}

static void trace_coroutine(FlowHeap *heap, FlowCell *cell) {
    trace_object(heap, cell);
    FlowCoroutine *coroutine = (FlowCoroutine *)cell;
    flow_heap_mark(heap, coroutine->function);
    flow_heap_mark(heap, coroutine->new_target);
    flow_heap_mark_cell(heap, coroutine->promise);
    flow_heap_mark_cell(heap, coroutine->first_request);
    flow_heap_mark_cell(heap, coroutine->last_request);
    flow_heap_mark_cell(heap, coroutine->registers);
}

static void trace_slot_object(FlowHeap *heap, FlowCell *cell) {
    trace_object(heap, cell);
    mark_values(heap, ((FlowSlotObject *)cell)->internal, 4);
}

static void trace_nothing(FlowHeap *heap, FlowCell *cell) {
    (void)heap;
    (void)cell;
}

static const FlowTrace traces[KIND_COUNT] = {
    [KIND_FREE] = trace_nothing,
    [KIND_STRING] = trace_string,
    [KIND_SYMBOL] = trace_symbol,
    [KIND_BIGINT] = trace_nothing,
    [KIND_SHAPE] = trace_shape,
    [KIND_KEYS] = trace_keys,
    [KIND_SLOTS] = trace_nothing, // the object marks the slots in use
    [KIND_ELEMENTS] = trace_elements,
    [KIND_SPARSE] = trace_sparse,
    [KIND_BOX] = trace_box,
    [KIND_ACCESSOR] = trace_accessor,
    [KIND_REACTION] = trace_reaction,
    [KIND_COMBINATOR] = trace_combinator,
    [KIND_REQUEST] = trace_request,
    [KIND_TABLE] = trace_table,
    [KIND_BYTES] = trace_nothing,
    [KIND_OBJECT] = trace_object,
    [KIND_ARRAY] = trace_object,
    [KIND_ARGUMENTS] = trace_object,
    [KIND_ERROR] = trace_error,
    [KIND_CLOSURE] = trace_closure,
    [KIND_NATIVE_FUNCTION] = trace_native_function,
    [KIND_BOUND_FUNCTION] = trace_bound_function,
    [KIND_PROMISE] = trace_promise,
    [KIND_COROUTINE] = trace_coroutine,
    [KIND_FIRST_SLOT_OBJECT... KIND_LAST_SLOT_OBJECT] = trace_slot_object,
};

// [heap-trace-2] A dead child must not stay in its parent's table.
static void shape_forget(FlowShape *shape) {
    if (shape->transition_count == 1) {
        if (!(shape->single->cell.flags & (CELL_MARKED | CELL_SHARED))) {
            shape->single = NULL;
            shape->transition_count = 0;
        }
    } else if (shape->transition_count > 1) {
        // A hash table with holes would break probing: a tombstone (the shape itself) keeps it.
        for (uint32_t i = 0; i < shape->transition_capacity; i++) {
            FlowShape *child = shape->transitions[i];
            if (child && child != shape && !(child->cell.flags & (CELL_MARKED | CELL_SHARED))) {
                shape->transitions[i] = shape;
            }
        }
    }
}

static void forget_transitions(FlowHeap *heap) {
    FlowShape **link = &heap->shapes;
    while (*link) {
        FlowShape *shape = *link;
        if (shape->cell.flags & CELL_MARKED) {
            shape_forget(shape);
            link = &shape->next_shape;
        } else {
            *link = shape->next_shape; // it dies in this sweep
        }
    }
}

void flow_heap_drain(FlowHeap *heap) {
    while (heap->mark_count > 0) {
        FlowCell *cell = heap->mark_stack[--heap->mark_count];
        traces[cell->kind](heap, cell);
    }
    forget_transitions(heap);
}
