// JSON Schema (draft 2020-12): a part of it, enforced exactly. What is not supported is refused
// when the schema is looked at, so nothing in a schema is accepted and ignored.
//
//   [json-schema-1] Rules: type, enum, const, properties, required, additionalProperties,
//        minProperties, maxProperties, items, minItems, maxItems, minLength, maxLength, minimum,
//        maximum, exclusiveMinimum, exclusiveMaximum, multipleOf (a whole number), allOf, anyOf,
//        oneOf, not.
//   [json-schema-2] Descriptions, which forbid nothing: title, description, default, examples,
//        deprecated, readOnly, writeOnly, $comment, $schema.
//   [json-schema-3] There are no references, and schemas are nested LIMIT_SCHEMA_DEPTH deep at
//        most: so is the recursion of everything here, however deep the value is.
#pragma once
#include "json/value.h"

// What is wrong with a part of a JSON text that people wrote.
typedef struct JsonFault {
    const JsonValue *at;
    bool is_key; // the name of the member is wrong, not its value
    Str message; // what
    Str hint;    // what to do; null = the message says it
} JsonFault;

// True when it is a schema by [json-schema-1]-[json-schema-3]; otherwise *ret_fault has its first
// fault. Texts live in the arena.
bool schema_check(const JsonValue *schema, Arena *arena, JsonFault *ret_fault);

// OK when `value` fits a schema that schema_check has passed. ERR_INVALID with `code` otherwise,
// and a message such as "$.items[2].price is a string; \"type\" wants number".
MUST_CHECK Status schema_validate(const JsonValue *schema, const JsonValue *value, const char *code,
                                  Diag *diag);
