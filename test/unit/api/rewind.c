// Setting scripts back to a step and forking them, through the C library. Compiled once per store.
#include "unit/api/api.h"
#include <stdatomic.h>

static atomic_int count_a, count_b;

// Both answer how often they were called.
static int task_a(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, abide_call_printf(call, "%d", atomic_fetch_add(&count_a, 1) + 1));
}

static int task_b(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, abide_call_printf(call, "%d", atomic_fetch_add(&count_b, 1) + 1));
}

static atomic_int is_repaired;

static int task_broken(abide_call *call, const char *input) {
    (void)input;
    if (!atomic_load(&is_repaired)) return abide_throw_final(call, "Broken", "not yet");
    return abide_return(call, "\"whole\"");
}

static void begin(Fixture *fixture) {
    assert_int_equal(abide_register_task(fixture->engine, "a", task_a, NULL, NULL), 0);
    assert_int_equal(abide_register_task(fixture->engine, "b", task_b, NULL, NULL), 0);
    assert_int_equal(abide_register_task(fixture->engine, "broken", task_broken, NULL, NULL), 0);
    put_to_work(fixture);
}

static int setup_tasks(void **state) {
    int code = setup(state);
    atomic_store(&count_a, 0);
    atomic_store(&count_b, 0);
    atomic_store(&is_repaired, 0);
    if (code == 0) begin(*state);
    return code;
}

static void rewind_to(Fixture *fixture, const char *step, int iteration) {
    abide_error error;
    int code = abide_rewind(fixture->engine, "r", step, iteration, &error);
    if (code != ABIDE_OK) fail_msg("rewind: %s: %s", error.name, error.message);
}

static void go(Fixture *fixture, const char *id) {
    assert_int_equal(abide_signal(fixture->engine, id, "go", "\"went\"", NULL, NULL), ABIDE_OK);
}

static const char steps[] = "const seen = []\n"
                            "seen.push(await Task.run('a'))\n"
                            "seen.push(await Task.run('b'))\n"
                            "seen.push(await Signal.next('go'))\n"
                            "return seen";

static void a_script_goes_on_from_a_step_with_the_values_it_had(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", steps);
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    rewind_to(fixture, "b", 0);
    wait_parked(fixture, "r", "signal:go");
    while (atomic_load(&count_b) < 2) usleep(1000);
    wait_parked(fixture, "r", "signal:go");
    go(fixture, "r");
    expect_result(fixture, "r", ABIDE_OK, "[1,2,\"went\"]");
    assert_int_equal(atomic_load(&count_a), 1);
}

static void a_script_goes_back_to_its_beginning(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", steps);
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    rewind_to(fixture, "a", 0);
    while (atomic_load(&count_b) < 2) usleep(1000);
    wait_parked(fixture, "r", "signal:go");
    go(fixture, "r");
    expect_result(fixture, "r", ABIDE_OK, "[2,2,\"went\"]");
}

static void a_wait_is_a_step_too_also_after_a_restart(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const first = await Signal.next('go')\n"
           "const n = await Task.run('a')\n"
           "await Signal.next('end')\n"
           "return [first, n]");
    start(fixture, "main", "r", NULL);
    go(fixture, "r");
    wait_parked(fixture, "r", "signal:end");
    if (!test_backend_is("memory")) {
        abide_close(fixture->engine);
        fixture_open(fixture);
        begin(fixture);
    }
    rewind_to(fixture, "end", 0);
    wait_parked(fixture, "r", "signal:end");
    assert_int_equal(atomic_load(&count_a), 1);
    rewind_to(fixture, "a", 0);
    while (atomic_load(&count_a) < 2) usleep(1000);
    wait_parked(fixture, "r", "signal:end");
    assert_int_equal(abide_signal(fixture->engine, "r", "end", NULL, NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[\"went\",2]");
}

static void without_an_iteration_the_last_one_is_meant(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const seen = []\n"
           "for (let i = 0; i < 3; i++) seen.push(await Task.run('a'))\n"
           "await Signal.next('go')\n"
           "return seen");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    rewind_to(fixture, "a", ABIDE_LAST_ITERATION);
    while (atomic_load(&count_a) < 4) usleep(1000);
    wait_parked(fixture, "r", "signal:go");
    assert_int_equal(
        abide_fork(fixture->engine, "r", "a", ABIDE_LAST_ITERATION, "copy", NULL, NULL), ABIDE_OK);
    while (atomic_load(&count_a) < 5) usleep(1000);
    wait_parked(fixture, "copy", "signal:go");
    go(fixture, "r");
    go(fixture, "copy");
    expect_result(fixture, "r", ABIDE_OK, "[1,2,4]");
    expect_result(fixture, "copy", ABIDE_OK, "[1,2,5]");
}

static void check_step(Fixture *fixture, const char *name, int iteration, int code,
                       const char *json) {
    char *text = NULL;
    abide_error error;
    assert_int_equal(abide_read_step(fixture->engine, "r", name, iteration, &text, &error), code);
    if (json == NULL) assert_null(text);
    else assert_string_equal(text, json);
    abide_free(text);
}

static void steps_are_read_by_name_and_iteration(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "for (let i = 0; i < 2; i++) await Task.run('a')\n"
           "await Signal.next('go')\n"
           "const late = Task.run('never', null, { queue: 'nobody' })\n"
           "await Signal.next('end')\n"
           "return late");
    start(fixture, "main", "r", NULL);
    go(fixture, "r");
    wait_parked(fixture, "r", "signal:end");
    check_step(fixture, "a", 0, ABIDE_OK, "1");
    check_step(fixture, "a", 1, ABIDE_OK, "2");
    check_step(fixture, "a", ABIDE_LAST_ITERATION, ABIDE_OK, "2");
    check_step(fixture, "go", ABIDE_LAST_ITERATION, ABIDE_OK, "\"went\"");
    check_step(fixture, "never", 0, ABIDE_PENDING, NULL);
    check_step(fixture, "a", 2, ABIDE_NOT_FOUND, NULL);
    check_step(fixture, "a", -2, ABIDE_INVALID, NULL);
}

static void an_ended_script_is_forked_from_a_step(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const n = await Task.run('a')\n"
           "const answer = await Signal.next('go')\n"
           "if (answer !== 'went') throw new Error('refused')\n"
           "return [n, answer]");
    start(fixture, "main", "r", NULL);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "\"no\"", NULL, NULL), ABIDE_OK);
    char *result = NULL;
    assert_int_equal(abide_result(fixture->engine, "r", "120s", &result, NULL), ABIDE_FAILED);
    abide_free(result);
    assert_int_equal(abide_fork(fixture->engine, "r", "go", 0, "copy", NULL, NULL), ABIDE_OK);
    wait_parked(fixture, "copy", "signal:go");
    go(fixture, "copy");
    expect_result(fixture, "copy", ABIDE_OK, "[1,\"went\"]");
    assert_int_equal(atomic_load(&count_a), 1);
}

static void a_script_that_keeps_no_snapshots_only_starts_over(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    deploy(fixture, "main",
           "export const config = { keepSnapshots: 0 }\n"
           "const n = await Task.run('a')\n"
           "await Signal.next('go')\n"
           "return n");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    assert_int_equal(abide_rewind(fixture->engine, "r", "go", 0, &error), ABIDE_CONFLICT);
    assert_string_equal(error.name, "SNAPSHOT_NOT_KEPT");
    assert_int_equal(abide_rewind(fixture->engine, "r", "none", 0, &error), ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "STEP_NOT_FOUND");
    wait_parked(fixture, "r", "signal:go");
    rewind_to(fixture, "a", 0);
    while (atomic_load(&count_a) < 2) usleep(1000);
    go(fixture, "r");
    expect_result(fixture, "r", ABIDE_OK, "2");
}

static void a_bad_number_of_snapshots_is_refused(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    const char *source = "export const config = { keepSnapshots: 5000 }\nreturn 1";
    assert_int_equal(abide_deploy(fixture->engine, "x.flow", source, NULL, NULL, &error),
                     ABIDE_INVALID);
    assert_string_equal(error.name, "FLOW_CONFIG");
    abide_options options = {.keep_snapshots = -2};
    abide_engine *engine = NULL;
    assert_int_equal(abide_open("memory:", &options, &engine, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_OPTION");
}

static const char broken[] = "const seen = [await Task.run('a')]\n"
                             "seen.push(await Task.run('broken'))\n"
                             "return seen";

static void a_failed_script_is_taken_up_and_its_failed_task_done_again(void **state) {
    Fixture *fixture = *state;
    char id[ABIDE_RUN_ID_SIZE];
    abide_error error;
    deploy(fixture, "main", broken);
    start(fixture, "main", "r", NULL);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_FAILED);
    atomic_store(&is_repaired, 1);
    assert_int_equal(abide_retry_run(fixture->engine, "r", NULL, id, NULL), ABIDE_OK);
    assert_string_equal(id, "r~2");
    expect_result(fixture, "r~2", ABIDE_OK, "[1,\"whole\"]");
    assert_int_equal(atomic_load(&count_a), 1);
    assert_int_equal(abide_retry_run(fixture->engine, "r", NULL, id, NULL), ABIDE_OK); // the same
    assert_int_equal(abide_retry_run(fixture->engine, "r~2", NULL, id, &error), ABIDE_CONFLICT);
    assert_string_equal(error.name, "RUN_NOT_FAILED");
    assert_int_equal(abide_retry_run(fixture->engine, "none", NULL, id, &error), ABIDE_NOT_FOUND);
    assert_int_equal(state_of(fixture, "r"), ABIDE_RUN_FAILED);
}

static const char waiting[] = "const price = 40\n"
                              "const seen = [await Signal.when('go')]\n"
                              "return [price, ...seen]";
static const char repaired[] = "const price = 40\n"
                               "const seen = [await Signal.when('go')]\n"
                               "const last = await Task.run('a')\n"
                               "return [price * 2, ...seen, last]";

static void a_waiting_script_goes_on_in_the_repaired_version(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    int is_changed = 1;
    deploy(fixture, "main", waiting);
    start(fixture, "main", "r", NULL);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_SUSPENDED);
    assert_int_equal(abide_move(fixture->engine, "r", NULL, 0, &is_changed, NULL), ABIDE_OK);
    assert_int_equal(is_changed, 0);
    deploy(fixture, "main", repaired);
    assert_int_equal(abide_move(fixture->engine, "r", NULL, ABIDE_DRY_RUN, &is_changed, NULL),
                     ABIDE_OK);
    assert_int_equal(is_changed, 0);
    assert_int_equal(abide_move(fixture->engine, "r", NULL, 0, &is_changed, NULL), ABIDE_OK);
    assert_int_equal(is_changed, 1);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_SUSPENDED);
    go(fixture, "r");
    expect_result(fixture, "r", ABIDE_OK, "[80,\"went\",1]");
    assert_int_equal(abide_move(fixture->engine, "r", NULL, 0, NULL, &error), ABIDE_CONFLICT);
    assert_string_equal(error.name, "RUN_NOT_PARKED");
    assert_int_equal(abide_move(fixture->engine, "none", NULL, 0, NULL, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_move(fixture->engine, "r", NULL, 2, NULL, &error), ABIDE_INVALID);
}

static void what_cannot_move_is_refused_and_stays(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    deploy(fixture, "main", waiting);
    start(fixture, "main", "r", NULL);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_SUSPENDED);
    deploy(fixture, "main", "return await Signal.when('other')");
    assert_int_equal(abide_move(fixture->engine, "r", NULL, 0, NULL, &error), ABIDE_CONFLICT);
    assert_string_equal(error.name, "MOVE_REFUSED");
    assert_non_null(strstr(error.message, "line 2"));
    go(fixture, "r");
    expect_result(fixture, "r", ABIDE_OK, "[40,\"went\"]");
}

static void variables_of_a_waiting_script_are_set(void **state) {
    Fixture *fixture = *state;
    abide_engine *engine = fixture->engine;
    abide_error error;
    char *json = NULL;
    const char *values = "[{\"path\":\"price\",\"value\":[41]},{\"path\":\"o.a\",\"value\":1}]";
    deploy(fixture, "main",
           "let price = 40; const o = {}\nconst x = await Signal.when('go')\n"
           "return [price, o, x]");
    start(fixture, "main", "r", NULL);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_SUSPENDED);
    assert_int_equal(abide_set_variables(engine, "r", values, ABIDE_DRY_RUN, &json, NULL),
                     ABIDE_OK);
    assert_string_equal(json, "{\"changed\":false,\"values\":[{\"path\":\"price\",\"old\":\"40\","
                              "\"new\":\"[41]\"},{\"path\":\"o.a\",\"old\":null,\"new\":\"1\"}]}");
    abide_free(json);
    assert_int_equal(abide_set_variables(engine, "r", values, 0, NULL, NULL), ABIDE_OK);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_SUSPENDED);
    values = "[{\"path\":\"price\",\"value\":0},{\"path\":\"o\",\"value\":1}]";
    assert_int_equal(abide_set_variables(engine, "r", values, 0, &json, &error), ABIDE_CONFLICT);
    assert_string_equal(error.name, "SET_REFUSED");
    assert_null(json);
    go(fixture, "r");
    expect_result(fixture, "r", ABIDE_OK, "[[41],{\"a\":1},\"went\"]");
    assert_int_equal(abide_set_variables(engine, "r", values, 0, NULL, &error), ABIDE_CONFLICT);
    assert_string_equal(error.name, "RUN_NOT_PARKED");
    assert_int_equal(abide_set_variables(engine, "none", values, 0, NULL, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_set_variables(engine, "r", "[]", 0, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_set_variables(engine, "r", values, 2, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_set_variables(engine, "r", NULL, 0, NULL, &error), ABIDE_INVALID);
}

static const char all_of[] =
    "const [a, b] = await Promise.all([Task.run('a'), Task.run('broken')])\n"
    "return [a, b]";

static void what_had_ended_well_beside_the_failure_is_not_done_again(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", all_of);
    start(fixture, "main", "r", NULL);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_FAILED);
    atomic_store(&is_repaired, 1);
    assert_int_equal(abide_retry_run(fixture->engine, "r", "again", NULL, NULL), ABIDE_OK);
    WAIT_UNTIL(state_of(fixture, "again") == ABIDE_RUN_COMPLETED);
    assert_true(atomic_load(&count_a) <= 2); // it may not have been done when the other failed
}

#define REWIND_TEST(test) cmocka_unit_test_setup_teardown(test, setup_tasks, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        REWIND_TEST(a_script_goes_on_from_a_step_with_the_values_it_had),
        REWIND_TEST(a_script_goes_back_to_its_beginning),
        REWIND_TEST(a_wait_is_a_step_too_also_after_a_restart),
        REWIND_TEST(without_an_iteration_the_last_one_is_meant),
        REWIND_TEST(steps_are_read_by_name_and_iteration),
        REWIND_TEST(an_ended_script_is_forked_from_a_step),
        REWIND_TEST(a_failed_script_is_taken_up_and_its_failed_task_done_again),
        REWIND_TEST(a_waiting_script_goes_on_in_the_repaired_version),
        REWIND_TEST(what_cannot_move_is_refused_and_stays),
        REWIND_TEST(variables_of_a_waiting_script_are_set),
        REWIND_TEST(what_had_ended_well_beside_the_failure_is_not_done_again),
        REWIND_TEST(a_script_that_keeps_no_snapshots_only_starts_over),
        REWIND_TEST(a_bad_number_of_snapshots_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
