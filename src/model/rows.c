// Rows: names of the numbers that stand in their columns.
//
//   [N1] Names are part of the API on the wire: lower case, never changed.
//   [N2] A number that has no name answers "unknown"; it never stops the process, because it may
//        come from a damaged file.
#include "model/rows.h"

static const char *const run_state_names[RUN_STATE_COUNT] = {
    [RUN_PENDING] = "pending",     [RUN_RUNNING] = "running",     [RUN_SUSPENDED] = "suspended",
    [RUN_PAUSED] = "paused",       [RUN_COMPLETED] = "completed", [RUN_FAILED] = "failed",
    [RUN_CANCELLED] = "cancelled",
};

const char *run_state_name(int64_t state) {
    if (state < RUN_PENDING || state >= RUN_STATE_COUNT) return "unknown";
    return run_state_names[state];
}

bool run_state_parse(Str name, RunState *ret_state) {
    for (int state = RUN_PENDING; state < RUN_STATE_COUNT; state++) {
        if (str_equal(name, str_from(run_state_names[state]))) {
            *ret_state = (RunState)state;
            return true;
        }
    }
    return false;
}

static const char *const task_state_names[TASK_STATE_COUNT] = {
    [TASK_QUEUED] = "queued", [TASK_LEASED] = "leased",       [TASK_COMPLETED] = "completed",
    [TASK_FAILED] = "failed", [TASK_CANCELLED] = "cancelled",
};

const char *task_state_name(int64_t state) {
    if (state < TASK_QUEUED || state >= TASK_STATE_COUNT) return "unknown";
    return task_state_names[state];
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
    };
    bool is_known = kind > 0 && kind < LOG_KIND_COUNT;
    return is_known ? names[kind] : "unknown";
}

const char *log_step_state(const LogRow *entry) {
    switch ((LogKind)entry->kind) {
    case LOG_STARTED:
    case LOG_CONTINUED:
    case LOG_WAIT: return "running"; // the body goes on; also what leaving idle shows as
    case LOG_TASK:
    case LOG_CHILD:
    case LOG_STEP_ATTEMPT: return "preparing";
    case LOG_STEP:
    case LOG_IDLE:
    case LOG_FINISHED: return "not_running";
    default: return NULL;
    }
}
