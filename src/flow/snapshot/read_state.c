// Snapshot reader, state: what the VM itself holds. See snapshot/write_state.c for the order.
//
//   [read-state-1] Every frame's window lies inside the stack; results go below the top of the
//        caller; pcs are instructions of their routine (all have the same size, and the verifier
//        saw to the rest).
//   [read-state-2] What a finished bottom frame hands to the driver is what that driver expects.
//   [read-state-3] Flags of frames are computed from the routine, not read.
#include "base/array.h"
#include "base/memory.h"
#include "flow/code/opcodes.h"
#include "flow/snapshot/internal.h"

enum { STACK_MAX = 1 << 22 };

// --- the queue

static FlowJob read_job(SnapshotReader *r) {
    uint64_t head = snapshot_get_number(r, (uint64_t)JOB_THEN_GETTER << JOB_KIND_SHIFT | 1);
    FlowJob job = {.a = FLOW_UNDEFINED,
                   .kind = (uint8_t)(head >> JOB_KIND_SHIFT),
                   .is_rejected = head & JOB_IS_REJECTED};
    switch ((FlowJobKind)job.kind) {
    case JOB_REACTION: {
        FlowReaction *reaction = snapshot_read_reaction(r);
        if (reaction) job.a = flow_from_cell(reaction);
        break;
    }
    case JOB_THENABLE:
    case JOB_THEN_GETTER: job.a = snapshot_get_kind(r, KIND_PROMISE); break;
    case JOB_CALL: job.a = snapshot_get_callable(r, false); break;
    }
    job.b = snapshot_get_value(r);
    job.c = snapshot_get_value(r);
    if (job.kind == JOB_THENABLE) {
        snapshot_require(r, flow_is_object(job.b) && flow_is_callable(job.c), "a job lacks parts");
    } else if (job.kind == JOB_THEN_GETTER) {
        snapshot_require(r, flow_is_object(job.b), "a job lacks parts");
    }
    return job;
}

static void read_jobs(SnapshotReader *r) {
    uint32_t count = snapshot_get_count(r);
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        FlowJob job = read_job(r);
        if (!snapshot_is_bad(r)) flow_queue_push(&r->vm->queue, job);
    }
}

// --- tables

static void read_registry(SnapshotReader *r) {
    uint32_t count = snapshot_get_count(r);
    if (count == 0) return;
    FlowArray *registry = flow_array_new(r->vm, 4);
    r->vm->symbols = flow_from_object(registry);
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        FlowValue symbol = snapshot_get_raw(r);
        bool is_registered =
            flow_is_symbol(symbol) && flow_as_symbol(symbol)->cell.aux & SYMBOL_REGISTERED;
        snapshot_require(r, is_registered, "the registry holds something else");
        if (is_registered && snapshot_has_room(r, 32)) flow_array_push(r->vm, registry, symbol);
    }
}

static void read_awaitables(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    uint32_t count = snapshot_get_count(r);
    if (snapshot_is_bad(r) || count == 0) return;
    vm->awaitables = mem_alloc(count * sizeof *vm->awaitables);
    vm->awaitable_capacity = count;
    uint32_t last_id = 0;
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        FlowPromise *promise = flow_as_pointer(snapshot_get_kind(r, KIND_PROMISE));
        if (snapshot_is_bad(r)) return;
        bool is_fine = promise->state == PROMISE_PENDING && promise->awaitable_id > last_id;
        snapshot_require(r, is_fine, "an awaitable is not pending");
        last_id = promise->awaitable_id;
        vm->awaitables[vm->awaitable_count++] =
            (FlowAwaitable){promise->awaitable_id, promise->await_kind, promise};
    }
}

static void read_rejected(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    uint64_t count = snapshot_get_number(r, COUNT_OF(vm->rejected));
    for (uint32_t i = 0; i < count; i++) {
        FlowPromise *promise = flow_as_pointer(snapshot_get_kind(r, KIND_PROMISE));
        if (snapshot_is_bad(r)) return;
        vm->rejected[vm->rejected_count++] = promise;
    }
}

static void read_templates(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    uint32_t count = snapshot_get_count(r);
    if (snapshot_is_bad(r) || count == 0) return;
    vm->templates = mem_alloc(count * sizeof *vm->templates);
    vm->template_capacity = count;
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        uint64_t number = snapshot_get_number(r, UINT32_MAX);
        uint64_t index = snapshot_get_number(r, UINT32_MAX);
        FlowValue object = snapshot_get_kind(r, KIND_ARRAY);
        const FlowModule *module = number & 1 ? vm->realm->prelude : vm->module;
        bool is_known = number >> 1 < module->routine_count && !(number & 1 && !r->has_prelude) &&
                        index < module->routines[number >> 1].template_count;
        snapshot_require(r, is_known, "there is no such template");
        if (snapshot_is_bad(r)) return;
        vm->templates[vm->template_count++] = (FlowTemplateObject){
            &module->routines[number >> 1], (uint32_t)index, flow_as_pointer(object)};
    }
}

// --- overrides

static FlowKey read_key(SnapshotReader *r) {
    FlowValue value = snapshot_get_value(r);
    FlowKey key = {value.bits};
    if (flow_is_string(value)) key = flow_key_string(r->vm, flow_as_string(value));
    else if (!flow_is_symbol(value)) snapshot_fail(r, "a key is no key");
    if (!snapshot_is_bad(r) && flow_key_is_index(key)) snapshot_fail(r, "a key is an index");
    return key;
}

static void remove_property(FlowObject *body, FlowKey key) {
    uint32_t slot;
    uint32_t attributes;
    if (!flow_shape_find(body->shape, key, &slot, &attributes)) return; // gone from the realm
    flow_shape_remove(body->shape, slot);
    body->slots[slot] = FLOW_UNDEFINED;
}

static void change_property(SnapshotReader *r, FlowObject *body) {
    FlowKey key = read_key(r);
    uint32_t attributes = (uint32_t)snapshot_get_number(r, 15);
    FlowValue value = snapshot_read_property(r, attributes);
    if (snapshot_is_bad(r) || !snapshot_has_room(r, 256)) return;
    uint32_t slot;
    uint32_t old;
    if (flow_shape_find(body->shape, key, &slot, &old)) {
        flow_shape_set_attributes(body->shape, slot, attributes);
        body->slots[slot] = value;
    } else {
        flow_object_add(r->vm, body, key, value, attributes);
    }
}

static void read_override(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    FlowValue original = snapshot_get_object(r);
    FlowValue proto = snapshot_get_raw(r);
    uint32_t extras = (uint32_t)snapshot_get_number(r, EXTRA_ALL & ~EXTRA_MATERIALIZED);
    if (snapshot_is_bad(r)) return;
    FlowObject *object = flow_as_object(original);
    bool is_new = object->cell.flags & CELL_SHARED && flow_object_override(vm, object) == object;
    snapshot_require(r, is_new, "what is changed is no built-in, or comes twice");
    snapshot_require(r, flow_is_object(proto) || flow_is_null(proto), "a prototype is no object");
    if (snapshot_is_bad(r) || !snapshot_has_room(r, 8192)) return;
    FlowObject *body = flow_object_writable_body(vm, object);
    flow_object_to_dictionary(vm, body);
    body->shape->proto = flow_is_null(proto) ? NULL : flow_as_object(proto);
    if (body->shape->proto && !(body->shape->proto->cell.flags & CELL_SHARED)) {
        body->shape->proto->cell.aux |= OBJECT_IS_PROTOTYPE;
    }
    uint32_t removed = snapshot_get_count(r);
    for (uint32_t i = 0; i < removed && !snapshot_is_bad(r); i++) {
        FlowKey key = read_key(r);
        if (!snapshot_is_bad(r)) remove_property(body, key);
    }
    uint32_t changed = snapshot_get_count(r);
    for (uint32_t i = 0; i < changed && !snapshot_is_bad(r); i++) change_property(r, body);
    uint32_t flags = OBJECT_NOT_EXTENSIBLE | OBJECT_ELEMENTS_SEALED | OBJECT_ELEMENTS_FROZEN |
                     OBJECT_LENGTH_READONLY;
    body->cell.aux &= ~flags;
    if (extras & EXTRA_NOT_EXTENSIBLE) body->cell.aux |= OBJECT_NOT_EXTENSIBLE;
    if (extras & EXTRA_SEALED) body->cell.aux |= OBJECT_ELEMENTS_SEALED;
    if (extras & EXTRA_FROZEN) body->cell.aux |= OBJECT_ELEMENTS_FROZEN;
    if (extras & EXTRA_LENGTH_READONLY) body->cell.aux |= OBJECT_LENGTH_READONLY;
    body->elements = NULL;
    snapshot_read_elements(r, body, extras);
    if (body->cell.kind == KIND_ARRAY) {
        const FlowStorage *dense = flow_dense(body);
        uint64_t length = snapshot_get_number(r, UINT32_MAX) + (dense ? dense->count : 0);
        bool is_fine = length <= UINT32_MAX && length >= flow_elements_end(body);
        snapshot_require(r, is_fine, "an array is shorter than its elements");
        ((FlowArray *)body)->length = (uint32_t)length;
    }
}

// --- frames

static bool is_branch(uint16_t op) { return (op >= OP_JUMP_LT && op <= OP_JUMP_STRICT_NE_INT); }

// What the instruction before the caller's pc must be for a result to decide a jump.
static bool caller_can_branch(const FlowFrame *caller) {
    if (caller->kind != FRAME_SCRIPT || caller->pc == 0) return false;
    return is_branch(caller->closure->routine->code[caller->pc - 1].op);
}

static void read_script_frame(SnapshotReader *r, FlowFrame *frame) {
    if (!flow_is_kind(frame->function, KIND_CLOSURE)) {
        snapshot_fail(r, "a frame runs no function");
        return;
    }
    frame->closure = flow_as_pointer(frame->function);
    const FlowRoutine *routine = frame->closure->routine;
    if (routine->flags & ROUTINE_PRELUDE && !r->has_prelude) {
        snapshot_fail(r, "a frame of the prelude in a snapshot without it");
        return;
    }
    frame->pc = (uint32_t)snapshot_get_number(r, routine->code_count - 1);
    if (routine->flags & ROUTINE_GENERATOR) frame->flags |= FRAME_GENERATOR; // [read-state-3]
    else if (routine->flags & ROUTINE_ASYNC) frame->flags |= FRAME_ASYNC;
}

static void read_native_frame(SnapshotReader *r, FlowFrame *frame) {
    bool is_native = flow_is_kind(frame->function, KIND_NATIVE_FUNCTION);
    snapshot_require(r, is_native, "a frame calls no native");
    frame->argument_count = (uint32_t)snapshot_get_number(r, STACK_MAX);
}

static void read_place(SnapshotReader *r, FlowFrame *frame, const FlowFrame *caller) {
    uint32_t below = caller ? caller->top : 0;
    uint32_t size = frame->kind == FRAME_NATIVE ? 1 + frame->argument_count
                                                : frame->closure->routine->register_count;
    uint64_t base = snapshot_get_number(r, STACK_MAX);
    uint64_t end = base + size;
    uint64_t top = snapshot_get_number(r, STACK_MAX) + (end > below ? end : below);
    snapshot_require(r, top <= STACK_MAX, "the stack is too deep"); // [read-state-1]
    frame->base = (uint32_t)base;
    frame->top = (uint32_t)top;
    switch ((FlowReturnKind)frame->return_kind) {
    case RETURN_STORE:
    case RETURN_NOT:
        frame->return_to = (uint32_t)snapshot_get_number(r, STACK_MAX);
        snapshot_require(r, frame->return_to < below, "a result goes nowhere");
        break;
    case RETURN_BRANCH:
        snapshot_require(r, caller && caller_can_branch(caller), "a result decides no jump");
        break;
    case RETURN_DRIVER: snapshot_require(r, !caller, "a frame returns past its caller"); break;
    case RETURN_DISCARD: break;
    }
}

static void read_frame(SnapshotReader *r, FlowFrame *frame, const FlowFrame *caller) {
    *frame = (FlowFrame){.function = FLOW_UNDEFINED, .new_target = FLOW_UNDEFINED};
    uint64_t head = snapshot_get_number(r, RETURN_DRIVER << FRAME_RETURN_SHIFT | 7);
    frame->return_kind = (uint8_t)(head >> FRAME_RETURN_SHIFT);
    frame->kind = head & FRAME_IS_NATIVE ? FRAME_NATIVE : FRAME_SCRIPT;
    frame->function = snapshot_get_object(r);
    if (snapshot_is_bad(r)) return;
    if (frame->kind == FRAME_NATIVE) read_native_frame(r, frame);
    else read_script_frame(r, frame);
    if (snapshot_is_bad(r)) return;
    read_place(r, frame, caller);
    if (head & FRAME_HAS_TARGET) {
        frame->new_target = snapshot_get_value(r);
        if (frame->kind == FRAME_SCRIPT) frame->flags |= FRAME_CONSTRUCT;
        snapshot_require(r, flow_is_object(frame->new_target), "new.target is no object");
    }
    if (head & FRAME_HAS_COROUTINE) {
        frame->coroutine = flow_as_pointer(snapshot_get_kind(r, KIND_COROUTINE));
        if (snapshot_is_bad(r)) return;
        bool is_its_own = flow_same_bits(frame->coroutine->function, frame->function) &&
                          frame->kind == FRAME_SCRIPT;
        snapshot_require(r, is_its_own, "a frame has the coroutine of another function");
        vec_push(&r->claims, (SnapshotClaim){frame->coroutine, COROUTINE_RUNNING});
    }
}

static void read_frames(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    uint32_t count = snapshot_get_count(r);
    if (snapshot_is_bad(r) || count == 0) return;
    if (count > vm->limits.call_depth) {
        r->is_over_budget = true;
        snapshot_fail(r, "it has more frames than the call depth allows");
        return;
    }
    vm->frames = mem_alloc(count * sizeof *vm->frames);
    vm->frame_capacity = count;
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        read_frame(r, &vm->frames[i], i ? &vm->frames[i - 1] : NULL);
        vm->frame_count = i + 1;
    }
    if (snapshot_is_bad(r)) return;
    uint32_t top = vm->frames[count - 1].top;
    if (top > bytes_left(&r->in) || !flow_vm_reserve_stack(vm, top)) {
        snapshot_fail(r, "the stack is cut off");
        return;
    }
    for (uint32_t i = 0; i < top; i++) vm->stack[i] = snapshot_get_register(r);
    vm->stack_top = top;
}

// --- the driver [read-state-2]

static void read_driver(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    uint64_t head = snapshot_get_number(r, DRIVER_FINISH << 1 | 1);
    vm->driver = (uint8_t)(head >> 1);
    if (head & 1) vm->driver_reaction = snapshot_read_reaction(r);
}

static bool driver_is_fine(const FlowVm *vm) {
    const FlowReaction *reaction = vm->driver_reaction;
    uint32_t kind = reaction ? reaction->cell.small : 0;
    switch ((FlowDriverKind)vm->driver) {
    case DRIVER_NONE:
    case DRIVER_FINISH: return !reaction;
    case DRIVER_START: {
        const FlowFrame *bottom = vm->frame_count ? &vm->frames[0] : NULL;
        return !reaction && bottom && bottom->kind == FRAME_SCRIPT &&
               bottom->return_kind == RETURN_DRIVER && bottom->flags & FRAME_ASYNC &&
               !bottom->coroutine;
    }
    case DRIVER_REACTION: return reaction && kind == REACTION_THEN;
    case DRIVER_FINALLY: return reaction && kind == REACTION_FINALLY_VALUE;
    case DRIVER_THENABLE:
        return reaction && kind == REACTION_RESOLVE && flow_is_cell(reaction->target);
    case DRIVER_THEN_VALUE:
        return reaction && kind == REACTION_RESOLVE && !flow_is_cell(reaction->target);
    }
    return false;
}

static FlowValue get_or_hole(SnapshotReader *r) {
    FlowValue value = snapshot_get_raw(r);
    if (flow_is_cell(value)) snapshot_fail(r, "a global is no value");
    return value;
}

void snapshot_read_roots(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    FlowValue main_promise = snapshot_get_raw(r);
    bool is_promise = flow_is_kind(main_promise, KIND_PROMISE);
    snapshot_require(r, is_promise || flow_is_null(main_promise), "the main promise is none");
    if (is_promise) vm->main_promise = flow_as_pointer(main_promise);
    read_driver(r);
    vm->exception = get_or_hole(r);
    vm->inputs = snapshot_get_value(r);
    vm->context = get_or_hole(r);
    vm->cancel_reason = snapshot_get_value(r);
    vm->result = snapshot_get_value(r);
    read_registry(r);
    read_jobs(r);
    read_awaitables(r);
    read_rejected(r);
    read_templates(r);
    uint32_t overrides = snapshot_get_count(r);
    for (uint32_t i = 0; i < overrides && !snapshot_is_bad(r); i++) read_override(r);
    read_frames(r);
    if (snapshot_is_bad(r)) return;
    snapshot_require(r, driver_is_fine(vm), "the driver waits for something else");
    snapshot_require(r, flow_is_hole(vm->exception) || vm->frame_count, "nobody can catch");
    bool is_idle = vm->state == VM_NEW || vm->state == VM_ENDED;
    snapshot_require(r, !is_idle || vm->frame_count == 0, "a run that does not run has frames");
}
