// The compiler: which code it chooses, what it does with very large functions, and its tables.
// Whether programs mean the right thing is tested beside Node (test/flow).
#include "flow/code/code.h"
#include "flow/code/disasm.h"
#include "unit/flow/vm.h"

typedef struct Listing {
    FlowModule *module;
    Buf text;
} Listing;

static void listing_begin(Listing *listing, const char *source) {
    Diag diag = {0};
    Status status = flow_compile(STR("test.flow"), str_from(source), &listing->module, NULL, &diag);
    if (status != OK) fail_msg("%s", diag.message);
    buf_init(&listing->text, 1 << 28);
    flow_disassemble(listing->module, &listing->text);
}

static void listing_end(Listing *listing) {
    buf_done(&listing->text);
    flow_module_release(listing->module);
}

static void assert_code_has(const char *source, const char *wanted) {
    Listing listing;
    listing_begin(&listing, source);
    if (!strstr(buf_cstr(&listing.text), wanted))
        fail_msg("no %s in\n%s", wanted, buf_cstr(&listing.text));
    listing_end(&listing);
}

static void assert_code_lacks(const char *source, const char *unwanted) {
    Listing listing;
    listing_begin(&listing, source);
    if (strstr(buf_cstr(&listing.text), unwanted))
        fail_msg("%s in\n%s", unwanted, buf_cstr(&listing.text));
    listing_end(&listing);
}

// `count` copies of `piece` between `head` and `tail`; mem_free the answer.
static char *repeated(const char *head, const char *piece, size_t count, const char *tail) {
    Buf text;
    buf_init(&text, 1 << 28);
    buf_append_cstr(&text, head);
    for (size_t i = 0; i < count; i++) buf_append_cstr(&text, piece);
    buf_append_cstr(&text, tail);
    return (char *)(uintptr_t)buf_cstr(&text);
}

static void assert_repeated(const char *const parts[3], size_t count, const char *json) {
    char *source = repeated(parts[0], parts[1], count, parts[2]);
    assert_flow(source, json);
    free(source);
}

// --- which code
static void literals_are_folded(void **state) {
    (void)state;
    assert_code_has("return 60 * 60 * 24", "LOAD_INT             r3 86400");
    assert_code_has("return -(1 + 2)", "LOAD_INT             r3 -3");
    assert_code_lacks("return 1 << 4 | 2", "BIT_OR");
    assert_flow("return [0 * -1 === 0, 1 / (0 * -1), 2 ** 3 ** 2, 7 % -3]", "[true,null,512,1]");
}

static void comparisons_jump_without_making_a_boolean(void **state) {
    (void)state;
    assert_code_has("let a = 1; if (a < 10) a = 2", "JUMP_NOT_LT_INT");
    assert_code_has("let a = 1, b = 2; while (a === b) a++", "JUMP_STRICT_EQ ");
    assert_code_has("let a; if (a == null) a = 1", "JUMP_IF_NOT_NULLISH");
    assert_code_has("let a; if (a !== undefined && !a) a = 1", "JUMP_IF_UNDEFINED");
    assert_code_lacks("let a = 1, b = 2; if (a < b || a > 5) a = 0", "  LT ");
}

static void values_are_computed_where_they_are_wanted(void **state) {
    (void)state;
    assert_code_lacks("let a = 1, b = 2; let c = a + b; c = a * b; return c", "MOVE");
    assert_code_lacks("for (let i = 0; i < 9; i++) { const x = i * 2; x }", "MOVE");
    assert_code_has("let a = 1; a += 5", "ADD_INT              r3 r3 5");
}

static void a_variable_keeps_its_value_until_the_expression_is_complete(void **state) {
    (void)state;
    assert_flow("let a = 1; try { a = (() => { throw 0 })() || 2 } catch {} return a", "1");
    assert_flow("let a = [1]; a = [a, a.length]; return a", "[[1],1]");
    assert_flow("let a = 5; const b = a + (a = 1) + a; return b", "7");
    assert_flow("let i = 1; const r = [i, i++, i, ++i, i += i++]; return [r, i]",
                "[[1,1,2,3,6],6]");
    assert_flow("let x = 1; x = x++; return x", "1");
    assert_flow("let o = { v: 1 }, p = o; o.v = (o = { v: 9 }, 5); return [p.v, o.v]", "[5,9]");
}

static void constants_are_captured_by_value_and_others_in_boxes(void **state) {
    (void)state;
    assert_code_has("const a = Inputs; return () => a", "by value \"a\"");
    assert_code_has("let a = 1; const f = () => a; a = 2; return f", "NEW_BOX");
    assert_code_has("for (const x of []) (() => x)", "by value \"x\"");
    assert_code_has("const f = () => g(); const g = () => 1", "GET_UPVALUE_CHECKED");
    assert_code_has("function f(p) { return () => p }", "by value \"p\"");
}

static void tdz_is_checked_only_where_it_can_matter(void **state) {
    (void)state;
    assert_code_lacks("let a = 1; { let b = a; b }", "CHECK");
    assert_code_has("let a = a", "CHECK_INITIALIZED");
    assert_flow_fails("let a = a", "ReferenceError", "Cannot access 'a' before initialization");
}

static void live_counts_leave_dead_temporaries_out(void **state) {
    (void)state;
    assert_code_has("const a = await Inputs; return a", "AWAIT                r3 r4 live=3");
    assert_code_has("return [1, await Inputs]", "live=4");
}

// --- size
static void jumps_too_far_for_sixteen_bits_are_made_in_two_steps(void **state) {
    (void)state;
    const char *const loops[] = {"let n = 0; for (let i = 0; i < 3; i++) {", "n = n + i;",
                                 "} return n"};
    assert_repeated(loops, 40000, "120000");
    const char *const items[] = {"let n = 0; for (const x of [1, 2]) { if (x === 9) break;",
                                 "n += x;", "} return n"};
    assert_repeated(items, 40000, "120000");
    const char *const keys[] = {"let n = 0; for (const k in { a: 1, b: 2 }) {", "n = n + 1;",
                                "} return n"};
    assert_repeated(keys, 40000, "80000");
    const char *const test[] = {"let n = 1; if (n < 2) {", "n = n + 1;",
                                "} else { n = 0 } return n"};
    assert_repeated(test, 40000, "40001");
}

static void a_function_may_access_more_properties_than_there_are_sites(void **state) {
    (void)state;
    const char *const parts[] = {"const o = { a: 1 }; let n = 0;", "n += o.a; o.a = 1;",
                                 "return n"};
    assert_repeated(parts, 40000, "40000");
}

static void long_runs_do_not_nest(void **state) {
    (void)state;
    const char *const sum[] = {"let a = 1; return a", " + a", ""};
    assert_repeated(sum, 100000, "100001");
    const char *const ladder[] = {"let a = 1; if (a === 0) a = 0;", " else if (a === 2) a = 3;",
                                  " else a = 7; return a"};
    assert_repeated(ladder, 900, "7");
    const char *const array[] = {"return [", "1,", "].length"};
    assert_repeated(array, 200000, "200000");
    const char *const either[] = {"let a = 0; return a", " || a", " || 5"};
    assert_repeated(either, 50000, "5");
    const char *const comma[] = {"let a = 0; return (a", ", a++", ", a)"};
    assert_repeated(comma, 50000, "50000");
    const char *const template[] = {"let a = 1; return `", "${a}", "`.length"};
    assert_repeated(template, 5000, "5000");
}

static void too_many_variables_are_a_load_error(void **state) {
    (void)state;
    Buf text;
    buf_init(&text, 1 << 26);
    for (int i = 0; i < 70000; i++) buf_printf(&text, "let v%d = %d;", i, i);
    Diag diag = {0};
    FlowModule *module = NULL;
    Status status = flow_compile(STR("test.flow"), buf_str(&text), &module, NULL, &diag);
    assert_status(status, ERR_INVALID);
    assert_non_null(strstr(diag.message, "too many variables"));
    assert_string_equal(diag.code, "FLOW_LIMIT");
    buf_done(&text);
}

static void too_many_arguments_are_a_load_error(void **state) {
    (void)state;
    char *source = repeated("return Math.max(", "1,", 70000, "1)");
    Diag diag = {0};
    FlowModule *module = NULL;
    assert_status(flow_compile(STR("test.flow"), str_from(source), &module, NULL, &diag),
                  ERR_INVALID);
    free(source);
}

// --- tables
static void anonymous_functions_take_the_name_of_their_place(void **state) {
    (void)state;
    assert_flow("const f = () => {}, o = { g() {}, get h() { return 1 }, ['i' + 1]: () => {} };"
                "let k; k = function () {}; const { m = class {} } = {}; const [n = () => {}] = [];"
                "class C { static #p = () => {}; q = () => {}; static r = C.#p.name }"
                "return [f.name, o.g.name, o.i1.name, k.name, m.name, n.name, C.r, new C().q.name,"
                "Object.getOwnPropertyDescriptor(o, 'h').get.name, (() => {}).name]",
                "[\"f\",\"g\",\"i1\",\"k\",\"m\",\"n\",\"#p\",\"q\",\"get h\",\"\"]");
}

static void the_config_literal_becomes_json(void **state) {
    (void)state;
    Listing listing;
    listing_begin(&listing, "export const config = { timeout: '30d', retry: { attempts: 5,"
                            " factor: 1.5 }, input: { default: -1.5, examples: [true, null,"
                            " 'x\\u2028\\n'], properties: { 'a\"b': true, 7: { title: `t` } } } }\n"
                            "return 1");
    assert_str_equal(listing.module->workflows[0].config_json,
                     "{\"timeout\":\"30d\",\"retry\":{\"attempts\":5,\"factor\":1.5},\"input\":"
                     "{\"default\":-1.5,\"examples\":[true,null,\"x\u2028\\n\"],\"properties\":"
                     "{\"a\\\"b\":true,\"7\":{\"title\":\"t\"}}}}");
    listing_end(&listing);
}

static void workflows_are_listed_with_name_and_line(void **state) {
    (void)state;
    Listing listing;
    listing_begin(&listing, "function help() { return 1 }\nworkflow first(inputs) { return 1 }\n"
                            "\nworkflow second(i) { return help() }");
    assert_int_equal(listing.module->workflow_count, 2);
    assert_str_equal(listing.module->workflows[0].name, "first");
    assert_int_equal(listing.module->workflows[0].line, 2);
    assert_str_equal(listing.module->workflows[1].name, "second");
    assert_int_equal(listing.module->workflows[1].line, 4);
    listing_end(&listing);
    listing_begin(&listing, "return 1");
    assert_str_equal(listing.module->workflows[0].name, "test");
    listing_end(&listing);
}

static void each_workflow_of_a_file_can_be_run(void **state) {
    (void)state;
    Run run;
    const char *source = "const base = 10\nworkflow one(i) { return base + i }\n"
                         "workflow two(i) { return base * i }";
    for (uint32_t index = 0; index < 2; index++) {
        run_begin(&run, source, "4");
        flow_vm_free(run.vm);
        FlowVmOptions options = {.module = run.module,
                                 .workflow_index = index,
                                 .input_json = STR("4"),
                                 .host = &run.host.base,
                                 .limits = FLOW_LIMITS_DEFAULT};
        assert_ok(flow_vm_new(&options, &run.vm, NULL));
        assert_int_equal(run_turn(&run), FLOW_COMPLETED);
        assert_str_equal(run.result.result_json, index == 0 ? "14" : "40");
        run_end(&run);
    }
    assert_flow("export default async function (inputs) { return typeof inputs }", "\"undefined\"");
}

static void errors_point_at_line_and_utf16_column(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "const text = '\U0001F600\u00e9'; null.x\n", NULL);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    char stack[1024];
    snprintf(stack, sizeof stack, "%.*s", STR_ARG(run.result.failure.stack));
    assert_non_null(strstr(stack, "test.flow:1:26"));
    run_end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_folded),
        cmocka_unit_test(comparisons_jump_without_making_a_boolean),
        cmocka_unit_test(values_are_computed_where_they_are_wanted),
        cmocka_unit_test(a_variable_keeps_its_value_until_the_expression_is_complete),
        cmocka_unit_test(constants_are_captured_by_value_and_others_in_boxes),
        cmocka_unit_test(tdz_is_checked_only_where_it_can_matter),
        cmocka_unit_test(live_counts_leave_dead_temporaries_out),
        cmocka_unit_test(jumps_too_far_for_sixteen_bits_are_made_in_two_steps),
        cmocka_unit_test(a_function_may_access_more_properties_than_there_are_sites),
        cmocka_unit_test(long_runs_do_not_nest),
        cmocka_unit_test(too_many_variables_are_a_load_error),
        cmocka_unit_test(too_many_arguments_are_a_load_error),
        cmocka_unit_test(anonymous_functions_take_the_name_of_their_place),
        cmocka_unit_test(the_config_literal_becomes_json),
        cmocka_unit_test(workflows_are_listed_with_name_and_line),
        cmocka_unit_test(each_workflow_of_a_file_can_be_run),
        cmocka_unit_test(errors_point_at_line_and_utf16_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
