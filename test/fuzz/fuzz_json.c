// Fuzz target: JSON text in every direction.
//
// Properties, for any bytes:
//   [fuzz-json-1] json_validate and json_parse answer the same, and so does the reader without a
//        Diag.
//   [fuzz-json-2] What parses is UTF-8, and the values' source texts lie inside it and parse again.
//   [fuzz-json-3] A parsed tree written out, compact or indented, parses again to an equal tree.
//   [fuzz-json-4] Any bytes as a string are written as valid JSON.
#include "base/assert.h"
#include "base/text/utf.h"
#include "fuzz.h"
#include "json/escape.h"
#include "json/validate.h"
#include "json/write.h"

static void check_written_again(Arena *arena, const JsonValue *value, Str gap) {
    Buf buf;
    buf_init(&buf, 64 << 20);
    JsonWriter writer;
    json_writer_init(&writer, &buf, gap);
    json_write_value(&writer, value);
    ASSERT(!buf.is_overflown);
    JsonValue *again = NULL;
    ASSERT(json_parse(arena, buf_str(&buf), &again, NULL) == OK);
    ASSERT(json_equal(value, again)); // [fuzz-json-3]
    buf_done(&buf);
}

static void check_sources(Str text, const JsonValue *root) {
    ASSERT(utf8_is_valid(text)); // [fuzz-json-2]
    const JsonValue *value = root;
    for (int steps = 0; value && steps < 64; steps++) {
        ASSERT(value->raw.data >= text.data);
        ASSERT(value->raw.data + value->raw.len <= text.data + text.len);
        ASSERT(json_validate(value->raw, NULL) == OK);
        bool is_container = value->kind == JSON_KIND_ARRAY || value->kind == JSON_KIND_OBJECT;
        value = is_container && value->first ? value->first : value->next;
    }
}

static void check_as_string(Str bytes) {
    Buf buf;
    buf_init(&buf, 64 << 20);
    json_append_string(&buf, bytes);
    ASSERT(json_validate(buf_str(&buf), NULL) == OK); // [fuzz-json-4]
    buf_clear(&buf);
    json_append_string_latin1(&buf, (const uint8_t *)bytes.data, bytes.len);
    ASSERT(json_validate(buf_str(&buf), NULL) == OK);
    buf_done(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str text = {(const char *)data, size};
    Arena arena;
    arena_init(&arena);
    Diag diag;
    JsonValue *value = NULL;
    Status status = json_parse(&arena, text, &value, &diag);
    ASSERT(json_validate(text, NULL) == status); // [fuzz-json-1]
    if (status == OK) {
        check_sources(text, value);
        check_written_again(&arena, value, STR_NULL);
        check_written_again(&arena, value, STR(" "));
    } else {
        ASSERT(diag.code[0] && utf8_is_valid(str_from(diag.message)));
    }
    check_as_string(text);
    arena_done(&arena);
    return 0;
}
