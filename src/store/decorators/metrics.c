// Metrics: counts and nanoseconds around every call of a store.
//
//   [decorators-metrics-1] Answers pass through unchanged.
//   [decorators-metrics-2] Counters are single atomic numbers, because reads come from any thread
//        beside a commit ([store-9] of store.h). A snapshot may see a call's count before its time;
//        that is all.
//
// Not here: how figures are shown (server/).
#include "store/decorators/metrics.h"
#include "base/assert.h"
#include "base/memory.h"
#include <stdatomic.h>

enum { METRIC_COUNT = sizeof(StoreMetrics) / sizeof(int64_t) };

typedef struct MetricsStore {
    Store base;
    StoreOps ops;
    Store *inner;
    Env *env;
    _Atomic int64_t values[METRIC_COUNT]; // a StoreMetrics, field by field
    StoreHistograms histograms;
} MetricsStore;

// The place of a field of StoreMetrics in `values`.
#define PLACE(field) (offsetof(StoreMetrics, field) / sizeof(int64_t))

static Status metrics_commit(Store *store, Batch *batch, Diag *diag);

static MetricsStore *metrics_store(Store *store) {
    ASSERT(store->ops->commit == metrics_commit);
    return (MetricsStore *)store;
}

static void add(MetricsStore *self, size_t place, int64_t amount) {
    atomic_fetch_add_explicit(&self->values[place], amount, memory_order_relaxed);
}

static void raise_to(MetricsStore *self, size_t place, int64_t value) {
    int64_t present = atomic_load_explicit(&self->values[place], memory_order_relaxed);
    while (present < value &&
           !atomic_compare_exchange_weak_explicit(&self->values[place], &present, value,
                                                  memory_order_relaxed, memory_order_relaxed)) {}
}

static Status metrics_commit(Store *store, Batch *batch, Diag *diag) {
    MetricsStore *self = metrics_store(store);
    uint64_t start_ns = env_monotonic_ns(self->env);
    Status status = store_commit(self->inner, batch, diag);
    int64_t taken_ns = (int64_t)(env_monotonic_ns(self->env) - start_ns);
    add(self, PLACE(commit_count), 1);
    add(self, PLACE(commit_ns), taken_ns);
    raise_to(self, PLACE(commit_max_ns), taken_ns);
    add(self, PLACE(commit_op_count), (int64_t)batch->count);
    histogram_add(&self->histograms.commit_ns, &histogram_seconds, taken_ns);
    histogram_add(&self->histograms.batch_sizes, &histogram_sizes, (int64_t)batch->count);
    if (status != OK) {
        add(self, PLACE(commit_failed_count), 1);
        return status;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const Op *op = batch->ops[i];
        add(self, PLACE(op_counts) + (size_t)op->kind, 1);
        if (op->out.status != OK) add(self, PLACE(op_refused_counts) + (size_t)op->kind, 1);
    }
    return status;
}

static Status metrics_read(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    MetricsStore *self = metrics_store(store);
    uint64_t start_ns = env_monotonic_ns(self->env);
    Status status = self->inner->ops->read(self->inner, arena, request, diag);
    int64_t taken_ns = (int64_t)(env_monotonic_ns(self->env) - start_ns);
    add(self, PLACE(read_count), 1);
    add(self, PLACE(read_ns), taken_ns);
    raise_to(self, PLACE(read_max_ns), taken_ns);
    if (status != OK && status != ERR_NOT_FOUND) add(self, PLACE(read_failed_count), 1);
    return status;
}

static Status metrics_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    return store_verify(metrics_store(store)->inner, ret_row_count, diag);
}

static void metrics_close(Store *store) {
    MetricsStore *self = metrics_store(store);
    store_close(self->inner);
    mem_free(self);
}

static void metrics_listen(Store *store, const StoreListener *listener) {
    store_listen(metrics_store(store)->inner, listener);
}

Store *metrics_store_new(Store *inner, Env *env) {
    MetricsStore *self = mem_zalloc(sizeof(MetricsStore));
    self->ops = (StoreOps){.name = inner->ops->name,
                           .commit = metrics_commit,
                           .read = metrics_read,
                           .verify = metrics_verify,
                           .listen = metrics_listen,
                           .close = metrics_close};
    self->base.ops = &self->ops;
    self->inner = inner;
    self->env = env;
    return &self->base;
}

void metrics_store_get(const Store *store, StoreMetrics *ret_metrics) {
    ASSERT(store->ops->commit == metrics_commit);
    const MetricsStore *self = (const MetricsStore *)store;
    int64_t values[METRIC_COUNT];
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        values[i] = atomic_load_explicit(&self->values[i], memory_order_relaxed);
    }
    memcpy(ret_metrics, values, sizeof(*ret_metrics)); // [decorators-metrics-2]
}

const StoreHistograms *metrics_store_histograms(const Store *store) {
    ASSERT(store->ops->commit == metrics_commit);
    return &((const MetricsStore *)store)->histograms;
}
