// Fault: decides per call, through its owner's callback, whether a call gets through.
//
//   [fault-1]-[fault-4] and [fault-5] of fault.h.
//   [fault-6] What the inner store answers to a read after a fault is thrown away, so that no
//        caller can lean on answers that a real failure would not have given it. A batch keeps its
//        answers, as it does when a commit's answer is lost ([store-batch-3]).
//
// Not thread-safe: tests and the simulator call from one thread.
#include "store/decorators/fault.h"
#include "base/assert.h"
#include "base/memory.h"
#include "store/read_request.h"

typedef struct FaultStore {
    Store base;
    StoreOps ops;
    Store *inner;
    FaultConfig config;
    int64_t call_count;
    bool is_crashed;
} FaultStore;

static Status fault_commit(Store *store, Batch *batch, Diag *diag);

static FaultStore *fault_store(Store *store) {
    ASSERT(store->ops->commit == fault_commit);
    return (FaultStore *)store;
}

static const FaultStore *fault_store_const(const Store *store) {
    ASSERT(store->ops->commit == fault_commit);
    return (const FaultStore *)store;
}

static Status fault_error(Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "the store did not answer");
}

static FaultChoice choose(FaultStore *self, const Batch *batch, const ReadRequest *read) {
    FaultCall call = {.number = ++self->call_count, .batch = batch, .read = read};
    if (self->is_crashed) return FAULT_BEFORE; // [fault-3]
    if (self->config.decide == NULL) return FAULT_NONE;
    FaultChoice choice = self->config.decide(self->config.context, &call);
    if (choice == FAULT_CRASH_BEFORE || choice == FAULT_CRASH_AFTER) self->is_crashed = true;
    return choice;
}

static bool is_before(FaultChoice choice) {
    return choice == FAULT_BEFORE || choice == FAULT_CRASH_BEFORE || choice == FAULT_REFUSE;
}

static Status fault_commit(Store *store, Batch *batch, Diag *diag) {
    FaultStore *self = fault_store(store);
    FaultChoice choice = choose(self, batch, NULL);
    if (choice == FAULT_REFUSE) // [fault-5]
        return diag_set(diag, ERR_LIMIT, "STORE_TOO_BIG", "the store refuses this batch");
    if (is_before(choice)) return fault_error(diag); // [fault-1]
    Status status = store_commit(self->inner, batch, diag);
    if (choice == FAULT_NONE) return status;
    return fault_error(diag); // [fault-2], [fault-6]
}

static Status fault_read(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    FaultStore *self = fault_store(store);
    FaultChoice choice = choose(self, NULL, request);
    if (is_before(choice)) return fault_error(diag);
    Status status = self->inner->ops->read(self->inner, arena, request, diag);
    if (choice == FAULT_NONE) return status;
    request->out = (ReadAnswer){0};
    return fault_error(diag);
}

static Status fault_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    FaultStore *self = fault_store(store);
    if (choose(self, NULL, NULL) != FAULT_NONE) return fault_error(diag);
    return store_verify(self->inner, ret_row_count, diag);
}

static void fault_close(Store *store) {
    FaultStore *self = fault_store(store);
    if (!self->config.is_inner_kept) store_close(self->inner);
    mem_free(self);
}

Store *fault_store_new(Store *inner, const FaultConfig *config) {
    FaultStore *self = mem_zalloc(sizeof(FaultStore));
    self->ops = (StoreOps){.name = inner->ops->name,
                           .commit = fault_commit,
                           .read = fault_read,
                           .verify = fault_verify,
                           .close = fault_close};
    self->base.ops = &self->ops;
    self->inner = inner;
    self->config = *config;
    return &self->base;
}

bool fault_store_is_crashed(const Store *store) { return fault_store_const(store)->is_crashed; }

int64_t fault_store_call_count(const Store *store) { return fault_store_const(store)->call_count; }
