// Secrets in scripts: a mask everywhere, and in the input of a task the places besides.
#include "unit/flow/vm.h"

typedef struct Places { // a host that notes where secrets belong
    FlowHostOps ops;
    char secrets[512];
    char input[512];
} Places;
static Places places;

static Status note_places(FlowHost *base, const FlowStart *start, Str *ret_id, Diag *diag) {
    (void)base, (void)ret_id, (void)diag;
    snprintf(places.secrets, sizeof places.secrets, "%.*s", STR_ARG(start->secrets_json));
    snprintf(places.input, sizeof places.input, "%.*s", STR_ARG(start->input_json));
    return OK;
}

static void start(Run *run, const char *source) {
    run_begin(run, source, "{}");
    places = (Places){.ops = test_host_ops};
    places.ops.start = note_places;
    run->host.base.ops = &places.ops;
}

static void assert_places(const char *input, const char *secrets, const char *json) {
    Run run;
    char source[512];
    snprintf(source, sizeof source,
             "workflow order(input) {\nconst s = Secret.get('A');\n"
             "const t = Secret.get('B', { prefix: 'x \"' });\n"
             "await Task.run('t', %s);\n}\n",
             input);
    start(&run, source);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_string_equal(places.secrets, secrets);
    assert_string_equal(places.input, json);
    run_end(&run);
}

static void places_lead_to_each_secret_in_the_order_of_the_text(void **state) {
    (void)state;
    assert_places("s", "[[\"A\",\"\"]]", "\"[secret A]\"");
    assert_places("[1, [s], t]", "[[\"A\",\"\",1,0],[\"B\",\"x \\\"\",2]]",
                  "[1,[\"[secret A]\"],\"[secret B]\"]");
    assert_places("{ z: s, 7: s, 'é': { a: undefined, b: t }, f() {} }",
                  "[[\"A\",\"\",\"7\"],[\"A\",\"\",\"z\"],[\"B\",\"x \\\"\",\"é\",\"b\"]]",
                  "{\"7\":\"[secret A]\",\"z\":\"[secret A]\",\"é\":{\"b\":\"[secret B]\"}}");
}

static void what_only_looks_like_a_secret_has_no_place(void **state) {
    (void)state;
    assert_places(
        "{ a: `${s}`, b: '[secret A]', c: String(s), d: s + '', e: Object.assign({}, s) }", "",
        "{\"a\":\"[secret A]\",\"b\":\"[secret A]\",\"c\":\"[secret A]\","
        "\"d\":\"[secret A]\",\"e\":{}}");
    assert_places("new Map([[1, s]])", "", "{}");
}

static void a_mask_that_is_changed_stays_a_mask(void **state) {
    (void)state;
    assert_places("(Object.getPrototypeOf(s).toJSON = () => 'mine', { s })", "[[\"A\",\"\",\"s\"]]",
                  "{\"s\":\"mine\"}");
}

static void assert_throws(const char *expression, const char *message) {
    Run run;
    char source[512];
    snprintf(source, sizeof source,
             "workflow order(input) {\nconst s = Secret.get('A');\n"
             "try { %s; return 'went on'; } catch (e) { return e.name + ': ' + e.message; }\n}\n",
             expression);
    start(&run, source);
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    char text[512];
    snprintf(text, sizeof text, "%.*s", STR_ARG(run.result.result_json));
    if (!strstr(text, message)) fail_msg("%s", text);
    run_end(&run);
}

static void what_runs_code_is_refused_beside_a_secret(void **state) {
    (void)state;
    assert_throws("Task.run('t', { s, d: new Date(0) })", "toJSON");
    assert_throws("Task.run('t', { s, get a() { return s; } })", "getter");
    assert_throws("const a = [s]; a.push(a); Task.run('t', a)", "100 levels");
    assert_throws("let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; Task.run('t', a)",
                  "parts");
    assert_throws("'use strict'; s.a = 1", "TypeError");
    assert_throws("structuredClone(s)", "DataCloneError");
    assert_throws("const n = 'a-b'; Secret.get(n)", "TypeError");
    assert_throws("Secret.get('A', { prefex: '' })", "prefix");
    assert_throws("Object.getPrototypeOf(s).toString.call({})", "not a secret");
}

static void a_snapshot_has_the_name_and_goes_on_with_it(void **state) {
    (void)state;
    Run run;
    Buf bytes;
    Diag diag = {0};
    start(&run, "workflow order(input) {\nconst s = Secret.get('A');\nawait Signal.when('go');\n"
                "return await Task.run('t', { s, same: `${s}` });\n}\n");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    buf_init(&bytes, 1 << 20);
    assert_int_equal(flow_snapshot_write(run.vm, &bytes, &diag), OK);
    FlowVmOptions options = {
        .module = run.module, .host = &run.host.base, .limits = FLOW_LIMITS_DEFAULT};
    uint32_t id = run.result.waits[0].id;
    flow_vm_free(run.vm);
    run.vm = NULL;
    assert_int_equal(flow_snapshot_read(buf_str(&bytes), &options, &run.vm, &diag), OK);
    buf_done(&bytes);
    run_settle(&run, id, "1");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    assert_string_equal(places.secrets, "[[\"A\",\"\",\"s\"]]");
    assert_string_equal(places.input, "{\"s\":\"[secret A]\",\"same\":\"[secret A]\"}");
    run_end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_lead_to_each_secret_in_the_order_of_the_text),
        cmocka_unit_test(what_only_looks_like_a_secret_has_no_place),
        cmocka_unit_test(a_mask_that_is_changed_stays_a_mask),
        cmocka_unit_test(what_runs_code_is_refused_beside_a_secret),
        cmocka_unit_test(a_snapshot_has_the_name_and_goes_on_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
