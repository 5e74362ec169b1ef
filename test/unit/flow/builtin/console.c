// What console.log hands to the host: lines in the style of Node's util.inspect.
#include "unit/flow/vm.h"

static void assert_line(const char *arguments, const char *line) {
    char source[1024];
    snprintf(source, sizeof source, "console.log(%s)", arguments);
    Run run;
    run_begin(&run, source, NULL);
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    char wanted[1024];
    snprintf(wanted, sizeof wanted, "log log %s\n", line);
    assert_string_equal(run.host.log, wanted);
    run_end(&run);
}

static void strings_are_raw_at_the_top_and_quoted_inside(void **state) {
    (void)state;
    assert_line("'a', ['b'], { 'it\\'s': 'it\\'s' }", "a [ 'b' ] { \"it's\": \"it's\" }");
    assert_line("['\\n\\t\\u0001', '\"', `'\"`]", "[ '\\n\\t\\x01', '\"', `'\"` ]");
}

static void primitives_look_as_in_source(void **state) {
    (void)state;
    assert_line("1, -0, 1.5, NaN, 5n, true, null, undefined, Symbol('s')",
                "1 -0 1.5 NaN 5n true null undefined Symbol(s)");
}

static void objects_show_their_class_and_two_levels(void **state) {
    (void)state;
    assert_line("new (class Foo { x = 1 })(), { a: { b: { c: { d: 1 } } } }",
                "Foo { x: 1 } { a: { b: { c: [Object] } } }");
    assert_line("Object.create(null), [1, , 3], [], {}",
                "[Object: null prototype] {} [ 1, <1 empty item>, 3 ] [] {}");
    assert_line("() => 1, function f() {}, class A {}, async () => 1",
                "[Function (anonymous)] [Function: f] [class A] [AsyncFunction (anonymous)]");
}

static void built_in_objects_show_what_is_in_them(void **state) {
    (void)state;
    assert_line("new Map([['a', { b: 1 }]]), new Set([1]), new Date(0), /x/g, new Number(5)",
                "Map(1) { 'a' => { b: 1 } } Set(1) { 1 } 1970-01-01T00:00:00.000Z /x/g "
                "[Number: 5]");
    assert_line("Promise.resolve(1), new Promise(() => 1), new WeakMap()",
                "Promise { 1 } Promise { <pending> } WeakMap { <items unknown> }");
}

static void getters_are_named_and_not_run(void **state) {
    (void)state;
    assert_line("{ get a() { throw 1 }, set b(v) {}, get c() { return 1 }, set c(v) {} }",
                "{ a: [Getter], b: [Setter], c: [Getter/Setter] }");
}

static void circles_are_marked(void **state) {
    (void)state;
    assert_line("(o => (o.self = o, o))({ n: 1 })", "<ref *1> { n: 1, self: [Circular *1] }");
}

static void long_objects_are_broken_into_lines(void **state) {
    (void)state;
    assert_line("{ a: 'x'.repeat(40), b: 'y'.repeat(40) }",
                "{\n"
                "  a: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',\n"
                "  b: 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'\n"
                "}");
}

static void formats_take_their_values(void **state) {
    (void)state;
    assert_line("'%s is %d, %i%% %c.', 'Bob', '4.5', 9.9, 'css', { z: 1 }",
                "Bob is 4.5, 9% . { z: 1 }");
    assert_line("'100%', 5, '%s'", "100% 5 %s");
    assert_line("'%s'", "%s");
}

static void levels_have_their_names(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "console.warn(1); console.error(2); console.info(3); console.debug(4)", NULL);
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_string_equal(run.host.log, "log warn 1\nlog error 2\nlog info 3\nlog debug 4\n");
    run_end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_raw_at_the_top_and_quoted_inside),
        cmocka_unit_test(primitives_look_as_in_source),
        cmocka_unit_test(objects_show_their_class_and_two_levels),
        cmocka_unit_test(built_in_objects_show_what_is_in_them),
        cmocka_unit_test(getters_are_named_and_not_run),
        cmocka_unit_test(circles_are_marked),
        cmocka_unit_test(long_objects_are_broken_into_lines),
        cmocka_unit_test(formats_take_their_values),
        cmocka_unit_test(levels_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
