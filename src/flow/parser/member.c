// Members, calls, `new`, `super` and optional chains: everything that stands after a primary.
//
// `async (x) => …` looks like a call until the arrow is seen: its arguments are read with the
// cover grammar and become parameters then.
//
// A chain grows to the left, one node per link, and its height is counted (ast.h [ast-4]). An
// optional chain is wrapped as a whole in one NODE_OPTIONAL_CHAIN, where its `?.` links jump to.
#include "flow/parser/internal.h"

static FlowNode *parse_spread(FlowParser *p, bool is_cover) {
    uint32_t start = p->token.start;
    parse_next(p);
    FlowNode *operand = is_cover ? parse_assignment_cover(p) : parse_assignment(p);
    return parse_unary_node(p, NODE_SPREAD, start, operand);
}

FlowNodeList parse_arguments(FlowParser *p, bool is_cover) {
    size_t mark = parse_list_begin(p);
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    parse_next(p);
    uint32_t height = p->height;
    while (p->token.kind != TOKEN_PAREN_CLOSE && p->token.kind != TOKEN_END) {
        p->height = 0;
        FlowNode *argument = p->token.kind == TOKEN_ELLIPSIS ? parse_spread(p, is_cover)
                             : is_cover                      ? parse_assignment_cover(p)
                                                             : parse_assignment(p);
        parse_list_push(p, argument);
        if (p->height > height) height = p->height;
        if (p->token.kind != TOKEN_COMMA) break;
        if (argument->kind == NODE_SPREAD) argument->flags |= FLAG_TRAILING_COMMA;
        parse_next(p);
    }
    p->height = height;
    p->is_in_allowed = was_in_allowed;
    if (p->token.kind == TOKEN_PAREN_CLOSE) parse_next(p);
    else if (p->token.kind == TOKEN_END) parse_unexpected(p);
    else parse_panic(p, FLOW_ERROR_SYNTAX, "missing ) after argument list", NULL);
    return parse_list_end(p, mark);
}

static FlowNode *parse_index(FlowParser *p) { // after the bracket, up to its end
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    uint32_t height = parse_height_begin(p);
    FlowNode *index = parse_expression(p);
    parse_height_end(p, height);
    p->is_in_allowed = was_in_allowed;
    parse_expect(p, TOKEN_BRACKET_CLOSE);
    return index;
}

// After the dot (or `?.`): a name or a private name.
static FlowNode *parse_member_name(FlowParser *p, FlowNode *object) {
    uint32_t at = p->token.start;
    FlowName *name = p->token.name;
    if (p->token.kind == TOKEN_PRIVATE_NAME) {
        parse_next(p);
        FlowNode *right = parse_node(p, NODE_PRIVATE_NAME, at);
        right->reference.name = name;
        FlowNode *node = parse_node(p, NODE_PRIVATE_MEMBER, object->start);
        node->at = at;
        node->binary.left = object;
        node->binary.right = right;
        return node;
    }
    if (!token_is_word(p->token.kind)) {
        parse_unexpected(p);
        name = p->names.undefined;
    } else {
        parse_next(p);
    }
    FlowNode *node = parse_node(p, NODE_MEMBER, object->start);
    node->at = at;
    node->member.object = object;
    node->member.name = name;
    return node;
}

static FlowNode *parse_index_member(FlowParser *p, FlowNode *object) { // at the bracket
    uint32_t at = p->token.start;
    parse_next(p);
    FlowNode *index = parse_index(p);
    FlowNode *node = parse_node(p, NODE_INDEX, object->start);
    node->at = at;
    node->binary.left = object;
    node->binary.right = index;
    return node;
}

// The position a stack trace shows for a call: the property that is called, or the callee.
static uint32_t call_position(const FlowNode *callee) {
    return callee->kind == NODE_MEMBER || callee->kind == NODE_PRIVATE_MEMBER ||
                   callee->kind == NODE_SUPER_MEMBER
               ? callee->at
               : callee->start;
}

static FlowNode *parse_call(FlowParser *p, FlowNode *callee) { // at the parenthesis
    FlowNodeList arguments = parse_arguments(p, false);
    FlowNode *node = parse_node(p, NODE_CALL, callee->start);
    node->at = call_position(callee);
    node->call.callee = callee;
    node->call.arguments = arguments;
    return node;
}

static FlowNode *parse_tagged(FlowParser *p, FlowNode *tag) {
    FlowNode *template = parse_template(p, true);
    size_t mark = parse_list_begin(p);
    parse_list_push(p, template);
    FlowNode *node = parse_node(p, NODE_TAGGED, tag->start);
    node->at = call_position(tag);
    node->call.callee = tag;
    node->call.arguments = parse_list_end(p, mark);
    return node;
}

// `async(…)`, which may be a call or the head of an arrow function.
static FlowNode *parse_async_call(FlowParser *p, FlowNode *callee) {
    uint32_t functions_before = p->function_count;
    uint32_t outer_cover_at = p->cover_at;
    uint32_t outer_proto_at = p->proto_at;
    p->cover_at = p->proto_at = OFFSET_NONE;
    FlowNodeList arguments = parse_arguments(p, true);
    bool is_arrow = parse_is_arrow_next(p);
    if (!is_arrow) parse_check_cover(p);
    p->cover_at = outer_cover_at;
    p->proto_at = outer_proto_at;
    if (is_arrow)
        return parse_arrow(p, &(FlowArrowHead){.start = callee->start,
                                               .is_async = true,
                                               .parameters = arguments,
                                               .functions_before = functions_before});
    FlowNode *node = parse_node(p, NODE_CALL, callee->start);
    node->call.callee = callee;
    node->call.arguments = arguments;
    return node;
}

// ---- super

static void refuse_super(FlowParser *p, uint32_t start) {
    parse_error(p,
                &(FlowFinding){.code = FLOW_ERROR_CONTEXT,
                               .start = start,
                               .end = start + 5,
                               .hint = "`super(…)` stands in the constructor of a class with "
                                       "`extends`, `super.x` in methods"},
                "'super' keyword unexpected here");
}

static FlowFunction *home_function(FlowParser *p) { // the function whose `super` an arrow sees
    FlowFunctionContext *context = p->context;
    while (context->function->kind == FUNCTION_KIND_ARROW && context->outer)
        context = context->outer;
    return context->function;
}

static FlowNode *parse_super(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    FlowNode *node;
    if (p->token.kind == TOKEN_PAREN_OPEN) {
        if (!p->context->allows_super_call) refuse_super(p, start);
        home_function(p)->contains_super_call = true;
        FlowNodeList arguments = parse_arguments(p, false);
        node = parse_node(p, NODE_SUPER_CALL, start);
        node->super_call.arguments = arguments;
        node->super_call.super = ARENA_NEW(p->arena, FlowSuper);
        return node;
    }
    if (!p->context->allows_super_property) refuse_super(p, start);
    home_function(p)->contains_super_property = true;
    if (p->token.kind == TOKEN_BRACKET_OPEN) {
        uint32_t at = p->token.start;
        parse_next(p);
        FlowNode *index = parse_index(p);
        node = parse_node(p, NODE_SUPER_INDEX, start);
        node->at = at;
        node->super_access.index = index;
    } else {
        if (p->token.kind == TOKEN_DOT) parse_next(p);
        else if (p->is_panicking) refuse_super(p, start);
        else parse_panic(p, FLOW_ERROR_CONTEXT, "'super' keyword unexpected here", NULL);
        FlowName *name = p->token.name;
        uint32_t at = p->token.start;
        if (p->token.kind == TOKEN_PRIVATE_NAME)
            parse_panic(p, FLOW_ERROR_PRIVATE, "Unexpected private field", NULL);
        else if (!token_is_word(p->token.kind)) parse_unexpected(p);
        else parse_next(p);
        node = parse_node(p, NODE_SUPER_MEMBER, start);
        node->at = at;
        node->super_access.name = name;
    }
    node->super_access.super = ARENA_NEW(p->arena, FlowSuper);
    return node;
}

// ---- new

static FlowNode *parse_new_target(FlowParser *p, uint32_t start) {
    parse_next(p);
    if (p->token.kind != TOKEN_TARGET) {
        parse_unexpected(p);
    } else {
        parse_next(p);
        if (!p->context->allows_new_target)
            parse_error(
                p,
                &(FlowFinding){.code = FLOW_ERROR_CONTEXT, .start = start, .end = p->previous_end},
                "new.target expression is not allowed here");
    }
    FlowNode *node = parse_node(p, NODE_NEW_TARGET, start);
    node->reference.name = p->names.new_target;
    return node;
}

static FlowNode *parse_new(FlowParser *p);

static FlowNode *parse_new_callee(FlowParser *p) {
    if (p->token.kind == TOKEN_NEW) {
        FlowNode *node =
            parse_enter(p) ? parse_new(p) : parse_node(p, NODE_UNDEFINED, p->token.start);
        parse_leave(p);
        return node;
    }
    if (p->token.kind == TOKEN_SUPER) {
        uint32_t start = p->token.start;
        FlowNode *node = parse_super(p);
        if (node->kind == NODE_SUPER_CALL) refuse_super(p, start);
        return node;
    }
    p->arrow_at = OFFSET_NONE; // no arrow function after `new`
    return parse_primary(p);
}

static FlowNode *parse_new(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    if (p->token.kind == TOKEN_DOT) return parse_new_target(p, start);
    FlowNode *callee = parse_new_callee(p);
    for (;;) {
        switch (p->token.kind) {
        case TOKEN_DOT:
            parse_next(p);
            callee = parse_member_name(p, callee);
            break;
        case TOKEN_BRACKET_OPEN: callee = parse_index_member(p, callee); break;
        case TOKEN_TEMPLATE_HEAD:
        case TOKEN_TEMPLATE_TAIL: callee = parse_tagged(p, callee); break;
        case TOKEN_OPTIONAL:
            parse_panic(p, FLOW_ERROR_SYNTAX, "Invalid optional chain from new expression", NULL);
            goto finished;
        default: goto finished;
        }
        parse_height_add(p);
    }
finished:;
    FlowNodeList arguments = {0};
    if (p->token.kind == TOKEN_PAREN_OPEN) arguments = parse_arguments(p, false);
    FlowNode *node = parse_node(p, NODE_NEW, start);
    node->call.callee = callee;
    node->call.arguments = arguments;
    return node;
}

// ---- the chain

static FlowNode *parse_optional_link(FlowParser *p, FlowNode *object) { // at the `?.`
    parse_next(p);
    FlowNode *node;
    switch (p->token.kind) {
    case TOKEN_PAREN_OPEN: node = parse_call(p, object); break;
    case TOKEN_BRACKET_OPEN: node = parse_index_member(p, object); break;
    case TOKEN_TEMPLATE_HEAD:
    case TOKEN_TEMPLATE_TAIL:
        parse_panic(p, FLOW_ERROR_SYNTAX, "Invalid tagged template on optional chain", NULL);
        return object;
    default: node = parse_member_name(p, object);
    }
    node->flags |= FLAG_OPTIONAL;
    return node;
}

static bool is_async_head(const FlowParser *p, const FlowNode *node, bool may_be_arrow) {
    return may_be_arrow && node->kind == NODE_IDENTIFIER && !p->token.is_after_newline &&
           node->reference.name == p->names.name_async &&
           !(node->flags & (FLAG_PARENTHESIZED | FLAG_ESCAPED));
}

FlowNode *parse_left_hand_side(FlowParser *p) {
    bool may_be_arrow = p->token.start == p->arrow_at;
    FlowNode *node = p->token.kind == TOKEN_NEW     ? parse_new(p)
                     : p->token.kind == TOKEN_SUPER ? parse_super(p)
                                                    : parse_primary(p);
    if (node == p->arrow) return node;
    bool is_optional = false;
    for (;;) {
        switch (p->token.kind) {
        case TOKEN_DOT:
            parse_next(p);
            node = parse_member_name(p, node);
            break;
        case TOKEN_BRACKET_OPEN: node = parse_index_member(p, node); break;
        case TOKEN_PAREN_OPEN:
            if (is_async_head(p, node, may_be_arrow)) {
                node = parse_async_call(p, node);
                if (node == p->arrow) return node;
            } else {
                node = parse_call(p, node);
            }
            break;
        case TOKEN_OPTIONAL:
            is_optional = true;
            node = parse_optional_link(p, node);
            break;
        case TOKEN_TEMPLATE_HEAD:
        case TOKEN_TEMPLATE_TAIL:
            if (is_optional)
                parse_panic(p, FLOW_ERROR_SYNTAX, "Invalid tagged template on optional chain",
                            NULL);
            else node = parse_tagged(p, node);
            break;
        default:
            return is_optional ? parse_unary_node(p, NODE_OPTIONAL_CHAIN, node->start, node) : node;
        }
        parse_height_add(p);
    }
}
