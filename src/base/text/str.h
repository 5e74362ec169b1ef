// Str: a piece of text or bytes that somebody else owns. Not terminated; may hold NUL.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct Str {
    const char *data; // NULL means "absent", which is not the same as empty
    size_t len;
} Str;

#define STR(literal) ((Str){(literal), sizeof(literal) - 1})
#define STR_NULL     ((Str){NULL, 0})
// For printf("%.*s", STR_ARG(s)).
#define STR_ARG(s) (int)(s).len, (s).data ? (s).data : ""

static inline Str str_from(const char *text) { return (Str){text, text ? strlen(text) : 0}; }
static inline bool str_is_null(Str s) { return s.data == NULL; }
static inline bool str_equal(Str a, Str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}
// Same bytes, and the same answer to "is it there at all".
static inline bool str_same(Str a, Str b) {
    return (a.data == NULL) == (b.data == NULL) && str_equal(a, b);
}
int str_compare(Str a, Str b); // by bytes, shorter first; like memcmp
bool str_starts_with(Str s, Str prefix);
Str str_trim(Str s); // ASCII white space
// Takes the piece before the next separator off *left, which becomes null after the last one.
// False when *left was null.
bool str_split(Str *left, char separator, Str *ret_piece);
