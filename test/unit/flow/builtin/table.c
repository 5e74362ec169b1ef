// The ordered table behind Map and Set: order, deletion, growth, iteration by sequence number.
#include "flow/value/table.h"
#include "flow/vm/vm.h"
#include "unit/flow/vm.h"

typedef struct Fixture {
    Run run;
    FlowVm *vm;
    FlowTable *table;
} Fixture;

static FlowTableEntry *next_entry(FlowTable *table, uint32_t from) {
    uint32_t holes;
    return flow_table_next(table, from, &holes);
}

static void fixture_begin(Fixture *f) {
    run_begin(&f->run, "return 1", NULL);
    f->vm = f->run.vm;
    f->table = flow_table_new(f->vm, 0);
}

static void put(Fixture *f, int key, int value) {
    f->table = flow_table_put(f->vm, f->table, flow_int(key), flow_int(value));
    assert_non_null(f->table);
}

static void check_invariants(FlowTable *table) { // [table-1]
    uint32_t live = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        if (i > 0) assert_true(table->entries[i - 1].sequence < table->entries[i].sequence);
        live += !flow_is_hole(table->entries[i].key);
    }
    assert_int_equal(live, table->live_count);
    assert_true(table->count <= table->cell.aux);
}

static void entries_stay_in_order_of_insertion(void **state) {
    (void)state;
    Fixture f;
    fixture_begin(&f);
    for (int i = 0; i < 1000; i++) put(&f, i * 7 % 1000, i);
    put(&f, 0, 5000); // an old key keeps its place
    check_invariants(f.table);
    assert_int_equal(f.table->live_count, 1000);
    int expected = 0;
    for (FlowTableEntry *e = next_entry(f.table, 0); e; e = next_entry(f.table, e->sequence + 1)) {
        assert_int_equal(flow_as_int(e->key), expected++ * 7 % 1000);
    }
    assert_int_equal(expected, 1000);
    assert_int_equal(flow_as_int(flow_table_find(f.vm, f.table, flow_int(0))->value), 5000);
    run_end(&f.run);
}

static void deleted_entries_are_not_found_and_their_room_is_used_again(void **state) {
    (void)state;
    Fixture f;
    fixture_begin(&f);
    for (int round = 0; round < 2000; round++) { // a queue: never more than 10 at a time
        put(&f, round, round);
        if (round >= 10) {
            assert_true(flow_table_remove(f.vm, f.table, flow_int(round - 10)));
            assert_false(flow_table_remove(f.vm, f.table, flow_int(round - 10)));
        }
    }
    check_invariants(f.table);
    assert_int_equal(f.table->live_count, 10);
    assert_true(f.table->cell.aux <= 64);
    assert_null(flow_table_find(f.vm, f.table, flow_int(1989)));
    assert_non_null(flow_table_find(f.vm, f.table, flow_int(1990)));
    run_end(&f.run);
}

static void iteration_survives_growth_compaction_and_clearing(void **state) {
    (void)state;
    Fixture f;
    fixture_begin(&f);
    for (int i = 0; i < 100; i++) put(&f, i, i);
    uint32_t from = next_entry(f.table, 0)->sequence + 50; // 49 entries were visited
    for (int i = 0; i < 90; i++) flow_table_remove(f.vm, f.table, flow_int(i));
    assert_int_equal(flow_as_int(next_entry(f.table, from)->key), 90);
    for (int i = 200; i < 400; i++) put(&f, i, i);
    assert_int_equal(flow_as_int(next_entry(f.table, from)->key), 90);
    f.table = flow_table_clear(f.vm, f.table);
    assert_null(next_entry(f.table, from));
    put(&f, 7, 7);
    assert_int_equal(flow_as_int(next_entry(f.table, from)->key), 7);
    run_end(&f.run);
}

static void keys_are_equal_as_same_value_zero_says(void **state) {
    (void)state;
    Fixture f;
    fixture_begin(&f);
    FlowVm *vm = f.vm;
    f.table = flow_table_put(vm, f.table, flow_double(-0.0), flow_int(1));
    f.table = flow_table_put(vm, f.table, FLOW_NAN, flow_int(2));
    f.table =
        flow_table_put(vm, f.table, flow_from_string(flow_string_cstr(vm, "text")), flow_int(3));
    assert_non_null(flow_table_find(vm, f.table, flow_int(0)));
    assert_int_equal(next_entry(f.table, 0)->key.bits, flow_int(0).bits);
    assert_non_null(flow_table_find(vm, f.table, FLOW_NAN));
    FlowString *rope =
        flow_string_concat(vm, flow_string_cstr(vm, "te"), flow_string_cstr(vm, "xt"));
    assert_non_null(flow_table_find(vm, f.table, flow_from_string(rope)));
    assert_null(flow_table_find(vm, f.table, FLOW_UNDEFINED));
    run_end(&f.run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_stay_in_order_of_insertion),
        cmocka_unit_test(deleted_entries_are_not_found_and_their_room_is_used_again),
        cmocka_unit_test(iteration_survives_growth_compaction_and_clearing),
        cmocka_unit_test(keys_are_equal_as_same_value_zero_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
