// Expressions: assignment, conditional, binary and unary operators.
//
// Binary operators are parsed by precedence climbing. A run of many operators of one precedence
// becomes a chain node instead of a tree that leans to the left (ast.h [ast-4]).
//
// parse_assignment_cover is the place where the cover grammar is decided: what was read as an
// expression becomes a pattern when `=` follows.
#include "flow/parser/internal.h"

enum { PRECEDENCE_NULLISH = 1, PRECEDENCE_RELATIONAL = 8, PRECEDENCE_POWER = 12 };

static FlowNode *parse_binary(FlowParser *p, int min_precedence);

bool parse_is_simple_target(const FlowNode *node) {
    switch (node->kind) {
    case NODE_IDENTIFIER:
    case NODE_MEMBER:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX: return true;
    default: return false;
    }
}

void parse_check_simple_target(FlowParser *p, const FlowNode *node, const char *message) {
    if (!parse_is_simple_target(node)) {
        parse_error_node(p, node, FLOW_ERROR_TARGET, message);
        return;
    }
    if (node->kind == NODE_IDENTIFIER &&
        (node->reference.name == p->names.eval || node->reference.name == p->names.arguments))
        parse_error_node(p, node, FLOW_ERROR_STRICT, "Unexpected eval or arguments in strict mode");
}

void parse_check_cover(FlowParser *p) {
    if (p->cover_at != OFFSET_NONE)
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_SYNTAX,
                                   .start = p->cover_at,
                                   .end = p->cover_at + 1,
                                   .hint = "Use `:` in an object; `=` gives a default in a "
                                           "destructuring pattern"},
                    "Invalid shorthand property initializer");
    if (p->proto_at != OFFSET_NONE)
        parse_error(
            p,
            &(FlowFinding){.code = FLOW_ERROR_SYNTAX, .start = p->proto_at, .end = p->proto_at + 9},
            "Duplicate __proto__ fields are not allowed in object literals");
    p->cover_at = p->proto_at = OFFSET_NONE;
}

static FlowNode *parse_yield(FlowParser *p) {
    uint32_t start = p->token.start;
    if (p->context->is_in_parameters)
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_CONTEXT, .start = start, .end = p->token.end},
                    "Yield expression not allowed in formal parameter");
    p->last_yield_at = start;
    p->context->function->contains_yield = true;
    parse_next(p);
    FlowNode *operand = NULL;
    uint16_t flags = 0;
    if (!p->token.is_after_newline) {
        if (parse_accept(p, TOKEN_MULTIPLY)) flags = FLAG_DELEGATE;
        switch (p->token.kind) {
        case TOKEN_END:
        case TOKEN_SEMICOLON:
        case TOKEN_BRACE_CLOSE:
        case TOKEN_BRACKET_CLOSE:
        case TOKEN_PAREN_CLOSE:
        case TOKEN_COLON:
        case TOKEN_COMMA:
        case TOKEN_IN:
            if (flags) parse_unexpected(p);
            break;
        default: operand = parse_assignment(p);
        }
    }
    FlowNode *node = parse_unary_node(p, NODE_YIELD, start, operand);
    node->flags = flags;
    return node;
}

static bool is_pattern_literal(const FlowNode *node) {
    return (node->kind == NODE_OBJECT || node->kind == NODE_ARRAY) &&
           !(node->flags & FLAG_PARENTHESIZED);
}

static FlowNode *parse_assignment_rest(FlowParser *p, FlowNode *left) {
    FlowTokenKind kind = p->token.kind;
    if (kind == TOKEN_ASSIGN && is_pattern_literal(left)) {
        p->cover_at = p->proto_at = OFFSET_NONE;
        parse_to_pattern(p, left, false);
    } else {
        parse_check_cover(p);
        parse_check_simple_target(p, left, "Invalid left-hand side in assignment");
    }
    uint32_t at = p->token.start;
    parse_next(p);
    FlowNode *right = parse_assignment(p);
    FlowNode *node = parse_node(p, NODE_ASSIGN, left->start);
    node->op = flow_token_info[kind].op;
    node->at = at;
    node->binary.left = left;
    node->binary.right = right;
    return node;
}

static FlowNode *parse_conditional(FlowParser *p) {
    FlowNode *test = parse_binary(p, PRECEDENCE_NULLISH);
    if (p->token.kind != TOKEN_QUESTION || test == p->arrow) return test;
    parse_next(p);
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    FlowNode *consequent = parse_assignment(p);
    p->is_in_allowed = was_in_allowed;
    parse_expect(p, TOKEN_COLON);
    FlowNode *alternate = parse_assignment(p);
    FlowNode *node = parse_node(p, NODE_CONDITIONAL, test->start);
    node->conditional.test = test;
    node->conditional.consequent = consequent;
    node->conditional.alternate = alternate;
    return node;
}

FlowNode *parse_assignment_cover(FlowParser *p) {
    if (!parse_enter(p)) {
        parse_leave(p);
        return parse_node(p, NODE_UNDEFINED, p->token.start);
    }
    uint32_t outer_cover_at = p->cover_at;
    uint32_t outer_proto_at = p->proto_at;
    p->cover_at = p->proto_at = OFFSET_NONE;
    FlowNode *node;
    if (p->token.kind == TOKEN_YIELD && p->context->is_generator) {
        node = parse_yield(p);
    } else {
        p->arrow_at = p->token.start;
        node = parse_conditional(p);
        if (token_is_assignment(p->token.kind) && node != p->arrow)
            node = parse_assignment_rest(p, node);
        else if (!is_pattern_literal(node)) parse_check_cover(p);
    }
    if (p->cover_at == OFFSET_NONE) p->cover_at = outer_cover_at;
    if (p->proto_at == OFFSET_NONE) p->proto_at = outer_proto_at;
    parse_leave(p);
    return node;
}

FlowNode *parse_assignment(FlowParser *p) {
    uint32_t outer_cover_at = p->cover_at;
    uint32_t outer_proto_at = p->proto_at;
    p->cover_at = p->proto_at = OFFSET_NONE;
    FlowNode *node = parse_assignment_cover(p);
    parse_check_cover(p);
    p->cover_at = outer_cover_at;
    p->proto_at = outer_proto_at;
    return node;
}

FlowNode *parse_expression(FlowParser *p) {
    FlowNode *first = parse_assignment(p);
    if (p->token.kind != TOKEN_COMMA) return first;
    size_t mark = parse_list_begin(p);
    parse_list_push(p, first);
    while (parse_accept(p, TOKEN_COMMA)) {
        uint32_t height = parse_height_begin(p);
        parse_list_push(p, parse_assignment(p));
        parse_height_end(p, height);
    }
    FlowNode *node = parse_node(p, NODE_SEQUENCE, first->start);
    node->list = parse_list_end(p, mark);
    return node;
}

// ---- binary operators

typedef struct Sign { // the operator's token
    uint8_t kind;
    uint32_t start;
    uint32_t end;
} Sign;

static bool is_logical(const FlowNode *node, bool is_nullish) {
    if (node->kind != NODE_LOGICAL && node->kind != NODE_LOGICAL_CHAIN) return false;
    return !(node->flags & FLAG_PARENTHESIZED) && (node->op == OPERATOR_NULLISH) == is_nullish;
}

// `??` does not mix with && and || unless there are parentheses.
static void check_nullish_mix(FlowParser *p, const Sign *sign, const FlowNode *operand) {
    bool is_nullish = sign->kind == TOKEN_NULLISH;
    if (!is_logical(operand, !is_nullish)) return;
    bool is_after = operand->at > sign->start; // the second of the two operators is blamed
    parse_error(p,
                &(FlowFinding){.code = FLOW_ERROR_SYNTAX,
                               .start = is_after ? operand->at : sign->start,
                               .end = (is_after ? operand->at : sign->start) + 2,
                               .hint = "Put parentheses around one of the two when `??` stands "
                                       "beside `||` or `&&`"},
                "Unexpected token '%s'",
                is_after ? flow_operator_text(operand->op) : flow_token_info[sign->kind].text);
}

typedef struct BinaryRun { // operators of one precedence in a row
    int precedence;
    uint32_t length;
    FlowNode *chain; // open chain node, its links are on top of FlowParser.links
    size_t link_mark;
} BinaryRun;

static void close_chain(FlowParser *p, BinaryRun *run) {
    if (!run->chain) return;
    uint32_t count = (uint32_t)(p->links.count - run->link_mark);
    run->chain->chain.count = count;
    run->chain->chain.links = arena_alloc(p->arena, count * sizeof(FlowChainLink));
    memcpy(run->chain->chain.links, p->links.data + run->link_mark, count * sizeof(FlowChainLink));
    p->links.count = run->link_mark;
    run->chain = NULL;
}

static FlowNode *combine_binary(FlowParser *p, BinaryRun *run, FlowNode *left, FlowChainLink link) {
    bool is_logical_op = link.op == OPERATOR_LOGICAL_AND || link.op == OPERATOR_LOGICAL_OR ||
                         link.op == OPERATOR_NULLISH;
    if (run->chain) {
        vec_push(&p->links, link);
        run->chain->end = p->previous_end;
        return left;
    }
    if (run->length > FLOW_CHAIN_OPERANDS_MIN) {
        FlowNode *chain =
            parse_node(p, is_logical_op ? NODE_LOGICAL_CHAIN : NODE_BINARY_CHAIN, left->start);
        chain->op = link.op;
        chain->at = link.at;
        chain->chain.first = left;
        run->chain = chain;
        run->link_mark = p->links.count;
        vec_push(&p->links, link);
        return chain;
    }
    FlowNode *node = parse_node(p, is_logical_op ? NODE_LOGICAL : NODE_BINARY, left->start);
    node->op = link.op;
    node->at = link.at;
    node->binary.left = left;
    node->binary.right = link.operand;
    return node;
}

// `#x in o`
static FlowNode *parse_private_operand(FlowParser *p, int min_precedence) {
    FlowToken token = p->token;
    if (min_precedence > PRECEDENCE_RELATIONAL || !p->is_in_allowed ||
        parse_peek(p).kind != TOKEN_IN) {
        parse_unexpected(p);
        return parse_node(p, NODE_UNDEFINED, token.start);
    }
    parse_next(p);
    FlowNode *name = parse_node(p, NODE_PRIVATE_NAME, token.start);
    name->reference.name = token.name;
    uint32_t at = p->token.start;
    parse_next(p);
    FlowNode *right = parse_binary(p, PRECEDENCE_RELATIONAL + 1);
    FlowNode *node = parse_node(p, NODE_PRIVATE_IN, token.start);
    node->at = at;
    node->op = OPERATOR_IN;
    node->binary.left = name;
    node->binary.right = right;
    return node;
}

static FlowNode *parse_unary(FlowParser *p);

static FlowNode *parse_power_operand(FlowParser *p, const FlowNode *left) {
    bool is_unary = left->kind == NODE_UNARY || left->kind == NODE_AWAIT;
    if (is_unary && !(left->flags & FLAG_PARENTHESIZED))
        parse_error_node(p, left, FLOW_ERROR_SYNTAX,
                         "Unary operator used immediately before exponentiation expression. "
                         "Parenthesis must be used to disambiguate operator precedence");
    FlowNode *right = parse_enter(p) ? parse_binary(p, PRECEDENCE_POWER)
                                     : parse_node(p, NODE_UNDEFINED, p->token.start);
    parse_leave(p);
    return right;
}

static FlowNode *parse_binary(FlowParser *p, int min_precedence) {
    FlowNode *left = p->token.kind == TOKEN_PRIVATE_NAME ? parse_private_operand(p, min_precedence)
                                                         : parse_unary(p);
    if (left == p->arrow) return left;
    BinaryRun run = {0};
    for (;;) {
        Sign sign = {p->token.kind, p->token.start, p->token.end};
        int precedence = flow_token_info[sign.kind].precedence;
        if (precedence == 0 || precedence < min_precedence) break;
        if (sign.kind == TOKEN_IN && !p->is_in_allowed) break;
        if (precedence != run.precedence) {
            close_chain(p, &run);
            run.precedence = precedence;
            run.length = 0;
        }
        run.length++;
        if (precedence <= 3) check_nullish_mix(p, &sign, left);
        parse_next(p);
        uint32_t height = parse_height_begin(p);
        FlowNode *right = sign.kind == TOKEN_POWER ? parse_power_operand(p, left)
                                                   : parse_binary(p, precedence + 1);
        parse_height_end(p, height);
        if (precedence <= 3) check_nullish_mix(p, &sign, right);
        if (!run.chain) parse_height_add(p);
        FlowChainLink link = {right, sign.start, flow_token_info[sign.kind].op};
        left = combine_binary(p, &run, left, link);
    }
    close_chain(p, &run);
    return left;
}

// ---- unary operators

static FlowNode *parse_operand(FlowParser *p) {
    FlowNode *operand =
        parse_enter(p) ? parse_unary(p) : parse_node(p, NODE_UNDEFINED, p->token.start);
    parse_leave(p);
    return operand;
}

static void check_delete(FlowParser *p, FlowNode *operand) {
    if (operand->kind == NODE_IDENTIFIER)
        parse_error_node(p, operand, FLOW_ERROR_STRICT,
                         "Delete of an unqualified identifier in strict mode.");
    const FlowNode *target = operand;
    if (target->kind == NODE_OPTIONAL_CHAIN) target = target->unary.operand;
    if (target->kind == NODE_PRIVATE_MEMBER)
        parse_error_node(p, target, FLOW_ERROR_PRIVATE, "Private fields can not be deleted");
}

static FlowNode *parse_prefix(FlowParser *p) {
    FlowToken sign = p->token;
    parse_next(p);
    FlowNode *operand = parse_operand(p);
    bool is_update = sign.kind == TOKEN_INCREMENT || sign.kind == TOKEN_DECREMENT;
    FlowNode *node = parse_unary_node(p, is_update ? NODE_UPDATE : NODE_UNARY, sign.start, operand);
    node->op = flow_token_info[sign.kind].op;
    if (sign.kind == TOKEN_ADD) node->op = OPERATOR_PLUS;
    if (sign.kind == TOKEN_SUBTRACT) node->op = OPERATOR_NEGATE;
    if (is_update) {
        node->flags = FLAG_PREFIX;
        parse_check_simple_target(p, operand,
                                  "Invalid left-hand side expression in prefix operation");
    }
    if (sign.kind == TOKEN_DELETE) check_delete(p, operand);
    return node;
}

static FlowNode *parse_await(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowFunctionContext *context = p->context;
    if (context->is_in_parameters)
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_CONTEXT, .start = start, .end = p->token.end},
                    "Illegal await-expression in formal parameters of async function");
    if (p->token.has_escape)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Keyword must not contain escaped characters", NULL);
    p->last_await_at = start;
    context->function->contains_await = true;
    if (context->function->kind == FUNCTION_KIND_PROGRAM && p->top_await_at == OFFSET_NONE)
        p->top_await_at = start;
    parse_next(p);
    FlowNode *operand = parse_operand(p);
    return parse_unary_node(p, NODE_AWAIT, start, operand);
}

static FlowNode *parse_unary(FlowParser *p) {
    switch (p->token.kind) {
    case TOKEN_NOT:
    case TOKEN_BIT_NOT:
    case TOKEN_ADD:
    case TOKEN_SUBTRACT:
    case TOKEN_TYPEOF:
    case TOKEN_VOID:
    case TOKEN_DELETE:
    case TOKEN_INCREMENT:
    case TOKEN_DECREMENT: return parse_prefix(p);
    case TOKEN_AWAIT:
        if (p->context->is_async) return parse_await(p);
        break;
    default: break;
    }
    FlowNode *node = parse_left_hand_side(p);
    bool is_update = p->token.kind == TOKEN_INCREMENT || p->token.kind == TOKEN_DECREMENT;
    if (!is_update || p->token.is_after_newline || node == p->arrow) return node;
    parse_check_simple_target(p, node, "Invalid left-hand side expression in postfix operation");
    FlowNode *update = parse_node(p, NODE_UPDATE, node->start);
    update->op = flow_token_info[p->token.kind].op;
    update->at = p->token.start;
    update->unary.operand = node;
    parse_next(p);
    update->end = p->previous_end;
    return update;
}
