// Built-ins under budgets: what a script asks for is refused in words before it is made, and long
// built-ins can be stopped between any two instructions.
#include "flow_vm.h"
#include "flow/limits.h"

static void assert_fails_within(const char *source, uint64_t heap_bytes, const char *message) {
    FlowLimits limits = FLOW_LIMITS_DEFAULT;
    limits.heap_bytes = heap_bytes;
    Run run;
    run_begin_limited(&run, source, NULL, limits);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    char text[512];
    snprintf(text, sizeof text, "%.*s: %.*s", STR_ARG(run.result.failure.name),
             STR_ARG(run.result.failure.message));
    assert_string_equal(text, message);
    FlowVmStats stats;
    flow_vm_stats(run.vm, &stats);
    assert_true(stats.heap_bytes < heap_bytes * 2);
    run_end(&run);
}

static const char out_of_memory_text[] = "RangeError: out of memory budget (4194304 bytes)";
enum { SMALL_HEAP = 4 << 20 };

static void growing_arrays_end_at_the_heap_budget(void **state) {
    (void)state;
    assert_fails_within("let a = [1]; for (;;) a = a.concat(a)", SMALL_HEAP, out_of_memory_text);
    assert_fails_within("const a = []; for (;;) a.push(1)", SMALL_HEAP, out_of_memory_text);
    assert_fails_within("return new Array(2000000).fill(0)", SMALL_HEAP, out_of_memory_text);
    assert_fails_within("let a = []; for (;;) a = [a, a.slice(), ...a]", SMALL_HEAP,
                        out_of_memory_text);
}

static void growing_collections_end_at_the_heap_budget(void **state) {
    (void)state;
    assert_fails_within("const m = new Map(); for (let i = 0; ; i++) m.set(i, i)", SMALL_HEAP,
                        out_of_memory_text);
    assert_fails_within("const s = new Set(); for (let i = 0; ; i++) s.add('k' + i)", SMALL_HEAP,
                        out_of_memory_text);
}

static void parsing_ends_at_the_heap_budget(void **state) {
    (void)state;
    assert_fails_within("const t = '[{},'.repeat(100000); return JSON.parse(t)", SMALL_HEAP,
                        out_of_memory_text);
}

static void lengths_beyond_the_limit_are_refused(void **state) {
    (void)state;
    assert_flow_fails("return new Array(1e9).fill(0)", "RangeError", "Invalid array length");
    assert_flow_fails("return [...new Array(4294967295)]", "RangeError", "Invalid array length");
    assert_flow_fails("const [...a] = new Array(4294967295)", "RangeError",
                      "Invalid array length");
    assert_flow_fails("return new Array(4294967295).join('x')", "RangeError",
                      "Invalid string length");
}

static void depth_ends_in_a_range_error(void **state) {
    (void)state;
    static const char *const programs[] = {
        "let o = []; for (let i = 0; i < 50000; i++) o = [o]; return String(o)",
        "let o = []; for (let i = 0; i < 50000; i++) o = [o]; return o.flat(Infinity)",
        "let o = {}; for (let i = 0; i < 50000; i++) o = { o }; return JSON.stringify(o)",
        "let o = {}; for (let i = 0; i < 50000; i++) o = { o }; return structuredClone(o)",
        "const a = []; a.push(a); return a.flat(Infinity)",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        assert_flow_fails(programs[i], "RangeError", "Maximum call stack size exceeded");
    }
}

static void deep_text_is_parsed_without_recursion(void **state) {
    (void)state;
    assert_flow("const n = 100000; let d = JSON.parse('['.repeat(n) + ']'.repeat(n)), k = 0;"
                " while (d) { d = d[0]; k++ } return k",
                "100000");
}

// Every built-in that runs script code, in one program.
static const char long_program[] =
    "const log = [];\n"
    "const words = ['delta', 'alpha', 'echo', 'bravo', 'charlie'];\n"
    "log.push(words.toSorted((a, b) => a < b ? -1 : 1).join());\n"
    "log.push([5, 3, 9].map(x => x * 2).filter(x => x > 6).reduce((a, b) => a + b, 0));\n"
    "log.push(words.flatMap(w => [w[0], w.length]).findLast(x => typeof x === 'string'));\n"
    "const m = new Map(words.map((w, i) => [w, i]));\n"
    "m.forEach((v, k) => { if (v < 2 && k.at(-1) !== '!') { m.delete(k); m.set(k + '!', v) } });\n"
    "log.push([...m]);\n"
    "log.push(JSON.parse('[1,{\"a\":[2,3]}]', (k, v) => typeof v === 'number' ? v + 1 : v));\n"
    "log.push(JSON.stringify({ d: { toJSON: () => 'j' }, e: [1] }, (k, v) => v, 1));\n"
    "log.push(Array.from({ length: 3 }, (_, i) => i * i), Object.fromEntries(m));\n"
    "log.push([[1, [2]], { toString: () => 'o' }] + '');\n"
    "log.push(String(new Error({ toString: () => 'e' })));\n"
    "log.push(structuredClone({ a: [new Map([[1, { b: 2 }]])] }).a[0].get(1));\n"
    "log.push(Array.from(new Set([3, 1, 3])), Math.max.apply(null, { length: 2, 0: 4, 1: 7 }));\n"
    "log.push(Object.assign({}, { get g() { return 1 } }));\n"
    "log.push(new AggregateError(new Set([1])).errors);\n"
    "return log";

static void long_built_ins_can_be_stopped_anywhere(void **state) {
    (void)state;
    Run straight;
    run_begin(&straight, long_program, NULL);
    assert_int_equal(run_turn(&straight), FLOW_COMPLETED);
    for (uint64_t step = 1; step < 8; step += 2) {
        FlowLimits limits = FLOW_LIMITS_DEFAULT;
        limits.instructions_per_turn = step;
        limits.is_exact = 1;
        Run stopped;
        run_begin_limited(&stopped, long_program, NULL, limits);
        assert_int_equal(run_turn(&stopped), FLOW_COMPLETED);
        assert_true(str_equal(stopped.result.result_json, straight.result.result_json));
        run_end(&stopped);
    }
    run_end(&straight);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_arrays_end_at_the_heap_budget),
        cmocka_unit_test(growing_collections_end_at_the_heap_budget),
        cmocka_unit_test(parsing_ends_at_the_heap_budget),
        cmocka_unit_test(lengths_beyond_the_limit_are_refused),
        cmocka_unit_test(depth_ends_in_a_range_error),
        cmocka_unit_test(deep_text_is_parsed_without_recursion),
        cmocka_unit_test(long_built_ins_can_be_stopped_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
