// The edges of scripts on the engine: what the continuation design names (failures under every
// combinator, deleted timers, fire and forget, late losers), fairness, versions, damage, and bad
// input. Compiled once per store. Crashes at every store call are the simulator's.
#include "base/array.h"
#include "unit/api/flows.h"
#include <sqlite3.h>

static atomic_int is_gate_open;

static int gated(abide_call *call, const char *input) {
    while (!atomic_load(&is_gate_open)) usleep(500);
    return abide_return(call, input);
}

static int setup_with_gate(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    atomic_store(&is_gate_open, 0);
    assert_int_equal(abide_register_task(fixture->engine, "gated", gated, NULL, NULL), 0);
    add_tasks(fixture);
    atomic_store(&call_count, 0);
    return 0;
}

static int teardown_gate(void **state) {
    atomic_store(&is_gate_open, 1); // nobody is left behind it
    return teardown(state);
}

static void reopen(Fixture *fixture) {
    fixture_open(fixture);
    assert_int_equal(abide_register_task(fixture->engine, "gated", gated, NULL, NULL), 0);
    add_tasks(fixture);
}

static int64_t turns_of(Fixture *fixture) {
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    return stats.turns;
}

// ---- what combinators answer ----

static void handles_and_winners_carry_the_same_id(void **state) {
    run_flow(*state,
             "const a = Task.run('double', 4), b = Timer.delay('1h')\n"
             "const any = await Task.any([b, a])\n"
             "const c = Timer.delay('1ms'), d = Task.run('gated', 1)\n"
             "const race = await Task.race([d, c])\n"
             "return [typeof a.id, any.item_id === a.id, any.result, race.item_id === c.id,\n"
             "  race.status, a.id !== d.id, b.id !== c.id]",
             NULL, "[\"string\",true,8,true,\"completed\",true,true]");
}

static void all_joins_tasks_timers_and_children(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "kid", "await Timer.delay('5ms'); return Inputs * 10");
    run_flow(fixture,
             "return await Task.all([Task.run('double', 1), Timer.delay('10ms'),\n"
             "  Workflow.run('kid', 7), Task.run('flaky', 0, {retry: {delay: '1ms'}})])",
             NULL, "[2,null,70,3]");
}

static void any_rejects_when_all_have_failed(void **state) {
    run_flow(*state,
             "const e = await Task.any([Task.run('broken'), Task.run('broken')]).catch(e => e)\n"
             "return [e.name, e.errors.length, e.errors[0].name, e.errors[1].task]",
             NULL, "[\"AggregateError\",2,\"TaskError\",\"broken\"]");
}

static void all_fails_at_the_first_failure_without_waiting_for_the_rest(void **state) {
    run_flow(*state,
             "return await Task.all([Task.run('gated', 1), Task.run('broken')]).catch(e => e.task)",
             NULL, "\"broken\"");
}

// Whatever order and batches the completions come in: one turn to begin, one when all are there.
static void joining_a_hundred_tasks_takes_two_turns(void **state) {
    Fixture *fixture = *state;
    static const char *const joins[] = {
        "(await Task.all(items)).length",
        "(await Promise.all(items)).length",
        "(await Promise.allSettled([...items, Task.run('broken')])).length - 1",
        "(await Task.any(items.map((_, i) => Task.run('broken', i))).catch(e => e)).errors.length",
    };
    for (size_t i = 0; i < COUNT_OF(joins); i++) {
        char source[400], id[8];
        int64_t before = turns_of(fixture);
        const char *items = i == 3 ? "Array.from({length: 100})"
                                   : "Array.from({length: 100}, (_, i) => Task.run('double', i))";
        snprintf(source, sizeof source, "const items = %s\nreturn %s", items, joins[i]);
        snprintf(id, sizeof id, "r%zu", i);
        deploy(fixture, "main", source);
        start(fixture, "main", id, NULL);
        expect_result(fixture, id, ABIDE_OK, "100");
        assert_int_equal(turns_of(fixture) - before, 2);
    }
}

static void a_join_in_a_race_is_counted_on_while_others_win(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const join = Task.all([Task.run('double', 1), Task.run('gated', 5)])\n"
           "const seen = []\n"
           "for (;;) {\n"
           "  const won = await Promise.race([join, Signal.next('go')])\n"
           "  seen.push(won)\n"
           "  if (Array.isArray(won)) return seen\n"
           "}");
    start(fixture, "main", "r", NULL);
    for (int i = 1; i <= 3; i++) {
        char payload[8];
        snprintf(payload, sizeof payload, "%d", i);
        assert_int_equal(abide_signal(fixture->engine, "r", "go", payload, NULL, NULL), ABIDE_OK);
    }
    while (turns_of(fixture) < 4) usleep(500);
    atomic_store(&is_gate_open, 1);
    expect_result(fixture, "r", ABIDE_OK, "[1,2,3,[2,5]]");
}

// ---- losers and the forgotten ----

typedef struct Seen {
    int task_entries, wait_entries;
} Seen;

static int count_entries(void *user, const abide_log_entry *entry) {
    Seen *seen = user;
    seen->task_entries += strcmp(entry->kind, "task") == 0;
    seen->wait_entries += strcmp(entry->kind, "wait") == 0;
    return 0;
}

static Seen entries_of(Fixture *fixture, const char *run_id) {
    Seen seen = {0};
    assert_int_equal(abide_history(fixture->engine, run_id, 0, 1000, count_entries, &seen, NULL),
                     ABIDE_OK);
    return seen;
}

static void a_late_loser_is_not_delivered(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const r = await Task.race([Task.run('gated', 1), Task.run('double', 2)])\n"
           "await Signal.next('go')\n"
           "return r.result");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    int64_t turns = turns_of(fixture);
    atomic_store(&is_gate_open, 1);
    abide_stats stats;
    do { // until the loser has completed
        usleep(500);
        assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    } while (stats.tasks_leased > 0);
    assert_int_equal(turns_of(fixture), turns);
    assert_int_equal(entries_of(fixture, "r").wait_entries, 1); // the winner
    wait_parked(fixture, "r", "signal:go");
    assert_int_equal(abide_signal(fixture->engine, "r", "go", NULL, NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "4");
}

static void fire_and_forget_causes_no_turn(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "for (let i = 0; i < 20; i++) Task.run('double', i)\n"
           "return await Signal.next('go')");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    while (atomic_load(&call_count) < 20) usleep(500);
    abide_stats stats;
    do {
        usleep(500);
        assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    } while (stats.tasks_leased + stats.tasks_queued > 0);
    assert_int_equal(turns_of(fixture), 1);
    Seen seen = entries_of(fixture, "r");
    assert_int_equal(seen.task_entries, 20);
    assert_int_equal(seen.wait_entries, 0);
}

// The timer goes with the run it belongs to: nothing is left to fire.
static void the_timer_of_a_cancelled_run_is_gone(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", "await Timer.delay('1h')");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "timer");
    assert_int_equal(abide_cancel(fixture->engine, "r", NULL, NULL, NULL), ABIDE_OK);
    char *json = NULL;
    assert_int_equal(abide_result(fixture->engine, "r", "120s", &json, NULL), ABIDE_CANCELLED);
    abide_free(json);
    abide_run_info info;
    assert_int_equal(abide_status(fixture->engine, "r", &info, NULL), ABIDE_OK);
    assert_int_equal(info.wakes_at_ms, 0);
    assert_string_equal(info.waiting_on, "");
}

static void a_lost_timer_does_not_fire_into_the_next_wait(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "await Task.run('gated', 1)\n" // the signal is there when it goes on
           "const a = await Promise.race([Signal.next('one'), Timer.delay('30ms')])\n"
           "const b = await Promise.race([Signal.next('two'), Timer.delay('1h')])\n"
           "return [a, b]");
    start(fixture, "main", "r", NULL);
    assert_int_equal(abide_signal(fixture->engine, "r", "one", "1", NULL, NULL), ABIDE_OK);
    atomic_store(&is_gate_open, 1);
    wait_parked(fixture, "r", "signal:two, timer");
    usleep(60000); // the first timer would have fired by now
    wait_parked(fixture, "r", "signal:two, timer");
    assert_int_equal(abide_signal(fixture->engine, "r", "two", "2", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[1,2]");
}

static void a_signal_that_comes_with_a_timer_is_not_lost(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "await Task.run('gated', 1)\n" // both are there when it goes on
           "const first = await Promise.race([Timer.until(new Date(1)), Signal.next('go')])\n"
           "return [first ?? 'timer', await Signal.next('go')]");
    start(fixture, "main", "r", NULL);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "7", NULL, NULL), ABIDE_OK);
    atomic_store(&is_gate_open, 1);
    expect_result(fixture, "r", ABIDE_OK, "[\"timer\",7]");
}

// ---- fairness and versions ----

static void an_endless_loop_does_not_hold_up_a_hundred_others(void **state) {
    Fixture *fixture = *state;
    abide_close(fixture->engine);
    fixture->options.threads = 1;
    reopen(fixture);
    deploy(fixture, "spin", "for (;;) {}");
    deploy(fixture, "short", "return await Task.run('double', Inputs)");
    start(fixture, "spin", "spin", NULL);
    for (int i = 0; i < 100; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        start(fixture, "short", id, "21");
    }
    for (int i = 0; i < 100; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        expect_result(fixture, id, ABIDE_OK, "42");
    }
}

static int64_t active_runs(Fixture *fixture) {
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    return stats.active_runs;
}

// Nothing but its end can stop such a script: it may take as many instructions as it likes.
static void a_run_that_has_ended_frees_its_thread(void **state) {
    Fixture *fixture = *state;
    abide_close(fixture->engine);
    fixture->options.threads = 1;
    fixture->options.max_turn_steps = INT64_MAX;
    reopen(fixture);
    deploy(fixture, "spin", "for (;;) {}");
    deploy(fixture, "search", "const s = 'a'.repeat(1e6); for (;;) try { /a*b/.test(s) } catch {}");
    static const char *const workflows[] = {"spin", "search"};
    for (int i = 0; i < 2; i++) {
        abide_start_options options = {.id = workflows[i], .timeout = "50ms"};
        abide_error error;
        int code = abide_start(fixture->engine, workflows[i], NULL, &options, NULL, &error);
        assert_int_equal(code, ABIDE_OK);
        expect_result(fixture, workflows[i], ABIDE_FAILED,
                      "{\"type\":\"TimeoutError\","
                      "\"message\":\"the run exceeded its overall time-out\"}");
    }
    WAIT_UNTIL(active_runs(fixture) == 0);
}

static void a_roll_back_brings_the_old_version_back_for_new_runs_only(void **state) {
    Fixture *fixture = *state;
    const char *old = "const s = await Signal.next('go'); return ['old', s]";
    const char *new = "const s = await Signal.next('go'); return ['new', s]";
    deploy(fixture, "main", old);
    start(fixture, "main", "a", NULL);
    deploy(fixture, "main", new);
    start(fixture, "main", "b", NULL);
    deploy(fixture, "main", old);
    start(fixture, "main", "c", NULL);
    static const char *const ids[] = {"a", "b", "c"};
    static const char *const results[] = {"[\"old\",1]", "[\"new\",1]", "[\"old\",1]"};
    for (int i = 0; i < 3; i++) wait_parked(fixture, ids[i], "signal:go");
    if (test_backend_is("sqlite")) { // and across a restart
        abide_close(fixture->engine);
        reopen(fixture);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(abide_signal(fixture->engine, ids[i], "go", "1", NULL, NULL), ABIDE_OK);
        expect_result(fixture, ids[i], ABIDE_OK, results[i]);
    }
}

// ---- damage ----

// Closes the engine, changes the file behind its back, and opens it again.
static void change_file(Fixture *fixture, const char *sql) {
    abide_close(fixture->engine);
    sqlite3 *database;
    assert_int_equal(sqlite3_open(fixture->url + strlen("sqlite:"), &database), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    assert_true(sqlite3_changes(database) > 0);
    sqlite3_close(database);
    reopen(fixture);
}

static void park_and_damage(Fixture *fixture, const char *sql) {
    deploy(fixture, "main", "return await Signal.next('go')");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    change_file(fixture, sql);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "1", NULL, NULL), ABIDE_OK);
}

// Damage may be mended, so the run is held with the reason; nothing of it is lost.
static void expect_pause(Fixture *fixture, const char *reason) {
    abide_run_info info = {0};
    for (int i = 0; i < 100000 && info.state != ABIDE_RUN_PAUSED; i++) {
        assert_int_equal(abide_status(fixture->engine, "r", &info, NULL), ABIDE_OK);
        if (info.state != ABIDE_RUN_PAUSED) usleep(1000);
    }
    assert_int_equal(info.state, ABIDE_RUN_PAUSED);
    if (strstr(info.pause_reason, reason) == NULL)
        fail_msg("%s is not in %s", reason, info.pause_reason);
}

static void a_missing_definition_pauses_the_run_and_is_not_tried_for_ever(void **state) {
    Fixture *fixture = *state;
    if (!test_backend_is("sqlite")) return; // there is no file to damage
    park_and_damage(fixture, "DELETE FROM abide_definitions");
    expect_pause(fixture, "DEFINITION_MISSING");
    assert_true(turns_of(fixture) <= 1);
}

static void a_damaged_definition_pauses_the_run_with_the_finding(void **state) {
    Fixture *fixture = *state;
    if (!test_backend_is("sqlite")) return;
    park_and_damage(fixture, "UPDATE abide_definitions SET source = 'return await ((('");
    expect_pause(fixture, "main.flow:1");
}

// The source is there too; only runs parked in code that this build would not make are lost then.
static void missing_or_damaged_code_is_compiled_anew(void **state) {
    Fixture *fixture = *state;
    if (!test_backend_is("sqlite")) return;
    park_and_damage(fixture, "UPDATE abide_definitions SET code = NULL WHERE length(code) > 100");
    expect_result(fixture, "r", ABIDE_OK, "1");
    abide_close(fixture->engine);
    unlink(fixture->url + strlen("sqlite:"));
    reopen(fixture);
    park_and_damage(fixture, "UPDATE abide_definitions SET code = zeroblob(length(code))");
    expect_result(fixture, "r", ABIDE_OK, "1");
}

static void persistence_failure_during_reload_leaves_the_run_intact(void **state) {
    Fixture *fixture = *state;
    if (!test_backend_is("sqlite")) return;
    park_and_damage(fixture, "UPDATE abide_runs SET snapshot = CAST(x'00' || snapshot AS BLOB) "
                             "WHERE snapshot NOT NULL");
    expect_pause(fixture, "SNAPSHOT_CORRUPT");
    // Nothing was lost: once it can be read, it goes on with the signal that had come.
    change_file(fixture, "UPDATE abide_runs SET snapshot = substr(snapshot, 2)");
    assert_int_equal(abide_resume(fixture->engine, "r", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "1");
}

// ---- bad input ----

static void bad_input_is_refused_with_its_code_and_changes_nothing(void **state) {
    Fixture *fixture = *state;
    abide_engine *engine = fixture->engine;
    abide_error error;
    deploy(fixture, "main", "return 1");
    assert_int_equal(abide_start(engine, "nobody", NULL, NULL, NULL, &error), ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "WORKFLOW_NOT_FOUND");
    assert_int_equal(abide_start(engine, "main", "{\"a\":", NULL, NULL, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_JSON");
    abide_start_options options = {.delay = "soon"};
    assert_int_equal(abide_start(engine, "main", NULL, &options, NULL, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_DURATION");
    assert_non_null(strstr(error.message, "soon"));
    abide_schedule schedule = {.workflow = "main", .cron = "0 25 * * *"};
    assert_int_equal(abide_schedule_set(engine, "s", &schedule, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_CRON");
    assert_non_null(strstr(error.message, "hour"));
    abide_stats stats;
    assert_int_equal(abide_get_stats(engine, &stats, NULL), ABIDE_OK);
    assert_int_equal(stats.started_total, 0);
    abide_schedule_info info;
    assert_int_equal(abide_schedule_get(engine, "s", &info, NULL), ABIDE_NOT_FOUND);
}

static void a_signal_to_a_finished_run_is_refused_and_changes_nothing(void **state) {
    Fixture *fixture = *state;
    run_flow(fixture, "return 1", NULL, "1");
    Seen before = entries_of(fixture, "r");
    abide_error error;
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "1", NULL, &error), ABIDE_TERMINAL);
    assert_string_equal(error.name, "RUN_TERMINAL");
    assert_int_equal(entries_of(fixture, "r").wait_entries, before.wait_entries);
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    assert_int_equal(stats.pending_signals, 0);
    expect_result(fixture, "r", ABIDE_OK, "1");
}

static void a_filter_that_does_not_parse_names_its_column(void **state) {
    run_flow(*state,
             "try { await Event.wait('t', {filter: 'total >'}) }\n"
             "catch (e) { return /column 8/.test(e.message) ? e.code : e.message }",
             NULL, "\"BAD_FILTER\"");
}

// Nobody here knows the task: it waits for a worker, as long as it may.
static void an_unknown_task_waits_for_a_worker_and_times_out(void **state) {
    run_flow(*state,
             "try { await Task.run('nobody', 1, {scheduleTimeout: '30ms'}) }\n"
             "catch (e) { return [e.name, e.task, e.cause.message] }",
             NULL, "[\"TaskError\",\"nobody\",\"no worker started the task in time\"]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_with_gate, teardown_gate)

static void names_of_scripts_follow_the_rule_of_all_names(void **state) {
    run_flow(*state,
             "const refused = async start => {\n"
             "  try { await start() } catch (e) { return e.message }\n"
             "}\n"
             "const odd = 'a\\nb', none = '', long = 'x'.repeat(256)\n"
             "return [\n"
             "  await refused(() => Task.run('double', 1, { queue: odd })),\n"
             "  await refused(() => Task.run('double', 1, { queue: none })),\n"
             "  await refused(() => Task.run('double', 1, { queue: long })),\n"
             "  await refused(() => Task.run('double', 1, { key: odd })),\n"
             "  await refused(() => Task.run(odd, 1)),\n"
             "  await refused(() => Signal.next(odd)),\n"
             "  await refused(() => Event.wait('\\x01' + 'task 7')),\n"
             "  await refused(() => Event.emit(odd, 1)),\n"
             "  await refused(() => Workflow.start('main', 1, { tags: [odd] })),\n"
             "  await refused(() => Task.run('double', 1, { queue: 'straße /7' })),\n"
             "]",
             NULL,
             "[\"`queue` of `Task.run` has a control character at byte 1\","
             "\"`queue` of `Task.run` is missing or empty\","
             "\"`queue` of `Task.run` has 256 bytes; at most 255 are allowed\","
             "\"`key` of `Task.run` has a control character at byte 1\","
             "\"the task name has a control character at byte 1\","
             "\"the signal name has a control character at byte 1\","
             "\"the topic has a control character at byte 0\","
             "\"the topic has a control character at byte 1\","
             "\"`tags` of `Workflow.start` has a control character at byte 1\",null]");
}

static void options_that_do_not_exist_are_type_errors(void **state) {
    run_flow(*state,
             "const told = []\n"
             "const refused = start => {\n"
             "  try { start() } catch (e) { told.push([e.name, e.code, e.message]) }\n"
             "}\n"
             "const bad = { timout: '1s' }, no = { attempts: 0 }, high = 5000, end = 'cancle'\n"
             "refused(() => Signal.when('x', bad))\n"
             "refused(() => Event.wait('x', bad))\n"
             "refused(() => Task.run('double', 1, { retry: no }))\n"
             "refused(() => Workflow.run('main', 1, { ...bad }))\n"
             "refused(() => Workflow.start('main', 1, { priority: high }))\n"
             "refused(() => Workflow.start('main', 1, { parentClose: end }))\n"
             "return told",
             NULL,
             "[[\"TypeError\",\"BAD_OPTION\",\"`Signal.when` has no option `timout`. Did you mean "
             "`timeout`? The options are timeout\"],"
             "[\"TypeError\",\"BAD_OPTION\",\"`Event.wait` has no option `timout`. Did you mean "
             "`timeout`? The options are timeout, filter\"],"
             "[\"TypeError\",\"BAD_OPTION\",\"`retry.attempts` of `Task.run` takes a whole number "
             "from 1 … 1000000, not 0\"],"
             "[\"TypeError\",\"BAD_OPTION\",\"`Workflow.run` has no option `timout`. Did you mean "
             "`timeout`? The options are id, key, delay, startAt, timeout, priority, queue, tags, "
             "ttl, parentClose\"],"
             "[\"TypeError\",\"BAD_OPTION\",\"`priority` of `Workflow.start` takes a whole number "
             "from -1000 … 1000, not 5000\"],"
             "[\"TypeError\",\"BAD_OPTION\",\"`parentClose` of `Workflow.start` takes "
             "\\\"abandon\\\" or \\\"cancel\\\"\"]]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(handles_and_winners_carry_the_same_id),
        TEST(all_joins_tasks_timers_and_children),
        TEST(any_rejects_when_all_have_failed),
        TEST(all_fails_at_the_first_failure_without_waiting_for_the_rest),
        TEST(joining_a_hundred_tasks_takes_two_turns),
        TEST(a_join_in_a_race_is_counted_on_while_others_win),
        TEST(a_late_loser_is_not_delivered),
        TEST(fire_and_forget_causes_no_turn),
        TEST(the_timer_of_a_cancelled_run_is_gone),
        TEST(a_lost_timer_does_not_fire_into_the_next_wait),
        TEST(a_signal_that_comes_with_a_timer_is_not_lost),
        TEST(an_endless_loop_does_not_hold_up_a_hundred_others),
        TEST(a_run_that_has_ended_frees_its_thread),
        TEST(a_roll_back_brings_the_old_version_back_for_new_runs_only),
        TEST(a_missing_definition_pauses_the_run_and_is_not_tried_for_ever),
        TEST(a_damaged_definition_pauses_the_run_with_the_finding),
        TEST(missing_or_damaged_code_is_compiled_anew),
        TEST(persistence_failure_during_reload_leaves_the_run_intact),
        TEST(bad_input_is_refused_with_its_code_and_changes_nothing),
        TEST(a_signal_to_a_finished_run_is_refused_and_changes_nothing),
        TEST(a_filter_that_does_not_parse_names_its_column),
        TEST(an_unknown_task_waits_for_a_worker_and_times_out),
        TEST(names_of_scripts_follow_the_rule_of_all_names),
        TEST(options_that_do_not_exist_are_type_errors),
    };
    return cmocka_run_group_tests_name("api_flow_edges", tests, NULL, NULL);
}
