// Frames of a move: what each register of a suspended function holds in the new code.
//
// Registers are resolved when somebody asks: those the function itself may read when it goes on
// (move_frame_fill), and those that function objects capture.
//
//   [move-frame-1] A variable keeps its value when the new code has one of that name at the
//        place.
//   [move-frame-2] One that the run has no value for gets what the new code is certain to have
//        given it by then [move-initial-1]; where that is not certain, the move is refused.
//   [move-frame-3] An operand that is pending (an iterator of a loop around the place, the left
//        side of an addition) is found by the expression that made it.
//   [move-frame-4] A variable has one box, whoever asks: it is made once per frame.
#include "flow/move/internal.h"
#include <stdarg.h>
#include <stdio.h>

const char *move_text(MoveRun *run, FlowValue name) {
    Buf text;
    buf_init(&text, 256);
    flow_string_to_utf8(NULL, flow_as_string(name), &text);
    const char *copy = arena_cstr(&run->arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

bool move_refuse(MoveRun *run, const MoveFrame *frame, const char *format, ...) {
    if (run->is_refused) return false;
    run->is_refused = true;
    char reason[DIAG_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (!frame) {
        (void)diag_set(run->diag, ERR_CONFLICT, "MOVE_REFUSED", "%s", reason);
        return false;
    }
    const FlowRoutine *routine = &run->move->from.module->routines[frame->routine];
    const FlowLine *line = flow_routine_position(routine, frame->pc);
    const char *name = move_text(run, routine->name);
    (void)diag_set(run->diag, ERR_CONFLICT, "MOVE_REFUSED", "line %u%s%s%s: %s",
                   line ? line->line : 0, *name ? " in `" : "", name, *name ? "`" : "", reason);
    return false;
}

static const FlowRoutine *old_routine(const MoveRun *run, const MoveFrame *frame) {
    return &run->move->from.module->routines[frame->routine];
}

static const FlowRoutine *new_routine(const MoveRun *run, const MoveFrame *frame) {
    return &run->move->to.module->routines[frame->new_routine];
}

// --- variables by name

static bool is_in_scope(const FlowLocalName *variable, uint32_t pc) {
    return pc >= variable->start && pc < variable->end;
}

// How many variables of a name are in scope at `pc`, and how many of them are outside `reg`.
typedef struct Named {
    uint32_t count;
    uint32_t outer;
} Named;

static Named named_in_new(const MoveRun *run, const MoveFrame *frame,
                          const FlowLocalName *variable) {
    const FlowRoutine *routine = new_routine(run, frame);
    Named named = {0, 0};
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *other = &routine->variables[i];
        if (!is_in_scope(other, frame->new_pc) || !move_name_same(other->name, variable->name))
            continue;
        named.count++;
        named.outer += other->reg < variable->reg;
    }
    return named;
}

// The old variable that is the same one; NULL: there is none. False: nobody can tell.
static bool find_counterpart(MoveRun *run, const MoveFrame *frame, const FlowLocalName *variable,
                             const FlowLocalName **ret) {
    const FlowRoutine *routine = old_routine(run, frame);
    FlowValue name = move_old_name(run->move, &run->move->to, variable->name);
    Named named = named_in_new(run, frame, variable);
    uint32_t count = 0;
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *old = &routine->variables[i];
        count += is_in_scope(old, frame->pc) && move_name_same(old->name, name);
    }
    *ret = NULL;
    if (count == 0) return true;
    if (count != named.count) {
        return move_refuse(run, frame, "there are %u variables called `%s` here, and there were %u",
                           named.count, move_text(run, variable->name), count);
    }
    for (uint32_t i = 0; i < routine->variable_count; i++) { // by nesting: registers grow inwards
        const FlowLocalName *old = &routine->variables[i];
        if (!is_in_scope(old, frame->pc) || !move_name_same(old->name, name)) continue;
        uint32_t outer = 0;
        for (uint32_t k = 0; k < routine->variable_count; k++) {
            const FlowLocalName *other = &routine->variables[k];
            outer += is_in_scope(other, frame->pc) && move_name_same(other->name, name) &&
                     other->reg < old->reg;
        }
        if (outer == named.outer) *ret = old;
    }
    return true;
}

// What an old variable holds; HOLE: nothing yet. False: the register is no such variable.
static bool old_content(const MoveRun *run, const MoveFrame *frame, const FlowLocalName *variable,
                        FlowValue *ret) {
    const FlowStorage *registers = frame->coroutine->registers;
    *ret = FLOW_HOLE;
    if (variable->reg >= registers->count) return true; // it is declared later
    FlowValue value = registers->values[variable->reg];
    bool is_box = flow_is_cell(value) && flow_as_cell(value)->kind == KIND_BOX;
    if (variable->is_box) {
        if (is_box) *ret = flow_as_box(value)->value;
        return is_box || flow_is_hole(value);
    }
    if (is_box) return false;
    MoveCode *code = move_side_code(run->move, &run->move->from, frame->routine);
    MoveDefinitions found;
    move_code_definitions(code, (MoveAt){frame->pc, variable->reg, variable->start}, &found);
    bool is_stale = variable->start > 0 && found.count &&
                    found.pcs[found.count - 1] == MOVE_ENTRY; // of an earlier round, or a temporary
    if (!is_stale) *ret = value;
    return true;
}

// --- values

static FlowValue make_function(MoveRun *run, MoveFrame *frame, uint32_t routine) {
    FlowClosure *closure = flow_closure_new(run->vm, &run->move->to.module->routines[routine]);
    for (uint32_t i = 0; i < closure->routine->upvalue_count; i++)
        closure->upvalues[i] = FLOW_UNDEFINED;
    vec_push(&run->made, (MoveMade){closure, frame});
    return flow_from_object(closure);
}

// [move-frame-2] False: not certain.
static bool initial_value(MoveRun *run, MoveFrame *frame, const MoveInitial *initial,
                          FlowValue *ret) {
    switch (initial->kind) {
    case INITIAL_HOLE: *ret = FLOW_HOLE; return true;
    case INITIAL_VALUE: *ret = initial->value; return true;
    case INITIAL_FUNCTION: {
        const FlowRoutine *made = &run->move->to.module->routines[initial->routine];
        if (made->flags & (ROUTINE_CONSTRUCTOR | ROUTINE_METHOD | ROUTINE_FIELDS)) return false;
        *ret = make_function(run, frame, initial->routine);
        return true;
    }
    case INITIAL_UNKNOWN: break;
    }
    return false;
}

static bool is_name_in_new(const MoveRun *run, const MoveFrame *frame, FlowValue old_name) {
    const FlowRoutine *routine = new_routine(run, frame);
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *variable = &routine->variables[i];
        FlowValue name = move_old_name(run->move, &run->move->to, variable->name);
        if (is_in_scope(variable, frame->new_pc) && move_name_same(name, old_name)) return true;
    }
    return false;
}

// A parameter under another name: the one in the same place, whose name is gone.
static const FlowLocalName *renamed_parameter(const MoveRun *run, const MoveFrame *frame,
                                              const FlowLocalName *variable) {
    const FlowRoutine *old = old_routine(run, frame);
    const FlowRoutine *new = new_routine(run, frame);
    if (variable->reg == 0 || variable->reg > new->parameter_count) return NULL;
    if (variable->reg > old->parameter_count) return NULL;
    const FlowLocalName *before = move_variable_at(old, frame->pc, variable->reg);
    return before && !is_name_in_new(run, frame, before->name) ? before : NULL;
}

static bool variable_content(MoveRun *run, MoveFrame *frame, const FlowLocalName *variable,
                             FlowValue *ret) {
    const FlowLocalName *old;
    const char *name = move_text(run, variable->name);
    if (!find_counterpart(run, frame, variable, &old)) return false;
    if (!old) old = renamed_parameter(run, frame, variable);
    MoveAt at = {frame->new_pc, variable->reg, variable->start};
    MoveInitial initial = move_initial(run->move, frame->new_routine, at, variable);
    if (!old) {
        if (initial_value(run, frame, &initial, ret)) return true;
        return move_refuse(run, frame,
                           "`%s` is new, and the new version has given it a value before this line",
                           name);
    }
    if (!old_content(run, frame, old, ret))
        return move_refuse(run, frame, "the snapshot does not hold `%s`", name);
    if (!flow_is_hole(*ret)) { // [move-frame-1]
        if (initial.kind != INITIAL_HOLE) return true;
        return move_refuse(run, frame, "`%s` was declared after this line in the new version",
                           name);
    }
    if (initial_value(run, frame, &initial, ret) || initial.may_be_hole) return true;
    return move_refuse(run, frame,
                       "`%s` is declared before this line in the new version, and has no value yet",
                       name);
}

static bool resolve_variable(MoveRun *run, MoveFrame *frame, const FlowLocalName *variable,
                             FlowValue *ret) {
    const FlowLocalName *old;
    if (!find_counterpart(run, frame, variable, &old)) return false;
    if (!old) old = renamed_parameter(run, frame, variable);
    FlowValue content;
    if (!variable_content(run, frame, variable, &content)) return false;
    if (!variable->is_box) {
        *ret = content;
        return true;
    }
    const FlowStorage *registers = frame->coroutine->registers;
    bool is_kept = old && old->is_box && old->reg < registers->count &&
                   flow_is_cell(registers->values[old->reg]);
    if (is_kept) {
        *ret = registers->values[old->reg];
        flow_as_box(*ret)->value = content;
    } else {
        *ret = flow_from_cell(flow_box_new(run->vm, content)); // [move-frame-4]
    }
    return true;
}

// --- operands

static bool find_operand(MoveRun *run, const MoveFrame *frame, uint32_t reg, FlowValue *ret) {
    FlowMove *move = run->move;
    uint64_t wanted = move_symbol_register(move, &move->to, frame->new_routine, frame->new_pc, reg);
    uint32_t skip = 0; // equal ones before it
    for (uint32_t i = 0; i < reg; i++) {
        if (move_variable_at(new_routine(run, frame), frame->new_pc, i)) continue;
        skip +=
            wanted == move_symbol_register(move, &move->to, frame->new_routine, frame->new_pc, i);
    }
    const FlowStorage *registers = frame->coroutine->registers;
    for (uint32_t i = 0; i < registers->count; i++) {
        if (move_variable_at(old_routine(run, frame), frame->pc, i)) continue;
        if (wanted != move_symbol_register(move, &move->from, frame->routine, frame->pc, i))
            continue;
        if (skip-- > 0) continue;
        *ret = registers->values[i];
        return true;
    }
    return false;
}

static bool resolve_operand(MoveRun *run, MoveFrame *frame, uint32_t reg, FlowValue *ret) {
    if (find_operand(run, frame, reg, ret)) return true; // [move-frame-3]
    MoveAt at = {frame->new_pc, reg, 0};
    MoveInitial initial = move_initial(run->move, frame->new_routine, at, NULL);
    if (initial_value(run, frame, &initial, ret)) return true;
    return move_refuse(run, frame,
                       "the expression or the loop around it has changed, so a value is missing "
                       "that the new version needs to go on");
}

// --- frames

bool move_frame_register(MoveRun *run, MoveFrame *frame, uint32_t reg, FlowValue *ret) {
    if (reg >= frame->count) return move_refuse(run, frame, "the new code is not consistent");
    if (!frame->is_known[reg]) {
        const FlowRoutine *routine = new_routine(run, frame);
        const FlowLocalName *variable = move_variable_at(routine, frame->new_pc, reg);
        FlowValue *value = &frame->values[reg];
        bool is_fine = variable ? resolve_variable(run, frame, variable, value)
                                : resolve_operand(run, frame, reg, value);
        if (!is_fine) return false;
        frame->is_known[reg] = 1;
    }
    *ret = frame->values[reg];
    return true;
}

bool move_frame_fill(MoveRun *run, MoveFrame *frame) {
    MoveCode *code = move_side_code(run->move, &run->move->to, frame->new_routine);
    uint32_t live = new_routine(run, frame)->code[frame->new_pc].c;
    FlowValue unused;
    for (uint32_t reg = 0; reg < live; reg++) {
        if (!move_code_is_live(code, frame->new_pc, reg)) continue;
        if (!move_frame_register(run, frame, reg, &unused)) return false;
    }
    return true;
}
