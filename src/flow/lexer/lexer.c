// Lexer: white space, comments, words and signs; numbers, strings and regular expressions have
// files of their own.
//
// The text ends in NUL bytes (source.h [source-1]) and holds no other NUL, so a byte of 0 is the
// end and looking a few bytes ahead needs no bounds check. The text is valid UTF-8.
//
// Names are scanned with a table of 256 classes; escapes and characters above ASCII leave the
// fast path for one that collects the name in a buffer.
#include "base/text/utf.h"
#include "flow/lexer/internal.h"
#include "flow/lexer/unicode_id.h"

enum { NAME_SIZE_MAX = 1 << 16 }; // bytes of one identifier

static const uint8_t word_class[256] = {
    // bit 0: may begin a word, bit 1: may continue one
    ['a' ... 'z'] = 3, ['A' ... 'Z'] = 3, ['$'] = 3, ['_'] = 3, ['0' ... '9'] = 2,
};

void lexer_fail(FlowLexer *lexer, FlowToken *token, const FlowFinding *finding,
                const char *message) {
    token->kind = TOKEN_ERROR;
    token->end = lexer_offset(lexer, lexer->at);
    if (!lexer->is_quiet) flow_report_add(lexer->report, finding, "%s", message);
}

bool lexer_starts_identifier(const char *at, const char *end) {
    if ((unsigned char)*at < 0x80) return word_class[(unsigned char)*at] & 1;
    return at < end && unicode_is_id_start(utf8_decode(&at, end));
}

bool lexer_continues_identifier(const char *at, const char *end) {
    if ((unsigned char)*at < 0x80) return word_class[(unsigned char)*at] & 2;
    return at < end && unicode_is_id_continue(utf8_decode(&at, end));
}

int32_t lexer_read_unicode_escape(const char **at) {
    int32_t value = 0;
    if (**at == '{') {
        const char *digit = *at + 1;
        if (hex_value((unsigned char)*digit) < 0) return ESCAPE_MALFORMED;
        for (; hex_value((unsigned char)*digit) >= 0; digit++) {
            value = value * 16 + hex_value((unsigned char)*digit);
            if (value > 0x10FFFF) return ESCAPE_TOO_LARGE;
        }
        if (*digit != '}') return ESCAPE_MALFORMED;
        *at = digit + 1;
        return value;
    }
    for (int i = 0; i < 4; i++) {
        int digit = hex_value((unsigned char)(*at)[i]);
        if (digit < 0) return ESCAPE_MALFORMED;
        value = value * 16 + digit;
    }
    *at += 4;
    return value;
}

static void fail_unexpected(FlowLexer *lexer, FlowToken *token, const char *hint) {
    lexer_fail(lexer, token,
               &(FlowFinding){.code = FLOW_ERROR_SYNTAX,
                              .start = token->start,
                              .end = lexer_offset(lexer, lexer->at),
                              .hint = hint},
               "Invalid or unexpected token");
}

// The kind of a word: a keyword unless an escape hides it.
static void finish_word(FlowLexer *lexer, FlowToken *token, FlowName *name) {
    token->name = name;
    token->end = lexer_offset(lexer, lexer->at);
    token->kind = name->keyword ? (uint8_t)name->keyword : TOKEN_IDENTIFIER;
    if (!token->has_escape) return;
    if (name->keyword >= TOKEN_IMPLEMENTS) token->kind = TOKEN_ESCAPED_WORD;
    else if (name->keyword < TOKEN_EVAL) token->kind = TOKEN_IDENTIFIER; // async, of, get, set …
}

// Words with escapes or characters above ASCII; what was read so far begins at word_start.
static void scan_word_slowly(FlowLexer *lexer, FlowToken *token, const char *word_start) {
    Buf text;
    buf_init(&text, NAME_SIZE_MAX);
    buf_append(&text, word_start, (size_t)(lexer->at - word_start));
    for (;;) {
        const char *from = lexer->at;
        bool is_first = text.len == (word_start[0] == '#' ? 1u : 0u);
        if (*from == '\\') {
            lexer->at += 2;
            int32_t c = from[1] == 'u' ? lexer_read_unicode_escape(&lexer->at) : ESCAPE_MALFORMED;
            char bytes[4];
            size_t size = c >= 0 ? utf8_encode((uint32_t)c, bytes) : 0;
            const char *end = bytes + size;
            bool is_right = size > 0 && (is_first ? lexer_starts_identifier(bytes, end)
                                                  : lexer_continues_identifier(bytes, end));
            if (!is_right) {
                if (lexer->at > lexer->end) lexer->at = lexer->end;
                uint32_t start = lexer_offset(lexer, from);
                lexer_fail(
                    lexer, token,
                    &(FlowFinding){.code = FLOW_ERROR_LITERAL, .start = start, .end = start + 2},
                    c == ESCAPE_TOO_LARGE ? "Undefined Unicode code-point"
                                          : "Invalid Unicode escape sequence");
                buf_done(&text);
                return;
            }
            token->has_escape = true;
            buf_append(&text, bytes, size);
            continue;
        }
        if (!(is_first ? lexer_starts_identifier(from, lexer->end)
                       : lexer_continues_identifier(from, lexer->end)))
            break;
        utf8_decode(&lexer->at, lexer->end);
        buf_append(&text, from, (size_t)(lexer->at - from));
    }
    if (text.is_overflown) fail_unexpected(lexer, token, "A name may have at most 64 KiB");
    else finish_word(lexer, token, flow_names_add(lexer->names, buf_str(&text)));
    buf_done(&text);
}

static void scan_word(FlowLexer *lexer, FlowToken *token) {
    const char *start = lexer->at;
    const char *at = start;
    while (word_class[(unsigned char)*at] & 2) at++;
    lexer->at = at;
    if (*at == '\\' || (unsigned char)*at >= 0x80) {
        scan_word_slowly(lexer, token, start);
        return;
    }
    Str text = {start, (size_t)(at - start)};
    if (text.len > NAME_SIZE_MAX) {
        fail_unexpected(lexer, token, "A name may have at most 64 KiB");
        return;
    }
    finish_word(lexer, token, flow_names_intern(lexer->names, text, flow_name_hash(text)));
}

static void scan_private_name(FlowLexer *lexer, FlowToken *token) {
    const char *start = lexer->at++;
    if (*lexer->at != '\\' && !lexer_starts_identifier(lexer->at, lexer->end)) {
        fail_unexpected(lexer, token, NULL);
        return;
    }
    while (word_class[(unsigned char)*lexer->at] & 2) lexer->at++;
    scan_word_slowly(lexer, token, start);
    if (token->kind != TOKEN_ERROR) token->kind = TOKEN_PRIVATE_NAME;
}

// A character above ASCII outside of words: white space moves on and answers true.
static bool skip_unicode_space(FlowLexer *lexer, FlowToken *token) {
    const char *at = lexer->at;
    uint32_t c = utf8_decode(&at, lexer->end);
    if (c == 0x2028 || c == 0x2029) token->is_after_newline = true;
    else if (!unicode_is_space(c)) return false;
    lexer->at = at;
    return true;
}

static void skip_line(FlowLexer *lexer) {
    const char *at = lexer->at;
    while (*at != '\n' && *at != '\r' && *at != 0 && !lexer_is_line_separator(at)) at++;
    lexer->at = at;
}

// `at` stands on "/*". Answers false when the comment has no end.
static bool skip_block_comment(FlowLexer *lexer, FlowToken *token) {
    const char *at = lexer->at + 2;
    for (; *at != 0; at++) {
        if (*at == '*' && at[1] == '/') {
            lexer->at = at + 2;
            return true;
        }
        if (*at == '\n' || *at == '\r' || lexer_is_line_separator(at))
            token->is_after_newline = true;
    }
    token->start = lexer_offset(lexer, lexer->at);
    lexer->at = at;
    lexer_fail(lexer, token,
               &(FlowFinding){.code = FLOW_ERROR_LITERAL,
                              .start = token->start,
                              .end = token->start + 2,
                              .hint = "The comment that begins here is never closed by */"},
               "Unterminated comment");
    return false;
}

// White space and comments before a token. Answers false when a comment has no end.
static bool skip_space(FlowLexer *lexer, FlowToken *token) {
    for (;;) {
        switch (*lexer->at) {
        case ' ':
        case '\t':
        case '\v':
        case '\f': lexer->at++; break;
        case '\n':
        case '\r':
            token->is_after_newline = true;
            lexer->at++;
            break;
        case '/':
            if (lexer->at[1] == '/') skip_line(lexer);
            else if (lexer->at[1] != '*') return true;
            else if (!skip_block_comment(lexer, token)) return false;
            break;
        default:
            if ((unsigned char)*lexer->at < 0x80 || !skip_unicode_space(lexer, token)) return true;
        }
    }
}

static void fail_html_comment(FlowLexer *lexer, FlowToken *token) {
    uint32_t size = *lexer->at == '<' ? 4 : 3;
    lexer->at += size;
    lexer_fail(lexer, token,
               &(FlowFinding){.code = FLOW_ERROR_REFUSED,
                              .start = token->start,
                              .end = token->start + size,
                              .hint = "Use // for comments; put spaces between the operators "
                                      "if this is an expression"},
               "HTML comments are not allowed in workflows");
}

// Signs that are one character whatever follows.
static const uint8_t single_signs[128] = {
    ['{'] = TOKEN_BRACE_OPEN,  ['}'] = TOKEN_BRACE_CLOSE,  ['('] = TOKEN_PAREN_OPEN,
    [')'] = TOKEN_PAREN_CLOSE, ['['] = TOKEN_BRACKET_OPEN, [']'] = TOKEN_BRACKET_CLOSE,
    [';'] = TOKEN_SEMICOLON,   [','] = TOKEN_COMMA,        [':'] = TOKEN_COLON,
    ['~'] = TOKEN_BIT_NOT,
};

// The longest sign at `at`. Answers TOKEN_ERROR when there is none.
static FlowTokenKind scan_sign(const char **position) {
    const char *at = *position;
    FlowTokenKind kind = TOKEN_ERROR;
    size_t size = 1;
#define SIGN(SIZE, KIND) (size = (SIZE), kind = TOKEN_##KIND)
    switch (*at) {
    case '.':
        if (at[1] == '.' && at[2] == '.') SIGN(3, ELLIPSIS);
        else SIGN(1, DOT);
        break;
    case '?':
        if (at[1] == '?') at[2] == '=' ? SIGN(3, ASSIGN_NULLISH) : SIGN(2, NULLISH);
        else if (at[1] == '.' && !lexer_is_digit(at[2])) SIGN(2, OPTIONAL);
        else SIGN(1, QUESTION);
        break;
    case '=':
        if (at[1] == '=') at[2] == '=' ? SIGN(3, STRICT_EQUAL) : SIGN(2, EQUAL);
        else if (at[1] == '>') SIGN(2, ARROW);
        else SIGN(1, ASSIGN);
        break;
    case '!':
        if (at[1] == '=') at[2] == '=' ? SIGN(3, STRICT_NOT_EQUAL) : SIGN(2, NOT_EQUAL);
        else SIGN(1, NOT);
        break;
    case '+':
        if (at[1] == '+') SIGN(2, INCREMENT);
        else at[1] == '=' ? SIGN(2, ASSIGN_ADD) : SIGN(1, ADD);
        break;
    case '-':
        if (at[1] == '-') SIGN(2, DECREMENT);
        else at[1] == '=' ? SIGN(2, ASSIGN_SUBTRACT) : SIGN(1, SUBTRACT);
        break;
    case '*':
        if (at[1] == '*') at[2] == '=' ? SIGN(3, ASSIGN_POWER) : SIGN(2, POWER);
        else at[1] == '=' ? SIGN(2, ASSIGN_MULTIPLY) : SIGN(1, MULTIPLY);
        break;
    case '/': at[1] == '=' ? SIGN(2, ASSIGN_DIVIDE) : SIGN(1, DIVIDE); break;
    case '%': at[1] == '=' ? SIGN(2, ASSIGN_REMAINDER) : SIGN(1, REMAINDER); break;
    case '^': at[1] == '=' ? SIGN(2, ASSIGN_BIT_XOR) : SIGN(1, BIT_XOR); break;
    case '&':
        if (at[1] == '&') at[2] == '=' ? SIGN(3, ASSIGN_LOGICAL_AND) : SIGN(2, LOGICAL_AND);
        else at[1] == '=' ? SIGN(2, ASSIGN_BIT_AND) : SIGN(1, BIT_AND);
        break;
    case '|':
        if (at[1] == '|') at[2] == '=' ? SIGN(3, ASSIGN_LOGICAL_OR) : SIGN(2, LOGICAL_OR);
        else at[1] == '=' ? SIGN(2, ASSIGN_BIT_OR) : SIGN(1, BIT_OR);
        break;
    case '<':
        if (at[1] == '<') at[2] == '=' ? SIGN(3, ASSIGN_SHIFT_LEFT) : SIGN(2, SHIFT_LEFT);
        else at[1] == '=' ? SIGN(2, LESS_EQUAL) : SIGN(1, LESS);
        break;
    case '>':
        if (at[1] == '>' && at[2] == '>')
            at[3] == '=' ? SIGN(4, ASSIGN_SHIFT_RIGHT_UNSIGNED) : SIGN(3, SHIFT_RIGHT_UNSIGNED);
        else if (at[1] == '>') at[2] == '=' ? SIGN(3, ASSIGN_SHIFT_RIGHT) : SIGN(2, SHIFT_RIGHT);
        else at[1] == '=' ? SIGN(2, GREATER_EQUAL) : SIGN(1, GREATER);
        break;
    default: break;
    }
#undef SIGN
    *position = at + size;
    return kind;
}

static void scan_other(FlowLexer *lexer, FlowToken *token) {
    const char *at = lexer->at;
    if (*at == 0) {
        token->kind = TOKEN_END; // [lexer-2]
        token->end = token->start;
        return;
    }
    if (*at == '\\' || (unsigned char)*at >= 0x80) {
        if (*at == '\\' || lexer_starts_identifier(at, lexer->end)) {
            scan_word_slowly(lexer, token, at);
            return;
        }
        utf8_decode(&lexer->at, lexer->end);
        fail_unexpected(lexer, token, "This character cannot be part of a program");
        return;
    }
    bool is_html =
        (*at == '<' && memcmp(at, "<!--", 4) == 0) ||
        (*at == '-' && memcmp(at, "-->", 3) == 0 && (token->is_after_newline || token->start == 0));
    if (is_html) {
        fail_html_comment(lexer, token);
        return;
    }
    FlowTokenKind kind = scan_sign(&lexer->at);
    token->kind = (uint8_t)kind;
    token->end = lexer_offset(lexer, lexer->at);
    if (kind == TOKEN_ERROR) fail_unexpected(lexer, token, NULL);
}

void flow_lexer_next(FlowLexer *lexer, FlowToken *ret_token) {
    FlowToken *token = ret_token;
    token->is_after_newline = false;
    token->has_escape = false;
    if (!skip_space(lexer, token)) return;
    token->start = lexer_offset(lexer, lexer->at);
    unsigned char c = (unsigned char)*lexer->at;
    if (word_class[c] & 1) {
        scan_word(lexer, token);
    } else if (lexer_is_digit((char)c) || (c == '.' && lexer_is_digit(lexer->at[1]))) {
        lexer_scan_number(lexer, token);
    } else if (c < 0x80 && single_signs[c]) {
        lexer->at++;
        token->kind = single_signs[c];
        token->end = token->start + 1;
    } else if (c == '"' || c == '\'') {
        lexer_scan_string(lexer, token);
    } else if (c == '`') {
        lexer->at++;
        lexer_scan_template(lexer, token);
    } else if (c == '#') {
        scan_private_name(lexer, token);
    } else {
        scan_other(lexer, token);
    }
}

void flow_lexer_init(FlowLexer *lexer, const FlowSource *source, FlowNames *names, Arena *arena,
                     FlowReport *report) {
    *lexer = (FlowLexer){
        .base = source->text.data,
        .at = source->text.data,
        .end = source->text.data + source->text.len,
        .arena = arena,
        .names = names,
        .report = report,
    };
    if (str_starts_with(source->text, STR("\xEF\xBB\xBF"))) lexer->at += 3;
    if (lexer->at[0] == '#' && lexer->at[1] == '!') skip_line(lexer);
}
