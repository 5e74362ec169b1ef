// The schema: made when it is missing, brought up when this program knows more of it.
//
//   [postgres-schema-1] All of it happens in one transaction under an advisory lock, so that any
//        number of nodes may start at once, and a crash leaves the schema as it was.
//   [postgres-schema-2] Bringing up only adds what the tables of this program have and the schema
//        has not: an older abide goes on working beside a newer one. What it could not work with
//        raises PG_SCHEMA_VERSION: an older one does not open it then, and one that had it open is
//        refused in its next transaction (PG_NEWER) and changes nothing any more.
//   [postgres-schema-3] A schema with tables in it that are not ours is left untouched.
//   [postgres-schema-4] The row of `store` is taken before any table is changed, as every writer
//        does ([postgres-remote-1] of postgres/remote.c), so bringing up never waits in a circle
//        with a batch. With a reader it could: so it waits shortly, lets go of everything, and
//        tries again.
//   [postgres-schema-5] Functions keep their meaning as long as the schema version stays: of two
//        programs beside each other either may be the one that made them.
//
// `layout` is a digest of what was made, so that an open normally asks for one row and no more.
#include "base/containers/hash.h"
#include "store/postgres/internal.h"
#include "store/store.h"

typedef struct Found {
    bool has_schema;
    int64_t foreign_count; // relations in it, if it is not ours
    bool is_ours;
    int64_t version;
    int64_t layout;
} Found;

static const char functions_sql[] =
    "CREATE TABLE IF NOT EXISTS %1$s.store (is_abide boolean PRIMARY KEY CHECK (is_abide), "
    "version bigint NOT NULL, schema_version bigint NOT NULL, layout bigint NOT NULL) "
    "WITH (fillfactor = 10); "
    // Written by each node three times per lease, in place.
    "CREATE TABLE IF NOT EXISTS %1$s.beats (node bigint PRIMARY KEY, until_ms bigint NOT NULL) "
    "WITH (fillfactor = 10); "
    "ALTER TABLE %1$s.beats ADD COLUMN IF NOT EXISTS resident_count bigint NOT NULL DEFAULT 0; "
    // Lost in a crash of the server, which is a gap and no harm. Compressing it would cost more.
    "CREATE UNLOGGED TABLE IF NOT EXISTS %1$s.changes (version bigint PRIMARY KEY, "
    "body bytea NOT NULL); ALTER TABLE %1$s.changes ALTER COLUMN body SET STORAGE EXTERNAL; "
    // `known` is the schema version that the caller knows. [postgres-schema-2]
    "CREATE OR REPLACE FUNCTION %1$s.check_schema(present bigint, known bigint) RETURNS bigint "
    "LANGUAGE plpgsql AS $$ BEGIN IF present > known THEN "
    "RAISE EXCEPTION 'the schema has version %%, this abide knows versions up to %%', "
    "present, known USING ERRCODE = 'AB003'; END IF; RETURN present; END $$; "
    "CREATE OR REPLACE FUNCTION %1$s.check_version(expected bigint, known bigint) "
    "RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE present %1$s.store; BEGIN "
    "SELECT * INTO present FROM %1$s.store; "
    "PERFORM %1$s.check_schema(present.schema_version, known); "
    "IF present.version IS DISTINCT FROM expected THEN "
    "RAISE EXCEPTION 'version %% instead of %%', present.version, expected "
    "USING ERRCODE = 'AB001'; END IF; RETURN expected; END $$; "
    "CREATE OR REPLACE FUNCTION %1$s.take_version(expected bigint, known bigint) "
    "RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN "
    "UPDATE %1$s.store SET version = version + 1 WHERE version = expected "
    "AND schema_version <= known; "
    "IF NOT FOUND THEN PERFORM %1$s.check_schema(schema_version, known) FROM %1$s.store; "
    "RAISE EXCEPTION 'version %% is gone', expected USING ERRCODE = 'AB001'; "
    "END IF; RETURN expected; END $$; "
    "CREATE OR REPLACE FUNCTION %1$s.lock_version(known bigint) "
    "RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE present %1$s.store; BEGIN "
    "SELECT * INTO present FROM %1$s.store FOR UPDATE; "
    "PERFORM %1$s.check_schema(present.schema_version, known); RETURN present.version; END $$; "
    "CREATE OR REPLACE FUNCTION %1$s.expect(present bigint, expected bigint, name text) "
    "RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN "
    "IF present <> expected THEN "
    "RAISE EXCEPTION '%% of %% rows of %% are there', present, expected, name "
    "USING ERRCODE = 'AB002'; END IF; RETURN present; END $$; "
    // postgres/steps.c says what for.
    "CREATE OR REPLACE FUNCTION %1$s.guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "IF current_setting('abide.step', true) = 'on' THEN "
    "RAISE EXCEPTION 'a step may not end the transaction it takes part in' "
    "USING ERRCODE = 'AB004'; END IF; RETURN NULL; END $$; "
    "DROP TRIGGER IF EXISTS guard ON %1$s.store; "
    "CREATE CONSTRAINT TRIGGER guard AFTER UPDATE OF is_abide ON %1$s.store "
    "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION %1$s.guard(); ";

// The digest must be the same number in every program that has these tables.
static int64_t layout_digest(Buf *sql, const char *schema) {
    uint32_t digest = crc32c(PG_SCHEMA_VERSION, functions_sql, sizeof(functions_sql));
    for (int number = 0; number < TABLE_COUNT; number++) {
        pg_sql_create_table(sql, schema, &tables[number]);
        digest = crc32c(digest, buf_str(sql).data, sql->len);
        for (uint8_t i = 0; i < tables[number].index_count; i++) {
            pg_sql_create_index(sql, schema, &tables[number], i);
            digest = crc32c(digest, buf_str(sql).data, sql->len);
        }
    }
    return digest;
}

static Status schema_look(PgLink *link, Found *ret_found, Diag *diag) {
    const char *schema = link->address->schema;
    *ret_found = (Found){0};
    PGresult *result = NULL;
    buf_clear(&link->sql);
    buf_printf(&link->sql,
               "SELECT (to_regnamespace('%s') IS NOT NULL)::int, "
               "(to_regclass('%s.store') IS NOT NULL)::int, "
               "(SELECT count(*) FROM pg_class c WHERE c.relnamespace = to_regnamespace('%s'))",
               schema, schema, schema);
    TRY(pg_link_query(link, buf_cstr(&link->sql), &result, diag));
    ret_found->has_schema = pg_text_i64(result, 0) != 0;
    ret_found->is_ours = pg_text_i64(result, 1) != 0;
    ret_found->foreign_count = ret_found->is_ours ? 0 : pg_text_i64(result, 2);
    PQclear(result);
    if (!ret_found->is_ours) return OK;
    buf_clear(&link->sql);
    buf_printf(&link->sql, "SELECT schema_version, layout FROM %s.store WHERE is_abide", schema);
    if (pg_link_query(link, buf_cstr(&link->sql), &result, NULL) != OK || PQntuples(result) != 1) {
        ret_found->is_ours = false;
        ret_found->foreign_count = 1;
        return link->connection != NULL ? OK : pg_lost(NULL, diag);
    }
    ret_found->version = pg_text_i64(result, 0);
    ret_found->layout = pg_text_i64(result, 1);
    PQclear(result);
    return OK;
}

static Status newer(const char *schema, int64_t version, Diag *diag) {
    return diag_set(diag, ERR_UNSUPPORTED, "STORE_NEWER",
                    "the schema \"%s\" has version %lld, this abide knows versions up to %d; "
                    "upgrade abide to open it",
                    schema, (long long)version, PG_SCHEMA_VERSION);
}

static Status found_check(const PgLink *link, const Found *found, Diag *diag) {
    const char *schema = link->address->schema;
    if (found->foreign_count > 0) { // [postgres-schema-3]
        return diag_set(diag, ERR_INVALID, "STORE_NOT_OURS",
                        "the schema \"%s\" has tables that are not abide's; it was left "
                        "untouched. Name another one: ?schema=NAME",
                        schema);
    }
    if (found->version > PG_SCHEMA_VERSION) return newer(schema, found->version, diag);
    return OK;
}

Status pg_schema_check(PgLink *link, Diag *diag) {
    Found found;
    TRY(schema_look(link, &found, diag));
    if (found.version <= PG_SCHEMA_VERSION) return OK;
    // Whoever waits for the store waits for somebody to act, as when it is away.
    (void)newer(link->address->schema, found.version, diag);
    return ERR_UNAVAILABLE;
}

// ---- making it ----

static void append_tables(Buf *all, Buf *sql, const char *schema) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        const Table *table = &tables[number];
        pg_sql_create_table(sql, schema, table);
        buf_append_str(all, buf_str(sql));
        buf_append_cstr(all, "; ");
        for (uint8_t i = table->key_count; i < table->column_count; i++) {
            pg_sql_add_column(sql, schema, table, i);
            buf_append_str(all, buf_str(sql));
            buf_append_cstr(all, "; ");
        }
        for (uint8_t i = 0; i < table->index_count; i++) {
            pg_sql_create_index(sql, schema, table, i);
            buf_append_str(all, buf_str(sql));
            buf_append_cstr(all, "; ");
        }
    }
}

// Version 2: what older programs have written has no phase (model/phase.h).
static void append_phases(Buf *all, const char *schema) {
    buf_printf(all,
               "UPDATE %s.runs SET phase = CASE state WHEN 3 THEN 2 ELSE state END; "
               "DROP INDEX IF EXISTS %s.runs_by_state; "
               "UPDATE %s.tasks SET phase = CASE state WHEN 2 THEN 1 ELSE state END "
               "WHERE state <> 3; "
               "DROP INDEX IF EXISTS %s.tasks_by_state; ",
               schema, schema, schema, schema);
}

// Version 3: runs that were parked before are at an unknown place (model/snapshot.h).
static void append_places(Buf *all, const char *schema) {
    buf_printf(all,
               "INSERT INTO %s.places SELECT definition, 0, count(*) FILTER (WHERE state <> 6), "
               "count(*) FILTER (WHERE state = 6), 0 FROM %s.runs WHERE kind = 2 AND "
               "(state IN (3, 6) OR (state = 4 AND paused_state = 3)) GROUP BY definition; ",
               schema, schema);
}

static void append_functions(Buf *all, const char *schema) {
    for (const char *at = functions_sql; *at != '\0'; at++) {
        if (at[0] != '%') {
            buf_append_char(all, *at);
        } else if (at[1] == '%') {
            buf_append_char(all, '%');
            at++;
        } else {
            buf_append_cstr(all, schema);
            at += 3; // %1$s
        }
    }
}

static Status schema_make(PgLink *link, const Found *found, int64_t layout, Diag *diag) {
    enum { SCRIPT_SIZE_MAX = 1 << 20 };
    const char *schema = link->address->schema;
    Buf all;
    buf_init(&all, SCRIPT_SIZE_MAX);
    if (!found->has_schema) buf_printf(&all, "CREATE SCHEMA IF NOT EXISTS %s; ", schema);
    if (found->is_ours)
        buf_printf(&all, "SELECT 1 FROM %s.store FOR UPDATE; ", schema); // [postgres-schema-4]
    append_functions(&all, schema);
    append_tables(&all, &link->sql, schema);
    if (found->is_ours && found->version < 2) append_phases(&all, schema);
    if (found->is_ours && found->version < 3) append_places(&all, schema);
    buf_printf(&all,
               "INSERT INTO %s.store VALUES (true, 0, %d, %lld) ON CONFLICT (is_abide) "
               "DO UPDATE SET layout = excluded.layout, version = store.version + 1, "
               "schema_version = excluded.schema_version",
               schema, PG_SCHEMA_VERSION, (long long)layout);
    Status status = pg_link_query(link, buf_cstr(&all), NULL, diag);
    buf_done(&all);
    return status;
}

// One attempt, in one transaction. [postgres-schema-1]
static Status schema_try(PgLink *link, int64_t layout, Diag *diag) {
    buf_clear(&link->sql);
    buf_printf(&link->sql,
               PG_BEGIN "; SELECT pg_advisory_xact_lock(hashtextextended('abide %s', 0)); "
                        "SET LOCAL lock_timeout = %d",
               link->address->schema, PG_SCHEMA_LOCK_TIMEOUT_MS); // [postgres-schema-4]
    TRY(pg_link_query(link, buf_cstr(&link->sql), NULL, diag));
    Found found; // somebody may have made it meanwhile
    TRY(schema_look(link, &found, diag));
    TRY(found_check(link, &found, diag));
    if (!(found.is_ours && found.layout == layout)) {
        TRY(schema_make(link, &found, layout, diag));
    }
    return pg_link_query(link, "COMMIT", NULL, diag);
}

static Status schema_bring_up(PgLink *link, int64_t layout, Diag *diag) {
    Diag detail;
    for (int attempt = 1;; attempt++) {
        diag_clear(&detail);
        Status status = schema_try(link, layout, &detail);
        if (status == OK) return OK;
        if (diag != NULL) *diag = detail;
        if (status != ERR_BUSY || attempt == PG_SCHEMA_ATTEMPTS_MAX) {
            pg_link_drop(link); // and with it the transaction
            return status;
        }
        TRY(pg_link_query(link, "ROLLBACK; SELECT pg_sleep(random() / 5)", NULL, diag));
        pg_link_end_idle_holders(link);
    }
}

Status pg_schema_open(PgLink *link, bool is_read_only, Diag *diag) {
    Found found;
    TRY(schema_look(link, &found, diag));
    TRY(found_check(link, &found, diag));
    if (is_read_only) {
        if (found.is_ours) return OK;
        return diag_set(diag, ERR_NOT_FOUND, "STORE_NOT_FOUND",
                        "there is no store in the schema \"%s\"", link->address->schema);
    }
    int64_t layout = layout_digest(&link->sql, link->address->schema);
    if (found.is_ours && found.layout == layout) return OK;
    return schema_bring_up(link, layout, diag);
}
