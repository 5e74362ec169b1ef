// LogWriter: log lines on a descriptor, as text or as JSON, one write each.
//
//   text   2026-11-16T04:25:09.123Z info  listening on http://127.0.0.1:7433
//   json   {"time":"2026-11-16T04:25:09.123Z","level":"info","message":"listening on …"}
//
//   [log-writer-1] A line is one write, so that lines of several threads do not mix.
#pragma once
#include "base/log.h"
#include <stdatomic.h>

typedef enum LogFormat { LOG_FORMAT_TEXT, LOG_FORMAT_JSON } LogFormat;

typedef struct LogWriter {
    Logger logger; // hand this on
    int fd;
    _Atomic LogFormat format; // may change while lines are written
} LogWriter;

void log_writer_init(LogWriter *writer, int fd, LogLevel least, LogFormat format);
