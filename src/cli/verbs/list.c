// Lists over the API's pages.
//
// Invariants [list-1] to [list-3] are in list.h.
//
// Pages are kept until all are there, because a table's columns are as wide as its widest cell.
//
// Not here: filters and columns (the commands).
#include "cli/verbs/list.h"
#include "base/assert.h"
#include "base/containers/map.h"
#include "json/write.h"

enum { PAGE_MAX = 1000, LIST_OUTPUT_MAX = 512 << 20 };

static Str page_path(Session *session, const Listing *listing, uint64_t left, Str cursor) {
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path, listing->path);
    if (listing->limit > 0) {
        uint64_t limit = left < PAGE_MAX ? left : PAGE_MAX;
        Str count = arena_printf(&session->arena, "%llu", (unsigned long long)limit);
        client_put_query(&path, "limit", count);
        client_put_query(&path, "cursor", cursor);
    }
    Str answer = arena_str(&session->arena, buf_str(&path));
    buf_done(&path);
    return answer;
}

typedef struct Failures { // of --where, over all pages
    int64_t looked_at;
    int64_t count;
    Str first;
} Failures;

static void note_failures(Session *session, Failures *failures) {
    const JsonValue *where = json_member(session->answer.json, STR("where"));
    if (where == NULL) return;
    failures->looked_at += field_count(where, "looked_at");
    int64_t count = field_count(where, "errors");
    if (failures->count == 0 && count > 0) failures->first = field_text(where, "first_error");
    failures->count += count;
}

bool list_gather(Session *session, const Listing *listing, ListItems *items, Str *ret_next) {
    Str cursor = listing->cursor;
    Failures failures = {0};
    do {
        uint64_t left = listing->limit - items->count;
        if (!session_get(session, page_path(session, listing, left, cursor))) return false;
        const JsonValue *page = json_member(session->answer.json, STR("items"));
        if (page != NULL)
            JSON_EACH (item, page) vec_push(items, item);
        cursor = field_text(session->answer.json, "next");
        note_failures(session, &failures);
        // A page may be empty and not the last: nothing of what was looked at passed the filters.
    } while (!str_is_null(cursor) && items->count < listing->limit); // [list-1]
    *ret_next = cursor;
    if (failures.count > 0)
        fprintf(stderr, "the expression failed in %lld of %lld runs, first with: %.*s\n",
                (long long)failures.count, (long long)failures.looked_at, STR_ARG(failures.first));
    return true;
}

static void print_json(const ListItems *items, Str next) {
    Buf text;
    JsonWriter writer;
    buf_init(&text, LIST_OUTPUT_MAX);
    json_writer_init(&writer, &text, STR("  "));
    json_write_object_begin(&writer);
    json_write_key(&writer, STR("items"));
    json_write_array_begin(&writer);
    for (size_t i = 0; i < items->count; i++) json_write_value(&writer, items->data[i]);
    json_write_array_end(&writer);
    json_put_string(&writer, "next", next);
    json_write_object_end(&writer);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

static void add_cell(Session *session, TextTable *table, const ListColumn *column,
                     const JsonValue *item) {
    const JsonValue *value;
    Str text = STR_NULL;
    if (column->text != NULL) text = column->text(session, item);
    else switch (column->kind) {
        case CELL_TEXT:
        case CELL_STATUS: text = field_text(item, column->field); break;
        case CELL_AGE:
            text = output_relative(&session->arena, session->now_ms, field_ms(item, column->field));
            break;
        case CELL_JSON:
            value = json_member(item, str_from(column->field));
            if (value != NULL) text = value->raw;
            break;
        }
    bool is_status = column->kind == CELL_STATUS;
    table_add_painted(table, text, is_status ? output_status_paint(text) : PAINT_NONE);
}

static void print_table(Session *session, const Listing *listing, const ListItems *items) {
    TextTable table;
    TableColumn columns[LIST_COLUMNS_MAX];
    ASSERT(listing->column_count <= LIST_COLUMNS_MAX);
    for (size_t i = 0; i < listing->column_count; i++) columns[i] = listing->columns[i].column;
    table_init(&table, columns, listing->column_count);
    table.has_no_titles = listing->has_no_titles;
    for (size_t i = 0; i < items->count; i++)
        for (size_t k = 0; k < listing->column_count; k++)
            add_cell(session, &table, &listing->columns[k], items->data[i]);
    table_print(&table, stdout, session->terminal);
    table_done(&table);
}

// [list-3]
static void print_ids(const Listing *listing, const ListItems *items) {
    StrMap printed;
    strmap_init(&printed);
    for (size_t i = 0; i < items->count; i++) {
        Str id = field_text(items->data[i], listing->id_field);
        if (strmap_put(&printed, id, &printed) == NULL) output_id(stdout, id);
    }
    strmap_done(&printed);
}

void list_print(Session *session, const Listing *listing, const ListItems *items, Str next) {
    switch (session->format) {
    case OUTPUT_JSON: print_json(items, next); break;
    case OUTPUT_TABLE: print_table(session, listing, items); break;
    case OUTPUT_IDS: print_ids(listing, items); break;
    }
    if (str_is_null(next) || session->format == OUTPUT_JSON) return;
    fflush(stdout); // [list-2]
    fprintf(stderr, "there is more: --cursor %.*s goes on, a larger --limit shows more\n",
            STR_ARG(next));
}

bool list_show(Session *session, const Listing *listing) {
    ListItems items = {0};
    Str next = STR_NULL;
    bool is_ok = list_gather(session, listing, &items, &next);
    if (is_ok) list_print(session, listing, &items, next);
    vec_free(&items);
    return is_ok;
}
