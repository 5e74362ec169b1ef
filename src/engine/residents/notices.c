// Notices: lines for the operator about runs that leave memory, come back, or cannot come back, and
// about those that this node has no function for.
//
// Such things happen to one run now and then, or to thousands in a second when memory is short. So
// each kind has a budget of lines per second; what is beyond it is counted, and the count is told
// once the second is over. A failure is always told by name.
//
// [notices-1] is in notices.h.
//
// Not here: counters (CoordinatorStats), what programs are told (world.h).
#include "engine/residents/notices.h"

enum { LINES_PER_SECOND = 20, BUDGET_MS = 1000 };

static const char *const what_happened[NOTICE_KIND_COUNT] = {
    [NOTICE_RELEASED] = "released from memory",
    [NOTICE_RELOADED] = "brought back into memory",
    [NOTICE_RESERVED] = "left for a process that registers their workflow",
};

void notices_init(Notices *self, const CoordinatorSetup *setup) {
    *self = (Notices){.setup = setup};
}

static void tell_left_out(Notices *self, NoticeKind kind) { // [notices-1]
    NoticeBudget *budget = &self->budgets[kind];
    if (budget->left_out_count > 0)
        LOG(self->setup->logger, LOG_INFO, "%lld more runs were %s",
            (long long)budget->left_out_count, what_happened[kind]);
    budget->left_out_count = 0;
}

void notices_flush(Notices *self, int64_t now_ms) {
    for (NoticeKind kind = 0; kind < NOTICE_KIND_COUNT; kind++) {
        NoticeBudget *budget = &self->budgets[kind];
        bool is_over = now_ms < budget->began_at_ms || now_ms - budget->began_at_ms >= BUDGET_MS;
        if (budget->left_out_count > 0 && is_over) tell_left_out(self, kind);
    }
}

int64_t notices_next_ms(const Notices *self) {
    int64_t next_ms = INT64_MAX;
    for (NoticeKind kind = 0; kind < NOTICE_KIND_COUNT; kind++) {
        const NoticeBudget *budget = &self->budgets[kind];
        int64_t over_ms = budget->began_at_ms + BUDGET_MS;
        if (budget->left_out_count > 0 && over_ms < next_ms) next_ms = over_ms;
    }
    return next_ms;
}

void notices_run(Notices *self, NoticeKind kind, Str run_id, Str workflow) {
    NoticeBudget *budget = &self->budgets[kind];
    if (!log_takes(self->setup->logger, LOG_INFO)) return;
    int64_t now_ms = env_now_ms(self->setup->env);
    if (now_ms < budget->began_at_ms || now_ms - budget->began_at_ms >= BUDGET_MS) {
        tell_left_out(self, kind);
        *budget = (NoticeBudget){.began_at_ms = now_ms};
    }
    if (budget->line_count == LINES_PER_SECOND) {
        budget->left_out_count++;
        return;
    }
    budget->line_count++;
    if (kind != NOTICE_RESERVED) {
        LOG(self->setup->logger, LOG_INFO, "run %.*s (%.*s) was %s", STR_ARG(run_id),
            STR_ARG(workflow), what_happened[kind]);
        return;
    }
    // On a store that is ours alone nobody else can take it up.
    LOG(self->setup->logger, self->setup->config.is_exclusive ? LOG_WARN : LOG_INFO,
        "run %.*s waits for workflow \"%.*s\" to be registered", STR_ARG(run_id),
        STR_ARG(workflow));
}

void notices_paused(Notices *self, const ResidentRun *run, const Execution *execution) {
    bool is_unreadable = execution->output.is_unreadable;
    LOG(self->setup->logger, LOG_ERROR, "run %.*s (%.*s) %s and is paused: %.*s", STR_ARG(run->id),
        STR_ARG(run->workflow),
        is_unreadable ? "could not be brought back into memory" : "cannot go on",
        STR_ARG(execution->output.result));
}

void notices_taken_over(Notices *self, int64_t count) {
    if (count == 0 || self->setup->config.is_exclusive)
        return; // alone: what the process before left
    LOG(self->setup->logger, LOG_WARN, "%lld runs were taken over from a node whose lease ran out",
        (long long)count);
}
