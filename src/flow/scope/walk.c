// The walk over expressions and statements, in the order of execution.
//
// Recursion is as deep as the tree is high, which the parser limits (ast.h [ast-4]); the functions
// are kept small so that a frame is. The order matters only for [scope-internal-1]: whether a use
// comes before the initialisation of its variable.
#include "flow/scope/internal.h"

void walk_list(ScopeAnalyzer *a, FlowNodeList list) {
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i]) walk_expression(a, list.items[i]);
}

static void walk_optional(ScopeAnalyzer *a, FlowNode *node) {
    if (node) walk_expression(a, node);
}

// ---- patterns

static void walk_property_key(ScopeAnalyzer *a, const FlowNode *property) {
    if (property->flags & FLAG_COMPUTED) walk_expression(a, property->property.key);
}

static void walk_target(ScopeAnalyzer *a, FlowNode *node) {
    switch (node->kind) {
    case NODE_IDENTIFIER: scope_resolve_write(a, node, false); return;
    case NODE_DEFAULT:
        walk_target(a, node->binary.left);
        walk_expression(a, node->binary.right);
        return;
    case NODE_REST: walk_target(a, node->unary.operand); return;
    case NODE_PROPERTY:
        walk_property_key(a, node);
        walk_target(a, node->property.value);
        return;
    case NODE_ARRAY_PATTERN:
    case NODE_OBJECT_PATTERN:
        for (uint32_t i = 0; i < node->list.count; i++)
            if (node->list.items[i]) walk_target(a, node->list.items[i]);
        return;
    default: walk_expression(a, node);
    }
}

void walk_binding(ScopeAnalyzer *a, FlowNode *node, BindingMode mode) {
    switch (node->kind) {
    case NODE_IDENTIFIER:
        if (mode == BINDING_LEXICAL) scope_resolve_declared(a, node);
        else scope_resolve_var(a, node);
        return;
    case NODE_DEFAULT: // the name is there only after its default has been evaluated
        walk_expression(a, node->binary.right);
        walk_binding(a, node->binary.left, mode);
        return;
    case NODE_REST: walk_binding(a, node->unary.operand, mode); return;
    case NODE_PROPERTY:
        walk_property_key(a, node);
        walk_binding(a, node->property.value, mode);
        return;
    case NODE_ARRAY_PATTERN:
    case NODE_OBJECT_PATTERN:
        for (uint32_t i = 0; i < node->list.count; i++)
            if (node->list.items[i]) walk_binding(a, node->list.items[i], mode);
        return;
    default: return;
    }
}

// ---- expressions

static void walk_assign(ScopeAnalyzer *a, FlowNode *node) {
    FlowNode *left = node->binary.left;
    if (left->kind == NODE_IDENTIFIER) scope_resolve_write(a, left, node->op != OPERATOR_NONE);
    else walk_target(a, left);
    walk_expression(a, node->binary.right);
}

static void walk_unary(ScopeAnalyzer *a, FlowNode *node) {
    FlowNode *operand = node->unary.operand;
    if (node->kind == NODE_UPDATE && operand->kind == NODE_IDENTIFIER)
        scope_resolve_write(a, operand, true);
    else if (node->op == OPERATOR_TYPEOF && operand->kind == NODE_IDENTIFIER)
        scope_resolve_typeof(a, operand);
    else walk_expression(a, operand);
}

static void walk_call(ScopeAnalyzer *a, FlowNode *node) {
    walk_expression(a, node->call.callee);
    scope_refuse_function(a, node->call.callee);
    walk_list(a, node->call.arguments);
}

static void walk_super(ScopeAnalyzer *a, FlowNode *node) {
    if (node->kind == NODE_SUPER_CALL) {
        FlowSuper *super = node->super_call.super;
        walk_list(a, node->super_call.arguments);
        scope_resolve_special(a, VARIABLE_THIS, &super->this_value);
        scope_resolve_special(a, VARIABLE_NEW_TARGET, &super->new_target);
        scope_resolve_special(a, VARIABLE_CALLEE, &super->callee);
        return;
    }
    FlowSuper *super = node->super_access.super;
    walk_optional(a, node->super_access.index);
    scope_resolve_special(a, VARIABLE_THIS, &super->this_value);
    scope_resolve_special(a, VARIABLE_HOME_OBJECT, &super->home_object);
}

static void walk_chain(ScopeAnalyzer *a, FlowNode *node) {
    walk_expression(a, node->chain.first);
    for (uint32_t i = 0; i < node->chain.count; i++)
        walk_expression(a, node->chain.links[i].operand);
}

void walk_expression(ScopeAnalyzer *a, FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_IDENTIFIER: scope_resolve_use(a, node); return;
    case NODE_THIS: scope_resolve_special(a, VARIABLE_THIS, &node->reference.to); return;
    case NODE_NEW_TARGET:
        scope_resolve_special(a, VARIABLE_NEW_TARGET, &node->reference.to);
        return;
    case NODE_PRIVATE_NAME: scope_resolve_private(a, node); return;
    case NODE_TEMPLATE: walk_list(a, node->template.expressions); return;
    case NODE_ARRAY:
    case NODE_OBJECT:
    case NODE_SEQUENCE: walk_list(a, node->list); return;
    case NODE_PROPERTY:
        walk_property_key(a, node);
        walk_expression(a, node->property.value);
        return;
    case NODE_FUNCTION: walk_function(a, node->function); return;
    case NODE_CLASS: walk_class(a, node->class_definition, false); return;
    case NODE_UNARY:
    case NODE_UPDATE: walk_unary(a, node); return;
    case NODE_OPTIONAL_CHAIN:
    case NODE_SPREAD:
    case NODE_AWAIT: walk_expression(a, node->unary.operand); return;
    case NODE_YIELD: walk_optional(a, node->unary.operand); return;
    case NODE_BINARY:
    case NODE_LOGICAL:
    case NODE_PRIVATE_IN:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
        walk_expression(a, node->binary.left);
        walk_expression(a, node->binary.right);
        return;
    case NODE_BINARY_CHAIN:
    case NODE_LOGICAL_CHAIN: walk_chain(a, node); return;
    case NODE_ASSIGN: walk_assign(a, node); return;
    case NODE_CONDITIONAL:
        walk_expression(a, node->conditional.test);
        walk_expression(a, node->conditional.consequent);
        walk_expression(a, node->conditional.alternate);
        return;
    case NODE_MEMBER: walk_expression(a, node->member.object); return;
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX:
    case NODE_SUPER_CALL: walk_super(a, node); return;
    case NODE_CALL:
    case NODE_NEW:
    case NODE_TAGGED: walk_call(a, node); return;
    case NODE_INTRINSIC: walk_list(a, node->intrinsic.arguments); return;
    default: return; // literals; and what an error left behind
    }
}

// ---- statements

static void walk_statement(ScopeAnalyzer *a, FlowNode *node);

void walk_statements(ScopeAnalyzer *a, FlowNodeList list) {
    for (uint32_t i = 0; i < list.count; i++) walk_statement(a, list.items[i]);
}

static void walk_block(ScopeAnalyzer *a, FlowNode *node) {
    FlowScope *scope = scope_open_block(a, node->block.statements, node->start);
    node->block.scope = scope;
    scope_walk_hoisted(a, scope);
    walk_statements(a, node->block.statements);
    if (scope) scope_close(a);
}

static void walk_variables(ScopeAnalyzer *a, FlowNode *node) {
    BindingMode mode = node->op == VARIABLE_VAR ? BINDING_VAR : BINDING_LEXICAL;
    for (uint32_t i = 0; i < node->list.count; i++) {
        FlowNode *declarator = node->list.items[i];
        walk_optional(a, declarator->binary.right);
        walk_binding(a, declarator->binary.left, mode);
    }
}

static void walk_for(ScopeAnalyzer *a, FlowNode *node) {
    FlowLoop *loop = node->loop;
    loop->scope = scope_open_variables(a, loop->initializer, node->start);
    if (loop->initializer) walk_statement(a, loop->initializer);
    walk_optional(a, loop->test);
    walk_statement(a, loop->body);
    walk_optional(a, loop->update);
    if (!loop->scope) return;
    scope_close(a);
    loop->scope->needs_copy =
        loop->scope->captured_count > 0 && loop->initializer->op == VARIABLE_LET;
}

static void walk_iteration(ScopeAnalyzer *a, FlowNode *node) {
    FlowNode *left = node->iteration.left;
    FlowScope *scope = scope_open_variables(a, left, node->start);
    node->iteration.scope = scope;
    walk_expression(a, node->iteration.right); // sees the names, but too early
    if (left->kind != NODE_VARIABLES) {
        walk_target(a, left);
    } else {
        BindingMode mode = left->op == VARIABLE_VAR ? BINDING_VAR : BINDING_LEXICAL;
        walk_binding(a, left->list.items[0]->binary.left, mode);
    }
    walk_statement(a, node->iteration.body);
    if (scope) scope_close(a);
}

static void mark_simple_catch(const FlowScope *scope) {
    FlowVariable *variable = scope->variables;
    FlowVariable *outer = variable->shadowed;
    bool is_row = outer && outer->is_simple_catch && outer->function == variable->function;
    variable->is_simple_catch = true;
    variable->behind = is_row ? outer->behind : outer;
}

// The names of the parameter must not be declared again directly in the block.
static void check_catch_body(ScopeAnalyzer *a, FlowScope *parameter_scope, const FlowScope *body) {
    if (!body) return;
    for (FlowVariable *variable = body->variables; variable; variable = variable->next) {
        const FlowVariable *outer = variable->shadowed;
        if (!variable->name || !outer || outer->scope != parameter_scope) continue;
        flow_report_add(a->report,
                        &(FlowFinding){.code = FLOW_ERROR_REDECLARED,
                                       .start = variable->start,
                                       .end = variable->start + (uint32_t)variable->name->text.len},
                        "Identifier '%.*s' has already been declared",
                        STR_ARG(variable->name->text));
    }
}

static void walk_catch(ScopeAnalyzer *a, FlowNode *node) {
    FlowNode *parameter = node->catch_clause.parameter;
    if (!parameter) {
        walk_block(a, node->catch_clause.body);
        return;
    }
    FlowScope *scope = scope_open(a, SCOPE_CATCH, node->start);
    node->catch_clause.scope = scope;
    scope_declare_pattern(a, parameter, VARIABLE_CATCH);
    if (parameter->kind == NODE_IDENTIFIER) mark_simple_catch(scope);
    walk_binding(a, parameter, BINDING_LEXICAL);
    walk_block(a, node->catch_clause.body);
    check_catch_body(a, scope, node->catch_clause.body->block.scope);
    scope_close(a);
}

static void walk_switch(ScopeAnalyzer *a, FlowNode *node) {
    walk_expression(a, node->switch_statement.discriminant);
    FlowScope *scope = scope_open_switch(a, node);
    node->switch_statement.scope = scope;
    scope_walk_hoisted(a, scope);
    FlowNodeList cases = node->switch_statement.cases;
    for (uint32_t i = 0; i < cases.count; i++) {
        walk_optional(a, cases.items[i]->switch_case.test);
        walk_statements(a, cases.items[i]->switch_case.body);
    }
    if (scope) scope_close(a);
}

static void walk_try(ScopeAnalyzer *a, FlowNode *node) {
    walk_block(a, node->try_statement.block);
    if (node->try_statement.handler) walk_catch(a, node->try_statement.handler);
    if (node->try_statement.finalizer) walk_block(a, node->try_statement.finalizer);
}

// Hoisted functions were walked when the scope was entered, except those that another one of
// the same name replaced: nothing calls them, but their errors count.
static void walk_declared_function(ScopeAnalyzer *a, FlowNode *node) {
    const FlowVariable *variable = node->function->name_node->reference.to.variable;
    if (!variable || variable->declaration != node) walk_function(a, node->function);
}

static void walk_statement(ScopeAnalyzer *a, FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_VARIABLES: walk_variables(a, node); return;
    case NODE_CLASS_DECLARATION: walk_class(a, node->class_definition, true); return;
    case NODE_FUNCTION_DECLARATION:
    case NODE_WORKFLOW: walk_declared_function(a, node); return;
    case NODE_BLOCK: walk_block(a, node); return;
    case NODE_EXPRESSION_STATEMENT:
    case NODE_RETURN:
    case NODE_THROW: walk_optional(a, node->unary.operand); return;
    case NODE_IF:
        walk_expression(a, node->conditional.test);
        walk_statement(a, node->conditional.consequent);
        if (node->conditional.alternate) walk_statement(a, node->conditional.alternate);
        return;
    case NODE_FOR: walk_for(a, node); return;
    case NODE_FOR_IN:
    case NODE_FOR_OF: walk_iteration(a, node); return;
    case NODE_WHILE:
        walk_expression(a, node->binary.left);
        walk_statement(a, node->binary.right);
        return;
    case NODE_DO_WHILE:
        walk_statement(a, node->binary.right);
        walk_expression(a, node->binary.left);
        return;
    case NODE_TRY: walk_try(a, node); return;
    case NODE_SWITCH: walk_switch(a, node); return;
    case NODE_LABELED: walk_statement(a, node->labeled.body); return;
    case NODE_EXPORT_DEFAULT:
    case NODE_EXPORT_CONFIG: walk_statement(a, node->unary.operand); return;
    case NODE_EMPTY:
    case NODE_BREAK:
    case NODE_CONTINUE: return;
    default: walk_expression(a, node); // the head of a for, a default export
    }
}
