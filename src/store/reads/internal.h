// Reads: what the files of this folder share. Nobody else includes this.
//
//   [reads-internal-1] A read touches nothing of the kernel but its configuration: it may run
//        beside a commit.
//   [reads-internal-2] Every answer is bounded: by rows, by rows looked at, and by bytes. What
//        stops early for either reason says where to go on (`next`).
//   [reads-internal-3] Listings of runs leave out the snapshots, unless they are asked for.
#pragma once
#include "store/kernel/runs/snapshots.h"
#include "store/read_request.h"

enum {
    READ_CHUNK_CAREFUL = 16,   // rows fetched at a time at first, and while rows are large
    READ_CHUNK_SIZE = 1 << 20, // bytes that make a chunk of rows large
    READ_SIZE_MAX = 64 << 20,  // bytes of one page
    READ_STREAMS_MAX = RUN_STATE_COUNT
};

typedef struct Reads {
    const Kernel *kernel;
    RowStore *rows;
    Arena *arena;  // answers
    Arena scratch; // rows that were only looked at
    Diag *diag;
} Reads;

// One ordered source of rows whose primary key is one number.
typedef struct Stream {
    Scan scan; // without limit and bounds
    Arena arena;
    char *rows;
    size_t count;
    size_t at;
    bool is_done;
} Stream;

typedef bool (*RowWanted)(const void *row, void *context);

// Several sources of one table, merged by key.
typedef struct Walk {
    TableNumber table;
    Stream streams[READ_STREAMS_MAX];
    size_t stream_count;
    bool is_descending;
    PageSpec page;
    RowWanted wanted; // NULL = all
    void *context;
    bool has_snapshots; // [reads-internal-3]
    // answers
    char *rows; // in the arena of the answers
    size_t count;
    int64_t next;
} Walk;

void walk_add(Walk *walk, int index, const void *match, int match_count);
MUST_CHECK Status walk_run(Reads *reads, Walk *walk);
// All rows of a table whose key is a number, newest first.
MUST_CHECK Status walk_newest(Reads *reads, TableNumber table, const PageSpec *spec,
                              Walk *ret_walk);

// ---- reads/resume.c ----
extern const Str RESUME_QUEUE; // "system"
// Adds the resume tasks that belong into the page of tasks that answers the filter.
MUST_CHECK Status resume_merge(Reads *reads, const TaskFilter *filter, TaskPage *page);
// The one with that id. ERR_NOT_FOUND: there is none.
MUST_CHECK Status resume_find(Reads *reads, Str id, TaskRow *ret_task);
// Adds them to the statistics of their queue.
MUST_CHECK Status resume_count(Reads *reads, QueueStat *stat);

// ---- reads/embedded.c ----
// The embedded task with that id. ERR_NOT_FOUND: there is none.
MUST_CHECK Status embedded_find(Reads *reads, Str id, TaskRow *ret_task);
// Adds those that belong into the page of tasks that answers the filter; `run` is the one that is
// asked for, or NULL.
MUST_CHECK Status embedded_merge(Reads *reads, const TaskFilter *filter, const RunRow *run,
                                 TaskPage *page);
bool task_is_wanted(const void *row, void *filter); // reads/tasks.c

int64_t read_limit(int64_t limit); // 1 … LIMIT_LIST_PAGE
size_t read_size_max(size_t size_max);
// Rows to fetch next, after a chunk that took `size` bytes (0: it is the first).
int64_t read_chunk(size_t size);

// Keys of the rows in an index whose last column is a number, in its order; at most `max`.
MUST_CHECK Status keys_collect(Reads *reads, const Scan *scan, size_t max, int64_t **ret_keys,
                               size_t *ret_count);
// The same into an array with room for `max`, of which *count are there.
MUST_CHECK Status keys_append(Reads *reads, const Scan *scan, size_t max, int64_t *keys,
                              size_t *count);
MUST_CHECK Status read_run(Reads *reads, RunRef which, RunRow *ret_run);
MUST_CHECK Status read_stats(Reads *reads, StoreStats *ret_stats);
// Calls `seen` for each entry with seq > after until it answers false. Entries live in the
// scratch arena, until the next chunk.
typedef bool (*LogSeen)(const LogRow *entry, void *context);

// ---- the questions of reads.h: read_runs and so on, as READ_LIST has them ----
#define READ_PROTOTYPE(KIND, name, verb, Question, Answer)                                         \
    MUST_CHECK Status read_##name(Reads *reads, Question asked, Answer *ret_answer);
READ_LIST(READ_PROTOTYPE)
#undef READ_PROTOTYPE
