// The store at its edges: limits, participants, long histories, large listings, reopening.
//
// One behaviour per test, on the store the test was started for; see unit/store/world.h.
#include "base/array.h"
#include "unit/store/world.h"
#include <sqlite3.h>

static bool is_sqlite(void) { return test_backend_is("sqlite"); }

// ---- participants ----

typedef struct Participation {
    bool is_failing;
    int call_count;
} Participation;

static Status write_own_table(void *context, StepDatabase database, Arena *arena, Str *ret_data) {
    Participation *participation = context;
    participation->call_count++;
    int code = sqlite3_exec(database.handle,
                            "CREATE TABLE IF NOT EXISTS mine (n INTEGER);"
                            "INSERT INTO mine VALUES (1)",
                            NULL, NULL, NULL);
    assert_int_equal(code, SQLITE_OK);
    *ret_data = arena_str(arena, participation->is_failing ? STR("{\"type\":\"Boom\"}") : STR("7"));
    return participation->is_failing ? ERR_CONFLICT : OK;
}

static Op *participate(World *world, Claimed claim, Participation *participation) {
    Op *op = turn(world, claim, NEXT_CONTINUE);
    op->in.turn.log = ARENA_NEW(&world->arena, LogRow);
    *op->in.turn.log = (LogRow){.kind = LOG_STEP, .name = STR("pay")};
    op->in.turn.log_count = 1;
    op->in.turn.participant = write_own_table;
    op->in.turn.participant_context = participation;
    commit(world);
    return op;
}

static int own_row_count(World *world) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    int count = 0;
    assert_int_equal(sqlite3_open(world->path, &database), SQLITE_OK);
    if (sqlite3_prepare_v2(database, "SELECT count(*) FROM mine", -1, &statement, NULL) ==
        SQLITE_OK) {
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        count = sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}

static void participants_writes_commit_with_the_checkpoint_or_not_at_all(void **state) {
    World *world = *state;
    if (test_server_is(test_backend())) return; // test/contract/runs/steps.c
    Claimed claim = create(world, "r1");
    Participation failing = {.is_failing = true}, good = {0};
    Op *op = participate(world, claim, &failing);
    if (!is_sqlite()) {
        assert_int_equal(op->out.status, ERR_UNSUPPORTED);
        assert_int_equal(failing.call_count, 0);
        return;
    }
    assert_int_equal(op->out.status, ERR_CONFLICT);
    assert_str(op->out.turn.step_error, "{\"type\":\"Boom\"}");
    assert_int_equal(own_row_count(world), 0);
    assert_int_equal(get_log(world, "r1").count, 1);
    op = participate(world, claim, &good);
    assert_int_equal(op->out.status, OK);
    assert_int_equal(own_row_count(world), 1);
    assert_str(get_log(world, "r1").rows[1].data, "7");
}

// ---- limits ----

static void signals_past_the_limit_are_refused(void **state) {
    World *world = *state;
    create(world, "r1");
    for (int i = 0; i < (int)LIMIT_SIGNALS_PER_RUN; i += 1000) {
        begin(world);
        for (int k = 0; k < 1000; k++) {
            Op *op = batch_add(&world->batch, OP_SIGNAL);
            op->in.signal.run_id = STR("r1");
            op->in.signal.name = STR("s");
            op->in.signal.payload = STR("1");
        }
        commit(world);
    }
    Op *op = signal_run(world, "r1", "s", "1", ERR_LIMIT);
    assert_string_equal(op->out.diag.code, "TOO_MANY_SIGNALS");
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), LIMIT_SIGNALS_PER_RUN);
}

static void children_nest_up_to_the_limit(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r0");
    for (int depth = 1; depth <= (int)LIMIT_CHILD_DEPTH + 1; depth++) {
        Op *op = turn(world, claim, NEXT_CONTINUE);
        op->in.turn.children = ARENA_NEW(&world->arena, RunSpec);
        *op->in.turn.children = (RunSpec){.id = arena_printf(&world->arena, "r%d", depth),
                                          .workflow = STR("w"),
                                          .kind = RUN_NATIVE,
                                          .keep_ms = -1};
        op->in.turn.child_count = 1;
        bool is_allowed = depth <= (int)LIMIT_CHILD_DEPTH;
        finish(world, op, is_allowed ? OK : ERR_LIMIT);
        if (is_allowed) claim = ready_at(world, 0);
    }
}

static void wait_for_what_does_not_exist_is_refused(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = turn(world, claim, NEXT_SUSPEND);
    WaitItem item = {.kind = WAIT_CHILD, .name = STR("nobody")};
    set_waits(world, op, WAIT_FIRST, &item, 1);
    finish(world, op, ERR_INVALID);
    assert_string_equal(op->out.diag.code, "WAIT_TARGET");
    op = turn(world, claim, NEXT_SUSPEND);
    finish(world, op, ERR_INVALID); // an empty set would wait for ever
    op = turn(world, claim, NEXT_COMPLETE);
    finish(world, op, OK);
}

// ---- long histories and large listings ----

static void long_history_is_purged_in_several_goes(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "r1")->in.create_run.spec.keep_ms = 0;
    commit(world);
    Claimed claim = ready_at(world, 0);
    for (int i = 0; i < 7; i++) {
        begin(world);
        for (int k = 0; k < 4000; k++) {
            Op *op = batch_add(&world->batch, OP_APPEND_LOG);
            op->in.append_log.run = claim.run;
            op->in.append_log.epoch = claim.epoch;
            op->in.append_log.entry = (LogRow){.kind = LOG_LINE, .position = -1};
        }
        commit(world);
        arena_reset(&world->arena);
    }
    end(world, claim, NEXT_COMPLETE, "1");
    assert_true(fire(world)->out.fire_due.has_more);
    RunRow found;
    assert_int_equal(store_run_by_id(world->store, &world->arena, STR("r1"), &found, &world->diag),
                     OK);
    int64_t row_count;
    assert_int_equal(store_verify(world->store, &row_count, &world->diag), OK);
    assert_false(fire(world)->out.fire_due.has_more);
    assert_int_equal(store_run_by_id(world->store, &world->arena, STR("r1"), &found, &world->diag),
                     ERR_NOT_FOUND);
}

static void rare_runs_are_found_page_by_page(void **state) {
    World *world = *state;
    world->claim_max = 0;
    for (int i = 0; i < 9000; i += 3000) {
        begin(world);
        for (int k = i; k < i + 3000; k++) {
            Op *op = create_op(world, arena_printf(&world->arena, "r%d", k).data);
            if (k % 3000 == 7) op->in.create_run.spec.workflow = STR("rare");
        }
        commit(world);
    }
    RunFilter filter = {.workflows = STR("rare"), .limit = 10};
    size_t found = 0;
    int page_count = 0;
    do {
        RunPage page;
        assert_ok(store_list_runs(world->store, &world->arena, &filter, &page, &world->diag));
        found += page.count;
        page_count++;
        filter.cursor = page.next;
    } while (filter.cursor != 0);
    assert_int_equal(found, 3);
    assert_true(page_count > 1); // the work per page is bounded
}

// ---- keeping ----

static void idempotency_key_outlives_its_purged_run(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "r1")->in.create_run.spec.dedupe_key = STR("key");
    commit(world);
    end(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    Op *op = start(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r1");
    finish(world, op, OK);
    begin(world);
    op = create_op(world, "r2");
    op->in.create_run.spec.dedupe_key = STR("key");
    finish(world, op, ERR_CONFLICT);
    assert_string_equal(op->out.diag.code, "RUN_PURGED");
    world->now_ms += 8LL * 24 * 3600 * 1000; // past the retention the key is free again
    world->node = 0;
    begin(world);
    op = create_op(world, "r2");
    op->in.create_run.spec.dedupe_key = STR("key");
    finish(world, op, OK);
    assert_true(op->out.create_run.is_new);
}

static void ended_task_without_a_run_is_removed_after_the_retention(void **state) {
    World *world = *state;
    Op *op = start(world, OP_CREATE_TASK);
    op->in.create_task.spec = (TaskSpec){.id = STR("t1"), .name = STR("mail")};
    finish(world, op, OK);
    Str queue = STR("default");
    op = start(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.queues = &queue;
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.max = 1;
    finish(world, op, OK);
    int64_t token = op->out.claim_tasks.tasks[0].token;
    op = start(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = STR("t1");
    op->in.complete_task.token = token;
    finish(world, op, OK);
    world->now_ms += 7LL * 24 * 3600 * 1000;
    fire(world);
    TaskRow task;
    assert_int_equal(store_find_task(world->store, &world->arena, STR("t1"), &task, &world->diag),
                     ERR_NOT_FOUND);
}

static void tasks_are_claimed_by_name_wherever_they_stand_in_the_queue(void **state) {
    World *world = *state;
    begin(world);
    for (int i = 0; i < 300; i++) {
        Op *op = batch_add(&world->batch, OP_CREATE_TASK);
        op->in.create_task.spec = (TaskSpec){.id = arena_printf(&world->arena, "t%d", i),
                                             .name = i == 290 ? STR("rare") : STR("common"),
                                             .priority = i % 3};
    }
    commit(world);
    Str queue = STR("default"), name = STR("rare");
    Op *op = start(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.queues = &queue;
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.names = &name;
    op->in.claim_tasks.name_count = 1;
    op->in.claim_tasks.max = 5;
    finish(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    assert_str(op->out.claim_tasks.tasks[0].id, "t290");
}

static void event_of_a_turn_to_a_full_topic_becomes_a_letter_that_can_be_replayed(void **state) {
    World *world = *state;
    Op *op = start(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 1};
    finish(world, op, OK);
    Claimed claim = create(world, "r1"), other = create(world, "r2");
    op = turn(world, claim, NEXT_CONTINUE);
    op->in.turn.events = ARENA_ARRAY(&world->arena, EventSpec, 2);
    op->in.turn.events[0] = (EventSpec){.topic = STR("t"), .id = STR("e1"), .payload = STR("1")};
    op->in.turn.events[1] = (EventSpec){.topic = STR("t"), .id = STR("e2"), .payload = STR("2")};
    op->in.turn.event_count = 2;
    finish(world, op, OK);
    DeadLetterPage letters;
    assert_int_equal(store_list_dead_letters(world->store, &world->arena, &(PageSpec){0}, &letters,
                                             &world->diag),
                     OK);
    assert_int_equal(letters.count, 1);
    assert_str(letters.rows[0].reason, "topic full");
    assert_str(park(world, claim, on_event("t"))->out.turn.resolved[0].data, "1");
    park(world, other, on_event("t"));
    op = start(world, OP_REPLAY_DEAD_LETTER);
    op->in.dead_letter.key = letters.rows[0].key;
    finish(world, op, OK);
    assert_int_equal(op->out.dead_letter.resumed_count, 1);
    assert_str(world->batch.out.ready[0].resolved[0].data, "2");
}

// ---- bytes and reopening ----

static void payloads_come_back_byte_for_byte(void **state) {
    World *world = *state;
    static const char *const payloads[] = {
        "[]",  "{}", "null", "12345678901234567", "\"\"", "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"",
        "1.0", "-0"};
    for (size_t i = 0; i < COUNT_OF(payloads); i++) {
        Str id = arena_printf(&world->arena, "odd id/%zu?\xc3\xa4", i);
        begin(world);
        create_op(world, id.data)->in.create_run.spec.input = str_from(payloads[i]);
        commit(world);
        RunLoad load;
        assert_int_equal(store_load_run(world->store, &world->arena, get_run(world, id.data).key,
                                        &load, &world->diag),
                         OK);
        assert_str(load.input, payloads[i]);
        end(world, ready_at(world, 0), NEXT_COMPLETE, payloads[i]);
        RunResult result;
        assert_int_equal(
            store_find_result(world->store, &world->arena, run_of_id(id), &result, &world->diag),
            OK);
        assert_str(result.json, payloads[i]);
    }
}

static void reopened_store_goes_on_where_it_was(void **state) {
    World *world = *state;
    if (!is_kept()) return; // a memory store ends with its owner
    Claimed claim = create(world, "r1");
    step(world, claim, "a", 0);
    park(world, claim, on_event("paid"));
    store_close(world->store);
    store_open_again(world);
    assert_int_equal(get_counter(world, COUNTER_RUNS_FIRST + RUN_SUSPENDED), 1);
    Op *op = publish(world, "paid", "1");
    assert_int_equal(op->out.publish.resumed_count, 1);
    assert_int_equal(world->batch.out.ready[0].last_seq, 4);
    claim = ready_at(world, 0);
    end(world, claim, NEXT_COMPLETE, "1");
    create(world, "r2"); // keys go on past those of the first life
}

static void wait_sets_too_large_for_the_cache_work_all_the_same(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = turn(world, claim, NEXT_SUSPEND);
    WaitItem *items = ARENA_ARRAY(&world->arena, WaitItem, LIMIT_WAITS_PER_RUN);
    for (int i = 0; i < (int)LIMIT_WAITS_PER_RUN; i++) {
        Str name = arena_printf(&world->arena, "a rather long name of signal %d", i);
        items[i] = on_signal(name.data);
    }
    set_waits(world, op, WAIT_EACH, items, LIMIT_WAITS_PER_RUN);
    finish(world, op, OK);
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    op = signal_run(world, "r1", "a rather long name of signal 9999", "1", OK);
    assert_true(op->out.signal.is_delivered);
    assert_int_equal(world->batch.out.ready[0].resolved[0].slot, 9999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(participants_writes_commit_with_the_checkpoint_or_not_at_all),
        KERNEL_TEST(signals_past_the_limit_are_refused),
        KERNEL_TEST(children_nest_up_to_the_limit),
        KERNEL_TEST(wait_for_what_does_not_exist_is_refused),
        KERNEL_TEST(long_history_is_purged_in_several_goes),
        KERNEL_TEST(rare_runs_are_found_page_by_page),
        KERNEL_TEST(idempotency_key_outlives_its_purged_run),
        KERNEL_TEST(ended_task_without_a_run_is_removed_after_the_retention),
        KERNEL_TEST(tasks_are_claimed_by_name_wherever_they_stand_in_the_queue),
        KERNEL_TEST(event_of_a_turn_to_a_full_topic_becomes_a_letter_that_can_be_replayed),
        KERNEL_TEST(payloads_come_back_byte_for_byte),
        KERNEL_TEST(reopened_store_goes_on_where_it_was),
        KERNEL_TEST(wait_sets_too_large_for_the_cache_work_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
