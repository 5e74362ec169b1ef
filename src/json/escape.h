// JSON strings: what stands between the quotes, and the bytes it means.
//
// Inside, text is WTF-8: UTF-8 in which a lone surrogate (written \ud800 in JSON) is three bytes.
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "json/read.h"

// The length of the run from `at` that needs no attention: ASCII without quote, backslash and
// control characters.
size_t json_plain_len(const char *at, const char *end);

// Decodes the raw text of a valid string; answers the number of bytes written, which is at most
// raw.len. `ret_bytes` has room for raw.len bytes and may not overlap it.
size_t json_string_decode(Str raw, char *ret_bytes);
// Without escapes the answer is `raw` itself, and lives as long as the text.
Str json_string_arena(Arena *arena, const JsonEvent *event);
// The UTF-16 units of the string, for who keeps them so; `ret_units` has room for raw.len units.
size_t json_string_decode_utf16(Str raw, uint16_t *ret_units);

// Appends `text` (WTF-8) in quotes, escaped exactly as JSON.stringify does it: \b \t \n \f \r \"
// \\, other controls and lone surrogates as \u00xx. Bytes that are not WTF-8 become \ufffd, so
// the answer is valid JSON whatever came in.
void json_append_string(Buf *buf, Str text);
void json_append_string_utf16(Buf *buf, const uint16_t *units, size_t count);
void json_append_string_latin1(Buf *buf, const uint8_t *units, size_t count);
// What JSON has for a double: number_format, or null when it is not finite.
void json_append_number(Buf *buf, double value);
