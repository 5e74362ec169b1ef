// JsonValue: JSON text as a tree in an arena, for requests and configuration.
//
// Every value keeps the bytes it was read from, so that a part of a request (an input, a payload)
// can be stored exactly as the client wrote it.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include <stdint.h>

typedef enum JsonKind {
    JSON_KIND_NULL,
    JSON_KIND_BOOL,
    JSON_KIND_NUMBER,
    JSON_KIND_STRING,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT,
    JSON_KIND_COUNT
} JsonKind;

typedef struct JsonValue {
    JsonKind kind;
    bool boolean;
    uint32_t count;         // items or members
    Str raw;                // the source of the whole value; of a number, its literal
    Str key;                // of a member of an object; else null
    struct JsonValue *next; // the next item or member
    union {
        double number;
        Str string;              // decoded, WTF-8
        struct JsonValue *first; // item or member, in the order of the text; NULL when empty
    };
} JsonValue;

// Slices point into `text`, which must live as long as the value.
// The faults are those of json_next (json/read.h).
MUST_CHECK Status json_parse(Arena *arena, Str text, JsonValue **ret_value, Diag *diag);

// The same, with what is decoded (strings and keys with escapes) in `texts`, so that the tree can
// be given back before the texts that were taken from it.
MUST_CHECK Status json_parse_apart(Arena *tree, Arena *texts, Str text, JsonValue **ret_value,
                                   Diag *diag);
// At least as many bytes as the tree of `text` takes, its texts not counted. Cheap.
size_t json_tree_size(Str text);

#define JSON_EACH(item, container)                                                                 \
    for (const JsonValue *item = (container)->first; item; item = item->next)

// "null", "boolean", "number", "string", "array", "object".
const char *json_kind_name(JsonKind kind);
// The member of that name, the last one if it repeats (as JSON.parse has it); NULL when there is
// none or `object` is no object.
const JsonValue *json_member(const JsonValue *object, Str name);
const JsonValue *json_item(const JsonValue *array, size_t index); // NULL when there is none

// Equal as data: members in any order, the last of a repeated name counts, numbers by value.
bool json_equal(const JsonValue *a, const JsonValue *b);

// ---- fields of a request. They write `ret_x` only when the field is there with the right type;
// absent and null leave it alone, so that the caller's default stays. A wrong type is ERR_INVALID,
// code BAD_FIELD, and the message names the field.
bool json_has(const JsonValue *object, const char *name); // it is there, and not null
MUST_CHECK Status json_get_string(const JsonValue *object, const char *name, Str *ret_value,
                                  Diag *diag);
MUST_CHECK Status json_get_bool(const JsonValue *object, const char *name, bool *ret_value,
                                Diag *diag);
MUST_CHECK Status json_get_i64(const JsonValue *object, const char *name, int64_t *ret_value,
                               Diag *diag);
MUST_CHECK Status json_get_number(const JsonValue *object, const char *name, double *ret_value,
                                  Diag *diag);
// A string as in duration.h, or a number of seconds.
MUST_CHECK Status json_get_duration_ms(const JsonValue *object, const char *name, int64_t *ret_ms,
                                       Diag *diag);
// RFC 3339 text.
MUST_CHECK Status json_get_instant_ms(const JsonValue *object, const char *name, int64_t *ret_ms,
                                      Diag *diag);
MUST_CHECK Status json_get_array(const JsonValue *object, const char *name,
                                 const JsonValue **ret_value, Diag *diag);
MUST_CHECK Status json_get_object(const JsonValue *object, const char *name,
                                  const JsonValue **ret_value, Diag *diag);
// Any value as its source text. Null is a value here: only an absent field leaves *ret_raw alone.
void json_get_raw(const JsonValue *object, const char *name, Str *ret_raw);

// ERR_INVALID, code MISSING_FIELD, when one of the names (ended by NULL) is absent or null.
MUST_CHECK Status json_require(const JsonValue *object, const char *const *names, Diag *diag);
// ERR_INVALID, code UNKNOWN_FIELD, when there is a member of another name; BAD_REQUEST when it is
// no object at all.
MUST_CHECK Status json_allow_only(const JsonValue *object, const char *const *names, Diag *diag);
