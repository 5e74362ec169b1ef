// Assertion failures: say where, then stop.
//
// The text goes to standard error with one write, without the logger and without allocating,
// because the state that failed may be the one the logger or the allocator needs.
//   [assert-1] Neither function returns, and neither runs exit handlers: a core dump shows the
//        state.
#include "base/assert.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void say(const char *text, int len, int size) {
    if (len < 0) return;
    size_t count = (size_t)(len < size ? len : size - 1);
    ssize_t written = write(STDERR_FILENO, text, count);
    (void)written; // nobody is left to tell
}

void assert_failed(const char *text, const char *file, int line, const char *function) {
    char message[512];
    int len = snprintf(message, sizeof(message), "abide: bug: %s:%d: %s: assertion failed: %s\n",
                       file, line, function, text);
    say(message, len, (int)sizeof(message));
    abort();
}

void out_of_memory(void) {
    static const char message[] = "abide: out of memory\n";
    say(message, (int)sizeof(message) - 1, (int)sizeof(message));
    abort();
}
