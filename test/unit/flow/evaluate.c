// Expressions where a run stands: what names mean, what is refused, and that nothing changes.
#include "flow/evaluate.h"
#include "base/array.h"
#include "base/containers/buf.h"
#include "unit/flow/vm.h"

enum { BUDGET = 100000, JSON_MAX = 1 << 16 };

static const char source[] =
    "const limit = 100;\n"
    "let seen = [];\n"
    "class Account {\n"
    "  #secret = 7; constructor(n) { this.n = n; }\n"
    "  get twice() { return this.n * 2; } }\n"
    "async function pay(order, tries) {\n"
    "  const account = new Account(order.total);\n"
    "  for (let i = 0; i < 3; i++) {\n"
    "    const tries = i + 40;\n"
    "    const answer = await Task.run('charge', { total: order.total });\n"
    "    seen.push(answer);\n"
    "  }\n"
    "  return account;\n"
    "}\n"
    "const order = Inputs;\n"
    "const tags = new Map([['a', 1], ['b', 2]]);\n"
    "const when = new Date(86400000);\n"
    "const document = { title: 'größe' };\n"
    "const check = x => x > limit;\n"
    "const done = await pay(order, 3);\n"
    "return [done.n, seen, order, tags.size, when.toISOString(), document, check(1)];\n";
static const char input[] =
    "{\"id\":\"o-1\",\"total\":120.5,"
    "\"items\":[{\"sku\":\"x\",\"price\":50},{\"sku\":\"y\",\"price\":70.5}]}";

static void begin(Run *run) {
    run_begin(run, source, input);
    assert_int_equal(run_turn(run), FLOW_PARKED);
}

// The value as JSON, or "CODE" of why there is none.
static void evaluate(Run *run, const char *text, uint32_t frame, char ret[JSON_MAX]) {
    Diag diag = {0};
    FlowExpression *expression = NULL;
    Buf json;
    buf_init(&json, JSON_MAX - 1);
    Status status = flow_expression_parse(str_from(text), &expression, &diag);
    FlowEvaluation at = {run->vm, frame, BUDGET};
    if (status == OK) status = flow_expression_evaluate(expression, &at, &json, &diag);
    if (status != OK) snprintf(ret, JSON_MAX, "%s: %s", diag.code, diag.message);
    else snprintf(ret, JSON_MAX, "%.*s", (int)json.len, json.data);
    bool is_true = false;
    if (status == OK) assert_int_equal(flow_expression_test(expression, &at, &is_true, &diag), OK);
    flow_expression_free(expression);
    buf_done(&json);
}

typedef struct Case {
    const char *text;
    uint32_t frame;
    const char *answer;
} Case;

static void names_mean_what_they_mean_at_the_place(void **state) {
    (void)state;
    static const Case cases[] = {
        {"i", 0, "0"},
        {"tries", 0, "40"}, // the inner one hides the parameter
        {"order.total", 0, "120.5"},
        {"limit", 0, "100"}, // top level
        {"order.items.some(i => i.price > limit - 40)", 0, "true"},
        {"order.items.map(({ sku, price = 1 }) => sku + price)", 0, "[\"x50\",\"y70.5\"]"},
        {"order.items.reduce((a, b) => a + b.price, 0)", 0, "120.5"},
        {"order.total > limit && seen.length === 0", 0, "true"},
        {"account.twice", 0, "241"}, // an accessor of the script
        {"check(order.total)", 0, "true"},
        {"document.title.toUpperCase()", 0, "\"GRÖSSE\""},
        {"[...tags.keys()].join()", 0, "\"a,b\""},
        {"tags.get('b')", 0, "2"},
        {"when", 0, "\"1970-01-02T00:00:00.000Z\""},
        {"JSON.parse('{\"total\":1}').total + Math.max(1, 2)", 0, "3"},
        {"`${order.id}!`", 0, "\"o-1!\""},
        {"/^o-\\d$/.test(order.id)", 0, "true"},
        {"order?.missing?.deep ?? 'none'", 0, "\"none\""},
        {"({ a: order.id, ['b']: [limit] })", 0, "{\"a\":\"o-1\",\"b\":[100]}"},
        {"Inputs.id", 0, "\"o-1\""},
        {"Context.runId", 0, "\"r1\""},
        {"typeof nothing", 0, "\"undefined\""},
        {"undefined", 0, "null"},
        {"check", 0, "null"},
        {"'total' in order", 0, "true"},
        {"order['to' + 'tal']", 0, "120.5"},
        {"x => { const y = x; if (y) return 1; return 2 }", 0, "null"},
        {"(x => { const y = x; if (y) return 1; return 2 })(0)", 0, "2"},
        {"document.title", 1, "\"größe\""},
        {"order.id", 1, "\"o-1\""},
    };
    Run run;
    begin(&run);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char answer[JSON_MAX];
        evaluate(&run, cases[i].text, cases[i].frame, answer);
        if (strcmp(answer, cases[i].answer) != 0) {
            fail_msg("%s: %s, not %s", cases[i].text, answer, cases[i].answer);
        }
    }
    run_end(&run);
}

static void what_does_more_than_read_is_refused(void **state) {
    (void)state;
    static const Case cases[] = {
        {"i = 5", 0,
         "EXPRESSION_REFUSED: an expression only reads: at line 1, column 1 stands an assignment"},
        {"order.total += 5", 0, "EXPRESSION_REFUSED"},
        {"i++", 0, "EXPRESSION_REFUSED"},
        {"delete order.total", 0, "EXPRESSION_REFUSED"},
        {"await x", 0,
         "EXPRESSION_REFUSED: an expression only reads: at line 1, column 1 stands await"},
        {"Task.run('charge')", 0, "EXPRESSION_REFUSED"},
        {"console.log(1)", 0, "EXPRESSION_REFUSED"},
        {"[1].map(x => Event.emit('a'))", 0, "EXPRESSION_REFUSED"},
        {"(async () => 1)()", 0, "EXPRESSION_REFUSED"},
        {"order.items.push(1)", 0, "EXPRESSION_REFUSED"},
        {"[1].forEach(order.items['pu' + 'sh'], order.items)", 0, "EXPRESSION_REFUSED"},
        {"tags.delete('a')", 0, "EXPRESSION_REFUSED"},
        {"when.setTime(0)", 0, "EXPRESSION_REFUSED"},
        {"Object.assign(order, { total: 1 })", 0, "EXPRESSION_REFUSED"},
        {"Object.freeze(order)", 0, "EXPRESSION_REFUSED"},
        {"pay(order, 1)", 0, "EXPRESSION_REFUSED"},
        {"Math.random() < 2", 0, "EXPRESSION_FAILED"},
        {"globalThis.Task.run('charge')", 0, "EXPRESSION_FAILED"},
        {"globalThis.State.set('a', 1)", 0, "EXPRESSION_FAILED"},
        {"class A {}", 0, "EXPRESSION_INVALID"},
        {"order.total; 1", 0, "EXPRESSION_INVALID"},
        {"order.total;", 0, "EXPRESSION_INVALID"},
        {"1), (2", 0, "EXPRESSION_INVALID"},
        {"%isCallable(1)", 0, "EXPRESSION_REFUSED"},
        {"", 0, "EXPRESSION_INVALID"},
        {"order.", 0, "EXPRESSION_INVALID"},
        {"window.x", 0, "EXPRESSION_INVALID"},
        {"missing.x", 0, "EXPRESSION_FAILED: ReferenceError: missing is not defined"},
        {"answer", 0, "EXPRESSION_FAILED"}, // not initialised yet
        {"order.a.b", 0,
         "EXPRESSION_FAILED: TypeError: Cannot read properties of undefined (reading 'b')"},
        {"order.id", 2, "EXPRESSION_NO_FRAME"},
        {"'x'.repeat(1e9)", 0, "EXPRESSION_FAILED"},
        {"(function f(n) { return n && f(n - 1) + f(n - 1) })(60)", 0, "EXPRESSION_BUDGET"},
        {"Array.from({ length: 1e9 }, (_, i) => i)", 0, "EXPRESSION_BUDGET"},
    };
    Run run;
    begin(&run);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char answer[JSON_MAX];
        evaluate(&run, cases[i].text, cases[i].frame, answer);
        if (strncmp(answer, cases[i].answer, strlen(cases[i].answer)) != 0) {
            fail_msg("%s: %s, not %s", cases[i].text, answer, cases[i].answer);
        }
    }
    run_end(&run);
}

static void the_run_goes_on_as_if_nobody_had_asked(void **state) {
    (void)state;
    Run run;
    begin(&run);
    Buf before;
    Buf after;
    Diag diag = {0};
    buf_init(&before, 1 << 20);
    buf_init(&after, 1 << 20);
    assert_int_equal(flow_snapshot_write(run.vm, &before, &diag), OK);
    static const char *const texts[] = {"order.items.push(1)", "seen.length",
                                        "tags.clear()",        "Context",
                                        "pay(order)",          "'x' + limit"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char answer[JSON_MAX];
        evaluate(&run, texts[i], 0, answer);
    }
    assert_int_equal(flow_snapshot_write(run.vm, &after, &diag), OK);
    assert_true(str_equal(buf_str(&before), buf_str(&after)));
    for (uint32_t id = 1; id <= 3; id++) {
        run_settle(&run, id, "1");
        FlowOutcome outcome = run_turn(&run);
        assert_int_equal(outcome, id < 3 ? FLOW_PARKED : FLOW_COMPLETED);
    }
    buf_done(&before);
    buf_done(&after);
    run_end(&run);
}

// Stopped anywhere, not only at an await: frames are on the stack then.
static void evaluates_between_any_two_instructions(void **state) {
    (void)state;
    FlowLimits limits = FLOW_LIMITS_DEFAULT;
    limits.instructions_per_turn = 7;
    limits.is_exact = 1;
    Run run;
    run_begin_limited(&run,
                      "function sum(list) { let total = 0; for (const item of list) total += item;"
                      " return total; }\nconst list = [1, 2, 3];\nreturn sum(list) + sum(list);",
                      NULL, limits);
    uint32_t answers = 0;
    for (;;) {
        flow_vm_run(run.vm, &run.result);
        if (run.result.outcome != FLOW_PREEMPTED) break;
        char answer[JSON_MAX];
        evaluate(&run, "list.map(x => x * 2).length + total * 0", 0, answer);
        if (strcmp(answer, "3") == 0) answers++;
        else if (strncmp(answer, "EXPRESSION_", 11) != 0) fail_msg("%s", answer);
    }
    assert_int_equal(run.result.outcome, FLOW_COMPLETED);
    assert_true(str_equal(run.result.result_json, STR("12")));
    assert_true(answers > 3);
    run_end(&run);
}

static void a_text_has_a_limit(void **state) {
    (void)state;
    static char text[FLOW_EXPRESSION_MAX + 1];
    memset(text, 'x', sizeof text);
    Diag diag = {0};
    FlowExpression *expression = NULL;
    assert_int_equal(flow_expression_parse((Str){text, sizeof text}, &expression, &diag),
                     ERR_INVALID);
    assert_string_equal(diag.code, "EXPRESSION_INVALID");
}

static void every_branch_of_a_wait_is_a_frame(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "async function leg(n) { const mine = n; await Task.run('t' + n); return mine; }\n"
              "return await Promise.all([leg(1), leg(2)])",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    char answer[JSON_MAX];
    evaluate(&run, "mine", 0, answer);
    assert_string_equal(answer, "1");
    evaluate(&run, "typeof mine", 1, answer);
    assert_string_equal(answer, "\"undefined\"");
    evaluate(&run, "mine", 2, answer);
    assert_string_equal(answer, "2");
    run_end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_mean_what_they_mean_at_the_place),
        cmocka_unit_test(what_does_more_than_read_is_refused),
        cmocka_unit_test(the_run_goes_on_as_if_nobody_had_asked),
        cmocka_unit_test(evaluates_between_any_two_instructions),
        cmocka_unit_test(a_text_has_a_limit),
        cmocka_unit_test(every_branch_of_a_wait_is_a_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
