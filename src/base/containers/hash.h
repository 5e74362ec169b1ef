// Hashes: fast for tables (hash_bytes, hash_u64), the same everywhere for what nodes must agree on
// (hash_fixed_*), CRC-32C for stored bytes, SHA-256 for names.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

// For tables in memory. Keyed: another key in each process, so that nobody outside can tell which
// names or numbers fall into one place. Never stored, never shown, no order that anybody sees.
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_u64(uint64_t value);
enum { HASH_KEY_WORDS = 4 };
// Before the first table is made; the system Env does it when the process starts.
void hash_set_key(const uint64_t key[HASH_KEY_WORDS]);
void hash_fix_key(void); // the same key in every process: for the simulator

// The same in every process and version: for spreading what all nodes must spread alike.
uint64_t hash_fixed_bytes(const void *data, size_t len);
uint64_t hash_fixed_u64(uint64_t value);
uint32_t crc32c(uint32_t seed, const void *data, size_t len); // start with 0

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 64 };
typedef struct Sha256 {
    uint32_t state[8];
    uint64_t total_size;
    uint8_t block[64];
} Sha256;
void sha256_init(Sha256 *sha);
void sha256_update(Sha256 *sha, const void *data, size_t len);
void sha256_final(Sha256 *sha, uint8_t ret_digest[SHA256_SIZE]);
void sha256_hex(Str s, char ret_hex[SHA256_HEX_SIZE + 1]); // lower case, NUL-terminated
