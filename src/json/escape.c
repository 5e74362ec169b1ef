// JSON strings: finding what needs attention, decoding escapes, writing them.
//
// Most text is plain ASCII, so both directions first look for the next byte that is not, sixteen
// bytes at a time where the machine can, and copy what lies before it in one go.
//   [json-escape-1] Decoding never grows: \u takes six bytes of JSON for at most three of UTF-8, a
//        pair twelve for four.
//   [json-escape-2] A high surrogate followed by a low one is one code point in both directions,
//        however the two were written; any other surrogate is lone and kept as three bytes of
//        WTF-8.
//   [json-escape-3] What is appended is valid JSON and valid UTF-8.
#include "json/escape.h"
#include "base/text/hex.h"
#include "base/text/number.h"
#include "base/text/utf.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { UNIT_RUN_MAX = 252 };

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

#if defined(__SSE2__)
static size_t plain_blocks_len(const char *start, const char *end) {
    const char *at = start;
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        // Signed: bytes from 0x80 on are below the space too.
        __m128i special = _mm_or_si128(
            _mm_cmplt_epi8(block, space),
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(special);
        if (mask != 0) return (size_t)(at - start) + (size_t)__builtin_ctz(mask);
    }
    return (size_t)(at - start);
}
#else
static size_t plain_blocks_len(const char *start, const char *end) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    const char *at = start;
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
        uint64_t special = word | (word - ones * 0x20) | ((quote - ones) & ~quote) |
                           ((backslash - ones) & ~backslash);
        if (special & tops) break;
    }
    return (size_t)(at - start);
}
#endif

size_t json_plain_len(const char *start, const char *end) {
    const char *at = start;
    if (end - at >= 16) at += plain_blocks_len(at, end);
    while (at < end && is_plain((unsigned char)*at)) at++;
    return (size_t)(at - start);
}

// ---- decoding

// The unit of the \uXXXX whose backslash is at `at`.
static uint32_t escaped_unit(const char *at) {
    return (uint32_t)(hex_byte(at + 2) << 8 | hex_byte(at + 4));
}

static bool is_high_surrogate(uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }

static bool is_low_surrogate(uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

static uint32_t join_surrogates(uint32_t high, uint32_t low) {
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

static char short_escape(char c) {
    switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c; // quote, backslash, slash
    }
}

// The code point of the escape at *at, which it moves past. A pair counts as one [json-escape-2].
static uint32_t take_escape(const char **at, const char *end) {
    const char *escape = *at;
    if (escape[1] != 'u') {
        *at += 2;
        return (unsigned char)short_escape(escape[1]);
    }
    *at += 6;
    uint32_t unit = escaped_unit(escape);
    if (is_high_surrogate(unit) && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = escaped_unit(*at);
        if (is_low_surrogate(low)) {
            *at += 6;
            return join_surrogates(unit, low);
        }
    }
    return unit;
}

size_t json_string_decode(Str raw, char *ret_bytes) {
    const char *at = raw.data, *end = raw.data + raw.len;
    char *out = ret_bytes;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape ? escape : end) - at);
        memcpy(out, at, plain);
        out += plain;
        at += plain;
        if (!escape) break;
        char bytes[4];
        size_t len = utf8_encode(take_escape(&at, end), bytes);
        memcpy(out, bytes, len); // [json-escape-1]
        out += len;
    }
    return (size_t)(out - ret_bytes);
}

size_t json_string_decode_utf16(Str raw, uint16_t *ret_units) {
    const char *at = raw.data, *end = raw.data + raw.len;
    uint16_t *out = ret_units;
    while (at < end) {
        uint32_t code_point = *at == '\\' ? take_escape(&at, end) : utf8_decode(&at, end);
        if (code_point >= 0x10000) {
            *out++ = (uint16_t)(0xD800 + ((code_point - 0x10000) >> 10));
            code_point = 0xDC00 + ((code_point - 0x10000) & 0x3FF);
        }
        *out++ = (uint16_t)code_point;
    }
    return (size_t)(out - ret_units);
}

Str json_string_arena(Arena *arena, const JsonEvent *event) {
    if (!event->has_escapes) return event->raw;
    char *bytes = arena_alloc(arena, event->raw.len);
    return (Str){bytes, json_string_decode(event->raw, bytes)};
}

// ---- encoding

static void append_unit_escape(Buf *buf, uint32_t unit) {
    const uint8_t bytes[] = {(uint8_t)(unit >> 8), (uint8_t)unit};
    char escape[6] = "\\u";
    hex_write(escape + 2, bytes, sizeof bytes);
    buf_append(buf, escape, sizeof(escape));
}

// A quote, a backslash or a control character.
static void append_ascii_escape(Buf *buf, unsigned char c) {
    char letter = 0;
    switch (c) {
    case '"': letter = '"'; break;
    case '\\': letter = '\\'; break;
    case '\b': letter = 'b'; break;
    case '\f': letter = 'f'; break;
    case '\n': letter = 'n'; break;
    case '\r': letter = 'r'; break;
    case '\t': letter = 't'; break;
    default: append_unit_escape(buf, c); return;
    }
    char escape[2] = {'\\', letter};
    buf_append(buf, escape, sizeof(escape));
}

// Whether three bytes of WTF-8 for a surrogate stand at `at`; if so, which.
static bool surrogate_at(const char *at, const char *end, uint32_t *ret_unit) {
    if (end - at < 3 || (unsigned char)at[0] != 0xED) return false;
    unsigned second = (unsigned char)at[1], third = (unsigned char)at[2];
    if (second < 0xA0 || second > 0xBF || (third & 0xC0) != 0x80) return false;
    *ret_unit = 0xD000u | (second & 0x3F) << 6 | (third & 0x3F);
    return true;
}

// One step over bytes from 0x80 on that are not well-formed UTF-8; answers how many it took.
static size_t append_odd_bytes(Buf *buf, const char *at, const char *end) {
    uint32_t unit, low;
    if (!surrogate_at(at, end, &unit)) {
        append_unit_escape(buf, 0xFFFD); // [json-escape-3]
        return 1;
    }
    if (is_high_surrogate(unit) && surrogate_at(at + 3, end, &low) && is_low_surrogate(low)) {
        char bytes[4];
        buf_append(buf, bytes, utf8_encode(join_surrogates(unit, low), bytes)); // [json-escape-2]
        return 6;
    }
    append_unit_escape(buf, unit);
    return 3;
}

void json_append_string(Buf *buf, Str text) {
    const char *at = text.data, *end = text.data + text.len;
    buf_reserve(buf, text.len + 2);
    buf_append_char(buf, '"');
    while (at < end) {
        const char *start = at;
        while (at < end) { // as much as can be copied as it is
            at += json_plain_len(at, end);
            size_t len = at < end && (unsigned char)*at >= 0x80 ? utf8_sequence_len(at, end) : 0;
            if (len == 0) break;
            at += len;
        }
        buf_append(buf, start, (size_t)(at - start));
        if (at >= end) break;
        if ((unsigned char)*at < 0x80) append_ascii_escape(buf, (unsigned char)*at++);
        else at += append_odd_bytes(buf, at, end);
    }
    buf_append_char(buf, '"');
}

// The bytes of one unit, or pair, that needs no escape; the rest is the caller's.
static size_t encode_unit(uint32_t unit, char ret_bytes[4]) {
    if (unit < 0x80) {
        ret_bytes[0] = (char)unit;
        return 1;
    }
    return utf8_encode(unit, ret_bytes);
}

void json_append_string_utf16(Buf *buf, const uint16_t *units, size_t count) {
    char run[UNIT_RUN_MAX + 4]; // bytes that wait to be appended together
    size_t len = 0;
    buf_append_char(buf, '"');
    for (size_t i = 0; i < count; i++) {
        uint32_t unit = units[i];
        bool is_pair = is_high_surrogate(unit) && i + 1 < count && is_low_surrogate(units[i + 1]);
        if (is_pair) unit = join_surrogates(unit, units[++i]);
        bool is_ascii_escape = unit < 0x80 && !is_plain((unsigned char)unit);
        bool is_lone = is_high_surrogate(unit) || is_low_surrogate(unit);
        if (is_ascii_escape || is_lone || len >= UNIT_RUN_MAX) {
            buf_append(buf, run, len);
            len = 0;
        }
        if (is_ascii_escape) append_ascii_escape(buf, (unsigned char)unit);
        else if (is_lone) append_unit_escape(buf, unit);
        else len += encode_unit(unit, run + len);
    }
    buf_append(buf, run, len);
    buf_append_char(buf, '"');
}

void json_append_string_latin1(Buf *buf, const uint8_t *units, size_t count) {
    const char *at = (const char *)units, *end = at + count;
    buf_reserve(buf, count + 2);
    buf_append_char(buf, '"');
    while (at < end) {
        size_t plain = json_plain_len(at, end);
        buf_append(buf, at, plain);
        at += plain;
        if (at >= end) break;
        unsigned char unit = (unsigned char)*at++;
        if (unit < 0x80) {
            append_ascii_escape(buf, unit);
        } else {
            char bytes[4];
            buf_append(buf, bytes, utf8_encode(unit, bytes));
        }
    }
    buf_append_char(buf, '"');
}

void json_append_number(Buf *buf, double value) {
    char text[NUMBER_TEXT_MAX];
    bool is_finite = value - value == 0;
    if (!is_finite) buf_append(buf, "null", 4);
    else buf_append(buf, text, number_format(value, text));
}
