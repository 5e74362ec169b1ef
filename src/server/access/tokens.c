// The tokens of the store, in memory.
//
// Found by the digest of the text that was presented: who tries texts cannot steer digests, and the
// digest that was found is compared once more in constant time. Invariants [access-tokens-1] and
// [access-tokens-2] are in tokens.h.
//
// Not here: who is asked for a token (auth.c), making and removing them (routes/tokens.c).
#include "server/access/tokens.h"
#include "base/limits.h"
#include "store/reads.h"
#include <assert.h>
#include <stdio.h>

void tokens_init(TokenCache *cache, Store *store) {
    *cache = (TokenCache){.store = store};
    pthread_mutex_init(&cache->lock, NULL);
    arena_init(&cache->arena);
    strmap_init(&cache->by_hash);
}

void tokens_done(TokenCache *cache) {
    strmap_done(&cache->by_hash);
    arena_done(&cache->arena);
    pthread_mutex_destroy(&cache->lock);
}

static Status read_locked(TokenCache *cache, int64_t now_ms, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    const PageSpec all = {.limit = LIMIT_TOKEN_COUNT};
    TokenPage page;
    static_assert((int)LIMIT_TOKEN_COUNT_MAX <= (int)LIMIT_LIST_PAGE_MAX, "a page holds them all");
    Status status = store_list_tokens(cache->store, &arena, &all, &page, diag);
    cache->read_at_ms = now_ms;
    if (status != OK) { // [access-tokens-2]
        arena_done(&arena);
        return status;
    }
    arena_done(&cache->arena);
    strmap_done(&cache->by_hash);
    cache->arena = arena;
    strmap_init(&cache->by_hash);
    for (size_t i = 0; i < page.count; i++)
        strmap_put(&cache->by_hash, page.rows[i].hash, &page.rows[i]);
    return OK;
}

Status tokens_read(TokenCache *cache, int64_t now_ms, size_t *ret_count, Diag *diag) {
    pthread_mutex_lock(&cache->lock);
    Status status = read_locked(cache, now_ms, diag);
    if (ret_count != NULL) *ret_count = cache->by_hash.count;
    pthread_mutex_unlock(&cache->lock);
    return status;
}

static const TokenRow *find_locked(TokenCache *cache, const char *hash, int64_t now_ms) {
    Str digest = {hash, SHA256_HEX_SIZE};
    const TokenRow *row = strmap_get(&cache->by_hash, digest);
    int64_t age_ms = now_ms - cache->read_at_ms;
    bool is_fresh = age_ms >= 0 && age_ms < (row != NULL ? TOKENS_STALE_MS : TOKENS_RETRY_MS);
    if (is_fresh) return row;
    Status status = read_locked(cache, now_ms, NULL); // [access-tokens-1]
    return status == OK ? strmap_get(&cache->by_hash, digest) : row;
}

bool tokens_find(TokenCache *cache, Str text, int64_t now_ms, TokenFound *ret_found) {
    if (!token_is_well_formed(text)) return false;
    char hash[SHA256_HEX_SIZE + 1];
    token_hash(text, hash);
    pthread_mutex_lock(&cache->lock);
    const TokenRow *row = find_locked(cache, hash, now_ms);
    bool is_found = row != NULL && token_hash_equal(row->hash, str_from(hash));
    if (is_found) {
        snprintf(ret_found->name, sizeof ret_found->name, "%.*s", STR_ARG(row->name));
        ret_found->scopes = scopes_granted(row->scopes);
        ret_found->expires_at_ms = row->expires_at_ms;
    }
    pthread_mutex_unlock(&cache->lock);
    return is_found;
}
