// Migrations: how a file gets the schema this program expects.
//
// The version stands in the file's header (PRAGMA user_version). A new file is made at the newest
// version in one go, from the tables themselves; a file of an older version is brought up step by
// step.
//   [migrations-1] A step and the version it leads to are one transaction: after a crash or an
//        error the file is as it was before that step.
//   [migrations-2] steps[0] makes all tables as they are now; each later step changes what the
//        version before it had, in plain SQL that is never edited afterwards.
//   [migrations-3] A file with a newer version is never touched (sqlite/open.c refuses it before).
#include "base/array.h"
#include "base/assert.h"
#include "store/sqlite/internal.h"

Status sqlite_execute(sqlite3 *database, const char *sql, Diag *diag) {
    int code = sqlite3_exec(database, sql, NULL, NULL, NULL);
    if (code == SQLITE_OK) return OK;
    return sqlite_error(database, code, sqlite3_db_filename(database, "main"), diag);
}

Status sqlite_query_i64(sqlite3 *database, const char *sql, int64_t *ret_value, Diag *diag) {
    const char *path = sqlite3_db_filename(database, "main");
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) return sqlite_error(database, code, path, diag);
    code = sqlite3_step(statement);
    Status status = OK;
    if (code == SQLITE_ROW) *ret_value = sqlite3_column_int64(statement, 0);
    else if (code == SQLITE_DONE) *ret_value = 0;
    else status = sqlite_error(database, code, path, diag);
    sqlite3_finalize(statement);
    return status;
}

static Status create_all(sqlite3 *database, Buf *sql, Diag *diag) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        sqlite_sql_create_table(sql, &tables[number]);
        TRY(sqlite_execute(database, buf_cstr(sql), diag));
        for (uint8_t i = 0; i < tables[number].index_count; i++) {
            sqlite_sql_create_index(sql, &tables[number], i);
            TRY(sqlite_execute(database, buf_cstr(sql), diag));
        }
    }
    buf_clear(sql);
    buf_printf(sql, "PRAGMA application_id = %d", SQLITE_APPLICATION_ID);
    return sqlite_execute(database, buf_cstr(sql), diag);
}

static const char schedules_sql[] =
    "CREATE TABLE abide_schedules (\"key\" INTEGER PRIMARY KEY, \"name\" TEXT, "
    "\"workflow\" TEXT, \"run_kind\" INTEGER NOT NULL, \"input\" TEXT, \"queue\" TEXT, "
    "\"tags\" TEXT, \"priority\" INTEGER NOT NULL, \"timeout_ms\" INTEGER NOT NULL, "
    "\"keep_ms\" INTEGER NOT NULL, \"kind\" INTEGER NOT NULL, \"spec\" TEXT, \"zone\" TEXT, "
    "\"jitter_ms\" INTEGER NOT NULL, \"overlap\" INTEGER NOT NULL, "
    "\"grace_ms\" INTEGER NOT NULL, \"catch_up_ms\" INTEGER NOT NULL, "
    "\"is_paused\" INTEGER NOT NULL, \"next_at_ms\" INTEGER NOT NULL, "
    "\"due_at_ms\" INTEGER NOT NULL, \"last_at_ms\" INTEGER NOT NULL, "
    "\"last_run\" INTEGER NOT NULL, \"last_run_id\" TEXT, \"awaited_run\" INTEGER NOT NULL, "
    "\"queued_at_ms\" INTEGER NOT NULL, \"tick_count\" INTEGER NOT NULL, "
    "\"skipped_count\" INTEGER NOT NULL, \"missed_count\" INTEGER NOT NULL, "
    "\"failed_count\" INTEGER NOT NULL, \"created_at_ms\" INTEGER NOT NULL, "
    "\"updated_at_ms\" INTEGER NOT NULL, \"last_error\" TEXT) STRICT; "
    "CREATE UNIQUE INDEX abide_schedules_by_name ON abide_schedules (\"name\"); "
    "CREATE INDEX abide_schedules_by_due ON abide_schedules (\"due_at_ms\") "
    "WHERE \"due_at_ms\" <> 0; "
    "CREATE INDEX abide_schedules_by_awaited ON abide_schedules (\"awaited_run\") "
    "WHERE \"awaited_run\" <> 0";

static Status add_schedules(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, schedules_sql, diag);
}

// Version 3. Tasks of one concurrency key excluded nobody before: all that could be claimed are
// blocked, and then the first of each key that has none leased may go.
static const char queue_tables_sql[] =
    "CREATE TABLE abide_queues (\"name\" TEXT NOT NULL, \"is_explicit\" INTEGER NOT NULL, "
    "\"max_running\" INTEGER NOT NULL, \"max_per_key\" INTEGER NOT NULL, \"rate_count\" INTEGER "
    "NOT NULL, \"rate_period_ms\" INTEGER NOT NULL, \"is_paused\" INTEGER NOT NULL, "
    "\"queued_count\" INTEGER NOT NULL, \"blocked_count\" INTEGER NOT NULL, \"running_count\" "
    "INTEGER NOT NULL, \"rate_at_ms\" INTEGER NOT NULL, \"rate_used\" INTEGER NOT NULL, "
    "\"adjust_from\" INTEGER NOT NULL, \"due_at_ms\" INTEGER NOT NULL, PRIMARY KEY (\"name\")) "
    "STRICT, WITHOUT ROWID; "
    "CREATE INDEX abide_queues_by_due ON abide_queues (\"due_at_ms\") WHERE \"due_at_ms\" <> 0; "
    "CREATE TABLE abide_task_keys (\"key\" INTEGER PRIMARY KEY, \"queue\" TEXT, \"name\" TEXT, "
    "\"running_count\" INTEGER NOT NULL, \"ready_count\" INTEGER NOT NULL, \"blocked_count\" "
    "INTEGER NOT NULL) STRICT; "
    "CREATE UNIQUE INDEX abide_task_keys_by_name ON abide_task_keys (\"queue\", \"name\"); "
    "CREATE INDEX abide_task_keys_by_queue ON abide_task_keys (\"queue\")";

static const char task_key_rank_sql[] =
    "ALTER TABLE abide_tasks RENAME TO abide_tasks_2; "
    "CREATE TABLE abide_tasks (\"key\" INTEGER PRIMARY KEY, \"id\" TEXT, \"run\" INTEGER NOT "
    "NULL, \"position\" INTEGER NOT NULL, \"name\" TEXT, \"queue\" TEXT, \"state\" INTEGER NOT "
    "NULL, \"priority\" INTEGER NOT NULL, \"claim_rank\" INTEGER NOT NULL, \"key_rank\" INTEGER "
    "NOT NULL, \"attempt\" INTEGER NOT NULL, \"token\" INTEGER NOT NULL, \"max_attempts\" INTEGER "
    "NOT NULL, \"backoff_ms\" INTEGER NOT NULL, \"backoff_max_ms\" INTEGER NOT NULL, "
    "\"backoff_factor_pct\" INTEGER NOT NULL, \"jitter_pct\" INTEGER NOT NULL, "
    "\"start_timeout_ms\" INTEGER NOT NULL, \"run_timeout_ms\" INTEGER NOT NULL, \"heartbeat_ms\" "
    "INTEGER NOT NULL, \"due_at_ms\" INTEGER NOT NULL, \"close_at_ms\" INTEGER NOT NULL, "
    "\"is_cancel_wanted\" INTEGER NOT NULL, \"created_at_ms\" INTEGER NOT NULL, \"started_at_ms\" "
    "INTEGER NOT NULL, \"finished_at_ms\" INTEGER NOT NULL, \"worker\" TEXT, \"non_retryable\" "
    "TEXT, \"concurrency_key\" TEXT, \"input\" TEXT, \"result\" TEXT, \"error\" TEXT, "
    "\"progress\" TEXT) STRICT; "
    "INSERT INTO abide_tasks SELECT \"key\", \"id\", \"run\", \"position\", \"name\", \"queue\", "
    "\"state\", \"priority\", CASE WHEN coalesce(\"concurrency_key\", '') = '' THEN "
    "\"claim_rank\" ELSE 0 END, CASE WHEN coalesce(\"concurrency_key\", '') = '' THEN 0 WHEN "
    "\"state\" = 2 THEN -100000 ELSE \"claim_rank\" END, \"attempt\", \"token\", "
    "\"max_attempts\", \"backoff_ms\", \"backoff_max_ms\", \"backoff_factor_pct\", "
    "\"jitter_pct\", \"start_timeout_ms\", \"run_timeout_ms\", \"heartbeat_ms\", \"due_at_ms\", "
    "\"close_at_ms\", \"is_cancel_wanted\", \"created_at_ms\", \"started_at_ms\", "
    "\"finished_at_ms\", \"worker\", \"non_retryable\", nullif(\"concurrency_key\", ''), "
    "\"input\", \"result\", \"error\", \"progress\" FROM abide_tasks_2; "
    "DROP TABLE abide_tasks_2; "
    "CREATE UNIQUE INDEX abide_tasks_by_id ON abide_tasks (\"id\"); "
    "CREATE INDEX abide_tasks_by_queue ON abide_tasks (\"queue\", \"claim_rank\") WHERE "
    "\"claim_rank\" <> 0; "
    "CREATE INDEX abide_tasks_by_run ON abide_tasks (\"run\") WHERE \"run\" <> 0; "
    "CREATE INDEX abide_tasks_by_due ON abide_tasks (\"due_at_ms\") WHERE \"due_at_ms\" <> 0; "
    "CREATE INDEX abide_tasks_by_state ON abide_tasks (\"state\"); "
    "CREATE INDEX abide_tasks_by_key ON abide_tasks (\"queue\", \"concurrency_key\", "
    "\"key_rank\") WHERE \"key_rank\" <> 0";

static const char task_keys_fill_sql[] =
    "UPDATE abide_tasks SET \"claim_rank\" = \"key_rank\", \"key_rank\" = \"key_rank\" - 10000 "
    "WHERE \"key\" IN (SELECT \"key\" FROM (SELECT \"key\", \"key_rank\", row_number() OVER "
    "(PARTITION BY \"queue\", \"concurrency_key\" ORDER BY \"key_rank\", \"key\") AS place FROM "
    "abide_tasks WHERE \"key_rank\" <> 0) WHERE place = 1 AND \"key_rank\" > 0); "
    "INSERT INTO abide_task_keys SELECT row_number() OVER () + (SELECT \"value\" FROM "
    "abide_counters WHERE \"number\" = 0), \"queue\", \"concurrency_key\", sum(\"key_rank\" = "
    "-100000), sum(\"key_rank\" < 0 AND \"key_rank\" > -100000), sum(\"key_rank\" > 0) FROM "
    "abide_tasks WHERE \"key_rank\" <> 0 GROUP BY \"queue\", \"concurrency_key\"; "
    "UPDATE abide_counters SET \"value\" = \"value\" + (SELECT count(*) FROM abide_task_keys) "
    "WHERE \"number\" = 0; "
    "INSERT INTO abide_queues SELECT \"queue\", 0, 0, 1, 0, 0, 0, sum(\"state\" = 1), "
    "sum(\"key_rank\" > 0), sum(\"state\" = 2), 0, 0, 0, 0 FROM abide_tasks WHERE \"state\" <= 2 "
    "GROUP BY \"queue\"";

static Status add_queues(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    TRY(sqlite_execute(database, queue_tables_sql, diag));
    TRY(sqlite_execute(database, task_key_rank_sql, diag));
    return sqlite_execute(database, task_keys_fill_sql, diag);
}

static const char snapshots_sql[] =
    "CREATE TABLE abide_snapshots (\"run\" INTEGER NOT NULL, \"number\" INTEGER NOT NULL, "
    "\"log_seq\" INTEGER NOT NULL, \"start_seq\" INTEGER NOT NULL, "
    "\"end_seq\" INTEGER NOT NULL, \"position\" INTEGER NOT NULL, \"snapshot\" BLOB, "
    "\"state\" BLOB, PRIMARY KEY (\"run\", \"number\")) STRICT, WITHOUT ROWID";

static Status add_snapshots(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, snapshots_sql, diag);
}

static const char states_sql[] =
    "CREATE TABLE abide_states (\"run\" INTEGER NOT NULL, \"name\" TEXT NOT NULL, "
    "\"digest\" INTEGER NOT NULL, \"value\" TEXT, PRIMARY KEY (\"run\", \"name\")) STRICT, "
    "WITHOUT ROWID; "
    "CREATE INDEX abide_states_by_value ON abide_states (\"name\", \"digest\", \"run\")";

static Status add_states(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, states_sql, diag);
}

static Status add_ready_counter(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database,
                          "INSERT INTO abide_counters SELECT 41, count(*) FROM abide_runs "
                          "WHERE \"state\" = 2 AND \"owner\" = 0",
                          diag);
}

static const char tokens_sql[] =
    "CREATE TABLE abide_tokens (\"key\" INTEGER PRIMARY KEY, \"id\" TEXT, \"name\" TEXT, "
    "\"hash\" TEXT, \"hint\" TEXT, \"scopes\" INTEGER NOT NULL, "
    "\"created_at_ms\" INTEGER NOT NULL, \"expires_at_ms\" INTEGER NOT NULL) STRICT; "
    "CREATE UNIQUE INDEX abide_tokens_by_id ON abide_tokens (\"id\"); "
    "CREATE UNIQUE INDEX abide_tokens_by_hash ON abide_tokens (\"hash\")";

static Status add_tokens(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, tokens_sql, diag);
}

static Status add_code(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, "ALTER TABLE abide_definitions ADD COLUMN \"code\" BLOB", diag);
}

static Status add_tasks_ended(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database,
                          "ALTER TABLE abide_runs ADD COLUMN \"tasks_ended_key\" INTEGER NOT NULL "
                          "DEFAULT 0",
                          diag);
}

static const char homes_sql[] =
    "ALTER TABLE abide_runs ADD COLUMN \"home\" INTEGER NOT NULL DEFAULT 0; "
    "ALTER TABLE abide_nodes ADD COLUMN \"resident_count\" INTEGER NOT NULL DEFAULT 0; "
    "ALTER TABLE abide_nodes ADD COLUMN \"version\" TEXT";

static Status add_homes(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, homes_sql, diag);
}

static Status add_task_names(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database,
                          "CREATE INDEX abide_tasks_by_name ON abide_tasks (\"queue\", \"name\", "
                          "\"claim_rank\") WHERE \"claim_rank\" <> 0",
                          diag);
}

static const char retries_sql[] =
    "ALTER TABLE abide_runs ADD COLUMN \"retries\" INTEGER NOT NULL DEFAULT 0; "
    "ALTER TABLE abide_schedules ADD COLUMN \"given\" INTEGER NOT NULL DEFAULT 0";

static Status add_retries(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, retries_sql, diag);
}

static const char files_sql[] = "ALTER TABLE abide_definitions ADD COLUMN \"file\" TEXT; "
                                "ALTER TABLE abide_nodes ADD COLUMN \"workers\" TEXT";

static Status add_files(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, files_sql, diag);
}

// Version 14. States that follow each other with every turn are one phase (model/phase.h).
static const char phases_sql[] =
    "ALTER TABLE abide_runs ADD COLUMN \"phase\" INTEGER NOT NULL DEFAULT 0; "
    "UPDATE abide_runs SET \"phase\" = CASE \"state\" WHEN 3 THEN 2 ELSE \"state\" END; "
    "DROP INDEX abide_runs_by_state; "
    "CREATE INDEX abide_runs_by_phase ON abide_runs (\"phase\"); "
    "ALTER TABLE abide_tasks ADD COLUMN \"phase\" INTEGER NOT NULL DEFAULT 0; "
    "UPDATE abide_tasks SET \"phase\" = CASE \"state\" WHEN 2 THEN 1 ELSE \"state\" END WHERE "
    "\"state\" <> 3; "
    "DROP INDEX abide_tasks_by_state; "
    "CREATE INDEX abide_tasks_by_phase ON abide_tasks (\"phase\") WHERE \"phase\" <> 0";

static Status add_phases(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, phases_sql, diag);
}

// Version 15. What servers have counted, hour by hour.
static const char rates_sql[] =
    "CREATE TABLE abide_rates (\"step_ms\" INTEGER NOT NULL, \"from_ms\" INTEGER NOT NULL, "
    "\"source\" INTEGER NOT NULL, \"points\" TEXT, "
    "PRIMARY KEY (\"step_ms\", \"from_ms\", \"source\")) STRICT, WITHOUT ROWID";

static Status add_rates(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, rates_sql, diag);
}

// Version 16. Runs that were parked before are at an unknown place (model/snapshot.h).
static const char places_sql[] =
    "ALTER TABLE abide_runs ADD COLUMN \"place\" INTEGER NOT NULL DEFAULT 0; "
    "ALTER TABLE abide_snapshots ADD COLUMN \"place\" INTEGER NOT NULL DEFAULT 0; "
    "CREATE TABLE abide_places (\"definition\" INTEGER NOT NULL, \"place\" INTEGER NOT NULL, "
    "\"waiting_count\" INTEGER NOT NULL, \"failed_count\" INTEGER NOT NULL, "
    "\"example\" INTEGER NOT NULL, PRIMARY KEY (\"definition\", \"place\")) STRICT, WITHOUT ROWID; "
    "INSERT INTO abide_places SELECT \"definition\", 0, sum(\"state\" <> 6), sum(\"state\" = 6), 0 "
    "FROM abide_runs WHERE \"kind\" = 2 AND (\"state\" IN (3, 6) OR (\"state\" = 4 AND "
    "\"paused_state\" = 3)) GROUP BY \"definition\"";

static Status add_places(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, places_sql, diag);
}

// Version 17. Where secrets belong in the input of a task.
static Status add_secrets(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, "ALTER TABLE abide_tasks ADD COLUMN \"secrets\" TEXT", diag);
}

// Version 18. The task that a parked run waits for, if that has no row of its own.
static Status add_embedded(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, "ALTER TABLE abide_runs ADD COLUMN \"task\" BLOB", diag);
}

const Migration migrations[] = {
    {1, create_all},      {2, add_schedules},     {3, add_queues},      {4, add_snapshots},
    {5, add_states},      {6, add_ready_counter}, {7, add_tokens},      {8, add_code},
    {9, add_tasks_ended}, {10, add_homes},        {11, add_task_names}, {12, add_retries},
    {13, add_files},      {14, add_phases},       {15, add_rates},      {16, add_places},
    {17, add_secrets},    {18, add_embedded},
};
const size_t migration_count = COUNT_OF(migrations);

static Status apply(sqlite3 *database, const Migration *step, int version, Buf *sql, Diag *diag) {
    TRY(step->apply(database, sql, diag));
    buf_clear(sql);
    buf_printf(sql, "PRAGMA user_version = %d", version);
    TRY(sqlite_execute(database, buf_cstr(sql), diag));
    return sqlite_execute(database, "COMMIT", diag);
}

static Status step_run(sqlite3 *database, const Migration *step, int version, Diag *diag) {
    Buf sql;
    buf_init(&sql, SQLITE_SQL_SIZE_MAX);
    Status status = sqlite_execute(database, "BEGIN IMMEDIATE", diag);
    if (status == OK) {
        status = apply(database, step, version, &sql, diag);
        // [migrations-1]; after some errors SQLite has rolled back by itself.
        if (status != OK && !sqlite3_get_autocommit(database)) {
            Status undone = sqlite_execute(database, "ROLLBACK", NULL);
            (void)undone; // an open transaction dies with the connection, which is closed next
        }
    }
    buf_done(&sql);
    return status;
}

Status migrations_run(sqlite3 *database, const Migration *steps, size_t count, Diag *diag) {
    ASSERT(count > 0);
    int64_t version = 0;
    TRY(sqlite_query_i64(database, "PRAGMA user_version", &version, diag));
    if (version == 0)
        return step_run(database, &steps[0], steps[count - 1].version, diag); // [migrations-2]
    for (size_t i = 1; i < count; i++) {
        if (steps[i].version <= version) continue;
        TRY(step_run(database, &steps[i], steps[i].version, diag));
    }
    return OK;
}
