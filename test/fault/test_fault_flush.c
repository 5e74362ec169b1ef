// Flushes that fail, over several processes, and then the power fails.
//
// When a flush fails the kernel calls the pages clean that it could not write: they can be read and
// are not on the disk (disk.h, [disk-6]). A story is some processes one after the other on one
// file: each opens it, submits batches of a script, repeats those that fail, writes the log back
// now and then, and ends by itself, by kill -9 in the middle of a write, or because nothing holds
// any more. Then the power fails, in several ways each. Every image is opened again: it must
// verify, and hold all batches that any of the processes acknowledged, and at most the one that was
// under way.
#include "base/array.h"
#include "base/env.h"
#include "fault/disk.h"
#include "fault/script.h"
#include "unit/unit.h"
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = 24, LIVES_MAX = 5, TRIES_MAX = 3, IMAGES = 4, STORIES = 40 };

typedef struct Report { // from the processes
    int64_t acknowledged;
    int64_t failed_batches;
    int64_t refused_open;
    int64_t unexpected;
} Report;

typedef struct Story {
    Script script;
    Report *report;
    uint64_t number, random;
    char directory[64];
    char url[128];
    char kept[128];
} Story;

static int setup(void **state) {
    Story *story = calloc(1, sizeof(Story));
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(story->directory, sizeof(story->directory), "%s/abide-flush-XXXXXX", parent);
    if (mkdtemp(story->directory) == NULL) return -1;
    snprintf(story->url, sizeof(story->url), "sqlite:%s/test.db", story->directory);
    snprintf(story->kept, sizeof(story->kept), "%s/disk", story->directory);
    story->report =
        mmap(NULL, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (story->report == MAP_FAILED) return -1;
    script_init(&story->script, 17, BATCHES);
    *state = story;
    return 0;
}

static void files_remove(const Story *story) {
    static const char *const names[] = {"", "-wal", "-shm", "-journal", "-lock"};
    char path[128];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof(path), "%s/test.db%s", story->directory, names[i]);
        unlink(path);
    }
}

static int teardown(void **state) {
    Story *story = *state;
    files_remove(story);
    unlink(story->kept);
    rmdir(story->directory);
    munmap(story->report, sizeof(Report));
    script_done(&story->script);
    free(story);
    return 0;
}

static void story_fails(const Story *story, const char *why) {
    fail_msg("story %llu, %lld batches acknowledged: %s", (unsigned long long)story->number,
             (long long)story->report->acknowledged, why);
}

static uint64_t pick(Story *story, uint64_t count) { return random_next(&story->random) % count; }

// ---- one process ----

static bool is_done(Status status) { return status == OK || status == ERR_FENCED; }

// The log is written back into the file, and perhaps begun anew, in the midst of everything.
static void write_back(Story *story) {
    static const char *const ways[] = {"PRAGMA wal_checkpoint(PASSIVE)",
                                       "PRAGMA wal_checkpoint(RESTART)",
                                       "PRAGMA wal_checkpoint(TRUNCATE)"};
    sqlite3 *database = NULL;
    if (sqlite3_open(story->url + strlen("sqlite:"), &database) == SQLITE_OK) {
        sqlite3_exec(database, ways[pick(story, 3)], NULL, NULL, NULL);
    }
    sqlite3_close(database);
}

// Repeats a batch while it fails, as the engine does.
static bool submit(Story *story, Store *store, size_t place) {
    Diag diag = {0};
    uint64_t tries = 1 + pick(story, TRIES_MAX);
    for (uint64_t i = 0; i < tries; i++) {
        diag_clear(&diag);
        Status status = script_submit(&story->script, place, store, &diag);
        if (is_done(status)) return true;
        story->report->failed_batches++;
        if (status != ERR_UNAVAILABLE || strcmp(diag.code, "STORE_IO") != 0) {
            story->report->unexpected = (int64_t)status;
            return false;
        }
    }
    return false;
}

static void live(Story *story) {
    Status status;
    Diag diag = {0};
    Report *report = story->report;
    Store *store = script_open(story->url, &status, &diag);
    if (!store) {
        report->refused_open++;
        if (strcmp(diag.code, "STORE_IO") != 0) report->unexpected = (int64_t)status;
        return;
    }
    size_t min = (size_t)report->acknowledged;
    int64_t found = script_find(&story->script, store, min, min + 1);
    if (found < 0) report->unexpected = STATUS_COUNT;
    size_t end = (size_t)found + 1 + pick(story, BATCHES / 2);
    for (size_t i = (size_t)found; found >= 0 && i < end && i < BATCHES; i++) {
        if (pick(story, 10) == 0) write_back(story);
        if (!submit(story, store, i)) return; // as killed: nothing is closed
        report->acknowledged = (int64_t)i + 1;
    }
    if (pick(story, 3) == 0) store_close(store);
}

static void live_and_end(Story *story) {
    DiskLife life = {.kept_path = story->kept, .seed = random_next(&story->random)};
    if (pick(story, 2) == 0) life.end_at = 1 + (int64_t)pick(story, 250);
    if (pick(story, 4) > 0) { // for a moment, or from then on
        life.fail_from = 1 + (int64_t)pick(story, 16);
        life.fail_count = pick(story, 2) == 0 ? 1 + (int64_t)pick(story, 4) : INT64_MAX;
    }
    uint64_t next = random_next(&story->random);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        disk_begin_life(&life);
        story->random = next;
        live(story);
        disk_end_life();
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {}
    bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool is_through = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!is_killed && !is_through) story_fails(story, "a process crashed");
    if (story->report->unexpected == STATUS_COUNT) story_fails(story, "a process found others");
    if (story->report->unexpected) {
        story_fails(story, status_name((Status)story->report->unexpected));
    }
}

// ---- afterwards ----

static void check_image(Story *story, uint64_t seed) {
    Status status;
    Diag diag = {0};
    files_remove(story);
    disk_lose_power(story->kept, seed);
    Store *store = script_open(story->url, &status, &diag);
    if (!store) story_fails(story, diag.message);
    int64_t row_count;
    status = store_verify(store, &row_count, &diag);
    if (status != OK) story_fails(story, diag.message);
    size_t min = (size_t)story->report->acknowledged;
    if (script_find(&story->script, store, min, min + 1) < 0) story_fails(story, "it holds others");
    store_close(store);
}

static int64_t failures_of(const Story *story) {
    return story->report->failed_batches + story->report->refused_open;
}

static void what_was_acknowledged_survives_failed_flushes_and_power_loss(void **state) {
    Story *story = *state;
    int64_t image_count = 0, failed_count = 0, acknowledged = 0;
    size_t stories = scaled(STORIES);
    for (uint64_t seed = 1; seed <= stories; seed++) {
        story->number = seed;
        story->random = seed * 0x9e3779b97f4a7c15u;
        files_remove(story);
        unlink(story->kept);
        story->report->acknowledged = 0;
        int64_t lives = 2 + (int64_t)pick(story, LIVES_MAX - 1);
        int64_t failures = failures_of(story);
        for (int64_t i = 0; i + 1 < lives; i++) live_and_end(story);
        if (failures_of(story) > failures) failed_count += IMAGES;
        live_and_end(story);
        for (int i = 0; i < IMAGES; i++) {
            check_image(story, random_next(&story->random));
            image_count++;
        }
        acknowledged += story->report->acknowledged;
    }
    const Report *report = story->report;
    print_message("# %lld images of %zu stories, %lld with failed flushes before a restart: %lld "
                  "batches acknowledged, %lld failed, %lld openings refused\n",
                  (long long)image_count, stories, (long long)failed_count, (long long)acknowledged,
                  (long long)report->failed_batches, (long long)report->refused_open);
    assert_true(failed_count > image_count / 3 && acknowledged > (int64_t)stories);
}

int main(void) {
    disk_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_was_acknowledged_survives_failed_flushes_and_power_loss, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
