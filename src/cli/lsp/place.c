// Place: finds the call or the config that an object literal belongs to.
//
// An options object is an argument of a call (`Task.run("x", null, {`), the value of an option that
// has options of its own (`retry: {`), or the config (`export const config = {`). Whether the name
// of the object is declared in the file is not looked at: nobody calls a variable `Task`.
#include "cli/lsp/place.h"
#include "base/assert.h"

enum { OPTIONS_DEPTH_MAX = 4 }; // of the tables

// ---- which options ----

static uint32_t argument_index(const Scan *scan, uint32_t parenthesis, uint32_t before) {
    uint32_t count = 0;
    for (uint32_t i = parenthesis + 1; i < before; i++)
        if (scan->tokens[i].open == parenthesis && scan_is(scan, i, ",")) count++;
    return count;
}

// The API member that is called with the parenthesis; NULL: none.
static const FlowApiMember *called_member(const Scan *scan, uint32_t parenthesis) {
    if (parenthesis < 3 || !scan_is(scan, parenthesis, "(")) return NULL;
    if (!scan_is(scan, parenthesis - 2, ".") && !scan_is(scan, parenthesis - 2, "?.")) return NULL;
    const FlowApiObject *object = flow_api_object(scan_str(scan, parenthesis - 3));
    return object ? flow_api_member(object, scan_str(scan, parenthesis - 1)) : NULL;
}

static bool call_options(const Scan *scan, uint32_t brace, PlaceOptions *ret) {
    uint32_t parenthesis = scan->tokens[brace].open;
    if (parenthesis == SCAN_NONE) return false;
    const FlowApiMember *member = called_member(scan, parenthesis);
    if (!member || !member->call) return false;
    uint32_t index = argument_index(scan, parenthesis, brace);
    if (index >= flow_api_field_count(member->parameters)) return false;
    const FlowApiField *parameter = &member->parameters[index];
    *ret = (PlaceOptions){.call = str_from(member->call), .prefix = STR("")};
    ret->fields = parameter->fields;
    return ret->fields != NULL;
}

static bool config_options(const Scan *scan, uint32_t brace, PlaceOptions *ret) {
    bool is_config = brace >= 4 && scan_is(scan, brace - 1, "=") &&
                     scan_is(scan, brace - 2, "config") && scan_is(scan, brace - 4, "export");
    if (!is_config) return false;
    *ret = (PlaceOptions){.call = STR("config"), .prefix = STR("")};
    ret->keys = config_keys;
    ret->key_count = config_key_count;
    return true;
}

// From the options of an object to those of the object that is the value of one.
static bool enter_option(PlaceOptions *options, Str name, Arena *arena) {
    options->prefix = arena_printf(arena, "%.*s%.*s.", STR_ARG(options->prefix), STR_ARG(name));
    if (options->fields) {
        const FlowApiField *field = flow_api_field(options->fields, name);
        options->fields = field ? field->fields : NULL;
        return options->fields != NULL;
    }
    if (!str_equal(name, STR("retry")) || options->keys == config_retry_keys) return false;
    options->keys = config_retry_keys;
    options->key_count = config_retry_key_count;
    return true;
}

static bool options_of(const Scan *scan, uint32_t brace, Arena *arena, PlaceOptions *ret) {
    uint32_t names[OPTIONS_DEPTH_MAX];
    size_t depth = 0;
    while (brace != SCAN_NONE && scan_is(scan, brace, "{")) {
        bool is_value = brace >= 2 && scan_is(scan, brace - 1, ":");
        if (!is_value) break;
        if (depth == OPTIONS_DEPTH_MAX || !scan_is_word(scan, brace - 2)) return false;
        names[depth++] = brace - 2;
        brace = scan->tokens[brace].open;
    }
    if (brace == SCAN_NONE || !scan_is(scan, brace, "{")) return false;
    if (!config_options(scan, brace, ret) && !call_options(scan, brace, ret)) return false;
    while (depth > 0)
        if (!enter_option(ret, scan_str(scan, names[--depth]), arena)) return false;
    return true;
}

// ---- places ----

static bool is_member_dot(const Scan *scan, uint32_t token) {
    return scan_is(scan, token, ".") || scan_is(scan, token, "?.");
}

static void member_place(const Scan *scan, uint32_t dot, Place *place) {
    bool is_of_name =
        dot > 0 && scan_is_word(scan, dot - 1) && (dot < 2 || !is_member_dot(scan, dot - 2));
    place->kind = is_of_name ? PLACE_MEMBER : PLACE_NOWHERE;
    if (is_of_name) place->object = scan_str(scan, dot - 1);
}

static void option_place(const Scan *scan, uint32_t before, uint32_t open, Arena *arena,
                         Place *place) {
    bool is_key = before == open || scan_is(scan, before, ",");
    bool is_value = scan_is(scan, before, ":") && before > 0 && scan_is_word(scan, before - 1);
    if ((!is_key && !is_value) || !options_of(scan, open, arena, &place->options)) return;
    place->kind = is_key ? PLACE_OPTION : PLACE_VALUE;
    if (is_value && place->options.fields)
        place->field = flow_api_field(place->options.fields, scan_str(scan, before - 1));
}

static uint32_t innermost_open(const Scan *scan) {
    if (scan->count == 0) return SCAN_NONE;
    const ScanToken *last = &scan->tokens[scan->count - 1];
    char c = scan->text.data[last->start];
    bool opens = last->kind == SCAN_PUNCTUATOR && (c == '(' || c == '[' || c == '{' || c == '$');
    return opens ? scan->count - 1 : last->open;
}

void place_at_end(const Scan *scan, Arena *arena, Place *ret_place) {
    *ret_place = (Place){.kind = PLACE_NAME};
    if (scan->is_in_text) ret_place->kind = PLACE_NOWHERE;
    if (scan->is_in_text || scan->count == 0) return;
    uint32_t last = scan->count - 1;
    bool is_begun =
        scan->tokens[last].kind == SCAN_WORD && scan->tokens[last].end == scan->text.len;
    if (is_begun && last == 0) return;
    uint32_t before = is_begun ? last - 1 : last, open = innermost_open(scan);
    if (is_member_dot(scan, before)) member_place(scan, before, ret_place);
    else if (open != SCAN_NONE) option_place(scan, before, open, arena, ret_place);
}

void place_of_word(const Scan *scan, uint32_t word, Arena *arena, Place *ret_place) {
    *ret_place = (Place){.kind = PLACE_NAME};
    if (word == 0) return;
    uint32_t open = scan->tokens[word].open;
    if (is_member_dot(scan, word - 1)) member_place(scan, word - 1, ret_place);
    else if (open != SCAN_NONE) option_place(scan, word - 1, open, arena, ret_place);
    if (ret_place->kind == PLACE_VALUE) ret_place->kind = PLACE_NAME;
}

// ---- texts ----

static Str choices_text(const char *const *choices, Arena *arena) {
    Str text = STR("");
    for (; *choices; choices++)
        text = arena_printf(arena, "%.*s%s\"%s\"", STR_ARG(text), text.len ? " or " : "", *choices);
    return text;
}

static Str field_detail(const FlowApiField *field, Arena *arena) {
    if (field->choices) return choices_text(field->choices, arena);
    const char *type = field->type == API_OPTIONS ? "object" : flow_api_type_name(field->type);
    if (field->type != API_INTEGER && field->type != API_NUMBER) return str_from(type);
    return arena_printf(arena, "%s, %lld to %lld", type, (long long)spec_rules[field->spec].min,
                        (long long)spec_rules[field->spec].max);
}

static Str key_detail(const ConfigKey *key) {
    switch (key->type) {
    case CONFIG_DURATION: return STR("duration");
    case CONFIG_DURATION_OFF: return STR("duration or \"off\"");
    case CONFIG_INTEGER: return STR("integer");
    case CONFIG_FACTOR: return STR("number");
    case CONFIG_NAME: return STR("name");
    case CONFIG_NAMES: return STR("names");
    case CONFIG_SCHEMA: return STR("JSON Schema");
    case CONFIG_RETRY: return STR("object");
    case CONFIG_PATHS: return STR("paths");
    }
    UNREACHABLE();
}

bool place_option(const PlaceOptions *options, size_t index, Arena *arena,
                  PlaceOption *ret_option) {
    PlaceOption option;
    if (options->fields) {
        if (index >= flow_api_field_count(options->fields)) return false;
        const FlowApiField *field = &options->fields[index];
        option = (PlaceOption){.name = field->name,
                               .detail = field_detail(field, arena),
                               .is_object = field->type == API_OPTIONS};
    } else {
        if (index >= options->key_count) return false;
        const ConfigKey *key = &options->keys[index];
        option = (PlaceOption){
            .name = key->name, .detail = key_detail(key), .is_object = key->type == CONFIG_RETRY};
    }
    Str path = arena_printf(arena, "%.*s%s", STR_ARG(options->prefix), option.name);
    option.about = flow_api_about_option(options->call, path);
    *ret_option = option;
    return true;
}

Str place_signature(const FlowApiMember *member, Arena *arena) {
    Str text = arena_printf(arena, "%s(", member->call);
    for (const FlowApiField *field = member->parameters; field && field->name; field++)
        text = arena_printf(arena, "%.*s%s%s%s", STR_ARG(text),
                            field == member->parameters ? "" : ", ", field->name,
                            field->is_required ? "" : "?");
    return arena_printf(arena, "%.*s)", STR_ARG(text));
}
