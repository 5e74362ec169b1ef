// PgLink: one connection to the server, used by one thread at a time.
//
// Statements are collected into a pipeline and sent together: one round trip, whatever their
// number. They are prepared when first used, by shape, and found again by a number.
//
//   [P1] After an error the statements prepared in the same pipeline are forgotten, because the
//        server has skipped some of them; names are never used twice, so it does not matter which.
//   [P2] A connection that failed, or did not answer in time, is dropped at once. What became of
//        an open transaction is settled before anything else is said to the server (remote.h).
//   [P3] Nothing of a pipeline is left unread when another one begins.
//   [P4] The planner may not choose a plan that reads whole tables: its picture of a table that
//        grew since the last analysis is worthless, and all that is ever asked is in an index.
//   [P5] Outside of the transactions that are begun for it nothing can be written here, not even by
//        a step that ended its transaction and goes on.
#include "base/assert.h"
#include "base/memory.h"
#include "store/postgres_internal.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>

void pg_link_init(PgLink *link, PgAddress *address) {
    *link = (PgLink){.address = address, .answer_ms = PG_ANSWER_TIMEOUT_MS};
    map_init(&link->statements);
    buf_init(&link->wire, PG_WIRE_SIZE_MAX);
    buf_init(&link->sql, PG_SQL_SIZE_MAX);
}

static void results_clear(PgLink *link) {
    for (size_t i = 0; i < link->results.count; i++) PQclear(link->results.data[i]);
    vec_clear(&link->results);
}

void pg_link_forget_statements(PgLink *link) {
    map_done(&link->statements);
    map_init(&link->statements);
}

static void pipeline_clear(PgLink *link) {
    vec_clear(&link->fresh);
    vec_clear(&link->is_answer);
    vec_clear(&link->params);
    buf_clear(&link->wire);
}

void pg_link_drop(PgLink *link) {
    results_clear(link);
    pipeline_clear(link);
    PQfinish(link->connection);
    link->connection = NULL;
    link->is_lazy = false;
    pg_link_forget_statements(link);
}

void pg_link_done(PgLink *link) {
    pg_link_drop(link);
    map_done(&link->statements);
    vec_free(&link->fresh);
    vec_free(&link->is_answer);
    vec_free(&link->results);
    vec_free(&link->params);
    buf_done(&link->wire);
    buf_done(&link->sql);
}

bool pg_link_is_alive(const PgLink *link) {
    return link->connection != NULL && PQstatus(link->connection) == CONNECTION_OK;
}

// ---- connecting ----

static bool lazy_read(PgLink *link);

static void ignore_notice(void *context, const PGresult *result) { (void)context, (void)result; }

void pg_link_silence(PgLink *link) {
    PQsetNoticeReceiver(link->connection, ignore_notice, NULL);
}

void pg_append_settings(Buf *sql) {
    buf_printf(sql,
               "SET client_encoding = 'UTF8'; SET statement_timeout = %d; SET lock_timeout = %d; "
               "SET idle_in_transaction_session_timeout = %d; SET jit = off; "
               "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; "
               "SET enable_hashjoin = off; SET enable_mergejoin = off; " // [P4]
               "SET default_transaction_read_only = on; "              // [P5]
               "SELECT set_config('synchronous_commit', 'on', false) " // P1 is not for sale
               "WHERE current_setting('synchronous_commit') = 'off'",
               PG_STATEMENT_TIMEOUT_MS, PG_LOCK_TIMEOUT_MS, PG_IDLE_TIMEOUT_MS);
}

static Status settings_apply(PgLink *link, Diag *diag) {
    buf_clear(&link->sql);
    pg_append_settings(&link->sql);
    return pg_link_query(link, buf_cstr(&link->sql), NULL, diag);
}

// A server that has gone away has said so: nothing else arrives while we ask nothing.
static void farewell_read(PgLink *link) {
    if (link->is_lazy || !pg_link_is_alive(link)) return;
    struct pollfd poll_for = {.fd = PQsocket(link->connection), .events = POLLIN};
    if (poll(&poll_for, 1, 0) > 0 && !PQconsumeInput(link->connection)) pg_link_drop(link);
}

static Status version_check(const PgLink *link, Diag *diag) {
    int version = PQserverVersion(link->connection);
    if (version >= PG_SERVER_VERSION_MIN) return OK;
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_SERVER",
                    "PostgreSQL %d is too old to carry a store; abide needs version %d or later",
                    version / 10000, PG_SERVER_VERSION_MIN / 10000);
}

Status pg_link_connect(PgLink *link, Diag *diag) {
    farewell_read(link);
    if (pg_link_is_alive(link)) return pg_link_settle(link, diag);
    pg_link_drop(link);
    // What stands in the URL comes later and counts.
    const char *const keys[] = {"connect_timeout", "fallback_application_name",
                                "keepalives_idle", "keepalives_interval", "keepalives_count",
                                "tcp_user_timeout", "target_session_attrs", "dbname", NULL};
    const char *const values[] = {"5", "abide", "10", "5", "3", "20000", "read-write",
                                  link->address->url, NULL};
    link->connection = PQconnectdbParams(keys, values, 1);
    if (link->connection == NULL) out_of_memory();
    if (PQstatus(link->connection) != CONNECTION_OK) {
        Status status = pg_refused(link->connection, diag);
        pg_link_drop(link);
        return status;
    }
    pg_link_silence(link);
    Status status = version_check(link, diag);
    if (status == OK) status = settings_apply(link, diag);
    if (status == OK) status = pg_link_settle(link, diag);
    if (status != OK) pg_link_drop(link);
    return status;
}

Status pg_link_query(PgLink *link, const char *sql, PGresult **ret_result, Diag *diag) {
    if (!lazy_read(link)) {
        Status status = pg_lost(link->connection, diag);
        pg_link_drop(link);
        return status;
    }
    if (PQpipelineStatus(link->connection) != PQ_PIPELINE_OFF) {
        int is_off = PQexitPipelineMode(link->connection);
        ASSERT(is_off);
    }
    PGresult *result = PQexec(link->connection, sql);
    ExecStatusType kind = PQresultStatus(result);
    if (kind == PGRES_COMMAND_OK || kind == PGRES_TUPLES_OK) {
        if (ret_result != NULL) *ret_result = result;
        else PQclear(result);
        return OK;
    }
    Status status = pg_link_is_alive(link) ? pg_error(result, diag)
                                           : pg_lost(link->connection, diag);
    PQclear(result);
    if (!pg_link_is_alive(link)) pg_link_drop(link);
    return status;
}

Status pg_link_settle(PgLink *link, Diag *diag) {
    PgAddress *address = link->address;
    pthread_mutex_lock(&address->mutex);
    bool is_unsettled = address->is_unsettled;
    int lost_pid = address->lost_pid;
    pthread_mutex_unlock(&address->mutex);
    if (!is_unsettled) return OK;
    char sql[512];
    // A commit that is under way is not interrupted by this: it is waited for. One whose words
    // have not arrived yet will find another version.
    snprintf(sql, sizeof(sql),
             "SET TRANSACTION READ WRITE; " // [P5]
             "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a "
             "ON a.pid = l.pid WHERE l.relation = '%s.store'::regclass AND l.pid = %d "
             "AND a.usename = current_user; "
             "UPDATE %s.store SET version = version + 1",
             address->schema, lost_pid, address->schema);
    TRY(pg_link_query(link, sql, NULL, diag));
    pthread_mutex_lock(&address->mutex);
    if (address->lost_pid == lost_pid) address->is_unsettled = false;
    pthread_mutex_unlock(&address->mutex);
    return OK;
}

// Who stands still between two statements is ended by the server itself; not so who stands still in
// the middle of a pipeline, or does not take what it is sent. Those who only read, however long, as
// pg_dump does, hold up nobody and have the one lock that is left alone here.
void pg_link_end_idle_holders(PgLink *link) {
    if (!pg_link_is_alive(link)) return;
    buf_clear(&link->sql);
    buf_printf(&link->sql,
               "SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a "
               "ON a.pid = l.pid WHERE l.relation = to_regclass('%s.store') AND l.granted "
               "AND l.mode <> 'AccessShareLock' AND a.wait_event IN ('ClientRead', 'ClientWrite') "
               "AND a.pid <> pg_backend_pid() "
               "AND a.xact_start < now() - interval '%d milliseconds'",
               link->address->schema, PG_LOCK_TIMEOUT_MS / 2);
    Status status = pg_link_query(link, buf_cstr(&link->sql), NULL, NULL);
    (void)status; // then the next one who waits does
}

// ---- collecting ----

void pg_param_i64(PgLink *link, int64_t value) {
    vec_push(&link->params, (PgParam){link->wire.len, 8});
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)value >> (56 - 8 * i));
    buf_append(&link->wire, bytes, sizeof(bytes));
}

void pg_param_bytes(PgLink *link, Str value) {
    ASSERT(value.len < PG_WIRE_SIZE_MAX);
    vec_push(&link->params, (PgParam){link->wire.len, (int)value.len});
    buf_append(&link->wire, value.data, value.len);
}

static void pipeline_enter(PgLink *link) {
    if (PQpipelineStatus(link->connection) != PQ_PIPELINE_OFF) return;
    int is_on = PQenterPipelineMode(link->connection);
    ASSERT(is_on);
}

// What a send function answers is not looked at: a connection that fails here fails in the run.
void pg_link_send(PgLink *link, const char *sql) {
    if (!pg_link_is_alive(link)) return;
    pipeline_enter(link);
    if (PQsendQueryParams(link->connection, sql, 0, NULL, NULL, NULL, NULL, 1)) {
        vec_push(&link->is_answer, false);
    }
}

bool pg_link_is_unprepared(const PgLink *link, uint64_t shape) {
    return map_get(&link->statements, shape) == NULL;
}

static void statement_name(uintptr_t number, char name[PG_STATEMENT_NAME_SIZE]) {
    snprintf(name, PG_STATEMENT_NAME_SIZE, PG_STATEMENT_PREFIX "%llu", (unsigned long long)number);
}

static void statement_prepare(PgLink *link, uint64_t shape, char name[PG_STATEMENT_NAME_SIZE]) {
    link->statement_count++;
    statement_name(link->statement_count, name);
    map_put(&link->statements, shape, (void *)link->statement_count);
    vec_push(&link->fresh, shape);
    ASSERT(!link->sql.is_overflown);
    if (PQsendPrepare(link->connection, name, buf_cstr(&link->sql), 0, NULL)) {
        vec_push(&link->is_answer, false);
    }
}

void pg_link_execute(PgLink *link, uint64_t shape) {
    enum { PARAMS_MAX = 128 };
    ASSERT(link->params.count <= PARAMS_MAX && !link->wire.is_overflown);
    if (!pg_link_is_alive(link)) return;
    pipeline_enter(link);
    char name[PG_STATEMENT_NAME_SIZE];
    uintptr_t number = (uintptr_t)map_get(&link->statements, shape);
    if (number == 0) statement_prepare(link, shape, name);
    else statement_name(number, name);
    const char *values[PARAMS_MAX];
    int lens[PARAMS_MAX], formats[PARAMS_MAX];
    for (size_t i = 0; i < link->params.count; i++) {
        values[i] = buf_str(&link->wire).data + link->params.data[i].offset;
        lens[i] = link->params.data[i].len;
        formats[i] = 1;
    }
    if (PQsendQueryPrepared(link->connection, name, (int)link->params.count, values, lens,
                            formats, 1)) {
        vec_push(&link->is_answer, true);
    }
    vec_clear(&link->params);
    buf_clear(&link->wire);
}

// ---- running ----

// False: the connection is lost, or did not answer in time. [P2]
static bool wait_for_answer(PgLink *link) {
    while (PQisBusy(link->connection)) {
        struct pollfd poll_for = {.fd = PQsocket(link->connection), .events = POLLIN};
        int count = poll(&poll_for, 1, link->answer_ms);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0 || !PQconsumeInput(link->connection)) return false;
    }
    return true;
}

// The next result; NULL is the end of a statement's results. False: the connection is lost.
static bool result_next(PgLink *link, PGresult **ret_result) {
    if (!wait_for_answer(link)) return false;
    *ret_result = PQgetResult(link->connection);
    return *ret_result != NULL || pg_link_is_alive(link);
}

// Reads the results of one pipeline up to its end.
static bool results_read(PgLink *link, bool is_kept, Status *status, Diag *diag) {
    size_t command = 0;
    for (;;) {
        PGresult *result = NULL;
        if (!result_next(link, &result)) return false;
        if (result == NULL) continue; // between two statements
        ExecStatusType kind = PQresultStatus(result);
        if (kind == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return true;
        }
        bool is_good = kind == PGRES_COMMAND_OK || kind == PGRES_TUPLES_OK;
        if (!is_good && kind != PGRES_PIPELINE_ABORTED && *status == OK) {
            *status = pg_error(result, diag);
        }
        bool is_wanted = is_kept && is_good && *status == OK && command < link->is_answer.count &&
                         link->is_answer.data[command];
        if (is_wanted) vec_push(&link->results, result);
        else PQclear(result);
        command++;
        if (!pg_link_is_alive(link)) return false;
    }
}

static bool lazy_read(PgLink *link) { // [P3]
    if (!link->is_lazy) return true;
    link->is_lazy = false;
    Status ignored = OK;
    return results_read(link, false, &ignored, NULL);
}

static Status lose(PgLink *link, Diag *diag) {
    Status status = pg_lost(link->connection, diag);
    pg_link_drop(link);
    return status;
}

Status pg_link_run(PgLink *link, Diag *diag) {
    results_clear(link);
    if (!pg_link_is_alive(link)) return lose(link, diag);
    if (!PQpipelineSync(link->connection)) return lose(link, diag);
    Status status = OK;
    if (!lazy_read(link)) return lose(link, diag);
    if (!results_read(link, true, &status, diag)) return lose(link, diag);
    if (status != OK) { // [P1]
        for (size_t i = 0; i < link->fresh.count; i++) {
            map_remove(&link->statements, link->fresh.data[i]);
        }
        results_clear(link);
    }
    pipeline_clear(link);
    if (link->statements.count > PG_STATEMENTS_MAX) { // the next pipeline begins with this
        pg_link_send(link, "DEALLOCATE ALL");
        pg_link_forget_statements(link);
    }
    return status;
}

void pg_link_run_later(PgLink *link) {
    ASSERT(!link->is_lazy);
    if (!pg_link_is_alive(link)) return;
    link->is_lazy = PQpipelineSync(link->connection) != 0;
    pipeline_clear(link);
}
