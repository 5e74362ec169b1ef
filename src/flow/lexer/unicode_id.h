// Which characters above ASCII may begin and continue an identifier (ID_Start, ID_Continue),
// and which are white space.
#pragma once
#include <stdbool.h>
#include <stdint.h>

bool unicode_is_id_start(uint32_t code_point);    // code_point >= 0x80
bool unicode_is_id_continue(uint32_t code_point); // code_point >= 0x80; ZWNJ and ZWJ included
bool unicode_is_space(uint32_t code_point);       // category Zs, and U+FEFF
