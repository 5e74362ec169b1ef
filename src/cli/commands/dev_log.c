// Writing what happens to runs.
//
// The engine's thread copies an event and goes on; the thread of the log asks for what makes a line
// worth reading (how long it took, what came out, what is waited for) and writes it.
//
// Invariants [dev-log-1]-[dev-log-3] are in dev_log.h.
//
// Not here: what is deployed and what is wrong with files (server/flows/folder.c), which goes the
// way of all log lines.
#include "cli/commands/dev_log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "json/value.h"
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    SHOWN_MAX = 160,       // columns of a result
    DETAIL_MAX = 64 << 10, // bytes of a console line or an error that are kept
    LINE_SIZE_MAX = 1 << 20,
    SUMMARY_MS = 1000,
    CAUSES_MAX = 4,
};

// ---- taking ----

static char *keep(const char *text) {
    if (text == NULL) return NULL;
    size_t len = strnlen(text, DETAIL_MAX);
    return mem_copy(text, len);
}

static void line_done(DevLine *line) {
    mem_free(line->run_id);
    mem_free(line->workflow);
    mem_free(line->name);
    mem_free(line->detail);
}

// False: it is not worth a line.
static bool class_of(int kind, DevClass *ret_class) {
    switch (kind) {
    case ABIDE_EVENT_FAILED:
    case ABIDE_EVENT_PAUSED:
    case ABIDE_EVENT_RETRIED:
    case ABIDE_EVENT_STORE_DOWN:
    case ABIDE_EVENT_STORE_UP: *ret_class = DEV_TROUBLE; return true;
    case ABIDE_EVENT_LINE: *ret_class = DEV_CONSOLE; return true;
    case ABIDE_EVENT_STARTED:
    case ABIDE_EVENT_COMPLETED:
    case ABIDE_EVENT_CANCELLED:
    case ABIDE_EVENT_IDLE: *ret_class = DEV_ORDINARY; return true;
    default: return false;
    }
}

static void wake(DevLog *log) {
    uint64_t one = 1;
    ssize_t wrote = write(log->wake, &one, sizeof one);
    (void)wrote; // full means that it has been woken
}

void dev_log_notice(DevLog *log, const abide_event *event) { // [dev-log-1]
    DevClass class;
    if (!class_of(event->kind, &class)) return;
    pthread_mutex_lock(&log->lock);
    int64_t second = event->at_ms / 1000;
    if (second != log->second) memset(log->counts, 0, sizeof log->counts);
    log->second = second;
    bool has_room = log->counts[class] < DEV_LOG_LINES && log->line_count < DEV_LOG_PENDING_MAX;
    if (has_room) {
        log->counts[class]++;
        log->lines[log->line_count++] =
            (DevLine){event->kind,           event->at_ms,      keep(event->run_id),
                      keep(event->workflow), keep(event->name), keep(event->detail)};
    } else {
        log->left_out[event->kind]++; // [dev-log-2]
    }
    pthread_mutex_unlock(&log->lock);
    wake(log);
}

// ---- what a line says ----

// Lines of a text, each below the one before and indented.
static void put_block(Buf *text, Str block) {
    Str line;
    while (str_split(&block, '\n', &line)) {
        line = str_trim(line);
        if (line.len == 0) continue;
        buf_append_cstr(text, "\n    ");
        output_clean(text, line, 0);
    }
}

// A text that may have several lines, of which the first goes on where the line stands.
static void put_text(Buf *text, Str said) {
    Str first;
    if (str_split(&said, '\n', &first)) output_clean(text, first, 0);
    if (!str_is_null(said)) put_block(text, said);
}

// The places of a stack; its head repeats the message.
static void put_stack(Buf *text, Str stack) {
    Str line;
    while (str_split(&stack, '\n', &line)) {
        line = str_trim(line);
        if (!str_starts_with(line, STR("at "))) continue;
        buf_append_cstr(text, "\n    ");
        output_clean(text, line, 0);
    }
}

// "TypeError: x is not a function", the stack below it, and what caused it.
static void put_error(Buf *text, const JsonValue *error, int depth) {
    Str type = field_text(error, "type"), message = field_text(error, "message");
    const JsonValue *cause = json_member(error, STR("cause"));
    if (str_is_null(message)) {
        output_clean(text, error->raw, SHOWN_MAX);
        return;
    }
    if (!str_is_null(type)) {
        output_clean(text, type, 0);
        buf_append_cstr(text, ": ");
    }
    put_text(text, message);
    put_stack(text, field_text(error, "stack"));
    if (cause == NULL || cause->kind != JSON_KIND_OBJECT || depth == CAUSES_MAX) return;
    buf_append_cstr(text, "\n  caused by ");
    put_error(text, cause, depth + 1);
}

static void put_detail(Buf *text, Arena *arena, const char *detail) {
    JsonValue *value = NULL;
    Str json = detail != NULL ? str_from(detail) : STR_NULL;
    if (str_is_null(json)) return;
    bool is_json = json_parse(arena, json, &value, NULL) == OK;
    if (is_json && value->kind == JSON_KIND_OBJECT) put_error(text, value, 0);
    else output_clean(text, is_json && value->kind == JSON_KIND_STRING ? value->string : json, 0);
}

static void put_console(Buf *text, Arena *arena, const DevLine *line) {
    JsonValue *value = NULL;
    Str said = str_from(line->detail != NULL ? line->detail : "");
    if (json_parse(arena, said, &value, NULL) == OK && value->kind == JSON_KIND_STRING)
        said = value->string;
    buf_printf(text, "%s: ", line->name != NULL ? line->name : "log");
    put_text(text, said);
}

// "1.3s", "20ms", "3m".
static void put_span(Buf *text, Arena *arena, int64_t span_ms) {
    if (span_ms < 1000) buf_printf(text, "%lldms", (long long)(span_ms > 0 ? span_ms : 0));
    else if (span_ms < 60 * 1000)
        buf_printf(text, "%lld.%llds", (long long)(span_ms / 1000),
                   (long long)(span_ms % 1000 / 100));
    else buf_append_str(text, output_duration(arena, span_ms));
}

// " in 2.1s"; nothing when the run is not to be asked for.
static void put_took(const DevLog *log, Buf *text, Arena *arena, const DevLine *line,
                     const char *word) {
    abide_run_info info;
    if (log->engine == NULL || abide_status(log->engine, line->run_id, &info, NULL) != ABIDE_OK)
        return;
    int64_t began_ms = info.started_at_ms != 0 ? info.started_at_ms : info.created_at_ms;
    if (info.finished_at_ms == 0) return;
    buf_printf(text, " %s ", word);
    put_span(text, arena, info.finished_at_ms - began_ms);
}

static void put_result(const DevLog *log, Buf *text, const DevLine *line) {
    char *json = NULL;
    if (log->engine == NULL ||
        abide_result(log->engine, line->run_id, NULL, &json, NULL) != ABIDE_OK)
        return;
    if (json != NULL && strcmp(json, "null") != 0) {
        buf_append_cstr(text, ": ");
        output_clean(text, str_from(json), SHOWN_MAX);
    }
    abide_free(json);
}

// "signal:approval, timer" as "signal approval, timer". False: it does not wait any more.
static bool put_waits(const DevLog *log, Buf *text, const DevLine *line) {
    abide_run_info info;
    if (log->engine == NULL || abide_status(log->engine, line->run_id, &info, NULL) != ABIDE_OK)
        return false;
    if (info.waiting_on[0] == 0) return false;
    for (char *at = info.waiting_on; *at; at++)
        if (*at == ':' && at > info.waiting_on) *at = ' ';
    buf_append_cstr(text, "waits for ");
    output_clean(text, str_from(info.waiting_on), SHOWN_MAX);
    return true;
}

// What happened. False: it is not worth a line any more.
static bool put_event(const DevLog *log, Buf *text, Arena *arena, const DevLine *line) {
    switch (line->kind) {
    case ABIDE_EVENT_STARTED: buf_append_cstr(text, "started"); return true;
    case ABIDE_EVENT_COMPLETED:
        buf_append_cstr(text, "completed");
        put_took(log, text, arena, line, "in");
        put_result(log, text, line);
        return true;
    case ABIDE_EVENT_FAILED:
    case ABIDE_EVENT_CANCELLED:
        buf_append_cstr(text, line->kind == ABIDE_EVENT_FAILED ? "failed" : "cancelled");
        put_took(log, text, arena, line, "after");
        break;
    case ABIDE_EVENT_RETRIED: buf_append_cstr(text, "failed and begins again later"); break;
    case ABIDE_EVENT_PAUSED: buf_append_cstr(text, "paused"); break;
    case ABIDE_EVENT_IDLE: return put_waits(log, text, line);
    case ABIDE_EVENT_LINE: put_console(text, arena, line); return true;
    case ABIDE_EVENT_STORE_DOWN: buf_append_cstr(text, "the store does not answer"); break;
    case ABIDE_EVENT_STORE_UP: buf_append_cstr(text, "the store answers again"); break;
    default: return false;
    }
    if (line->detail == NULL) return true;
    buf_append_cstr(text, ": ");
    put_detail(text, arena, line->detail);
    return true;
}

static Paint paint_of(const DevLine *line) {
    switch (line->kind) {
    case ABIDE_EVENT_COMPLETED: return PAINT_GREEN;
    case ABIDE_EVENT_FAILED:
    case ABIDE_EVENT_STORE_DOWN: return PAINT_RED;
    case ABIDE_EVENT_CANCELLED:
    case ABIDE_EVENT_RETRIED:
    case ABIDE_EVENT_PAUSED: return PAINT_YELLOW;
    case ABIDE_EVENT_LINE:
        if (line->name != NULL && strcmp(line->name, "error") == 0) return PAINT_RED;
        return line->name != NULL && strcmp(line->name, "warn") == 0 ? PAINT_YELLOW : PAINT_NONE;
    default: return PAINT_NONE;
    }
}

static void put_head(const DevLog *log, Buf *text, const DevLine *line) {
    char clock[16];
    time_t seconds = (time_t)(line->at_ms / 1000);
    struct tm parts;
    localtime_r(&seconds, &parts);
    snprintf(clock, sizeof clock, "%02d:%02d:%02d", parts.tm_hour % 24, parts.tm_min % 60,
             parts.tm_sec % 61);
    output_painted(text, log->terminal, PAINT_DIM, str_from(clock));
    if (line->run_id == NULL) {
        buf_append_char(text, ' ');
        return;
    }
    if (line->workflow != NULL) {
        buf_append_char(text, ' ');
        output_clean(text, str_from(line->workflow), 0);
    }
    buf_append_char(text, ' ');
    output_painted(text, log->terminal, PAINT_BOLD, str_from(line->run_id));
    buf_append_cstr(text, ": ");
}

// Not output_painted: what is said may have several lines, and has been cleaned.
static void put_painted(const DevLog *log, Buf *text, Paint paint, Str said) {
    static const char *const begins[] = {
        [PAINT_RED] = "\033[31m", [PAINT_GREEN] = "\033[32m", [PAINT_YELLOW] = "\033[33m"};
    bool is_painted = log->terminal.has_color && paint != PAINT_NONE;
    if (is_painted) buf_append_cstr(text, begins[paint]);
    buf_append_str(text, said);
    if (is_painted) buf_append_cstr(text, "\033[0m");
}

static void write_event(const DevLog *log, const DevLine *line) {
    Arena arena;
    Buf head, said;
    arena_init(&arena);
    buf_init(&head, LINE_SIZE_MAX);
    buf_init(&said, LINE_SIZE_MAX);
    if (put_event(log, &said, &arena, line)) {
        put_head(log, &head, line);
        put_painted(log, &head, paint_of(line), buf_str(&said));
        buf_append_char(&head, '\n');
        fwrite(head.data, 1, head.len, log->file);
        fflush(log->file);
    }
    buf_done(&said);
    buf_done(&head);
    arena_done(&arena);
}

// "… and 312 more: 300 started, 12 completed" [dev-log-2]
static void write_left_out(const DevLog *log, const size_t counts[DEV_LOG_KINDS]) {
    static const char *const words[DEV_LOG_KINDS] = {
        [ABIDE_EVENT_STARTED] = "started",   [ABIDE_EVENT_COMPLETED] = "completed",
        [ABIDE_EVENT_FAILED] = "failed",     [ABIDE_EVENT_CANCELLED] = "cancelled",
        [ABIDE_EVENT_PAUSED] = "paused",     [ABIDE_EVENT_STORE_DOWN] = "store down",
        [ABIDE_EVENT_STORE_UP] = "store up", [ABIDE_EVENT_LINE] = "console lines",
        [ABIDE_EVENT_IDLE] = "waiting",      [ABIDE_EVENT_RETRIED] = "begin again",
    };
    size_t sum = 0;
    Buf text;
    buf_init(&text, LINE_SIZE_MAX);
    for (size_t i = 0; i < DEV_LOG_KINDS; i++) {
        if (counts[i] == 0) continue;
        buf_printf(&text, "%s%zu %s", sum > 0 ? ", " : "", counts[i], words[i]);
        sum += counts[i];
    }
    if (sum > 0) {
        fprintf(log->file, "… and %zu more: %s\n", sum, buf_cstr(&text));
        fflush(log->file);
    }
    buf_done(&text);
}

// ---- the thread ----

// Takes what there is; the second that is over decides whether what was left out is told now.
static bool write_pending(DevLog *log, bool is_summary_due) {
    DevLine lines[DEV_LOG_PENDING_MAX];
    size_t left_out[DEV_LOG_KINDS] = {0}, count;
    pthread_mutex_lock(&log->lock);
    count = log->line_count;
    memcpy(lines, log->lines, count * sizeof *lines);
    log->line_count = 0;
    bool has_left_out = false;
    for (size_t i = 0; i < DEV_LOG_KINDS; i++) has_left_out |= log->left_out[i] > 0;
    if (is_summary_due) {
        memcpy(left_out, log->left_out, sizeof left_out);
        memset(log->left_out, 0, sizeof log->left_out);
    }
    pthread_mutex_unlock(&log->lock);
    if (is_summary_due) write_left_out(log, left_out);
    for (size_t i = 0; i < count; i++) {
        write_event(log, &lines[i]);
        line_done(&lines[i]);
    }
    return has_left_out && !is_summary_due;
}

static bool is_ending(DevLog *log) {
    pthread_mutex_lock(&log->lock);
    bool answer = log->is_ending;
    pthread_mutex_unlock(&log->lock);
    return answer;
}

static void *thread_main(void *context) {
    DevLog *log = context;
    bool has_left_out = false;
    while (!is_ending(log)) {
        struct pollfd waited = {.fd = log->wake, .events = POLLIN};
        // While lines are left out nothing is lost by waiting the second to its end.
        if (has_left_out) (void)usleep(SUMMARY_MS * 1000);
        else (void)poll(&waited, 1, -1);
        uint64_t count;
        ssize_t took = read(log->wake, &count, sizeof count);
        (void)took;
        has_left_out = write_pending(log, has_left_out);
    }
    return NULL;
}

void dev_log_init(DevLog *log, FILE *file) {
    *log = (DevLog){.file = file, .terminal = terminal_look(file)};
    log->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&log->lock, NULL);
}

void dev_log_start(DevLog *log, abide_engine *engine) {
    Diag diag;
    log->engine = engine;
    log->is_running = thread_start(&log->thread, thread_main, log, &diag) == OK;
    if (!log->is_running) fprintf(log->file, "no lines about runs: %s\n", diag.message);
    wake(log); // something may have happened before
}

void dev_log_stop(DevLog *log) {
    pthread_mutex_lock(&log->lock);
    log->is_ending = true;
    pthread_mutex_unlock(&log->lock);
    wake(log);
    if (log->is_running) {
        pthread_join(log->thread, NULL);
        (void)write_pending(log, true);
    }
    log->is_running = false;
    log->engine = NULL; // [dev-log-3]
}

void dev_log_done(DevLog *log) {
    for (size_t i = 0; i < log->line_count; i++) line_done(&log->lines[i]);
    close(log->wake);
    pthread_mutex_destroy(&log->lock);
}
