// Tokens: what they may do, what they look like, and the row that is kept of one.
//
// A token's text is "abide_", 52 digits that stand for 32 random bytes, and 7 digits of a checksum
// over all before them, in Crockford's base 32 (lower case, without i, l, o and u). The prefix lets
// scanners find tokens that leaked; the checksum lets a client find one that was cut off.
//
//   [model-token-1] The text is shown once, when the token is made. The store keeps its SHA-256
//        only: 256 random bits need no salt and no slow hash.
//   [model-token-2] Digests are compared in constant time.
//
// rows.h includes this file.
#pragma once
#include "base/containers/hash.h"
#include "base/env.h"
#include "base/text/str.h"
#include <stdint.h>

// What somebody may do. A token has one or more; admin includes all, and read is part of client.
typedef enum Scope {
    SCOPE_NONE = 0, // anybody, without a token
    SCOPE_READ = 1 << 0,
    SCOPE_CLIENT = 1 << 1,
    SCOPE_WORKER = 1 << 2,
    SCOPE_ADMIN = 1 << 3,
    SCOPE_ALL = SCOPE_READ | SCOPE_CLIENT | SCOPE_WORKER | SCOPE_ADMIN
} Scope;

typedef struct TokenRow {
    int64_t key;
    Str id;         // "tok_…"
    Str name;       // for people; need not be unique
    Str hash;       // SHA-256 of the text, hex [model-token-1]
    Str hint;       // the last digits of the text, to tell tokens apart
    int64_t scopes; // bits of Scope
    int64_t created_at_ms;
    int64_t expires_at_ms; // 0 = never
} TokenRow;

enum {
    TOKEN_PREFIX_SIZE = 6,
    TOKEN_RANDOM_DIGITS = 52,
    TOKEN_CHECK_DIGITS = 7,
    TOKEN_TEXT_SIZE = TOKEN_PREFIX_SIZE + TOKEN_RANDOM_DIGITS + TOKEN_CHECK_DIGITS,
    TOKEN_HINT_SIZE = 4
};

typedef struct TokenText { // a value; NUL-terminated
    char text[TOKEN_TEXT_SIZE + 1];
    char hash[SHA256_HEX_SIZE + 1];
} TokenText;

// A new one from the environment's randomness.
TokenText token_make(Env *env);
// True when the text has the form of a token and its checksum is right.
bool token_is_well_formed(Str text);
void token_hash(Str text, char ret_hash[SHA256_HEX_SIZE + 1]);
// [model-token-2] Both are digests in hex.
bool token_hash_equal(Str a, Str b);

// "read", "client", "worker", "admin"; NULL for anything but one of the bits.
const char *scope_name(int64_t scope);
// The bit of that name; 0 when there is none.
int64_t scope_from_name(Str name);
// What a token with `scopes` may do once admin and client are spelled out.
int64_t scopes_granted(int64_t scopes);
