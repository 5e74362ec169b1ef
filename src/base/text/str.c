// Str: the comparisons and cuts that are too long for the header.
//
// A Str never owns memory, so nothing here allocates: every answer points into its argument.
// Why so few functions: a Str is two words, and most callers are clearer looking at them.
//   [str-1] A null Str behaves as an empty one, except where the caller asks str_is_null.
#include "base/text/str.h"

int str_compare(Str a, Str b) {
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    if (order != 0) return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts_with(Str s, Str prefix) {
    return prefix.len <= s.len && (prefix.len == 0 || memcmp(s.data, prefix.data, prefix.len) == 0);
}

static bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Str str_trim(Str s) {
    while (s.len > 0 && is_white_space(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && is_white_space(s.data[s.len - 1])) s.len--;
    return s;
}

bool str_split(Str *left, char separator, Str *ret_piece) {
    if (str_is_null(*left)) return false;
    const char *end = left->len > 0 ? memchr(left->data, separator, left->len) : NULL;
    size_t len = end ? (size_t)(end - left->data) : left->len;
    *ret_piece = (Str){left->data, len};
    *left = end ? (Str){end + 1, left->len - len - 1} : STR_NULL;
    return true;
}
