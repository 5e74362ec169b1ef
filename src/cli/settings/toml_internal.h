// What the files of the TOML reader share. Nobody else includes this.
#pragma once
#include "cli/settings/toml.h"

typedef struct TomlReader {
    Arena *arena;
    const char *file;
    const char *start, *at, *end;
    size_t header; // 1 = before the first one, 2 = below the first one …
    Diag *diag;
} TomlReader;

// ERR_INVALID with the place of `at`; code BAD_TOML.
Status toml_fail(TomlReader *reader, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool toml_starts(const TomlReader *reader, const char *text);

// ---- toml_text.c: strings and numbers ----
// The string that begins with the quote at the reader's place; multi-line ones where allowed.
MUST_CHECK Status toml_read_string(TomlReader *reader, bool is_key, Str *ret_text);
// A number; dates are refused by name.
MUST_CHECK Status toml_read_number(TomlReader *reader, TomlValue *value);
