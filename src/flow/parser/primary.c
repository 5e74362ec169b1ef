// Primary expressions: names, literals, arrays, templates, and what parentheses may mean.
//
// `(` begins a parenthesized expression or the parameters of an arrow function. Both are read as
// a list of expressions; the token after `)` decides. Nothing is ever read twice, so nesting
// costs no more than its length.
#include "flow/parser/internal.h"

bool parse_is_arrow_next(const FlowParser *p) {
    return p->token.kind == TOKEN_ARROW && !p->token.is_after_newline;
}

static bool begins_operand(uint8_t kind) { // unmistakably: no operator begins with it
    return token_is_identifier(kind) || kind == TOKEN_NUMBER || kind == TOKEN_STRING ||
           kind == TOKEN_NEW || kind == TOKEN_THIS || kind == TOKEN_FUNCTION || kind == TOKEN_ASYNC;
}

// `await x` where await is only a name: the most frequent mistake there is.
static void refuse_await(FlowParser *p, uint32_t start) {
    parse_error(p,
                &(FlowFinding){.code = FLOW_ERROR_CONTEXT,
                               .start = start,
                               .end = start + 5,
                               .hint = "Write `async` before the function that contains it"},
                "await is only valid in async functions and the top level bodies of modules");
    parse_stop(p);
}

static FlowNode *parse_identifier(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowTokenKind kind = p->token.kind;
    FlowName *name = p->token.name;
    bool has_escape = p->token.has_escape;
    if (!parse_is_identifier(p)) {
        parse_unexpected(p);
        name = p->names.undefined;
    } else {
        parse_next(p);
        if (kind == TOKEN_AWAIT && !p->token.is_after_newline && begins_operand(p->token.kind))
            refuse_await(p, start);
        if (kind == TOKEN_ARGUMENTS && p->context->refuses_arguments)
            parse_error(
                p,
                &(FlowFinding){.code = FLOW_ERROR_CONTEXT, .start = start, .end = p->previous_end},
                "'arguments' is not allowed in class field initializer or static "
                "initialization block");
    }
    FlowNode *node = parse_node(p, NODE_IDENTIFIER, start);
    node->reference.name = name;
    if (has_escape) node->flags = FLAG_ESCAPED;
    return node;
}

static FlowNode *parse_word(FlowParser *p, FlowNodeKind kind) { // null, true, false, this
    uint32_t start = p->token.start;
    FlowName *name = p->token.name;
    parse_next(p);
    FlowNode *node = parse_node(p, kind, start);
    if (kind == NODE_THIS) node->reference.name = name;
    return node;
}

static FlowNode *parse_literal(FlowParser *p) {
    FlowToken token = p->token;
    parse_next(p);
    FlowNode *node = parse_node(p, NODE_NUMBER, token.start);
    switch (token.kind) {
    case TOKEN_NUMBER: node->number = token.number; break;
    case TOKEN_BIGINT:
        node->kind = NODE_BIGINT;
        node->string.text = token.text;
        break;
    default:
        node->kind = NODE_STRING;
        node->string.text = token.text;
        node->string.name = token.name;
        if (token.is_ascii) node->flags |= FLAG_ASCII;
        if (token.has_escape) node->flags |= FLAG_ESCAPED;
    }
    return node;
}

static FlowNode *parse_regexp(FlowParser *p) {
    flow_lexer_rescan_regexp(&p->lexer, &p->token);
    FlowToken token = p->token;
    if (token.kind == TOKEN_ERROR) {
        parse_stop(p);
        return parse_node(p, NODE_UNDEFINED, token.start);
    }
    parse_next(p);
    FlowNode *node = parse_node(p, NODE_REGEXP, token.start);
    node->regexp.pattern = token.text;
    node->regexp.flags = token.raw;
    return node;
}

// ---- templates

static void push_template_part(FlowParser *p, bool is_tagged) {
    const FlowToken *token = &p->token;
    if (str_is_null(token->text) && !is_tagged)
        parse_error(
            p, &(FlowFinding){.code = FLOW_ERROR_LITERAL, .start = token->start, .end = token->end},
            "%s", token->problem);
    vec_push(&p->parts, (FlowTemplatePart){.cooked = token->text, .raw = token->raw});
}

FlowNode *parse_template(FlowParser *p, bool is_tagged) {
    uint32_t start = p->token.start;
    size_t part_mark = p->parts.count;
    size_t mark = parse_list_begin(p);
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    push_template_part(p, is_tagged);
    while (p->token.kind == TOKEN_TEMPLATE_HEAD) {
        parse_next(p);
        uint32_t height = parse_height_begin(p);
        p->template_depth++;
        parse_list_push(p, parse_expression(p));
        p->template_depth--;
        parse_height_end(p, height);
        if (p->token.kind != TOKEN_BRACE_CLOSE) {
            if (p->token.kind != TOKEN_END || p->is_panicking) parse_unexpected(p);
            else parse_panic(p, FLOW_ERROR_LITERAL, "Unterminated template literal", NULL);
            break;
        }
        flow_lexer_rescan_template(&p->lexer, &p->token);
        if (p->token.kind == TOKEN_ERROR) {
            parse_stop(p);
            break;
        }
        push_template_part(p, is_tagged);
    }
    if (p->token.kind == TOKEN_TEMPLATE_TAIL) parse_next(p);
    p->is_in_allowed = was_in_allowed;
    FlowNode *node = parse_node(p, NODE_TEMPLATE, start);
    size_t part_count = p->parts.count - part_mark;
    node->template.expressions = parse_list_end(p, mark);
    node->template.parts = arena_alloc(p->arena, part_count * sizeof(FlowTemplatePart));
    memcpy(node->template.parts, p->parts.data + part_mark, part_count * sizeof(FlowTemplatePart));
    p->parts.count = part_mark;
    return node;
}

// ---- arrays and parentheses

static FlowNode *parse_array(FlowParser *p) {
    uint32_t start = p->token.start;
    size_t mark = parse_list_begin(p);
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    parse_next(p);
    while (p->token.kind != TOKEN_BRACKET_CLOSE && p->token.kind != TOKEN_END) {
        if (parse_accept(p, TOKEN_COMMA)) {
            parse_list_push(p, NULL); // a hole
            continue;
        }
        uint32_t height = parse_height_begin(p);
        uint32_t item_start = p->token.start;
        bool is_spread = parse_accept(p, TOKEN_ELLIPSIS);
        FlowNode *item = parse_assignment_cover(p);
        if (is_spread) item = parse_unary_node(p, NODE_SPREAD, item_start, item);
        parse_list_push(p, item);
        parse_height_end(p, height);
        if (p->token.kind != TOKEN_COMMA) break;
        if (is_spread) item->flags |= FLAG_TRAILING_COMMA;
        parse_next(p);
    }
    p->is_in_allowed = was_in_allowed;
    parse_expect(p, TOKEN_BRACKET_CLOSE);
    FlowNode *node = parse_node(p, NODE_ARRAY, start);
    node->list = parse_list_end(p, mark);
    return node;
}

typedef struct Parenthesis { // what was found between the parentheses
    uint32_t start;
    bool may_be_arrow;
    const char *arrow_sign; // what only an arrow function's parameters have: ), ... or NULL
    uint32_t arrow_sign_at;
    uint32_t functions_before;
} Parenthesis;

static FlowNode *finish_parentheses(FlowParser *p, const Parenthesis *paren, size_t mark) {
    if (parse_is_arrow_next(p) && paren->may_be_arrow) {
        p->cover_at = p->proto_at = OFFSET_NONE;
        return parse_arrow(p, &(FlowArrowHead){.start = paren->start,
                                               .parameters = parse_list_end(p, mark),
                                               .functions_before = paren->functions_before});
    }
    FlowNodeList list = parse_list_end(p, mark);
    if (p->is_panicking) return parse_node(p, NODE_UNDEFINED, paren->start);
    if (paren->arrow_sign || p->token.kind == TOKEN_ARROW) {
        if (p->token.kind != TOKEN_ARROW)
            parse_error(
                p,
                &(FlowFinding){.code = FLOW_ERROR_SYNTAX,
                               .start = paren->arrow_sign_at,
                               .end = paren->arrow_sign_at + (uint32_t)strlen(paren->arrow_sign)},
                "Unexpected token '%s'", paren->arrow_sign);
        else parse_unexpected(p);
        parse_stop(p);
        return parse_node(p, NODE_UNDEFINED, paren->start);
    }
    parse_check_cover(p);
    p->arrow = NULL;
    FlowNode *node = list.items[0];
    if (list.count > 1) {
        node = parse_node(p, NODE_SEQUENCE, list.items[0]->start);
        node->end = list.items[list.count - 1]->end;
        node->list = list;
    }
    node->flags |= FLAG_PARENTHESIZED;
    return node;
}

static bool note_arrow_sign(const FlowParser *p, Parenthesis *paren, FlowTokenKind kind) {
    if (p->token.kind != kind) return false;
    paren->arrow_sign = flow_token_info[kind].text;
    paren->arrow_sign_at = p->token.start;
    return true;
}

static FlowNode *parse_arrow_rest(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    p->binding_kind = VARIABLE_PARAMETER;
    FlowNode *target = parse_binding_target(p);
    if (p->token.kind == TOKEN_COMMA)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Rest parameter must be last formal parameter", NULL);
    return parse_unary_node(p, NODE_REST, start, target);
}

static FlowNode *parse_parenthesis(FlowParser *p) {
    Parenthesis paren = {.start = p->token.start,
                         .may_be_arrow = p->token.start == p->arrow_at,
                         .functions_before = p->function_count};
    uint32_t outer_cover_at = p->cover_at;
    uint32_t outer_proto_at = p->proto_at;
    bool was_in_allowed = p->is_in_allowed;
    p->cover_at = p->proto_at = OFFSET_NONE;
    p->is_in_allowed = true;
    size_t mark = parse_list_begin(p);
    parse_next(p);
    note_arrow_sign(p, &paren, TOKEN_PAREN_CLOSE);
    while (p->token.kind != TOKEN_PAREN_CLOSE && p->token.kind != TOKEN_END) {
        uint32_t height = parse_height_begin(p);
        bool is_rest = note_arrow_sign(p, &paren, TOKEN_ELLIPSIS);
        parse_list_push(p, is_rest ? parse_arrow_rest(p) : parse_assignment_cover(p));
        parse_height_end(p, height);
        if (is_rest || !parse_accept(p, TOKEN_COMMA)) break;
        note_arrow_sign(p, &paren, TOKEN_PAREN_CLOSE);
    }
    p->is_in_allowed = was_in_allowed;
    parse_expect(p, TOKEN_PAREN_CLOSE);
    FlowNode *node = finish_parentheses(p, &paren, mark);
    p->cover_at = outer_cover_at;
    p->proto_at = outer_proto_at;
    return node;
}

// ---- words that may begin a function

static FlowNode *parse_arrow_of_name(FlowParser *p, FlowNode *name, uint32_t start, bool is_async) {
    size_t mark = parse_list_begin(p);
    parse_list_push(p, name);
    return parse_arrow(p, &(FlowArrowHead){.start = start,
                                           .is_async = is_async,
                                           .parameters = parse_list_end(p, mark),
                                           .functions_before = p->function_count});
}

static FlowNode *parse_name_or_arrow(FlowParser *p) {
    bool may_be_arrow = p->token.start == p->arrow_at;
    bool is_async = p->token.kind == TOKEN_ASYNC;
    uint32_t start = p->token.start;
    FlowNode *name = parse_identifier(p);
    if (is_async && !p->token.is_after_newline) {
        if (p->token.kind == TOKEN_FUNCTION) return parse_function_expression(p, start, true);
        if (may_be_arrow && (parse_is_identifier(p) || p->token.kind == TOKEN_AWAIT)) {
            FlowNode *parameter = parse_identifier(p);
            if (!parse_is_arrow_next(p)) parse_unexpected(p);
            return p->is_panicking ? name : parse_arrow_of_name(p, parameter, start, true);
        }
    }
    if (may_be_arrow && parse_is_arrow_next(p)) return parse_arrow_of_name(p, name, start, false);
    return name;
}

static FlowNode *parse_intrinsic(FlowParser *p) { // %name(args)
    uint32_t start = p->token.start;
    parse_next(p);
    FlowName *name = p->token.name;
    if (!token_is_word(p->token.kind)) parse_unexpected(p);
    else parse_next(p);
    FlowNodeList arguments = {0};
    if (p->token.kind == TOKEN_PAREN_OPEN) arguments = parse_arguments(p, false);
    else parse_unexpected(p);
    FlowNode *node = parse_node(p, NODE_INTRINSIC, start);
    node->intrinsic.name = name;
    node->intrinsic.arguments = arguments;
    return node;
}

FlowNode *parse_primary(FlowParser *p) {
    switch (p->token.kind) {
    case TOKEN_THIS: return parse_word(p, NODE_THIS);
    case TOKEN_NULL: return parse_word(p, NODE_NULL);
    case TOKEN_TRUE: return parse_word(p, NODE_TRUE);
    case TOKEN_FALSE: return parse_word(p, NODE_FALSE);
    case TOKEN_NUMBER:
    case TOKEN_BIGINT:
    case TOKEN_STRING: return parse_literal(p);
    case TOKEN_TEMPLATE_HEAD:
    case TOKEN_TEMPLATE_TAIL: return parse_template(p, false);
    case TOKEN_DIVIDE:
    case TOKEN_ASSIGN_DIVIDE: return parse_regexp(p);
    case TOKEN_BRACKET_OPEN: return parse_array(p);
    case TOKEN_BRACE_OPEN: return parse_object(p);
    case TOKEN_PAREN_OPEN: return parse_parenthesis(p);
    case TOKEN_FUNCTION: return parse_function_expression(p, p->token.start, false);
    case TOKEN_CLASS: return parse_class(p, false);
    case TOKEN_IMPORT:
        parse_panic(p, FLOW_ERROR_REFUSED, "`import` is not available in a workflow",
                    "A workflow file is complete in itself; call a task instead");
        return parse_node(p, NODE_UNDEFINED, p->token.start);
    case TOKEN_REMAINDER:
        if (p->mode == FLOW_PARSE_PRELUDE) return parse_intrinsic(p);
        break;
    default:
        if (parse_is_identifier(p)) return parse_name_or_arrow(p);
    }
    uint32_t start = p->token.start;
    parse_unexpected(p);
    return parse_node(p, NODE_UNDEFINED, start);
}
