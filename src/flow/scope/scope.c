// Scope analysis: scopes, functions, and the entry.
//
// When a scope is left, its variables know whether they were captured, and every use of theirs
// within their own function learns whether the variable is in a register or in a cell. Uses in
// inner functions go through captures, which scope/resolve.c makes; declarations are found by
// scope/hoist.c; scope/walk.c and scope/class.c visit the tree.
#include "flow/scope/scope.h"
#include "flow/scope/internal.h"

void scope_report(ScopeAnalyzer *a, const FlowNode *node, FlowCode code, const char *message) {
    flow_report_add(a->report, &(FlowFinding){.code = code, .start = node->start, .end = node->end},
                    "%s", message);
}

void scope_report_redeclared(ScopeAnalyzer *a, const FlowNode *node) {
    flow_report_add(
        a->report,
        &(FlowFinding){.code = FLOW_ERROR_REDECLARED, .start = node->start, .end = node->end},
        "Identifier '%.*s' has already been declared", STR_ARG(node->reference.name->text));
}

// ---- scopes

FlowScope *scope_open(ScopeAnalyzer *a, FlowScopeKind kind, uint32_t start) {
    FlowScope *scope = ARENA_NEW(a->arena, FlowScope);
    scope->kind = kind;
    scope->parent = a->scope;
    scope->function = a->state->function;
    scope->start = start;
    a->scope = scope;
    return scope;
}

FlowVariable *scope_add(ScopeAnalyzer *a, FlowScope *scope, FlowName *name, FlowVariableKind kind) {
    FlowVariable *variable = ARENA_NEW(a->arena, FlowVariable);
    variable->name = name;
    variable->scope = scope;
    variable->function = scope->function;
    variable->kind = (uint8_t)kind;
    variable->index = scope->variable_count++;
    variable->serial = a->variable_count++;
    if (scope->last) scope->last->next = variable;
    else scope->variables = variable;
    scope->last = variable;
    return variable;
}

void scope_close(ScopeAnalyzer *a) {
    FlowScope *scope = a->scope;
    for (FlowVariable *variable = scope->variables; variable; variable = variable->next) {
        if (variable->name && variable->name->binding == variable)
            variable->name->binding = variable->shadowed;
        if (!variable->is_captured) continue;
        scope->captured_count++;
        for (FlowReference *use = variable->uses; use; use = use->next_use)
            use->access = ACCESS_CELL;
    }
    a->scope = scope->parent;
}

// ---- functions

void function_begin(ScopeAnalyzer *a, FunctionState *state, FlowFunction *function) {
    *state = (FunctionState){.outer = a->state, .function = function};
    bool is_arrow = function->kind == FUNCTION_KIND_ARROW;
    state->home = is_arrow && a->state ? a->state->home : state;
    function->parent = a->state ? a->state->function : NULL;
    function->id = a->function_count++;
    a->state = state;
}

void function_end(ScopeAnalyzer *a, FunctionState *state) {
    FlowFunction *function = state->function;
    size_t count = state->captures.count;
    if (count > 0) {
        function->captures = arena_alloc(a->arena, count * sizeof(FlowCapture));
        memcpy(function->captures, state->captures.data, count * sizeof(FlowCapture));
        function->capture_count = (uint32_t)count;
    }
    vec_free(&state->captures);
    a->state = state->outer;
}

static void walk_parameters(ScopeAnalyzer *a, FlowFunction *function) {
    FlowNodeList parameters = function->parameters;
    for (uint32_t i = 0; i < parameters.count; i++)
        scope_declare_pattern(a, parameters.items[i], VARIABLE_PARAMETER);
    if (!function->has_parameter_expressions)
        for (FlowVariable *v = a->scope->variables; v; v = v->next) v->is_initialized = true;
    for (uint32_t i = 0; i < parameters.count; i++)
        walk_binding(a, parameters.items[i], BINDING_LEXICAL);
}

static void walk_body(ScopeAnalyzer *a, FlowFunction *function) {
    if (function->has_expression_body) {
        walk_list(a, function->body);
        return;
    }
    scope_declare_body(a, function);
    scope_walk_hoisted(a, a->state->body_scope);
    walk_statements(a, function->body);
}

void walk_function(ScopeAnalyzer *a, FlowFunction *function) {
    FunctionState state;
    function_begin(a, &state, function);
    bool has_self = function->name_node && !function->is_hoisted;
    if (has_self) {
        function->self_scope = scope_open(a, SCOPE_SELF, function->start);
        FlowVariable *self =
            scope_add(a, function->self_scope, function->name, VARIABLE_FUNCTION_NAME);
        self->start = function->name_node->start;
        self->shadowed = function->name->binding;
        function->name->binding = self;
        scope_refer(a, self, &function->name_node->reference.to);
    }
    function->parameter_scope = scope_open(a, SCOPE_PARAMETERS, function->start);
    walk_parameters(a, function);
    function->body_scope = function->parameter_scope;
    if (function->has_parameter_closures && function->has_parameter_expressions) // [scope-4]
        function->body_scope = scope_open(a, SCOPE_BODY, function->body_start);
    state.body_scope = function->body_scope;
    walk_body(a, function);
    if (function->body_scope != function->parameter_scope) scope_close(a);
    scope_close(a);
    if (has_self) scope_close(a);
    function_end(a, &state);
}

// ---- the program

static FlowVariable *entry_variable(ScopeAnalyzer *a, const FlowNode *node, FlowScope *scope) {
    FlowNode *named = NULL;
    if (node->kind == NODE_WORKFLOW) named = node->function->name_node;
    else if (node->unary.operand->kind == NODE_FUNCTION_DECLARATION)
        named = node->unary.operand->function->name_node;
    if (named) {
        FlowVariable *variable = named->reference.to.variable;
        if (variable) variable->is_used = true;
        return variable;
    }
    FlowVariable *variable = scope_add(a, scope, NULL, VARIABLE_DEFAULT);
    variable->is_used = true;
    return variable;
}

bool flow_scope_analyze(FlowProgram *program, Arena *arena, FlowReport *report) {
    uint32_t errors_before = report->error_count;
    ScopeAnalyzer analyzer = {.arena = arena, .report = report, .program = program};
    ScopeAnalyzer *a = &analyzer;
    map_init(&a->captures);
    walk_function(a, program->main);
    for (uint32_t i = 0; i < program->entry_count; i++) {
        FlowEntry *entry = &program->entries[i];
        if (!entry->node) continue;
        entry->variable = entry_variable(a, entry->node, program->main->body_scope);
    }
    program->function_count = a->function_count;
    map_done(&a->captures);
    vec_free(&a->functions);
    return report->error_count == errors_before;
}
