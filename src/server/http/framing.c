// The headers of a request: where it ends, whom it is for, what it says.
//
// The HTTP library is lenient: it takes the first of two lengths, prefers chunks to a length, waits
// for the end of the connection when it does not know a coding, joins folded lines, takes a lone LF
// for the end of a line, and cuts lines at a NUL. What it has joined or cut is not to be seen in
// what it hands out; but names and values stand where they came in, and the length of the whole
// head is known, so every byte is accounted for (docs/decisions/0030). Invariants
// [framing-1]-[framing-3] are in framing.h.
//
// Not here: tokens and origins (auth.c).
#include "server/http/framing.h"
#include "base/text/number.h"
#include "server/server.h"
#include <microhttpd.h>
#include <strings.h>

enum { LINE_END_SIZE = 2 }; // CR LF, which the library overwrites with NULs

typedef struct Framing {
    Exchange *exchange;
    const char *next; // where the next line must begin; NULL = not known of this library
    size_t capacity;  // of exchange->received
    int length_count, coding_count, host_count;
    bool is_chunked;
    const char *fault; // the first; NULL = none
} Framing;

static const char *const BAD_LINE =
    "a line is folded, has a NUL in it, or ends in something else than CR LF";

static void set_fault(Framing *framing, const char *fault) {
    if (framing->fault == NULL) framing->fault = fault;
}

// ---- characters ----

static bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool has_only(Str text, const char *marks) { // letters, digits and these
    for (size_t i = 0; i < text.len; i++)
        if (!is_alphanumeric(text.data[i]) &&
            (text.data[i] == 0 || strchr(marks, text.data[i]) == NULL))
            return false;
    return true;
}

static bool is_token(Str text) { return text.len > 0 && has_only(text, "!#$%&'*+-.^_`|~"); }

static bool has_control(Str text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) return true;
    }
    return false;
}

static bool is_name(Str text, const char *name) {
    return text.len == strlen(name) && strncasecmp(text.data, name, text.len) == 0;
}

static bool is_port(Str text) {
    int64_t port;
    return text.len == 0 || number_parse_count(text, UINT16_MAX, &port);
}

// A name or an address, and maybe a port. Empty stands for none.
static bool is_host(Str text) {
    size_t end = 0;
    bool is_literal = text.len > 0 && text.data[0] == '[';
    if (is_literal) {
        const char *close = memchr(text.data, ']', text.len);
        if (close == NULL) return false;
        end = (size_t)(close - text.data) + 1;
        if (!has_only((Str){text.data + 1, end - 2}, ":.")) return false;
    } else {
        const char *colon = memchr(text.data, ':', text.len);
        end = colon == NULL ? text.len : (size_t)(colon - text.data);
        if (!has_only((Str){text.data, end}, "-._~%!$&'()*+,;=")) return false;
    }
    if (end == text.len) return true;
    return text.data[end] == ':' && is_port((Str){text.data + end + 1, text.len - end - 1});
}

// ---- lines ----

// Of other versions it is not known where they leave what came in.
static bool keeps_lines(void) { return strncmp(MHD_get_version(), "0.9.75", 6) == 0; }

// Where the head must end: behind the empty line.
static const char *end_of_head(const Exchange *exchange, const char *method) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? NULL : method + info->header_size;
}

static bool is_blank(const char *from, const char *to) {
    for (; from < to; from++)
        if (*from != ' ' && *from != '\t') return false;
    return from == to;
}

// [framing-1] Between name and value there is a colon (now a NUL) and white space, behind them one
//      CR LF.
static void check_line(Framing *framing, Str name, Str value) {
    if (framing->next == NULL) return;
    if (name.data != framing->next || !is_blank(name.data + name.len + 1, value.data))
        set_fault(framing, BAD_LINE);
    framing->next = value.data + value.len + LINE_END_SIZE;
}

static enum MHD_Result take(void *context, enum MHD_ValueKind kind, const char *key,
                            size_t key_size, const char *value, size_t value_size) {
    (void)kind;
    Framing *framing = context;
    Exchange *exchange = framing->exchange;
    Str name = {key, key_size}, sent = {value == NULL ? key + key_size : value, value_size};
    check_line(framing, name, sent);
    if (!is_token(name)) set_fault(framing, "a header has a malformed name");
    if (has_control(sent)) set_fault(framing, "a header has a control character in it");
    Str text = str_trim(sent); // [framing-2]
    if (is_name(name, "Host")) {
        framing->host_count++;
        if (!is_host(text)) set_fault(framing, "Host is neither a name nor an address");
    }
    if (is_name(name, "Content-Length")) framing->length_count++;
    if (is_name(name, "Transfer-Encoding")) {
        framing->coding_count++;
        framing->is_chunked = is_name(sent, "chunked"); // as the library compares it
    }
    ASSERT(exchange->received_count < framing->capacity);
    exchange->received[exchange->received_count++] = (RequestHeader){name, text};
    return MHD_YES;
}

// ---- all of them ----

static void check_counts(Framing *framing, bool is_new) {
    if (framing->length_count > 1) set_fault(framing, "Content-Length is there more than once");
    if (framing->coding_count > 1) set_fault(framing, "Transfer-Encoding is there more than once");
    if (framing->coding_count == 1 && framing->length_count == 1)
        set_fault(framing, "Content-Length and Transfer-Encoding do not go together");
    if (framing->coding_count == 1 && !framing->is_chunked)
        set_fault(framing, "Transfer-Encoding: this server takes \"chunked\" only");
    if (framing->coding_count == 1 && !is_new)
        set_fault(framing, "Transfer-Encoding needs HTTP/1.1");
    if (framing->host_count > 1) set_fault(framing, "Host is there more than once");
    if (framing->host_count == 0 && is_new) set_fault(framing, "Host is missing");
}

static bool refuse(Exchange *exchange, const char *fault) {
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_HEADER", "%s", fault);
    exchange_set_header(exchange, "Connection", STR("close")); // [framing-1]
    return false;
}

bool framing_read(Exchange *exchange, const char *method, const char *version) {
    int count = MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, NULL, NULL);
    Framing framing = {.exchange = exchange, .capacity = count > 0 ? (size_t)count : 0};
    exchange->received = ARENA_ARRAY(&exchange->arena, RequestHeader, framing.capacity);
    if (keeps_lines()) framing.next = version + strlen(version) + LINE_END_SIZE;
    if (keeps_lines() && (exchange->target != method + strlen(method) + 1 ||
                          version != exchange->target + exchange->uri.len + 1))
        set_fault(&framing, "the first line is not METHOD TARGET VERSION, or has a NUL in it");
    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, take, &framing);
    if (keeps_lines() && framing.next + LINE_END_SIZE != end_of_head(exchange, method))
        set_fault(&framing, BAD_LINE);
    check_counts(&framing, strcmp(version, "HTTP/1.0") != 0);
    Str length = exchange_header(exchange, "Content-Length");
    // The library takes digits only, so what is no number here is one that is too large.
    exchange->declared_size = str_is_null(length) ? -1 : INT64_MAX;
    if (!str_is_null(length)) (void)number_parse_count(length, INT64_MAX, &exchange->declared_size);
    exchange->has_body = framing.is_chunked || exchange->declared_size > 0;
    return framing.fault == NULL || refuse(exchange, framing.fault);
}

bool framing_is_whole(Exchange *exchange) {
    int64_t declared_size = exchange->declared_size;
    if (declared_size < 0 || (size_t)declared_size == exchange->received_size) return true;
    return refuse(exchange, "Content-Length is not the length of what arrived");
}
