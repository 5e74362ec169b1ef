// Code of a move: which registers an instruction reads and writes, what is alive at a place, and
// which instructions gave a register what it holds there.
//
//   [move-code-1] Reads are never missed and writes are never invented: what is called dead is
//        not read on any path, whatever the conditions of jumps say.
//   [move-code-2] A call leaves nothing above its block (code.h [code-4]): it writes all of it.
//   [move-code-3] Instructions that advance an iterator change its record but do not make it: the
//        record comes from the instruction that got the iterator.
//   [move-code-4] Every instruction that a handler covers may jump to it before it has written.
#include "flow/move/internal.h"

static MoveBlock read_block(const FlowInstruction *in, uint16_t op) {
    switch (op) {
    case OP_CALL:
    case OP_NEW:
    case OP_INTRINSIC: return (MoveBlock){in->a, 2u + in->b};
    case OP_CALL_SPREAD:
    case OP_NEW_SPREAD: return (MoveBlock){in->a, 3};
    case OP_CONCAT: return (MoveBlock){in->b, in->c};
    case OP_GET_SUPER:
    case OP_SET_SUPER:
    case OP_ITER_GET_METHOD: return (MoveBlock){in->b, 3};
    case OP_NEW_CLASS:
    case OP_INIT_FIELDS:
    case OP_RESUME:
    case OP_ITER_CALL_NEXT: return (MoveBlock){in->a, 2};
    case OP_ITER_START:
    case OP_ITER_NEXT:
    case OP_ITER_VALUE:
    case OP_ITER_STEP:
    case OP_ITER_STEP_VALUE:
    case OP_ITER_REST:
    case OP_ITER_CLOSE:
    case OP_ITER_CLOSE_SILENT:
    case OP_FOR_IN_NEXT: return (MoveBlock){in->a, 3};
    default: return (MoveBlock){0, 0};
    }
}

MoveBlock move_code_block(const FlowRoutine *routine, uint32_t pc) {
    const FlowInstruction *in = &routine->code[pc];
    return read_block(in, flow_op_base(in->op));
}

static MoveBlock written_block(const FlowInstruction *in, uint16_t op) {
    switch (op) {
    case OP_CALL:
    case OP_CALL_SPREAD:
    case OP_NEW:
    case OP_NEW_SPREAD:
    case OP_INTRINSIC: return (MoveBlock){in->a, UINT16_MAX}; // [move-code-2]
    case OP_NEW_CLASS:
    case OP_YIELD:
    case OP_YIELD_RESULT: return (MoveBlock){in->a, 2};
    case OP_ITER_CALL_NEXT: return (MoveBlock){in->a + 2u, 1};
    case OP_GET_ITERATOR:
    case OP_GET_ASYNC_ITERATOR:
    case OP_FOR_IN_START: return (MoveBlock){in->a, 3};
    default: return (MoveBlock){0, 0};
    }
}

static bool holds(MoveBlock block, uint32_t reg) {
    return reg >= block.first && reg - block.first < block.count;
}

static bool captures(const FlowRoutine *routine, const FlowInstruction *in, uint32_t reg) {
    const FlowRoutine *made = &routine->module->routines[in->wide];
    for (uint32_t i = 0; i < made->upvalue_count; i++)
        if (made->upvalues[i].is_local && made->upvalues[i].index == reg) return true;
    return false;
}

static bool operand_reads(FlowOperand kind) { return kind == OPERAND_IN || kind == OPERAND_INOUT; }

bool move_code_reads(const FlowRoutine *routine, uint32_t pc, uint32_t reg) {
    const FlowInstruction *in = &routine->code[pc];
    uint16_t op = flow_op_base(in->op);
    const FlowOpInfo *info = &flow_op_info[op];
    if (operand_reads(info->a) && in->a == reg) return true;
    if (operand_reads(info->b) && in->b == reg) return true;
    if (operand_reads(info->c) && in->c == reg) return true;
    if (op == OP_CLOSURE) return captures(routine, in, reg);
    return holds(read_block(in, op), reg);
}

static bool operand_writes(FlowOperand kind) {
    return kind == OPERAND_OUT || kind == OPERAND_INOUT;
}

static bool code_writes(const FlowRoutine *routine, uint32_t pc, uint32_t reg) {
    const FlowInstruction *in = &routine->code[pc];
    uint16_t op = flow_op_base(in->op);
    const FlowOpInfo *info = &flow_op_info[op];
    if (operand_writes(info->a) && in->a == reg) return true;
    bool is_wide = info->b >= OPERAND_W_JUMP;
    if (!is_wide && operand_writes(info->b) && in->b == reg) return true;
    if (!is_wide && operand_writes(info->c) && in->c == reg) return true;
    return holds(written_block(in, op), reg);
}

// --- where code goes

static bool jump_target(const FlowRoutine *routine, uint32_t pc, uint32_t *ret_target) {
    const FlowInstruction *in = &routine->code[pc];
    const FlowOpInfo *info = &flow_op_info[flow_op_base(in->op)];
    if (info->b == OPERAND_W_JUMP) {
        *ret_target = (uint32_t)((int64_t)pc + 1 + in->wide);
        return true;
    }
    if (info->b < OPERAND_W_JUMP && info->c == OPERAND_NEAR) {
        *ret_target = (uint32_t)((int64_t)pc + 1 + (int16_t)in->c);
        return true;
    }
    return false;
}

static bool falls_through(const FlowRoutine *routine, uint32_t pc) {
    switch (flow_op_base(routine->code[pc].op)) {
    case OP_JUMP:
    case OP_RETURN:
    case OP_RETURN_UNDEFINED:
    case OP_RETURN_DERIVED:
    case OP_THROW:
    case OP_THROW_ERROR:
    case OP_THROW_CONST_ASSIGN: return false;
    default: return pc + 1 < routine->code_count;
    }
}

MoveCode *move_code_new(Arena *arena, const FlowRoutine *routine) {
    MoveCode *code = ARENA_NEW(arena, MoveCode);
    uint32_t count = routine->code_count;
    code->routine = routine;
    code->first = ARENA_ARRAY(arena, uint32_t, count + 2);
    code->visited = ARENA_ARRAY(arena, uint32_t, count + 1);
    code->stack = ARENA_ARRAY(arena, uint32_t, count + 1);
    uint32_t target;
    uint32_t jumps = 0;
    for (uint32_t pc = 0; pc < count; pc++) {
        if (!jump_target(routine, pc, &target)) continue;
        code->first[target + 1]++;
        jumps++;
    }
    for (uint32_t pc = 0; pc < count; pc++) code->first[pc + 1] += code->first[pc];
    code->sources = ARENA_ARRAY(arena, uint32_t, jumps + 1);
    uint32_t *filled = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t pc = 0; pc < count; pc++) {
        if (!jump_target(routine, pc, &target)) continue;
        code->sources[code->first[target] + filled[target]++] = pc;
    }
    return code;
}

bool move_code_is_in_loop(const MoveCode *code, uint32_t pc) {
    uint32_t target;
    for (uint32_t from = pc; from < code->routine->code_count; from++)
        if (jump_target(code->routine, from, &target) && target <= pc) return true;
    return false;
}

// --- walks: each sees a pc at most once, so the stack never holds more than there are

static void walk_begin(MoveCode *code) { code->walk++; }

static void walk_push(MoveCode *code, uint32_t *depth, uint32_t pc) {
    if (code->visited[pc] == code->walk) return;
    code->visited[pc] = code->walk;
    code->stack[(*depth)++] = pc;
}

static void push_handler(MoveCode *code, uint32_t *depth, uint32_t pc, uint32_t reg) {
    const FlowHandler *handler = flow_routine_handler(code->routine, pc); // [move-code-4]
    if (handler && handler->reg != reg) walk_push(code, depth, handler->target);
}

bool move_code_is_live(MoveCode *code, uint32_t pc, uint32_t reg) {
    const FlowRoutine *routine = code->routine;
    uint32_t depth = 0;
    uint32_t target;
    walk_begin(code);
    push_handler(code, &depth, pc, reg);
    if (!code_writes(routine, pc, reg)) walk_push(code, &depth, pc + 1);
    while (depth) {
        uint32_t at = code->stack[--depth];
        if (move_code_reads(routine, at, reg)) return true; // [move-code-1]
        push_handler(code, &depth, at, reg);
        if (code_writes(routine, at, reg)) continue;
        if (falls_through(routine, at)) walk_push(code, &depth, at + 1);
        if (jump_target(routine, at, &target)) walk_push(code, &depth, target);
    }
    return false;
}

static void add_definition(MoveDefinitions *set, uint32_t pc) {
    for (uint32_t i = 0; i < set->count; i++)
        if (set->pcs[i] == pc) return;
    if (set->count == MOVE_DEFINITIONS_MAX) {
        set->is_too_many = true;
        return;
    }
    uint32_t at = set->count++;
    for (; at > 0 && set->pcs[at - 1] > pc; at--) set->pcs[at] = set->pcs[at - 1];
    set->pcs[at] = pc;
}

// What the search for definitions stops at.
typedef bool (*IsDefinition)(const FlowRoutine *routine, uint32_t pc, uint32_t reg);

static bool defines_box(const FlowRoutine *routine, uint32_t pc, uint32_t reg) {
    const FlowInstruction *in = &routine->code[pc];
    switch (flow_op_base(in->op)) {
    case OP_SET_BOX:
    case OP_SET_BOX_CHECKED: return in->a == reg;
    case OP_COPY_BOX: return false; // the content stays
    default: return code_writes(routine, pc, reg);
    }
}

typedef struct Search {
    MoveCode *code;
    IsDefinition defines;
    uint32_t reg;
    uint32_t floor; // what is before it does not count
    uint32_t depth;
    MoveDefinitions *found;
} Search;

// An instruction from which `pc` is reached: its own definition, or whatever came before it.
static void search_from(Search *search, uint32_t pc, bool may_not_have_written) {
    bool is_definition = search->defines(search->code->routine, pc, search->reg);
    if (is_definition) add_definition(search->found, pc);
    if (!is_definition || may_not_have_written) {
        walk_push(search->code, &search->depth, pc);
    }
}

static void search_handlers(Search *search, uint32_t at) {
    const FlowRoutine *routine = search->code->routine;
    for (uint32_t i = 0; i < routine->handler_count; i++) {
        const FlowHandler *handler = &routine->handlers[i];
        if (handler->target != at) continue;
        if (handler->reg == search->reg) {
            add_definition(search->found, MOVE_CAUGHT | at);
            continue;
        }
        for (uint32_t pc = handler->start; pc < handler->end; pc++)
            search_from(search, pc, true); // [move-code-4]
    }
}

static void search_definitions(MoveCode *code, MoveAt at_place, IsDefinition defines,
                               MoveDefinitions *ret) {
    *ret = (MoveDefinitions){.count = 0};
    uint32_t pc = at_place.pc;
    Search search = {.code = code,
                     .defines = defines,
                     .reg = at_place.reg,
                     .floor = at_place.floor,
                     .found = ret};
    walk_begin(code);
    walk_push(code, &search.depth, pc);
    while (search.depth && !ret->is_too_many) {
        uint32_t at = code->stack[--search.depth];
        if (at == search.floor) {
            add_definition(ret, MOVE_ENTRY);
            continue;
        }
        if (at > 0 && falls_through(code->routine, at - 1)) search_from(&search, at - 1, false);
        for (uint32_t i = code->first[at]; i < code->first[at + 1]; i++)
            search_from(&search, code->sources[i], false);
        search_handlers(&search, at);
    }
}

void move_code_definitions(MoveCode *code, MoveAt at, MoveDefinitions *ret) {
    search_definitions(code, at, code_writes, ret);
}

void move_code_contents(MoveCode *code, MoveAt at, MoveDefinitions *ret) {
    search_definitions(code, at, defines_box, ret);
}
