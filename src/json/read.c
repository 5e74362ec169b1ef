// JsonReader: a scanner with one bit of memory per open container.
//
//   expect:  VALUE -> scalar ------------------------------> MORE (at depth 0: end of text)
//            VALUE -> '[' -> FIRST_ITEM -> ']' or a value -> MORE -> ',' VALUE | ']'
//            VALUE -> '{' -> FIRST_KEY -> '}' or key ':' VALUE -> MORE -> ',' key | '}'
//
// Faults are rare, so positions are not counted while reading: line and column are worked out
// from the byte position when there is something to say.
//   [json-read-1] Nothing at or after `end` is read.
//   [json-read-2] Everything between `start` and `at` is well-formed, UTF-8 included.
//   [json-read-3] Every byte is looked at once (strings sixteen at a time), whatever the input.
#include "json/read.h"
#include "base/assert.h"
#include "base/text/hex.h"
#include "base/text/number.h"
#include "base/text/utf.h"
#include "json/escape.h"
#include <math.h>
#include <stdio.h>

enum { INTEGER_DIGITS_MAX = 15 };

void json_reader_init(JsonReader *reader, Str text) {
    const char *start = text.data ? text.data : "";
    *reader = (JsonReader){
        .start = start,
        .at = start,
        .end = start + text.len,
        .expect = JSON_EXPECT_VALUE,
    };
}

static JsonPlace json_place(Str text, size_t at) {
    JsonPlace place = {1, 1};
    for (size_t i = 0; i < at && i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '\n') {
            place.line++;
            place.column = 1;
        } else if ((c & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

// ---- faults

static Status fail(JsonReader *reader, const char *at, const char *what, Diag *diag) {
    reader->error_at = (size_t)(at - reader->start);
    if (!diag) return ERR_INVALID;
    Str text = {reader->start, (size_t)(reader->end - reader->start)};
    JsonPlace place = json_place(text, reader->error_at);
    return diag_set(diag, ERR_INVALID, "BAD_JSON", "line %zu, column %zu: %s", place.line,
                    place.column, what);
}

// "expected a value, but found '}'".
static Status fail_expected(JsonReader *reader, const char *expected, Diag *diag) {
    const char *at = reader->at;
    char found[32] = "the text ends";
    if (at < reader->end) {
        size_t len = utf8_sequence_len(at, reader->end);
        bool is_control = (unsigned char)*at < 0x20 || *at == 0x7F;
        if (len == 0) snprintf(found, sizeof(found), "found invalid UTF-8");
        else if (is_control) snprintf(found, sizeof(found), "found byte 0x%02x", (unsigned)*at);
        else snprintf(found, sizeof(found), "found '%.*s'", (int)len, at);
    }
    char message[128];
    snprintf(message, sizeof(message), "expected %s, but %s", expected, found);
    return fail(reader, at, message, diag);
}

// ---- tokens

static void skip_space(JsonReader *reader) {
    const char *at = reader->at, *end = reader->end;
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
    reader->at = at;
}

static bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

// Checks the escape whose backslash is at `at`; answers where it ends, or NULL.
static const char *check_escape(const char *at, const char *end) {
    if (end - at < 2) return NULL;
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return at + 2;
    case 'u': break;
    default: return NULL;
    }
    if (end - at < 6) return NULL;
    for (int i = 2; i < 6; i++) {
        if (hex_value((unsigned char)at[i]) < 0) return NULL;
    }
    return at + 6;
}

// Reads a string whose opening quote is at reader->at, and goes past its closing quote.
static Status read_string(JsonReader *reader, JsonEvent *ret_event, Diag *diag) {
    const char *at = reader->at + 1, *end = reader->end;
    const char *start = at;
    bool has_escapes = false, is_ascii = true;
    for (;;) {
        at += json_plain_len(at, end);
        if (at >= end) return fail(reader, end, "the text ends inside a string", diag);
        unsigned char c = (unsigned char)*at;
        if (c == '"') break;
        if (c == '\\') {
            const char *after = check_escape(at, end);
            if (!after) return fail(reader, at, "a bad escape in a string", diag);
            has_escapes = true;
            at = after;
        } else if (c < 0x20) {
            return fail(reader, at, "a control character in a string must be escaped", diag);
        } else {
            is_ascii = false;
            for (; at < end && (unsigned char)*at >= 0x80;) {
                size_t len = utf8_sequence_len(at, end);
                if (len == 0) return fail(reader, at, "invalid UTF-8 in a string", diag);
                at += len;
            }
        }
    }
    ret_event->raw = (Str){start, (size_t)(at - start)};
    ret_event->has_escapes = has_escapes;
    ret_event->is_ascii = is_ascii;
    reader->at = at + 1;
    return OK;
}

static Status read_number(JsonReader *reader, JsonEvent *ret_event, Diag *diag) {
    const char *start = reader->at, *end = reader->end;
    const char *at = start;
    if (*at == '-') at++;
    reader->at = at;
    if (!is_digit(at, end)) return fail_expected(reader, "a digit", diag);
    if (*at == '0') {
        at++;
        if (is_digit(at, end)) return fail(reader, at, "a number must not begin with 0", diag);
    } else {
        while (is_digit(at, end)) at++;
    }
    if (at < end && *at == '.') {
        reader->at = ++at;
        if (!is_digit(at, end)) return fail_expected(reader, "a digit after the point", diag);
        while (is_digit(at, end)) at++;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        reader->at = at;
        if (!is_digit(at, end)) return fail_expected(reader, "a digit of the exponent", diag);
        while (is_digit(at, end)) at++;
    }
    ret_event->raw = (Str){start, (size_t)(at - start)};
    reader->at = at;
    return OK;
}

static Status read_word(JsonReader *reader, Str word, JsonEvent *ret_event, Diag *diag) {
    size_t left = (size_t)(reader->end - reader->at);
    if (left < word.len || memcmp(reader->at, word.data, word.len) != 0) {
        return fail_expected(reader, "a value", diag);
    }
    ret_event->raw = (Str){reader->at, word.len};
    reader->at += word.len;
    return OK;
}

// ---- containers

static bool is_in_object(const JsonReader *reader) {
    size_t level = reader->depth - 1;
    return reader->is_object[level / 64] >> (level % 64) & 1;
}

static Status open_container(JsonReader *reader, bool is_object, Diag *diag) {
    if (reader->depth == LIMIT_JSON_DEPTH) {
        reader->error_at = (size_t)(reader->at - reader->start);
        return diag_set(diag, ERR_LIMIT, "JSON_TOO_DEEP",
                        "byte %zu: arrays and objects may be nested %d deep", reader->error_at,
                        LIMIT_JSON_DEPTH);
    }
    size_t level = reader->depth++;
    uint64_t bit = 1ull << (level % 64);
    if (is_object) reader->is_object[level / 64] |= bit;
    else reader->is_object[level / 64] &= ~bit;
    reader->expect = is_object ? JSON_EXPECT_FIRST_KEY : JSON_EXPECT_FIRST_ITEM;
    reader->at++;
    return OK;
}

static Status close_container(JsonReader *reader, JsonEvent *ret_event) {
    ret_event->kind = *reader->at == '}' ? JSON_OBJECT_END : JSON_ARRAY_END;
    ret_event->at = (size_t)(reader->at - reader->start);
    reader->at++;
    reader->depth--;
    reader->expect = JSON_EXPECT_MORE;
    return OK;
}

// ---- values and keys

static Status read_key(JsonReader *reader, JsonEvent *ret_event, const char *expected, Diag *diag) {
    if (reader->at >= reader->end || *reader->at != '"') {
        return fail_expected(reader, expected, diag);
    }
    ret_event->kind = JSON_KEY;
    ret_event->at = (size_t)(reader->at - reader->start);
    TRY(read_string(reader, ret_event, diag));
    skip_space(reader);
    if (reader->at >= reader->end || *reader->at != ':') {
        return fail_expected(reader, "':' after a key", diag);
    }
    reader->at++;
    reader->expect = JSON_EXPECT_VALUE;
    return OK;
}

static Status read_value(JsonReader *reader, JsonEvent *ret_event, const char *expected,
                         Diag *diag) {
    if (reader->at >= reader->end) return fail_expected(reader, expected, diag);
    ret_event->at = (size_t)(reader->at - reader->start);
    reader->expect = JSON_EXPECT_MORE;
    switch (*reader->at) {
    case '"': ret_event->kind = JSON_STRING; return read_string(reader, ret_event, diag);
    case '{': ret_event->kind = JSON_OBJECT_BEGIN; return open_container(reader, true, diag);
    case '[': ret_event->kind = JSON_ARRAY_BEGIN; return open_container(reader, false, diag);
    case 't': ret_event->kind = JSON_TRUE; return read_word(reader, STR("true"), ret_event, diag);
    case 'f': ret_event->kind = JSON_FALSE; return read_word(reader, STR("false"), ret_event, diag);
    case 'n': ret_event->kind = JSON_NULL; return read_word(reader, STR("null"), ret_event, diag);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': ret_event->kind = JSON_NUMBER; return read_number(reader, ret_event, diag);
    default: return fail_expected(reader, expected, diag);
    }
}

// After a value: the end of the text, a comma, or the end of the container.
static Status read_more(JsonReader *reader, JsonEvent *ret_event, Diag *diag) {
    bool is_end = reader->at >= reader->end;
    if (reader->depth == 0) {
        if (!is_end) return fail_expected(reader, "the end of the text", diag);
        ret_event->kind = JSON_END;
        ret_event->at = (size_t)(reader->at - reader->start);
        return OK;
    }
    bool in_object = is_in_object(reader);
    char closing = in_object ? '}' : ']';
    if (!is_end && *reader->at == closing) return close_container(reader, ret_event);
    if (is_end || *reader->at != ',') {
        return fail_expected(reader, in_object ? "',' or '}'" : "',' or ']'", diag);
    }
    reader->at++;
    skip_space(reader);
    if (in_object) return read_key(reader, ret_event, "a key in double quotes", diag);
    return read_value(reader, ret_event, "a value", diag);
}

Status json_next(JsonReader *reader, JsonEvent *ret_event, Diag *diag) {
    skip_space(reader);
    switch (reader->expect) {
    case JSON_EXPECT_MORE: return read_more(reader, ret_event, diag);
    case JSON_EXPECT_VALUE: return read_value(reader, ret_event, "a value", diag);
    case JSON_EXPECT_FIRST_ITEM:
        if (reader->at < reader->end && *reader->at == ']') {
            return close_container(reader, ret_event);
        }
        return read_value(reader, ret_event, "a value or ']'", diag);
    case JSON_EXPECT_FIRST_KEY:
        if (reader->at < reader->end && *reader->at == '}') {
            return close_container(reader, ret_event);
        }
        return read_key(reader, ret_event, "a key in double quotes or '}'", diag);
    }
    UNREACHABLE();
}

// ---- numbers

double json_number(Str literal) {
    size_t at = 0;
    bool is_negative = literal.len > 0 && literal.data[0] == '-';
    if (is_negative) at++;
    if (literal.len - at <= INTEGER_DIGITS_MAX) { // most numbers are small integers
        int64_t integer = 0;
        while (at < literal.len && literal.data[at] >= '0' && literal.data[at] <= '9') {
            integer = integer * 10 + (literal.data[at++] - '0');
        }
        if (at == literal.len) return is_negative ? -(double)integer : (double)integer;
    }
    double value = 0;
    size_t used = number_parse(literal.data, literal.len, &value);
    ASSERT(used == literal.len);
    return value;
}

bool json_number_to_i64(Str literal, int64_t *ret_value) {
    bool is_negative = literal.data[0] == '-';
    uint64_t limit = is_negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t magnitude = 0;
    for (size_t i = is_negative; i < literal.len; i++) {
        char c = literal.data[i];
        if (c < '0' || c > '9') { // 1e3, 5.0
            double value = json_number(literal);
            if (!(fabs(value) <= 9007199254740992.0) || value != floor(value)) return false;
            *ret_value = (int64_t)value;
            return true;
        }
        if (__builtin_mul_overflow(magnitude, 10u, &magnitude)) return false;
        if (__builtin_add_overflow(magnitude, (uint64_t)(c - '0'), &magnitude)) return false;
        if (magnitude > limit) return false;
    }
    *ret_value = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}
