// Histograms: bounds, sums, and threads that add at once.
#include "base/containers/histogram.h"
#include "base/array.h"
#include "unit/unit.h"
#include <pthread.h>

static void values_fall_to_the_first_bound_that_reaches_them(void **state) {
    (void)state;
    Histogram histogram = {0};
    static const int64_t values[] = {0, 1, 2, 3, 4, 5, 4096, 4097, INT64_C(1) << 40, -5};
    for (size_t i = 0; i < COUNT_OF(values); i++)
        histogram_add(&histogram, &histogram_sizes, values[i]);
    HistogramReading reading;
    histogram_read(&histogram, &histogram_sizes, &reading);
    assert_int_equal(reading.up_to[0], 3); // 0, 1, -5
    assert_int_equal(reading.up_to[1], 4); // 2
    assert_int_equal(reading.up_to[2], 6); // 3, 4
    assert_int_equal(reading.up_to[3], 7); // 5
    assert_int_equal(reading.up_to[histogram_sizes.count - 1], 8);
    assert_int_equal(reading.count, 10);
    assert_true(reading.sum == 0.0 + 15 + 4096 + 4097 + (double)(INT64_C(1) << 40));
}

static void scales_ascend_and_fit(void **state) {
    (void)state;
    const HistogramScale *scales[] = {&histogram_seconds, &histogram_bytes, &histogram_sizes};
    for (size_t i = 0; i < 3; i++) {
        assert_true(scales[i]->count > 1 && scales[i]->count <= HISTOGRAM_BOUNDS_MAX);
        for (size_t j = 1; j < scales[i]->count; j++)
            assert_true(scales[i]->bounds[j] > scales[i]->bounds[j - 1]);
    }
}

enum { ADDS = 20000 };

static void *add_many(void *context) {
    for (int64_t i = 0; i < ADDS; i++) histogram_add(context, &histogram_seconds, i * 1000);
    return NULL;
}

static void threads_lose_nothing(void **state) {
    (void)state;
    Histogram histogram = {0};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &histogram), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    HistogramReading reading;
    histogram_read(&histogram, &histogram_seconds, &reading);
    assert_int_equal(reading.count, 4 * ADDS);
    double expected = 4.0 * ((double)ADDS * (ADDS - 1) / 2) * 1000 * 1e-9;
    assert_true(reading.sum > expected - 1e-6 && reading.sum < expected + 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_fall_to_the_first_bound_that_reaches_them),
        cmocka_unit_test(scales_ascend_and_fit),
        cmocka_unit_test(threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
