// Reads: what the reads_*.c files share. Nobody else includes this.
//
//   [R1] A read touches nothing of the kernel but its configuration: it may run beside a commit.
//   [R2] Every answer is bounded: by rows, by rows looked at, and by bytes. What stops early for
//        either reason says where to go on (`next`).
//   [R3] Listings of runs leave out the snapshots.
#pragma once
#include "store/kernel/runs/snapshots.h"

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
    Query *query;
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
    int64_t after; // 0 = from the beginning
    int64_t limit;
    RowWanted wanted; // NULL = all
    void *context;
    // answers
    char *rows; // in the arena of the answers
    size_t count;
    int64_t next;
} Walk;

void walk_add(Walk *walk, int index, const void *match, int match_count);
MUST_CHECK Status walk_run(Reads *reads, Walk *walk);

// ---- reads/resume.c ----
extern const Str RESUME_QUEUE; // "system"
extern const Str RESUME_TASK;  // "builtin.resume_workflow"
// Adds the resume tasks that belong into the page of tasks that the query has just been answered.
MUST_CHECK Status resume_merge(Reads *reads);
// The one called query->name. ERR_NOT_FOUND: there is none.
MUST_CHECK Status resume_find(Reads *reads);
// Adds them to the statistics of their queue.
MUST_CHECK Status resume_count(Reads *reads, QueueStat *stat);

int64_t read_limit(int64_t limit); // 1 … LIMIT_LIST_PAGE
size_t read_size_max(const Query *query);
// Rows to fetch next, after a chunk that took `size` bytes (0: it is the first).
int64_t read_chunk(size_t size);

// Keys of the rows in an index whose last column is a number, in its order; at most `max`.
MUST_CHECK Status keys_collect(Reads *reads, const Scan *scan, size_t max, int64_t **ret_keys,
                               size_t *ret_count);
// The same into an array with room for `max`, of which *count are there.
MUST_CHECK Status keys_append(Reads *reads, const Scan *scan, size_t max, int64_t *keys,
                              size_t *count);
MUST_CHECK Status read_find_run(Reads *reads, Str run_id, int64_t run, RunRow *ret_run);
// Calls `seen` for each entry with seq > after until it answers false. Entries live in the
// scratch arena, until the next chunk.
typedef bool (*LogSeen)(const LogRow *entry, void *context);
MUST_CHECK Status log_walk(Reads *reads, int64_t run, int64_t after, LogSeen seen, void *context);

MUST_CHECK Status read_run(Reads *reads);
MUST_CHECK Status read_list_runs(Reads *reads);
MUST_CHECK Status read_children(Reads *reads);
MUST_CHECK Status read_waiters(Reads *reads);
MUST_CHECK Status read_due_runs(Reads *reads);
MUST_CHECK Status read_owned(Reads *reads);
MUST_CHECK Status read_run_load(Reads *reads);
MUST_CHECK Status read_load_runs(Reads *reads);
MUST_CHECK Status read_step(Reads *reads);
MUST_CHECK Status read_list_steps(Reads *reads);
MUST_CHECK Status read_log(Reads *reads);
MUST_CHECK Status read_input(Reads *reads);
MUST_CHECK Status read_result(Reads *reads);
MUST_CHECK Status read_pause_reason(Reads *reads);
MUST_CHECK Status read_events(Reads *reads);
MUST_CHECK Status read_topic(Reads *reads);
MUST_CHECK Status read_list_topics(Reads *reads);
MUST_CHECK Status read_dead_letters(Reads *reads);
MUST_CHECK Status read_task(Reads *reads);
MUST_CHECK Status read_list_tasks(Reads *reads);
MUST_CHECK Status read_claimable(Reads *reads);
MUST_CHECK Status read_definition(Reads *reads);
MUST_CHECK Status read_list_definitions(Reads *reads);
MUST_CHECK Status read_node(Reads *reads);
MUST_CHECK Status read_list_nodes(Reads *reads);
MUST_CHECK Status read_schedule(Reads *reads);
MUST_CHECK Status read_list_schedules(Reads *reads);
MUST_CHECK Status read_queue(Reads *reads);
MUST_CHECK Status read_list_queues(Reads *reads);
MUST_CHECK Status read_state(Reads *reads);
MUST_CHECK Status read_list_states(Reads *reads);
MUST_CHECK Status read_list_tokens(Reads *reads);
MUST_CHECK Status read_due(Reads *reads);
MUST_CHECK Status read_stats(Reads *reads);
