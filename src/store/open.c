// Opening a store by its URL: "memory:", "sqlite:PATH", a bare path, "postgres://…" or
// "redis://…".
//
// A word before the first ':' is a scheme unless a '/' comes before it, so "./a:b" is a file.
// What is wrong with a URL is said with the forms that are accepted.
//
// Not here: what a backend needs to open (sqlite/open.c, memory/rows.c, postgres/reader.c,
// redis/reader.c); where the code for a server comes from (module_load.c).
#include "store/kernel/kernel.h"
#include "store/module.h"
#include "store/rowstore.h"
#include "store/store.h"

#define ACCEPTED "use memory:, sqlite:PATH, a path, postgres://HOST/DATABASE or redis://HOST"

static bool is_scheme_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
}

// The length of the scheme, or 0 when the URL is a bare path.
static size_t scheme_len(Str url) {
    for (size_t i = 0; i < url.len; i++) {
        if (url.data[i] == ':') return i;
        if (!is_scheme_char(url.data[i])) return 0;
    }
    return 0;
}

static bool is_redis(Str scheme) {
    return str_equal(scheme, STR("redis")) || str_equal(scheme, STR("rediss"));
}

static Status remote_open(ModuleName name, Str url, const StoreConfig *config,
                          RowStorePair *ret_pair, Diag *diag) {
    const StoreModule *module = NULL;
    RemotePair pair = {0};
    TRY(store_module_get(name, &module, diag));
    TRY(module->open(url, config, &pair, diag));
    RowStore *reader = remote_reader_new(pair.reader);
    *ret_pair = (RowStorePair){pair.remote != NULL ? remote_rows_new(pair.remote) : reader, reader};
    return OK;
}

Status rows_open(Str url, const StoreConfig *config, RowStorePair *ret_pair, Diag *diag) {
    size_t len = scheme_len(url);
    Str scheme = {url.data, len};
    if (len == 0) {
        if (url.len > 0 && url.data[0] != ':') return sqlite_rows_open(url, config, ret_pair, diag);
        return diag_set(diag, ERR_INVALID, "STORE_URL", "\"%.*s\" names no store; " ACCEPTED,
                        STR_ARG(url));
    }
    Str rest = {url.data + len + 1, url.len - len - 1};
    if (str_equal(scheme, STR("memory"))) {
        if (rest.len == 0) return memory_rows_open(ret_pair, diag);
        return diag_set(diag, ERR_INVALID, "STORE_URL",
                        "\"%.*s\": nothing may follow memory:, such a store has no name",
                        STR_ARG(url));
    }
    if (str_equal(scheme, STR("sqlite"))) {
        if (rest.len > 0 && !str_equal(rest, STR(":memory:"))) {
            return sqlite_rows_open(rest, config, ret_pair, diag);
        }
        return diag_set(diag, ERR_INVALID, "STORE_URL", "\"%.*s\" names no file; " ACCEPTED,
                        STR_ARG(url));
    }
    if (store_url_is_shared(url)) {
        ModuleName module = is_redis(scheme) ? MODULE_REDIS : MODULE_POSTGRES;
        return remote_open(module, url, config, ret_pair, diag);
    }
    return diag_set(diag, ERR_INVALID, "STORE_URL", "\"%.*s\" is not a kind of store; " ACCEPTED,
                    STR_ARG(scheme));
}

void rows_close(RowStorePair pair) {
    if (pair.reader != pair.writer) pair.reader->ops->close(pair.reader);
    pair.writer->ops->close(pair.writer);
}

bool store_url_is_shared(Str url) {
    Str scheme = {url.data, scheme_len(url)};
    return is_redis(scheme) || str_equal(scheme, STR("postgres")) ||
           str_equal(scheme, STR("postgresql"));
}

Status store_open(Str url, const StoreConfig *config, Store **ret_store, Diag *diag) {
    static const StoreConfig defaults = {0};
    if (config == NULL) config = &defaults;
    RowStorePair pair = {0};
    TRY(rows_open(url, config, &pair, diag));
    Status status = kernel_store_new(pair, config, pair.writer->ops->name, ret_store, diag);
    if (status == OK) return OK;
    rows_close(pair);
    return status;
}
