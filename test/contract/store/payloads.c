// [store-batch-7] Payloads come back byte for byte; null (absent), empty and the text null all
//      differ. Every
// column that carries something of the caller's is tried with everything that stores of this kind
// have spoiled: empty arrays, long integers, unicode, quotes, patterns of query languages.
#include "base/array.h"
#include "contract/contract.h"

static const Str payloads[] = {
    {NULL, 0},
    STR(""),
    STR("null"),
    STR("[]"),
    STR("{}"),
    STR("[[],{},[{}]]"),
    STR("\"\""),
    STR("0"),
    STR("12345678901234567"),
    STR("-9007199254740993"),
    STR("18446744073709551616"),
    STR("0.1000000000000000055511151231257827"),
    STR("1e400"),
    STR("1.0"),
    STR("  { \"b\" : 1 , \"a\" : 2 , \"b\" : 3 }\r\n\t"),
    STR("\"\\u0000\\ud83d\\ude00\\\\\\/\""),
    STR("\"gr\xc3\xbc\xc3\x9f\x65 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x8d\xb0 \xe2\x80\xa8\""),
    STR("\"'; DROP TABLE runs; --\""),
    STR("\"%s %n %1$s ? ?1 :a @b $c\""),
    STR("\"back\\\\slash and 'quote' and \\\"double\\\"\""),
    STR("not even JSON \x01\x02\x7f"),
};
enum { PAYLOAD_COUNT = COUNT_OF(payloads) };

// Run, task and event ids and names that need care.
static const char *const odd_names[] = {
    "'single'",
    "\"double\"",
    "100%",
    "a/b/../c",
    "back\\slash",
    "semi;colon",
    "new\nline",
    "tab\there",
    "nul\\0",
    "\xf0\x9f\x8d\xb0\xf0\x9f\x8e\x82",
    "gr\xc3\xbc\xc3\x9f\x65",
    " lead",
    "trail ",
    "UPPER",
    "upper",
    "_",
    "*",
    "?",
    "#",
    "{}",
    "-",
    "--",
    "0",
    "NULL",
    "null",
    "\xe2\x80\xae right to left",
};
enum { ODD_COUNT = COUNT_OF(odd_names) };

#define assert_bytes(actual, expected) check_bytes((actual), (expected), __FILE__, __LINE__)
static void check_bytes(Str actual, Str expected, const char *file, int line) {
    if (str_same(actual, expected)) return;
    print_error("\"%.*s\"%s instead of \"%.*s\"%s\n", STR_ARG(actual), actual.data ? "" : " (null)",
                STR_ARG(expected), expected.data ? "" : " (null)");
    _fail(file, line);
}

static const char *name_of(World *world, const char *prefix, int number) {
    return arena_printf(&world->arena, "%s%d", prefix, number).data;
}

static void run_input_and_result_come_back_byte_for_byte(void **state) {
    World *world = *state;
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        RunSpec spec = spec_of(name_of(world, "r", i));
        spec.input = payloads[i];
        Op *op = turn(world, create_from(world, &spec), i % 2 ? NEXT_COMPLETE : NEXT_FAIL);
        op->in.turn.result = payloads[i];
        op_run(world, op, OK);
    }
    world_reopen(world);
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        assert_bytes(get_input(world, name_of(world, "r", i)), payloads[i]);
        assert_bytes(get_result(world, name_of(world, "r", i)), payloads[i]);
    }
}

static void step_results_and_attempts_come_back_byte_for_byte(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        LogRow entry = log_step(name_of(world, "s", i), 2 * i, 0, NULL);
        entry.data = payloads[i];
        save_entry(world, claimed, entry);
        entry.kind = LOG_STEP_ATTEMPT;
        entry.position = 2 * i + 1;
        save_entry(world, claimed, entry);
    }
    world_reopen(world);
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.log_count, 2 * PAYLOAD_COUNT);
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        assert_bytes(load.log[2 * i].data, payloads[i]);
        assert_bytes(load.log[2 * i + 1].data, payloads[i]);
        LogRow found;
        assert_ok(store_find_step(
            world->store, &world->arena,
            &(StepRef){.run = run_of_id(STR("r1")), .name = str_from(name_of(world, "s", i))},
            &found, &world->diag));
        assert_bytes(found.data, payloads[i]);
    }
}

static void event_payloads_come_back_byte_for_byte(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        Op *op = op_new(world, OP_PUBLISH); // kept, then taken
        op->in.publish.event =
            (EventSpec){.topic = STR("t"), .id = STR("e"), .payload = payloads[i]};
        op_run(world, op, OK);
        world_reopen(world);
        assert_bytes(get_events(world, "t").rows[0].payload, payloads[i]);
        op = park(world, claimed, on_event("t"));
        assert_int_equal(op->out.turn.resolved_count, 1);
        assert_bytes(op->out.turn.resolved[0].data, payloads[i]);
        assert_bytes(last_entry(world, "r1", LOG_WAIT).data, payloads[i]);
        park(world, claimed, on_event("t")); // parked, then woken
        op = op_new(world, OP_PUBLISH);
        op->in.publish.event =
            (EventSpec){.topic = STR("t"), .id = STR("e"), .payload = payloads[i]};
        op_run(world, op, OK);
        assert_bytes(world->batch.out.ready[0].resolved[0].data, payloads[i]);
        assert_bytes(last_entry(world, "r1", LOG_WAIT).data, payloads[i]);
        claimed = ready_at(world, 0);
    }
}

static void signal_payloads_come_back_byte_for_byte(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        Op *op = op_new(world, OP_SIGNAL);
        op->in.signal.run_id = STR("r1");
        op->in.signal.name = STR("go");
        op->in.signal.payload = payloads[i];
        op_run(world, op, OK);
        assert_bytes(get_signals(world, "r1").rows[0].payload, payloads[i]);
        op = park(world, claimed, on_signal("go"));
        assert_bytes(op->out.turn.resolved[0].data, payloads[i]);
    }
}

static void leftovers_and_dead_letters_keep_every_byte(void **state) {
    World *world = *state;
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        RunSpec spec = spec_of(name_of(world, "r", i));
        spec.leftover_policy = i % 2 ? LEFTOVER_TO_TOPIC : LEFTOVER_DEAD_LETTER;
        spec.leftover_topic = STR("t");
        Claimed claimed = create_from(world, &spec);
        Op *op = op_new(world, OP_SIGNAL);
        op->in.signal.run_id = spec.id;
        op->in.signal.name = STR("go");
        op->in.signal.payload = payloads[i];
        op_run(world, op, OK);
        finish(world, claimed, NEXT_COMPLETE, "1");
        if (i % 2) {
            EventPage events = get_events(world, "t");
            assert_bytes(events.rows[events.count - 1].payload, payloads[i]);
        } else {
            assert_bytes(get_dead_letters(world).rows[0].payload, payloads[i]);
        }
    }
}

static void child_results_reach_the_parent_byte_for_byte(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        RunSpec child = spec_of(name_of(world, "c", i));
        Op *op = turn(world, parent, NEXT_SUSPEND);
        op->in.turn.children = &child;
        op->in.turn.child_count = 1;
        set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_child(child.id.data)}, 1);
        op_run(world, op, OK);
        op = turn(world, ready_at(world, 0), NEXT_COMPLETE);
        op->in.turn.result = payloads[i];
        op_run(world, op, OK);
        assert_bytes(world->batch.out.ready[0].resolved[0].data, payloads[i]);
        parent = ready_at(world, 0);
    }
}

static void continued_input_comes_back_byte_for_byte(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        Op *op = turn(world, claimed, NEXT_CONTINUE_AS);
        op->in.turn.result = payloads[i];
        op_run(world, op, OK);
        assert_bytes(get_input(world, "r1"), payloads[i]);
    }
}

static void task_payloads_come_back_byte_for_byte(void **state) {
    World *world = *state;
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        TaskSpec spec = task_of(name_of(world, "t", i));
        spec.input = payloads[i];
        create_task(world, &spec);
        TaskRow task = lease_one(world, "default");
        assert_bytes(task.input, payloads[i]);
        Op *op = op_new(world, OP_HEARTBEAT_TASK);
        op->in.heartbeat.id = spec.id;
        op->in.heartbeat.token = task.token;
        op->in.heartbeat.progress = payloads[i];
        op_run(world, op, OK);
        op = op_new(world, i % 2 ? OP_COMPLETE_TASK : OP_FAIL_TASK);
        if (i % 2) {
            op->in.complete_task.id = spec.id;
            op->in.complete_task.token = task.token;
            op->in.complete_task.result = payloads[i];
        } else {
            op->in.fail_task.id = spec.id;
            op->in.fail_task.token = task.token;
            op->in.fail_task.error = payloads[i];
        }
        op_run(world, op, OK);
        world_reopen(world);
        task = get_task(world, spec.id.data);
        assert_bytes(task.input, payloads[i]);
        assert_bytes(task.progress, payloads[i]);
        assert_bytes(i % 2 ? task.result : task.error, payloads[i]);
        assert_bytes(i % 2 ? task.error : task.result, STR_NULL);
    }
}

static void definitions_keep_source_and_configuration_byte_for_byte(void **state) {
    World *world = *state;
    for (int i = 0; i < PAYLOAD_COUNT; i++) {
        Op *op = op_new(world, OP_DEFINE);
        op->in.define.name = STR("w");
        op->in.define.version = str_from(name_of(world, "v", i));
        op->in.define.kind = RUN_FLOW;
        op->in.define.source = payloads[i];
        op->in.define.config = payloads[PAYLOAD_COUNT - 1 - i];
        op_run(world, op, OK);
        world_reopen(world);
        DefinitionRow definition;
        assert_ok(store_find_definition(world->store, &world->arena,
                                        &(DefinitionRef){.name = STR("w")}, &definition,
                                        &world->diag));
        assert_bytes(definition.source, payloads[i]);
        assert_bytes(definition.config, payloads[PAYLOAD_COUNT - 1 - i]);
    }
}

static Str code_of(World *world, const char *version) {
    DefinitionRow definition;
    assert_ok(
        store_find_definition(world->store, &world->arena,
                              &(DefinitionRef){.name = STR("w"), .version = str_from(version)},
                              &definition, &world->diag));
    return definition.code;
}

static void define(World *world, const char *version, Str code) {
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("w");
    op->in.define.version = str_from(version);
    op->in.define.kind = RUN_FLOW;
    op->in.define.source = STR("return 1");
    op->in.define.code = code;
    op_run(world, op, OK);
}

// Runs are parked in it: the first stays, and one that has none gets one.
static void definitions_keep_the_code_they_got_first(void **state) {
    World *world = *state;
    static const char bytes[] = "\0\xff\n code \x80";
    Str code = {bytes, sizeof bytes};
    define(world, "v1", code);
    world_reopen(world);
    assert_bytes(code_of(world, "v1"), code);
    define(world, "v1", STR("another compiler's"));
    assert_bytes(code_of(world, "v1"), code);
    define(world, "v2", STR_NULL);
    assert_bytes(code_of(world, "v2"), STR_NULL);
    define(world, "v2", code);
    assert_bytes(code_of(world, "v2"), code);
}

static void snapshots_are_any_bytes(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    Claimed claimed = create_from(world, &spec);
    char bytes[1024];
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (char)(i * 7);
    const size_t sizes[] = {0, 1, 255, sizeof(bytes)};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        Op *op = turn(world, claimed, NEXT_CONTINUE);
        op->in.turn.snapshot = (Str){bytes, sizes[i]};
        op_run(world, op, OK);
        world_reopen(world);
        assert_bytes(get_run(world, "r1").snapshot, ((Str){bytes, sizes[i]}));
    }
}

static void other_texts_keep_the_difference_of_null_and_empty(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("null");
    create_from(world, &spec);
    assert_bytes(get_run(world, "null").queue, STR_NULL);
    assert_bytes(get_run(world, "null").tags, STR_NULL);
    spec = spec_of("empty");
    spec.queue = spec.tags = STR("");
    create_from(world, &spec);
    world_reopen(world);
    assert_bytes(get_run(world, "empty").queue, STR(""));
    assert_bytes(get_run(world, "empty").tags, STR(""));
}

// ---- odd ids and names ----

static void odd_run_ids_are_told_apart_and_found(void **state) {
    World *world = *state;
    int64_t keys[ODD_COUNT];
    for (int i = 0; i < ODD_COUNT; i++) keys[i] = create(world, odd_names[i]).run;
    world_reopen(world);
    for (int i = 0; i < ODD_COUNT; i++) {
        RunRow run = get_run(world, odd_names[i]);
        assert_int_equal(run.key, keys[i]);
        assert_bytes(run.id, str_from(odd_names[i]));
        signal_run(world, odd_names[i], odd_names[i], "1");
        assert_bytes(get_signals(world, odd_names[i]).rows[0].name, str_from(odd_names[i]));
        cancel_run(world, odd_names[i], 0);
    }
    assert_int_equal(get_counter(world, COUNTER_CANCELLED_TOTAL), ODD_COUNT);
}

static void odd_topics_and_steps_are_told_apart(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < ODD_COUNT; i++) {
        publish(world, odd_names[i], name_of(world, "", i));
        save_entry(world, claimed, log_step(odd_names[i], i, 0, name_of(world, "", i)));
    }
    world_reopen(world);
    for (int i = 0; i < ODD_COUNT; i++) {
        assert_text(get_events(world, odd_names[i]).rows[0].payload, name_of(world, "", i));
        LogRow entry;
        assert_ok(
            store_find_step(world->store, &world->arena,
                            &(StepRef){.run = run_of_id(STR("r1")), .name = str_from(odd_names[i])},
                            &entry, &world->diag));
        assert_int_equal(entry.position, i);
        Op *op = park(world, claimed, on_event(odd_names[i]));
        assert_int_equal(op->out.turn.resolved_count, 1);
    }
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 0);
}

static void odd_task_queue_worker_and_tag_names_are_told_apart(void **state) {
    World *world = *state;
    for (int i = 0; i < ODD_COUNT; i++) {
        TaskSpec spec = task_of(odd_names[i]);
        spec.queue = spec.name = str_from(odd_names[i]);
        create_task(world, &spec);
        RunSpec run = spec_of(name_of(world, "r", i));
        run.workflow = str_from(odd_names[i]);
        bool is_one_tag = strchr(odd_names[i], '\n') == NULL;
        if (is_one_tag) run.tags = run.workflow;
        create_from(world, &run);
        RunPage page;
        assert_ok(store_list_runs(world->store, &world->arena,
                                  &(RunFilter){.workflows = run.workflow, .limit = 10}, &page,
                                  &world->diag));
        if (is_one_tag) assert_int_equal(page.count, 1); // else it is a list of names
        assert_ok(store_list_runs(world->store, &world->arena,
                                  &(RunFilter){.tag = run.tags, .limit = 10}, &page, &world->diag));
        if (is_one_tag) assert_int_equal(page.count, 1);
    }
    for (int i = 0; i < ODD_COUNT; i++) {
        TaskRow task = lease_one(world, odd_names[i]);
        assert_bytes(task.id, str_from(odd_names[i]));
        assert_bytes(task.name, str_from(odd_names[i]));
    }
}

static void longest_ids_are_kept_whole(void **state) {
    World *world = *state;
    char *id = arena_alloc(&world->arena, LIMIT_RUN_ID_SIZE + 1);
    memset(id, 'x', LIMIT_RUN_ID_SIZE);
    id[LIMIT_RUN_ID_SIZE] = '\0';
    Claimed claimed = create(world, id);
    assert_int_equal(get_run(world, id).key, claimed.run);
    char *other = arena_cstr(&world->arena, str_from(id));
    other[LIMIT_RUN_ID_SIZE - 1] = 'y'; // differs in the last byte only
    assert_true(create(world, other).run != claimed.run);
    publish_once(world, "t", id, "1");
    assert_true(publish_once(world, "t", id, "1")->out.publish.is_duplicate);
    assert_false(publish_once(world, "t", other, "1")->out.publish.is_duplicate);
}

static void large_payloads_come_back_whole(void **state) {
    World *world = *state;
    size_t size = 3 << 20;
    char *text = arena_alloc(&world->arena, size);
    for (size_t i = 0; i < size; i++) text[i] = (char)('a' + i % 26);
    RunSpec spec = spec_of("r1");
    spec.input = (Str){text, size};
    create_from(world, &spec);
    world_reopen(world);
    Str input = get_input(world, "r1");
    assert_int_equal(input.len, size);
    assert_memory_equal(input.data, text, size);
}

static void numbers_keep_all_their_digits(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    const int64_t numbers[] = {INT64_MAX, INT64_MIN, 9007199254740993, -1, 0, 12345678901234567};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        LogRow entry = log_step("n", (int64_t)i, 0, "1");
        entry.iteration = entry.attempt = entry.slot = numbers[i];
        save_entry(world, claimed, entry);
        world_reopen(world);
        LogRow found = last_entry(world, "r1", LOG_STEP);
        assert_true(found.iteration == numbers[i]);
        assert_true(found.attempt == numbers[i]);
        assert_true(found.slot == numbers[i]);
    }
}

int contract_payloads(void) {
    const struct CMUnitTest tests[] = {
        CASE(run_input_and_result_come_back_byte_for_byte),
        CASE(step_results_and_attempts_come_back_byte_for_byte),
        CASE(event_payloads_come_back_byte_for_byte),
        CASE(signal_payloads_come_back_byte_for_byte),
        CASE(leftovers_and_dead_letters_keep_every_byte),
        CASE(child_results_reach_the_parent_byte_for_byte),
        CASE(continued_input_comes_back_byte_for_byte),
        CASE(task_payloads_come_back_byte_for_byte),
        CASE(definitions_keep_source_and_configuration_byte_for_byte),
        CASE(definitions_keep_the_code_they_got_first),
        CASE(snapshots_are_any_bytes),
        CASE(other_texts_keep_the_difference_of_null_and_empty),
        CASE(odd_run_ids_are_told_apart_and_found),
        CASE(odd_topics_and_steps_are_told_apart),
        CASE(odd_task_queue_worker_and_tag_names_are_told_apart),
        CASE(longest_ids_are_kept_whole),
        CASE(large_payloads_come_back_whole),
        CASE(numbers_keep_all_their_digits),
    };
    return run_group("payloads", tests);
}
