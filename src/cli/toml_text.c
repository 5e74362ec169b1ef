// Strings and numbers of TOML.
//
// Strings: "basic" with escapes, 'literal' without, and both over several lines in three quotes.
// Numbers are looked at as a whole word first, so that what is wrong can be shown as a whole.
// Invariants are in toml.h.
//
// Not here: keys, tables, arrays (toml.c).
#include "base/buf.h"
#include "base/number.h"
#include "base/utf.h"
#include "cli/toml_internal.h"

// ---- strings ----

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// After "\u" or "\U": that many digits of a code point.
static Status read_code_point(TomlReader *reader, int digits, Buf *text) {
    const char *from = reader->at;
    uint32_t code = 0;
    for (int i = 0; i < digits; i++, reader->at++) {
        int digit = reader->at < reader->end ? hex_digit(*reader->at) : -1;
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
    while (at < reader->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
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
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '+' || c == '-' || c == '.' || c == '_' || c == ':';
}

static bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// "1979-05-27…" and "07:32:00": dates and times.
static bool is_date(Str word) {
    size_t digits = 0;
    while (digits < word.len && is_decimal(word.data[digits])) digits++;
    if (digits == 4 && word.len > 4 && word.data[4] == '-') return true;
    return digits == 2 && word.len > 2 && word.data[2] == ':';
}

// Copies the word without underscores; false when one does not stand between two digits.
static bool strip_underscores(Str word, Buf *text) {
    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] != '_') {
            buf_append_char(text, word.data[i]);
            continue;
        }
        if (i == 0 || i + 1 == word.len || hex_digit(word.data[i - 1]) < 0 ||
            hex_digit(word.data[i + 1]) < 0)
            return false;
    }
    return true;
}

static bool read_based(Str digits, unsigned base, int64_t *ret_value) {
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = hex_digit(digits.data[i]);
        if (digit < 0 || (unsigned)digit >= base) return false;
        if (value > (INT64_MAX - (uint64_t)digit) / base) return false;
        value = value * base + (uint64_t)digit;
    }
    *ret_value = (int64_t)value;
    return digits.len > 0;
}

static bool read_integer(Str word, int64_t *ret_value) {
    if (str_starts_with(word, STR("0x")))
        return read_based((Str){word.data + 2, word.len - 2}, 16, ret_value);
    if (str_starts_with(word, STR("0o")))
        return read_based((Str){word.data + 2, word.len - 2}, 8, ret_value);
    if (str_starts_with(word, STR("0b")))
        return read_based((Str){word.data + 2, word.len - 2}, 2, ret_value);
    bool has_sign = word.len > 0 && (word.data[0] == '+' || word.data[0] == '-');
    Str digits = {word.data + has_sign, word.len - has_sign};
    if (digits.len > 1 && digits.data[0] == '0') return false;
    if (!read_based(digits, 10, ret_value)) return false;
    if (word.data[0] == '-') *ret_value = -*ret_value;
    return true;
}

static bool read_float(Str word, double *ret_value) {
    bool has_sign = word.len > 0 && (word.data[0] == '+' || word.data[0] == '-');
    Str rest = {word.data + has_sign, word.len - has_sign};
    double sign = has_sign && word.data[0] == '-' ? -1 : 1;
    if (str_equal(rest, STR("inf")) || str_equal(rest, STR("nan"))) {
        *ret_value = sign * (rest.data[0] == 'i' ? __builtin_inf() : __builtin_nan(""));
        return true;
    }
    bool has_mark = memchr(rest.data, '.', rest.len) != NULL ||
                    memchr(rest.data, 'e', rest.len) != NULL ||
                    memchr(rest.data, 'E', rest.len) != NULL; // otherwise an integer too large
    bool is_form_right = has_mark && rest.len > 0 && is_decimal(rest.data[0]) &&
                         (rest.len == 1 || rest.data[0] != '0' || !is_decimal(rest.data[1]));
    for (size_t i = 0; i < rest.len && is_form_right; i++) // a point has digits on both sides
        if (rest.data[i] == '.')
            is_form_right = i > 0 && is_decimal(rest.data[i - 1]) && i + 1 < rest.len &&
                            is_decimal(rest.data[i + 1]);
    double value;
    if (!is_form_right || number_parse(rest.data, rest.len, &value) != rest.len) return false;
    *ret_value = sign * value;
    return true;
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
    buf_init(&text, 256);
    bool is_good = word.len > 0 && word.len < 200 && strip_underscores(word, &text);
    Str plain = buf_str(&text);
    if (is_good && read_integer(plain, &value->integer)) value->kind = TOML_INTEGER;
    else if (is_good && read_float(plain, &value->number)) value->kind = TOML_FLOAT;
    else is_good = false;
    buf_done(&text);
    if (is_good) return OK;
    return toml_fail(reader, from, word.len > 0 ? "\"%.*s\" is no value; strings need quotes"
                                                : "a value is missing%.*s",
                     STR_ARG(word));
}
