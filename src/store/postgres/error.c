// PostgreSQL's answers in the words of this code base.
//
//   AB001 the version is another one    ERR_CONFLICT     STORE_CHANGED
//   AB003 a newer abide was here        ERR_UNAVAILABLE  STORE_NEWER
//   AB002, duplicate key, damaged pages ERR_CORRUPT      STORE_CORRUPT
//   53100 disk full                     ERR_LIMIT        STORE_FULL
//   25006 a standby                     ERR_UNAVAILABLE  STORE_READ_ONLY
//   42501 no right                      ERR_UNAVAILABLE  STORE_DENIED
//   55P03 somebody holds the lock       ERR_UNAVAILABLE  STORE_BUSY
//   everything else, no connection      ERR_UNAVAILABLE  STORE_IO, with the server's own text
//
// Of a connection that was not made libpq tells no SQLSTATE, just text. What a server says in
// English gets a code of its own; in any other language it is STORE_IO with that text.
#include "base/array.h"
#include "store/postgres/internal.h"

static bool is_state(const char *state, const char *wanted) { return strcmp(state, wanted) == 0; }

Status pg_lost(const PGconn *connection, Diag *diag) {
    Str text = str_trim(str_from(connection != NULL ? PQerrorMessage(connection) : ""));
    if (text.len == 0) text = STR("the connection to the server was lost");
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "PostgreSQL: %.*s", STR_ARG(text));
}

typedef struct Refusal {
    const char *said; // by the server or libpq
    const char *code;
    const char *advice;
} Refusal;

static const Refusal refusals[] = {
    // the first that fits
    {"pg_hba.conf", "STORE_LOGIN", "; the server's pg_hba.conf must let this user in from here"},
    {"certificate", "STORE_TLS",
     "; look at sslrootcert, sslcert and sslmode in the URL, and at the server's certificate"},
    {"does not support SSL", "STORE_TLS", "; turn on ssl there, or look at sslmode in the URL"},
    {"SSL error", "STORE_TLS", "; look at sslmode in the URL, and at the server's log"},
    {"session is read-only", "STORE_READ_ONLY", "; none of the hosts can be written"},
    {"hot standby", "STORE_READ_ONLY", "; none of the hosts can be written"},
    {"password", "STORE_LOGIN", "; look at user and password in the URL, or at PGPASSFILE"},
    {"role \"", "STORE_LOGIN", "; look at the user in the URL"},
    {"authentication failed", "STORE_LOGIN", "; look at user and password in the URL"},
    {"permission denied", "STORE_DENIED", "; grant the user CONNECT on the database"},
    {"database \"", "STORE_NO_DATABASE", "; make it first, or mend the name in the URL"},
};

Status pg_refused(const PGconn *connection, Diag *diag) {
    const char *text = PQerrorMessage(connection);
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        if (strstr(text, refusals[i].said) == NULL) continue;
        Str trimmed = str_trim(str_from(text));
        return diag_set(diag, ERR_UNAVAILABLE, refusals[i].code, "PostgreSQL: %.*s%s",
                        STR_ARG(trimmed), refusals[i].advice);
    }
    return pg_lost(connection, diag);
}

Status pg_error(const PGresult *result, Diag *diag) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (text == NULL) text = PQresultErrorMessage(result);
    if (state == NULL) state = "";
    if (is_state(state, PG_CHANGED)) {
        return diag_set(diag, ERR_CONFLICT, "STORE_CHANGED", "another node has written meanwhile");
    }
    if (is_state(state, PG_NEWER)) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_NEWER",
                        "PostgreSQL: %s; a newer abide has brought the store up: replace this one",
                        text);
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
    if (is_state(state, "42501")) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_DENIED",
                        "PostgreSQL: the user of the store may not do what is needed (%s); make "
                        "the schema for it, or grant it CREATE on the database",
                        text);
    }
    if (is_state(state, "25006")) {
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
