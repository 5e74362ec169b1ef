// UTF-8: validation, decoding, encoding.
//
// Validation is the hot one (every payload passes it), so runs of ASCII go eight bytes a step.
// The ranges of the second byte exclude overlong forms (E0, F0), surrogates (ED) and what lies
// beyond U+10FFFF (F4); the table is the one of the Unicode standard, section 3.9.
//   [utf-1] utf8_valid_prefix never looks past the end.
//   [utf-2] utf8_decode accepts surrogates in three bytes too (WTF-8), so it reads utf8_encode's.
#include "base/text/utf.h"
#include "base/assert.h"

static bool is_between(unsigned char c, unsigned char low, unsigned char high) {
    return c >= low && c <= high;
}

static bool is_tail(unsigned char c) { return (c & 0xC0) == 0x80; }

// The length of the well-formed sequence at `at`, which does not start with ASCII; 0 if none.
static size_t sequence_len(const unsigned char *at, size_t left) {
    unsigned char lead = at[0];
    if (is_between(lead, 0xC2, 0xDF)) return left >= 2 && is_tail(at[1]) ? 2 : 0;
    if (is_between(lead, 0xE0, 0xEF)) {
        unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
        unsigned char high = lead == 0xED ? 0x9F : 0xBF;
        return left >= 3 && is_between(at[1], low, high) && is_tail(at[2]) ? 3 : 0;
    }
    if (is_between(lead, 0xF0, 0xF4)) {
        unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
        unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
        if (left < 4 || !is_between(at[1], low, high)) return 0;
        return is_tail(at[2]) && is_tail(at[3]) ? 4 : 0;
    }
    return 0;
}

size_t utf8_valid_prefix(Str s) {
    const unsigned char *start = (const unsigned char *)s.data;
    size_t at = 0;
    while (at < s.len) {
        while (s.len - at >= 8) {
            uint64_t word;
            memcpy(&word, start + at, sizeof(word));
            if (word & 0x8080808080808080u) break;
            at += 8;
        }
        if (at == s.len) break;
        if (start[at] < 0x80) {
            at++;
            continue;
        }
        size_t len = sequence_len(start + at, s.len - at);
        if (len == 0) break;
        at += len;
    }
    return at;
}

size_t utf8_sequence_len(const char *at, const char *end) {
    if (at >= end) return 0;
    const unsigned char *start = (const unsigned char *)at;
    return start[0] < 0x80 ? 1 : sequence_len(start, (size_t)(end - at));
}

uint32_t utf8_decode(const char **at, const char *end) {
    const unsigned char *in = (const unsigned char *)*at;
    ASSERT(*at < end);
    uint32_t lead = in[0];
    if (lead < 0x80) {
        *at += 1;
        return lead;
    }
    int tail_count = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    ASSERT(end - *at > tail_count);
    uint32_t code_point = lead & (0x3Fu >> tail_count);
    for (int i = 1; i <= tail_count; i++) code_point = code_point << 6 | (in[i] & 0x3Fu);
    *at += tail_count + 1;
    return code_point;
}

size_t utf8_encode(uint32_t code_point, char ret_bytes[4]) {
    ASSERT(code_point <= 0x10FFFF);
    if (code_point < 0x80) {
        ret_bytes[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        ret_bytes[0] = (char)(0xC0 | code_point >> 6);
        ret_bytes[1] = (char)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point < 0x10000) {
        ret_bytes[0] = (char)(0xE0 | code_point >> 12);
        ret_bytes[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
        ret_bytes[2] = (char)(0x80 | (code_point & 0x3F));
        return 3;
    }
    ret_bytes[0] = (char)(0xF0 | code_point >> 18);
    ret_bytes[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
    ret_bytes[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
    ret_bytes[3] = (char)(0x80 | (code_point & 0x3F));
    return 4;
}

bool utf_is_control(uint32_t code_point) {
    return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) || code_point == 0x061C ||
           code_point == 0x200E || code_point == 0x200F ||
           (code_point >= 0x2028 && code_point <= 0x202E) ||
           (code_point >= 0x2066 && code_point <= 0x2069);
}
