// TokenCache: the tokens of the store, in memory, so that a request costs no read.
//
//   [access-tokens-1] The cache is read anew when this server changed a token, when it is older
//        than TOKENS_STALE_MS (another node may have changed one), and when a token is asked for
//        that it does not have, but for that not more than once a second.
//   [access-tokens-2] When the store does not answer, what is known goes on to count.
#pragma once
#include "base/arena.h"
#include "base/containers/map.h"
#include "store/store.h"
#include <pthread.h>

enum { TOKENS_STALE_MS = 10000, TOKENS_RETRY_MS = 1000 };

typedef struct TokenCache {
    Store *store;         // not owned
    pthread_mutex_t lock; // guards what follows
    Arena arena;          // of the tokens
    StrMap by_hash;       // -> TokenRow
    int64_t read_at_ms;   // 0 = never
} TokenCache;

typedef struct TokenFound {
    char name[LIMIT_NAME_SIZE_MAX + 1];
    int64_t scopes; // granted ones
    int64_t expires_at_ms;
} TokenFound;

void tokens_init(TokenCache *cache, Store *store);
void tokens_done(TokenCache *cache);
// Reads all of them again; *ret_count (may be NULL) is how many there are.
MUST_CHECK Status tokens_read(TokenCache *cache, int64_t now_ms, size_t *ret_count, Diag *diag);
// Also one that has expired; false when there is none.
bool tokens_find(TokenCache *cache, Str text, int64_t now_ms, TokenFound *ret_found);
