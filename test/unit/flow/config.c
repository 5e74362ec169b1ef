// `export const config`: every key at its edges, each fault at its own place, and whether the
// documentation knows the same keys.
#include "flow/check/config.h"
#include "base/array.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"
#include "unit/unit.h"
#include <stdio.h>

typedef struct Checked {
    Arena arena;
    FlowSource source;
    FlowReport report;
    FlowModule *module; // NULL: refused
} Checked;

static void check(Checked *checked, const char *text) {
    arena_init(&checked->arena);
    checked->module = NULL;
    Diag diag;
    assert_ok(flow_source_init(&checked->source, STR("test.flow"), str_from(text), &checked->arena,
                               NULL));
    flow_report_init(&checked->report, &checked->source, &checked->arena);
    Status status = flow_compile(checked->source.name, checked->source.text, &checked->module,
                                 &checked->report, &diag);
    assert_true((status == OK) == (checked->report.error_count == 0));
}

static void done(Checked *checked) {
    flow_module_release(checked->module);
    arena_done(&checked->arena);
}

// `config` is what stands between the braces; `place` is the text that is underlined.
typedef struct FaultCase {
    const char *config, *place, *message, *hint;
} FaultCase;

static void check_fault(const FaultCase *wanted) {
    Checked checked;
    char text[600];
    snprintf(text, sizeof text, "export const config = {%s}\nreturn 1", wanted->config);
    check(&checked, text);
    uint32_t count = checked.report.count;
    if (count != 1) fail_msg("%s: %u findings", wanted->config, count);
    const FlowDiagnostic *found = &checked.report.items[0];
    Str place = {text + found->start, found->end - found->start};
    bool is_right = found->code == FLOW_ERROR_CONFIG && str_equal(place, str_from(wanted->place)) &&
                    str_equal(found->message, str_from(wanted->message)) &&
                    (wanted->hint == NULL || str_equal(found->hint, str_from(wanted->hint)));
    if (!is_right)
        fail_msg("%s\n  at %.*s: %s (%s)", wanted->config, STR_ARG(place), found->message.data,
                 str_is_null(found->hint) ? "" : found->hint.data);
    done(&checked);
}

static void each_fault_is_reported_at_its_place(void **state) {
    (void)state;
    static const FaultCase cases[] = {
        {"timout: '2s'", "timout", "`config` has no key \"timout\"", "Did you mean \"timeout\"?"},
        {"'x-y': 1", "'x-y'", "`config` has no key \"x-y\"",
         "The keys are timeout, retry, idleTimeout, keepSnapshots, events, queue, priority, ttl, "
         "tags, input, output, secret"},
        {"retry: {attemps: 3}", "attemps", "`retry` has no key \"attemps\"",
         "Did you mean \"attempts\"?"},
        {"timeout: -5", "-5", "`timeout` lies between 1ms and 36500d", NULL},
        {"timeout: 0", "0", "`timeout` lies between 1ms and 36500d", NULL},
        {"timeout: '0s'", "'0s'", "`timeout` lies between 1ms and 36500d", NULL},
        {"timeout: 1e300", "1e300", "`timeout` lies between 1ms and 36500d", NULL},
        {"timeout: 'soon'", "'soon'", "`timeout` is no duration", NULL},
        {"timeout: '-2s'", "'-2s'", "`timeout` is no duration", NULL},
        {"timeout: null", "null",
         "`timeout` takes a duration such as \"30s\", or a number of seconds, not null", NULL},
        {"timeout: [1]", "[1]",
         "`timeout` takes a duration such as \"30s\", or a number of seconds, not array", NULL},
        {"retry: 3", "3",
         "`retry` takes an object such as { attempts: 5, delay: \"1s\" }, not number", NULL},
        {"retry: {attempts: 0}", "0", "`attempts` lies between 1 and 1000", NULL},
        {"retry: {attempts: 1001}", "1001", "`attempts` lies between 1 and 1000", NULL},
        {"retry: {attempts: 2.5}", "2.5", "`attempts` takes a whole number, not number", NULL},
        {"retry: {attempts: '3'}", "'3'", "`attempts` takes a whole number, not string", NULL},
        {"retry: {factor: 0.99}", "0.99", "`factor` lies between 1 and 1000", NULL},
        {"retry: {factor: 'x'}", "'x'", "`factor` takes a number, not string", NULL},
        {"retry: {delay: -1}", "-1", "`delay` lies between 0s and 36500d", NULL},
        {"retry: {delay: '10s', maxDelay: '1s'}", "'1s'", "`maxDelay` is shorter than `delay`",
         NULL},
        {"idleTimeout: 'of'", "'of'", "`idleTimeout` is no duration, and not \"off\"", NULL},
        {"idleTimeout: 0", "0", "`idleTimeout` lies between 1ms and 36500d", NULL},
        {"keepSnapshots: 1001", "1001", "`keepSnapshots` lies between 0 and 1000", NULL},
        {"keepSnapshots: -1", "-1", "`keepSnapshots` lies between 0 and 1000", NULL},
        {"priority: 1001", "1001", "`priority` takes a whole number from -1000 … 1000, not 1001",
         NULL},
        {"priority: -1001", "-1001", "`priority` takes a whole number from -1000 … 1000, not -1001",
         NULL},
        {"priority: 'high'", "'high'", "`priority` takes a whole number, not string", NULL},
        {"queue: ''", "''", "queue is missing or empty", NULL},
        {"queue: 4", "4", "`queue` takes a string, not number", NULL},
        {"queue: 'a\\nb'", "'a\\nb'", "queue has a control character at byte 1", NULL},
        {"ttl: -1", "-1", "`ttl` lies between 0s and 36500d", NULL},
        {"tags: 'a'", "'a'", "`tags` takes an array of strings, not string", NULL},
        {"tags: ['a', 7]", "7", "`tags` takes strings, not number", NULL},
        {"tags: []", "[]", "`tags` has 1 to 16 entries", "Leave the key out to say nothing"},
        {"events: []", "[]", "`events` is empty", NULL},
        {"events: {a: 1}", "{a: 1}", "`events` takes an array of strings, not object", NULL},
        {"input: {typ: 'string'}", "typ", "the schema keyword \"typ\" is not supported",
         "Did you mean \"type\"?"},
        {"input: {properties: {a: {items: {minimum: 'x'}}}}", "'x'",
         "the schema keyword \"minimum\" takes a number", NULL},
        {"output: 5", "5", "a schema is an object, true or false", NULL},
        {"secret: []", "[]", "`secret` is empty", "Leave the key out to say nothing"},
        {"secret: 'password'", "'password'",
         "`secret` takes an array of paths such as \"card.number\", not string", NULL},
        {"secret: ['a', 7]", "7", "`secret` takes paths, which are strings, not number", NULL},
        {"secret: ['items[0].a']", "'items[0].a'",
         "`secret`: \"items[0].a\": a path is names with dots between, without [, ] and *",
         "Write \"password\" for all that is called so, or \"card.number\""},
        {"secret: ['a.', 'b']", "'a.'", "`secret`: \"a.\": a path is names with dots between",
         NULL},
        {"ttl: 1, priority: 2, ttl: 3", "ttl", "`ttl` is given twice", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) check_fault(&cases[i]);
}

static void all_faults_of_a_file_are_reported(void **state) {
    (void)state;
    Checked checked;
    check(&checked, "export const config = { timout: 1, retry: { attempts: 0, factr: 2 },\n"
                    "  priority: 5000 }\nreturn 1");
    assert_int_equal(checked.report.count, 4);
    Diag diag;
    flow_report_first(&checked.report, &diag);
    assert_string_equal(diag.code, "FLOW_CONFIG");
    assert_non_null(strstr(diag.message, "test.flow:1:25: `config` has no key \"timout\""));
    done(&checked);
}

static void good_values_are_taken(void **state) {
    (void)state;
    Checked checked;
    check(&checked,
          "export const config = { timeout: '1h', ttl: 0, priority: -1000, queue: 'q', tags: "
          "['a', 'b'], events: ['E'], idleTimeout: 'off', keepSnapshots: 0, input: { type: "
          "'object' }, output: true, retry: { attempts: 5, delay: 0.5, factor: 1.5, maxDelay: "
          "'PT1M' } }\nreturn 1");
    assert_non_null(checked.module);
    FlowConfig config = {.keep_snapshots = 10};
    flow_config_read(&checked.arena, flow_module_workflow(checked.module, 0).config_json, &config);
    assert_int_equal(config.timeout_ms, 3600000);
    assert_true(config.has_keep);
    assert_int_equal(config.keep_ms, 0);
    assert_true(config.has_priority);
    assert_int_equal(config.priority, -1000);
    assert_str_equal(config.queue, "q");
    assert_str_equal(config.tags, "a\nb");
    assert_str_equal(config.events, "E");
    assert_int_equal(config.idle_timeout_ms, -1);
    assert_int_equal(config.keep_snapshots, 0);
    assert_non_null(config.input);
    assert_non_null(config.output);
    assert_int_equal(config.retry.attempts, 5);
    assert_int_equal(config.retry.delay_ms, 500);
    assert_int_equal(config.retry.factor_pct, 150);
    assert_int_equal(config.retry.max_delay_ms, 60000);
    done(&checked);
}

static void what_a_retry_does_not_say_has_defaults(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    FlowConfig config = {0};
    flow_config_read(&arena, STR("{\"retry\":{\"delay\":\"2h\"}}"), &config);
    assert_int_equal(config.retry.attempts, 3);
    assert_int_equal(config.retry.factor_pct, 200);
    assert_int_equal(config.retry.max_delay_ms, 2 * 3600000); // as long as the first pause
    config = (FlowConfig){0};
    flow_config_read(&arena, STR("{}"), &config);
    assert_int_equal(config.retry.attempts, 0);
    arena_done(&arena);
}

static void what_an_older_build_accepted_is_read_as_far_as_it_is_right(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    FlowConfig config = {.keep_snapshots = 10};
    flow_config_read(&arena,
                     STR("{\"colour\":\"red\",\"priority\":9999,\"keepSnapshots\":\"x\","
                         "\"timeout\":\"2s\",\"input\":{\"format\":\"x\"}}"),
                     &config);
    assert_false(config.has_priority);
    assert_int_equal(config.keep_snapshots, 10);
    assert_int_equal(config.timeout_ms, 2000);
    assert_null(config.input);
    FlowModule *module;
    Diag diag;
    const char *source = "export const config = { colour: 'red' }\nreturn 1";
    assert_status(flow_compile(STR("a.flow"), str_from(source), &module, NULL, &diag), ERR_INVALID);
    assert_ok(flow_compile_stored(STR("a.flow"), str_from(source), &module, &diag));
    flow_module_release(module);
    arena_done(&arena);
}

// ---- the documentation ----

static char *read_text(const char *path) {
    char full[600];
    snprintf(full, sizeof full, "%s/%s", getenv("ABIDE_SOURCE_DIR"), path);
    FILE *file = fopen(full, "rb");
    if (file == NULL) fail_msg("cannot read %s", full);
    static char text[1 << 18];
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    return text;
}

// What stands for the key in the page, or in the declarations for editors.
static void key_text(const ConfigKey *key, bool is_nested, bool is_page, char ret_text[96]) {
    if (is_page) snprintf(ret_text, 96, "\n| `%s%s` |", is_nested ? "retry." : "", key->name);
    else snprintf(ret_text, 96, "%s%s?: ", is_nested ? "    " : "  ", key->name);
}

static void check_keys(const char *path, bool is_page) {
    const char *text = read_text(path);
    for (size_t i = 0; i < config_key_count + config_retry_key_count; i++) {
        bool is_nested = i >= config_key_count;
        const ConfigKey *key =
            is_nested ? &config_retry_keys[i - config_key_count] : &config_keys[i];
        char wanted[96];
        key_text(key, is_nested, is_page, wanted);
        if (strstr(text, wanted) == NULL) fail_msg("%s: %s", path, wanted);
    }
}

static void documentation_and_editor_know_the_same_keys(void **state) {
    (void)state;
    check_keys("docs/language.md", true);
    check_keys("editor/abide.d.ts", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_reported_at_its_place),
        cmocka_unit_test(all_faults_of_a_file_are_reported),
        cmocka_unit_test(good_values_are_taken),
        cmocka_unit_test(what_a_retry_does_not_say_has_defaults),
        cmocka_unit_test(what_an_older_build_accepted_is_read_as_far_as_it_is_right),
        cmocka_unit_test(documentation_and_editor_know_the_same_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
