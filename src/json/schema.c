// JSON Schema: see schema.h.
//
// A schema is used as it was parsed: each keyword is found in one table, which has the function
// that looks at the keyword's own value and the function that holds a value to it.
//
// Not here: where schemas come from (flow/check/config.c), who is held to them
// (engine/definitions/start.c).
#include "json/schema.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/text/suggest.h"
#include <math.h>
#include <stdio.h>

// ---- what a keyword's value must be ----

typedef enum ValueKind {
    VALUE_ANY,
    VALUE_STRING,
    VALUE_BOOL,
    VALUE_NUMBER,
    VALUE_WHOLE, // a whole number, at least 1
    VALUE_COUNT, // a whole number, not negative
    VALUE_LIST,  // at least one of anything
    VALUE_NAMES, // strings
    VALUE_TYPES, // a type, or a list of types
    VALUE_SCHEMA,
    VALUE_SCHEMAS, // at least one schema
    VALUE_MEMBERS  // an object of schemas
} ValueKind;

static const char *const wanted_texts[] = {
    [VALUE_ANY] = "anything",
    [VALUE_STRING] = "a string",
    [VALUE_BOOL] = "true or false",
    [VALUE_NUMBER] = "a number",
    [VALUE_WHOLE] = "a whole number of at least 1",
    [VALUE_COUNT] = "a whole number that is not negative",
    [VALUE_LIST] = "an array with at least one value",
    [VALUE_NAMES] = "an array of strings",
    [VALUE_TYPES] = "one of null, boolean, integer, number, string, array, object; or a list",
    [VALUE_SCHEMA] = "a schema: an object, true or false",
    [VALUE_SCHEMAS] = "an array with at least one schema",
    [VALUE_MEMBERS] = "an object of schemas",
};

typedef struct Place { // where in the value; for the message
    const struct Place *above;
    const JsonValue *member; // NULL for the value itself
    size_t index;            // of an item
} Place;

typedef struct Holding {     // one keyword held against one value
    const JsonValue *schema; // the keyword's owner
    const JsonValue *rule;   // the keyword's value
    const JsonValue *value;
    const Place *place;
    const char *code;
    Diag *diag;
} Holding;

typedef struct Keyword {
    const char *name;
    ValueKind kind;
    Status (*hold)(
        const Holding *holding); // NULL: it describes, and forbids nothing [json-schema-2]
} Keyword;

static Status validate(const JsonValue *schema, const Holding *from, const JsonValue *value,
                       const Place *place, Diag *diag);

// ---- messages ----

enum { PATH_SIZE = 160 };

static void path_add(char *path, size_t *len, const Place *place) {
    if (place->above == NULL) {
        *len = (size_t)snprintf(path, PATH_SIZE, "$");
        return;
    }
    path_add(path, len, place->above); // [json-schema-3] bounds it
    size_t room = PATH_SIZE - *len;
    const JsonValue *member = place->member;
    int added = str_is_null(member->key)
                    ? snprintf(path + *len, room, "[%zu]", place->index)
                    : snprintf(path + *len, room, ".%.*s", STR_ARG(member->key));
    *len = added < 0 ? *len : *len + (size_t)added;
    if (*len >= PATH_SIZE) *len = PATH_SIZE - 1;
}

__attribute__((format(printf, 3, 4))) static Status refuse(const Holding *holding,
                                                           const char *keyword, const char *format,
                                                           ...) {
    char path[PATH_SIZE], text[200];
    size_t len = 0;
    path_add(path, &len, holding->place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_set(holding->diag, ERR_INVALID, holding->code, "%s %s (rule \"%s\")", path, text,
                    keyword);
}

// ---- rules ----

static bool is_whole(double number) { return isfinite(number) && floor(number) == number; }

static bool type_fits(Str type, const JsonValue *value) {
    static const char *const names[] = {
        [JSON_KIND_NULL] = "null",     [JSON_KIND_BOOL] = "boolean", [JSON_KIND_NUMBER] = "number",
        [JSON_KIND_STRING] = "string", [JSON_KIND_ARRAY] = "array",  [JSON_KIND_OBJECT] = "object",
    };
    if (str_equal(type, STR("integer")))
        return value->kind == JSON_KIND_NUMBER && is_whole(value->number);
    return str_equal(type, str_from(names[value->kind]));
}

static Status hold_type(const Holding *h) {
    const char *found = json_kind_name(h->value->kind);
    if (h->rule->kind == JSON_KIND_STRING) {
        if (type_fits(h->rule->string, h->value)) return OK;
        return refuse(h, "type", "is %s; wanted is %.*s", found, STR_ARG(h->rule->string));
    }
    JSON_EACH (type, h->rule) {
        if (type_fits(type->string, h->value)) return OK;
    }
    return refuse(h, "type", "is %s; wanted is one of %.*s", found, STR_ARG(h->rule->raw));
}

static Status hold_enum(const Holding *h) {
    JSON_EACH (allowed, h->rule) {
        if (json_equal(allowed, h->value)) return OK;
    }
    return refuse(h, "enum", "is none of %.*s", STR_ARG(h->rule->raw));
}

static Status hold_const(const Holding *h) {
    if (json_equal(h->rule, h->value)) return OK;
    return refuse(h, "const", "is not %.*s", STR_ARG(h->rule->raw));
}

static Status hold_properties(const Holding *h) {
    if (h->value->kind != JSON_KIND_OBJECT) return OK;
    JSON_EACH (schema, h->rule) {
        const JsonValue *member = json_member(h->value, schema->key);
        if (member == NULL) continue;
        Place place = {h->place, member, 0};
        TRY(validate(schema, h, member, &place, h->diag));
    }
    return OK;
}

static Status hold_required(const Holding *h) {
    if (h->value->kind != JSON_KIND_OBJECT) return OK;
    JSON_EACH (name, h->rule) {
        if (json_member(h->value, name->string) != NULL) continue;
        return refuse(h, "required", "has no member \"%.*s\"", STR_ARG(name->string));
    }
    return OK;
}

static Status hold_additional(const Holding *h) {
    if (h->value->kind != JSON_KIND_OBJECT) return OK;
    const JsonValue *known = json_member(h->schema, STR("properties"));
    JSON_EACH (member, h->value) {
        if (known != NULL && json_member(known, member->key) != NULL) continue;
        if (h->rule->kind == JSON_KIND_BOOL && !h->rule->boolean)
            return refuse(h, "additionalProperties", "has an unknown member \"%.*s\"",
                          STR_ARG(member->key));
        Place place = {h->place, member, 0};
        TRY(validate(h->rule, h, member, &place, h->diag));
    }
    return OK;
}

static Status hold_items(const Holding *h) {
    if (h->value->kind != JSON_KIND_ARRAY) return OK;
    size_t index = 0;
    JSON_EACH (item, h->value) {
        Place place = {h->place, item, index++};
        TRY(validate(h->rule, h, item, &place, h->diag));
    }
    return OK;
}

static size_t string_length(Str text) { // code points
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

// The size of a value of that kind; false: the rule is not about it.
static bool size_of(const Holding *h, JsonKind kind, double *ret_size) {
    if (h->value->kind != kind) return false;
    if (kind == JSON_KIND_NUMBER) *ret_size = h->value->number;
    else if (kind == JSON_KIND_STRING) *ret_size = (double)string_length(h->value->string);
    else *ret_size = (double)h->value->count;
    return true;
}

static Status hold_least(const Holding *h, JsonKind kind, const char *keyword) {
    double size;
    if (!size_of(h, kind, &size) || size >= h->rule->number) return OK;
    return refuse(h, keyword, "%s %.*s", kind == JSON_KIND_NUMBER ? "is below" : "has fewer than",
                  STR_ARG(h->rule->raw));
}

static Status hold_most(const Holding *h, JsonKind kind, const char *keyword) {
    double size;
    if (!size_of(h, kind, &size) || size <= h->rule->number) return OK;
    return refuse(h, keyword, "%s %.*s", kind == JSON_KIND_NUMBER ? "is above" : "has more than",
                  STR_ARG(h->rule->raw));
}

static Status hold_min_properties(const Holding *h) {
    return hold_least(h, JSON_KIND_OBJECT, "minProperties");
}
static Status hold_max_properties(const Holding *h) {
    return hold_most(h, JSON_KIND_OBJECT, "maxProperties");
}
static Status hold_min_items(const Holding *h) {
    return hold_least(h, JSON_KIND_ARRAY, "minItems");
}
static Status hold_max_items(const Holding *h) { return hold_most(h, JSON_KIND_ARRAY, "maxItems"); }
static Status hold_min_length(const Holding *h) {
    return hold_least(h, JSON_KIND_STRING, "minLength");
}
static Status hold_max_length(const Holding *h) {
    return hold_most(h, JSON_KIND_STRING, "maxLength");
}
static Status hold_minimum(const Holding *h) { return hold_least(h, JSON_KIND_NUMBER, "minimum"); }
static Status hold_maximum(const Holding *h) { return hold_most(h, JSON_KIND_NUMBER, "maximum"); }

static Status hold_above(const Holding *h) {
    bool is_good = h->value->kind != JSON_KIND_NUMBER || h->value->number > h->rule->number;
    if (is_good) return OK;
    return refuse(h, "exclusiveMinimum", "is not above %.*s", STR_ARG(h->rule->raw));
}

static Status hold_below(const Holding *h) {
    bool is_good = h->value->kind != JSON_KIND_NUMBER || h->value->number < h->rule->number;
    if (is_good) return OK;
    return refuse(h, "exclusiveMaximum", "is not below %.*s", STR_ARG(h->rule->raw));
}

static Status hold_multiple(const Holding *h) {
    bool is_good =
        h->value->kind != JSON_KIND_NUMBER || fmod(h->value->number, h->rule->number) == 0;
    if (is_good) return OK;
    return refuse(h, "multipleOf", "is no multiple of %.*s", STR_ARG(h->rule->raw));
}

static Status hold_all(const Holding *h) {
    JSON_EACH (schema, h->rule) TRY(validate(schema, h, h->value, h->place, h->diag));
    return OK;
}

static int count_fitting(const Holding *h) {
    int count = 0;
    JSON_EACH (schema, h->rule) count += validate(schema, h, h->value, h->place, NULL) == OK;
    return count;
}

static Status hold_any(const Holding *h) {
    if (count_fitting(h) > 0) return OK;
    return refuse(h, "anyOf", "fits none of %u schemas", h->rule->count);
}

static Status hold_one(const Holding *h) {
    int count = count_fitting(h);
    if (count == 1) return OK;
    return refuse(h, "oneOf", "fits %d of %u schemas instead of one", count, h->rule->count);
}

static Status hold_not(const Holding *h) {
    if (validate(h->rule, h, h->value, h->place, NULL) != OK) return OK;
    return refuse(h, "not", "fits a schema that it must not fit");
}

// ---- the keywords ----

static const Keyword keywords[] = {
    {"type", VALUE_TYPES, hold_type}, // first: its message is the one that helps
    {"enum", VALUE_LIST, hold_enum},
    {"const", VALUE_ANY, hold_const},
    {"required", VALUE_NAMES, hold_required},
    {"properties", VALUE_MEMBERS, hold_properties},
    {"additionalProperties", VALUE_SCHEMA, hold_additional},
    {"minProperties", VALUE_COUNT, hold_min_properties},
    {"maxProperties", VALUE_COUNT, hold_max_properties},
    {"minItems", VALUE_COUNT, hold_min_items},
    {"maxItems", VALUE_COUNT, hold_max_items},
    {"items", VALUE_SCHEMA, hold_items},
    {"minLength", VALUE_COUNT, hold_min_length},
    {"maxLength", VALUE_COUNT, hold_max_length},
    {"minimum", VALUE_NUMBER, hold_minimum},
    {"maximum", VALUE_NUMBER, hold_maximum},
    {"exclusiveMinimum", VALUE_NUMBER, hold_above},
    {"exclusiveMaximum", VALUE_NUMBER, hold_below},
    {"multipleOf", VALUE_WHOLE, hold_multiple},
    {"allOf", VALUE_SCHEMAS, hold_all},
    {"anyOf", VALUE_SCHEMAS, hold_any},
    {"oneOf", VALUE_SCHEMAS, hold_one},
    {"not", VALUE_SCHEMA, hold_not},
    {"title", VALUE_STRING, NULL},
    {"description", VALUE_STRING, NULL},
    {"default", VALUE_ANY, NULL},
    {"examples", VALUE_LIST, NULL},
    {"deprecated", VALUE_BOOL, NULL},
    {"readOnly", VALUE_BOOL, NULL},
    {"writeOnly", VALUE_BOOL, NULL},
    {"$comment", VALUE_STRING, NULL},
    {"$schema", VALUE_STRING, NULL},
};
enum { KEYWORD_COUNT = COUNT_OF(keywords) };

static Status validate(const JsonValue *schema, const Holding *from, const JsonValue *value,
                       const Place *place, Diag *diag) {
    Holding holding = {
        .schema = schema, .value = value, .place = place, .code = from->code, .diag = diag};
    if (schema->kind == JSON_KIND_BOOL)
        return schema->boolean ? OK : refuse(&holding, "false", "must not be there");
    for (size_t i = 0; i < KEYWORD_COUNT; i++) {
        if (keywords[i].hold == NULL) continue;
        holding.rule = json_member(schema, str_from(keywords[i].name));
        if (holding.rule != NULL) TRY(keywords[i].hold(&holding));
    }
    return OK;
}

Status schema_validate(const JsonValue *schema, const JsonValue *value, const char *code,
                       Diag *diag) {
    Holding root = {.code = code};
    Place place = {0};
    return validate(schema, &root, value, &place, diag);
}

// ---- looking at a schema ----

typedef struct Look {
    Arena *arena;
    JsonFault *fault;
    uint32_t depth;
} Look;

static bool look_schema(Look *look, const JsonValue *schema);

static bool fault(const Look *look, const JsonValue *at, Str message) {
    *look->fault = (JsonFault){.at = at, .message = message};
    return false;
}

static bool is_type(const JsonValue *value) {
    static const char *const types[] = {"null",   "boolean", "integer", "number",
                                        "string", "array",   "object"};
    if (value->kind != JSON_KIND_STRING) return false;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (str_equal(value->string, str_from(types[i]))) return true;
    return false;
}

static bool are_all(const JsonValue *array, bool (*is_good)(const JsonValue *value)) {
    if (array->kind != JSON_KIND_ARRAY) return false;
    JSON_EACH (item, array) {
        if (!is_good(item)) return false;
    }
    return true;
}

static bool is_string(const JsonValue *value) { return value->kind == JSON_KIND_STRING; }
static bool is_anything(const JsonValue *value) { return value != NULL; }

static bool is_number(const JsonValue *value, double least) {
    return value->kind == JSON_KIND_NUMBER && is_whole(value->number) && value->number >= least;
}

// Whether it has the form; the schemas inside are looked at afterwards.
static bool has_form(const JsonValue *value, ValueKind kind) {
    switch (kind) {
    case VALUE_ANY: return true;
    case VALUE_STRING: return is_string(value);
    case VALUE_BOOL: return value->kind == JSON_KIND_BOOL;
    case VALUE_NUMBER: return value->kind == JSON_KIND_NUMBER;
    case VALUE_WHOLE: return is_number(value, 1);
    case VALUE_COUNT: return is_number(value, 0);
    case VALUE_LIST:
    case VALUE_SCHEMAS: return are_all(value, is_anything) && value->count > 0;
    case VALUE_NAMES: return are_all(value, is_string);
    case VALUE_TYPES: return is_type(value) || (are_all(value, is_type) && value->count > 0);
    case VALUE_SCHEMA: return value->kind == JSON_KIND_OBJECT || value->kind == JSON_KIND_BOOL;
    case VALUE_MEMBERS: return value->kind == JSON_KIND_OBJECT;
    }
    UNREACHABLE();
}

static const Keyword *keyword_find(Str name) {
    for (size_t i = 0; i < KEYWORD_COUNT; i++)
        if (str_equal(name, str_from(keywords[i].name))) return &keywords[i];
    return NULL;
}

static bool unknown_keyword(const Look *look, const JsonValue *member) {
    Suggestion guess = {.wanted = member->key};
    for (size_t i = 0; i < KEYWORD_COUNT; i++) suggest(&guess, keywords[i].name);
    *look->fault = (JsonFault){
        .at = member,
        .is_key = true,
        .message = arena_printf(look->arena, "the schema keyword \"%.*s\" is not supported",
                                STR_ARG(member->key)),
        .hint = guess.best != NULL
                    ? arena_printf(look->arena, "Did you mean \"%s\"?", guess.best)
                    : STR("Check that in the workflow itself; docs/language.md lists the keywords "
                          "that are enforced"),
    };
    return false;
}

static bool look_keyword(Look *look, const JsonValue *member) {
    const Keyword *keyword = keyword_find(member->key);
    if (keyword == NULL) return unknown_keyword(look, member);
    if (!has_form(member, keyword->kind))
        return fault(look, member,
                     arena_printf(look->arena, "the schema keyword \"%s\" takes %s", keyword->name,
                                  wanted_texts[keyword->kind]));
    if (keyword->kind == VALUE_SCHEMA) return look_schema(look, member);
    if (keyword->kind != VALUE_SCHEMAS && keyword->kind != VALUE_MEMBERS) return true;
    JSON_EACH (schema, member) {
        if (!look_schema(look, schema)) return false;
    }
    return true;
}

static bool look_schema(Look *look, const JsonValue *schema) {
    if (schema->kind == JSON_KIND_BOOL) return true;
    if (schema->kind != JSON_KIND_OBJECT)
        return fault(look, schema, STR("a schema is an object, true or false"));
    if (look->depth == LIMIT_SCHEMA_DEPTH)
        return fault(look, schema,
                     arena_printf(look->arena, "schemas may be nested %u deep, not deeper",
                                  LIMIT_SCHEMA_DEPTH));
    look->depth++;
    JSON_EACH (member, schema) {
        if (!look_keyword(look, member)) return false;
    }
    look->depth--;
    return true;
}

bool schema_check(const JsonValue *schema, Arena *arena, JsonFault *ret_fault) {
    Look look = {.arena = arena, .fault = ret_fault};
    return look_schema(&look, schema);
}
