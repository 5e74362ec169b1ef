// Traces: the text of W3C Trace Context, tags, and ids that anybody can derive.
#include "model/trace.h"
#include "base/array.h"
#include "unit/unit.h"
#include <stdio.h>

#define GOOD "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void a_traceparent_reads_and_writes_back(void **state) {
    (void)state;
    TraceParent parent;
    assert_true(trace_parent_parse(STR(GOOD), &parent));
    assert_true(parent.is_sampled);
    assert_int_equal(parent.trace_id[0], 0x4b);
    assert_int_equal(parent.span_id[7], 0xb7);
    assert_string_equal(trace_parent_format(&parent).text, GOOD);
    parent.is_sampled = false;
    assert_string_equal(trace_parent_format(&parent).text + 53, "00");
    // A later version may say more; its flags may have other bits.
    assert_true(trace_parent_parse(
        STR("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-more"), &parent));
    assert_true(parent.is_sampled);
}

static void malformed_ones_are_none(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "00-4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
    };
    TraceParent parent;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(trace_parent_parse(str_from(bad[i]), &parent));
    assert_false(trace_parent_parse(STR_NULL, &parent));
}

static void a_tracestate_is_handed_on_as_far_as_it_fits(void **state) {
    (void)state;
    Str good = STR(" a=1 , b@c=x y:z ,,d-*/_=3 ");
    assert_str_equal(trace_state_read(good), "a=1 , b@c=x y:z ,,d-*/_=3");
    static const char *const bad[] = {
        "", " ", ",", "a", "=1", "a=", "A=1", "a=1,b", "a=b=c", "a=\x7f", "a=\xc3\xa4", "a b=1"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_true(str_is_null(trace_state_read(str_from(bad[i]))));
    assert_true(str_is_null(trace_state_read(STR_NULL)));
    char text[2000];
    size_t len = 0;
    while (len < 1500) {
        const char *comma = len > 0 ? "," : "";
        len += (size_t)snprintf(text + len, sizeof text - len, "%sk=12345678", comma);
    }
    Str kept = trace_state_read((Str){text, len});
    assert_in_range(kept.len, TRACESTATE_SIZE_MAX - 11, TRACESTATE_SIZE_MAX);
    assert_memory_equal(kept.data + kept.len - 10, "k=12345678", 10);
}

static void tags_hold_one_traceparent_behind_the_others(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    TraceParent parent;
    assert_true(trace_parent_parse(STR(GOOD), &parent));
    assert_true(str_is_null(tags_trace(STR_NULL)));
    assert_true(str_is_null(tags_trace(STR("a\nb"))));
    Str alone = tags_with_trace(&arena, STR_NULL, &parent, STR_NULL);
    assert_str_equal(tags_trace(alone), GOOD);
    assert_true(str_is_null(tags_without_trace(alone)));
    Str both = tags_with_trace(&arena, STR("a\nb"), &parent, STR_NULL);
    assert_str_equal(tags_without_trace(both), "a\nb");
    assert_str_equal(tags_trace(both), GOOD);
    Str again = tags_with_trace(&arena, both, &parent, STR_NULL);
    assert_true(str_equal(again, both)); // replaced, not added
    Str more = tags_with_trace(&arena, both, &parent, STR("a=1,b=x y"));
    assert_str_equal(tags_trace(more), GOOD);
    assert_str_equal(tags_trace_state(more), "a=1,b=x y");
    assert_str_equal(tags_without_trace(more), "a\nb");
    assert_true(str_is_null(tags_trace_state(both)));
    // A tag that only ends like one is an ordinary tag.
    assert_true(str_is_null(tags_trace(STR("xtraceparent=" GOOD))));
    arena_done(&arena);
}

static void spans_are_derived_and_distinct(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    TraceParent run, again, other, above, parent;
    assert_false(trace_of_run(STR("r1"), STR("tag"), &run, &above));
    assert_false(trace_of_run(STR("r1"), STR_NULL, &again, &above));
    assert_memory_equal(&run, &again, sizeof run); // [model-trace-1]
    assert_false(trace_of_run(STR("r2"), STR_NULL, &other, &above));
    assert_memory_not_equal(run.trace_id, other.trace_id, TRACE_ID_SIZE);
    assert_true(trace_parent_parse(STR(GOOD), &parent));
    Str tags = tags_with_trace(&arena, STR_NULL, &parent, STR_NULL);
    assert_true(trace_of_run(STR("r1"), tags, &other, &above));
    assert_memory_equal(other.trace_id, parent.trace_id, TRACE_ID_SIZE);
    assert_memory_equal(above.span_id, parent.span_id, SPAN_ID_SIZE);
    assert_memory_equal(other.span_id, run.span_id, SPAN_ID_SIZE);
    TraceParent spans[] = {run,
                           trace_of_turn(&run, STR("r1"), 1),
                           trace_of_turn(&run, STR("r1"), 2),
                           trace_of_attempt(&run, STR("r1"), 1),
                           trace_of_attempt(&run, STR("t1"), 1),
                           trace_of_attempt(&run, STR("t1"), 2)};
    for (size_t i = 0; i < COUNT_OF(spans); i++) {
        assert_memory_equal(spans[i].trace_id, run.trace_id, TRACE_ID_SIZE);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(spans[i].span_id, spans[j].span_id, SPAN_ID_SIZE);
    }
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_reads_and_writes_back),
        cmocka_unit_test(malformed_ones_are_none),
        cmocka_unit_test(tags_hold_one_traceparent_behind_the_others),
        cmocka_unit_test(a_tracestate_is_handed_on_as_far_as_it_fits),
        cmocka_unit_test(spans_are_derived_and_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
