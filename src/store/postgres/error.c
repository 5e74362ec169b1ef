// PostgreSQL's answers in the words of this code base.
//
//   AB001 the version is another one    ERR_CONFLICT     STORE_CHANGED
//   AB002 a row is not there            ERR_CORRUPT      STORE_ROW_MISSING
//   AB003 a newer abide was here        ERR_UNAVAILABLE  STORE_NEWER
//   23505 a row is there already        ERR_CORRUPT      STORE_CONFLICT
//   XX001 damaged pages                 ERR_CORRUPT      STORE_CORRUPT
//   XX002 a damaged index               ERR_CORRUPT      STORE_INDEX_CORRUPT
//   53100 disk full                     ERR_FULL         STORE_FULL
//   25006 a standby                     ERR_UNAVAILABLE  STORE_READ_ONLY
//   42501 no right                      ERR_UNAVAILABLE  STORE_DENIED
//   55P03 somebody holds the lock       ERR_BUSY         STORE_BUSY
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

typedef struct Answer {
    const char *state; // SQLSTATE
    Status status;
    const char *code;
    PgTrouble trouble;
    const char *before, *after; // the server's own text
} Answer;

static const Answer answers[] = {
    {PG_NEWER, ERR_UNAVAILABLE, "STORE_NEWER", PG_TROUBLE_NEWER, "",
     "; a newer abide has brought the store up: replace this one"},
    {PG_MISSING, ERR_CORRUPT, "STORE_ROW_MISSING", PG_TROUBLE_OTHER, "",
     " (nothing was written); were the tables changed by hand?"},
    {"23505", ERR_CORRUPT, "STORE_CONFLICT", PG_TROUBLE_OTHER, "",
     " (nothing was written); were the tables changed by hand?"},
    {"XX001", ERR_CORRUPT, "STORE_CORRUPT", PG_TROUBLE_OTHER, "",
     "; the server's files are damaged: restore a backup"},
    {"XX002", ERR_CORRUPT, "STORE_INDEX_CORRUPT", PG_TROUBLE_OTHER, "",
     "; an index is damaged, the rows may be whole: REINDEX it"},
    {"53100", ERR_FULL, "STORE_FULL", PG_TROUBLE_OTHER, "no space left to write (",
     "); free some space and try again"},
    {"42501", ERR_UNAVAILABLE, "STORE_DENIED", PG_TROUBLE_OTHER,
     "the user of the store may not do what is needed (",
     "); make the schema for it, or grant it CREATE on the database"},
    {"25006", ERR_UNAVAILABLE, "STORE_READ_ONLY", PG_TROUBLE_STANDBY,
     "the store cannot be written (", ")"},
};

Status pg_error(const PGresult *result, PgTrouble *ret_trouble, Diag *diag) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (text == NULL) text = PQresultErrorMessage(result);
    if (state == NULL) state = "";
    *ret_trouble = PG_TROUBLE_OTHER;
    if (is_state(state, PG_CHANGED)) {
        return diag_set(diag, ERR_CONFLICT, "STORE_CHANGED", "another node has written meanwhile");
    }
    if (is_state(state, "55P03")) {
        *ret_trouble = PG_TROUBLE_HELD;
        return diag_set(diag, ERR_BUSY, "STORE_BUSY",
                        "PostgreSQL: another node holds the store for more than %d seconds",
                        PG_LOCK_TIMEOUT_MS / 1000);
    }
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        const Answer *answer = &answers[i];
        if (!is_state(state, answer->state)) continue;
        *ret_trouble = answer->trouble;
        return diag_set(diag, answer->status, answer->code, "PostgreSQL: %s%s%s", answer->before,
                        text, answer->after);
    }
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "PostgreSQL: %s%s%s", text,
                    state[0] ? ", SQLSTATE " : "", state);
}
