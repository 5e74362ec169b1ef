// A run from outside: outcomes, awaitables, settlements, cancellation, budgets.
#include "unit/flow/vm.h"
#include "base/array.h"
#include "flow/limits.h"

static void a_program_completes_with_its_value(void **state) {
    (void)state;
    assert_flow("return { a: [1, 'x', null], b: 1 + 2 }", "{\"a\":[1,\"x\",null],\"b\":3}");
    assert_flow("return", "null");
    assert_flow("return undefined", "null");
}

static void an_uncaught_error_fails_the_run_with_its_place(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "function inner() { null.x }\n  inner()", NULL);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    char text[512];
    snprintf(text, sizeof text, "%.*s", STR_ARG(run.result.failure.stack));
    assert_string_equal(text, "TypeError: Cannot read properties of null (reading 'x')\n"
                              "    at inner (test.flow:1:25)\n"
                              "    at test.flow:2:3");
    run_end(&run);
}

static void a_task_parks_the_run_until_it_is_settled(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "const r = await Task.run('charge', { n: Inputs.n }); return r.ok",
              "{\"n\":5}");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_string_equal(run.host.log, "task charge {\"n\":5}\n");
    assert_int_equal(run.result.wait_count, 1);
    assert_int_equal(run.result.waits[0].kind, FLOW_AWAIT_TASK);
    assert_true(run.result.waits[0].is_awaited);
    run_settle(&run, run.result.waits[0].id, "{\"ok\":\"yes\"}");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_true(str_equal(run.result.result_json, STR("\"yes\"")));
    run_end(&run);
}

static void a_task_nobody_awaits_is_fire_and_forget(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "Task.run('a'); await Task.run('b'); return 1", NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_int_equal(run.result.wait_count, 2);
    assert_false(run.result.waits[0].is_awaited);
    assert_true(run.result.waits[1].is_awaited);
    run_settle(&run, 2, "1");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    run_end(&run);
}

static void a_failed_task_rejects_with_its_details(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "try { await Task.run('t') } catch (e) { return [e instanceof TaskError, e.name,"
              " e.message, e.task, e.attempts, e.cause.message, e.cause instanceof Error] }",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Diag diag = {0};
    FlowSettlement settlement = {
        .id = 1,
        .is_rejected = true,
        .error_class = "TaskError",
        .message = STR("no money"),
        .properties_json = STR("{\"task\":\"t\",\"attempts\":3}"),
        .cause_json = STR("{\"name\":\"Declined\",\"message\":\"card\"}"),
    };
    assert_int_equal(flow_vm_settle(run.vm, &settlement, &diag), OK);
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    char text[256];
    snprintf(text, sizeof text, "%.*s", STR_ARG(run.result.result_json));
    assert_string_equal(text, "[true,\"TaskError\",\"no money\",\"t\",3,\"card\",true]");
    run_end(&run);
}

static void settling_twice_is_refused(void **state) {
    (void)state;
    Run run;
    Diag diag;
    run_begin(&run, "await Task.run('t'); await Task.run('u')", NULL);
    run_turn(&run);
    run_settle(&run, 1, "1");
    FlowSettlement again = {.id = 1, .json = STR("2")};
    assert_int_equal(flow_vm_settle(run.vm, &again, &diag), ERR_NOT_FOUND);
    run_end(&run);
}

static void a_refused_start_throws_in_the_script(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "try { await Task.run('t') } catch (e) { return e.message + e.code }", NULL);
    run.host.refuses = true;
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_true(str_equal(run.result.result_json, STR("\"the host said noREFUSED\"")));
    run_end(&run);
}

static void timers_take_durations_as_people_write_them(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "Timer.delay(1.5); Task.delay('2s'); Timer.until('1970-01-01T00:00:01Z');"
              "try { Timer.delay('soon') } catch (e) { return e.name }",
              NULL);
    run_turn(&run);
    assert_string_equal(run.host.log, "timer - 1500 -1\ntimer - 2000 -1\ntimer - -1 1000\n");
    run_end(&run);
}

static void the_first_in_time_wins_a_race(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "const a = Task.run('a'), b = Task.run('b');"
              "const r = await Task.race([a, b]); return [r.item_id === b.id, r.status, r.result]",
              NULL);
    run_turn(&run);
    run_settle(&run, 2, "\"B\"");
    run_settle(&run, 1, "\"A\"");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_true(str_equal(run.result.result_json, STR("[true,\"completed\",\"B\"]")));
    run_end(&run);
}

static void reject(Run *run, uint32_t id, const char *cause) {
    Diag diag = {0};
    FlowSettlement settlement = {
        .id = id,
        .is_rejected = true,
        .error_class = "TaskError",
        .message = STR("task failed"),
        .properties_json = STR("{\"task\":\"t\",\"attempts\":3}"),
        .cause_json = str_from(cause),
    };
    assert_int_equal(flow_vm_settle(run->vm, &settlement, &diag), OK);
}

#define FAILED_TASK                                                                                \
    "{\"name\":\"TaskError\",\"message\":\"task failed\",\"task\":\"t\",\"attempts\":3,"           \
    "\"cause\":{\"name\":\"Declined\",\"message\":\"card\",\"type\":\"Declined\"}}"

static void an_error_that_leaves_as_data_keeps_name_message_and_cause(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "const r = await Task.race([Task.run('t'), Timer.delay(9)]); const e = r.error\n"
              "Task.run('u', e); Workflow.run('w', [e]); Event.emit('topic', e)\n"
              "Stream.write(e); State.set('k', e); return r",
              NULL);
    run_turn(&run);
    reject(&run, 1, "{\"type\":\"Declined\",\"message\":\"card\"}");
    run.host.log[0] = 0;
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_true(
        str_equal(run.result.result_json,
                  STR("{\"item_id\":\"1\",\"status\":\"failed\",\"error\":" FAILED_TASK "}")));
    assert_string_equal(run.host.log, "task u " FAILED_TASK "\nworkflow w [" FAILED_TASK "]\n"
                                      "emit topic " FAILED_TASK "\nstream  " FAILED_TASK "\n"
                                      "state k " FAILED_TASK "\n");
    run_end(&run);
}

static void errors_of_every_class_become_data(void **state) {
    (void)state;
    assert_flow("class Mine extends Error { name = 'Mine'; n = 1 }\n"
                "const deep = new RangeError('b', { cause: 7 })\n"
                "return [new Mine('a', { cause: deep }), new Error(),\n"
                "  new AggregateError([new TypeError('c')], 'd'),\n"
                "  Object.assign(new Error('e'), { toJSON() { return 'own' } })]",
                "[{\"name\":\"Mine\",\"message\":\"a\",\"n\":1,"
                "\"cause\":{\"name\":\"RangeError\",\"message\":\"b\",\"cause\":7}},"
                "{\"name\":\"Error\",\"message\":\"\"},"
                "{\"name\":\"AggregateError\",\"message\":\"d\","
                "\"errors\":[{\"name\":\"TypeError\",\"message\":\"c\"}]},\"own\"]");
    // In the language itself JSON.stringify is what ECMAScript says.
    assert_flow("return JSON.stringify([new Error('x', { cause: 1 })])", "\"[{}]\"");
    assert_flow_fails("const e = new Error('x'); e.cause = e; return e", "TypeError",
                      "Converting circular structure to JSON\n"
                      "    --> starting at object with constructor 'Error'\n"
                      "    --- property 'cause' closes the circle");
}

static void a_failure_keeps_the_names_of_its_causes(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "throw new RangeError('a', { cause: new TypeError('b') })", NULL);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    assert_true(str_equal(run.result.failure.json,
                          STR("{\"name\":\"RangeError\",\"message\":\"a\","
                              "\"cause\":{\"name\":\"TypeError\",\"message\":\"b\"}}")));
    run_end(&run);
    run_begin(&run,
              "try { await Task.run('t') } catch (e) { return [e.cause, e.cause.cause]"
              ".map(c => [c.name, c.message, c instanceof Error]) }",
              NULL);
    run_turn(&run);
    reject(&run, 1,
           "{\"type\":\"RangeError\",\"message\":\"a\",\"value\":"
           "{\"name\":\"RangeError\",\"message\":\"a\","
           "\"cause\":{\"name\":\"TypeError\",\"message\":\"b\"}}}");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_true(str_equal(run.result.result_json,
                          STR("[[\"RangeError\",\"a\",true],[\"TypeError\",\"b\",true]]")));
    run_end(&run);
}

static void an_item_id_equals_its_handle(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "const job = Task.run('a'), timer = Task.delay(30)\n"
              "const r = await Task.race([job, timer])\n"
              "return [r.item_id == timer, timer == r.item_id, r.item_id != timer,\n"
              "  r.item_id == job, r.item_id === timer.id, `${timer}` === timer.id,\n"
              "  Object.keys(timer).length, timer instanceof Promise]",
              NULL);
    run_turn(&run);
    run_settle(&run, 2, "null");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_true(str_equal(run.result.result_json, STR("[true,true,false,false,true,true,0,true]")));
    run_end(&run);
}

static void cancellation_surfaces_at_the_await_and_finally_runs(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "try { await Task.run('long') }"
              "finally { await Task.run('cleanup') }",
              NULL);
    run_turn(&run);
    flow_vm_cancel(run.vm, STR("enough"));
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_string_equal(run.host.log, "task long \ntask cleanup \n");
    run_settle(&run, 2, "null");
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    assert_true(str_equal(run.result.failure.name, STR("CancelledError")));
    assert_true(str_equal(run.result.failure.message, STR("enough")));
    run_end(&run);
}

static void continue_as_ends_the_incarnation_at_once(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "Workflow.continueAs({ n: 2 }); Task.run('never')", NULL);
    assert_int_equal(run_turn(&run), FLOW_CONTINUE_AS);
    assert_true(str_equal(run.result.result_json, STR("{\"n\":2}")));
    assert_int_equal(run.host.start_count, 0);
    run_end(&run);
}

static void effects_reach_the_host_in_order(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "Event.emit('topic', [1]); Stream.write({ a: 1 }, 'kind'); State.set('k', 'v');"
              "return Context.runId",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_string_equal(run.host.log, "emit topic [1]\nstream kind {\"a\":1}\nstate k \"v\"\n");
    assert_true(str_equal(run.result.result_json, STR("\"r1\"")));
    run_end(&run);
}

static void an_endless_loop_is_preempted_each_turn(void **state) {
    (void)state;
    static const char *const loops[] = {
        "for (;;) {}",
        "const f = () => f; for (;;) f()",
        "async function f() { for (;;) await null } await f()",
        "let n = 0; do { n++ } while (n >= 0)",
        "function* g() { for (;;) yield 1 } for (const x of g()) {}",
    };
    for (size_t i = 0; i < COUNT_OF(loops); i++) {
        Run run;
        FlowLimits limits = FLOW_LIMITS_DEFAULT;
        limits.instructions_per_turn = 100000;
        run_begin_limited(&run, loops[i], NULL, limits);
        for (int turn = 0; turn < 3; turn++) {
            flow_vm_run(run.vm, &run.result);
            assert_int_equal(run.result.outcome, FLOW_PREEMPTED);
        }
        run_end(&run);
    }
}

static void deep_recursion_is_a_range_error(void **state) {
    (void)state;
    assert_flow_fails("function f() { return f() + 1 } f()", "RangeError",
                      "Maximum call stack size exceeded");
    assert_flow("function f() { return f() + 1 } try { f() } catch (e) { return e.name }",
                "\"RangeError\"");
}

static void the_heap_budget_is_a_script_error(void **state) {
    (void)state;
    static const char *const hogs[] = {
        "const a = []; for (;;) a.push({ x: [1, 2, 3] })",     "let s = 'x'; for (;;) s += s",
        "const o = {}; for (let i = 0; ; i++) o['k' + i] = i", "let c = null; for (;;) c = { c }",
        "let f = null; for (;;) { const g = f; f = () => g }",
    };
    for (size_t i = 0; i < COUNT_OF(hogs); i++) {
        Run run;
        FlowLimits limits = FLOW_LIMITS_DEFAULT;
        limits.heap_bytes = 4 << 20;
        limits.instructions_per_turn = 1ull << 40;
        run_begin_limited(&run, hogs[i], NULL, limits);
        assert_int_equal(run_turn(&run), FLOW_FAILED);
        assert_true(str_equal(run.result.failure.name, STR("RangeError")));
        run_end(&run);
    }
}

static void stopping_at_every_instruction_changes_nothing(void **state) {
    (void)state;
    static const char source[] =
        "let log = '';\n"
        "class A { #n = 1; get n() { return this.#n } static s = 2 }\n"
        "class B extends A { constructor() { super(); this.m = super.n } }\n"
        "function* g() { try { yield 1; yield 2 } finally { log += 'f' } }\n"
        "for (const x of g()) { log += x; if (x === 2) break }\n"
        "const o = { valueOf() { log += 'v'; return 3 }, get y() { return this * 2 } };\n"
        "const { y, ...rest } = { ...o, z: o + 1 };\n"
        "const p = [3, 1, 2]; const [q, ...r] = p;\n"
        "await (async () => { try { await Promise.reject(new B().m) }"
        "                     catch (e) { log += e } })();\n"
        "return [log, y, rest.z, q, r, `${o}`, A.s, o > 2, 5 in p]";
    char wanted[512] = "";
    for (uint64_t step = 0; step < 3; step++) {
        Run run;
        FlowLimits limits = FLOW_LIMITS_DEFAULT;
        if (step) limits.instructions_per_turn = step;
        limits.is_exact = step != 0;
        run_begin_limited(&run, source, NULL, limits);
        assert_int_equal(run_turn(&run), FLOW_COMPLETED);
        char text[512];
        snprintf(text, sizeof text, "%.*s", STR_ARG(run.result.result_json));
        if (step == 0) memcpy(wanted, text, sizeof wanted);
        assert_string_equal(text, wanted);
        run_end(&run);
    }
}

static void a_parked_run_is_small(void **state) {
    (void)state;
    static const char source[] =
        "const { orderId, items } = Inputs\n"
        "const total = items.reduce((sum, i) => sum + i.price * i.qty, 0)\n"
        "const charge = await Task.run('charge', { orderId, total })\n"
        "await Promise.all(items.map(async i => { await Task.run('reserve', i) }))\n"
        "return { status: 'done', total }";
    Run run;
    run_begin(&run, source,
              "{\"orderId\":\"o-1\",\"items\":[{\"price\":2,\"qty\":3},{\"price\":5,\"qty\":1}]}");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    flow_vm_park(run.vm);
    FlowVmStats stats;
    flow_vm_stats(run.vm, &stats);
    assert_true(stats.total_bytes < 16 << 10);
    run_settle(&run, 1, "{}");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    flow_vm_park(run.vm);
    run_settle(&run, 2, "1");
    run_settle(&run, 3, "1");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    run_end(&run);
}

static void a_promise_that_never_settles_is_reported_as_stuck(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "await new Promise(() => {})", NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_true(run.result.is_stuck);
    run_end(&run);
}

// ---- conditions ----

static void looking_check(FlowHost *base, const FlowCheck *check) {
    static const char *const words[] = {"invariant", "always", "eventually"};
    test_host_line((TestHost *)base, words[check->kind], check->name,
                   check->is_true ? STR("true") : STR("false"));
}

static const FlowHostOps looking_ops = {
    .start = test_host_start,
    .effect = test_host_effect,
    .now_ms = test_host_now,
    .check = looking_check,
};

static const char conditions[] = "let n = 0\n"
                                 "Invariant('begun', n === 0)\n"
                                 "Always('small', () => n < 2)\n"
                                 "Eventually('one', () => n === 1)\n"
                                 "Always('broken', () => n.x.y)\n"
                                 "await Timer.delay(1)\n"
                                 "n++\n"
                                 "await Timer.delay(1)\n"
                                 "n++\n"
                                 "return n";

static void conditions_nobody_looks_at_keep_nothing(void **state) {
    (void)state;
    Run run;
    FlowVmStats stats;
    run_begin(&run, conditions, NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    flow_vm_stats(run.vm, &stats);
    assert_int_equal(stats.awaitable_count, 1); // the timer
    run_settle(&run, 1, "null");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    run_settle(&run, 2, "null");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_string_equal(run.host.log, "timer - 1000 -1\ntimer - 1000 -1\n");
    run_end(&run);
}

static uint32_t only_wait(const Run *run) {
    assert_int_equal(run->result.wait_count, 1); // what the host is to settle
    return run->result.waits[0].id;
}

static void conditions_are_looked_at_at_every_wait_and_at_the_end(void **state) {
    (void)state;
    Run run;
    run_begin(&run, conditions, NULL);
    run.host.base.ops = &looking_ops;
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_string_equal(run.host.log, "invariant begun true\n"
                                      "always small true\neventually one false\n"
                                      "always broken false\ntimer - 1000 -1\n"
                                      "always small true\neventually one false\n"
                                      "always broken false\n");
    run.host.log[0] = 0;
    run_settle(&run, only_wait(&run), "null");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_string_equal(run.host.log, "timer - 1000 -1\nalways small true\neventually one true\n"
                                      "always broken false\n");
    run.host.log[0] = 0;
    run_settle(&run, only_wait(&run), "null");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_string_equal(run.host.log, "always small false\nalways broken false\n");
    assert_str_equal(run.result.result_json, "2");
    run_end(&run);
}

static void conditions_survive_a_snapshot_and_a_cancellation(void **state) {
    (void)state;
    Run run;
    Diag diag;
    Buf bytes;
    run_begin(&run,
              "let n = 0\nAlways('zero', () => n === 0)\n"
              "try { await Timer.delay(1) } finally { n = 1 }",
              NULL);
    run.host.base.ops = &looking_ops;
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    buf_init(&bytes, 1 << 20);
    assert_int_equal(flow_snapshot_write(run.vm, &bytes, &diag), OK);
    flow_vm_free(run.vm);
    FlowVmOptions options = {
        .module = run.module, .host = &run.host.base, .limits = FLOW_LIMITS_DEFAULT};
    assert_int_equal(flow_snapshot_read(buf_str(&bytes), &options, &run.vm, &diag), OK);
    buf_done(&bytes);
    run.host.log[0] = 0;
    flow_vm_cancel(run.vm, STR("enough"));
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    assert_str_equal(run.result.failure.name, "CancelledError");
    assert_string_equal(run.host.log, "always zero false\n");
    run_end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_nobody_looks_at_keep_nothing),
        cmocka_unit_test(conditions_are_looked_at_at_every_wait_and_at_the_end),
        cmocka_unit_test(conditions_survive_a_snapshot_and_a_cancellation),
        cmocka_unit_test(a_program_completes_with_its_value),
        cmocka_unit_test(an_uncaught_error_fails_the_run_with_its_place),
        cmocka_unit_test(a_task_parks_the_run_until_it_is_settled),
        cmocka_unit_test(a_task_nobody_awaits_is_fire_and_forget),
        cmocka_unit_test(a_failed_task_rejects_with_its_details),
        cmocka_unit_test(settling_twice_is_refused),
        cmocka_unit_test(a_refused_start_throws_in_the_script),
        cmocka_unit_test(timers_take_durations_as_people_write_them),
        cmocka_unit_test(the_first_in_time_wins_a_race),
        cmocka_unit_test(an_error_that_leaves_as_data_keeps_name_message_and_cause),
        cmocka_unit_test(errors_of_every_class_become_data),
        cmocka_unit_test(a_failure_keeps_the_names_of_its_causes),
        cmocka_unit_test(an_item_id_equals_its_handle),
        cmocka_unit_test(cancellation_surfaces_at_the_await_and_finally_runs),
        cmocka_unit_test(continue_as_ends_the_incarnation_at_once),
        cmocka_unit_test(effects_reach_the_host_in_order),
        cmocka_unit_test(an_endless_loop_is_preempted_each_turn),
        cmocka_unit_test(deep_recursion_is_a_range_error),
        cmocka_unit_test(the_heap_budget_is_a_script_error),
        cmocka_unit_test(stopping_at_every_instruction_changes_nothing),
        cmocka_unit_test(a_parked_run_is_small),
        cmocka_unit_test(a_promise_that_never_settles_is_reported_as_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
