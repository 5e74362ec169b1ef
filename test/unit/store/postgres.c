// What only a store on PostgreSQL can get into: lost connections, nodes that stand still, other
// nodes' writes, tables changed by hand. What holds for every store is in test/contract.
#include "servers/postgres.h"
#include "base/array.h"
#include "store/postgres/internal.h"
#include "unit/store/two_nodes.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t last_batch(World *world, Node *node) {
    NodeRow row;
    assert_ok(store_node_by_key(node->store, &world->arena, node->node, &row, &world->diag));
    return row.last_batch;
}

static int set_up(void **state) {
    World *world = world_new();
    test_postgres_clear("lone");
    test_postgres_url("lone", world->url, sizeof(world->url));
    world->side = test_postgres_connect();
    return world_begin(world, state);
}

static int tear_down(void **state) {
    World *world = *state;
    PQfinish(world->side);
    return world_end(world);
}

// All connections of both stores.
static void end_backends(World *world) {
    test_postgres_query(world->side,
                        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                        "WHERE application_name = 'abide'");
    while (test_postgres_query(world->side, "SELECT count(*) FROM pg_stat_activity WHERE "
                                            "application_name = 'abide'") > 0) {}
}

static void nodes_keep_what_the_other_has_set(void **state) {
    check_nodes_keep_what_others_set(*state);
}

static void nodes_see_what_the_other_has_written(void **state) {
    World *world = *state;
    check_nodes_see_each_other(world);
    StoreStats found;
    assert_ok(store_stats(world->two.store, &world->arena, &found, &world->diag));
    assert_int_equal(found.counters[COUNTER_STARTED_TOTAL], 2);
}

// Who fetches sees what was changed by hand, who follows the changes of the other does not.
static void a_node_follows_the_other_without_fetching(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    create(world, &world->two, "b"); // now both know of each other
    create(world, &world->one, "c");
    create(world, &world->two, "d");
    test_postgres_query(world->side, "UPDATE lone.runs SET id = 'z' WHERE id = 'c'");
    Op *op = begin_run(world, &world->one, "c");
    assert_ok(submit(world, &world->one));
    assert_false(op->out.create_run.is_new); // kept in the cache, although the other has written
    op = begin_run(world, &world->one, "d");
    assert_ok(submit(world, &world->one));
    assert_false(op->out.create_run.is_new);
    test_postgres_query(world->side, "UPDATE lone.runs SET id = 'c' WHERE id = 'z'");
}

static void a_gap_in_the_changes_makes_a_node_fetch_again(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    create(world, &world->two, "b");
    create(world, &world->one, "c");
    create(world, &world->two, "d");
    create(world, &world->two, "e");
    test_postgres_query(world->side, "DELETE FROM lone.changes WHERE version = "
                                     "(SELECT version - 1 FROM lone.store)");
    Op *op = begin_run(world, &world->one, "d");
    assert_ok(submit(world, &world->one));
    assert_false(op->out.create_run.is_new);
    op = begin_run(world, &world->one, "c");
    assert_ok(submit(world, &world->one));
    assert_false(op->out.create_run.is_new);
}

// A body that says something else than what is there must do no harm.
static void changes_of_another_program_are_not_believed(void **state) {
    World *world = *state;
    static const char *const bodies[] = {"''", "'\\x0102030405060708'",
                                         "substr(body, 1, length(body) - 3)",
                                         "'\\x00'::bytea || substr(body, 2)"};
    create(world, &world->one, "a");
    create(world, &world->two, "b");
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        char sql[200], id[20];
        snprintf(id, sizeof(id), "r%zu", i);
        create(world, &world->two, id);
        snprintf(sql, sizeof(sql), "UPDATE lone.changes SET body = %s", bodies[i]);
        test_postgres_query(world->side, sql);
        Op *op = begin_run(world, &world->one, id);
        assert_ok(submit(world, &world->one));
        assert_false(op->out.create_run.is_new);
    }
}

static void a_lone_node_keeps_no_changes(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    create(world, &world->two, "b");
    assert_true(test_postgres_query(world->side, "SELECT count(*) FROM lone.changes") > 0);
    begin(world, &world->two, OP_LEAVE);
    assert_ok(submit(world, &world->two));
    create(world, &world->one, "c");
    test_postgres_query(world->side, "DELETE FROM lone.changes");
    create(world, &world->one, "d");
    assert_int_equal(test_postgres_query(world->side, "SELECT count(*) FROM lone.changes"), 0);
}

static void old_changes_go(void **state) {
    World *world = *state;
    for (int i = 0; i < 400; i++) {
        char id[20];
        snprintf(id, sizeof(id), "r%d", i);
        create(world, i % 3 == 0 ? &world->two : &world->one, id);
    }
    long long count = test_postgres_query(world->side, "SELECT count(*) FROM lone.changes");
    assert_in_range(count, 128, 160);
}

static void a_lost_connection_is_made_again(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    end_backends(world);
    assert_true(has_run(world, &world->one, "a")); // the reader, at its first question
    // The writer notices before it sends anything, or answers that it does not know.
    begin_run(world, &world->one, "b");
    Status status = submit(world, &world->one);
    if (status == ERR_UNAVAILABLE) {
        bool is_applied = last_batch(world, &world->one) == world->one.batch_number;
        assert_int_equal(is_applied, has_run(world, &world->one, "b"));
        if (!is_applied) status = submit(world, &world->one);
        else status = OK;
    }
    assert_ok(status);
    create(world, &world->one, "c");
    assert_true(has_run(world, &world->two, "b"));
    assert_true(has_run(world, &world->two, "c"));
}

// Somebody holds the version and says nothing: as a node that was stopped in its transaction.
static void a_writer_that_stands_still_is_cut_off(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    PGconn *still = test_postgres_connect();
    test_postgres_query(still, "BEGIN");
    test_postgres_query(still, "SELECT version FROM lone.store FOR UPDATE");
    begin_run(world, &world->one, "b");
    assert_status(submit(world, &world->one), ERR_BUSY);
    assert_string_equal(world->diag.code, "STORE_BUSY");
    assert_ok(submit(world, &world->one)); // the other one is gone
    assert_true(has_run(world, &world->two, "b"));
    PQclear(PQexec(still, "COMMIT"));
    assert_int_equal(PQstatus(still), CONNECTION_BAD);
    PQfinish(still);
}

static void a_row_removed_by_hand_is_noticed_and_nothing_is_written(void **state) {
    World *world = *state;
    int64_t key = create(world, &world->one, "a");
    char sql[100];
    snprintf(sql, sizeof(sql), "DELETE FROM lone.runs WHERE key = %lld", (long long)key);
    test_postgres_query(world->side, sql);
    Op *op = begin(world, &world->one, OP_CANCEL);
    op->in.cancel.run_id = STR("a");
    assert_status(submit(world, &world->one), ERR_CORRUPT);
    assert_string_equal(world->diag.code, "STORE_ROW_MISSING");
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM lone.log WHERE run = %lld AND kind = %d",
             (long long)key, LOG_FINISHED);
    assert_int_equal(test_postgres_query(world->side, sql), 0);
    // So that the store verifies: what else there was of it, and the counters.
    test_postgres_clear("lone");
}

// What the server says it found decides what is said; nothing of the batch happens.
static void errors_of_the_server_that_mean_different_things_have_different_codes(void **state) {
    static const struct {
        const char *state, *code;
        Status status;
    } cases[] = {
        {"23505", "STORE_CONFLICT", ERR_CORRUPT},
        {"XX001", "STORE_CORRUPT", ERR_CORRUPT},
        {"XX002", "STORE_INDEX_CORRUPT", ERR_CORRUPT},
        {PG_MISSING, "STORE_ROW_MISSING", ERR_CORRUPT},
        {"53100", "STORE_FULL", ERR_FULL},
        {"25006", "STORE_READ_ONLY", ERR_UNAVAILABLE},
        {"55P03", "STORE_BUSY", ERR_BUSY},
        {"42501", "STORE_DENIED", ERR_UNAVAILABLE},
        {"57014", "STORE_IO", ERR_UNAVAILABLE},
    };
    World *world = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char sql[400];
        snprintf(sql, sizeof(sql),
                 "CREATE OR REPLACE FUNCTION lone.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ "
                 "BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '%s'; END $$; "
                 "CREATE TRIGGER refuse BEFORE INSERT ON lone.runs FOR EACH ROW "
                 "EXECUTE FUNCTION lone.refuse()",
                 cases[i].state);
        test_postgres_query(world->side, sql);
        begin_run(world, &world->one, "a");
        assert_status(submit(world, &world->one), cases[i].status);
        assert_string_equal(world->diag.code, cases[i].code);
        test_postgres_query(world->side, "DROP TRIGGER refuse ON lone.runs");
        assert_false(has_run(world, &world->one, "a"));
    }
    create(world, &world->one, "a");
}

static void many_starts_at_once_make_one_schema(void **state) {
    World *world = *state;
    test_postgres_url("fresh", world->url, sizeof(world->url));
    enum { ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        test_postgres_query(world->side, "DROP SCHEMA IF EXISTS fresh CASCADE");
        open_in_processes(world, 3);
        assert_int_equal(test_postgres_query(world->side, "SELECT count(*) FROM fresh.store"), 1);
    }
}

static void a_newer_schema_is_left_alone(void **state) {
    World *world = *state;
    test_postgres_query(world->side, "UPDATE lone.store SET schema_version = 999");
    Store *store = NULL;
    assert_status(store_open(str_from(world->url), NULL, &store, &world->diag), ERR_UNSUPPORTED);
    assert_string_equal(world->diag.code, "STORE_NEWER");
    test_postgres_query(world->side, "UPDATE lone.store SET schema_version = 3");
}

// Written by a program of schema version 1, which had an index over states.
static void a_schema_of_version_1_gets_its_phases(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    test_postgres_query(
        world->side, "ALTER TABLE lone.runs DROP COLUMN phase; DROP TABLE lone.places; "
                     "ALTER TABLE lone.tasks DROP COLUMN phase; "
                     "CREATE INDEX runs_by_state ON lone.runs (state); "
                     "CREATE INDEX tasks_by_state ON lone.tasks (state); "
                     "UPDATE lone.store SET layout = 0, schema_version = 1, version = version + 1");
    Store *store = open_store(world);
    int64_t row_count;
    assert_ok(store_verify(store, &row_count, &world->diag));
    store_close(store);
    assert_int_equal(test_postgres_query(world->side, "SELECT phase FROM lone.runs"), 2);
    assert_int_equal(test_postgres_query(world->side, "SELECT count(*) FROM pg_class WHERE relname "
                                                      "IN ('runs_by_state', 'tasks_by_state')"),
                     0);
    assert_int_equal(test_postgres_query(world->side, "SELECT schema_version FROM lone.store"), 4);
    end_backends(world); // whose statements know the old one
    assert_true(has_run(world, &world->one, "a"));
}

static void a_column_that_is_missing_is_added(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    test_postgres_query(world->side, "ALTER TABLE lone.runs DROP COLUMN idle_since_ms; "
                                     "UPDATE lone.store SET layout = 0, version = version + 1");
    Store *store = open_store(world);
    store_close(store);
    assert_int_equal(test_postgres_query(world->side, "SELECT idle_since_ms FROM lone.runs"), 0);
    end_backends(world); // whose statements know the old one
    assert_true(has_run(world, &world->one, "a"));
}

static void names_of_schemas_are_checked(void **state) {
    World *world = *state;
    static const char *const bad[] = {"", "Upper", "a-b", "9x", "pg_mine", "a;drop", "a%20b"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char url[200];
        Store *store = NULL;
        test_postgres_url(bad[i], url, sizeof(url));
        assert_status(store_open(str_from(url), NULL, &store, &world->diag), ERR_INVALID);
        assert_string_equal(world->diag.code, "STORE_URL");
    }
}

// [step-database-1] of store/step_database.h: the store holds the version before a step is called.
static Status count_call(void *context, StepDatabase database, Arena *arena, Str *ret_data) {
    assert_int_equal(database.kind, DATABASE_POSTGRES);
    *ret_data = arena_str(arena, STR("1"));
    (*(int *)context)++;
    return OK;
}

static void a_step_is_not_called_for_a_batch_that_is_out_of_date(void **state) {
    World *world = *state;
    for (int i = 0; i < 20; i++) { // the nodes take turns, so each finds the store changed
        char id[2][8];
        snprintf(id[0], sizeof(id[0]), "a%d", i);
        snprintf(id[1], sizeof(id[1]), "b%d", i);
        int64_t key = create(world, &world->one, id[0]);
        int64_t epoch = world->batch.out.ready[0].claim.epoch;
        create(world, &world->two, id[1]);
        int call_count = 0;
        LogRow entry = {.kind = LOG_STEP, .attempt = 1, .name = STR("s")};
        Op *op = begin(world, &world->one, OP_COMMIT_TURN);
        op->in.turn = (TurnCommit){.run = key,
                                   .epoch = epoch,
                                   .next = NEXT_CONTINUE,
                                   .log = &entry,
                                   .log_count = 1,
                                   .participant = count_call,
                                   .participant_context = &call_count};
        assert_ok(submit(world, &world->one));
        assert_ok(op->out.status);
        assert_int_equal(call_count, 1);
    }
}

// How the server would execute a write of one row of the log, in a session with our settings.
static void check_plan(World *world, const RowWrite *write, const char *values) {
    Buf sql;
    buf_init(&sql, 1 << 16);
    pg_sql_write(&sql, "lone", write);
    char text[4096];
    snprintf(text, sizeof(text), "PREPARE w AS %s; EXPLAIN EXECUTE w(%s)", buf_cstr(&sql), values);
    buf_clear(&sql);
    PGresult *plan = PQexec(world->side, text);
    assert_int_equal(PQresultStatus(plan), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(plan); i++) {
        buf_printf(&sql, "%s\n", PQgetvalue(plan, i, 0));
    }
    PQclear(plan);
    assert_null(strstr(buf_cstr(&sql), "Join Filter")); // each row of the table against each key
    assert_null(strstr(buf_cstr(&sql), "Seq Scan"));
    assert_non_null(strstr(buf_cstr(&sql), "Index Cond"));
    buf_done(&sql);
    test_postgres_query(world->side, "DEALLOCATE w");
}

static void a_table_that_seemed_empty_is_not_read_for_each_row(void **state) {
    World *world = *state;
    Buf settings;
    buf_init(&settings, 1 << 16);
    pg_append_settings(&settings);
    test_postgres_query(world->side, buf_cstr(&settings));
    buf_done(&settings);
    // As VACUUM leaves it when it finds all rows removed, and before it comes again.
    test_postgres_query(world->side, "SET default_transaction_read_only = off");
    test_postgres_query(world->side, "UPDATE pg_class SET relpages = 177, reltuples = 0 "
                                     "WHERE oid = 'lone.log'::regclass");
    LogRow key = {.run = 1, .seq = 1};
    check_plan(world, &(RowWrite){.table = TABLE_LOG, .kind = WRITE_REMOVE, .row = &key},
               "'{1}', '{1}', 1");
    uint64_t third = UINT64_C(1) << 2; // a column that is no key
    check_plan(world,
               &(RowWrite){.table = TABLE_LOG, .kind = WRITE_UPDATE, .changes = third, .row = &key},
               "'{1}', '{1}', '{1}', 1");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(nodes_see_what_the_other_has_written),
        CASE(nodes_keep_what_the_other_has_set),
        CASE(a_node_follows_the_other_without_fetching),
        CASE(a_gap_in_the_changes_makes_a_node_fetch_again),
        CASE(changes_of_another_program_are_not_believed),
        CASE(a_lone_node_keeps_no_changes),
        CASE(old_changes_go),
        CASE(a_lost_connection_is_made_again),
        CASE(a_writer_that_stands_still_is_cut_off),
        CASE(a_row_removed_by_hand_is_noticed_and_nothing_is_written),
        CASE(errors_of_the_server_that_mean_different_things_have_different_codes),
        CASE(many_starts_at_once_make_one_schema),
        CASE(a_newer_schema_is_left_alone),
        CASE(a_column_that_is_missing_is_added),
        CASE(a_schema_of_version_1_gets_its_phases),
        CASE(names_of_schemas_are_checked),
        CASE(a_step_is_not_called_for_a_batch_that_is_out_of_date),
        CASE(a_table_that_seemed_empty_is_not_read_for_each_row),
    };
    return cmocka_run_group_tests_name("store on PostgreSQL", tests, NULL, NULL);
}
