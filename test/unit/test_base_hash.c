// Hashes: published test vectors, and the ways of feeding them that must agree.
#include "base/env.h"
#include "base/hash.h"
#include "unit.h"

static void sha256_gives_the_published_digests(void **state) {
    (void)state;
    static const char *const vectors[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[SHA256_HEX_SIZE + 1];
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        sha256_hex(str_from(vectors[i][0]), hex);
        assert_string_equal(hex, vectors[i][1]);
    }
}

static void sha256_of_a_million_letters(void **state) {
    (void)state;
    char *text = malloc(1000000);
    memset(text, 'a', 1000000);
    char hex[SHA256_HEX_SIZE + 1];
    sha256_hex((Str){text, 1000000}, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(text);
}

static void sha256_does_not_care_how_it_is_fed(void **state) {
    (void)state;
    char text[300];
    for (size_t i = 0; i < sizeof(text); i++) text[i] = (char)i;
    for (size_t cut = 0; cut <= sizeof(text); cut++) {
        uint8_t whole[SHA256_SIZE], parts[SHA256_SIZE];
        Sha256 sha;
        sha256_init(&sha);
        sha256_update(&sha, text, sizeof(text));
        sha256_final(&sha, whole);
        sha256_init(&sha);
        sha256_update(&sha, text, cut);
        sha256_update(&sha, text + cut, sizeof(text) - cut);
        sha256_final(&sha, parts);
        assert_memory_equal(whole, parts, SHA256_SIZE);
    }
}

static void crc32c_gives_the_published_checksums(void **state) {
    (void)state;
    assert_int_equal(crc32c(0, "", 0), 0);
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    char zeros[32] = {0};
    assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa);
    memset(zeros, 0xff, 32);
    assert_int_equal(crc32c(0, zeros, 32), 0x62a8ab43);
}

static void crc32c_continues_from_its_own_answer(void **state) {
    (void)state;
    const char text[] = "the quick brown fox jumps over the lazy dog";
    uint32_t whole = crc32c(0, text, sizeof(text));
    for (size_t cut = 0; cut <= sizeof(text); cut++) {
        uint32_t first = crc32c(0, text, cut);
        assert_int_equal(crc32c(first, text + cut, sizeof(text) - cut), whole);
    }
}

static void a_flipped_bit_anywhere_changes_the_hash(void **state) {
    (void)state;
    char bytes[40];
    for (size_t len = 1; len <= sizeof(bytes); len++) {
        memset(bytes, 0x5a, sizeof(bytes));
        uint64_t before = hash_bytes(bytes, len);
        for (size_t bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            assert_int_not_equal(hash_bytes(bytes, len), before);
            bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        assert_int_not_equal(hash_bytes(bytes, len - 1), before);
    }
}

static void table_slots_are_evenly_filled(void **state) {
    (void)state;
    enum { SLOTS = 256, KEYS = SLOTS * 64 };
    int by_number[SLOTS] = {0}, by_bytes[SLOTS] = {0};
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t key = i << 32;
        by_number[hash_u64(key) % SLOTS]++;
        by_bytes[hash_bytes(&key, sizeof(key)) % SLOTS]++;
    }
    for (int i = 0; i < SLOTS; i++) {
        assert_in_range(by_number[i], 20, 120);
        assert_in_range(by_bytes[i], 20, 120);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(sha256_of_a_million_letters),
        cmocka_unit_test(sha256_does_not_care_how_it_is_fed),
        cmocka_unit_test(crc32c_gives_the_published_checksums),
        cmocka_unit_test(crc32c_continues_from_its_own_answer),
        cmocka_unit_test(a_flipped_bit_anywhere_changes_the_hash),
        cmocka_unit_test(table_slots_are_evenly_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
