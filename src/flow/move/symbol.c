// Symbols of a move: an expression of the bytecode as a number that is the same in both versions
// when the expression is the same, whatever registers, lines and constants tables they use.
//
//   [move-symbol-1] Variables count by name, constants and property names by content, functions
//        by their kind: what a function does inside does not change the expression it is part of.
//   [move-symbol-2] A renamed function counts under its old name.
//   [move-symbol-3] The work is bounded: below MOVE_DEPTH_MAX, and after MOVE_PARTS_MAX parts of
//        one expression, everything is equal.
#include "base/containers/hash.h"
#include "flow/move/internal.h"

typedef struct Symbols {
    FlowMove *move;
    MoveSide *side;
    MoveCode *code;
    const FlowRoutine *routine;
    uint32_t *left; // parts that are still looked at
} Symbols;

static uint64_t mix(uint64_t hash, uint64_t value) {
    return hash_u64(hash * 31 + hash_u64(value + 1));
}

static uint64_t text_hash(FlowValue text) {
    const FlowString *s = flow_as_string(text);
    size_t length = flow_string_length(s);
    return flow_string_is_wide(s) ? hash_bytes(s->wide, length * 2) : hash_bytes(s->latin1, length);
}

static uint64_t constant_hash(FlowValue value) {
    if (flow_is_string(value)) return mix(1, text_hash(value));
    if (!flow_is_bigint(value)) return mix(2, value.bits);
    const FlowBigInt *bigint = flow_as_bigint(value);
    return mix(3, hash_bytes(bigint->digits, (size_t)bigint->cell.aux * sizeof(uint32_t)));
}

static uint64_t variable_hash(const Symbols *s, FlowValue name) { // [move-symbol-2]
    return mix(4, text_hash(move_old_name(s->move, s->side, name)));
}

static uint64_t symbol_of(const Symbols *s, uint32_t pc, uint32_t reg, uint32_t depth);

// Elements and properties that were put into the literal made at `from`, up to its use at `to`.
static uint64_t literal_hash(const Symbols *s, uint32_t from, uint32_t to, uint32_t depth) {
    const FlowInstruction *code = s->routine->code;
    uint32_t reg = code[from].a;
    uint64_t hash = 5;
    for (uint32_t pc = from + 1; pc < to; pc++) {
        switch (flow_op_base(code[pc].op)) {
        case OP_INIT_FIELD:
            if (code[pc].a != reg) break;
            hash = mix(hash, text_hash(s->routine->sites[code[pc].c].key));
            hash = mix(hash, symbol_of(s, pc, code[pc].b, depth));
            break;
        case OP_INIT_ELEMENT:
            if (code[pc].a != reg) break;
            hash = mix(hash, symbol_of(s, pc, code[pc].b, depth));
            hash = mix(hash, symbol_of(s, pc, code[pc].c, depth));
            break;
        case OP_ARRAY_PUSH:
        case OP_ARRAY_SPREAD:
        case OP_COPY_PROPERTIES:
            if (code[pc].a == reg) hash = mix(hash, symbol_of(s, pc, code[pc].b, depth));
            break;
        default: break;
        }
    }
    return hash;
}

static uint64_t operand_hash(const Symbols *s, uint32_t pc, uint32_t which, uint32_t depth) {
    const FlowRoutine *routine = s->routine;
    const FlowInstruction *in = &routine->code[pc];
    const FlowOpInfo *info = &flow_op_info[flow_op_base(in->op)];
    FlowOperand kinds[3] = {info->a, info->b, info->c};
    uint16_t values[3] = {in->a, in->b, in->c};
    switch (kinds[which]) {
    case OPERAND_IN:
    case OPERAND_INOUT: return symbol_of(s, pc, values[which], depth);
    case OPERAND_SITE: return mix(6, text_hash(routine->sites[values[which]].key));
    case OPERAND_CONST: return constant_hash(routine->constants[values[which]]);
    case OPERAND_W_CONST: return constant_hash(routine->constants[in->wide]);
    case OPERAND_W_UPVALUE: return variable_hash(s, routine->upvalues[in->wide].name);
    case OPERAND_W_FUNCTION: // [move-symbol-1]
        return mix(7, routine->module->routines[in->wide].flags);
    case OPERAND_W_TEMPLATE: return mix(8, routine->templates[in->wide].count);
    case OPERAND_W_INT:
    case OPERAND_W_COUNT: return mix(9, (uint64_t)(uint32_t)in->wide);
    case OPERAND_COUNT:
    case OPERAND_IMM:
    case OPERAND_ID: return mix(10, values[which]);
    default: return 0; // results, jumps, blocks
    }
}

static uint64_t result_hash(const Symbols *s, uint32_t pc, uint32_t reg, uint32_t depth) {
    const FlowInstruction *in = &s->routine->code[pc];
    uint16_t op = flow_op_base(in->op);
    switch (op) {
    case OP_MOVE: return symbol_of(s, pc, in->b, depth);
    case OP_GET_BOX:
    case OP_GET_BOX_CHECKED: return symbol_of(s, pc, in->b, depth);
    case OP_GET_UPVALUE:
    case OP_GET_UPVALUE_CHECKED:
    case OP_LOAD_UPVALUE: return variable_hash(s, s->routine->upvalues[in->wide].name);
    default: break;
    }
    uint64_t hash = mix(11, op);
    for (uint32_t i = 0; i < 3; i++) {
        bool is_wide = flow_op_info[op].b >= OPERAND_W_JUMP;
        if (i == 2 && is_wide) break;
        hash = mix(hash, operand_hash(s, pc, i, depth));
    }
    MoveBlock block = move_code_block(s->routine, pc);
    for (uint32_t i = 0; i < block.count; i++)
        hash = mix(hash, symbol_of(s, pc, block.first + i, depth));
    if (op == OP_GET_ITERATOR || op == OP_GET_ASYNC_ITERATOR || op == OP_FOR_IN_START)
        hash = mix(hash, reg - in->a); // which part of the record
    return hash;
}

static uint64_t symbol_of(const Symbols *s, uint32_t pc, uint32_t reg, uint32_t depth) {
    if (depth >= MOVE_DEPTH_MAX || *s->left == 0) return 12; // [move-symbol-3]
    (*s->left)--;
    const FlowLocalName *variable = move_variable_at(s->routine, pc, reg);
    if (variable) return variable_hash(s, variable->name);
    MoveDefinitions found;
    move_code_definitions(s->code, (MoveAt){pc, reg, 0}, &found);
    uint64_t hash = mix(13, found.is_too_many);
    for (uint32_t i = 0; i < found.count; i++) {
        uint32_t at = found.pcs[i];
        if (at == MOVE_ENTRY) {
            hash = mix(hash, mix(14, reg));
        } else if (at & MOVE_CAUGHT) {
            hash = mix(hash, 15);
        } else {
            uint16_t op = flow_op_base(s->routine->code[at].op);
            hash = mix(hash, result_hash(s, at, reg, depth + 1));
            if (op == OP_NEW_OBJECT || op == OP_NEW_ARRAY)
                hash = mix(hash, literal_hash(s, at, pc, depth + 1));
        }
    }
    return hash;
}

uint64_t move_symbol_register(FlowMove *move, MoveSide *side, uint32_t routine, uint32_t pc,
                              uint32_t reg) {
    uint32_t left = MOVE_PARTS_MAX;
    Symbols s = {.move = move,
                 .side = side,
                 .code = move_side_code(move, side, routine),
                 .routine = &side->module->routines[routine],
                 .left = &left};
    return symbol_of(&s, pc, reg, 0);
}

// --- places

// The instruction that alone made what `reg` holds; MOVE_NONE: there is none.
static uint32_t only_definition(const Symbols *s, uint32_t pc, uint32_t reg) {
    if (move_variable_at(s->routine, pc, reg)) return MOVE_NONE;
    MoveDefinitions found;
    move_code_definitions(s->code, (MoveAt){pc, reg, 0}, &found);
    bool is_one = found.count == 1 && found.pcs[0] != MOVE_ENTRY && !(found.pcs[0] & MOVE_CAUGHT);
    return is_one ? found.pcs[0] : MOVE_NONE;
}

// Promise.all(…) and its kin: what they are given is what is waited for.
static bool is_promise_call(const Symbols *s, uint32_t call) {
    const FlowInstruction *code = s->routine->code;
    uint32_t callee = only_definition(s, call, code[call].a);
    if (callee == MOVE_NONE || flow_op_base(code[callee].op) != OP_GET_FIELD) return false;
    uint32_t object = only_definition(s, callee, code[callee].b);
    if (object == MOVE_NONE || flow_op_base(code[object].op) != OP_GET_GLOBAL) return false;
    const FlowString *name = flow_as_string(s->routine->sites[code[object].c].key);
    return !flow_string_is_wide(name) && flow_string_length(name) == 7 &&
           memcmp(name->latin1, "Promise", 7) == 0;
}

// The callee, and the first argument when it is a literal: Task.run("charge", …).
static uint64_t rough_hash(const Symbols *s, const MovePlace *place) {
    const FlowInstruction *code = s->routine->code;
    uint32_t call = only_definition(s, place->pc, code[place->pc].b);
    if (call == MOVE_NONE || flow_op_base(code[call].op) != OP_CALL || is_promise_call(s, call))
        return place->exact;
    uint64_t hash = mix(16, symbol_of(s, call, code[call].a, 0));
    if (code[call].b == 0) return hash;
    uint32_t first = only_definition(s, call, code[call].a + 2u);
    if (first == MOVE_NONE || flow_op_base(code[first].op) != OP_LOAD_CONST) return hash;
    return mix(hash, constant_hash(s->routine->constants[code[first].wide]));
}

// What comes next: tells two equal awaits apart.
static uint64_t after_hash(const Symbols *s, uint32_t pc) {
    enum { NEXT = 8 };
    uint64_t hash = 17;
    for (uint32_t i = 1; i <= NEXT && pc + i < s->routine->code_count; i++) {
        const FlowInstruction *in = &s->routine->code[pc + i];
        const FlowOpInfo *info = &flow_op_info[flow_op_base(in->op)];
        hash = mix(hash, flow_op_base(in->op));
        if (info->c == OPERAND_SITE) hash = mix(hash, text_hash(s->routine->sites[in->c].key));
        if (info->b == OPERAND_W_CONST)
            hash = mix(hash, constant_hash(s->routine->constants[in->wide]));
        if (info->b == OPERAND_W_INT) hash = mix(hash, (uint64_t)(uint32_t)in->wide);
    }
    return hash;
}

void move_symbol_place(FlowMove *move, MoveSide *side, uint32_t routine, MovePlace *place) {
    uint32_t left = MOVE_PARTS_MAX;
    Symbols s = {.move = move,
                 .side = side,
                 .code = move_side_code(move, side, routine),
                 .routine = &side->module->routines[routine],
                 .left = &left};
    uint64_t head = mix(18, place->op);
    place->exact = place->rough = head;
    if (place->op == OP_GENERATOR_START) return;
    place->exact = mix(head, symbol_of(&s, place->pc, s.routine->code[place->pc].b, 0));
    place->rough = rough_hash(&s, place);
    place->after = after_hash(&s, place->pc);
}

// --- whole functions

uint64_t move_symbol_body(const FlowRoutine *routine) {
    uint64_t hash = mix(19, routine->flags);
    hash = mix(hash, routine->parameter_count);
    for (uint32_t pc = 0; pc < routine->code_count; pc++) {
        const FlowInstruction *in = &routine->code[pc];
        const FlowOpInfo *info = &flow_op_info[flow_op_base(in->op)];
        hash = mix(hash, mix(flow_op_base(in->op), in->a));
        switch (info->b) {
        case OPERAND_W_CONST: hash = mix(hash, constant_hash(routine->constants[in->wide])); break;
        case OPERAND_W_UPVALUE:
            hash = mix(hash, text_hash(routine->upvalues[in->wide].name));
            break;
        case OPERAND_W_FUNCTION: hash = mix(hash, routine->module->routines[in->wide].flags); break;
        case OPERAND_W_JUMP:
        case OPERAND_W_INT:
        case OPERAND_W_TEMPLATE:
        case OPERAND_W_COUNT: hash = mix(hash, (uint64_t)(uint32_t)in->wide); break;
        case OPERAND_CONST: hash = mix(hash, constant_hash(routine->constants[in->b])); break;
        default: hash = mix(hash, in->b); break;
        }
        if (info->b >= OPERAND_W_JUMP) continue;
        if (info->c == OPERAND_SITE) hash = mix(hash, text_hash(routine->sites[in->c].key));
        else if (info->c == OPERAND_CONST)
            hash = mix(hash, constant_hash(routine->constants[in->c]));
        else hash = mix(hash, in->c);
    }
    return hash;
}
