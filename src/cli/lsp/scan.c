// Scan: a text to tokens, in one pass and without ever giving up; see scan.h.
//
// Nothing is refused: what is no token of the language is a punctuator of one character.
// A slash begins a regular expression where an expression may begin: after an operator, an opening
// bracket or a word such as `return`. That is a guess, and right for what people write.
#include "cli/lsp/scan.h"
#include "base/array.h"
#include "base/containers/vec.h"

typedef struct Scanner {
    Str text;
    uint32_t at;
    VEC(ScanToken) tokens;
    VEC(uint32_t) open; // brackets that are open, innermost last
    bool is_in_text;
} Scanner;

static char peek(const Scanner *s, uint32_t ahead) {
    return s->at + ahead < s->text.len ? s->text.data[s->at + ahead] : 0;
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '#' || (unsigned char)c >= 0x80;
}

static void add(Scanner *s, ScanKind kind, uint32_t start) {
    ScanToken token = {.kind = kind, .start = start, .end = s->at, .close = SCAN_NONE};
    token.open = s->open.count > 0 ? vec_last(&s->open) : SCAN_NONE;
    vec_push(&s->tokens, token);
}

// ---- texts ----

static void skip_comment(Scanner *s) {
    bool is_line = peek(s, 1) == '/';
    s->at += 2;
    while (s->at < s->text.len) {
        if (is_line && peek(s, 0) == '\n') return;
        if (!is_line && peek(s, 0) == '*' && peek(s, 1) == '/') {
            s->at += 2;
            return;
        }
        s->at++;
    }
    s->is_in_text = true;
}

static void skip_escaped(Scanner *s) {
    s->at++;
    if (s->at < s->text.len) s->at++;
}

static void scan_quoted(Scanner *s) {
    uint32_t start = s->at;
    char quote = peek(s, 0);
    s->at++;
    while (s->at < s->text.len && peek(s, 0) != quote && peek(s, 0) != '\n') {
        if (peek(s, 0) == '\\') skip_escaped(s);
        else s->at++;
    }
    if (s->at == s->text.len) s->is_in_text = true;
    else if (peek(s, 0) == quote) s->at++;
    add(s, SCAN_STRING, start);
}

// From a backtick, or from the brace that ends a substitution, to the next ${ or the end.
static void scan_template(Scanner *s) {
    uint32_t start = s->at;
    s->at++;
    while (s->at < s->text.len) {
        if (peek(s, 0) == '\\') {
            skip_escaped(s);
        } else if (peek(s, 0) == '`') {
            s->at++;
            add(s, SCAN_STRING, start);
            return;
        } else if (peek(s, 0) == '$' && peek(s, 1) == '{') {
            add(s, SCAN_STRING, start);
            uint32_t brace = s->at;
            s->at += 2;
            add(s, SCAN_PUNCTUATOR, brace);
            vec_push(&s->open, (uint32_t)s->tokens.count - 1);
            return;
        } else {
            s->at++;
        }
    }
    s->is_in_text = true;
    add(s, SCAN_STRING, start);
}

static bool may_begin_regexp(const Scanner *s) {
    static const char *const words[] = {"return", "typeof", "case", "in",    "of",   "delete",
                                        "void",   "throw",  "new",  "await", "yield"};
    if (s->tokens.count == 0) return true;
    const ScanToken *last = &vec_last(&s->tokens);
    Str text = {s->text.data + last->start, last->end - last->start};
    if (last->kind == SCAN_WORD) {
        for (size_t i = 0; i < COUNT_OF(words); i++)
            if (str_equal(text, str_from(words[i]))) return true;
        return false;
    }
    if (last->kind != SCAN_PUNCTUATOR) return false;
    return text.data[0] != ')' && text.data[0] != ']' && text.data[0] != '}';
}

static void scan_regexp(Scanner *s) {
    uint32_t start = s->at;
    bool is_class = false;
    s->at++;
    while (s->at < s->text.len && peek(s, 0) != '\n' && (is_class || peek(s, 0) != '/')) {
        if (peek(s, 0) == '[') is_class = true;
        if (peek(s, 0) == ']') is_class = false;
        if (peek(s, 0) == '\\') skip_escaped(s);
        else s->at++;
    }
    if (s->at == s->text.len) s->is_in_text = true;
    else if (peek(s, 0) == '/') s->at++;
    while (is_word_char(peek(s, 0))) s->at++;
    add(s, SCAN_REGEXP, start);
}

// ---- the rest ----

static bool is_pair(char open, char close) {
    return (open == '(' && close == ')') || (open == '[' && close == ']') ||
           ((open == '{' || open == '$') && close == '}');
}

// Answers whether it ended a substitution, after which the template goes on.
static bool close_bracket(Scanner *s) {
    char close = peek(s, 0);
    for (size_t i = s->open.count; i-- > 0;) {
        ScanToken *open = &s->tokens.data[s->open.data[i]];
        char c = s->text.data[open->start];
        if (!is_pair(c, close)) continue; // a bracket that nobody closed
        s->open.count = i;
        open->close = (uint32_t)s->tokens.count;
        if (c == '$') return true;
        break;
    }
    return false;
}

static void scan_punctuator(Scanner *s) {
    uint32_t start = s->at;
    char c = peek(s, 0);
    if (c == ')' || c == ']' || c == '}') {
        if (close_bracket(s)) {
            scan_template(s);
            return;
        }
        s->at++;
        add(s, SCAN_PUNCTUATOR, start);
        return;
    }
    bool is_two = (c == '=' && peek(s, 1) == '>') || (c == '?' && peek(s, 1) == '.');
    s->at += c == '.' && peek(s, 1) == '.' && peek(s, 2) == '.' ? 3 : is_two ? 2 : 1;
    add(s, SCAN_PUNCTUATOR, start);
    if (c == '(' || c == '[' || c == '{') vec_push(&s->open, (uint32_t)s->tokens.count - 1);
}

static void scan_one(Scanner *s) {
    char c = peek(s, 0);
    uint32_t start = s->at;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') s->at++;
    else if (c == '/' && (peek(s, 1) == '/' || peek(s, 1) == '*')) skip_comment(s);
    else if (c == '"' || c == '\'') scan_quoted(s);
    else if (c == '`') scan_template(s);
    else if (c >= '0' && c <= '9') {
        while (is_word_char(peek(s, 0)) ||
               (peek(s, 0) == '.' && peek(s, 1) >= '0' && peek(s, 1) <= '9'))
            s->at++;
        add(s, SCAN_NUMBER, start);
    } else if (is_word_char(c)) {
        while (is_word_char(peek(s, 0))) s->at++;
        add(s, SCAN_WORD, start);
    } else if (c == '/' && may_begin_regexp(s)) scan_regexp(s);
    else scan_punctuator(s);
}

void scan_text(Scan *scan, Str text, Arena *arena) {
    Scanner s = {.text = text};
    while (s.at < text.len) scan_one(&s);
    *scan = (Scan){.text = text, .count = (uint32_t)s.tokens.count, .is_in_text = s.is_in_text};
    scan->tokens = ARENA_ARRAY(arena, ScanToken, s.tokens.count + 1);
    if (s.tokens.count > 0)
        memcpy(scan->tokens, s.tokens.data, s.tokens.count * sizeof *scan->tokens);
    vec_free(&s.tokens);
    vec_free(&s.open);
}

Str scan_str(const Scan *scan, uint32_t token) {
    if (token >= scan->count) return STR("");
    const ScanToken *found = &scan->tokens[token];
    return (Str){scan->text.data + found->start, found->end - found->start};
}

bool scan_is(const Scan *scan, uint32_t token, const char *text) {
    return token < scan->count && scan->tokens[token].kind != SCAN_STRING &&
           str_equal(scan_str(scan, token), str_from(text));
}

bool scan_is_word(const Scan *scan, uint32_t token) {
    return token < scan->count && scan->tokens[token].kind == SCAN_WORD;
}

uint32_t scan_word_at(const Scan *scan, uint32_t offset) {
    uint32_t low = 0, high = scan->count;
    while (low < high) { // the first token that ends at the offset or behind it
        uint32_t middle = low + (high - low) / 2;
        if (scan->tokens[middle].end < offset) low = middle + 1;
        else high = middle;
    }
    for (uint32_t i = low; i < scan->count && i < low + 2; i++)
        if (scan->tokens[i].start <= offset && scan->tokens[i].kind == SCAN_WORD) return i;
    return SCAN_NONE;
}
