// Tokens: their texts and scopes.
#include "model/token.h"
#include "unit/unit.h"

static TokenText some_token(uint64_t seed) {
    FixedEnv env;
    fixed_env_init(&env, 1000, seed);
    return token_make(&env.base);
}

static Str text_of(const TokenText *token) { return str_from(token->text); }

static void text_has_prefix_digits_and_checksum(void **state) {
    (void)state;
    TokenText token = some_token(1);
    assert_int_equal(text_of(&token).len, TOKEN_TEXT_SIZE);
    assert_true(str_starts_with(text_of(&token), STR("abide_")));
    for (const char *c = token.text + TOKEN_PREFIX_SIZE; *c; c++)
        assert_non_null(strchr("0123456789abcdefghjkmnpqrstvwxyz", *c));
    assert_true(token_is_well_formed(text_of(&token)));
}

static void two_texts_have_little_in_common(void **state) {
    (void)state;
    TokenText first = some_token(7), second = some_token(8);
    size_t same_count = 0;
    for (size_t i = TOKEN_PREFIX_SIZE; i < TOKEN_PREFIX_SIZE + TOKEN_RANDOM_DIGITS; i++)
        same_count += first.text[i] == second.text[i];
    assert_true(same_count < 12); // of 52; by chance 1.6
    assert_string_not_equal(first.hash, second.hash);
}

static void one_wrong_digit_is_noticed(void **state) {
    (void)state;
    TokenText token = some_token(3);
    for (size_t i = 0; i < TOKEN_TEXT_SIZE; i++) {
        TokenText wrong = token;
        wrong.text[i] = wrong.text[i] == 'x' ? 'y' : 'x';
        assert_false(token_is_well_formed(text_of(&wrong)));
    }
    assert_false(token_is_well_formed((Str){token.text, TOKEN_TEXT_SIZE - 1}));
    assert_false(token_is_well_formed(STR("")));
    assert_false(token_is_well_formed(STR_NULL));
}

static void digest_is_sha256_of_the_text(void **state) {
    (void)state;
    TokenText token = some_token(4);
    char hash[SHA256_HEX_SIZE + 1];
    sha256_hex(text_of(&token), hash);
    assert_string_equal(token.hash, hash);
    assert_true(token_hash_equal(str_from(hash), str_from(token.hash)));
    for (size_t i = 0; i < SHA256_HEX_SIZE; i++) {
        char other[SHA256_HEX_SIZE + 1];
        memcpy(other, hash, sizeof(other));
        other[i] ^= 1;
        assert_false(token_hash_equal(str_from(hash), str_from(other)));
    }
    assert_false(token_hash_equal(str_from(hash), STR("")));
    assert_false(token_hash_equal(STR(""), STR("")));
}

static void scopes_have_names_and_include_others(void **state) {
    (void)state;
    for (int64_t scope = SCOPE_READ; scope <= SCOPE_ADMIN; scope <<= 1)
        assert_int_equal(scope_from_name(str_from(scope_name(scope))), scope);
    assert_int_equal(scope_from_name(STR("root")), 0);
    assert_null(scope_name(SCOPE_READ | SCOPE_ADMIN));
    assert_int_equal(scopes_granted(SCOPE_ADMIN), SCOPE_ALL);
    assert_int_equal(scopes_granted(SCOPE_CLIENT), SCOPE_CLIENT | SCOPE_READ);
    assert_int_equal(scopes_granted(SCOPE_WORKER), SCOPE_WORKER);
    assert_int_equal(scopes_granted(SCOPE_READ), SCOPE_READ);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_prefix_digits_and_checksum),
        cmocka_unit_test(two_texts_have_little_in_common),
        cmocka_unit_test(one_wrong_digit_is_noticed),
        cmocka_unit_test(digest_is_sha256_of_the_text),
        cmocka_unit_test(scopes_have_names_and_include_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
