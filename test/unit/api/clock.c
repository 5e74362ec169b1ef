// Virtual time and settling, through the C library.
#include "unit/api/api.h"

enum { HOUR_MS = 3600000 };
static const int64_t begin_ms = 1800000000000;

static int setup_virtual(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    abide_close(fixture->engine);
    fixture->options.virtual_time_ms = begin_ms;
    fixture_open(fixture);
    put_to_work(fixture);
    return 0;
}

static int64_t settle(Fixture *fixture) {
    int64_t next_ms = -1;
    assert_int_equal(abide_settle(fixture->engine, &next_ms, NULL), ABIDE_OK);
    return next_ms;
}

static void timers_fire_when_the_clock_is_moved(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", "await Timer.delay('1h'); await Timer.delay('30d'); return Date.now()");
    start(fixture, "main", "r", NULL);
    assert_int_equal(settle(fixture), begin_ms + HOUR_MS);
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms + HOUR_MS - 1, NULL), ABIDE_OK);
    assert_int_equal(settle(fixture), begin_ms + HOUR_MS); // not early
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms + HOUR_MS, NULL), ABIDE_OK);
    int64_t end_ms = begin_ms + (int64_t)HOUR_MS * (1 + 30 * 24);
    assert_int_equal(settle(fixture), end_ms);
    assert_int_equal(abide_clock_set(fixture->engine, end_ms, NULL), ABIDE_OK);
    (void)settle(fixture);
    char expected[32];
    snprintf(expected, sizeof expected, "%lld", (long long)end_ms);
    expect_result(fixture, "r", ABIDE_OK, expected);
}

static void nothing_is_due_when_only_others_can_help(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", "return await Signal.next('go')");
    start(fixture, "main", "r", NULL);
    assert_int_equal(settle(fixture), 0);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "1", NULL, NULL), ABIDE_OK);
    (void)settle(fixture);
    assert_int_equal(state_of(fixture, "r"), ABIDE_RUN_COMPLETED);
}

static int slow(abide_call *call, const char *input) {
    (void)input;
    usleep(20000);
    return abide_return(call, "1");
}

static void settling_waits_for_what_executes(void **state) {
    Fixture *fixture = *state;
    assert_int_equal(abide_register_task(fixture->engine, "slow", slow, NULL, NULL), ABIDE_OK);
    deploy(fixture, "main", "for (let i = 0; i < 3; i++) await Task.run('slow')");
    start(fixture, "main", "r", NULL);
    (void)settle(fixture);
    assert_int_equal(state_of(fixture, "r"), ABIDE_RUN_COMPLETED);
}

static void leases_that_ended_well_are_not_due(void **state) {
    Fixture *fixture = *state;
    assert_int_equal(abide_register_task(fixture->engine, "slow", slow, NULL, NULL), ABIDE_OK);
    deploy(fixture, "main", "await Task.run('slow'); await Signal.next('go')");
    start(fixture, "main", "r", NULL);
    assert_int_equal(settle(fixture), 0);
}

static void the_clock_does_not_go_back(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms - 1, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_TIME");
}

static void the_real_clock_cannot_be_moved(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    put_to_work(fixture);
    assert_int_equal(settle(fixture), 0);
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms, &error), ABIDE_CONFLICT);
    assert_string_equal(error.name, "CLOCK_REAL");
}

static void settling_after_shutdown_answers_at_once(void **state) {
    Fixture *fixture = *state;
    assert_int_equal(abide_shutdown(fixture->engine, NULL, NULL), ABIDE_OK);
    assert_int_equal(settle(fixture), 0);
}

// ---- registering ----

static int closed[4];
static int closed_count;
static void note_closed(void *user) { closed[closed_count++] = *(int *)user; }

static void what_was_registered_last_is_closed_first(void **state) {
    (void)state;
    static int numbers[] = {1, 2, 3};
    abide_engine *engine;
    assert_int_equal(abide_open("memory:", NULL, &engine, NULL), ABIDE_OK);
    closed_count = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(abide_on_close(engine, note_closed, &numbers[i], NULL), ABIDE_OK);
    assert_int_equal(closed_count, 0);
    abide_close(engine);
    assert_int_equal(closed_count, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(closed[i], 3 - i);
}

static int other(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, "\"other\"");
}

static void a_task_can_be_replaced(void **state) {
    Fixture *fixture = *state;
    abide_engine *engine = fixture->engine;
    assert_int_equal(abide_register_task(engine, "t", slow, NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_register_task(engine, "t", other, NULL, NULL), ABIDE_CONFLICT);
    assert_int_equal(abide_replace_task(engine, "t", other, NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_replace_task(engine, "u", other, NULL, NULL), ABIDE_OK);
    deploy(fixture, "main", "return [await Task.run('t'), await Task.run('u')]");
    start(fixture, "main", "r", NULL);
    (void)settle(fixture);
    expect_result(fixture, "r", ABIDE_OK, "[\"other\",\"other\"]");
}

static int with_details(abide_call *call, const char *input) {
    return abide_throw_with(call, "Odd", "no", input, 1);
}

static void errors_have_details(void **state) {
    Fixture *fixture = *state;
    assert_int_equal(abide_register_task(fixture->engine, "d", with_details, NULL, NULL), ABIDE_OK);
    deploy(fixture, "main",
           "const seen = []\n"
           "for (const details of [{status: 9, type: 'x', message: 'y'}, [1], null])\n"
           "  await Task.run('d', details).catch(e => seen.push({...e.cause}))\n"
           "return seen");
    start(fixture, "main", "r", NULL);
    (void)settle(fixture);
    expect_result(fixture, "r", ABIDE_OK,
                  "[{\"type\":\"Odd\",\"status\":9},{\"type\":\"Odd\"},{\"type\":\"Odd\"}]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define VIRTUAL(name) cmocka_unit_test_setup_teardown(name, setup_virtual, teardown)
        VIRTUAL(timers_fire_when_the_clock_is_moved),
        VIRTUAL(nothing_is_due_when_only_others_can_help),
        VIRTUAL(settling_waits_for_what_executes),
        VIRTUAL(leases_that_ended_well_are_not_due),
        VIRTUAL(the_clock_does_not_go_back),
        cmocka_unit_test_setup_teardown(the_real_clock_cannot_be_moved, setup, teardown),
        VIRTUAL(settling_after_shutdown_answers_at_once),
        cmocka_unit_test(what_was_registered_last_is_closed_first),
        VIRTUAL(a_task_can_be_replaced),
        VIRTUAL(errors_have_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
