// Log: one line is formatted on the stack and handed to the writer it was given.
//
// A line that does not fit is cut; a log must not allocate, because it is what tells the operator
// that memory is short.
//   [L1] The writer gets no newline inside a line: control characters become spaces, so that a
//        client's text cannot forge a second line.
#include "base/log.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdio.h>

enum { LOG_LINE_MAX = 2048 };

static const char *const level_names[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARN] = "warn",
    [LOG_ERROR] = "error",
};
_Static_assert(sizeof(level_names) / sizeof(level_names[0]) == LOG_LEVEL_COUNT, "level names");

const char *log_level_name(LogLevel level) {
    ASSERT((unsigned)level < LOG_LEVEL_COUNT);
    return level_names[level];
}

void log_line(const Logger *logger, LogLevel level, const char *format, ...) {
    if (!log_takes(logger, level)) return;
    char line[LOG_LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (len < 0) return;
    for (char *c = line; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = ' '; // [L1]
    }
    logger->write(logger->context, level, line);
}
