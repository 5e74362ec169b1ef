// Steps that take part in the transaction (P4; [step-database-1] to [step-database-3] of
// store/step_database.h), on every store that has one to join; the others say clearly that they
// cannot.
#include "contract/steps.h"
#include "servers/postgres.h"
#include <sqlite3.h>
#include <stdio.h>

// ---- the application's side ----

static sqlite3 *open_file(const World *world) {
    sqlite3 *database = NULL;
    const char *path = world->url + strlen("sqlite:");
    assert_int_equal(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(database, 10000);
    return database;
}

void app_sql(World *world, const char *sql) {
    if (world_is_postgres()) {
        PGconn *connection = test_postgres_connect();
        PQclear(PQexec(connection, "SET client_min_messages = warning"));
        test_postgres_query(connection, sql);
        PQfinish(connection);
        return;
    }
    sqlite3 *database = open_file(world);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

int64_t app_number(World *world, const char *sql) {
    int64_t number;
    if (world_is_postgres()) {
        PGconn *connection = test_postgres_connect();
        number = test_postgres_query(connection, sql);
        PQfinish(connection);
        return number;
    }
    sqlite3 *database = open_file(world);
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return number;
}

void make_account(World *world) {
    app_sql(world, "DROP TABLE IF EXISTS account");
    app_sql(world, "CREATE TABLE account(id integer PRIMARY KEY, balance integer NOT NULL)");
    app_sql(world, "INSERT INTO account VALUES(1, 5)");
}

int64_t balance(World *world) { return app_number(world, "SELECT balance FROM account"); }

// ---- the step's side ----

bool step_sql(StepDatabase database, const char *sql) {
    if (database.kind == DATABASE_SQLITE) {
        return sqlite3_exec(database.handle, sql, NULL, NULL, NULL) == SQLITE_OK;
    }
    assert_int_equal(database.kind, DATABASE_POSTGRES);
    PGresult *result = PQexec(database.handle, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static Status take_part(void *context, StepDatabase database, Arena *arena, Str *ret_data) {
    Part *part = context;
    part->call_count++;
    part->is_sql_good = part->sql == NULL || step_sql(database, part->sql);
    if (part->more != NULL) part->more(database);
    *ret_data = arena_str(arena, str_from(part->data != NULL ? part->data : "1"));
    return part->answer;
}

Op *add_part(World *world, Claimed claimed, Part *part) {
    Op *op = add_turn(world, claimed, NEXT_CONTINUE);
    set_log(world, op, log_step("transfer", 0, 0, NULL));
    op->in.turn.participant = take_part;
    op->in.turn.participant_context = part;
    return op;
}

Op *run_part(World *world, Claimed claimed, Part *part, Status expected) {
    batch_new(world);
    Op *op = add_part(world, claimed, part);
    op_run(world, op, expected);
    return op;
}

// ---- what holds everywhere ----

static void writes_of_a_step_commit_with_its_checkpoint(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    make_account(world);
    Part part = {.sql = "UPDATE account SET balance = balance - 2", .data = "{\"paid\":2}"};
    run_part(world, claimed, &part, OK);
    assert_true(part.is_sql_good);
    assert_int_equal(part.call_count, 1);
    assert_int_equal(balance(world), 3);
    assert_text(last_entry(world, "r1", LOG_STEP).data, "{\"paid\":2}");
    world_reopen(world);
    assert_int_equal(balance(world), 3);
    assert_text(last_entry(world, "r1", LOG_STEP).data, "{\"paid\":2}");
}

static void step_that_fails_leaves_neither_writes_nor_checkpoint(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    make_account(world);
    size_t entries = get_log(world, "r1").count;
    Part part = {.sql = "UPDATE account SET balance = 0",
                 .answer = ERR_INVALID,
                 .data = "{\"type\":\"TooPoor\"}"};
    batch_new(world);
    RunSpec other = spec_of("other");
    add_create(world, &other); // the rest of the batch goes through
    Op *op = add_part(world, claimed, &part);
    op_run(world, op, ERR_CONFLICT);
    assert_refused(op, ERR_CONFLICT, "STEP_FAILED");
    assert_text(op->out.turn.step_error, "{\"type\":\"TooPoor\"}");
    assert_int_equal(balance(world), 5);
    assert_int_equal(get_log(world, "r1").count, entries);
    assert_true(has_run(world, "other"));
    save_step(world, claimed, "after", 1);
}

static void step_of_a_stale_claim_is_not_called(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    make_account(world);
    claimed.epoch--;
    Part part = {.sql = "UPDATE account SET balance = 0"};
    run_part(world, claimed, &part, ERR_FENCED);
    assert_int_equal(part.call_count, 0);
    assert_int_equal(balance(world), 5);
}

static void steps_of_one_batch_each_stand_for_themselves(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b"), create(world, "c")};
    make_account(world);
    Part parts[] = {
        {.sql = "UPDATE account SET balance = balance + 1"},
        {.sql = "UPDATE account SET balance = balance + 100", .answer = ERR_INVALID},
        {.sql = "UPDATE account SET balance = balance + 10"},
    };
    batch_new(world);
    for (int i = 0; i < 3; i++) add_part(world, claims[i], &parts[i])->in.turn.next = NEXT_COMPLETE;
    batch_run(world);
    assert_int_equal(balance(world), 16);
    assert_state(world, "a", RUN_COMPLETED);
    assert_state(world, "b", RUN_RUNNING);
    assert_state(world, "c", RUN_COMPLETED);
}

static void result_that_is_too_large_undoes_the_step(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    make_account(world);
    char *large = malloc(LIMIT_PAYLOAD_SIZE + 2);
    memset(large, '7', LIMIT_PAYLOAD_SIZE + 1);
    large[LIMIT_PAYLOAD_SIZE + 1] = '\0';
    Part part = {.sql = "UPDATE account SET balance = 0", .data = large};
    Op *op = run_part(world, claimed, &part, ERR_CONFLICT);
    free(large);
    assert_refused(op, ERR_CONFLICT, "PAYLOAD_TOO_LARGE");
    assert_int_equal(balance(world), 5);
}

// [step-database-3] The one between them rolls everything back, their writes included.
static void step_that_breaks_the_transaction_is_left_out(void **state) {
    World *world = *state;
    const Claimed claims[] = {create(world, "a"), create(world, "b"), create(world, "c")};
    const char *breaking =
        world_is_postgres() ? "ROLLBACK" : "INSERT OR ROLLBACK INTO account VALUES(1, 9)";
    for (int is_honest = 0; is_honest < 2; is_honest++) {
        make_account(world);
        Part parts[] = {
            {.sql = "UPDATE account SET balance = balance + 1"},
            {.sql = breaking, .answer = is_honest ? ERR_INVALID : OK},
            {.sql = "UPDATE account SET balance = balance + 10"},
        };
        batch_new(world);
        Op *ops[3];
        for (int i = 0; i < 3; i++) ops[i] = add_part(world, claims[i], &parts[i]);
        batch_run(world);
        assert_ok(ops[0]->out.status);
        assert_ok(ops[2]->out.status);
        assert_refused(ops[1], ERR_CONFLICT, "STEP_EXPELLED");
        assert_int_equal(parts[1].call_count, 1);
        assert_int_equal(parts[0].call_count, 2); // the first time was undone
        assert_int_equal(balance(world), 16);
    }
}

int contract_steps(void) {
    const struct CMUnitTest tests[] = {
        CASE(writes_of_a_step_commit_with_its_checkpoint),
        CASE(step_that_fails_leaves_neither_writes_nor_checkpoint),
        CASE(step_of_a_stale_claim_is_not_called),
        CASE(steps_of_one_batch_each_stand_for_themselves),
        CASE(result_that_is_too_large_undoes_the_step),
        CASE(step_that_breaks_the_transaction_is_left_out),
    };
    return run_group("steps in the transaction", tests);
}

// ---- where there is none to join ----

static void step_in_a_transaction_is_refused_and_not_called(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Str before = world_dump(world);
    Part part = {0};
    Op *op = run_part(world, claimed, &part, ERR_UNSUPPORTED);
    assert_refused(op, ERR_UNSUPPORTED, "PARTICIPANT_UNSUPPORTED");
    assert_int_equal(part.call_count, 0);
    assert_unchanged(world, before);
}

int contract_no_steps(void) {
    const struct CMUnitTest tests[] = {
        CASE(step_in_a_transaction_is_refused_and_not_called),
    };
    return run_group("no steps in the transaction", tests);
}
