// The URL of a Redis store, and the names of its keys.
//
//   redis://user:password@host:6379/0?prefix=abide
//   redis://user:password@/0?socket=/run/redis/redis.sock
//
// Everything but the word redis may be left out: 127.0.0.1, 6379, database 0, prefix abide. In user
// and password, %40 and the like stand for characters that would end them.
//
//   [url-1] All keys begin with {prefix}: the braces make a cluster keep them in one place.
#include "base/memory.h"
#include "base/text/hex.h"
#include "base/text/number.h"
#include "store/redis/internal.h"
#include <stdio.h>

#define FORM "use redis://USER:PASSWORD@HOST:PORT/DATABASE?prefix=NAME"

// NULL when it is no text that can be sent.
static char *text_decode(Str text) {
    char *decoded = mem_copy(text.data, text.len);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++, len++) {
        decoded[len] = text.data[i];
        if (text.data[i] != '%') continue;
        int byte = i + 2 < text.len ? hex_byte(text.data + i + 1) : -1;
        if (byte <= 0) {
            mem_free(decoded);
            return NULL;
        }
        decoded[len] = (char)byte;
        i += 2;
    }
    decoded[len] = '\0';
    return decoded;
}

static Status bad(Diag *diag, const char *what) {
    return diag_set(diag, ERR_INVALID, "STORE_URL", "%s in the URL of the store; " FORM, what);
}

static Status prefix_set(RedisAddress *address, Str name, Diag *diag) {
    bool is_good = name.len > 0 && name.len <= REDIS_PREFIX_MAX;
    for (size_t i = 0; i < name.len && is_good; i++) {
        char c = name.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        is_good = is_letter || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    }
    if (!is_good) {
        return diag_set(diag, ERR_INVALID, "STORE_URL",
                        "\"%.*s\" cannot be a prefix of keys: use letters, digits, _, - and ., at "
                        "most %d",
                        STR_ARG(name), REDIS_PREFIX_MAX);
    }
    memcpy(address->prefix, name.data, name.len);
    address->prefix[name.len] = '\0';
    return OK;
}

static bool take_value(Str part, Str key, Str *ret_value) {
    if (!str_starts_with(part, key)) return false;
    *ret_value = (Str){part.data + key.len, part.len - key.len};
    return true;
}

static Status parameters_take(RedisAddress *address, Str left, Diag *diag) {
    Str part, value;
    while (str_split(&left, '&', &part)) {
        if (part.len == 0) continue;
        if (take_value(part, STR("prefix="), &value)) {
            TRY(prefix_set(address, value, diag));
        } else if (take_value(part, STR("socket="), &value) && value.len > 0) {
            mem_free(address->path);
            address->path = text_decode(value);
            if (address->path == NULL) return bad(diag, "a bad % sequence");
        } else {
            return diag_set(diag, ERR_INVALID, "STORE_URL",
                            "\"%.*s\" is no parameter of a Redis store; there are prefix=NAME and "
                            "socket=PATH",
                            STR_ARG(part));
        }
    }
    return OK;
}

static Status credentials_take(RedisAddress *address, Str text, Diag *diag) {
    const char *colon = memchr(text.data, ':', text.len);
    size_t user_len = colon != NULL ? (size_t)(colon - text.data) : text.len;
    if (user_len > 0) address->user = text_decode((Str){text.data, user_len});
    if (user_len > 0 && address->user == NULL) return bad(diag, "a bad % sequence");
    if (colon == NULL) return bad(diag, "a user without password");
    address->password = text_decode((Str){colon + 1, text.len - user_len - 1});
    return address->password != NULL ? OK : bad(diag, "a bad % sequence");
}

static Status host_take(RedisAddress *address, Str text, Diag *diag) {
    Str host = text, port = STR_NULL;
    const char *end = text.len > 0 && text.data[0] == '[' ? memchr(text.data, ']', text.len) : NULL;
    const char *colon = end != NULL ? (end + 1 < text.data + text.len ? end + 1 : NULL)
                                    : memchr(text.data, ':', text.len);
    if (colon != NULL) {
        if (*colon != ':') return bad(diag, "something after the ]");
        host.len = (size_t)(colon - text.data);
        port = (Str){colon + 1, text.len - host.len - 1};
    }
    if (end != NULL) host = (Str){text.data + 1, (size_t)(end - text.data) - 1};
    int64_t number = 6379;
    bool is_good = port.len == 0 || (number_parse_count(port, 65535, &number) && number > 0);
    if (!is_good) return bad(diag, "a port that is none");
    address->port = (int)number;
    address->host = host.len > 0 ? mem_copy(host.data, host.len) : mem_copy("127.0.0.1", 9);
    return OK;
}

static Status url_take(RedisAddress *address, Str url, Diag *diag) {
    const char *start = memchr(url.data, ':', url.len);
    Str rest = {start + 1, url.len - (size_t)(start + 1 - url.data)};
    if (!str_starts_with(rest, STR("//"))) return bad(diag, "no // after redis:");
    rest = (Str){rest.data + 2, rest.len - 2};
    const char *mark = memchr(rest.data, '?', rest.len);
    if (mark != NULL) {
        size_t len = (size_t)(mark - rest.data);
        TRY(parameters_take(address, (Str){mark + 1, rest.len - len - 1}, diag));
        rest.len = len;
    }
    const char *slash = memchr(rest.data, '/', rest.len);
    if (slash != NULL) {
        size_t len = (size_t)(slash - rest.data);
        Str database = {slash + 1, rest.len - len - 1};
        int64_t number = 0;
        if (database.len > 0 && !number_parse_count(database, 1 << 20, &number)) {
            return bad(diag, "a database that is no number");
        }
        address->database = (int)number;
        rest.len = len;
    }
    const char *at = memrchr(rest.data, '@', rest.len);
    if (at != NULL) {
        size_t len = (size_t)(at - rest.data);
        TRY(credentials_take(address, (Str){rest.data, len}, diag));
        rest = (Str){at + 1, rest.len - len - 1};
    }
    return host_take(address, rest, diag);
}

static void address_free(RedisAddress *address) {
    mem_free(address->host);
    mem_free(address->path);
    mem_free(address->user);
    mem_free(address->password);
    mem_free(address);
}

Status redis_address_new(Str url, RedisAddress **ret_address, Diag *diag) {
    if (memchr(url.data, '\0', url.len) != NULL) return bad(diag, "a NUL");
    if (str_starts_with(url, STR("rediss:"))) {
        return diag_set(diag, ERR_UNSUPPORTED, "STORE_URL",
                        "this abide speaks to Redis without TLS: its client library has none. Use "
                        "redis:// over a socket, a private network or a TLS tunnel");
    }
    RedisAddress *address = mem_zalloc(sizeof(RedisAddress));
    snprintf(address->prefix, sizeof(address->prefix), "abide");
    Status status = url_take(address, url, diag);
    if (status != OK) {
        address_free(address);
        return status;
    }
    pthread_mutex_init(&address->mutex, NULL);
    address->user_count = 1;
    *ret_address = address;
    return OK;
}

void redis_address_join(RedisAddress *address) {
    pthread_mutex_lock(&address->mutex);
    address->user_count++;
    pthread_mutex_unlock(&address->mutex);
}

void redis_address_leave(RedisAddress *address) {
    pthread_mutex_lock(&address->mutex);
    bool is_last = --address->user_count == 0;
    pthread_mutex_unlock(&address->mutex);
    if (!is_last) return;
    pthread_mutex_destroy(&address->mutex);
    address_free(address);
}

// ---- keys ----

void redis_key_name(Buf *buf, const RedisAddress *address, int key) { // [url-1]
    static const char *const common[REDIS_KEY_COMMON_COUNT] = {
        [REDIS_KEY_STORE] = "store",     [REDIS_KEY_TICKET] = "ticket",
        [REDIS_KEY_FREED] = "freed",     [REDIS_KEY_WANTED] = "wanted",
        [REDIS_KEY_CHANGES] = "changes", [REDIS_KEY_HEARTBEATS] = "beats",
    };
    buf_clear(buf);
    buf_printf(buf, "{%s}:", address->prefix);
    if (key < REDIS_KEY_COMMON_COUNT) {
        buf_append_cstr(buf, common[key]);
        return;
    }
    int place = (key - REDIS_KEY_COMMON_COUNT) % REDIS_KEYS_PER_TABLE;
    const Table *table = &tables[(key - REDIS_KEY_COMMON_COUNT) / REDIS_KEYS_PER_TABLE];
    buf_printf(buf, "%s:", table->name);
    if (place == 0) buf_append_cstr(buf, "rows");
    else if (place == 1) buf_append_cstr(buf, "order");
    else buf_append_cstr(buf, table->indexes[place - 2].name);
}

// Channels know no databases.
void redis_channel_name(Buf *buf, const RedisAddress *address) {
    buf_clear(buf);
    buf_printf(buf, "{%s}:%d:news", address->prefix, address->database);
}
