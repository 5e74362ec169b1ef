// Every row verb of every batch fails once: the n-th one of the batch, n = 1, 2, 3 … until the
// batch goes through.
//
// After each failure the store holds what it held before, and nothing that the kernel keeps in
// memory (counters, hot rows, topics, last sequence numbers) may have kept anything of the failed
// try: the answers of the try that goes through, and of all batches after it, are compared with
// those of a store that never failed. A commit may also fail after it happened.
#include "fault/script.h"
#include "store/kernel/kernel.h"
#include "store/rowstore.h"
#include "unit/unit.h"
#include <stdio.h>

typedef enum Manner {
    FAIL_VERBS,        // the n-th verb, the commit included, does not happen
    FAIL_AFTER_COMMIT, // the commit happens and answers an error
} Manner;

typedef struct FaultRows {
    RowStore base;
    RowStoreOps ops;
    RowStore *inner;
    Manner manner;
    int64_t number; // 0 = nothing fails
    int64_t count;
    bool has_failed;
} FaultRows;

static FaultRows *fault_rows(RowStore *rows) { return (FaultRows *)rows; }

static Status failure(FaultRows *self, Diag *diag) {
    self->has_failed = true;
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "verb %lld failed", (long long)self->count);
}

static bool verb_fails(FaultRows *self) {
    self->inner->diag = self->base.diag;
    return self->manner == FAIL_VERBS && self->number != 0 && ++self->count == self->number;
}

static Status fault_begin(RowStore *rows, Diag *diag) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) return failure(self, diag);
    return self->inner->ops->begin(self->inner, diag);
}
static Status fault_commit(RowStore *rows, Diag *diag) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) { // a commit that fails leaves no transaction open
        self->inner->ops->rollback(self->inner);
        return failure(self, diag);
    }
    Status status = self->inner->ops->commit(self->inner, diag);
    bool is_lost = status == OK && self->manner == FAIL_AFTER_COMMIT && self->number != 0;
    return is_lost ? failure(self, diag) : status;
}
static void fault_rollback(RowStore *rows) {
    FaultRows *self = fault_rows(rows);
    self->inner->ops->rollback(self->inner);
}
static Status fault_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                        void *ret_row) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) return failure(self, rows->diag);
    return rows_get(self->inner, table, key_row, arena, ret_row);
}
static Status fault_find(RowStore *rows, const RowKey *key, Arena *arena, const void **ret_row) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) return failure(self, rows->diag);
    return rows_find(self->inner, key, arena, ret_row);
}
static Status fault_insert(RowStore *rows, TableNumber table, const void *row) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) return failure(self, rows->diag);
    return rows_insert(self->inner, table, row);
}
static Status fault_update(RowStore *rows, TableNumber table, const void *row, uint64_t changes) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) return failure(self, rows->diag);
    return rows_update(self->inner, table, row, changes);
}
static Status fault_remove(RowStore *rows, TableNumber table, const void *key_row) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) return failure(self, rows->diag);
    return rows_remove(self->inner, table, key_row);
}
static Status fault_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                         size_t *ret_count) {
    FaultRows *self = fault_rows(rows);
    if (verb_fails(self)) return failure(self, rows->diag);
    return rows_scan(self->inner, scan, arena, ret_rows, ret_count);
}
static void fault_close(RowStore *rows) {
    FaultRows *self = fault_rows(rows);
    self->inner->ops->close(self->inner);
}
static StepDatabase fault_database(RowStore *rows) {
    FaultRows *self = fault_rows(rows);
    return self->inner->ops->database(self->inner);
}

static void fault_rows_init(FaultRows *self, RowStore *inner) {
    *self = (FaultRows){.inner = inner};
    self->ops = (RowStoreOps){.name = "faulty",
                              .begin = fault_begin,
                              .commit = fault_commit,
                              .rollback = fault_rollback,
                              .get = fault_get,
                              .find = fault_find,
                              .insert = fault_insert,
                              .update = fault_update,
                              .remove = fault_remove,
                              .scan = fault_scan,
                              .database = fault_database,
                              .close = fault_close};
    self->base.ops = &self->ops;
}

static bool filter_contains(Str filter, Str payload) {
    return filter.len <= payload.len &&
           memmem(payload.data, payload.len, filter.data, filter.len) != NULL;
}

static Store *store_of(FaultRows *rows) {
    RowStorePair pair;
    Store *store = NULL;
    Diag diag = {0};
    StoreConfig config = {.filter_matches = filter_contains,
                          .events_per_topic = 8,
                          .event_retention_ms = 30000}; // as script_open has them
    assert_ok(memory_rows_open(&pair, &diag));
    fault_rows_init(rows, pair.writer);
    pair.writer = &rows->base;
    assert_ok(kernel_store_new(pair, &config, "faulty", &store, &diag));
    return store;
}

static void check_state(const Script *script, Store *store, size_t place, int64_t number) {
    if (script_find(script, store, place, place) < 0) {
        fail_msg("batch %zu, verb %lld", place, (long long)number);
    }
}

static bool is_done(Status status) { return status == OK || status == ERR_FENCED; }

static void every_verb_of_every_batch_fails_once(void **state) {
    (void)state;
    int64_t failures = 0, step = (int64_t)(100 / scaled(100));
    for (uint64_t seed = 21; seed < 24; seed++) {
        Script script;
        FaultRows rows;
        script_init(&script, seed, 60);
        Store *store = store_of(&rows);
        for (size_t i = 0; i < script.trace.count; i++) {
            Diag diag = {0};
            for (int64_t number = 1;; number += step) {
                rows.count = 0;
                rows.number = number;
                rows.has_failed = false;
                Status status = script_submit(&script, i, store, &diag);
                rows.number = 0;
                if (!rows.has_failed) {
                    if (!is_done(status)) fail_msg("batch %zu: %s", i, diag.code);
                    break;
                }
                assert_status(status, ERR_UNAVAILABLE);
                assert_string_equal(diag.code, "STORE_IO");
                if (number % 8 == 1) check_state(&script, store, i, number);
                failures++;
            }
            check_state(&script, store, i + 1, 0);
        }
        int64_t row_count;
        Diag diag = {0};
        assert_ok(store_verify(store, &row_count, &diag));
        store_close(store);
        script_done(&script);
    }
    print_message("# %lld verbs failed\n", (long long)failures);
}

static void commit_that_fails_after_it_happened_is_found_out(void **state) {
    (void)state;
    for (uint64_t seed = 31; seed < 36; seed++) {
        Script script;
        FaultRows rows;
        script_init(&script, seed, 60);
        Store *store = store_of(&rows);
        rows.manner = FAIL_AFTER_COMMIT;
        for (size_t i = 0; i < script.trace.count; i++) {
            Diag diag = {0};
            rows.number = i % 2; // every other one
            Status status = script_submit(&script, i, store, &diag);
            bool is_lost = rows.has_failed;
            rows.has_failed = false;
            rows.number = 0;
            if (is_lost) assert_status(status, ERR_UNAVAILABLE);
            else if (!is_done(status)) fail_msg("batch %zu: %s", i, diag.code);
            check_state(&script, store, i + 1, 0); // it happened all the same
        }
        store_close(store);
        script_done(&script);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_of_every_batch_fails_once),
        cmocka_unit_test(commit_that_fails_after_it_happened_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
