// Regular expression literals: finds the end of the body and checks the flags.
//
// The body ends at the first slash that is neither escaped nor inside a class in brackets. What
// the pattern means is the business of the VM's regular expressions, which compile it when the
// program is loaded; a token has only the two texts.
#include "base/assert.h"
#include "flow/lexer/internal.h"

static void fail_flags(FlowLexer *lexer, FlowToken *token, const char *at) {
    uint32_t start = lexer_offset(lexer, at);
    bool is_set = memchr(at, 'v', (size_t)(lexer->at - at)) != NULL;
    const char *hint = is_set ? "The flag v came after ES2023 and is not supported; use u"
                              : "The flags are d, g, i, m, s, u and y, each at most once";
    lexer_fail(lexer, token,
               &(FlowFinding){.code = FLOW_ERROR_LITERAL,
                              .start = start,
                              .end = lexer_offset(lexer, lexer->at),
                              .hint = hint},
               "Invalid regular expression flags");
}

static void scan_flags(FlowLexer *lexer, FlowToken *token) {
    const char *start = lexer->at;
    unsigned seen = 0;
    bool is_valid = true;
    while (*lexer->at == '\\' || lexer_continues_identifier(lexer->at, lexer->end)) {
        char c = *lexer->at++;
        const char *known = memchr("dgimsuy", c, 7);
        if (!known || (seen >> (c - 'a') & 1)) is_valid = false;
        else seen |= 1u << (c - 'a');
        while (((unsigned char)*lexer->at & 0xC0) == 0x80) lexer->at++;
    }
    token->raw = (Str){start, (size_t)(lexer->at - start)};
    token->end = lexer_offset(lexer, lexer->at);
    if (!is_valid) fail_flags(lexer, token, start);
}

void flow_lexer_rescan_regexp(FlowLexer *lexer, FlowToken *token) {
    ASSERT(token->kind == TOKEN_DIVIDE || token->kind == TOKEN_ASSIGN_DIVIDE);
    const char *start = lexer->base + token->start + 1;
    const char *at = start;
    bool is_in_class = false;
    for (;; at++) {
        if (*at == '\\' && at[1] != 0) at++;
        else if (*at == '[') is_in_class = true;
        else if (*at == ']') is_in_class = false;
        else if (*at == '/' && !is_in_class) break;
        if (*at == '\n' || *at == '\r' || *at == 0 || lexer_is_line_separator(at)) {
            lexer->at = at;
            lexer_fail(lexer, token,
                       &(FlowFinding){.code = FLOW_ERROR_LITERAL,
                                      .start = token->start,
                                      .end = token->start + 1,
                                      .hint = "The regular expression that begins here is not "
                                              "closed on its line"},
                       "Invalid regular expression: missing /");
            return;
        }
    }
    token->kind = TOKEN_REGEXP;
    token->text = (Str){start, (size_t)(at - start)};
    lexer->at = at + 1;
    scan_flags(lexer, token);
}
