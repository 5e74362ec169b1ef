// Hexadecimal digits.
//
// Lower case, as digests, trace ids and escapes of JSON are written everywhere.
//
// Not here: numbers (number_format.c).
#include "base/text/hex.h"

void hex_write(char *ret_text, const uint8_t *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        ret_text[2 * i] = digits[bytes[i] >> 4];
        ret_text[2 * i + 1] = digits[bytes[i] & 15];
    }
}
