// The PostgreSQL that test/servers/postgres.py has started beside the test.
#pragma once
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

// The URL of a store in the schema of that name. Ends the test when no server was started.
void test_postgres_url(const char *schema, char *ret_url, size_t size);
// Empties the store in that schema, if there is one: cheaper than making it anew. Nobody may have
// it open.
void test_postgres_clear(const char *schema);
// A connection of one's own; the caller finishes it.
PGconn *test_postgres_connect(void);
// Runs SQL that must succeed; answers the first column of the first row as a number, or 0.
long long test_postgres_query(PGconn *connection, const char *sql);
