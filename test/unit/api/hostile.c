// Snapshots that are damaged, cut off, of another workflow, version or program: whatever opens one
// says so by a stable code, and nothing in the store changes.
//
// A store is made once; each case damages a copy of its file beside the engine, opens it without
// putting it to work, asks everything, and compares the file's rows before and after.
#define API_BACKEND "sqlite"
#include "base/containers/hash.h"
#include "unit/api/api.h"
#include <sqlite3.h>
#include <stdatomic.h>

enum { BYTES_MAX = 1 << 16 };

static const char cart[] = "const cart = { items: [], total: 0 }\n"
                           "for (;;) {\n"
                           "  const item = await Signal.next('add')\n"
                           "  if (item === 'end') return cart.total\n"
                           "  cart.items.push(item.name)\n"
                           "  cart.total += item.price.amount\n"
                           "}\n";
static const char other[] = "const list = [1, 2, 3]\n"
                            "await Signal.next('go')\n"
                            "return list.length\n";

typedef struct Bytes {
    unsigned char data[BYTES_MAX];
    int size;
} Bytes;

// ---- the file ----

static sqlite3 *open_file(const Fixture *fixture) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->url + strlen("sqlite:"), &db), SQLITE_OK);
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return statement;
}

static void read_snapshot(const Fixture *fixture, const char *run, Bytes *ret_bytes) {
    sqlite3 *db = open_file(fixture);
    sqlite3_stmt *statement = prepare(db, "SELECT snapshot FROM abide_runs WHERE id = ?");
    sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    ret_bytes->size = sqlite3_column_bytes(statement, 0);
    assert_true(ret_bytes->size > 0 && ret_bytes->size < BYTES_MAX);
    memcpy(ret_bytes->data, sqlite3_column_blob(statement, 0), (size_t)ret_bytes->size);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

// Into the run and into all its kept turns.
static void write_snapshot(const Fixture *fixture, const char *run, const Bytes *bytes) {
    static const char *const texts[] = {
        "UPDATE abide_runs SET snapshot = ? WHERE id = ?",
        "UPDATE abide_snapshots SET snapshot = ? WHERE run = (SELECT key FROM abide_runs "
        "WHERE id = ?)",
    };
    sqlite3 *db = open_file(fixture);
    for (size_t i = 0; i < 2; i++) {
        sqlite3_stmt *statement = prepare(db, texts[i]);
        sqlite3_bind_blob(statement, 1, bytes->data, bytes->size, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, run, -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
}

// A number for all rows of what a run consists of.
static uint32_t digest(const Fixture *fixture) {
    static const char *const tables[] = {"runs", "log", "snapshots", "definitions", "tasks"};
    uint32_t sum = 0;
    sqlite3 *db = open_file(fixture);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT * FROM abide_%s", tables[i]);
        sqlite3_stmt *statement = prepare(db, sql);
        while (sqlite3_step(statement) == SQLITE_ROW)
            for (int k = 0; k < sqlite3_column_count(statement); k++) {
                const void *cell = sqlite3_column_blob(statement, k);
                size_t size = (size_t)sqlite3_column_bytes(statement, k);
                sum = crc32c(sum, cell != NULL ? cell : "", cell != NULL ? size : 0);
                sum = crc32c(sum, "|", 1);
            }
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
    return sum;
}

// ---- a store with runs ----

static void signal_and_wait(Fixture *fixture, const char *run, const char *payload) {
    assert_int_equal(abide_signal(fixture->engine, run, "add", payload, NULL, NULL), ABIDE_OK);
    WAIT_UNTIL(state_of(fixture, run) == ABIDE_RUN_FAILED ||
               state_of(fixture, run) == ABIDE_RUN_SUSPENDED);
}

static void turns_are(Fixture *fixture, const char *run, const char *text) {
    bool is_there = false;
    while (!is_there) {
        char *json = NULL;
        assert_int_equal(abide_turns(fixture->engine, run, 0, 0, &json, NULL), ABIDE_OK);
        is_there = strstr(json, text) != NULL;
        abide_free(json);
        if (!is_there) usleep(1000);
    }
}

static int setup_runs(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    put_to_work(fixture);
    deploy(fixture, "other", other);
    start(fixture, "other", "foreign", NULL);
    deploy(fixture, "cart", cart);
    start(fixture, "cart", "r", NULL);
    start(fixture, "cart", "failed", NULL);
    wait_parked(fixture, "foreign", "signal:go");
    const char *const runs[] = {"r", "failed"};
    for (size_t i = 0; i < 2; i++) {
        wait_parked(fixture, runs[i], "signal:add");
        signal_and_wait(fixture, runs[i], "{\"name\":\"tea\",\"price\":{\"amount\":3}}");
        turns_are(fixture, runs[i], "\"turn\":1,");
    }
    deploy(fixture, "cart", "await Signal.next('add')\nreturn 1\n"); // the current version
    start(fixture, "cart", "newer", NULL);
    wait_parked(fixture, "newer", "signal:add");
    signal_and_wait(fixture, "failed", "{\"name\":\"gift\"}");
    WAIT_UNTIL(state_of(fixture, "failed") == ABIDE_RUN_FAILED);
    abide_close(fixture->engine);
    fixture->engine = NULL;
    return 0;
}

// ---- what opens a snapshot ----

typedef int (*Ask)(abide_engine *engine, const char *run, abide_error *error);

static int drop(int code, char **json) {
    abide_free(*json);
    return code;
}
static int ask_snapshot(abide_engine *engine, const char *run, abide_error *error) {
    char *json = NULL;
    abide_snapshot_options options = {.depth = 3, .path = "cart.total"};
    return drop(abide_snapshot(engine, run, &options, &json, error), &json);
}
static int ask_turn(abide_engine *engine, const char *run, abide_error *error) {
    char *json = NULL;
    return drop(abide_snapshot(engine, run, &(abide_snapshot_options){.turn = 1}, &json, error),
                &json);
}
static int ask_diff(abide_engine *engine, const char *run, abide_error *error) {
    char *json = NULL;
    return drop(abide_diff(engine, run, 1, 0, &json, error), &json);
}
static int ask_try(abide_engine *engine, const char *run, abide_error *error) {
    char *json = NULL;
    return drop(abide_try(engine, run, "{\"signals\":[{\"name\":\"add\",\"payload\":\"end\"}]}",
                          &json, error),
                &json);
}
static int ask_try_turn(abide_engine *engine, const char *run, abide_error *error) {
    char *json = NULL;
    return drop(abide_try(engine, run, "{\"turn\":1}", &json, error), &json);
}
static int ask_try_source(abide_engine *engine, const char *run, abide_error *error) {
    char *json = NULL, answers[1024];
    snprintf(answers, sizeof answers,
             "{\"source\":\"const cart = { items: [], total: 0 }\\nfor (;;) {\\n"
             "  const item = await Signal.next('add')\\n  if (item === 'end') return 0\\n"
             "  cart.items.push(item.name)\\n  cart.total += item.price.amount\\n}\\n\"}");
    return drop(abide_try(engine, run, answers, &json, error), &json);
}
static int ask_move(abide_engine *engine, const char *run, abide_error *error) {
    int is_changed = 0;
    return abide_move(engine, run, NULL, ABIDE_DRY_RUN, &is_changed, error);
}

static const Ask asks[] = {ask_snapshot, ask_turn,       ask_diff, ask_try,
                           ask_try_turn, ask_try_source, ask_move};

static bool is_snapshot_code(const char *name) { return strncmp(name, "SNAPSHOT_", 9) == 0; }

static int look_on(void *user, const abide_run_info *run) {
    (void)user;
    (void)run;
    return 0;
}

// Lists answer all the same: one that cannot be opened is left out, or has no position.
static void ask_lists(Fixture *fixture) {
    char *json = NULL;
    assert_int_equal(abide_turns(fixture->engine, "r", 0, 0, &json, NULL), ABIDE_OK);
    abide_free(json);
    abide_list_options options = {.where = "cart.total > 0"};
    assert_int_equal(abide_list(fixture->engine, &options, look_on, NULL, NULL, NULL), ABIDE_OK);
}

typedef struct Case {
    const Bytes *bytes;
    bool is_refused; // everything must say so; else it may be answered
} Case;

static void check_case(Fixture *fixture, const Case *one) {
    write_snapshot(fixture, "r", one->bytes);
    write_snapshot(fixture, "failed", one->bytes);
    uint32_t before = digest(fixture);
    fixture_open(fixture);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        const char *const runs[] = {"r", "failed"};
        for (size_t k = 0; k < 2; k++) {
            abide_error error = {0};
            bool is_mine = asks[i] != ask_move || k == 0; // what has ended does not move
            int code = is_mine ? asks[i](fixture->engine, runs[k], &error) : ABIDE_OK;
            bool is_empty = one->bytes->size == 0;
            if (!is_mine || is_empty) continue;
            if (one->is_refused && (code == ABIDE_OK || !is_snapshot_code(error.name)))
                fail_msg("question %zu about %s: %d %s", i, runs[k], code, error.name);
        }
    }
    ask_lists(fixture);
    abide_close(fixture->engine);
    fixture->engine = NULL;
    assert_int_equal(digest(fixture), before);
}

// Where the machine's part begins, which has a version and a checksum of its own.
static int machine_at(const Bytes *bytes) {
    for (int i = 0; i + 3 < bytes->size; i++)
        if (memcmp(bytes->data + i, "AFS", 3) == 0) return i;
    fail_msg("there is no machine in it");
    return 0;
}

static void what_is_cut_off_is_refused(void **state) {
    Fixture *fixture = *state;
    Bytes whole, bytes;
    read_snapshot(fixture, "r", &whole);
    int step = whole.size / 24 + 1;
    for (int size = 0; size < whole.size; size += step) {
        bytes = whole;
        bytes.size = size;
        check_case(fixture, &(Case){&bytes, true});
    }
    bytes = whole;
    bytes.data[bytes.size++] = 0;
    check_case(fixture, &(Case){&bytes, true});
}

static void a_flipped_bit_is_noticed(void **state) {
    Fixture *fixture = *state;
    Bytes whole, bytes;
    read_snapshot(fixture, "r", &whole);
    int machine = machine_at(&whole);
    for (int at = 0; at < whole.size; at += at < machine ? 3 : whole.size / 24 + 1) {
        bytes = whole;
        bytes.data[at] ^= (unsigned char)(1 << at % 8);
        check_case(fixture, &(Case){&bytes, at >= machine}); // the engine's table has no checksum
    }
}

static void put_checksum(Bytes *bytes, int machine) {
    int end = bytes->size - 4;
    uint32_t sum = crc32c(0, bytes->data + machine, (size_t)(end - machine));
    for (int i = 0; i < 4; i++) bytes->data[end + i] = (unsigned char)(sum >> 8 * i);
}

static void a_forged_checksum_breaks_nothing(void **state) {
    Fixture *fixture = *state;
    Bytes whole, bytes;
    read_snapshot(fixture, "r", &whole);
    int machine = machine_at(&whole);
    bytes = whole;
    put_checksum(&bytes, machine);
    assert_memory_equal(bytes.data, whole.data, (size_t)whole.size); // this is how it is made
    for (int at = machine + 4; at < whole.size - 4; at += whole.size / 32 + 1) {
        bytes = whole;
        bytes.data[at] ^= (unsigned char)(0x11 << at % 3);
        put_checksum(&bytes, machine);
        check_case(fixture, &(Case){&bytes, false});
    }
}

static void foreign_snapshots_are_refused(void **state) {
    Fixture *fixture = *state;
    Bytes bytes, whole;
    read_snapshot(fixture, "r", &whole);
    read_snapshot(fixture, "foreign", &bytes); // of another workflow
    check_case(fixture, &(Case){&bytes, true});
    read_snapshot(fixture, "newer", &bytes); // of another version of the same one
    check_case(fixture, &(Case){&bytes, true});
    bytes = whole;
    bytes.data[machine_at(&whole) + 3] = 0xFF; // of a program that is newer
    check_case(fixture, &(Case){&bytes, true});
    bytes = whole;
    bytes.data[0] = 0xFF; // the engine's part is
    check_case(fixture, &(Case){&bytes, true});
    memset(bytes.data, 0, (size_t)bytes.size);
    check_case(fixture, &(Case){&bytes, true});
    memset(bytes.data, 'x', (size_t)bytes.size);
    check_case(fixture, &(Case){&bytes, true});
}

// A new run may be made of it; it is held with the reason, and the old one is as it was.
static void check_new_run(Fixture *fixture, const char *run, int state,
                          int (*make)(abide_engine *engine, char *ret_id, abide_error *error)) {
    Bytes bytes, after;
    read_snapshot(fixture, run, &bytes);
    bytes.data[bytes.size - 1] ^= 1;
    write_snapshot(fixture, run, &bytes);
    fixture_open(fixture);
    put_to_work(fixture);
    char id[ABIDE_RUN_ID_SIZE];
    abide_error error = {0};
    if (make(fixture->engine, id, &error) == ABIDE_OK) {
        WAIT_UNTIL(state_of(fixture, id) == ABIDE_RUN_PAUSED);
        abide_run_info info;
        assert_int_equal(abide_status(fixture->engine, id, &info, NULL), ABIDE_OK);
        assert_non_null(strstr(info.pause_reason, "SNAPSHOT_CORRUPT"));
    } else if (!is_snapshot_code(error.name)) {
        fail_msg("%s: %s", error.name, error.message);
    }
    assert_int_equal(state_of(fixture, run), state);
    abide_close(fixture->engine);
    fixture->engine = NULL;
    read_snapshot(fixture, run, &after);
    assert_int_equal(after.size, bytes.size);
    assert_memory_equal(after.data, bytes.data, (size_t)bytes.size);
}

static int retry(abide_engine *engine, char *ret_id, abide_error *error) {
    return abide_retry_run(engine, "failed", NULL, ret_id, error);
}
static int fork_run(abide_engine *engine, char *ret_id, abide_error *error) {
    return abide_fork(engine, "r", "add", 1, NULL, ret_id, error);
}

static void a_retry_of_a_damaged_run_is_held(void **state) {
    check_new_run(*state, "failed", ABIDE_RUN_FAILED, retry);
}

static void a_fork_of_a_damaged_run_is_held(void **state) {
    check_new_run(*state, "r", ABIDE_RUN_SUSPENDED, fork_run);
}

#define HOSTILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_runs, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        HOSTILE_TEST(what_is_cut_off_is_refused),
        HOSTILE_TEST(a_flipped_bit_is_noticed),
        HOSTILE_TEST(a_forged_checksum_breaks_nothing),
        HOSTILE_TEST(foreign_snapshots_are_refused),
        HOSTILE_TEST(a_retry_of_a_damaged_run_is_held),
        HOSTILE_TEST(a_fork_of_a_damaged_run_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
