// Hashes: fast for tables (hash_bytes, hash_u64), CRC-32C for stored bytes, SHA-256 for names.
#pragma once
#include "base/str.h"
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_u64(uint64_t value);
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
