// The URL of a PostgreSQL store: libpq's own, except for `schema`, which says where our tables are.
//
//   postgres://user@one,two:5433/orders?sslmode=verify-full&schema=abide
//
// Everything else goes to libpq untouched: several hosts, TLS, service files, passwords.
#include "base/memory.h"
#include "store/postgres/internal.h"
#include "store/store.h"
#include <stdio.h>

#define SCHEMA_KEY "schema="

static bool is_schema_char(char c, bool is_first) {
    bool is_letter = (c >= 'a' && c <= 'z') || c == '_';
    return is_letter || (!is_first && c >= '0' && c <= '9');
}

static Status schema_set(PgAddress *address, Str name, Diag *diag) {
    bool is_good = name.len > 0 && name.len <= PG_SCHEMA_NAME_MAX;
    for (size_t i = 0; i < name.len && is_good; i++) is_good = is_schema_char(name.data[i], i == 0);
    bool is_reserved = is_good && str_starts_with(name, STR("pg_"));
    if (!is_good || is_reserved) {
        return diag_set(diag, ERR_INVALID, "STORE_URL",
                        "\"%.*s\" cannot be the name of a schema: use lower-case letters, digits "
                        "and _, at most %d, not beginning with a digit or pg_",
                        STR_ARG(name), PG_SCHEMA_NAME_MAX);
    }
    memcpy(address->schema, name.data, name.len);
    address->schema[name.len] = '\0';
    return OK;
}

// Copies the URL without schema=NAME.
static Status url_split(PgAddress *address, Str url, Diag *diag) {
    Buf kept;
    buf_init(&kept, url.len + 1);
    const char *mark = memchr(url.data, '?', url.len);
    size_t base_len = mark != NULL ? (size_t)(mark - url.data) : url.len;
    buf_append(&kept, url.data, base_len);
    Status status = OK;
    bool is_first = true;
    for (size_t at = base_len + 1; at < url.len && status == OK;) {
        const char *end = memchr(url.data + at, '&', url.len - at);
        size_t len = end != NULL ? (size_t)(end - url.data) - at : url.len - at;
        Str part = {url.data + at, len};
        size_t key_len = sizeof(SCHEMA_KEY) - 1;
        if (str_starts_with(part, STR(SCHEMA_KEY))) {
            status = schema_set(address, (Str){part.data + key_len, len - key_len}, diag);
        } else {
            buf_append_char(&kept, is_first ? '?' : '&');
            buf_append_str(&kept, part);
            is_first = false;
        }
        at += len + 1;
    }
    if (status == OK) address->url = mem_copy(buf_str(&kept).data, kept.len);
    buf_done(&kept);
    return status;
}

// A password with a raw / or @ in it ends up where the port should be.
static bool are_ports_good(const PQconninfoOption *options) {
    for (; options->keyword != NULL; options++) {
        if (strcmp(options->keyword, "port") != 0 || options->val == NULL) continue;
        if (options->val[strspn(options->val, "0123456789,")] != '\0') return false;
    }
    return true;
}

// What libpq makes of it; a mistake is said before anything is connected. libpq's own words may
// quote the password.
static Status url_check(const char *url, Diag *diag) {
    char *text = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &text);
    bool is_good = options != NULL && are_ports_good(options);
    PQconninfoFree(options);
    if (is_good) return OK;
    Arena arena;
    arena_init(&arena);
    Str whole = str_from(url);
    bool is_secret = !str_equal(store_url_shown(whole, &arena), whole);
    Str reason = str_trim(str_from(text != NULL && !is_secret ? text : "it has a mistake"));
    Status status = diag_set(diag, ERR_INVALID, "STORE_URL",
                             "libpq does not understand the URL of the store: %.*s; use "
                             "postgres://USER@HOST/DATABASE?schema=abide, and in a password %%25 "
                             "for %%, %%40 for @, %%2F for /",
                             STR_ARG(reason));
    arena_done(&arena);
    PQfreemem(text);
    return status;
}

Status pg_address_new(Str url, PgAddress **ret_address, Diag *diag) {
    if (memchr(url.data, '\0', url.len) != NULL) {
        return diag_set(diag, ERR_INVALID, "STORE_URL", "the URL of the store has a NUL in it");
    }
    PgAddress *address = mem_zalloc(sizeof(PgAddress));
    snprintf(address->schema, sizeof(address->schema), "abide");
    Status status = url_split(address, url, diag);
    if (status == OK) status = url_check(address->url, diag);
    if (status != OK) {
        mem_free(address->url);
        mem_free(address);
        return status;
    }
    pthread_mutex_init(&address->mutex, NULL);
    address->user_count = 1;
    *ret_address = address;
    return OK;
}

void pg_address_join(PgAddress *address) {
    pthread_mutex_lock(&address->mutex);
    address->user_count++;
    pthread_mutex_unlock(&address->mutex);
}

void pg_address_leave(PgAddress *address) {
    pthread_mutex_lock(&address->mutex);
    bool is_last = --address->user_count == 0;
    pthread_mutex_unlock(&address->mutex);
    if (!is_last) return;
    pthread_mutex_destroy(&address->mutex);
    mem_free(address->url);
    mem_free(address);
}
