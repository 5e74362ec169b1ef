// Opening a store: what is accepted, and what every refusal says and leaves behind.
#include "base/array.h"
#include "store/rowstore.h"
#include "store/sqlite/internal.h"
#include "store/store.h"
#include "unit/unit.h"
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Fixture {
    char folder[64];
    char path[96];
    StoreConfig config;
    RowStorePair pair;
    Diag diag;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof(Fixture));
    snprintf(f->folder, sizeof(f->folder), "/tmp/abide-open-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static Status open_path(Fixture *f, const char *path) {
    diag_clear(&f->diag);
    return sqlite_rows_open(str_from(path), &f->config, &f->pair, &f->diag);
}

static void close_pair(RowStorePair *pair) {
    if (pair->reader != pair->writer) pair->reader->ops->close(pair->reader);
    pair->writer->ops->close(pair->writer);
    *pair = (RowStorePair){0};
}

static void make_store(Fixture *f) {
    assert_ok(open_path(f, f->path));
    close_pair(&f->pair);
}

static void write_file(const char *path, const void *data, size_t len) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static Str read_whole(const char *path, Arena *arena) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *data = arena_alloc(arena, 1 << 20);
    size_t len = fread(data, 1, 1 << 20, file);
    fclose(file);
    return (Str){data, len};
}

static bool exists(Fixture *f, const char *suffix) {
    char path[160];
    snprintf(path, sizeof(path), "%s%s", f->path, suffix);
    return access(path, F_OK) == 0;
}

static void run_sql(const char *path, const char *sql) {
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

static int64_t query(const char *path, const char *sql) {
    sqlite3 *database;
    int64_t value = -1;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_ok(sqlite_query_i64(database, sql, &value, NULL));
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    return value;
}

#define assert_refused(f, given, status, expected)                                                 \
    do {                                                                                           \
        assert_status(open_path((f), (given)), (status));                                          \
        assert_string_equal((f)->diag.code, (expected));                                           \
    } while (0)

// The file is refused, and is afterwards as it was; nothing is left beside it.
static void assert_left_alone(Fixture *f, Status status, const char *code) {
    Arena arena;
    arena_init(&arena);
    Str before = read_whole(f->path, &arena);
    assert_refused(f, f->path, status, code);
    assert_true(str_equal(read_whole(f->path, &arena), before));
    assert_false(exists(f, "-lock"));
    assert_false(exists(f, "-wal"));
    assert_false(exists(f, "-journal"));
    arena_done(&arena);
}

// ---- what works ----

static void a_new_file_names_us_and_its_version(void **state) {
    Fixture *f = *state;
    make_store(f);
    assert_int_equal(query(f->path, "PRAGMA application_id"), SQLITE_APPLICATION_ID);
    assert_int_equal(query(f->path, "PRAGMA user_version"), SCHEMA_VERSION);
    assert_int_equal(query(f->path, "PRAGMA page_size"), 4096);
    assert_int_equal(query(f->path, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"),
                     TABLE_COUNT);
}

static void closing_leaves_one_file(void **state) {
    Fixture *f = *state;
    make_store(f);
    assert_true(exists(f, ""));
    assert_false(exists(f, "-lock"));
    assert_false(exists(f, "-wal"));
    assert_false(exists(f, "-shm"));
}

static void rows_are_there_after_opening_again(void **state) {
    Fixture *f = *state;
    Arena arena;
    arena_init(&arena);
    assert_ok(open_path(f, f->path));
    RowStore *writer = f->pair.writer;
    CounterRow row = {.number = 3, .value = 33}, found;
    assert_ok(writer->ops->begin(writer, &f->diag));
    assert_ok(rows_insert(writer, TABLE_COUNTERS, &row));
    assert_ok(writer->ops->commit(writer, &f->diag));
    close_pair(&f->pair);
    assert_ok(open_path(f, f->path));
    assert_ok(rows_get(f->pair.writer, TABLE_COUNTERS, &row, &arena, &found));
    assert_int_equal(found.value, 33);
    close_pair(&f->pair);
    arena_done(&arena);
}

static void an_empty_file_becomes_a_store(void **state) {
    Fixture *f = *state;
    write_file(f->path, "", 0);
    make_store(f);
    assert_int_equal(query(f->path, "PRAGMA user_version"), SCHEMA_VERSION);
}

static void odd_names_are_just_names(void **state) {
    Fixture *f = *state;
    const char *names[] = {"a b", "100%", "what?x=1", "a#b", "file:x", ":memory:", "'", "\xC3\xA9"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[160];
        snprintf(path, sizeof(path), "%s/%s", f->folder, names[i]);
        assert_ok(open_path(f, path));
        close_pair(&f->pair);
        assert_int_equal(access(path, F_OK), 0);
        assert_ok(open_path(f, path));
        close_pair(&f->pair);
    }
}

static void tables_of_the_application_may_stand_beside_ours(void **state) {
    Fixture *f = *state;
    make_store(f);
    run_sql(f->path, "CREATE TABLE tasks (x); INSERT INTO tasks VALUES (1)");
    assert_ok(open_path(f, f->path));
    close_pair(&f->pair);
    assert_int_equal(query(f->path, "SELECT x FROM tasks"), 1);
}

// ---- one owner ----

static void a_second_open_in_one_process_is_refused(void **state) {
    Fixture *f = *state;
    assert_ok(open_path(f, f->path));
    RowStorePair first = f->pair;
    assert_refused(f, f->path, ERR_LOCKED, "STORE_LOCKED");
    assert_non_null(strstr(f->diag.message, "this process"));
    CounterRow row = {.number = 1, .value = 1};
    assert_ok(first.writer->ops->begin(first.writer, &f->diag)); // the first one still works
    assert_ok(rows_insert(first.writer, TABLE_COUNTERS, &row));
    assert_ok(first.writer->ops->commit(first.writer, &f->diag));
    close_pair(&first);
    assert_ok(open_path(f, f->path));
    close_pair(&f->pair);
}

static void a_link_to_the_file_shares_its_lock(void **state) {
    Fixture *f = *state;
    char other[160];
    snprintf(other, sizeof(other), "%s/other.db", f->folder);
    assert_ok(open_path(f, f->path));
    RowStorePair first = f->pair;
    assert_int_equal(symlink(f->path, other), 0);
    assert_refused(f, other, ERR_LOCKED, "STORE_LOCKED");
    close_pair(&first);
}

// Runs `body` in a child process and answers what it returned.
static int in_child(Fixture *f, int (*body)(Fixture *f)) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(body(f));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int expect_locked(Fixture *f) {
    char owner[32];
    snprintf(owner, sizeof(owner), "process %ld;", (long)getppid());
    if (open_path(f, f->path) != ERR_LOCKED) return 1;
    if (strcmp(f->diag.code, "STORE_LOCKED") != 0) return 2;
    return strstr(f->diag.message, owner) != NULL ? 0 : 3;
}

static void a_second_process_is_told_who_has_it(void **state) {
    Fixture *f = *state;
    assert_ok(open_path(f, f->path));
    RowStorePair first = f->pair;
    assert_int_equal(in_child(f, expect_locked), 0);
    close_pair(&first);
}

static int expect_nobody_named(Fixture *f) {
    if (open_path(f, f->path) != ERR_LOCKED) return 1;
    if (strcmp(f->diag.code, "STORE_LOCKED") != 0) return 2;
    return strstr(f->diag.message, "by another process") != NULL ? 0 : 3;
}

// The lock's file may still name the one before: the present owner could not write itself down.
static void a_process_that_has_ended_is_not_named(void **state) {
    Fixture *f = *state;
    char lock_path[160];
    assert_ok(open_path(f, f->path));
    RowStorePair first = f->pair;
    snprintf(lock_path, sizeof(lock_path), "%s-lock", f->path);
    pid_t ended = fork();
    if (ended == 0) _exit(0);
    assert_int_equal(waitpid(ended, NULL, 0), ended);
    FILE *file = fopen(lock_path, "r+");
    fprintf(file, "%ld\n", (long)ended);
    fclose(file);
    assert_int_equal(in_child(f, expect_nobody_named), 0);
    close_pair(&first);
}

static void the_files_of_a_store_are_its_owners_alone(void **state) {
    Fixture *f = *state;
    static const char *const names[] = {"", "-wal", "-shm", "-lock"};
    mode_t before = umask(0);
    assert_ok(open_path(f, f->path));
    umask(before);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[160];
        struct stat info;
        snprintf(path, sizeof(path), "%s%s", f->path, names[i]);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
    close_pair(&f->pair);
}

static int open_and_die(Fixture *f) {
    if (open_path(f, f->path) != OK) return 1;
    RowStore *writer = f->pair.writer;
    CounterRow row = {.number = 5, .value = 55};
    if (writer->ops->begin(writer, NULL) != OK) return 2;
    if (rows_insert(writer, TABLE_COUNTERS, &row) != OK) return 3;
    if (writer->ops->commit(writer, NULL) != OK) return 4;
    row.number = 6;
    if (writer->ops->begin(writer, NULL) != OK) return 5;
    if (rows_insert(writer, TABLE_COUNTERS, &row) != OK) return 6;
    return 0; // without closing anything
}

static void a_dead_owner_leaves_its_commits_and_no_lock(void **state) {
    Fixture *f = *state;
    Arena arena;
    arena_init(&arena);
    assert_int_equal(in_child(f, open_and_die), 0);
    assert_true(exists(f, "-lock"));
    assert_ok(open_path(f, f->path));
    CounterRow found;
    assert_ok(rows_get(f->pair.writer, TABLE_COUNTERS, &(CounterRow){.number = 5}, &arena, &found));
    assert_int_equal(found.value, 55);
    assert_status(
        rows_get(f->pair.writer, TABLE_COUNTERS, &(CounterRow){.number = 6}, &arena, &found),
        ERR_NOT_FOUND);
    close_pair(&f->pair);
    arena_done(&arena);
}

// ---- read-only beside the owner ----

static void reading_beside_the_owner_sees_its_commits(void **state) {
    Fixture *f = *state;
    Arena arena;
    arena_init(&arena);
    assert_ok(open_path(f, f->path));
    RowStorePair owner = f->pair;
    f->config.is_read_only = true;
    assert_ok(open_path(f, f->path));
    assert_ptr_equal(f->pair.reader, f->pair.writer);
    CounterRow row = {.number = 1, .value = 11}, found;
    assert_ok(owner.writer->ops->begin(owner.writer, &f->diag));
    assert_ok(rows_insert(owner.writer, TABLE_COUNTERS, &row));
    assert_ok(owner.writer->ops->commit(owner.writer, &f->diag));
    assert_ok(f->pair.reader->ops->read_begin(f->pair.reader, &f->diag));
    assert_ok(rows_get(f->pair.reader, TABLE_COUNTERS, &row, &arena, &found));
    f->pair.reader->ops->read_end(f->pair.reader);
    assert_int_equal(found.value, 11);
    assert_status(f->pair.writer->ops->begin(f->pair.writer, &f->diag), ERR_UNAVAILABLE);
    assert_string_equal(f->diag.code, "STORE_READ_ONLY");
    close_pair(&f->pair);
    assert_ok(owner.writer->ops->begin(owner.writer, &f->diag));
    owner.writer->ops->rollback(owner.writer);
    close_pair(&owner);
    arena_done(&arena);
}

static void reading_makes_no_file(void **state) {
    Fixture *f = *state;
    f->config.is_read_only = true;
    assert_refused(f, f->path, ERR_NOT_FOUND, "STORE_NOT_FOUND");
    assert_false(exists(f, ""));
    write_file(f->path, "hello", 5);
    assert_refused(f, f->path, ERR_INVALID, "STORE_NOT_OURS");
    assert_false(exists(f, "-lock"));
}

// ---- refusals ----

static void files_of_others_are_left_alone(void **state) {
    Fixture *f = *state;
    write_file(f->path, "hello", 5);
    assert_left_alone(f, ERR_INVALID, "STORE_NOT_OURS");
    char page[8192];
    memset(page, 'x', sizeof(page));
    write_file(f->path, page, sizeof(page));
    assert_left_alone(f, ERR_INVALID, "STORE_NOT_OURS");
    unlink(f->path);
    run_sql(f->path, "CREATE TABLE theirs (x)");
    assert_left_alone(f, ERR_INVALID, "STORE_NOT_OURS");
    unlink(f->path);
    run_sql(f->path, "PRAGMA application_id = 77");
    assert_left_alone(f, ERR_INVALID, "STORE_NOT_OURS");
    unlink(f->path);
    run_sql(f->path, "PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)");
    assert_left_alone(f, ERR_INVALID, "STORE_NOT_OURS");
}

static void a_newer_file_is_left_alone(void **state) {
    Fixture *f = *state;
    make_store(f);
    char sql[40], newer[40], known[40];
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA_VERSION + 1);
    snprintf(newer, sizeof(newer), "version %d", SCHEMA_VERSION + 1);
    snprintf(known, sizeof(known), "up to %d", SCHEMA_VERSION);
    run_sql(f->path, sql);
    assert_left_alone(f, ERR_UNSUPPORTED, "STORE_NEWER");
    assert_non_null(strstr(f->diag.message, newer));
    assert_non_null(strstr(f->diag.message, known));
    assert_non_null(strstr(f->diag.message, "upgrade"));
    f->config.is_read_only = true;
    assert_refused(f, f->path, ERR_UNSUPPORTED, "STORE_NEWER");
}

static int make_newer_and_die(Fixture *f) {
    if (open_path(f, f->path) != OK) return 1;
    sqlite3 *database = f->pair.writer->ops->database(f->pair.writer).handle;
    char sql[40];
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA_VERSION + 1);
    return sqlite_execute(database, sql, NULL) == OK ? 0 : 2;
}

static void a_newer_version_in_the_log_alone_is_noticed(void **state) {
    Fixture *f = *state;
    assert_int_equal(in_child(f, make_newer_and_die), 0);
    Arena arena;
    arena_init(&arena);
    Str before = read_whole(f->path, &arena);
    assert_refused(f, f->path, ERR_UNSUPPORTED, "STORE_NEWER");
    assert_true(str_equal(read_whole(f->path, &arena), before));
    assert_true(exists(f, "-wal"));
    assert_int_equal(query(f->path, "PRAGMA user_version"), SCHEMA_VERSION + 1); // nothing was lost
    arena_done(&arena);
}

static void a_file_without_its_tables_is_damaged(void **state) {
    Fixture *f = *state;
    make_store(f);
    run_sql(f->path, "DROP TABLE abide_events");
    assert_refused(f, f->path, ERR_CORRUPT, "STORE_CORRUPT");
    assert_non_null(strstr(f->diag.message, "abide_events"));
}

static void a_damaged_file_is_refused(void **state) {
    Fixture *f = *state;
    make_store(f);
    FILE *file = fopen(f->path, "r+b");
    char noise[300];
    memset(noise, 0x5A, sizeof(noise));
    fseek(file, 100, SEEK_SET); // the first page of the schema, behind the header
    fwrite(noise, 1, sizeof(noise), file);
    fclose(file);
    assert_left_alone(f, ERR_CORRUPT, "STORE_CORRUPT");
}

static void paths_that_cannot_hold_a_store_are_refused(void **state) {
    Fixture *f = *state;
    char path[6000];
    assert_refused(f, f->folder, ERR_INVALID, "STORE_PATH");
    assert_non_null(strstr(f->diag.message, "directory"));
    snprintf(path, sizeof(path), "%s/", f->folder);
    assert_refused(f, path, ERR_INVALID, "STORE_PATH");
    snprintf(path, sizeof(path), "%s/none/store.db", f->folder);
    assert_refused(f, path, ERR_INVALID, "STORE_PATH");
    assert_non_null(strstr(f->diag.message, "does not exist"));
    write_file(f->path, "", 0);
    snprintf(path, sizeof(path), "%s/below", f->path);
    assert_refused(f, path, ERR_INVALID, "STORE_PATH");
    assert_refused(f, "/dev/null", ERR_INVALID, "STORE_PATH");
    assert_refused(f, "", ERR_INVALID, "STORE_PATH");
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_refused(f, path, ERR_INVALID, "STORE_PATH");
    Str with_nul = {"a\0b", 3};
    assert_status(sqlite_rows_open(with_nul, &f->config, &f->pair, &f->diag), ERR_INVALID);
}

// A user for whom permissions count, which they do not for root.
static void become_nobody(void) {
    if (geteuid() != 0) return;
    if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(99);
}

static int expect_read_only(Fixture *f) {
    become_nobody();
    if (open_path(f, f->path) != ERR_UNAVAILABLE) return 1;
    return strcmp(f->diag.code, "STORE_READ_ONLY") == 0 ? 0 : 2;
}

static void a_read_only_file_is_refused(void **state) {
    Fixture *f = *state;
    make_store(f);
    assert_int_equal(chmod(f->folder, 0777), 0);
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(in_child(f, expect_read_only), 0);
    assert_false(exists(f, "-lock"));
}

static void a_read_only_directory_is_refused(void **state) {
    Fixture *f = *state;
    assert_int_equal(chmod(f->folder, 0555), 0);
    assert_int_equal(in_child(f, expect_read_only), 0);
    assert_int_equal(chmod(f->folder, 0755), 0);
}

// ---- a full disk, by a limit on file sizes ----

static int expect_full_at_open(Fixture *f) {
    struct rlimit limit = {20000, 20000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 9;
    if (open_path(f, f->path) != ERR_FULL) return 1;
    return strcmp(f->diag.code, "STORE_FULL") == 0 ? 0 : 2;
}

static void a_full_disk_is_told_at_open(void **state) {
    Fixture *f = *state;
    assert_int_equal(in_child(f, expect_full_at_open), 0);
    make_store(f); // what was left behind does not hinder the next one
}

static int expect_full_at_commit(Fixture *f) {
    if (open_path(f, f->path) != OK) return 9;
    struct rlimit limit = {300000, 300000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 9;
    RowStore *writer = f->pair.writer;
    writer->diag = &f->diag;
    static char data[20000];
    memset(data, 'x', sizeof(data));
    for (int64_t i = 1; i < 1000; i++) {
        LogRow row = {.run = i, .seq = 1, .data = {data, sizeof(data)}};
        if (writer->ops->begin(writer, &f->diag) != OK) return 3;
        Status status = rows_insert(writer, TABLE_LOG, &row);
        if (status == OK) status = writer->ops->commit(writer, &f->diag);
        else writer->ops->rollback(writer);
        if (status == OK) continue;
        if (status != ERR_FULL || strcmp(f->diag.code, "STORE_FULL") != 0) return 4;
        // Later calls are refused in the same way or work; they never find a half-open transaction.
        row = (LogRow){.run = i + 1, .seq = 1};
        if (writer->ops->begin(writer, &f->diag) != OK) return 5;
        writer->ops->rollback(writer);
        return (int)(i > 100 ? 6 : 0);
    }
    return 7;
}

static void a_full_disk_is_told_at_commit(void **state) {
    Fixture *f = *state;
    assert_int_equal(in_child(f, expect_full_at_commit), 0);
    assert_ok(open_path(f, f->path));
    RowStore *reader = f->pair.reader;
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_ok(rows_check(reader, &f->diag));
    reader->ops->read_end(reader);
    close_pair(&f->pair);
}

// ---- URLs ----

static void assert_url(const char *url, Status status, const char *code) {
    Store *store = NULL;
    Diag diag = {0};
    assert_status(store_open(str_from(url), NULL, &store, &diag), status);
    assert_string_equal(diag.code, code);
    if (status == OK) store_close(store);
}

static void a_url_names_the_kind_of_store(void **state) {
    Fixture *f = *state;
    char url[200];
    assert_url("memory:", OK, "");
    snprintf(url, sizeof(url), "sqlite:%s", f->path);
    assert_url(url, OK, "");
    assert_url(f->path, OK, "");
    snprintf(url, sizeof(url), "sqlite:%s/none/x", f->folder);
    assert_url(url, ERR_INVALID, "STORE_PATH");
}

static void a_bare_path_may_be_relative_and_hold_a_colon(void **state) {
    Fixture *f = *state;
    char before[512];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(f->folder), 0);
    assert_url("./a:b", OK, "");
    assert_url("plain.db", OK, "");
    assert_int_equal(access("a:b", F_OK), 0);
    assert_int_equal(access("plain.db", F_OK), 0);
    assert_int_equal(chdir(before), 0);
}

static void an_unknown_kind_of_store_is_refused_with_the_known_ones(void **state) {
    (void)state;
    const char *urls[] = {
        "", ":", "mysql://host/x", "memory:x", "sqlite:", "sqlite::memory:", "Memory:", "http://x"};
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        assert_url(urls[i], ERR_INVALID, "STORE_URL");
    }
    Diag diag = {0};
    Store *store = NULL;
    assert_status(store_open(STR("mysql:x"), NULL, &store, &diag), ERR_INVALID);
    assert_non_null(strstr(diag.message, "mysql"));
    assert_non_null(strstr(diag.message, "memory:"));
    assert_non_null(strstr(diag.message, "sqlite:PATH"));
}

#define OPEN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        OPEN_TEST(a_new_file_names_us_and_its_version),
        OPEN_TEST(closing_leaves_one_file),
        OPEN_TEST(rows_are_there_after_opening_again),
        OPEN_TEST(an_empty_file_becomes_a_store),
        OPEN_TEST(odd_names_are_just_names),
        OPEN_TEST(tables_of_the_application_may_stand_beside_ours),
        OPEN_TEST(a_process_that_has_ended_is_not_named),
        OPEN_TEST(the_files_of_a_store_are_its_owners_alone),
        OPEN_TEST(a_second_open_in_one_process_is_refused),
        OPEN_TEST(a_link_to_the_file_shares_its_lock),
        OPEN_TEST(a_second_process_is_told_who_has_it),
        OPEN_TEST(a_dead_owner_leaves_its_commits_and_no_lock),
        OPEN_TEST(reading_beside_the_owner_sees_its_commits),
        OPEN_TEST(reading_makes_no_file),
        OPEN_TEST(files_of_others_are_left_alone),
        OPEN_TEST(a_newer_file_is_left_alone),
        OPEN_TEST(a_newer_version_in_the_log_alone_is_noticed),
        OPEN_TEST(a_file_without_its_tables_is_damaged),
        OPEN_TEST(a_damaged_file_is_refused),
        OPEN_TEST(paths_that_cannot_hold_a_store_are_refused),
        OPEN_TEST(a_read_only_file_is_refused),
        OPEN_TEST(a_read_only_directory_is_refused),
        OPEN_TEST(a_full_disk_is_told_at_open),
        OPEN_TEST(a_full_disk_is_told_at_commit),
        OPEN_TEST(a_url_names_the_kind_of_store),
        OPEN_TEST(a_bare_path_may_be_relative_and_hold_a_colon),
        OPEN_TEST(an_unknown_kind_of_store_is_refused_with_the_known_ones),
    };
    return cmocka_run_group_tests_name("store open", tests, NULL, NULL);
}
