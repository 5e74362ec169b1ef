// Log: one line is formatted on the stack and handed to the writer it was given.
//
// A line that does not fit is cut; a log must not allocate, because it is what tells the operator
// that memory is short.
//   [base-log-1] What is written has no control character and nothing that is not UTF-8 in it, so
//        that a client's text can neither forge a second line nor steer the terminal that shows it.
#include "base/log.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/text/utf.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LOG_LINE_MAX = 2048 };

static const char *const level_names[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARN] = "warn",
    [LOG_ERROR] = "error",
};
_Static_assert(COUNT_OF(level_names) == LOG_LEVEL_COUNT, "level names");

const char *log_level_name(LogLevel level) {
    ASSERT((unsigned)level < LOG_LEVEL_COUNT);
    return level_names[level];
}

void log_clean(char *line) { // what replaces a character is never longer
    char *to = line;
    const char *end = line + strlen(line);
    for (const char *at = line; at < end;) {
        const char *from = at;
        size_t len = utf8_sequence_len(at, end);
        bool is_control = len > 0 && utf_is_control(utf8_decode(&at, end));
        if (len == 0) at++;
        if (len == 0) *to++ = '?';
        else if (is_control) *to++ = ' ';
        else
            while (from < at) *to++ = *from++;
    }
    *to = 0;
}

void log_line(const Logger *logger, LogLevel level, const char *format, ...) {
    if (!log_takes(logger, level)) return;
    char line[LOG_LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (len < 0) return;
    log_clean(line);
    logger->write(logger->context, level, line);
}
