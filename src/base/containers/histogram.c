// Histograms with fixed bounds.
//
// Bounds are fixed so that figures of different processes and times can be added up, and in steps
// of about 2.5, so that a quantile read from them is off by no more than that.
//
// Invariants [histogram-1] and [histogram-2] are in histogram.h.
//
// Not here: how they are shown (server/observe/metrics_text.c).
#include "base/containers/histogram.h"

#define US 1000LL
#define MS 1000000LL
#define S  1000000000LL

const HistogramScale histogram_seconds = {
    .count = 23,
    .bounds = {10 * US,   25 * US, 50 * US, 100 * US, 250 * US, 500 * US, 1 * MS,   5 * MS / 2,
               5 * MS,    10 * MS, 25 * MS, 50 * MS,  100 * MS, 250 * MS, 500 * MS, 1 * S,
               5 * S / 2, 5 * S,   10 * S,  25 * S,   50 * S,   100 * S,  600 * S},
    .unit = 1e-9,
};

const HistogramScale histogram_bytes = {
    .count = 17,
    .bounds = {64, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10,
               128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20},
    .unit = 1,
};

const HistogramScale histogram_sizes = {
    .count = 13,
    .bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096},
    .unit = 1,
};

void histogram_add(Histogram *histogram, const HistogramScale *scale, int64_t value) {
    if (value < 0) value = 0;
    size_t low = 0, high = scale->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (value <= scale->bounds[middle]) high = middle;
        else low = middle + 1;
    }
    atomic_fetch_add_explicit(&histogram->buckets[low], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum, value, memory_order_relaxed);
}

void histogram_read(const Histogram *histogram, const HistogramScale *scale,
                    HistogramReading *ret_reading) {
    int64_t count = 0;
    for (size_t i = 0; i < scale->count; i++) {
        count += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        ret_reading->up_to[i] = count;
    }
    count += atomic_load_explicit(&histogram->buckets[scale->count], memory_order_relaxed);
    ret_reading->count = count; // [histogram-2]
    int64_t sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
    ret_reading->sum = (double)sum * scale->unit;
}
