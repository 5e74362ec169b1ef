// Values that runs set for readers outside: written with the turn, found by key and value.
#include "contract/contract.h"

static Op *set_turn(World *world, Claimed claimed, const char *name, const char *value) {
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.states = ARENA_NEW(&world->arena, StateSpec);
    op->in.turn.states[0] = (StateSpec){str_from(name), str_from(value)};
    op->in.turn.state_count = 1;
    return op;
}

static void set_value(World *world, Claimed claimed, const char *name, const char *value) {
    op_run(world, set_turn(world, claimed, name, value), OK);
}

#define assert_value(world, run, name, expected)                                                   \
    check_value((world), (run), (name), (expected), __FILE__, __LINE__)
static void check_value(World *world, const char *run, const char *name, const char *expected,
                        const char *file, int line) {
    Str value;
    Status status = store_find_state(
        world->store, &world->arena,
        &(StateRef){.run = run_of_id(str_from(run)), .name = str_from(name)}, &value, &world->diag);
    if (status != OK) assert_string_equal(world->diag.code, "STATE_NOT_FOUND");
    check_text(status == OK ? value : STR_NULL, expected, file, line);
}

static RunPage find_runs(World *world, RunFilter filter) {
    RunPage page = {0};
    assert_ok(store_list_runs(world->store, &world->arena, &filter, &page, &world->diag));
    return page;
}

static void value_is_there_from_the_turn_that_set_it(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    assert_value(world, "r", "phase", NULL);
    set_value(world, claimed, "phase", "\"a\"");
    assert_value(world, "r", "phase", "\"a\"");
    set_value(world, claimed, "phase", "\"b\"");
    set_value(world, claimed, "other", "");
    assert_value(world, "r", "phase", "\"b\"");
    assert_value(world, "r", "other", "");
    set_value(world, claimed, "phase", NULL); // taken away
    assert_value(world, "r", "phase", NULL);
    world_crash(world);
    if (world_is_kept()) assert_value(world, "r", "other", "");
}

static void refused_turn_sets_nothing(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    set_value(world, claimed, "phase", "1");
    Str before = world_dump(world);
    Op *op = set_turn(world, (Claimed){claimed.run, claimed.epoch + 1}, "phase", "2");
    op_run(world, op, ERR_FENCED);
    char *large = arena_zalloc(&world->arena, LIMIT_STATE_SIZE + 2);
    memset(large, 'x', LIMIT_STATE_SIZE + 1);
    op = set_turn(world, claimed, "phase", large);
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOO_LARGE");
    op = set_turn(world, claimed, "", "2");
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "NAME_EMPTY");
    assert_unchanged(world, before);
}

static void values_are_listed_by_key(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r"), other = create(world, "s");
    set_value(world, claimed, "b", "2");
    set_value(world, claimed, "a", "1");
    set_value(world, other, "c", "3");
    StateList states;
    assert_int_equal(
        store_list_states(world->store, &world->arena, run_of_id(STR("r")), &states, &world->diag),
        OK);
    assert_int_equal(states.count, 2);
    assert_text(states.rows[0].name, "a");
    assert_text(states.rows[1].value, "2");
    assert_int_equal(store_list_states(world->store, &world->arena, run_of_id(STR("none")), &states,
                                       &world->diag),
                     ERR_NOT_FOUND);
}

static void runs_are_found_by_value_page_by_page(void **state) {
    World *world = *state;
    enum { RUNS = 300 }; // more than one page of the index
    for (int i = 0; i < RUNS; i++) {
        RunSpec spec = spec_of("");
        spec.id = arena_printf(&world->arena, "r%d", i);
        spec.workflow = i % 2 ? STR("odd") : STR("even");
        world->claim_max = RUNS;
        Claimed claimed = create_from(world, &spec);
        set_value(world, claimed, "phase", i % 3 ? "\"many\"" : "\"few\"");
    }
    int64_t cursor = 0;
    int found = 0, last = RUNS;
    do {
        RunPage found_page = find_runs(world, (RunFilter){.state_key = STR("phase"),
                                                          .state_value = STR("\"many\""),
                                                          .cursor = cursor,
                                                          .limit = 7});
        for (size_t i = 0; i < found_page.count; i++) {
            int number =
                (int)strtol(arena_cstr(&world->arena, found_page.rows[i].id) + 1, NULL, 10);
            assert_true(number < last && number % 3 != 0); // newest first, none twice
            last = number;
            found++;
        }
        cursor = found_page.next;
    } while (cursor != 0);
    assert_int_equal(found, RUNS - RUNS / 3);
    RunPage found_page = find_runs(world, (RunFilter){.state_key = STR("phase"),
                                                      .state_value = STR("\"few\""),
                                                      .workflows = STR("odd"),
                                                      .limit = 1000});
    assert_int_equal(found_page.count, RUNS / 6);
    found_page =
        find_runs(world, (RunFilter){.state_key = STR("phase"), .state_value = STR("few")});
    assert_int_equal(found_page.count, 0);
}

static void ended_run_keeps_its_values_until_it_is_purged(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    set_value(world, claimed, "phase", "1");
    finish(world, claimed, NEXT_COMPLETE, "1");
    assert_value(world, "r", "phase", "1");
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r");
    op_run(world, op, OK); // the verification after each test would find what was left
    RunPage page =
        find_runs(world, (RunFilter){.state_key = STR("phase"), .state_value = STR("1")});
    assert_int_equal(page.count, 0);
}

static void continue_as_forgets_the_values(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    set_value(world, claimed, "phase", "1");
    finish(world, claimed, NEXT_CONTINUE_AS, "1");
    assert_value(world, "r", "phase", NULL);
    set_value(world, claimed, "phase", "2");
    assert_value(world, "r", "phase", "2");
}

// A script that parks with phase 1, then with phase 2 and a second key.
static void park_twice(World *world) {
    RunSpec spec = spec_of("r");
    spec.kind = RUN_FLOW;
    Claimed claimed = create_from(world, &spec);
    for (int i = 0; i < 2; i++) {
        if (i > 0) {
            signal_run(world, "r", "go", "1");
            claimed = ready_at(world, 0);
        }
        Op *op = set_turn(world, claimed, "phase", i ? "2" : "1");
        op->in.turn.next = NEXT_SUSPEND;
        op->in.turn.snapshot = i ? STR("p1") : STR("p0");
        op->in.turn.keep_snapshots = 5;
        set_log(world, op, (LogRow){.kind = LOG_WAITING, .position = i, .name = STR("go")});
        set_waits(world, op, WAIT_EACH, (WaitItem[]){on_signal("go")}, 1);
        op_run(world, op, OK);
    }
}

static void rewind_and_fork_have_the_values_of_that_moment(void **state) {
    World *world = *state;
    park_twice(world);
    assert_value(world, "r", "phase", "2");
    Op *op = op_new(world, OP_FORK);
    op->in.fork.run_id = STR("r");
    op->in.fork.new_id = STR("copy");
    op->in.fork.step.name = STR("go");
    op->in.fork.step.iteration = 1;
    op_run(world, op, OK);
    assert_value(world, "copy", "phase", "1");
    rewind_run(world, "r", "go", 1);
    assert_value(world, "r", "phase", "1");
    rewind_run(world, "r", "go", 0);
    assert_value(world, "r", "phase", NULL);
}

int contract_states(void) {
    const struct CMUnitTest tests[] = {
        CASE(value_is_there_from_the_turn_that_set_it),
        CASE(refused_turn_sets_nothing),
        CASE(values_are_listed_by_key),
        CASE(runs_are_found_by_value_page_by_page),
        CASE(ended_run_keeps_its_values_until_it_is_purged),
        CASE(continue_as_forgets_the_values),
        CASE(rewind_and_fork_have_the_values_of_that_moment),
    };
    return run_group("states", tests);
}
