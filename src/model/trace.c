// Ids of spans, and the text they travel in (W3C Trace Context, version 00).
//
// Invariants [model-trace-1] and [model-trace-2] are in trace.h.
//
// Not here: measuring and sending spans (server/observe/trace.c).
#include "model/trace.h"
#include "base/containers/hash.h"
#include "base/text/hex.h"
#include <stdio.h>

#define TAG_PREFIX "traceparent="
enum { TAG_PREFIX_SIZE = sizeof TAG_PREFIX - 1, TAG_SIZE = TAG_PREFIX_SIZE + TRACEPARENT_SIZE };

// ---- text ----

static bool is_upper(char c) { return c >= 'A' && c <= 'F'; } // the standard has lower case

// False for anything but hex; *ret_is_zero when every byte is 0, which no id may be.
static bool read_hex(const char *text, uint8_t *ret_bytes, size_t size, bool *ret_is_zero) {
    *ret_is_zero = true;
    for (size_t i = 0; i < size; i++) {
        int byte = hex_byte(text + 2 * i);
        if (byte < 0 || is_upper(text[2 * i]) || is_upper(text[2 * i + 1])) return false;
        ret_bytes[i] = (uint8_t)byte;
        if (ret_bytes[i] != 0) *ret_is_zero = false;
    }
    return true;
}

bool trace_parent_parse(Str text, TraceParent *ret_parent) {
    // "00-" trace "-" span "-" flags; later versions may go on after another dash.
    if (str_is_null(text) || text.len < TRACEPARENT_SIZE) return false;
    const char *at = text.data;
    uint8_t version, flags;
    bool is_zero, is_trace_zero, is_span_zero;
    TraceParent parent;
    if (at[2] != '-' || at[35] != '-' || at[52] != '-') return false;
    if (!read_hex(at, &version, 1, &is_zero) || version == 0xff) return false;
    if (!read_hex(at + 3, parent.trace_id, TRACE_ID_SIZE, &is_trace_zero) ||
        !read_hex(at + 36, parent.span_id, SPAN_ID_SIZE, &is_span_zero) ||
        !read_hex(at + 53, &flags, 1, &is_zero))
        return false;
    bool is_long = text.len > TRACEPARENT_SIZE;
    if (is_trace_zero || is_span_zero || (is_long && (version == 0 || at[55] != '-'))) return false;
    parent.is_sampled = flags & 1;
    *ret_parent = parent;
    return true;
}

TraceParentText trace_parent_format(const TraceParent *parent) {
    TraceParentText answer = {"00-"};
    hex_write(answer.text + 3, parent->trace_id, TRACE_ID_SIZE);
    answer.text[35] = '-';
    hex_write(answer.text + 36, parent->span_id, SPAN_ID_SIZE);
    memcpy(answer.text + 52, parent->is_sampled ? "-01" : "-00", sizeof "-01");
    return answer;
}

// "key=value", with what the standard allows in either.
static bool is_state_member(Str member) {
    const char *equals = memchr(member.data, '=', member.len);
    if (equals == NULL || equals == member.data) return false;
    for (size_t i = 0; i < member.len; i++) {
        char c = member.data[i];
        bool is_key = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      (c != 0 && strchr("_-*/@", c) != NULL);
        if (member.data + i < equals && !is_key) return false;
        if (member.data + i > equals && (c < ' ' || c > '~' || c == '=')) return false;
    }
    return equals + 1 < member.data + member.len;
}

Str trace_state_read(Str text) {
    size_t end = 0;
    Str left = text, piece;
    if (str_is_null(text)) return text;
    while (str_split(&left, ',', &piece)) {
        Str member = str_trim(piece);
        if (member.len > 0 && !is_state_member(member)) return STR_NULL;
        size_t piece_end = (size_t)(piece.data - text.data) + piece.len;
        if (member.len > 0 && piece_end <= TRACESTATE_SIZE_MAX) end = piece_end;
    }
    Str state = str_trim((Str){text.data, end});
    return state.len > 0 ? state : STR_NULL;
}

// ---- tags ----

// The last tag, when it is a traceparent: "traceparent=…", or the same, a space and a tracestate.
// Null = it is not.
static Str trace_tag(Str tags) {
    size_t at = tags.len;
    while (at > 0 && tags.data[at - 1] != '\n') at--;
    Str tag = {tags.data + at, tags.len - at};
    if (tag.len < TAG_SIZE || memcmp(tag.data, TAG_PREFIX, TAG_PREFIX_SIZE) != 0) return STR_NULL;
    return tag.len == TAG_SIZE || tag.data[TAG_SIZE] == ' ' ? tag : STR_NULL;
}

Str tags_trace(Str tags) {
    Str tag = trace_tag(tags);
    return str_is_null(tag) ? tag : (Str){tag.data + TAG_PREFIX_SIZE, TRACEPARENT_SIZE};
}

Str tags_trace_state(Str tags) {
    Str tag = trace_tag(tags);
    if (tag.len <= TAG_SIZE) return STR_NULL;
    return (Str){tag.data + TAG_SIZE + 1, tag.len - TAG_SIZE - 1};
}

Str tags_without_trace(Str tags) {
    Str tag = trace_tag(tags);
    if (str_is_null(tag)) return tags;
    return tag.len == tags.len ? STR_NULL : (Str){tags.data, tags.len - tag.len - 1};
}

Str tags_with_trace(Arena *arena, Str tags, const TraceParent *parent, Str state) {
    TraceParentText text = trace_parent_format(parent);
    Str others = tags_without_trace(tags);
    const char *between = others.len > 0 ? "\n" : "", *space = state.len > 0 ? " " : "";
    return arena_printf(arena, "%.*s%s" TAG_PREFIX "%s%s%.*s", STR_ARG(others), between, text.text,
                        space, STR_ARG(state));
}

// ---- ids ----

typedef enum SpanOf { SPAN_OF_RUN = 'r', SPAN_OF_TURN = 't', SPAN_OF_ATTEMPT = 'a' } SpanOf;

static void derive(uint8_t ret_digest[SHA256_SIZE], SpanOf of, Str id, int64_t number) {
    char head[40];
    int len = snprintf(head, sizeof head, "abide %c %lld ", of, (long long)number);
    Sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, head, (size_t)len);
    sha256_update(&sha, id.data, id.len);
    sha256_final(&sha, ret_digest);
}

static TraceParent below(const TraceParent *above, SpanOf of, Str id, int64_t number) {
    uint8_t digest[SHA256_SIZE];
    derive(digest, of, id, number);
    TraceParent answer = *above;
    memcpy(answer.span_id, digest, SPAN_ID_SIZE);
    return answer;
}

static TraceParent trace_from(SpanOf of, Str id) {
    uint8_t digest[SHA256_SIZE];
    derive(digest, of, id, -1);
    TraceParent answer = {.is_sampled = true};
    memcpy(answer.trace_id, digest, TRACE_ID_SIZE);
    return answer;
}

bool trace_of_run(Str run_id, Str tags, TraceParent *ret_run, TraceParent *ret_above) {
    TraceParent above;
    bool has_above = trace_parent_parse(tags_trace(tags), &above);
    if (!has_above) above = trace_from(SPAN_OF_RUN, run_id);
    if (has_above && ret_above != NULL) *ret_above = above;
    *ret_run = below(&above, SPAN_OF_RUN, run_id, 0);
    return has_above;
}

TraceParent trace_of_turn(const TraceParent *run, Str run_id, int64_t turn_seq) {
    return below(run, SPAN_OF_TURN, run_id, turn_seq);
}

TraceParent trace_of_attempt(const TraceParent *run, Str task_id, int64_t attempt) {
    return below(run, SPAN_OF_ATTEMPT, task_id, attempt);
}

TraceParent trace_of_lone_task(Str task_id) { return trace_from(SPAN_OF_ATTEMPT, task_id); }
