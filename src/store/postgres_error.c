// PostgreSQL's answers in the words of this code base.
//
//   AB001 the version is another one    ERR_CONFLICT     STORE_CHANGED
//   AB002, duplicate key, damaged pages ERR_CORRUPT      STORE_CORRUPT
//   53100 disk full                     ERR_LIMIT        STORE_FULL
//   25006 a standby, 42501 no right     ERR_UNAVAILABLE  STORE_READ_ONLY
//   55P03 somebody holds the lock       ERR_UNAVAILABLE  STORE_BUSY
//   everything else, no connection      ERR_UNAVAILABLE  STORE_IO, with the server's own text
#include "store/postgres_internal.h"

static bool is_state(const char *state, const char *wanted) { return strcmp(state, wanted) == 0; }

Status pg_lost(const PGconn *connection, Diag *diag) {
    Str text = str_trim(str_from(connection != NULL ? PQerrorMessage(connection) : ""));
    if (text.len == 0) text = STR("the connection to the server was lost");
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "PostgreSQL: %.*s", STR_ARG(text));
}

Status pg_error(const PGresult *result, Diag *diag) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (text == NULL) text = PQresultErrorMessage(result);
    if (state == NULL) state = "";
    if (is_state(state, PG_CHANGED)) {
        return diag_set(diag, ERR_CONFLICT, "STORE_CHANGED", "another node has written meanwhile");
    }
    if (is_state(state, PG_MISSING) || is_state(state, "23505") || is_state(state, "XX001") ||
        is_state(state, "XX002")) {
        return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT",
                        "PostgreSQL: %s; were the tables changed by hand?", text);
    }
    if (is_state(state, "53100")) {
        return diag_set(diag, ERR_LIMIT, "STORE_FULL",
                        "PostgreSQL: no space left to write (%s); free some space and try again",
                        text);
    }
    if (is_state(state, "25006") || is_state(state, "42501")) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_READ_ONLY",
                        "PostgreSQL: the store cannot be written (%s)", text);
    }
    if (is_state(state, "55P03")) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_BUSY",
                        "PostgreSQL: another node holds the store for more than %d seconds",
                        PG_LOCK_TIMEOUT_MS / 1000);
    }
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "PostgreSQL: %s%s%s", text,
                    state[0] ? ", SQLSTATE " : "", state);
}
