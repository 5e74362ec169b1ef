// Regular expressions: what our engine finds, that PCRE2 finds the same, and that both have limits.
#include "base/array.h"
#include "base/env.h"
#include "flow/regexp/check.h"
#include "flow/regexp/internal.h"
#include "unit/flow/vm.h"

enum { CAPTURES = 40, PATTERN_MAX = 2000 };

typedef struct Pattern {
    Arena arena;
    RegexpTree tree;
    RegexpProgram program;
    char message[REGEXP_MESSAGE_MAX];
} Pattern;

static bool pattern_open(Pattern *pattern, const char *text, size_t length, uint32_t flags) {
    uint16_t units[PATTERN_MAX];
    assert_true(length <= PATTERN_MAX);
    for (size_t i = 0; i < length; i++) units[i] = (unsigned char)text[i];
    arena_init(&pattern->arena);
    RegexpSource source = {units, length, flags};
    bool is_fine = regexp_parse(&pattern->arena, &source, &pattern->tree, pattern->message);
    return is_fine && regexp_compile(&pattern->arena, &pattern->tree, &pattern->program);
}

static RegexpSubject subject_of(const char *text) {
    return (RegexpSubject){(const uint8_t *)text, NULL, (uint32_t)strlen(text)};
}

// The match as "start-end start-end …", or "none".
static void assert_match(const char *text, uint32_t flags, const char *subject,
                         const char *expected) {
    Pattern pattern;
    assert_true(pattern_open(&pattern, text, strlen(text), flags));
    RegexpSubject s = subject_of(subject);
    RegexpBudget budget = {100000, 1 << 20};
    int32_t captures[2 * CAPTURES];
    char found[512] = "none";
    if (regexp_match(&pattern.program, &s, 0, &budget, captures) == REGEXP_MATCH) {
        size_t length = 0;
        for (uint32_t i = 0; i <= pattern.tree.capture_count; i++) {
            int32_t start = captures[2 * i];
            length += (size_t)snprintf(found + length, sizeof found - length, "%s%d-%d",
                                       i ? " " : "", start, captures[2 * i + 1]);
        }
    }
    if (strcmp(found, expected) != 0) {
        fail_msg("/%s/ on \"%s\": %s, not %s", text, subject, found, expected);
    }
    arena_done(&pattern.arena);
}

static void captures_are_undefined_again_in_each_round(void **state) {
    (void)state;
    assert_match("(?:(a)|b)*", 0, "ab", "0-2 -1--1");
    assert_match("(z)((a+)?(b+)?(c))*", 0, "zaacbbbcac", "0-10 0-1 8-10 8-9 -1--1 9-10");
}

static void empty_rounds_end_a_loop(void **state) {
    (void)state;
    assert_match("(a*)*", 0, "b", "0-0 -1--1");
    assert_match("(a*)+", 0, "b", "0-0 0-0");
    assert_match("(?:a*?)*", 0, "aaa", "0-3");
    assert_match("(?:a|())*b", 0, "aab", "0-3 -1--1");
    assert_match("(\\2a)(\\1)", 0, "aaa", "0-2 0-1 1-2");
}

static void lookbehind_reads_backwards(void **state) {
    (void)state;
    assert_match("(?<=(\\d+)(\\d+))$", 0, "1053", "4-4 0-1 1-4");
    assert_match("(?<=\\1(.))b", 0, "aab", "2-3 1-2");
    assert_match("(?<!a)b", 0, "abb", "2-3");
}

static void lookahead_keeps_captures_unless_negated(void **state) {
    (void)state;
    assert_match("(?=(a))\\1", 0, "aa", "0-1 0-1");
    assert_match("(?!(a)b)a", 0, "ac", "0-1 -1--1");
    assert_match("(?=(a+))a*b\\1", 0, "baaabac", "3-6 3-4");
}

static void lines_and_case_follow_the_flags(void **state) {
    (void)state;
    assert_match("^b$", 0, "a\nb\nc", "none");
    assert_match("^b$", REGEXP_MULTILINE, "a\nb\nc", "2-3");
    assert_match(".", 0, "\n\r", "none");
    assert_match(".", REGEXP_DOT_ALL, "\n", "0-1");
    assert_match("[a-c]+K", REGEXP_IGNORE_CASE, "xABCk", "1-5");
    assert_match("(a)\\1", REGEXP_IGNORE_CASE, "aA", "0-2 0-1");
    assert_match("b", REGEXP_STICKY, "ab", "none");
}

static void bad_patterns_are_refused_in_words(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t flags;
        const char *message;
    } samples[] = {
        {"(", 0, "Unterminated group"},
        {")", 0, "Unmatched ')'"},
        {"[", 0, "Unterminated character class"},
        {"*", 0, "Nothing to repeat"},
        {"a**", 0, "Nothing to repeat"},
        {"\\", 0, "\\ at end of pattern"},
        {"a{2,1}", 0, "numbers out of order in {} quantifier"},
        {"[b-a]", 0, "Range out of order in character class"},
        {"(?<a>x)(?<a>y)", 0, "Duplicate capture group name"},
        {"(?<1>x)", 0, "Invalid capture group name"},
        {"(?x)", 0, "Invalid group"},
        {"\\k<x>", REGEXP_UNICODE, "Invalid named capture referenced"},
        {"\\p{Nothing}", REGEXP_UNICODE, "Invalid property name"},
        {"\\q", REGEXP_UNICODE, "Invalid escape"},
        {"a{", REGEXP_UNICODE, "Incomplete quantifier"},
        {"]", REGEXP_UNICODE, "Lone quantifier brackets"},
        {"[\\d-x]", REGEXP_UNICODE, "Invalid character class"},
        {"\\u{110000}", REGEXP_UNICODE, "Invalid Unicode escape"},
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        Pattern pattern;
        bool is_fine =
            pattern_open(&pattern, samples[i].text, strlen(samples[i].text), samples[i].flags);
        if (is_fine) fail_msg("/%s/ was accepted", samples[i].text);
        assert_string_equal(pattern.message, samples[i].message);
        arena_done(&pattern.arena);
    }
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    char text[PATTERN_MAX];
    memset(text, '(', sizeof text);
    Pattern pattern;
    assert_false(pattern_open(&pattern, text, sizeof text, 0));
    assert_string_equal(pattern.message, "Regular expression too large");
    arena_done(&pattern.arena);
}

static void literals_are_checked_without_a_vm(void **state) {
    (void)state;
    char message[FLOW_REGEXP_MESSAGE_MAX];
    assert_true(flow_regexp_check(STR("a(b)"), STR("gi"), message));
    assert_false(flow_regexp_check(STR("a("), STR("u"), message));
    assert_string_equal(message, "Invalid regular expression: /a(/u: Unterminated group");
    assert_false(flow_regexp_check(STR("a"), STR("gg"), message));
}

// --- random patterns for both engines

typedef struct Maker {
    uint64_t seed;
    char text[PATTERN_MAX];
    size_t length;
} Maker;

static uint32_t below(Maker *m, uint32_t count) {
    return (uint32_t)(random_next(&m->seed) >> 33) % count;
}

static void put(Maker *m, const char *text) {
    size_t length = strlen(text);
    if (m->length + length > PATTERN_MAX) return;
    memcpy(m->text + m->length, text, length);
    m->length += length;
}

static void make_choice(Maker *m, int depth);

static void make_atom(Maker *m, int depth) {
    static const char *const simple[] = {"a",   "b",    "c",     "A",      "1",    "_",    ".",
                                         "\\d", "\\w",  "\\s",   "\\W",    "[ab]", "[^a]", "[]",
                                         "[^]", "(?:)", "(a|b)", "[a-c1]", "\\1",  "\xe9"};
    static const char *const groups[] = {"(", "(?:", "(?=", "(?!", "(?<=", "(?<!"};
    if (depth == 0 || below(m, 2)) {
        put(m, simple[below(m, COUNT_OF(simple))]);
        return;
    }
    put(m, groups[below(m, below(m, 3) ? 2 : 6)]);
    make_choice(m, depth - 1);
    put(m, ")");
}

static void make_choice(Maker *m, int depth) {
    static const char *const repeats[] = {"*", "+", "?", "{2}", "{1,2}", "{0}", "*?", "+?", "??"};
    static const char *const edges[] = {"^", "$", "\\b", "\\B"};
    for (uint32_t i = below(m, 4); i > 0; i--) {
        size_t start = m->length;
        make_atom(m, depth);
        bool is_behind = m->length - start > 2 && memcmp(m->text + start, "(?<", 3) == 0;
        if (!is_behind && below(m, 2)) put(m, repeats[below(m, 9)]);
        if (below(m, 8) == 0) put(m, edges[below(m, 4)]);
    }
    if (below(m, 3) == 0) {
        put(m, "|");
        make_atom(m, depth);
    }
}

static void compare_engines(Maker *m, Pattern *pattern, RegexpFast *fast, bool is_wide) {
    static const uint16_t letters[] = {'a', 'b',  'c',  'A',   '1',   '_',
                                       ' ', '\n', 0xE9, 0x3C3, 0x2028};
    uint16_t wide[12];
    uint8_t narrow[12];
    uint32_t length = below(m, 12);
    for (uint32_t i = 0; i < length; i++) {
        wide[i] = letters[below(m, is_wide ? 11 : 9)];
        narrow[i] = (uint8_t)wide[i];
    }
    RegexpSubject subject = {is_wide ? NULL : narrow, is_wide ? wide : NULL, length};
    RegexpBudget ours = {1000000, 1 << 20};
    RegexpBudget theirs = ours;
    int32_t a[2 * CAPTURES], b[2 * CAPTURES];
    uint32_t start = below(m, length + 1);
    RegexpOutcome first = regexp_match(&pattern->program, &subject, start, &ours, a);
    RegexpOutcome second = regexp_fast_match(fast, &subject, start, &theirs, b);
    if (first > REGEXP_MATCH || second > REGEXP_MATCH) return; // limits are counted differently
    size_t size = sizeof(int32_t) * 2 * (pattern->tree.capture_count + 1);
    if (first == second && (first == REGEXP_NO_MATCH || memcmp(a, b, size) == 0)) return;
    fail_msg("the engines differ on /%.*s/", (int)m->length, m->text);
}

static void both_engines_find_the_same(void **state) {
    (void)state;
    Maker m = {.seed = 20};
    uint32_t translated = 0;
    for (size_t round = 0; round < scaled(20000); round++) {
        m.length = 0;
        make_choice(&m, 3);
        uint32_t flags = below(&m, 3) ? 0 : REGEXP_IGNORE_CASE;
        if (below(&m, 4) == 0) flags |= REGEXP_MULTILINE;
        if (below(&m, 8) == 0) flags |= REGEXP_STICKY;
        if (below(&m, 6) == 0) flags |= REGEXP_UNICODE;
        Pattern pattern;
        if (pattern_open(&pattern, m.text, m.length, flags) &&
            pattern.tree.capture_count < CAPTURES) {
            for (int is_wide = 0; is_wide < 2; is_wide++) {
                RegexpFast *fast = regexp_fast_new(&pattern.tree, is_wide);
                for (int i = 0; fast && i < 4; i++) compare_engines(&m, &pattern, fast, is_wide);
                if (fast) translated++;
                regexp_fast_free(fast);
            }
        }
        arena_done(&pattern.arena);
    }
    assert_true(translated > scaled(5000));
}

static void both_engines_stop_at_their_budget(void **state) {
    (void)state;
    Pattern pattern;
    assert_true(pattern_open(&pattern, "(?:a|a)*[bc]", 12, 0));
    char text[41];
    memset(text, 'a', 40);
    text[40] = 0;
    RegexpSubject subject = subject_of(text);
    RegexpBudget budget = {100000, 1 << 20};
    int32_t captures[2];
    assert_int_equal(regexp_match(&pattern.program, &subject, 0, &budget, captures),
                     REGEXP_OUT_OF_STEPS);
    assert_int_equal(budget.steps, 0);
    RegexpFast *fast = regexp_fast_new(&pattern.tree, false);
    assert_non_null(fast);
    budget.steps = 100000;
    assert_int_equal(regexp_fast_match(fast, &subject, 0, &budget, captures), REGEXP_OUT_OF_STEPS);
    regexp_fast_free(fast);
    budget = (RegexpBudget){100000000, 1000};
    assert_int_equal(regexp_match(&pattern.program, &subject, 0, &budget, captures),
                     REGEXP_OUT_OF_MEMORY);
    arena_done(&pattern.arena);
}

static void scripts_get_an_error_from_a_hopeless_match(void **state) {
    (void)state;
    assert_flow_fails("return /(?:a|a)*[bc]/.test('a'.repeat(64))", "RangeError",
                      "Regular expression took more than 10000000 steps to match");
}

static void changed_regexps_follow_the_specification(void **state) {
    (void)state;
    assert_flow("class R extends RegExp { exec(s) { const m = super.exec(s); if (m) m[0] += '!';"
                " return m } }\n"
                "return ['abab'.match(new R('b', 'g')), 'abab'.replace(new R('b'), '<$&>'),"
                " new R('a').test('a')]",
                "[[\"b!\",\"b!\"],\"a<b!>b\",true]");
    assert_flow("const r = /a/g; r.lastIndex = { valueOf() { return 1 } };"
                "return [r.exec('aaa').index, r.lastIndex]",
                "[1,2]");
    assert_flow("return 'a-b'.split({ [Symbol.split](s, n) { return [s, n] } }, 7)", "[\"a-b\",7]");
}

// PCRE2's own limit would see a few steps here: it counts starts, not characters.
static void both_engines_count_characters(void **state) {
    (void)state;
    static const char *const patterns[] = {"a+b",
                                           "a*?b",
                                           "(?:ab|a)*c",
                                           "a{2,}b|a+c",
                                           "(a+)\\1b",
                                           "(?=a+b)x",
                                           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"};
    enum { LENGTH = 20000, BUDGET = 1 << 20 };
    char *text = malloc(LENGTH + 1);
    memset(text, 'a', LENGTH);
    text[LENGTH] = 0;
    uint16_t *wide = malloc(sizeof(uint16_t) * LENGTH);
    for (int i = 0; i < LENGTH; i++) wide[i] = 'a';
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        Pattern pattern;
        assert_true(pattern_open(&pattern, patterns[i], strlen(patterns[i]), 0));
        RegexpSubject subjects[2] = {subject_of(text), {NULL, wide, LENGTH}};
        for (int which = 0; which < 2; which++) {
            RegexpFast *fast = regexp_fast_new(&pattern.tree, which == 1);
            assert_non_null(fast);
            int32_t captures[2 * CAPTURES];
            RegexpBudget ours = {BUDGET, 1 << 20}, theirs = {BUDGET, 1 << 20};
            regexp_match(&pattern.program, &subjects[which], 0, &ours, captures);
            regexp_fast_match(fast, &subjects[which], 0, &theirs, captures);
            // An eighth of a step for each character that was passed; less where memrchr did it.
            assert_true(ours.steps <= BUDGET - LENGTH / 80);
            assert_true(theirs.steps <= BUDGET - LENGTH / 8);
            regexp_fast_free(fast);
        }
        arena_done(&pattern.arena);
    }
    // What is quadratic runs out of steps.
    Pattern pattern;
    assert_true(pattern_open(&pattern, "(?:a+b|a+c)", 11, 0));
    RegexpSubject subject = subject_of(text);
    RegexpFast *fast = regexp_fast_new(&pattern.tree, false);
    int32_t captures[2];
    RegexpBudget budget = {BUDGET, 1 << 20};
    assert_int_equal(regexp_fast_match(fast, &subject, 0, &budget, captures), REGEXP_OUT_OF_STEPS);
    assert_int_equal(budget.steps, 0);
    regexp_fast_free(fast);
    arena_done(&pattern.arena);
    free(text);
    free(wide);
}

// Nested choices in a lookbehind: their length was computed twice on each level.
static void nested_choices_are_measured_once(void **state) {
    (void)state;
    char text[PATTERN_MAX] = "(?<=";
    for (int i = 0; i < 100; i++) snprintf(text + strlen(text), 8, "(?:");
    snprintf(text + strlen(text), 8, "a");
    for (int i = 0; i < 100; i++) snprintf(text + strlen(text), 8, "|b)");
    snprintf(text + strlen(text), 8, ")c");
    Pattern pattern;
    assert_true(pattern_open(&pattern, text, strlen(text), 0));
    regexp_fast_free(regexp_fast_new(&pattern.tree, false));
    arena_done(&pattern.arena);
}

static void reading_a_pattern_has_a_limit(void **state) {
    (void)state;
    static const char *const too_large[] = {
        "'\\\\p{L}'.repeat(40000)",                                        // memory
        "'\u03b1'.repeat(20000)",                                          // time
        "Array.from({ length: 30000 }, (_, i) => `(?<n${i}>a)`).join('')", // names
    };
    for (size_t i = 0; i < COUNT_OF(too_large); i++) {
        char source[256];
        snprintf(source, sizeof source,
                 "try { new RegExp(%s, 'iu') } catch (e) { return e.message.slice(-28) }",
                 too_large[i]);
        assert_flow(source, "\"Regular expression too large\"");
    }
    assert_flow("return new RegExp(Array.from({ length: 5000 }, (_, i) => 'word' + i).join('|'))"
                ".exec('my word4999').index",
                "3");
}

// Patterns are outside of the heap, and count all the same.
static void patterns_count_as_memory(void **state) {
    (void)state;
    assert_flow_fails("const all = []; for (let i = 0; ; i++)"
                      " all.push(new RegExp('\\\\p{L}'.repeat(100) + i, 'u'))",
                      "RangeError", "out of memory budget (67108864 bytes)");
}

static void a_search_through_a_text_has_a_limit(void **state) {
    (void)state;
    assert_flow_fails("return 'ab'.repeat(3e4).concat('a'.repeat(3e4)).replace(/a+b|a+?$/g, '')"
                      ".concat('a'.repeat(3e5)).match(/a(?=a*b)|./g).length",
                      "RangeError",
                      "Regular expression took more than 80000000 steps to go through a text");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_are_undefined_again_in_each_round),
        cmocka_unit_test(empty_rounds_end_a_loop),
        cmocka_unit_test(lookbehind_reads_backwards),
        cmocka_unit_test(lookahead_keeps_captures_unless_negated),
        cmocka_unit_test(lines_and_case_follow_the_flags),
        cmocka_unit_test(bad_patterns_are_refused_in_words),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(literals_are_checked_without_a_vm),
        cmocka_unit_test(both_engines_find_the_same),
        cmocka_unit_test(both_engines_stop_at_their_budget),
        cmocka_unit_test(scripts_get_an_error_from_a_hopeless_match),
        cmocka_unit_test(changed_regexps_follow_the_specification),
        cmocka_unit_test(both_engines_count_characters),
        cmocka_unit_test(nested_choices_are_measured_once),
        cmocka_unit_test(reading_a_pattern_has_a_limit),
        cmocka_unit_test(patterns_count_as_memory),
        cmocka_unit_test(a_search_through_a_text_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
