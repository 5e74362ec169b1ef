// JsonWriter: three facts (depth, first, after a key) decide every comma and line break.
//
// No stack is needed: a container that ends leaves its parent with at least one item, so
// `is_first` is false there. Layout with a gap is that of JSON.stringify(value, null, gap).
//   [json-write-1] Between begin and end of an object, keys and values alternate; asserted where
//        cheap.
//   [json-write-2] Empty containers are {} and [], with a gap too.
#include "json/write.h"
#include "base/assert.h"
#include "base/containers/vec.h"
#include "base/limits.h"
#include "base/text/number.h"
#include "base/time/duration.h"
#include "json/escape.h"

void json_writer_init(JsonWriter *writer, Buf *buf, Str gap) {
    *writer = (JsonWriter){.buf = buf, .gap = gap, .is_first = true};
}

static void new_line(JsonWriter *writer) {
    if (writer->gap.len == 0) return;
    buf_append_char(writer->buf, '\n');
    for (size_t i = 0; i < writer->depth && !writer->buf->is_overflown; i++) {
        buf_append_str(writer->buf, writer->gap);
    }
}

// What stands before a key or an item.
static void begin_entry(JsonWriter *writer) {
    if (!writer->is_first) buf_append_char(writer->buf, ',');
    if (writer->depth > 0) new_line(writer);
    writer->is_first = false;
}

static void begin_value(JsonWriter *writer) {
    if (writer->is_after_key) writer->is_after_key = false;
    else begin_entry(writer);
}

static void open_container(JsonWriter *writer, char bracket) {
    begin_value(writer);
    buf_append_char(writer->buf, bracket);
    writer->depth++;
    writer->is_first = true;
}

static void close_container(JsonWriter *writer, char bracket) {
    ASSERT(writer->depth > 0 && !writer->is_after_key); // [json-write-1]
    writer->depth--;
    if (!writer->is_first) new_line(writer); // [json-write-2]
    writer->is_first = false;
    buf_append_char(writer->buf, bracket);
}

void json_write_object_begin(JsonWriter *writer) { open_container(writer, '{'); }

void json_write_object_end(JsonWriter *writer) { close_container(writer, '}'); }

void json_write_array_begin(JsonWriter *writer) { open_container(writer, '['); }

void json_write_array_end(JsonWriter *writer) { close_container(writer, ']'); }

void json_write_key(JsonWriter *writer, Str key) {
    ASSERT(writer->depth > 0 && !writer->is_after_key); // [json-write-1]
    begin_entry(writer);
    json_append_string(writer->buf, key);
    buf_append_char(writer->buf, ':');
    if (writer->gap.len > 0) buf_append_char(writer->buf, ' ');
    writer->is_after_key = true;
}

// ---- values

void json_write_raw(JsonWriter *writer, Str json) {
    begin_value(writer);
    buf_append_str(writer->buf, str_is_null(json) ? STR("null") : json);
}

void json_write_null(JsonWriter *writer) { json_write_raw(writer, STR("null")); }

void json_write_bool(JsonWriter *writer, bool value) {
    json_write_raw(writer, value ? STR("true") : STR("false"));
}

void json_write_i64(JsonWriter *writer, int64_t value) {
    char text[NUMBER_TEXT_MAX];
    size_t len = number_format_i64(value, text);
    json_write_raw(writer, (Str){text, len});
}

void json_write_number(JsonWriter *writer, double value) {
    begin_value(writer);
    json_append_number(writer->buf, value);
}

void json_write_string(JsonWriter *writer, Str value) {
    if (str_is_null(value)) {
        json_write_null(writer);
        return;
    }
    begin_value(writer);
    json_append_string(writer->buf, value);
}

void json_write_cstr(JsonWriter *writer, const char *value) {
    json_write_string(writer, str_from(value));
}

// ---- trees

static void write_scalar(JsonWriter *writer, const JsonValue *value) {
    switch (value->kind) {
    case JSON_KIND_NULL: json_write_null(writer); return;
    case JSON_KIND_BOOL: json_write_bool(writer, value->boolean); return;
    case JSON_KIND_NUMBER: json_write_raw(writer, value->raw); return;
    case JSON_KIND_STRING: json_write_string(writer, value->string); return;
    case JSON_KIND_ARRAY:
    case JSON_KIND_OBJECT:
    case JSON_KIND_COUNT: break;
    }
    UNREACHABLE();
}

void json_write_value(JsonWriter *writer, const JsonValue *value) {
    VEC(const JsonValue *) open = {0}; // the containers that are being written
    const JsonValue *at = value;
    for (;;) {
        if (at != value && at->key.data) json_write_key(writer, at->key);
        bool is_object = at->kind == JSON_KIND_OBJECT;
        if (is_object || at->kind == JSON_KIND_ARRAY) {
            open_container(writer, is_object ? '{' : '[');
            vec_push(&open, at);
            if (at->first) {
                at = at->first;
                continue;
            }
        } else {
            write_scalar(writer, at);
        }
        // Close what ends here: `at` is a scalar or an empty container that is still open.
        while (open.count > 0 && (at == vec_last(&open) || !at->next)) {
            at = vec_pop(&open);
            close_container(writer, at->kind == JSON_KIND_OBJECT ? '}' : ']');
            if (at == value || at->next) break;
        }
        if (open.count == 0) break;
        at = at->next;
    }
    vec_free(&open);
}

// ---- members

static void put_key(JsonWriter *writer, const char *key) { json_write_key(writer, str_from(key)); }

void json_put_null(JsonWriter *writer, const char *key) {
    put_key(writer, key);
    json_write_null(writer);
}

void json_put_bool(JsonWriter *writer, const char *key, bool value) {
    put_key(writer, key);
    json_write_bool(writer, value);
}

void json_put_i64(JsonWriter *writer, const char *key, int64_t value) {
    put_key(writer, key);
    json_write_i64(writer, value);
}

void json_put_number(JsonWriter *writer, const char *key, double value) {
    put_key(writer, key);
    json_write_number(writer, value);
}

void json_put_string(JsonWriter *writer, const char *key, Str value) {
    put_key(writer, key);
    json_write_string(writer, value);
}

void json_put_cstr(JsonWriter *writer, const char *key, const char *value) {
    put_key(writer, key);
    json_write_cstr(writer, value);
}

void json_put_raw(JsonWriter *writer, const char *key, Str json) {
    put_key(writer, key);
    json_write_raw(writer, json);
}

void json_put_instant(JsonWriter *writer, const char *key, int64_t at_ms) {
    char text[INSTANT_TEXT_MAX];
    size_t len = instant_format(at_ms, text);
    json_put_string(writer, key, (Str){text, len});
}

// ---- whole texts ----

static Str take_text(Arena *arena, Buf *text) {
    Str taken = arena_str(arena, buf_str(text));
    buf_done(text);
    return taken;
}

Str json_wrap(Arena *arena, const char *key, Str json) {
    Buf text;
    JsonWriter writer;
    buf_init(&text, json.len + strlen(key) + 64);
    json_writer_init(&writer, &text, STR_NULL);
    json_write_object_begin(&writer);
    json_put_raw(&writer, key, json);
    json_write_object_end(&writer);
    ASSERT(!text.is_overflown); // keys are words
    return take_text(arena, &text);
}

Str json_error(Arena *arena, Str type, Str code, Str message) {
    Buf text;
    JsonWriter writer;
    buf_init(&text, LIMIT_ERROR_SIZE);
    json_writer_init(&writer, &text, STR_NULL);
    json_write_object_begin(&writer);
    json_put_string(&writer, "type", type);
    if (!str_is_null(code)) json_put_string(&writer, "code", code);
    json_put_string(&writer, "message", message);
    json_write_object_end(&writer);
    if (!text.is_overflown) return take_text(arena, &text);
    buf_done(&text);
    return STR("{\"type\":\"Error\",\"message\":\"(error text too long)\"}");
}
