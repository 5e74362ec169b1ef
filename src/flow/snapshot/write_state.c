// Snapshot writer, state: what the VM itself holds (vm.h lists it): scalars, globals, awaitables,
// the queue, changed built-ins, template objects, frames and the stack.
//
//   [write-state-1] A changed built-in is written as what differs from the realm's: added and
//        changed properties, and the keys that were removed.
//   [write-state-2] What a frame can be told from its routine (flags, size of its window) is not
//        written.
//   [write-state-3] A run that has ended (Workflow.continueAs ends it in mid-air) has only its
//        result.
#include "base/assert.h"
#include "flow/snapshot/internal.h"

void snapshot_write_scalars(SnapshotWriter *w, Buf *out) {
    const FlowVm *vm = w->vm;
    Buf *before = w->out;
    w->out = out;
    bool has_random = vm->random_state[0] || vm->random_state[1];
    uint32_t flags = (vm->is_cancelled ? SCALAR_CANCELLED : 0) |
                     (vm->is_cancel_pending ? SCALAR_CANCEL_PENDING : 0) |
                     (has_random ? SCALAR_RANDOM : 0);
    snapshot_put_number(w, vm->state);
    snapshot_put_number(w, vm->outcome);
    snapshot_put_number(w, flags);
    snapshot_put_number(w, vm->workflow_index);
    snapshot_put_number(w, vm->next_awaitable_id);
    snapshot_put_number(w, vm->executed);
    if (has_random) {
        bytes_put_u64(out, vm->random_state[0]);
        bytes_put_u64(out, vm->random_state[1]);
    }
    w->out = before;
}

// --- overrides [write-state-1]

typedef struct OverrideWalk {
    const FlowShape *old; // of the realm object
    const FlowShape *now; // of its copy
    const FlowObject *original;
    const FlowObject *copy;
} OverrideWalk;

// Whether property `slot` of the copy is the original's, in the same order; `at` is the place in
// the original from which on it may be.
static bool is_kept(const OverrideWalk *walk, uint32_t slot, uint32_t *at) {
    uint32_t old_slot;
    uint32_t attributes;
    FlowKey key = walk->now->keys->entries[slot].key;
    if (!flow_shape_find(walk->old, key, &old_slot, &attributes) || old_slot < *at) return false;
    *at = old_slot + 1;
    return true;
}

static bool is_same(const OverrideWalk *walk, uint32_t slot) {
    uint32_t old_slot;
    uint32_t attributes;
    const struct FlowKeyEntry *entry = &walk->now->keys->entries[slot];
    return flow_shape_find(walk->old, entry->key, &old_slot, &attributes) &&
           attributes == entry->attributes &&
           flow_same_bits(walk->original->slots[old_slot], walk->copy->slots[slot]);
}

static void put_key(SnapshotWriter *w, FlowKey key) {
    FlowValue value = {key.bits};
    snapshot_put_value(w, value);
}

static void write_removed(SnapshotWriter *w, const OverrideWalk *walk, bool is_counting,
                          uint32_t *count) {
    uint32_t at = 0; // in the original
    for (uint32_t i = 0; i <= walk->now->count; i++) {
        uint32_t from = at;
        bool is_end = i == walk->now->count;
        if (!is_end && (!walk->now->keys->entries[i].key.bits || !is_kept(walk, i, &at))) continue;
        uint32_t to = is_end ? walk->old->count : at - 1;
        for (uint32_t k = from; k < to; k++) {
            FlowKey key = walk->old->keys->entries[k].key;
            if (!key.bits) continue;
            if (is_counting) (*count)++;
            else put_key(w, key);
        }
    }
}

static void write_changed(SnapshotWriter *w, const OverrideWalk *walk, bool is_counting,
                          uint32_t *count) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < walk->now->count; i++) {
        const struct FlowKeyEntry *entry = &walk->now->keys->entries[i];
        if (!entry->key.bits) continue;
        if (is_kept(walk, i, &at) && is_same(walk, i)) continue;
        if (is_counting) {
            (*count)++;
            continue;
        }
        put_key(w, entry->key);
        snapshot_put_number(w, entry->attributes);
        snapshot_write_property(w, walk->copy->slots[i], entry->attributes);
    }
}

static void write_override(SnapshotWriter *w, const FlowOverride *override) {
    OverrideWalk walk = {.old = override->original->shape,
                         .now = override->copy->shape,
                         .original = override->original,
                         .copy = override->copy};
    snapshot_put_object(w, override->original);
    snapshot_put_object(w, walk.now->proto);
    snapshot_put_number(w, snapshot_extras(override->copy));
    uint32_t count = 0;
    write_removed(w, &walk, true, &count);
    snapshot_put_number(w, count);
    write_removed(w, &walk, false, NULL);
    count = 0;
    write_changed(w, &walk, true, &count);
    snapshot_put_number(w, count);
    write_changed(w, &walk, false, NULL);
    snapshot_write_elements(w, override->copy);
    if (override->copy->cell.kind == KIND_ARRAY) {
        const FlowStorage *dense = flow_dense(override->copy);
        const FlowArray *array = (const FlowArray *) override->copy;
        snapshot_put_number(w, array->length - (dense ? dense->count : 0));
    }
}

// --- queue and tables

// The symbols of Symbol.for. Not as an array: nobody else may hold the registry.
static void write_registry(SnapshotWriter *w) {
    if (flow_is_undefined(w->vm->symbols)) {
        snapshot_put_number(w, 0);
        return;
    }
    FlowArray *registry = flow_as_array(w->vm->symbols);
    const FlowValue *symbols = flow_array_dense(registry);
    snapshot_put_number(w, registry->length);
    for (uint32_t i = 0; i < registry->length; i++) snapshot_put_value(w, symbols[i]);
}

static void write_jobs(SnapshotWriter *w) {
    const FlowJobQueue *queue = &w->vm->queue;
    uint32_t count = w->vm->state == VM_ENDED ? 0 : queue->count; // [write-state-3]
    snapshot_put_number(w, count);
    for (uint32_t i = 0; i < count; i++) {
        const FlowJob *job = &queue->jobs[(queue->first + i) & (queue->capacity - 1)];
        snapshot_put_number(w, (uint64_t)job->kind << JOB_KIND_SHIFT |
                                   (job->is_rejected ? JOB_IS_REJECTED : 0));
        if (job->kind == JOB_REACTION) snapshot_write_reaction(w, flow_as_pointer(job->a));
        else snapshot_put_value(w, job->a);
        snapshot_put_value(w, job->b);
        snapshot_put_value(w, job->c);
    }
}

static void write_tables(SnapshotWriter *w) {
    const FlowVm *vm = w->vm;
    snapshot_put_number(w, vm->awaitable_count);
    for (uint32_t i = 0; i < vm->awaitable_count; i++) {
        snapshot_put_object(w, vm->awaitables[i].promise);
    }
    snapshot_put_number(w, vm->rejected_count);
    for (uint32_t i = 0; i < vm->rejected_count; i++) snapshot_put_object(w, vm->rejected[i]);
    snapshot_put_number(w, vm->template_count);
    for (uint32_t i = 0; i < vm->template_count; i++) {
        const FlowTemplateObject *entry = &vm->templates[i];
        bool is_prelude = entry->routine->module->is_prelude;
        snapshot_put_number(w, (uint64_t)entry->routine->index << 1 | is_prelude);
        snapshot_put_number(w, entry->index);
        snapshot_put_object(w, entry->object);
        w->has_prelude |= is_prelude;
    }
    snapshot_put_number(w, vm->override_count);
    for (uint32_t i = 0; i < vm->override_count; i++) write_override(w, &vm->overrides[i]);
}

// --- frames

static uint32_t frame_size(const FlowFrame *frame) {
    return frame->kind == FRAME_NATIVE ? 1 + frame->argument_count
                                       : frame->closure->routine->register_count;
}

static void write_frame(SnapshotWriter *w, const FlowFrame *frame, uint32_t below) {
    bool is_native = frame->kind == FRAME_NATIVE;
    uint32_t head = (uint32_t)frame->return_kind << FRAME_RETURN_SHIFT;
    if (is_native) head |= FRAME_IS_NATIVE;
    if (!flow_is_undefined(frame->new_target)) head |= FRAME_HAS_TARGET;
    if (frame->coroutine) head |= FRAME_HAS_COROUTINE;
    snapshot_put_number(w, head);
    snapshot_put_value(w, frame->function);
    snapshot_put_number(w, is_native ? frame->argument_count : frame->pc);
    snapshot_put_number(w, frame->base);
    uint32_t end = frame->base + frame_size(frame);
    ASSERT(frame->top >= end && frame->top >= below);                 // [vm-call-2]
    snapshot_put_number(w, frame->top - (end > below ? end : below)); // [write-state-2]
    bool has_place = frame->return_kind == RETURN_STORE || frame->return_kind == RETURN_NOT;
    if (has_place) snapshot_put_number(w, frame->return_to);
    if (head & FRAME_HAS_TARGET) snapshot_put_value(w, frame->new_target);
    if (frame->coroutine) snapshot_put_object(w, frame->coroutine);
    if (!is_native && frame->closure->routine->flags & ROUTINE_PRELUDE) w->has_prelude = true;
}

static void write_frames(SnapshotWriter *w) {
    const FlowVm *vm = w->vm;
    uint32_t count = vm->state == VM_ENDED ? 0 : vm->frame_count; // [write-state-3]
    snapshot_put_number(w, count);
    uint32_t below = 0;
    for (uint32_t i = 0; i < count; i++) {
        write_frame(w, &vm->frames[i], below);
        below = vm->frames[i].top;
    }
    if (count == 0) return;
    ASSERT(below == vm->stack_top);
    for (uint32_t i = 0; i < vm->stack_top; i++) snapshot_put_value(w, vm->stack[i]);
}

void snapshot_write_roots(SnapshotWriter *w) {
    const FlowVm *vm = w->vm;
    w->out = &w->roots;
    snapshot_put_object(w, vm->main_promise);
    snapshot_put_number(w, (uint64_t)vm->driver << 1 | (vm->driver_reaction ? 1 : 0));
    if (vm->driver_reaction) snapshot_write_reaction(w, vm->driver_reaction);
    snapshot_put_value(w, vm->exception);
    snapshot_put_value(w, vm->inputs);
    snapshot_put_value(w, vm->context);
    snapshot_put_value(w, vm->cancel_reason);
    snapshot_put_value(w, vm->result);
    write_registry(w);
    write_jobs(w);
    write_tables(w);
    write_frames(w);
}
