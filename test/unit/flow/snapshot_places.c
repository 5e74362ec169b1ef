// Places of parked scripts: one number for all that stand alike, which names the line.
#include "base/array.h"
#include "flow/snapshot/place.h"
#include "unit/flow/vm.h"

// Where the source stands after some answers.
static int64_t place_after(const char *source, uint32_t answers, FlowPlace *ret_place,
                           Arena *arena) {
    Run run;
    Buf bytes;
    Diag diag = {0};
    run_begin(&run, source, "{\"items\":[1,2,3]}");
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    for (uint32_t i = 0; i < answers; i++) {
        run_settle(&run, run.result.waits[0].id, "1");
        assert_int_equal(run_turn(&run), FLOW_PARKED);
    }
    buf_init(&bytes, 1 << 20);
    assert_int_equal(flow_snapshot_write(run.vm, &bytes, &diag), OK);
    int64_t place = flow_vm_place(run.vm);
    assert_true(place > 1);
    assert_true(flow_module_place(run.module, place, arena, ret_place));
    ret_place->source = arena_str(arena, ret_place->source);
    buf_done(&bytes);
    run_end(&run);
    return place;
}

static void assert_place(const FlowPlace *place, uint32_t line, const char *function) {
    assert_int_equal(place->line, line);
    assert_true(str_equal(place->function, str_from(function)));
}

static void place_names_the_line_of_the_await(void **state) {
    (void)state;
    Arena arena;
    FlowPlace place;
    arena_init(&arena);
    const char *source = "const a = await Signal.when('a')\n"
                         "async function inner() {\n"
                         "  return await Signal.when('b')\n"
                         "}\n"
                         "return await inner()";
    int64_t first = place_after(source, 0, &place, &arena);
    assert_place(&place, 1, "");
    int64_t second = place_after(source, 1, &place, &arena);
    assert_place(&place, 3, "inner");
    assert_true(str_equal(place.source, STR("return await Signal.when('b')")));
    assert_true(first != second);
    arena_done(&arena);
}

static void values_do_not_make_another_place(void **state) {
    (void)state;
    Arena arena;
    FlowPlace place;
    arena_init(&arena);
    const char *source = "let sum = 0\nfor (;;) sum += await Signal.when('a')";
    int64_t first = place_after(source, 0, &place, &arena);
    assert_true(first == place_after(source, 3, &place, &arena));
    arena_done(&arena);
}

static void branches_at_one_await_are_one_place(void **state) {
    (void)state;
    Arena arena;
    FlowPlace place;
    arena_init(&arena);
    const char *source = "async function one(i) { await Signal.when('a' + i); return i }\n"
                         "return await Promise.all(Inputs.items.map(one))";
    int64_t all = place_after(source, 0, &place, &arena);
    assert_true(all == place_after(source, 1, &place, &arena));
    assert_place(&place, 1, "one");
    arena_done(&arena);
}

static void numbers_of_other_code_are_no_places(void **state) {
    (void)state;
    Run run;
    Arena arena;
    FlowPlace place;
    arena_init(&arena);
    run_begin(&run, "await Signal.when('a')", NULL);
    assert_false(flow_module_place(run.module, 0, &arena, &place));
    assert_false(flow_module_place(run.module, 1, &arena, &place));
    assert_false(flow_module_place(run.module, INT64_MAX, &arena, &place));
    assert_false(flow_module_place(run.module, -5, &arena, &place));
    run_end(&run);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(place_names_the_line_of_the_await),
        cmocka_unit_test(values_do_not_make_another_place),
        cmocka_unit_test(branches_at_one_await_are_one_place),
        cmocka_unit_test(numbers_of_other_code_are_no_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
