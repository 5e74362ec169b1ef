// Statements: the dispatcher, blocks, if, switch, labels, return, exports.
//
// Functions and workflow blocks emit nothing where they stand: they were made when their scope was
// entered (compile/variable.c). The value of an expression statement is never kept: a body returns
// what `return` says.
//
// Not here: loops (compile/loop.c), try and the ways out (compile/try.c).

#include "flow/compile/nodes.h"

void compile_statements(FlowCompiler *c, const FlowNodeList *list) {
    for (uint32_t i = 0; i < list->count; i++) compile_statement(c, list->items[i]);
}

static void compile_block(FlowCompiler *c, FlowNode *node) {
    Register mark = c->top;
    uint32_t start_pc = emit_here(c);
    scope_enter(c, node->block.scope);
    compile_statements(c, &node->block.statements);
    scope_leave(c, node->block.scope, mark, start_pc);
    c->top = mark;
}

static void compile_variables(FlowCompiler *c, FlowNode *node) {
    for (uint32_t i = 0; i < node->list.count; i++)
        compile_declarator(c, node->list.items[i], (FlowVariableKind)node->op);
}

// A long else-if ladder is a loop here, not a recursion.
static void compile_if(FlowCompiler *c, FlowNode *node) {
    JumpList end = {0};
    for (;;) {
        JumpList otherwise = {0};
        FlowNode *alternate = node->conditional.alternate;
        compile_condition(c, node->conditional.test, false, &otherwise);
        compile_statement(c, node->conditional.consequent);
        if (alternate) emit_jump(c, &end);
        jump_patch_here(c, &otherwise);
        if (!alternate) break;
        if (alternate->kind != NODE_IF) {
            compile_statement(c, alternate);
            break;
        }
        node = alternate;
    }
    jump_patch_here(c, &end);
}

static void compile_class_declaration(FlowCompiler *c, FlowClass *definition) {
    Register mark = c->top;
    Use use = use_of(definition->name_node);
    FlowValue name = name_atom(c, definition->name);
    Register target = variable_target(c, use, true);
    Register reg = target != NO_REGISTER ? target : register_new(c);
    compile_class(c, definition, name, reg);
    if (target == NO_REGISTER) variable_initialize(c, use, reg);
    c->top = mark;
}

// `return test ? a : b` returns from both branches: no move, no jump.
void compile_return_value(FlowCompiler *c, FlowNode *node) {
    Register mark = c->top;
    if (node->kind == NODE_CONDITIONAL) {
        JumpList otherwise = {0};
        compile_condition(c, node->conditional.test, false, &otherwise);
        compile_return_value(c, node->conditional.consequent);
        jump_patch_here(c, &otherwise);
        compile_return_value(c, node->conditional.alternate);
    } else {
        emit_abc(c, OP_RETURN, compile_any(c, node), 0, 0);
    }
    c->top = mark;
}

// With something to do on the way out: an iterator to close, a finally block, `this` to check.
static void compile_return_exit(FlowCompiler *c, FlowNode *node) {
    Register mark = c->top;
    FlowNode *operand = node->unary.operand;
    Register value = register_new(c); // what runs on the way out may assign a variable
    if (operand) compile_expression(c, operand, value);
    else emit_abc(c, OP_LOAD_UNDEFINED, value, 0, 0);
    if (operand && c->function->is_async && c->function->is_generator)
        emit_await(c, value, value, node->at);
    emit_position(c, node->start);
    control_exit(c, (Exit){.kind = EXIT_RETURN}, value);
    c->top = mark;
}

static void compile_return_statement(FlowCompiler *c, FlowNode *node) {
    bool is_plain = !c->control && c->function->kind != FUNCTION_KIND_DERIVED_CONSTRUCTOR &&
                    !(c->function->is_async && c->function->is_generator);
    if (!is_plain) compile_return_exit(c, node);
    else if (node->unary.operand) compile_return_value(c, node->unary.operand);
    else emit_abc(c, OP_RETURN_UNDEFINED, 0, 0, 0);
}

// --- switch
static void compile_switch_cases(FlowCompiler *c, FlowNode *node, JumpList *labels) {
    const FlowNodeList *cases = &node->switch_statement.cases;
    for (uint32_t i = 0; i < cases->count; i++) {
        jump_patch_here(c, &labels[i]);
        compile_statements(c, &cases->items[i]->switch_case.body);
    }
}

static void compile_switch_tests(FlowCompiler *c, FlowNode *node, Register value,
                                 JumpList *labels) {
    const FlowNodeList *cases = &node->switch_statement.cases;
    uint32_t otherwise = cases->count;
    for (uint32_t i = 0; i < cases->count; i++) {
        FlowNode *test = cases->items[i]->switch_case.test;
        Register mark = c->top;
        int32_t immediate;
        if (!test) {
            otherwise = i;
        } else if (node_is_short_int(test, &immediate)) {
            emit_compare(c, OP_JUMP_STRICT_EQ_INT, value, (uint16_t)(int16_t)immediate, &labels[i]);
        } else {
            Register candidate = compile_any(c, test);
            emit_compare(c, OP_JUMP_STRICT_EQ, value, candidate, &labels[i]);
        }
        c->top = mark;
    }
    emit_jump(c, &labels[otherwise]); // without a default: the end
}

static void compile_switch(FlowCompiler *c, FlowNode *node) {
    Control control;
    Register mark = c->top;
    uint32_t start_pc = emit_here(c);
    uint32_t count = node->switch_statement.cases.count;
    JumpList *labels = ARENA_ARRAY(c->arena, JumpList, count + 1);
    Register value = compile_next(c, node->switch_statement.discriminant);
    scope_enter(c, node->switch_statement.scope);
    control_begin(c, &control, CONTROL_LABEL, node);
    compile_switch_tests(c, node, value, labels);
    compile_switch_cases(c, node, labels);
    control_end(c, &control);
    jump_patch_here(c, &labels[count]);
    jump_patch_here(c, &control.breaks);
    scope_leave(c, node->switch_statement.scope, mark, start_pc);
    c->top = mark;
}

static void compile_labeled(FlowCompiler *c, FlowNode *node) {
    Control control;
    control_begin(c, &control, CONTROL_LABEL, node);
    compile_statement(c, node->labeled.body);
    control_end(c, &control);
    jump_patch_here(c, &control.breaks);
}

static void compile_export_default(FlowCompiler *c, FlowNode *node) {
    FlowNode *operand = node->unary.operand;
    if (operand->kind == NODE_FUNCTION_DECLARATION) return; // hoisted
    const FlowEntry *entry = &c->program->entries[0];
    Register mark = c->top;
    Register value = register_new(c);
    compile_named(c, operand, flow_module_string(c->module, STR("default")), value);
    FlowReference to = {.variable = entry->variable,
                        .access = entry->variable->is_captured ? ACCESS_CELL : ACCESS_LOCAL};
    variable_initialize(c, (Use){&to, NULL, node->at}, value);
    c->top = mark;
}

static void compile_throw(FlowCompiler *c, FlowNode *node) {
    Register mark = c->top;
    Register value = compile_any(c, node->unary.operand);
    emit_position(c, node->at);
    emit_abc(c, OP_THROW, value, 0, 0);
    c->top = mark;
}

// Whether it makes code of its own where it stands.
static bool is_step(const FlowNode *node) {
    return node->kind != NODE_FUNCTION_DECLARATION && node->kind != NODE_WORKFLOW &&
           node->kind != NODE_EMPTY && node->kind != NODE_BLOCK && node->kind != NODE_LABELED &&
           node->kind != NODE_EXPORT_CONFIG;
}

void compile_statement(FlowCompiler *c, FlowNode *node) {
    if (is_step(node)) emit_statement(c, node);
    switch (node->kind) {
    case NODE_EXPRESSION_STATEMENT: compile_discard(c, node->unary.operand); break;
    case NODE_VARIABLES: compile_variables(c, node); break;
    case NODE_FUNCTION_DECLARATION:
    case NODE_WORKFLOW: // made when the scope is entered
    case NODE_EMPTY: break;
    case NODE_CLASS_DECLARATION: compile_class_declaration(c, node->class_definition); break;
    case NODE_BLOCK: compile_block(c, node); break;
    case NODE_IF: compile_if(c, node); break;
    case NODE_FOR: compile_for(c, node); break;
    case NODE_FOR_IN: compile_for_in(c, node); break;
    case NODE_FOR_OF: compile_for_of(c, node); break;
    case NODE_WHILE: compile_while(c, node); break;
    case NODE_DO_WHILE: compile_do_while(c, node); break;
    case NODE_RETURN: compile_return_statement(c, node); break;
    case NODE_BREAK:
        control_exit(c, (Exit){.kind = EXIT_BREAK, .target = node->jump.target}, NO_REGISTER);
        break;
    case NODE_CONTINUE:
        control_exit(c, (Exit){.kind = EXIT_CONTINUE, .target = node->jump.target}, NO_REGISTER);
        break;
    case NODE_THROW: compile_throw(c, node); break;
    case NODE_TRY: compile_try(c, node); break;
    case NODE_SWITCH: compile_switch(c, node); break;
    case NODE_LABELED: compile_labeled(c, node); break;
    case NODE_EXPORT_DEFAULT: compile_export_default(c, node); break;
    case NODE_EXPORT_CONFIG: compile_statement(c, node->unary.operand); break;
    default: UNREACHABLE();
    }
}
