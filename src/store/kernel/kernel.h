// Kernel: the Store that is written once over the verbs of a RowStore.
//
// A backend brings a RowStorePair; the kernel adds every transition of batch.h and every query of
// store.h, the counters, and a small write-through cache of hot run rows.
//   [kernel-1] The kernel is the only writer of its rows, so what it caches is what is stored.
//   [kernel-2] An operation decides before its first write; a refused one has written nothing.
//   [kernel-3] After a rollback the memory of the kernel is as it was before the batch.
#pragma once
#include "store/rowstore.h"
#include "store/store.h"

// Takes over the pair when it answers OK: closing the store closes the writer and, when it is
// another object, the reader. Otherwise the pair stays the caller's. `name` is the backend's
// ("memory", "sqlite") and must outlive the store. Reads nothing but the counters.
MUST_CHECK Status kernel_store_new(RowStorePair pair, const StoreConfig *config, const char *name,
                                   Store **ret_store, Diag *diag);
