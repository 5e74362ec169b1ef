// Schedules: each function checks its arguments, asks the coordinator for one operation, and waits
// until that is durable; a long backfill asks several times.
//
//   [api-schedule-1] What is refused here has not reached the store; what the store refuses changed
//        nothing.
//   [api-schedule-2] A backfill that is cut short can be repeated: ticks that have a run are left
//        alone.
//
// Not here: when ticks are (model/schedule.c), what the operations do (store/kernel/schedules).
#include "api/api.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/time/duration.h"
#include "model/spec.h"
#include "store/reads.h"
#include <stdio.h>

static int missing_engine(abide_error *error) {
    return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
}

static int ask(abide_engine *engine, Request *request, abide_error *error) {
    Status status = driver_request(&engine->driver, request);
    return api_answer(error, status, &request->op.out.diag);
}

static Status check_name(const char *text, Str *ret_name, Diag *diag) {
    *ret_name = str_from(text);
    return spec_check_name(SPEC_SCHEDULE_NAME, NULL, *ret_name, diag);
}

// ---- set ----

// Kind and spec; a single time is written into `text`.
static Status check_time(const abide_schedule *schedule, char text[INSTANT_TEXT_MAX],
                         ScheduleRow *row, Diag *diag) {
    TRY(spec_schedule_kind(str_from(schedule->cron), str_from(schedule->every),
                           schedule->at_ms != 0, &row->kind, diag));
    if (schedule->at_ms < 0) return diag_set(diag, ERR_INVALID, "BAD_TIME", "at_ms is negative");
    row->zone = str_from(schedule->timezone);
    switch ((ScheduleKind)row->kind) {
    case SCHEDULE_CRON: row->spec = str_from(schedule->cron); break;
    case SCHEDULE_INTERVAL: row->spec = str_from(schedule->every); break;
    case SCHEDULE_ONCE: row->spec = (Str){text, instant_format(schedule->at_ms, text)}; break;
    case SCHEDULE_KIND_COUNT: UNREACHABLE();
    }
    return OK;
}

// What its runs are started with, by the rules of abide_start.
static Status check_runs(abide_engine *engine, const abide_schedule *schedule, Arena *arena,
                         ScheduleRow *row, Diag *diag) {
    abide_start_options options = {.timeout = schedule->timeout,
                                   .retention = schedule->retention,
                                   .priority = schedule->priority,
                                   .tags = schedule->tags,
                                   .tag_count = schedule->tag_count};
    RunSpec spec = {.keep_ms = engine->run_retention_ms};
    row->workflow = str_from(schedule->workflow);
    TRY(spec_check_name(SPEC_WORKFLOW, NULL, row->workflow, diag));
    TRY(api_check_payload(schedule->input, "the input", &row->input, diag));
    TRY(api_check_start(&options, env_now_ms(engine->driver.env), arena, &spec, diag));
    // A deployed script, or nothing: the store knows.
    row->run_kind = engine_knows(engine, row->workflow) ? RUN_NATIVE : 0;
    row->timeout_ms = spec.timeout_ms;
    row->keep_ms = spec.keep_ms;
    row->given = spec.given;
    row->priority = spec.priority;
    row->tags = spec.tags;
    return OK;
}

static Status check_schedule(abide_engine *engine, const abide_schedule *schedule, Arena *arena,
                             ScheduleRow *row, Diag *diag) {
    char *text = arena_zalloc(arena, INSTANT_TEXT_MAX);
    TRY(check_time(schedule, text, row, diag));
    TRY(check_runs(engine, schedule, arena, row, diag));
    row->grace_ms = engine->cancel_grace_ms;
    TRY(spec_read_duration("jitter", str_from(schedule->jitter), &row->jitter_ms, diag));
    TRY(spec_read_duration("catch_up", str_from(schedule->catch_up), &row->catch_up_ms, diag));
    TRY(spec_read_duration("cancel_grace", str_from(schedule->cancel_grace), &row->grace_ms, diag));
    TRY(spec_check_choice(SPEC_OVERLAP, NULL, schedule->overlap, diag));
    row->overlap = schedule->overlap;
    row->is_paused = schedule->is_paused != 0;
    return OK;
}

int abide_schedule_set(abide_engine *engine, const char *name, const abide_schedule *schedule,
                       abide_error *error) {
    if (engine == NULL || schedule == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and schedule are required");
    Request request = {.op.kind = OP_SET_SCHEDULE};
    ScheduleRow *row = &request.op.in.set_schedule.row;
    Arena arena;
    arena_init(&arena);
    Diag diag;
    Status status = check_name(name, &row->name, &diag);
    if (status == OK) status = check_schedule(engine, schedule, &arena, row, &diag);
    int code = status == OK ? ask(engine, &request, error) : api_answer(error, status, &diag);
    arena_done(&arena);
    return code;
}

// ---- remove, pause, resume ----

static int change(abide_engine *engine, OpKind kind, const char *name, int *ret_changed,
                  abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = kind};
    Diag diag;
    Status status = check_name(name, &request.op.in.schedule.name, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int code = ask(engine, &request, error);
    if (code == ABIDE_OK && ret_changed != NULL) *ret_changed = request.op.out.schedule.is_changed;
    return code;
}

int abide_schedule_remove(abide_engine *engine, const char *name, abide_error *error) {
    return change(engine, OP_REMOVE_SCHEDULE, name, NULL, error);
}

int abide_schedule_pause(abide_engine *engine, const char *name, int *ret_changed,
                         abide_error *error) {
    return change(engine, OP_PAUSE_SCHEDULE, name, ret_changed, error);
}

int abide_schedule_resume(abide_engine *engine, const char *name, int *ret_changed,
                          abide_error *error) {
    return change(engine, OP_RESUME_SCHEDULE, name, ret_changed, error);
}

// ---- trigger and backfill ----

int abide_schedule_trigger(abide_engine *engine, const char *name, const char *run_id,
                           char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Request request = {.op.kind = OP_TRIGGER_SCHEDULE};
    ScheduleTrigger *trigger = &request.op.in.trigger_schedule;
    char made[ABIDE_RUN_ID_SIZE];
    Diag diag;
    Status status = check_name(name, &trigger->name, &diag);
    if (status == OK && run_id != NULL) status = api_check_run_id(run_id, &trigger->id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    if (run_id == NULL) { // known here, whatever becomes of the answer
        IdText text;
        Str id = engine_new_id(engine, "run_", &text);
        snprintf(made, sizeof made, "sched:%s:%.*s", name, STR_ARG(id));
        trigger->id = str_from(made);
    }
    int code = ask(engine, &request, error);
    if (code == ABIDE_OK && ret_id != NULL)
        snprintf(ret_id, ABIDE_RUN_ID_SIZE, "%.*s", STR_ARG(trigger->id));
    return code;
}

int abide_schedule_backfill(abide_engine *engine, const char *name, int64_t from_ms, int64_t to_ms,
                            int64_t *ret_started, abide_error *error) {
    if (engine == NULL) return missing_engine(error);
    Str checked;
    Diag diag;
    Status status = check_name(name, &checked, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int64_t started = 0;
    int code;
    do {
        Request request = {.op.kind = OP_BACKFILL_SCHEDULE};
        request.op.in.backfill = (ScheduleBackfill){
            .name = checked, .from_ms = from_ms, .to_ms = to_ms, .limit = LIMIT_BACKFILL_TICKS};
        code = ask(engine, &request, error);
        if (code != ABIDE_OK) break; // [api-schedule-2]
        started += request.op.out.backfill.started_count;
        from_ms = request.op.out.backfill.next_ms;
    } while (from_ms != 0);
    if (ret_started != NULL) *ret_started = started;
    return code;
}

// ---- looking ----

static void copy_text(char *to, size_t size, Str from) {
    snprintf(to, size, "%.*s", STR_ARG(from));
}

static void describe(const ScheduleRow *row, abide_schedule_info *info) {
    *info = (abide_schedule_info){
        .overlap = (int)row->overlap,
        .is_paused = row->is_paused != 0,
        .next_at_ms = row->next_at_ms,
        .last_at_ms = row->last_at_ms,
        .queued_at_ms = row->queued_at_ms,
        .started_count = row->tick_count,
        .skipped_count = row->skipped_count,
        .missed_count = row->missed_count,
        .failed_count = row->failed_count,
        .created_at_ms = row->created_at_ms,
        .updated_at_ms = row->updated_at_ms,
        .cursor = row->key,
    };
    copy_text(info->name, sizeof info->name, row->name);
    copy_text(info->workflow, sizeof info->workflow, row->workflow);
    copy_text(info->kind, sizeof info->kind, str_from(schedule_kind_name(row->kind)));
    copy_text(info->spec, sizeof info->spec, row->spec);
    copy_text(info->timezone, sizeof info->timezone, row->zone);
    copy_text(info->last_run_id, sizeof info->last_run_id, row->last_run_id);
    copy_text(info->last_error, sizeof info->last_error, row->last_error);
}

int abide_schedule_get(abide_engine *engine, const char *name, abide_schedule_info *ret_info,
                       abide_error *error) {
    if (engine == NULL || ret_info == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and ret_info are required");
    Str wanted;
    ScheduleRow row;
    Diag diag;
    Status status = check_name(name, &wanted, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    Arena arena;
    arena_init(&arena);
    status = store_find_schedule(engine->store, &arena, wanted, &row, &diag);
    if (status == OK) describe(&row, ret_info);
    arena_done(&arena);
    return api_answer(error, status, &diag);
}

typedef struct Listing {
    int (*visit)(void *user, const abide_schedule_info *info);
    void *user;
    int64_t cursor; // of the next page; 0 = there is none, or `visit` has enough
} Listing;

static Status list_page(abide_engine *engine, Listing *listing, Diag *diag) {
    const PageSpec spec = {.after = listing->cursor, .limit = LIMIT_LIST_PAGE};
    SchedulePage page = {0};
    Arena arena;
    arena_init(&arena);
    Status status = store_list_schedules(engine->store, &arena, &spec, &page, diag);
    listing->cursor = page.next;
    for (size_t i = 0; status == OK && i < page.count; i++) {
        abide_schedule_info info;
        describe(&page.rows[i], &info);
        if (listing->visit(listing->user, &info) == 0) continue;
        listing->cursor = 0;
        break;
    }
    arena_done(&arena);
    return status;
}

int abide_schedule_list(abide_engine *engine, int64_t cursor,
                        int (*visit)(void *user, const abide_schedule_info *info), void *user,
                        abide_error *error) {
    if (engine == NULL || visit == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and visit are required");
    Listing listing = {.visit = visit, .user = user, .cursor = cursor};
    Diag diag;
    Status status;
    do {
        status = list_page(engine, &listing, &diag);
    } while (status == OK && listing.cursor != 0);
    return api_answer(error, status, &diag);
}

static Status preview(const abide_schedule *schedule, const TimeZone *zone, int64_t after_ms,
                      Ticker *ret_ticker, Diag *diag) {
    char text[INSTANT_TEXT_MAX];
    ScheduleRow row = {0};
    if (after_ms < 0) return diag_set(diag, ERR_INVALID, "BAD_TIME", "after_ms is negative");
    TRY(check_time(schedule, text, &row, diag));
    return ticker_init(ret_ticker, row.kind, row.spec, zone, diag);
}

int abide_schedule_preview(const abide_schedule *schedule, int64_t after_ms, int64_t *ret_ticks,
                           int count, abide_error *error) {
    if (schedule == NULL || ret_ticks == NULL || count < 0) {
        (void)api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT",
                         "schedule, ret_ticks and a count are required");
        return -1;
    }
    Diag diag;
    TimeZone *zone = NULL;
    Ticker ticker;
    Str name = schedule->timezone != NULL ? str_from(schedule->timezone) : STR("UTC");
    Status status = timezone_load(name, &zone, &diag);
    if (status == OK) status = preview(schedule, zone, after_ms, &ticker, &diag);
    int found = -1;
    if (status == OK) found = (int)ticker_preview(&ticker, after_ms, ret_ticks, (size_t)count);
    timezone_free(zone);
    (void)api_answer(error, status, &diag);
    return found;
}
