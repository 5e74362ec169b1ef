// Initial values of a move: what the new code is certain to have put into a register by the time it
// stands at a place, for variables and operands that the run has no value for.
//
//   [move-initial-1] Certain means one definition on every way to the place, and that one a
//        literal, a function, or none at all (a variable before its declaration).
//   [move-initial-2] A variable that some function assigns to from outside is never certain.
#include "flow/move/internal.h"

enum { STEPS_MAX = 8 }; // from copy to copy

MoveOrigin move_origin(const MoveSide *side, uint32_t routine, uint32_t upvalue) {
    uint32_t at = routine;
    uint32_t index = upvalue;
    for (;;) {
        uint32_t parent = side->routines[at].parent;
        const FlowUpvalue *captured = &side->module->routines[at].upvalues[index];
        if (parent == MOVE_NONE) return (MoveOrigin){MOVE_NONE, 0, 0};
        if (captured->is_local)
            return (MoveOrigin){parent, captured->index, side->routines[at].made_at};
        index = captured->index;
        at = parent;
    }
}

static bool is_set_outside(const MoveSide *side, uint32_t routine,
                           uint32_t reg) { // [move-initial-2]
    const FlowModule *module = side->module;
    for (uint32_t i = 0; i < module->routine_count; i++) {
        const FlowRoutine *other = &module->routines[i];
        for (uint32_t pc = 0; pc < other->code_count && other->upvalue_count; pc++) {
            uint16_t op = flow_op_base(other->code[pc].op);
            if (op != OP_SET_UPVALUE && op != OP_SET_UPVALUE_CHECKED) continue;
            MoveOrigin origin = move_origin(side, i, (uint32_t)other->code[pc].wide);
            if (origin.routine == routine && origin.reg == reg) return true;
        }
    }
    return false;
}

static MoveInitial of_value(FlowValue value) {
    return (MoveInitial){.kind = INITIAL_VALUE, .value = value};
}

static MoveInitial hole(void) { return (MoveInitial){.kind = INITIAL_HOLE, .value = FLOW_HOLE}; }

static MoveInitial unknown(void) { return (MoveInitial){.kind = INITIAL_UNKNOWN}; }

static MoveInitial of_constant(FlowValue value) {
    return flow_is_string(value) || flow_is_number(value) ? of_value(value) : unknown();
}

static bool has_entry(const MoveDefinitions *found) {
    return found->count && found->pcs[found->count - 1] == MOVE_ENTRY;
}

// Whether the call that began the function filled the register.
static bool is_argument(const FlowRoutine *routine, MoveAt at) {
    uint32_t count = 1u + routine->parameter_count;
    if (routine->flags & ROUTINE_HAS_REST) count++;
    if (routine->flags & ROUTINE_HAS_ARGUMENTS) count++;
    return at.floor == 0 && at.reg < count;
}

// The only definition in `ret_pc`; otherwise the answer is in `ret`.
static bool one_definition(const FlowRoutine *routine, MoveAt at, const MoveDefinitions *found,
                           uint32_t *ret_pc, MoveInitial *ret) {
    *ret = unknown();
    bool is_one = found->count == 1 && !found->is_too_many;
    if (is_one && has_entry(found)) {
        *ret = is_argument(routine, at) ? unknown() : hole();
        return false;
    }
    ret->may_be_hole = has_entry(found) && !is_argument(routine, at);
    for (uint32_t i = 0; i < found->count; i++) {
        uint32_t pc = found->pcs[i];
        if (pc == MOVE_ENTRY || pc & MOVE_CAUGHT) continue;
        uint16_t op = flow_op_base(routine->code[pc].op);
        if (op == OP_LOAD_HOLE || op == OP_NEW_BOX) ret->may_be_hole = true;
    }
    if (!is_one || found->pcs[0] & MOVE_CAUGHT) return false;
    *ret_pc = found->pcs[0];
    return true;
}

// What the instruction at `pc` leaves in its result; a copy goes on in `at`.
static bool is_copy(const FlowRoutine *routine, uint32_t pc, MoveAt *at, MoveInitial *ret) {
    const FlowInstruction *in = &routine->code[pc];
    switch (flow_op_base(in->op)) {
    case OP_LOAD_UNDEFINED: *ret = of_value(FLOW_UNDEFINED); return false;
    case OP_LOAD_NULL: *ret = of_value(FLOW_NULL); return false;
    case OP_LOAD_TRUE: *ret = of_value(FLOW_TRUE); return false;
    case OP_LOAD_FALSE: *ret = of_value(FLOW_FALSE); return false;
    case OP_LOAD_INT: *ret = of_value(flow_int(in->wide)); return false;
    case OP_LOAD_CONST: *ret = of_constant(routine->constants[in->wide]); return false;
    case OP_LOAD_HOLE:
    case OP_NEW_BOX: *ret = hole(); return false;
    case OP_CLOSURE:
        *ret = (MoveInitial){.kind = INITIAL_FUNCTION, .routine = (uint32_t)in->wide};
        return false;
    case OP_MOVE:
    case OP_NEW_BOX_VALUE: *at = (MoveAt){pc, in->b, at->floor}; return true;
    case OP_SET_BOX:
    case OP_SET_BOX_CHECKED: *at = (MoveAt){pc, in->b, 0}; return true;
    default: *ret = unknown(); return false;
    }
}

MoveInitial move_initial(FlowMove *move, uint32_t routine, MoveAt at,
                         const FlowLocalName *variable) {
    const FlowRoutine *code = &move->to.module->routines[routine];
    MoveCode *moves = move_side_code(move, &move->to, routine);
    MoveDefinitions found;
    MoveInitial initial;
    uint32_t pc = 0;
    bool is_boxed = variable && variable->is_box;
    if (is_boxed) move_code_contents(moves, at, &found);
    else move_code_definitions(moves, at, &found);
    bool is_open = one_definition(code, at, &found, &pc, &initial);
    for (uint32_t i = 0; is_open && i < STEPS_MAX; i++) {
        if (!is_copy(code, pc, &at, &initial)) break;
        initial = unknown();
        const FlowLocalName *source = move_variable_at(code, at.pc, at.reg);
        if (source && source != variable) break; // another variable: it may have changed since
        move_code_definitions(moves, at, &found);
        is_open = one_definition(code, at, &found, &pc, &initial);
    }
    bool is_shared = is_boxed && initial.kind != INITIAL_HOLE;
    if (is_shared && is_set_outside(&move->to, routine, variable->reg)) return unknown();
    return initial;
}
