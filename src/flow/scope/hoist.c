// Declarations: what a statement list, a function body or a loop head declares, found before
// any of it is walked.
//
// Only direct children of a list declare in its scope. `var` names were collected by the parser,
// function by function.
#include "flow/scope/internal.h"

// The declaration inside an export.
static FlowNode *strip_export(FlowNode *statement) {
    if (statement->kind == NODE_EXPORT_CONFIG) return statement->unary.operand;
    if (statement->kind == NODE_EXPORT_DEFAULT &&
        statement->unary.operand->kind == NODE_FUNCTION_DECLARATION)
        return statement->unary.operand;
    return statement;
}

static bool is_function(const FlowNode *statement) {
    return statement->kind == NODE_FUNCTION_DECLARATION || statement->kind == NODE_WORKFLOW;
}

static FlowVariable *declare(ScopeAnalyzer *a, const FlowNode *identifier, FlowVariableKind kind) {
    FlowName *name = identifier->reference.name;
    FlowVariable *variable = scope_add(a, a->scope, name, kind);
    variable->start = identifier->start;
    variable->shadowed = name->binding;
    name->binding = variable;
    return variable;
}

static FlowVariable *find_here(const ScopeAnalyzer *a, const FlowName *name) {
    return name->binding && name->binding->scope == a->scope ? name->binding : NULL;
}

// Whether `name` is a parameter of the function whose body scope is being filled.
static bool is_parameter(const ScopeAnalyzer *a, const FlowName *name) {
    const FlowVariable *variable = name->binding;
    return variable && a->scope == a->state->body_scope &&
           variable->function == a->state->function && variable->kind == VARIABLE_PARAMETER;
}

static void declare_lexical(ScopeAnalyzer *a, FlowNode *identifier, FlowVariableKind kind) {
    if (find_here(a, identifier->reference.name) || is_parameter(a, identifier->reference.name))
        scope_report_redeclared(a, identifier);
    else declare(a, identifier, kind);
}

static void declare_one(ScopeAnalyzer *a, FlowNode *identifier, FlowVariableKind kind) {
    if (kind == VARIABLE_PARAMETER && find_here(a, identifier->reference.name)) {
        scope_report(a, identifier, FLOW_ERROR_REDECLARED,
                     "Duplicate parameter name not allowed in this context");
        return;
    }
    declare_lexical(a, identifier, kind);
}

void scope_declare_pattern(ScopeAnalyzer *a, FlowNode *pattern, FlowVariableKind kind) {
    switch (pattern->kind) {
    case NODE_IDENTIFIER: declare_one(a, pattern, kind); return;
    case NODE_DEFAULT: scope_declare_pattern(a, pattern->binary.left, kind); return;
    case NODE_REST: scope_declare_pattern(a, pattern->unary.operand, kind); return;
    case NODE_PROPERTY: scope_declare_pattern(a, pattern->property.value, kind); return;
    case NODE_ARRAY_PATTERN:
    case NODE_OBJECT_PATTERN:
        for (uint32_t i = 0; i < pattern->list.count; i++)
            if (pattern->list.items[i]) scope_declare_pattern(a, pattern->list.items[i], kind);
        return;
    default: return; // after an error
    }
}

// ---- functions of a list

static void declare_function(ScopeAnalyzer *a, FlowNode *node, bool is_body) {
    FlowNode *identifier = node->function->name_node;
    FlowVariable *variable = find_here(a, identifier->reference.name);
    if (!variable && is_body && is_parameter(a, identifier->reference.name)) {
        FlowVariable *parameter = identifier->reference.name->binding;
        variable = declare(a, identifier, VARIABLE_FUNCTION);
        variable->parameter = parameter;
    } else if (!variable) {
        variable = declare(a, identifier, VARIABLE_FUNCTION);
    } else if (!is_body || node->kind == NODE_WORKFLOW ||
               (variable->declaration && variable->declaration->kind == NODE_WORKFLOW) ||
               variable->kind == VARIABLE_LET || variable->kind == VARIABLE_CONST) {
        scope_report_redeclared(a, identifier);
        return;
    } else {
        variable->is_assigned = true;
    }
    variable->declaration = node;
    vec_push(&a->functions, node);
}

// Of functions with one name the last is made; its value is there before the first statement.
static void finish_functions(ScopeAnalyzer *a, size_t mark) {
    FlowNodeList *list = &a->scope->functions;
    list->items = ARENA_ARRAY(a->arena, FlowNode *, a->functions.count - mark + 1);
    for (size_t i = mark; i < a->functions.count; i++) {
        FlowNode *node = a->functions.data[i];
        FlowNode *identifier = node->function->name_node;
        FlowVariable *variable = find_here(a, identifier->reference.name);
        if (!variable) continue; // a later error hid it
        scope_refer(a, variable, &identifier->reference.to);
        if (variable->declaration == node) list->items[list->count++] = node;
    }
    a->functions.count = mark;
}

static void declare_functions(ScopeAnalyzer *a, FlowNodeList statements, bool is_body) {
    for (uint32_t i = 0; i < statements.count; i++) {
        FlowNode *statement = strip_export(statements.items[i]);
        if (is_function(statement)) declare_function(a, statement, is_body);
    }
}

static void declare_lexicals(ScopeAnalyzer *a, FlowNodeList statements) {
    for (uint32_t i = 0; i < statements.count; i++) {
        FlowNode *statement = strip_export(statements.items[i]);
        if (statement->kind == NODE_CLASS_DECLARATION) {
            if (statement->class_definition->name_node)
                declare_lexical(a, statement->class_definition->name_node, VARIABLE_CLASS);
        } else if (statement->kind == NODE_VARIABLES && statement->op != VARIABLE_VAR) {
            for (uint32_t k = 0; k < statement->list.count; k++)
                scope_declare_pattern(a, statement->list.items[k]->binary.left, statement->op);
        }
    }
}

static bool declares_something(FlowNodeList statements) {
    for (uint32_t i = 0; i < statements.count; i++) {
        const FlowNode *statement = statements.items[i];
        if (is_function(statement) || statement->kind == NODE_CLASS_DECLARATION ||
            (statement->kind == NODE_VARIABLES && statement->op != VARIABLE_VAR))
            return true;
    }
    return false;
}

// ---- scopes

FlowScope *scope_open_block(ScopeAnalyzer *a, FlowNodeList statements, uint32_t start) {
    if (!declares_something(statements)) return NULL;
    FlowScope *scope = scope_open(a, SCOPE_BLOCK, start);
    size_t mark = a->functions.count;
    declare_functions(a, statements, false);
    declare_lexicals(a, statements);
    finish_functions(a, mark);
    return scope;
}

FlowScope *scope_open_switch(ScopeAnalyzer *a, FlowNode *node) {
    FlowNodeList cases = node->switch_statement.cases;
    bool has_any = false;
    for (uint32_t i = 0; i < cases.count; i++)
        has_any |= declares_something(cases.items[i]->switch_case.body);
    if (!has_any) return NULL;
    FlowScope *scope = scope_open(a, SCOPE_SWITCH, node->start);
    size_t mark = a->functions.count;
    for (uint32_t i = 0; i < cases.count; i++)
        declare_functions(a, cases.items[i]->switch_case.body, false);
    for (uint32_t i = 0; i < cases.count; i++)
        declare_lexicals(a, cases.items[i]->switch_case.body);
    finish_functions(a, mark);
    return scope;
}

FlowScope *scope_open_variables(ScopeAnalyzer *a, const FlowNode *variables, uint32_t start) {
    if (!variables || variables->kind != NODE_VARIABLES || variables->op == VARIABLE_VAR)
        return NULL;
    FlowScope *scope = scope_open(a, SCOPE_FOR, start);
    for (uint32_t i = 0; i < variables->list.count; i++)
        scope_declare_pattern(a, variables->list.items[i]->binary.left, variables->op);
    return scope;
}

void scope_declare_body(ScopeAnalyzer *a, FlowFunction *function) {
    for (uint32_t i = 0; i < function->vars.count; i++) {
        FlowNode *identifier = function->vars.items[i];
        FlowName *name = identifier->reference.name;
        if (find_here(a, name)) continue;
        FlowVariable *parameter = is_parameter(a, name) ? name->binding : NULL; // [scope-4]
        declare(a, identifier, VARIABLE_VAR)->parameter = parameter;
    }
    size_t mark = a->functions.count;
    declare_functions(a, function->body, true);
    declare_lexicals(a, function->body);
    finish_functions(a, mark);
}

void scope_walk_hoisted(ScopeAnalyzer *a, FlowScope *scope) {
    if (!scope) return;
    for (uint32_t i = 0; i < scope->functions.count; i++)
        walk_function(a, scope->functions.items[i]->function);
}
