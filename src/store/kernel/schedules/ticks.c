// Ticks: a schedule is due, and each tick that has passed gets its run, or is accounted for.
//
//   [ticks-1] Every tick is dealt with once: next_at_ms moves past it in the operation that starts
//        its run or counts it. Its run's id is made of name and tick, so even a tick that is dealt
//        with a second time (a backfill, a schedule made anew) starts nothing.
//   [ticks-2] The previous run is the one in last_run. While it lives the overlap policy decides; a
//        queued tick starts in the operation that ends it.
//   [ticks-3] What one operation does is bounded; a schedule with more ticks behind it stays due.
//   [ticks-4] A tick whose run cannot be created is counted and does not hold up the next one; a
//        zone that cannot be loaded holds all of them back until it can.
//
// Not here: when ticks are (model/schedule.c), what people do (schedules/schedules.c).
#include "store/kernel/runs/runs.h"
#include "store/kernel/schedules/schedules.h"

enum { ZONE_RETRY_MS = 60 * 1000 };

// The run the overlap policy looks at; *ret_is_live: it has not ended.
Status schedule_previous(Kernel *kernel, const ScheduleRow *row, Run *ret_run, bool *ret_is_live) {
    *ret_is_live = false;
    if (row->last_run == 0) return OK;
    Status status = run_load(kernel, row->last_run, ret_run);
    if (status == ERR_NOT_FOUND) return OK; // purged
    TRY(status);
    *ret_is_live = !run_state_is_terminal(ret_run->row.state);
    return OK;
}

static void tick_failed(Kernel *kernel, ScheduleRow *row) { // [ticks-4]
    row->failed_count++;
    row->last_error = arena_str(&kernel->scratch, str_from(kernel->op->out.diag.message));
    diag_clear(&kernel->op->out.diag);
}

static Status tick_start(Kernel *kernel, ScheduleRow *row, int64_t tick) {
    RunSpec spec = schedule_spec(row, schedule_run_id(&kernel->scratch, row->name, tick));
    spec.start_at_ms = tick + schedule_jitter_ms(row->name, tick, row->jitter_ms);
    RunCreated created = {0};
    Status status = check_run_spec(kernel, &spec);
    if (status == OK) status = run_create(kernel, &spec, NULL, &created);
    if (status != OK) {
        if (kernel->failure != OK) return status;
        tick_failed(kernel, row);
        return OK;
    }
    row->tick_count += created.is_new;
    row->last_run = created.key;
    row->last_run_id = spec.id;
    row->last_error = STR_NULL;
    return OK;
}

static void tick_queue(Kernel *kernel, ScheduleRow *row, Run *previous, int64_t tick) {
    row->awaited_run = previous->row.key;
    row->queued_at_ms = tick;
    previous->facts.may_have |= MAY_HAVE_SCHEDULE;
    run_keep_facts(kernel, previous);
}

static Status tick_cancel_old(Kernel *kernel, ScheduleRow *row, Run *previous, int64_t tick) {
    if (row->awaited_run != 0) { // it was asked to end already: the newer tick takes the place
        row->skipped_count++;
        row->queued_at_ms = tick;
        return OK;
    }
    bool is_changed;
    TRY(run_cancel(kernel, previous, STR("\"the next tick of its schedule has come\""),
                   row->grace_ms, &is_changed));
    if (run_state_is_terminal(previous->row.state)) return tick_start(kernel, row, tick);
    tick_queue(kernel, row, previous, tick);
    return OK;
}

static Status tick_fire(Kernel *kernel, ScheduleRow *row, int64_t tick) { // [ticks-2]
    Run previous;
    bool is_live;
    TRY(schedule_previous(kernel, row, &previous, &is_live));
    if (!is_live) return tick_start(kernel, row, tick);
    switch ((SchedulePolicy)row->overlap) {
    case OVERLAP_ALLOW: return tick_start(kernel, row, tick);
    case OVERLAP_CANCEL_OLD: return tick_cancel_old(kernel, row, &previous, tick);
    case OVERLAP_QUEUE:
        if (row->awaited_run != 0) break;
        tick_queue(kernel, row, &previous, tick);
        return OK;
    default: break;
    }
    row->skipped_count++;
    return OK;
}

typedef struct Ticks {
    Ticker ticker;
    int64_t count;
    int64_t start_count;
} Ticks;

static bool is_wanted(const Kernel *kernel, const ScheduleRow *row, int64_t tick, int64_t next) {
    if (row->catch_up_ms > 0) return kernel_now(kernel) - tick <= row->catch_up_ms;
    return next == 0 || next > kernel_now(kernel); // the latest one
}

static Status ticks_fire(Kernel *kernel, ScheduleRow *row, Ticks *ticks) {
    while (row->next_at_ms != 0 && row->next_at_ms <= kernel_now(kernel)) {
        bool is_full = ticks->count >= LIMIT_FIRE_TICKS || ticks->start_count >= LIMIT_FIRE_STARTS;
        if (is_full) return OK; // [ticks-3]
        int64_t tick = row->next_at_ms;
        int64_t next = ticker_next(&ticks->ticker, tick);
        if (is_wanted(kernel, row, tick, next)) {
            TRY(tick_fire(kernel, row, tick));
            ticks->start_count++;
        } else {
            row->missed_count++;
        }
        ticks->count++;
        row->last_at_ms = tick;
        row->next_at_ms = next; // [ticks-1]
    }
    return OK;
}

Status schedule_fire(Kernel *kernel, const ScheduleRow *due, int64_t *ret_tick_count,
                     bool *ret_has_more) {
    *ret_tick_count = 0;
    *ret_has_more = false;
    ScheduleRow stored;
    Status status = kernel_get(kernel, TABLE_SCHEDULES, due, &stored);
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    bool is_due = stored.due_at_ms != 0 && stored.due_at_ms <= kernel_now(kernel);
    if (!is_due) return OK;
    ScheduleRow row = stored;
    Ticks ticks = {0};
    if (schedule_ticker(kernel, &row, &ticks.ticker, &kernel->op->out.diag) != OK) { // [ticks-4]
        row.last_error = arena_str(&kernel->scratch, str_from(kernel->op->out.diag.message));
        diag_clear(&kernel->op->out.diag);
        row.due_at_ms = kernel_now(kernel) + ZONE_RETRY_MS;
        return schedule_store(kernel, &stored, &row);
    }
    TRY(ticks_fire(kernel, &row, &ticks));
    row.due_at_ms = row.next_at_ms;
    *ret_tick_count = ticks.count;
    *ret_has_more = row.due_at_ms != 0 && row.due_at_ms <= kernel_now(kernel);
    return schedule_store(kernel, &stored, &row);
}

static Status queued_start(Kernel *kernel, const ScheduleRow *stored) {
    ScheduleRow row = *stored;
    int64_t tick = row.queued_at_ms;
    row.awaited_run = row.queued_at_ms = 0;
    TRY(tick_start(kernel, &row, tick));
    return schedule_store(kernel, stored, &row);
}

Status schedule_continue(Kernel *kernel, const Run *ended) { // [ticks-2]
    if (!(ended->facts.may_have & MAY_HAVE_SCHEDULE)) return OK;
    if (kernel->counters[COUNTER_SCHEDULES] == 0) return OK;
    ScheduleRow wanted = {.awaited_run = ended->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_SCHEDULES, SCHEDULES_BY_AWAITED, &wanted, PAGE_ROWS);
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    for (size_t i = 0; i < count; i++) TRY(queued_start(kernel, &rows[i]));
    return OK;
}
