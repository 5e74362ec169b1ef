// A program with strong steps (P4), for test_strong.py: each step of each run writes one line into
// the application's table `effects`, inside the store's transaction.
//
//   strong_steps STORE RUNS STEPS     starts the runs r0, r1, … and waits for all of them
//
// Started again it goes on with the same runs. It says "step" for each step that it has seen
// committed, so that a test knows when to strike, and "done" at the end.
#include "abide.h"
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int step_count;

static const char *write_postgres(PGconn *db, const char *run, const char *step) {
    const char *const values[] = {run, step};
    PGresult *result =
        PQexecParams(db, "INSERT INTO effects VALUES ($1, $2)", 2, NULL, values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK ? NULL : PQerrorMessage(db);
}

static const char *write_sqlite(sqlite3 *db, const char *run, const char *step) {
    char *sql = sqlite3_mprintf("INSERT INTO effects VALUES (%Q, %Q)", run, step);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? NULL : sqlite3_errmsg(db);
}

static int write_effect(abide_call *call, const char *input) {
    PGconn *postgres = abide_call_postgres(call);
    sqlite3 *sqlite = abide_call_sqlite(call);
    if ((postgres == NULL) == (sqlite == NULL)) {
        return abide_throw_final(call, "NoTransaction", "not exactly one database");
    }
    const char *run = abide_call_run_id(call);
    const char *error =
        postgres != NULL ? write_postgres(postgres, run, input) : write_sqlite(sqlite, run, input);
    return error != NULL ? abide_throw(call, "Sql", error) : abide_return(call, "true");
}

static int strong(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_step_options options = {.in_transaction = 1,
                                  .retry = {.attempts = 20, .delay = "5ms", .max_delay = "100ms"}};
    for (int i = 0; i < step_count; i++) {
        char number[12];
        snprintf(number, sizeof(number), "%d", i);
        ABIDE_TRY(abide_step_with(ctx, "write", write_effect, number, &options, NULL));
    }
    return abide_complete(ctx, "true");
}

static void tell_event(void *user, const abide_event *event) {
    (void)user;
    if (event->kind == ABIDE_EVENT_STEP) puts("step");
}

static int fail(const char *what, const abide_error *error) {
    printf("%s: %s: %s\n", what, error->name, error->message);
    return 1;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int run_count = (int)strtol(arguments[2], NULL, 10);
    step_count = (int)strtol(arguments[3], NULL, 10);
    abide_engine *engine;
    abide_error error;
    abide_options options = {.lease = "2s",
                             .on_event = tell_event,
                             .store_retry_attempts = 1000,
                             .store_retry_max_delay = "200ms"};
    if (abide_open(arguments[1], &options, &engine, &error) != ABIDE_OK) {
        return fail("open", &error);
    }
    abide_register_workflow(engine, "strong", strong, NULL, NULL);
    if (abide_recover(engine, NULL, &error) != ABIDE_OK) return fail("recover", &error);
    char id[12];
    for (int i = 0; i < run_count; i++) {
        snprintf(id, sizeof(id), "r%d", i);
        abide_start_options start = {.id = id};
        if (abide_start(engine, "strong", NULL, &start, NULL, &error) != ABIDE_OK) {
            return fail("start", &error);
        }
    }
    for (int i = 0; i < run_count; i++) {
        snprintf(id, sizeof(id), "r%d", i);
        char *json = NULL;
        int code;
        do code = abide_result(engine, id, "120s", &json, &error);
        while (code == ABIDE_UNAVAILABLE); // the store is away: the run is not
        if (code != ABIDE_OK) {
            printf("%s: %s %s\n", id, abide_code_name(code), json != NULL ? json : error.message);
            return 1;
        }
        abide_free(json);
    }
    puts("done");
    abide_close(engine);
    return 0;
}
