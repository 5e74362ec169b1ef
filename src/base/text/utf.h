// UTF-8 and UTF-16.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

// The length of the valid UTF-8 prefix; == s.len when all is valid (no surrogates, no overlongs).
size_t utf8_valid_prefix(Str s);
static inline bool utf8_is_valid(Str s) { return utf8_valid_prefix(s) == s.len; }
// The length of the well-formed sequence that starts at `at`; 0 when there is none.
size_t utf8_sequence_len(const char *at, const char *end);
// Decodes one code point of valid UTF-8 and moves *at past it.
uint32_t utf8_decode(const char **at, const char *end);
// Writes 1-4 bytes, answers how many. Encodes lone surrogates as three bytes (WTF-8).
size_t utf8_encode(uint32_t code_point, char ret_bytes[4]);
// What must not reach a terminal or a log as it is: control characters of both blocks (the second
// has an escape of its own), separators of lines, and the marks that turn the direction of a line.
bool utf_is_control(uint32_t code_point);
