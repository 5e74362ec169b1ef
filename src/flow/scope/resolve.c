// References: from a name to its variable, and how the using function reaches it.
//
// A variable of an outer function is reached through a capture in every function between. The
// last capture of each variable is cached in the variable; others are found in one hash map, so
// that neither many uses nor deep nesting make the analysis more than linear.
#include "flow/scope/internal.h"

static uint64_t capture_key(const FlowFunction *function, const FlowVariable *variable) {
    return (uint64_t)function->id << 32 | variable->serial;
}

// The index of `variable` among the captures of `state`, made when it is not there yet.
// Recursion is as deep as functions are nested.
static uint32_t capture_index(ScopeAnalyzer *a, FunctionState *state, FlowVariable *variable) {
    FlowFunction *function = state->function;
    if (variable->last_capture_function == function) return variable->last_capture;
    uint64_t key = capture_key(function, variable);
    uintptr_t known = (uintptr_t)map_get(&a->captures, key);
    if (known == 0) {
        FlowCapture capture = {.variable = variable, .is_parent_local = true};
        ASSERT(state->outer);
        if (state->outer->function != variable->function) {
            capture.is_parent_local = false;
            capture.parent_index = capture_index(a, state->outer, variable);
        }
        vec_push(&state->captures, capture);
        known = state->captures.count;
        map_put(&a->captures, key, (void *)known);
    }
    variable->last_capture_function = function;
    variable->last_capture = (uint32_t)(known - 1);
    return variable->last_capture;
}

void scope_refer(ScopeAnalyzer *a, FlowVariable *variable, FlowReference *ret_reference) {
    *ret_reference = (FlowReference){.variable = variable, .access = ACCESS_LOCAL};
    if (variable->function == a->state->function) {
        ret_reference->next_use = variable->uses;
        variable->uses = ret_reference;
        return;
    }
    variable->is_captured = true;
    ret_reference->access = ACCESS_CAPTURE;
    ret_reference->capture_index = capture_index(a, a->state, variable);
}

// ---- time

static bool has_dead_zone(const FlowVariable *variable) {
    switch (variable->kind) {
    case VARIABLE_LET:
    case VARIABLE_CONST:
    case VARIABLE_CLASS:
    case VARIABLE_CLASS_INNER:
    case VARIABLE_CATCH:
    case VARIABLE_PARAMETER: return true;
    default: return false;
    }
}

static void mark_dead_zone(FlowVariable *variable, FlowReference *reference) {
    if (!has_dead_zone(variable)) return;
    bool may_be_skipped = variable->scope->kind == SCOPE_SWITCH; // a case may jump past it
    if (variable->is_initialized && !may_be_skipped) return;     // [scope-internal-1]
    reference->needs_tdz_check = true;
    variable->needs_tdz = true;
}

// ---- names

static void refuse_global(ScopeAnalyzer *a, const FlowNode *node,
                          const FlowRefusedGlobal *refused) {
    flow_report_add(a->report,
                    &(FlowFinding){.code = FLOW_ERROR_REFUSED,
                                   .start = node->start,
                                   .end = node->end,
                                   .hint = refused->hint},
                    "`%s` is not available in a workflow", refused->name);
}

static void resolve_global(ScopeAnalyzer *a, FlowNode *node) {
    node->reference.to = (FlowReference){.access = ACCESS_GLOBAL};
    FlowName *name = node->reference.name;
    if (a->program->form == FORM_PRELUDE || name->is_checked) return; // said once per name
    name->is_checked = true;
    const FlowRefusedGlobal *refused = flow_refused_global_find(name->text);
    if (refused) refuse_global(a, node, refused);
}

static void resolve_arguments(ScopeAnalyzer *a, FlowNode *node) {
    if (a->state->home->function->kind == FUNCTION_KIND_PROGRAM) {
        flow_report_add(a->report,
                        &(FlowFinding){.code = FLOW_ERROR_CONTEXT,
                                       .start = node->start,
                                       .end = node->end,
                                       .hint = "Use `Inputs`"},
                        "`arguments` is not available at the top level");
        return;
    }
    scope_resolve_special(a, VARIABLE_ARGUMENTS, &node->reference.to);
}

// Answers the variable, NULL for a global.
static FlowVariable *resolve(ScopeAnalyzer *a, FlowNode *node) {
    FlowName *name = node->reference.name;
    FlowVariable *variable = name->binding;
    if (variable) {
        scope_refer(a, variable, &node->reference.to);
        mark_dead_zone(variable, &node->reference.to);
        return variable;
    }
    if (name->keyword == TOKEN_ARGUMENTS) resolve_arguments(a, node);
    else resolve_global(a, node);
    return node->reference.to.variable;
}

void scope_resolve_use(ScopeAnalyzer *a, FlowNode *node) {
    FlowVariable *variable = resolve(a, node);
    if (variable) variable->is_used = true;
}

void scope_resolve_typeof(ScopeAnalyzer *a, FlowNode *node) {
    if (node->reference.name->binding || node->reference.name->keyword == TOKEN_ARGUMENTS)
        scope_resolve_use(a, node);
    else node->reference.to = (FlowReference){.access = ACCESS_GLOBAL};
}

void scope_resolve_write(ScopeAnalyzer *a, FlowNode *node, bool is_also_read) {
    FlowVariable *variable = resolve(a, node);
    if (!variable) return;
    variable->is_assigned = true;
    if (is_also_read) variable->is_used = true;
}

void scope_resolve_declared(ScopeAnalyzer *a, FlowNode *node) {
    FlowVariable *variable = node->reference.name->binding;
    if (!variable) return; // only after an error
    scope_refer(a, variable, &node->reference.to);
    variable->is_initialized = true;
}

// A `var` must not pass a lexical declaration of its name on the way to its function.
void scope_resolve_var(ScopeAnalyzer *a, FlowNode *node) {
    FlowVariable *variable = node->reference.name->binding;
    const FlowVariable *outer = variable;
    if (outer && outer->is_simple_catch && outer->function == a->state->function)
        outer = outer->behind;
    bool is_function_level =
        outer && outer->function == a->state->function &&
        (outer->scope == a->state->body_scope || outer->scope->kind == SCOPE_PARAMETERS);
    bool is_lexical = outer && (outer->kind == VARIABLE_LET || outer->kind == VARIABLE_CONST ||
                                outer->kind == VARIABLE_CLASS);
    if (!is_function_level || is_lexical) {
        scope_report_redeclared(a, node);
        return;
    }
    scope_refer(a, variable, &node->reference.to);
    variable->is_assigned = true; // a var may be declared, and so written, many times
}

void scope_resolve_private(ScopeAnalyzer *a, FlowNode *node) {
    FlowVariable *variable = node->reference.name->binding;
    if (!variable) {
        flow_report_add(
            a->report,
            &(FlowFinding){.code = FLOW_ERROR_PRIVATE, .start = node->start, .end = node->end},
            "Private field '%.*s' must be declared in an enclosing class",
            STR_ARG(node->reference.name->text));
        return;
    }
    scope_refer(a, variable, &node->reference.to);
    variable->is_used = true;
}

void scope_refuse_function(ScopeAnalyzer *a, const FlowNode *callee) {
    if (callee->kind != NODE_IDENTIFIER || callee->reference.to.access != ACCESS_GLOBAL) return;
    if (a->program->form == FORM_PRELUDE) return;
    if (!str_equal(callee->reference.name->text, STR("Function"))) return;
    flow_report_add(a->report,
                    &(FlowFinding){.code = FLOW_ERROR_REFUSED,
                                   .start = callee->start,
                                   .end = callee->end,
                                   .hint = "Code that is made at run time cannot be kept in a "
                                           "snapshot; write a function"},
                    "`Function()` is not available in a workflow");
}

// ---- this, new.target, super, arguments

static FlowVariable **special_slot(FlowFunction *function, FlowVariableKind kind) {
    switch (kind) {
    case VARIABLE_THIS: return &function->this_variable;
    case VARIABLE_NEW_TARGET: return &function->new_target_variable;
    case VARIABLE_HOME_OBJECT: return &function->home_variable;
    case VARIABLE_CALLEE: return &function->callee_variable;
    case VARIABLE_ARGUMENTS: return &function->arguments_variable;
    default: UNREACHABLE();
    }
}

void scope_resolve_special(ScopeAnalyzer *a, FlowVariableKind kind, FlowReference *ret_reference) {
    FlowFunction *function = a->state->home->function;
    FlowVariable **slot = special_slot(function, kind);
    if (!*slot) {
        *slot = scope_add(a, function->parameter_scope, NULL, kind);
        (*slot)->start = function->start;
        (*slot)->is_used = true;
    }
    scope_refer(a, *slot, ret_reference);
    if (kind == VARIABLE_THIS && function->kind == FUNCTION_KIND_DERIVED_CONSTRUCTOR) {
        ret_reference->needs_tdz_check = true; // until super() has returned
        (*slot)->needs_tdz = true;
    }
}
