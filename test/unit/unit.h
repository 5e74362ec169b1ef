// What every unit test includes: cmocka with the headers it wants, and checks for our own types.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka goes last: it needs the ones above.
#include <cmocka.h>

#include "base/diag.h"
#include "base/text/str.h"

#define assert_str_equal(actual, expected) check_str((actual), (expected), __FILE__, __LINE__)
#define assert_ok(call)                    check_status((call), OK, __FILE__, __LINE__)
#define assert_status(call, expected)      check_status((call), (expected), __FILE__, __LINE__)

static inline void check_str(Str actual, const char *expected, const char *file, int line) {
    if (actual.data && str_equal(actual, str_from(expected))) return;
    print_error("\"%.*s\" != \"%s\"\n", STR_ARG(actual), expected);
    _fail(file, line);
}

static inline void check_status(Status actual, Status expected, const char *file, int line) {
    if (actual == expected) return;
    print_error("%s != %s\n", status_name(actual), status_name(expected));
    _fail(file, line);
}

// Percent of the usual amount of work: less under sanitizers.
static inline size_t scaled(size_t count) {
    const char *text = getenv("ABIDE_TEST_SCALE");
    size_t percent = text ? (size_t)strtoul(text, NULL, 10) : 100;
    if (percent == 0) percent = 100;
    size_t result = count * percent / 100;
    return result ? result : 1;
}
