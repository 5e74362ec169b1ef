// What only a store on Redis can get into: lost connections, nodes that stand still with the
// ticket, columns of a newer abide, keys changed by hand. The rest is in test/contract.
#include "servers/redis.h"
#include "base/array.h"
#include "base/text/number.h"
#include "store/redis/internal.h"
#include "unit/store/two_nodes.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_up(void **state) {
    World *world = world_new();
    test_redis_clear();
    test_redis_url("lone", world->url, sizeof(world->url));
    world->side = test_redis_connect();
    return world_begin(world, state);
}

static int tear_down(void **state) {
    World *world = *state;
    redisFree(world->side);
    return world_end(world);
}

// ---- other nodes ----

static void nodes_keep_what_the_other_has_set(void **state) {
    check_nodes_keep_what_others_set(*state);
}

static void nodes_see_what_the_other_has_written(void **state) {
    World *world = *state;
    check_nodes_see_each_other(world);
}

static int64_t questions_asked(World *world) {
    redisReply *reply = redisCommand(world->side, "INFO commandstats");
    const char *name = "cmdstat_fcall_ro:calls=";
    const char *found = strstr(reply->str, name);
    int64_t count = 0;
    if (found != NULL) {
        found += strlen(name);
        assert_true(number_parse_count((Str){found, strcspn(found, ",")}, INT64_MAX, &count));
    }
    freeReplyObject(reply);
    return count;
}

// Of runs that another node has made nothing is known here: what a batch of them needs is asked for
// together, whatever their number.
static void many_runs_are_claimed_and_ended_with_few_questions(void **state) {
    enum { RUNS = 40, QUESTIONS_MAX = 12 };
    World *world = *state;
    Op *op = begin_run(world, &world->one, "r0");
    for (int i = 1; i < RUNS; i++) {
        Op *more = batch_add(&world->batch, OP_CREATE_RUN);
        more->in.create_run.spec = op->in.create_run.spec;
        more->in.create_run.spec.id = arena_printf(&world->arena, "r%d", i);
    }
    world->batch.claim_max = 0;
    assert_ok(submit(world, &world->one));
    test_redis_command(world->side, "CONFIG RESETSTAT");
    op = begin(world, &world->two, OP_CLAIM);
    op->in.claim.max = RUNS;
    assert_ok(submit(world, &world->two));
    assert_int_equal(op->out.claim.count, RUNS);
    assert_true(questions_asked(world) <= QUESTIONS_MAX);
    ReadyRun ready[RUNS];
    memcpy(ready, world->batch.out.ready, sizeof(ready));
    test_redis_command(world->side, "CONFIG RESETSTAT");
    for (int i = 0; i < RUNS; i++) {
        op = i == 0 ? begin(world, &world->two, OP_COMMIT_TURN)
                    : batch_add(&world->batch, OP_COMMIT_TURN);
        op->in.turn = (TurnCommit){.run = ready[i].run,
                                   .epoch = ready[i].claim.epoch,
                                   .next = NEXT_COMPLETE,
                                   .result = STR("1")};
    }
    assert_ok(submit(world, &world->two));
    for (size_t i = 0; i < RUNS; i++) assert_ok(world->batch.ops[i]->out.status);
    assert_true(questions_asked(world) <= QUESTIONS_MAX);
}

// As a node that was stopped after it had taken the ticket.
static void a_ticket_that_nobody_gives_back_ends_by_itself(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    test_redis_command(world->side, "SET {lone}:ticket stranger PX 300");
    create(world, &world->one, "b"); // waits
    assert_true(has_run(world, &world->two, "b"));
    assert_int_equal(test_redis_command(world->side, "EXISTS {lone}:ticket"), 0);
}

static void a_ticket_that_does_not_end_is_reported(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    test_redis_command(world->side, "SET {lone}:ticket stranger");
    begin_run(world, &world->one, "b");
    assert_status(submit(world, &world->one), ERR_BUSY);
    assert_string_equal(world->diag.code, "STORE_BUSY");
    assert_false(has_run(world, &world->two, "b"));
    test_redis_command(world->side, "DEL {lone}:ticket");
    assert_ok(submit(world, &world->one));
    assert_true(has_run(world, &world->two, "b"));
}

static void a_writer_that_comes_late_is_refused_and_begins_again(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    // Somebody else has written, and left no word of what.
    test_redis_command(world->side, "HINCRBY {lone}:store version 1");
    create(world, &world->one, "b");
    test_redis_command(world->side, "HINCRBY {lone}:store version 1000");
    create(world, &world->one, "c");
    assert_true(has_run(world, &world->two, "c"));
}

static void a_lost_connection_is_made_again(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    test_redis_command(world->side, "CLIENT KILL TYPE normal SKIPME yes");
    assert_true(has_run(world, &world->one, "a")); // the reader, at its first question
    create(world, &world->one, "b");               // the writer notices before it sends anything
    assert_true(has_run(world, &world->two, "b"));
}

static void functions_that_are_gone_are_given_again(void **state) {
    World *world = *state;
    test_redis_command(world->side, "FUNCTION FLUSH");
    create(world, &world->one, "a");
    assert_true(has_run(world, &world->two, "a"));
}

static void many_starts_at_once_make_one_store(void **state) {
    World *world = *state;
    test_redis_url("fresh", world->url, sizeof(world->url));
    test_redis_command(world->side, "FUNCTION FLUSH");
    open_in_processes(world, 4);
    assert_int_equal(test_redis_command(world->side, "HEXISTS {fresh}:store version"), 1);
}

// ---- other versions of abide ----

static void a_newer_format_is_left_alone(void **state) {
    World *world = *state;
    test_redis_command(world->side, "HSET {lone}:store format 999");
    Store *store = NULL;
    assert_status(store_open(str_from(world->url), NULL, &store, &world->diag), ERR_UNSUPPORTED);
    assert_string_equal(world->diag.code, "STORE_NEWER");
    test_redis_command(world->side, "HSET {lone}:store format 1");
}

static void other_indexes_are_left_alone(void **state) {
    World *world = *state;
    redisReply *reply = redisCommand(world->side, "HGET {lone}:store orders");
    test_redis_command(world->side, "HSET {lone}:store orders 1");
    Store *store = NULL;
    assert_status(store_open(str_from(world->url), NULL, &store, &world->diag), ERR_UNSUPPORTED);
    assert_string_equal(world->diag.code, "STORE_NEWER");
    test_redis_command(world->side, "HSET {lone}:store orders %s", reply->str);
    freeReplyObject(reply);
}

// A newer abide has added a column to the topics, and filled it; this one changes the row.
static void columns_of_a_newer_abide_are_kept(void **state) {
    World *world = *state;
    Op *op = begin(world, &world->one, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 5};
    assert_ok(submit(world, &world->one));
    redisReply *columns = redisCommand(world->side, "HGET {lone}:store columns:topics");
    redisReply *rows = redisCommand(world->side, "HGETALL {lone}:topics:rows");
    assert_int_equal(rows->elements, 2);
    char text[512];
    snprintf(text, sizeof(text), "%s later", columns->str);
    test_redis_command(world->side, "HSET {lone}:store columns:topics %b", text, strlen(text));
    char cells[256];
    size_t len = rows->element[1]->len;
    memcpy(cells, rows->element[1]->str, len);
    memcpy(cells + len, "\x04new", 4); // a cell of three bytes
    test_redis_command(world->side, "HSET {lone}:topics:rows %b %b", rows->element[0]->str,
                       rows->element[0]->len, cells, len + 4);
    test_redis_command(world->side, "HINCRBY {lone}:store layout 1");
    test_redis_command(world->side, "HINCRBY {lone}:store version 1");

    op = begin(world, &world->one, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 7777};
    assert_ok(submit(world, &world->one));
    redisReply *after = redisCommand(world->side, "HGET {lone}:topics:rows %b",
                                     rows->element[0]->str, rows->element[0]->len);
    assert_true(after->len > 4);
    assert_memory_equal(after->str + after->len - 4, "\x04new", 4);
    TopicStat topic;
    assert_ok(store_find_topic(world->two.store, &world->arena, STR("t"), &topic, &world->diag));
    assert_int_equal(topic.row.cap, 7777);
    test_redis_command(world->side, "HSET {lone}:store columns:topics %b", columns->str,
                       columns->len);
    freeReplyObject(after);
    freeReplyObject(rows);
    freeReplyObject(columns);
}

// ---- heartbeats ----

enum { LEASE_MS = 3600000 }; // as in join

static bool renews_quietly(World *world, Node *node, int64_t now_ms) {
    Op *op = begin(world, node, OP_RENEW);
    world->batch.now_ms = now_ms;
    op->in.renew.lease_ms = LEASE_MS;
    assert_ok(submit(world, node));
    assert_ok(op->out.status);
    return op->out.renew.is_quiet;
}

static int64_t take_over(World *world, Node *node, int64_t now_ms) {
    Op *op = begin(world, node, OP_CLAIM);
    world->batch.now_ms = now_ms;
    op->in.claim.max = 10;
    assert_ok(submit(world, node));
    return op->out.claim.taken_over;
}

// The first one, of several.
static int64_t number_at(World *world, const char *key, const char *field) {
    redisReply *reply = redisCommand(world->side, "HGET %s %s", key, field);
    int64_t number = -1;
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    Str numbers = {reply->str, reply->len}, first;
    assert_true(str_split(&numbers, ' ', &first));
    assert_true(number_parse_count(first, INT64_MAX, &number));
    freeReplyObject(reply);
    return number;
}

static void a_heartbeat_is_one_call_without_a_version(void **state) {
    World *world = *state;
    int64_t version = number_at(world, "{lone}:store", "version");
    renews_quietly(world, &world->one, NOW_MS);
    test_redis_command(world->side, "CONFIG RESETSTAT");
    renews_quietly(world, &world->one, NOW_MS);
    redisReply *reply = redisCommand(world->side, "INFO commandstats");
    assert_non_null(strstr(reply->str, "cmdstat_fcall:calls=1,"));
    assert_null(strstr(reply->str, "cmdstat_fcall_ro"));
    assert_null(strstr(reply->str, "scan"));
    freeReplyObject(reply);
    assert_int_equal(number_at(world, "{lone}:store", "version"), version);
}

static void a_heartbeat_waits_for_no_ticket(void **state) {
    World *world = *state;
    test_redis_command(world->side, "SET {lone}:ticket stranger");
    renews_quietly(world, &world->one, NOW_MS + 5);
    char field[24];
    snprintf(field, sizeof(field), "%lld", (long long)world->one.node);
    assert_int_equal(number_at(world, "{lone}:beats", field), NOW_MS + 5 + LEASE_MS);
    assert_int_equal(test_redis_command(world->side, "EXISTS {lone}:wanted"), 0);
    test_redis_command(world->side, "DEL {lone}:ticket");
}

static void a_lost_connection_holds_up_no_heartbeat(void **state) {
    World *world = *state;
    test_redis_command(world->side, "CLIENT KILL TYPE normal SKIPME yes");
    renews_quietly(world, &world->one, NOW_MS);
    test_redis_command(world->side, "FUNCTION FLUSH");
    renews_quietly(world, &world->one, NOW_MS);
}

static void a_heartbeat_goes_on_with_a_newer_layout(void **state) {
    World *world = *state;
    renews_quietly(world, &world->one, NOW_MS);
    test_redis_command(world->side, "HINCRBY {lone}:store layout 1");
    test_redis_command(world->side, "HINCRBY {lone}:store version 1");
    assert_false(renews_quietly(world, &world->one, NOW_MS));
    create(world, &world->one, "a");
}

// As after a restart of a server that had not flushed yet: the last heartbeat but one counts.
static void nobody_is_taken_for_dead_for_a_lost_heartbeat(void **state) {
    World *world = *state;
    create(world, &world->two, "a");
    int64_t now_ms = NOW_MS + LEASE_MS + LEASE_MS / 2;
    renews_quietly(world, &world->one, now_ms);
    test_redis_command(world->side, "HSET {lone}:beats %lld %lld", (long long)world->two.node,
                       (long long)now_ms - LEASE_MS / 3 + LEASE_MS);
    assert_int_equal(take_over(world, &world->one, now_ms + LEASE_MS / 3), 0);
    assert_int_equal(take_over(world, &world->one, now_ms + LEASE_MS), 1);
}

static void heartbeats_of_the_long_dead_are_forgotten(void **state) {
    World *world = *state;
    test_redis_command(world->side, "HSET {lone}:beats 999 %d 998 nonsense", NOW_MS);
    renews_quietly(world, &world->one, NOW_MS);
    assert_int_equal(test_redis_command(world->side, "HEXISTS {lone}:beats 999"), 1);
    assert_int_equal(test_redis_command(world->side, "HEXISTS {lone}:beats 998"), 0);
    renews_quietly(world, &world->one, NOW_MS + HEARTBEAT_KEEP_MS + 1 - LEASE_MS);
    assert_int_equal(test_redis_command(world->side, "HEXISTS {lone}:beats 999"), 0);
    assert_int_equal(test_redis_command(world->side, "HLEN {lone}:beats"), 2);
}

// ---- changed by hand ----

static void a_row_removed_by_hand_is_noticed_and_nothing_is_written(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    redisReply *rows = redisCommand(world->side, "HGETALL {lone}:runs:rows");
    assert_int_equal(rows->elements, 2);
    test_redis_command(world->side, "HDEL {lone}:runs:rows %b", rows->element[0]->str,
                       rows->element[0]->len);
    long long log_before = test_redis_command(world->side, "HLEN {lone}:log:rows");
    Op *op = begin(world, &world->one, OP_CANCEL);
    op->in.cancel.run_id = STR("a");
    assert_status(submit(world, &world->one), ERR_CORRUPT);
    assert_string_equal(world->diag.code, "STORE_CORRUPT");
    assert_int_equal(test_redis_command(world->side, "HLEN {lone}:log:rows"), log_before);
    int64_t row_count = 0;
    assert_status(store_verify(world->two.store, &row_count, &world->diag), ERR_CORRUPT);
    test_redis_command(world->side, "HSET {lone}:runs:rows %b %b", rows->element[0]->str,
                       rows->element[0]->len, rows->element[1]->str, rows->element[1]->len);
    freeReplyObject(rows);
}

static void an_index_changed_by_hand_is_found_by_verify(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    int64_t row_count = 0;
    test_redis_command(world->side, "ZADD {lone}:runs:by_due 0 stray");
    assert_status(store_verify(world->two.store, &row_count, &world->diag), ERR_CORRUPT);
    assert_non_null(strstr(world->diag.message, "by_due"));
    test_redis_command(world->side, "ZREM {lone}:runs:by_due stray");
    assert_ok(store_verify(world->two.store, &row_count, &world->diag));
}

static void a_store_that_is_gone_is_not_made_anew_by_those_who_had_it(void **state) {
    World *world = *state;
    create(world, &world->one, "a");
    redisReply *kept = redisCommand(world->side, "DUMP {lone}:store");
    test_redis_command(world->side, "DEL {lone}:store");
    begin_run(world, &world->one, "b");
    assert_status(submit(world, &world->one), ERR_UNAVAILABLE);
    assert_string_equal(world->diag.code, "STORE_NOT_FOUND");
    assert_int_equal(test_redis_command(world->side, "EXISTS {lone}:store"), 0);
    freeReplyObject(redisCommand(world->side, "RESTORE {lone}:store 0 %b", kept->str, kept->len));
    freeReplyObject(kept);
    assert_ok(submit(world, &world->one));
}

// ---- without a server ----

static void urls_are_read_as_people_mean_them(void **state) {
    (void)state;
    RedisAddress *address = NULL;
    Diag diag;
    assert_ok(redis_address_new(STR("redis://"), &address, &diag));
    assert_string_equal(address->host, "127.0.0.1");
    assert_int_equal(address->port, 6379);
    assert_string_equal(address->prefix, "abide");
    redis_address_leave(address);
    Str full = STR("redis://me:p%40ss@[::1]:7000/3?prefix=shop");
    assert_ok(redis_address_new(full, &address, &diag));
    assert_string_equal(address->host, "::1");
    assert_string_equal(address->user, "me");
    assert_string_equal(address->password, "p@ss");
    assert_int_equal(address->port, 7000);
    assert_int_equal(address->database, 3);
    assert_string_equal(address->prefix, "shop");
    redis_address_leave(address);
    static const char *const bad[] = {
        "redis:host",        "redis://h:port",       "redis://h:0",      "redis://h/x",
        "redis://h?prefix=", "redis://h?prefix={a}", "redis://h?what=1", "redis://user@h",
        "redis://:a%2@h",    "redis://:a%00@h",      "rediss://h",       "redis://[::1]x",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_true(redis_address_new(str_from(bad[i]), &address, &diag) != OK);
        assert_string_equal(diag.code, "STORE_URL");
    }
}

// Every index must say where the primary key is in its members; each piece is cut out and compared.
static void members_hold_their_primary_key(void **state) {
    (void)state;
    Buf member, key, cut;
    buf_init(&member, 1 << 20);
    buf_init(&key, 1 << 20);
    buf_init(&cut, 1 << 20);
    Arena arena;
    arena_init(&arena);
    for (int number = 0; number < TABLE_COUNT; number++) {
        const Table *table = &tables[number];
        void *row = arena_zalloc(&arena, table->row_size);
        for (uint8_t i = 0; i < table->column_count; i++) {
            const Column *column = &table->columns[i];
            if (column->type == COLUMN_I64) row_set_i64(row, column, 1000 + i);
            else row_set_str(row, column, arena_printf(&arena, "text %d", i));
        }
        RowOrder primary = row_order(table, SCAN_PRIMARY);
        buf_clear(&key);
        row_key_append(&key, table, &primary, row, primary.count);
        for (int index = 0; index < table->index_count; index++) {
            RowOrder order = row_order(table, index);
            buf_clear(&member);
            row_key_append(&member, table, &order, row, order.count);
            RedisPieces pieces = redis_pieces(table, index);
            buf_clear(&cut);
            for (int i = 0; i < pieces.count; i++) { // as string.sub of Lua counts
                long len = (long)member.len, from = pieces.ends[2 * i], to = pieces.ends[2 * i + 1];
                if (from < 0) from += len + 1;
                if (to < 0) to += len + 1;
                buf_append(&cut, member.data + from - 1, (size_t)(to - from + 1));
            }
            assert_true(str_equal(buf_str(&cut), buf_str(&key)));
        }
    }
    arena_done(&arena);
    buf_done(&member);
    buf_done(&key);
    buf_done(&cut);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(nodes_see_what_the_other_has_written),
        CASE(nodes_keep_what_the_other_has_set),
        CASE(many_runs_are_claimed_and_ended_with_few_questions),
        CASE(a_ticket_that_nobody_gives_back_ends_by_itself),
        CASE(a_ticket_that_does_not_end_is_reported),
        CASE(a_writer_that_comes_late_is_refused_and_begins_again),
        CASE(a_lost_connection_is_made_again),
        CASE(functions_that_are_gone_are_given_again),
        CASE(many_starts_at_once_make_one_store),
        CASE(a_newer_format_is_left_alone),
        CASE(other_indexes_are_left_alone),
        CASE(columns_of_a_newer_abide_are_kept),
        CASE(a_heartbeat_is_one_call_without_a_version),
        CASE(a_heartbeat_waits_for_no_ticket),
        CASE(a_lost_connection_holds_up_no_heartbeat),
        CASE(a_heartbeat_goes_on_with_a_newer_layout),
        CASE(nobody_is_taken_for_dead_for_a_lost_heartbeat),
        CASE(heartbeats_of_the_long_dead_are_forgotten),
        CASE(a_row_removed_by_hand_is_noticed_and_nothing_is_written),
        CASE(an_index_changed_by_hand_is_found_by_verify),
        CASE(a_store_that_is_gone_is_not_made_anew_by_those_who_had_it),
        cmocka_unit_test(urls_are_read_as_people_mean_them),
        cmocka_unit_test(members_hold_their_primary_key),
    };
    return cmocka_run_group_tests_name("store on Redis", tests, NULL, NULL);
}
