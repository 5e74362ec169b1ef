// Secrets: names, the variable before the file, and what is no text.
#include "base/secret.h"
#include "unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void names_are_letters_digits_and_underscores(void **state) {
    (void)state;
    assert_true(secret_is_name(STR("API_KEY")));
    assert_true(secret_is_name(STR("a1")));
    char longest[SECRET_NAME_MAX + 1];
    memset(longest, 'a', sizeof longest);
    assert_true(secret_is_name((Str){longest, SECRET_NAME_MAX}));
    assert_false(secret_is_name((Str){longest, SECRET_NAME_MAX + 1}));
    const char *const bad[] = {"", "1a", "_a", "a-b", "a/b", "..", "a b", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(secret_is_name(str_from(bad[i])));
}

static void assert_text(const char *name, const char *expected) {
    Buf text;
    Diag diag = {0};
    buf_init(&text, SECRET_SIZE_MAX * 2);
    assert_int_equal(secret_read(str_from(name), &text, &diag), OK);
    assert_string_equal(buf_cstr(&text), expected);
    buf_done(&text);
}

static void assert_code(const char *name, Status expected, const char *code) {
    Buf text;
    Diag diag = {0};
    buf_init(&text, SECRET_SIZE_MAX * 2);
    assert_int_equal(secret_read(str_from(name), &text, &diag), expected);
    assert_string_equal(diag.code, code);
    assert_null(strstr(diag.message, "sesame"));
    buf_done(&text);
}

static void write_file(const char *folder, const char *name, const char *text, size_t len) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    fclose(file);
}

static void the_variable_counts_before_the_credential(void **state) {
    (void)state;
    char folder[] = "/tmp/abide-secret-XXXXXX";
    static char large[SECRET_SIZE_MAX + 1];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", folder, 1), 0);
    write_file(folder, "KEY", "from the file\n\n", 15);
    write_file(folder, "EMPTY", "", 0);
    write_file(folder, "BYTES", "sesame\xff", 7);
    write_file(folder, "LARGE", large, sizeof large);
    assert_text("KEY", "from the file\n");
    assert_text("EMPTY", "");
    assert_code("BYTES", ERR_INVALID, "BAD_SECRET");
    assert_code("LARGE", ERR_INVALID, "BAD_SECRET");
    assert_code("NONE", ERR_NOT_FOUND, "SECRET_NOT_SET");
    assert_code("../KEY", ERR_INVALID, "BAD_SECRET");
    assert_int_equal(setenv("ABIDE_SECRET_KEY", "from the variable", 1), 0);
    assert_text("KEY", "from the variable");
    unsetenv("ABIDE_SECRET_KEY");
    unsetenv("CREDENTIALS_DIRECTORY");
    assert_code("KEY", ERR_NOT_FOUND, "SECRET_NOT_SET");
    const char *const names[] = {"KEY", "EMPTY", "BYTES", "LARGE"};
    for (size_t i = 0; i < 4; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_letters_digits_and_underscores),
        cmocka_unit_test(the_variable_counts_before_the_credential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
