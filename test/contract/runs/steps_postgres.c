// Steps in a transaction of PostgreSQL that misbehave: [steps-1] to [steps-6] of
// store/postgres/steps.c.
//
// Each stands in a batch between two that behave; theirs must happen, once.
#include "base/array.h"
#include "contract/steps.h"
#include "servers/postgres.h"
#include <stdio.h>

// ---- ways to misbehave that SQL alone does not show ----

static void send_and_go(StepDatabase database) {
    assert_true(PQsendQuery(database.handle, "SELECT 1"));
}

static void read_half(StepDatabase database) {
    assert_true(PQsendQuery(database.handle, "SELECT 1; SELECT 2"));
    PQclear(PQgetResult(database.handle));
}

static void begin_copy(StepDatabase database) {
    PQclear(PQexec(database.handle, "COPY account FROM STDIN"));
}

static void leave_pipeline_on(StepDatabase database) {
    assert_true(PQenterPipelineMode(database.handle));
}

static void commit_unread(StepDatabase database) {
    assert_true(PQsendQuery(database.handle, "COMMIT"));
}

static void connect_anew(StepDatabase database) { PQreset(database.handle); }

typedef struct Misdeed {
    const char *sql;
    void (*more)(StepDatabase database);
} Misdeed;

static const Misdeed misdeeds[] = {
    {"COMMIT", NULL},
    {"UPDATE account SET balance = 777; COMMIT", NULL},
    {"COMMIT; BEGIN", NULL},
    {"COMMIT AND CHAIN", NULL},
    {"ROLLBACK", NULL},
    {"ROLLBACK; BEGIN", NULL},
    {"ROLLBACK; BEGIN; UPDATE account SET balance = 777; COMMIT", NULL},
    {"ROLLBACK AND CHAIN", NULL},
    {"PREPARE TRANSACTION 'mine'", NULL},
    {"RELEASE abide_step", NULL},
    {"UPDATE account SET balance = 777", send_and_go},
    {"UPDATE account SET balance = 777", read_half},
    {"UPDATE account SET balance = 777", begin_copy},
    {"UPDATE account SET balance = 777", leave_pipeline_on},
    {"UPDATE account SET balance = 777", commit_unread},
    {"UPDATE account SET balance = 777", connect_anew},
};

// Runs it between two that add 1 and 10.
static Op *run_between(World *world, const Claimed *claims, Part *part) {
    make_account(world);
    Part first = {.sql = "UPDATE account SET balance = balance + 1"};
    Part last = {.sql = "UPDATE account SET balance = balance + 10"};
    batch_new(world);
    Op *before = add_part(world, claims[0], &first);
    Op *op = add_part(world, claims[1], part);
    Op *after = add_part(world, claims[2], &last);
    batch_run(world);
    assert_ok(before->out.status);
    assert_ok(after->out.status);
    return op;
}

static void a_step_cannot_end_the_transaction_nor_spoil_the_connection(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b"), create(world, "c")};
    for (size_t i = 0; i < COUNT_OF(misdeeds); i++) {
        for (int is_honest = 0; is_honest < 2; is_honest++) {
            Part part = {.sql = misdeeds[i].sql,
                         .more = misdeeds[i].more,
                         .answer = is_honest ? ERR_INVALID : OK};
            Op *op = run_between(world, claims, &part);
            if (op->out.status != ERR_CONFLICT) fail_msg("%zu: %s", i, misdeeds[i].sql);
            assert_refused(op, ERR_CONFLICT, "STEP_EXPELLED");
            assert_int_equal(part.call_count, 1);
            if (balance(world) != 16) fail_msg("%zu: %s", i, misdeeds[i].sql);
        }
    }
}

// [steps-7] Of abide's own tables a step may read.
static void a_step_that_writes_to_the_store_is_evicted(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b"), create(world, "c")};
    static const char *const writes[] = {"UPDATE runs SET priority = 5",
                                         "DELETE FROM log",
                                         "TRUNCATE waiters",
                                         "LOCK TABLE runs IN EXCLUSIVE MODE",
                                         "CREATE TABLE mine (n int)",
                                         "UPDATE runs SET priority = 5 WHERE false"};
    const char *schema = strstr(world->url, "schema=") + strlen("schema=");
    for (size_t i = 0; i < COUNT_OF(writes); i++) {
        char sql[200];
        snprintf(sql, sizeof(sql), "SET LOCAL search_path = %s; %s", schema, writes[i]);
        Part part = {.sql = sql};
        assert_refused(run_between(world, claims, &part), ERR_CONFLICT, "STEP_EXPELLED");
        assert_int_equal(balance(world), 16);
    }
    char sql[200];
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s.runs; SELECT 1 FROM %s.log FOR SHARE",
             schema, schema);
    Part reader = {.sql = sql};
    assert_ok(run_between(world, claims, &reader)->out.status);
}

// [steps-2] The session of a step that has ended the transaction may not write by mistake.
static bool could_write;
static void write_after_rollback(StepDatabase database) {
    could_write = step_sql(database, "UPDATE account SET balance = 777");
}

static void what_follows_a_rollback_of_its_own_is_refused(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b"), create(world, "c")};
    Part part = {.sql = "ROLLBACK", .more = write_after_rollback};
    assert_refused(run_between(world, claims, &part), ERR_CONFLICT, "STEP_EXPELLED");
    assert_false(could_write);
    assert_int_equal(balance(world), 16);
}

static void a_failed_statement_that_is_kept_quiet_undoes_the_step(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b"), create(world, "c")};
    Part part = {.sql = "UPDATE account SET balance = 777; SELECT 1 / 0"};
    Op *op = run_between(world, claims, &part);
    assert_refused(op, ERR_CONFLICT, "STEP_UNDONE");
    assert_true(str_is_null(op->out.turn.step_error));
    assert_int_equal(part.call_count, 1); // the batch was not done again
    assert_int_equal(balance(world), 16);
}

// [steps-4]
static void a_deferred_constraint_is_the_step_s_own_error(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b"), create(world, "c")};
    app_sql(world, "DROP TABLE IF EXISTS line, orders");
    app_sql(world, "CREATE TABLE orders(id int PRIMARY KEY)");
    app_sql(world, "CREATE TABLE line(orders int REFERENCES orders DEFERRABLE INITIALLY DEFERRED)");
    Part dangling = {.sql = "INSERT INTO line VALUES(1)"};
    Op *op = run_between(world, claims, &dangling);
    assert_refused(op, ERR_CONFLICT, "STEP_UNDONE");
    assert_non_null(strstr(op->out.diag.message, "foreign key"));
    assert_int_equal(balance(world), 16);
    assert_int_equal(app_number(world, "SELECT count(*) FROM line"), 0);
    // Deferred it stays, also for the second one of a batch.
    Part parts[] = {{.sql = "INSERT INTO line VALUES(2); INSERT INTO orders VALUES(2)"},
                    {.sql = "INSERT INTO line VALUES(3); INSERT INTO orders VALUES(3)"}};
    batch_new(world);
    Op *ops[] = {add_part(world, claims[0], &parts[0]), add_part(world, claims[1], &parts[1])};
    batch_run(world);
    assert_ok(ops[0]->out.status);
    assert_ok(ops[1]->out.status);
    assert_int_equal(app_number(world, "SELECT count(*) FROM line JOIN orders ON id = orders"), 2);
    app_sql(world, "DROP TABLE line, orders");
}

// [steps-5] The second of them looks, and whatever comes after them works.
static char settings_seen[200];
static void note_settings(StepDatabase database) {
    PGresult *result =
        PQexec(database.handle, "SELECT concat_ws(' ', current_setting('synchronous_commit'), "
                                "current_setting('search_path'), current_setting('lock_timeout'), "
                                "current_setting('enable_seqscan'), current_user)");
    assert_int_equal(PQntuples(result), 1);
    snprintf(settings_seen, sizeof(settings_seen), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static void be_untidy(StepDatabase database) {
    assert_int_equal(PQsetnonblocking(database.handle, 1), 0);
}

static void what_a_step_changes_of_the_session_ends_with_it(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b")};
    make_account(world);
    app_sql(world, "DO $$ BEGIN CREATE ROLE somebody; EXCEPTION WHEN duplicate_object THEN END $$");
    Part parts[] = {
        {.sql = "SET synchronous_commit = off; SET search_path = nowhere; SET lock_timeout = 1; "
                "DEALLOCATE ALL; LISTEN mine; SET default_transaction_read_only = off; "
                "SET client_encoding = 'LATIN1'; SET ROLE somebody",
         .more = be_untidy},
        {.sql = "UPDATE account SET balance = balance + 1", .more = note_settings},
    };
    batch_new(world);
    Op *ops[] = {add_part(world, claims[0], &parts[0]), add_part(world, claims[1], &parts[1])};
    batch_run(world);
    assert_ok(ops[0]->out.status);
    assert_ok(ops[1]->out.status);
    assert_true(parts[0].is_sql_good);
    assert_string_equal(settings_seen, "on \"$user\", public 10s on abide");
    assert_int_equal(balance(world), 6);
    for (int i = 1; i < 4; i++) save_step(world, claims[0], "after", i);
    Part rollback = {.sql = "ROLLBACK", .more = write_after_rollback};
    run_part(world, claims[1], &rollback, ERR_CONFLICT);
    assert_false(could_write); // it is read-only again outside of a transaction
}

// ---- lost connections ----

// The store answers that it does not know; each time the engine submits the same batch again.
static void a_step_whose_connection_is_always_lost_is_left_out_in_the_end(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    make_account(world);
    Part part = {.sql = "UPDATE account SET balance = 777; "
                        "SELECT pg_terminate_backend(pg_backend_pid())"};
    batch_new(world);
    Op *op = add_part(world, claimed, &part);
    for (int i = 0; i < 3; i++) {
        assert_status(batch_try(world), ERR_UNAVAILABLE);
        batch_clear_answers(&world->batch);
    }
    assert_ok(batch_try(world));
    assert_refused(op, ERR_CONFLICT, "STEP_EXPELLED");
    assert_int_equal(part.call_count, 3);
    assert_int_equal(balance(world), 5);
}

int contract_steps_postgres(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_step_cannot_end_the_transaction_nor_spoil_the_connection),
        CASE(a_step_that_writes_to_the_store_is_evicted),
        CASE(what_follows_a_rollback_of_its_own_is_refused),
        CASE(a_failed_statement_that_is_kept_quiet_undoes_the_step),
        CASE(a_deferred_constraint_is_the_step_s_own_error),
        CASE(what_a_step_changes_of_the_session_ends_with_it),
        CASE(a_step_whose_connection_is_always_lost_is_left_out_in_the_end),
    };
    return cmocka_run_group_tests_name("steps that misbehave", tests, NULL, NULL); // nowhere else
}
