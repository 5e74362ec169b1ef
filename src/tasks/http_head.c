// The head of an answer: fields of one name are one member of the result, joined by commas.
//
// A server that we do not know writes it, so its cost is bounded:
//   [http-head-1] All lines together have at most HTTP_HEAD_MAX bytes; then the request fails.
//   [http-head-2] A line costs a lookup by hash and a small record; values are joined once, when
//        somebody asks. So memory and time grow with the bytes that arrived, not with their square.
//
// Not here: the transfer (http.c).
#include "tasks/http_head.h"

typedef struct FieldLine {
    Str text;
    struct FieldLine *next;
} FieldLine;

struct HttpField {
    Str name; // in lower case
    FieldLine first;
    FieldLine *last;
    size_t value_size; // of all lines, joined
};

static const Str separator = {", ", 2};

void http_head_init(HttpHead *head, Arena *arena) {
    *head = (HttpHead){.arena = arena};
    strmap_init(&head->by_name);
}

void http_head_done(HttpHead *head) {
    strmap_done(&head->by_name);
    vec_free(&head->fields);
}

static Str to_lower(Arena *arena, Str text) {
    char *copy = arena_cstr(arena, text);
    for (size_t i = 0; i < text.len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z') copy[i] = (char)(copy[i] - 'A' + 'a');
    return (Str){copy, text.len};
}

static void add_line(HttpHead *head, Str name, Str value) {
    value = arena_str(head->arena, value);
    HttpField *field = strmap_get(&head->by_name, name);
    if (field == NULL) {
        field = ARENA_NEW(head->arena, HttpField);
        *field = (HttpField){.name = name, .first.text = value, .value_size = value.len};
        field->last = &field->first;
        vec_push(&head->fields, field);
        (void)strmap_put(&head->by_name, field->name, field);
        return;
    }
    FieldLine *line = ARENA_NEW(head->arena, FieldLine);
    line->text = value;
    field->last = field->last->next = line;
    field->value_size += separator.len + value.len;
}

// "HTTP/1.1 302 Found"
static long read_status(Str line) {
    const char *space = memchr(line.data, ' ', line.len);
    if (space == NULL || line.data + line.len - space < 4) return 0;
    long status = 0;
    for (int i = 1; i <= 3; i++) {
        if (space[i] < '0' || space[i] > '9') return 0;
        status = status * 10 + (space[i] - '0');
    }
    return status;
}

static void begin_again(HttpHead *head, Str line) {
    strmap_done(&head->by_name);
    strmap_init(&head->by_name);
    vec_clear(&head->fields);
    head->status = read_status(line);
}

bool http_head_line(HttpHead *head, Str line) {
    head->byte_count += line.len;
    if (head->byte_count > HTTP_HEAD_MAX) return false; // [http-head-1]
    if (str_starts_with(line, STR("HTTP/"))) {
        begin_again(head, line);
        return true;
    }
    const char *colon = memchr(line.data, ':', line.len);
    if (colon == NULL) return true;
    Str name = {line.data, (size_t)(colon - line.data)};
    Str value = {colon + 1, line.len - name.len - 1};
    add_line(head, to_lower(head->arena, str_trim(name)), str_trim(value));
    return true;
}

static Str joined(Arena *arena, const HttpField *field) { // [http-head-2]
    if (field->last == &field->first) return field->first.text;
    char *text = arena_alloc(arena, field->value_size + 1);
    size_t len = 0;
    for (const FieldLine *line = &field->first; line != NULL; line = line->next) {
        if (line != &field->first) {
            memcpy(text + len, separator.data, separator.len);
            len += separator.len;
        }
        if (line->text.len > 0) memcpy(text + len, line->text.data, line->text.len);
        len += line->text.len;
    }
    text[len] = 0;
    ASSERT(len == field->value_size);
    return (Str){text, len};
}

Str http_head_value(const HttpHead *head, Str name) {
    const HttpField *field = strmap_get(&head->by_name, name);
    return field != NULL ? joined(head->arena, field) : STR_NULL;
}

void http_head_write(const HttpHead *head, JsonWriter *writer) {
    json_write_object_begin(writer);
    for (size_t i = 0; i < head->fields.count; i++) {
        json_write_key(writer, head->fields.data[i]->name);
        json_write_string(writer, joined(head->arena, head->fields.data[i]));
    }
    json_write_object_end(writer);
}
