// Log: lines for the operator. Layers log through a Logger they are given; there is no global.
// A function logs or returns an error, never both.
#pragma once
#include "base/text/str.h"

typedef enum LogLevel { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT } LogLevel;

typedef struct Logger {
    LogLevel least; // lines below it are not formatted
    // Called on whatever thread logs; must be thread-safe. A line that did not come through
    // log_line has to be cleaned by the writer.
    void (*write)(void *context, LogLevel level, const char *line);
    void *context;
} Logger;

const char *log_level_name(LogLevel level);
void log_line(const Logger *logger, LogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Makes text fit for a log, in place: what steers a terminal or ends a line becomes a space, what
// is not UTF-8 a question mark. [base-log-1]
void log_clean(char *line);
static inline bool log_takes(const Logger *logger, LogLevel level) {
    return logger && logger->write && level >= __atomic_load_n(&logger->least, __ATOMIC_RELAXED);
}
// Also while others log.
static inline void log_set_least(Logger *logger, LogLevel least) {
    __atomic_store_n(&logger->least, least, __ATOMIC_RELAXED);
}
#define LOG(logger, level, ...)                                                                    \
    (log_takes((logger), (level)) ? log_line((logger), (level), __VA_ARGS__) : (void)0)
