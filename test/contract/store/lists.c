// [store-10] Listings: newest first, in pages that stay right while rows come and go; every filter.
#include "contract/contract.h"

static RunPage list(World *world, RunFilter filter) {
    RunPage page = {0};
    if (filter.limit == 0) filter.limit = 100;
    assert_ok(store_list_runs(world->store, &world->arena, &filter, &page, &world->diag));
    return page;
}

// The ids of a listing, joined by spaces.
static const char *ids(World *world, RunFilter filter) {
    RunPage page = list(world, filter);
    Str text = STR("");
    for (size_t i = 0; i < page.count; i++) {
        text = arena_printf(&world->arena, "%.*s%s%.*s", STR_ARG(text), i ? " " : "",
                            STR_ARG(page.rows[i].id));
    }
    return text.data;
}

static void create_many(World *world, const char *prefix, int count) {
    for (int i = 0; i < count; i++) {
        create(world, arena_printf(&world->arena, "%s%02d", prefix, i).data);
    }
}

static void runs_are_listed_newest_first(void **state) {
    World *world = *state;
    create(world, "zz");
    create(world, "aa");
    create(world, "mm");
    assert_string_equal(ids(world, (RunFilter){0}), "mm aa zz");
}

static void runs_made_in_every_way_are_listed(void **state) {
    World *world = *state;
    Claimed parent = create(world, "made");
    save_step(world, parent, "a", 0);
    RunSpec child = spec_of("child of it");
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    op = op_new(world, OP_FORK);
    op->in.fork.run_id = STR("made");
    op->in.fork.new_id = STR("0-fork");
    op_run(world, op, OK);
    RunSpec later = spec_of("later");
    later.start_at_ms = START_MS + 1000;
    create_op(world, &later);
    assert_string_equal(ids(world, (RunFilter){0}), "later 0-fork child of it made");
}

static void pages_join_without_gaps_or_repetitions(void **state) {
    World *world = *state;
    create_many(world, "r", 23);
    int seen = 22;
    int64_t cursor = 0;
    do {
        RunPage page = list(world, (RunFilter){.cursor = cursor, .limit = 5});
        for (size_t i = 0; i < page.count; i++) {
            assert_text(page.rows[i].id, arena_printf(&world->arena, "r%02d", seen--).data);
        }
        cursor = page.next;
    } while (cursor != 0);
    assert_int_equal(seen, -1);
}

static void last_page_that_is_exactly_full_ends_the_list(void **state) {
    World *world = *state;
    create_many(world, "r", 6);
    RunPage page = list(world, (RunFilter){.limit = 3});
    assert_int_equal(page.count, 3);
    assert_true(page.next != 0);
    page = list(world, (RunFilter){.cursor = page.next, .limit = 3});
    assert_int_equal(page.count, 3);
    assert_int_equal(page.next, 0);
}

static void pages_stay_right_while_rows_come_and_go(void **state) {
    World *world = *state;
    create_many(world, "r", 10);
    RunPage page = list(world, (RunFilter){.limit = 4}); // r09 … r06
    assert_text(page.rows[3].id, "r06");
    int64_t cursor = page.next;
    create_many(world, "new", 3);                     // above the cursor: not seen any more
    const char *const gone[] = {"r09", "r06", "r04"}; // seen, at the cursor, ahead
    for (int i = 0; i < 3; i++) {
        cancel_run(world, gone[i], 0);
        Op *op = op_new(world, OP_PURGE_RUN);
        op->in.purge.run_id = str_from(gone[i]);
        op_run(world, op, OK);
    }
    page = list(world, (RunFilter){.cursor = cursor, .limit = 4});
    assert_int_equal(page.count, 4);
    assert_text(page.rows[0].id, "r05");
    assert_text(page.rows[1].id, "r03");
    assert_text(page.rows[3].id, "r01");
    page = list(world, (RunFilter){.cursor = page.next, .limit = 4});
    assert_int_equal(page.count, 1);
    assert_text(page.rows[0].id, "r00");
}

static void pages_by_state_stay_right_while_states_change(void **state) {
    World *world = *state;
    create_many(world, "r", 10);
    RunFilter filter = {.states = 1u << RUN_RUNNING, .limit = 4};
    RunPage page = list(world, filter);
    cancel_run(world, "r03", 0);
    cancel_run(world, "r08", 0);
    filter.cursor = page.next;
    page = list(world, filter);
    assert_text(page.rows[0].id, "r05");
    assert_text(page.rows[2].id, "r02");
}

static void page_is_never_larger_than_the_limit_of_pages(void **state) {
    World *world = *state;
    world->claim_max = 0;
    batch_new(world);
    for (int i = 0; i < (int)LIMIT_LIST_PAGE + 10; i++) {
        RunSpec spec = spec_of(arena_printf(&world->arena, "r%d", i).data);
        add_create(world, &spec);
    }
    batch_run(world);
    RunPage found;
    assert_ok(store_list_runs(world->store, &world->arena, &(RunFilter){.limit = 1000000}, &found,
                              &world->diag));
    assert_int_equal(found.count, LIMIT_LIST_PAGE);
    found = list(world, (RunFilter){.cursor = found.next, .limit = 1000});
    assert_int_equal(found.count, 10);
    // unasked: a page
    assert_ok(store_list_runs(world->store, &world->arena, &(RunFilter){.limit = 0}, &found,
                              &world->diag));
    assert_int_equal(found.count, LIMIT_LIST_PAGE);
}

static void listings_leave_out_snapshots_unless_they_are_asked_for(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    Op *op = turn(world, create_from(world, &spec), NEXT_CONTINUE);
    op->in.turn.snapshot = STR("large");
    op_run(world, op, OK);
    assert_text(list(world, (RunFilter){0}).rows[0].snapshot, NULL);
    assert_text(list(world, (RunFilter){.ids = STR("r1")}).rows[0].snapshot, NULL);
    assert_text(get_run(world, "r1").snapshot, "large");
    RunFilter whole = {.has_snapshots = true};
    assert_text(list(world, whole).rows[0].snapshot, "large");
    whole.ids = STR("r1");
    assert_text(list(world, whole).rows[0].snapshot, "large");
}

// ---- filters ----

static void filter_by_each_state_and_by_several(void **state) {
    World *world = *state;
    create(world, "running");
    park(world, create(world, "suspended"), on_signal("go"));
    park(world, create(world, "paused"), on_signal("go"));
    pause_run(world, "paused");
    RunSpec spec = spec_of("pending");
    spec.start_at_ms = START_MS + 1000;
    create_op(world, &spec);
    finish(world, create(world, "completed"), NEXT_COMPLETE, "1");
    finish(world, create(world, "failed"), NEXT_FAIL, "1");
    create(world, "cancelled");
    cancel_run(world, "cancelled", 0);
    for (int i = RUN_PENDING; i < RUN_STATE_COUNT; i++) {
        assert_string_equal(ids(world, (RunFilter){.states = 1u << i}), run_state_name(i));
    }
    uint32_t live = 1u << RUN_RUNNING | 1u << RUN_SUSPENDED | 1u << RUN_PENDING;
    assert_string_equal(ids(world, (RunFilter){.states = live}), "pending suspended running");
    assert_string_equal(ids(world, (RunFilter){.states = 1u << 20}), ""); // no such state
    RunPage page = list(world, (RunFilter){.states = live, .limit = 2});
    assert_int_equal(page.count, 2);
    assert_int_equal(list(world, (RunFilter){.states = live, .cursor = page.next}).count, 1);
}

static void filter_by_workflow(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("a");
    spec.workflow = STR("invoice");
    create_from(world, &spec);
    create(world, "b");
    assert_string_equal(ids(world, (RunFilter){.workflows = STR("invoice")}), "a");
    assert_string_equal(ids(world, (RunFilter){.workflows = STR("order")}), "b");
    assert_string_equal(ids(world, (RunFilter){.workflows = STR("inv")}), ""); // whole names
    assert_string_equal(ids(world, (RunFilter){.workflows = STR("invoice\nnone\norder")}), "b a");
}

static void filter_by_ids(void **state) {
    World *world = *state;
    const char *const names[] = {"a", "b", "c", "d"};
    Claimed claimed[4];
    for (size_t i = 0; i < 4; i++) claimed[i] = create(world, names[i]);
    park(world, claimed[2], on_signal("go"));
    assert_string_equal(ids(world, (RunFilter){.ids = STR("d\na\nnobody\na")}), "d a");
    assert_string_equal(ids(world, (RunFilter){.ids = STR("nobody")}), "");
    RunFilter both = {.ids = STR("b\nc"), .states = 1u << RUN_SUSPENDED};
    assert_string_equal(ids(world, both), "c");
}

static void oldest_first(void **state) {
    World *world = *state;
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) create(world, names[i]);
    RunFilter filter = {.is_oldest_first = true, .limit = 3};
    RunPage page = list(world, filter);
    assert_int_equal(page.count, 3);
    assert_text(page.rows[0].id, "a");
    filter.cursor = page.next;
    assert_string_equal(ids(world, filter), "d");
    filter = (RunFilter){.is_oldest_first = true, .ids = STR("d\nb\na"), .limit = 2};
    page = list(world, filter);
    assert_int_equal(page.count, 2);
    assert_text(page.rows[1].id, "b");
    filter.cursor = page.next;
    assert_string_equal(ids(world, filter), "d");
}

static void filter_by_tag(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("both");
    spec.tags = STR("red\nblue");
    create_from(world, &spec);
    spec = spec_of("twice");
    spec.tags = STR("red\nred\n\nred");
    create_from(world, &spec);
    spec = spec_of("none");
    create_from(world, &spec);
    assert_string_equal(ids(world, (RunFilter){.tag = STR("red")}), "twice both");
    assert_string_equal(ids(world, (RunFilter){.tag = STR("blue")}), "both");
    assert_string_equal(ids(world, (RunFilter){.tag = STR("re")}), "");
    assert_string_equal(ids(world, (RunFilter){.tag = STR("red\nblue")}), "");
    RunPage page = list(world, (RunFilter){.tag = STR("red"), .limit = 1});
    assert_int_equal(page.count, 1);
    page = list(world, (RunFilter){.tag = STR("red"), .cursor = page.next, .limit = 1});
    assert_text(page.rows[0].id, "both");
    assert_int_equal(page.next, 0);
}

static void filter_by_parent(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec children[] = {spec_of("c1"), spec_of("c2")};
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = children;
    op->in.turn.child_count = 2;
    op_run(world, op, OK);
    assert_string_equal(ids(world, (RunFilter){.parent_id = STR("parent")}), "c2 c1");
    assert_string_equal(ids(world, (RunFilter){.parent_id = STR("c1")}), "");
    assert_string_equal(ids(world, (RunFilter){.parent_id = STR("nobody")}), "");
    cancel_run(world, "c1", 0);
    RunFilter filter = {.parent_id = STR("parent"), .states = 1u << RUN_RUNNING};
    assert_string_equal(ids(world, filter), "c2");
}

static void filter_by_the_name_of_a_task_or_child_that_is_waited_for(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.name = STR("charge");
    Op *op = turn(world, create(world, "same-turn"), NEXT_SUSPEND);
    set_task(world, op, &spec);
    const WaitItem waits[] = {on_task("t1"), on_signal("go")};
    set_waits(world, op, WAIT_FIRST, waits, 2);
    op_run(world, op, OK);
    Claimed later = create(world, "later");
    op = turn(world, later, NEXT_CONTINUE);
    spec = task_of("t2");
    spec.name = STR("charge");
    set_task(world, op, &spec);
    op_run(world, op, OK);
    park(world, later, on_task("t2"));
    assert_string_equal(ids(world, (RunFilter){.waiting_on = STR("charge")}), "later same-turn");
    assert_string_equal(ids(world, (RunFilter){.waiting_on = STR("t1")}), "same-turn");
    assert_string_equal(ids(world, (RunFilter){.waiting_on = STR("go")}), "same-turn");
    RunFilter filter = {.waiting_on = STR("charge"), .limit = 1};
    assert_string_equal(ids(world, filter), "later");
    assert_string_equal(ids(world, (RunFilter){.waiting_on = STR("chargeback")}), "");
}

static void filter_by_what_is_waited_for(void **state) {
    World *world = *state;
    park(world, create(world, "event"), on_event("news"), on_timer(START_MS + 1000));
    park(world, create(world, "signal"), on_signal("news"));
    park(world, create(world, "other"), on_signal("go"));
    create(world, "running");
    assert_string_equal(ids(world, (RunFilter){.waiting_on = STR("news")}), "signal event");
    assert_string_equal(ids(world, (RunFilter){.waiting_on = STR("go")}), "other");
    RunFilter filter = {.waiting_on = STR("go"), .states = 1u << RUN_RUNNING};
    assert_string_equal(ids(world, filter), "");
    publish(world, "news", "1");
    assert_string_equal(ids(world, (RunFilter){.waiting_on = STR("news")}), "signal");
}

static void filter_by_idleness(void **state) {
    World *world = *state;
    park(world, create(world, "long"), on_signal("go"));
    world->now_ms = START_MS + HOUR_MS;
    park(world, create(world, "short"), on_signal("go"));
    park(world, create(world, "backing off"), on_retry(START_MS + 2 * HOUR_MS));
    RunFilter filter = {.idle_before_ms = START_MS + HOUR_MS};
    assert_string_equal(ids(world, filter), "long");
    filter.idle_before_ms++;
    assert_string_equal(ids(world, filter), "short long");
    filter.waiting_on = STR("go"); // "who waits for go for more than an hour?"
    filter.idle_before_ms = START_MS + 1;
    assert_string_equal(ids(world, filter), "long");
    RunPage page = list(world, (RunFilter){.idle_before_ms = START_MS + DAY_MS, .limit = 1});
    assert_text(page.rows[0].id, "short");
    page = list(world,
                (RunFilter){.idle_before_ms = START_MS + DAY_MS, .limit = 1, .cursor = page.next});
    assert_text(page.rows[0].id, "long");
}

static void filter_by_time_of_creation(void **state) {
    World *world = *state;
    for (int i = 0; i < 5; i++) {
        world->now_ms = START_MS + i * 100;
        create(world, arena_printf(&world->arena, "r%d", i).data);
    }
    RunFilter filter = {.created_after_ms = START_MS + 100, .created_before_ms = START_MS + 400};
    assert_string_equal(ids(world, filter), "r3 r2");
    assert_string_equal(ids(world, (RunFilter){.created_before_ms = START_MS + 100}), "r0");
    assert_string_equal(ids(world, (RunFilter){.created_after_ms = START_MS + 300}), "r4");
}

static void filters_combine(void **state) {
    World *world = *state;
    for (int i = 0; i < 8; i++) {
        RunSpec spec = spec_of(arena_printf(&world->arena, "r%d", i).data);
        spec.tags = i % 2 ? STR("odd") : STR("even");
        spec.workflow = i < 4 ? STR("low") : STR("high");
        Claimed claimed = create_from(world, &spec);
        if (i % 3 == 0) park(world, claimed, on_signal("go"));
    }
    RunFilter filter = {.tag = STR("odd"), .workflows = STR("low"), .states = 1u << RUN_SUSPENDED};
    assert_string_equal(ids(world, filter), "r3");
    filter = (RunFilter){.tag = STR("even"), .states = 1u << RUN_RUNNING};
    assert_string_equal(ids(world, filter), "r4 r2");
    filter = (RunFilter){.workflows = STR("high"), .waiting_on = STR("go")};
    assert_string_equal(ids(world, filter), "r6");
}

static void rare_rows_among_many_are_found_page_by_page(void **state) {
    World *world = *state;
    world->claim_max = 0;
    for (int b = 0; b < 3; b++) { // more rows than one page looks at
        batch_new(world);
        for (int i = 0; i < 2000; i++) {
            RunSpec spec = spec_of(arena_printf(&world->arena, "r%d-%d", b, i).data);
            if (i % 1000 == 500) spec.workflow = STR("rare");
            add_create(world, &spec);
        }
        batch_run(world);
    }
    int found = 0, pages = 0;
    int64_t cursor = 0;
    do {
        RunPage found_page = list(world, (RunFilter){.workflows = STR("rare"), .cursor = cursor});
        found += (int)found_page.count;
        pages++;
        assert_true(found_page.next == 0 || cursor == 0 || found_page.next < cursor);
        cursor = found_page.next;
    } while (cursor != 0 && pages < 20);
    assert_int_equal(found, 6);
    assert_true(pages < 20);
}

static void runs_of_a_node_are_listed_by_key(void **state) {
    World *world = *state;
    create_many(world, "r", 5);
    world->claim_max = 0;
    RunSpec spec = spec_of("unowned");
    create_op(world, &spec);
    RunPage owned;
    assert_ok(store_list_owned(world->store, &world->arena,
                               &(OwnedFilter){.node = world->node, .page.limit = 3}, &owned,
                               &world->diag));
    assert_int_equal(owned.count, 3);
    assert_text(owned.rows[0].id, "r00");
    assert_ok(store_list_owned(
        world->store, &world->arena,
        &(OwnedFilter){.node = world->node, .page = {.after = owned.next, .limit = 3}}, &owned,
        &world->diag));
    assert_int_equal(owned.count, 2);
    assert_int_equal(owned.next, 0);
    assert_ok(store_list_owned(world->store, &world->arena,
                               &(OwnedFilter){.node = 0, .page.limit = 3}, &owned, &world->diag));
    assert_int_equal(owned.count, 1);
}

static void tasks_are_listed_by_state_queue_name_and_run(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("a");
    create_task(world, &spec);
    spec = task_of("b");
    spec.queue = STR("q");
    spec.name = STR("ship");
    create_task(world, &spec);
    Claimed claimed = create(world, "r1");
    spec = task_of("c");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_task(world, op, &spec);
    op_run(world, op, OK);
    lease_one(world, "q");
    TaskPage found;
    assert_ok(
        store_list_tasks(world->store, &world->arena, &(TaskFilter){0}, &found, &world->diag));
    assert_int_equal(found.count, 3);
    assert_text(found.rows[0].id, "c"); // newest first
    assert_ok(store_list_tasks(world->store, &world->arena,
                               &(TaskFilter){.states = 1u << TASK_LEASED}, &found, &world->diag));
    assert_int_equal(found.count, 1);
    assert_ok(store_list_tasks(
        world->store, &world->arena,
        &(TaskFilter){.queue = STR("default"), .states = 1u << TASK_QUEUED, .page.limit = 1},
        &found, &world->diag));
    assert_text(found.rows[0].id, "c");
    assert_ok(store_list_tasks(world->store, &world->arena,
                               &(TaskFilter){.queue = STR("default"),
                                             .states = 1u << TASK_QUEUED,
                                             .page = {.after = found.next, .limit = 1}},
                               &found, &world->diag));
    assert_text(found.rows[0].id, "a");
    assert_ok(store_list_tasks(world->store, &world->arena, &(TaskFilter){.name = STR("ship")},
                               &found, &world->diag));
    assert_int_equal(found.count, 1);
    assert_ok(store_list_tasks(world->store, &world->arena,
                               &(TaskFilter){.run = run_of_id(STR("r1"))}, &found, &world->diag));
    assert_int_equal(found.count, 1);
    assert_text(found.rows[0].id, "c");
}

static Str ids_in_states(World *world, uint32_t states) {
    TaskPage found;
    Str ids = STR("");
    assert_ok(store_list_tasks(world->store, &world->arena, &(TaskFilter){.states = states}, &found,
                               &world->diag));
    for (size_t i = 0; i < found.count; i++)
        ids = arena_printf(&world->arena, "%.*s%.*s ", STR_ARG(ids), STR_ARG(found.rows[i].id));
    return ids;
}

static void each_set_of_states_lists_its_tasks_and_no_others(void **state) {
    World *world = *state;
    static const char *const ids[] = {"completed", "failed", "first", "second", "queued"};
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        TaskSpec spec = task_of(ids[i]);
        spec.max_attempts = 1;
        create_task(world, &spec);
        if (i == 4) break;
        int64_t token = lease_one(world, "default").token;
        if (i == 0) complete_task(world, ids[i], token, "1");
        if (i != 1) continue;
        Op *op = op_add(world, OP_FAIL_TASK);
        op->in.fail_task.id = str_from(ids[i]);
        op->in.fail_task.token = token;
        op->in.fail_task.error = STR("{}");
        op_run(world, op, OK);
    }
    const uint32_t queued = 1u << TASK_QUEUED, leased = 1u << TASK_LEASED;
    const uint32_t completed = 1u << TASK_COMPLETED, failed = 1u << TASK_FAILED;
    assert_text(ids_in_states(world, queued), "queued ");
    assert_text(ids_in_states(world, leased), "second first ");
    assert_text(ids_in_states(world, queued | leased), "queued second first ");
    assert_text(ids_in_states(world, completed), "completed ");
    assert_text(ids_in_states(world, failed), "failed ");
    assert_text(ids_in_states(world, completed | failed), "failed completed ");
    assert_text(ids_in_states(world, failed | queued), "queued failed ");
    assert_text(ids_in_states(world, 1u << TASK_CANCELLED), "");
}

static void pending_events_are_listed_oldest_first_in_pages(void **state) {
    World *world = *state;
    for (int i = 0; i < 5; i++) {
        publish(world, "t", arena_printf(&world->arena, "%d", i).data);
        publish(world, "u", "x");
    }
    EventPage found;
    assert_ok(store_list_events(world->store, &world->arena,
                                &(EventFilter){.topic = STR("t"), .page.limit = 3}, &found,
                                &world->diag));
    assert_int_equal(found.count, 3);
    assert_text(found.rows[0].payload, "0");
    assert_ok(store_list_events(
        world->store, &world->arena,
        &(EventFilter){.topic = STR("t"), .page = {.after = found.next, .limit = 3}}, &found,
        &world->diag));
    assert_int_equal(found.count, 2);
    assert_text(found.rows[1].payload, "4");
    assert_int_equal(found.next, 0);
}

int contract_lists(void) {
    const struct CMUnitTest tests[] = {
        CASE(runs_are_listed_newest_first),
        CASE(runs_made_in_every_way_are_listed),
        CASE(pages_join_without_gaps_or_repetitions),
        CASE(last_page_that_is_exactly_full_ends_the_list),
        CASE(pages_stay_right_while_rows_come_and_go),
        CASE(pages_by_state_stay_right_while_states_change),
        CASE(page_is_never_larger_than_the_limit_of_pages),
        CASE(listings_leave_out_snapshots_unless_they_are_asked_for),
        CASE(filter_by_each_state_and_by_several),
        CASE(filter_by_workflow),
        CASE(filter_by_ids),
        CASE(oldest_first),
        CASE(filter_by_tag),
        CASE(filter_by_parent),
        CASE(filter_by_the_name_of_a_task_or_child_that_is_waited_for),
        CASE(filter_by_what_is_waited_for),
        CASE(filter_by_idleness),
        CASE(filter_by_time_of_creation),
        CASE(filters_combine),
        CASE(rare_rows_among_many_are_found_page_by_page),
        CASE(runs_of_a_node_are_listed_by_key),
        CASE(tasks_are_listed_by_state_queue_name_and_run),
        CASE(each_set_of_states_lists_its_tasks_and_no_others),
        CASE(pending_events_are_listed_oldest_first_in_pages),
    };
    return run_group("lists", tests);
}
