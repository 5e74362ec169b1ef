// Numeric literals: decimal, 0x 0o 0b, separators, BigInt.
//
// A plain decimal without separators is read in place; with separators it is copied without them.
// Numbers in a power-of-two base that do not fit 53 bits are rounded half to even, as
// ECMAScript demands, by keeping the first 64 bits and whether anything after them was not zero.
#include "base/text/number.h"
#include "flow/lexer/internal.h"
#include <math.h>

enum { SMALL_DIGITS_MAX = 15 }; // decimal digits that are always exact in a double

static void fail_number(FlowLexer *lexer, FlowToken *token, const char *at, const char *message) {
    uint32_t start = at ? lexer_offset(lexer, at) : token->start;
    FlowCode code = at ? FLOW_ERROR_LITERAL : FLOW_ERROR_STRICT;
    uint32_t end = at ? start + 1 : lexer_offset(lexer, lexer->at);
    lexer_fail(lexer, token, &(FlowFinding){.code = code, .start = start, .end = end}, message);
}

static int digit_value(char c, int base) {
    int value = hex_value((unsigned char)c);
    return value < base ? value : -1;
}

// Digits and separators of one run. Answers where it ends, NULL after an error.
static const char *scan_digits(FlowLexer *lexer, FlowToken *token, int base,
                               bool *ret_has_separator) {
    const char *at = lexer->at;
    const char *start = at;
    while (digit_value(*at, base) >= 0 || *at == '_') {
        if (*at == '_') {
            *ret_has_separator = true;
            const char *message = NULL;
            if (at[1] == '_') message = "Only one underscore is allowed as numeric separator";
            else if (at == start) message = "Numeric separators are not allowed here";
            else if (digit_value(at[1], base) < 0)
                message = "Numeric separators are not allowed at the end of numeric literals";
            if (message) {
                lexer->at = at + 1;
                fail_number(lexer, token, at, message);
                return NULL;
            }
        }
        at++;
    }
    lexer->at = at;
    return at;
}

// A number must not run into a name or another number: 3in, 0b12.
static void finish_number(FlowLexer *lexer, FlowToken *token) {
    token->end = lexer_offset(lexer, lexer->at);
    if (lexer_starts_identifier(lexer->at, lexer->end) || lexer_is_digit(*lexer->at) ||
        *lexer->at == '\\') {
        const char *start = lexer->at;
        do lexer->at++;
        while (*lexer->at == '\\' || ((unsigned char)*lexer->at & 0xC0) == 0x80 ||
               lexer_continues_identifier(lexer->at, lexer->end));
        fail_number(lexer, token, start, "Invalid or unexpected token");
    }
}

// The text from `start` to where the lexer stands, without separators.
static Str digits_text(FlowLexer *lexer, const char *start, bool has_separator) {
    size_t len = (size_t)(lexer->at - start);
    if (!has_separator) return (Str){start, len};
    char *copy = arena_alloc(lexer->arena, len + 1);
    size_t used = 0;
    for (size_t i = 0; i < len; i++)
        if (start[i] != '_') copy[used++] = start[i];
    copy[used] = 0;
    return (Str){copy, used};
}

static void finish_bigint(FlowLexer *lexer, FlowToken *token, Str digits) {
    lexer->at++; // the n
    char *copy = arena_cstr(lexer->arena, digits);
    for (size_t i = 0; i < digits.len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z') copy[i] = (char)(copy[i] + ('a' - 'A'));
    token->kind = TOKEN_BIGINT;
    token->text = (Str){copy, digits.len};
    finish_number(lexer, token);
}

// The digits of a power-of-two base as a double, rounded half to even.
static double read_binary(Str digits, int bits) {
    uint64_t top = 0;
    int exponent = 0;
    bool is_inexact = false;
    for (size_t i = 0; i < digits.len; i++) {
        uint64_t digit = (uint64_t)hex_value((unsigned char)digits.data[i]);
        if (top >> (64 - bits) == 0) {
            top = top << bits | digit;
        } else { // the first 61 bits or more are there: the rest only decides a tie
            is_inexact |= digit != 0;
            exponent += bits;
            if (exponent > 2000) return INFINITY;
        }
    }
    if (is_inexact) top |= 1; // at least 7 bits below the tie
    return ldexp((double)top, exponent);
}

static void scan_based(FlowLexer *lexer, FlowToken *token, int bits) {
    const char *start = lexer->at;
    lexer->at += 2;
    bool has_separator = false;
    const char *digits = lexer->at;
    if (!scan_digits(lexer, token, 1 << bits, &has_separator)) return;
    if (lexer->at == digits) {
        fail_number(lexer, token, digits, "Invalid or unexpected token");
        return;
    }
    Str text = digits_text(lexer, start, has_separator);
    if (*lexer->at == 'n') {
        finish_bigint(lexer, token, text);
        return;
    }
    token->number = read_binary((Str){text.data + 2, text.len - 2}, bits);
    finish_number(lexer, token);
}

static void fail_leading_zero(FlowLexer *lexer, FlowToken *token) {
    bool is_octal = true;
    while (lexer_is_digit(*lexer->at) || *lexer->at == '_') {
        is_octal &= *lexer->at < '8';
        lexer->at++;
    }
    fail_number(lexer, token, NULL,
                is_octal ? "Octal literals are not allowed in strict mode."
                         : "Decimals with leading zeros are not allowed in strict mode.");
}

static void scan_decimal(FlowLexer *lexer, FlowToken *token) {
    const char *start = lexer->at;
    bool has_separator = false;
    if (*start != '.' && !scan_digits(lexer, token, 10, &has_separator)) return;
    if (*lexer->at == 'n') {
        finish_bigint(lexer, token, digits_text(lexer, start, has_separator));
        return;
    }
    if (*lexer->at == '.') {
        lexer->at++;
        if (*lexer->at == '_') {
            fail_number(lexer, token, lexer->at, "Numeric separators are not allowed here");
            return;
        }
        if (!scan_digits(lexer, token, 10, &has_separator)) return;
    }
    if ((*lexer->at | 0x20) == 'e') {
        lexer->at++;
        if (*lexer->at == '+' || *lexer->at == '-') lexer->at++;
        if (!lexer_is_digit(*lexer->at)) {
            fail_number(lexer, token, lexer->at, "Invalid or unexpected token");
            return;
        }
        if (!scan_digits(lexer, token, 10, &has_separator)) return;
    }
    Str text = digits_text(lexer, start, has_separator);
    number_parse(text.data, text.len, &token->number);
    finish_number(lexer, token);
}

void lexer_scan_number(FlowLexer *lexer, FlowToken *token) {
    token->kind = TOKEN_NUMBER;
    const char *at = lexer->at;
    double value = 0;
    while (lexer_is_digit(*at) && at - lexer->at < SMALL_DIGITS_MAX)
        value = value * 10 + (*at++ - '0');
    bool is_plain = *at != '.' && *at != '_' && *at != '\\' && (unsigned char)*at < 0x80 &&
                    !lexer_continues_identifier(at, lexer->end);
    if (is_plain && (*lexer->at != '0' || at == lexer->at + 1)) { // nearly every number there is
        lexer->at = at;
        token->number = value;
        token->end = lexer_offset(lexer, at);
        return;
    }
    if (*lexer->at == '0') {
        char mark = (char)(lexer->at[1] | 0x20);
        if (mark == 'x') return scan_based(lexer, token, 4);
        if (mark == 'o') return scan_based(lexer, token, 3);
        if (mark == 'b') return scan_based(lexer, token, 1);
        if (lexer_is_digit(lexer->at[1])) return fail_leading_zero(lexer, token);
        if (lexer->at[1] == '_') {
            lexer->at += 2;
            fail_number(lexer, token, lexer->at - 1,
                        "Numeric separator can not be used after leading 0.");
            return;
        }
    }
    scan_decimal(lexer, token);
}
