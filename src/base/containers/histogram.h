// Histogram: how often values fell between fixed, log-scaled bounds.
//
//   [histogram-1] Adding costs a short search and two atomic additions: no lock, no allocation.
//   [histogram-2] It may be read while others add. A reading is consistent in itself: its count is
//        the sum of its buckets. Its sum may lack values that are being added.
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BOUNDS_MAX = 24 };

typedef struct HistogramScale {
    size_t count;
    int64_t bounds[HISTOGRAM_BOUNDS_MAX]; // ascending; a value belongs to the first that reaches it
    double unit;                          // what 1 is in the unit that people see
} HistogramScale;

// Values in nanoseconds, shown in seconds: 10 µs, 25 µs, 50 µs … 100 s, 10 min.
extern const HistogramScale histogram_seconds;
extern const HistogramScale histogram_bytes; // 64, 128 … 4 MiB
extern const HistogramScale histogram_sizes; // 1, 2, 4 … 4096

typedef struct Histogram {
    _Atomic int64_t buckets[HISTOGRAM_BOUNDS_MAX + 1]; // the last of a scale: beyond its bounds
    _Atomic int64_t sum;
} Histogram;

typedef struct HistogramReading {
    int64_t up_to[HISTOGRAM_BOUNDS_MAX]; // how many were at most bounds[i]
    int64_t count;
    double sum; // in the scale's unit
} HistogramReading;

// Any thread. Values below 0 count as 0. A histogram is always used with the same scale.
void histogram_add(Histogram *histogram, const HistogramScale *scale, int64_t value);
void histogram_read(const Histogram *histogram, const HistogramScale *scale,
                    HistogramReading *ret_reading);
