// Reads: one query, one consistent view; and the walk all listings are made of.
//
// A walk merges up to a handful of ordered sources by key and keeps the rows that are wanted, so
// that "runs in state a or b" costs what its page costs, however many other runs there are.
//   [R2] It stops after a page, after LIMIT_READ_LOOKS rows, or after READ_SIZE_MAX bytes.
//
// Not here: the queries (reads_*.c by noun).
#include "base/array.h"
#include "base/assert.h"
#include "store/reads/internal.h"

typedef Status (*Reader)(Reads *reads);

static const Reader readers[QUERY_KIND_COUNT] = {
    [QUERY_RUN] = read_run,
    [QUERY_RUN_LOAD] = read_run_load,
    [QUERY_LOAD_RUNS] = read_load_runs,
    [QUERY_LIST_RUNS] = read_list_runs,
    [QUERY_STEP] = read_step,
    [QUERY_LIST_STEPS] = read_list_steps,
    [QUERY_LOG] = read_log,
    [QUERY_INPUT] = read_input,
    [QUERY_RESULT] = read_result,
    [QUERY_PAUSE_REASON] = read_pause_reason,
    [QUERY_WAITERS] = read_waiters,
    [QUERY_EVENTS] = read_events,
    [QUERY_TOPIC] = read_topic,
    [QUERY_LIST_TOPICS] = read_list_topics,
    [QUERY_DEAD_LETTERS] = read_dead_letters,
    [QUERY_TASK] = read_task,
    [QUERY_LIST_TASKS] = read_list_tasks,
    [QUERY_CLAIMABLE] = read_claimable,
    [QUERY_DEFINITION] = read_definition,
    [QUERY_LIST_DEFINITIONS] = read_list_definitions,
    [QUERY_NODE] = read_node,
    [QUERY_LIST_NODES] = read_list_nodes,
    [QUERY_DUE] = read_due,
    [QUERY_DUE_RUNS] = read_due_runs,
    [QUERY_CHILDREN] = read_children,
    [QUERY_STATS] = read_stats,
    [QUERY_OWNED] = read_owned,
    [QUERY_SCHEDULE] = read_schedule,
    [QUERY_LIST_SCHEDULES] = read_list_schedules,
    [QUERY_QUEUE] = read_queue,
    [QUERY_LIST_QUEUES] = read_list_queues,
    [QUERY_STATE] = read_state,
    [QUERY_LIST_STATES] = read_list_states,
    [QUERY_LIST_TOKENS] = read_list_tokens,
};

static void query_clear_answers(Query *query) {
    query->runs = NULL;
    query->loads = NULL;
    query->log = NULL;
    query->events = NULL;
    query->tasks = NULL;
    query->topics = NULL;
    query->dead_letters = NULL;
    query->definitions = NULL;
    query->nodes = NULL;
    query->node_runs = NULL;
    query->schedules = NULL;
    query->queues = NULL;
    query->values = NULL;
    query->tokens = NULL;
    query->are_full = NULL;
    query->count = query->log_count = 0;
    query->next = query->number = 0;
    query->text = STR_NULL;
}

static Status read_once(const Kernel *kernel, Arena *arena, Query *query, bool *is_retry,
                        Diag *diag) {
    bool was_retry = *is_retry;
    *is_retry = false;
    query_clear_answers(query);
    RowStore *rows = kernel->reader;
    TRY(rows->ops->read_begin(rows, diag));
    rows->diag = diag;
    rows->is_retry = was_retry;
    rows->wants_restart = false;
    Reads reads = {.kernel = kernel, .rows = rows, .arena = arena, .query = query, .diag = diag};
    arena_init(&reads.scratch);
    Status status = readers[query->kind](&reads);
    arena_done(&reads.scratch);
    rows->diag = NULL;
    *is_retry = status != OK && rows->wants_restart; // said here: it is others' after read_end
    rows->ops->read_end(rows);
    return status;
}

Status kernel_read(Store *store, Arena *arena, Query *query, Diag *diag) {
    const Kernel *kernel = (const Kernel *)store;
    ASSERT(query->kind > 0 && query->kind < QUERY_KIND_COUNT);
    bool is_retry = false;
    for (int attempt = 1;; attempt++) { // [R10] of rowstore.h
        ArenaMark mark = arena_mark(arena);
        Status status = read_once(kernel, arena, query, &is_retry, diag);
        if (!is_retry || attempt == READ_ATTEMPTS_MAX) return status;
        arena_rewind(arena, mark);
    }
}

int64_t read_limit(int64_t limit) {
    return limit <= 0 || limit > LIMIT_LIST_PAGE ? LIMIT_LIST_PAGE : limit;
}

size_t read_size_max(const Query *query) {
    bool is_given = query->size_max > 0 && query->size_max < READ_SIZE_MAX;
    return is_given ? query->size_max : READ_SIZE_MAX;
}

int64_t read_chunk(size_t size) {
    bool is_careful = size == 0 || size > READ_CHUNK_SIZE;
    return is_careful && READ_CHUNK_CAREFUL < LIMIT_READ_CHUNK ? READ_CHUNK_CAREFUL
                                                               : LIMIT_READ_CHUNK;
}

// ---- walks ----

void walk_add(Walk *walk, int index, const void *match, int match_count) {
    ASSERT(walk->stream_count < READ_STREAMS_MAX);
    ASSERT(tables[walk->table].key_count == 1 && tables[walk->table].columns[0].offset == 0);
    walk->streams[walk->stream_count++] = (Stream){
        .scan = {.table = walk->table, .index = index, .match = match, .match_count = match_count}};
}

static int64_t key_of(const void *row) { return *(const int64_t *)row; }

static Status stream_fill(Reads *reads, const Walk *walk, Stream *stream) {
    size_t row_size = tables[walk->table].row_size;
    int64_t after = walk->after;
    if (stream->count > 0) after = key_of(stream->rows + (stream->count - 1) * row_size);
    Scan scan = stream->scan;
    scan.is_descending = walk->is_descending;
    scan.limit = read_chunk(stream->count > 0 ? stream->arena.used_size : 0);
    if (after != 0) {
        scan.has_min = !walk->is_descending;
        scan.has_max = walk->is_descending;
        scan.min = after + 1;
        scan.max = after - 1;
    }
    arena_reset(&stream->arena);
    stream->at = 0;
    TRY(rows_scan(reads->rows, &scan, &stream->arena, &stream->rows, &stream->count));
    stream->is_done = stream->count == 0;
    return OK;
}

// The next row in the order of the merged sources; NULL at the end.
static Status walk_next(Reads *reads, Walk *walk, char **ret_row) {
    size_t row_size = tables[walk->table].row_size;
    Stream *best = NULL;
    for (size_t i = 0; i < walk->stream_count; i++) {
        Stream *stream = &walk->streams[i];
        if (!stream->is_done && stream->at == stream->count) {
            TRY(stream_fill(reads, walk, stream));
        }
        if (stream->is_done) continue;
        int64_t key = key_of(stream->rows + stream->at * row_size);
        int64_t best_key = best ? key_of(best->rows + best->at * row_size) : 0;
        if (!best || (walk->is_descending ? key > best_key : key < best_key)) best = stream;
    }
    *ret_row = best ? best->rows + best->at * row_size : NULL;
    if (best) best->at++;
    return OK;
}

static void walk_keep(Reads *reads, Walk *walk, size_t *capacity, void *row) {
    const Table *table = &tables[walk->table];
    if (walk->count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 16;
        char *grown = arena_zalloc_array(reads->arena, *capacity, table->row_size);
        if (walk->count > 0) memcpy(grown, walk->rows, walk->count * table->row_size);
        walk->rows = grown;
    }
    if (walk->table == TABLE_RUNS) ((RunRow *)row)->snapshot = STR_NULL; // [R3]
    row_copy(table, reads->arena, row, walk->rows + walk->count * table->row_size);
    walk->count++;
}

static Status walk_all(Reads *reads, Walk *walk) {
    size_t capacity = 0;
    size_t start_size = reads->arena->used_size;
    int64_t last_key = 0; // the last row that is dealt with
    for (int64_t looks = 0;; looks++) {
        char *row;
        bool is_cut = looks >= LIMIT_READ_LOOKS ||
                      reads->arena->used_size - start_size > read_size_max(reads->query); // [R2]
        TRY(walk_next(reads, walk, &row));
        if (!row) return OK;
        if (is_cut) {
            walk->next = last_key;
            return OK;
        }
        if (!walk->wanted || walk->wanted(row, walk->context)) {
            if ((int64_t)walk->count == walk->limit) {
                walk->next = last_key;
                return OK;
            }
            walk_keep(reads, walk, &capacity, row);
        }
        last_key = key_of(row);
    }
}

Status walk_run(Reads *reads, Walk *walk) {
    walk->limit = read_limit(walk->limit);
    Status status = walk_all(reads, walk);
    for (size_t i = 0; i < walk->stream_count; i++) arena_done(&walk->streams[i].arena);
    return status;
}

Status keys_append(Reads *reads, const Scan *which, size_t max, int64_t *keys, size_t *count) {
    const Table *table = &tables[which->table];
    const IndexSpec *index = &table->indexes[which->index];
    const Column *column = &table->columns[index->columns[index->column_count - 1]];
    Scan scan = *which;
    while (*count < max) {
        char *rows = NULL;
        size_t found = 0;
        arena_reset(&reads->scratch);
        scan.limit = max - *count < LIMIT_READ_CHUNK ? (int64_t)(max - *count) : LIMIT_READ_CHUNK;
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &found));
        for (size_t i = 0; i < found; i++) keys[(*count)++] = key_of(rows + i * table->row_size);
        if ((int64_t)found < scan.limit) break;
        const void *last = rows + (found - 1) * table->row_size;
        scan.has_min = true;
        scan.min = row_i64(last, column);
        scan.after_key = key_of(last);
    }
    return OK;
}

Status keys_collect(Reads *reads, const Scan *scan, size_t max, int64_t **ret_keys,
                    size_t *ret_count) {
    int64_t *keys = arena_alloc(reads->arena, max * sizeof(int64_t));
    size_t count = 0;
    TRY(keys_append(reads, scan, max, keys, &count));
    *ret_keys = keys;
    *ret_count = count;
    return OK;
}

// ---- what is due, and how many there are ----

Status read_due(Reads *reads) {
    static const struct {
        TableNumber table;
        int index;
        size_t offset;
    } dues[] = {
        {TABLE_RUNS, RUNS_BY_DUE, offsetof(RunRow, due_at_ms)},
        {TABLE_TASKS, TASKS_BY_DUE, offsetof(TaskRow, due_at_ms)},
        {TABLE_EVENTS, EVENTS_BY_DUE, offsetof(EventRow, due_at_ms)},
        {TABLE_DEDUPE, DEDUPE_BY_DUE, offsetof(DedupeRow, due_at_ms)},
        {TABLE_DEAD_LETTERS, DEAD_LETTERS_BY_DUE, offsetof(DeadLetterRow, due_at_ms)},
        {TABLE_SCHEDULES, SCHEDULES_BY_DUE, offsetof(ScheduleRow, due_at_ms)},
        {TABLE_QUEUES, QUEUES_BY_DUE, offsetof(QueueRow, due_at_ms)},
    };
    for (size_t i = 0; i < COUNT_OF(dues); i++) {
        char *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = dues[i].table, .index = dues[i].index, .limit = 1};
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        if (count == 0) continue;
        const int64_t *due = (const int64_t *)(const void *)(rows + dues[i].offset);
        reads->query->number = earliest_of(reads->query->number, *due);
    }
    return OK;
}

Status read_stats(Reads *reads) {
    CounterRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_COUNTERS, .index = SCAN_PRIMARY, .limit = COUNTER_COUNT};
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    reads->query->stats = (StoreStats){0};
    for (size_t i = 0; i < count; i++) {
        if (rows[i].number < 0 || rows[i].number >= COUNTER_COUNT) continue;
        reads->query->stats.counters[rows[i].number] = rows[i].value;
    }
    return OK;
}
