// Notices: lines for the operator about single runs.
//
//   [notices-1] Nothing is lost from the sum: each run has its line or is in a count.
#pragma once
#include "engine/residents/resident.h"
#include "engine/world/execution.h"
#include "engine/world/setup.h"

typedef enum NoticeKind {
    NOTICE_RELEASED,
    NOTICE_RELOADED,
    NOTICE_RESERVED,
    NOTICE_KIND_COUNT
} NoticeKind;

typedef struct NoticeBudget { // of one second
    int64_t began_at_ms;
    int64_t line_count;
    int64_t left_out_count; // runs without a line
} NoticeBudget;

typedef struct Notices {
    const CoordinatorSetup *setup;
    NoticeBudget budgets[NOTICE_KIND_COUNT];
} Notices;

void notices_init(Notices *self, const CoordinatorSetup *setup);
void notices_run(Notices *self, NoticeKind kind, Str run_id, Str workflow);
void notices_paused(Notices *self, const ResidentRun *run, const Execution *execution);
void notices_taken_over(Notices *self, int64_t count);
void notices_flush(Notices *self, int64_t now_ms); // tells the counts of seconds that are over
int64_t notices_next_ms(const Notices *self);      // when that has something to tell
