// Output: tables that fit the terminal, JSON, and the words people read times by.
//
//   [output-1] Colours only on a terminal, and not when NO_COLOR is set or TERM is "dumb".
//   [output-2] A line of a table is never wider than the terminal; off a terminal nothing is cut.
//   [output-3] What comes from outside cannot steer the terminal: control characters are shown as
//        "?".
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "base/containers/vec.h"
#include "json/value.h"
#include <stdio.h>

typedef enum OutputFormat { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_IDS } OutputFormat;

typedef enum Paint {
    PAINT_NONE,
    PAINT_BOLD,
    PAINT_DIM,
    PAINT_RED,
    PAINT_GREEN,
    PAINT_YELLOW,
    PAINT_BLUE,
    PAINT_CYAN,
    PAINT_COUNT
} Paint;

typedef struct Terminal {
    bool is_terminal;
    bool has_color;
    size_t width; // columns; 0: no limit
} Terminal;

Terminal terminal_look(FILE *file);
// Columns a text takes, control characters as one each.
size_t text_width(Str text);

typedef struct TableColumn {
    const char *title;
    bool is_right;    // numbers
    bool is_flexible; // gives way first when the table is too wide
} TableColumn;

typedef struct TableCell {
    Str text; // must live until the table is printed; null shows as "-"
    Paint paint;
} TableCell;

typedef struct TextTable {
    const TableColumn *columns;
    size_t column_count;
    VEC(TableCell) cells; // row by row
    bool has_no_titles;   // rows alone
} TextTable;

void table_init(TextTable *table, const TableColumn *columns, size_t column_count);
void table_add(TextTable *table, Str text); // the next cell
void table_add_painted(TextTable *table, Str text, Paint paint);
void table_print(const TextTable *table, FILE *file, Terminal terminal);
void table_done(TextTable *table);

// Appends `text`, [output-3], cut to `width` columns with an ellipsis (0: not cut).
void output_clean(Buf *buf, Str text, size_t width);
void output_painted(Buf *buf, Terminal terminal, Paint paint, Str text);
Paint output_status_paint(Str status);                // of a run or a task
void output_json(FILE *file, const JsonValue *value); // indented, and a newline
void output_json_line(FILE *file, Str json);          // as it is, but for what steers terminals
void output_id(FILE *file, Str id);                   // one of -o ids, on a line [output-3]

// "3m ago", "in 2h", "now"; "-" for 0.
Str output_relative(Arena *arena, int64_t now_ms, int64_t at_ms);
Str output_duration(Arena *arena, int64_t duration_ms); // "90s", "3m", "36h", "12d"

// ---- members of answers; absent and null are null, 0, false ----
Str field_text(const JsonValue *object, const char *name);   // of a number: its literal
int64_t field_ms(const JsonValue *object, const char *name); // an instant
int64_t field_count(const JsonValue *object, const char *name);
bool field_flag(const JsonValue *object, const char *name);
