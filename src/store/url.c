// The URL of a store for people: without what is secret in it.
//
// Better too much is left out than too little: a URL that nobody can parse may have a password in
// it all the same.
//
// Not here: what a URL means (postgres/url.c, redis/url.c).
#include "base/containers/buf.h"
#include "store/store.h"

// The parameters of libpq whose values are secrets.
static bool is_secret(Str parameter) {
    return str_starts_with(parameter, STR("password=")) ||
           str_starts_with(parameter, STR("sslpassword="));
}

static void append_query(Buf *shown, Str query) {
    for (size_t at = 0; at < query.len;) {
        const char *end = memchr(query.data + at, '&', query.len - at);
        size_t len = end != NULL ? (size_t)(end - query.data) - at + 1 : query.len - at;
        Str part = {query.data + at, len};
        if (!is_secret(part)) {
            buf_append_str(shown, part);
        } else {
            const char *value = memchr(part.data, '=', part.len);
            buf_append(shown, part.data, (size_t)(value - part.data) + 1);
            buf_append_cstr(shown, end != NULL ? "***&" : "***");
        }
        at += len;
    }
}

Str store_url_shown(Str url, Arena *arena) {
    const char *scheme = url.len > 0 ? memmem(url.data, url.len, "://", 3) : NULL;
    if (scheme == NULL) return url;
    Buf shown;
    buf_init(&shown, 4 * url.len + 64);
    const char *first = scheme + 3, *end = url.data + url.len;
    const char *at = memrchr(first, '@', (size_t)(end - first));
    const char *colon = at != NULL ? memchr(first, ':', (size_t)(at - first)) : NULL;
    if (colon != NULL) {
        buf_append(&shown, url.data, (size_t)(colon - url.data));
        buf_append_cstr(&shown, ":***");
        first = at;
    } else {
        buf_append(&shown, url.data, (size_t)(first - url.data));
    }
    const char *mark = memchr(first, '?', (size_t)(end - first));
    const char *query = mark != NULL ? mark + 1 : end;
    buf_append(&shown, first, (size_t)(query - first));
    append_query(&shown, (Str){query, (size_t)(end - query)});
    Str text = arena_str(arena, buf_str(&shown));
    buf_done(&shown);
    return text;
}
