// Tables, colours, times and JSON for people and programs.
//
// Widths count terminal columns, not bytes: wide and combining characters are measured with
// wcwidth in a UTF-8 locale of our own, whatever the user's is.
//
// Invariants [output-1]-[output-3] are in output.h.
//
// Not here: which columns (the commands), errors and exit codes (session.c).
#include "cli/output/output.h"
#include "base/array.h"
#include "base/text/utf.h"
#include "base/time/duration.h"
#include "json/write.h"
#include <locale.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { COLUMN_GAP = 2, COLUMN_MIN = 6, OUTPUT_MAX = 512 << 20, DEFAULT_WIDTH = 80 };

static const char *const paint_codes[PAINT_COUNT] = {
    [PAINT_NONE] = "",         [PAINT_BOLD] = "\033[1m",   [PAINT_DIM] = "\033[2m",
    [PAINT_RED] = "\033[31m",  [PAINT_GREEN] = "\033[32m", [PAINT_YELLOW] = "\033[33m",
    [PAINT_BLUE] = "\033[34m", [PAINT_CYAN] = "\033[36m",
};

// ---- the terminal ----

static size_t look_for_width(int fd) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char *text = getenv("COLUMNS");
    size_t width = 0;
    for (; text != NULL && *text >= '0' && *text <= '9' && width < 100000; text++)
        width = width * 10 + (size_t)(*text - '0');
    return width > 0 ? width : DEFAULT_WIDTH;
}

Terminal terminal_look(FILE *file) {
    setlocale(LC_CTYPE, "C.UTF-8");
    int fd = fileno(file);
    if (!isatty(fd)) return (Terminal){0};
    const char *plain = getenv("NO_COLOR"), *kind = getenv("TERM");
    bool is_plain = (plain != NULL && plain[0] != 0) || (kind != NULL && strcmp(kind, "dumb") == 0);
    return (Terminal){.is_terminal = true, .has_color = !is_plain, .width = look_for_width(fd)};
}

// ---- text ----

// Columns of the character at *at, which is moved past it; *ret_is_shown is false for what must
// not reach a terminal as it is.
static size_t step(const char **at, const char *end, bool *ret_is_shown) {
    size_t len = utf8_sequence_len(*at, end);
    *ret_is_shown = false;
    if (len == 0) {
        *at += 1;
        return 1;
    }
    uint32_t code = utf8_decode(at, end);
    if (utf_is_control(code)) return 1;
    *ret_is_shown = true;
    int width = wcwidth((wchar_t)code);
    return width < 0 ? 1 : (size_t)width;
}

size_t text_width(Str text) {
    size_t width = 0;
    bool is_shown;
    for (const char *at = text.data, *end = at + text.len; at < end;)
        width += step(&at, end, &is_shown);
    return width;
}

void output_clean(Buf *buf, Str text, size_t width) {
    bool is_cut = width > 0 && text_width(text) > width;
    size_t room = is_cut ? width - 1 : SIZE_MAX, used = 0;
    for (const char *at = text.data, *end = at + text.len; at < end;) {
        const char *from = at;
        bool is_shown;
        used += step(&at, end, &is_shown);
        if (used > room) break;
        if (is_shown) buf_append(buf, from, (size_t)(at - from));
        else buf_append_char(buf, '?'); // [output-3]
    }
    if (is_cut) buf_append_cstr(buf, "…");
}

void output_painted(Buf *buf, Terminal terminal, Paint paint, Str text) {
    bool is_painted = terminal.has_color && paint != PAINT_NONE;
    if (is_painted) buf_append_cstr(buf, paint_codes[paint]);
    output_clean(buf, text, 0);
    if (is_painted) buf_append_cstr(buf, "\033[0m");
}

Paint output_status_paint(Str status) {
    static const struct {
        const char *name;
        Paint paint;
    } paints[] = {
        {"completed", PAINT_GREEN}, {"failed", PAINT_RED},     {"cancelled", PAINT_YELLOW},
        {"paused", PAINT_YELLOW},   {"running", PAINT_CYAN},   {"leased", PAINT_CYAN},
        {"suspended", PAINT_BLUE},  {"pending", PAINT_DIM},    {"queued", PAINT_DIM},
        {"ok", PAINT_GREEN},        {"warning", PAINT_YELLOW}, {"error", PAINT_RED},
    };
    for (size_t i = 0; i < COUNT_OF(paints); i++)
        if (str_equal(status, str_from(paints[i].name))) return paints[i].paint;
    return PAINT_NONE;
}

// ---- tables ----

void table_init(TextTable *table, const TableColumn *columns, size_t column_count) {
    *table = (TextTable){.columns = columns, .column_count = column_count};
}

void table_add_painted(TextTable *table, Str text, Paint paint) {
    vec_push(&table->cells, (TableCell){str_is_null(text) ? STR("-") : text, paint});
}

void table_add(TextTable *table, Str text) { table_add_painted(table, text, PAINT_NONE); }

void table_done(TextTable *table) { vec_free(&table->cells); }

// The widest column that may still give way; SIZE_MAX: none.
static size_t find_giver(const TextTable *table, const size_t *widths, bool is_flexible) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < table->column_count; i++) {
        bool may = widths[i] > COLUMN_MIN && (!is_flexible || table->columns[i].is_flexible);
        if (may && (found == SIZE_MAX || widths[i] > widths[found])) found = i;
    }
    return found;
}

static void fit_widths(const TextTable *table, size_t limit, size_t *widths) {
    size_t count = table->column_count;
    size_t total = COLUMN_GAP * (count - 1);
    for (size_t i = 0; i < count; i++) total += widths[i];
    while (limit > 0 && total > limit) {
        size_t giver = find_giver(table, widths, true);
        if (giver == SIZE_MAX) giver = find_giver(table, widths, false);
        if (giver == SIZE_MAX) return; // the line itself is cut
        widths[giver]--;
        total--;
    }
}

static void append_cell(Buf *line, const TableColumn *column, TableCell cell, size_t width,
                        bool has_color) {
    Buf text;
    buf_init(&text, OUTPUT_MAX);
    output_clean(&text, cell.text, width);
    size_t used = text_width(buf_str(&text));
    bool is_painted = has_color && cell.paint != PAINT_NONE;
    size_t pad = used < width ? width - used : 0;
    for (size_t i = 0; column->is_right && i < pad; i++) buf_append_char(line, ' ');
    if (is_painted) buf_append_cstr(line, paint_codes[cell.paint]);
    buf_append_str(line, buf_str(&text));
    if (is_painted) buf_append_cstr(line, "\033[0m");
    for (size_t i = 0; !column->is_right && i < pad; i++) buf_append_char(line, ' ');
    buf_append_cstr(line, "  ");
    buf_done(&text);
}

static void print_row(const TextTable *table, const TableCell *cells, const size_t *widths,
                      FILE *file, Terminal terminal) {
    Buf line;
    buf_init(&line, OUTPUT_MAX);
    size_t used = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (terminal.width > 0 && used + widths[i] > terminal.width) break; // [output-2]
        append_cell(&line, &table->columns[i], cells[i], widths[i], terminal.has_color);
        used += widths[i] + COLUMN_GAP;
    }
    while (line.len > 0 && line.data[line.len - 1] == ' ') line.len--;
    buf_append_char(&line, '\n');
    fwrite(line.data, 1, line.len, file);
    buf_done(&line);
}

void table_print(const TextTable *table, FILE *file, Terminal terminal) {
    size_t count = table->column_count;
    ASSERT(table->cells.count % count == 0);
    Arena arena;
    arena_init(&arena);
    size_t *widths = ARENA_ARRAY(&arena, size_t, count);
    TableCell *titles = ARENA_ARRAY(&arena, TableCell, count);
    for (size_t i = 0; i < count; i++) {
        titles[i] = (TableCell){str_from(table->columns[i].title), PAINT_BOLD};
        widths[i] = text_width(titles[i].text);
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        size_t width = text_width(table->cells.data[i].text);
        if (width > widths[i % count]) widths[i % count] = width;
    }
    fit_widths(table, terminal.width, widths);
    if (!table->has_no_titles) print_row(table, titles, widths, file, terminal);
    for (size_t i = 0; i < table->cells.count; i += count)
        print_row(table, &table->cells.data[i], widths, file, terminal);
    arena_done(&arena);
}

// ---- JSON ----

void output_json(FILE *file, const JsonValue *value) {
    Buf text;
    JsonWriter writer;
    buf_init(&text, OUTPUT_MAX);
    json_writer_init(&writer, &text, STR("  "));
    json_write_value(&writer, value);
    output_json_line(file, buf_str(&text));
    buf_done(&text);
}

// A program that reads ids sends them back, so it gets them as they are: marks that turn the
// direction of a line steer nothing but terminals. Control characters and ends of lines reach
// nobody.
static void append_id(Buf *line, Str id) {
    enum { CONTROLS_END = 0xA0, LINE_SEPARATOR = 0x2028, PARAGRAPH_SEPARATOR = 0x2029 };
    for (const char *at = id.data, *end = at + id.len; at < end;) {
        const char *from = at;
        uint32_t code_point = utf8_decode(&at, end);
        bool is_end = code_point == LINE_SEPARATOR || code_point == PARAGRAPH_SEPARATOR;
        bool is_control = code_point < CONTROLS_END && utf_is_control(code_point);
        if (is_control || is_end) buf_append_char(line, '?');
        else buf_append(line, from, (size_t)(at - from));
    }
}

void output_id(FILE *file, Str id) {
    Buf line;
    buf_init(&line, OUTPUT_MAX);
    bool is_shown = isatty(fileno(file)) || !utf8_is_valid(id);
    if (is_shown) output_clean(&line, id, 0);
    else append_id(&line, id);
    buf_append_char(&line, '\n');
    fwrite(line.data, 1, line.len, file);
    buf_done(&line);
}

// JSON may have DEL, C1 controls (U+009B begins a command as ESC [ does) and marks that turn the
// direction of a line within strings. Written as escapes they mean the same and steer no terminal.
void output_json_line(FILE *file, Str json) {
    const char *written = json.data;
    const char *end = json.data + json.len;
    for (const char *at = json.data; at < end;) {
        const char *from = at;
        size_t len = (unsigned char)*at < 0x7F ? 1 : utf8_sequence_len(at, end);
        uint32_t code_point = len > 0 ? utf8_decode(&at, end) : 0;
        if (len == 0) at++; // no UTF-8, and so no JSON
        else if (code_point < 0x7F || !utf_is_control(code_point)) continue;
        fwrite(written, 1, (size_t)(from - written), file);
        if (len == 0) fputc('?', file);
        else fprintf(file, "\\u%04x", (unsigned)code_point);
        written = at;
    }
    fwrite(written, 1, (size_t)(end - written), file);
    fputc('\n', file);
}

// ---- times ----

static long long rounded(int64_t value, int64_t unit) {
    return (long long)((value + unit / 2) / unit);
}

Str output_duration(Arena *arena, int64_t duration_ms) {
    const int64_t second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
    if (duration_ms < second) return arena_printf(arena, "%lldms", (long long)duration_ms);
    if (duration_ms < 2 * minute) return arena_printf(arena, "%llds", rounded(duration_ms, second));
    if (duration_ms < 2 * hour) return arena_printf(arena, "%lldm", rounded(duration_ms, minute));
    if (duration_ms < 2 * day) return arena_printf(arena, "%lldh", rounded(duration_ms, hour));
    return arena_printf(arena, "%lldd", rounded(duration_ms, day));
}

Str output_relative(Arena *arena, int64_t now_ms, int64_t at_ms) {
    if (at_ms == 0) return STR("-");
    int64_t distance_ms = at_ms - now_ms;
    if (distance_ms > -1000 && distance_ms < 1000) return STR("now");
    Str length = output_duration(arena, distance_ms < 0 ? -distance_ms : distance_ms);
    if (distance_ms < 0) return arena_printf(arena, "%.*s ago", STR_ARG(length));
    return arena_printf(arena, "in %.*s", STR_ARG(length));
}

// ---- members ----

Str field_text(const JsonValue *object, const char *name) {
    const JsonValue *value = json_member(object, str_from(name));
    if (value == NULL || value->kind == JSON_KIND_NULL) return STR_NULL;
    return value->kind == JSON_KIND_STRING ? value->string : value->raw;
}

int64_t field_ms(const JsonValue *object, const char *name) {
    int64_t at_ms = 0;
    Str text = field_text(object, name);
    if (str_is_null(text) || instant_parse(text, &at_ms, NULL) != OK) return 0;
    return at_ms;
}

int64_t field_count(const JsonValue *object, const char *name) {
    int64_t value = 0;
    if (object == NULL || json_get_i64(object, name, &value, NULL) != OK) return 0;
    return value;
}

bool field_flag(const JsonValue *object, const char *name) {
    const JsonValue *value = json_member(object, str_from(name));
    return value != NULL && value->kind == JSON_KIND_BOOL && value->boolean;
}
