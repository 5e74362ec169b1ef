// Leases beside the rows (nodes/heartbeats.c), on the stores that keep them there: two nodes, each
// with a store of its own on one server, and one virtual clock.
#include "unit/store/world.h"

enum { LEASE_MS = MINUTE_MS, HEARTBEAT_MS = LEASE_MS / 3 };

typedef struct Pair {
    World *one, *two;
} Pair;

static int pair_setup(void **state) {
    Pair *pair = calloc(1, sizeof(Pair));
    void *one = NULL;
    setup(&one);
    pair->one = one;
    pair->two = calloc(1, sizeof(World));
    *pair->two = (World){.now_ms = START_MS, .claim_max = 100};
    memcpy(pair->two->url, pair->one->url, sizeof(pair->two->url));
    arena_init(&pair->two->arena);
    store_open_again(pair->two);
    pair->two->node = join(pair->two, "node-2", LEASE_MS);
    *state = pair;
    return 0;
}

static int pair_teardown(void **state) {
    Pair *pair = *state;
    store_close(pair->two->store);
    arena_done(&pair->two->arena);
    free(pair->two);
    void *one = pair->one;
    free(pair);
    return teardown(&one);
}

static void pass(Pair *pair, int64_t ms) {
    pair->one->now_ms += ms;
    pair->two->now_ms += ms;
}

static Status renew(World *world, Op **ret_op) {
    *ret_op = start(world, OP_RENEW);
    (*ret_op)->in.renew.lease_ms = LEASE_MS;
    (*ret_op)->in.renew.resident_count = world->now_ms % 1000;
    return store_commit(world->store, &world->batch, &world->diag);
}

static bool renews_quietly(World *world) {
    Op *op = NULL;
    assert_int_equal(renew(world, &op), OK);
    assert_int_equal(op->out.status, OK);
    return op->out.renew.is_quiet;
}

// Also looks around: what others have written is known afterwards.
static int64_t claim(World *world) {
    Op *op = start(world, OP_CLAIM);
    op->in.claim.max = 10;
    finish(world, op, OK);
    return op->out.claim.taken_over;
}

static NodeRow node_seen_by(World *world, int64_t node) {
    NodeRow row;
    assert_int_equal(store_node_by_key(world->store, &world->arena, node, &row, &world->diag), OK);
    return row;
}

static void renewals_disturb_nobody(void **state) {
    Pair *pair = *state;
    claim(pair->one);
    claim(pair->two);
    for (int i = 0; i < 5; i++) {
        pass(pair, HEARTBEAT_MS);
        assert_true(renews_quietly(pair->one));
        assert_true(renews_quietly(pair->two));
    }
}

static void what_another_has_written_is_told_until_it_is_known(void **state) {
    Pair *pair = *state;
    claim(pair->one);
    create(pair->two, "a");
    assert_false(renews_quietly(pair->one));
    assert_false(renews_quietly(pair->one));
    assert_true(renews_quietly(pair->two)); // its own doing
    claim(pair->one);
    assert_true(renews_quietly(pair->one));
}

static void the_lease_shown_is_the_one_that_was_said_last(void **state) {
    Pair *pair = *state;
    pass(pair, HEARTBEAT_MS);
    renews_quietly(pair->two);
    int64_t until_ms = pair->two->now_ms + LEASE_MS;
    assert_int_equal(node_seen_by(pair->one, pair->two->node).lease_until_ms, until_ms);
    assert_int_equal(node_seen_by(pair->two, pair->two->node).lease_until_ms, until_ms);
    assert_int_equal(node_seen_by(pair->two, pair->one->node).lease_until_ms, START_MS + LEASE_MS);
}

// Said by a heartbeat, or by a batch that has more to do.
static void runs_in_memory_are_told_with_each_renewal(void **state) {
    Pair *pair = *state;
    assert_int_equal(node_seen_by(pair->one, pair->two->node).resident_count, 0);
    pass(pair, 7);
    renews_quietly(pair->two);
    assert_int_equal(node_seen_by(pair->one, pair->two->node).resident_count, 7);
    pass(pair, 2);
    Op *op = start(pair->two, OP_RENEW);
    op->in.renew.lease_ms = LEASE_MS;
    op->in.renew.resident_count = 12;
    create_op(pair->two, "a");
    finish(pair->two, op, OK);
    assert_int_equal(node_seen_by(pair->one, pair->two->node).resident_count, 12);
    renews_quietly(pair->two);
    assert_int_equal(node_seen_by(pair->one, pair->two->node).resident_count, 9);
}

// The row of the other, and what was heard of it last, say that it is dead. [heartbeats-2]
static void who_has_said_so_meanwhile_is_alive(void **state) {
    Pair *pair = *state;
    create(pair->two, "a");
    renews_quietly(pair->one);
    pass(pair, LEASE_MS - 1);
    renews_quietly(pair->two);
    pass(pair, 2);
    assert_int_equal(claim(pair->one), 0);
    assert_int_equal(get_run(pair->one, "a").owner, pair->two->node);
}

static void a_death_is_told_and_acted_on(void **state) {
    Pair *pair = *state;
    create(pair->two, "a");
    claim(pair->one);
    pass(pair, HEARTBEAT_MS);
    Op *op = NULL;
    assert_int_equal(renew(pair->one, &op), OK);
    assert_true(op->out.renew.is_quiet);
    assert_int_equal(op->out.renew.next_end_ms, START_MS + LEASE_MS);
    pass(pair, op->out.renew.next_end_ms - pair->one->now_ms - 1);
    assert_true(renews_quietly(pair->one));
    pass(pair, 1); // and with this the lease of the second ends
    assert_false(renews_quietly(pair->one));
    assert_int_equal(claim(pair->one), 1);
    assert_int_equal(get_run(pair->one, "a").owner, pair->one->node);
    assert_int_equal(renew(pair->two, &op), ERR_FENCED);
    assert_string_equal(pair->two->diag.code, "NODE_FENCED");
    NodeRow dead = node_seen_by(pair->one, pair->two->node);
    assert_true(dead.lease_until_ms < 0); // [heartbeats-1]
    assert_int_equal(dead.resident_count, 0);
}

static void a_late_node_that_lost_nothing_goes_on(void **state) {
    Pair *pair = *state;
    pass(pair, 3 * LEASE_MS);
    renews_quietly(pair->one);
    assert_int_equal(claim(pair->one), 0);
    renews_quietly(pair->two);
    create(pair->two, "a");
    pass(pair, LEASE_MS - 1);
    assert_int_equal(claim(pair->one), 0);
}

static void a_node_that_has_left_may_not_renew(void **state) {
    Pair *pair = *state;
    finish(pair->two, start(pair->two, OP_LEAVE), OK);
    Op *op = NULL;
    assert_int_equal(renew(pair->two, &op), ERR_FENCED);
}

#define HEARTBEAT_TEST(name) cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        HEARTBEAT_TEST(renewals_disturb_nobody),
        HEARTBEAT_TEST(what_another_has_written_is_told_until_it_is_known),
        HEARTBEAT_TEST(the_lease_shown_is_the_one_that_was_said_last),
        HEARTBEAT_TEST(runs_in_memory_are_told_with_each_renewal),
        HEARTBEAT_TEST(who_has_said_so_meanwhile_is_alive),
        HEARTBEAT_TEST(a_death_is_told_and_acted_on),
        HEARTBEAT_TEST(a_late_node_that_lost_nothing_goes_on),
        HEARTBEAT_TEST(a_node_that_has_left_may_not_renew),
    };
    return cmocka_run_group_tests_name("heartbeats", tests, NULL, NULL);
}
