// Hexadecimal digits: bytes as text, two lower-case digits each, and back.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// 0 … 15, of either case; -1: it is no digit.
static inline int hex_value(uint32_t c) {
    if (c >= '0' && c <= '9') return (int)(c - '0');
    if (c >= 'a' && c <= 'f') return (int)(c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (int)(c - 'A' + 10) : -1;
}
// The byte of the two digits at `text`; -1: they are none.
static inline int hex_byte(const char *text) {
    int high = hex_value((unsigned char)text[0]);
    int low = high < 0 ? -1 : hex_value((unsigned char)text[1]);
    return low < 0 ? -1 : high << 4 | low;
}
// Writes 2 * size digits, without an end.
void hex_write(char *ret_text, const uint8_t *bytes, size_t size);
