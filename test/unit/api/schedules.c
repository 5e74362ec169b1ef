// Schedules through the C library, on the real clock: nothing here waits longer than it takes.
// Compiled once per store.
#include "base/array.h"
#include "unit/api/api.h"
#include <stdatomic.h>
#include <time.h>

static int report(abide_ctx *ctx, const char *input) {
    return abide_complete(ctx, input != NULL ? input : "\"nothing\"");
}

static int wait_for_ever(abide_ctx *ctx, const char *input) {
    (void)input;
    return abide_await_signal(ctx, "go", NULL, NULL);
}

static Fixture *begin(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "report", report, NULL);
    add_workflow(fixture, "patient", wait_for_ever, NULL);
    put_to_work(fixture);
    return fixture;
}

static void set(Fixture *fixture, const char *name, const abide_schedule *schedule) {
    abide_error error;
    int code = abide_schedule_set(fixture->engine, name, schedule, &error);
    if (code != ABIDE_OK) fail_msg("set: %s: %s", error.name, error.message);
}

static abide_schedule_info get(Fixture *fixture, const char *name) {
    abide_schedule_info info;
    abide_error error;
    int code = abide_schedule_get(fixture->engine, name, &info, &error);
    if (code != ABIDE_OK) fail_msg("get: %s: %s", error.name, error.message);
    return info;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void a_single_time_starts_its_run(void **state) {
    Fixture *fixture = begin(state);
    abide_schedule schedule = {.workflow = "report", .input = "[1,2]", .at_ms = now_ms() + 2000};
    set(fixture, "soon", &schedule);
    WAIT_UNTIL(get(fixture, "soon").started_count > 0);
    abide_schedule_info info = get(fixture, "soon");
    assert_int_equal(info.started_count, 1);
    assert_int_equal(info.next_at_ms, 0);
    assert_string_equal(info.kind, "once");
    expect_result(fixture, info.last_run_id, ABIDE_OK, "[1,2]");
    assert_int_equal(strncmp(info.last_run_id, "sched:soon:", 11), 0);
}

static atomic_int started_count;

static void count_started(void *user, const abide_event *event) {
    (void)user;
    bool is_it = event->kind == ABIDE_EVENT_STARTED && strcmp(event->workflow, "report") == 0 &&
                 strncmp(event->run_id, "sched:", 6) == 0;
    if (is_it) atomic_fetch_add(&started_count, 1);
}

static void every_run_of_a_schedule_announces_its_start(void **state) {
    Fixture *fixture = *state;
    abide_close(fixture->engine);
    atomic_store(&started_count, 0);
    fixture->options.on_event = count_started;
    fixture_open(fixture);
    begin(state);
    set(fixture, "soon", &(abide_schedule){.workflow = "report", .at_ms = now_ms() + 2000});
    WAIT_UNTIL(get(fixture, "soon").started_count > 0);
    expect_result(fixture, get(fixture, "soon").last_run_id, ABIDE_OK, "\"nothing\"");
    WAIT_UNTIL(atomic_load(&started_count) > 0);
    assert_int_equal(atomic_load(&started_count), 1); // by its tick
    char id[ABIDE_RUN_ID_SIZE];
    assert_int_equal(abide_schedule_trigger(fixture->engine, "soon", NULL, id, NULL), ABIDE_OK);
    expect_result(fixture, id, ABIDE_OK, "\"nothing\"");
    WAIT_UNTIL(atomic_load(&started_count) > 1);
    assert_int_equal(atomic_load(&started_count), 2); // by hand
}

static void a_trigger_starts_a_run_now(void **state) {
    Fixture *fixture = begin(state);
    set(fixture, "nightly",
        &(abide_schedule){.workflow = "report", .cron = "0 3 * * *", .timezone = "Europe/Berlin"});
    char id[ABIDE_RUN_ID_SIZE];
    assert_int_equal(abide_schedule_trigger(fixture->engine, "nightly", NULL, id, NULL), ABIDE_OK);
    expect_result(fixture, id, ABIDE_OK, "\"nothing\"");
    assert_int_equal(abide_schedule_trigger(fixture->engine, "nightly", "mine", id, NULL),
                     ABIDE_OK);
    assert_string_equal(id, "mine");
    expect_result(fixture, "mine", ABIDE_OK, "\"nothing\"");
}

static void a_deployed_script_can_be_scheduled(void **state) {
    Fixture *fixture = begin(state);
    abide_error error;
    const char *source = "return [Inputs.who, 'done']\n";
    int code = abide_deploy(fixture->engine, "script.flow", source, NULL, NULL, &error);
    if (code != ABIDE_OK) fail_msg("deploy: %s", error.message);
    set(fixture, "s",
        &(abide_schedule){.workflow = "script", .input = "{\"who\":\"Ada\"}", .every = "1h"});
    char id[ABIDE_RUN_ID_SIZE];
    assert_int_equal(abide_schedule_trigger(fixture->engine, "s", NULL, id, NULL), ABIDE_OK);
    expect_result(fixture, id, ABIDE_OK, "[\"Ada\",\"done\"]");
}

static void a_backfill_repeated_starts_nothing(void **state) {
    Fixture *fixture = begin(state);
    set(fixture, "hourly", &(abide_schedule){.workflow = "report", .every = "1h"});
    int64_t hour = 3600 * 1000, to = now_ms() / hour * hour, from = to - 1499 * hour, count = 0;
    assert_int_equal(abide_schedule_backfill(fixture->engine, "hourly", from, to, &count, NULL),
                     ABIDE_OK);
    assert_int_equal(count, 1500); // more than one operation starts
    assert_int_equal(abide_schedule_backfill(fixture->engine, "hourly", from, to, &count, NULL),
                     ABIDE_OK);
    assert_int_equal(count, 0);
}

static void pausing_and_resuming_say_whether_they_changed_anything(void **state) {
    Fixture *fixture = begin(state);
    set(fixture, "s", &(abide_schedule){.workflow = "report", .every = "1h", .is_paused = 1});
    int changed = -1;
    assert_int_equal(get(fixture, "s").next_at_ms, 0);
    assert_int_equal(abide_schedule_pause(fixture->engine, "s", &changed, NULL), ABIDE_OK);
    assert_int_equal(changed, 0);
    assert_int_equal(abide_schedule_resume(fixture->engine, "s", &changed, NULL), ABIDE_OK);
    assert_int_equal(changed, 1);
    assert_true(get(fixture, "s").next_at_ms > now_ms());
    assert_int_equal(abide_schedule_remove(fixture->engine, "s", NULL), ABIDE_OK);
    abide_error error;
    assert_int_equal(abide_schedule_remove(fixture->engine, "s", &error), ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "SCHEDULE_NOT_FOUND");
}

static int collect(void *user, const abide_schedule_info *info) {
    char *names = user;
    snprintf(names + strlen(names), 100 - strlen(names), "%s ", info->name);
    return 0;
}

static int stop(void *user, const abide_schedule_info *info) {
    *(int64_t *)user = info->cursor;
    return 1;
}

static void listings_are_newest_first_and_can_be_taken_up_again(void **state) {
    Fixture *fixture = begin(state);
    const char *given[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        set(fixture, given[i], &(abide_schedule){.workflow = "report", .every = "1h"});
    char names[100] = "";
    int64_t cursor = 0;
    assert_int_equal(abide_schedule_list(fixture->engine, 0, collect, names, NULL), ABIDE_OK);
    assert_string_equal(names, "c b a ");
    assert_int_equal(abide_schedule_list(fixture->engine, 0, stop, &cursor, NULL), ABIDE_OK);
    names[0] = 0;
    assert_int_equal(abide_schedule_list(fixture->engine, cursor, collect, names, NULL), ABIDE_OK);
    assert_string_equal(names, "b a ");
}

static void what_was_set_is_shown(void **state) {
    Fixture *fixture = begin(state);
    set(fixture, "n",
        &(abide_schedule){.workflow = "patient",
                          .cron = "@daily",
                          .timezone = "Asia/Kolkata",
                          .overlap = ABIDE_OVERLAP_CANCEL_OLD});
    abide_schedule_info info = get(fixture, "n");
    assert_string_equal(info.name, "n");
    assert_string_equal(info.workflow, "patient");
    assert_string_equal(info.kind, "cron");
    assert_string_equal(info.spec, "@daily");
    assert_string_equal(info.timezone, "Asia/Kolkata");
    assert_int_equal(info.overlap, ABIDE_OVERLAP_CANCEL_OLD);
    assert_int_equal(info.next_at_ms % 86400000, 66600000); // 18:30 in UTC
    assert_string_equal(info.last_run_id, "");
}

static void a_preview_needs_no_engine(void **state) {
    (void)state;
    int64_t ticks[3];
    abide_schedule schedule = {.cron = "0 9 * * *", .timezone = "Europe/Berlin"};
    assert_int_equal(abide_schedule_preview(&schedule, 1774695600000, ticks, 3, NULL), 3);
    assert_int_equal(ticks[0], 1774767600000); // 2026-03-29 in summer time
    assert_int_equal(ticks[1] - ticks[0], 86400000);
    schedule = (abide_schedule){.at_ms = 5000};
    assert_int_equal(abide_schedule_preview(&schedule, 0, ticks, 3, NULL), 1);
    abide_error error;
    schedule = (abide_schedule){.cron = "0 25 * * *"};
    assert_int_equal(abide_schedule_preview(&schedule, 0, ticks, 3, &error), -1);
    assert_string_equal(error.name, "BAD_CRON");
}

static void bad_schedules_are_refused_with_a_name(void **state) {
    Fixture *fixture = begin(state);
    const struct {
        abide_schedule schedule;
        int code;
        const char *name;
    } cases[] = {
        {{.workflow = "report"}, ABIDE_INVALID, "BAD_SCHEDULE"},
        {{.workflow = "report", .cron = "@daily", .every = "1h"}, ABIDE_INVALID, "BAD_SCHEDULE"},
        {{.workflow = "report", .at_ms = -1}, ABIDE_INVALID, "BAD_TIME"},
        {{.workflow = "report", .at_ms = 1}, ABIDE_INVALID, "BAD_SCHEDULE"},
        {{.workflow = "report", .cron = "0 0 30 2 *"}, ABIDE_INVALID, "BAD_CRON"},
        {{.workflow = "report", .cron = "@daily", .timezone = "../x"},
         ABIDE_INVALID,
         "BAD_TIMEZONE"},
        {{.workflow = "report", .every = "now"}, ABIDE_INVALID, "BAD_DURATION"},
        {{.workflow = "report", .every = "1h", .jitter = "x"}, ABIDE_INVALID, "BAD_DURATION"},
        {{.workflow = "report", .every = "1h", .overlap = 7}, ABIDE_INVALID, "BAD_OPTION"},
        {{.workflow = "report", .every = "1h", .input = "{"}, ABIDE_INVALID, "BAD_JSON"},
        {{.workflow = "none", .every = "1h"}, ABIDE_NOT_FOUND, "WORKFLOW_NOT_FOUND"},
        {{.every = "1h"}, ABIDE_INVALID, "BAD_NAME"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        abide_error error;
        int code = abide_schedule_set(fixture->engine, "s", &cases[i].schedule, &error);
        assert_int_equal(code, cases[i].code);
        assert_string_equal(error.name, cases[i].name);
        assert_int_equal(abide_schedule_trigger(fixture->engine, "s", NULL, NULL, NULL),
                         ABIDE_NOT_FOUND);
    }
    char longest[202];
    memset(longest, 'n', 201);
    longest[201] = 0;
    abide_schedule good = {.workflow = "report", .every = "1h"};
    assert_int_equal(abide_schedule_set(fixture->engine, longest, &good, NULL), ABIDE_INVALID);
    assert_int_equal(abide_schedule_set(fixture->engine, NULL, &good, NULL), ABIDE_INVALID);
    assert_int_equal(abide_schedule_set(NULL, "s", &good, NULL), ABIDE_INVALID);
    assert_int_equal(abide_schedule_set(fixture->engine, "s", NULL, NULL), ABIDE_INVALID);
    assert_int_equal(abide_schedule_backfill(fixture->engine, "s", 5, 4, NULL, NULL),
                     ABIDE_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_single_time_starts_its_run, setup, teardown),
        cmocka_unit_test_setup_teardown(every_run_of_a_schedule_announces_its_start, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_trigger_starts_a_run_now, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deployed_script_can_be_scheduled, setup, teardown),
        cmocka_unit_test_setup_teardown(a_backfill_repeated_starts_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(pausing_and_resuming_say_whether_they_changed_anything,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(listings_are_newest_first_and_can_be_taken_up_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_set_is_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(a_preview_needs_no_engine, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_schedules_are_refused_with_a_name, setup, teardown),
    };
    return cmocka_run_group_tests_name("api schedules", tests, NULL, NULL);
}
