// The heap and strings of the Flow VM, driven through a VM without a program running.
#include "base/array.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"
#include "unit/unit.h"

typedef struct Fixture {
    FlowModule *module;
    FlowVm *vm;
} Fixture;

static Fixture fixture_new(uint64_t heap_bytes) {
    Fixture fixture;
    Diag diag = {0};
    assert_int_equal(flow_compile(STR("empty.flow"), STR("return 1"), &fixture.module, NULL, &diag),
                     OK);
    FlowVmOptions options = {.module = fixture.module, .limits = FLOW_LIMITS_DEFAULT};
    options.limits.heap_bytes = heap_bytes;
    fixture.vm = flow_vm_new_empty(&options);
    return fixture;
}

static void fixture_free(Fixture *fixture) {
    flow_vm_free(fixture->vm);
    flow_module_release(fixture->module);
}

static void garbage_is_given_back(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 26);
    flow_vm_collect(f.vm);
    size_t before = f.vm->heap.bytes;
    for (int i = 0; i < 10000; i++) flow_array_new(f.vm, (uint32_t)(i % 200));
    assert_true(f.vm->heap.bytes > before + 100000);
    flow_vm_collect(f.vm);
    assert_int_equal(f.vm->heap.bytes, before);
    fixture_free(&f);
}

static void what_a_root_holds_survives(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 26);
    FlowArray *list = flow_array_new(f.vm, 0);
    f.vm->inputs = flow_from_object(list);
    for (int i = 0; i < 1000; i++) {
        FlowObject *item = flow_object_plain(f.vm);
        flow_object_put_cstr(f.vm, item, "number", flow_int(i));
        flow_object_put_cstr(f.vm, item, "list", flow_from_object(list)); // a cycle
        flow_array_push(f.vm, list, flow_from_object(item));
    }
    flow_vm_collect(f.vm);
    flow_vm_collect(f.vm);
    for (int i = 0; i < 1000; i++) {
        FlowValue item = flow_object_element(f.vm, &list->object, (uint32_t)i);
        FlowValue number =
            flow_object_get_data(f.vm, flow_as_object(item), flow_key_cstr(f.vm, "number"));
        assert_int_equal(flow_as_int(number), i);
    }
    fixture_free(&f);
}

static void a_deep_structure_is_marked_without_recursion(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 28);
    FlowValue chain = FLOW_NULL;
    for (int i = 0; i < 300000; i++) {
        FlowArray *link = flow_array_from(f.vm, &chain, 1);
        chain = flow_from_object(link);
    }
    f.vm->inputs = chain;
    size_t before = f.vm->heap.bytes;
    flow_vm_collect(f.vm);
    assert_int_equal(f.vm->heap.bytes, before);
    fixture_free(&f);
}

static void freed_cells_are_used_again(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 26);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1000; i++) flow_object_plain(f.vm);
        flow_vm_collect(f.vm);
    }
    assert_true(f.vm->heap.chunk_bytes < (1 << 20));
    fixture_free(&f);
}

static FlowString *text(FlowVm *vm, const char *utf8) {
    return flow_string_utf8(vm, str_from(utf8));
}

static void ropes_flatten_to_the_same_text(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 28);
    FlowString *rope = flow_string_empty(f.vm);
    for (int i = 0; i < 100000; i++) {
        FlowString *part = text(f.vm, i % 3 == 0 ? "abcdefghijklmnop" : "\xC3\xA9");
        rope = i % 2 ? flow_string_concat(f.vm, rope, part) : flow_string_concat(f.vm, part, rope);
    }
    FlowString *flat = flow_string_flat(f.vm, rope);
    assert_int_equal(flow_string_length(flat), flow_string_length(rope));
    assert_false(flat->cell.flags & STRING_ROPE);
    fixture_free(&f);
}

static void text_survives_utf8_both_ways(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 26);
    static const char *const samples[] = {"", "a", "caf\xC3\xA9", "\xF0\x9F\x98\x80!",
                                          "\xED\xA0\x80" /* a lone surrogate, WTF-8 */};
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        Buf out;
        buf_init(&out, 1 << 10);
        flow_string_to_utf8(f.vm, text(f.vm, samples[i]), &out);
        assert_string_equal(buf_cstr(&out), samples[i]);
        buf_done(&out);
    }
    assert_int_equal(flow_string_length(text(f.vm, "\xF0\x9F\x98\x80")), 2);
    fixture_free(&f);
}

static void equal_text_is_one_atom(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 26);
    FlowString *a = flow_atom(f.vm, text(f.vm, "some property"));
    FlowString *b = flow_atom(f.vm, text(f.vm, "some property"));
    assert_ptr_equal(a, b);
    assert_ptr_equal(flow_atom_cstr(f.vm, "length"), flow_as_string(FLOW_NAME(f.vm, length)));
    fixture_free(&f);
}

static void array_indices_are_recognised(void **state) {
    (void)state;
    Fixture f = fixture_new(1 << 26);
    static const struct {
        const char *text;
        bool is_index;
    } cases[] = {{"0", true},   {"7", true},   {"4294967294", true}, {"4294967295", false},
                 {"01", false}, {"-1", false}, {"1.0", false},       {"", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t index;
        assert_int_equal(flow_string_to_index(text(f.vm, cases[i].text), &index),
                         cases[i].is_index);
    }
    fixture_free(&f);
}

static void numbers_that_fit_are_int32(void **state) {
    (void)state;
    assert_true(flow_is_int(flow_number(5)));
    assert_true(flow_is_int(flow_number(-2147483648.0)));
    assert_false(flow_is_int(flow_number(2147483648.0)));
    assert_false(flow_is_int(flow_number(-0.0)));
    assert_false(flow_is_int(flow_number(0.5)));
    assert_int_equal(flow_number(NAN).bits, FLOW_NAN.bits);
    assert_true(flow_is_double(flow_number(-NAN)));
    assert_true(flow_is_double(flow_number(-INFINITY)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(garbage_is_given_back),
        cmocka_unit_test(what_a_root_holds_survives),
        cmocka_unit_test(a_deep_structure_is_marked_without_recursion),
        cmocka_unit_test(freed_cells_are_used_again),
        cmocka_unit_test(ropes_flatten_to_the_same_text),
        cmocka_unit_test(text_survives_utf8_both_ways),
        cmocka_unit_test(equal_text_is_one_atom),
        cmocka_unit_test(array_indices_are_recognised),
        cmocka_unit_test(numbers_that_fit_are_int32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
