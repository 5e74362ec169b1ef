// Source: copies the text once, and finds its lines once.
//
// A line ends at LF, CR, CR LF, U+2028 or U+2029, as ECMAScript has it. The table costs four bytes
// a line and is what turns the offsets of the tree, of the bytecode and of messages into lines.
// Text that is not UTF-8 can be held and shown, but flow_source_check refuses to have it parsed.
#include "flow/lexer/source.h"
#include "base/containers/vec.h"
#include "base/text/utf.h"
#include "flow/lexer/report.h"

// Answers the length of the line terminator at `at`, 0 when there is none.
static size_t terminator_size(const char *at) {
    if (*at == '\n') return 1;
    if (*at == '\r') return at[1] == '\n' ? 2 : 1;
    if ((unsigned char)*at == 0xE2 && (unsigned char)at[1] == 0x80 &&
        ((unsigned char)at[2] == 0xA8 || (unsigned char)at[2] == 0xA9))
        return 3;
    return 0;
}

typedef VEC(uint32_t) LineStarts;

// Nearly every file: lines end with LF and nothing else.
static void find_plain_lines(Str text, LineStarts *starts) {
    const char *end = text.data + text.len;
    const char *at = text.data;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL)
        vec_push(starts, (uint32_t)(++at - text.data));
}

static void find_all_lines(Str text, LineStarts *starts) {
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.data[i];
        size_t size = c > '\r' && c != 0xE2 ? 0 : terminator_size(text.data + i);
        i += size ? size : 1;
        if (size) vec_push(starts, (uint32_t)i);
    }
}

static bool has_separators(Str text) { // U+2028, U+2029
    const char *end = text.data + text.len;
    for (const char *at = text.data;
         at < end && (at = memchr(at, 0xE2, (size_t)(end - at))) != NULL; at++)
        if (terminator_size(at) > 0) return true;
    return false;
}

static void find_lines(FlowSource *source, Arena *arena) {
    Str text = source->text;
    LineStarts starts = {0};
    vec_push(&starts, 0);
    bool is_plain = text.len == 0 || (!memchr(text.data, '\r', text.len) && !has_separators(text));
    if (is_plain) find_plain_lines(text, &starts);
    else find_all_lines(text, &starts);
    source->line_count = (uint32_t)starts.count;
    source->line_starts = arena_alloc(arena, starts.count * sizeof(uint32_t));
    memcpy(source->line_starts, starts.data, starts.count * sizeof(uint32_t));
    vec_free(&starts);
}

Status flow_source_init(FlowSource *source, Str name, Str text, Arena *arena, Diag *diag) {
    if (text.len > FLOW_SOURCE_MAX)
        return diag_set(diag, ERR_LIMIT, "FLOW_TOO_LARGE",
                        "%.*s has %zu bytes; a workflow file may have at most %d", STR_ARG(name),
                        text.len, FLOW_SOURCE_MAX);
    char *copy = arena_alloc(arena, text.len + FLOW_SOURCE_PADDING);
    if (text.len > 0) memcpy(copy, text.data, text.len);
    memset(copy + text.len, 0, FLOW_SOURCE_PADDING);
    source->name = arena_str(arena, name);
    source->text = (Str){copy, text.len};
    find_lines(source, arena);
    return OK;
}

bool flow_source_check(const FlowSource *source, FlowReport *report) {
    Str text = source->text;
    const char *nul = text.len > 0 ? memchr(text.data, 0, text.len) : NULL;
    if (nul) {
        uint32_t at = (uint32_t)(nul - text.data);
        flow_report_add(report,
                        &(FlowFinding){.code = FLOW_ERROR_ENCODING,
                                       .start = at,
                                       .end = at + 1,
                                       .hint = "A workflow is a text file; this one holds "
                                               "binary data"},
                        "NUL byte in the source text");
        return false;
    }
    size_t valid = utf8_valid_prefix(text);
    if (valid == text.len) return true;
    uint32_t at = (uint32_t)valid;
    flow_report_add(report,
                    &(FlowFinding){.code = FLOW_ERROR_ENCODING,
                                   .start = at,
                                   .end = at + 1,
                                   .hint = "Save the file as UTF-8"},
                    "The text is not valid UTF-8 (byte 0x%02X)", (unsigned char)text.data[valid]);
    return false;
}

FlowPosition flow_source_position(const FlowSource *source, uint32_t offset) {
    if (offset > source->text.len) offset = (uint32_t)source->text.len;
    uint32_t low = 0;
    uint32_t high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= offset) low = middle;
        else high = middle;
    }
    uint32_t column = 1;
    for (uint32_t i = source->line_starts[low]; i < offset; i++)
        if (((unsigned char)source->text.data[i] & 0xC0) != 0x80) column++;
    return (FlowPosition){low + 1, column};
}

Str flow_source_line(const FlowSource *source, uint32_t line) {
    uint32_t start = source->line_starts[line - 1];
    uint32_t end = start;
    while (end < source->text.len && terminator_size(source->text.data + end) == 0) end++;
    return (Str){source->text.data + start, end - start};
}
