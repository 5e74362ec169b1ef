// Failures as text.
//
// A run keeps {"type", "message", "code", "stack", "value"}, where "value" is what was thrown, with
// its properties and its cause; a task keeps what its worker said. Both are walked alike.
//   [failure-1] Nothing is cut: a message may be long, and the reader has nothing else.
//   [failure-2] Causes are followed to CAUSES_MAX: data made by hand may be deeper than anybody
//        reads.
//
// Not here: what to do about it (runs/next.c).
#include "cli/runs/failure.h"
#include "base/array.h"
#include "cli/output/output.h"

enum { CAUSES_MAX = 16, EXCERPT_WIDTH = 160, NUMBER_WIDTH = 5, DIGITS_MAX = 9 };

static void append_spaces(Buf *text, size_t count) {
    for (size_t i = 0; i < count; i++) buf_append_char(text, ' ');
}

// Line by line, each clean, those after the first indented; ends with a newline.
static void append_lines(Buf *text, Str lines, size_t indent) {
    Str left = lines, line;
    bool is_first = true;
    while (str_split(&left, '\n', &line)) {
        if (!is_first) append_spaces(text, indent);
        output_clean(text, line, 0);
        buf_append_char(text, '\n');
        is_first = false;
    }
}

static Str type_of(const JsonValue *error) {
    Str type = field_text(error, "type");
    return str_is_null(type) ? field_text(error, "name") : type;
}

Str failure_headline(Arena *arena, const JsonValue *error) {
    Str type = type_of(error), message = field_text(error, "message");
    if (str_is_null(message)) return error != NULL ? error->raw : STR("no reason is recorded");
    if (str_is_null(type)) return message;
    return arena_printf(arena, "%.*s: %.*s", STR_ARG(type), STR_ARG(message));
}

// What was thrown, when it is an object: a failed run has it in "value".
static const JsonValue *thrown_of(const JsonValue *error) {
    const JsonValue *value = json_member(error, STR("value"));
    bool is_thrown = value != NULL && value->kind == JSON_KIND_OBJECT &&
                     json_member(value, STR("message")) != NULL;
    return is_thrown ? value : error;
}

static bool is_shown_already(Str key) {
    static const char *const known[] = {"type",  "name", "message",  "stack",  "value",
                                        "cause", "task", "workflow", "errors", "retryable"};
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_equal(key, str_from(known[i]))) return true;
    return false;
}

// "code: DECLINED", one line per further member that says something.
static void append_members(Buf *text, const JsonValue *error, size_t indent) {
    JSON_EACH (member, thrown_of(error)) {
        bool is_empty = member->kind == JSON_KIND_NULL || str_equal(member->raw, STR("0"));
        if (is_empty || is_shown_already(member->key)) continue;
        append_spaces(text, indent);
        output_clean(text, member->key, 0);
        buf_append_cstr(text, ": ");
        bool is_text = member->kind == JSON_KIND_STRING;
        output_clean(text, is_text ? member->string : member->raw, 0);
        buf_append_char(text, '\n');
    }
}

static const JsonValue *cause_of(const JsonValue *error) {
    const JsonValue *cause = json_member(error, STR("cause"));
    if (cause == NULL) cause = json_member(thrown_of(error), STR("cause"));
    return cause != NULL && cause->kind != JSON_KIND_NULL ? cause : NULL;
}

// The error itself, without its causes.
static void append_one(Buf *text, const JsonValue *error, size_t indent) {
    Arena arena;
    arena_init(&arena);
    Str stack = field_text(error, "stack");
    append_lines(text, stack.len > 0 ? stack : failure_headline(&arena, error), indent);
    arena_done(&arena);
    if (error != NULL && error->kind == JSON_KIND_OBJECT) append_members(text, error, indent + 2);
}

void failure_append(Buf *text, const JsonValue *error, size_t indent) {
    append_one(text, error, indent);
    const JsonValue *several = json_member(thrown_of(error), STR("errors"));
    if (several != NULL && several->kind == JSON_KIND_ARRAY)
        JSON_EACH (one, several) {
            append_spaces(text, indent + 2);
            buf_append_cstr(text, "one of them: ");
            append_one(text, one, indent + 2);
        }
    const JsonValue *cause = cause_of(error);
    for (size_t depth = 1; cause != NULL && depth <= CAUSES_MAX; depth++) { // [failure-2]
        append_spaces(text, indent + 2 * depth);
        buf_append_cstr(text, "caused by ");
        append_one(text, cause, indent + 2 * depth);
        cause = cause_of(cause);
    }
}

// ---- places ----

// The number behind the last colon of *text, which ends before that colon afterwards.
static bool take_number(Str *text, int64_t *ret_number) {
    size_t start = text->len;
    while (start > 0 && text->data[start - 1] >= '0' && text->data[start - 1] <= '9') start--;
    size_t digits = text->len - start;
    bool is_one = digits > 0 && digits <= DIGITS_MAX && start > 0 && text->data[start - 1] == ':';
    if (!is_one) return false;
    *ret_number = 0;
    for (size_t i = start; i < text->len; i++)
        *ret_number = *ret_number * 10 + (text->data[i] - '0');
    text->len = start - 1;
    return true;
}

// "    at async inner (saga.flow:2:13)" or "    at saga.flow:9:1"
static bool read_frame(Str line, FailurePlace *ret_place) {
    static const char *const words[] = {"    at ", "async ", "new "};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        size_t len = strlen(words[i]);
        bool is_there = str_starts_with(line, str_from(words[i]));
        if (is_there) line = (Str){line.data + len, line.len - len};
        else if (i == 0) return false;
    }
    if (line.len > 0 && line.data[line.len - 1] == ')') {
        size_t open = line.len;
        while (open > 0 && line.data[open - 1] != '(') open--;
        line = (Str){line.data + open, line.len - 1 - open};
    }
    FailurePlace place;
    if (!take_number(&line, &place.column) || !take_number(&line, &place.line)) return false;
    place.file = line;
    *ret_place = place;
    return line.len > 0 && place.line > 0 && place.column > 0;
}

bool failure_place(const JsonValue *error, FailurePlace *ret_place) {
    Str left = field_text(error, "stack"), line;
    while (str_split(&left, '\n', &line))
        if (read_frame(line, ret_place)) return true;
    return false;
}

static bool find_line(Str source, int64_t number, Str *ret_line) {
    Str left = source;
    for (int64_t i = 0; i < number; i++)
        if (!str_split(&left, '\n', ret_line)) return false;
    return true;
}

void failure_append_excerpt(Buf *text, Str source, const FailurePlace *place, size_t indent) {
    Str line;
    if (source.len == 0 || !find_line(source, place->line, &line)) return;
    Buf shown;
    buf_init(&shown, FAILURE_TEXT_MAX);
    for (size_t i = 0; i < line.len; i++) // a tab is one column, as in the stack
        buf_append_char(&shown, line.data[i] == '\t' ? ' ' : line.data[i]);
    append_spaces(text, indent + NUMBER_WIDTH - 2);
    buf_append_cstr(text, "--> ");
    output_clean(text, place->file, 0);
    buf_printf(text, ":%lld:%lld\n", (long long)place->line, (long long)place->column);
    append_spaces(text, indent);
    buf_printf(text, "%*lld | ", NUMBER_WIDTH, (long long)place->line);
    output_clean(text, buf_str(&shown), EXCERPT_WIDTH);
    buf_append_char(text, '\n');
    if (place->column <= EXCERPT_WIDTH && (size_t)place->column <= line.len + 1) {
        append_spaces(text, indent + NUMBER_WIDTH);
        buf_append_cstr(text, " | ");
        append_spaces(text, (size_t)place->column - 1);
        buf_append_cstr(text, "^\n");
    }
    buf_done(&shown);
}
