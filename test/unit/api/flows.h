// What the tests of scripts on the engine share: a few tasks, deploying, running one script.
#pragma once
#include "unit/api/api.h"
#include <stdatomic.h>

static atomic_int call_count;

static inline int double_it(abide_call *call, const char *input) {
    atomic_fetch_add(&call_count, 1);
    return abide_return(call, abide_call_printf(call, "%ld", 2 * strtol(input, NULL, 10)));
}

static inline int flaky(abide_call *call, const char *input) {
    (void)input;
    if (abide_call_attempt(call) < 3) return abide_throw(call, "Flaky", "again");
    return abide_return(call, abide_call_printf(call, "%d", abide_call_attempt(call)));
}

static inline int broken(abide_call *call, const char *input) {
    (void)input;
    return abide_throw_final(call, "Broken", "for good");
}

static inline void add_tasks(Fixture *fixture) {
    assert_int_equal(abide_register_task(fixture->engine, "double", double_it, NULL, NULL), 0);
    assert_int_equal(abide_register_task(fixture->engine, "flaky", flaky, NULL, NULL), 0);
    assert_int_equal(abide_register_task(fixture->engine, "broken", broken, NULL, NULL), 0);
    put_to_work(fixture);
}

static inline int setup_with_tasks(void **state) {
    int code = setup(state);
    if (code == 0) add_tasks(*state);
    atomic_store(&call_count, 0);
    return code;
}

static inline void run_flow(Fixture *fixture, const char *source, const char *input,
                            const char *result) {
    deploy(fixture, "main", source);
    start(fixture, "main", "r", input);
    expect_result(fixture, "r", ABIDE_OK, result);
}
