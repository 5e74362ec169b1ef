// Outline: read off the code, where a call with literal arguments always has the same form.
//
//   GET_GLOBAL  r7  "Task"
//   GET_FIELD   r6  r7 "run"
//   LOAD_CONST  r8  "charge"        first argument of the block at r6: r6 + 2
//   …
//   CALL        r6
//
// Not here: what the names mean to a server (server/handlers/flows.c).
#include "flow/code/outline.h"
#include "base/array.h"
#include "flow/code/code.h"
#include "flow/code/opcodes.h"
#include "flow/value/string.h"

static Str utf8_of(Arena *arena, FlowValue value) {
    FlowString *s = flow_as_string(value); // a constant: flat, so no VM is needed
    Buf text;
    buf_init(&text, 4 * (size_t)flow_string_length(s) + 4);
    flow_string_to_utf8(NULL, s, &text);
    Str copy = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

// The string constant that is put into register `reg` before the call of the block at `block`.
static bool find_argument(const FlowRoutine *routine, uint32_t from, uint16_t block, uint16_t reg,
                          FlowValue *ret_value) {
    for (uint32_t pc = from; pc < routine->code_count; pc++) {
        const FlowInstruction *in = &routine->code[pc];
        uint16_t op = flow_op_base(in->op);
        if (op == OP_CALL && in->a == block) return false;
        if (op != OP_LOAD_CONST || in->a != reg) continue;
        *ret_value = routine->constants[in->wide];
        return flow_is_string(*ret_value);
    }
    return false;
}

static bool is_api(Str object) {
    static const char *const names[] = {"Task", "Workflow", "Signal", "Event", "Stream"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal(object, str_from(names[i]))) return true;
    return false;
}

void flow_outline(const FlowModule *module, Arena *arena,
                  void (*visit)(void *context, const FlowOutlineCall *call), void *context) {
    for (uint32_t i = 0; i < module->routine_count; i++) {
        const FlowRoutine *routine = &module->routines[i];
        for (uint32_t pc = 0; pc + 2 < routine->code_count; pc++) {
            const FlowInstruction *in = &routine->code[pc], *field = in + 1;
            bool is_pair = flow_op_base(in->op) == OP_GET_GLOBAL &&
                           flow_op_base(field->op) == OP_GET_FIELD && field->b == in->a;
            if (!is_pair) continue;
            FlowOutlineCall call = {.object = utf8_of(arena, routine->sites[in->c].key),
                                    .member = utf8_of(arena, routine->sites[field->c].key)};
            bool is_stream = str_equal(call.object, STR("Stream"));
            FlowValue name;
            uint16_t reg = (uint16_t)(field->a + (is_stream ? 3 : 2));
            if (!is_api(call.object) || !find_argument(routine, pc + 2, field->a, reg, &name))
                continue;
            const FlowLine *line = flow_routine_position(routine, pc);
            call.name = utf8_of(arena, name);
            call.line = line ? line->line : 0;
            visit(context, &call);
        }
    }
}
