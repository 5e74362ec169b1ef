// Shapes, properties and elements of the Flow VM, below the interpreter.
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"
#include "unit/unit.h"
#include <stdio.h>

static FlowModule *module;
static FlowVm *vm;

static int setup(void **state) {
    (void)state;
    Diag diag = {0};
    assert_int_equal(flow_compile(STR("empty.flow"), STR("return 1"), &module, NULL, &diag), OK);
    FlowVmOptions options = {.module = module, .limits = FLOW_LIMITS_DEFAULT};
    vm = flow_vm_new_empty(&options);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    flow_vm_free(vm);
    flow_module_release(module);
    return 0;
}

static FlowKey key(const char *name) { return flow_key_cstr(vm, name); }

static void objects_built_alike_share_a_shape(void **state) {
    (void)state;
    FlowObject *a = flow_object_plain(vm);
    FlowObject *b = flow_object_plain(vm);
    flow_object_put(vm, a, key("x"), flow_int(1));
    flow_object_put(vm, a, key("y"), flow_int(2));
    flow_object_put(vm, b, key("x"), flow_int(3));
    flow_object_put(vm, b, key("y"), flow_int(4));
    assert_ptr_equal(a->shape, b->shape);
    flow_object_put(vm, b, key("z"), flow_int(5));
    assert_ptr_not_equal(a->shape, b->shape);
    assert_int_equal(flow_as_int(flow_object_get_data(vm, a, key("y"))), 2);
}

static void many_properties_keep_their_order(void **state) {
    (void)state;
    FlowObject *object = flow_object_plain(vm);
    char name[16];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "k%d", i);
        flow_object_put(vm, object, key(name), flow_int(i));
    }
    for (int i = 0; i < 500; i += 2) {
        snprintf(name, sizeof name, "k%d", i);
        assert_true(flow_object_delete(vm, object, key(name)));
    }
    flow_object_put(vm, object, key("k0"), flow_int(1000));
    FlowArray *keys = flow_object_keys(vm, object, KEYS_STRINGS);
    assert_int_equal(keys->length, 251);
    for (uint32_t i = 0; i < 250; i++) {
        snprintf(name, sizeof name, "k%u", i * 2 + 1);
        FlowValue at = flow_object_element(vm, &keys->object, i);
        assert_true(flow_string_equals_ascii(vm, flow_as_string(at), name));
    }
    assert_int_equal(flow_as_int(flow_object_get_data(vm, object, key("k499"))), 499);
    assert_int_equal(flow_as_int(flow_object_get_data(vm, object, key("k0"))), 1000);
}

static void integer_keys_come_first_and_ascend(void **state) {
    (void)state;
    FlowObject *object = flow_object_plain(vm);
    flow_object_put(vm, object, key("b"), FLOW_TRUE);
    flow_object_put(vm, object, key("10"), FLOW_TRUE);
    flow_object_put(vm, object, key("2"), FLOW_TRUE);
    flow_object_put(vm, object, key("a"), FLOW_TRUE);
    FlowArray *keys = flow_object_keys(vm, object, KEYS_STRINGS);
    static const char *const wanted[] = {"2", "10", "b", "a"};
    assert_int_equal(keys->length, 4);
    for (uint32_t i = 0; i < 4; i++) {
        FlowValue at = flow_object_element(vm, &keys->object, i);
        assert_true(flow_string_equals_ascii(vm, flow_as_string(at), wanted[i]));
    }
}

static void a_huge_index_does_not_fill_memory(void **state) {
    (void)state;
    size_t before = vm->heap.bytes;
    FlowArray *array = flow_array_new(vm, 0);
    assert_true(flow_object_put(vm, &array->object, flow_key_index(4000000000u), flow_int(1)));
    assert_int_equal(array->length, 4000000001u);
    assert_true(vm->heap.bytes < before + 4096);
    FlowValue value = flow_object_element(vm, &array->object, 4000000000u);
    assert_int_equal(flow_as_int(value), 1);
    assert_true(flow_array_set_length(vm, array, 0));
    assert_true(flow_is_hole(flow_object_element(vm, &array->object, 4000000000u)));
}

static void frozen_objects_refuse_changes(void **state) {
    (void)state;
    FlowObject *object = flow_object_plain(vm);
    FlowValue setter;
    flow_object_put(vm, object, key("x"), flow_int(1));
    flow_object_put(vm, object, flow_key_index(0), flow_int(1));
    flow_object_freeze(vm, object, false);
    assert_int_equal(flow_object_set(vm, object, key("x"), flow_int(2), &setter), SET_READONLY);
    assert_int_equal(flow_object_set(vm, object, key("y"), flow_int(2), &setter),
                     SET_NOT_EXTENSIBLE);
    assert_int_equal(flow_object_set(vm, object, flow_key_index(0), flow_int(2), &setter),
                     SET_READONLY);
    assert_false(flow_object_delete(vm, object, key("x")));
    assert_true(flow_object_test_integrity(vm, object, false));
}

static void changing_a_builtin_changes_only_this_vm(void **state) {
    (void)state;
    FlowObject *proto = vm->realm->protos[PROTO_ARRAY];
    FlowArray *array = flow_array_new(vm, 0);
    FlowVmOptions options = {.module = module, .limits = FLOW_LIMITS_DEFAULT};
    FlowVm *other = flow_vm_new_empty(&options);
    flow_object_define(vm, proto, key("extra"), flow_int(9), PROPERTY_DEFAULT);
    FlowValue here = flow_object_get_data(vm, &array->object, key("extra"));
    FlowArray *there_array = flow_array_new(other, 0);
    FlowValue there =
        flow_object_get_data(other, &there_array->object, flow_key_cstr(other, "extra"));
    assert_int_equal(flow_as_int(here), 9);
    assert_true(flow_is_undefined(there));
    assert_int_equal(vm->override_count, 1);
    flow_vm_free(other);
}

static void realm_objects_have_paths(void **state) {
    (void)state;
    FlowObject *proto = vm->realm->protos[PROTO_PROMISE];
    Str path = flow_realm_path(proto);
    assert_true(str_equal(path, STR("Promise.prototype")));
    assert_ptr_equal(flow_realm_find(path), proto);
    assert_ptr_equal(flow_realm_find(STR("Promise.prototype.then")), vm->realm->promise_then);
    assert_null(flow_realm_find(STR("nothing.of.the.kind")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_built_alike_share_a_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(many_properties_keep_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(integer_keys_come_first_and_ascend, setup, teardown),
        cmocka_unit_test_setup_teardown(a_huge_index_does_not_fill_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(frozen_objects_refuse_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(changing_a_builtin_changes_only_this_vm, setup, teardown),
        cmocka_unit_test_setup_teardown(realm_objects_have_paths, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
