// Hashes: published test vectors, and the ways of feeding them that must agree.
#include "base/containers/hash.h"
#include "base/array.h"
#include "base/env.h"
#include "unit/unit.h"

static uint64_t first_hash;

static void sha256_gives_the_published_digests(void **state) {
    (void)state;
    static const char *const vectors[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[SHA256_HEX_SIZE + 1];
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
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

// Names and numbers that all fall into one slot under a key that the attacker knows.
enum { FLOOD = 200, FLOOD_SLOTS = 1024 };

static int fullest(const uint64_t *hashes) {
    static int counts[FLOOD_SLOTS];
    int most = 0;
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < FLOOD; i++) {
        int count = ++counts[hashes[i] % FLOOD_SLOTS];
        if (count > most) most = count;
    }
    return most;
}

static void a_flood_made_for_one_key_is_none_for_another(void **state) {
    (void)state;
    static const uint64_t other[HASH_KEY_WORDS] = {0x7f4a7c159e3779b9, 0x94d049bb133111eb,
                                                   0xbf58476d1ce4e5b9, 0x369dea0f31a53f85};
    uint64_t numbers[FLOOD], names[FLOOD], hashes[FLOOD];
    hash_fix_key();
    uint64_t number = 0, name = 0;
    for (int i = 0; i < FLOOD; i++) {
        while (hash_u64(++number) % FLOOD_SLOTS != 0) {}
        do name++;
        while (hash_bytes(&name, sizeof name) % FLOOD_SLOTS != 0);
        numbers[i] = number;
        names[i] = name;
    }
    hash_set_key(other);
    for (int i = 0; i < FLOOD; i++) hashes[i] = hash_u64(numbers[i]);
    assert_in_range(fullest(hashes), 1, 8);
    for (int i = 0; i < FLOOD; i++) hashes[i] = hash_bytes(&names[i], sizeof names[i]);
    assert_in_range(fullest(hashes), 1, 8);
    hash_fix_key();
}

// With the key known, eight bytes can be chosen that make one factor of a product zero.
static void no_block_wipes_out_what_came_before(void **state) {
    (void)state;
    static const uint64_t key[HASH_KEY_WORDS] = {0x369dea0f31a53f85, 0xbf58476d1ce4e5b9,
                                                 0x94d049bb133111eb, 0x7f4a7c159e3779b9};
    hash_set_key(key);
    uint64_t hashes[64];
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t blocks[6] = {i, i, key[1], 0, key[2], 0}; // a factor of the second and third step
        hashes[i] = hash_bytes(blocks, sizeof blocks);
        for (uint64_t j = 0; j < i; j++) assert_int_not_equal(hashes[i], hashes[j]);
    }
    hash_fix_key();
}

static void what_nodes_agree_on_never_changes(void **state) {
    (void)state;
    const char text[] = "workflow/42 and some more text";
    assert_int_equal(hash_fixed_bytes(text, 30), 0xe7241a8ca0d6564e);
    assert_int_equal(hash_fixed_u64(42), 0x225c9160d84c5c19);
}

static void each_process_has_a_key_of_its_own(void **state) {
    (void)state;
    assert_non_null(env_system()); // what brings the key
    assert_int_not_equal(first_hash, 0x225c9160d84c5c19);
    hash_fix_key();
    assert_int_not_equal(first_hash, hash_u64(42));
}

int main(void) {
    first_hash = hash_u64(42); // under the key that the process began with
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(sha256_of_a_million_letters),
        cmocka_unit_test(sha256_does_not_care_how_it_is_fed),
        cmocka_unit_test(crc32c_gives_the_published_checksums),
        cmocka_unit_test(crc32c_continues_from_its_own_answer),
        cmocka_unit_test(a_flipped_bit_anywhere_changes_the_hash),
        cmocka_unit_test(table_slots_are_evenly_filled),
        cmocka_unit_test(a_flood_made_for_one_key_is_none_for_another),
        cmocka_unit_test(no_block_wipes_out_what_came_before),
        cmocka_unit_test(what_nodes_agree_on_never_changes),
        cmocka_unit_test(each_process_has_a_key_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
