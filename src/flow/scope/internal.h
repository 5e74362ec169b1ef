// What the parts of scope analysis share.
//
// The walk follows the order of execution: parameters, hoisted functions, then statements. A name
// points at its innermost declaration (FlowName.binding), kept up to date as scopes are entered
// and left, so looking a name up is one load however deep the nesting is.
//   [scope-internal-1] A variable is_initialized once the walk has passed its declaration; a use
//        before that, or in a function that is made before that, needs a check.
//   [scope-internal-2] Hoisted functions are walked when their scope is entered: that is when they
//        are made.
#pragma once
#include "base/assert.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "flow/lexer/report.h"
#include "flow/lexer/token.h"
#include "flow/scope/scope.h"

typedef struct FunctionState { // one per open function, on the C stack
    struct FunctionState *outer;
    struct FunctionState *home; // the nearest function that is no arrow: owner of `this`
    FlowFunction *function;
    FlowScope *body_scope; // where its vars are; NULL while the parameters are walked
    VEC(FlowCapture) captures;
} FunctionState;

typedef struct ScopeAnalyzer {
    Arena *arena;
    FlowReport *report;
    FlowProgram *program;
    FunctionState *state;
    FlowScope *scope; // innermost open one
    Map captures;     // function id << 32 | variable serial -> index + 1
    uint32_t function_count;
    uint32_t variable_count;
    VEC(FlowNode *) functions; // hoisted functions of the scopes being entered
} ScopeAnalyzer;

// ---- scopes and declarations (scope.c)
FlowScope *scope_open(ScopeAnalyzer *a, FlowScopeKind kind, uint32_t start);
void scope_close(ScopeAnalyzer *a);
FlowVariable *scope_add(ScopeAnalyzer *a, FlowScope *scope, FlowName *name, FlowVariableKind kind);
void scope_report(ScopeAnalyzer *a, const FlowNode *node, FlowCode code, const char *message);
void scope_report_redeclared(ScopeAnalyzer *a, const FlowNode *node);

// ---- hoisting (scope/hoist.c)
// Opens a scope for what the statements declare; NULL when they declare nothing.
FlowScope *scope_open_block(ScopeAnalyzer *a, FlowNodeList statements, uint32_t start);
FlowScope *scope_open_switch(ScopeAnalyzer *a, FlowNode *node);
FlowScope *scope_open_variables(ScopeAnalyzer *a, const FlowNode *variables, uint32_t start);
void scope_declare_body(ScopeAnalyzer *a, FlowFunction *function);
void scope_declare_pattern(ScopeAnalyzer *a, FlowNode *pattern, FlowVariableKind kind);
void scope_walk_hoisted(ScopeAnalyzer *a, FlowScope *scope); // [scope-internal-2]

// ---- references (scope/resolve.c)
void scope_refer(ScopeAnalyzer *a, FlowVariable *variable, FlowReference *ret_reference);
void scope_resolve_use(ScopeAnalyzer *a, FlowNode *identifier);
void scope_resolve_typeof(ScopeAnalyzer *a, FlowNode *identifier);
void scope_resolve_write(ScopeAnalyzer *a, FlowNode *identifier, bool is_also_read);
void scope_resolve_declared(ScopeAnalyzer *a, FlowNode *identifier); // marks it initialised
void scope_resolve_var(ScopeAnalyzer *a, FlowNode *identifier);
void scope_resolve_private(ScopeAnalyzer *a, FlowNode *name);
void scope_resolve_special(ScopeAnalyzer *a, FlowVariableKind kind, FlowReference *ret_reference);
void scope_refuse_function(ScopeAnalyzer *a, const FlowNode *callee); // Function(…)

// ---- the walk
void walk_expression(ScopeAnalyzer *a, FlowNode *node);
void walk_list(ScopeAnalyzer *a, FlowNodeList list);
void walk_statements(ScopeAnalyzer *a, FlowNodeList list);
typedef enum BindingMode { BINDING_LEXICAL, BINDING_VAR } BindingMode;
void walk_binding(ScopeAnalyzer *a, FlowNode *node, BindingMode mode);
void walk_function(ScopeAnalyzer *a, FlowFunction *function);
void walk_class(ScopeAnalyzer *a, FlowClass *class, bool is_declaration);
void function_begin(ScopeAnalyzer *a, FunctionState *state, FlowFunction *function);
void function_end(ScopeAnalyzer *a, FunctionState *state);
