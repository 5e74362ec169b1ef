// Classes: the scope of the inner name and of the private names, and the functions inside.
//
// Order of evaluation: heritage, then keys, both with the inner name not yet initialised; then
// the class exists, and methods, fields and static blocks may use it. Methods cannot run before
// that, because nobody can reach them, so their uses of the inner name need no check.
#include "flow/scope/internal.h"

static FlowPrivateKind private_kind(const FlowNode *element) {
    switch (element->op) {
    case ELEMENT_METHOD: return PRIVATE_METHOD;
    case ELEMENT_GETTER: return PRIVATE_GETTER;
    case ELEMENT_SETTER: return PRIVATE_SETTER;
    default: return PRIVATE_FIELD;
    }
}

static void declare_private(ScopeAnalyzer *a, const FlowNode *element) {
    FlowNode *key = element->element.key;
    FlowName *name = key->reference.name;
    FlowPrivateKind kind = private_kind(element);
    bool is_static = element->flags & FLAG_STATIC;
    FlowVariable *known = name->binding;
    if (known && known->scope == a->scope) {
        bool is_pair = known->is_static == is_static &&
                       ((known->private_kind == PRIVATE_GETTER && kind == PRIVATE_SETTER) ||
                        (known->private_kind == PRIVATE_SETTER && kind == PRIVATE_GETTER));
        if (is_pair) known->private_kind = PRIVATE_ACCESSOR;
        else scope_report_redeclared(a, key);
        return;
    }
    FlowVariable *variable = scope_add(a, a->scope, name, VARIABLE_PRIVATE);
    variable->start = key->start;
    variable->private_kind = (uint8_t)kind;
    variable->is_static = is_static;
    variable->shadowed = known;
    name->binding = variable;
}

static bool is_private(const FlowNode *element) {
    return element->op != ELEMENT_STATIC_BLOCK && !(element->flags & FLAG_COMPUTED) &&
           element->element.key->kind == NODE_PRIVATE_NAME;
}

static void walk_keys(ScopeAnalyzer *a, const FlowClass *class) {
    for (uint32_t i = 0; i < class->elements.count; i++) {
        FlowNode *element = class->elements.items[i];
        if (element->op == ELEMENT_STATIC_BLOCK) continue;
        FlowNode *key = element->element.key;
        if (is_private(element)) {
            scope_resolve_private(a, key);
            element->element.field_key = ARENA_NEW(a->arena, FlowFieldKey);
            if (key->reference.to.variable)
                scope_refer(a, key->reference.to.variable, &element->element.field_key->store);
        } else if (element->flags & FLAG_COMPUTED) {
            walk_expression(a, key);
            if (element->op != ELEMENT_FIELD) continue;
            FlowVariable *variable = scope_add(a, a->scope, NULL, VARIABLE_FIELD_KEY);
            variable->start = key->start;
            element->element.field_key = ARENA_NEW(a->arena, FlowFieldKey);
            scope_refer(a, variable, &element->element.field_key->store);
        }
    }
}

// The fields (and static blocks) of one kind, as the body of their function.
static void walk_fields(ScopeAnalyzer *a, const FlowClass *class, FlowFunction *function,
                        bool is_static) {
    if (!function) return;
    FunctionState state;
    function_begin(a, &state, function);
    function->parameter_scope = function->body_scope =
        scope_open(a, SCOPE_PARAMETERS, function->start);
    state.body_scope = function->body_scope;
    for (uint32_t i = 0; i < class->elements.count; i++) {
        FlowNode *element = class->elements.items[i];
        if (!!(element->flags & FLAG_STATIC) != is_static) continue;
        FlowFieldKey *key = element->element.field_key;
        if (key && key->store.variable) scope_refer(a, key->store.variable, &key->load);
        if (element->op == ELEMENT_STATIC_BLOCK) walk_function(a, element->element.value->function);
        if (element->op == ELEMENT_FIELD && element->element.value)
            walk_expression(a, element->element.value);
    }
    scope_close(a);
    function_end(a, &state);
}

static void walk_methods(ScopeAnalyzer *a, const FlowClass *class) {
    if (class->constructor) walk_function(a, class->constructor);
    for (uint32_t i = 0; i < class->elements.count; i++) {
        FlowNode *element = class->elements.items[i];
        if (element->op == ELEMENT_METHOD || element->op == ELEMENT_GETTER ||
            element->op == ELEMENT_SETTER)
            walk_function(a, element->element.value->function);
    }
}

static void declare_inner_name(ScopeAnalyzer *a, FlowClass *class) {
    if (!class->name) return;
    FlowVariable *inner = scope_add(a, a->scope, class->name, VARIABLE_CLASS_INNER);
    inner->start = class->name_node->start;
    inner->shadowed = class->name->binding;
    class->name->binding = inner;
    class->inner_variable = inner;
}

void walk_class(ScopeAnalyzer *a, FlowClass *class, bool is_declaration) {
    class->scope = scope_open(a, SCOPE_CLASS, class->start);
    declare_inner_name(a, class);
    for (uint32_t i = 0; i < class->elements.count; i++)
        if (is_private(class->elements.items[i])) declare_private(a, class->elements.items[i]);
    if (class->heritage) walk_expression(a, class->heritage);
    walk_keys(a, class);
    if (class->inner_variable) class->inner_variable->is_initialized = true;
    walk_methods(a, class);
    walk_fields(a, class, class->instance_fields, false);
    walk_fields(a, class, class->static_fields, true);
    scope_close(a);
    if (class->inner_variable && !class->inner_variable->is_used) class->inner_variable = NULL;
    if (is_declaration && class->name_node) scope_resolve_declared(a, class->name_node);
}
