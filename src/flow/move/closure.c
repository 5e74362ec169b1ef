// Function objects of a move: the variables they capture in the new code.
//
//   [move-closure-1] A captured variable is the same one when it belongs to the same function and
//        has the same name; several of one name in a function are told apart by order.
//   [move-closure-2] What a function object did not capture before can be taken from the call
//        that made it, when it is certain which one that is: the top level, the workflow itself,
//        or a call that shares a box with it.
#include "flow/move/internal.h"

static const FlowLocalName *captured_variable(const MoveSide *side, MoveOrigin origin) {
    return move_variable_at(&side->module->routines[origin.routine], origin.made_at, origin.reg);
}

// Which of the variables of its name a variable is, counted through the function.
static uint32_t ordinal(const FlowRoutine *routine, const FlowLocalName *variable,
                        uint32_t *ret_count) {
    uint32_t before = 0;
    *ret_count = 0;
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *other = &routine->variables[i];
        if (!move_name_same(other->name, variable->name)) continue;
        if (other < variable) before++;
        ++*ret_count;
    }
    return before;
}

static bool is_same_variable(FlowMove *move, MoveOrigin old, MoveOrigin new) { // [move-closure-1]
    if (old.routine == MOVE_NONE || new.routine == MOVE_NONE) return false;
    if (move->from.routines[old.routine].other != new.routine) return false;
    const FlowLocalName *a = captured_variable(&move->from, old);
    const FlowLocalName *b = captured_variable(&move->to, new);
    if (!a || !b) { // this, new.target and their kin
        if (a || b) return false;
        return move_symbol_register(move, &move->from, old.routine, old.made_at, old.reg) ==
               move_symbol_register(move, &move->to, new.routine, new.made_at, new.reg);
    }
    if (!move_name_same(a->name, move_old_name(move, &move->to, b->name))) return false;
    uint32_t counts[2];
    uint32_t at = ordinal(&move->from.module->routines[old.routine], a, &counts[0]);
    uint32_t there = ordinal(&move->to.module->routines[new.routine], b, &counts[1]);
    return at == there && counts[0] == counts[1];
}

// --- the call that made a function object [move-closure-2]

static bool shares_box(const MoveRun *run, const FlowClosure *closure, const MoveFrame *frame) {
    const FlowStorage *registers = frame->coroutine->registers;
    const FlowRoutine *routine = closure->routine;
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        MoveOrigin origin = move_origin(&run->move->from, routine->index, i);
        if (!routine->upvalues[i].is_box || origin.routine != frame->routine) continue;
        const FlowLocalName *variable = captured_variable(&run->move->from, origin);
        if (!variable || variable->start > 0 || origin.reg >= registers->count) continue;
        if (flow_same_bits(registers->values[origin.reg], closure->upvalues[i])) return true;
    }
    return false;
}

// A function of the top level that nobody but the start of the run can call.
static bool is_entry(const MoveSide *side, uint32_t routine) {
    const MoveRoutine *at = &side->routines[routine];
    if (at->parent != 0) return false;
    const FlowRoutine *top = &side->module->routines[0];
    uint32_t reg = top->code[at->made_at].a;
    if (!move_variable_at(top, at->made_at, reg)) return false;
    for (uint32_t i = 0; i < side->module->routine_count; i++) {
        const FlowRoutine *other = &side->module->routines[i];
        for (uint32_t k = 0; k < other->upvalue_count; k++) {
            MoveOrigin origin = move_origin(side, i, k);
            if (origin.routine == 0 && origin.reg == reg) return false;
        }
    }
    uint32_t reads = 0;
    for (uint32_t pc = 0; pc < top->code_count; pc++) reads += move_code_reads(top, pc, reg);
    return reads == 1;
}

static MoveFrame *maker_of(const MoveRun *run, const FlowClosure *closure, uint32_t new_routine) {
    uint32_t routine = run->move->to.routines[new_routine].other;
    MoveFrame *only = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < run->frames.count; i++) {
        MoveFrame *frame = run->frames.data[i];
        if (frame->routine != routine) continue;
        if (routine == 0 || shares_box(run, closure, frame)) return frame;
        only = frame;
        count++;
    }
    return count == 1 && is_entry(&run->move->from, routine) ? only : NULL;
}

static bool take_from_maker(MoveRun *run, const FlowClosure *closure, uint32_t upvalue,
                            FlowValue *ret) {
    FlowMove *move = run->move;
    uint32_t routine = move->from.routines[closure->routine->index].other;
    const FlowUpvalue *wanted = &move->to.module->routines[routine].upvalues[upvalue];
    const char *name = move_text(run, wanted->name);
    const char *function = move_text(run, closure->routine->name);
    MoveOrigin origin = move_origin(&move->to, routine, upvalue);
    MoveFrame *frame = origin.routine == MOVE_NONE ? NULL : maker_of(run, closure, origin.routine);
    const FlowLocalName *variable = frame ? captured_variable(&move->to, origin) : NULL;
    bool is_there =
        variable && variable == move_variable_at(&move->to.module->routines[origin.routine],
                                                 frame->new_pc, origin.reg);
    bool is_one =
        is_there &&
        !(variable->start > 0 &&
          move_code_is_in_loop(move_side_code(move, &move->to, origin.routine), variable->start));
    if (!is_one) {
        return move_refuse(run, NULL,
                           "`%s` uses `%s` differently in the new version, and a function that "
                           "exists already cannot be given it",
                           *function ? function : "a function", name);
    }
    return move_frame_register(run, frame, origin.reg, ret);
}

// --- filling

static bool fill_one(MoveRun *run, const FlowClosure *closure, uint32_t upvalue, FlowValue *ret) {
    FlowMove *move = run->move;
    const FlowRoutine *old = closure->routine;
    uint32_t routine = move->from.routines[old->index].other;
    const FlowUpvalue *wanted = &move->to.module->routines[routine].upvalues[upvalue];
    MoveOrigin origin = move_origin(&move->to, routine, upvalue);
    for (uint32_t i = 0; i < old->upvalue_count; i++) {
        if (!is_same_variable(move, move_origin(&move->from, old->index, i), origin)) continue;
        FlowValue value = closure->upvalues[i];
        bool is_box = old->upvalues[i].is_box;
        if (is_box == wanted->is_box) {
            *ret = value;
            return true;
        }
        if (!is_box) break; // its box is with who made it
        *ret = flow_as_box(value)->value;
        if (!flow_is_hole(*ret)) return true;
        return move_refuse(run, NULL, "`%s` has no value yet, and the new version relies on it",
                           move_text(run, wanted->name));
    }
    return take_from_maker(run, closure, upvalue, ret);
}

static bool fits(MoveRun *run, const FlowUpvalue *upvalue, FlowValue value) {
    if (flow_is_cell(value) == (upvalue->is_box != 0)) return true;
    return move_refuse(run, NULL, "`%s` is kept differently in the new version",
                       move_text(run, upvalue->name));
}

bool move_closure_fill(MoveRun *run, MoveClosure *closure) {
    uint32_t index = run->move->from.routines[closure->closure->routine->index].other;
    const FlowRoutine *routine = &run->move->to.module->routines[index];
    closure->upvalues = ARENA_ARRAY(&run->arena, FlowValue, routine->upvalue_count + 1u);
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        if (!fill_one(run, closure->closure, i, &closure->upvalues[i])) return false;
        if (!fits(run, &routine->upvalues[i], closure->upvalues[i])) return false;
    }
    return true;
}

static const MoveClosure *find_closure(const MoveRun *run, const FlowClosure *closure) {
    for (size_t i = 0; i < run->closures.count; i++)
        if (run->closures.data[i].closure == closure) return &run->closures.data[i];
    return NULL;
}

bool move_made_fill(MoveRun *run, const MoveMade *made) {
    const FlowRoutine *routine = made->closure->routine;
    const MoveClosure *maker = find_closure(run, flow_as_pointer(made->frame->coroutine->function));
    if (run->move->to.routines[routine->index].parent != made->frame->new_routine || !maker)
        return move_refuse(run, made->frame, "`%s` is made elsewhere in the new version",
                           move_text(run, routine->name));
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        const FlowUpvalue *upvalue = &routine->upvalues[i];
        FlowValue *value = &made->closure->upvalues[i];
        if (!upvalue->is_local) *value = maker->upvalues[upvalue->index];
        else if (!move_frame_register(run, made->frame, upvalue->index, value)) return false;
        if (!fits(run, upvalue, *value)) return false;
    }
    return true;
}
