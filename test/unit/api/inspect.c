// Looking into scripts through the C library: where they stand, kept turns, differences, tries.
// Compiled once per store.
#include "unit/api/api.h"

static const char cart[] = "const cart = { items: [], total: 0 }\n"
                           "for (;;) {\n"
                           "  const price = await Signal.next('add')\n"
                           "  if (!price) return cart.total\n"
                           "  cart.items.push(price)\n"
                           "  cart.total += price\n"
                           "}\n";
static const char doubled[] = "const cart = { items: [], total: 0 }\n"
                              "for (;;) {\n"
                              "  const price = await Signal.next('add')\n"
                              "  if (!price) return cart.total * 2\n"
                              "  cart.items.push(price)\n"
                              "  cart.total += price\n"
                              "}\n";

// Answers a text that begins at a static buffer, for strstr.
static const char *turns_of(Fixture *fixture, int64_t after, int limit) {
    static char text[4096];
    char *json = NULL;
    abide_error error = {0};
    if (abide_turns(fixture->engine, "r", after, limit, &json, &error) != ABIDE_OK)
        fail_msg("turns: %s: %s", error.name, error.message);
    snprintf(text, sizeof text, "%s", json);
    abide_free(json);
    return text;
}

static void add(Fixture *fixture, const char *price, const char *turn) {
    assert_int_equal(abide_signal(fixture->engine, "r", "add", price, NULL, NULL), ABIDE_OK);
    WAIT_UNTIL(strstr(turns_of(fixture, 0, 0), turn) != NULL);
}

static int setup_cart(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    put_to_work(fixture);
    deploy(fixture, "cart", cart);
    start(fixture, "cart", "r", NULL);
    wait_parked(fixture, "r", "signal:add");
    add(fixture, "3", "\"turn\":1,");
    add(fixture, "9", "\"turn\":2,");
    return 0;
}

#define has_text(json, text)                                                                       \
    do {                                                                                           \
        if (strstr((json), (text)) == NULL) fail_msg("%s is not in %s", (text), (json));           \
    } while (0)

static void expect_snapshot(Fixture *fixture, abide_snapshot_options options, const char *text) {
    char *json = NULL;
    abide_error error = {0};
    if (abide_snapshot(fixture->engine, "r", &options, &json, &error) != ABIDE_OK)
        fail_msg("snapshot: %s: %s", error.name, error.message);
    has_text(json, text);
    abide_free(json);
}

static void a_snapshot_has_the_frames_and_the_values_that_are_asked_for(void **state) {
    Fixture *fixture = *state;
    expect_snapshot(fixture, (abide_snapshot_options){0}, "\"line\":3");
    expect_snapshot(fixture, (abide_snapshot_options){0}, "\"on\":\"signal\",\"name\":\"add\"");
    expect_snapshot(fixture, (abide_snapshot_options){.path = "cart.total"}, "\"text\":\"12\"");
    expect_snapshot(fixture, (abide_snapshot_options){.path = "cart.total", .turn = 1},
                    "\"text\":\"0\"");
    expect_snapshot(fixture, (abide_snapshot_options){.depth = 2}, "\"key\":\"items\"");
}

static void turns_come_in_pages(void **state) {
    Fixture *fixture = *state;
    const char *first = turns_of(fixture, 0, 1);
    has_text(first, "\"turn\":1,");
    has_text(first, "\"next\":\"1\"");
    const char *second = turns_of(fixture, 1, 1);
    has_text(second, "\"turn\":2,");
    has_text(second, "\"line\":3");
    has_text(turns_of(fixture, 2, 0), "\"items\":[],\"next\":null");
}

static void a_difference_is_between_two_turns_or_now(void **state) {
    Fixture *fixture = *state;
    char *json = NULL;
    assert_int_equal(abide_diff(fixture->engine, "r", 1, 2, &json, NULL), ABIDE_OK);
    has_text(json, "\"path\":\"cart.items[0]\"");
    has_text(json, "\"more\":false");
    abide_free(json);
    assert_int_equal(abide_diff(fixture->engine, "r", 2, 0, &json, NULL), ABIDE_OK);
    has_text(json, "\"path\":\"cart.items[1]\"");
    abide_free(json);
}

static void expect_try(Fixture *fixture, const char *answers, const char *text) {
    char *json = NULL;
    abide_error error = {0};
    if (abide_try(fixture->engine, "r", answers, &json, &error) != ABIDE_OK)
        fail_msg("try: %s: %s", error.name, error.message);
    has_text(json, text);
    abide_free(json);
}

static void a_try_begins_at_a_turn_and_in_a_version(void **state) {
    Fixture *fixture = *state;
    expect_try(fixture, "{\"signals\":[{\"name\":\"add\"}]}", "\"result\":12");
    expect_try(fixture, "{\"turn\":2,\"signals\":[{\"name\":\"add\"}]}", "\"result\":3");
    deploy(fixture, "cart", doubled);
    expect_try(fixture, "{\"signals\":[{\"name\":\"add\"}],\"version\":\"current\"}",
               "\"result\":24");
    expect_try(fixture, "{\"turn\":2,\"signals\":[{\"name\":\"add\"}],\"version\":\"current\"}",
               "\"result\":6");
    wait_parked(fixture, "r", "signal:add"); // and nothing has happened to the run
    assert_int_equal(abide_signal(fixture->engine, "r", "add", "null", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "12");
}

typedef struct Refusal {
    int (*ask)(abide_engine *engine, char **ret_json, abide_error *error);
    int code;
    const char *name;
} Refusal;

static int bad_depth(abide_engine *engine, char **ret_json, abide_error *error) {
    abide_snapshot_options options = {.depth = 17};
    return abide_snapshot(engine, "r", &options, ret_json, error);
}
static int bad_turn(abide_engine *engine, char **ret_json, abide_error *error) {
    return abide_diff(engine, "r", -1, 0, ret_json, error);
}
static int bad_limit(abide_engine *engine, char **ret_json, abide_error *error) {
    return abide_turns(engine, "r", 0, 101, ret_json, error);
}
static int no_turn(abide_engine *engine, char **ret_json, abide_error *error) {
    return abide_diff(engine, "r", 1, 9, ret_json, error);
}
static int no_variable(abide_engine *engine, char **ret_json, abide_error *error) {
    abide_snapshot_options options = {.path = "nobody"};
    return abide_snapshot(engine, "r", &options, ret_json, error);
}
static int no_run(abide_engine *engine, char **ret_json, abide_error *error) {
    return abide_snapshot(engine, "nobody", NULL, ret_json, error);
}
static int no_turns(abide_engine *engine, char **ret_json, abide_error *error) {
    return abide_turns(engine, "nobody", 0, 0, ret_json, error);
}
static int no_place(abide_engine *engine, char **ret_json, abide_error *error) {
    return abide_try(engine, "r", "{\"source\":\"return 1\"}", ret_json, error);
}
static int no_script(abide_engine *engine, char **ret_json, abide_error *error) {
    return abide_try(engine, "r", "{\"source\":\"return 1 +\"}", ret_json, error);
}

static void what_cannot_be_answered_is_refused_by_name(void **state) {
    Fixture *fixture = *state;
    static const Refusal refusals[] = {
        {bad_depth, ABIDE_INVALID, "BAD_OPTION"},
        {bad_turn, ABIDE_INVALID, "BAD_OPTION"},
        {bad_limit, ABIDE_INVALID, "BAD_OPTION"},
        {no_turn, ABIDE_NOT_FOUND, "TURN_NOT_KEPT"},
        {no_variable, ABIDE_NOT_FOUND, "VARIABLE_NOT_FOUND"},
        {no_run, ABIDE_NOT_FOUND, "RUN_NOT_FOUND"},
        {no_turns, ABIDE_NOT_FOUND, "RUN_NOT_FOUND"},
        {no_place, ABIDE_CONFLICT, "MOVE_REFUSED"},
        {no_script, ABIDE_INVALID, "FLOW_SYNTAX"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        abide_error error = {0};
        char *json = NULL;
        assert_int_equal(refusals[i].ask(fixture->engine, &json, &error), refusals[i].code);
        assert_string_equal(error.name, refusals[i].name);
        assert_null(json);
    }
}

#define CART_TEST(name) cmocka_unit_test_setup_teardown(name, setup_cart, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CART_TEST(a_snapshot_has_the_frames_and_the_values_that_are_asked_for),
        CART_TEST(turns_come_in_pages),
        CART_TEST(a_difference_is_between_two_turns_or_now),
        CART_TEST(a_try_begins_at_a_turn_and_in_a_version),
        CART_TEST(what_cannot_be_answered_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
