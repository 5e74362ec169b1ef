// Parser: state, tokens, errors and recovery; the grammar is in parse_*.c.
//
// Recovery skips from the offending token to the next place where a statement may begin: after a
// semicolon, before a closing brace of the enclosing block, or before a word that begins a
// statement at the beginning of a line; brackets opened on the way are skipped as a whole.
#include "flow/parser/internal.h"
#include <stdio.h>

enum {
    NODES_PER_BLOCK = 64,
    SKIP_TEMPLATES_MAX = 16, // templates inside templates that skipping keeps apart
};

// ---- errors

void parse_error(FlowParser *p, const FlowFinding *finding, const char *format, ...) {
    if (p->is_panicking) return; // [parser-internal-1]
    va_list arguments;
    va_start(arguments, format);
    flow_report_add_list(p->report, finding, format, arguments);
    va_end(arguments);
    if (flow_report_is_full(p->report)) parse_stop(p);
}

void parse_error_node(FlowParser *p, const FlowNode *node, FlowCode code, const char *message) {
    parse_error(p, &(FlowFinding){.code = code, .start = node->start, .end = node->end}, "%s",
                message);
}

void parse_stop(FlowParser *p) {
    if (p->is_panicking) return;
    p->is_panicking = true;
    p->error_at = p->token.start;
    p->error_template_depth = p->template_depth;
    p->is_error_lexical = p->token.kind == TOKEN_ERROR;
    p->token.kind = TOKEN_END;
    p->token.is_after_newline = false;
    p->lexer.at = p->lexer.end; // every further token is the end
}

void parse_panic(FlowParser *p, FlowCode code, const char *message, const char *hint) {
    if (p->token.kind != TOKEN_ERROR) // the lexer has said it
        parse_error(p,
                    &(FlowFinding){
                        .code = code, .start = p->token.start, .end = p->token.end, .hint = hint},
                    "%s", message);
    parse_stop(p);
}

static const char *unexpected_hint(const FlowParser *p) {
    switch (p->token.kind) {
    case TOKEN_END: return p->block_depth > 0 ? "A `{` was not closed" : NULL;
    case TOKEN_EXPORT: return "`export` stands only at the top level of the file";
    case TOKEN_ENUM: return "`enum` is reserved; use an object literal";
    case TOKEN_INTERFACE: return "Types are not part of the language; see abide.d.ts";
    default: return NULL;
    }
}

void parse_unexpected(FlowParser *p) {
    const FlowToken *token = &p->token;
    char message[160];
    const char *text = flow_token_info[token->kind].text;
    FlowCode code = FLOW_ERROR_SYNTAX;
    if (token->kind == TOKEN_ESCAPED_WORD) {
        snprintf(message, sizeof(message), "Keyword must not contain escaped characters");
    } else if (token->kind == TOKEN_ENUM || token->kind == TOKEN_AWAIT) {
        snprintf(message, sizeof(message), "Unexpected reserved word");
    } else if (token_is_strict_reserved(token->kind)) {
        code = FLOW_ERROR_STRICT;
        snprintf(message, sizeof(message), "Unexpected strict mode reserved word");
    } else if (token_is_identifier(token->kind) || token->kind == TOKEN_PRIVATE_NAME) {
        snprintf(message, sizeof(message), "Unexpected identifier '%.*s'",
                 (int)(token->name->text.len > 100 ? 100 : token->name->text.len),
                 token->name->text.data);
    } else if (token->kind == TOKEN_ARROW && !token->is_after_newline) {
        snprintf(message, sizeof(message), "Malformed arrow function parameter list");
    } else if (token->kind < TOKEN_BRACE_OPEN) { // number, string, template, end
        snprintf(message, sizeof(message), "Unexpected %s", text);
    } else {
        snprintf(message, sizeof(message), "Unexpected token '%s'", text);
    }
    parse_panic(p, code, message, unexpected_hint(p));
}

bool parse_enter(FlowParser *p) {
    if (++p->depth <= FLOW_NESTING_MAX) return true;
    parse_panic(p, FLOW_ERROR_NESTING, "Nesting too deep",
                "At most 1,000 levels of nesting are allowed; split the code into functions");
    return false;
}

void parse_height_add(FlowParser *p) {
    if (++p->height <= FLOW_CHAIN_MAX) return;
    parse_panic(p, FLOW_ERROR_NESTING, "Expression nesting too deep",
                "At most 2,000 members and calls may be chained; use intermediate variables");
    p->height = 0;
}

// ---- tokens

void parse_expect(FlowParser *p, FlowTokenKind kind) {
    if (!parse_accept(p, kind)) parse_unexpected(p);
}

void parse_semicolon(FlowParser *p) {
    if (p->token.kind == TOKEN_SEMICOLON) parse_next(p);
    else if (p->token.kind != TOKEN_BRACE_CLOSE && p->token.kind != TOKEN_END &&
             !p->token.is_after_newline)
        parse_unexpected(p);
}

FlowToken parse_peek(FlowParser *p) {
    const char *at = p->lexer.at;
    bool was_quiet = p->lexer.is_quiet;
    FlowToken token = p->token;
    p->lexer.is_quiet = true; // it is read again later, and reported then
    flow_lexer_next(&p->lexer, &token);
    p->lexer.is_quiet = was_quiet;
    p->lexer.at = at;
    return token;
}

bool parse_is_identifier(const FlowParser *p) {
    if (p->token.kind != TOKEN_AWAIT) return token_is_identifier(p->token.kind);
    return !p->context->is_async && !p->context->is_static_block;
}

// ---- nodes

FlowNode *parse_nodes_refill(FlowParser *p) {
    p->nodes = ARENA_ARRAY(p->arena, FlowNode, NODES_PER_BLOCK);
    p->nodes_left = NODES_PER_BLOCK;
    return p->nodes++;
}

FlowNodeList parse_list_end(FlowParser *p, size_t mark) {
    size_t count = p->stack.count - mark;
    FlowNodeList list = {NULL, (uint32_t)count};
    if (count > 0) {
        list.items = arena_alloc(p->arena, count * sizeof(FlowNode *));
        memcpy(list.items, p->stack.data + mark, count * sizeof(FlowNode *));
    }
    p->stack.count = mark;
    return list;
}

// ---- recovery

static bool begins_statement(FlowTokenKind kind) {
    switch (kind) {
    case TOKEN_LET:
    case TOKEN_CONST:
    case TOKEN_VAR:
    case TOKEN_FUNCTION:
    case TOKEN_ASYNC:
    case TOKEN_CLASS:
    case TOKEN_IF:
    case TOKEN_FOR:
    case TOKEN_WHILE:
    case TOKEN_DO:
    case TOKEN_RETURN:
    case TOKEN_BREAK:
    case TOKEN_CONTINUE:
    case TOKEN_THROW:
    case TOKEN_TRY:
    case TOKEN_SWITCH:
    case TOKEN_WORKFLOW:
    case TOKEN_EXPORT:
    case TOKEN_IMPORT: return true;
    default: return false;
    }
}

static bool ends_operand(FlowTokenKind kind) { // a `/` after it divides
    return kind == TOKEN_PAREN_CLOSE || kind == TOKEN_BRACKET_CLOSE || kind == TOKEN_BRACE_CLOSE ||
           (kind >= TOKEN_NUMBER && kind <= TOKEN_PRIVATE_NAME) ||
           (kind >= TOKEN_IDENTIFIER && kind <= TOKEN_AWAIT) || kind == TOKEN_THIS;
}

typedef struct Skip { // brackets opened since the error
    uint32_t braces;
    uint32_t others;
    uint32_t templates[SKIP_TEMPLATES_MAX]; // value of `braces` inside each open template
    uint32_t template_count;
} Skip;

// Looks at the current token. Answers true when a statement may begin here.
static bool skip_is_done(FlowParser *p, Skip *skip, uint32_t statement_start) {
    FlowTokenKind kind = p->token.kind;
    if (kind == TOKEN_END) return true;
    bool is_outside = skip->braces == 0;
    if (is_outside && p->token.is_after_newline && p->token.start > statement_start &&
        (begins_statement(kind) || (p->is_error_lexical && p->token.start > p->error_at)))
        return true;
    switch (kind) {
    case TOKEN_BRACE_OPEN: skip->braces++; break;
    case TOKEN_PAREN_OPEN:
    case TOKEN_BRACKET_OPEN: skip->others++; break;
    case TOKEN_PAREN_CLOSE:
    case TOKEN_BRACKET_CLOSE:
        if (skip->others > 0) skip->others--;
        break;
    case TOKEN_TEMPLATE_HEAD:
        if (skip->template_count < SKIP_TEMPLATES_MAX)
            skip->templates[skip->template_count++] = ++skip->braces;
        break;
    case TOKEN_BRACE_CLOSE:
        if (skip->template_count > 0 && skip->templates[skip->template_count - 1] == skip->braces) {
            flow_lexer_rescan_template(&p->lexer, &p->token);
            if (p->token.kind != TOKEN_TEMPLATE_HEAD) {
                skip->braces--;
                skip->template_count--;
            }
        } else if (!is_outside) {
            skip->braces--;
            if (skip->braces == 0 && skip->others == 0) {
                parse_next(p); // the end of a block that was skipped as a whole
                return true;
            }
        } else if (p->block_depth > 0) {
            return true;
        }
        break;
    case TOKEN_SEMICOLON:
        if (is_outside) {
            parse_next(p);
            return true;
        }
        break;
    default: break;
    }
    return false;
}

void parse_recover(FlowParser *p, uint32_t statement_start) {
    if (flow_report_is_full(p->report)) return; // stays at the end
    p->is_panicking = false;
    p->cover_at = p->proto_at = OFFSET_NONE;
    p->arrow = NULL;
    p->is_in_allowed = true;
    p->lexer.at = p->lexer.base + p->error_at;
    p->lexer.is_quiet = true;
    Skip skip = {0};
    for (uint32_t i = p->template_depth; i < p->error_template_depth; i++)
        if (skip.template_count < SKIP_TEMPLATES_MAX)
            skip.templates[skip.template_count++] = ++skip.braces;
    FlowTokenKind previous = TOKEN_SEMICOLON;
    parse_next(p);
    for (; !skip_is_done(p, &skip, statement_start); parse_next(p)) {
        bool is_slash = p->token.kind == TOKEN_DIVIDE || p->token.kind == TOKEN_ASSIGN_DIVIDE;
        if (is_slash && !ends_operand(previous)) flow_lexer_rescan_regexp(&p->lexer, &p->token);
        previous = p->token.kind;
    }
    p->lexer.is_quiet = false;
    p->lexer.at = p->lexer.base + p->token.start; // read again, aloud
    bool is_after_newline = p->token.is_after_newline;
    flow_lexer_next(&p->lexer, &p->token);
    p->token.is_after_newline = is_after_newline;
}

// ---- entry

FlowProgram *flow_parse(const FlowSource *source, FlowParseMode mode, Arena *arena,
                        FlowReport *report) {
    uint32_t errors_before = report->error_count;
    if (!flow_source_check(source, report)) return NULL;
    FlowParser parser = {
        .arena = arena,
        .report = report,
        .mode = mode,
        .arrow_at = OFFSET_NONE,
        .cover_at = OFFSET_NONE,
        .proto_at = OFFSET_NONE,
        .last_await_at = OFFSET_NONE,
        .last_yield_at = OFFSET_NONE,
        .top_return_at = OFFSET_NONE,
        .top_await_at = OFFSET_NONE,
        .is_in_allowed = true,
        .form = mode == FLOW_PARSE_PRELUDE ? FORM_PRELUDE : FORM_BODY,
    };
    FlowParser *p = &parser;
    flow_names_init(&p->names, arena);
    flow_lexer_init(&p->lexer, source, &p->names, arena, report);
    parse_next(p);
    FlowProgram *program = parse_program(p);
    vec_free(&p->stack);
    vec_free(&p->vars);
    vec_free(&p->links);
    vec_free(&p->parts);
    vec_free(&p->entries);
    if (!flow_report_is_full(report)) flow_scope_analyze(program, arena, report);
    return report->error_count == errors_before ? program : NULL;
}
