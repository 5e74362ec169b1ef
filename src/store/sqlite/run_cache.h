// The rows of runs that an SQLite store has in memory ([rowstore-11] of rowstore.h).
//
// A run's row has some thirty columns, and most operations begin with it: reading it from the file
// each time would cost more than all that is done with it. Other rows are read when they are asked
// for; the other stores have all their rows in memory.
//
//   [run-cache-1] An entry equals what the open transaction would read: each verb that writes a row
//        of runs goes on here, and what a scan has read is taken up.
//   [run-cache-2] What a transaction wrote is forgotten when all or a part of it is undone, and
//        everything when nobody knows whether it happened.
//   [run-cache-3] Bounded by bytes; a row with a very large wait set is left out.
//   [run-cache-4] A large snapshot is left out of its row: TEXT_KEPT stands there.
#pragma once
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "model/rows.h"
#include "model/tables.h"

typedef struct RunCache {
    Map by_key;
    StrMap by_id;
    List uses; // least recently used first
    size_t size;
    size_t max_size;
    uint64_t serial;      // of the present transaction
    VEC(int64_t) touched; // keys of the runs it wrote
    uint64_t fixed_bits;  // columns of texts that never change
    uint64_t waits_bit, snapshot_bit, task_bit;
} RunCache;

void run_cache_init(RunCache *cache, size_t max_size);
void run_cache_done(RunCache *cache);
void run_cache_clear(RunCache *cache);
// NULL when absent. A row stands until the next call.
const RunRow *run_cache_find(RunCache *cache, int64_t key);
const RunRow *run_cache_find_id(RunCache *cache, Str id);
// Takes up a row as it is stored; NULL when it is left out.
const RunRow *run_cache_add(RunCache *cache, const RunRow *row);
// The present transaction did this to the row.
void run_cache_insert(RunCache *cache, const RunRow *row);
void run_cache_update(RunCache *cache, const RunRow *row, uint64_t changes);
void run_cache_remove(RunCache *cache, int64_t key);
void run_cache_begin(RunCache *cache); // a transaction
void run_cache_undo(RunCache *cache);  // [run-cache-2]
