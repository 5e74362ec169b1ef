// Tokens: their texts and scopes.
//
// A text is made in place, digit by digit, so that no second copy of the secret is left behind.
// Invariants [model-token-1] and [model-token-2] are in token.h.
//
// Not here: which tokens there are (store/), who is asked for one (server/access/auth.c).
#include "model/token.h"
#include "base/array.h"
#include <assert.h>

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
static const char prefix[] = "abide_";
static_assert(sizeof(prefix) - 1 == TOKEN_PREFIX_SIZE, "the prefix");

enum { RANDOM_WORDS = 4, DIGIT_BITS = 5 };

// ---- texts ----

static void put_check(char *text) {
    size_t at = TOKEN_PREFIX_SIZE + TOKEN_RANDOM_DIGITS;
    uint64_t sum = crc32c(0, text, at);
    for (size_t i = TOKEN_TEXT_SIZE; i > at; i--) {
        text[i - 1] = digits[sum & 31];
        sum >>= DIGIT_BITS;
    }
}

static void put_random(char *at, Env *env) {
    uint64_t words[RANDOM_WORDS];
    for (size_t i = 0; i < RANDOM_WORDS; i++) words[i] = env_random_u64(env);
    for (size_t i = 0; i < TOKEN_RANDOM_DIGITS; i++) { // digit i: the bits from 5 * i on
        size_t bit = i * DIGIT_BITS, word = bit / 64, shift = bit % 64;
        uint64_t value = words[word] >> shift;
        if (shift > 64 - DIGIT_BITS && word + 1 < RANDOM_WORDS)
            value |= words[word + 1] << (64 - shift);
        at[i] = digits[value & 31];
    }
}

TokenText token_make(Env *env) {
    TokenText token;
    memcpy(token.text, prefix, TOKEN_PREFIX_SIZE);
    put_random(token.text + TOKEN_PREFIX_SIZE, env);
    put_check(token.text);
    token.text[TOKEN_TEXT_SIZE] = 0;
    token_hash((Str){token.text, TOKEN_TEXT_SIZE}, token.hash);
    return token;
}

bool token_is_well_formed(Str text) {
    if (text.len != TOKEN_TEXT_SIZE || memcmp(text.data, prefix, TOKEN_PREFIX_SIZE) != 0)
        return false;
    char copy[TOKEN_TEXT_SIZE];
    memcpy(copy, text.data, sizeof(copy));
    put_check(copy);
    return memcmp(copy, text.data, sizeof(copy)) == 0;
}

void token_hash(Str text, char ret_hash[SHA256_HEX_SIZE + 1]) { sha256_hex(text, ret_hash); }

bool token_hash_equal(Str a, Str b) { // [model-token-2]
    if (a.len != SHA256_HEX_SIZE || b.len != SHA256_HEX_SIZE) return false;
    unsigned difference = 0;
    for (size_t i = 0; i < SHA256_HEX_SIZE; i++)
        difference |= (unsigned char)a.data[i] ^ (unsigned char)b.data[i];
    return difference == 0;
}

// ---- scopes ----

static const struct {
    int64_t scope;
    const char *name;
} scopes[] = {
    {SCOPE_READ, "read"},
    {SCOPE_CLIENT, "client"},
    {SCOPE_WORKER, "worker"},
    {SCOPE_ADMIN, "admin"},
};
enum { SCOPE_NAME_COUNT = COUNT_OF(scopes) };

const char *scope_name(int64_t scope) {
    for (size_t i = 0; i < SCOPE_NAME_COUNT; i++)
        if (scopes[i].scope == scope) return scopes[i].name;
    return NULL;
}

int64_t scope_from_name(Str name) {
    for (size_t i = 0; i < SCOPE_NAME_COUNT; i++)
        if (str_equal(str_from(scopes[i].name), name)) return scopes[i].scope;
    return 0;
}

int64_t scopes_granted(int64_t given) {
    if (given & SCOPE_ADMIN) return SCOPE_ALL;
    return given & SCOPE_CLIENT ? given | SCOPE_READ : given;
}
