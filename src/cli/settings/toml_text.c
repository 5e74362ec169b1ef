// Strings and numbers of TOML.
//
// Strings: "basic" with escapes, 'literal' without, and both over several lines in three quotes.
// Numbers are looked at as a whole word first, so that what is wrong can be shown as a whole.
// Invariants are in toml.h.
//
// Not here: keys, tables, arrays (toml.c).
#include "base/containers/buf.h"
#include "base/text/hex.h"
#include "base/text/number.h"
#include "base/text/utf.h"
#include "cli/settings/toml_internal.h"

// ---- strings ----

// After "\u" or "\U": that many digits of a code point.
static Status read_code_point(TomlReader *reader, int digits, Buf *text) {
    const char *from = reader->at;
    uint32_t code = 0;
    for (int i = 0; i < digits; i++, reader->at++) {
        int digit = reader->at < reader->end ? hex_value((unsigned char)*reader->at) : -1;
        if (digit < 0)
            return toml_fail(reader, from, "\\%c takes %d hexadecimal digits",
                             digits == 4 ? 'u' : 'U', digits);
        code = code << 4 | (uint32_t)digit;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return toml_fail(reader, from, "that is no character of Unicode");
    char bytes[4];
    buf_append(text, bytes, utf8_encode(code, bytes));
    return OK;
}

// A backslash at the end of a line: the white space up to the next character is left out.
static bool skip_line_end(TomlReader *reader) {
    const char *at = reader->at;
    while (at < reader->end && (*at == ' ' || *at == '\t')) at++;
    if (at < reader->end && *at == '\r') at++;
    if (at >= reader->end || *at != '\n') return false;
    while (at < reader->end) {
        bool is_line_end = *at == '\r' && at + 1 < reader->end && at[1] == '\n';
        if (*at != ' ' && *at != '\t' && *at != '\n' && !is_line_end) break;
        at++;
    }
    reader->at = at;
    return true;
}

static Status read_escape(TomlReader *reader, bool is_multi_line, Buf *text) {
    const char *from = reader->at++; // the backslash
    if (is_multi_line && skip_line_end(reader)) return OK;
    char c = reader->at < reader->end ? *reader->at++ : 0;
    switch (c) {
    case 'b': buf_append_char(text, '\b'); return OK;
    case 't': buf_append_char(text, '\t'); return OK;
    case 'n': buf_append_char(text, '\n'); return OK;
    case 'f': buf_append_char(text, '\f'); return OK;
    case 'r': buf_append_char(text, '\r'); return OK;
    case '"':
    case '\\': buf_append_char(text, c); return OK;
    case 'u': return read_code_point(reader, 4, text);
    case 'U': return read_code_point(reader, 8, text);
    default:
        return toml_fail(reader, from,
                         "there is no escape like this; write \\\\ for a backslash, or use "
                         "'single quotes'");
    }
}

typedef struct Quoting {
    char quote;
    bool is_multi_line;
    const char *begin; // of the whole string, for complaints
} Quoting;

// True when the string ends here; up to two quotes may stand right before the last three.
static bool ends_here(TomlReader *reader, const Quoting *quoting, Buf *text) {
    if (*reader->at != quoting->quote) return false;
    if (!quoting->is_multi_line) {
        reader->at++;
        return true;
    }
    size_t count = 0;
    while (count < 5 && reader->at + count < reader->end && reader->at[count] == quoting->quote)
        count++;
    if (count < 3) return false;
    for (size_t i = 3; i < count; i++) buf_append_char(text, quoting->quote);
    reader->at += count;
    return true;
}

static Status read_content(TomlReader *reader, const Quoting *quoting, Buf *text) {
    while (reader->at < reader->end) {
        if (ends_here(reader, quoting, text)) return OK;
        unsigned char c = (unsigned char)*reader->at;
        if (c == '\\' && quoting->quote == '"') {
            TRY(read_escape(reader, quoting->is_multi_line, text));
            continue;
        }
        if (c == '\n' && !quoting->is_multi_line) break;
        bool is_line_end = c == '\n' || (c == '\r' && toml_starts(reader, "\r\n"));
        if ((c < 0x20 && c != '\t' && !is_line_end) || c == 0x7F)
            return toml_fail(reader, reader->at, "a control character must be written as \\u%04x",
                             c);
        if (c != '\r') buf_append_char(text, (char)c); // line ends are "\n" inside
        reader->at++;
    }
    return toml_fail(reader, quoting->begin, "the string does not end%s",
                     quoting->is_multi_line ? "" : " on its line");
}

Status toml_read_string(TomlReader *reader, bool is_key, Str *ret_text) {
    Quoting quoting = {.quote = *reader->at, .begin = reader->at};
    const char three[] = {quoting.quote, quoting.quote, quoting.quote, 0};
    quoting.is_multi_line = toml_starts(reader, three);
    if (quoting.is_multi_line && is_key)
        return toml_fail(reader, reader->at, "a key stands on one line");
    reader->at += quoting.is_multi_line ? 3 : 1;
    if (quoting.is_multi_line) { // a line end right after the quotes is left out
        if (toml_starts(reader, "\r\n")) reader->at += 2;
        else if (toml_starts(reader, "\n")) reader->at++;
    }
    Buf text;
    buf_init(&text, TOML_SIZE_MAX);
    Status status = read_content(reader, &quoting, &text);
    if (status == OK) *ret_text = arena_str(reader->arena, buf_str(&text));
    buf_done(&text);
    return status;
}

// ---- numbers ----

static bool is_word_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.' || c == '_' || c == ':';
}

static bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// "1979-05-27…" and "07:32:00": dates and times.
static bool is_date(Str word) {
    size_t digits = 0;
    while (digits < word.len && is_decimal(word.data[digits])) digits++;
    if (digits == 4 && word.len > 4 && word.data[4] == '-') return true;
    return digits == 2 && word.len > 2 && word.data[2] == ':';
}

// Takes the digits at the front of *rest, with underscores between two of them, and appends them
// to `text` without these; false when there is none, or an underscore stands elsewhere.
static bool take_digits(Str *rest, unsigned base, Buf *text) {
    bool was_digit = false;
    while (rest->len > 0) {
        int digit = hex_value((unsigned char)rest->data[0]);
        bool is_digit = digit >= 0 && (unsigned)digit < base;
        if (!is_digit && (rest->data[0] != '_' || !was_digit)) break;
        if (is_digit) buf_append_char(text, rest->data[0]);
        was_digit = is_digit;
        *rest = (Str){rest->data + 1, rest->len - 1};
    }
    return was_digit;
}

static bool take_char(Str *rest, const char *chars, Buf *text) {
    if (rest->len == 0 || rest->data[0] == 0 || strchr(chars, rest->data[0]) == NULL) return false;
    buf_append_char(text, rest->data[0]);
    *rest = (Str){rest->data + 1, rest->len - 1};
    return true;
}

static bool read_digits(Str digits, unsigned base, bool is_negative, int64_t *ret_value) {
    uint64_t value = 0, max = (uint64_t)INT64_MAX + is_negative;
    for (size_t i = 0; i < digits.len; i++) {
        uint64_t digit = (uint64_t)hex_value((unsigned char)digits.data[i]);
        if (value > (max - digit) / base) return false;
        value = value * base + digit;
    }
    *ret_value = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

// "0xff", "0o755", "0b1010": no sign.
static bool read_based(Str word, Buf *text, int64_t *ret_value) {
    unsigned base = word.data[1] == 'x' ? 16 : word.data[1] == 'o' ? 8 : 2;
    Str rest = {word.data + 2, word.len - 2};
    return take_digits(&rest, base, text) && rest.len == 0 &&
           read_digits(buf_str(text), base, false, ret_value);
}

static bool read_special(Str word, double *ret_value) {
    bool is_negative = str_starts_with(word, STR("-"));
    bool has_sign = is_negative || str_starts_with(word, STR("+"));
    Str name = {word.data + has_sign, word.len - has_sign};
    bool is_inf = str_equal(name, STR("inf"));
    if (!is_inf && !str_equal(name, STR("nan"))) return false;
    double value = is_inf ? __builtin_inf() : __builtin_nan("");
    *ret_value = is_negative ? -value : value;
    return true;
}

// An integer, or with a fraction or an exponent a float.
static bool read_decimal(Str word, Buf *text, TomlValue *value) {
    Str rest = word;
    bool has_sign = take_char(&rest, "+-", text);
    size_t from = text->len;
    if (!take_digits(&rest, 10, text)) return false;
    Str whole = {text->data + from, text->len - from};
    if (whole.len > 1 && whole.data[0] == '0') return false;
    if (rest.len == 0) {
        value->kind = TOML_INTEGER;
        return read_digits(whole, 10, has_sign && word.data[0] == '-', &value->integer);
    }
    value->kind = TOML_FLOAT;
    if (take_char(&rest, ".", text) && !take_digits(&rest, 10, text)) return false;
    if (take_char(&rest, "eE", text)) {
        (void)take_char(&rest, "+-", text);
        if (!take_digits(&rest, 10, text)) return false;
    }
    Str plain = buf_str(text);
    size_t skipped = has_sign && plain.data[0] == '+';
    return rest.len == 0 && number_parse(plain.data + skipped, plain.len - skipped,
                                         &value->number) == plain.len - skipped;
}

static bool read_word(Str word, Buf *text, TomlValue *value) {
    value->kind = TOML_INTEGER;
    bool is_based = word.len > 2 && word.data[0] == '0' && strchr("xob", word.data[1]) != NULL;
    if (is_based) return read_based(word, text, &value->integer);
    if (read_decimal(word, text, value)) return true;
    value->kind = TOML_FLOAT;
    return read_special(word, &value->number);
}

Status toml_read_number(TomlReader *reader, TomlValue *value) {
    const char *from = reader->at;
    while (reader->at < reader->end && is_word_char(*reader->at)) reader->at++;
    Str word = {from, (size_t)(reader->at - from)};
    if (is_date(word))
        return toml_fail(reader, from,
                         "dates and times are not used in settings; write a string if one is "
                         "meant");
    Buf text;
    buf_init(&text, TOML_SIZE_MAX);
    bool is_good = word.len > 0 && read_word(word, &text, value);
    buf_done(&text);
    if (is_good) return OK;
    return toml_fail(reader, from,
                     word.len > 0 ? "\"%.*s\" is no value; strings need quotes"
                                  : "a value is missing%.*s",
                     STR_ARG(word));
}
