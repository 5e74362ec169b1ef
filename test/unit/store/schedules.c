// Schedules in a store: ticks, overlap, catching up, and what people do to them.
//
// Compiled once per store. The clock stands at START_MS (00:16:40 on the first day); intervals tick
// at multiples of their length, so the first tick of "every minute" is 00:17:00.
#include "unit/store/world.h"

#include "base/time/duration.h"
#include <sqlite3.h>

enum { TICK_1 = 1020000, TICK_2 = TICK_1 + MINUTE_MS, TICK_3 = TICK_2 + MINUTE_MS };

static bool is_sqlite(void) { return test_backend_is("sqlite"); }

static ScheduleRow every_minute(const char *name, SchedulePolicy overlap) {
    return (ScheduleRow){.name = str_from(name),
                         .workflow = STR("report"),
                         .run_kind = RUN_NATIVE,
                         .input = STR("{\"full\":true}"),
                         .keep_ms = -1,
                         .kind = SCHEDULE_INTERVAL,
                         .spec = STR("1m"),
                         .overlap = overlap};
}

static Op *set_expecting(World *world, const ScheduleRow *row, Status expected) {
    Op *op = start(world, OP_SET_SCHEDULE);
    op->in.set_schedule.row = *row;
    finish(world, op, expected);
    return op;
}

static Op *set(World *world, ScheduleRow row) { return set_expecting(world, &row, OK); }

static ScheduleRow get(World *world, const char *name) {
    ScheduleRow schedule;
    assert_int_equal(
        store_find_schedule(world->store, &world->arena, str_from(name), &schedule, &world->diag),
        OK);
    return schedule;
}

static Op *change(World *world, OpKind kind, const char *name, Status expected) {
    Op *op = start(world, kind);
    op->in.schedule.name = str_from(name);
    finish(world, op, expected);
    return op;
}

static Op *fire_at(World *world, int64_t now_ms) {
    world->now_ms = now_ms;
    return fire(world);
}

// Fires until nothing is left to do.
static void fire_all(World *world, int64_t now_ms) {
    while (fire_at(world, now_ms)->out.fire_due.has_more) {}
}

static bool has_run(World *world, const char *id) {
    RunRow run;
    return store_run_by_id(world->store, &world->arena, str_from(id), &run, &world->diag) == OK;
}

static int64_t started(World *world) { return get_counter(world, COUNTER_STARTED_TOTAL); }

// ---- ticks ----

static void a_tick_starts_one_run_at_its_time(void **state) {
    World *world = *state;
    Op *op = set(world, every_minute("m", OVERLAP_SKIP));
    assert_true(op->out.set_schedule.is_new);
    assert_int_equal(op->out.set_schedule.next_at_ms, TICK_1);
    assert_int_equal(world->batch.out.earliest_due_ms, TICK_1);
    assert_int_equal(fire_at(world, TICK_1 - 1)->out.fire_due.tick_count, 0);
    op = fire_at(world, TICK_1);
    assert_int_equal(op->out.fire_due.tick_count, 1);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(world->batch.out.earliest_due_ms, TICK_2);
    RunRow run = get_run(world, "sched:m:1970-01-01T00:17:00Z");
    assert_str(run.workflow, "report");
    assert_int_equal(run.kind, RUN_NATIVE);
    assert_int_equal(run.keep_ms, -1);
    assert_str(get_log(world, "sched:m:1970-01-01T00:17:00Z").rows[0].data, "{\"full\":true}");
    ScheduleRow row = get(world, "m");
    assert_int_equal(row.next_at_ms, TICK_2);
    assert_int_equal(row.last_at_ms, TICK_1);
    assert_int_equal(row.tick_count, 1);
    assert_str(row.last_run_id, "sched:m:1970-01-01T00:17:00Z");
}

static void firing_again_at_the_same_time_starts_nothing(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_ALLOW));
    world->now_ms = TICK_1;
    begin(world);
    for (int i = 0; i < 3; i++) batch_add(&world->batch, OP_FIRE_DUE)->in.fire_due.max = 100;
    commit(world);
    fire(world);
    assert_int_equal(started(world), 1);
}

static void two_nodes_race_for_a_tick_and_one_run_starts(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_ALLOW));
    int64_t first = world->node;
    int64_t second = join(world, "node-2", MINUTE_MS * 10);
    for (int tick = 0; tick < 5; tick++) {
        world->now_ms = TICK_1 + tick * MINUTE_MS;
        // Their clocks differ: the second one is late, then early.
        world->node = first;
        Op *op = start(world, OP_RENEW);
        op->in.renew.lease_ms = MINUTE_MS * 10;
        finish(world, op, OK);
        fire(world);
        world->node = second;
        world->now_ms += tick % 2 ? 500 : -500;
        fire(world);
    }
    assert_int_equal(started(world), 5);
    assert_int_equal(get(world, "m").tick_count, 5);
    world->node = first;
}

static void a_restart_neither_repeats_nor_loses_a_tick(void **state) {
    World *world = *state;
    if (!is_kept()) return; // what is in memory does not survive
    ScheduleRow row = every_minute("m", OVERLAP_ALLOW);
    row.catch_up_ms = 60 * MINUTE_MS;
    set(world, row);
    for (int tick = 0; tick < 4; tick++) {
        store_close(world->store);
        store_open_again(world);
        fire_all(world, TICK_1 + tick * MINUTE_MS);
        store_close(world->store);
        store_open_again(world);
        fire_all(world, TICK_1 + tick * MINUTE_MS + 1);
    }
    store_close(world->store); // for three ticks
    store_open_again(world);
    fire_all(world, TICK_1 + 6 * MINUTE_MS);
    assert_int_equal(started(world), 7);
    assert_int_equal(get(world, "m").tick_count, 7);
}

static void cron_ticks_follow_the_clocks_of_the_zone(void **state) {
    World *world = *state;
    int64_t now_ms;
    assert_int_equal(instant_parse(STR("2026-03-28T12:00:00Z"), &now_ms, NULL), OK);
    world->now_ms = now_ms;
    ScheduleRow row = every_minute("night", OVERLAP_ALLOW);
    row.kind = SCHEDULE_CRON;
    row.spec = STR("30 2 * * *");
    row.zone = STR("Europe/Berlin");
    set(world, row);
    fire_all(world, now_ms + 14 * 60 * MINUTE_MS);
    assert_true(has_run(world, "sched:night:2026-03-29T01:00:00Z")); // 02:30 does not exist
    fire_all(world, now_ms + 38 * 60 * MINUTE_MS);
    assert_true(has_run(world, "sched:night:2026-03-30T00:30:00Z"));
    assert_int_equal(started(world), 2);
}

static void a_single_time_ticks_once(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("launch", OVERLAP_SKIP);
    row.kind = SCHEDULE_ONCE;
    row.spec = STR("1970-01-01T01:00:00.500Z");
    set(world, row);
    fire_at(world, 3600000);
    assert_int_equal(started(world), 0);
    fire_at(world, 3600500);
    assert_true(has_run(world, "sched:launch:1970-01-01T01:00:00.500Z"));
    assert_int_equal(get(world, "launch").next_at_ms, 0);
    Op *op = set(world, row); // a client that repeats itself
    assert_false(op->out.set_schedule.is_new);
    assert_int_equal(op->out.set_schedule.next_at_ms, 0);
    fire_at(world, 9000000);
    assert_int_equal(started(world), 1);
}

static void jitter_delays_the_start_and_not_the_tick(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_ALLOW);
    row.jitter_ms = 30000;
    set(world, row);
    int64_t delay_ms = schedule_jitter_ms(STR("m"), TICK_1, 30000);
    assert_in_range(delay_ms, 1, 30000); // else the test is void
    fire_at(world, TICK_1);
    RunRow run = get_run(world, "sched:m:1970-01-01T00:17:00Z");
    assert_int_equal(run.state, RUN_PENDING);
    assert_int_equal(run.due_at_ms, TICK_1 + delay_ms);
    assert_int_equal(get(world, "m").next_at_ms, TICK_2);
    fire_at(world, TICK_1 + delay_ms);
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:17:00Z").state, RUN_RUNNING);
    assert_int_equal(started(world), 1);
}

// ---- overlap ----

static void skip_leaves_ticks_out_while_the_run_before_lives(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_SKIP));
    fire_at(world, TICK_1);
    Claimed first = ready_at(world, 0);
    fire_at(world, TICK_2);
    assert_int_equal(started(world), 1);
    assert_int_equal(get(world, "m").skipped_count, 1);
    assert_int_equal(get(world, "m").last_at_ms, TICK_2);
    end(world, first, NEXT_FAIL, "{}");
    fire_at(world, TICK_3);
    assert_int_equal(started(world), 2);
    assert_true(has_run(world, "sched:m:1970-01-01T00:19:00Z"));
}

static void queue_starts_one_tick_when_the_run_before_ends(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_QUEUE));
    fire_at(world, TICK_1);
    Claimed first = ready_at(world, 0);
    fire_at(world, TICK_2);
    fire_at(world, TICK_3);
    ScheduleRow row = get(world, "m");
    assert_int_equal(started(world), 1);
    assert_int_equal(row.queued_at_ms, TICK_2);
    assert_int_equal(row.skipped_count, 1); // one may wait
    end(world, first, NEXT_COMPLETE, "1");
    assert_int_equal(world->batch.out.ready_count, 1); // in the same operation
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:18:00Z").state, RUN_RUNNING);
    row = get(world, "m");
    assert_int_equal(row.queued_at_ms, 0);
    assert_int_equal(row.awaited_run, 0);
    assert_int_equal(row.tick_count, 2);
    end(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    assert_int_equal(started(world), 2);
}

static void a_queued_tick_survives_that_the_run_is_forgotten_in_memory(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_QUEUE));
    fire_at(world, TICK_1);
    Claimed first = ready_at(world, 0);
    fire_at(world, TICK_2);
    if (is_kept()) {
        store_close(world->store);
        store_open_again(world);
    }
    end(world, first, NEXT_COMPLETE, "1");
    assert_true(has_run(world, "sched:m:1970-01-01T00:18:00Z"));
}

static void allow_starts_beside_the_run_before(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_ALLOW));
    for (int tick = 0; tick < 3; tick++) fire_at(world, TICK_1 + tick * MINUTE_MS);
    assert_int_equal(get_counter(world, COUNTER_RUNS_FIRST + RUN_RUNNING), 3);
}

static void cancel_old_starts_when_the_run_before_has_cleaned_up(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_CANCEL_OLD);
    row.grace_ms = 10000;
    set(world, row);
    fire_at(world, TICK_1);
    Claimed first = ready_at(world, 0);
    fire_at(world, TICK_2);
    assert_int_not_equal(get_run(world, "sched:m:1970-01-01T00:17:00Z").cancel_at_ms, 0);
    assert_int_equal(started(world), 1);
    end(world, first, NEXT_CANCELLED, "{}");
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:17:00Z").state, RUN_CANCELLED);
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:18:00Z").state, RUN_RUNNING);
}

static void cancel_old_ends_a_run_that_does_not_react(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_CANCEL_OLD);
    row.grace_ms = 10000;
    set(world, row);
    fire_at(world, TICK_1);
    fire_at(world, TICK_2);
    fire_at(world, TICK_2 + 10000);
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:17:00Z").state, RUN_CANCELLED);
    assert_true(has_run(world, "sched:m:1970-01-01T00:18:00Z"));
    assert_int_equal(get(world, "m").tick_count, 2);
}

static void cancel_old_without_grace_starts_at_once(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_CANCEL_OLD));
    fire_at(world, TICK_1);
    fire_at(world, TICK_2);
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:17:00Z").state, RUN_CANCELLED);
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:18:00Z").state, RUN_RUNNING);
}

static void cancel_old_lets_only_the_newest_tick_wait(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_CANCEL_OLD);
    row.grace_ms = 10 * MINUTE_MS;
    set(world, row);
    fire_at(world, TICK_1);
    Claimed first = ready_at(world, 0);
    fire_at(world, TICK_2);
    fire_at(world, TICK_3);
    assert_int_equal(get(world, "m").queued_at_ms, TICK_3);
    assert_int_equal(get(world, "m").skipped_count, 1);
    end(world, first, NEXT_CANCELLED, "{}");
    assert_true(has_run(world, "sched:m:1970-01-01T00:19:00Z"));
    assert_false(has_run(world, "sched:m:1970-01-01T00:18:00Z"));
}

// ---- missed ticks ----

static void of_missed_ticks_only_the_latest_starts(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_ALLOW));
    fire_all(world, TICK_1 + 10 * MINUTE_MS + 30000);
    assert_int_equal(started(world), 1);
    assert_true(has_run(world, "sched:m:1970-01-01T00:27:00Z"));
    ScheduleRow row = get(world, "m");
    assert_int_equal(row.missed_count, 10);
    assert_int_equal(row.tick_count, 1);
    assert_int_equal(row.next_at_ms, TICK_1 + 11 * MINUTE_MS);
}

static void within_the_catch_up_window_each_missed_tick_starts(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_ALLOW);
    row.catch_up_ms = 3 * MINUTE_MS;
    set(world, row);
    fire_all(world, TICK_1 + 10 * MINUTE_MS);
    row = get(world, "m");
    assert_int_equal(row.tick_count, 4); // now, and one, two and three minutes ago
    assert_int_equal(row.missed_count, 7);
    assert_true(has_run(world, "sched:m:1970-01-01T00:24:00Z"));
    assert_false(has_run(world, "sched:m:1970-01-01T00:23:00Z"));
}

static void years_of_missed_ticks_are_dealt_with_in_bounded_operations(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_ALLOW);
    row.kind = SCHEDULE_CRON;
    row.spec = STR("* * * * *");
    set(world, row);
    row.name = STR("seconds");
    row.kind = SCHEDULE_INTERVAL;
    row.spec = STR("1s");
    row.catch_up_ms = 300 * 1000;
    set(world, row);
    world->now_ms = TICK_1 + 5000LL * MINUTE_MS;
    int rounds = 1;
    for (; fire(world)->out.fire_due.has_more; rounds++) assert_true(rounds < 1000);
    assert_in_range(rounds, 3, 999);
    assert_int_equal(get(world, "m").missed_count, 5000);
    assert_int_equal(get(world, "m").tick_count, 1);
    row = get(world, "seconds");
    assert_int_equal(row.tick_count, 301);
    assert_int_equal(row.missed_count + row.tick_count, (world->now_ms - START_MS) / 1000);
}

static void a_sweep_leaves_schedules_to_fire_due(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_ALLOW));
    world->now_ms = TICK_1;
    Op *op = start(world, OP_SWEEP);
    op->in.sweep.max = 100;
    finish(world, op, OK);
    assert_int_equal(started(world), 0);
    assert_int_equal(get(world, "m").next_at_ms, TICK_1);
}

// ---- pause, resume, remove ----

static void a_paused_schedule_lets_ticks_pass(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_ALLOW));
    assert_true(change(world, OP_PAUSE_SCHEDULE, "m", OK)->out.schedule.is_changed);
    assert_false(change(world, OP_PAUSE_SCHEDULE, "m", OK)->out.schedule.is_changed);
    assert_int_equal(get(world, "m").next_at_ms, 0);
    fire_at(world, TICK_3);
    Op *op = change(world, OP_RESUME_SCHEDULE, "m", OK);
    assert_true(op->out.schedule.is_changed);
    assert_int_equal(op->out.schedule.next_at_ms, TICK_3 + MINUTE_MS);
    op = change(world, OP_RESUME_SCHEDULE, "m", OK);
    assert_false(op->out.schedule.is_changed);
    assert_int_equal(op->out.schedule.next_at_ms, TICK_3 + MINUTE_MS);
    fire_at(world, TICK_3);
    assert_int_equal(started(world), 0);
    fire_at(world, TICK_3 + MINUTE_MS);
    assert_int_equal(started(world), 1);
}

static void pausing_drops_what_is_queued(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_QUEUE));
    fire_at(world, TICK_1);
    Claimed first = ready_at(world, 0);
    fire_at(world, TICK_2);
    change(world, OP_PAUSE_SCHEDULE, "m", OK);
    end(world, first, NEXT_COMPLETE, "1");
    assert_int_equal(started(world), 1);
    assert_int_equal(get(world, "m").skipped_count, 1);
}

static void a_schedule_may_begin_paused(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_ALLOW);
    row.is_paused = 1;
    assert_int_equal(set(world, row)->out.set_schedule.next_at_ms, 0);
    fire_at(world, TICK_1);
    assert_int_equal(started(world), 0);
    row.is_paused = 0;
    set(world, row); // replacing does not resume it
    assert_int_equal(get(world, "m").is_paused, 1);
}

static void removing_one_leaves_its_runs(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_QUEUE));
    assert_int_equal(get_counter(world, COUNTER_SCHEDULES), 1);
    fire_at(world, TICK_1);
    Claimed first = ready_at(world, 0);
    fire_at(world, TICK_2);
    change(world, OP_REMOVE_SCHEDULE, "m", OK);
    assert_int_equal(get_counter(world, COUNTER_SCHEDULES), 0);
    ScheduleRow schedule;
    assert_int_equal(
        store_find_schedule(world->store, &world->arena, STR("m"), &schedule, &world->diag),
        ERR_NOT_FOUND);
    assert_string_equal(world->diag.code, "SCHEDULE_NOT_FOUND");
    end(world, first, NEXT_COMPLETE, "1");
    fire_at(world, TICK_3);
    assert_int_equal(started(world), 1);
    // Made anew, it does not start again what was started under its name.
    world->now_ms = TICK_1 - 1;
    set(world, every_minute("m", OVERLAP_ALLOW));
    fire_at(world, TICK_1);
    assert_int_equal(started(world), 1);
}

static void an_unknown_schedule_is_not_found(void **state) {
    World *world = *state;
    const OpKind kinds[] = {OP_REMOVE_SCHEDULE, OP_PAUSE_SCHEDULE, OP_RESUME_SCHEDULE};
    for (size_t i = 0; i < 3; i++) {
        Op *op = change(world, kinds[i], "none", ERR_NOT_FOUND);
        assert_string_equal(op->out.diag.code, "SCHEDULE_NOT_FOUND");
    }
    Op *op = start(world, OP_TRIGGER_SCHEDULE);
    op->in.trigger_schedule.name = STR("none");
    finish(world, op, ERR_NOT_FOUND);
    op = start(world, OP_BACKFILL_SCHEDULE);
    op->in.backfill = (ScheduleBackfill){.name = STR("none"), .to_ms = 5, .limit = 5};
    finish(world, op, ERR_NOT_FOUND);
}

// ---- trigger and backfill ----

static Op *trigger(World *world, const char *name, const char *id) {
    Op *op = start(world, OP_TRIGGER_SCHEDULE);
    op->in.trigger_schedule.name = str_from(name);
    op->in.trigger_schedule.id = str_from(id);
    finish(world, op, OK);
    return op;
}

static void a_trigger_starts_a_run_out_of_turn(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_SKIP);
    row.is_paused = 1;
    set(world, row);
    Op *op = trigger(world, "m", NULL);
    assert_true(op->out.trigger_schedule.is_new);
    assert_str(op->out.trigger_schedule.run_id, "sched:m:now:1970-01-01T00:16:40.000Z");
    assert_int_equal(get(world, "m").next_at_ms, 0);
    op = trigger(world, "m", "mine");
    assert_true(op->out.trigger_schedule.is_new); // although the first one runs
    op = trigger(world, "m", "mine");
    assert_false(op->out.trigger_schedule.is_new);
    assert_int_equal(started(world), 2);
}

static void ticks_look_at_a_triggered_run_too(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_SKIP));
    trigger(world, "m", "mine");
    Claimed mine = ready_at(world, 0);
    fire_at(world, TICK_1);
    assert_int_equal(get(world, "m").skipped_count, 1);
    end(world, mine, NEXT_COMPLETE, "1");
    fire_at(world, TICK_2);
    Claimed tick = ready_at(world, 0);
    trigger(world, "m", "second"); // does not hide the run of the tick
    end(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    fire_at(world, TICK_3);
    assert_int_equal(get(world, "m").skipped_count, 2);
    end(world, tick, NEXT_COMPLETE, "1");
}

static Op *backfill(World *world, int64_t from_ms, int64_t to_ms, int64_t limit) {
    Op *op = start(world, OP_BACKFILL_SCHEDULE);
    op->in.backfill =
        (ScheduleBackfill){.name = STR("m"), .from_ms = from_ms, .to_ms = to_ms, .limit = limit};
    finish(world, op, OK);
    return op;
}

static void a_backfill_starts_what_is_missing_and_nothing_twice(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_SKIP));
    fire_all(world, TICK_1 + 9 * MINUTE_MS); // the latest of ten
    Op *op = backfill(world, TICK_1, TICK_1 + 9 * MINUTE_MS, 100);
    assert_int_equal(op->out.backfill.started_count, 9);
    assert_int_equal(op->out.backfill.existing_count, 1);
    assert_int_equal(op->out.backfill.next_ms, 0);
    assert_int_equal(started(world), 10);
    op = backfill(world, 0, TICK_1 + 9 * MINUTE_MS, 1000);
    assert_int_equal(op->out.backfill.existing_count, 10);
    assert_int_equal(op->out.backfill.started_count, 16); // and those before it was made
    op = backfill(world, 0, TICK_1 + 9 * MINUTE_MS, 1000);
    assert_int_equal(op->out.backfill.started_count, 0);
    assert_int_equal(started(world), 26);
}

static void a_backfill_goes_on_where_its_limit_cut_it(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_ALLOW));
    world->now_ms = TICK_1 + 3 * MINUTE_MS + 1;
    Op *op = backfill(world, TICK_1, INT64_MAX, 3);
    assert_int_equal(op->out.backfill.started_count, 3);
    assert_int_equal(op->out.backfill.next_ms, TICK_1 + 3 * MINUTE_MS);
    op = backfill(world, op->out.backfill.next_ms, INT64_MAX, 3);
    assert_int_equal(op->out.backfill.started_count, 1); // never what lies ahead
    assert_int_equal(op->out.backfill.next_ms, 0);
    fire_all(world, world->now_ms);
    assert_int_equal(started(world), 4); // the ticks themselves found their runs there
}

// ---- making and replacing ----

static void saving_the_same_again_changes_nothing(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_SKIP));
    world->now_ms = TICK_2 + 5; // two ticks are due and not fired yet
    Op *op = set(world, every_minute("m", OVERLAP_SKIP));
    assert_false(op->out.set_schedule.is_new);
    assert_int_equal(op->out.set_schedule.next_at_ms, TICK_1);
    fire(world);
    assert_int_equal(get(world, "m").tick_count, 1);
    assert_int_equal(get(world, "m").missed_count, 1);
    assert_int_equal(get(world, "m").updated_at_ms, START_MS);
}

static void a_new_spec_counts_from_now_on(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_SKIP));
    fire_at(world, TICK_1);
    ScheduleRow row = every_minute("m", OVERLAP_ALLOW);
    row.spec = STR("1h");
    row.workflow = STR("other");
    assert_int_equal(set(world, row)->out.set_schedule.next_at_ms, 3600000);
    row = get(world, "m");
    assert_int_equal(row.tick_count, 1);
    assert_int_equal(row.overlap, OVERLAP_ALLOW);
    assert_int_equal(row.updated_at_ms, TICK_1);
    fire_at(world, TICK_3);
    assert_int_equal(started(world), 1);
    fire_at(world, 3600000);
    assert_str(get_run(world, "sched:m:1970-01-01T01:00:00Z").workflow, "other");
}

static void bad_schedules_are_refused_and_change_nothing(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_SKIP));
    char longest[LIMIT_SCHEDULE_NAME_SIZE_MAX + 2];
    memset(longest, 'n', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    ScheduleRow good = every_minute("m", OVERLAP_SKIP);
    struct {
        ScheduleRow row;
        Status status;
        const char *code;
    } cases[12];
    for (size_t i = 0; i < 12; i++) cases[i].row = good, cases[i].status = ERR_INVALID;
    cases[0].row.kind = 0, cases[0].code = "BAD_SCHEDULE";
    cases[1].row.spec = STR("soon"), cases[1].code = "BAD_DURATION";
    cases[2].row.spec = STR("999ms"), cases[2].code = "BAD_SCHEDULE";
    cases[3].row.kind = SCHEDULE_CRON, cases[3].row.spec = STR("61 * * * *");
    cases[3].code = "BAD_CRON";
    cases[4].row.zone = STR("Europe/Atlantis"), cases[4].code = "BAD_TIMEZONE";
    cases[5].row.kind = SCHEDULE_ONCE, cases[5].row.spec = STR("tomorrow");
    cases[5].code = "BAD_TIME";
    cases[6].row.kind = SCHEDULE_ONCE, cases[6].row.spec = STR("1970-01-01T00:00:01Z");
    cases[6].code = "BAD_SCHEDULE"; // past
    cases[7].row.overlap = 9, cases[7].code = "BAD_SCHEDULE";
    cases[8].row.jitter_ms = -1, cases[8].code = "BAD_DURATION";
    cases[9].row.priority = 5000, cases[9].code = "BAD_OPTION";
    cases[10].row.name = str_from(longest), cases[10].code = "TOO_LARGE";
    cases[10].status = ERR_LIMIT;
    cases[11].row.workflow = STR_NULL, cases[11].code = "NAME_EMPTY";
    for (size_t i = 0; i < 12; i++) {
        Op *op = set_expecting(world, &cases[i].row, cases[i].status);
        assert_string_equal(op->out.diag.code, cases[i].code);
    }
    ScheduleRow row = get(world, "m");
    assert_str(row.spec, "1m");
    assert_int_equal(row.next_at_ms, TICK_1);
    assert_int_equal(get_counter(world, COUNTER_SCHEDULES), 1);
}

static int64_t define(World *world, const char *version) {
    Op *op = start(world, OP_DEFINE);
    op->in.define.name = STR("script");
    op->in.define.version = str_from(version);
    op->in.define.kind = RUN_FLOW;
    op->in.define.source = STR("return 1");
    finish(world, op, OK);
    return op->out.define.key;
}

static void a_tick_starts_the_definition_that_is_current_then(void **state) {
    World *world = *state;
    ScheduleRow row = every_minute("m", OVERLAP_ALLOW);
    row.workflow = STR("script");
    row.run_kind = 0;
    Op *op = set_expecting(world, &row, ERR_NOT_FOUND);
    assert_string_equal(op->out.diag.code, "WORKFLOW_NOT_FOUND");
    int64_t first = define(world, "1");
    set(world, row);
    fire_at(world, TICK_1);
    int64_t second = define(world, "2");
    fire_at(world, TICK_2);
    RunRow run = get_run(world, "sched:m:1970-01-01T00:17:00Z");
    assert_int_equal(run.kind, RUN_FLOW);
    assert_int_equal(run.definition, first);
    assert_int_equal(get_run(world, "sched:m:1970-01-01T00:18:00Z").definition, second);
}

static void bad_backfills_are_refused(void **state) {
    World *world = *state;
    set(world, every_minute("m", OVERLAP_SKIP));
    const ScheduleBackfill cases[] = {
        {.from_ms = 5, .to_ms = 4, .limit = 1},
        {.from_ms = -1, .to_ms = 4, .limit = 1},
        {.from_ms = 0, .to_ms = 4, .limit = 0},
        {.from_ms = 0, .to_ms = 4, .limit = LIMIT_BACKFILL_TICKS + 1},
    };
    for (size_t i = 0; i < 4; i++) {
        Op *op = start(world, OP_BACKFILL_SCHEDULE);
        op->in.backfill = cases[i];
        op->in.backfill.name = STR("m");
        finish(world, op, ERR_INVALID);
        assert_string_equal(op->out.diag.code, i < 2 ? "BAD_TIME" : "BAD_SCHEDULE");
    }
}

// ---- looking ----

static void listings_are_newest_first_and_go_on(void **state) {
    World *world = *state;
    const char *names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++) set(world, every_minute(names[i], OVERLAP_SKIP));
    SchedulePage found;
    assert_int_equal(store_list_schedules(world->store, &world->arena, &(PageSpec){.limit = 2},
                                          &found, &world->diag),
                     OK);
    assert_int_equal(found.count, 2);
    assert_str(found.rows[0].name, "e");
    assert_str(found.rows[1].name, "d");
    change(world, OP_REMOVE_SCHEDULE, "d", OK); // the cursor stays valid
    assert_int_equal(store_list_schedules(world->store, &world->arena,
                                          &(PageSpec){.after = found.next, .limit = 2}, &found,
                                          &world->diag),
                     OK);
    assert_str(found.rows[0].name, "c");
    assert_int_equal(store_list_schedules(world->store, &world->arena,
                                          &(PageSpec){.after = found.next, .limit = 2}, &found,
                                          &world->diag),
                     OK);
    assert_int_equal(found.count, 1);
    assert_str(found.rows[0].name, "a");
    assert_int_equal(found.next, 0);
}

static void the_next_tick_is_among_what_is_due(void **state) {
    World *world = *state;
    int64_t due_at_ms;
    set(world, every_minute("m", OVERLAP_SKIP));
    assert_int_equal(store_next_due(world->store, &world->arena, &due_at_ms, &world->diag), OK);
    assert_int_equal(due_at_ms, TICK_1);
    change(world, OP_PAUSE_SCHEDULE, "m", OK);
    assert_int_equal(store_next_due(world->store, &world->arena, &due_at_ms, &world->diag), OK);
    assert_int_equal(due_at_ms, 0);
}

// ---- files ----

static void run_sql(const char *path, const char *sql) {
    sqlite3 *database = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) {
        print_error("%s\n", message);
        fail();
    }
    sqlite3_close(database);
}

static void a_zone_that_is_gone_holds_ticks_back_until_it_returns(void **state) {
    World *world = *state;
    if (!is_sqlite()) return;
    set(world, every_minute("m", OVERLAP_SKIP));
    store_close(world->store);
    run_sql(world->path, "UPDATE abide_schedules SET zone = 'Europe/Atlantis'");
    store_open_again(world);
    assert_int_equal(fire_at(world, TICK_1)->out.fire_due.tick_count, 0);
    ScheduleRow row = get(world, "m");
    assert_int_equal(row.next_at_ms, TICK_1);
    assert_int_equal(row.due_at_ms, TICK_1 + MINUTE_MS);
    assert_non_null(strstr(arena_cstr(&world->arena, row.last_error), "Europe/Atlantis"));
    store_close(world->store);
    run_sql(world->path, "UPDATE abide_schedules SET zone = 'UTC'");
    store_open_again(world);
    fire_at(world, TICK_1 + MINUTE_MS - 1);
    assert_int_equal(started(world), 0);
    fire_at(world, TICK_2);
    row = get(world, "m");
    assert_int_equal(row.tick_count, 1);
    assert_int_equal(row.missed_count, 1);
    assert_true(str_is_null(row.last_error));
}

static void a_tick_that_cannot_start_is_counted_and_holds_nothing_up(void **state) {
    World *world = *state;
    if (!is_sqlite()) return;
    set(world, every_minute("m", OVERLAP_SKIP));
    set(world, every_minute("other", OVERLAP_SKIP));
    store_close(world->store);
    run_sql(world->path, "UPDATE abide_schedules SET priority = 77777 WHERE name = 'm'");
    store_open_again(world);
    assert_int_equal(fire_at(world, TICK_1)->out.fire_due.tick_count, 2);
    ScheduleRow row = get(world, "m");
    assert_int_equal(row.failed_count, 1);
    assert_int_equal(row.next_at_ms, TICK_2);
    assert_non_null(strstr(arena_cstr(&world->arena, row.last_error), "priority"));
    assert_int_equal(get(world, "other").tick_count, 1);
    set(world, every_minute("m", OVERLAP_SKIP));
    fire_at(world, TICK_2);
    assert_true(str_is_null(get(world, "m").last_error));
}

static char *read_text(World *world, const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = arena_zalloc(&world->arena, 64 << 10);
    size_t len = fread(text, 1, (64 << 10) - 1, file);
    assert_in_range(len, 1000, (64 << 10) - 2);
    fclose(file);
    return text;
}

// Columns and indexes. Columns that a migration has added stand last and have a default, which
// nobody sees: every statement names its columns.
static Str schema_of(World *world, const char *path) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    const char *sql =
        "SELECT group_concat(part, ';') FROM (SELECT s.name || '.' || c.name || ' ' || c.type || "
        "c.\"notnull\" || c.pk AS part FROM sqlite_schema s, pragma_table_info(s.name) c "
        "WHERE s.type = 'table' UNION ALL SELECT sql FROM sqlite_schema WHERE type = 'index' "
        "AND sql NOT NULL ORDER BY part)";
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    Str schema = arena_str(&world->arena, str_from(text));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return schema;
}

// Tasks as they were before concurrency keys excluded each other: "a" has one leased, "b" has none.
static const char keyed_tasks[] =
    "WITH t(key, state, priority, rank, due, name) AS (VALUES (101, 2, 0, 0, 9000000, 'a'), "
    "(102, 1, 0, 1001, 0, 'a'), (103, 1, -1, 1002, 0, 'b'), (104, 1, 0, 1001, 0, 'b'), "
    "(105, 1, 0, 1001, 0, NULL), (106, 1, 0, 0, 9000000, 'b'), (107, 3, 0, 0, 9000000, 'b')) "
    "INSERT INTO abide_tasks SELECT key, 'k' || key, 0, -1, 'n', 'q', state, priority, rank, 1, 7, "
    "1, 0, 0, 0, 0, 0, 0, 0, due, 0, 0, 1000000, 0, 0, NULL, NULL, name, NULL, NULL, NULL, NULL "
    "FROM t; UPDATE abide_counters SET value = 200 WHERE number = 0; "
    "INSERT INTO abide_counters VALUES (18, 5), (19, 1), (20, 1)";

static void keyed_tasks_were_brought_up(World *world) {
    QueueStat queue;
    assert_int_equal(store_find_queue(world->store, &world->arena, STR("q"), &queue, NULL), OK);
    assert_int_equal(queue.row.queued_count, 5);
    assert_int_equal(queue.row.running_count, 1);
    assert_int_equal(queue.row.blocked_count, 2);
    Op *op = start(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("w");
    op->in.claim_tasks.queues = (Str[]){STR("q")};
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.max = 10;
    finish(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 2);
    assert_str(op->out.claim_tasks.tasks[0].id, "k104");
    assert_str(op->out.claim_tasks.tasks[1].id, "k105");
}

// store_v1.sql is what a program of schema version 1 had written.
static void a_file_of_version_1_is_brought_up_and_goes_on(void **state) {
    World *world = *state;
    if (!is_sqlite()) return;
    Str new_schema = schema_of(world, world->path);
    store_close(world->store);
    unlink(world->path);
    char path[512];
    snprintf(path, sizeof(path), "%s/test/unit/store/store_v1.sql", getenv("ABIDE_SOURCE_DIR"));
    run_sql(world->path, read_text(world, path));
    run_sql(world->path, "PRAGMA application_id = 1633839460; PRAGMA user_version = 1;"
                         "PRAGMA journal_mode = WAL");
    run_sql(world->path, keyed_tasks);
    StoreConfig reading = {.is_read_only = true};
    Str url = arena_printf(&world->arena, "sqlite:%s", world->path);
    assert_int_equal(store_open(url, &reading, &world->store, &world->diag), ERR_OLDER);
    assert_string_equal(world->diag.code, "STORE_OLDER");

    store_open_again(world);
    assert_str(schema_of(world, world->path), new_schema.data);
    assert_int_equal(get_run(world, "waiting").state, RUN_SUSPENDED);
    assert_str(get_log(world, "done").rows[2].data, "{\"ok\":true}");
    world->node = 1;
    world->batch_number = 100;
    assert_int_equal(publish(world, "orders", "1")->out.publish.resumed_count, 1);
    end(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    set(world, every_minute("m", OVERLAP_SKIP));
    fire_at(world, TICK_1);
    assert_true(has_run(world, "sched:m:1970-01-01T00:17:00Z"));
    keyed_tasks_were_brought_up(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(a_tick_starts_one_run_at_its_time),
        KERNEL_TEST(firing_again_at_the_same_time_starts_nothing),
        KERNEL_TEST(two_nodes_race_for_a_tick_and_one_run_starts),
        KERNEL_TEST(a_restart_neither_repeats_nor_loses_a_tick),
        KERNEL_TEST(cron_ticks_follow_the_clocks_of_the_zone),
        KERNEL_TEST(a_single_time_ticks_once),
        KERNEL_TEST(jitter_delays_the_start_and_not_the_tick),
        KERNEL_TEST(skip_leaves_ticks_out_while_the_run_before_lives),
        KERNEL_TEST(queue_starts_one_tick_when_the_run_before_ends),
        KERNEL_TEST(a_queued_tick_survives_that_the_run_is_forgotten_in_memory),
        KERNEL_TEST(allow_starts_beside_the_run_before),
        KERNEL_TEST(cancel_old_starts_when_the_run_before_has_cleaned_up),
        KERNEL_TEST(cancel_old_ends_a_run_that_does_not_react),
        KERNEL_TEST(cancel_old_without_grace_starts_at_once),
        KERNEL_TEST(cancel_old_lets_only_the_newest_tick_wait),
        KERNEL_TEST(of_missed_ticks_only_the_latest_starts),
        KERNEL_TEST(within_the_catch_up_window_each_missed_tick_starts),
        KERNEL_TEST(years_of_missed_ticks_are_dealt_with_in_bounded_operations),
        KERNEL_TEST(a_sweep_leaves_schedules_to_fire_due),
        KERNEL_TEST(a_paused_schedule_lets_ticks_pass),
        KERNEL_TEST(pausing_drops_what_is_queued),
        KERNEL_TEST(a_schedule_may_begin_paused),
        KERNEL_TEST(removing_one_leaves_its_runs),
        KERNEL_TEST(an_unknown_schedule_is_not_found),
        KERNEL_TEST(a_trigger_starts_a_run_out_of_turn),
        KERNEL_TEST(ticks_look_at_a_triggered_run_too),
        KERNEL_TEST(a_backfill_starts_what_is_missing_and_nothing_twice),
        KERNEL_TEST(a_backfill_goes_on_where_its_limit_cut_it),
        KERNEL_TEST(saving_the_same_again_changes_nothing),
        KERNEL_TEST(a_new_spec_counts_from_now_on),
        KERNEL_TEST(bad_schedules_are_refused_and_change_nothing),
        KERNEL_TEST(a_tick_starts_the_definition_that_is_current_then),
        KERNEL_TEST(bad_backfills_are_refused),
        KERNEL_TEST(listings_are_newest_first_and_go_on),
        KERNEL_TEST(the_next_tick_is_among_what_is_due),
        KERNEL_TEST(a_zone_that_is_gone_holds_ticks_back_until_it_returns),
        KERNEL_TEST(a_tick_that_cannot_start_is_counted_and_holds_nothing_up),
        KERNEL_TEST(a_file_of_version_1_is_brought_up_and_goes_on),
    };
    return cmocka_run_group_tests_name("store schedules", tests, NULL, NULL);
}
