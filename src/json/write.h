// JsonWriter: JSON text into a Buf, with commas and indentation in the right places.
//
//   JsonWriter writer;
//   json_writer_init(&writer, &buf, STR_NULL);
//   json_write_object_begin(&writer);
//   json_put_string(&writer, "name", name);
//   json_write_object_end(&writer);
//
// The buffer's ceiling is the writer's too: check buf.is_overflown once, at the end.
#pragma once
#include "base/containers/buf.h"
#include "json/value.h"

typedef struct JsonWriter {
    Buf *buf;
    Str gap;       // indentation per level; empty means one line without spaces
    size_t depth;  // open containers
    bool is_first; // nothing has been written yet in the innermost container
    bool is_after_key;
} JsonWriter;

void json_writer_init(JsonWriter *writer, Buf *buf, Str gap); // gap: STR_NULL, STR("  ")

void json_write_object_begin(JsonWriter *writer);
void json_write_object_end(JsonWriter *writer);
void json_write_array_begin(JsonWriter *writer);
void json_write_array_end(JsonWriter *writer);
void json_write_key(JsonWriter *writer, Str key);

void json_write_null(JsonWriter *writer);
void json_write_bool(JsonWriter *writer, bool value);
void json_write_i64(JsonWriter *writer, int64_t value);
void json_write_number(JsonWriter *writer, double value);
void json_write_string(JsonWriter *writer, Str value);       // a null Str is null
void json_write_cstr(JsonWriter *writer, const char *value); // NULL is null
// Text that is valid JSON already; copied as it is. A null Str is null.
void json_write_raw(JsonWriter *writer, Str json);
// A tree as it was read: numbers by their literal, members in order.
void json_write_value(JsonWriter *writer, const JsonValue *value);

// Key and value in one.
void json_put_null(JsonWriter *writer, const char *key);
void json_put_bool(JsonWriter *writer, const char *key, bool value);
void json_put_i64(JsonWriter *writer, const char *key, int64_t value);
void json_put_number(JsonWriter *writer, const char *key, double value);
void json_put_string(JsonWriter *writer, const char *key, Str value);
void json_put_cstr(JsonWriter *writer, const char *key, const char *value);
void json_put_raw(JsonWriter *writer, const char *key, Str json);
void json_put_instant(JsonWriter *writer, const char *key, int64_t at_ms); // RFC 3339 text

// ---- whole texts, in the arena ----

// {"key":json}; the value is valid JSON already.
Str json_wrap(Arena *arena, const char *key, Str json);
// An error object, {"type":…,"code":…,"message":…}; without a code when it is null. A text that is
// too long for one is cut off whole: nobody refuses an error because of it.
Str json_error(Arena *arena, Str type, Str code, Str message);
