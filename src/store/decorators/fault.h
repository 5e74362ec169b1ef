// Fault: a Store that fails on demand, around one that works. For tests and the simulator.
//
//   [fault-1] FAULT_BEFORE: the inner store is not asked; the caller gets ERR_UNAVAILABLE.
//   [fault-2] FAULT_AFTER: the inner store does it, then the caller gets ERR_UNAVAILABLE and sees
//        none of the answers: the outcome is unknown to it, as after a lost connection.
//   [fault-3] A crash is a fault after which every call fails, until the owner throws the store
//        away: it stands for the end of the process that called.
//   [fault-4] Calls are numbered 1, 2, 3 … so that "fail the n-th call" can be tried for each n.
//   [fault-5] FAULT_REFUSE: the inner store is not asked; a commit gets ERR_LIMIT, which will not
//        go away as long as the batch stays as it is. A read gets ERR_UNAVAILABLE.
#pragma once
#include "store/store.h"

typedef enum FaultChoice {
    FAULT_NONE = 0,
    FAULT_BEFORE,
    FAULT_AFTER,
    FAULT_CRASH_BEFORE,
    FAULT_CRASH_AFTER,
    FAULT_REFUSE
} FaultChoice;

typedef struct FaultCall {
    int64_t number;          // [fault-4]
    const Batch *batch;      // a commit, or
    const ReadRequest *read; // a read; both NULL for verify
} FaultCall;

typedef struct FaultConfig {
    // Called before each call on the thread that makes it. May move a virtual clock to delay it.
    FaultChoice (*decide)(void *context, const FaultCall *call);
    void *context;
    bool is_inner_kept; // closing leaves the inner store open: several share it, or it is reopened
} FaultConfig;

Store *fault_store_new(Store *inner, const FaultConfig *config);
// True after FAULT_CRASH_BEFORE or FAULT_CRASH_AFTER.
bool fault_store_is_crashed(const Store *store);
int64_t fault_store_call_count(const Store *store);
