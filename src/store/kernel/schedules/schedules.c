// Schedules as people handle them: made, replaced, removed, paused, resumed, triggered, backfilled.
//
//   [schedules-1] A schedule that is stored has been read: its spec parses, its zone loads, its
//        runs could be created.
//   [schedules-2] Replacing one leaves its past alone (counts, previous run, a queued tick), and
//        its next tick too, unless kind, spec or zone changed; so saving the same again changes
//        nothing.
//   [schedules-3] Triggers and backfills are a person's decision: they ask neither the overlap
//        policy nor whether it is paused, and they do not move the next tick.
//   [schedules-4] While it is paused it has no next tick and nothing queued; ticks of that time are
//        never made up for, except by a backfill.
//
// Not here: what happens at a tick (schedules/ticks.c), when ticks are (model/schedule.c).
#include "store/kernel/schedules/schedules.h"
#include "base/time/duration.h"
#include "store/kernel/runs/runs.h"

static Status schedule_find(Kernel *kernel, Str name, ScheduleRow *ret_row) {
    ScheduleRow wanted = {.name = name}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_SCHEDULES, SCHEDULES_BY_NAME, &wanted, 1);
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0) return ERR_NOT_FOUND;
    *ret_row = rows[0];
    return OK;
}

static Status schedule_require(Kernel *kernel, Str name, ScheduleRow *ret_row) {
    TRY(kernel_check_name(kernel, "the schedule name", name, LIMIT_SCHEDULE_NAME_SIZE));
    Status status = schedule_find(kernel, name, ret_row);
    if (status != ERR_NOT_FOUND) return status;
    return kernel_refuse(kernel, ERR_NOT_FOUND, "SCHEDULE_NOT_FOUND",
                         "there is no schedule \"%.*s\"", STR_ARG(name));
}

Status schedule_store(Kernel *kernel, const ScheduleRow *before, ScheduleRow *row) {
    if (row->due_at_ms != before->due_at_ms) kernel_note_due(kernel, row->due_at_ms);
    return kernel_update(kernel, TABLE_SCHEDULES, before, row);
}

Status schedule_ticker(Kernel *kernel, const ScheduleRow *row, Ticker *ret_ticker, Diag *diag) {
    const TimeZone *zone;
    TRY(zone_cache_get(&kernel->zones, row->zone, &zone, diag));
    return ticker_init(ret_ticker, row->kind, row->spec, zone, diag);
}

RunSpec schedule_spec(const ScheduleRow *row, Str id) {
    return (RunSpec){.id = id,
                     .workflow = row->workflow,
                     .kind = row->run_kind,
                     .input = row->input,
                     .queue = row->queue,
                     .tags = row->tags,
                     .priority = row->priority,
                     .timeout_ms = row->timeout_ms,
                     .keep_ms = row->keep_ms,
                     .given = row->given,
                     .parent_position = NOT_AWAITED};
}

// ---- set ----

static bool is_duration(int64_t ms) { return ms >= 0 && ms <= LIMIT_DURATION_MS; }

// Ticks of intervals and single times are the same moments everywhere.
static Status check_zone(Kernel *kernel, const ScheduleRow *row) {
    bool is_used = row->kind == SCHEDULE_CRON || str_is_null(row->zone);
    if (is_used || str_equal(row->zone, STR("UTC"))) return OK;
    return kernel_refuse(kernel, ERR_INVALID, "BAD_SCHEDULE",
                         "a time zone goes with cron alone; \"%.*s\" would be ignored",
                         STR_ARG(row->zone));
}

static Status schedule_check(Kernel *kernel, const ScheduleRow *row) {
    TRY(kernel_check_name(kernel, "the schedule name", row->name, LIMIT_SCHEDULE_NAME_SIZE));
    if (row->overlap < OVERLAP_SKIP || row->overlap >= OVERLAP_COUNT) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_SCHEDULE",
                             "an overlap policy is skip, queue, allow or cancel-old");
    }
    if (!is_duration(row->jitter_ms) || !is_duration(row->catch_up_ms) ||
        !is_duration(row->grace_ms)) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_DURATION",
                             "jitter, catch-up window and grace are not negative and at most a "
                             "hundred years");
    }
    TRY(kernel_check_size(kernel, "the spec", row->spec, CRON_TEXT_MAX));
    RunSpec spec = schedule_spec(row, STR("sched"));
    TRY(check_run_spec(kernel, &spec));
    return run_check_workflow(kernel, &spec);
}

// What a person sets over what is there; the rest stays [schedules-2].
static ScheduleRow schedule_replace(const ScheduleRow *stored, const ScheduleRow *given) {
    ScheduleRow row = *stored;
    row.workflow = given->workflow;
    row.run_kind = given->run_kind;
    row.input = given->input;
    row.queue = given->queue;
    row.tags = given->tags;
    row.priority = given->priority;
    row.timeout_ms = given->timeout_ms;
    row.keep_ms = given->keep_ms;
    row.given = given->given;
    row.kind = given->kind;
    row.spec = given->spec;
    row.zone = given->zone;
    row.jitter_ms = given->jitter_ms;
    row.overlap = given->overlap;
    row.grace_ms = given->grace_ms;
    row.catch_up_ms = given->catch_up_ms;
    return row;
}

static void schedule_set_next(ScheduleRow *row, int64_t next_at_ms) {
    row->next_at_ms = row->due_at_ms = next_at_ms;
}

static Status refuse_past(Kernel *kernel, const ScheduleRow *row) {
    return kernel_refuse(kernel, ERR_INVALID, "BAD_SCHEDULE",
                         "\"%.*s\" lies in the past: the schedule would never start anything",
                         STR_ARG(row->spec));
}

static Status schedule_insert(Kernel *kernel, const ScheduleSet *set, int64_t next_at_ms,
                              ScheduleSetReply *reply) {
    ScheduleRow row = schedule_replace(&(ScheduleRow){0}, &set->row);
    row.key = kernel_next_key(kernel);
    row.name = set->row.name;
    row.is_paused = set->row.is_paused != 0;
    row.created_at_ms = row.updated_at_ms = kernel_now(kernel);
    schedule_set_next(&row, row.is_paused ? 0 : next_at_ms); // [schedules-4]
    kernel_note_due(kernel, row.due_at_ms);
    kernel_count(kernel, COUNTER_SCHEDULES, 1);
    reply->key = row.key;
    reply->is_new = true;
    reply->next_at_ms = row.next_at_ms;
    return kernel_insert(kernel, TABLE_SCHEDULES, &row);
}

static bool is_same_time(const ScheduleRow *a, const ScheduleRow *b) {
    return a->kind == b->kind && str_equal(a->spec, b->spec) && str_same(a->zone, b->zone);
}

Status apply_set_schedule(Kernel *kernel, Op *op) {
    const ScheduleSet *set = &op->in.set_schedule;
    ScheduleSetReply *reply = &op->out.set_schedule;
    TRY(schedule_check(kernel, &set->row));
    Ticker ticker;
    TRY(schedule_ticker(kernel, &set->row, &ticker, &op->out.diag)); // [schedules-1]
    TRY(check_zone(kernel, &set->row));
    int64_t next_at_ms = ticker_next(&ticker, kernel_now(kernel));
    ScheduleRow stored;
    Status status = schedule_find(kernel, set->row.name, &stored);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    bool is_known = status == OK && is_same_time(&stored, &set->row);
    if (next_at_ms == 0 && !is_known) return refuse_past(kernel, &set->row);
    if (status == ERR_NOT_FOUND) return schedule_insert(kernel, set, next_at_ms, reply);
    ScheduleRow row = schedule_replace(&stored, &set->row);
    if (!is_known && !row.is_paused) schedule_set_next(&row, next_at_ms); // [schedules-2]
    if (row_changes(&tables[TABLE_SCHEDULES], &stored, &row) != 0) {
        row.updated_at_ms = kernel_now(kernel);
    }
    reply->key = row.key;
    reply->next_at_ms = row.next_at_ms;
    return schedule_store(kernel, &stored, &row);
}

// ---- remove, pause, resume ----

Status apply_remove_schedule(Kernel *kernel, Op *op) {
    ScheduleRow row;
    TRY(schedule_require(kernel, op->in.schedule.name, &row));
    op->out.schedule.is_changed = true;
    kernel_count(kernel, COUNTER_SCHEDULES, -1);
    return kernel_remove(kernel, TABLE_SCHEDULES, &row);
}

Status apply_pause_schedule(Kernel *kernel, Op *op) {
    ScheduleRow stored;
    TRY(schedule_require(kernel, op->in.schedule.name, &stored));
    if (stored.is_paused) return OK;
    ScheduleRow row = stored;
    row.is_paused = 1;
    row.updated_at_ms = kernel_now(kernel);
    schedule_set_next(&row, 0); // [schedules-4]
    if (row.awaited_run != 0) {
        row.awaited_run = row.queued_at_ms = 0;
        row.skipped_count++;
    }
    op->out.schedule.is_changed = true;
    return schedule_store(kernel, &stored, &row);
}

Status apply_resume_schedule(Kernel *kernel, Op *op) {
    ScheduleRow stored;
    TRY(schedule_require(kernel, op->in.schedule.name, &stored));
    op->out.schedule.next_at_ms = stored.next_at_ms;
    if (!stored.is_paused) return OK;
    Ticker ticker;
    TRY(schedule_ticker(kernel, &stored, &ticker, &op->out.diag));
    ScheduleRow row = stored;
    row.is_paused = 0;
    row.updated_at_ms = kernel_now(kernel);
    schedule_set_next(&row, ticker_next(&ticker, kernel_now(kernel)));
    op->out.schedule.is_changed = true;
    op->out.schedule.next_at_ms = row.next_at_ms;
    return schedule_store(kernel, &stored, &row);
}

// ---- trigger and backfill [schedules-3] ----

static Str trigger_id(Kernel *kernel, Str name) {
    char text[INSTANT_TEXT_MAX];
    size_t len = instant_format(kernel_now(kernel), text);
    return arena_printf(&kernel->scratch, "sched:%.*s:now:%.*s", STR_ARG(name), (int)len, text);
}

Status apply_trigger_schedule(Kernel *kernel, Op *op) {
    const ScheduleTrigger *trigger = &op->in.trigger_schedule;
    ScheduleRow stored;
    TRY(schedule_require(kernel, trigger->name, &stored));
    Str id = str_is_null(trigger->id) ? trigger_id(kernel, trigger->name) : trigger->id;
    RunSpec spec = schedule_spec(&stored, id);
    TRY(check_run_spec(kernel, &spec));
    Run previous;
    bool is_live;
    TRY(schedule_previous(kernel, &stored, &previous, &is_live));
    RunCreated created = {0};
    TRY(run_create(kernel, &spec, NULL, &created));
    op->out.trigger_schedule.run = created.key;
    op->out.trigger_schedule.run_id = kernel_answer(kernel, id);
    op->out.trigger_schedule.is_new = created.is_new;
    // Ticks go on looking at the run before as long as it lives; otherwise at this one.
    if (is_live || !created.is_new) return OK;
    ScheduleRow row = stored;
    row.last_run = created.key;
    row.last_run_id = id;
    return schedule_store(kernel, &stored, &row);
}

static Status backfill_check(Kernel *kernel, const ScheduleBackfill *backfill) {
    if (backfill->from_ms < 0 || backfill->to_ms < backfill->from_ms) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_TIME",
                             "a backfill begins in 1970 or later and does not end before it "
                             "begins");
    }
    if (backfill->limit < 1 || backfill->limit > LIMIT_BACKFILL_TICKS) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_SCHEDULE",
                             "one backfill starts between 1 and %d runs", LIMIT_BACKFILL_TICKS);
    }
    return OK;
}

Status apply_backfill_schedule(Kernel *kernel, Op *op) {
    const ScheduleBackfill *backfill = &op->in.backfill;
    ScheduleBackfillReply *reply = &op->out.backfill;
    TRY(backfill_check(kernel, backfill));
    ScheduleRow row;
    TRY(schedule_require(kernel, backfill->name, &row));
    Ticker ticker;
    TRY(schedule_ticker(kernel, &row, &ticker, &op->out.diag));
    int64_t to_ms = backfill->to_ms < kernel_now(kernel) ? backfill->to_ms : kernel_now(kernel);
    int64_t tick = ticker_next(&ticker, backfill->from_ms - 1);
    for (int64_t i = 0; tick != 0 && tick <= to_ms; i++) {
        if (i == backfill->limit) {
            reply->next_ms = tick;
            return OK;
        }
        RunSpec spec = schedule_spec(&row, schedule_run_id(&kernel->scratch, row.name, tick));
        // They differ in nothing but the id, so if one is refused, the first of them is.
        TRY(check_run_spec(kernel, &spec));
        RunCreated created = {0};
        TRY(run_create(kernel, &spec, NULL, &created));
        reply->started_count += created.is_new;
        reply->existing_count += !created.is_new;
        tick = ticker_next(&ticker, tick);
    }
    return OK;
}
