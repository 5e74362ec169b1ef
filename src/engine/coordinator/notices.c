// Notices: lines for the operator about runs that leave memory, come back, or cannot come back, and
// about those that this node has no function for.
//
// Such things happen to one run now and then, or to thousands in a second when memory is short. So
// each kind has a budget of lines per second; what is beyond it is counted, and the count is told
// once the second is over. A failure is always told by name.
//
//   [B1] Nothing is lost from the sum: each run has its line or is in a count.
//
// Not here: counters (CoordinatorStats), what programs are told (notify).
#include "engine/coordinator/internal.h"

enum { LINES_PER_SECOND = 20, BUDGET_MS = 1000 };

static const char *const what_happened[NOTICE_KIND_COUNT] = {
    [NOTICE_RELEASED] = "released from memory",
    [NOTICE_RELOADED] = "brought back into memory",
    [NOTICE_RESERVED] = "left for a process that registers their workflow",
};

static void tell_left_out(Coordinator *c, NoticeKind kind) { // [B1]
    NoticeBudget *budget = &c->notices[kind];
    if (budget->left_out_count > 0)
        LOG(c->logger, LOG_INFO, "%lld more runs were %s", (long long)budget->left_out_count,
            what_happened[kind]);
    budget->left_out_count = 0;
}

void notices_flush(Coordinator *c, int64_t now_ms) {
    for (NoticeKind kind = 0; kind < NOTICE_KIND_COUNT; kind++) {
        NoticeBudget *budget = &c->notices[kind];
        bool is_over = now_ms < budget->began_at_ms || now_ms - budget->began_at_ms >= BUDGET_MS;
        if (budget->left_out_count > 0 && is_over) tell_left_out(c, kind);
    }
}

int64_t notices_next_ms(const Coordinator *c) {
    int64_t next_ms = INT64_MAX;
    for (NoticeKind kind = 0; kind < NOTICE_KIND_COUNT; kind++) {
        const NoticeBudget *budget = &c->notices[kind];
        int64_t over_ms = budget->began_at_ms + BUDGET_MS;
        if (budget->left_out_count > 0 && over_ms < next_ms) next_ms = over_ms;
    }
    return next_ms;
}

void notice_run(Coordinator *c, NoticeKind kind, Str run_id, Str workflow) {
    NoticeBudget *budget = &c->notices[kind];
    if (!log_takes(c->logger, LOG_INFO)) return;
    int64_t now_ms = env_now_ms(c->env);
    if (now_ms < budget->began_at_ms || now_ms - budget->began_at_ms >= BUDGET_MS) {
        tell_left_out(c, kind);
        *budget = (NoticeBudget){.began_at_ms = now_ms};
    }
    if (budget->line_count == LINES_PER_SECOND) {
        budget->left_out_count++;
        return;
    }
    budget->line_count++;
    if (kind != NOTICE_RESERVED) {
        LOG(c->logger, LOG_INFO, "run %.*s (%.*s) was %s", STR_ARG(run_id), STR_ARG(workflow),
            what_happened[kind]);
        return;
    }
    // On a store that is ours alone nobody else can take it up.
    LOG(c->logger, c->config.is_exclusive ? LOG_WARN : LOG_INFO,
        "run %.*s waits for workflow \"%.*s\" to be registered", STR_ARG(run_id),
        STR_ARG(workflow));
}

void notice_paused(Coordinator *c, const ResidentRun *run, const Execution *execution) {
    bool is_unreadable = execution->output.is_unreadable;
    LOG(c->logger, LOG_ERROR, "run %.*s (%.*s) %s and is paused: %.*s", STR_ARG(run->id),
        STR_ARG(run->workflow),
        is_unreadable ? "could not be brought back into memory" : "cannot go on",
        STR_ARG(execution->output.result));
}

void notice_taken_over(Coordinator *c, int64_t count) {
    if (count == 0 || c->config.is_exclusive) return; // alone: what the process before left
    LOG(c->logger, LOG_WARN, "%lld runs were taken over from a node whose lease ran out",
        (long long)count);
}
