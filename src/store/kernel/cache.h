// What the kernel remembers between operations: what it knows about runs, leased tasks, decoded
// wait sets, the policies of topics, queues, and zones.
//
// No rows of runs: these belong to the row store ([rowstore-11] of rowstore.h).
//
//   [cache-1] What is remembered is what the open transaction would read. Queues are the exception:
//        what a batch counts is written once, at its end.
//   [cache-2] What a batch touched is forgotten when it is rolled back, and everything when a
//        commit failed or another node has written.
//   [cache-3] Bounded by bytes (runs, tasks) and by count (topics), whatever the load.
#pragma once
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/time/timezone.h"
#include "model/marks.h"
#include "model/waits.h"
#include "store/turn.h"

// What may belong to a run in other tables. A bit that is not set is a promise that there is
// nothing, so that ending such a run needs no look.
enum {
    MAY_HAVE_SIGNALS = 1,
    MAY_HAVE_TASKS = 2,
    MAY_HAVE_CHILDREN = 4,
    MAY_HAVE_CURSORS = 8,
    MAY_HAVE_SCHEDULE = 16,  // a tick that is queued until it ends
    MAY_HAVE_SNAPSHOTS = 32, // kept ones
    MAY_HAVE_STATES = 64,
    MAY_HAVE_ALL = 127
};

typedef struct RunFacts {
    int64_t last_seq;     // of its log; 0 = not known
    int64_t signal_count; // pending signals, if has_signal_count
    bool has_signal_count;
    int64_t next_kept;       // number of the next snapshot that is kept; 0 = not known
    int64_t tasks_ended_key; // as in its row, but may be further on
    uint32_t may_have;       // MAY_HAVE_… bits
} RunFacts;

typedef struct FactCache {
    Map by_key; // KnownRun
    List uses;  // least recently used first
    size_t max_count;
    uint64_t serial;      // of the present batch
    VEC(int64_t) touched; // keys of the runs it has written of
} FactCache;

void fact_cache_init(FactCache *cache);
void fact_cache_done(FactCache *cache);
void fact_cache_clear(FactCache *cache);
const RunFacts *fact_cache_find(FactCache *cache, int64_t key); // NULL when absent
// The present batch learned this about the run, or removed the run.
void fact_cache_write(FactCache *cache, int64_t key, const RunFacts *facts);
void fact_cache_remove(FactCache *cache, int64_t key);
void fact_cache_begin(FactCache *cache);
void fact_cache_rollback(FactCache *cache);

// Leased tasks, so that completing one does not read it back. Only those that nothing but their own
// operations change: a task with a concurrency key is not kept, nor a large one.
typedef struct CachedTask {
    List use; // least recently written first
    TaskRow row;
    bool is_embedded; // tasks/embedded.h
    size_t size;      // bytes accounted for
    char text[];      // owned text of all columns
} CachedTask;

typedef struct TaskCache {
    StrMap by_id;
    List uses;
    size_t size;
} TaskCache;

void task_cache_init(TaskCache *cache);
void task_cache_done(TaskCache *cache);
void task_cache_clear(TaskCache *cache);
const CachedTask *task_cache_find(const TaskCache *cache, Str id); // NULL when absent
// The row was written: it is kept if it is leased, and forgotten otherwise.
void task_cache_write(TaskCache *cache, const TaskRow *row);
void task_cache_write_embedded(TaskCache *cache, const TaskRow *task);
void task_cache_remove(TaskCache *cache, Str id);

// The last digest that tokens of leases were taken from ([kernel-tasks-tasks-2] of tasks/tasks.c).
typedef struct LeaseDigest {
    LeaseSecret secret;
    uint64_t block; // 0 = none yet
    uint64_t words[4];
} LeaseDigest;

typedef struct CachedTopic {
    TopicRow row;
    bool is_stored; // false: the row is the default policy, nothing is stored
    char text[];    // owned name
} CachedTopic;

typedef struct TopicCache {
    StrMap by_name;
} TopicCache;

void topic_cache_init(TopicCache *cache);
void topic_cache_done(TopicCache *cache);
void topic_cache_clear(TopicCache *cache);
const CachedTopic *topic_cache_find(const TopicCache *cache, Str name);
void topic_cache_put(TopicCache *cache, const TopicRow *row, bool is_stored);

typedef struct CachedQueue {
    QueueRow row;    // as it is now; the limits of a queue nobody set when nothing is stored
    QueueRow stored; // as it is stored
    bool is_stored;
    char text[]; // owned name
} CachedQueue;

typedef struct QueueCache {
    StrMap by_name;
} QueueCache;

void queue_cache_init(QueueCache *cache);
void queue_cache_done(QueueCache *cache);
void queue_cache_clear(QueueCache *cache);
void queue_cache_trim(QueueCache *cache); // [cache-3], between batches
CachedQueue *queue_cache_find(const QueueCache *cache, Str name);
CachedQueue *queue_cache_add(QueueCache *cache, const QueueRow *row, bool is_stored);

// The wait sets of a few parked runs, decoded: a thousand completions for one run look into it a
// thousand times. In a batch a set is known by its run and generation; the first look of a later
// batch compares the bytes it was decoded from, so a set that was rolled back is never taken for
// the one that came in its place.
enum { CACHED_WAIT_SETS = 4 };

typedef struct CachedWaits {
    int64_t run; // 0 = none
    int64_t generation;
    bool is_checked; // it is this batch's
    Str bytes;       // what it was decoded from
    WaitSet set;
} CachedWaits;

typedef struct WaitCache {
    Arena arena;
    size_t size; // bytes decoded since it was cleared
    CachedWaits entries[CACHED_WAIT_SETS];
    size_t next;
} WaitCache;

void wait_cache_init(WaitCache *cache);
void wait_cache_done(WaitCache *cache);
void wait_cache_begin(WaitCache *cache); // a batch
// Decodes row->waits, or finds it decoded; what it answers lives until the batch ends, or in
// `scratch`. ERR_CORRUPT when it cannot be read.
MUST_CHECK Status wait_cache_get(WaitCache *cache, const RunRow *row, Arena *scratch,
                                 WaitSet *ret_set);
// The text of row->waits that lives until the batch ends, if its set is decoded here; otherwise a
// copy in `scratch`.
Str wait_cache_bytes(WaitCache *cache, const RunRow *row, Arena *scratch);

typedef struct ZoneCache {
    StrMap by_name; // TimeZone
} ZoneCache;

void zone_cache_init(ZoneCache *cache);
void zone_cache_done(ZoneCache *cache);
// Null is UTC. The zone may go when another one is asked for. Codes: BAD_TIMEZONE.
MUST_CHECK Status zone_cache_get(ZoneCache *cache, Str name, const TimeZone **ret_zone, Diag *diag);
