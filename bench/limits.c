// What the machine can do without an engine: one flush, and SQLite's own inserts.
//
// Measured in the same run as the engine, because figures of another hour or another disk say
// nothing on a machine that is shared.
//
// Not here: the engine's figures (core.c, flows.c).
#include "limits.h"
#include "bench.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

double limit_fdatasync(const char *directory) {
    char path[4200];
    snprintf(path, sizeof path, "%s/sync", directory);
    int file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    char block[4096] = {0};
    double times[300];
    for (int i = 0; i < 300; i++) {
        double start = bench_now();
        if (write(file, block, sizeof block) != sizeof block || fdatasync(file) != 0) exit(1);
        times[i] = bench_now() - start;
    }
    close(file);
    unlink(path);
    return bench_quantile(times, 300, 0.5);
}

static void run_sql(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, message);
        exit(1);
    }
}

double limit_rows(const char *directory, int rows_per_commit, double seconds) {
    char path[4200];
    snprintf(path, sizeof path, "%s/raw%d.db", directory, rows_per_commit);
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK) exit(1);
    run_sql(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                "CREATE TABLE log(run INTEGER, seq INTEGER, at INTEGER, kind INTEGER,"
                " position INTEGER, iteration INTEGER, attempt INTEGER, outcome INTEGER,"
                " slot INTEGER, name TEXT, data TEXT, PRIMARY KEY(run, seq)) WITHOUT ROWID");
    sqlite3_stmt *insert;
    sqlite3_prepare_v2(db, "INSERT INTO log VALUES(?,?,?,2,?,0,1,0,0,?,?)", -1, &insert, NULL);
    double start = bench_now();
    int64_t rows = 0;
    while (bench_now() - start < seconds) {
        run_sql(db, "BEGIN IMMEDIATE");
        for (int i = 0; i < rows_per_commit; i++, rows++) {
            sqlite3_bind_int64(insert, 1, rows / 10);
            sqlite3_bind_int64(insert, 2, rows % 10);
            sqlite3_bind_int64(insert, 3, 1800000000000 + rows);
            sqlite3_bind_int64(insert, 4, rows % 10);
            sqlite3_bind_text(insert, 5, "step", 4, SQLITE_STATIC);
            sqlite3_bind_text(insert, 6, "{\"ok\":true}", 11, SQLITE_STATIC);
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        run_sql(db, "COMMIT");
    }
    double rate = (double)rows / (bench_now() - start);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return rate;
}

double limit_report(const char *directory, double *ret_fsync_seconds) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // as the program itself has it
    *ret_fsync_seconds = limit_fdatasync(directory);
    bench_report("limit.fdatasync.p50", *ret_fsync_seconds * 1e3, "ms", 0);
    double answer = 0;
    int sizes[] = {1, 10, 100, 1000};
    for (int i = 0; i < 4; i++) {
        char name[64];
        double rate = limit_rows(directory, sizes[i], 1.5);
        snprintf(name, sizeof name, "limit.sqlite.rows_per_commit_%d", sizes[i]);
        bench_report(name, rate, "rows/s", 0);
        if (sizes[i] == 100) answer = rate;
    }
    return answer;
}
