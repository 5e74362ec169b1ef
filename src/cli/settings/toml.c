// Reading TOML: keys, tables, arrays.
//
// A tree is built as the text goes by: a header or a dotted key walks from the root, making the
// tables on its way. Arrays and inline tables nest to a fixed depth, so the recursion there is
// bounded. Invariants [toml-1]-[toml-3] are in toml.h.
//
// Not here: strings and numbers (toml_text.c), what the keys mean (settings.c).
#include "base/text/utf.h"
#include "cli/settings/toml_internal.h"
#include <stdarg.h>
#include <stdio.h>

static const char *const kind_names[TOML_KIND_COUNT] = {
    [TOML_STRING] = "string", [TOML_INTEGER] = "integer", [TOML_FLOAT] = "float",
    [TOML_BOOL] = "boolean",  [TOML_ARRAY] = "array",     [TOML_TABLE] = "table",
};

const char *toml_kind_name(TomlKind kind) { return kind_names[kind]; }

static void toml_place(const TomlReader *reader, const char *at, TomlValue *ret_value) {
    ret_value->line = ret_value->column = 1;
    for (const char *c = reader->start; c < at; c++) {
        if (*c == '\n') {
            ret_value->line++;
            ret_value->column = 1;
        } else if (((unsigned char)*c & 0xC0) != 0x80) { // columns count characters
            ret_value->column++;
        }
    }
}

Status toml_fail(TomlReader *reader, const char *at, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    TomlValue place;
    toml_place(reader, at, &place);
    return diag_set(reader->diag, ERR_INVALID, "BAD_TOML", "%s:%zu:%zu: %s", reader->file,
                    place.line, place.column, what);
}

bool toml_starts(const TomlReader *reader, const char *text) {
    size_t len = strlen(text);
    return (size_t)(reader->end - reader->at) >= len && memcmp(reader->at, text, len) == 0;
}

static void skip_blanks(TomlReader *reader) {
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t')) reader->at++;
}

static Status skip_comment(TomlReader *reader) {
    while (reader->at < reader->end && *reader->at != '\n') {
        unsigned char c = (unsigned char)*reader->at;
        bool is_line_end = c == '\r' && toml_starts(reader, "\r\n");
        if ((c < 0x20 && c != '\t' && !is_line_end) || c == 0x7F)
            return toml_fail(reader, reader->at, "a control character in a comment");
        reader->at++;
    }
    return OK;
}

// Blanks, comments and line ends.
static Status skip_lines(TomlReader *reader) {
    for (;;) {
        skip_blanks(reader);
        if (toml_starts(reader, "#")) TRY(skip_comment(reader));
        if (toml_starts(reader, "\r\n")) reader->at += 2;
        else if (toml_starts(reader, "\n")) reader->at++;
        else return OK;
    }
}

static Status end_line(TomlReader *reader) {
    skip_blanks(reader);
    if (toml_starts(reader, "#")) TRY(skip_comment(reader));
    if (reader->at == reader->end) return OK;
    if (toml_starts(reader, "\r\n")) reader->at += 2;
    else if (toml_starts(reader, "\n")) reader->at++;
    else return toml_fail(reader, reader->at, "the line should end here");
    return OK;
}

// ---- the tree ----

static TomlValue *find(const TomlValue *table, Str key) {
    for (TomlValue *item = table->first; item; item = item->next)
        if (str_equal(item->key, key)) return item;
    return NULL;
}

static void append(TomlValue *container, TomlValue *item) {
    if (container->last != NULL) container->last->next = item;
    else container->first = item;
    container->last = item;
}

static bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static Status read_key_part(TomlReader *reader, Str *ret_key) {
    skip_blanks(reader);
    const char *from = reader->at;
    if (from < reader->end && (*from == '"' || *from == '\''))
        return toml_read_string(reader, true, ret_key);
    while (reader->at < reader->end && is_bare(*reader->at)) reader->at++;
    if (reader->at == from) return toml_fail(reader, from, "a key is missing here");
    *ret_key = (Str){from, (size_t)(reader->at - from)};
    return OK;
}

typedef enum KeyUse { KEY_OF_HEADER, KEY_OF_PAIR } KeyUse;

// The table called `key` below *table; made when there is none.
static Status enter(TomlReader *reader, TomlValue **table, Str key, const char *at) {
    TomlValue *inner = find(*table, key);
    if (inner == NULL) {
        inner = ARENA_NEW(reader->arena, TomlValue);
        inner->kind = TOML_TABLE;
        inner->key = key;
        toml_place(reader, at, inner);
        append(*table, inner);
    } else if (inner->kind != TOML_TABLE || inner->is_closed) { // [toml-1]
        return toml_fail(reader, at, "\"%.*s\" has a value already, on line %zu", STR_ARG(key),
                         inner->line);
    }
    *table = inner;
    return OK;
}

// [toml-1] A dotted key defines the tables it passes, below the header it stands under.
static Status define_by_dots(TomlReader *reader, TomlValue *table, const char *at) {
    bool is_foreign = table->dotted_below != 0 && table->dotted_below != reader->header;
    if (table->has_header || is_foreign)
        return toml_fail(reader, at, "the table \"%.*s\" is complete, it was defined on line %zu",
                         STR_ARG(table->key), table->line);
    table->dotted_below = reader->header;
    return OK;
}

// "a.b.c": walks into the tables a and b; *ret_key is c.
static Status read_key(TomlReader *reader, KeyUse use, TomlValue **table, Str *ret_key,
                       const char **ret_at) {
    for (int depth = 0;; depth++) {
        skip_blanks(reader);
        *ret_at = reader->at;
        if (depth == TOML_DEPTH_MAX)
            return toml_fail(reader, *ret_at, "nested too deep"); // [toml-3]
        TRY(read_key_part(reader, ret_key));
        skip_blanks(reader);
        if (!toml_starts(reader, ".")) return OK;
        reader->at++;
        TRY(enter(reader, table, *ret_key, *ret_at));
        if (use == KEY_OF_PAIR) TRY(define_by_dots(reader, *table, *ret_at));
    }
}

// ---- values ----

static Status read_value(TomlReader *reader, TomlValue *value, int depth);

static Status read_array(TomlReader *reader, TomlValue *array, int depth) {
    const char *begin = reader->at++;
    array->kind = TOML_ARRAY;
    for (;;) {
        TRY(skip_lines(reader));
        if (reader->at == reader->end) return toml_fail(reader, begin, "the array does not end");
        if (toml_starts(reader, "]")) break;
        TomlValue *item = ARENA_NEW(reader->arena, TomlValue);
        toml_place(reader, reader->at, item);
        TRY(read_value(reader, item, depth + 1));
        append(array, item);
        TRY(skip_lines(reader));
        if (toml_starts(reader, ",")) reader->at++;
        else if (!toml_starts(reader, "]"))
            return toml_fail(reader, reader->at, "a comma or ] should stand here");
    }
    reader->at++;
    return OK;
}

static Status read_pair(TomlReader *reader, TomlValue *table, int depth) {
    Str key;
    const char *at;
    TRY(read_key(reader, KEY_OF_PAIR, &table, &key, &at));
    const TomlValue *known = find(table, key);
    if (known != NULL) // [toml-1]
        return toml_fail(reader, at, "\"%.*s\" is given twice, first on line %zu", STR_ARG(key),
                         known->line);
    if (!toml_starts(reader, "="))
        return toml_fail(reader, reader->at, "an = should stand behind the key \"%.*s\"",
                         STR_ARG(key));
    reader->at++;
    skip_blanks(reader);
    TomlValue *value = ARENA_NEW(reader->arena, TomlValue);
    value->key = key;
    toml_place(reader, at, value);
    TRY(read_value(reader, value, depth + 1));
    append(table, value);
    return OK;
}

static void close_tables(TomlValue *table) { // to a bounded depth [toml-3]
    table->is_closed = true;
    for (TomlValue *item = table->first; item; item = item->next)
        if (item->kind == TOML_TABLE && !item->is_closed) close_tables(item);
}

static Status read_inline_table(TomlReader *reader, TomlValue *table, int depth) {
    const char *begin = reader->at++;
    table->kind = TOML_TABLE;
    skip_blanks(reader);
    while (!toml_starts(reader, "}")) {
        if (reader->at == reader->end || *reader->at == '\n')
            return toml_fail(reader, begin, "an inline table ends on its line, with }");
        TRY(read_pair(reader, table, depth));
        skip_blanks(reader);
        if (!toml_starts(reader, ",")) {
            if (toml_starts(reader, "}")) break;
            return toml_fail(reader, reader->at, "a comma or } should stand here");
        }
        reader->at++;
        skip_blanks(reader);
        if (toml_starts(reader, "}"))
            return toml_fail(reader, reader->at, "no comma may stand before the }");
    }
    reader->at++;
    close_tables(table);
    return OK;
}

static bool take_word(TomlReader *reader, const char *word) {
    size_t len = strlen(word);
    if (!toml_starts(reader, word)) return false;
    if (reader->at + len < reader->end && is_bare(reader->at[len])) return false;
    reader->at += len;
    return true;
}

static Status read_value(TomlReader *reader, TomlValue *value, int depth) {
    if (depth > TOML_DEPTH_MAX) return toml_fail(reader, reader->at, "nested too deep"); // [toml-3]
    char c = reader->at < reader->end ? *reader->at : '\n';
    if (c == '"' || c == '\'') {
        value->kind = TOML_STRING;
        return toml_read_string(reader, false, &value->string);
    }
    if (c == '[') return read_array(reader, value, depth);
    if (c == '{') return read_inline_table(reader, value, depth);
    value->kind = TOML_BOOL;
    value->integer = 1;
    if (take_word(reader, "true")) return OK;
    value->integer = 0;
    if (take_word(reader, "false")) return OK;
    return toml_read_number(reader, value);
}

// ---- lines ----

static Status read_header(TomlReader *reader, TomlValue *root, TomlValue **ret_table) {
    const char *begin = reader->at;
    if (toml_starts(reader, "[["))
        return toml_fail(reader, begin, "arrays of tables are not used in settings");
    reader->at++;
    TomlValue *table = root;
    Str key;
    const char *at;
    TRY(read_key(reader, KEY_OF_HEADER, &table, &key, &at));
    TRY(enter(reader, &table, key, at));
    if (table->dotted_below != 0)
        return toml_fail(reader, at, "dotted keys define \"%.*s\" already, on line %zu",
                         STR_ARG(key), table->line); // [toml-1]
    if (table->has_header)
        return toml_fail(reader, at, "the table [%.*s] stands there twice, first on line %zu",
                         STR_ARG(key), table->line); // [toml-1]
    table->has_header = true;
    toml_place(reader, at, table);
    if (!toml_starts(reader, "]")) return toml_fail(reader, reader->at, "a ] should stand here");
    reader->at++;
    reader->header++;
    *ret_table = table;
    return end_line(reader);
}

Status toml_parse(Arena *arena, const char *file, Str text, TomlValue **ret_root, Diag *diag) {
    TomlReader reader = {.arena = arena,
                         .file = file,
                         .start = text.data,
                         .at = text.data,
                         .end = text.data + text.len,
                         .header = 1,
                         .diag = diag};
    if (text.len > TOML_SIZE_MAX) return toml_fail(&reader, reader.at, "the file is over 1 MiB");
    size_t valid = utf8_valid_prefix(text);
    if (valid < text.len) return toml_fail(&reader, text.data + valid, "the text is not UTF-8");
    if (toml_starts(&reader, "\xEF\xBB\xBF")) reader.at += 3; // a byte order mark
    TomlValue *root = ARENA_NEW(arena, TomlValue), *table = root;
    root->kind = TOML_TABLE;
    for (;;) {
        TRY(skip_lines(&reader));
        if (reader.at == reader.end) break;
        if (*reader.at == '[') {
            TRY(read_header(&reader, root, &table));
        } else {
            TRY(read_pair(&reader, table, 0));
            TRY(end_line(&reader));
        }
    }
    *ret_root = root;
    return OK;
}
