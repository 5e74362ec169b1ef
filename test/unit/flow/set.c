// Setting variables of a parked run: what can be set goes on with the new value, what cannot is
// refused with a reason, and damaged bytes change nothing.
#include "flow/set.h"
#include "unit/flow/vm.h"

enum { BYTES_MAX = 16 << 20 };

typedef struct Outcome {
    Run run;
    Buf bytes, changed, changes;
    Diag diag;
} Outcome;

static void begin(Outcome *o, const char *source) {
    o->diag = (Diag){0};
    buf_init(&o->bytes, BYTES_MAX);
    buf_init(&o->changed, BYTES_MAX);
    buf_init(&o->changes, BYTES_MAX);
    run_begin(&o->run, source, "{\"items\":[1,2,3],\"rate\":2}");
    assert_int_equal(run_turn(&o->run), FLOW_PARKED);
    assert_int_equal(flow_snapshot_write(o->run.vm, &o->bytes, &o->diag), OK);
}

static void end(Outcome *o) {
    run_end(&o->run);
    buf_done(&o->bytes);
    buf_done(&o->changed);
    buf_done(&o->changes);
}

static Status set(Outcome *o, const FlowSetValue *values, size_t count) {
    FlowSet what = {o->run.module, FLOW_LIMITS_DEFAULT, values, count};
    return flow_set_snapshot(&what, buf_str(&o->bytes), &o->changed, &o->changes, &o->diag);
}

static void go_on(Outcome *o) {
    FlowVmOptions options = {
        .module = o->run.module, .host = &o->run.host.base, .limits = FLOW_LIMITS_DEFAULT};
    flow_vm_free(o->run.vm);
    o->run.vm = NULL;
    assert_int_equal(flow_snapshot_read(buf_str(&o->changed), &options, &o->run.vm, &o->diag), OK);
    while (run_turn(&o->run) == FLOW_PARKED)
        run_settle(&o->run, o->run.result.waits[0].id, "{\"amount\":10}");
}

static void assert_sets(const char *source, const char *path, const char *json,
                        const char *result) {
    Outcome o;
    FlowSetValue value = {str_from(path), str_from(json)};
    begin(&o, source);
    if (set(&o, &value, 1) != OK) fail_msg("%s", o.diag.message);
    go_on(&o);
    if (o.run.result.outcome != FLOW_COMPLETED)
        fail_msg("%.*s", STR_ARG(o.run.result.failure.stack));
    assert_str_equal(o.run.result.result_json, result);
    end(&o);
}

static void assert_code(const char *source, const char *path, const char *code,
                        const char *reason) {
    Outcome o;
    FlowSetValue value = {str_from(path), STR("7")};
    begin(&o, source);
    assert_true(set(&o, &value, 1) != OK);
    assert_string_equal(o.diag.code, code);
    if (!strstr(o.diag.message, reason)) fail_msg("%s", o.diag.message);
    assert_int_equal(o.changed.len, 0);
    end(&o);
}
static void assert_refused(const char *source, const char *path, const char *reason) {
    assert_code(source, path, "SET_REFUSED", reason);
}

#define WORKFLOW(body) "workflow order(input) {\n" body "\n}\n"
#define WAIT           "await Task.run('charge', 1);\n"

static void variables_of_every_kind_get_the_value(void **state) {
    (void)state;
    assert_sets(WORKFLOW("let total = 1;\n" WAIT "return total;"), "total", "{\"a\":[1,\"b\"]}",
                "{\"a\":[1,\"b\"]}");
    assert_sets(WORKFLOW("var total = undefined;\n" WAIT "return total;"), "total", "null", "null");
    assert_sets(WORKFLOW(WAIT "return input;"), "input", "5", "5");
    assert_sets(WORKFLOW("let n = 1n;\n" WAIT "return n;"), "n", "5", "5");
    assert_sets(WORKFLOW("let r = 0; try { throw 3; } catch (e) { " WAIT "r = e; } return r;"), "e",
                "4", "4");
}

static void inner_functions_see_the_value(void **state) {
    (void)state;
    assert_sets(WORKFLOW("let n = 1; const add = () => n += 1; add();\n" WAIT "return add();"), "n",
                "10", "11");
    // of the function that waits, of one around it, of the top level
    const char *nested = "let top = 1;\n"
                         "workflow order(input) {\n"
                         "  let mine = 1; const inc = () => { mine++; top++; };\n"
                         "  const inner = async () => { inc(); " WAIT " return [mine, top]; };\n"
                         "  return await inner();\n}\n";
    assert_sets(nested, "mine", "10", "[10,2]");
    assert_sets(nested, "top", "10", "[2,10]");
}

static void the_innermost_variable_of_a_name_is_meant(void **state) {
    (void)state;
    assert_sets(WORKFLOW("let n = 1; let r; { let n = 2; " WAIT "r = n; } return [n, r];"), "n",
                "9", "[1,9]");
}

static void what_is_inside_values_is_set(void **state) {
    (void)state;
    const char *source =
        WORKFLOW("const o = { a: [{ p: 1 }, 2], 'b c': 3 }; const m = new Map([['k', 1]]);\n" WAIT
                 "return [o, [...m]];");
    assert_sets(source, "o.a[0].p", "4", "[{\"a\":[{\"p\":4},2],\"b c\":3},[[\"k\",1]]]");
    assert_sets(source, "o.a[1]", "[]", "[{\"a\":[{\"p\":1},[]],\"b c\":3},[[\"k\",1]]]");
    assert_sets(source, "o.a[2]", "9", "[{\"a\":[{\"p\":1},2,9],\"b c\":3},[[\"k\",1]]]");
    assert_sets(source, "o[\"b c\"]", "9", "[{\"a\":[{\"p\":1},2],\"b c\":9},[[\"k\",1]]]");
    assert_sets(source, "o.x", "9", "[{\"a\":[{\"p\":1},2],\"b c\":3,\"x\":9},[[\"k\",1]]]");
    assert_sets(source, "m.k", "9", "[{\"a\":[{\"p\":1},2],\"b c\":3},[[\"k\",9]]]");
    assert_sets(source, "m[\"n\"]", "9", "[{\"a\":[{\"p\":1},2],\"b c\":3},[[\"k\",1],[\"n\",9]]]");
}

static void a_property_hides_the_prototype_and_does_not_change_it(void **state) {
    (void)state;
    assert_sets(WORKFLOW("const o = {};\n" WAIT "return [o.toString, {}.toString === o.toString];"),
                "o.toString", "1", "[1,false]");
    assert_sets(WORKFLOW("const o = {};\n" WAIT "return ({}).polluted === undefined;"),
                "o.__proto__", "{\"polluted\":1}", "true");
}

static void constants_are_refused(void **state) {
    (void)state;
    assert_refused(WORKFLOW("const n = 1;\n" WAIT "return n;"), "n", "constant");
    assert_refused(WORKFLOW("const f = () => n; const n = 1;\n" WAIT "return f();"), "n",
                   "constant");
    assert_refused(WORKFLOW("let n = 1; const f = () => n;\n" WAIT "return f();"), "n", "constant");
}

static void what_is_no_plain_data_is_refused(void **state) {
    (void)state;
    assert_refused(WORKFLOW("let f = () => 1;\n" WAIT "return f;"), "f", "no plain data");
    assert_refused(WORKFLOW("let p = Promise.resolve(1);\n" WAIT "return p;"), "p",
                   "no plain data");
    assert_refused(WORKFLOW("let o = { a: [{ f() {} }] };\n" WAIT "return o;"), "o", "holds");
    assert_refused(WORKFLOW("let m = new Map();\n" WAIT "return m;"), "m", "no plain data");
    assert_refused(WORKFLOW("let d = new Date(0);\n" WAIT "return d;"), "d", "no plain data");
    assert_refused("class A { x = 1 }\n" WORKFLOW("let a = new A();\n" WAIT "return a;"), "a",
                   "no plain data");
    assert_refused("class A { x = 1 }\n" WORKFLOW("let a = new A();\n" WAIT "return a;"), "a.x",
                   "inside");
    assert_refused(WORKFLOW("const s = new Set([1]);\n" WAIT "return s;"), "s.x", "inside");
    assert_refused(WORKFLOW("let o = { get x() { return 1; } };\n" WAIT "return o;"), "o.x",
                   "accessor");
    assert_refused(WORKFLOW("let o = Object.freeze({ x: 1 });\n" WAIT "return o;"), "o.x",
                   "frozen");
    assert_refused(WORKFLOW("let o = Object.freeze({ x: 1 });\n" WAIT "return o;"), "o.y",
                   "no new properties");
    assert_refused(WORKFLOW("let a = Object.freeze([1]);\n" WAIT "return a;"), "a[0]", "frozen");
    assert_refused(WORKFLOW("let m = Math;\n" WAIT "return m;"), "m.PI", "inside");
    assert_refused(WORKFLOW(WAIT "let late = 1; return () => late;"), "late", "no value yet");
}

static void cycles_are_plain_data(void **state) {
    (void)state;
    assert_sets(WORKFLOW("let o = {}; o.o = o;\n" WAIT "return o;"), "o", "1", "1");
}

static void what_is_not_there_is_not_made(void **state) {
    (void)state;
    const char *source = WORKFLOW("const o = { a: [1], t: 'text' };\n" WAIT "return o;");
    assert_code(source, "none", "VARIABLE_NOT_FOUND", "no none");
    assert_code(source, "o.b.c", "VARIABLE_NOT_FOUND", "o.b.c");
    assert_code(source, "o.a[2]", "VARIABLE_NOT_FOUND", "next index");
    assert_code(source, "o.a.length", "VARIABLE_NOT_FOUND", "o.a.length");
    assert_code(source, "o.t.x", "VARIABLE_NOT_FOUND", "o.t.x");
    assert_code(source, "o[0]", "VARIABLE_NOT_FOUND", "o[0]");
    assert_code(source, "Math.PI", "VARIABLE_NOT_FOUND", "Math.PI");
    assert_code(source, "o..a", "BAD_PATH", "character");
}

static void all_values_are_set_or_none(void **state) {
    (void)state;
    Outcome o;
    const FlowSetValue good[] = {{STR("a"), STR("{\"x\":1}")}, {STR("a.x"), STR("\"two\"")}};
    const FlowSetValue bad[] = {{STR("a"), STR("1")}, {STR("b"), STR("2")}};
    const char *source = WORKFLOW("let a = 'é'; const b = 2;\n" WAIT "return a;");
    begin(&o, source);
    assert_true(set(&o, bad, 2) != OK);
    assert_int_equal(o.changed.len, 0);
    buf_clear(&o.changes);
    assert_int_equal(set(&o, good, 2), OK);
    assert_str_equal(buf_str(&o.changes),
                     "[{\"path\":\"a\",\"old\":\"\\\"é\\\"\",\"new\":\"{\\\"x\\\":1}\"},"
                     "{\"path\":\"a.x\",\"old\":\"1\",\"new\":\"\\\"two\\\"\"}]");
    go_on(&o);
    assert_str_equal(o.run.result.result_json, "{\"x\":\"two\"}");
    end(&o);
}

static void damaged_bytes_are_refused_and_nothing_is_written(void **state) {
    (void)state;
    Outcome o;
    const FlowSetValue value = {STR("a"), STR("1")};
    begin(&o, WORKFLOW("let a = { b: [1, 2] };\n" WAIT "return a;"));
    for (size_t at = 0; at < o.bytes.len; at++) {
        o.bytes.data[at] ^= 0x55;
        assert_true(set(&o, &value, 1) != OK);
        assert_int_equal(o.changed.len, 0);
        o.bytes.data[at] ^= 0x55;
    }
    size_t whole = o.bytes.len;
    for (o.bytes.len = 0; o.bytes.len < whole; o.bytes.len++) assert_true(set(&o, &value, 1) != OK);
    o.bytes.len = whole;
    end(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_every_kind_get_the_value),
        cmocka_unit_test(inner_functions_see_the_value),
        cmocka_unit_test(the_innermost_variable_of_a_name_is_meant),
        cmocka_unit_test(what_is_inside_values_is_set),
        cmocka_unit_test(a_property_hides_the_prototype_and_does_not_change_it),
        cmocka_unit_test(constants_are_refused),
        cmocka_unit_test(what_is_no_plain_data_is_refused),
        cmocka_unit_test(cycles_are_plain_data),
        cmocka_unit_test(what_is_not_there_is_not_made),
        cmocka_unit_test(all_values_are_set_or_none),
        cmocka_unit_test(damaged_bytes_are_refused_and_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
