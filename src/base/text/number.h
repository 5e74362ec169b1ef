// Numbers as text, exactly as ECMAScript and JSON have them; independent of the locale.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

enum { NUMBER_TEXT_MAX = 32 };

// Number::toString(x): the shortest text that reads back as the same double ("NaN", "Infinity",
// "0" for -0 included). Answers the length; NUL-terminated.
size_t number_format(double value, char ret_text[NUMBER_TEXT_MAX]);
size_t number_format_i64(int64_t value, char ret_text[NUMBER_TEXT_MAX]);
// The shortest digits and exponent: value = 0.d1d2d3… × 10^exponent. `value` finite and > 0.
// Answers the number of digits (at most 17).
int number_shortest_digits(double value, char ret_digits[18], int *ret_exponent);
// Reads the longest prefix that is a decimal literal ("12", "-1.5e3", ".5", "5."), correctly
// rounded. Answers how many bytes it took; 0 when there is no number.
size_t number_parse(const char *text, size_t len, double *ret_value);
// The whole of `text` as decimal digits, from 0 to `max`. False leaves *ret_value alone.
bool number_parse_count(Str text, int64_t max, int64_t *ret_value);
