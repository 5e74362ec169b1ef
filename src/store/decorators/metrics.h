// Metrics: a Store that counts what another does and how long it takes.
#pragma once
#include "base/containers/histogram.h"
#include "base/env.h"
#include "store/store.h"

// Totals since the store was made.
typedef struct StoreMetrics {
    int64_t commit_count;
    int64_t commit_failed_count; // the batch as a whole did not answer OK
    int64_t commit_ns;           // sum
    int64_t commit_max_ns;
    int64_t commit_op_count;
    int64_t op_counts[OP_KIND_COUNT];
    int64_t op_refused_counts[OP_KIND_COUNT]; // of them, those that did not answer OK
    int64_t read_count;
    int64_t read_failed_count; // not found is an answer, not a failure
    int64_t read_ns;
    int64_t read_max_ns;
} StoreMetrics;

// Takes over `inner`. `env` is asked for the monotonic clock only.
Store *metrics_store_new(Store *inner, Env *env);
// May be called by any thread at any time; figures of calls under way are missing.
void metrics_store_get(const Store *store, StoreMetrics *ret_metrics);
// What commits took and how many operations they had; they live as long as the store.
typedef struct StoreHistograms {
    Histogram commit_ns;   // of histogram_seconds
    Histogram batch_sizes; // of histogram_sizes
} StoreHistograms;
const StoreHistograms *metrics_store_histograms(const Store *store);
