// Strings and templates.
//
// A string without escapes is a piece of the source; only one with escapes is copied. The value
// is WTF-8 (ast.h [ast-6]): two escapes that form a surrogate pair become one character, because
// that is the same UTF-16 text.
//
// A template chunk has two values: raw (as written, CR LF read as LF) and cooked. An invalid
// escape makes the cooked value null, which a tagged template may have and the parser refuses
// elsewhere.
#include "base/assert.h"
#include "base/text/utf.h"
#include "flow/lexer/internal.h"

enum { KEY_SIZE_MAX = 64 }; // shorter strings are interned: they are often property names

typedef struct EscapeError {
    const char *at;      // the backslash
    const char *message; // NULL: no error
} EscapeError;

// Joins a low surrogate with the high one before it.
static void append_code_point(Buf *text, uint32_t c) {
    char bytes[4];
    if (c >= 0xDC00 && c <= 0xDFFF && text->len >= 3) {
        const unsigned char *last = (const unsigned char *)text->data + text->len - 3;
        if (last[0] == 0xED && last[1] >= 0xA0 && last[1] <= 0xAF) {
            uint32_t high = 0xD000u | (last[1] & 0x3Fu) << 6 | (last[2] & 0x3Fu);
            text->len -= 3;
            c = 0x10000 + ((high - 0xD800) << 10) + (c - 0xDC00);
        }
    }
    buf_append(text, bytes, utf8_encode(c, bytes));
}

static void append_hex_escape(Buf *text, const char **at, EscapeError *error) {
    int high = hex_value((unsigned char)(*at)[0]);
    int low = high < 0 ? -1 : hex_value((unsigned char)(*at)[1]);
    if (low < 0) {
        error->message = "Invalid hexadecimal escape sequence";
        return;
    }
    *at += 2;
    append_code_point(text, (uint32_t)(high * 16 + low));
}

static void append_unicode_escape(Buf *text, const char **at, EscapeError *error) {
    int32_t c = lexer_read_unicode_escape(at);
    if (c >= 0) append_code_point(text, (uint32_t)c);
    else
        error->message = c == ESCAPE_TOO_LARGE ? "Undefined Unicode code-point"
                                               : "Invalid Unicode escape sequence";
}

// A digit after the backslash: \0 alone is NUL, everything else is gone from the language.
static void append_digit_escape(Buf *text, const char **at, EscapeError *error, bool is_template) {
    char c = *(*at)++;
    if (c == '0' && !lexer_is_digit(**at)) {
        buf_append_char(text, 0);
    } else if (is_template) {
        error->message = c >= '8' ? "\\8 and \\9 are not allowed in template strings."
                                  : "Octal escape sequences are not allowed in template strings.";
    } else {
        error->message = c >= '8' ? "\\8 and \\9 are not allowed in strict mode."
                                  : "Octal escape sequences are not allowed in strict mode.";
    }
}

// `*at` stands on the backslash; moves past the escape. Errors keep the first one.
static void append_escape(Buf *text, const char **at, EscapeError *first_error, bool is_template) {
    EscapeError error = {.at = *at};
    char c = (*at)[1];
    *at += 2;
    switch (c) {
    case 'n': buf_append_char(text, '\n'); break;
    case 't': buf_append_char(text, '\t'); break;
    case 'r': buf_append_char(text, '\r'); break;
    case 'b': buf_append_char(text, '\b'); break;
    case 'f': buf_append_char(text, '\f'); break;
    case 'v': buf_append_char(text, '\v'); break;
    case '\r':
        if (**at == '\n') ++*at;
        break;
    case '\n': break;
    case 'x': append_hex_escape(text, at, &error); break;
    case 'u': append_unicode_escape(text, at, &error); break;
    case '0' ... '9':
        --*at;
        append_digit_escape(text, at, &error, is_template);
        break;
    case 0: --*at; break; // the end: the caller finds it
    default:
        --*at;
        if (lexer_is_line_separator(*at)) {
            *at += 3;
        } else {
            do buf_append_char(text, *(*at)++);
            while (((unsigned char)**at & 0xC0) == 0x80);
        }
    }
    if (error.message && !first_error->message) *first_error = error;
}

static void fail_unterminated(FlowLexer *lexer, FlowToken *token, const char *message) {
    lexer_fail(lexer, token,
               &(FlowFinding){.code = FLOW_ERROR_LITERAL,
                              .start = token->start,
                              .end = token->start + 1,
                              .hint = "What begins here has no closing quote"},
               message);
}

static void fail_escape(FlowLexer *lexer, FlowToken *token, const EscapeError *error) {
    uint32_t start = lexer_offset(lexer, error->at);
    lexer_fail(lexer, token,
               &(FlowFinding){.code = FLOW_ERROR_LITERAL, .start = start, .end = start + 2},
               error->message);
}

static void finish_string(FlowLexer *lexer, FlowToken *token, Str text, bool is_ascii) {
    token->kind = TOKEN_STRING;
    token->end = lexer_offset(lexer, lexer->at);
    token->is_ascii = is_ascii;
    token->name = NULL;
    token->text = text;
    if (text.len <= KEY_SIZE_MAX) {
        token->name = flow_names_add(lexer->names, text);
        token->text = token->name->text;
    }
}

static bool is_ascii_text(Str text) {
    unsigned char all = 0;
    for (size_t i = 0; i < text.len; i++) all |= (unsigned char)text.data[i];
    return all < 0x80;
}

// A string with at least one escape, from the first one on.
static void scan_string_slowly(FlowLexer *lexer, FlowToken *token, const char *start, char quote) {
    Buf text;
    buf_init(&text, FLOW_SOURCE_MAX);
    EscapeError error = {0};
    const char *piece = start;
    const char *at = lexer->at;
    while (*at != quote && *at != '\n' && *at != '\r' && *at != 0) {
        if (*at != '\\') {
            at++;
            continue;
        }
        buf_append(&text, piece, (size_t)(at - piece));
        append_escape(&text, &at, &error, false);
        piece = at;
    }
    buf_append(&text, piece, (size_t)(at - piece));
    lexer->at = at;
    token->has_escape = true;
    if (*at != quote) {
        fail_unterminated(lexer, token, "Invalid or unexpected token");
    } else {
        lexer->at++;
        Str value = arena_str(lexer->arena, buf_str(&text));
        finish_string(lexer, token, value, is_ascii_text(value));
        if (error.message) fail_escape(lexer, token, &error);
    }
    buf_done(&text);
}

void lexer_scan_string(FlowLexer *lexer, FlowToken *token) {
    char quote = *lexer->at++;
    const char *start = lexer->at;
    const char *at = start;
    unsigned char all = 0;
    for (;; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == (unsigned char)quote) break;
        all |= c;
        if (c == '\\') {
            lexer->at = at;
            scan_string_slowly(lexer, token, start, quote);
            return;
        }
        if (c == '\n' || c == '\r' || c == 0) {
            lexer->at = at;
            fail_unterminated(lexer, token, "Invalid or unexpected token");
            return;
        }
    }
    lexer->at = at + 1;
    finish_string(lexer, token, (Str){start, (size_t)(at - start)}, all < 0x80);
}

// The raw text with CR LF and CR as LF.
static Str normalize_newlines(FlowLexer *lexer, Str raw) {
    if (!memchr(raw.data, '\r', raw.len)) return raw;
    char *copy = arena_alloc(lexer->arena, raw.len + 1);
    size_t used = 0;
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.data[i] != '\r') copy[used++] = raw.data[i];
        else if (i + 1 == raw.len || raw.data[i + 1] != '\n') copy[used++] = '\n';
    }
    copy[used] = 0;
    return (Str){copy, used};
}

void lexer_scan_template(FlowLexer *lexer, FlowToken *token) {
    const char *start = lexer->at;
    const char *at = start;
    bool has_escape = false;
    while (*at != '`' && !(*at == '$' && at[1] == '{')) {
        if (*at == '\\') {
            has_escape = true;
            at++;
        }
        if (*at == 0) {
            lexer->at = at;
            fail_unterminated(lexer, token, "Unterminated template literal");
            return;
        }
        at++;
    }
    token->kind = *at == '`' ? TOKEN_TEMPLATE_TAIL : TOKEN_TEMPLATE_HEAD;
    token->raw = normalize_newlines(lexer, (Str){start, (size_t)(at - start)});
    token->text = token->raw;
    token->name = NULL;
    lexer->at = at + (*at == '`' ? 1 : 2);
    token->end = lexer_offset(lexer, lexer->at);
    if (!has_escape) return;
    Buf text;
    buf_init(&text, FLOW_SOURCE_MAX);
    EscapeError error = {0};
    const char *raw_end = token->raw.data + token->raw.len;
    for (const char *from = token->raw.data; from < raw_end;) {
        if (*from == '\\') append_escape(&text, &from, &error, true);
        else buf_append_char(&text, *from++);
    }
    token->text = error.message ? STR_NULL : arena_str(lexer->arena, buf_str(&text));
    token->problem = error.message; // the parser reports it unless there is a tag
    buf_done(&text);
}

void flow_lexer_rescan_template(FlowLexer *lexer, FlowToken *token) {
    ASSERT(token->kind == TOKEN_BRACE_CLOSE);
    lexer->at = lexer->base + token->start + 1;
    lexer_scan_template(lexer, token);
}
