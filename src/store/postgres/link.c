// PgLink: one connection to the server, used by one thread at a time.
//
// Statements are collected into a pipeline and sent together: one round trip, whatever their
// number. They are prepared when first used, by shape, and found again by a number.
//
//   [postgres-link-1] After an error the statements prepared in the same pipeline are forgotten,
//        because the server has skipped some of them; names are never used twice, so it does not
//        matter which.
//   [postgres-link-2] A connection that failed, or did not answer in time, is dropped at once. What
//        became of an open transaction is settled before anything else is said to the server
//        (remote.h).
//   [postgres-link-3] Nothing of a pipeline is left unread when another one begins.
//   [postgres-link-4] The planner may not choose a plan that reads whole tables: its picture of a
//        table that grew since the last analysis is worthless, and all that is ever asked is in an
//        index.
//   [postgres-link-5] Outside of the transactions that are begun for it nothing can be written
//        here, not even by a step that ended its transaction and goes on.
//   [postgres-link-6] Nobody waits long for a server that stands still: after a few seconds without
//        an answer a new connection is tried, and if that gets no word either, the server counts as
//        away.
#include "base/assert.h"
#include "base/env.h"
#include "base/memory.h"
#include "store/postgres/internal.h"
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
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

// ---- waiting ----

// Whether the server takes note of a new client. One that works at something long does; one that
// stands still, or is beyond a network that swallows everything, does not.
static bool server_answers(const PgLink *link) {
    const char *address = PQhostaddr(link->connection);
    bool has_address = address != NULL && address[0] != '\0';
    const char *const keys[] = {"host", "port", "connect_timeout", has_address ? "hostaddr" : NULL,
                                NULL};
    const char *const values[] = {PQhost(link->connection), PQport(link->connection), "3", address,
                                  NULL};
    return PQpingParams(keys, values, 0) != PQPING_NO_RESPONSE;
}

static int64_t now_ns(void) { return (int64_t)env_monotonic_ns(env_system()); }

// [postgres-link-6] So that those who have other connections, or come back at once, need not find
//      out too.
static void silence_note(PgLink *link) {
    atomic_store(&link->address->silent_until_ns, now_ns() + PG_SILENCE_KEPT_MS * 1000000LL);
}

static bool is_silent(const PgLink *link) {
    int64_t until_ns = atomic_load(&link->address->silent_until_ns);
    return until_ns != 0 && now_ns() < until_ns;
}

static Status silent(Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "PostgreSQL: the server does not answer");
}

// False: the connection is lost, or did not answer in time. [postgres-link-2]
static bool wait_for_answer(PgLink *link) {
    int waited_ms = 0;
    while (PQisBusy(link->connection)) {
        int left_ms = link->answer_ms - waited_ms;
        int wait_ms = left_ms < PG_SILENCE_MS ? left_ms : PG_SILENCE_MS;
        struct pollfd poll_for = {.fd = PQsocket(link->connection), .events = POLLIN};
        int count = poll(&poll_for, 1, wait_ms);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        if (count == 0) {
            waited_ms += wait_ms;
            if (!server_answers(link)) {
                silence_note(link);
                return false;
            }
            if (waited_ms >= link->answer_ms) return false;
            continue;
        }
        waited_ms = 0;
        if (!PQconsumeInput(link->connection)) return false;
    }
    return true;
}

static Status lose(PgLink *link, Diag *diag) {
    Status status = is_silent(link) ? silent(diag) : pg_lost(link->connection, diag);
    pg_link_drop(link);
    return status;
}

// ---- connecting ----

static bool lazy_read(PgLink *link);

static void ignore_notice(void *context, const PGresult *result) { (void)context, (void)result; }

void pg_link_silence(PgLink *link) { PQsetNoticeReceiver(link->connection, ignore_notice, NULL); }

void pg_append_settings(Buf *sql) {
    buf_printf(sql,
               "SET client_encoding = 'UTF8'; SET statement_timeout = %d; SET lock_timeout = %d; "
               "SET idle_in_transaction_session_timeout = %d; SET jit = off; "
               "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; "
               "SET enable_hashjoin = off; SET enable_mergejoin = off; " // [postgres-link-4]
               "SET default_transaction_read_only = on; "                // [postgres-link-5]
               "SELECT set_config('synchronous_commit', 'on', false) "   // P1 is not for sale
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

// [remote-4] Settles what a lost connection left open. Does nothing when there is nothing.
static Status pg_link_settle(PgLink *link, Diag *diag);

Status pg_link_connect(PgLink *link, Diag *diag) {
    if (is_silent(link)) return silent(diag); // [postgres-link-6]
    farewell_read(link);
    if (pg_link_is_alive(link)) return pg_link_settle(link, diag);
    pg_link_drop(link);
    // What stands in the URL comes later and counts.
    const char *const keys[] = {"connect_timeout",
                                "fallback_application_name",
                                "keepalives_idle",
                                "keepalives_interval",
                                "keepalives_count",
                                "tcp_user_timeout",
                                "target_session_attrs",
                                "dbname",
                                NULL};
    const char *const values[] = {
        "5", "abide", "10", "5", "3", "20000", "read-write", link->address->url, NULL};
    int64_t began_ns = now_ns();
    link->connection = PQconnectdbParams(keys, values, 1);
    if (link->connection == NULL) out_of_memory();
    if (PQstatus(link->connection) != CONNECTION_OK) {
        if (now_ns() - began_ns >= PG_SILENCE_MS * 1000000LL) silence_note(link);
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

// The last result of the statements; false: the connection is lost.
static bool query_run(PgLink *link, const char *sql, PGresult **ret_last) {
    *ret_last = NULL;
    if (!PQsendQuery(link->connection, sql)) return false;
    for (;;) {
        PGresult *result = wait_for_answer(link) ? PQgetResult(link->connection) : NULL;
        if (result == NULL) break;
        PQclear(*ret_last);
        *ret_last = result;
    }
    bool is_whole = *ret_last != NULL && pg_link_is_alive(link) && !PQisBusy(link->connection);
    if (!is_whole) PQclear(*ret_last);
    return is_whole;
}

Status pg_link_query(PgLink *link, const char *sql, PGresult **ret_result, Diag *diag) {
    link->trouble = PG_TROUBLE_OTHER;
    if (!pg_link_is_alive(link) || !lazy_read(link)) return lose(link, diag);
    if (PQpipelineStatus(link->connection) != PQ_PIPELINE_OFF) {
        int is_off = PQexitPipelineMode(link->connection);
        ASSERT(is_off);
    }
    PGresult *result;
    if (!query_run(link, sql, &result)) return lose(link, diag);
    ExecStatusType kind = PQresultStatus(result);
    if (kind == PGRES_COMMAND_OK || kind == PGRES_TUPLES_OK) {
        if (ret_result != NULL) *ret_result = result;
        else PQclear(result);
        return OK;
    }
    Status status = pg_error(result, &link->trouble, diag);
    PQclear(result);
    return status;
}

static Status pg_link_settle(PgLink *link, Diag *diag) {
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
             "SET TRANSACTION READ WRITE; " // [postgres-link-5]
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
    if (PQsendQueryPrepared(link->connection, name, (int)link->params.count, values, lens, formats,
                            1)) {
        vec_push(&link->is_answer, true);
    }
    vec_clear(&link->params);
    buf_clear(&link->wire);
}

// ---- running ----

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
            *status = pg_error(result, &link->trouble, diag);
        }
        bool is_wanted = is_kept && is_good && *status == OK && command < link->is_answer.count &&
                         link->is_answer.data[command];
        if (is_wanted) vec_push(&link->results, result);
        else PQclear(result);
        command++;
        if (!pg_link_is_alive(link)) return false;
    }
}

static bool lazy_read(PgLink *link) { // [postgres-link-3]
    if (!link->is_lazy) return true;
    link->is_lazy = false;
    Status ignored = OK;
    return results_read(link, false, &ignored, NULL);
}

Status pg_link_run(PgLink *link, Diag *diag) {
    results_clear(link);
    link->trouble = PG_TROUBLE_OTHER;
    if (!pg_link_is_alive(link)) return lose(link, diag);
    if (!PQpipelineSync(link->connection)) return lose(link, diag);
    Status status = OK;
    if (!lazy_read(link)) return lose(link, diag);
    if (!results_read(link, true, &status, diag)) return lose(link, diag);
    if (status != OK) { // [postgres-link-1]
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
