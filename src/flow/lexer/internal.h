// What the parts of the lexer share.
#pragma once
#include "base/text/hex.h"
#include "flow/lexer/lexer.h"

// Reports [lexer-1] and makes `token` an error that ends where the lexer stands.
void lexer_fail(FlowLexer *lexer, FlowToken *token, const FlowFinding *finding,
                const char *message);
static inline uint32_t lexer_offset(const FlowLexer *lexer, const char *at) {
    return (uint32_t)(at - lexer->base);
}
static inline bool lexer_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool lexer_is_line_separator(const char *at) { // U+2028, U+2029
    return (unsigned char)at[0] == 0xE2 && (unsigned char)at[1] == 0x80 &&
           ((unsigned char)at[2] | 1) == 0xA9;
}
// Whether an identifier may start, or go on, at `at`; escapes not considered.
bool lexer_starts_identifier(const char *at, const char *end);
bool lexer_continues_identifier(const char *at, const char *end);
// `at` stands after "\u": reads XXXX or {X…} and moves on. Answers the code point or one of the
// negative numbers below.
int32_t lexer_read_unicode_escape(const char **at);
enum { ESCAPE_MALFORMED = -1, ESCAPE_TOO_LARGE = -2 };

void lexer_scan_number(FlowLexer *lexer, FlowToken *token);   // at a digit, or a dot before one
void lexer_scan_string(FlowLexer *lexer, FlowToken *token);   // at the quote
void lexer_scan_template(FlowLexer *lexer, FlowToken *token); // after ` or }
