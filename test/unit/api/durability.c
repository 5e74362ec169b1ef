// What survives on SQLite: restarts, kill -9, transactions shared with the application, threads.
#define API_BACKEND "sqlite"
#include "base/env.h"
#include "unit/api/api.h"
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/wait.h>

static atomic_int body_count;

static int count_body(abide_call *call, const char *input) {
    atomic_fetch_add(&body_count, 1);
    return abide_return(call, input);
}

static int reset_and_setup(void **state) {
    atomic_store(&body_count, 0);
    return setup(state);
}

static void reopen(Fixture *fixture) {
    abide_close(fixture->engine);
    fixture_open(fixture);
}

// ---- restarts ----

static int approval(abide_ctx *ctx, const char *input) {
    const char *a, *b;
    ABIDE_TRY(abide_step(ctx, "first", count_body, input, &a));
    ABIDE_TRY(abide_await_signal(ctx, "ok", NULL, &b));
    return abide_complete(ctx, abide_printf(ctx, "[%s,%s]", a, b));
}

static void a_waiting_run_survives_a_restart(void **state) { // P1
    Fixture *fixture = *state;
    add_workflow(fixture, "approval", approval, NULL);
    put_to_work(fixture);
    start(fixture, "approval", "r", "1");
    wait_parked(fixture, "r", "signal:ok");
    reopen(fixture);
    add_workflow(fixture, "approval", approval, NULL);
    abide_recovery report;
    assert_int_equal(abide_recover(fixture->engine, &report, NULL), ABIDE_OK);
    assert_int_equal(report.suspended, 1);
    assert_int_equal(report.resumed_running, 0);
    assert_int_equal(abide_signal(fixture->engine, "r", "ok", "2", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[1,2]");
    assert_int_equal(atomic_load(&body_count), 1);
}

static int nap(abide_ctx *ctx, const char *input) {
    (void)input;
    ABIDE_TRY(abide_sleep(ctx, "2s")); // time enough to be seen asleep, and to close
    return abide_complete(ctx, "\"rested\"");
}

static void a_timer_that_came_due_meanwhile_fires_at_recovery(void **state) { // P5
    Fixture *fixture = *state;
    add_workflow(fixture, "nap", nap, NULL);
    put_to_work(fixture);
    start(fixture, "nap", "r", NULL);
    wait_parked(fixture, "r", "timer");
    abide_run_info info;
    assert_int_equal(abide_status(fixture->engine, "r", &info, NULL), ABIDE_OK);
    abide_close(fixture->engine);
    WAIT_UNTIL(env_now_ms(env_system()) >= info.wakes_at_ms);
    fixture_open(fixture);
    add_workflow(fixture, "nap", nap, NULL);
    abide_recovery report;
    assert_int_equal(abide_recover(fixture->engine, &report, NULL), ABIDE_OK);
    assert_int_equal(report.timers_due, 1);
    expect_result(fixture, "r", ABIDE_OK, "\"rested\"");
}

static void a_run_waits_until_its_workflow_is_registered(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "nap", nap, NULL);
    start(fixture, "nap", "r", NULL); // the engine is not working yet
    reopen(fixture);
    put_to_work(fixture); // nobody knows "nap" here
    usleep(20000);
    assert_int_equal(state_of(fixture, "r"), ABIDE_RUN_RUNNING);
    add_workflow(fixture, "nap", nap, NULL);
    expect_result(fixture, "r", ABIDE_OK, "\"rested\"");
}

// ---- kill -9 ----

static int append_line(abide_call *call, const char *input) {
    FILE *file = fopen(abide_call_user_data(call), "a");
    fprintf(file, "%s\n", abide_call_key(call));
    fclose(file);
    return abide_return(call, input);
}

static int fifty_steps(abide_ctx *ctx, const char *input) {
    (void)input;
    for (int i = 0; i < 50; i++) ABIDE_TRY(abide_step(ctx, "line", append_line, "1", NULL));
    return abide_complete(ctx, "true");
}

static void work_until_killed(const char *url, char *lines) {
    abide_engine *engine;
    if (abide_open(url, NULL, &engine, NULL) != ABIDE_OK) _exit(1);
    if (abide_register_workflow(engine, "fifty", fifty_steps, lines, NULL) != ABIDE_OK) _exit(2);
    if (abide_recover(engine, NULL, NULL) != ABIDE_OK) _exit(3);
    abide_start_options options = {.id = "r"};
    if (abide_start(engine, "fifty", NULL, &options, NULL, NULL) != ABIDE_OK) _exit(4);
    for (;;) pause();
}

static int count_lines(const char *path) {
    FILE *file = fopen(path, "r");
    int lines = 0;
    if (file == NULL) return 0;
    for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
    fclose(file);
    return lines;
}

static void a_killed_process_repeats_at_most_the_step_it_was_in(void **state) { // P1, P2
    Fixture *fixture = *state;
    char url[160], lines[160];
    snprintf(url, sizeof url, "sqlite:%s/killed.db", fixture->directory);
    snprintf(lines, sizeof lines, "%s/lines", fixture->directory);
    int kills = 0;
    for (; kills < 200; kills++) {
        int before = count_lines(lines);
        pid_t child = fork();
        if (child == 0) { // a program of its own: no lock of this one's threads comes along
            execl("/proc/self/exe", "worker", url, lines, (char *)NULL);
            _exit(127);
        }
        int now = before;
        // Until fifty it goes on for sure, however busy the machine; then it may be at its end.
        for (int quiet = 0; quiet < (now < 50 ? 60000 : 3000); quiet++) {
            if (now >= before + 7 || now >= 50 + kills) break;
            usleep(1000);
            int seen = count_lines(lines);
            if (seen != now) quiet = 0;
            now = seen;
        }
        usleep(2000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (now == before) break;
    }
    abide_engine *engine;
    abide_run_info info;
    assert_int_equal(abide_open(url, NULL, &engine, NULL), ABIDE_OK);
    assert_int_equal(abide_status(engine, "r", &info, NULL), ABIDE_OK);
    assert_int_equal(info.state, ABIDE_RUN_COMPLETED);
    abide_close(engine);
    int written = count_lines(lines);
    assert_true(written >= 50 && written <= 50 + kills);
}

// ---- steps that end the process ----

enum { CRASHES = 3 };

static int note_and_die(abide_call *call, const char *input) {
    (void)input;
    FILE *file = fopen(abide_call_user_data(call), "a");
    fprintf(file, "%d\n", abide_call_attempt(call));
    fclose(file);
    kill(getpid(), SIGKILL);
    return ABIDE_OK;
}

static int bomb(abide_ctx *ctx, const char *input) {
    ABIDE_TRY(abide_step(ctx, "boom", note_and_die, input, NULL));
    return abide_complete(ctx, "true");
}

static int beside(abide_ctx *ctx, const char *input) {
    ABIDE_TRY(abide_step(ctx, "calm", count_body, input, NULL));
    return abide_complete(ctx, "true");
}

// One thread: what waits behind the bomb is lost with it each time, and has done nothing.
static abide_engine *open_with_bomb(const char *url, char *lines) {
    abide_engine *engine;
    abide_options options = {.threads = 1, .max_crashes = CRASHES};
    if (abide_open(url, &options, &engine, NULL) != ABIDE_OK) return NULL;
    bool is_ready = abide_register_workflow(engine, "bomb", bomb, lines, NULL) == ABIDE_OK &&
                    abide_register_workflow(engine, "beside", beside, lines, NULL) == ABIDE_OK;
    return is_ready ? engine : NULL;
}

static bool is_in_state(abide_engine *engine, const char *id, int state) {
    abide_run_info info;
    return abide_status(engine, id, &info, NULL) == ABIDE_OK && info.state == state;
}

// Ends by itself when the bomb is held and all others are through.
static void work_beside_bomb(const char *url, char *lines) {
    abide_engine *engine = open_with_bomb(url, lines);
    if (engine == NULL || abide_recover(engine, NULL, NULL) != ABIDE_OK) _exit(1);
    static const char *const others[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        while (!is_in_state(engine, others[i], ABIDE_RUN_COMPLETED)) usleep(1000);
    while (!is_in_state(engine, "boom", ABIDE_RUN_PAUSED)) usleep(1000);
    abide_close(engine);
    _exit(0);
}

// Answers how many processes were killed before one came to its end.
static int processes_killed(const char *url, const char *lines) {
    int killed = 0, status = 0;
    for (; killed < 20; killed++) {
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "worker", url, lines, "bomb", (char *)NULL);
            _exit(127);
        }
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) break;
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return killed;
}

static int find_reason(void *user, const abide_log_entry *entry) {
    bool is_it = entry->data != NULL && strstr(entry->data, "RUN_CRASHES") != NULL;
    if (strcmp(entry->kind, "paused") == 0 && is_it) *(int *)user += 1;
    return 0;
}

static void a_step_that_ends_the_process_is_paused_and_nobody_else(void **state) {
    Fixture *fixture = *state;
    char url[160], lines[160], text[64] = "";
    snprintf(url, sizeof url, "sqlite:%s/bomb.db", fixture->directory);
    snprintf(lines, sizeof lines, "%s/lines", fixture->directory);
    abide_engine *engine = open_with_bomb(url, lines);
    static const char *const ids[] = {"a", "boom", "b", "c"};
    for (int i = 0; i < 4; i++) {
        abide_start_options options = {.id = ids[i]};
        const char *workflow = strcmp(ids[i], "boom") == 0 ? "bomb" : "beside";
        assert_int_equal(abide_start(engine, workflow, "1", &options, NULL, NULL), ABIDE_OK);
    }
    abide_close(engine); // none of them began
    assert_int_equal(processes_killed(url, lines), CRASHES);
    engine = open_with_bomb(url, lines);
    abide_run_info info;
    int reasons = 0;
    assert_int_equal(abide_status(engine, "boom", &info, NULL), ABIDE_OK);
    assert_int_equal(info.attempts, CRASHES);
    assert_int_equal(abide_history(engine, "boom", 0, 0, find_reason, &reasons, NULL), ABIDE_OK);
    assert_int_equal(reasons, 1);
    assert_int_equal(abide_resume(engine, "boom", NULL, NULL), ABIDE_OK); // then it begins anew
    abide_close(engine);
    assert_int_equal(processes_killed(url, lines), CRASHES);
    FILE *file = fopen(lines, "r");
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "1\n2\n3\n1\n2\n3\n"); // what abide_call_attempt told
}

// ---- the application's own tables ----

static int insert_row(abide_call *call, const char *input) {
    sqlite3 *db = abide_call_sqlite(call);
    atomic_fetch_add(&body_count, 1);
    if (db == NULL) return abide_throw_final(call, "NoTransaction", "there is no transaction");
    if (sqlite3_exec(db, "INSERT INTO app(x) VALUES(1)", NULL, NULL, NULL) != SQLITE_OK)
        return abide_throw_final(call, "SqlError", sqlite3_errmsg(db));
    if (strcmp(input, "fail") == 0 && abide_call_attempt(call) < 3)
        return abide_throw(call, "Later", "undone, and tried again");
    return abide_return(call, "true");
}

static int transactional(abide_ctx *ctx, const char *input) {
    abide_step_options options = {.in_transaction = 1, .retry = {.attempts = 3, .delay = "1ms"}};
    (void)input;
    ABIDE_TRY(abide_publish(ctx, "side", "1"));
    ABIDE_TRY(abide_step_with(ctx, "insert", insert_row, "well", &options, NULL));
    ABIDE_TRY(abide_step_with(ctx, "insert", insert_row, "fail", &options, NULL));
    return abide_complete(ctx, "true");
}

static int64_t count_rows(Fixture *fixture, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(fixture->url + strlen("sqlite:"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return count;
}

static void a_step_in_the_transaction_writes_exactly_once(void **state) { // P4
    Fixture *fixture = *state;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->url + strlen("sqlite:"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE app(x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    add_workflow(fixture, "transactional", transactional, NULL);
    put_to_work(fixture);
    start(fixture, "transactional", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "true");
    assert_int_equal(count_rows(fixture, "SELECT count(*) FROM app"), 2);
    assert_int_equal(atomic_load(&body_count), 4); // two of the attempts were undone
}

static void without_transactions_the_step_fails_clearly(void **state) {
    (void)state;
    abide_engine *engine;
    assert_int_equal(abide_open("memory:", NULL, &engine, NULL), ABIDE_OK);
    assert_int_equal(abide_register_workflow(engine, "t", transactional, NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_recover(engine, NULL, NULL), ABIDE_OK);
    abide_start_options options = {.id = "r"};
    assert_int_equal(abide_start(engine, "t", NULL, &options, NULL, NULL), ABIDE_OK);
    char *json = NULL;
    assert_int_equal(abide_result(engine, "r", "120s", &json, NULL), ABIDE_FAILED);
    assert_non_null(strstr(json, "PARTICIPANT_UNSUPPORTED"));
    abide_free(json);
    abide_close(engine);
}

// ---- many at once ----

static int chain(abide_ctx *ctx, const char *input) {
    (void)input;
    for (int i = 0; i < 5; i++) ABIDE_TRY(abide_step(ctx, "s", count_body, "1", NULL));
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, NULL));
    return abide_complete(ctx, "true");
}

typedef struct Client {
    pthread_t thread;
    Fixture *fixture;
    int number;
    int failures;
} Client;

static void *use_engine(void *context) {
    Client *client = context;
    abide_engine *engine = client->fixture->engine;
    size_t count = scaled(20);
    for (size_t i = 0; i < count; i++) {
        char id[48], *json = NULL;
        snprintf(id, sizeof id, "c%d-%zu", client->number, i);
        abide_start_options options = {.id = id};
        abide_run_info info;
        if (abide_start(engine, "chain", NULL, &options, NULL, NULL) != ABIDE_OK ||
            abide_status(engine, id, &info, NULL) != ABIDE_OK ||
            abide_signal(engine, id, "go", "1", NULL, NULL) != ABIDE_OK ||
            abide_result(engine, id, "120s", &json, NULL) != ABIDE_OK)
            client->failures++;
        abide_free(json);
    }
    return NULL;
}

static void many_threads_may_use_one_engine(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "chain", chain, NULL);
    put_to_work(fixture);
    Client clients[8];
    for (int i = 0; i < 8; i++) {
        clients[i] = (Client){.fixture = fixture, .number = i};
        pthread_create(&clients[i].thread, NULL, use_engine, &clients[i]);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(clients[i].thread, NULL);
        assert_int_equal(clients[i].failures, 0);
    }
    assert_int_equal(atomic_load(&body_count), 8 * 5 * (int)scaled(20));
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    assert_int_equal(stats.completed_total, 8 * (int)scaled(20));
}

static atomic_int begun_count, is_let_go, close_count;

static int slow(abide_call *call, const char *input) {
    atomic_fetch_add(&begun_count, 1);
    usleep(300000);
    return count_body(call, input);
}

static int slow_flow(abide_ctx *ctx, const char *input) {
    (void)input;
    ABIDE_TRY(abide_step(ctx, "slow", slow, "1", NULL));
    return abide_complete(ctx, "true");
}

static void shutdown_awaits_running_functions_and_loses_nothing(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "slow", slow_flow, NULL);
    put_to_work(fixture);
    atomic_store(&begun_count, 0);
    start(fixture, "slow", "r", NULL);
    WAIT_UNTIL(atomic_load(&begun_count) > 0);
    assert_int_equal(abide_shutdown(fixture->engine, "120s", NULL), ABIDE_OK);
    assert_int_equal(atomic_load(&body_count), 1);
    reopen(fixture);
    add_workflow(fixture, "slow", slow_flow, NULL);
    put_to_work(fixture);
    expect_result(fixture, "r", ABIDE_OK, "true");
    assert_int_equal(atomic_load(&body_count), 1); // its result had been committed
}

static int stuck_body(abide_call *call, const char *input) {
    (void)input;
    atomic_fetch_add(&body_count, 1);
    while (!atomic_load(&is_let_go)) usleep(1000);
    return abide_return(call, "1");
}

static int stuck_flow(abide_ctx *ctx, const char *input) {
    (void)input;
    ABIDE_TRY(abide_step(ctx, "stuck", stuck_body, NULL, NULL));
    return abide_complete(ctx, "true");
}

static void shutdown_gives_up_on_functions_that_do_not_end(void **state) {
    Fixture *fixture = *state;
    atomic_store(&is_let_go, 0);
    add_workflow(fixture, "stuck", stuck_flow, NULL);
    put_to_work(fixture);
    start(fixture, "stuck", "r", NULL);
    WAIT_UNTIL(atomic_load(&body_count) > 0);
    abide_error error;
    assert_int_equal(abide_shutdown(fixture->engine, "10ms", &error), ABIDE_TIMEOUT);
    reopen(fixture);
    atomic_store(&is_let_go, 1);
    add_workflow(fixture, "stuck", stuck_flow, NULL);
    put_to_work(fixture);
    expect_result(fixture, "r", ABIDE_OK, "true");
}

static void count_close(void *user) {
    (void)user;
    atomic_fetch_add(&close_count, 1);
}

static void closing_waits_for_no_function_that_did_not_end_in_time(void **state) {
    Fixture *fixture = *state;
    atomic_store(&is_let_go, 0);
    atomic_store(&close_count, 0);
    add_workflow(fixture, "stuck", stuck_flow, NULL);
    assert_int_equal(abide_on_close(fixture->engine, count_close, NULL, NULL), ABIDE_OK);
    put_to_work(fixture);
    start(fixture, "stuck", "r", NULL);
    while (atomic_load(&body_count) == 0) usleep(1000);
    assert_int_equal(abide_shutdown(fixture->engine, "10ms", NULL), ABIDE_TIMEOUT);
    reopen(fixture);                                // the store is free, although the function runs
    assert_int_equal(atomic_load(&close_count), 0); // what it uses is not taken from under it
    atomic_store(&is_let_go, 1);
    while (atomic_load(&close_count) == 0) usleep(1000);
    add_workflow(fixture, "stuck", stuck_flow, NULL);
    put_to_work(fixture);
    expect_result(fixture, "r", ABIDE_OK, "true");
    assert_int_equal(atomic_load(&body_count), 2); // what came too late counts for nothing
}

// ---- events of the engine ----

static void count_event(void *user, const abide_event *event) {
    atomic_int *counts = user;
    atomic_fetch_add(&counts[event->kind], 1);
}

static void the_engine_tells_what_happens(void **state) {
    Fixture *fixture = *state;
    atomic_int counts[ABIDE_EVENT_IDLE + 1] = {0};
    abide_close(fixture->engine);
    fixture->options.on_event = count_event;
    fixture->options.user = counts;
    fixture_open(fixture);
    add_workflow(fixture, "approval", approval, NULL);
    put_to_work(fixture);
    start(fixture, "approval", "r", "1");
    wait_parked(fixture, "r", "signal:ok");
    assert_int_equal(abide_signal(fixture->engine, "r", "ok", "2", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[1,2]");
    assert_int_equal(abide_shutdown(fixture->engine, NULL, NULL), ABIDE_OK);
    assert_int_equal(atomic_load(&counts[ABIDE_EVENT_STARTED]), 1);
    assert_int_equal(atomic_load(&counts[ABIDE_EVENT_STEP]), 1);
    assert_int_equal(atomic_load(&counts[ABIDE_EVENT_SUSPENDED]), 1);
    assert_int_equal(atomic_load(&counts[ABIDE_EVENT_RESUMED]), 1);
    assert_int_equal(atomic_load(&counts[ABIDE_EVENT_COMPLETED]), 1);
}

static int collect(void *user, const abide_log_entry *entry) {
    char *text = user;
    snprintf(text + strlen(text), 200 - strlen(text), "%s%s%s ", entry->kind,
             entry->name ? ":" : "", entry->name ? entry->name : "");
    return 0;
}

static int count_run(void *user, const abide_run_info *run) {
    (void)run;
    ++*(int *)user;
    return 0;
}

static void history_and_lists_show_what_was_done(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "approval", approval, NULL);
    put_to_work(fixture);
    char id[16];
    for (int i = 0; i < 25; i++) {
        snprintf(id, sizeof id, "r%d", i);
        start(fixture, "approval", id, "1");
    }
    for (int i = 0; i < 25; i++) {
        snprintf(id, sizeof id, "r%d", i);
        wait_parked(fixture, id, "signal:ok");
    }
    assert_int_equal(abide_signal(fixture->engine, "r3", "ok", "2", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r3", ABIDE_OK, "[1,2]");
    char text[200] = "";
    assert_int_equal(abide_history(fixture->engine, "r3", 0, 0, collect, text, NULL), ABIDE_OK);
    assert_string_equal(text, "started step:first idle wait:ok finished ");
    int count = 0, pages = 0;
    abide_list_options options = {
        .limit = 10, .states = 1u << ABIDE_RUN_SUSPENDED, .waiting_on = "ok"};
    do {
        assert_int_equal(
            abide_list(fixture->engine, &options, count_run, &count, &options.cursor, NULL),
            ABIDE_OK);
        pages++;
    } while (options.cursor != 0 && pages < 10);
    assert_int_equal(count, 24);
}

// ---- damage ----

static void a_missing_checkpoint_pauses_the_run_and_stops_nobody(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "approval", approval, NULL);
    put_to_work(fixture);
    start(fixture, "approval", "r", "1");
    start(fixture, "approval", "sound", "1");
    wait_parked(fixture, "r", "signal:ok");
    wait_parked(fixture, "sound", "signal:ok");
    abide_close(fixture->engine);
    sqlite3 *database;
    assert_int_equal(sqlite3_open(fixture->url + strlen("sqlite:"), &database), SQLITE_OK);
    const char *sql = "UPDATE abide_log SET position = 7 WHERE position = 0 AND run = "
                      "(SELECT key FROM abide_runs WHERE id = 'r')";
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(database), 1);
    sqlite3_close(database);
    fixture_open(fixture);
    add_workflow(fixture, "approval", approval, NULL);
    put_to_work(fixture);
    assert_int_equal(abide_signal(fixture->engine, "r", "ok", "2", NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_signal(fixture->engine, "sound", "ok", "2", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "sound", ABIDE_OK, "[1,2]");
    abide_run_info info = {0};
    for (int i = 0; i < 20000 && info.state != ABIDE_RUN_PAUSED; i++) {
        assert_int_equal(abide_status(fixture->engine, "r", &info, NULL), ABIDE_OK);
        if (info.state != ABIDE_RUN_PAUSED) usleep(1000);
    }
    assert_int_equal(info.state, ABIDE_RUN_PAUSED);
    assert_non_null(strstr(info.pause_reason, "lacks a checkpoint"));
    assert_int_equal(atomic_load(&body_count), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset_and_setup, teardown)

int main(int argument_count, char **arguments) {
    if (argument_count == 3) work_until_killed(arguments[1], arguments[2]);
    if (argument_count == 4) work_beside_bomb(arguments[1], arguments[2]);
    const struct CMUnitTest tests[] = {
        TEST(a_waiting_run_survives_a_restart),
        TEST(a_timer_that_came_due_meanwhile_fires_at_recovery),
        TEST(a_run_waits_until_its_workflow_is_registered),
        TEST(a_killed_process_repeats_at_most_the_step_it_was_in),
        TEST(a_step_that_ends_the_process_is_paused_and_nobody_else),
        TEST(a_step_in_the_transaction_writes_exactly_once),
        TEST(without_transactions_the_step_fails_clearly),
        TEST(many_threads_may_use_one_engine),
        TEST(shutdown_awaits_running_functions_and_loses_nothing),
        TEST(shutdown_gives_up_on_functions_that_do_not_end),
        TEST(closing_waits_for_no_function_that_did_not_end_in_time),
        TEST(the_engine_tells_what_happens),
        TEST(history_and_lists_show_what_was_done),
        TEST(a_missing_checkpoint_pauses_the_run_and_stops_nobody),
    };
    return cmocka_run_group_tests_name("api_durability", tests, NULL, NULL);
}
