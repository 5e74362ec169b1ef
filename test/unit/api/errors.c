// Bad input to the C library: a clear error with a stable code, and nothing has changed (P10).
#include "base/array.h"
#include "unit/api/api.h"
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static int nothing(abide_ctx *ctx, const char *input) {
    (void)input;
    return abide_complete(ctx, NULL);
}

static int64_t started(Fixture *fixture) {
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    return stats.started_total;
}

static void expect_refused(Fixture *fixture, const char *workflow, const char *input,
                           const abide_start_options *options, const char *name) {
    abide_error error = {0};
    int code = abide_start(fixture->engine, workflow, input, options, NULL, &error);
    if (code == ABIDE_OK || strcmp(error.name, name) != 0 || error.message[0] == 0)
        fail_msg("%d %s %s instead of %s", code, error.name, error.message, name);
    assert_int_equal(error.code, code);
}

static void bad_starts_are_refused_by_name_and_start_nothing(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "nothing", nothing, NULL);
    char long_name[400];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    const char *deep = "[[[[[[";
    const char *many_tags[17];
    for (int i = 0; i < 17; i++) many_tags[i] = "t";
    expect_refused(fixture, "unknown", NULL, NULL, "WORKFLOW_NOT_FOUND");
    expect_refused(fixture, NULL, NULL, NULL, "BAD_NAME");
    expect_refused(fixture, "", NULL, NULL, "BAD_NAME");
    expect_refused(fixture, "nothing", "", NULL, "BAD_JSON");
    expect_refused(fixture, "nothing", "{\"a\":}", NULL, "BAD_JSON");
    expect_refused(fixture, "nothing", deep, NULL, "BAD_JSON");
    expect_refused(fixture, "nothing", "\"\xff\"", NULL, "BAD_JSON");
    expect_refused(fixture, "nothing", "1 2", NULL, "BAD_JSON");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.id = ""}, "BAD_ID");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.id = long_name}, "BAD_ID");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.id = "a\nb"}, "BAD_ID");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.id = "\xc3"}, "BAD_ID");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.key = long_name}, "BAD_KEY");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.delay = "-1s"},
                   "BAD_DURATION");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.delay = "soon"},
                   "BAD_DURATION");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.timeout = "1000y"},
                   "BAD_DURATION");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.start_at_ms = -5}, "BAD_TIME");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.priority = 5000},
                   "BAD_OPTION");
    expect_refused(fixture, "nothing", NULL,
                   &(abide_start_options){.tags = many_tags, .tag_count = 17}, "BAD_TAG");
    expect_refused(fixture, "nothing", NULL, &(abide_start_options){.leftover_signals = 9},
                   "BAD_OPTION");
    assert_int_equal(started(fixture), 0);
}

static void an_oversized_payload_is_refused(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "nothing", nothing, NULL);
    size_t size = (4u << 20) + 3;
    char *big = malloc(size + 1);
    memset(big, 'x', size);
    big[0] = big[size - 1] = '"';
    big[size] = 0;
    expect_refused(fixture, "nothing", big, NULL, "PAYLOAD_TOO_LARGE");
    assert_int_equal(started(fixture), 0);
    free(big);
}

static void calls_on_runs_that_do_not_exist_say_so(void **state) {
    Fixture *fixture = *state;
    abide_engine *engine = fixture->engine;
    abide_error error;
    abide_run_info info;
    char *json;
    assert_int_equal(abide_status(engine, "none", &info, &error), ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "RUN_NOT_FOUND");
    assert_int_equal(abide_result(engine, "none", NULL, &json, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_signal(engine, "none", "go", NULL, NULL, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_cancel(engine, "none", NULL, NULL, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_pause(engine, "none", NULL, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_resume(engine, "none", NULL, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_rewind(engine, "none", "s", 0, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_fork(engine, "none", "s", 0, NULL, NULL, &error), ABIDE_NOT_FOUND);
    assert_int_equal(abide_purge(engine, "none", &error), ABIDE_NOT_FOUND);
}

static void an_ended_run_refuses_changes(void **state) { // P8
    Fixture *fixture = *state;
    add_workflow(fixture, "nothing", nothing, NULL);
    put_to_work(fixture);
    start(fixture, "nothing", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, NULL);
    abide_engine *engine = fixture->engine;
    abide_error error;
    int changed = 1;
    assert_int_equal(abide_signal(engine, "r", "go", NULL, NULL, &error), ABIDE_TERMINAL);
    assert_string_equal(error.name, "RUN_TERMINAL");
    assert_int_equal(abide_cancel(engine, "r", NULL, &changed, &error), ABIDE_OK);
    assert_int_equal(changed, 0);
    assert_int_equal(abide_pause(engine, "r", NULL, &error), ABIDE_TERMINAL);
    assert_int_equal(abide_rewind(engine, "r", "s", 0, &error), ABIDE_TERMINAL);
    assert_int_equal(state_of(fixture, "r"), ABIDE_RUN_COMPLETED);
    assert_int_equal(abide_purge(engine, "r", &error), ABIDE_OK);
    abide_run_info info;
    assert_int_equal(abide_status(engine, "r", &info, &error), ABIDE_NOT_FOUND);
}

static void null_arguments_are_refused_and_not_followed(void **state) {
    Fixture *fixture = *state;
    abide_engine *engine = fixture->engine;
    abide_error error;
    assert_int_equal(abide_open(NULL, NULL, &engine, &error), ABIDE_INVALID);
    engine = fixture->engine;
    assert_int_equal(abide_open("memory:", NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_register_workflow(engine, "x", NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_register_workflow(NULL, "x", nothing, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_start(NULL, "x", NULL, NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_emit(engine, NULL, NULL, NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_signal(engine, NULL, "n", NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_status(engine, NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_result(engine, "r", NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_list(engine, NULL, NULL, NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_set_topic(engine, "t", NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_get_stats(engine, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_recover(NULL, NULL, &error), ABIDE_INVALID);
    abide_close(NULL);
}

static void bad_options_are_refused_at_open(void **state) {
    (void)state;
    abide_engine *engine;
    abide_error error;
    abide_options bad[] = {
        {.threads = -1},          {.threads = 100000},          {.lease = "never"},
        {.run_retention = "x"},   {.max_resident_runs = -2},    {.cancel_grace = "-1s"},
        {.event_retention = "?"}, {.store_retry_delay = "1 x"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(abide_open("memory:", &bad[i], &engine, &error), ABIDE_INVALID);
        assert_true(error.message[0] != 0);
    }
    assert_int_equal(abide_open("mysql://x", NULL, &engine, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "STORE_URL");
}

static void what_would_have_no_effect_is_refused(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    add_workflow(fixture, "w", nothing, NULL);
    abide_start_options both = {.delay = "5s", .start_at_ms = 4000000000000};
    assert_int_equal(abide_start(fixture->engine, "w", NULL, &both, NULL, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_OPTION");
    abide_schedule zone = {.workflow = "w", .every = "1h", .timezone = "Europe/Berlin"};
    assert_int_equal(abide_schedule_set(fixture->engine, "s", &zone, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_SCHEDULE");
}

// The sentence that test/e2e/server/test_server.py expects of HTTP and of scripts.
static void a_bad_value_has_one_code_and_one_sentence(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    add_workflow(fixture, "w", nothing, NULL);
    abide_start_options start = {.priority = 5000};
    assert_int_equal(abide_start(fixture->engine, "w", NULL, &start, NULL, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_OPTION");
    assert_string_equal(error.message, "priority takes a whole number from -1000 … 1000, not 5000");
    abide_schedule schedule = {.workflow = "w", .every = "1h", .priority = 5000};
    abide_error other;
    assert_int_equal(abide_schedule_set(fixture->engine, "s", &schedule, &other), ABIDE_INVALID);
    assert_string_equal(other.name, error.name);
    assert_string_equal(other.message, error.message);
    start = (abide_start_options){.timeout = "soon"};
    assert_int_equal(abide_start(fixture->engine, "w", NULL, &start, NULL, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_DURATION");
    assert_non_null(strstr(error.message, "field \"timeout\": "));
}

static void a_name_is_registered_once(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "nothing", nothing, NULL);
    abide_error error;
    assert_int_equal(abide_register_workflow(fixture->engine, "nothing", nothing, NULL, &error),
                     ABIDE_CONFLICT);
    assert_string_equal(error.name, "ALREADY_REGISTERED");
}

static void a_closed_engine_answers_closed(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "nothing", nothing, NULL);
    abide_error error;
    assert_int_equal(abide_shutdown(fixture->engine, NULL, &error), ABIDE_OK);
    assert_int_equal(abide_start(fixture->engine, "nothing", NULL, NULL, NULL, &error),
                     ABIDE_CLOSED);
    assert_string_equal(error.name, "CLOSED");
}

// ---- inside workflows ----

static int bad_calls(abide_ctx *ctx, const char *input) {
    switch (input[0]) {
    case '1': return abide_sleep(ctx, "-5s");
    case '2': return abide_await_event(ctx, "", NULL, NULL);
    case '3': return abide_step(ctx, "s", NULL, NULL, NULL);
    case '4': return abide_complete(ctx, "{bad");
    case '5': return abide_publish(ctx, "t", "nope");
    case '6': return abide_await_any(ctx, NULL, 0, NULL, NULL);
    case '7': return abide_child(ctx, NULL, NULL, NULL);
    default: return abide_continue_as(ctx, "}");
    }
}

static void a_bad_call_inside_a_workflow_fails_the_run_and_names_it(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "bad", bad_calls, NULL);
    put_to_work(fixture);
    static const char *const types[] = {"BAD_DURATION", "BAD_NAME",   "BAD_ARGUMENT", "BAD_JSON",
                                        "BAD_JSON",     "BAD_OPTION", "BAD_NAME",     "BAD_JSON"};
    for (int i = 0; i < 8; i++) {
        char id[8], input[8], *json = NULL;
        snprintf(id, sizeof id, "r%d", i);
        snprintf(input, sizeof input, "%d", i + 1);
        start(fixture, "bad", id, input);
        assert_int_equal(abide_result(fixture->engine, id, "120s", &json, NULL), ABIDE_FAILED);
        char expected[64];
        snprintf(expected, sizeof expected, "{\"type\":\"%s\"", types[i]);
        if (json == NULL || strncmp(json, expected, strlen(expected)) != 0)
            fail_msg("call %d: %s instead of %s", i + 1, json ? json : "(none)", expected);
        abide_free(json);
    }
}

// ---- files ----

static void write_file(const char *path, const char *content) {
    FILE *file = fopen(path, "w");
    fputs(content, file);
    fclose(file);
}

static void expect_open_refused(const char *path, const char *name) {
    abide_engine *engine = NULL;
    abide_error error = {0};
    int code = abide_open(path, NULL, &engine, &error);
    if (code == ABIDE_OK || strcmp(error.name, name) != 0)
        fail_msg("%s: %d %s %s instead of %s", path, code, error.name, error.message, name);
    assert_null(engine);
}

static void files_that_are_not_ours_are_left_alone(void **state) {
    Fixture *fixture = *state;
    char path[128], content[64] = {0};
    snprintf(path, sizeof path, "%s/notes.txt", fixture->directory);
    write_file(path, "these are my notes, not a database, and they are longer than a header is");
    expect_open_refused(path, "STORE_NOT_OURS");
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_int_equal(strncmp(content, "these are my notes", 18), 0);
    expect_open_refused(fixture->directory, "STORE_PATH");
    snprintf(path, sizeof path, "%s/missing/x.db", fixture->directory);
    expect_open_refused(path, "STORE_PATH");
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/newer.db", fixture->directory);
    abide_engine *engine;
    assert_int_equal(abide_open(path, NULL, &engine, NULL), ABIDE_OK);
    abide_close(engine);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version=999", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    expect_open_refused(path, "STORE_NEWER");
}

static void a_second_process_is_told_who_has_the_file(void **state) {
    Fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/owned.db", fixture->directory);
    abide_engine *engine;
    assert_int_equal(abide_open(path, NULL, &engine, NULL), ABIDE_OK);
    expect_open_refused(path, "STORE_LOCKED"); // also within one process
    pid_t child = fork();
    if (child == 0) {
        abide_engine *second;
        abide_error error;
        int code = abide_open(path, NULL, &second, &error);
        _exit(code == ABIDE_CONFLICT && strcmp(error.name, "STORE_LOCKED") == 0 ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    abide_close(engine);
    assert_int_equal(abide_open(path, NULL, &engine, NULL), ABIDE_OK);
    abide_close(engine);
}

// A full disk, played by a limit on the size of files. The engine is not put to work, so that the
// first run does not end.
static int run_into_full_disk(const char *path) {
    abide_engine *engine;
    abide_error error;
    abide_start_options first = {.id = "first"};
    if (abide_open(path, NULL, &engine, &error) != ABIDE_OK) return 1;
    if (abide_register_workflow(engine, "nothing", nothing, NULL, &error) != ABIDE_OK) return 2;
    if (abide_start(engine, "nothing", NULL, &first, NULL, &error) != ABIDE_OK) return 8;
    struct rlimit limit = {.rlim_cur = 300000, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    char *big = malloc(200001);
    memset(big, '1', 200000);
    big[200000] = 0;
    int accepted = 0, code = ABIDE_OK;
    for (; accepted < 50 && code == ABIDE_OK; accepted++)
        code = abide_start(engine, "nothing", big, NULL, NULL, &error);
    accepted--;
    if (code == ABIDE_OK) return 3;
    if (strcmp(error.name, "STORE_FULL") != 0 && strcmp(error.name, "STORE_IO") != 0) return 4;
    time_t began = time(NULL); // whoever waits is answered in his time
    char *result = NULL;
    if (abide_result(engine, "first", "500ms", &result, &error) != ABIDE_PENDING) return 9;
    if (time(NULL) - began > 20) return 10;
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    abide_stats stats;
    if (abide_get_stats(engine, &stats, &error) != ABIDE_OK) return 5;
    if (stats.started_total != accepted + 1) return 6; // what was refused is not there
    for (int i = 0; i < 2000; i++) {
        code = abide_start(engine, "nothing", "1", NULL, NULL, &error);
        if (code == ABIDE_OK) break;
        usleep(50000);
    }
    if (code != ABIDE_OK) return 7;
    abide_close(engine);
    free(big);
    return 0;
}

static void a_full_disk_refuses_and_recovers(void **state) {
    Fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/full.db", fixture->directory);
    pid_t child = fork();
    if (child == 0) _exit(run_into_full_disk(path));
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

// Not enough memory for the stacks of so many threads.
static int open_without_memory(const char *path) {
    abide_engine *engine;
    abide_error error;
    abide_options options = {.threads = 1000};
    struct rlimit limit = {.rlim_cur = 1 << 30, .rlim_max = RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    if (abide_open(path, &options, &engine, &error) == ABIDE_OK) return 2;
    if (strcmp(error.name, "NO_THREADS") != 0) return 3;
    options.threads = 2; // the way out
    if (abide_open(path, &options, &engine, &error) != ABIDE_OK) return 4;
    abide_close(engine);
    return 0;
}

static void too_many_threads_for_the_memory_are_refused(void **state) {
#ifndef __SANITIZE_ADDRESS__ // which needs terabytes of addresses
#ifndef __SANITIZE_THREAD__
    Fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/threads.db", fixture->directory);
    pid_t child = fork();
    if (child == 0) _exit(open_without_memory(path));
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
#endif
#endif
    (void)state;
}

// The request to stop may come between the last look for it and falling asleep.
static void an_engine_that_is_closed_at_once_ends(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        abide_engine *engine;
        assert_int_equal(abide_open("memory:", NULL, &engine, NULL), ABIDE_OK);
        abide_close(engine);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bad_starts_are_refused_by_name_and_start_nothing),
        TEST(an_oversized_payload_is_refused),
        TEST(calls_on_runs_that_do_not_exist_say_so),
        TEST(an_ended_run_refuses_changes),
        TEST(null_arguments_are_refused_and_not_followed),
        TEST(bad_options_are_refused_at_open),
        TEST(what_would_have_no_effect_is_refused),
        TEST(a_bad_value_has_one_code_and_one_sentence),
        TEST(a_name_is_registered_once),
        TEST(a_closed_engine_answers_closed),
        cmocka_unit_test(an_engine_that_is_closed_at_once_ends),
        TEST(a_bad_call_inside_a_workflow_fails_the_run_and_names_it),
        TEST(files_that_are_not_ours_are_left_alone),
        TEST(a_second_process_is_told_who_has_the_file),
        TEST(a_full_disk_refuses_and_recovers),
        TEST(too_many_threads_for_the_memory_are_refused),
    };
    return cmocka_run_group_tests_name("api_errors", tests, NULL, NULL);
}
