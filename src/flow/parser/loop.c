// Loops, switches, labels and jumps.
//
// The head of a `for` is read once: an expression is read with the cover grammar, `in` not being
// an operator, and becomes a target or pattern when `of` or `in` follows.
//
// What break and continue may leave is a list of FlowTarget on the C stack, one per open loop,
// switch and label of the function; a label directly before a loop learns the loop's node, so
// that the compiler finds every jump resolved.
#include "flow/parser/internal.h"

// ---- jump targets

static void push_target(FlowParser *p, FlowTarget *target) {
    target->outer = p->context->targets;
    p->context->targets = target;
}

static void pop_target(FlowParser *p) { p->context->targets = p->context->targets->outer; }

static FlowNode *parse_loop_body(FlowParser *p, FlowNode *loop) {
    uint32_t start = loop->start;
    for (FlowTarget *label = p->context->targets;
         label && label->label && label->body_start == start; label = label->outer) {
        label->loop = loop; // a: b: for (;;) continue a
        start = label->node->start;
    }
    FlowTarget target = {.node = loop, .is_loop = true};
    push_target(p, &target);
    FlowNode *body = parse_statement(p);
    pop_target(p);
    return body;
}

static FlowTarget *find_label(FlowParser *p, const FlowName *name) {
    FlowTarget *target = p->context->targets;
    while (target && target->label != name) target = target->outer;
    return target;
}

FlowNode *parse_labeled(FlowParser *p, FlowNode *label) {
    FlowName *name = label->reference.name;
    if (find_label(p, name))
        parse_error(
            p,
            &(FlowFinding){.code = FLOW_ERROR_REDECLARED, .start = label->start, .end = label->end},
            "Label '%.*s' has already been declared", STR_ARG(name->text));
    parse_next(p); // the colon
    FlowNode *node = parse_node(p, NODE_LABELED, label->start);
    node->labeled.label = name;
    FlowTarget target = {.label = name, .node = node, .body_start = p->token.start};
    push_target(p, &target);
    node->labeled.body = parse_statement(p);
    pop_target(p);
    node->end = p->previous_end;
    return node;
}

static void resolve_plain_jump(FlowParser *p, FlowNode *node) {
    bool is_continue = node->kind == NODE_CONTINUE;
    for (FlowTarget *target = p->context->targets; target; target = target->outer) {
        if (target->label || (is_continue && !target->is_loop)) continue;
        node->jump.target = target->node;
        return;
    }
    parse_error_node(p, node, FLOW_ERROR_CONTEXT,
                     is_continue ? "Illegal continue statement: no surrounding iteration statement"
                                 : "Illegal break statement");
}

static void resolve_labeled_jump(FlowParser *p, FlowNode *node, const FlowToken *label) {
    FlowTarget *target = find_label(p, label->name);
    FlowFinding finding = {.code = FLOW_ERROR_CONTEXT, .start = label->start, .end = label->end};
    if (!target) parse_error(p, &finding, "Undefined label '%.*s'", STR_ARG(label->name->text));
    else if (node->kind == NODE_BREAK) node->jump.target = target->node;
    else if (target->loop) node->jump.target = target->loop;
    else
        parse_error(p, &finding,
                    "Illegal continue statement: '%.*s' does not denote an iteration statement",
                    STR_ARG(label->name->text));
}

FlowNode *parse_jump(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowNodeKind kind = p->token.kind == TOKEN_BREAK ? NODE_BREAK : NODE_CONTINUE;
    parse_next(p);
    FlowToken label = p->token;
    bool has_label = token_is_word(label.kind) && !label.is_after_newline && parse_is_identifier(p);
    if (has_label) parse_next(p);
    FlowNode *node = parse_node(p, kind, start);
    if (has_label) {
        node->jump.label = label.name;
        resolve_labeled_jump(p, node, &label);
    } else {
        resolve_plain_jump(p, node);
    }
    parse_semicolon(p);
    return node;
}

// ---- for

static FlowNode *parse_for_rest(FlowParser *p, FlowNode *node, FlowNode *initializer) {
    FlowLoop *loop = ARENA_NEW(p->arena, FlowLoop);
    node->kind = NODE_FOR;
    node->loop = loop;
    loop->initializer = initializer;
    parse_expect(p, TOKEN_SEMICOLON);
    if (p->token.kind != TOKEN_SEMICOLON) loop->test = parse_expression(p);
    parse_expect(p, TOKEN_SEMICOLON);
    if (p->token.kind != TOKEN_PAREN_CLOSE) loop->update = parse_expression(p);
    parse_expect(p, TOKEN_PAREN_CLOSE);
    loop->body = parse_loop_body(p, node);
    node->end = p->previous_end;
    return node;
}

static void check_iteration_declaration(FlowParser *p, const FlowNode *left, const char *name) {
    FlowFinding finding = {.code = FLOW_ERROR_SYNTAX, .start = left->start, .end = left->end};
    if (left->list.count != 1)
        parse_error(p, &finding, "Invalid left-hand side in %s loop: Must have a single binding.",
                    name);
    else if (left->list.items[0]->binary.right)
        parse_error(p, &finding, "%s loop variable declaration may not have an initializer.", name);
}

static FlowNode *parse_iteration(FlowParser *p, FlowNode *node, FlowNode *left) {
    bool is_of = p->token.kind == TOKEN_OF;
    node->kind = is_of ? NODE_FOR_OF : NODE_FOR_IN;
    if (left->kind == NODE_VARIABLES)
        check_iteration_declaration(p, left, is_of ? "for-of" : "for-in");
    node->iteration.left = left;
    parse_next(p);
    node->iteration.right = is_of ? parse_assignment(p) : parse_expression(p);
    node->at = node->iteration.right->start;
    parse_expect(p, TOKEN_PAREN_CLOSE);
    node->iteration.body = parse_loop_body(p, node);
    node->end = p->previous_end;
    return node;
}

// Turns an expression before `of` or `in` into a target.
static void convert_iteration_target(FlowParser *p, FlowNode *target) {
    bool is_literal = target->kind == NODE_OBJECT || target->kind == NODE_ARRAY;
    if (is_literal && !(target->flags & FLAG_PARENTHESIZED)) {
        p->cover_at = p->proto_at = OFFSET_NONE;
        parse_to_pattern(p, target, false);
    } else {
        parse_check_cover(p);
        parse_check_simple_target(p, target, "Invalid left-hand side in for-loop");
    }
}

// The rest of a comma expression whose first part has been read.
static FlowNode *parse_more_expressions(FlowParser *p, FlowNode *first) {
    parse_check_cover(p);
    if (p->token.kind != TOKEN_COMMA) return first;
    size_t mark = parse_list_begin(p);
    parse_list_push(p, first);
    while (parse_accept(p, TOKEN_COMMA)) parse_list_push(p, parse_assignment(p));
    FlowNode *node = parse_node(p, NODE_SEQUENCE, first->start);
    node->list = parse_list_end(p, mark);
    return node;
}

static FlowNode *parse_for_expression_head(FlowParser *p, FlowNode *node) {
    FlowToken first = p->token;
    p->is_in_allowed = false;
    FlowNode *expression = parse_assignment_cover(p);
    p->is_in_allowed = true;
    if (p->token.kind == TOKEN_OF || p->token.kind == TOKEN_IN) {
        bool is_async_of = p->token.kind == TOKEN_OF && first.kind == TOKEN_ASYNC &&
                           expression->kind == NODE_IDENTIFIER && !(node->flags & FLAG_AWAIT) &&
                           !(expression->flags & FLAG_PARENTHESIZED);
        if (is_async_of)
            parse_error_node(p, expression, FLOW_ERROR_SYNTAX,
                             "The left-hand side of a for-of loop may not be 'async'.");
        convert_iteration_target(p, expression);
        return parse_iteration(p, node, expression);
    }
    p->is_in_allowed = false;
    expression = parse_more_expressions(p, expression);
    p->is_in_allowed = true;
    return parse_for_rest(p, node, expression);
}

static FlowNode *parse_for_head(FlowParser *p, FlowNode *node) {
    FlowTokenKind kind = p->token.kind;
    if (kind == TOKEN_SEMICOLON) return parse_for_rest(p, node, NULL);
    if (kind != TOKEN_VAR && kind != TOKEN_LET && kind != TOKEN_CONST)
        return parse_for_expression_head(p, node);
    p->is_in_allowed = false;
    FlowNode *variables = parse_variables(p, true);
    p->is_in_allowed = true;
    if (p->token.kind == TOKEN_OF || p->token.kind == TOKEN_IN)
        return parse_iteration(p, node, variables);
    return parse_for_rest(p, node, variables);
}

static FlowNode *parse_for(FlowParser *p) {
    FlowNode *node = parse_node(p, NODE_FOR, p->token.start);
    parse_next(p);
    uint32_t await_at = p->token.start;
    if (p->token.kind == TOKEN_AWAIT) {
        if (!p->context->is_async)
            parse_panic(p, FLOW_ERROR_CONTEXT,
                        "for await is only valid in async functions and the top level",
                        "Write `async` before the function that contains it");
        else {
            p->context->function->contains_await = true;
            p->last_await_at = await_at;
            if (p->context->function->kind == FUNCTION_KIND_PROGRAM &&
                p->top_await_at == OFFSET_NONE)
                p->top_await_at = await_at;
        }
        node->flags |= FLAG_AWAIT;
        parse_next(p);
    }
    parse_expect(p, TOKEN_PAREN_OPEN);
    bool was_in_allowed = p->is_in_allowed;
    node = parse_for_head(p, node);
    p->is_in_allowed = was_in_allowed;
    if ((node->flags & FLAG_AWAIT) && node->kind != NODE_FOR_OF)
        parse_error(
            p, &(FlowFinding){.code = FLOW_ERROR_SYNTAX, .start = await_at, .end = await_at + 5},
            "for await is only possible with `of`");
    return node;
}

// ---- while, do

static FlowNode *parse_while(FlowParser *p) {
    FlowNode *node = parse_node(p, NODE_WHILE, p->token.start);
    parse_next(p);
    parse_expect(p, TOKEN_PAREN_OPEN);
    node->binary.left = parse_expression(p);
    parse_expect(p, TOKEN_PAREN_CLOSE);
    node->binary.right = parse_loop_body(p, node);
    node->end = p->previous_end;
    return node;
}

static FlowNode *parse_do(FlowParser *p) {
    FlowNode *node = parse_node(p, NODE_DO_WHILE, p->token.start);
    parse_next(p);
    node->binary.right = parse_loop_body(p, node);
    parse_expect(p, TOKEN_WHILE);
    parse_expect(p, TOKEN_PAREN_OPEN);
    node->binary.left = parse_expression(p);
    parse_expect(p, TOKEN_PAREN_CLOSE);
    parse_accept(p, TOKEN_SEMICOLON); // always optional here
    node->end = p->previous_end;
    return node;
}

FlowNode *parse_loop(FlowParser *p) {
    switch (p->token.kind) {
    case TOKEN_FOR: return parse_for(p);
    case TOKEN_WHILE: return parse_while(p);
    default: return parse_do(p);
    }
}

// ---- switch

static FlowNodeList parse_case_body(FlowParser *p) {
    size_t mark = parse_list_begin(p);
    while (p->token.kind != TOKEN_CASE && p->token.kind != TOKEN_DEFAULT &&
           p->token.kind != TOKEN_BRACE_CLOSE && p->token.kind != TOKEN_END) {
        uint32_t start = p->token.start;
        uint32_t height = parse_height_begin(p);
        FlowNode *statement = parse_statement_item(p);
        parse_height_end(p, height);
        if (p->is_panicking) parse_recover(p, start);
        else parse_list_push(p, statement);
    }
    return parse_list_end(p, mark);
}

static FlowNode *parse_case(FlowParser *p, bool *has_default) {
    FlowNode *node = parse_node(p, NODE_CASE, p->token.start);
    if (parse_accept(p, TOKEN_CASE)) {
        node->switch_case.test = parse_expression(p);
    } else {
        if (p->token.kind == TOKEN_DEFAULT && *has_default)
            parse_panic(p, FLOW_ERROR_SYNTAX, "More than one default clause in switch statement",
                        NULL);
        *has_default = true;
        parse_expect(p, TOKEN_DEFAULT);
    }
    parse_expect(p, TOKEN_COLON);
    node->switch_case.body = parse_case_body(p);
    node->end = p->previous_end;
    return node;
}

FlowNode *parse_switch(FlowParser *p) {
    FlowNode *node = parse_node(p, NODE_SWITCH, p->token.start);
    parse_next(p);
    parse_expect(p, TOKEN_PAREN_OPEN);
    node->switch_statement.discriminant = parse_expression(p);
    parse_expect(p, TOKEN_PAREN_CLOSE);
    parse_expect(p, TOKEN_BRACE_OPEN);
    FlowTarget target = {.node = node};
    push_target(p, &target);
    p->block_depth++;
    bool has_default = false;
    size_t mark = parse_list_begin(p);
    while (p->token.kind != TOKEN_BRACE_CLOSE && p->token.kind != TOKEN_END) {
        uint32_t height = parse_height_begin(p);
        parse_list_push(p, parse_case(p, &has_default));
        parse_height_end(p, height);
    }
    node->switch_statement.cases = parse_list_end(p, mark);
    p->block_depth--;
    pop_target(p);
    parse_expect(p, TOKEN_BRACE_CLOSE);
    node->end = p->previous_end;
    return node;
}
