// The filter language for search boxes: reads a filter without searching, and says what may follow.
//
// A filter with a mistake is an answer here, not a problem: somebody is still typing it.
//
// Not here: the language (server/filter), listing runs (routes/runs.c).
#include "server/filter/filter.h"
#include "base/array.h"
#include "server/exchange/parts.h"

enum { NAMES_SIZE_MAX = 1 << 20 }; // bytes of definitions, which have their sources with them

static const Field filter_query[] = {
    {"q", "string", false, "The filter."},
    {"at", "integer", false, "Where the cursor is, in bytes; at the end unless given."},
    {0}};

static void put_terms(JsonWriter *json, Arena *arena, const Filter *filter) {
    json_write_key(json, STR("terms"));
    json_write_array_begin(json);
    for (size_t i = 0; i < filter->count; i++) {
        const FilterTerm *term = &filter->terms[i];
        Str field = str_from(filter_field_name(term->field));
        if (term->field == FILTER_STATE)
            field = arena_printf(arena, "%.*s%.*s", STR_ARG(field), STR_ARG(term->key));
        if (term->field == FILTER_WHERE) field = STR("where");
        json_write_object_begin(json);
        json_put_i64(json, "from", (int64_t)term->from);
        json_put_i64(json, "to", (int64_t)term->to);
        json_put_string(json, "field", field);
        json_put_cstr(json, "op", filter_operator_name(term->comparison));
        json_write_key(json, STR("values"));
        json_write_array_begin(json);
        for (size_t j = 0; j < term->count; j++) json_write_string(json, term->values[j]);
        json_write_array_end(json);
        json_put_bool(json, "negated", term->is_negated);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void put_fault(JsonWriter *json, const FilterFault *fault, const Diag *diag) {
    json_write_key(json, STR("error"));
    json_write_object_begin(json);
    json_put_i64(json, "at", (int64_t)fault->at);
    json_put_i64(json, "length", (int64_t)fault->len);
    json_put_cstr(json, "detail", diag->message);
    json_put_cstr(json, "did_you_mean", fault->did_you_mean);
    json_write_object_end(json);
}

// The current ones among the newest definitions; *ret_names lives in the arena.
static size_t read_workflows(Exchange *exchange, Str **ret_names) {
    const DefinitionFilter all = {.page = {.limit = LIMIT_LIST_PAGE, .size_max = NAMES_SIZE_MAX}};
    DefinitionPage page;
    Diag diag;
    size_t count = 0;
    if (store_list_definitions(exchange_store(exchange), &exchange->arena, &all, &page, &diag) !=
        OK)
        return 0; // completions are a help, no promise
    *ret_names = ARENA_ARRAY(&exchange->arena, Str, page.count);
    for (size_t i = 0; i < page.count; i++)
        if (page.rows[i].is_current) (*ret_names)[count++] = page.rows[i].name;
    return count;
}

static void put_completions(Exchange *exchange, JsonWriter *json, Str text, size_t at) {
    FilterCursor cursor = {.text = text, .at = at};
    Str *names = NULL;
    if (filter_wants_workflows(text, at)) cursor.workflow_count = read_workflows(exchange, &names);
    cursor.workflows = names;
    FilterCompletions *found = ARENA_NEW(&exchange->arena, FilterCompletions);
    filter_complete(&exchange->arena, &cursor, found);
    json_write_key(json, STR("completions"));
    json_write_array_begin(json);
    for (size_t i = 0; i < found->count; i++) {
        json_write_object_begin(json);
        json_put_string(json, "text", found->items[i].text);
        json_put_i64(json, "from", (int64_t)found->items[i].from);
        json_put_i64(json, "to", (int64_t)found->items[i].to);
        json_put_cstr(json, "about", found->items[i].about);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void read_filter(Exchange *exchange) {
    Str text = exchange_query(exchange, "q");
    if (str_is_null(text)) text = STR("");
    int64_t at = (int64_t)text.len;
    if (!exchange_query_count(exchange, "at", (int64_t)text.len, &at)) return;
    Filter filter;
    FilterFault fault;
    Diag diag = {0};
    bool is_ok = filter_parse(&exchange->arena, text, &filter, &fault, &diag) == OK;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "ok", is_ok);
    put_terms(json, &exchange->arena, &filter);
    if (is_ok) json_put_null(json, "error");
    else put_fault(json, &fault, &diag);
    put_completions(exchange, json, text, (size_t)at);
    json_write_object_end(json);
    exchange_send(exchange);
}

static const RouteAnswer filter_answers[] = {
    {200, "Its terms, what is wrong, and what may follow.", "FilterRead"}, {0}};

static const Route routes[] = {
    {"GET", "/v1/filter", "readFilter", "Read a filter, for search boxes", SCOPE_READ, BODY_NONE,
     NULL, filter_query, filter_answers, NULL, read_filter},
};
const RouteTable routes_filter = {routes, COUNT_OF(routes)};
