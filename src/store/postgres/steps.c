// Steps that take part in the writer's transaction (P4): they get the connection itself.
//
//   BEGIN, the version locked -> SAVEPOINT -> the step's own SQL -> RELEASE | ROLLBACK TO -> …
//
// A step is a function of the program we are in: nothing keeps it from sending COMMIT. What we can
// do is to make sure that it does no harm, and to find out.
//
//   [steps-1] A COMMIT sent by a step fails on the server and takes everything with it: a deferred
//        trigger (`guard`) is due then, which raises an error while abide.step is on. So what the
//        steps before it in the batch wrote cannot come without their checkpoints.
//   [steps-2] What a step sends after a ROLLBACK of its own finds a session that may not write
//        ([postgres-link-5]).
//   [steps-3] The savepoint tells whether the transaction is still ours: it ends with it.
//   [steps-4] Constraints that the application has deferred are checked before the savepoint is
//        released, so that a violation is the step's error and not the batch's. The check is done
//        in a savepoint of its own and undone, which leaves them deferred for those who follow.
//   [steps-5] Whatever a step changed of the session's settings, prepared statements and listening
//        is as before when it has ended. It runs with the planner's own settings, not ours.
//   [steps-6] A connection on which something is unread or under way, or which is in pipeline mode,
//        is dropped: the server forgets the transaction with it.
//   [steps-7] A step that has written to our tables is found out by the locks it holds: reading
//        takes weaker ones, and what we write ourselves comes when the transaction is committed.
//        Only the row of `store` is locked before, by us.
//
// Not here: what follows from the answer (runs/turn.c), the transaction itself
// (postgres/remote.c).
#include "store/postgres/internal.h"

Status pg_step_begin(PgLink *link, Diag *diag) {
    buf_clear(&link->sql);
    buf_printf(&link->sql,
               "SET LOCAL abide.step = 'on'; SET CONSTRAINTS %s.guard DEFERRED; "
               "UPDATE %s.store SET is_abide = is_abide; " // [steps-1]
               "SET LOCAL enable_seqscan = DEFAULT; SET LOCAL enable_hashjoin = DEFAULT; "
               "SET LOCAL enable_mergejoin = DEFAULT; SET LOCAL plan_cache_mode = DEFAULT; "
               "SAVEPOINT abide_step",
               link->address->schema, link->address->schema);
    return pg_link_query(link, buf_cstr(&link->sql), NULL, diag);
}

static Status evict(PgLink *link, const char *reason, Diag *diag) {
    pg_link_drop(link);
    return diag_set(diag, ERR_INVALID, "STEP_EXPELLED", "the step %s", reason);
}

// [steps-6] Whether the connection can be spoken to.
static Status connection_check(PgLink *link, Diag *diag) {
    PGconn *connection = link->connection;
    if (!pg_link_is_alive(link)) {
        Status status = pg_lost(connection, diag);
        pg_link_drop(link);
        return status;
    }
    if (PQpipelineStatus(connection) != PQ_PIPELINE_OFF) {
        return evict(link, "has left the connection in pipeline mode", diag);
    }
    switch (PQtransactionStatus(connection)) {
    case PQTRANS_INTRANS:
    case PQTRANS_INERROR: break;
    case PQTRANS_IDLE: return evict(link, "has ended the transaction it takes part in", diag);
    case PQTRANS_ACTIVE:
    case PQTRANS_UNKNOWN:
        return evict(link,
                     "has left a statement or a result on the connection; read every "
                     "result to its end",
                     diag);
    }
    if (PQisnonblocking(connection) && PQsetnonblocking(connection, 0) != 0) {
        return evict(link, "has left the connection in nonblocking mode", diag);
    }
    pg_link_silence(link);
    return OK;
}

// Runs what ends a step; `first` is the part that decides whether it is kept. *ret_has_written:
// what is kept of it has changed our tables. [steps-7]
static Status end_with(PgLink *link, const char *first, bool *ret_has_written, Diag *diag) {
    buf_clear(&link->sql);
    buf_append_cstr(&link->sql, first);
    buf_append_cstr(&link->sql, "; RESET ROLE; RESET ALL; UNLISTEN *; " // [steps-5]
                                "SET LOCAL abide.step = 'off'; ");
    pg_append_settings(&link->sql);
    buf_printf(&link->sql,
               "; SELECT (SELECT count(*) FROM pg_prepared_statements WHERE "
               "starts_with(name, '" PG_STATEMENT_PREFIX "')), (SELECT count(*) FROM pg_locks l "
               "JOIN pg_class c ON c.oid = l.relation WHERE l.pid = pg_backend_pid() AND "
               "l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "
               "c.relnamespace = to_regnamespace('%s') AND c.relkind = 'r' AND "
               "c.relname <> 'store' AND l.mode NOT IN ('AccessShareLock', 'RowShareLock'))",
               link->address->schema);
    PGresult *result = NULL;
    TRY(pg_link_query(link, buf_cstr(&link->sql), &result, diag));
    // Some may be there that we do not know of ([postgres-link-1] of postgres/link.c), but none may
    // be missing.
    if (pg_text_i64(result, 0) < (int64_t)link->statements.count) {
        pg_link_forget_statements(link);
    }
    *ret_has_written = pg_text_i64(result, 1) > 0;
    PQclear(result);
    return OK;
}

static Status undo(PgLink *link, Diag *diag) {
    Diag detail;
    bool has_written; // and what it has is undone
    diag_clear(&detail);
    Status status =
        end_with(link, "ROLLBACK TO abide_step; RELEASE abide_step", &has_written, &detail);
    if (status == OK) return OK;
    if (pg_link_is_alive(link)) { // [steps-3]
        return evict(link, "has ended the transaction it takes part in", diag);
    }
    if (diag != NULL) *diag = detail;
    return status;
}

Status pg_step_end(PgLink *link, bool is_kept, Diag *diag) {
    TRY(connection_check(link, diag));
    bool is_in_error = PQtransactionStatus(link->connection) == PQTRANS_INERROR;
    if (!is_kept) return undo(link, diag);
    Diag detail;
    diag_clear(&detail);
    if (is_in_error) {
        (void)diag_set(&detail, ERR_CONFLICT, "STEP_UNDONE",
                       "a statement failed, and the step answered as if it had not");
    } else { // [steps-4]
        bool has_written = false;
        Status status = end_with(link,
                                 "SET LOCAL abide.step = 'off'; SAVEPOINT abide_check; "
                                 "SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK TO abide_check; "
                                 "RELEASE abide_step",
                                 &has_written, &detail);
        if (has_written) return evict(link, "has written to the tables of abide", diag);
        if (status == OK) return OK;
        if (!pg_link_is_alive(link)) {
            if (diag != NULL) *diag = detail;
            return status;
        }
    }
    TRY(undo(link, diag));
    if (diag != NULL) *diag = detail;
    return ERR_CONFLICT;
}
