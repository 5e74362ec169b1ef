// Patterns: read directly in declarations and parameters, or made from expressions.
//
// parse_to_pattern turns an expression into a pattern in place: the node kinds of both have the
// same layout, so only `kind` changes. In a binding (parameters of an arrow function) every leaf
// must be a plain name; in an assignment it may be any target.
#include "flow/parser/internal.h"

static void refuse_strict_name(FlowParser *p, const FlowNode *node) {
    FlowName *name = node->reference.name;
    if (name == p->names.eval || name == p->names.arguments)
        parse_error_node(p, node, FLOW_ERROR_STRICT, "Unexpected eval or arguments in strict mode");
}

FlowNode *parse_binding_identifier(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowName *name = p->token.name;
    if (!parse_is_identifier(p)) {
        bool is_lexical_let = p->token.kind == TOKEN_LET && (p->binding_kind == VARIABLE_LET ||
                                                             p->binding_kind == VARIABLE_CONST);
        if (is_lexical_let)
            parse_panic(p, FLOW_ERROR_STRICT, "let is disallowed as a lexically bound name", NULL);
        else parse_unexpected(p);
        name = p->names.undefined;
    } else {
        parse_next(p);
    }
    FlowNode *node = parse_node(p, NODE_IDENTIFIER, start);
    node->reference.name = name;
    node->flags = FLAG_DECLARES;
    refuse_strict_name(p, node);
    if (p->binding_kind == VARIABLE_VAR) vec_push(&p->vars, node);
    return node;
}

FlowNode *parse_binding_element(FlowParser *p) {
    uint32_t start = p->token.start;
    uint8_t kind = p->binding_kind;
    FlowNode *target = parse_binding_target(p);
    if (p->token.kind != TOKEN_ASSIGN) return target;
    parse_next(p);
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    FlowNode *value = parse_assignment(p);
    p->is_in_allowed = was_in_allowed;
    p->binding_kind = kind;
    FlowNode *node = parse_node(p, NODE_DEFAULT, start);
    node->binary.left = target;
    node->binary.right = value;
    return node;
}

static FlowNode *parse_binding_rest(FlowParser *p, bool is_object) {
    uint32_t start = p->token.start;
    parse_next(p);
    FlowNode *target = is_object ? parse_binding_identifier(p) : parse_binding_target(p);
    if (p->token.kind == TOKEN_COMMA)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Rest element must be last element", NULL);
    return parse_unary_node(p, NODE_REST, start, target);
}

static FlowNode *parse_array_pattern(FlowParser *p) {
    uint32_t start = p->token.start;
    size_t mark = parse_list_begin(p);
    parse_next(p);
    while (p->token.kind != TOKEN_BRACKET_CLOSE && p->token.kind != TOKEN_END) {
        if (parse_accept(p, TOKEN_COMMA)) {
            parse_list_push(p, NULL);
            continue;
        }
        uint32_t height = parse_height_begin(p);
        parse_list_push(p, p->token.kind == TOKEN_ELLIPSIS ? parse_binding_rest(p, false)
                                                           : parse_binding_element(p));
        parse_height_end(p, height);
        if (!parse_accept(p, TOKEN_COMMA)) break;
    }
    parse_expect(p, TOKEN_BRACKET_CLOSE);
    FlowNode *node = parse_node(p, NODE_ARRAY_PATTERN, start);
    node->list = parse_list_end(p, mark);
    return node;
}

static FlowNode *parse_binding_shorthand(FlowParser *p) {
    uint32_t start = p->token.start;
    uint8_t kind = p->binding_kind;
    FlowNode *target = parse_binding_identifier(p);
    FlowNode *value = target;
    if (parse_accept(p, TOKEN_ASSIGN)) {
        FlowNode *initial = parse_assignment(p);
        p->binding_kind = kind;
        value = parse_node(p, NODE_DEFAULT, start);
        value->binary.left = target;
        value->binary.right = initial;
    }
    FlowNode *key = parse_node(p, NODE_STRING, start);
    key->end = target->end;
    key->string.name = target->reference.name;
    key->string.text = target->reference.name->text;
    FlowNode *node = parse_node(p, NODE_PROPERTY, start);
    node->op = PROPERTY_SHORTHAND;
    node->property.key = key;
    node->property.value = value;
    return node;
}

static FlowNode *parse_binding_property(FlowParser *p) {
    if (token_is_word(p->token.kind) && parse_peek(p).kind != TOKEN_COLON)
        return parse_binding_shorthand(p);
    uint32_t start = p->token.start;
    uint8_t kind = p->binding_kind;
    bool is_computed = false;
    FlowNode *key = parse_key(p, false, &is_computed);
    p->binding_kind = kind;
    parse_expect(p, TOKEN_COLON);
    FlowNode *value = parse_binding_element(p);
    FlowNode *node = parse_node(p, NODE_PROPERTY, start);
    node->op = PROPERTY_VALUE;
    if (is_computed) node->flags = FLAG_COMPUTED;
    node->property.key = key;
    node->property.value = value;
    return node;
}

static FlowNode *parse_object_pattern(FlowParser *p) {
    uint32_t start = p->token.start;
    size_t mark = parse_list_begin(p);
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    parse_next(p);
    while (p->token.kind != TOKEN_BRACE_CLOSE && p->token.kind != TOKEN_END) {
        uint32_t height = parse_height_begin(p);
        parse_list_push(p, p->token.kind == TOKEN_ELLIPSIS ? parse_binding_rest(p, true)
                                                           : parse_binding_property(p));
        parse_height_end(p, height);
        if (!parse_accept(p, TOKEN_COMMA)) break;
    }
    p->is_in_allowed = was_in_allowed;
    parse_expect(p, TOKEN_BRACE_CLOSE);
    FlowNode *node = parse_node(p, NODE_OBJECT_PATTERN, start);
    node->list = parse_list_end(p, mark);
    return node;
}

FlowNode *parse_binding_target(FlowParser *p) {
    FlowTokenKind kind = p->token.kind;
    if (kind != TOKEN_BRACKET_OPEN && kind != TOKEN_BRACE_OPEN) return parse_binding_identifier(p);
    FlowNode *node;
    if (!parse_enter(p)) node = parse_node(p, NODE_UNDEFINED, p->token.start);
    else node = kind == TOKEN_BRACKET_OPEN ? parse_array_pattern(p) : parse_object_pattern(p);
    parse_leave(p);
    return node;
}

// ---- from expressions

static void refuse_target(FlowParser *p, const FlowNode *node) {
    parse_error_node(p, node, FLOW_ERROR_TARGET, "Invalid destructuring assignment target");
}

static void convert_name(FlowParser *p, FlowNode *node, bool is_binding) {
    refuse_strict_name(p, node);
    if (!is_binding) return;
    if (node->flags & FLAG_PARENTHESIZED) refuse_target(p, node);
    if (p->is_binding_async && node->reference.name == p->names.name_await)
        parse_error_node(p, node, FLOW_ERROR_CONTEXT, "Unexpected reserved word");
    node->flags |= FLAG_DECLARES;
}

static void convert_rest(FlowParser *p, FlowNode *node, bool is_last, bool is_binding) {
    bool had_comma = node->kind == NODE_SPREAD && (node->flags & FLAG_TRAILING_COMMA);
    if (!is_last || had_comma)
        parse_error_node(p, node, FLOW_ERROR_SYNTAX, "Rest element must be last element");
    node->kind = NODE_REST;
    FlowNode *operand = node->unary.operand;
    if (operand->kind == NODE_ASSIGN || operand->kind == NODE_DEFAULT) refuse_target(p, operand);
    else parse_to_pattern(p, operand, is_binding);
}

static void convert_array(FlowParser *p, FlowNode *node, bool is_binding) {
    node->kind = NODE_ARRAY_PATTERN;
    for (uint32_t i = 0; i < node->list.count; i++) {
        FlowNode *item = node->list.items[i];
        if (!item) continue;
        if (item->kind == NODE_SPREAD || item->kind == NODE_REST)
            convert_rest(p, item, i + 1 == node->list.count, is_binding);
        else parse_to_pattern(p, item, is_binding);
    }
}

static void convert_object(FlowParser *p, FlowNode *node, bool is_binding) {
    node->kind = NODE_OBJECT_PATTERN;
    for (uint32_t i = 0; i < node->list.count; i++) {
        FlowNode *item = node->list.items[i];
        if (item->kind == NODE_SPREAD || item->kind == NODE_REST) {
            FlowNode *operand = item->unary.operand;
            convert_rest(p, item, i + 1 == node->list.count, is_binding);
            if (!parse_is_simple_target(operand))
                parse_error_node(p, operand, FLOW_ERROR_TARGET,
                                 is_binding ? "`...` must be followed by an identifier in "
                                              "declaration contexts"
                                            : "`...` must be followed by an assignable reference "
                                              "in assignment contexts");
        } else if (item->op == PROPERTY_METHOD || item->op == PROPERTY_GETTER ||
                   item->op == PROPERTY_SETTER) {
            refuse_target(p, item);
        } else {
            if (item->op == PROPERTY_PROTO) item->op = PROPERTY_VALUE;
            parse_to_pattern(p, item->property.value, is_binding);
        }
    }
}

void parse_to_pattern(FlowParser *p, FlowNode *node, bool is_binding) {
    bool is_parenthesized = node->flags & FLAG_PARENTHESIZED;
    switch (node->kind) {
    case NODE_IDENTIFIER: convert_name(p, node, is_binding); return;
    case NODE_MEMBER:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX:
        if (is_binding) refuse_target(p, node);
        return;
    case NODE_ARRAY:
        if (is_parenthesized) refuse_target(p, node);
        else convert_array(p, node, is_binding);
        return;
    case NODE_OBJECT:
        if (is_parenthesized) refuse_target(p, node);
        else convert_object(p, node, is_binding);
        return;
    case NODE_ASSIGN: // its left side has been turned already, as an assignment
        if (node->op != OPERATOR_NONE || is_parenthesized) {
            refuse_target(p, node);
            return;
        }
        node->kind = NODE_DEFAULT;
        if (is_binding) parse_to_pattern(p, node->binary.left, true);
        return;
    case NODE_DEFAULT: parse_to_pattern(p, node->binary.left, is_binding); return;
    case NODE_ARRAY_PATTERN:
        if (is_binding) convert_array(p, node, true);
        return;
    case NODE_OBJECT_PATTERN:
        if (is_binding) convert_object(p, node, true);
        return;
    case NODE_UNDEFINED: return; // after an error
    default: refuse_target(p, node);
    }
}
