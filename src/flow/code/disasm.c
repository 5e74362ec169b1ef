// Disassembler: made from the operand kinds of opcodes.h, so a new opcode needs nothing here.
//
// The listing is for reading only; nothing parses it, and damaged code is shown as far as it goes.
//
// A line is "pc  NAME  operands  ; what they mean". Registers are r0, r1 …; constants, sites,
// upvalues and jump targets are shown by value.

#include "flow/code/disasm.h"
#include "base/array.h"
#include "base/text/number.h"
#include "flow/code/opcodes.h"
#include "flow/value/string.h"

enum { CONSTANT_TEXT_MAX = 48 };

static void append_string(Buf *out, FlowString *string) {
    uint32_t length = flow_string_length(string);
    for (uint32_t i = 0; i < length && i < CONSTANT_TEXT_MAX; i++) {
        uint16_t unit = flow_string_at(string, i);
        if (unit == '\n') buf_append_cstr(out, "\\n");
        else if (unit < 0x20 || unit > 0x7E) buf_printf(out, "\\u%04x", unit);
        else buf_append_char(out, (char)unit);
    }
    if (length > CONSTANT_TEXT_MAX) buf_append_cstr(out, "…");
}

static void append_value(Buf *out, FlowValue value) {
    char text[NUMBER_TEXT_MAX];
    if (flow_is_string(value)) {
        buf_append_char(out, '"');
        append_string(out, flow_as_string(value));
        buf_append_char(out, '"');
    } else if (flow_is_number(value)) {
        buf_append(out, text, number_format(flow_as_number(value), text));
    } else if (flow_is_undefined(value)) {
        buf_append_cstr(out, "undefined");
    } else if (flow_is_bigint(value)) {
        buf_printf(out, "bigint of %u digits", flow_as_bigint(value)->cell.aux);
    } else {
        buf_append_cstr(out, "?");
    }
}

// --- operands
static void append_comment(Buf *comment, const char *label) {
    buf_append_cstr(comment, comment->len ? ", " : "  ; ");
    buf_append_cstr(comment, label);
}

static void append_narrow(Buf *out, Buf *comment, const FlowRoutine *routine, FlowOperand kind,
                          uint16_t value) {
    switch (kind) {
    case OPERAND_OUT:
    case OPERAND_IN:
    case OPERAND_INOUT: buf_printf(out, " r%u", value); break;
    case OPERAND_BLOCK: buf_printf(out, " r%u..", value); break;
    case OPERAND_COUNT: buf_printf(out, " count=%u", value); break;
    case OPERAND_LIVE: buf_printf(out, " live=%u", value); break;
    case OPERAND_IMM: buf_printf(out, " %d", (int16_t)value); break;
    case OPERAND_ID: buf_printf(out, " #%u", value); break;
    case OPERAND_SITE:
        buf_printf(out, " site%u", value);
        append_comment(comment, "");
        if (value < routine->site_count) append_value(comment, routine->sites[value].key);
        break;
    case OPERAND_CONST:
        buf_printf(out, " k%u", value);
        append_comment(comment, "");
        if (value < routine->constant_count) append_value(comment, routine->constants[value]);
        break;
    default: break;
    }
}

static void append_wide(Buf *out, Buf *comment, const FlowRoutine *routine, FlowOperand kind,
                        int32_t value) {
    uint32_t index = (uint32_t)value;
    switch (kind) {
    case OPERAND_W_INT:
    case OPERAND_W_COUNT: buf_printf(out, " %d", value); break;
    case OPERAND_W_CONST:
        buf_printf(out, " k%u", index);
        append_comment(comment, "");
        if (index < routine->constant_count) append_value(comment, routine->constants[index]);
        break;
    case OPERAND_W_FUNCTION:
        buf_printf(out, " routine%u", index);
        append_comment(comment, "");
        if (index < routine->module->routine_count)
            append_value(comment, routine->module->routines[index].name);
        break;
    case OPERAND_W_UPVALUE:
        buf_printf(out, " up%u", index);
        append_comment(comment, "");
        if (index < routine->upvalue_count) append_value(comment, routine->upvalues[index].name);
        break;
    case OPERAND_W_TEMPLATE: buf_printf(out, " template%u", index); break;
    default: break;
    }
}

static void append_instruction(Buf *out, const FlowRoutine *routine, uint32_t pc) {
    const FlowInstruction *i = &routine->code[pc];
    uint16_t op = flow_op_base(i->op);
    if (op >= OP_COUNT) {
        buf_printf(out, "  %5u  bad opcode %u\n", pc, op);
        return;
    }
    const FlowOpInfo *info = &flow_op_info[op];
    Buf comment;
    buf_init(&comment, 4096);
    buf_printf(out, "  %5u  %-20s", pc, info->name);
    append_narrow(out, &comment, routine, info->a, i->a);
    if (info->b == OPERAND_W_JUMP) {
        buf_printf(out, " -> %d", (int32_t)pc + 1 + i->wide);
    } else if (info->b > OPERAND_W_JUMP) {
        append_wide(out, &comment, routine, info->b, i->wide);
    } else {
        append_narrow(out, &comment, routine, info->b, i->b);
        if (info->c == OPERAND_NEAR) buf_printf(out, " -> %d", (int32_t)pc + 1 + (int16_t)i->c);
        else append_narrow(out, &comment, routine, info->c, i->c);
    }
    buf_append_str(out, buf_str(&comment));
    buf_done(&comment);
    buf_append_char(out, '\n');
}

// --- routines
static void append_flags(Buf *out, uint32_t flags) {
    static const char *const names[] = {"async",       "generator", "arrow", "method",
                                        "constructor", "derived",   "rest",  "arguments",
                                        "prelude",     "fields",    "module"};
    for (uint32_t i = 0; i < COUNT_OF(names); i++)
        if (flags & 1u << i) buf_printf(out, ", %s", names[i]);
}

// Where the last line was found: routines follow each other in the text, so the next one is near.
typedef struct LineCursor {
    size_t at; // the beginning of a line
    uint32_t line;
} LineCursor;

static Str source_line(Str source, uint32_t line, LineCursor *cursor) {
    for (; cursor->line > line && cursor->at > 0; cursor->line--) {
        cursor->at--; // the line's end
        while (cursor->at > 0 && source.data[cursor->at - 1] != '\n') cursor->at--;
    }
    while (cursor->line < line && cursor->at < source.len) {
        if (source.data[cursor->at++] == '\n') cursor->line++;
    }
    size_t end = cursor->at;
    while (end < source.len && source.data[end] != '\n' && source.data[end] != '\r') end++;
    return (Str){source.data + cursor->at, end - cursor->at};
}

static void append_code(Buf *out, const FlowRoutine *routine, LineCursor *cursor) {
    uint32_t next = 0;
    uint32_t shown_line = 0;
    for (uint32_t pc = 0; pc < routine->code_count; pc++) {
        for (; next < routine->position_count && routine->positions[next].pc <= pc; next++) {
            uint32_t line = routine->positions[next].line;
            if (line == shown_line) continue;
            Str text = str_trim(source_line(routine->module->source, line, cursor));
            if (text.len > 90) text.len = 90;
            buf_printf(out, "%6u | %.*s\n", line, STR_ARG(text));
            shown_line = line;
        }
        append_instruction(out, routine, pc);
    }
}

static void append_routine(Buf *ret_text, const FlowRoutine *routine, LineCursor *cursor) {
    buf_printf(ret_text, "routine %u ", routine->index);
    append_value(ret_text, routine->name);
    buf_printf(ret_text, ": %u registers, %u parameters", routine->register_count,
               routine->parameter_count);
    append_flags(ret_text, routine->flags);
    buf_append_char(ret_text, '\n');
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        const FlowUpvalue *upvalue = &routine->upvalues[i];
        buf_printf(ret_text, "  up%u = %s%u of the maker%s ", i, upvalue->is_local ? "r" : "up",
                   upvalue->index, upvalue->is_box ? "" : " by value");
        append_value(ret_text, upvalue->name);
        buf_append_char(ret_text, '\n');
    }
    append_code(ret_text, routine, cursor);
    for (uint32_t i = 0; i < routine->handler_count; i++) {
        const FlowHandler *handler = &routine->handlers[i];
        buf_printf(ret_text, "  handler [%u, %u) -> %u in r%u, live %u\n", handler->start,
                   handler->end, handler->target, handler->reg, handler->live);
    }
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *variable = &routine->variables[i];
        buf_printf(ret_text, "  r%u = %s", variable->reg, variable->is_box ? "box of " : "");
        append_value(ret_text, variable->name);
        buf_printf(ret_text, " in [%u, %u)\n", variable->start, variable->end);
    }
    buf_append_char(ret_text, '\n');
}

void flow_disassemble_routine(const FlowRoutine *routine, Buf *ret_text) {
    LineCursor cursor = {.line = 1};
    append_routine(ret_text, routine, &cursor);
}

void flow_disassemble(const FlowModule *module, Buf *ret_text) {
    for (uint32_t i = 0; i < module->workflow_count; i++)
        buf_printf(ret_text, "workflow %u: %.*s\n", i, STR_ARG(module->workflows[i].name));
    LineCursor cursor = {.line = 1};
    for (uint32_t i = 0; i < module->routine_count; i++)
        append_routine(ret_text, &module->routines[i], &cursor);
}
