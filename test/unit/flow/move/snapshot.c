// Moving a parked run to another version of its script: what can move goes on as the new version
// would have, what cannot is refused with a reason, and damaged bytes change nothing.
#include "flow/move/move.h"
#include "unit/flow/vm.h"

enum { BYTES_MAX = 16 << 20 };

static FlowModule *compile(const char *source) {
    FlowModule *module = NULL;
    Diag diag = {0};
    if (flow_compile(STR("test.flow"), str_from(source), &module, NULL, &diag) != OK)
        fail_msg("%s", diag.message);
    return module;
}

static void park(Run *run, uint32_t answers) {
    assert_int_equal(run_turn(run), FLOW_PARKED);
    for (uint32_t i = 0; i < answers; i++) {
        run_settle(run, run->result.waits[0].id, "{\"amount\":10}");
        assert_int_equal(run_turn(run), FLOW_PARKED);
    }
}

// Parks `old` after some answers, moves it to `new`, and leaves it in `run`.
static Status move_run(Run *run, const char *old, const char *new, uint32_t answers, Diag *diag) {
    run_begin(run, old, "{\"items\":[1,2,3],\"rate\":2}");
    park(run, answers);
    Buf bytes;
    Buf moved;
    buf_init(&bytes, BYTES_MAX);
    buf_init(&moved, BYTES_MAX);
    assert_int_equal(flow_snapshot_write(run->vm, &bytes, diag), OK);
    FlowModule *to = compile(new);
    FlowMove *move = flow_move_new(run->module, to);
    Status status = flow_move_snapshot(move, buf_str(&bytes), FLOW_LIMITS_DEFAULT, &moved, diag);
    assert_int_equal(status, flow_move_snapshot(move, buf_str(&bytes), FLOW_LIMITS_DEFAULT, NULL,
                                                diag)); // the question alone
    flow_move_free(move);
    if (status == OK) {
        FlowVmOptions options = {
            .module = to, .host = &run->host.base, .limits = FLOW_LIMITS_DEFAULT};
        flow_vm_free(run->vm);
        run->vm = NULL;
        assert_int_equal(flow_snapshot_read(buf_str(&moved), &options, &run->vm, diag), OK);
    }
    flow_module_release(run->module);
    run->module = to;
    buf_done(&bytes);
    buf_done(&moved);
    return status;
}

static void assert_moves(const char *old, const char *new, uint32_t answers, const char *json) {
    Run run;
    Diag diag = {0};
    if (move_run(&run, old, new, answers, &diag) != OK) fail_msg("%s", diag.message);
    while (run_turn(&run) == FLOW_PARKED) {
        if (run.result.wait_count == 0) fail_msg("stuck");
        run_settle(&run, run.result.waits[0].id, "{\"amount\":10}");
    }
    if (run.result.outcome != FLOW_COMPLETED) fail_msg("%.*s", STR_ARG(run.result.failure.stack));
    assert_str_equal(run.result.result_json, json);
    run_end(&run);
}

static void assert_refused(const char *old, const char *new, uint32_t answers, const char *reason) {
    Run run;
    Diag diag = {0};
    assert_int_equal(move_run(&run, old, new, answers, &diag), ERR_CONFLICT);
    assert_string_equal(diag.code, "MOVE_REFUSED");
    if (!strstr(diag.message, reason)) fail_msg("%s", diag.message);
    run_end(&run);
}

#define WORKFLOW(body) "workflow order(input) {\n" body "\n}\n"
#define CHARGE         "const r = await Task.run('charge', { id: 1 });\n"

static void a_line_after_the_place_runs(void **state) {
    (void)state;
    assert_moves(WORKFLOW("let total = 1;\n" CHARGE "return total + r.amount;"),
                 WORKFLOW("let total = 1;\n" CHARGE "total *= 2;\nreturn total + r.amount;"), 0,
                 "12");
}

static void a_changed_option_is_the_same_place(void **state) {
    (void)state;
    assert_moves(WORKFLOW(CHARGE "return r.amount;"),
                 WORKFLOW("const r = await Task.run('charge', { id: 2 }, { timeout: '5m' });\n"
                          "return r.amount + 1;"),
                 0, "11");
}

static void a_loop_keeps_its_iterator(void **state) {
    (void)state;
    const char *old = WORKFLOW("let sum = 0;\nfor (const i of input.items) {\n" CHARGE
                               "sum += i * r.amount; }\nreturn sum;");
    const char *new = WORKFLOW("let sum = 0;\n// new\nfor (const i of input.items) {\n" CHARGE
                               "if (i > 2) sum += 100;\nsum += i * r.amount; }\nreturn sum;");
    assert_moves(old, new, 0, "160");
    assert_moves(old, new, 2, "160");
}

static void a_helper_can_be_added_renamed_and_removed(void **state) {
    (void)state;
    const char *old =
        "function fee(x) { return x * 2; }\n" WORKFLOW(CHARGE "return fee(r.amount);");
    assert_moves(old,
                 "function cost(x) { return x * 2; }\n" WORKFLOW(CHARGE "return cost(r.amount);"),
                 0, "20");
    assert_moves(
        old,
        "function fee(x) { return extra(x) * 2; }\nfunction extra(x) { return x + 1; }\n" WORKFLOW(
            CHARGE "return fee(r.amount) + extra(1);"),
        0, "24");
    assert_moves(old, WORKFLOW(CHARGE "return r.amount * 3;"), 0, "30");
    assert_moves(old,
                 "const factor = 5;\nfunction fee(x) { return x * factor; }\n" WORKFLOW(
                     CHARGE "return fee(r.amount);"),
                 0, "50");
}

static void a_variable_can_become_captured(void **state) {
    (void)state;
    assert_moves(WORKFLOW("let total = 3;\n" CHARGE "total += r.amount;\nreturn total;"),
                 WORKFLOW("let total = 3;\n" CHARGE
                          "const add = (x) => { total += x; };\nadd(r.amount);\nreturn total;"),
                 0, "13");
    assert_moves(WORKFLOW("let total = 3;\nconst add = (x) => { total += x; };\n" CHARGE
                          "add(r.amount);\nreturn total;"),
                 WORKFLOW("let total = 3;\n" CHARGE "return total + r.amount;"), 0, "13");
}

static void functions_in_flight_move(void **state) {
    (void)state;
    assert_moves(
        WORKFLOW("const bonus = 1;\nconst all = await Promise.all(input.items.map(async (i) => {\n"
                 "const r = await Task.run('one', i);\nreturn r.amount * i;\n}));\nreturn all;"),
        WORKFLOW("const bonus = 1;\nconst all = await Promise.all(input.items.map(async (i) => {\n"
                 "const r = await Task.run('one', i);\nreturn r.amount * i + bonus;\n}));\n"
                 "return all;"),
        1, "[10,21,31]");
}

static void a_branch_or_a_try_around_it_is_fine(void **state) {
    (void)state;
    assert_moves(WORKFLOW(CHARGE "return r.amount;"),
                 WORKFLOW("let r;\nif (input.rate) {\nr = await Task.run('charge', { id: 1 });\n}\n"
                          "return r.amount;"),
                 0, "10");
    assert_moves(WORKFLOW("let x = 1;\nx = await Task.run('charge', { id: 1 });\nreturn x;"),
                 WORKFLOW("let x = 1;\ntry {\nx = await Task.run('charge', { id: 1 });\n} finally "
                          "{ console.log('end'); }\nreturn x;"),
                 0, "{\"amount\":10}");
}

static void a_label_names_the_place(void **state) {
    (void)state;
    assert_moves(WORKFLOW("await Timer.delay('1h'); // @label wait\nreturn 1;"),
                 WORKFLOW("await Timer.delay('1h');\n// @label wait\nawait Timer.delay('2h');\n"
                          "return 2;"),
                 0, "2");
    assert_refused(WORKFLOW("await Timer.delay('1h'); // @label wait\nreturn 1;"),
                   WORKFLOW("await Timer.delay('1h');\nreturn 2;"), 0, "label");
}

static void a_new_variable_needs_a_value(void **state) {
    (void)state;
    assert_moves(WORKFLOW(CHARGE "return r.amount;"),
                 WORKFLOW("const limit = 7;\n" CHARGE "return r.amount + limit;"), 0, "17");
    assert_refused(WORKFLOW(CHARGE "return r.amount;"),
                   WORKFLOW("const limit = input.rate;\n" CHARGE "return r.amount + limit;"), 0,
                   "`limit` is new");
    assert_refused(
        WORKFLOW("let total = 1;\n" CHARGE "return total;"),
        WORKFLOW("const show = () => total;\n" CHARGE "let total = r.amount;\nreturn show();"), 0,
        "");
    assert_refused(WORKFLOW(CHARGE "const total = input.rate;\nreturn total;"),
                   WORKFLOW("const total = input.rate;\n" CHARGE "return total;"), 0, "`total`");
}

static void what_is_gone_is_refused(void **state) {
    (void)state;
    assert_refused(WORKFLOW(CHARGE "return 1;"), WORKFLOW("return 2;"), 0,
                   "not in the new version");
    assert_refused(WORKFLOW(CHARGE "return 1;"),
                   WORKFLOW("const r = await Task.run('pay', {});\nreturn 2;"), 0,
                   "not in the new version");
    assert_refused(WORKFLOW(CHARGE "return 1;"),
                   WORKFLOW("for (const x of input.items) {\n" CHARGE "}\nreturn 2;"), 0,
                   "loop around it");
    assert_refused(WORKFLOW("return 1 + input.rate * (await Task.run('charge'));"),
                   WORKFLOW("return 1 + input.items * (await Task.run('charge'));"), 0,
                   "expression");
    assert_refused(WORKFLOW(CHARGE "return 1;"), "workflow other(input) { return 1; }", 0, "");
}

static void damaged_bytes_are_refused_and_change_nothing(void **state) {
    (void)state;
    Run run;
    Diag diag = {0};
    run_begin(&run, WORKFLOW("let total = 1;\n" CHARGE "return total;"), "{\"items\":[]}");
    park(&run, 0);
    FlowModule *to = compile(WORKFLOW("let total = 1;\n" CHARGE "return total + 1;"));
    FlowMove *move = flow_move_new(run.module, to);
    Buf bytes;
    Buf moved;
    buf_init(&bytes, BYTES_MAX);
    buf_init(&moved, BYTES_MAX);
    assert_int_equal(flow_snapshot_write(run.vm, &bytes, &diag), OK);
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.data[i] = (char)(bytes.data[i] ^ 0x41);
        assert_int_not_equal(
            flow_move_snapshot(move, buf_str(&bytes), FLOW_LIMITS_DEFAULT, &moved, &diag), OK);
        assert_int_equal(moved.len, 0);
        bytes.data[i] = (char)(bytes.data[i] ^ 0x41);
    }
    for (size_t i = 0; i < bytes.len; i++) {
        Str cut = {bytes.data, i};
        assert_int_not_equal(flow_move_snapshot(move, cut, FLOW_LIMITS_DEFAULT, &moved, &diag), OK);
    }
    buf_done(&bytes);
    buf_done(&moved);
    flow_move_free(move);
    flow_module_release(to);
    run_end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_after_the_place_runs),
        cmocka_unit_test(a_changed_option_is_the_same_place),
        cmocka_unit_test(a_loop_keeps_its_iterator),
        cmocka_unit_test(a_helper_can_be_added_renamed_and_removed),
        cmocka_unit_test(a_variable_can_become_captured),
        cmocka_unit_test(functions_in_flight_move),
        cmocka_unit_test(a_branch_or_a_try_around_it_is_fine),
        cmocka_unit_test(a_label_names_the_place),
        cmocka_unit_test(a_new_variable_needs_a_value),
        cmocka_unit_test(what_is_gone_is_refused),
        cmocka_unit_test(damaged_bytes_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
