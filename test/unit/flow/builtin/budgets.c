// Built-ins under budgets: what a script asks for is refused in words before it is made, and long
// built-ins can be stopped between any two instructions.
#include "base/array.h"
#include "flow/limits.h"
#include "unit/flow/vm.h"
#include <sys/resource.h>

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
    assert_flow_fails("const [...a] = new Array(4294967295)", "RangeError", "Invalid array length");
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
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        assert_flow_fails(programs[i], "RangeError", "Maximum call stack size exceeded");
    }
}

static void deep_text_is_parsed_without_recursion(void **state) {
    (void)state;
    assert_flow("const n = 100000; let d = JSON.parse('['.repeat(n) + ']'.repeat(n)), k = 0;"
                " while (d) { d = d[0]; k++ } return k",
                "100000");
}

// Each of these would hold a thread for minutes if built-ins were free: what they look at is paid
// for, so the loop is preempted after a few rounds, and all of it ends after a known number of
// slices.
static const char *const paid_programs[] = {
    "const s = 'ab'.repeat(1e6), t = 'ba'.repeat(100) + 'c'; for (;;) s.indexOf(t)",
    "const s = '\u1234b'.repeat(1e6), t = 'b\u1234'.repeat(4e5) + 'x'; for (;;) s.indexOf(t)",
    "const s = 'a'.repeat(4e6), t = 'b' + 'a'.repeat(2e6); for (;;) s.lastIndexOf(t)",
    "const s = 'a'.repeat(4e6), t = 'a'.repeat(4e6); for (;;) if (s !== t) break",
    "const s = '\u1234'.repeat(2e6), t = s + 'b'; for (;;) if (s > t) break",
    "const s = 'a'.repeat(4e6); for (;;) s.includes('b')",
    "const s = 'a'.repeat(4e6); for (;;) s.split('ab')",
    "const s = 'a'.repeat(4e6); for (;;) s.replaceAll('ab', '')",
    "const s = ' '.repeat(4e6); for (;;) s.trim()",
    "const s = '1'.repeat(4e6); for (;;) Number(s)",
    "const s = '1'.repeat(4e6); for (;;) parseFloat(s)",
    "const s = '\u00e9'.repeat(4e5); for (;;) s.normalize('NFD')",
    "const s = 'a'.repeat(2e6); for (;;) /b/.test(s)",
    "const s = 'a'.repeat(2e6); for (;;) try { /a*b/.test(s) } catch {}",
    "const k = 'k'.repeat(4e6), m = new Map([[k, 1]]), q = 'k'.repeat(4e6); for (;;) m.get(q)",
    "const k = 'k'.repeat(4e6), o = { [k]: 1 }, q = 'k'.repeat(4e6); for (;;) o[q]",
    "const a = Array.from({ length: 3e5 }, (_, i) => 'k' + i); for (;;) a.indexOf('none')",
    "const a = Array.from({ length: 3e5 }, (_, i) => i); for (;;) a.toSorted((x, y) => y - x)",
    "const a = Array.from({ length: 3e5 }, (_, i) => i); for (;;) a.slice()",
    "const a = Array.from({ length: 3e5 }, (_, i) => i); for (;;) JSON.stringify(a)",
    "const s = `[${'1,'.repeat(5e5)}1]`; for (;;) JSON.parse(s)",
    "const a = 2n ** 120000n - 1n; for (;;) a * a",
    "const a = 2n ** 250000n - 1n; for (;;) a.toString()",
    "const o = {}; for (let i = 0; i < 5e4; i++) o['k' + i] = i; for (;;) ({ ...o })",
    "const o = {}; for (let i = 1e6; ; i--) o[i * 7] = i",
};

// The second slice shows that what was stopped goes on; further ones are for those who have time.
static int slice_count(void) { return scaled(100) >= 100 ? 4 : 2; }

static void what_built_ins_look_at_is_paid_for(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(paid_programs); i++) {
        FlowLimits limits = FLOW_LIMITS_DEFAULT;
        limits.instructions_per_turn = 2000000;
        Run run;
        run_begin_limited(&run, paid_programs[i], NULL, limits);
        for (int slice = 0; slice < slice_count(); slice++) {
            flow_vm_run(run.vm, &run.result);
            if (run.result.outcome != FLOW_PREEMPTED) {
                fail_msg("%s: %.*s", paid_programs[i], STR_ARG(run.result.failure.message));
            }
        }
        run_end(&run);
    }
}

// Many values, each of them long: every one of these is a single call that would take minutes to
// hours. Each must end or be stopped within seconds of processor time.
static const char *const crossed_programs[] = {
    "const p = 'a'.repeat(4e6), q = [p + 0, p + 1, p + 2];"
    " const a = Array.from({ length: 3e5 }, (_, i) => q[i * 7 % 3]); for (;;) a.toSorted()",
    "const b = 2n ** 262000n, a = Array(3e5).fill(b); for (;;) a.toSorted()",
    "const q = ['a'.repeat(1e7), 'a'.repeat(1e7)];"
    " const a = Array.from({ length: 3e5 }, (_, i) => q[i & 1]); for (;;) new Set(a)",
    "const q = ['a'.repeat(1e7), 'a'.repeat(1e7)];"
    " const a = Array.from({ length: 1e5 }, (_, i) => [q[i & 1], 1]); for (;;) new Map(a)",
    "const q = ['a'.repeat(1e7), 'a'.repeat(1e7)];"
    " const a = Array.from({ length: 1e5 }, (_, i) => [q[i & 1], 1]);"
    " for (;;) Object.fromEntries(a)",
    "const s = 'a'.repeat(4e6) + 'b', a = Array(1e6).fill('a'.repeat(4e6) + 'c');"
    " for (;;) a.indexOf(s)",
    "const s = 'a'.repeat(4e6) + 'b', a = Array(1e6).fill('a'.repeat(4e6) + 'c');"
    " for (;;) a.includes(s)",
    "const b = 2n ** 262000n, a = Array(1e6).fill(b + 1n); for (;;) a.lastIndexOf(b)",
    "const o = {}; for (let i = 0; i < 5e4; i++) o['k' + i] = i;"
    " const a = Array(1e5).fill(o); for (;;) Object.assign({}, ...a)",
    "const e = Array(1000).fill([]), a = Array(1e5).fill(Array(1000).fill(e));"
    " for (;;) a.flat(Infinity)",
    "const o = {}; for (let i = 0; i < 5e4; i++) o['k' + i] = undefined;"
    " const a = Array(1e5).fill(o); for (;;) JSON.stringify(a)",
    "const b = 2n ** 262000n, a = Array(1e5).fill(b); for (;;) try { a.join() } catch {}",
    "const b = 2n ** 262000n, a = Array(1e5).fill(b); for (;;) try { ''.concat(...a) } catch {}",
    "const s = 'x'.repeat(2e6), o = {}; for (let i = 0; i < 1e4; i++) o['k' + i] = s;"
    " const a = Array(100).fill(Array(100).fill(o)); for (;;) console.log(a)",
    "const s = '{' + Array.from({ length: 1e6 }, (_, i) => `\"${4e6 - i * 3}\":0`) + '}';"
    " for (;;) JSON.parse(s)",
    "const s = '\u03a3'.repeat(4e6); for (;;) s.toLowerCase()",
    "const m = new Map([[2n ** 262000n, 1]]), b = 2n ** 262000n; for (;;) m.get(b)",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (;;) o.x",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (;;) o instanceof Map",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o);"
    " const a = Array(1e5).fill(o); for (;;) JSON.stringify(a)",
    "let f = x => x; for (let i = 0; i < 1e5; i++) f = f.bind(null); for (;;) f(1)",
    "let o = []; for (let i = 0; i < 2000; i++) o = [o]; for (;;) String(o)",
    "const s = 'a'.repeat(1e5); for (;;) Object.assign({}, s)",
    "const a = Array(1e5).fill('x'); for (;;) console.log(a)",
    "const a = Array(100).fill(Array(100).fill(new Array(1e6))); for (;;) console.log(a)",
    "const h = Array(3e6).fill(1); for (let i = 0; i < 3e6 - 1; i++) delete h[i];"
    " const a = Array(100).fill(Array(100).fill(h)); for (;;) console.log(a)",
    "for (;;) (5e-324).toPrecision(100)",
    "for (;;) (1.7976931348623157e308).toString(2)",
    "const s = 'a'.repeat(20000); for (;;) try { s.replace(/a/g, '$`') } catch {}",
};

static void no_built_in_holds_its_thread(void **state) {
    (void)state;
    enum { SECONDS_MAX = 20 }; // a tenth of a second is usual, without sanitizers
    size_t step = scaled(100) >= 100 ? 1 : 3;
    for (size_t i = 0; i < COUNT_OF(crossed_programs); i += step) {
        Run run;
        run_begin(&run, crossed_programs[i], NULL);
        for (int slice = 0; slice < slice_count(); slice++) {
            double before = cpu_seconds();
            flow_vm_run(run.vm, &run.result);
            double seconds = cpu_seconds() - before;
            if (seconds > SECONDS_MAX) fail_msg("%.1f s: %s", seconds, crossed_programs[i]);
            if (run.result.outcome != FLOW_PREEMPTED) {
                fail_msg("%s: %.*s", crossed_programs[i], STR_ARG(run.result.failure.message));
            }
        }
        run_end(&run);
    }
}

// The input of a run comes from others too: 4 MiB of keys that come in the worst order.
static void inputs_are_read_in_no_time(void **state) {
    (void)state;
    Buf input;
    buf_init(&input, 8 << 20);
    buf_append_cstr(&input, "{\"9000000\":\"lost\"");
    for (uint32_t i = 0; i < 300000; i++) {
        buf_printf(&input, ",\"%u\":%u", i % 2 ? 2000000 + i * 3 : 2000000 - i * 3, i);
    }
    buf_append_cstr(&input, ",\"9000000\":\"kept\"}");
    double before = cpu_seconds();
    Run run;
    run_begin(&run,
              "export default async function main(inputs) {"
              " const k = Object.keys(inputs), n = k.length; let bad = 0;"
              " for (let i = 1; i < n; i++) if (+k[i] <= +k[i - 1]) bad++;"
              " return [n, bad, inputs[2000000], inputs[2000003], inputs[9000000]] }",
              buf_cstr(&input));
    double seconds = cpu_seconds() - before;
    if (seconds > 5) fail_msg("%.1f s", seconds); // hundreds, if each moved those behind it
    if (run_turn(&run) != FLOW_COMPLETED) fail_msg("%.*s", STR_ARG(run.result.failure.message));
    assert_true(str_equal(run.result.result_json, STR("[300001,0,0,1,\"kept\"]")));
    run_end(&run);
    buf_done(&input);
}

// Strings that are made of others take their room when somebody looks at them. 4,000 of 1 MiB.
static const char *const rope_uses[] = {
    "a.toSorted()",
    "a.indexOf(s + 9999)",
    "a.includes(s + 9999)",
    "a.lastIndexOf(s + 9999)",
    "new Set(a)",
    "a.join()",
    "JSON.stringify(a)",
    "JSON.stringify({}, a)",
    "''.concat(...a)",
    "console.log(...a)",
    "console.log(a)",
    "Stream.write(a)",
    "a.filter(x => x === s + 9999)",
    "a.map(x => x.at(0))",
    "Object.fromEntries(a.map(x => [x, 1]))",
    "new Map(a.map(x => [x, 1]))",
    "a.reduce((x, y) => x + y, '').at(0)",
};

static long peak_mib(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss >> 10;
}

static void no_built_in_outgrows_the_memory_of_its_run(void **state) {
    (void)state;
    enum { GROWTH_MAX = 1000 }; // MiB; a run has 64, its built-ins twice that, sanitizers the rest
    long before = peak_mib();
    for (size_t i = 0; i < COUNT_OF(rope_uses); i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "const s = 'a'.repeat(1 << 20);"
                 " const a = Array.from({ length: 4000 }, (_, i) => s + (i + 1000)); %s",
                 rope_uses[i]);
        Run run;
        run_begin(&run, source, NULL);
        (void)run_turn(&run); // most are out of memory
        run_end(&run);
        long growth = peak_mib() - before;
        if (growth > GROWTH_MAX) fail_msg("%ld MiB: %s", growth, rope_uses[i]);
    }
    assert_fails_within("let s = 'a'.repeat(1e6); for (;;) s += s", SMALL_HEAP,
                        "RangeError: Invalid string length");
}

// The way that can be stopped answers as the fast one does.
static void long_ways_answer_as_short_ones(void **state) {
    (void)state;
    assert_flow("const p = 'a'.repeat(4e6), q = [p + 2, p + 0, p + 1], a = [undefined];"
                " for (let i = 0; i < 60; i++) a.push(q[i % 3]); const b = a.toSorted(); a.sort();"
                " return [a, b].map(l => l.map(s => s ? s.at(-1) : '-').join('')).join()",
                "\"00000000000000000000111111111111111111112222222222222222222"
                "2-,00000000000000000000111111111111111111112222222222222222222"
                "2-\"");
    assert_flow("return [30n, 4n, 10n, undefined, 2n ** 200n].sort().map(String).join()",
                "\"10,1606938044258990275541962092341162602522202993782792835301376,"
                "30,4,undefined\"");
    assert_flow("const q = ['a', 'a', 'b'].map(c => c.repeat(1e7)), a = [];"
                " for (let i = 0; i < 300; i++) a.push(q[i % 3]);"
                " const m = new Map(a.map((x, i) => [x, i])), s = new Set(a);"
                " const o = Object.fromEntries(a.map((x, i) => [x, i]));"
                " return [m.size, s.size, ...m.values(), ...Object.values(o),"
                " a.indexOf('c' + q[0].slice(1)), a.lastIndexOf(q[1]), a.includes('b'.repeat(1e7)),"
                " [...s].map(x => x[0]).join('')]",
                "[2,2,298,299,298,299,-1,298,true,\"ab\"]");
    assert_flow("const b = 2n ** 262000n, t = ''.concat(1, ...Array(20).fill(b), null, 'x');"
                " return [t.length, t.slice(-5), [1, ...Array(20).fill(b)].join('').length]",
                "[1577406,\"nullx\",1577401]");
    assert_flow("const e = Array(1000).fill([]), a = Array(20).fill(Array(1000).fill(e));"
                " return [1, a, [2, [3]]].flat(Infinity)",
                "[1,2,3]");
    assert_flow("return ['\u0391\u03a3', '\u03a3\u00ad\u03a3.', '\u0391\u03a3\u0391', '\u03a3']"
                ".map(s => s.toLowerCase()).join()",
                "\"\u03b1\u03c2,\u03c3\u00ad\u03c2.,\u03b1\u03c3\u03b1,\u03c3\"");
}

static void what_a_built_in_took_too_much_is_missing_later(void **state) {
    (void)state;
    FlowLimits limits = FLOW_LIMITS_DEFAULT;
    limits.instructions_per_turn = 10000;
    Run run;
    run_begin_limited(&run, "'a'.repeat(4e6).lastIndexOf('b'); return 1", NULL, limits);
    int slices = 0;
    do {
        flow_vm_run(run.vm, &run.result);
        slices++;
    } while (run.result.outcome == FLOW_PREEMPTED);
    assert_int_equal(run.result.outcome, FLOW_COMPLETED);
    assert_true(slices > 50);
    run_end(&run);
}

static void strings_are_found_from_both_ends(void **state) {
    (void)state;
    assert_flow(
        "let bad = 0, seed = 7; const random = n => (seed = seed * 48271 % 2147483647) % n\n"
        "const letters = ['a', 'b', '\u1234', '\u1235']\n"
        "const word = (length, kinds) =>\n"
        "  Array.from({ length }, () => letters[random(kinds)]).join('')\n"
        "for (let i = 0; i < 3000; i++) {\n"
        "  const kinds = 1 + random(4), s = word(random(60), kinds).repeat(1 + random(3))\n"
        "  const at = random(s.length + 1)\n"
        "  const t = random(3) ? s.slice(at, at + random(40)) : word(random(30), kinds)\n"
        "  let first = -1, last = -1\n"
        "  for (let k = 0; k + t.length <= s.length; k++) if (s.slice(k, k + t.length) === t) {\n"
        "    if (first < 0) first = k\n"
        "    last = k\n"
        "  }\n"
        "  if (s.indexOf(t) !== first || s.lastIndexOf(t) !== last) bad++\n"
        "}\n"
        "return bad",
        "0");
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
        cmocka_unit_test(what_built_ins_look_at_is_paid_for),
        cmocka_unit_test(no_built_in_holds_its_thread),
        cmocka_unit_test(inputs_are_read_in_no_time),
        cmocka_unit_test(no_built_in_outgrows_the_memory_of_its_run),
        cmocka_unit_test(long_ways_answer_as_short_ones),
        cmocka_unit_test(what_a_built_in_took_too_much_is_missing_later),
        cmocka_unit_test(strings_are_found_from_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
