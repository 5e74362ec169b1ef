// Completion: members of the API after a dot, options in an options object, the values of an option
// with choices, and names everywhere else.
//
// What may stand at the cursor is decided by the text before it; the names that are offered come
// from all of it. The editor filters by what is typed already.
//
// Not here: what the cursor stands in (place.c).
#include "base/array.h"
#include "cli/lsp/lsp.h"
#include "cli/lsp/place.h"
#include "cli/lsp/symbol.h"
#include "flow/realm/tables.h"
#include "flow/vm/native.h"

enum { // of the protocol
    KIND_METHOD = 2,
    KIND_FUNCTION = 3,
    KIND_VARIABLE = 6,
    KIND_CLASS = 7,
    KIND_MODULE = 9,
    KIND_PROPERTY = 10,
    KIND_VALUE = 12,
    KIND_KEYWORD = 14,
};

typedef struct Completion {
    const LspRequest *request;
    JsonWriter *json;
    const Scan *scan;
} Completion;

static void put_item(const Completion *c, Str label, int kind, Str detail, const char *about) {
    json_write_object_begin(c->json);
    json_put_string(c->json, "label", label);
    json_put_i64(c->json, "kind", kind);
    if (detail.len > 0) json_put_string(c->json, "detail", detail);
    if (about) json_put_cstr(c->json, "documentation", about);
    json_write_object_end(c->json);
}

// ---- members ----

static void put_entries(const Completion *c, const FlowNativeEntry *entries, int kind) {
    for (const FlowNativeEntry *entry = entries; entry && entry->name; entry++)
        if (entry->name[0] != '@') put_item(c, str_from(entry->name), kind, STR_NULL, NULL);
}

static void complete_member(const Completion *c, Str name) {
    Arena *arena = c->request->arena;
    const FlowApiObject *object = flow_api_object(name);
    for (const FlowApiMember *member = object ? object->members : NULL; member && member->name;
         member++) {
        const char *path = arena_cstr(arena, arena_printf(arena, "%s.%s", object->name, //
                                                          member->name));
        put_item(c, str_from(member->name), member->call ? KIND_METHOD : KIND_PROPERTY,
                 member->call ? place_signature(member, arena) : STR_NULL,
                 flow_api_about_member(path));
    }
    for (size_t i = 0; !object && flow_realm_classes[i]; i++)
        if (str_equal(name, str_from(flow_realm_classes[i]->name)))
            put_entries(c, flow_realm_classes[i]->statics, KIND_METHOD);
}

// ---- options ----

static void complete_option(const Completion *c, const PlaceOptions *options) {
    PlaceOption option;
    for (size_t i = 0; place_option(options, i, c->request->arena, &option); i++)
        put_item(c, str_from(option.name), KIND_PROPERTY, option.detail, option.about);
}

static void complete_value(const Completion *c, const FlowApiField *field) {
    for (const char *const *choice = field ? field->choices : NULL; choice && *choice; choice++)
        put_item(c, arena_printf(c->request->arena, "\"%s\"", *choice), KIND_VALUE, STR_NULL, NULL);
}

// ---- names ----

static void complete_name(const Completion *c) {
    static const char *const keywords[] = {
        "async",  "await",  "break", "case",     "catch", "class",   "const", "continue",
        "else",   "export", "for",   "function", "if",    "let",     "new",   "return",
        "switch", "throw",  "try",   "typeof",   "while", "workflow"};
    for (const FlowApiObject *object = flow_api_objects; object->name; object++)
        put_item(c, str_from(object->name), KIND_MODULE, STR_NULL,
                 flow_api_about_member(object->name));
    for (size_t i = 0; flow_realm_classes[i]; i++) {
        const char *name = flow_realm_classes[i]->name;
        if (name[0] == '%' || flow_api_object(str_from(name))) continue;
        put_item(c, str_from(name), KIND_CLASS, STR_NULL, NULL);
    }
    for (size_t i = 0; flow_realm_globals[i]; i++)
        put_entries(c, flow_realm_globals[i], KIND_FUNCTION);
    Symbols symbols;
    symbols_find(&symbols, c->scan, c->request->arena);
    for (size_t i = 0; i < symbols.count; i++) {
        const Symbol *symbol = &symbols.items[i];
        if (symbol_is_first(&symbols, c->scan, i))
            put_item(c, scan_str(c->scan, symbol->name),
                     symbol->kind == SYMBOL_VARIABLE ? KIND_VARIABLE : KIND_FUNCTION,
                     str_from(symbol_keyword(symbol)), NULL);
    }
    for (size_t i = 0; i < COUNT_OF(keywords); i++)
        put_item(c, str_from(keywords[i]), KIND_KEYWORD, STR_NULL, NULL);
}

void lsp_complete(const LspRequest *request, JsonWriter *json) {
    Str text = buf_str(&request->document->text);
    Scan before, whole;
    Place place;
    scan_text(&before, (Str){text.data, request->offset}, request->arena);
    scan_text(&whole, text, request->arena);
    place_at_end(&before, request->arena, &place);
    Completion completion = {request, json, &whole};
    json_write_array_begin(json);
    switch (place.kind) {
    case PLACE_NOWHERE: break;
    case PLACE_MEMBER: complete_member(&completion, place.object); break;
    case PLACE_OPTION: complete_option(&completion, &place.options); break;
    case PLACE_VALUE:
        complete_value(&completion, place.field);
        complete_name(&completion);
        break;
    case PLACE_NAME: complete_name(&completion); break;
    }
    json_write_array_end(json);
}
