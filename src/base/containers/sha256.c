// SHA-256 (FIPS 180-4), for names: the version of a workflow is the hash of its source.
//
// A plain implementation: sources are hashed once per deployment, so speed does not matter here.
// Not here: keyed hashing; tokens are compared by the hash of the whole token.
//   [sha256-1] `total_size % 64` bytes wait in `block`.
#include "base/containers/hash.h"
#include "base/text/hex.h"

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, int count) { return word >> count | word << (32 - count); }

static uint32_t load_word(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void expand(const uint8_t *block, uint32_t schedule[64]) {
    for (int i = 0; i < 16; i++) schedule[i] = load_word(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = schedule[i - 15], b = schedule[i - 2];
        uint32_t small0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3);
        uint32_t small1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10);
        schedule[i] = schedule[i - 16] + small0 + schedule[i - 7] + small1;
    }
}

static void compress(uint32_t state[8], const uint8_t *block) {
    uint32_t schedule[64];
    expand(block, schedule);
    uint32_t v[8]; // the working variables a to h of the standard
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 64; i++) {
        uint32_t big1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t first = v[7] + big1 + choose + round_constants[i] + schedule[i];
        uint32_t big0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        v[7] = v[6]; // one by one, so that all eight stay in registers
        v[6] = v[5];
        v[5] = v[4];
        v[4] = v[3] + first;
        v[3] = v[2];
        v[2] = v[1];
        v[1] = v[0];
        v[0] = first + big0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

void sha256_init(Sha256 *sha) {
    *sha = (Sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                  0x1f83d9ab, 0x5be0cd19},
    };
}

void sha256_update(Sha256 *sha, const void *data, size_t len) {
    const uint8_t *at = data;
    size_t waiting = sha->total_size % 64; // [sha256-1]
    sha->total_size += len;
    while (len > 0) {
        if (waiting == 0 && len >= 64) {
            compress(sha->state, at);
            at += 64;
            len -= 64;
            continue;
        }
        size_t part = 64 - waiting < len ? 64 - waiting : len;
        memcpy(sha->block + waiting, at, part);
        waiting += part;
        at += part;
        len -= part;
        if (waiting < 64) break;
        compress(sha->state, sha->block);
        waiting = 0;
    }
}

void sha256_final(Sha256 *sha, uint8_t ret_digest[SHA256_SIZE]) {
    uint64_t bit_count = sha->total_size * 8;
    static const uint8_t padding[64] = {0x80};
    size_t waiting = sha->total_size % 64;
    sha256_update(sha, padding, (waiting < 56 ? 56 : 120) - waiting);
    uint8_t size_bytes[8];
    for (int i = 0; i < 8; i++) size_bytes[i] = (uint8_t)(bit_count >> (56 - 8 * i));
    sha256_update(sha, size_bytes, sizeof(size_bytes));
    for (int i = 0; i < SHA256_SIZE; i++) {
        ret_digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void sha256_hex(Str s, char ret_hex[SHA256_HEX_SIZE + 1]) {
    uint8_t digest[SHA256_SIZE];
    Sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, s.data, s.len);
    sha256_final(&sha, digest);
    hex_write(ret_hex, digest, sizeof digest);
    ret_hex[SHA256_HEX_SIZE] = '\0';
}
