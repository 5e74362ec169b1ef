// The walk of the check over statements and expressions.
//
// Each expression is visited with the use that is made of its value. Recursion is as deep as the
// tree is high, which the parser limits (ast.h [ast-4]).
//
// Not here: what is said about what is found (check/names.c, check/call.c, check/promise.c).
#include "flow/check/internal.h"

static void walk(Checker *c, const FlowNode *node, CheckUse use);
static void walk_statements(Checker *c, FlowNodeList list);
static void walk_statement(Checker *c, const FlowNode *node);
static void walk_target(Checker *c, const FlowNode *node);

static void walk_optional(Checker *c, const FlowNode *node, CheckUse use) {
    if (node) walk(c, node, use);
}

static void walk_list(Checker *c, FlowNodeList list) {
    for (uint32_t i = 0; i < list.count; i++) walk_optional(c, list.items[i], USE_VALUE);
}

// ---- functions and classes ----

static void walk_function(Checker *c, const FlowFunction *function, CheckUse body_use) {
    const FlowScope *outer = c->scope;
    c->scope = function->body_scope;
    for (uint32_t i = 0; i < function->parameters.count; i++)
        walk_target(c, function->parameters.items[i]);
    if (function->has_expression_body) walk(c, function->body.items[0], body_use);
    else walk_statements(c, function->body);
    c->scope = outer;
}

static void walk_class(Checker *c, const FlowClass *class) {
    const FlowScope *outer = c->scope;
    c->scope = class->scope;
    if (class->heritage) walk(c, class->heritage, USE_TESTED); // a subclass gets its own members
    if (class->constructor) walk_function(c, class->constructor, USE_VALUE);
    for (uint32_t i = 0; i < class->elements.count; i++) {
        const FlowNode *element = class->elements.items[i];
        if (element->flags & FLAG_COMPUTED) walk(c, element->element.key, USE_VALUE);
        walk_optional(c, element->element.value, USE_VALUE);
    }
    c->scope = outer;
}

// ---- targets and patterns ----

static void walk_target(Checker *c, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_IDENTIFIER:
        if (!(node->flags & FLAG_DECLARES)) check_write_name(c, node);
        return;
    case NODE_DEFAULT:
        walk_target(c, node->binary.left);
        walk(c, node->binary.right, USE_VALUE);
        return;
    case NODE_REST: walk_target(c, node->unary.operand); return;
    case NODE_PROPERTY:
        if (node->flags & FLAG_COMPUTED) walk(c, node->property.key, USE_VALUE);
        walk_target(c, node->property.value);
        return;
    case NODE_ARRAY_PATTERN:
    case NODE_OBJECT_PATTERN:
        for (uint32_t i = 0; i < node->list.count; i++)
            if (node->list.items[i]) walk_target(c, node->list.items[i]);
        return;
    case NODE_MEMBER:
        check_open_member(c, node->member.object, node->member.name);
        if (!check_global(c, node->member.object)) walk(c, node->member.object, USE_VALUE);
        return;
    default: walk(c, node, USE_VALUE); // index, private member, super
    }
}

// const { run, delay = … } = Task
static void walk_taken_members(Checker *c, const FlowNode *pattern, const FlowNode *object) {
    for (uint32_t i = 0; i < pattern->list.count; i++) {
        const FlowNode *item = pattern->list.items[i];
        if (item->kind != NODE_PROPERTY || item->flags & FLAG_COMPUTED) continue;
        const FlowNode *key = item->property.key;
        if (key->kind != NODE_STRING || !key->string.name || key->flags & FLAG_ESCAPED) continue;
        bool has_default = item->property.value->kind == NODE_DEFAULT;
        check_use_member(c, object, key->string.name, key->end,
                         has_default ? USE_TESTED : USE_VALUE);
    }
}

static void walk_declarator(Checker *c, const FlowNode *node) {
    const FlowNode *left = node->binary.left;
    const FlowNode *right = node->binary.right;
    walk_target(c, left);
    if (!right) return;
    const CheckGlobal *global = check_global(c, right);
    if (global && (global->api || global->class) && left->kind == NODE_OBJECT_PATTERN) {
        walk_taken_members(c, left, right);
        return;
    }
    bool is_async = right->kind == NODE_FUNCTION && right->function->is_async &&
                    !right->function->is_generator && left->kind == NODE_IDENTIFIER;
    const FlowVariable *variable = is_async ? left->reference.to.variable : NULL;
    if (variable && variable->kind == VARIABLE_CONST)
        map_put(&c->async_constants, (uint64_t)(uintptr_t)variable, right->function);
    walk(c, right, USE_VALUE);
}

// ---- calls ----

static bool is_named(Str name, const char *const *names) {
    for (; *names; names++)
        if (str_equal(name, str_from(*names))) return true;
    return false;
}

// Number, String, Boolean … as a callback are only called.
static CheckUse argument_use(const FlowNode *callee, const FlowNode *argument) {
    static const char *const callers[] = {"map",  "filter", "some",    "every", "find", "findIndex",
                                          "from", "then",   "flatMap", "catch", NULL};
    bool is_called = callee->kind == NODE_MEMBER && argument->kind == NODE_IDENTIFIER &&
                     is_named(callee->member.name->text, callers);
    return is_called ? USE_TESTED : USE_VALUE;
}

static bool is_for_each(const FlowNode *callee) {
    if (callee->kind == NODE_OPTIONAL_CHAIN) callee = callee->unary.operand;
    return callee->kind == NODE_MEMBER && str_equal(callee->member.name->text, STR("forEach"));
}

// items.forEach(async item => …): forEach waits for nothing.
static void walk_for_each(Checker *c, const FlowNode *node) {
    const FlowFunction *function = node->call.arguments.items[0]->function;
    if (function->is_async && !function->is_generator)
        check_say(c,
                  &(FlowFinding){.code = FLOW_WARNING_UNAWAITED,
                                 .severity = FLOW_SEVERITY_WARNING,
                                 .start = function->start,
                                 .end = function->body_start,
                                 .hint = "Write `for (const item of items) { await … }`, or "
                                         "`await Promise.all(items.map(async item => …))`; "
                                         "`void items.forEach(…)` if nothing has to wait"},
                  "`forEach` does not wait for an async function");
    walk_function(c, function, function->is_async ? USE_VALUE : USE_DROPPED);
    for (uint32_t i = 1; i < node->call.arguments.count; i++)
        walk(c, node->call.arguments.items[i], USE_VALUE);
}

static void say_not_callable(Checker *c, const FlowNode *callee, bool is_new) {
    const CheckGlobal *global = check_global(c, callee);
    if (!global || !global->class || global->class->constructor.name) return;
    FlowFinding finding = {.code = FLOW_ERROR_MEMBER, .start = callee->start, .end = callee->end};
    if (global->api)
        finding.hint = arena_printf(c->arena, "Did you mean `%s.%s(…)`?", global->api->name,
                                    global->api->members->name)
                           .data;
    check_say(c, &finding, "`%s` is not a %s", global->class->name,
              is_new ? "constructor" : "function");
}

static void walk_call(Checker *c, const FlowNode *node, CheckUse use) {
    const FlowNode *callee = node->call.callee;
    bool is_optional = node->flags & FLAG_OPTIONAL; // object.member?.(…) asks for the member
    if (callee->kind == NODE_MEMBER) walk(c, callee, is_optional ? USE_TYPEOF : USE_DROPPED);
    else walk(c, callee, callee->kind == NODE_IDENTIFIER ? USE_TESTED : USE_VALUE);
    if (callee->kind == NODE_IDENTIFIER) say_not_callable(c, callee, node->kind == NODE_NEW);
    if (node->kind == NODE_CALL && check_api_call(c, callee).global) vec_push(&c->calls, node);
    FlowNodeList arguments = node->call.arguments;
    if (use == USE_DROPPED && arguments.count > 0 && is_for_each(callee) &&
        arguments.items[0]->kind == NODE_FUNCTION) {
        walk_for_each(c, node);
        return;
    }
    for (uint32_t i = 0; i < arguments.count; i++)
        walk(c, arguments.items[i], argument_use(callee, arguments.items[i]));
}

// ---- operators ----

static bool is_nothing(const FlowNode *node) {
    return node->kind == NODE_NULL || check_is_global(node, "undefined");
}

static void walk_binary(Checker *c, const FlowNode *node) {
    const FlowNode *left = node->binary.left;
    const FlowNode *right = node->binary.right;
    bool is_comparison = node->op >= OPERATOR_EQUAL && node->op <= OPERATOR_STRICT_NOT_EQUAL;
    bool is_instance = node->op == OPERATOR_INSTANCEOF;
    bool tests_left = is_comparison && is_nothing(right) && left->kind == NODE_MEMBER;
    walk(c, left, tests_left ? USE_TESTED : USE_VALUE);
    walk(c, right, is_instance ? USE_TESTED : USE_VALUE);
}

static void walk_logical(Checker *c, const FlowNode *node, CheckUse use) {
    walk(c, node->binary.left, USE_TESTED);
    walk(c, node->binary.right, use == USE_TYPEOF ? USE_VALUE : use);
}

static void walk_chain(Checker *c, const FlowNode *node, CheckUse use) {
    bool is_logical = node->kind == NODE_LOGICAL_CHAIN;
    walk(c, node->chain.first, is_logical ? USE_TESTED : USE_VALUE);
    for (uint32_t i = 0; i < node->chain.count; i++) {
        bool is_last = i + 1 == node->chain.count;
        CheckUse inner = !is_logical ? USE_VALUE : is_last ? use : USE_TESTED;
        walk(c, node->chain.links[i].operand, inner);
    }
}

static void walk_unary(Checker *c, const FlowNode *node) {
    const FlowNode *operand = node->unary.operand;
    switch (node->op) {
    case OPERATOR_TYPEOF: walk(c, operand, USE_TYPEOF); return;
    case OPERATOR_NOT: walk(c, operand, USE_TESTED); return;
    case OPERATOR_DELETE: walk_target(c, operand); return;
    default: walk(c, operand, USE_VALUE); // `void promise` is meant
    }
}

static void walk_sequence(Checker *c, FlowNodeList list, CheckUse use) {
    for (uint32_t i = 0; i < list.count; i++)
        walk(c, list.items[i], i + 1 < list.count ? USE_DROPPED : use);
}

static void walk_member(Checker *c, const FlowNode *node, CheckUse use) {
    const FlowNode *object = node->member.object;
    if (object->kind == NODE_IDENTIFIER) {
        if (object->reference.to.access == ACCESS_GLOBAL)
            check_use_member(c, object, node->member.name, node->end, use);
        return;
    }
    check_promise_member(c, node);
    walk(c, object, USE_VALUE);
}

// Names and members that are only read; what is no expression of its own.
static void walk_rest(Checker *c, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_TEMPLATE: walk_list(c, node->template.expressions); return;
    case NODE_ARRAY:
    case NODE_OBJECT: walk_list(c, node->list); return;
    case NODE_PROPERTY:
        if (node->flags & FLAG_COMPUTED) walk(c, node->property.key, USE_VALUE);
        walk(c, node->property.value, USE_VALUE);
        return;
    case NODE_CLASS: walk_class(c, node->class_definition); return;
    case NODE_UPDATE: walk_target(c, node->unary.operand); return;
    case NODE_SPREAD:
    case NODE_AWAIT: walk(c, node->unary.operand, USE_VALUE); return;
    case NODE_YIELD: walk_optional(c, node->unary.operand, USE_VALUE); return;
    case NODE_PRIVATE_IN: walk(c, node->binary.right, USE_VALUE); return;
    case NODE_PRIVATE_MEMBER: walk(c, node->binary.left, USE_VALUE); return;
    case NODE_INDEX:
        walk(c, node->binary.left, USE_VALUE);
        walk(c, node->binary.right, USE_VALUE);
        return;
    case NODE_SUPER_INDEX: walk(c, node->super_access.index, USE_VALUE); return;
    case NODE_SUPER_CALL: walk_list(c, node->super_call.arguments); return;
    default: return; // literals
    }
}

static void walk(Checker *c, const FlowNode *node, CheckUse use) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_IDENTIFIER: check_use_name(c, node, use); return;
    case NODE_MEMBER: walk_member(c, node, use); return;
    case NODE_OPTIONAL_CHAIN: walk(c, node->unary.operand, use); return;
    case NODE_CALL:
        if (use == USE_DROPPED || use == USE_TESTED) check_promise_use(c, node, use);
        walk_call(c, node, use);
        return;
    case NODE_NEW:
    case NODE_TAGGED: walk_call(c, node, use); return;
    case NODE_FUNCTION: walk_function(c, node->function, USE_VALUE); return;
    case NODE_UNARY: walk_unary(c, node); return;
    case NODE_BINARY: walk_binary(c, node); return;
    case NODE_LOGICAL: walk_logical(c, node, use); return;
    case NODE_BINARY_CHAIN:
    case NODE_LOGICAL_CHAIN: walk_chain(c, node, use); return;
    case NODE_ASSIGN:
        walk_target(c, node->binary.left);
        walk(c, node->binary.right, USE_VALUE);
        return;
    case NODE_CONDITIONAL:
        walk(c, node->conditional.test, USE_TESTED);
        walk(c, node->conditional.consequent, use);
        walk(c, node->conditional.alternate, use);
        return;
    case NODE_SEQUENCE: walk_sequence(c, node->list, use); return;
    default: walk_rest(c, node);
    }
}

// ---- statements ----

static const FlowScope *enter(Checker *c, const FlowScope *scope) {
    const FlowScope *outer = c->scope;
    if (scope) c->scope = scope;
    return outer;
}

static void walk_statements(Checker *c, FlowNodeList list) {
    for (uint32_t i = 0; i < list.count; i++) walk_statement(c, list.items[i]);
}

static void walk_variables(Checker *c, const FlowNode *node) {
    for (uint32_t i = 0; i < node->list.count; i++) walk_declarator(c, node->list.items[i]);
}

static void walk_for(Checker *c, const FlowLoop *loop) {
    const FlowScope *outer = enter(c, loop->scope);
    if (loop->initializer && loop->initializer->kind == NODE_VARIABLES)
        walk_variables(c, loop->initializer);
    else walk_optional(c, loop->initializer, USE_DROPPED);
    walk_optional(c, loop->test, USE_TESTED);
    walk_optional(c, loop->update, USE_DROPPED);
    walk_statement(c, loop->body);
    c->scope = outer;
}

static void walk_iteration(Checker *c, const FlowNode *node) {
    const FlowScope *outer = enter(c, node->iteration.scope);
    if (node->iteration.left->kind == NODE_VARIABLES) walk_variables(c, node->iteration.left);
    else walk_target(c, node->iteration.left);
    walk(c, node->iteration.right, USE_VALUE);
    walk_statement(c, node->iteration.body);
    c->scope = outer;
}

static void walk_block(Checker *c, const FlowNode *node) {
    const FlowScope *outer = enter(c, node->block.scope);
    walk_statements(c, node->block.statements);
    c->scope = outer;
}

static void walk_try(Checker *c, const FlowNode *node) {
    walk_block(c, node->try_statement.block);
    const FlowNode *handler = node->try_statement.handler;
    if (handler) {
        const FlowScope *outer = enter(c, handler->catch_clause.scope);
        if (handler->catch_clause.parameter) walk_target(c, handler->catch_clause.parameter);
        walk_block(c, handler->catch_clause.body);
        c->scope = outer;
    }
    if (node->try_statement.finalizer) walk_block(c, node->try_statement.finalizer);
}

static void walk_switch(Checker *c, const FlowNode *node) {
    walk(c, node->switch_statement.discriminant, USE_VALUE);
    const FlowScope *outer = enter(c, node->switch_statement.scope);
    FlowNodeList cases = node->switch_statement.cases;
    for (uint32_t i = 0; i < cases.count; i++) {
        walk_optional(c, cases.items[i]->switch_case.test, USE_VALUE);
        walk_statements(c, cases.items[i]->switch_case.body);
    }
    c->scope = outer;
}

static void walk_export(Checker *c, const FlowNode *operand) {
    if (operand->kind == NODE_FUNCTION_DECLARATION) walk_function(c, operand->function, USE_VALUE);
    else walk(c, operand, USE_VALUE);
}

static void walk_statement(Checker *c, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_VARIABLES: walk_variables(c, node); return;
    case NODE_CLASS_DECLARATION: walk_class(c, node->class_definition); return;
    case NODE_FUNCTION_DECLARATION:
    case NODE_WORKFLOW: walk_function(c, node->function, USE_VALUE); return;
    case NODE_BLOCK: walk_block(c, node); return;
    case NODE_EXPRESSION_STATEMENT: walk(c, node->unary.operand, USE_DROPPED); return;
    case NODE_RETURN:
    case NODE_THROW: walk_optional(c, node->unary.operand, USE_VALUE); return;
    case NODE_IF:
        walk(c, node->conditional.test, USE_TESTED);
        walk_statement(c, node->conditional.consequent);
        if (node->conditional.alternate) walk_statement(c, node->conditional.alternate);
        return;
    case NODE_FOR: walk_for(c, node->loop); return;
    case NODE_FOR_IN:
    case NODE_FOR_OF: walk_iteration(c, node); return;
    case NODE_WHILE:
    case NODE_DO_WHILE:
        walk(c, node->binary.left, USE_TESTED);
        walk_statement(c, node->binary.right);
        return;
    case NODE_TRY: walk_try(c, node); return;
    case NODE_SWITCH: walk_switch(c, node); return;
    case NODE_LABELED: walk_statement(c, node->labeled.body); return;
    case NODE_EXPORT_DEFAULT: walk_export(c, node->unary.operand); return;
    default: return; // empty, break, continue; the config is a literal
    }
}

void check_walk(Checker *c, const FlowFunction *function) { walk_function(c, function, USE_VALUE); }
