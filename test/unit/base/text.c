// Str, UTF-8, Diag, status names, log lines.
#include "base/array.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/text/utf.h"
#include "unit/unit.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void strings_compare_by_bytes_shorter_first(void **state) {
    (void)state;
    assert_true(str_compare(STR("a"), STR("b")) < 0);
    assert_true(str_compare(STR("a"), STR("ab")) < 0);
    assert_true(str_compare(STR("\xff"), STR("a")) > 0);
    assert_int_equal(str_compare(STR(""), STR_NULL), 0);
    assert_int_equal(str_compare(STR("ab"), STR("ab")), 0);
}

static void null_equals_empty_but_is_not_the_same(void **state) {
    (void)state;
    assert_true(str_equal(STR_NULL, STR("")));
    assert_false(str_same(STR_NULL, STR("")));
    assert_true(str_same(STR_NULL, STR_NULL));
}

static void prefixes_and_trimming(void **state) {
    (void)state;
    assert_true(str_starts_with(STR("run_1"), STR("run_")));
    assert_false(str_starts_with(STR("ru"), STR("run_")));
    assert_true(str_starts_with(STR(""), STR_NULL));
    assert_str_equal(str_trim(STR(" \t\r\n a b \v\f")), "a b");
    assert_int_equal(str_trim(STR("   ")).len, 0);
    assert_true(str_is_null(str_trim(STR_NULL)));
}

static void valid_utf8_is_accepted_to_the_end(void **state) {
    (void)state;
    static const char *const good[] = {
        "",
        "plain ascii that is longer than eight bytes",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "gr\xc3\xbc\xc3\x9f",
        "\xf0\x9f\x98\x80 smile",
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(utf8_is_valid(str_from(good[i])));
    }
    assert_true(utf8_is_valid(STR("nul \0 inside")));
    assert_true(utf8_is_valid(STR_NULL));
}

static void invalid_utf8_is_cut_where_it_starts(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2"
        "a",
        "\xe0\x9f\xbf",
        "\xe0\xa0",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
        "\xfe",
        "\xe1\x80"
        "a",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        for (size_t before = 0; before < 20; before++) {
            char text[32];
            memset(text, 'x', before);
            size_t len = strlen(bad[i]);
            memcpy(text + before, bad[i], len);
            assert_int_equal(utf8_valid_prefix((Str){text, before + len}), before);
        }
    }
}

static void every_code_point_survives_encoding_and_decoding(void **state) {
    (void)state;
    for (uint32_t code_point = 0; code_point <= 0x10FFFF; code_point++) {
        char bytes[4];
        size_t len = utf8_encode(code_point, bytes);
        const char *at = bytes;
        assert_int_equal(utf8_decode(&at, bytes + len), code_point);
        assert_ptr_equal(at, bytes + len);
        bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
        assert_int_equal(utf8_is_valid((Str){bytes, len}), !is_surrogate);
        assert_int_equal(utf8_sequence_len(bytes, bytes + len), is_surrogate ? 0 : len);
    }
}

static void every_status_has_a_name_of_its_own(void **state) {
    (void)state;
    assert_string_equal(status_name(OK), "OK");
    assert_string_equal(status_name(ERR_NOT_FOUND), "NOT_FOUND");
    for (int a = 0; a < STATUS_COUNT; a++) {
        for (int b = 0; b < a; b++) {
            assert_string_not_equal(status_name((Status)a), status_name((Status)b));
        }
    }
}

static void a_diag_is_filled_and_its_status_answered(void **state) {
    (void)state;
    Diag diag;
    assert_status(diag_set(&diag, ERR_CONFLICT, "DUPLICATE_KEY", "key %s is taken", "k1"),
                  ERR_CONFLICT);
    assert_string_equal(diag.code, "DUPLICATE_KEY");
    assert_string_equal(diag.message, "key k1 is taken");
    assert_status(diag_set(NULL, ERR_LIMIT, "X", "y"), ERR_LIMIT);
    diag_clear(&diag);
    assert_string_equal(diag.code, "");
    assert_string_equal(diag.message, "");
    diag_clear(NULL);
}

static void a_long_message_is_cut_between_code_points(void **state) {
    (void)state;
    char text[2000];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        size_t len = shift;
        while (len + 5 < sizeof(text)) {
            memcpy(text + len, "\xf0\x9f\x98\x80", 4);
            len += 4;
        }
        text[len] = '\0';
        Diag diag;
        (void)diag_set(&diag, ERR_INVALID, "X", "%s", text);
        assert_true(utf8_is_valid(str_from(diag.message)));
        assert_string_equal(diag.message + strlen(diag.message) - 3, "...");
        assert_true(strlen(diag.message) > DIAG_MESSAGE_MAX - 10);
    }
}

typedef struct Capture {
    int count;
    LogLevel level;
    char line[4096];
} Capture;

static void capture_line(void *context, LogLevel level, const char *line) {
    Capture *capture = context;
    capture->count++;
    capture->level = level;
    snprintf(capture->line, sizeof(capture->line), "%s", line);
}

static void a_logger_gets_lines_from_its_level_on(void **state) {
    (void)state;
    Capture capture = {0};
    Logger logger = {.least = LOG_INFO, .write = capture_line, .context = &capture};
    LOG(&logger, LOG_DEBUG, "not %s", "this");
    assert_int_equal(capture.count, 0);
    LOG(&logger, LOG_WARN, "low on %s", "disk");
    assert_int_equal(capture.count, 1);
    assert_int_equal(capture.level, LOG_WARN);
    assert_string_equal(capture.line, "low on disk");
    const Logger *none = NULL;
    LOG(none, LOG_ERROR, "nobody hears this");
    assert_string_equal(log_level_name(LOG_ERROR), "error");
}

static void a_client_cannot_forge_a_log_line(void **state) {
    (void)state;
    Capture capture = {0};
    Logger logger = {.least = LOG_DEBUG, .write = capture_line, .context = &capture};
    LOG(&logger, LOG_INFO, "name %s", "x\nerror: all is lost\x1b[2J");
    assert_null(strchr(capture.line, '\n'));
    assert_null(strchr(capture.line, '\x1b'));
    // An escape of one character, a line separator, a turn of direction, and no UTF-8 at all.
    LOG(&logger, LOG_INFO, "%s",
        "a\xc2\x9b"
        "2Jb\xe2\x80\xa8"
        "c\xe2\x80\xae"
        "d\x9b"
        "e\xc3\xa4");
    assert_string_equal(capture.line, "a 2Jb c d?e\xc3\xa4");
}

static void a_failed_assertion_names_itself_and_stops_the_process(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        int two = 2;
        ASSERT(two + two == 5);
        _exit(0);
    }
    close(ends[1]);
    char text[512] = {0};
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "two + two == 5"));
    assert_non_null(strstr(text, "unit/base/text.c"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_compare_by_bytes_shorter_first),
        cmocka_unit_test(null_equals_empty_but_is_not_the_same),
        cmocka_unit_test(prefixes_and_trimming),
        cmocka_unit_test(valid_utf8_is_accepted_to_the_end),
        cmocka_unit_test(invalid_utf8_is_cut_where_it_starts),
        cmocka_unit_test(every_code_point_survives_encoding_and_decoding),
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(a_diag_is_filled_and_its_status_answered),
        cmocka_unit_test(a_long_message_is_cut_between_code_points),
        cmocka_unit_test(a_logger_gets_lines_from_its_level_on),
        cmocka_unit_test(a_client_cannot_forge_a_log_line),
        cmocka_unit_test(a_failed_assertion_names_itself_and_stops_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
