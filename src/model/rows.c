// Rows: names of the numbers that stand in their columns, how entries of the log are named,
// how taken events are marked, and the id under which a failed run is taken up.
//
//   [model-rows-1] Names are part of the API on the wire: lower case, never changed.
//   [model-rows-2] A number that has no name answers "unknown"; it never stops the process, because
//        it may come from a damaged file.
#include "model/rows.h"
#include "base/containers/hash.h"
#include <stdio.h>

static const char *const run_state_names[RUN_STATE_COUNT] = {
    [RUN_PENDING] = "pending",     [RUN_RUNNING] = "running",     [RUN_SUSPENDED] = "suspended",
    [RUN_PAUSED] = "paused",       [RUN_COMPLETED] = "completed", [RUN_FAILED] = "failed",
    [RUN_CANCELLED] = "cancelled",
};

const char *run_state_name(int64_t state) {
    if (state < RUN_PENDING || state >= RUN_STATE_COUNT) return "unknown";
    return run_state_names[state];
}

const char *run_kind_name(int64_t kind) {
    static const char *const names[] = {
        [RUN_NATIVE] = "native", [RUN_FLOW] = "flow", [RUN_CODE] = "code"};
    return kind < RUN_NATIVE || kind > RUN_CODE ? "unknown" : names[kind];
}

static const char *const task_state_names[TASK_STATE_COUNT] = {
    [TASK_QUEUED] = "queued", [TASK_LEASED] = "leased",       [TASK_COMPLETED] = "completed",
    [TASK_FAILED] = "failed", [TASK_CANCELLED] = "cancelled",
};

const char *task_state_name(int64_t state) {
    if (state < TASK_QUEUED || state >= TASK_STATE_COUNT) return "unknown";
    return task_state_names[state];
}

Str run_retry_id(Str id, RetryId *ret_text) {
    enum { DIGITS_MAX = 9 };
    size_t end = id.len;
    long number = 0, scale = 1;
    for (; end > 0 && id.len - end < DIGITS_MAX; scale *= 10) {
        char c = id.data[end - 1];
        if (c < '0' || c > '9') break;
        number += scale * (c - '0');
        end--;
    }
    bool is_retry = end > 1 && end < id.len && id.data[end - 1] == '~' && id.data[end] != '0';
    if (is_retry) id.len = end - 1;
    snprintf(ret_text->text, sizeof ret_text->text, "%.*s~%ld", STR_ARG(id),
             is_retry ? number + 1 : 2);
    return str_from(ret_text->text);
}

const char *outcome_name(int64_t outcome) {
    switch (outcome) {
    case OUTCOME_OK: return "ok";
    case OUTCOME_TIMEOUT: return "timeout";
    case OUTCOME_CANCELLED: return "cancelled";
    default: return "error";
    }
}

const char *log_kind_name(int64_t kind) {
    static const char *const names[LOG_KIND_COUNT] = {
        [LOG_STARTED] = "started",
        [LOG_STEP] = "step",
        [LOG_STEP_ATTEMPT] = "step_attempt",
        [LOG_WAIT] = "wait",
        [LOG_CHILD] = "child",
        [LOG_TASK] = "task",
        [LOG_EMIT] = "emit",
        [LOG_MARK] = "mark",
        [LOG_STREAM] = "stream",
        [LOG_WAITING] = "waiting",
        [LOG_CONTINUED] = "continued",
        [LOG_REWOUND] = "rewound",
        [LOG_PAUSED] = "paused",
        [LOG_RESUMED] = "resumed",
        [LOG_CANCEL_REQUESTED] = "cancel_requested",
        [LOG_IDLE] = "idle",
        [LOG_RELEASED] = "released",
        [LOG_RELOADED] = "reloaded",
        [LOG_FINISHED] = "finished",
        [LOG_LINE] = "line",
        [LOG_UNHANDLED] = "unhandled",
        [LOG_RETRY] = "retry",
        [LOG_FAILURE] = "failure",
        [LOG_RETRIED] = "retried",
        [LOG_MOVED] = "moved",
        [LOG_SET] = "set",
    };
    bool is_known = kind > 0 && kind < LOG_KIND_COUNT;
    return is_known ? names[kind] : "unknown";
}

const char *log_step_state(const LogRow *entry) {
    switch ((LogKind)entry->kind) {
    case LOG_STARTED:
    case LOG_CONTINUED: return "running";
    case LOG_WAIT: // a task has ended; or the body goes on, which is also how leaving idle shows
        return str_is_null(log_entry_target(entry)) ? "running" : "not_running";
    case LOG_TASK:
    case LOG_CHILD:
    case LOG_STEP_ATTEMPT:
    case LOG_RETRY: return "preparing";
    case LOG_STEP:
    case LOG_IDLE:
    case LOG_FINISHED: return "not_running";
    default: return NULL;
    }
}

Str log_entry_name(const LogRow *entry) {
    if (entry->kind != LOG_WAIT) return entry->name;
    Str left = entry->name, name = entry->name;
    (void)str_split(&left, '\n', &name);
    return name;
}

// An id that was made for a run or task, and no name that somebody gave a signal.
static bool is_made_id(Str text, Str prefix) {
    enum { MADE_LEN_MIN = 20 };
    if (!str_starts_with(text, prefix) || text.len < prefix.len + MADE_LEN_MIN) return false;
    for (size_t i = prefix.len; i < text.len; i++) {
        char c = text.data[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z')) return false;
    }
    return true;
}

Str log_entry_target(const LogRow *entry) {
    if (entry->kind != LOG_WAIT) return STR_NULL;
    Str left = entry->name, name = STR_NULL;
    if (str_split(&left, '\n', &name) && !str_is_null(left)) return left;
    bool is_id = entry->attempt > 0 || is_made_id(entry->name, STR("run_")) ||
                 is_made_id(entry->name, STR("task_"));
    return is_id ? entry->name : STR_NULL;
}

// Part of the format: the same number in every version and on every machine.
static uint64_t digest_of(Str text) { // the first 8 bytes of SHA-256
    Sha256 sha;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, text.data, text.len);
    sha256_final(&sha, digest);
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number = number << 8 | digest[i];
    return number;
}

int64_t event_taken_mark(Str topic) { return -1 - (int64_t)(digest_of(topic) >> 2); }

int64_t snapshot_digest(Str snapshot) {
    return str_is_null(snapshot) ? 0 : 1 + (int64_t)(digest_of(snapshot) >> 2);
}
