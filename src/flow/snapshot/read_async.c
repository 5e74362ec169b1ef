// Snapshot reader: promises, reactions, combinators and coroutines.
//
//   [read-async-1] A suspended coroutine stands at an instruction that suspends, and has exactly
//        the registers that instruction keeps alive.
//   [read-async-2] A reaction has what running it will use (microtask.c): kinds are checked here,
//        the state of the coroutine it resumes when everything has been read (claims,
//        snapshot/check.c).
//   [read-async-3] An async generator that is busy has the request it is busy with.
#include "flow/code/opcodes.h"
#include "flow/snapshot/internal.h"

// --- reactions

static bool is_promise(FlowValue value) {
    return flow_is_kind(value, KIND_PROMISE) && !(flow_as_cell(value)->flags & CELL_SHARED);
}

static bool is_cell_of(FlowValue value, FlowKind kind) {
    return flow_is_cell(value) && flow_as_cell(value)->kind == kind;
}

// The outcome goes to a promise of ours, to functions, or nowhere.
static bool can_deliver(const FlowReaction *reaction) {
    bool needs_promise =
        flow_is_undefined(reaction->resolve) || flow_is_undefined(reaction->reject);
    return !needs_promise || flow_is_undefined(reaction->promise) || is_promise(reaction->promise);
}

static bool reaction_is_fine(const FlowReaction *reaction) { // [read-async-2]
    switch ((FlowReactionKind)reaction->cell.small) {
    case REACTION_THEN: return can_deliver(reaction) && !flow_is_cell(reaction->target);
    case REACTION_AWAIT:
    case REACTION_GENERATOR_RETURN: return flow_is_kind(reaction->target, KIND_COROUTINE);
    case REACTION_COMBINATOR: return is_cell_of(reaction->target, KIND_COMBINATOR);
    case REACTION_FINALLY:
        return flow_is_callable(reaction->on_fulfilled) && is_promise(reaction->promise);
    case REACTION_FINALLY_VALUE:
        return is_promise(reaction->promise) && !flow_is_cell(reaction->target) &&
               flow_is_undefined(reaction->resolve) && flow_is_undefined(reaction->reject);
    case REACTION_RESOLVE:
        return is_promise(reaction->promise) &&
               (!flow_is_cell(reaction->target) || is_cell_of(reaction->target, KIND_BOX));
    case REACTION_SYNC_ITERATOR:
        return is_promise(reaction->promise) && !flow_is_cell(reaction->target);
    }
    return false;
}

static void claim(SnapshotReader *r, const FlowReaction *reaction) {
    FlowReactionKind kind = (FlowReactionKind)reaction->cell.small;
    if (kind == REACTION_AWAIT) {
        vec_push(&r->claims,
                 (SnapshotClaim){flow_as_pointer(reaction->target), COROUTINE_SUSPENDED});
    } else if (kind == REACTION_GENERATOR_RETURN) {
        vec_push(&r->claims,
                 (SnapshotClaim){flow_as_pointer(reaction->target), COROUTINE_AWAITING_RETURN});
    }
}

FlowReaction *snapshot_read_reaction(SnapshotReader *r) {
    uint64_t kind = snapshot_get_number(r, REACTION_SYNC_ITERATOR);
    uint64_t mask = snapshot_get_number(r, REACTION_ALL);
    if (!snapshot_has_room(r, sizeof(FlowReaction))) return NULL;
    FlowReaction *reaction = flow_reaction_new(r->vm, (FlowReactionKind)kind, FLOW_UNDEFINED);
    if (mask & REACTION_HAS_FULFILLED) reaction->on_fulfilled = snapshot_get_callable(r, false);
    if (mask & REACTION_HAS_REJECTED) reaction->on_rejected = snapshot_get_callable(r, false);
    if (mask & REACTION_HAS_TARGET) reaction->target = snapshot_get_raw(r);
    if (mask & REACTION_HAS_PROMISE) reaction->promise = snapshot_get_object(r);
    if (mask & REACTION_HAS_RESOLVE) reaction->resolve = snapshot_get_callable(r, false);
    if (mask & REACTION_HAS_REJECT) reaction->reject = snapshot_get_callable(r, false);
    if (mask & REACTION_HAS_INDEX) {
        reaction->cell.aux = (uint32_t)snapshot_get_number(r, UINT32_MAX - 1);
    }
    if (snapshot_is_bad(r)) return NULL;
    bool is_fine = !flow_is_hole(reaction->target) && reaction_is_fine(reaction);
    snapshot_require(r, is_fine, "a reaction has the wrong parts");
    if (snapshot_is_bad(r)) return NULL;
    claim(r, reaction);
    return reaction;
}

// --- promises

void snapshot_read_promise(SnapshotReader *r, FlowPromise *promise) {
    uint64_t head = snapshot_get_number(r, PROMISE_ALL);
    promise->state = head & PROMISE_STATE_MASK;
    promise->is_handled = (head & PROMISE_IS_HANDLED) != 0;
    promise->is_resolved = (head & PROMISE_IS_RESOLVED) != 0;
    promise->result = FLOW_UNDEFINED;
    bool is_pending = promise->state == PROMISE_PENDING;
    snapshot_require(r, promise->state <= PROMISE_REJECTED, "a promise is in no state");
    if (head & PROMISE_IS_AWAITABLE) {
        promise->awaitable_id = (uint32_t)snapshot_get_number(r, UINT32_MAX);
        promise->await_kind = (uint8_t)snapshot_get_number(r, FLOW_AWAIT_COUNT - 1);
        promise->object.cell.aux |= OBJECT_IS_HANDLE;
        bool is_known = promise->awaitable_id && promise->awaitable_id < r->vm->next_awaitable_id;
        snapshot_require(r, is_known, "an awaitable has a wrong number");
    }
    if (!is_pending) promise->result = snapshot_get_value(r);
    if (!(head & PROMISE_HAS_REACTIONS)) return;
    snapshot_require(r, is_pending, "a settled promise has reactions");
    uint32_t count = snapshot_get_count(r);
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        FlowReaction *reaction = snapshot_read_reaction(r);
        if (!reaction) return;
        if (promise->last) promise->last->next = reaction;
        else promise->first = reaction;
        promise->last = reaction;
    }
}

void snapshot_read_combinator(SnapshotReader *r, FlowCombinator *combinator) {
    combinator->cell.small = (uint8_t)snapshot_get_number(r, COMBINATOR_TASK_RACE);
    combinator->cell.aux = (uint32_t)snapshot_get_number(r, UINT32_MAX - 1);
    combinator->values = flow_as_pointer(snapshot_get_kind(r, KIND_ARRAY));
    combinator->ids = flow_as_pointer(snapshot_get_kind(r, KIND_ARRAY));
    combinator->promise = snapshot_get_object(r);
    combinator->resolve = snapshot_get_callable(r, true);
    combinator->reject = snapshot_get_callable(r, true);
    bool needs_promise =
        flow_is_undefined(combinator->resolve) || flow_is_undefined(combinator->reject);
    snapshot_require(r, !needs_promise || is_promise(combinator->promise),
                     "a combinator settles no promise");
}

// --- coroutines

FlowValue snapshot_get_register(SnapshotReader *r) {
    FlowValue value = snapshot_get_raw(r);
    if (!flow_is_cell(value) || flow_as_cell(value)->kind == KIND_BOX) return value;
    snapshot_fail(r, "a register holds a record");
    return FLOW_UNDEFINED;
}

static bool stands_right(const FlowRoutine *routine,
                         const FlowCoroutine *coroutine) { // [read-async-1]
    switch (routine->code[coroutine->pc].op) {
    case OP_AWAIT: return coroutine->state == COROUTINE_SUSPENDED;
    case OP_YIELD:
    case OP_YIELD_RESULT: return coroutine->state == COROUTINE_SUSPENDED;
    case OP_GENERATOR_START: return coroutine->state == COROUTINE_START;
    default: return false;
    }
}

static void read_registers(SnapshotReader *r, FlowCoroutine *coroutine,
                           const FlowRoutine *routine) {
    coroutine->pc = (uint32_t)snapshot_get_number(r, routine->code_count - 1);
    if (snapshot_is_bad(r)) return;
    if (!stands_right(routine, coroutine)) {
        snapshot_fail(r, "a coroutine waits at no instruction that waits");
        return;
    }
    FlowInstruction at = routine->code[coroutine->pc];
    uint32_t live = at.c;
    coroutine->is_awaiting = at.op == OP_AWAIT;
    size_t size = sizeof(FlowStorage) + live * sizeof(FlowValue);
    if (live > bytes_left(&r->in) || !snapshot_has_room(r, size)) {
        snapshot_fail(r, "registers are missing");
        return;
    }
    FlowStorage *storage = flow_heap_alloc(&r->vm->heap, KIND_ELEMENTS, size);
    storage->cell.aux = storage->count = live;
    for (uint32_t i = 0; i < live; i++) storage->values[i] = snapshot_get_register(r);
    coroutine->registers = storage;
}

static void read_requests(SnapshotReader *r, FlowCoroutine *coroutine) {
    uint32_t count = snapshot_get_count(r);
    for (uint32_t i = 0; i < count && !snapshot_is_bad(r); i++) {
        if (!snapshot_has_room(r, sizeof(FlowRequest))) return;
        FlowRequest *request = flow_heap_alloc(&r->vm->heap, KIND_REQUEST, sizeof *request);
        request->cell.small = (uint8_t)snapshot_get_number(r, RESUME_RETURN);
        request->value = snapshot_get_value(r);
        request->promise = flow_as_pointer(snapshot_get_kind(r, KIND_PROMISE));
        if (coroutine->last_request) coroutine->last_request->next = request;
        else coroutine->first_request = request;
        coroutine->last_request = request;
    }
}

static bool parts_fit(const FlowCoroutine *coroutine, uint32_t flags) {
    bool is_generator = flags & ROUTINE_GENERATOR;
    bool is_async = flags & ROUTINE_ASYNC;
    if (!is_generator) {
        return is_async && coroutine->promise && !coroutine->first_request &&
               coroutine->state != COROUTINE_START && coroutine->state != COROUTINE_AWAITING_RETURN;
    }
    if (coroutine->promise) return false;
    if (!is_async) {
        return !coroutine->first_request && coroutine->state != COROUTINE_AWAITING_RETURN;
    }
    bool is_busy = coroutine->state == COROUTINE_RUNNING || coroutine->is_awaiting ||
                   coroutine->state == COROUTINE_AWAITING_RETURN;
    return !is_busy || coroutine->first_request; // [read-async-3]
}

void snapshot_read_coroutine(SnapshotReader *r, FlowCoroutine *coroutine) {
    uint64_t head = snapshot_get_number(r, COROUTINE_ALL);
    coroutine->state = head & COROUTINE_STATE_MASK;
    coroutine->has_returned_promise = (head & COROUTINE_HAS_RETURNED) != 0;
    coroutine->new_target = FLOW_UNDEFINED;
    coroutine->function = snapshot_get_kind(r, KIND_CLOSURE);
    snapshot_require(r, coroutine->state <= COROUTINE_AWAITING_RETURN, "a coroutine has no state");
    if (snapshot_is_bad(r)) return;
    const FlowRoutine *routine = ((FlowClosure *)flow_as_pointer(coroutine->function))->routine;
    bool is_suspended =
        coroutine->state == COROUTINE_START || coroutine->state == COROUTINE_SUSPENDED;
    if (is_suspended) read_registers(r, coroutine, routine);
    if (head & COROUTINE_HAS_PROMISE) {
        coroutine->promise = flow_as_pointer(snapshot_get_kind(r, KIND_PROMISE));
    }
    if (head & COROUTINE_HAS_REQUESTS) read_requests(r, coroutine);
    if (snapshot_is_bad(r)) return;
    snapshot_require(r, parts_fit(coroutine, routine->flags), "a coroutine has the wrong parts");
}
