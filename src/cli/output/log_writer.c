// Writing log lines. Invariant [log-writer-1] is in log_writer.h.
//
// A log that cannot be written is not worth ending a server for: what a full disk or a closed pipe
// swallows is lost. Lines are cleaned here once more: those of tasks and plug-ins are as somebody
// outside wrote them.
//
// Not here: what is logged.
#include "cli/output/log_writer.h"
#include "base/env.h"
#include "base/time/duration.h"
#include "json/write.h"
#include <stdio.h>
#include <unistd.h>

enum { LINE_SIZE_MAX = 16 << 10, MESSAGE_SIZE_MAX = 7 << 10 }; // also with every quote escaped

static void write_line(void *context, LogLevel level, const char *message) {
    LogWriter *writer = context;
    char line[MESSAGE_SIZE_MAX];
    snprintf(line, sizeof line, "%s", message);
    log_clean(line);
    char time[INSTANT_TEXT_MAX];
    instant_format(env_now_ms(env_system()), time);
    Buf buf;
    buf_init(&buf, LINE_SIZE_MAX);
    if (atomic_load(&writer->format) == LOG_FORMAT_JSON) {
        JsonWriter json;
        json_writer_init(&json, &buf, STR_NULL);
        json_write_object_begin(&json);
        json_put_cstr(&json, "time", time);
        json_put_cstr(&json, "level", log_level_name(level));
        json_put_cstr(&json, "message", line);
        json_write_object_end(&json);
    } else {
        buf_printf(&buf, "%s %-5s %s", time, log_level_name(level), line);
    }
    buf_append_char(&buf, '\n');
    ssize_t wrote = write(writer->fd, buf.data, buf.len); // [log-writer-1]
    (void)wrote;
    buf_done(&buf);
}

void log_writer_init(LogWriter *writer, int fd, LogLevel least, LogFormat format) {
    *writer =
        (LogWriter){.logger = {.least = least, .write = write_line, .context = writer}, .fd = fd};
    atomic_init(&writer->format, format);
}
