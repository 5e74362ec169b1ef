// Small help for tests on PostgreSQL; what goes wrong here is the test's own trouble and ends it.
#include "servers/postgres.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *server_url(void) {
    const char *url = getenv("ABIDE_TEST_POSTGRES");
    if (url != NULL) return url;
    fprintf(stderr, "no PostgreSQL: run this test with test/servers/postgres.py\n");
    exit(1);
}

void test_postgres_url(const char *schema, char *ret_url, size_t size) {
    int len = snprintf(ret_url, size, "%s%cschema=%s", server_url(),
                       strchr(server_url(), '?') ? '&' : '?', schema);
    if (len < 0 || (size_t)len >= size) abort();
}

PGconn *test_postgres_connect(void) {
    PGconn *connection = PQconnectdb(server_url());
    if (PQstatus(connection) == CONNECTION_OK) return connection;
    fprintf(stderr, "%s", PQerrorMessage(connection));
    exit(1);
}

long long test_postgres_query(PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s: %s", sql, PQresultErrorMessage(result));
        exit(1);
    }
    long long value = 0;
    if (PQntuples(result) > 0) value = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return value;
}

// One connection for all calls: a new one costs the server more than the clearing itself. A process
// that was forked has one of its own.
static PGconn *kept_connection(void) {
    static PGconn *connection;
    static pid_t owner;
    if (connection == NULL || owner != getpid() || PQstatus(connection) != CONNECTION_OK) {
        connection = test_postgres_connect();
        owner = getpid();
    }
    return connection;
}

void test_postgres_clear(const char *schema) {
    char sql[512];
    snprintf(sql, sizeof(sql),
             "SET client_min_messages = warning; "
             "DO $$ DECLARE t text; BEGIN "
             "FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '%s' "
             "AND tablename <> 'store' LOOP EXECUTE 'DELETE FROM %s.' || t; END LOOP; "
             "END $$",
             schema, schema);
    test_postgres_query(kept_connection(), sql);
}
