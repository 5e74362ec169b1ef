// Verifier: operands by the kinds of opcodes.h, then what single opcodes demand beyond them.
//
//   [code-verify-1] The interpreter indexes registers, constants, sites, upvalues, templates and
//        routines without a check; this file is the check.
//   [code-verify-2] A jump target may be any instruction but the second of a pair (ITER_VALUE after
//        ITER_NEXT …), which relies on the first.
//   [code-verify-3] The last instruction never falls through.
//   [code-verify-4] Constants have the type an opcode expects: names are strings.
//   [code-verify-5] A fused instruction begins the sequence it stands for. None of them is named
//        below: their bases demand nothing beyond the kinds of their operands.

#include "flow/code/verify.h"
#include "flow/code/fuse.h"
#include "flow/code/opcodes.h"
#include "flow/realm/realm.h"
#include "flow/value/error.h"

typedef struct Verifier {
    const FlowRoutine *routine;
    Diag *diag;
    uint32_t pc;
} Verifier;

static Status refuse(const Verifier *v, const char *what, long value) {
    const FlowRoutine *routine = v->routine;
    const char *name = "?";
    if (v->pc < routine->code_count && flow_op_base(routine->code[v->pc].op) < OP_COUNT)
        name = flow_op_info[flow_op_base(routine->code[v->pc].op)].name;
    return diag_set(v->diag, ERR_CORRUPT, "FLOW_BAD_BYTECODE",
                    "routine %u, instruction %u (%s): %s (%ld)", routine->index, v->pc, name, what,
                    value);
}

static Status check_register(const Verifier *v, uint32_t reg) {
    if (reg < v->routine->register_count) return OK;
    return refuse(v, "no such register", (long)reg);
}

static Status check_registers(const Verifier *v, uint32_t first, uint32_t count) {
    if (first + count <= v->routine->register_count) return OK;
    return refuse(v, "block of registers leaves the frame", (long)(first + count));
}

// --- jumps
static bool is_second_half(const FlowRoutine *routine, uint32_t pc) { // [code-verify-2]
    if (pc == 0) return false;
    uint16_t before = routine->code[pc - 1].op;
    switch (routine->code[pc].op) {
    case OP_ITER_START: return before == OP_GET_ITERATOR || before == OP_GET_ASYNC_ITERATOR;
    case OP_ITER_VALUE: return before == OP_ITER_NEXT;
    case OP_ITER_STEP_VALUE: return before == OP_ITER_STEP;
    case OP_RESUME: return before == OP_YIELD || before == OP_YIELD_RESULT;
    default: return false;
    }
}

static Status check_target(const Verifier *v, int64_t target) {
    if (target < 0 || target >= v->routine->code_count)
        return refuse(v, "jump leaves the code", (long)target);
    if (is_second_half(v->routine, (uint32_t)target))
        return refuse(v, "jump into the middle of a pair", (long)target);
    return OK;
}

// --- operands
static Status check_narrow(const Verifier *v, FlowOperand kind, uint16_t value) {
    const FlowRoutine *routine = v->routine;
    switch (kind) {
    case OPERAND_NONE: return value == 0 ? OK : refuse(v, "unused operand is not zero", value);
    case OPERAND_OUT:
    case OPERAND_IN:
    case OPERAND_INOUT:
    case OPERAND_BLOCK: return check_register(v, value);
    case OPERAND_LIVE:
        return value <= routine->register_count ? OK : refuse(v, "too many live registers", value);
    case OPERAND_SITE: return value < routine->site_count ? OK : refuse(v, "no such site", value);
    case OPERAND_NEAR: return check_target(v, (int64_t)v->pc + 1 + (int16_t)value);
    case OPERAND_CONST:
        return value < routine->constant_count ? OK : refuse(v, "no such constant", value);
    case OPERAND_COUNT: // checked with the block
    case OPERAND_IMM:
    case OPERAND_ID: // by opcode
    default: return OK;
    }
}

static Status check_wide(const Verifier *v, FlowOperand kind, int32_t value) {
    const FlowRoutine *routine = v->routine;
    uint32_t index = (uint32_t)value; // a negative number is out of every range
    switch (kind) {
    case OPERAND_W_JUMP: return check_target(v, (int64_t)v->pc + 1 + value);
    case OPERAND_W_CONST:
        return index < routine->constant_count ? OK : refuse(v, "no such constant", value);
    case OPERAND_W_FUNCTION:
        return index < routine->module->routine_count ? OK : refuse(v, "no such routine", value);
    case OPERAND_W_UPVALUE:
        return index < routine->upvalue_count ? OK : refuse(v, "no such upvalue", value);
    case OPERAND_W_TEMPLATE:
        return index < routine->template_count ? OK : refuse(v, "no such template", value);
    case OPERAND_W_COUNT: return value >= 0 ? OK : refuse(v, "negative count", value);
    case OPERAND_W_INT:
    default: return OK;
    }
}

// --- what single opcodes demand
static Status check_name(const Verifier *v, uint32_t constant) { // [code-verify-4]
    if (flow_is_string(v->routine->constants[constant])) return OK;
    return refuse(v, "constant is no string", (long)constant);
}

static Status check_follows(const Verifier *v, FlowOp op) {
    const FlowRoutine *routine = v->routine;
    uint32_t next = v->pc + 1;
    if (next >= routine->code_count || routine->code[next].op != op ||
        routine->code[next].a != routine->code[v->pc].a)
        return refuse(v, "second half is missing", (long)next);
    return OK;
}

static Status check_pair(const Verifier *v, const FlowInstruction *i) {
    switch (i->op) {
    case OP_GET_ITERATOR:
    case OP_GET_ASYNC_ITERATOR: return check_follows(v, OP_ITER_START);
    case OP_ITER_NEXT:
        TRY(check_follows(v, OP_ITER_VALUE));
        return i[1].b == i->b ? OK : refuse(v, "halves disagree", i->b);
    case OP_ITER_STEP:
        TRY(check_follows(v, OP_ITER_STEP_VALUE));
        return i[1].b == i->b ? OK : refuse(v, "halves disagree", i->b);
    case OP_ITER_START:
    case OP_ITER_STEP_VALUE:
        return is_second_half(v->routine, v->pc) ? OK : refuse(v, "first half is missing", 0);
    default: return OK;
    }
}

static Status check_block(const Verifier *v, const FlowInstruction *i) {
    switch (i->op) {
    case OP_CALL:
    case OP_NEW: return check_registers(v, i->a, 2u + i->b);
    case OP_INTRINSIC:
        if (!flow_intrinsic(i->c)) return refuse(v, "no such intrinsic", i->c);
        return check_registers(v, i->a, 2u + i->b);
    case OP_CALL_SPREAD:
    case OP_NEW_SPREAD: return check_registers(v, i->a, 3);
    case OP_CONCAT:
        if (i->c == 0) return refuse(v, "nothing to join", 0);
        return check_registers(v, i->b, i->c);
    case OP_GET_SUPER:
    case OP_SET_SUPER:
    case OP_ITER_GET_METHOD: return check_registers(v, i->b, 3);
    case OP_NEW_CLASS:
    case OP_INIT_FIELDS:
    case OP_YIELD:
    case OP_YIELD_RESULT:
    case OP_RESUME: return check_registers(v, i->a, 2);
    case OP_GET_ITERATOR:
    case OP_GET_ASYNC_ITERATOR:
    case OP_ITER_START:
    case OP_ITER_NEXT:
    case OP_ITER_VALUE:
    case OP_ITER_STEP:
    case OP_ITER_STEP_VALUE:
    case OP_ITER_REST:
    case OP_ITER_CALL_NEXT:
    case OP_ITER_CLOSE:
    case OP_ITER_CLOSE_SILENT:
    case OP_FOR_IN_START:
    case OP_FOR_IN_NEXT: return check_registers(v, i->a, 3);
    default: return OK;
    }
}

static Status check_numbers(const Verifier *v, const FlowInstruction *i) {
    switch (i->op) {
    case OP_ARRAY_SPREAD:
    case OP_GET_ITERATOR:
    case OP_ITER_STEP_VALUE: return i->c <= 1 ? OK : refuse(v, "no such mode", i->c);
    case OP_SET_FUNCTION_NAME: return i->c <= 2 ? OK : refuse(v, "no such prefix", i->c);
    case OP_ITER_GET_METHOD: return i->c <= 2 ? OK : refuse(v, "no such method", i->c);
    case OP_CHECK_OBJECT: return i->b == 0 ? OK : refuse(v, "no such check", i->b);
    case OP_THROW_ERROR:
        if (i->a >= ERROR_KIND_COUNT) return refuse(v, "no such error", i->a);
        return check_name(v, (uint32_t)i->wide);
    case OP_THROW_CONST_ASSIGN:
    case OP_CHECK_INITIALIZED:
    case OP_NEW_PRIVATE_NAME: return check_name(v, (uint32_t)i->wide);
    case OP_GET_BOX_CHECKED:
    case OP_SET_BOX_CHECKED: return check_name(v, i->c);
    case OP_NEW_REGEXP: TRY(check_name(v, i->b)); return check_name(v, i->c);
    default: return OK;
    }
}

static Status check_context(const Verifier *v, const FlowInstruction *i) {
    uint32_t flags = v->routine->flags;
    switch (i->op) {
    case OP_AWAIT: return flags & ROUTINE_ASYNC ? OK : refuse(v, "not in an async function", 0);
    case OP_YIELD:
    case OP_YIELD_RESULT:
    case OP_GENERATOR_START:
        return flags & ROUTINE_GENERATOR ? OK : refuse(v, "not in a generator", 0);
    case OP_INTRINSIC:
    case OP_LOAD_PRELUDE: return flags & ROUTINE_PRELUDE ? OK : refuse(v, "only in the prelude", 0);
    case OP_RETURN_DERIVED:
        return flags & ROUTINE_DERIVED ? OK : refuse(v, "not in a derived constructor", 0);
    default: return OK;
    }
}

static Status check_instruction(Verifier *v) {
    const FlowInstruction *i = &v->routine->code[v->pc];
    uint16_t op = flow_op_base(i->op);
    if (op >= OP_COUNT) return refuse(v, "no such opcode", op);
    uint32_t left = v->routine->code_count - v->pc;
    if (op != i->op && (left < 2 || flow_fused_op(i, left) != i->op)) { // [code-verify-5]
        return refuse(v, "not the sequence it stands for", i->op);
    }
    const FlowOpInfo *info = &flow_op_info[op];
    TRY(check_narrow(v, info->a, i->a));
    if (info->b >= OPERAND_W_JUMP) {
        TRY(check_wide(v, info->b, i->wide));
    } else {
        TRY(check_narrow(v, info->b, i->b));
        TRY(check_narrow(v, info->c, i->c));
    }
    TRY(check_block(v, i));
    TRY(check_pair(v, i));
    TRY(check_numbers(v, i));
    return check_context(v, i);
}

// --- tables
static bool op_ends(uint16_t op) { // [code-verify-3]
    switch (op) {
    case OP_JUMP:
    case OP_RETURN:
    case OP_RETURN_UNDEFINED:
    case OP_RETURN_DERIVED:
    case OP_THROW:
    case OP_THROW_ERROR:
    case OP_THROW_CONST_ASSIGN: return true;
    default: return false;
    }
}

static Status check_handlers(Verifier *v) {
    const FlowRoutine *routine = v->routine;
    for (uint32_t i = 0; i < routine->handler_count; i++) {
        const FlowHandler *handler = &routine->handlers[i];
        v->pc = handler->target;
        if (handler->start >= handler->end || handler->end > routine->code_count)
            return refuse(v, "handler covers no code", (long)i);
        TRY(check_target(v, handler->target));
        TRY(check_register(v, handler->reg));
        if (handler->live > routine->register_count)
            return refuse(v, "handler has too many live registers", handler->live);
    }
    return OK;
}

static Status check_keys(Verifier *v) {
    const FlowRoutine *routine = v->routine;
    v->pc = 0;
    for (uint32_t i = 0; i < routine->site_count; i++)
        if (!flow_is_string(routine->sites[i].key)) return refuse(v, "site without a name", i);
    if (!flow_is_string(routine->name)) return refuse(v, "routine without a name", 0);
    for (uint32_t i = 0; i < routine->description_count; i++)
        if (!flow_is_string(routine->descriptions[i].text))
            return refuse(v, "description without text", i);
    return OK;
}

static Status check_frame(Verifier *v) {
    const FlowRoutine *routine = v->routine;
    uint32_t needed = 1u + routine->parameter_count;
    if (routine->flags & ROUTINE_HAS_REST) needed++;
    if (routine->flags & ROUTINE_HAS_ARGUMENTS) needed++;
    v->pc = 0;
    if (routine->register_count < needed)
        return refuse(v, "frame too small for its parameters", routine->register_count);
    if (routine->code_count == 0) return refuse(v, "no code", 0);
    return OK;
}

Status flow_verify_routine(const FlowRoutine *routine, Diag *diag) {
    Verifier verifier = {.routine = routine, .diag = diag};
    Verifier *v = &verifier;
    TRY(check_frame(v));
    for (v->pc = 0; v->pc < routine->code_count; v->pc++) TRY(check_instruction(v));
    v->pc = routine->code_count - 1;
    if (!op_ends(routine->code[v->pc].op)) return refuse(v, "code runs past its end", 0);
    TRY(check_handlers(v));
    return check_keys(v);
}

// A closure takes registers and upvalues of the routine that makes it.
static Status check_closures(const FlowRoutine *maker, Diag *diag) {
    Verifier verifier = {.routine = maker, .diag = diag};
    for (verifier.pc = 0; verifier.pc < maker->code_count; verifier.pc++) {
        const FlowInstruction *i = &maker->code[verifier.pc];
        if (i->op != OP_CLOSURE) continue;
        const FlowRoutine *made = &maker->module->routines[i->wide];
        for (uint32_t k = 0; k < made->upvalue_count; k++) {
            const FlowUpvalue *upvalue = &made->upvalues[k];
            uint32_t limit = upvalue->is_local ? maker->register_count : maker->upvalue_count;
            if (upvalue->index >= limit)
                return refuse(&verifier, "closure captures what its maker does not have",
                              upvalue->index);
            if (!upvalue->is_local && upvalue->is_box != maker->upvalues[upvalue->index].is_box)
                return refuse(&verifier, "closure takes a box for a value", upvalue->index);
        }
    }
    return OK;
}

Status flow_verify(const FlowModule *module, Diag *diag) {
    for (uint32_t i = 0; i < module->routine_count; i++)
        TRY(flow_verify_routine(&module->routines[i], diag));
    for (uint32_t i = 0; i < module->routine_count; i++)
        TRY(check_closures(&module->routines[i], diag));
    return OK;
}
