// Hover, definitions and the outline of a text.
//
// Each takes the whole text apart anew: a text of a thousand lines takes less than a millisecond,
// and nothing can be out of date then. A word after a dot is a member, and means nothing that the
// text declares.
//
// Not here: completion (complete.c), findings (diagnose.c).
#include "cli/lsp/lsp.h"
#include "cli/lsp/place.h"
#include "cli/lsp/symbol.h"

typedef struct Word { // what stands at the position that a request asks about
    Scan scan;
    Symbols symbols;
    uint32_t token; // SCAN_NONE: no word
} Word;

static Word find_word(const LspRequest *request) {
    Word word;
    scan_text(&word.scan, buf_str(&request->document->text), request->arena);
    symbols_find(&word.symbols, &word.scan, request->arena);
    word.token = scan_word_at(&word.scan, request->offset);
    return word;
}

// ---- hover ----

static const char *result_text(FlowApiResult result) {
    switch (result) {
    case API_RESULT_VALUE: return "Returns a value.";
    case API_RESULT_HANDLE: return "Returns a promise with an `id`.";
    case API_RESULT_PROMISE: return "Returns a promise.";
    default: return NULL;
    }
}

static void append_options(Buf *text, const FlowApiMember *member, Arena *arena) {
    PlaceOptions options = {.call = str_from(member->call), .prefix = STR("")};
    options.fields = flow_api_options(member);
    PlaceOption option;
    for (size_t i = 0; options.fields && place_option(&options, i, arena, &option); i++)
        buf_printf(text, "%s- `%s`: %.*s. %s\n", i == 0 ? "\n\nOptions:\n\n" : "", option.name,
                   STR_ARG(option.detail), option.about ? option.about : "");
}

static void append_about(Buf *text, const char *about) {
    if (about) buf_printf(text, "\n\n%s", about);
}

static void hover_member(Buf *text, Str object_name, Str name, Arena *arena) {
    const FlowApiObject *object = flow_api_object(object_name);
    const FlowApiMember *member = object ? flow_api_member(object, name) : NULL;
    if (!member) return;
    Str path = arena_printf(arena, "%s.%s", object->name, member->name);
    Str title = member->call ? place_signature(member, arena) : path;
    buf_printf(text, "```js\n%.*s\n```", STR_ARG(title));
    append_about(text, flow_api_about_member(arena_cstr(arena, path)));
    append_about(text, result_text(member->result));
    if (member->call) append_options(text, member, arena);
}

static void hover_option(Buf *text, const PlaceOptions *options, Str name, Arena *arena) {
    PlaceOption option;
    for (size_t i = 0; place_option(options, i, arena, &option); i++) {
        if (!str_equal(name, str_from(option.name))) continue;
        buf_printf(text, "`%.*s%s` of `%.*s`: %.*s", STR_ARG(options->prefix), option.name,
                   STR_ARG(options->call), STR_ARG(option.detail));
        append_about(text, option.about);
    }
}

static Str line_of(Str text, uint32_t offset) {
    size_t start = offset, end = offset;
    while (start > 0 && text.data[start - 1] != '\n') start--;
    while (end < text.len && text.data[end] != '\n' && end - start < 200) end++;
    return str_trim((Str){text.data + start, end - start});
}

static void hover_name(Buf *text, const Word *word, Arena *arena) {
    Str name = scan_str(&word->scan, word->token);
    const Symbol *symbol = symbol_meant(&word->symbols, &word->scan, word->token);
    if (symbol) {
        Str line = line_of(word->scan.text, word->scan.tokens[symbol->name].start);
        buf_printf(text, "%s `%.*s`\n\n```js\n%.*s\n```", symbol_keyword(symbol), STR_ARG(name),
                   STR_ARG(line));
    } else if (flow_api_object(name)) {
        const FlowApiObject *object = flow_api_object(name);
        buf_printf(text, "```js\n%s\n```", object->name);
        append_about(text, flow_api_about_member(object->name));
        for (const FlowApiMember *member = object->members; member->name; member++)
            buf_printf(text, "%s`%s`", member == object->members ? "\n\n" : ", ", member->name);
    } else if (flow_api_function(name)) {
        const FlowApiMember *function = flow_api_function(name);
        buf_printf(text, "```js\n%.*s\n```", STR_ARG(place_signature(function, arena)));
        append_about(text, flow_api_about_member(function->name));
    }
}

void lsp_hover(const LspRequest *request, JsonWriter *json) {
    Word word = find_word(request);
    Place place = {.kind = PLACE_NOWHERE};
    Buf text;
    buf_init(&text, 1 << 16);
    if (word.token != SCAN_NONE) place_of_word(&word.scan, word.token, request->arena, &place);
    Str name = scan_str(&word.scan, word.token);
    if (place.kind == PLACE_MEMBER) hover_member(&text, place.object, name, request->arena);
    else if (place.kind == PLACE_OPTION) hover_option(&text, &place.options, name, request->arena);
    else if (place.kind == PLACE_NAME) hover_name(&text, &word, request->arena);
    if (text.len == 0) {
        json_write_null(json);
    } else {
        const ScanToken *token = &word.scan.tokens[word.token];
        json_write_object_begin(json);
        json_write_key(json, STR("contents"));
        json_write_object_begin(json);
        json_put_cstr(json, "kind", "markdown");
        json_put_string(json, "value", buf_str(&text));
        json_write_object_end(json);
        position_put_range(json, "range", request->document, (Range){token->start, token->end});
        json_write_object_end(json);
    }
    buf_done(&text);
}

// ---- definitions ----

void lsp_definition(const LspRequest *request, JsonWriter *json) {
    Word word = find_word(request);
    uint32_t token = word.token;
    bool is_member = token != SCAN_NONE && token > 0 &&
                     (scan_is(&word.scan, token - 1, ".") || scan_is(&word.scan, token - 1, "?."));
    const Symbol *symbol = NULL;
    if (token != SCAN_NONE && !is_member) symbol = symbol_meant(&word.symbols, &word.scan, token);
    if (!symbol) {
        json_write_null(json);
        return;
    }
    const ScanToken *name = &word.scan.tokens[symbol->name];
    json_write_object_begin(json);
    json_put_cstr(json, "uri", request->document->uri);
    position_put_range(json, "range", request->document, (Range){name->start, name->end});
    json_write_object_end(json);
}

// ---- outline ----

static int64_t symbol_kind(const Symbol *symbol) { // of the protocol
    switch (symbol->kind) {
    case SYMBOL_WORKFLOW: return 2; // module
    case SYMBOL_FUNCTION: return 12;
    case SYMBOL_CLASS: return 5;
    default: return 13;
    }
}

static bool is_in_outline(const Symbol *symbol) {
    if (symbol->kind == SYMBOL_PARAMETER) return false;
    return symbol->kind != SYMBOL_VARIABLE || symbol->block == SCAN_NONE;
}

void lsp_symbols(const LspRequest *request, JsonWriter *json) {
    Word word = find_word(request);
    const Scan *scan = &word.scan;
    json_write_array_begin(json);
    for (size_t i = 0; i < word.symbols.count; i++) {
        const Symbol *symbol = &word.symbols.items[i];
        if (!is_in_outline(symbol)) continue;
        const ScanToken *name = &scan->tokens[symbol->name];
        json_write_object_begin(json);
        json_put_string(json, "name", scan_str(scan, symbol->name));
        json_put_i64(json, "kind", symbol_kind(symbol));
        position_put_range(
            json, "range", request->document,
            (Range){scan->tokens[symbol->keyword].start, scan->tokens[symbol->last].end});
        position_put_range(json, "selectionRange", request->document,
                           (Range){name->start, name->end});
        json_write_object_end(json);
    }
    json_write_array_end(json);
}
