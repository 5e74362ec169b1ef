// Places: the frames of a VM from the innermost one, and what a name means in one of them.
//
// A VM that was stopped in the middle has frames; one that waits has coroutines, found from what it
// waits for: the promise of an awaitable leads to the function that awaits it, whose own promise
// leads to its caller, and so on to the top level.
//
//   [place-1] Order: frames from the top, then for each pending awaitable, by its number, the
//        functions that wait for it from the inside out; each once.
#include "flow/evaluate/internal.h"

enum { PLACES_MAX = 256, STEPS_MAX = 100000 };

typedef struct PlaceWalk {
    FlowVm *vm;
    const FlowCoroutine *seen[PLACES_MAX];
    uint32_t seen_count;
    uint32_t left;  // places to pass before the one that is wanted
    uint32_t steps; // a hostile snapshot may have circles of promises
    ExpressionPlace *ret;
    bool wants_top; // the module's top level, whatever its number
    bool is_found;
} PlaceWalk;

static void offer(PlaceWalk *walk, const ExpressionPlace *place) {
    if (walk->is_found) return;
    bool is_top = place->closure->routine->flags & ROUTINE_MODULE;
    bool is_it = walk->wants_top ? is_top : walk->left == 0;
    if (!walk->wants_top && walk->left > 0) walk->left--;
    if (!is_it) return;
    *walk->ret = *place;
    walk->is_found = true;
}

static void offer_frames(PlaceWalk *walk) {
    const FlowVm *vm = walk->vm;
    for (uint32_t i = vm->frame_count; i-- > 0;) {
        const FlowFrame *frame = &vm->frames[i];
        if (frame->kind != FRAME_SCRIPT) continue;
        const FlowRoutine *routine = frame->closure->routine;
        if (routine->flags & ROUTINE_PRELUDE) continue;
        ExpressionPlace place = {frame->closure, vm->stack + frame->base, routine->register_count,
                                 frame->pc ? frame->pc - 1 : 0};
        offer(walk, &place);
    }
}

static bool is_seen(PlaceWalk *walk, const FlowCoroutine *coroutine) {
    for (uint32_t i = 0; i < walk->seen_count; i++)
        if (walk->seen[i] == coroutine) return true;
    if (walk->seen_count == PLACES_MAX) return true;
    walk->seen[walk->seen_count++] = coroutine;
    return false;
}

static const FlowPromise *as_promise(FlowValue value) {
    return flow_is_kind(value, KIND_PROMISE) ? flow_as_pointer(value) : NULL;
}

// What settles next when a reaction has run.
static const FlowPromise *after_reaction(PlaceWalk *walk, const FlowReaction *reaction) {
    switch ((FlowReactionKind)reaction->cell.small) {
    case REACTION_AWAIT: {
        const FlowCoroutine *coroutine = flow_as_pointer(reaction->target);
        bool is_suspended = coroutine->state == COROUTINE_SUSPENDED && coroutine->registers;
        if (!is_suspended || is_seen(walk, coroutine)) return NULL;
        ExpressionPlace place = {flow_as_pointer(coroutine->function), coroutine->registers->values,
                                 coroutine->registers->count, coroutine->pc};
        offer(walk, &place);
        if (coroutine->promise) return coroutine->promise;
        return coroutine->first_request ? coroutine->first_request->promise : NULL;
    }
    case REACTION_COMBINATOR: {
        const FlowCombinator *combinator = flow_as_pointer(reaction->target);
        return as_promise(combinator->promise);
    }
    default: return as_promise(reaction->promise);
    }
}

// From the inside out: what waits for a promise before what waits for that.
static void follow(PlaceWalk *walk, const FlowPromise *promise) {
    const FlowPromise *queue[PLACES_MAX];
    uint32_t count = 0;
    queue[count++] = promise;
    for (uint32_t at = 0; at < count && !walk->is_found; at++) {
        for (const FlowReaction *r = queue[at]->first; r && !walk->is_found; r = r->next) {
            if (walk->steps++ >= STEPS_MAX) return;
            const FlowPromise *next = after_reaction(walk, r);
            if (next && count < PLACES_MAX) queue[count++] = next;
        }
    }
}

static bool walk_places(PlaceWalk *walk) {
    offer_frames(walk);
    for (uint32_t i = 0; i < walk->vm->awaitable_count && !walk->is_found; i++) {
        follow(walk, walk->vm->awaitables[i].promise);
    }
    return walk->is_found;
}

bool expression_place(FlowVm *vm, uint32_t frame, ExpressionPlace *ret) {
    PlaceWalk walk = {.vm = vm, .left = frame, .ret = ret};
    return walk_places(&walk);
}

// --- names

static bool is_ascii(Str text) {
    for (size_t i = 0; i < text.len; i++)
        if ((uint8_t)text.data[i] >= 0x80) return false;
    return true;
}

static bool is_name(FlowValue atom, Str name) {
    const FlowString *s = flow_as_string(atom);
    bool is_narrow = !flow_string_is_wide(s);
    if (is_narrow && s->cell.aux == name.len && memcmp(s->latin1, name.data, name.len) == 0) {
        return is_ascii(name);
    }
    if (is_ascii(name)) return false;
    uint16_t units[FLOW_EXPRESSION_MAX];
    size_t count = flow_wtf8_to_utf16(name, units);
    if (count != s->cell.aux) return false;
    for (size_t i = 0; i < count; i++)
        if (flow_string_at(s, (uint32_t)i) != units[i]) return false;
    return true;
}

// The place of the value: in the box, where the variable has one. NULL: neither value nor box.
static FlowValue *value_at(FlowValue *place) {
    if (!flow_is_cell(*place)) return place;
    return flow_as_cell(*place)->kind == KIND_BOX ? &flow_as_box(*place)->value : NULL;
}

// Of several variables of that name the one whose scope began last is the innermost.
static bool find_local(const ExpressionPlace *place, Str name, ExpressionBinding *ret) {
    const FlowRoutine *routine = place->closure->routine;
    const FlowLocalName *best = NULL;
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *local = &routine->variables[i];
        bool is_alive = place->pc >= local->start && place->pc < local->end;
        if (!is_alive || local->reg >= place->register_count) continue;
        bool is_inner = !best || local->start >= best->start;
        if (is_inner && is_name(local->name, name)) best = local;
    }
    if (!best) return false;
    // A place is read-only for everybody else; here nobody else has the VM.
    FlowValue *at = (FlowValue *)(uintptr_t)&place->registers[best->reg];
    *ret = (ExpressionBinding){value_at(at), best->is_settable};
    return true;
}

static bool find_captured(const ExpressionPlace *place, Str name, ExpressionBinding *ret) {
    const FlowRoutine *routine = place->closure->routine;
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        if (!is_name(routine->upvalues[i].name, name)) continue;
        FlowValue *at = (FlowValue *)(uintptr_t)&place->closure->upvalues[i];
        *ret = (ExpressionBinding){value_at(at), routine->upvalues[i].is_settable};
        return true;
    }
    return false;
}

bool expression_find(FlowVm *vm, const ExpressionPlace *place, Str name, ExpressionBinding *ret) {
    if (find_local(place, name, ret) || find_captured(place, name, ret)) return true;
    if (place->closure->routine->flags & ROUTINE_MODULE) return false;
    ExpressionPlace top;
    PlaceWalk walk = {.vm = vm, .wants_top = true, .ret = &top};
    return walk_places(&walk) && find_local(&top, name, ret);
}

bool expression_lookup(FlowVm *vm, const ExpressionPlace *place, Str name, FlowValue *ret) {
    ExpressionBinding binding;
    if (!expression_find(vm, place, name, &binding) || !binding.value) return false;
    *ret = *binding.value;
    return !flow_is_hole(*ret) && !flow_is_cell(*ret);
}
