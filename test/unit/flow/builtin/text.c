// Strings and numbers as text: Unicode, exact digits, order, and limits in scripts.
#include "flow/builtin/text/unicode_tables.h"
#include "unit/flow/vm.h"

static void case_mappings_know_all_of_unicode(void **state) {
    (void)state;
    uint32_t to[UNICODE_CASE_MAX];
    assert_int_equal(flow_unicode_to_upper(0xDF, to), 2); // ß becomes SS
    assert_int_equal(to[0], 'S');
    assert_int_equal(flow_unicode_to_lower(0x130, to), 2); // İ becomes i with a dot
    assert_int_equal(flow_unicode_to_upper(0x10428, to), 1);
    assert_int_equal(to[0], 0x10400);
    assert_int_equal(flow_unicode_to_lower(0x2160, to), 1);
    assert_int_equal(to[0], 0x2170);
    for (uint32_t c = 0; c < 0x110000; c++) { // a capital goes down and comes up again, or stays
        uint32_t back[UNICODE_CASE_MAX];
        if (flow_unicode_to_lower(c, to) != 1 || to[0] == c) continue;
        assert_true(flow_unicode_to_lower(to[0], back) == 1 && back[0] == to[0]);
    }
}

static void compositions_undo_decompositions(void **state) {
    (void)state;
    for (uint32_t i = 0; i < flow_unicode_composition_count; i++) {
        const FlowComposition *c = &flow_unicode_compositions[i];
        uint16_t scratch[4];
        uint32_t length;
        assert_non_null(flow_unicode_decompose(c->whole, false, scratch, &length));
        assert_int_equal(flow_unicode_compose(c->first, c->second), c->whole);
    }
    assert_int_equal(flow_unicode_compose(0x1100, 0x1161), 0xAC00);
    assert_int_equal(flow_unicode_compose(0xAC00, 0x11A8), 0xAC01);
    assert_int_equal(flow_unicode_compose('a', 'b'), 0);
}

static void properties_are_found_by_name_and_value(void **state) {
    (void)state;
    const FlowUnicodeProperty *letter = flow_unicode_property("L", 1, NULL, 0);
    const FlowUnicodeProperty *greek = flow_unicode_property("Script", 6, "Greek", 5);
    assert_non_null(letter);
    assert_non_null(greek);
    assert_true(flow_unicode_has_property(0x3B1, greek));
    assert_false(flow_unicode_has_property('a', greek));
    assert_true(flow_unicode_has_property(0x10FFFF, flow_unicode_property("Any", 3, NULL, 0)));
    assert_null(flow_unicode_property("Greek", 5, NULL, 0));
    assert_null(flow_unicode_property("gc", 2, "Greek", 5));
}

static void normal_forms_convert_into_each_other(void **state) {
    (void)state;
    assert_flow("const s = 'e\\u0323\\u0301 \\uac01 \\u212b \\ufb01';"
                "return [s.normalize() === s.normalize('NFD').normalize('NFC'),"
                " s.normalize('NFKC').at(-1),"
                " '\\u0301\\u0323'.normalize('NFD') === '\\u0323\\u0301']",
                "[true,\"i\",true]");
}

static void exact_digits_are_rounded_once(void **state) {
    (void)state;
    assert_flow("return [(1.005).toFixed(2), (2.5).toFixed(0), (-2.5).toFixed(0),"
                " (1.45).toFixed(1), (1e21).toFixed(2), (0.000001).toFixed(7), (-0).toFixed(1)]",
                "[\"1.00\",\"3\",\"-3\",\"1.4\",\"1e+21\",\"0.0000010\",\"0.0\"]");
    assert_flow("return [(123.456).toPrecision(4), (0.00001).toPrecision(1),"
                " (1e21).toPrecision(3), (1234).toExponential(2), (5e-324).toExponential()]",
                "[\"123.5\",\"0.00001\",\"1.00e+21\",\"1.23e+3\",\"5e-324\"]");
    assert_flow("return [(0.1).toString(2).length, (255).toString(16), (0.5).toString(3),"
                " (1234567.891).toLocaleString()]",
                "[57,\"ff\",\"0.1111111111111111111111111111111112\",\"1,234,567.891\"]");
}

static void people_sort_letters_before_case(void **state) {
    (void)state;
    assert_flow("return ['b', 'A', 'a', 'B', 'é', 'e', 'f', '10', '9', '_', ' ']"
                ".sort((a, b) => a.localeCompare(b)).join('')",
                "\" _109aAbBeéf\"");
    assert_flow("return ['a10', 'a9', 'a1'].sort((a, b) =>"
                " a.localeCompare(b, undefined, { numeric: true }))",
                "[\"a1\",\"a9\",\"a10\"]");
    assert_flow("return ['a'.localeCompare('A', 'en', { sensitivity: 'base' }),"
                " 'a'.localeCompare('á', 'en', { sensitivity: 'accent' })]",
                "[0,-1]");
}

static void lengths_are_limited_before_memory_is_taken(void **state) {
    (void)state;
    static const char *const programs[] = {
        "return 'a'.repeat(2 ** 30)",
        "return 'a'.padEnd(2 ** 31)",
    };
    for (size_t i = 0; i < 2; i++) {
        assert_flow_fails(programs[i], "RangeError", "Invalid string length");
    }
}

static void other_locales_are_refused_by_name(void **state) {
    (void)state;
    assert_flow_fails("return (5).toLocaleString('de-DE')", "RangeError",
                      "Only the locale en-US is available in a workflow, not de-DE");
    assert_flow_fails("return new Date(0).toLocaleString('en-US', { timeZone: 'Europe/Rome' })",
                      "RangeError", "The time zone of a workflow is UTC, not Europe/Rome");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_mappings_know_all_of_unicode),
        cmocka_unit_test(compositions_undo_decompositions),
        cmocka_unit_test(properties_are_found_by_name_and_value),
        cmocka_unit_test(normal_forms_convert_into_each_other),
        cmocka_unit_test(exact_digits_are_rounded_once),
        cmocka_unit_test(people_sort_letters_before_case),
        cmocka_unit_test(lengths_are_limited_before_memory_is_taken),
        cmocka_unit_test(other_locales_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
