// Vec, heap, list.
#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "base/containers/vec.h"
#include "base/env.h"
#include "unit/unit.h"

static void a_vec_keeps_what_was_pushed(void **state) {
    (void)state;
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++) vec_push(&numbers, i * 3);
    assert_int_equal(numbers.count, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(numbers.data[i], i * 3);
    assert_int_equal(vec_last(&numbers), 2997);
    assert_int_equal(vec_pop(&numbers), 2997);
    assert_int_equal(numbers.count, 999);
    vec_clear(&numbers);
    assert_int_equal(numbers.count, 0);
    vec_free(&numbers);
    assert_null(numbers.data);
}

static void a_reserved_vec_does_not_move(void **state) {
    (void)state;
    VEC(uint64_t) numbers = {0};
    vec_reserve(&numbers, 100);
    const uint64_t *data = numbers.data;
    for (uint64_t i = 0; i < 100; i++) vec_push(&numbers, i);
    assert_ptr_equal(numbers.data, data);
    vec_free(&numbers);
}

static void a_heap_gives_deadlines_in_order_and_equals_first_in_first_out(void **state) {
    (void)state;
    enum { COUNT = 500 };
    HeapNode nodes[COUNT] = {0};
    Heap heap;
    heap_init(&heap);
    uint64_t seed = 7;
    for (uint64_t i = 0; i < COUNT; i++) {
        nodes[i].at = (int64_t)(random_next(&seed) % 50) - 25;
        nodes[i].order = i;
        heap_push(&heap, &nodes[i]);
    }
    const HeapNode *last = NULL;
    for (int i = 0; i < COUNT; i++) {
        assert_ptr_equal(heap_peek(&heap), heap.nodes[1]);
        HeapNode *node = heap_pop(&heap);
        assert_non_null(node);
        assert_int_equal(node->place, 0);
        if (last) {
            assert_true(last->at < node->at || (last->at == node->at && last->order < node->order));
        }
        last = node;
    }
    assert_null(heap_pop(&heap));
    assert_null(heap_peek(&heap));
    heap_done(&heap);
}

static void any_node_can_leave_a_heap(void **state) {
    (void)state;
    enum { COUNT = 200 };
    HeapNode nodes[COUNT] = {0};
    Heap heap;
    heap_init(&heap);
    uint64_t seed = 11;
    for (size_t round = 0; round < scaled(20000); round++) {
        HeapNode *node = &nodes[random_next(&seed) % COUNT];
        if (node->place) {
            heap_remove(&heap, node);
            heap_remove(&heap, node); // a second time does nothing
        } else {
            node->at = (int64_t)(random_next(&seed) % 1000);
            node->order = round;
            heap_push(&heap, node);
        }
        for (size_t i = 2; i <= heap.count; i++) {
            const HeapNode *parent = heap.nodes[i / 2], *child = heap.nodes[i];
            assert_int_equal(child->place, i);
            assert_true(parent->at <= child->at);
        }
    }
    heap_done(&heap);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(nodes[i].place, 0);
}

typedef struct Item {
    int number;
    List link;
} Item;

static void a_list_keeps_order_and_items_can_leave_twice(void **state) {
    (void)state;
    List list;
    list_init(&list);
    assert_true(list_is_empty(&list));
    assert_null(list_first(&list));
    Item items[5];
    for (int i = 0; i < 5; i++) {
        items[i].number = i;
        list_append(&list, &items[i].link);
    }
    list_remove(&items[2].link);
    list_remove(&items[2].link);
    int sum = 0;
    LIST_EACH (node, &list) sum = sum * 10 + container_of(node, Item, link)->number;
    assert_int_equal(sum, 134);
    LIST_EACH_SAFE (node, after, &list) list_remove(node);
    assert_true(list_is_empty(&list));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vec_keeps_what_was_pushed),
        cmocka_unit_test(a_reserved_vec_does_not_move),
        cmocka_unit_test(a_heap_gives_deadlines_in_order_and_equals_first_in_first_out),
        cmocka_unit_test(any_node_can_leave_a_heap),
        cmocka_unit_test(a_list_keeps_order_and_items_can_leave_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
