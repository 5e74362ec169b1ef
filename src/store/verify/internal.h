// Verify: the whole content of a store against the invariants of the kernel.
//
// verify/verify.c      walks the tables, and what is left at the end: the counters
// verify/runs.c        runs, their wait sets and waiters
// verify/belongings.c  rows that belong to runs: logs, values, snapshots, cursors, tags
// verify/events.c      events, signals, topics
// verify/tasks.c       tasks
// verify/queues.c      queues and concurrency keys
// verify/places.c      how many runs stand at each place of a script
//
// Each table is walked once, in chunks, so that memory does not depend on the size of the store.
// The first contradiction ends the check: ERR_CORRUPT, with text that names it. Nothing here is an
// ASSERT: what is stored may have been damaged by anybody.
//   [verify-internal-1] Counters equal what they count; the key sequence is past every key.
//   [verify-internal-2] Waiter rows and the EVENT items of suspended runs' wait sets name each
//        other.
//   [verify-internal-3] Everything that belongs to a run, belongs to a run that exists.
//   [verify-internal-4] Columns that drive claims and timers agree with the state ([runs-2],
//        [runs-4] of runs/runs.c).
//   [verify-internal-5] Queues and concurrency keys count the tasks that there are (model/queue.h),
//        and who of a key may be claimed follows from its queue's limit ([keys-1] and [keys-2] of
//        tasks/keys.c).
//   [verify-internal-8] An embedded task is leased and is all its run waits for, and the run is due
//        no later than its lease ends ([embedded-2], [embedded-4] of kernel/tasks/embedded.h).
//   [verify-internal-7] Places count the runs that stand there, and name one of them or none.
//   [verify-internal-6] No open task is among those its run takes for ended ([waits-idle-2] of
//        waits/idle.c).
#pragma once
#include "store/kernel/internal.h"

enum { VERIFY_CHUNK = 256, VERIFY_NAMES_MAX = 1 << 20 };

typedef struct Verify {
    RowStore *rows;
    Diag *diag;
    Arena page;          // the rows of the present chunk
    Arena scratch;       // what is read beside one of them
    Arena kept;          // topics and queues
    StrMap topics;       // TopicCount by name (verify/events.c)
    StrMap queues;       // QueueCount by name
    Map places;          // PlaceRow by a mix of version and place (verify/places.c)
    int64_t keyed_count; // tasks that have a place among those of a key
    int64_t row_count;
    int64_t max_key;
    int64_t counts[COUNTER_COUNT];
} Verify;

typedef struct QueueCount {
    int64_t queued_count, blocked_count, running_count;
} QueueCount;

MUST_CHECK Status verify_bad(Verify *verify, const char *what, Str name);
MUST_CHECK Status verify_bad_key(Verify *verify, const char *what, int64_t key);
// Into the scratch arena. ERR_NOT_FOUND: there is none.
MUST_CHECK Status verify_find_run(Verify *verify, int64_t key, RunRow *ret_run);

// Each is given every row of a table.
MUST_CHECK Status verify_run(Verify *verify, const void *row);
void verify_run_place(Verify *verify, const RunRow *run);
MUST_CHECK Status verify_waiter(Verify *verify, const void *row);
MUST_CHECK Status verify_event(Verify *verify, const void *row);
MUST_CHECK Status verify_task(Verify *verify, const void *row);
// A task that stands in the row of its run.
MUST_CHECK Status verify_embedded(Verify *verify, const RunRow *run, const WaitSet *set);
MUST_CHECK Status verify_task_key(Verify *verify, const void *row);
// A table with rows of runs, by an index whose first column, at `offset` of the row, is the run.
MUST_CHECK Status verify_belongings(Verify *verify, TableNumber table, int index, size_t offset);
// After verify_event and verify_task have seen every row.
MUST_CHECK Status verify_topics(Verify *verify);
MUST_CHECK Status verify_queues(Verify *verify);
MUST_CHECK Status verify_places(Verify *verify); // after verify_run
