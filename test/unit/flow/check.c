// The check of a file: what cannot work is found with its place, and nothing else is.
#include "flow/check/check.h"
#include "base/array.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"
#include "unit/unit.h"

typedef struct Checked {
    Arena arena;
    FlowSource source;
    FlowReport report;
    FlowModule *module;
    Status status;
} Checked;

static void check_source(Checked *checked, const char *source) {
    Diag diag;
    *checked = (Checked){0};
    arena_init(&checked->arena);
    assert_ok(flow_source_init(&checked->source, STR("test.flow"), str_from(source),
                               &checked->arena, &diag));
    flow_report_init(&checked->report, &checked->source, &checked->arena);
    checked->status = flow_compile_checked(&checked->report, &checked->module, &diag);
}

static void checked_done(Checked *checked) {
    if (checked->status == OK) flow_module_release(checked->module);
    arena_done(&checked->arena);
}

// Each finding as "CODE line:column text", with " -> suggestion" where there is one.
static void list_findings(Checked *checked, Buf *ret_text) {
    Buf sorted;
    buf_init(&sorted, 1 << 16);
    flow_report_render_text(&checked->report, &sorted);
    buf_done(&sorted);
    for (uint32_t i = 0; i < checked->report.count; i++) {
        const FlowDiagnostic *item = &checked->report.items[i];
        FlowPosition at = flow_source_position(&checked->source, item->start);
        buf_printf(ret_text, "%s%s %u:%u %.*s", i > 0 ? "; " : "", flow_code_name(item->code),
                   at.line, at.column, (int)(item->end - item->start),
                   checked->source.text.data + item->start);
        if (!str_is_null(item->suggestion))
            buf_printf(ret_text, " -> %.*s", STR_ARG(item->suggestion));
    }
}

typedef struct Case {
    const char *source;
    const char *findings;
} Case;

static void check_cases(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Checked checked;
        Buf text;
        buf_init(&text, 1 << 16);
        check_source(&checked, cases[i].source);
        list_findings(&checked, &text);
        if (strcmp(buf_cstr(&text), cases[i].findings) != 0)
            print_error("%s\n  found:    %s\n  expected: %s\n", cases[i].source, buf_cstr(&text),
                        cases[i].findings);
        assert_string_equal(buf_cstr(&text), cases[i].findings);
        assert_int_equal(checked.status == OK, checked.report.error_count == 0);
        buf_done(&text);
        checked_done(&checked);
    }
}

#define CHECK_CASES(cases) check_cases(cases, COUNT_OF(cases))

static void names_that_are_declared_nowhere_are_errors(void **state) {
    (void)state;
    static const Case cases[] = {
        {"await Tasks.run('x')", "FLOW_UNDECLARED 1:7 Tasks -> Task"},
        {"sleep(5)", "FLOW_UNDECLARED 1:1 sleep"},
        {"total = 5", "FLOW_UNDECLARED 1:1 total"},
        {"let total = 0\ntotl += 1", "FLOW_UNDECLARED 2:1 totl -> total"},
        {"let count = 0\nreturn cuont++", "FLOW_UNDECLARED 2:8 cuont -> count"},
        {"[a, { b, ...c }] = [1, {}]",
         "FLOW_UNDECLARED 1:2 a; FLOW_UNDECLARED 1:7 b; FLOW_UNDECLARED 1:13 c"},
        {"for (x of [1]) ;", "FLOW_UNDECLARED 1:6 x"},
        {"for (x in {}) ;", "FLOW_UNDECLARED 1:6 x"},
        {"{ let inner = 1 }\nreturn inner", "FLOW_UNDECLARED 2:8 inner"},
        {"try { } catch (problem) { }\nreturn problem", "FLOW_UNDECLARED 2:8 problem"},
        {"const f = function own() { }\nown()", "FLOW_UNDECLARED 2:1 own"},
        {"return class A extends Bas { }", "FLOW_UNDECLARED 1:24 Bas"},
        {"return class { x = missing; static y = other }",
         "FLOW_UNDECLARED 1:20 missing; FLOW_UNDECLARED 1:40 other"},
        {"return { key, [other]: `${third}` }",
         "FLOW_UNDECLARED 1:10 key; FLOW_UNDECLARED 1:16 other; FLOW_UNDECLARED 1:27 third"},
        {"function f(a = b) { return a }\nreturn f()", "FLOW_UNDECLARED 1:16 b"},
        {"return x?.y", "FLOW_UNDECLARED 1:8 x"},
        {"return typeof missing.x", "FLOW_UNDECLARED 1:15 missing"},
        {"outer: for (;;) { break outer }\nreturn outer", "FLOW_UNDECLARED 2:8 outer"},
        {"workflow a(inputs) { return helper(inputs) }\nworkflow b(data) { return inputs }\n"
         "function helper(x) { return x }",
         "FLOW_UNDECLARED 2:27 inputs"},
        {"return missing + missing + missing", "FLOW_UNDECLARED 1:8 missing"}, // once per name
    };
    CHECK_CASES(cases);
}

static void names_that_are_declared_somewhere_are_not(void **state) {
    (void)state;
    static const Case cases[] = {
        {"return typeof missing", ""},
        {"if (typeof missing === 'function') missing()", ""},
        {"globalThis.made = 1\nreturn made", ""},
        {"Object.assign(globalThis, { made: 1 })\nreturn made", ""},
        {"return later()\nfunction later() { return x }\nvar x = 1", ""},
        {"if (Inputs) { var y = 1 }\nreturn y", ""},
        {"{ function f() { } f() }", ""},
        {"function f(a, { b, c: [d = a] = [] } = {}, ...e) { return [a, b, d, e, arguments] }\n"
         "return f()",
         ""},
        {"try { throw 1 } catch ({ message, ...rest }) { return [message, rest] }", ""},
        {"const f = function self(n) { return n && self(n - 1) }\nreturn f(3)", ""},
        {"class A { #x = 1; static make() { return new A().#x } }\nreturn A.make()", ""},
        {"outer: for (const x of [1]) { for (;;) continue outer }", ""},
        {"export const config = { timeout: '1h' }\n"
         "export default async function name(inputs) { return [inputs, name, config] }",
         ""},
        {"workflow a(inputs) { return b(inputs) }\nfunction b(x) { return [x, undefined] }", ""},
        {"return [Inputs, Context, Infinity, globalThis.x, isNaN, parseInt, structuredClone]", ""},
        {"return ((undefined) => undefined)()", ""},
        {"label: { break label }", ""},
    };
    CHECK_CASES(cases);
}

static void members_that_an_object_lacks_are_errors(void **state) {
    (void)state;
    static const Case cases[] = {
        {"await Task.start('x')", "FLOW_MEMBER 1:12 start -> run"},
        {"await Timer.sleep('1s')", "FLOW_MEMBER 1:13 sleep -> delay"},
        {"await Signal.wait('x')", "FLOW_MEMBER 1:14 wait -> when"},
        {"Workflow.cancel('x')", "FLOW_MEMBER 1:10 cancel"},
        {"State.put('a', 1)", "FLOW_MEMBER 1:7 put -> set"},
        {"return Context.runid", "FLOW_MEMBER 1:16 runid -> runId"},
        {"if (Context.runid) return 1", "FLOW_MEMBER 1:13 runid -> runId"},
        {"return Math.foo(1)", "FLOW_MEMBER 1:13 foo"},
        {"return JSON.pars('1')", "FLOW_MEMBER 1:13 pars -> parse"},
        {"return Object.key({})", "FLOW_MEMBER 1:15 key -> keys"},
        {"return Promise.every([])", "FLOW_MEMBER 1:16 every"},
        {"return Array.form([])", "FLOW_MEMBER 1:14 form -> from"},
        {"return Number.parsInt('1')", "FLOW_MEMBER 1:15 parsInt -> parseInt"},
        {"return String.fromCode(1)", "FLOW_MEMBER 1:15 fromCode"},
        {"return Date.today()", "FLOW_MEMBER 1:13 today"},
        {"console.logg(1)", "FLOW_MEMBER 1:9 logg -> log"},
        {"const { run, sleep } = Task\nreturn [run, sleep]", "FLOW_MEMBER 1:14 sleep -> delay"},
        {"Task('x')", "FLOW_MEMBER 1:1 Task"},
        {"return new Math()", "FLOW_MEMBER 1:12 Math"},
        {"return Task?.start('x')", "FLOW_MEMBER 1:14 start -> run"},
    };
    CHECK_CASES(cases);
}

static void members_that_may_be_there_are_not(void **state) {
    (void)state;
    static const Case cases[] = {
        {"const Task = { start() { } }\nTask.start()", ""},
        {"function f(Math) { return Math.foo() }\nreturn f({ foo() { } })", ""},
        {"Math.twice = x => 2 * x\nreturn Math.twice(2)", ""},
        {"Object.assign(Math, { twice: x => 2 * x })\nreturn Math.twice(2)", ""},
        {"const M = Math\nM.twice = x => x\nreturn Math.twice(2)", ""},
        {"return Math.sumPrecise ? Math.sumPrecise([1]) : 1", ""},
        {"return Array.fromAsync?.([])", ""},
        {"if (typeof Promise.try === 'function') return Promise.try(() => 1)", ""},
        {"return Object.groupBy2 ?? null", ""},
        {"return Task.later?.('x')", ""},
        {"const { sleep = () => 1 } = Math\nreturn sleep()", ""},
        {"return [Object.name, Object.length, Object.prototype, Array.call, Math.toString(),\n"
         "  Map.prototype, TypeError.prototype, Date.constructor, JSON.hasOwnProperty('x')]",
         ""},
        {"return [Symbol.iterator, Number.EPSILON, Math.PI, Date.now(), Promise.all, Array.of(1)]",
         ""},
        {"return [1, 2].map(Number).filter(Boolean).map(String)", ""},
        {"class Big extends Error { static make() { return new Big() } }\nreturn Big.make()", ""},
        {"return Inputs.whatever.there.is", ""},
    };
    CHECK_CASES(cases);
}

static void options_and_arguments_are_held_to_the_table(void **state) {
    (void)state;
    static const Case cases[] = {
        {"await Signal.when('x', { timout: '1s' })", "FLOW_OPTION 1:26 timout -> timeout"},
        {"await Event.wait('x', { 'timout': 1 })", "FLOW_OPTION 1:25 'timout' -> timeout"},
        {"await Task.run('x', 1, { retry: { atempts: 3 } })",
         "FLOW_OPTION 1:35 atempts -> attempts"},
        {"await Task.run('x', 1, { retry: { attempts: -1 } })", "FLOW_OPTION 1:45 -1"},
        {"await Task.run('x', 1, { timeout: '1 hour please' })",
         "FLOW_OPTION 1:35 '1 hour please'"},
        {"await Task.run('x', 1, { timeout: `soon`, priority: 5000 })",
         "FLOW_OPTION 1:35 `soon`; FLOW_OPTION 1:53 5000"},
        {"await Workflow.run('x', 1, { tags: 'a', parentClose: 'kill' })",
         "FLOW_OPTION 1:36 'a'; FLOW_OPTION 1:54 'kill'"},
        {"Workflow.start('x', foo, { startAt: 'noon' })",
         "FLOW_UNDECLARED 1:21 foo; FLOW_OPTION 1:37 'noon'"},
        {"Stream.write(1, { typ: 'x' })",
         "FLOW_OPTION 1:17 { typ: 'x' }; FLOW_OPTION 1:19 typ -> type"},
        {"await Task.run('x', 1, { ...Inputs, timout: 1 })", "FLOW_OPTION 1:37 timout -> timeout"},
        {"await Task.run('x', 1, 'fast')", "FLOW_ARGUMENT 1:24 'fast'"},
        {"Always('x', 7)", "FLOW_ARGUMENT 1:13 7"},
        {"Always('x')", "FLOW_ARGUMENT 1:1 Always"},
        {"Invariant('', true)", "FLOW_ARGUMENT 1:11 ''"},
        {"Eventually('x', () => true, 1)", "FLOW_ARGUMENT 1:29 1"},
        {"await Task.run()", "FLOW_ARGUMENT 1:7 Task.run"},
        {"await Task.run('')", "FLOW_ARGUMENT 1:16 ''"},
        {"await Task.run(5)", "FLOW_ARGUMENT 1:16 5"},
        {"await Task.run(() => 1)", "FLOW_ARGUMENT 1:16 () => 1"},
        {"await Signal.next('x', { timeout: '1s' })", "FLOW_ARGUMENT 1:24 { timeout: '1s' }"},
        {"await Timer.delay('1 fortnight')", "FLOW_ARGUMENT 1:19 '1 fortnight'"},
        {"await Timer.delay(-1)", "FLOW_ARGUMENT 1:19 -1"},
        {"await Timer.delay({ seconds: 5 })", "FLOW_ARGUMENT 1:19 { seconds: 5 }"},
        {"await Timer.delay('1s', { jitter: 1 })", "FLOW_ARGUMENT 1:25 { jitter: 1 }"},
        {"await Timer.until('tomorrow')", "FLOW_ARGUMENT 1:19 'tomorrow'"},
        {"await Task.all(5)", "FLOW_ARGUMENT 1:16 5"},
        {"await Task.race([], { timeout: 1 })", "FLOW_ARGUMENT 1:21 { timeout: 1 }"},
        {"Event.emit('t', 1, { delay: 1 })", "FLOW_ARGUMENT 1:20 { delay: 1 }"},
        {"Workflow.continueAs(1, { delay: 1 })", "FLOW_ARGUMENT 1:24 { delay: 1 }"},
        {"State.set('k')", "FLOW_ARGUMENT 1:1 State.set"},
        {"return Task?.run()", "FLOW_ARGUMENT 1:8 Task?.run"},
    };
    CHECK_CASES(cases);
}

static void what_a_literal_does_not_tell_is_not_held_against_it(void **state) {
    (void)state;
    static const Case cases[] = {
        {"await Task.run(Inputs.name, Inputs, Inputs.options)", ""},
        {"await Task.run('x', undefined, undefined)", ""},
        {"await Task.run('x', () => 1, null)", ""},
        {"await Task.run(...Inputs)", ""},
        {"await Task.run('x', ...Inputs, 1, 2)", ""},
        {"const retry = { attempts: 3 }, timeout = Inputs.t\n"
         "await Task.run('x', 1, { retry, timeout, [Inputs.k]: 1, delay: `${timeout}s` })",
         ""},
        {"await Task.run('x', 1, { timeout: -1, ...Inputs.options })", ""},
        {"await Task.run('x', 1, { retry: { nonRetryable: ['A', Inputs.b, ...Inputs.c] } })", ""},
        {"await Task.run('x', 1, { timeout: undefined, key: null, priority: +5 })", ""},
        {"await Timer.delay(Inputs.d ?? '1s')", ""},
        {"await Timer.delay(['2s'])", ""},
        {"await Timer.delay({ valueOf() { return 1 } })", ""},
        {"await Timer.until(new Date(5)); await Timer.until(5)", ""},
        {"await Timer.until('2030-01-01T00:00:00Z')", ""},
        {"await Event.wait('t', { filter: { a: { b: 1 } }, timeout: 'PT15M' })", ""},
        {"await Event.wait('t', { filter: 'total > 5' })", ""},
        {"Stream.write(1); Stream.write(1, 'type'); Stream.write(1, { type: 'a', types: ['b'] })",
         ""},
        {"await Task.all([]); await Task.any(new Set()); await Task.race('ab')", ""},
        {"const Signal = { when() { } }\nawait Signal.when('x', { timout: 1 })", ""},
        {"Task.run = (a, b, c, d) => d\nawait Task.run()", ""},
        {"return ['a', 'b'].map(Task.run)", ""},
    };
    CHECK_CASES(cases);
}

static void promises_that_nothing_waits_for_are_warnings(void **state) {
    (void)state;
    static const Case cases[] = {
        {"Timer.delay('1s')", "FLOW_UNAWAITED 1:1 Timer.delay('1s')"},
        {"Signal.when('x')", "FLOW_UNAWAITED 1:1 Signal.when('x')"},
        {"Event.wait('x')", "FLOW_UNAWAITED 1:1 Event.wait('x')"},
        {"Workflow.run('x')", "FLOW_UNAWAITED 1:1 Workflow.run('x')"},
        {"Task.run('x')", "FLOW_UNAWAITED 1:1 Task.run('x')"},
        {"Task?.run('x')", "FLOW_UNAWAITED 1:1 Task?.run('x')"},
        {"Task.all([])", "FLOW_UNAWAITED 1:1 Task.all([])"},
        {"Promise.all([])", "FLOW_UNAWAITED 1:1 Promise.all([])"},
        {"Task.run('x').then(x => x)", "FLOW_UNAWAITED 1:1 Task.run('x').then(x => x)"},
        {"Task.run('x').finally(() => 1)", "FLOW_UNAWAITED 1:1 Task.run('x').finally(() => 1)"},
        {"async function f() { }\nf()", "FLOW_UNAWAITED 2:1 f()"},
        {"f()\nasync function f() { }", "FLOW_UNAWAITED 1:1 f()"},
        {"const f = async () => 1\nf()", "FLOW_UNAWAITED 2:1 f()"},
        {"const g = () => { f() }\nconst f = async () => 1\nreturn g()", "FLOW_UNAWAITED 1:19 f()"},
        {"(async () => 1)()", "FLOW_UNAWAITED 1:2 async () => 1)()"},
        {"Inputs.ok && Task.run('x')", "FLOW_UNAWAITED 1:14 Task.run('x')"},
        {"Inputs.ok ? Task.run('x') : Task.run('y')",
         "FLOW_UNAWAITED 1:13 Task.run('x'); FLOW_UNAWAITED 1:29 Task.run('y')"},
        {"let i = 0\ni++, Timer.delay(1)", "FLOW_UNAWAITED 2:6 Timer.delay(1)"},
        {"for (let i = 0; i < 3; i++, Timer.delay(1)) ;", "FLOW_UNAWAITED 1:29 Timer.delay(1)"},
        {"Inputs.forEach(async i => { await Task.run('x', i) })",
         "FLOW_UNAWAITED 1:16 async i => "},
        {"Inputs.forEach(i => Task.run('x', i))", "FLOW_UNAWAITED 1:21 Task.run('x', i)"},
        {"if (Task.run('x')) return 1", "FLOW_UNAWAITED 1:5 Task.run('x')"},
        {"return !Task.run('x')", "FLOW_UNAWAITED 1:9 Task.run('x')"},
        {"return Task.run('charge').amount", "FLOW_UNAWAITED 1:27 amount"},
    };
    CHECK_CASES(cases);
}

static void promises_that_are_used_or_dropped_on_purpose_are_not(void **state) {
    (void)state;
    static const Case cases[] = {
        {"void Timer.delay('1s'); void Task.run('x')", ""},
        {"async function f() { }\nvoid f(); await f(); return f()", ""},
        {"Task.run('x').catch(() => 0); Task.run('x').then(x => x, e => e)", ""},
        {"const t = Task.run('x')\nreturn [await t, t.id, Task.run('x').id]", ""},
        {"await Promise.all(Inputs.map(i => Task.run('x', i)))", ""},
        {"void Inputs.forEach(async i => { await Task.run('x', i) })", ""},
        {"Inputs.forEach(i => void Task.run('x', i))", ""},
        {"Inputs.forEach(i => { State.set(i, 1) })", ""},
        {"const all = []\nfor (const i of Inputs) all.push(Task.run(i))\nawait Task.all(all)", ""},
        {"Event.emit('x'); Workflow.start('x'); Stream.write(1); State.set('a', 1)", ""},
        {"let f = async () => 1\nf = () => 2\nf()", ""},
        {"function f() { }\nasync function* g() { }\nf(); g()", ""},
        {"const Timer = { delay() { } }\nTimer.delay(1)", ""},
        {"return Inputs || Task.run('x')", ""},
        {"export default async function (inputs) { return Timer.delay(inputs) }", ""},
        {"const f = (work) => { work() }\nf(async () => 1)", ""},
    };
    CHECK_CASES(cases);
}

static void a_finding_shows_its_place_and_what_was_meant(void **state) {
    (void)state;
    Checked checked;
    Buf text;
    buf_init(&text, 1 << 16);
    check_source(&checked, "await Tasks.run('x')\nTimer.delay('1s')\n");
    flow_report_render_text(&checked.report, &text);
    assert_string_equal(
        buf_cstr(&text),
        "error[FLOW_UNDECLARED]: `Tasks` is declared nowhere\n"
        "   --> test.flow:1:7\n"
        "     |\n"
        "   1 | await Tasks.run('x')\n"
        "     |       ^^^^^\n"
        "     = hint: Did you mean `Task`?\n"
        "\n"
        "warning[FLOW_UNAWAITED]: nothing waits for the promise of `Timer.delay`\n"
        "   --> test.flow:2:1\n"
        "     |\n"
        "   2 | Timer.delay('1s')\n"
        "     | ^^^^^^^^^^^^^^^^^\n"
        "     = hint: Write `await` before the call, or `void` if nothing has to wait for it\n"
        "\n");
    buf_clear(&text);
    flow_report_render_json(&checked.report, &text);
    assert_non_null(strstr(buf_cstr(&text), "\"suggestion\":\"Task\""));
    assert_non_null(strstr(buf_cstr(&text), "\"excerpt\":\"await Tasks.run('x')\""));
    Diag diag;
    flow_report_first(&checked.report, &diag);
    assert_string_equal(diag.code, "FLOW_UNDECLARED");
    assert_string_equal(diag.message,
                        "test.flow:1:7: `Tasks` is declared nowhere; did you mean `Task`?");
    assert_string_equal(flow_report_refusal(&checked.report), "FLOW_CHECK");
    buf_done(&text);
    checked_done(&checked);
}

static void an_error_is_kept_when_warnings_fill_the_report(void **state) {
    (void)state;
    Checked checked;
    Buf source;
    buf_init(&source, 1 << 16);
    for (int i = 0; i < 3 * FLOW_REPORT_MAX; i++) buf_append_cstr(&source, "Timer.delay(1)\n");
    buf_append_cstr(&source, "async function f() { }\nf(g)\nf(h)\n");
    check_source(&checked, buf_cstr(&source));
    assert_int_equal(checked.status, ERR_INVALID);
    assert_int_equal(checked.report.count, FLOW_REPORT_MAX);
    assert_int_equal(checked.report.error_count, 2);
    Diag diag;
    flow_report_first(&checked.report, &diag);
    assert_string_equal(diag.code, "FLOW_UNDECLARED");
    checked_done(&checked);
    buf_done(&source);
}

static void only_new_files_are_held_to_it(void **state) {
    (void)state;
    const char *source = "sleep(5)\nreturn Task.start()";
    FlowModule *module;
    Diag diag;
    assert_ok(flow_compile(STR("a.flow"), str_from(source), &module, NULL, &diag));
    flow_module_release(module);
    assert_ok(flow_compile_stored(STR("a.flow"), str_from(source), &module, &diag));
    flow_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_declared_nowhere_are_errors),
        cmocka_unit_test(names_that_are_declared_somewhere_are_not),
        cmocka_unit_test(members_that_an_object_lacks_are_errors),
        cmocka_unit_test(members_that_may_be_there_are_not),
        cmocka_unit_test(options_and_arguments_are_held_to_the_table),
        cmocka_unit_test(what_a_literal_does_not_tell_is_not_held_against_it),
        cmocka_unit_test(promises_that_nothing_waits_for_are_warnings),
        cmocka_unit_test(promises_that_are_used_or_dropped_on_purpose_are_not),
        cmocka_unit_test(a_finding_shows_its_place_and_what_was_meant),
        cmocka_unit_test(an_error_is_kept_when_warnings_fill_the_report),
        cmocka_unit_test(only_new_files_are_held_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
