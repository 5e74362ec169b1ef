// A crash between any two writes: a child process submits a script of batches to a file and is
// ended at the n-th thing it does to the disk, n = 1, 2, 3 … through the whole script; once as by
// kill -9 and once as by a power failure that loses what was not flushed.
//
// Then the file is opened again. It must verify, and hold exactly the batches that were
// acknowledged, or those and the one that was under way; and the rest of the script must lead to
// the same end. Now and then the opening itself is interrupted as well.
#include "base/array.h"
#include "base/env.h"
#include "fault/disk.h"
#include "fault/script.h"
#include "unit/unit.h"
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = 14, REOPEN_AT = 8, ROUNDS_MAX = 100000 };

typedef struct Report { // from the child
    int64_t acknowledged;
    int64_t access_count;
    int64_t unexpected; // it saw an answer that must not be
} Report;

typedef struct Crash {
    Script script;
    Report *report;
    char directory[64];
    char url[128];
    int64_t crash_count, in_flight_count;
} Crash;

static int setup(void **state) {
    Crash *crash = calloc(1, sizeof(Crash));
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(crash->directory, sizeof(crash->directory), "%s/abide-crash-XXXXXX", parent);
    if (mkdtemp(crash->directory) == NULL) return -1;
    snprintf(crash->url, sizeof(crash->url), "sqlite:%s/test.db", crash->directory);
    crash->report =
        mmap(NULL, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (crash->report == MAP_FAILED) return -1;
    *state = crash;
    return 0;
}

static void files_remove(const Crash *crash) {
    static const char *const names[] = {"", "-wal", "-shm", "-journal", "-lock"};
    char path[128];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof(path), "%s/test.db%s", crash->directory, names[i]);
        unlink(path);
    }
}

static int teardown(void **state) {
    Crash *crash = *state;
    files_remove(crash);
    rmdir(crash->directory);
    munmap(crash->report, sizeof(Report));
    script_done(&crash->script);
    free(crash);
    return 0;
}

// ---- in the child ----

static void child_run(const Crash *crash, size_t first) {
    Status status;
    Diag diag = {0};
    Report *report = crash->report;
    Store *store = script_open(crash->url, &status, &diag);
    for (size_t i = first; store && i < crash->script.trace.count; i++) {
        if (i == REOPEN_AT) { // closing writes the log back into the file
            store_close(store);
            store = script_open(crash->url, &status, &diag);
            if (!store) break;
        }
        status = script_submit(&crash->script, i, store, &diag);
        if (status != OK && status != ERR_FENCED) {
            report->unexpected = (int64_t)status;
            break;
        }
        report->acknowledged = (int64_t)i + 1;
    }
    if (!store) report->unexpected = (int64_t)status;
    else store_close(store);
    report->access_count = disk_count();
}

// A child that submits from batch `first` on and ends at the n-th access. Answers whether it did.
static bool child_crashes(const Crash *crash, size_t first, DiskFault fault, int64_t number,
                          uint64_t seed) {
    crash->report->unexpected = 0;
    crash->report->acknowledged = (int64_t)first;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        disk_arm(fault, number, seed);
        child_run(crash, first);
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {}
    bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool is_out = WIFEXITED(status) && WEXITSTATUS(status) == DISK_EXIT;
    bool is_through = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!is_killed && !is_out && !is_through) {
        fail_msg("the child ended with status %d at access %lld", status, (long long)number);
    }
    if (is_through && crash->report->unexpected) {
        fail_msg("the child got %s at access %lld", status_name((Status)crash->report->unexpected),
                 (long long)number);
    }
    return !is_through;
}

// ---- afterwards ----

static Store *open_again(const Crash *crash, int64_t number) {
    Status status;
    Diag diag = {0};
    Store *store = script_open(crash->url, &status, &diag);
    if (!store) {
        fail_msg("after access %lld: %s: %s", (long long)number, diag.code, diag.message);
    }
    int64_t row_count;
    status = store_verify(store, &row_count, &diag);
    if (status != OK) {
        fail_msg("after access %lld: %s: %s", (long long)number, diag.code, diag.message);
    }
    return store;
}

// Opens the file, finds out what it holds, goes on to the end and compares.
static void check_file(Crash *crash, int64_t number, bool is_finished) {
    size_t min = (size_t)crash->report->acknowledged;
    Store *store = open_again(crash, number);
    int64_t found = script_find(&crash->script, store, min, min + 1);
    if (found < 0) fail_msg("after access %lld", (long long)number);
    crash->in_flight_count += found > (int64_t)min;
    if (is_finished) {
        size_t count = crash->script.trace.count;
        for (size_t i = (size_t)found; i < count; i++) {
            Diag diag = {0};
            Status status = script_submit(&crash->script, i, store, &diag);
            if (status != OK && status != ERR_FENCED) fail_msg("%s: %s", diag.code, diag.message);
        }
        if (script_find(&crash->script, store, count, count) < 0) {
            fail_msg("went on after access %lld", (long long)number);
        }
    }
    store_close(store);
}

static void crash_everywhere(Crash *crash, DiskFault fault, uint64_t seed) {
    script_init(&crash->script, seed, BATCHES);
    uint64_t random = seed + (uint64_t)fault;
    // Every place in a full run; otherwise a sample that is another one for each kind.
    size_t percent = scaled(100);
    int64_t step = percent < 100 ? (int64_t)(100 / percent) : 1;
    int64_t number = 1 + (int64_t)(random_next(&random) % (uint64_t)step);
    for (int round = 0; round < ROUNDS_MAX; round++, number += step) {
        files_remove(crash);
        if (!child_crashes(crash, 0, fault, number, random_next(&random))) break;
        crash->crash_count++;
        if (round % 4 == 0) { // once more, while it goes on from there
            size_t min = (size_t)crash->report->acknowledged;
            Store *store = open_again(crash, number);
            int64_t found = script_find(&crash->script, store, min, min + 1);
            assert_true(found >= 0);
            store_close(store);
            child_crashes(crash, (size_t)found, fault, 1 + (int64_t)(random_next(&random) % 60),
                          random_next(&random));
        }
        check_file(crash, number, round % 8 == 0);
    }
    assert_true(crash->crash_count > 10);
    print_message("# %lld crashes, in %lld of them the batch under way had happened\n",
                  (long long)crash->crash_count, (long long)crash->in_flight_count);
}

static void killed_at_any_access_it_holds_whole_batches(void **state) {
    crash_everywhere(*state, DISK_KILL, 3);
}

static void without_power_at_any_access_it_holds_whole_batches(void **state) {
    crash_everywhere(*state, DISK_POWER, 5);
}

// The file is made, and its first moments interrupted: it is opened again as new, not refused.
static void interrupted_creation_leaves_no_file_that_is_refused(void **state) {
    Crash *crash = *state;
    script_init(&crash->script, 7, 1);
    size_t seeds = scaled(3);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        for (int64_t number = 1; number < 400; number++) {
            files_remove(crash);
            if (!child_crashes(crash, 0, DISK_POWER, number, seed)) break;
            crash->crash_count++;
            check_file(crash, number, false);
        }
    }
    print_message("# %lld crashes while a file was made\n", (long long)crash->crash_count);
}

int main(void) {
    disk_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_at_any_access_it_holds_whole_batches, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_power_at_any_access_it_holds_whole_batches, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(interrupted_creation_leaves_no_file_that_is_refused, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
