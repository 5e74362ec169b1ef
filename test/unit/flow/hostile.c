// Hostile scripts, made from a seed: regular expressions that explode, keys that are meant to
// collide, searches in texts without an end to them. None may crash, take more memory than its run
// is allowed, or hold the thread: a slice ends because everything is paid for.
//
// Whoever looks for more runs it with a larger ABIDE_TEST_SCALE: each percent is CASES / 100 cases.
#include "base/array.h"
#include "unit/flow/vm.h"

enum {
    CASES = 60,       // of each kind
    SECONDS_MAX = 20, // of processor time that a slice may take; a tenth of one is usual
    SLICES = 4,       // that a case may use; it is dropped then
    SOURCE_MAX = 4096,
    HEAP_MAX = 24 << 20,
};

typedef struct Random {
    uint64_t state;
} Random;

static uint32_t draw(Random *random, uint32_t below) {
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->state >> 33) % below;
}

static const char *pick(Random *random, const char *const *words, size_t count) {
    return words[draw(random, (uint32_t)count)];
}
#define PICK(random, words) pick((random), (words), COUNT_OF(words))

typedef struct Text { // of the program under construction
    char data[SOURCE_MAX];
    size_t len;
} Text;

__attribute__((format(printf, 2, 3))) static void put(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof text->data - text->len;
    int len = vsnprintf(text->data + text->len, room, format, arguments);
    va_end(arguments);
    if (len > 0) text->len += (size_t)len < room ? (size_t)len : room - 1;
}

// Runs a program. Whatever it throws is fine.
static void run_hostile(const char *source) {
    FlowLimits limits = FLOW_LIMITS_DEFAULT;
    limits.heap_bytes = HEAP_MAX;
    limits.instructions_per_turn = 400000;
    limits.regexp_steps = 400000;
    Run run;
    run_begin_limited(&run, source, NULL, limits);
    int slices = 0;
    do {
        double before = cpu_seconds();
        flow_vm_run(run.vm, &run.result);
        double seconds = cpu_seconds() - before;
        if (seconds > SECONDS_MAX) fail_msg("%.1f s in one slice: %s", seconds, source);
        slices++;
        FlowVmStats stats;
        flow_vm_stats(run.vm, &stats);
        if (stats.heap_bytes > 2 * HEAP_MAX) fail_msg("%zu bytes: %s", stats.heap_bytes, source);
    } while (run.result.outcome == FLOW_PREEMPTED && slices < SLICES);
    run_end(&run);
}

// ---- regular expressions ----

static void put_pattern(Random *random, Text *text, int depth) {
    static const char *const atoms[] = {
        "a",       "b",        ".",      "\\\\w",    "[ab]",  "[^b]", "(?:a|a)", "\\\\1",
        "(?=a*b)", "(?!a*c)",  "(?<=a)", "(?<!b|c)", "\\\\b", "a?",   "(a*)",    "(?<=(?:a|b)a)",
        "\\u1234", "\\\\p{L}", "^",      "$"};
    static const char *const loops[] = {"*", "+", "*?", "+?", "{2,}", "{0,40}", "{30}", "?", ""};
    uint32_t parts = 1 + draw(random, 4);
    for (uint32_t i = 0; i < parts; i++) {
        if (depth > 0 && draw(random, 3) == 0) {
            put(text, "%s", draw(random, 2) ? "(" : "(?:");
            put_pattern(random, text, depth - 1);
            if (draw(random, 2)) {
                put(text, "|");
                put_pattern(random, text, depth - 1);
            }
            put(text, ")%s", PICK(random, loops));
        } else {
            put(text, "%s%s", PICK(random, atoms), PICK(random, loops));
        }
    }
}

static void make_regexp(Random *random, Text *text) {
    static const char *const subjects[] = {"'a'.repeat(50000)", "'ab'.repeat(20000)",
                                           "'a'.repeat(30000) + 'b'", "'\\u1234a'.repeat(20000)",
                                           "'aB'.repeat(3000) + '\\u1234'.repeat(9000)"};
    static const char *const uses[] = {"r.test(s)",  "s.match(r)",  "s.replace(r, '$1x')",
                                       "s.split(r)", "s.search(r)", "[...s.matchAll(r)]"};
    static const char *const flags[] = {"", "g", "gi", "y", "gm", "gu", "giu", "s"};
    const char *flag = PICK(random, flags);
    const char *use = PICK(random, uses);
    if (strstr(use, "matchAll") && !strchr(flag, 'g')) flag = "g";
    put(text, "const s = %s; let r; try { r = new RegExp('", PICK(random, subjects));
    put_pattern(random, text, 3);
    put(text, "', '%s') } catch { return }\n", flag);
    put(text,
        "for (let i = 0; i < 50; i++) try { %s } catch (e) {"
        " if (!(e instanceof RangeError)) throw e }",
        use);
}

// ---- keys ----

static void make_flood(Random *random, Text *text) {
    static const char *const keys[] = {"i * 65536",
                                       "i * 4294967296",
                                       "-i",
                                       "i / 1048576",
                                       "2 ** (i % 1000) * i",
                                       "BigInt(i) << 32n",
                                       "BigInt(i) ** 9n",
                                       "'k' + i",
                                       "String(i).padStart(16, 'D')",
                                       "'\\u7370' + i + '\\u1319'",
                                       "'Ds\\x07p\\x03\\x2e\\x8a\\x19\\x13' + i",
                                       "i % 2 ? i : String(i)"};
    static const char *const tables[] = {
        "const t = new Map(); for (let i = 0; i < n; i++) t.set(key(i), i);"
        " for (let i = 0; i < n; i++) if (t.get(key(i)) === undefined) throw new Error('lost')",
        "const t = new Set(); for (let i = 0; i < n; i++) t.add(key(i));"
        " for (let i = 0; i < n; i += 2) t.delete(key(i));"
        " for (let i = 0; i < n; i++) t.has(key(i))",
        "const t = {}; for (let i = 0; i < n; i++) t[key(i)] = i;"
        " for (let i = 0; i < n; i += 3) delete t[key(i)]; Object.keys(t)",
        "const all = [];"
        " for (let i = 0; i < n; i++) all.push(JSON.stringify(String(key(i))) + ':1');"
        " for (let i = 0; i < 20; i++) JSON.parse('{' + all.join() + '}')",
    };
    put(text, "const n = %u, key = i => %s\n%s", 1000 + draw(random, 20000), PICK(random, keys),
        PICK(random, tables));
}

// ---- searches ----

static void make_search(Random *random, Text *text) {
    static const char *const units[] = {"a",        "ab",        "aab",  "\\u1234",
                                        "\\u1234b", "ab\\u1234", "\\xff"};
    static const char *const uses[] = {"s.indexOf(t)",
                                       "s.lastIndexOf(t)",
                                       "s.includes(t)",
                                       "s.split(t)",
                                       "s.replaceAll(t, '-')",
                                       "s.startsWith(t)",
                                       "s.endsWith(t)",
                                       "s === t",
                                       "s < t",
                                       "s.localeCompare(t)"};
    const char *unit = PICK(random, units);
    put(text, "const s = '%s'.repeat(%u)%s, t = %s'%s'.repeat(%u)%s\nfor (;;) %s", unit,
        1000 + draw(random, 300000), draw(random, 2) ? "" : " + '\\u1235'",
        draw(random, 2) ? "" : "'x' + ", unit, 1 + draw(random, 100000),
        draw(random, 2) ? "" : " + 'y'", PICK(random, uses));
}

// ---- many values, all of them long ----

static void make_crossed(Random *random, Text *text) {
    static const char *const values[] = {
        "'a'.repeat(2e6) + n",       "'\\u1234'.repeat(1e6) + n",     "2n ** 262000n + BigInt(n)",
        "'a'.repeat(200) + n",       "Array(20000).fill([n])",        "new Array(1e6 + n)",
        "'\\u03a3'.repeat(5e5) + n", "({ a: 'a'.repeat(1e6), b: n })"};
    static const char *const uses[] = {"a.toSorted()",
                                       "a.indexOf(w)",
                                       "a.includes(w)",
                                       "a.lastIndexOf(w)",
                                       "new Set(a)",
                                       "new Map(a.map(x => [x, x]))",
                                       "Object.fromEntries(a.map(x => [x, 1]))",
                                       "a.join('')",
                                       "String(a)",
                                       "a.flat(Infinity)",
                                       "[].concat(...a)",
                                       "''.concat(...a)",
                                       "JSON.stringify(a)",
                                       "structuredClone(a)",
                                       "console.log(a)",
                                       "console.log(...a)",
                                       "Object.assign({}, ...a)",
                                       "a.map(String)",
                                       "Object.groupBy(a, x => x)",
                                       "Stream.write(a)",
                                       "a.concat(a).slice()",
                                       "JSON.stringify({}, a)",
                                       "a.filter(x => x === w)",
                                       "a.toSorted((x, y) => x < y ? -1 : 1)"};
    put(text, "const value = n => %s, q = [0, 1, 2].map(value), w = value(7)\n",
        PICK(random, values));
    put(text,
        "const a = Array.from({ length: %u }, (_, i) => q[i %% 3])\n"
        "for (;;) try { %s } catch (e) { if (!(e instanceof RangeError) &&"
        " !(e instanceof TypeError)) throw e }",
        100 + draw(random, 100000), PICK(random, uses));
}

// ----

typedef void MakeCase(Random *random, Text *text);

static void run_cases(MakeCase *make, const char *kind) {
    size_t count = scaled(CASES);
    for (size_t i = 0; i < count; i++) {
        Random random = {i * 7919 + 1};
        Text text = {.len = 0};
        make(&random, &text);
        run_hostile(text.data);
    }
    print_message("%zu hostile %s\n", count, kind);
}

static void hostile_regular_expressions_end(void **state) {
    (void)state;
    run_cases(make_regexp, "regular expressions");
}

static void floods_of_keys_end(void **state) {
    (void)state;
    run_cases(make_flood, "floods");
}

static void hostile_searches_end(void **state) {
    (void)state;
    run_cases(make_search, "searches");
}

static void many_long_values_end(void **state) {
    (void)state;
    run_cases(make_crossed, "many long values");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_regular_expressions_end),
        cmocka_unit_test(floods_of_keys_end),
        cmocka_unit_test(hostile_searches_end),
        cmocka_unit_test(many_long_values_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
