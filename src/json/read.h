// JsonReader: JSON text as a row of events, pulled one at a time.
//
// Strict RFC 8259: one value, UTF-8, no trailing comma, no comments, no byte order mark. Keys may
// repeat; who builds something of them decides. Nothing is allocated and nothing recurses, so
// the caller may build VM values, arena trees or nothing at all.
//
//   JsonReader reader;
//   json_reader_init(&reader, text);
//   do { TRY(json_next(&reader, &event, diag)); ... } while (event.kind != JSON_END);
#pragma once
#include "base/diag.h"
#include "base/limits.h"
#include "base/text/str.h"
#include <stdint.h>

typedef enum JsonEventKind {
    JSON_END, // after the one value; answered again and again from then on
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_KEY, // the name of a member; its value comes next
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END,
    JSON_EVENT_KIND_COUNT
} JsonEventKind;

typedef struct JsonEvent {
    JsonEventKind kind;
    bool has_escapes; // of a string or key: `raw` has backslashes, use json_string_*
    bool is_ascii;    // of a string or key: `raw` has only bytes below 0x80
    Str raw;          // points into the text: without the quotes; of a number, the literal
    size_t at;        // byte position of the first byte, the quote included
} JsonEvent;

typedef enum JsonExpect {
    JSON_EXPECT_VALUE,
    JSON_EXPECT_FIRST_ITEM, // a value, or the end of the array
    JSON_EXPECT_FIRST_KEY,  // a key, or the end of the object
    JSON_EXPECT_MORE,       // a comma, or the end of what is open
} JsonExpect;

typedef struct JsonReader {
    const char *start;
    const char *at;
    const char *end;
    size_t depth;
    size_t error_at; // byte position of the fault, once json_next has not answered OK
    JsonExpect expect;
    uint64_t is_object[LIMIT_JSON_DEPTH_MAX / 64]; // a bit per open container, outermost first
} JsonReader;

void json_reader_init(JsonReader *reader, Str text);

// ERR_INVALID with code BAD_JSON and "line L, column C: ..." (columns count code points), or
// ERR_LIMIT with code JSON_TOO_DEEP beyond LIMIT_JSON_DEPTH. The reader is of no use after either.
MUST_CHECK Status json_next(JsonReader *reader, JsonEvent *ret_event, Diag *diag);

// Line and column, both from 1, of a byte position.
typedef struct JsonPlace {
    size_t line;
    size_t column;
} JsonPlace;

// The double of a JSON_NUMBER's literal (1e999 is Infinity, as in JSON.parse).
double json_number(Str literal);
// True when the literal is an integer that fits, also written as 1e3 or 5.0.
bool json_number_to_i64(Str literal, int64_t *ret_value);
