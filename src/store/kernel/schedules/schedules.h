// Schedules: the runs that are started by the clock.
//
// The room keeps schedules and their ticks: each tick becomes one run or is accounted for. What a
// started run does is no concern of it, but its end is (schedule_continue).
#pragma once
#include "model/schedule.h"
#include "store/kernel/runs/runs.h"

// ---- schedules/schedules.c, schedules/ticks.c ----
MUST_CHECK Status schedule_store(Kernel *kernel, const ScheduleRow *before, ScheduleRow *row);
// Reads kind, spec and zone; the Diag says what is wrong with them.
MUST_CHECK Status schedule_ticker(Kernel *kernel, const ScheduleRow *row, Ticker *ret_ticker,
                                  Diag *diag);
// What a run of the schedule is started with; `id` is the run's.
RunSpec schedule_spec(const ScheduleRow *row, Str id);
MUST_CHECK Status schedule_previous(Kernel *kernel, const ScheduleRow *row, Run *ret_run,
                                    bool *ret_is_live);
MUST_CHECK Status schedule_fire(Kernel *kernel, const ScheduleRow *due, int64_t *ret_tick_count,
                                bool *ret_has_more);
// A run has ended: the tick that waited for it starts.
MUST_CHECK Status schedule_continue(Kernel *kernel, const Run *ended);
MUST_CHECK Status apply_set_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_pause_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_resume_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_trigger_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_backfill_schedule(Kernel *kernel, Op *op);
