// Values that scripts set for readers outside: reading, listing, searching. Compiled once per
// store.
#include "unit/api/api.h"

static int setup_engine(void **state) {
    int code = setup(state);
    if (code == 0) put_to_work(*state);
    return code;
}

static void send(Fixture *fixture, const char *id, const char *name) {
    assert_int_equal(abide_signal(fixture->engine, id, name, NULL, NULL, NULL), ABIDE_OK);
}

#define assert_value(fixture, id, key, expected)                                                   \
    check_value((fixture), (id), (key), (expected), __FILE__, __LINE__)
static void check_value(Fixture *fixture, const char *id, const char *key, const char *expected,
                        const char *file, int line) {
    abide_error error = {0};
    char *json = NULL;
    int code = abide_state_get(fixture->engine, id, key, &json, &error);
    bool is_same = expected ? code == ABIDE_OK && strcmp(json, expected) == 0
                            : strcmp(error.name, "STATE_NOT_FOUND") == 0;
    if (!is_same) print_error("%s is %s (%s), not %s\n", key, json, error.name, expected);
    abide_free(json);
    if (!is_same) _fail(file, line);
}

static int count_run(void *user, const abide_run_info *run) {
    (void)run;
    ++*(int *)user;
    return 0;
}

static int find(Fixture *fixture, const char *key, const char *value) {
    abide_list_options options = {.state_key = key, .state_value = value};
    int count = 0;
    assert_int_equal(abide_list(fixture->engine, &options, count_run, &count, NULL, NULL),
                     ABIDE_OK);
    return count;
}

static const char phases[] = "State.set('phase', 'begun'); State.set('n', {a: [1]})\n"
                             "await Signal.next('one')\n"
                             "State.set('phase', 'half'); State.set('phase', 'later')\n"
                             "await Signal.next('two')\n"
                             "if (Inputs === 1) await Workflow.continueAs(2)\n"
                             "return State.get('phase')";

static void values_are_read_while_the_run_waits_and_after_its_end(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", phases);
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:one");
    assert_value(fixture, "r", "phase", "\"begun\"");
    assert_value(fixture, "r", "n", "{\"a\":[1]}");
    assert_value(fixture, "r", "none", NULL);
    send(fixture, "r", "one");
    wait_parked(fixture, "r", "signal:two");
    assert_value(fixture, "r", "phase", "\"later\"");
    send(fixture, "r", "two");
    expect_result(fixture, "r", ABIDE_OK, "\"later\"");
    assert_value(fixture, "r", "phase", "\"later\"");
    assert_int_equal(abide_purge(fixture->engine, "r", NULL), ABIDE_OK);
    assert_int_equal(find(fixture, "phase", "\"later\""), 0);
}

static int list_one(void *user, const char *key, const char *json) {
    char *text = user;
    size_t used = strlen(text);
    snprintf(text + used, 100 - used, "%s=%s;", key, json);
    return 0;
}

static void all_values_of_a_run_are_listed_by_key(void **state) {
    Fixture *fixture = *state;
    char text[100] = "";
    deploy(fixture, "main", phases);
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:one");
    assert_int_equal(abide_state_list(fixture->engine, "r", list_one, text, NULL), ABIDE_OK);
    assert_string_equal(text, "n={\"a\":[1]};phase=\"begun\";");
    abide_error error;
    assert_int_equal(abide_state_list(fixture->engine, "no", list_one, text, &error),
                     ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "RUN_NOT_FOUND");
}

static void runs_are_found_by_a_value(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", phases);
    start(fixture, "main", "r1", NULL);
    start(fixture, "main", "r2", NULL);
    wait_parked(fixture, "r1", "signal:one");
    wait_parked(fixture, "r2", "signal:one");
    assert_int_equal(find(fixture, "phase", "\"begun\""), 2);
    send(fixture, "r1", "one");
    wait_parked(fixture, "r1", "signal:two");
    assert_int_equal(find(fixture, "phase", "\"begun\""), 1);
    assert_int_equal(find(fixture, "phase", "\"later\""), 1);
    assert_int_equal(find(fixture, "phase", "later"), 0);
    abide_list_options half = {.state_key = "phase"};
    abide_error error;
    int count = 0;
    assert_int_equal(abide_list(fixture->engine, &half, count_run, &count, NULL, &error),
                     ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_OPTION");
}

static void continuing_clears_values_and_going_back_restores_them(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", phases);
    start(fixture, "main", "back", NULL);
    wait_parked(fixture, "back", "signal:one");
    send(fixture, "back", "one");
    wait_parked(fixture, "back", "signal:two");
    assert_int_equal(abide_pause(fixture->engine, "back", NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_rewind(fixture->engine, "back", "one", 0, NULL), ABIDE_OK);
    wait_parked(fixture, "back", "signal:one");
    assert_value(fixture, "back", "phase", "\"begun\"");

    start(fixture, "main", "on", "1");
    send(fixture, "on", "one");
    send(fixture, "on", "two");
    send(fixture, "on", "one");
    wait_parked(fixture, "on", "signal:two");
    assert_value(fixture, "on", "phase", "\"later\"");
}

static void too_large_or_too_many_values_throw(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const codes = []\n"
           "try { State.set('big', 'x'.repeat(20000)) } catch (e) { codes.push(e.code) }\n"
           "for (let i = 0; i < 100; i++) State.set('k' + i, i)\n"
           "State.set('k7', 'again')\n"
           "try { State.set('more', 1) } catch (e) { codes.push(e.code) }\n"
           "return codes");
    start(fixture, "main", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "[\"STATE_TOO_LARGE\",\"TOO_MANY_STATES\"]");
    assert_value(fixture, "r", "k7", "\"again\"");
    assert_value(fixture, "r", "big", NULL);
}

#define STATE_TEST(test) cmocka_unit_test_setup_teardown(test, setup_engine, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        STATE_TEST(values_are_read_while_the_run_waits_and_after_its_end),
        STATE_TEST(all_values_of_a_run_are_listed_by_key),
        STATE_TEST(runs_are_found_by_a_value),
        STATE_TEST(continuing_clears_values_and_going_back_restores_them),
        STATE_TEST(too_large_or_too_many_values_throw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
