// The headers that say where a request ends, and whom it is for.
//
// The HTTP library is lenient: it takes the first of two lengths, prefers chunks to a length, and
// waits for the end of the connection when it does not know a coding. Invariant [M1] is in
// framing.h.
//
// Not here: tokens, hosts and origins (auth.c).
#include "server/framing.h"
#include "server/server.h"
#include <microhttpd.h>
#include <strings.h>

typedef struct Framing {
    int length_count, coding_count, host_count;
    bool has_bad_name;
    bool is_chunked;
} Framing;

// "!#$%&'*+-.^_`|~", digits and letters, as RFC 9110 has it.
static bool is_token(const char *text, size_t len) {
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_plain && (c == 0 || strchr(marks, c) == NULL)) return false;
    }
    return len > 0;
}

static bool is_name(const char *key, size_t len, const char *name) {
    return len == strlen(name) && strncasecmp(key, name, len) == 0;
}

static enum MHD_Result look(void *context, enum MHD_ValueKind kind, const char *key,
                            size_t key_size, const char *value, size_t value_size) {
    (void)kind;
    Framing *framing = context;
    framing->has_bad_name |= !is_token(key, key_size);
    if (is_name(key, key_size, "Host")) framing->host_count++;
    if (is_name(key, key_size, "Content-Length")) framing->length_count++;
    if (is_name(key, key_size, "Transfer-Encoding")) {
        framing->coding_count++;
        framing->is_chunked = value != NULL && is_name(value, value_size, "chunked");
    }
    return MHD_YES;
}

static const char *fault_of(const Framing *framing, Str version) {
    bool is_new = str_equal(version, STR("HTTP/1.1"));
    if (framing->has_bad_name) return "a header has a malformed name";
    if (framing->length_count > 1) return "Content-Length is there more than once";
    if (framing->coding_count > 1) return "Transfer-Encoding is there more than once";
    if (framing->coding_count == 1 && framing->length_count == 1)
        return "Content-Length and Transfer-Encoding do not go together";
    if (framing->coding_count == 1 && !framing->is_chunked)
        return "Transfer-Encoding: this server takes \"chunked\" only";
    if (framing->coding_count == 1 && !is_new) return "Transfer-Encoding needs HTTP/1.1";
    if (framing->host_count > 1) return "Host is there more than once";
    if (framing->host_count == 0 && is_new) return "Host is missing";
    return NULL;
}

bool framing_is_sound(Exchange *exchange, Str version) {
    Framing framing = {0};
    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, look, &framing);
    const char *fault = fault_of(&framing, version);
    if (fault == NULL) return true;
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_HEADER", "%s", fault);
    exchange_set_header(exchange, "Connection", STR("close")); // [M1]
    return false;
}
