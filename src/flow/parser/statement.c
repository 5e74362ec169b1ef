// Statements and declarations; loops, switches and jumps are in parser/loop.c.
//
// A statement list is where the parser recovers from errors: see parser/internal.h
// [parser-internal-1]. Two entries exist because the grammar has two: parse_statement_item, where
// declarations may stand, and parse_statement, the body of an if, a loop or a label, where they may
// not.
#include "flow/parser/internal.h"

static void push_statements(FlowParser *p, FlowTokenKind terminator) {
    while (p->token.kind != terminator && p->token.kind != TOKEN_END) {
        uint32_t start = p->token.start;
        uint32_t height = parse_height_begin(p);
        FlowNode *statement = parse_statement_item(p);
        parse_height_end(p, height);
        if (p->is_panicking) parse_recover(p, start);
        else parse_list_push(p, statement);
    }
}

FlowNodeList parse_statement_list(FlowParser *p, FlowTokenKind terminator) {
    size_t mark = parse_list_begin(p);
    push_statements(p, terminator);
    return parse_list_end(p, mark);
}

static bool is_use_strict(const FlowParser *p, const FlowNode *text) {
    return text->string.name == p->names.use_strict && text->end - text->start == 12;
}

void parse_push_directives(FlowParser *p) {
    while (p->token.kind == TOKEN_STRING) {
        uint32_t start = p->token.start;
        FlowNode *statement = parse_statement_item(p);
        if (p->is_panicking) {
            parse_recover(p, start);
            return;
        }
        parse_list_push(p, statement);
        if (statement->kind != NODE_EXPRESSION_STATEMENT) return;
        FlowNode *text = statement->unary.operand;
        if (text->kind != NODE_STRING || (text->flags & FLAG_PARENTHESIZED)) return;
        statement->flags |= FLAG_DIRECTIVE;
        if (is_use_strict(p, text) && !p->context->function->has_simple_parameters)
            parse_error_node(p, text, FLOW_ERROR_STRICT,
                             "Illegal 'use strict' directive in function with non-simple "
                             "parameter list");
    }
}

FlowNodeList parse_function_statements(FlowParser *p) {
    size_t mark = parse_list_begin(p);
    parse_push_directives(p);
    push_statements(p, TOKEN_BRACE_CLOSE);
    return parse_list_end(p, mark);
}

static FlowNode *parse_block(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_expect(p, TOKEN_BRACE_OPEN);
    p->block_depth++;
    FlowNodeList statements = parse_statement_list(p, TOKEN_BRACE_CLOSE);
    p->block_depth--;
    parse_expect(p, TOKEN_BRACE_CLOSE);
    FlowNode *node = parse_node(p, NODE_BLOCK, start);
    node->block.statements = statements;
    return node;
}

// ---- variables

static FlowNode *parse_declarator(FlowParser *p, FlowVariableKind kind, bool is_for_head) {
    uint32_t start = p->token.start;
    p->binding_kind = (uint8_t)kind;
    FlowNode *target = parse_binding_target(p);
    FlowNode *value = NULL;
    if (parse_accept(p, TOKEN_ASSIGN)) {
        value = parse_assignment(p);
    } else if (!(is_for_head && (p->token.kind == TOKEN_IN || p->token.kind == TOKEN_OF)) &&
               !p->is_panicking) {
        if (target->kind != NODE_IDENTIFIER)
            parse_panic(p, FLOW_ERROR_SYNTAX, "Missing initializer in destructuring declaration",
                        NULL);
        else if (kind == VARIABLE_CONST && token_is_identifier(p->token.kind) &&
                 !p->token.is_after_newline)
            parse_unexpected(p);
        else if (kind == VARIABLE_CONST)
            parse_error_node(p, target, FLOW_ERROR_SYNTAX,
                             "Missing initializer in const declaration");
    }
    FlowNode *node = parse_node(p, NODE_DECLARATOR, start);
    node->binary.left = target;
    node->binary.right = value;
    return node;
}

FlowNode *parse_variables(FlowParser *p, bool is_for_head) {
    uint32_t start = p->token.start;
    FlowVariableKind kind = p->token.kind == TOKEN_VAR   ? VARIABLE_VAR
                            : p->token.kind == TOKEN_LET ? VARIABLE_LET
                                                         : VARIABLE_CONST;
    size_t mark = parse_list_begin(p);
    parse_next(p);
    do {
        uint32_t height = parse_height_begin(p);
        parse_list_push(p, parse_declarator(p, kind, is_for_head));
        parse_height_end(p, height);
    } while (parse_accept(p, TOKEN_COMMA));
    FlowNode *node = parse_node(p, NODE_VARIABLES, start);
    node->op = (uint8_t)kind;
    node->list = parse_list_end(p, mark);
    return node;
}

// ---- simple statements

static FlowNode *parse_return(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowFunctionKind kind = p->context->function->kind;
    if (kind == FUNCTION_KIND_STATIC_BLOCK)
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_CONTEXT, .start = start, .end = p->token.end},
                    "Illegal return statement");
    if (kind == FUNCTION_KIND_PROGRAM && p->top_return_at == OFFSET_NONE) p->top_return_at = start;
    parse_next(p);
    FlowNode *value = NULL;
    if (p->token.kind != TOKEN_SEMICOLON && p->token.kind != TOKEN_BRACE_CLOSE &&
        p->token.kind != TOKEN_END && !p->token.is_after_newline)
        value = parse_expression(p);
    parse_semicolon(p);
    return parse_unary_node(p, NODE_RETURN, start, value);
}

static FlowNode *parse_throw(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    if (p->token.is_after_newline)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Illegal newline after throw", NULL);
    FlowNode *value = parse_expression(p);
    parse_semicolon(p);
    return parse_unary_node(p, NODE_THROW, start, value);
}

static FlowNode *parse_if(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    parse_expect(p, TOKEN_PAREN_OPEN);
    FlowNode *test = parse_expression(p);
    parse_expect(p, TOKEN_PAREN_CLOSE);
    FlowNode *consequent = parse_statement(p);
    FlowNode *alternate = parse_accept(p, TOKEN_ELSE) ? parse_statement(p) : NULL;
    FlowNode *node = parse_node(p, NODE_IF, start);
    node->conditional.test = test;
    node->conditional.consequent = consequent;
    node->conditional.alternate = alternate;
    return node;
}

static FlowNode *parse_catch(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    FlowNode *parameter = NULL;
    if (parse_accept(p, TOKEN_PAREN_OPEN)) {
        p->binding_kind = VARIABLE_CATCH;
        parameter = parse_binding_target(p);
        parse_expect(p, TOKEN_PAREN_CLOSE);
    }
    FlowNode *body = parse_block(p);
    FlowNode *node = parse_node(p, NODE_CATCH, start);
    node->catch_clause.parameter = parameter;
    node->catch_clause.body = body;
    return node;
}

static FlowNode *parse_try(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    FlowNode *block = parse_block(p);
    FlowNode *handler = p->token.kind == TOKEN_CATCH ? parse_catch(p) : NULL;
    FlowNode *finalizer = parse_accept(p, TOKEN_FINALLY) ? parse_block(p) : NULL;
    if (!handler && !finalizer)
        parse_panic(p, FLOW_ERROR_SYNTAX, "Missing catch or finally after try", NULL);
    FlowNode *node = parse_node(p, NODE_TRY, start);
    node->try_statement.block = block;
    node->try_statement.handler = handler;
    node->try_statement.finalizer = finalizer;
    return node;
}

static FlowNode *parse_expression_statement(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowNode *expression = parse_expression(p);
    if (p->token.kind == TOKEN_COLON && expression->kind == NODE_IDENTIFIER &&
        !(expression->flags & FLAG_PARENTHESIZED))
        return parse_labeled(p, expression);
    parse_semicolon(p);
    return parse_unary_node(p, NODE_EXPRESSION_STATEMENT, start, expression);
}

static bool is_async_function(FlowParser *p) {
    if (p->token.kind != TOKEN_ASYNC) return false;
    FlowToken next = parse_peek(p);
    return next.kind == TOKEN_FUNCTION && !next.is_after_newline;
}

static FlowNode *refuse(FlowParser *p, FlowCode code, const char *message, const char *hint) {
    uint32_t start = p->token.start;
    parse_panic(p, code, message, hint);
    return parse_node(p, NODE_EMPTY, start);
}

// ---- dispatch

static FlowNode *parse_plain_statement(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowNode *node;
    switch (p->token.kind) {
    case TOKEN_BRACE_OPEN: return parse_block(p);
    case TOKEN_SEMICOLON: parse_next(p); return parse_node(p, NODE_EMPTY, start);
    case TOKEN_VAR:
        node = parse_variables(p, false);
        parse_semicolon(p);
        node->end = p->previous_end;
        return node;
    case TOKEN_IF: return parse_if(p);
    case TOKEN_FOR:
    case TOKEN_WHILE:
    case TOKEN_DO: return parse_loop(p);
    case TOKEN_RETURN: return parse_return(p);
    case TOKEN_BREAK:
    case TOKEN_CONTINUE: return parse_jump(p);
    case TOKEN_THROW: return parse_throw(p);
    case TOKEN_TRY: return parse_try(p);
    case TOKEN_SWITCH: return parse_switch(p);
    case TOKEN_WITH:
        return refuse(p, FLOW_ERROR_STRICT, "Strict mode code may not include a with statement",
                      "Workflows are strict mode; name the object instead");
    case TOKEN_DEBUGGER: // without a debugger it does nothing, as the standard has it
        parse_next(p);
        parse_semicolon(p);
        return parse_node(p, NODE_EMPTY, start);
    default: return parse_expression_statement(p);
    }
}

FlowNode *parse_statement(FlowParser *p) {
    FlowNode *node;
    if (!parse_enter(p)) {
        node = parse_node(p, NODE_EMPTY, p->token.start);
    } else if (p->token.kind == TOKEN_FUNCTION) {
        node = refuse(p, FLOW_ERROR_STRICT,
                      "In strict mode code, functions can only be declared at top level or inside "
                      "a block.",
                      "Put braces around it");
    } else if (is_async_function(p)) {
        node = refuse(p, FLOW_ERROR_STRICT,
                      "Async functions can only be declared at the top level or inside a block.",
                      "Put braces around it");
    } else if (p->token.kind == TOKEN_LET) {
        node = refuse(p, FLOW_ERROR_SYNTAX,
                      "Lexical declaration cannot appear in a single-statement context",
                      "Put braces around it");
    } else if (p->token.kind == TOKEN_CLASS || p->token.kind == TOKEN_CONST) {
        parse_unexpected(p);
        node = parse_node(p, NODE_EMPTY, p->token.start);
    } else {
        node = parse_plain_statement(p);
    }
    parse_leave(p);
    return node;
}

static bool is_nested_workflow(FlowParser *p) {
    if (p->token.kind != TOKEN_WORKFLOW) return false;
    FlowToken next = parse_peek(p);
    return token_is_identifier(next.kind) && !next.is_after_newline;
}

static FlowNode *parse_declaration_or_statement(FlowParser *p) {
    uint32_t start = p->token.start;
    switch (p->token.kind) {
    case TOKEN_LET:
    case TOKEN_CONST: {
        FlowNode *node = parse_variables(p, false);
        parse_semicolon(p);
        node->end = p->previous_end;
        return node;
    }
    case TOKEN_FUNCTION: return parse_function_declaration(p, start, false);
    case TOKEN_CLASS: return parse_class(p, true);
    case TOKEN_ASYNC:
        if (!is_async_function(p)) break;
        parse_next(p);
        return parse_function_declaration(p, start, true);
    case TOKEN_WORKFLOW:
        if (is_nested_workflow(p))
            return refuse(p, FLOW_ERROR_FORM,
                          "A workflow block can only stand at the top level of the file",
                          "Use a function here, or Workflow.run(\"name\") for a child run");
        break;
    default: break;
    }
    return parse_plain_statement(p);
}

FlowNode *parse_statement_item(FlowParser *p) {
    FlowNode *node = parse_enter(p) ? parse_declaration_or_statement(p)
                                    : parse_node(p, NODE_EMPTY, p->token.start);
    parse_leave(p);
    return node;
}
