// A disk that fails or is full at the n-th access, n = 1, 2, 3 … through a script of batches.
//
// The batch that met the fault answers an error and has done nothing, not even in part; when the
// disk is well again the same batch and all that follow go through, and lead to the same end.
#include "base/array.h"
#include "fault/disk.h"
#include "fault/script.h"
#include "unit/unit.h"
#include <stdio.h>
#include <unistd.h>

enum { BATCHES = 9, REOPEN_AT = 5 };

typedef struct Bench {
    Script script;
    char directory[64];
    char url[128];
    int64_t fault_count;  // batches that answered an error
    int64_t refused_open; // openings that did
} Bench;

static int setup(void **state) {
    Bench *bench = calloc(1, sizeof(Bench));
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(bench->directory, sizeof(bench->directory), "%s/abide-disk-XXXXXX", parent);
    if (mkdtemp(bench->directory) == NULL) return -1;
    snprintf(bench->url, sizeof(bench->url), "sqlite:%s/test.db", bench->directory);
    script_init(&bench->script, 11, BATCHES);
    *state = bench;
    return 0;
}

static void files_remove(const Bench *bench) {
    static const char *const names[] = {"", "-wal", "-shm", "-journal", "-lock"};
    char path[128];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof(path), "%s/test.db%s", bench->directory, names[i]);
        unlink(path);
    }
}

static int teardown(void **state) {
    Bench *bench = *state;
    disk_arm(DISK_GOOD, 0, 0);
    files_remove(bench);
    rmdir(bench->directory);
    script_done(&bench->script);
    free(bench);
    return 0;
}

typedef struct Expected { // how the fault is told
    DiskFault fault;
    Status status;
    const char *code;
} Expected;

static void check_told(const Expected *expected, Status status, const Diag *diag, int64_t number) {
    if (status == expected->status && strcmp(diag->code, expected->code) == 0) return;
    fail_msg("access %lld: %s %s instead of %s: %s", (long long)number, status_name(status),
             diag->code, expected->code, diag->message);
}

// Opens; a fault meanwhile is told, and the next try succeeds.
static Store *open_store(Bench *bench, const Expected *expected, int64_t number) {
    Status status;
    Diag diag = {0};
    Store *store = script_open(bench->url, &status, &diag);
    if (store) return store;
    check_told(expected, status, &diag, number);
    bench->refused_open++;
    disk_repair();
    store = script_open(bench->url, &status, &diag);
    if (!store) fail_msg("access %lld: %s: %s", (long long)number, diag.code, diag.message);
    return store;
}

static void check_state(const Bench *bench, Store *store, size_t place, int64_t number) {
    if (script_find(&bench->script, store, place, place) < 0) {
        fail_msg("at batch %zu after a fault at access %lld", place, (long long)number);
    }
    int64_t row_count;
    Diag diag = {0};
    Status status = store_verify(store, &row_count, &diag);
    if (status != OK) fail_msg("access %lld: %s: %s", (long long)number, diag.code, diag.message);
}

static void submit(Bench *bench, Store *store, size_t place, const Expected *expected,
                   int64_t number) {
    Diag diag = {0};
    Status status = script_submit(&bench->script, place, store, &diag);
    if (status == OK || status == ERR_FENCED) return;
    check_told(expected, status, &diag, number);
    bench->fault_count++;
    disk_repair();
    check_state(bench, store, place, number); // nothing half-done
    diag_clear(&diag);
    status = script_submit(&bench->script, place, store, &diag);
    if (status != OK && status != ERR_FENCED) {
        fail_msg("access %lld: once repaired: %s: %s", (long long)number, diag.code, diag.message);
    }
    check_state(bench, store, place + 1, number);
}

// The whole script with one fault; answers whether the fault came.
static bool run_with_fault(Bench *bench, const Expected *expected, int64_t number) {
    files_remove(bench);
    disk_arm(expected->fault, number, 0);
    Store *store = open_store(bench, expected, number);
    for (size_t i = 0; i < BATCHES; i++) {
        if (i == REOPEN_AT) {
            store_close(store); // may fail to write the log back; the log is kept then
            store = open_store(bench, expected, number);
        }
        submit(bench, store, i, expected, number);
    }
    bool has_failed = disk_has_failed();
    disk_repair();
    check_state(bench, store, BATCHES, number);
    store_close(store);
    return has_failed;
}

static void fail_everywhere(Bench *bench, const Expected *expected) {
    int64_t step = (int64_t)(100 / scaled(100));
    int64_t number = 1, tries = 0;
    for (; run_with_fault(bench, expected, number); number += step) tries++;
    assert_true(tries > 10);
    assert_true(bench->fault_count > 0);
    print_message("# %lld faults: %lld batches and %lld openings answered an error\n",
                  (long long)tries, (long long)bench->fault_count, (long long)bench->refused_open);
}

static void full_disk_answers_store_full_and_goes_on_when_there_is_room(void **state) {
    fail_everywhere(*state, &(Expected){DISK_FULL, ERR_FULL, "STORE_FULL"});
}

static void failed_write_or_flush_answers_unavailable_and_goes_on(void **state) {
    fail_everywhere(*state, &(Expected){DISK_ERROR, ERR_UNAVAILABLE, "STORE_IO"});
}

static void failed_read_answers_unavailable_and_goes_on(void **state) {
    fail_everywhere(*state, &(Expected){DISK_READ_ERROR, ERR_UNAVAILABLE, "STORE_IO"});
}

// The disk stays full for a while: every try is refused in the same way, and reading goes on.
static void full_disk_can_be_read_and_refuses_every_try(void **state) {
    Bench *bench = *state;
    disk_arm(DISK_GOOD, 0, 0);
    Expected expected = {DISK_FULL, ERR_FULL, "STORE_FULL"};
    Store *store = open_store(bench, &expected, 0);
    for (size_t i = 0; i < 5; i++) submit(bench, store, i, &expected, 0);
    disk_arm(DISK_FULL, 1, 0);
    size_t place = 5;
    Diag diag = {0};
    while (script_submit(&bench->script, place, store, &diag) == OK) { // one that writes nothing
        place++;
        assert_true(place < BATCHES);
        diag_clear(&diag);
    }
    for (int i = 0; i < 5; i++) {
        diag_clear(&diag);
        check_told(&expected, script_submit(&bench->script, place, store, &diag), &diag, 1);
        check_state(bench, store, place, 1);
    }
    disk_repair();
    for (size_t i = place; i < BATCHES; i++) submit(bench, store, i, &expected, 0);
    check_state(bench, store, BATCHES, 0);
    store_close(store);
}

int main(void) {
    disk_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(full_disk_answers_store_full_and_goes_on_when_there_is_room,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(full_disk_can_be_read_and_refuses_every_try, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(failed_write_or_flush_answers_unavailable_and_goes_on,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(failed_read_answers_unavailable_and_goes_on, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
