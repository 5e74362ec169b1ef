// Reads: one question, one consistent view; and the walk all listings are made of.
//
// A walk merges up to a handful of ordered sources by key and keeps the rows that are wanted, so
// that "runs in state a or b" costs what its page costs, however many other runs there are.
//   [reads-store-2] It stops after a page, after LIMIT_READ_LOOKS rows, or after READ_SIZE_MAX
//        bytes.
//
// Not here: the questions (reads/*.c by noun).
#include "base/array.h"
#include "base/assert.h"
#include "store/reads/internal.h"

static Status read_due(Reads *reads, int64_t *ret_due_at_ms);

static Status answer(Reads *reads, ReadRequest *request) {
    const ReadQuestion *in = &request->in;
    ReadAnswer *out = &request->out;
    switch (request->kind) {
#define READ_CASE(KIND, name, verb, Question, Answer)                                              \
    case READ_##KIND: return read_##name(reads, in->name, &out->name);
        READ_LIST(READ_CASE)
#undef READ_CASE
    case READ_RUN: return read_run(reads, in->run, &out->run);
    case READ_DUE: return read_due(reads, &out->due_at_ms);
    case READ_STATS: return read_stats(reads, &out->stats);
    case READ_KIND_COUNT: break;
    }
    UNREACHABLE();
}

static Status read_once(const Kernel *kernel, Arena *arena, ReadRequest *request, bool *is_retry,
                        Diag *diag) {
    bool was_retry = *is_retry;
    *is_retry = false;
    request->out = (ReadAnswer){0};
    RowStore *rows = kernel->reader;
    TRY(rows->ops->read_begin(rows, diag));
    rows->diag = diag;
    rows->is_retry = was_retry;
    rows->wants_restart = false;
    Reads reads = {.kernel = kernel, .rows = rows, .arena = arena, .diag = diag};
    arena_init(&reads.scratch);
    Status status = answer(&reads, request);
    arena_done(&reads.scratch);
    rows->diag = NULL;
    *is_retry = status != OK && rows->wants_restart; // said here: it is others' after read_end
    rows->ops->read_end(rows);
    return status;
}

Status kernel_read(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    const Kernel *kernel = (const Kernel *)store;
    bool is_retry = false;
    for (int attempt = 1;; attempt++) { // [rowstore-10] of rowstore.h
        ArenaMark mark = arena_mark(arena);
        Status status = read_once(kernel, arena, request, &is_retry, diag);
        if (!is_retry || attempt == READ_ATTEMPTS_MAX) return status;
        arena_rewind(arena, mark);
    }
}

int64_t read_limit(int64_t limit) {
    return limit <= 0 || limit > LIMIT_LIST_PAGE ? LIMIT_LIST_PAGE : limit;
}

size_t read_size_max(size_t size_max) {
    return size_max > 0 && size_max < READ_SIZE_MAX ? size_max : READ_SIZE_MAX;
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
    int64_t after = walk->page.after;
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
    bool is_stripped = walk->table == TABLE_RUNS && !walk->has_snapshots; // [reads-internal-3]
    if (is_stripped) ((RunRow *)row)->snapshot = STR_NULL;
    row_copy(table, reads->arena, row, walk->rows + walk->count * table->row_size);
    walk->count++;
}

static Status walk_all(Reads *reads, Walk *walk) {
    size_t capacity = 0;
    size_t start_size = reads->arena->used_size, size_max = read_size_max(walk->page.size_max);
    int64_t last_key = 0; // the last row that is dealt with
    for (int64_t looks = 0;; looks++) {
        char *row;
        bool is_cut = looks >= LIMIT_READ_LOOKS ||
                      reads->arena->used_size - start_size > size_max; // [reads-store-2]
        TRY(walk_next(reads, walk, &row));
        if (!row) return OK;
        if (is_cut) {
            walk->next = last_key;
            return OK;
        }
        if (!walk->wanted || walk->wanted(row, walk->context)) {
            if ((int64_t)walk->count == walk->page.limit) {
                walk->next = last_key;
                return OK;
            }
            walk_keep(reads, walk, &capacity, row);
        }
        last_key = key_of(row);
    }
}

Status walk_run(Reads *reads, Walk *walk) {
    walk->page.limit = read_limit(walk->page.limit);
    Status status = walk_all(reads, walk);
    for (size_t i = 0; i < walk->stream_count; i++) arena_done(&walk->streams[i].arena);
    return status;
}

Status walk_newest(Reads *reads, TableNumber table, const PageSpec *spec, Walk *ret_walk) {
    *ret_walk = (Walk){.table = table, .is_descending = true, .page = *spec};
    walk_add(ret_walk, SCAN_PRIMARY, NULL, 0);
    return walk_run(reads, ret_walk);
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

static Status read_due(Reads *reads, int64_t *ret_due_at_ms) {
    int64_t due_at_ms = 0;
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
        due_at_ms = earliest_of(due_at_ms, *due);
    }
    *ret_due_at_ms = due_at_ms;
    return OK;
}

Status read_stats(Reads *reads, StoreStats *ret_stats) {
    CounterRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_COUNTERS, .index = SCAN_PRIMARY, .limit = COUNTER_COUNT};
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    *ret_stats = (StoreStats){0};
    for (size_t i = 0; i < count; i++) {
        if (rows[i].number < 0 || rows[i].number >= COUNTER_COUNT) continue;
        ret_stats->counters[rows[i].number] = rows[i].value;
    }
    return OK;
}
