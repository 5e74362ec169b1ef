// Schedules in the simulator: some that nobody disturbs, some that clients handle at random, and
// what must be true of them at the end.
//
// The undisturbed ones ("kept0" …) are made once, saved again now and then, and paused when the
// liveness phase begins. Each tick between those two moments must be accounted for.
//   [sim-schedules-7] Every tick is dealt with once: runs started, ticks skipped, missed and failed
//        add up to the ticks that passed, and there is one run for each that was started. With the
//        policy "allow" and a long catch-up window none is skipped or missed, whatever crashed.
//   [sim-schedules-8] With any other policy a run of a schedule begins after the one before it has
//        ended.
//
// Not here: when clients act (clients.c, run.c), which faults happen (store.c).
#include "base/array.h"
#include "base/limits.h"
#include "base/time/duration.h"
#include "sim/clients.h"
#include "store/reads.h"
#include <stdio.h>
#include <stdlib.h>

#define CATCH_UP_MS (100LL * 24 * 3600 * 1000)
enum { SKEW_MS = 2000 }; // clocks of two nodes differ by at most this much

static const struct {
    const char *workflow;
    const char *every;
    SchedulePolicy overlap;
    int64_t jitter_ms;
    int64_t catch_up_ms;
} kinds[] = {
    {"chain", "4m", OVERLAP_ALLOW, 0, CATCH_UP_MS}, // nodes are away for an hour at times
    {"sleeper", "40s", OVERLAP_QUEUE, 0, 120000},
    {"careful", "60s", OVERLAP_CANCEL_OLD, 3000, 0},
    {"sleeper", "45s", OVERLAP_SKIP, 5000, 0},
};
enum { KIND_COUNT = COUNT_OF(kinds) };

void schedules_fill(ClientCall *call, int number) {
    int kind = number % KIND_COUNT;
    call->request.op.in.set_schedule.row = (ScheduleRow){
        .name = str_from(call->run_id),
        .workflow = str_from(kinds[kind].workflow),
        .run_kind = RUN_NATIVE,
        .keep_ms = KEEP_FOR_EVER,
        .kind = SCHEDULE_INTERVAL,
        .spec = str_from(kinds[kind].every),
        .jitter_ms = kinds[kind].jitter_ms,
        .overlap = kinds[kind].overlap,
        .grace_ms = 8000,
        .catch_up_ms = kinds[kind].catch_up_ms,
    };
}

static void call_set(Clients *clients, const char *prefix, int number) {
    ClientCall *call = clients_call(clients, OP_SET_SCHEDULE);
    snprintf(call->run_id, sizeof call->run_id, "%s%d", prefix, number);
    schedules_fill(call, number);
}

static void call_change(Clients *clients, OpKind kind, const char *prefix, int number) {
    ClientCall *call = clients_call(clients, kind);
    snprintf(call->run_id, sizeof call->run_id, "%s%d", prefix, number);
    Str name = str_from(call->run_id);
    if (kind == OP_TRIGGER_SCHEDULE) {
        snprintf(call->id, sizeof call->id, "t%d", clients->sent++);
        call->request.op.in.trigger_schedule.name = name;
        call->request.op.in.trigger_schedule.id = str_from(call->id);
    } else if (kind == OP_BACKFILL_SCHEDULE) {
        int64_t now = clients->sim->now_ms;
        call->request.op.in.backfill =
            (ScheduleBackfill){.name = name, .from_ms = now - 100000, .to_ms = now, .limit = 3};
    } else {
        call->request.op.in.schedule.name = name;
    }
}

void schedules_begin(Clients *clients) {
    for (int i = 0; i < clients->sim->options.schedule_count; i++) {
        call_set(clients, "kept", i);
        call_set(clients, "free", i);
    }
}

void schedules_act(Clients *clients) {
    Sim *sim = clients->sim;
    if (sim->options.schedule_count == 0 || !sim_chance(sim, 5)) return;
    static const OpKind changes[] = {OP_PAUSE_SCHEDULE, OP_RESUME_SCHEDULE, OP_RESUME_SCHEDULE,
                                     OP_TRIGGER_SCHEDULE, OP_BACKFILL_SCHEDULE};
    int number = (int)sim_random(sim, (uint64_t)sim->options.schedule_count);
    if (sim_chance(sim, 20)) call_set(clients, "kept", number);
    else call_change(clients, changes[sim_random(sim, 5)], "free", number);
}

void schedules_end(Clients *clients) {
    for (int i = 0; i < clients->sim->options.schedule_count; i++) {
        call_change(clients, OP_PAUSE_SCHEDULE, "kept", i);
        call_change(clients, OP_REMOVE_SCHEDULE, "free", i);
    }
}

// ---- checks ----

typedef struct TickRun {
    int64_t created_at_ms, finished_at_ms, key;
} TickRun;

typedef VEC(TickRun) TickRuns;

static int by_key(const void *a, const void *b) {
    int64_t left = ((const TickRun *)a)->key, right = ((const TickRun *)b)->key;
    return left < right ? -1 : left > right;
}

static void collect_runs(Sim *sim, Str name, TickRuns *runs) {
    Arena arena;
    arena_init(&arena);
    Str prefix = arena_printf(&arena, "sched:%.*s:", STR_ARG(name));
    RunFilter filter = {.limit = LIMIT_LIST_PAGE};
    Diag diag;
    do {
        RunPage page;
        if (store_list_runs(sim->store, &arena, &filter, &page, &diag) != OK) break;
        for (size_t i = 0; i < page.count; i++) {
            const RunRow *row = &page.rows[i];
            if (!str_starts_with(row->id, prefix)) continue;
            TickRun run = {row->created_at_ms, row->finished_at_ms, row->key};
            vec_push(runs, run);
        }
        filter.cursor = page.next;
    } while (filter.cursor != 0);
    arena_done(&arena);
    if (runs->count > 1) qsort(runs->data, runs->count, sizeof(TickRun), by_key);
}

static void check_each_tick(Sim *sim, const ScheduleRow *row, int64_t every_ms) {
    Arena arena;
    arena_init(&arena);
    int64_t tick = (row->created_at_ms / every_ms + 1) * every_ms;
    for (; tick <= row->last_at_ms && !sim_has_failed(sim); tick += every_ms) {
        arena_reset(&arena);
        Str id = schedule_run_id(&arena, row->name, tick);
        RunRow run;
        Diag diag;
        if (store_run_by_id(sim->store, &arena, id, &run, &diag) != OK)
            sim_fail(sim, "[X7] the tick of %.*s was lost", STR_ARG(id));
    }
    arena_done(&arena);
}

static void check_overlap(Sim *sim, const ScheduleRow *row,
                          const TickRuns *runs) { // [sim-schedules-8]
    if (row->overlap == OVERLAP_ALLOW) return;
    for (size_t i = 1; i < runs->count; i++)
        if (runs->data[i].created_at_ms + SKEW_MS < runs->data[i - 1].finished_at_ms)
            sim_fail(sim, "[X8] runs %zu and %zu of %.*s (%s) overlap", i - 1, i,
                     STR_ARG(row->name), overlap_name(row->overlap));
}

static void check_schedule(Sim *sim, const ScheduleRow *row) {
    TickRuns runs = {0};
    int64_t every_ms = 0;
    Diag diag;
    Status status = duration_parse(row->spec, &every_ms, &diag);
    ASSERT(status == OK);
    collect_runs(sim, row->name, &runs);
    int64_t passed = 0;
    if (row->last_at_ms > 0) passed = row->last_at_ms / every_ms - row->created_at_ms / every_ms;
    int64_t counted = row->tick_count + row->skipped_count + row->missed_count + row->failed_count;
    if (counted != passed)
        sim_fail(sim, "[X7] %lld ticks of %.*s passed, %lld are accounted for", (long long)passed,
                 STR_ARG(row->name), (long long)counted);
    if ((int64_t)runs.count != row->tick_count)
        sim_fail(sim, "[X7] %.*s counts %lld runs, there are %zu", STR_ARG(row->name),
                 (long long)row->tick_count, runs.count);
    if (row->overlap == OVERLAP_ALLOW) check_each_tick(sim, row, every_ms);
    check_overlap(sim, row, &runs);
    vec_free(&runs);
}

void schedules_check(Sim *sim) {
    Arena arena;
    arena_init(&arena);
    PageSpec spec = {.limit = LIMIT_LIST_PAGE};
    Diag diag;
    int found = 0;
    do {
        SchedulePage page = {0};
        if (store_list_schedules(sim->store, &arena, &spec, &page, &diag) != OK)
            sim_fail(sim, "the schedules cannot be listed: %s", diag.message);
        for (size_t i = 0; i < page.count && !sim_has_failed(sim); i++) {
            if (!str_starts_with(page.rows[i].name, STR("kept"))) continue;
            check_schedule(sim, &page.rows[i]);
            found++;
        }
        spec.after = page.next;
    } while (spec.after != 0 && !sim_has_failed(sim));
    if (found != sim->options.schedule_count)
        sim_fail(sim, "[X7] there are %d schedules instead of %d", found,
                 sim->options.schedule_count);
    arena_done(&arena);
}
