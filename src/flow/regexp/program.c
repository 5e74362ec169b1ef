// Tree to program: what regexp/match.c runs. See regexp/program.h.
//
// A loop, as the language defines it: every round starts with its captures undefined, and a round
// beyond the minimum that takes nothing fails. Loops over single characters are one instruction.
//
//   [regexp-program-1] Recursion follows the tree, whose depth the parser bounds.
//   [regexp-program-2] Each loop, capture and lookaround has registers of its own; the engine
//        undoes changes when it backtracks, so that nested loops may reuse theirs in every round.
#include "flow/regexp/program.h"
#include "flow/regexp/internal.h"

typedef struct Compiler {
    Arena *arena;
    const RegexpTree *tree;
    VEC(uint32_t) code;
    VEC(const RegexpSet *) sets;
    uint32_t register_count;
    bool is_backward;
} Compiler;

static void emit(Compiler *c, uint32_t word) {
    if (c->code.count < REGEXP_PROGRAM_MAX) vec_push(&c->code, word);
}

static void emit_op(Compiler *c, RegexpOp op) {
    emit(c, (uint32_t)op | (c->is_backward ? REGEXP_OP_BACKWARD : 0));
}

static uint32_t here(const Compiler *c) { return (uint32_t)c->code.count; }

static uint32_t emit_hole(Compiler *c) { // a jump target that is filled in later
    emit(c, 0);
    return here(c) - 1;
}

static void fill_hole(Compiler *c, uint32_t hole) {
    if (hole < c->code.count) c->code.data[hole] = here(c);
}

static uint32_t new_register(Compiler *c) { return c->register_count++; }

static uint32_t set_index(Compiler *c, const RegexpSet *set) {
    vec_push(&c->sets, set);
    return (uint32_t)c->sets.count - 1;
}

static void compile_node(Compiler *c, const RegexpNode *node);

// --- sequences and choices

// Backwards, the last child comes first.
static void compile_sequence(Compiler *c, const RegexpNode *node) {
    if (!c->is_backward) {
        for (const RegexpNode *child = node->child; child; child = child->next) {
            compile_node(c, child);
        }
        return;
    }
    VEC(const RegexpNode *) children = {0};
    for (const RegexpNode *child = node->child; child; child = child->next) {
        vec_push(&children, child);
    }
    while (children.count) compile_node(c, vec_pop(&children));
    vec_free(&children);
}

static void compile_choice(Compiler *c, const RegexpNode *node) {
    VEC(uint32_t) ends = {0};
    for (const RegexpNode *child = node->child; child; child = child->next) {
        if (!child->next) {
            compile_node(c, child);
            break;
        }
        emit(c, REGEXP_OP_SPLIT);
        uint32_t other = emit_hole(c);
        compile_node(c, child);
        emit(c, REGEXP_OP_JUMP);
        vec_push(&ends, emit_hole(c));
        fill_hole(c, other);
    }
    for (size_t i = 0; i < ends.count; i++) fill_hole(c, ends.data[i]);
    vec_free(&ends);
}

static void compile_capture(Compiler *c, const RegexpNode *node) {
    uint32_t mark = new_register(c);
    emit(c, REGEXP_OP_MARK);
    emit(c, mark);
    compile_node(c, node->child);
    emit_op(c, REGEXP_OP_CAPTURE);
    emit(c, node->a);
    emit(c, mark);
}

// --- loops

static void compile_run(Compiler *c, const RegexpNode *node) {
    const RegexpNode *child = node->child;
    const RegexpSet *set = child->set;
    if (child->kind == REGEXP_NODE_CHARACTER) {
        RegexpRanges ranges = {0};
        regexp_ranges_add(&ranges, child->a, child->a);
        set = regexp_set_new(c->arena, &ranges);
        vec_free(&ranges);
    }
    emit(c, node->is_greedy ? REGEXP_OP_RUN : REGEXP_OP_RUN_LAZY);
    emit(c, set_index(c, set));
    emit(c, node->a);
    emit(c, node->b);
}

static void compile_reset(Compiler *c, const RegexpNode *node) {
    if (node->first_capture == node->end_capture) return;
    emit(c, REGEXP_OP_RESET);
    emit(c, node->first_capture);
    emit(c, node->end_capture);
}

// No minimum: `*` and `?`.
static void compile_free_loop(Compiler *c, const RegexpNode *node) {
    bool can_be_empty = regexp_node_can_be_empty(node->child);
    uint32_t mark = can_be_empty ? new_register(c) : 0;
    uint32_t start = here(c);
    emit(c, node->is_greedy ? REGEXP_OP_SPLIT : REGEXP_OP_SPLIT_LAZY);
    uint32_t exit = emit_hole(c);
    if (can_be_empty) {
        emit(c, REGEXP_OP_MARK);
        emit(c, mark);
    }
    compile_reset(c, node->child);
    compile_node(c, node->child);
    if (can_be_empty) {
        emit(c, REGEXP_OP_CHECK);
        emit(c, mark);
    }
    if (node->b == REGEXP_FOREVER) {
        emit(c, REGEXP_OP_JUMP);
        emit(c, start);
    }
    fill_hole(c, exit);
}

static void compile_counted_loop(Compiler *c, const RegexpNode *node) {
    bool can_be_empty = regexp_node_can_be_empty(node->child);
    uint32_t counter = new_register(c);
    uint32_t mark = can_be_empty ? new_register(c) : 0;
    emit(c, REGEXP_OP_ZERO);
    emit(c, counter);
    uint32_t start = here(c);
    emit(c, REGEXP_OP_COUNT);
    emit(c, counter);
    emit(c, node->a);
    emit(c, node->b);
    emit(c, node->is_greedy);
    uint32_t exit = emit_hole(c);
    if (can_be_empty) {
        emit(c, REGEXP_OP_MARK);
        emit(c, mark);
    }
    compile_reset(c, node->child);
    compile_node(c, node->child);
    if (can_be_empty) {
        emit(c, REGEXP_OP_CHECK_COUNT);
        emit(c, mark);
        emit(c, counter);
        emit(c, node->a);
    }
    emit(c, REGEXP_OP_ADD);
    emit(c, counter);
    emit(c, REGEXP_OP_JUMP);
    emit(c, start);
    fill_hole(c, exit);
}

static void compile_repeat(Compiler *c, const RegexpNode *node) {
    const RegexpNode *child = node->child;
    if (node->b == 0) return;
    bool is_single = child->kind == REGEXP_NODE_CHARACTER || child->kind == REGEXP_NODE_SET;
    if (is_single && !c->is_backward) {
        compile_run(c, node);
    } else if (node->a == 0 && (node->b == 1 || node->b == REGEXP_FOREVER)) {
        compile_free_loop(c, node);
    } else if (node->a == 1 && node->b == 1) {
        compile_node(c, child);
    } else {
        compile_counted_loop(c, node);
    }
}

static void compile_look(Compiler *c, const RegexpNode *node) {
    uint32_t height = new_register(c);
    bool was_backward = c->is_backward;
    emit(c, REGEXP_OP_LOOK);
    emit(c, height);
    emit(c, node->is_negated);
    uint32_t exit = emit_hole(c);
    c->is_backward = node->is_behind;
    compile_node(c, node->child);
    c->is_backward = was_backward;
    emit(c, REGEXP_OP_LOOK_END);
    emit(c, height);
    emit(c, node->is_negated);
    fill_hole(c, exit);
}

static void compile_node(Compiler *c, const RegexpNode *node) {
    if (c->code.count >= REGEXP_PROGRAM_MAX) return;
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_EMPTY: return;
    case REGEXP_NODE_CHARACTER:
        emit_op(c, REGEXP_OP_CHARACTER);
        emit(c, node->a);
        return;
    case REGEXP_NODE_SET:
        emit_op(c, REGEXP_OP_SET);
        emit(c, set_index(c, node->set));
        return;
    case REGEXP_NODE_SEQUENCE: compile_sequence(c, node); return;
    case REGEXP_NODE_CHOICE: compile_choice(c, node); return;
    case REGEXP_NODE_CAPTURE: compile_capture(c, node); return;
    case REGEXP_NODE_REPEAT: compile_repeat(c, node); return;
    case REGEXP_NODE_LINE_START: emit(c, REGEXP_OP_LINE_START); return;
    case REGEXP_NODE_LINE_END: emit(c, REGEXP_OP_LINE_END); return;
    case REGEXP_NODE_WORD_EDGE:
        emit(c, REGEXP_OP_WORD_EDGE);
        emit(c, node->is_negated);
        return;
    case REGEXP_NODE_LOOK: compile_look(c, node); return;
    case REGEXP_NODE_REFERENCE:
        emit_op(c, REGEXP_OP_REFERENCE);
        emit(c, node->a);
        return;
    }
    UNREACHABLE();
}

// --- what a match can begin with

static void first_set(RegexpProgram *program, const RegexpSet *set) {
    for (int i = 0; i < 8; i++) program->first[i] |= set->bitmap[i];
    if (set->count && set->ranges[set->count - 1].last > 255) program->is_first_wide = true;
}

static void first_anything(RegexpProgram *program) {
    memset(program->first, 0xFF, sizeof program->first);
    program->is_first_wide = true;
}

// Adds the characters the node can begin with; true when it may take none at all.
static bool collect_first(RegexpProgram *program, const RegexpNode *node) {
    bool is_empty;
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_CHARACTER:
        if (node->a > 255) program->is_first_wide = true;
        else program->first[node->a / 32] |= 1u << node->a % 32;
        return false;
    case REGEXP_NODE_SET: first_set(program, node->set); return false;
    case REGEXP_NODE_SEQUENCE:
        for (const RegexpNode *child = node->child; child; child = child->next) {
            if (!collect_first(program, child)) return false;
        }
        return true;
    case REGEXP_NODE_CHOICE:
        is_empty = false;
        for (const RegexpNode *child = node->child; child; child = child->next) {
            if (collect_first(program, child)) is_empty = true;
        }
        return is_empty;
    case REGEXP_NODE_CAPTURE: return collect_first(program, node->child);
    case REGEXP_NODE_REPEAT:
        is_empty = node->b == 0 || collect_first(program, node->child);
        return is_empty || node->a == 0;
    case REGEXP_NODE_REFERENCE: first_anything(program); return true;
    case REGEXP_NODE_EMPTY:
    case REGEXP_NODE_LINE_START:
    case REGEXP_NODE_LINE_END:
    case REGEXP_NODE_WORD_EDGE:
    case REGEXP_NODE_LOOK: return true;
    }
    UNREACHABLE();
}

// A character that is in every match: the last one found on the way that must be taken.
static void find_required(RegexpProgram *program, const RegexpNode *node) {
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_CHARACTER:
        program->has_required = node->a <= 0xFFFF;
        program->required = (uint16_t)node->a;
        return;
    case REGEXP_NODE_SEQUENCE:
        for (const RegexpNode *child = node->child; child; child = child->next) {
            find_required(program, child);
        }
        return;
    case REGEXP_NODE_CAPTURE: find_required(program, node->child); return;
    case REGEXP_NODE_REPEAT:
        if (node->a > 0) find_required(program, node->child);
        return;
    default: return;
    }
}

bool regexp_compile(Arena *arena, const RegexpTree *tree, RegexpProgram *ret_program) {
    Compiler c = {.arena = arena, .tree = tree};
    compile_node(&c, tree->root);
    emit(&c, REGEXP_OP_MATCH);
    bool is_fine = c.code.count < REGEXP_PROGRAM_MAX;
    if (is_fine) {
        *ret_program = (RegexpProgram){.code_count = (uint32_t)c.code.count,
                                       .register_count = c.register_count,
                                       .capture_count = tree->capture_count,
                                       .flags = tree->flags,
                                       .set_count = (uint32_t)c.sets.count};
        uint32_t *code = ARENA_ARRAY(arena, uint32_t, c.code.count);
        memcpy(code, c.code.data, sizeof(uint32_t) * c.code.count);
        ret_program->code = code;
        ret_program->sets = ARENA_ARRAY(arena, const RegexpSet *, c.sets.count + 1);
        for (size_t i = 0; i < c.sets.count; i++) ret_program->sets[i] = c.sets.data[i];
        ret_program->has_first = !collect_first(ret_program, tree->root);
        find_required(ret_program, tree->root);
    }
    vec_free(&c.code);
    vec_free(&c.sets);
    return is_fine;
}
