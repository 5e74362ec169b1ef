// Toml: the text of a settings file as a tree in an arena.
//
// TOML 1.0: comments, tables, dotted and quoted keys, strings of all four kinds, integers (also
// 0x, 0o, 0b and with underscores), floats, booleans, arrays, inline tables. Dates and arrays of
// tables are refused by name, because no setting is one.
//
//   [toml-1] A key is given once, and a table is defined once: by its header, by the dotted keys
//        that stand below one header, or by braces. Who is defined may get sub-tables by further
//        headers, but no further keys. Tables that are only on the way to others are open.
//   [toml-2] Every value knows the line and column of its key, so that who reads it can say where.
//   [toml-3] Nesting has a ceiling (TOML_DEPTH_MAX), and so has the text (TOML_SIZE_MAX).
#pragma once
#include "base/arena.h"
#include "base/diag.h"

enum { TOML_DEPTH_MAX = 16, TOML_SIZE_MAX = 1 << 20 };

typedef enum TomlKind {
    TOML_STRING,
    TOML_INTEGER,
    TOML_FLOAT,
    TOML_BOOL,
    TOML_ARRAY,
    TOML_TABLE,
    TOML_KIND_COUNT
} TomlKind;

typedef struct TomlValue {
    TomlKind kind;
    bool has_header;        // [toml-1] "[name]" stood there
    bool is_closed;         // [toml-1] an inline table: nothing may be added
    size_t dotted_below;    // [toml-1] the header below which dotted keys define it; 0 = none do
    Str key;                // of a member of a table; else null
    size_t line, column;    // [toml-2] from 1
    struct TomlValue *next; // the next item or member
    struct TomlValue *first, *last;
    Str string;
    int64_t integer; // also of a boolean: 0 or 1
    double number;
} TomlValue;

#define TOML_EACH(item, container)                                                                 \
    for (const TomlValue *item = (container)->first; item; item = item->next)

// "string", "integer", "float", "boolean", "array", "table".
const char *toml_kind_name(TomlKind kind);
// The root table. ERR_INVALID, code BAD_TOML: "FILE:LINE:COLUMN: what is wrong".
MUST_CHECK Status toml_parse(Arena *arena, const char *file, Str text, TomlValue **ret_root,
                             Diag *diag);
