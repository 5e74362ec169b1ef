// One version of a script, as a move looks at it: which function makes which, and the places where
// a function can wait, with their labels.
//
//   // @label NAME      at the end of the line of the place, or alone on the line before it
//
// Labels are read off the source text, because comments are not in the code. A text that looks like
// one can only be a comment: it ends with its line.
//
// Not here: which places of two versions are the same (move/pair.c).
#include "flow/move/internal.h"

bool move_name_same(FlowValue a, FlowValue b) {
    const FlowString *s = flow_as_string(a);
    const FlowString *t = flow_as_string(b);
    uint32_t length = flow_string_length(s);
    bool is_wide = flow_string_is_wide(s);
    if (length != flow_string_length(t) || is_wide != flow_string_is_wide(t)) return false;
    return is_wide ? memcmp(s->wide, t->wide, length * 2u) == 0
                   : memcmp(s->latin1, t->latin1, length) == 0;
}

FlowValue move_old_name(const FlowMove *move, const MoveSide *side, FlowValue name) {
    for (size_t i = 0; side->is_new && i < move->renames.count; i++)
        if (move_name_same(move->renames.data[i].to, name)) return move->renames.data[i].from;
    return name;
}

const FlowLocalName *move_variable_at(const FlowRoutine *routine, uint32_t pc, uint32_t reg) {
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *variable = &routine->variables[i];
        if (variable->reg == reg && pc >= variable->start && pc < variable->end) return variable;
    }
    return NULL;
}

MoveCode *move_side_code(FlowMove *move, MoveSide *side, uint32_t routine) {
    MoveRoutine *at = &side->routines[routine];
    if (!at->code) at->code = move_code_new(&move->arena, &side->module->routines[routine]);
    return at->code;
}

static void find_lines(FlowMove *move, MoveSide *side) {
    Str source = side->module->source;
    uint32_t count = 1;
    for (size_t i = 0; i < source.len; i++) count += source.data[i] == '\n';
    side->lines = ARENA_ARRAY(&move->arena, uint32_t, count + 1);
    side->line_count = count;
    uint32_t line = 1;
    for (size_t i = 0; i < source.len; i++)
        if (source.data[i] == '\n') side->lines[line++] = (uint32_t)(i + 1);
    side->lines[count] = (uint32_t)source.len + 1;
}

void move_side_init(FlowMove *move, MoveSide *side, FlowModule *module) {
    side->module = flow_module_retain(module);
    side->routines = ARENA_ARRAY(&move->arena, MoveRoutine, module->routine_count);
    find_lines(move, side);
    for (uint32_t i = 0; i < module->routine_count; i++) {
        side->routines[i].parent = side->routines[i].other = MOVE_NONE;
        side->routines[i].body = move_symbol_body(&module->routines[i]);
    }
    for (uint32_t i = 0; i < module->routine_count; i++) {
        const FlowRoutine *routine = &module->routines[i];
        for (uint32_t pc = 0; pc < routine->code_count; pc++) {
            if (flow_op_base(routine->code[pc].op) != OP_CLOSURE) continue;
            MoveRoutine *made = &side->routines[routine->code[pc].wide];
            made->parent = i;
            made->made_at = pc;
        }
    }
}

// --- labels

static bool is_label_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static Str line_text(const MoveSide *side, uint32_t line) { // from 1
    if (line == 0 || line > side->line_count) return STR_NULL;
    uint32_t start = side->lines[line - 1];
    Str text = {side->module->source.data + start, side->lines[line] - 1 - start};
    while (text.len && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\r' ||
                        text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

// The name at the end of `text`, after "// @label ".
static Str label_in(Str text, bool is_alone) {
    static const Str mark = {"// @label ", 10};
    size_t start = text.len;
    while (start > 0 && is_label_char(text.data[start - 1])) start--;
    size_t size = text.len - start;
    if (size == 0 || size > MOVE_LABEL_MAX || start < mark.len) return STR_NULL;
    if (memcmp(text.data + start - mark.len, mark.data, mark.len) != 0) return STR_NULL;
    for (size_t i = 0; is_alone && i < start - mark.len; i++)
        if (text.data[i] != ' ' && text.data[i] != '\t') return STR_NULL;
    return (Str){text.data + start, size};
}

static Str label_of(const MoveSide *side, const FlowRoutine *routine, uint32_t pc) {
    const FlowLine *line = flow_routine_position(routine, pc);
    if (!line) return STR_NULL;
    Str label = label_in(line_text(side, line->line), false);
    return label.data ? label : label_in(line_text(side, line->line - 1), true);
}

// --- places

static bool is_place(uint16_t op) {
    return op == OP_AWAIT || op == OP_YIELD || op == OP_YIELD_RESULT || op == OP_GENERATOR_START;
}

void move_side_places(FlowMove *move, MoveSide *side, uint32_t routine) {
    const FlowRoutine *code = &side->module->routines[routine];
    MoveRoutine *at = &side->routines[routine];
    uint32_t count = 0;
    for (uint32_t pc = 0; pc < code->code_count; pc++)
        count += is_place(flow_op_base(code->code[pc].op));
    at->places = ARENA_ARRAY(&move->arena, MovePlace, count + 1);
    for (uint32_t pc = 0; pc < code->code_count; pc++) {
        if (!is_place(flow_op_base(code->code[pc].op))) continue;
        MovePlace *place = &at->places[at->place_count++];
        *place = (MovePlace){.pc = pc,
                             .op = flow_op_base(code->code[pc].op),
                             .other = MOVE_NONE,
                             .label = label_of(side, code, pc)};
        move_symbol_place(move, side, routine, place);
    }
}

MovePlace *move_place_find(MoveSide *side, uint32_t routine, uint32_t pc) {
    MoveRoutine *at = &side->routines[routine];
    for (uint32_t i = 0; i < at->place_count; i++)
        if (at->places[i].pc == pc) return &at->places[i];
    return NULL;
}
