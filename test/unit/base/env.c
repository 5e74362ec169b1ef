// Env and ids: determinism, order, and no repetition across a fork.
#include "base/env.h"
#include "base/text/id.h"
#include "unit/unit.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void the_fixed_clock_stands_still_until_moved(void **state) {
    (void)state;
    FixedEnv env;
    fixed_env_init(&env, 1000, 1);
    assert_int_equal(env_now_ms(&env.base), 1000);
    assert_int_equal(env_now_ms(&env.base), 1000);
    env.now_ms = 2000;
    env.monotonic_ns = 77;
    assert_int_equal(env_now_ms(&env.base), 2000);
    assert_int_equal(env_monotonic_ns(&env.base), 77);
}

static void the_same_seed_gives_the_same_numbers(void **state) {
    (void)state;
    FixedEnv a, b, other;
    fixed_env_init(&a, 0, 42);
    fixed_env_init(&b, 0, 42);
    fixed_env_init(&other, 0, 43);
    bool is_different = false;
    for (int i = 0; i < 100; i++) {
        uint64_t number = env_random_u64(&a.base);
        assert_int_equal(number, env_random_u64(&b.base));
        is_different |= number != env_random_u64(&other.base);
    }
    assert_true(is_different);
}

static void the_system_clock_is_past_2020_and_monotonic_time_does_not_go_back(void **state) {
    (void)state;
    Env *env = env_system();
    assert_true(env_now_ms(env) > 1577836800000);
    uint64_t before = env_monotonic_ns(env);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = env_monotonic_ns(env);
        assert_true(now >= before);
        before = now;
    }
}

static void system_random_numbers_do_not_repeat(void **state) {
    (void)state;
    Env *env = env_system();
    enum { COUNT = 1000 };
    uint64_t numbers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = env_random_u64(env);
        for (int k = 0; k < i; k++) assert_int_not_equal(numbers[k], numbers[i]);
    }
}

static void a_forked_child_gets_other_random_numbers(void **state) {
    (void)state;
    Env *env = env_system();
    (void)env_random_u64(env); // fills the buffer that the child inherits
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t number = env_random_u64(env);
        _exit(write(ends[1], &number, sizeof(number)) == sizeof(number) ? 0 : 1);
    }
    uint64_t theirs = 0;
    assert_int_equal(read(ends[0], &theirs, sizeof(theirs)), sizeof(theirs));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_not_equal(theirs, env_random_u64(env));
    close(ends[0]);
    close(ends[1]);
}

enum { THREAD_COUNT = 4, THREAD_NUMBER_COUNT = 500 };

static void *draw_numbers(void *context) {
    uint64_t *numbers = context;
    for (int i = 0; i < THREAD_NUMBER_COUNT; i++) numbers[i] = env_random_u64(env_system());
    return NULL;
}

static void threads_draw_different_random_numbers(void **state) {
    (void)state;
    static uint64_t numbers[THREAD_COUNT * THREAD_NUMBER_COUNT];
    pthread_t threads[THREAD_COUNT];
    for (int i = 0; i < THREAD_COUNT; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, draw_numbers, numbers + i * THREAD_NUMBER_COUNT), 0);
    }
    for (int i = 0; i < THREAD_COUNT; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREAD_COUNT * THREAD_NUMBER_COUNT; i++) {
        for (int k = 0; k < i; k++) assert_int_not_equal(numbers[k], numbers[i]);
    }
}

static void an_id_has_its_prefix_and_twenty_six_digits(void **state) {
    (void)state;
    FixedEnv env;
    fixed_env_init(&env, 1763235224952, 1);
    IdSource source;
    id_source_init(&source, &env.base);
    IdText id = id_next(&source, "run_");
    assert_int_equal(id.len, 30);
    assert_int_equal(strlen(id.text), 30);
    assert_memory_equal(id.text, "run_01ka4g4qbr", 14); // the time
    assert_int_equal(strspn(id.text + 4, "0123456789abcdefghjkmnpqrstvwxyz"), ID_BODY_SIZE);
}

static void ids_ascend_within_a_millisecond(void **state) {
    (void)state;
    FixedEnv env;
    fixed_env_init(&env, 1763235224952, 9);
    IdSource source;
    id_source_init(&source, &env.base);
    IdText last = id_next(&source, "task_");
    for (int i = 0; i < 10000; i++) {
        IdText next = id_next(&source, "task_");
        assert_true(strcmp(last.text, next.text) < 0);
        last = next;
    }
}

static void ids_ascend_when_the_clock_goes_back(void **state) {
    (void)state;
    FixedEnv env;
    fixed_env_init(&env, 5000, 9);
    IdSource source;
    id_source_init(&source, &env.base);
    IdText last = id_next(&source, "");
    for (int i = 0; i < 100; i++) {
        env.now_ms -= 10;
        IdText next = id_next(&source, "");
        assert_true(strcmp(last.text, next.text) < 0);
        last = next;
    }
}

static void ids_ascend_past_the_end_of_the_random_part(void **state) {
    (void)state;
    FixedEnv env;
    fixed_env_init(&env, 5000, 9);
    IdSource source;
    id_source_init(&source, &env.base);
    IdText last = id_next(&source, "");
    source.last_high = 0xFFFF;
    source.last_low = UINT64_MAX;
    last = id_next(&source, "");
    assert_int_equal(source.last_ms, 5001);
    assert_true(strcmp(last.text, id_next(&source, "").text) < 0);
}

static void later_ids_sort_after_earlier_ones_of_other_sources(void **state) {
    (void)state;
    FixedEnv env;
    fixed_env_init(&env, 1000, 3);
    for (int i = 0; i < 100; i++) {
        IdSource a, b;
        id_source_init(&a, &env.base);
        id_source_init(&b, &env.base);
        IdText first = id_next(&a, "run_");
        env.now_ms += 1;
        IdText second = id_next(&b, "run_");
        assert_true(strcmp(first.text, second.text) < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixed_clock_stands_still_until_moved),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers),
        cmocka_unit_test(the_system_clock_is_past_2020_and_monotonic_time_does_not_go_back),
        cmocka_unit_test(system_random_numbers_do_not_repeat),
        cmocka_unit_test(a_forked_child_gets_other_random_numbers),
        cmocka_unit_test(threads_draw_different_random_numbers),
        cmocka_unit_test(an_id_has_its_prefix_and_twenty_six_digits),
        cmocka_unit_test(ids_ascend_within_a_millisecond),
        cmocka_unit_test(ids_ascend_when_the_clock_goes_back),
        cmocka_unit_test(ids_ascend_past_the_end_of_the_random_part),
        cmocka_unit_test(later_ids_sort_after_earlier_ones_of_other_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
