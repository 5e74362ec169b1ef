// Functions: declarations, expressions, methods and arrows.
//
// A FlowFunctionContext on the C stack says what is allowed inside: await, yield, super,
// new.target, arguments. An arrow function takes what its surroundings allow, any other function
// begins anew.
#include "flow/parser/internal.h"

FlowFunction *parse_function_new(FlowParser *p, FlowFunctionKind kind, uint32_t start) {
    FlowFunction *function = ARENA_NEW(p->arena, FlowFunction);
    function->kind = (uint8_t)kind;
    function->start = start;
    function->has_simple_parameters = true;
    p->function_count++;
    return function;
}

static void allow_by_kind(FlowFunctionContext *context, FlowFunctionKind kind) {
    context->allows_new_target = kind != FUNCTION_KIND_PROGRAM;
    context->allows_super_property = kind != FUNCTION_KIND_PROGRAM && kind != FUNCTION_KIND_NORMAL;
    context->allows_super_call = kind == FUNCTION_KIND_DERIVED_CONSTRUCTOR;
    context->is_static_block = kind == FUNCTION_KIND_STATIC_BLOCK;
    context->refuses_arguments = kind == FUNCTION_KIND_FIELDS || kind == FUNCTION_KIND_STATIC_BLOCK;
}

void parse_context_begin(FlowParser *p, FlowFunctionContext *context, FlowFunction *function) {
    const FlowFunctionContext *outer = p->context;
    *context = (FlowFunctionContext){
        .outer = p->context,
        .function = function,
        .var_mark = p->vars.count,
        .last_await_at = p->last_await_at,
        .last_yield_at = p->last_yield_at,
        .is_async = function->is_async,
        .is_generator = function->is_generator,
        .was_in_allowed = p->is_in_allowed,
    };
    if (function->kind == FUNCTION_KIND_ARROW && outer) {
        context->allows_new_target = outer->allows_new_target;
        context->allows_super_property = outer->allows_super_property;
        context->allows_super_call = outer->allows_super_call;
        context->is_static_block = outer->is_static_block;
        context->refuses_arguments = outer->refuses_arguments;
    } else {
        allow_by_kind(context, function->kind);
    }
    p->last_await_at = p->last_yield_at = OFFSET_NONE;
    p->is_in_allowed = true;
    p->context = context;
}

void parse_context_end(FlowParser *p, FlowFunctionContext *context) {
    FlowFunction *function = context->function;
    size_t count = p->vars.count - context->var_mark;
    if (count > 0) {
        function->vars.count = (uint32_t)count;
        function->vars.items = arena_alloc(p->arena, count * sizeof(FlowNode *));
        memcpy(function->vars.items, p->vars.data + context->var_mark, count * sizeof(FlowNode *));
        p->vars.count = context->var_mark;
    }
    function->end = p->previous_end;
    p->last_await_at = context->last_await_at;
    p->last_yield_at = context->last_yield_at;
    p->is_in_allowed = context->was_in_allowed;
    p->context = context->outer;
}

// ---- parameters

static bool has_expressions(const FlowNode *pattern) {
    switch (pattern->kind) {
    case NODE_DEFAULT: return true;
    case NODE_REST: return has_expressions(pattern->unary.operand);
    case NODE_PROPERTY:
        return (pattern->flags & FLAG_COMPUTED) || has_expressions(pattern->property.value);
    case NODE_ARRAY_PATTERN:
    case NODE_OBJECT_PATTERN:
        for (uint32_t i = 0; i < pattern->list.count; i++)
            if (pattern->list.items[i] && has_expressions(pattern->list.items[i])) return true;
        return false;
    default: return false;
    }
}

// What the function's later life depends on: length, simplicity, closures.
static void describe_parameters(FlowParser *p, FlowFunction *function, uint32_t functions_before) {
    bool is_counting = true;
    for (uint32_t i = 0; i < function->parameters.count; i++) {
        const FlowNode *parameter = function->parameters.items[i];
        if (parameter->kind != NODE_IDENTIFIER) function->has_simple_parameters = false;
        if (parameter->kind == NODE_DEFAULT || parameter->kind == NODE_REST) is_counting = false;
        if (is_counting) function->length++;
        if (has_expressions(parameter)) function->has_parameter_expressions = true;
    }
    function->has_parameter_closures = p->function_count != functions_before;
}

static FlowNode *parse_rest_parameter(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    FlowNode *target = parse_binding_target(p);
    if (p->token.kind == TOKEN_ASSIGN)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Rest parameter may not have a default initializer",
                    NULL);
    if (p->token.kind == TOKEN_COMMA)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Rest parameter must be last formal parameter", NULL);
    return parse_unary_node(p, NODE_REST, start, target);
}

static void parse_parameters(FlowParser *p, FlowFunction *function) {
    uint32_t functions_before = p->function_count;
    size_t mark = parse_list_begin(p);
    parse_expect(p, TOKEN_PAREN_OPEN);
    while (p->token.kind != TOKEN_PAREN_CLOSE && p->token.kind != TOKEN_END) {
        uint32_t height = parse_height_begin(p);
        p->binding_kind = VARIABLE_PARAMETER;
        parse_list_push(p, p->token.kind == TOKEN_ELLIPSIS ? parse_rest_parameter(p)
                                                           : parse_binding_element(p));
        parse_height_end(p, height);
        if (!parse_accept(p, TOKEN_COMMA)) break;
    }
    if (p->token.kind == TOKEN_PAREN_CLOSE) parse_next(p);
    else if (p->token.kind == TOKEN_END || !p->context->outer) parse_unexpected(p);
    else parse_panic(p, FLOW_ERROR_SYNTAX, "missing ) after formal parameters", NULL);
    function->parameters = parse_list_end(p, mark);
    describe_parameters(p, function, functions_before);
}

static void check_accessor(FlowParser *p, const FlowFunction *function, uint32_t start) {
    const char *message = NULL;
    uint32_t count = function->parameters.count;
    if (function->kind == FUNCTION_KIND_GETTER && count != 0)
        message = "Getter must not have any formal parameters.";
    if (function->kind == FUNCTION_KIND_SETTER) {
        if (count != 1) message = "Setter must have exactly one formal parameter.";
        else if (function->parameters.items[0]->kind == NODE_REST)
            message = "Setter function argument must not be a rest parameter";
    }
    if (message)
        parse_error(
            p, &(FlowFinding){.code = FLOW_ERROR_SYNTAX, .start = start, .end = p->previous_end},
            "%s", message);
}

// ---- bodies

static void parse_body(FlowParser *p, FlowFunction *function) {
    function->body_start = p->token.start;
    parse_expect(p, TOKEN_BRACE_OPEN);
    p->block_depth++;
    function->body = parse_function_statements(p);
    p->block_depth--;
    parse_expect(p, TOKEN_BRACE_CLOSE);
}

FlowFunction *parse_function_rest(FlowParser *p, const FlowFunctionHead *head) {
    FlowFunction *function = parse_function_new(p, head->kind, head->start);
    function->is_async = head->is_async;
    function->is_generator = head->is_generator;
    function->is_hoisted = head->is_hoisted;
    function->name = head->name;
    function->name_node = head->name_node;
    FlowFunctionContext context;
    parse_context_begin(p, &context, function);
    uint32_t parameters_start = p->token.start;
    context.is_in_parameters = true;
    parse_parameters(p, function);
    context.is_in_parameters = false;
    check_accessor(p, function, parameters_start);
    parse_body(p, function);
    parse_context_end(p, &context);
    return function;
}

FlowNode *parse_function_expression(FlowParser *p, uint32_t start, bool is_async) {
    parse_next(p);
    FlowFunctionHead head = {.kind = FUNCTION_KIND_NORMAL, .is_async = is_async, .start = start};
    head.is_generator = parse_accept(p, TOKEN_MULTIPLY);
    if (p->token.kind != TOKEN_PAREN_OPEN) {
        bool was_async = p->context->is_async; // the name belongs to the function itself
        p->context->is_async = is_async;
        p->binding_kind = VARIABLE_FUNCTION_NAME;
        head.name_node = parse_binding_identifier(p);
        head.name = head.name_node->reference.name;
        p->context->is_async = was_async;
    }
    FlowFunction *function = parse_function_rest(p, &head);
    FlowNode *node = parse_node(p, NODE_FUNCTION, start);
    node->function = function;
    return node;
}

FlowNode *parse_function_declaration(FlowParser *p, uint32_t start, bool is_async) {
    parse_next(p);
    FlowFunctionHead head = {
        .kind = FUNCTION_KIND_NORMAL, .is_async = is_async, .is_hoisted = true, .start = start};
    head.is_generator = parse_accept(p, TOKEN_MULTIPLY);
    if (p->token.kind == TOKEN_PAREN_OPEN)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Function statements require a function name", NULL);
    p->binding_kind = VARIABLE_FUNCTION;
    head.name_node = parse_binding_identifier(p);
    head.name = head.name_node->reference.name;
    FlowFunction *function = parse_function_rest(p, &head);
    FlowNode *node = parse_node(p, NODE_FUNCTION_DECLARATION, start);
    node->function = function;
    return node;
}

// ---- arrows

static void convert_parameters(FlowParser *p, const FlowArrowHead *head) {
    bool was_binding_async = p->is_binding_async;
    p->is_binding_async = head->is_async;
    for (uint32_t i = 0; i < head->parameters.count; i++) {
        FlowNode *item = head->parameters.items[i];
        if (item->kind == NODE_SPREAD) { // from `async (...x) =>`, read as a call
            if (i + 1 < head->parameters.count || (item->flags & FLAG_TRAILING_COMMA))
                parse_error_node(p, item, FLOW_ERROR_SYNTAX,
                                 "Rest parameter must be last formal parameter");
            item->kind = NODE_REST;
            if (item->unary.operand->kind == NODE_ASSIGN)
                parse_error_node(p, item->unary.operand, FLOW_ERROR_SYNTAX,
                                 "Rest parameter may not have a default initializer");
        }
        parse_to_pattern(p, item->kind == NODE_REST ? item->unary.operand : item, true);
    }
    p->is_binding_async = was_binding_async;
    uint32_t at = OFFSET_NONE;
    const char *message = NULL;
    if (p->last_await_at != OFFSET_NONE && p->last_await_at >= head->start) {
        at = p->last_await_at;
        message = "Illegal await-expression in formal parameters of async function";
    } else if (p->last_yield_at != OFFSET_NONE && p->last_yield_at >= head->start) {
        at = p->last_yield_at;
        message = "Yield expression not allowed in formal parameter";
    }
    if (message)
        parse_error(p, &(FlowFinding){.code = FLOW_ERROR_CONTEXT, .start = at, .end = at + 5}, "%s",
                    message);
}

FlowNode *parse_arrow(FlowParser *p, const FlowArrowHead *head) {
    convert_parameters(p, head);
    uint32_t functions_before = p->function_count;
    FlowFunction *function = parse_function_new(p, FUNCTION_KIND_ARROW, head->start);
    function->is_async = head->is_async;
    function->parameters = head->parameters;
    p->function_count = functions_before;
    describe_parameters(p, function, head->functions_before);
    p->function_count = functions_before + 1;
    FlowFunctionContext context;
    parse_context_begin(p, &context, function);
    parse_expect(p, TOKEN_ARROW);
    if (p->token.kind == TOKEN_BRACE_OPEN) {
        parse_body(p, function);
    } else {
        function->has_expression_body = true;
        function->body_start = p->token.start;
        p->is_in_allowed = context.was_in_allowed;
        size_t mark = parse_list_begin(p);
        parse_list_push(p, parse_assignment(p));
        function->body = parse_list_end(p, mark);
    }
    parse_context_end(p, &context);
    FlowNode *node = parse_node(p, NODE_FUNCTION, head->start);
    node->function = function;
    p->arrow = node;
    return node;
}
