// Arena: alignment, life until reset, marks, growth.
#include "base/arena.h"
#include "unit/unit.h"

static void blocks_are_aligned_for_any_type(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    for (size_t size = 0; size < 100; size++) {
        void *block = arena_alloc(&arena, size);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
    }
    arena_done(&arena);
}

static void blocks_do_not_overlap(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    unsigned char *blocks[500];
    for (size_t i = 0; i < 500; i++) {
        blocks[i] = arena_alloc(&arena, 37 * (i % 50) + 1);
        memset(blocks[i], (int)(i & 0xFF), 37 * (i % 50) + 1);
    }
    for (size_t i = 0; i < 500; i++) {
        for (size_t k = 0; k < 37 * (i % 50) + 1; k++) assert_int_equal(blocks[i][k], i & 0xFF);
    }
    arena_done(&arena);
}

static void a_block_larger_than_any_chunk_is_given(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    char *block = arena_zalloc(&arena, 5 << 20);
    assert_int_equal(block[(5 << 20) - 1], 0);
    char *after = arena_alloc(&arena, 16);
    memset(after, 1, 16);
    assert_int_equal(block[(5 << 20) - 1], 0);
    arena_done(&arena);
}

static void a_reset_arena_is_empty_and_usable(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++) memset(arena_alloc(&arena, 300), round, 300);
        assert_true(arena.used_size >= 300000);
        arena_reset(&arena);
        assert_int_equal(arena.used_size, 0);
    }
    arena_done(&arena);
}

static void a_steady_user_stops_allocating(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    for (int i = 0; i < 1000; i++) arena_alloc(&arena, 100);
    arena_reset(&arena);
    for (int i = 0; i < 1000; i++) arena_alloc(&arena, 100);
    assert_ptr_equal(arena.first, arena.current); // all in the one chunk that was kept
    arena_done(&arena);
}

static void a_rewound_arena_hands_out_the_same_memory_again(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    Str kept = arena_str(&arena, STR("kept"));
    ArenaMark mark = arena_mark(&arena);
    void *first = arena_alloc(&arena, 64);
    for (int i = 0; i < 500; i++) arena_alloc(&arena, 1000);
    arena_rewind(&arena, mark);
    assert_ptr_equal(arena_alloc(&arena, 64), first);
    assert_str_equal(kept, "kept");
    arena_done(&arena);
}

static void rewinding_to_the_start_of_an_empty_arena_empties_it(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    ArenaMark mark = arena_mark(&arena);
    arena_rewind(&arena, mark);
    for (int i = 0; i < 100; i++) arena_alloc(&arena, 1000);
    arena_rewind(&arena, mark);
    assert_int_equal(arena.used_size, 0);
    for (int i = 0; i < 100; i++) memset(arena_alloc(&arena, 1000), 1, 1000);
    arena_done(&arena);
}

static void copies_end_in_a_nul_and_null_stays_null(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    Str copy = arena_str(&arena, STR("abc"));
    assert_string_equal(copy.data, "abc");
    assert_true(str_is_null(arena_str(&arena, STR_NULL)));
    Str empty = arena_str(&arena, STR(""));
    assert_false(str_is_null(empty));
    assert_int_equal(empty.len, 0);
    assert_string_equal(arena_cstr(&arena, STR_NULL), "");
    arena_done(&arena);
}

static void printf_formats_into_the_arena(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    Str text = arena_printf(&arena, "%s-%d", "run", 42);
    assert_str_equal(text, "run-42");
    Str large = arena_printf(&arena, "%10000d", 1);
    assert_int_equal(large.len, 10000);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_for_any_type),
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(a_block_larger_than_any_chunk_is_given),
        cmocka_unit_test(a_reset_arena_is_empty_and_usable),
        cmocka_unit_test(a_steady_user_stops_allocating),
        cmocka_unit_test(a_rewound_arena_hands_out_the_same_memory_again),
        cmocka_unit_test(rewinding_to_the_start_of_an_empty_arena_empties_it),
        cmocka_unit_test(copies_end_in_a_nul_and_null_stays_null),
        cmocka_unit_test(printf_formats_into_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
