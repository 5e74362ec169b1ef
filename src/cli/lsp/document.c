// Documents: texts, changes of them, and positions; see document.h.
//
// A change replaces a piece of the text; the whole is kept as one buffer, because checking a file
// reads all of it anyway. Where the lines begin is noted with each change, so that a position costs
// no more than its line.
#include "cli/lsp/document.h"
#include "base/memory.h"
#include "base/text/utf.h"
#include "flow/lexer/source.h"

enum { POSITION_MAX = 1 << 30 };

// ---- positions ----

static bool is_line_end(Str text, size_t at) {
    char c = text.data[at];
    return c == '\n' || (c == '\r' && (at + 1 == text.len || text.data[at + 1] != '\n'));
}

// The length in bytes of the character at `at`, and its UTF-16 units. Bytes that are no character
// count as one each.
static size_t character_at(Str text, size_t at, uint32_t *ret_units) {
    size_t len = utf8_sequence_len(text.data + at, text.data + text.len);
    *ret_units = len == 4 ? 2 : 1;
    return len ? len : 1;
}

static void index_lines(Document *document) {
    Str text = buf_str(&document->text);
    vec_clear(&document->line_starts);
    vec_push(&document->line_starts, 0);
    for (size_t i = 0; i < text.len; i++)
        if (is_line_end(text, i)) vec_push(&document->line_starts, (uint32_t)i + 1);
}

uint32_t position_offset(const Document *document, Position position) {
    Str text = buf_str(&document->text);
    if (position.line >= document->line_starts.count) return (uint32_t)text.len; // [document-2]
    size_t at = document->line_starts.data[position.line];
    for (uint32_t character = 0; character < position.character && at < text.len;) {
        uint32_t units;
        if (text.data[at] == '\n' || text.data[at] == '\r') break;
        size_t len = character_at(text, at, &units);
        if (character + units > position.character) break; // the middle of a pair: its beginning
        character += units;
        at += len;
    }
    return (uint32_t)at;
}

static Position position_of(const Document *document, uint32_t offset) {
    Str text = buf_str(&document->text);
    size_t low = 0, high = document->line_starts.count;
    while (high - low > 1) { // the last line that begins at the offset or before it
        size_t middle = low + (high - low) / 2;
        if (document->line_starts.data[middle] <= offset) low = middle;
        else high = middle;
    }
    Position position = {.line = (uint32_t)low};
    for (size_t at = document->line_starts.data[low]; at < offset && at < text.len;) {
        uint32_t units;
        at += character_at(text, at, &units);
        position.character += units;
    }
    return position;
}

Status position_read(const JsonValue *object, Position *ret_position, Diag *diag) {
    int64_t line = -1, character = -1;
    TRY(json_get_i64(object, "line", &line, diag));
    TRY(json_get_i64(object, "character", &character, diag));
    if (line < 0 || character < 0 || line > POSITION_MAX || character > POSITION_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "a position has a line and a character, both from 0");
    *ret_position = (Position){(uint32_t)line, (uint32_t)character};
    return OK;
}

static void put_position(JsonWriter *json, const char *key, Position position) {
    json_write_key(json, str_from(key));
    json_write_object_begin(json);
    json_put_i64(json, "line", position.line);
    json_put_i64(json, "character", position.character);
    json_write_object_end(json);
}

void position_put_range(JsonWriter *json, const char *key, const Document *document, Range range) {
    json_write_key(json, str_from(key));
    json_write_object_begin(json);
    put_position(json, "start", position_of(document, range.start));
    put_position(json, "end", position_of(document, range.end));
    json_write_object_end(json);
}

// ---- documents ----

void documents_init(Documents *documents) { *documents = (Documents){0}; }

void documents_close(Document *document) {
    mem_free(document->uri);
    buf_done(&document->text);
    vec_free(&document->line_starts);
    *document = (Document){0};
}

void documents_done(Documents *documents) {
    for (size_t i = 0; i < DOCUMENTS_MAX; i++)
        if (documents->items[i].uri) documents_close(&documents->items[i]);
}

Document *documents_find(Documents *documents, Str uri) {
    for (size_t i = 0; i < DOCUMENTS_MAX; i++) {
        Document *document = &documents->items[i];
        if (document->uri && str_equal(uri, str_from(document->uri))) return document;
    }
    return NULL;
}

static Status too_large(Diag *diag) {
    return diag_set(diag, ERR_LIMIT, "FILE_TOO_LARGE", "the text has more than %d bytes",
                    FLOW_SOURCE_MAX);
}

static Status text_set(Document *document, Str content, Diag *diag) {
    if (content.len > FLOW_SOURCE_MAX) return too_large(diag);
    buf_clear(&document->text);
    buf_append_str(&document->text, content);
    index_lines(document);
    return OK;
}

Status documents_open(Documents *documents, Str uri, Str text, Document **ret_document,
                      Diag *diag) {
    Document *document = documents_find(documents, uri);
    if (text.len > FLOW_SOURCE_MAX) return too_large(diag);
    for (size_t i = 0; !document && i < DOCUMENTS_MAX; i++) {
        if (documents->items[i].uri) continue;
        document = &documents->items[i];
        document->uri = mem_copy(uri.data, uri.len);
        buf_init(&document->text, FLOW_SOURCE_MAX);
    }
    if (!document)
        return diag_set(diag, ERR_LIMIT, "TOO_MANY_FILES", "more than %d files are open",
                        DOCUMENTS_MAX);
    TRY(text_set(document, text, diag));
    *ret_document = document;
    return OK;
}

Status document_change(Document *document, const JsonValue *change, Diag *diag) {
    Str content = STR_NULL;
    const JsonValue *range = NULL;
    TRY(json_get_string(change, "text", &content, diag));
    TRY(json_get_object(change, "range", &range, diag));
    if (str_is_null(content))
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD", "a change has a text");
    if (!range) return text_set(document, content, diag);
    Position first = {0}, last = {0};
    TRY(position_read(json_member(range, STR("start")), &first, diag));
    TRY(position_read(json_member(range, STR("end")), &last, diag));
    Str text = buf_str(&document->text);
    uint32_t start = position_offset(document, first), end = position_offset(document, last);
    if (end < start)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "a range ends before it begins");
    Buf changed;
    buf_init(&changed, FLOW_SOURCE_MAX);
    buf_append(&changed, text.data, start);
    buf_append_str(&changed, content);
    buf_append(&changed, text.data + end, text.len - end);
    if (changed.is_overflown) {
        buf_done(&changed);
        return too_large(diag);
    }
    buf_done(&document->text);
    document->text = changed;
    index_lines(document);
    return OK;
}
