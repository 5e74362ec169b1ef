// Powers of ten to 128 bits; private to number_format.c and number_parse.c.
#pragma once
#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 Wide;

enum { POWER_MIN = -342, POWER_MAX = 324, POWER_EXACT_MAX = 55 };

typedef struct PowerOfTen {
    uint64_t high; // top bit set
    uint64_t low;
} PowerOfTen;

extern const PowerOfTen power_table[POWER_MAX - POWER_MIN + 1];

static inline PowerOfTen power_of_ten(int exponent) { return power_table[exponent - POWER_MIN]; }
static inline bool power_is_exact(int exponent) {
    return exponent >= 0 && exponent <= POWER_EXACT_MAX;
}
// floor(log2(10^exponent)), for |exponent| up to 1233.
static inline int power_log2(int exponent) { return (exponent * 1741647) >> 19; }
