// Escapes and character classes of patterns; see regexp/parse.c.
//
// With the flag u an escape must be one the grammar knows. Without it nearly everything has a
// meaning: \q is q, \8 is 8, \c without a letter is a backslash, [\d-x] are three things.
//   [regexp-escape-1] A function that does not find its escape takes nothing, so that another can
//        try.
#include "base/text/hex.h"
#include "flow/regexp/parse.h"

// Exactly `count` hexadecimal digits; false: there are fewer, and nothing was taken.
static bool read_hex(RegexpParser *p, int count, uint32_t *ret_value) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) {
        int digit = hex_value(regexp_peek(p, (size_t)i));
        if (digit < 0) return false;
        value = value * 16 + (uint32_t)digit;
    }
    p->at += count;
    *ret_value = value;
    return true;
}

static bool read_braced_code_point(RegexpParser *p, uint32_t *ret_character) {
    const uint16_t *start = p->at;
    p->at++;
    uint32_t value = 0;
    bool has_digit = false;
    for (int digit; (digit = hex_value(regexp_peek(p, 0))) >= 0; p->at++) {
        has_digit = true;
        value = value * 16 + (uint32_t)digit;
        if (value > 0x10FFFF) value = 0x110000;
    }
    if (has_digit && value <= 0x10FFFF && regexp_skip(p, '}')) {
        *ret_character = value;
        return true;
    }
    p->at = start;
    return false;
}

bool regexp_read_unicode_escape(RegexpParser *p, bool is_code_point, uint32_t *ret_character) {
    if (is_code_point && regexp_peek(p, 0) == '{') return read_braced_code_point(p, ret_character);
    uint32_t value;
    if (!read_hex(p, 4, &value)) return false;
    if (is_code_point && value >= 0xD800 && value <= 0xDBFF && regexp_peek(p, 0) == '\\' &&
        regexp_peek(p, 1) == 'u') {
        const uint16_t *start = p->at;
        uint32_t low;
        p->at += 2;
        if (read_hex(p, 4, &low) && low >= 0xDC00 && low <= 0xDFFF) {
            value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
        } else {
            p->at = start;
        }
    }
    *ret_character = value;
    return true;
}

// \p{…}: the text between the braces.
static void read_property(RegexpParser *p, bool is_negated, RegexpRanges *ranges) {
    char text[64];
    size_t length = 0;
    bool is_fine = regexp_skip(p, '{');
    while (is_fine && p->at < p->end && *p->at != '}') {
        is_fine = *p->at < 128 && length < sizeof text;
        if (is_fine) text[length++] = (char)*p->at++;
    }
    is_fine = is_fine && regexp_skip(p, '}') &&
              regexp_ranges_add_property(ranges, (Str){text, length}, is_negated);
    if (!is_fine) regexp_fail(p, "Invalid property name");
}

bool regexp_read_class_escape(RegexpParser *p, RegexpRanges *ranges) {
    uint32_t c = regexp_peek(p, 0);
    RegexpClass class;
    switch (c) {
    case 'd':
    case 'D': class = CLASS_DIGIT; break;
    case 's':
    case 'S': class = CLASS_SPACE; break;
    case 'w':
    case 'W': class = CLASS_WORD; break;
    case 'p':
    case 'P':
        if (!regexp_is_unicode(p)) return false;
        p->at++;
        read_property(p, c == 'P', ranges);
        return true;
    default: return false;
    }
    p->at++;
    regexp_ranges_add_class(ranges, class, c < 'a', p->tree->flags);
    return true;
}

// Up to three octal digits, at most 0377.
static uint32_t read_octal(RegexpParser *p) {
    uint32_t value = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t c = regexp_peek(p, 0);
        if (c < '0' || c > '7' || value * 8 + (c - '0') > 0377) break;
        value = value * 8 + (c - '0');
        p->at++;
    }
    return value;
}

static uint32_t read_control(RegexpParser *p, bool is_in_class) {
    uint32_t c = regexp_peek(p, 1);
    bool is_letter = c < 128 && (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    bool is_lenient = is_in_class && !regexp_is_unicode(p) && ((c >= '0' && c <= '9') || c == '_');
    if (is_letter || is_lenient) {
        p->at += 2;
        return c % 32;
    }
    if (regexp_is_unicode(p)) regexp_fail(p, "Invalid unicode escape");
    return '\\'; // itself, and the c comes next
}

static uint32_t read_digit_escape(RegexpParser *p, uint32_t c) {
    if (regexp_is_unicode(p)) {
        uint32_t next = regexp_peek(p, 1);
        if (c != '0' || (next >= '0' && next <= '9')) {
            regexp_fail(p, "Invalid decimal escape");
            return 0;
        }
        p->at++;
        return 0;
    }
    if (c <= '7') return read_octal(p);
    p->at++;
    return c;
}

static bool is_syntax_character(uint32_t c) {
    return c < 128 && c > 0 && strchr("^$\\.*+?()[]{}|/", (int)c);
}

uint32_t regexp_read_character_escape(RegexpParser *p, bool is_in_class) {
    uint32_t c = regexp_peek(p, 0);
    bool is_unicode = regexp_is_unicode(p);
    uint32_t value;
    if (c == REGEXP_END) {
        regexp_fail(p, "\\ at end of pattern");
        return 0;
    }
    if (c >= '0' && c <= '9') return read_digit_escape(p, c);
    switch (c) {
    case 't': p->at++; return '\t';
    case 'n': p->at++; return '\n';
    case 'v': p->at++; return '\v';
    case 'f': p->at++; return '\f';
    case 'r': p->at++; return '\r';
    case 'c': return read_control(p, is_in_class);
    case 'x':
        p->at++;
        if (read_hex(p, 2, &value)) return value;
        if (is_unicode) regexp_fail(p, "Invalid escape");
        return c;
    case 'u':
        p->at++;
        if (regexp_read_unicode_escape(p, is_unicode, &value)) return value;
        if (is_unicode) regexp_fail(p, "Invalid Unicode escape");
        return c;
    default: break;
    }
    if (is_unicode && !is_syntax_character(c) && !(is_in_class && c == '-')) {
        regexp_fail(p, "Invalid escape");
    }
    if (!is_unicode && p->has_names && c == 'k') regexp_fail(p, "Invalid escape");
    return p->message[0] ? 0 : regexp_take(p);
}

// --- classes

// One item of a class. True: a single character in *ret_character; false: ranges were added.
static bool read_class_atom(RegexpParser *p, RegexpRanges *ranges, uint32_t *ret_character) {
    if (!regexp_skip(p, '\\')) {
        *ret_character = regexp_take(p);
        return true;
    }
    if (regexp_skip(p, 'b')) {
        *ret_character = '\b';
        return true;
    }
    if (regexp_read_class_escape(p, ranges)) return false;
    *ret_character = regexp_read_character_escape(p, true);
    return true;
}

void regexp_read_class(RegexpParser *p, RegexpRanges *ranges) {
    while (p->at < p->end && *p->at != ']') {
        uint32_t first = 0;
        bool is_first = read_class_atom(p, ranges, &first);
        bool is_range =
            regexp_peek(p, 0) == '-' && regexp_peek(p, 1) != ']' && regexp_peek(p, 1) != REGEXP_END;
        if (!is_range) {
            if (is_first) regexp_ranges_add(ranges, first, first);
            continue;
        }
        p->at++;
        uint32_t last = 0;
        bool is_last = read_class_atom(p, ranges, &last);
        if (is_first && is_last) {
            if (first > last) regexp_fail(p, "Range out of order in character class");
            else regexp_ranges_add(ranges, first, last);
            continue;
        }
        if (regexp_is_unicode(p)) regexp_fail(p, "Invalid character class");
        // Lenient: \d-x are three things, one of them the dash.
        regexp_ranges_add(ranges, '-', '-');
        if (is_first) regexp_ranges_add(ranges, first, first);
        if (is_last) regexp_ranges_add(ranges, last, last);
    }
    if (!regexp_skip(p, ']')) regexp_fail(p, "Unterminated character class");
}
