// Filters: a small expression language over JSON, evaluated while it is parsed.
//
// There is no tree: an expression is short, and it is evaluated once per candidate event. The
// parser works by precedence with an explicit depth limit, so hostile text cannot exhaust the
// stack. Checking a filter is evaluating it against null and looking only at the syntax.
//
// Not here: when filters are asked (store/kernel/events/events.c).
#include "engine/runners/filter.h"
#include "base/arena.h"
#include "base/text/number.h"
#include "json/value.h"

enum { FILTER_DEPTH_MAX = 64 };

typedef struct FilterValue {
    JsonKind kind;
    double number;
    bool boolean;
    Str text;
    const JsonValue *json; // arrays and objects
} FilterValue;

typedef struct FilterParser {
    const char *start, *at, *end;
    const JsonValue *payload; // NULL = null
    Arena *arena;
    int depth;
    const char *error; // what was expected; NULL while all is well
} FilterParser;

static FilterValue parse_or(FilterParser *p);

static FilterValue null_value(void) { return (FilterValue){.kind = JSON_KIND_NULL}; }

static FilterValue bool_value(bool value) {
    return (FilterValue){.kind = JSON_KIND_BOOL, .boolean = value};
}

static FilterValue fail(FilterParser *p, const char *expected) {
    if (p->error == NULL) p->error = expected;
    p->end = p->at; // nothing more is read
    return null_value();
}

static void skip_space(FilterParser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')) p->at++;
}

static bool take(FilterParser *p, Str token) {
    skip_space(p);
    if ((size_t)(p->end - p->at) < token.len || memcmp(p->at, token.data, token.len) != 0)
        return false;
    p->at += token.len;
    return true;
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static FilterValue value_of(const JsonValue *json) {
    if (json == NULL) return null_value();
    FilterValue value = {.kind = json->kind, .json = json};
    value.boolean = json->boolean;
    if (json->kind == JSON_KIND_NUMBER) value.number = json->number;
    if (json->kind == JSON_KIND_STRING) value.text = json->string;
    return value;
}

static Str take_name(FilterParser *p) {
    const char *start = p->at;
    while (p->at < p->end && is_name_char(*p->at)) p->at++;
    return (Str){start, (size_t)(p->at - start)};
}

static FilterValue parse_path(FilterParser *p) {
    Str name = take_name(p);
    if (str_equal(name, STR("true"))) return bool_value(true);
    if (str_equal(name, STR("false"))) return bool_value(false);
    if (str_equal(name, STR("null"))) return null_value();
    const JsonValue *json = json_member(p->payload, name);
    while (p->at < p->end && *p->at == '.') {
        p->at++;
        name = take_name(p);
        if (name.len == 0) return fail(p, "a name after the dot");
        json = json_member(json, name);
    }
    return value_of(json);
}

static FilterValue parse_text(FilterParser *p) {
    char quote = *p->at++;
    const char *start = p->at;
    while (p->at < p->end && *p->at != quote) p->at++;
    if (p->at == p->end) return fail(p, "the closing quote of a string");
    Str text = {start, (size_t)(p->at - start)};
    p->at++;
    return (FilterValue){.kind = JSON_KIND_STRING, .text = text};
}

static FilterValue parse_operand(FilterParser *p) {
    skip_space(p);
    if (p->at == p->end) return fail(p, "a value");
    if (*p->at == '"' || *p->at == '\'') return parse_text(p);
    double number;
    size_t len = number_parse(p->at, (size_t)(p->end - p->at), &number);
    if (len > 0) {
        p->at += len;
        return (FilterValue){.kind = JSON_KIND_NUMBER, .number = number};
    }
    if (!is_name_char(*p->at)) return fail(p, "a name, number, string or parenthesis");
    return parse_path(p);
}

static bool is_true(const FilterValue *value) {
    switch (value->kind) {
    case JSON_KIND_NULL: return false;
    case JSON_KIND_BOOL: return value->boolean;
    case JSON_KIND_NUMBER: return value->number != 0;
    case JSON_KIND_STRING: return value->text.len > 0;
    default: return true;
    }
}

static FilterValue parse_unary(FilterParser *p) {
    if (++p->depth > FILTER_DEPTH_MAX) return fail(p, "fewer levels of nesting");
    FilterValue value;
    skip_space(p);
    bool is_not = p->at < p->end && *p->at == '!' && !(p->at + 1 < p->end && p->at[1] == '=');
    if (is_not) {
        p->at++;
        value = parse_unary(p);
        value = bool_value(!is_true(&value));
    } else if (take(p, STR("("))) {
        value = parse_or(p);
        if (!take(p, STR(")"))) value = fail(p, "a closing parenthesis");
    } else {
        value = parse_operand(p);
    }
    p->depth--;
    return value;
}

static bool is_equal(const FilterValue *a, const FilterValue *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case JSON_KIND_BOOL: return a->boolean == b->boolean;
    case JSON_KIND_NUMBER: return a->number == b->number;
    case JSON_KIND_STRING: return str_equal(a->text, b->text);
    case JSON_KIND_ARRAY:
    case JSON_KIND_OBJECT: return json_equal(a->json, b->json);
    default: return true;
    }
}

static bool compare(const FilterValue *a, const FilterValue *b, bool wants_less, bool or_equal) {
    int order;
    if (a->kind != b->kind) return false;
    if (a->kind == JSON_KIND_NUMBER) order = a->number < b->number ? -1 : a->number > b->number;
    else if (a->kind == JSON_KIND_STRING) order = str_compare(a->text, b->text);
    else return false;
    if (order == 0) return or_equal;
    return wants_less ? order < 0 : order > 0;
}

static FilterValue parse_comparison(FilterParser *p) {
    FilterValue left = parse_unary(p);
    bool wants_equal = take(p, STR("==="));
    if (!wants_equal) wants_equal = take(p, STR("=="));
    bool wants_other = !wants_equal && (take(p, STR("!==")) || take(p, STR("!=")));
    if (wants_equal || wants_other) {
        FilterValue right = parse_unary(p);
        return bool_value(is_equal(&left, &right) == wants_equal);
    }
    bool is_less = take(p, STR("<"));
    if (!is_less && !take(p, STR(">"))) return left;
    bool or_equal = p->at < p->end && *p->at == '=';
    if (or_equal) p->at++;
    FilterValue right = parse_unary(p);
    return bool_value(compare(&left, &right, is_less, or_equal));
}

static FilterValue parse_and(FilterParser *p) {
    FilterValue left = parse_comparison(p);
    while (take(p, STR("&&"))) {
        FilterValue right = parse_comparison(p);
        left = bool_value(is_true(&left) && is_true(&right));
    }
    return left;
}

static FilterValue parse_or(FilterParser *p) {
    FilterValue left = parse_and(p);
    while (take(p, STR("||"))) {
        FilterValue right = parse_and(p);
        left = bool_value(is_true(&left) || is_true(&right));
    }
    return left;
}

// Every member of `filter` is in `value`, and equal; objects within likewise.
static bool has_members(const JsonValue *filter, const JsonValue *value, int depth) {
    if (value == NULL || value->kind != JSON_KIND_OBJECT || depth > FILTER_DEPTH_MAX) return false;
    JSON_EACH (member, filter) {
        const JsonValue *found = json_member(value, member->key);
        if (found == NULL) return false;
        bool is_same = member->kind == JSON_KIND_OBJECT ? has_members(member, found, depth + 1)
                                                        : json_equal(member, found);
        if (!is_same) return false;
    }
    return true;
}

static Status evaluate(Arena *arena, Str filter_json, const JsonValue *payload, bool *ret_matches,
                       Diag *diag) {
    JsonValue *filter;
    TRY(json_parse(arena, filter_json, &filter, diag));
    if (filter->kind == JSON_KIND_OBJECT) {
        *ret_matches = has_members(filter, payload, 0);
        return OK;
    }
    if (filter->kind != JSON_KIND_STRING)
        return diag_set(diag, ERR_INVALID, "BAD_FILTER",
                        "a filter is an object or a string with an expression, not %s",
                        json_kind_name(filter->kind));
    Str text = filter->string;
    FilterParser parser = {.start = text.data,
                           .at = text.data,
                           .end = text.data + text.len,
                           .payload = payload,
                           .arena = arena};
    FilterValue value = parse_or(&parser);
    skip_space(&parser);
    if (parser.error == NULL && parser.at < parser.end) parser.error = "an operator or the end";
    if (parser.error != NULL)
        return diag_set(diag, ERR_INVALID, "BAD_FILTER",
                        "the filter \"%.*s\" does not parse: column %zu: expected %s",
                        STR_ARG(text), (size_t)(parser.at - parser.start) + 1, parser.error);
    *ret_matches = is_true(&value);
    return OK;
}

Status filter_check(Str filter_json, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    bool matches;
    Status status = evaluate(&arena, filter_json, NULL, &matches, diag);
    arena_done(&arena);
    return status;
}

bool filter_matches(Str filter_json, Str payload) {
    Arena arena;
    arena_init(&arena);
    Diag diag;
    JsonValue *value = NULL;
    bool matches = false;
    bool is_readable = str_is_null(payload) || json_parse(&arena, payload, &value, &diag) == OK;
    if (!is_readable || evaluate(&arena, filter_json, value, &matches, &diag) != OK)
        matches = false;
    arena_done(&arena);
    return matches;
}
