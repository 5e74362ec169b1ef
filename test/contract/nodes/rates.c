// Rates: what nodes have counted, written again as it grows, gone by its age.
#include "contract/contract.h"

enum { FINE_ROW_MS = RATE_FINE_MS * RATE_ROW_STEPS };

static RateRow row_at(World *world, int64_t step_ms, const char *points) {
    return (RateRow){.step_ms = step_ms,
                     .from_ms = world->now_ms - world->now_ms % rate_row_ms(step_ms),
                     .source = world->node,
                     .points = str_from(points)};
}

static Op *note(World *world, RateRow fine, RateRow coarse, Status expected) {
    Op *op = op_new(world, OP_NOTE_RATES);
    op->in.note_rates.rows[0] = fine;
    op->in.note_rates.rows[1] = coarse;
    op_run(world, op, expected);
    return op;
}

static RateList list_rates(World *world, int64_t step_ms, int64_t from_ms) {
    const RateFilter filter = {.step_ms = step_ms, .from_ms = from_ms};
    RateList list = {0};
    assert_ok(store_list_rates(world->store, &world->arena, &filter, &list, &world->diag));
    return list;
}

static void rates_are_listed_by_resolution_as_they_were_noted_last(void **state) {
    World *world = *state;
    note(world, row_at(world, RATE_FINE_MS, "a"), row_at(world, RATE_COARSE_MS, "b"), OK);
    note(world, row_at(world, RATE_FINE_MS, "aa"), (RateRow){0}, OK);
    world_reopen(world);
    RateList fine = list_rates(world, RATE_FINE_MS, 0);
    assert_int_equal(fine.count, 1);
    assert_text(fine.rows[0].points, "aa");
    assert_int_equal(fine.rows[0].source, world->node);
    RateList coarse = list_rates(world, RATE_COARSE_MS, 0);
    assert_int_equal(coarse.count, 1);
    assert_text(coarse.rows[0].points, "b");
}

static void each_node_has_rows_of_its_own_and_the_newest_come_first(void **state) {
    World *world = *state;
    int64_t first = world->node;
    note(world, row_at(world, RATE_FINE_MS, "early"), (RateRow){0}, OK);
    world->node = join(world, "node-2", HOUR_MS);
    note(world, row_at(world, RATE_FINE_MS, "other"), (RateRow){0}, OK);
    world->now_ms += FINE_ROW_MS;
    note(world, row_at(world, RATE_FINE_MS, "late"), (RateRow){0}, OK);
    RateList list = list_rates(world, RATE_FINE_MS, 0);
    assert_int_equal(list.count, 3);
    assert_text(list.rows[0].points, "late");
    assert_text(list.rows[1].points, "other");
    assert_text(list.rows[2].points, "early");
    assert_int_equal(list.rows[2].source, first);
    list = list_rates(world, RATE_FINE_MS, world->now_ms - world->now_ms % FINE_ROW_MS);
    assert_int_equal(list.count, 1);
}

static void old_rates_go_and_those_of_the_other_resolution_stay(void **state) {
    World *world = *state;
    note(world, row_at(world, RATE_FINE_MS, "a"), row_at(world, RATE_COARSE_MS, "b"), OK);
    world->now_ms += rate_keep_ms(RATE_FINE_MS) + 2 * FINE_ROW_MS;
    op_run(world, op_new(world, OP_SWEEP), OK);
    world->node = join(world, "node-2", HOUR_MS);
    note(world, row_at(world, RATE_FINE_MS, "c"), (RateRow){0}, OK);
    RateList fine = list_rates(world, RATE_FINE_MS, 0);
    assert_int_equal(fine.count, 1);
    assert_text(fine.rows[0].points, "c");
    assert_int_equal(list_rates(world, RATE_COARSE_MS, 0).count, 1);
}

static void rates_of_a_node_that_was_forgotten_stay(void **state) {
    World *world = *state;
    int64_t gone = join(world, "node-2", 1000), kept = world->node;
    world->node = gone;
    note(world, (RateRow){0}, row_at(world, RATE_COARSE_MS, "a"), OK);
    world->node = kept;
    world->now_ms += 2 * HOUR_MS;
    Op *renew = op_new(world, OP_RENEW);
    renew->in.renew.lease_ms = HOUR_MS;
    op_run(world, renew, OK);
    op_run(world, op_new(world, OP_SWEEP), OK);
    NodeRow row;
    assert_status(store_node_by_key(world->store, &world->arena, gone, &row, &world->diag),
                  ERR_NOT_FOUND);
    assert_int_equal(list_rates(world, RATE_COARSE_MS, 0).count, 1);
}

static void what_is_no_row_of_rates_is_refused_whole(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    RateRow good = row_at(world, RATE_FINE_MS, "a"), bad = row_at(world, RATE_COARSE_MS, "b");
    bad.from_ms++;
    assert_refused(note(world, good, bad, ERR_INVALID), ERR_INVALID, "BAD_RATES");
    bad = row_at(world, 1000, "b");
    assert_refused(note(world, good, bad, ERR_INVALID), ERR_INVALID, "BAD_RATES");
    assert_unchanged(world, before);
}

static void fenced_node_notes_nothing(void **state) {
    World *world = *state;
    RateRow row = row_at(world, RATE_FINE_MS, "a");
    batch_new(world);
    Op *op = op_add(world, OP_JOIN);
    op->in.join.name = STR("node-2");
    op->in.join.lease_ms = HOUR_MS;
    op->in.join.is_exclusive = true;
    batch_run(world);
    batch_new(world);
    op = op_add(world, OP_NOTE_RATES);
    op->in.note_rates.rows[0] = row;
    assert_status(batch_try(world), ERR_FENCED);
    assert_int_equal(list_rates(world, RATE_FINE_MS, 0).count, 0);
}

int contract_rates(void) {
    const struct CMUnitTest tests[] = {
        CASE(rates_are_listed_by_resolution_as_they_were_noted_last),
        CASE(each_node_has_rows_of_its_own_and_the_newest_come_first),
        CASE(old_rates_go_and_those_of_the_other_resolution_stay),
        CASE(rates_of_a_node_that_was_forgotten_stay),
        CASE(what_is_no_row_of_rates_is_refused_whole),
        CASE(fenced_node_notes_nothing),
    };
    return run_group("rates", tests);
}
