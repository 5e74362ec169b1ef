// Reads of a run's log: its history, its checkpoints, its input and result.
//
//   [H1] Checkpoints are ordered by position, not by the time they were written.
//   [H2] A flow run with a snapshot needs only what its snapshot has not seen: the LOG_WAIT
//        entries past log_seq. Any other run is replayed from its checkpoints; the failed attempts
//        of its steps come with them, so that retries are counted across restarts.
//   [H3] Checkpoints of the present incarnation stand past input_seq ([U5] of kernel_turn.c).
//
// Not here: what a runner makes of them.
#include "store/reads_internal.h"
#include "base/vec.h"
#include <stdlib.h>

// The next entries of the run in `wanted`.
static Scan log_scan(const LogRow *wanted, int64_t after, int64_t limit) {
    return (Scan){.table = TABLE_LOG, .index = SCAN_PRIMARY, .match = wanted, .match_count = 1,
                  .has_min = true, .min = after + 1, .limit = limit};
}

Status log_walk(Reads *reads, int64_t run, int64_t after, LogSeen seen, void *context) {
    for (size_t size = 0;; size = reads->scratch.used_size) {
        LogRow wanted = {.run = run}, *rows = NULL;
        size_t count = 0;
        Scan scan = log_scan(&wanted, after, read_chunk(size));
        arena_reset(&reads->scratch);
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].seq;
            if (!seen(&rows[i], context)) return OK;
        }
        if ((int64_t)count < scan.limit) return OK;
    }
}

typedef struct LogList { // entries copied into the arena of the answers
    Arena *arena;
    LogRow *rows;
    size_t count;
    size_t capacity;
} LogList;

static void log_list_add(LogList *list, const LogRow *entry) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        LogRow *grown = ARENA_ARRAY(list->arena, LogRow, capacity);
        if (list->count > 0) memcpy(grown, list->rows, list->count * sizeof(LogRow));
        list->rows = grown;
        list->capacity = capacity;
    }
    row_copy(&tables[TABLE_LOG], list->arena, entry, &list->rows[list->count++]);
}

static int position_compare(const void *left, const void *right) { // [H1]
    const LogRow *a = left, *b = right;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

// ---- load ----

typedef struct Loading {
    LogList list;
    const RunRow *run;
    bool has_snapshot;
} Loading;

static bool loading_seen(const LogRow *entry, void *context) {
    Loading *loading = context;
    bool is_news = loading->run->kind == RUN_FLOW && entry->kind == LOG_WAIT &&
                   entry->position >= 0 && entry->seq > loading->run->log_seq;
    bool is_replayed = !loading->has_snapshot && log_is_positioned(entry);
    if (is_news || is_replayed) log_list_add(&loading->list, entry);
    return true;
}

Status read_run_load(Reads *reads) { // [H2]
    Query *query = reads->query;
    TRY(read_run(reads));
    const RunRow *run = query->runs;
    Loading loading = {.list = {.arena = reads->arena}, .run = run,
                       .has_snapshot = !str_is_null(run->snapshot)};
    int64_t after = loading.has_snapshot ? run->log_seq : run->input_seq;
    LogRow wanted = {.run = run->key, .seq = run->input_seq}, input;
    Scan scans[] = {log_scan(&wanted, after, read_chunk(0)),
                    {.table = TABLE_LOG, .index = SCAN_PRIMARY, .match = &wanted, .match_count = 2,
                     .limit = 1}};
    TRY(rows_expect(reads->rows, scans, 2));
    Status status = rows_get(reads->rows, TABLE_LOG, &wanted, reads->arena, &input);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, ERR_CORRUPT, "STORE_CORRUPT",
                        "the run \"%.*s\" has no entry for its input", STR_ARG(run->id));
    }
    TRY(status);
    query->text = input.data;
    TRY(log_walk(reads, run->key, after, loading_seen, &loading));
    if (!loading.has_snapshot && loading.list.count > 0) {
        qsort(loading.list.rows, loading.list.count, sizeof(LogRow), position_compare);
    }
    query->log = loading.list.rows;
    query->log_count = loading.list.count;
    return OK;
}

// ---- steps ----

typedef struct StepSearch {
    Str name;
    int64_t iteration; // < 0 = the first
    int64_t position;  // of what was found; INT64_MAX = nothing
    int64_t seq;
} StepSearch;

static bool step_seen(const LogRow *entry, void *context) {
    StepSearch *search = context;
    if (!log_is_checkpoint(entry) || !str_equal(entry->name, search->name)) return true;
    if (search->iteration >= 0 && entry->iteration != search->iteration) return true;
    if (entry->position < search->position) {
        search->position = entry->position;
        search->seq = entry->seq;
    }
    return true;
}

static Status log_entry(Reads *reads, int64_t run, int64_t seq, LogRow *ret_entry) {
    LogRow wanted = {.run = run, .seq = seq};
    return rows_get(reads->rows, TABLE_LOG, &wanted, reads->arena, ret_entry);
}

Status read_step(Reads *reads) {
    Query *query = reads->query;
    RunRow run;
    TRY(read_find_run(reads, query->run_id, query->run, &run));
    StepSearch search = {.name = query->name, .iteration = query->iteration,
                         .position = INT64_MAX};
    TRY(log_walk(reads, run.key, run.input_seq, step_seen, &search));
    if (search.position == INT64_MAX) {
        return diag_set(reads->diag, ERR_NOT_FOUND, "STEP_NOT_FOUND",
                        "the run \"%.*s\" has no checkpoint of a step \"%.*s\"", STR_ARG(run.id),
                        STR_ARG(query->name));
    }
    query->log = ARENA_NEW(reads->arena, LogRow);
    TRY(log_entry(reads, run.key, search.seq, query->log));
    query->count = query->log_count = 1;
    return OK;
}

typedef struct StepPlace {
    int64_t position;
    int64_t seq;
} StepPlace;

typedef struct StepPlaces {
    VEC(StepPlace) places;
    int64_t from_position;
} StepPlaces;

static bool place_seen(const LogRow *entry, void *context) {
    StepPlaces *steps = context;
    if (log_is_checkpoint(entry) && entry->position >= steps->from_position) {
        vec_push(&steps->places, (StepPlace){entry->position, entry->seq});
    }
    return true;
}

static int place_compare(const void *left, const void *right) {
    const StepPlace *a = left, *b = right;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static Status steps_answer(Reads *reads, const RunRow *run, const StepPlaces *steps) {
    Query *query = reads->query;
    size_t limit = (size_t)read_limit(query->limit);
    size_t count = steps->places.count < limit ? steps->places.count : limit;
    size_t start_size = reads->arena->used_size;
    query->log = ARENA_ARRAY(reads->arena, LogRow, count > 0 ? count : 1);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && reads->arena->used_size - start_size > read_size_max(query)) break;
        TRY(log_entry(reads, run->key, steps->places.data[i].seq, &query->log[i]));
        query->count = i + 1;
    }
    query->log_count = query->count;
    if (query->count < steps->places.count) query->next = steps->places.data[query->count].position;
    return OK;
}

// `after` is the lowest position that is wanted, and `next` the one to go on with.
Status read_list_steps(Reads *reads) {
    Query *query = reads->query;
    RunRow run;
    TRY(read_find_run(reads, query->run_id, query->run, &run));
    StepPlaces steps = {.from_position = query->after};
    Status status = log_walk(reads, run.key, run.input_seq, place_seen, &steps);
    if (status == OK) {
        if (steps.places.count > 0) {
            qsort(steps.places.data, steps.places.count, sizeof(StepPlace), place_compare);
        }
        status = steps_answer(reads, &run, &steps);
    }
    vec_free(&steps.places);
    return status;
}

// ---- history ----

typedef struct History {
    LogList list;
    size_t limit;
    size_t start_size, size_max;
    bool has_more;
} History;

static bool history_seen(const LogRow *entry, void *context) {
    History *history = context;
    bool is_cut = history->list.arena->used_size - history->start_size > history->size_max;
    if (history->list.count == history->limit || is_cut) {
        history->has_more = true;
        return false;
    }
    log_list_add(&history->list, entry);
    return true;
}

Status read_log(Reads *reads) {
    Query *query = reads->query;
    RunRow run;
    TRY(read_find_run(reads, query->run_id, query->run, &run));
    History history = {.list = {.arena = reads->arena},
                       .limit = (size_t)read_limit(query->limit),
                       .start_size = reads->arena->used_size,
                       .size_max = read_size_max(query)};
    TRY(log_walk(reads, run.key, query->after, history_seen, &history));
    query->log = history.list.rows;
    query->count = query->log_count = history.list.count;
    if (history.has_more) query->next = history.list.rows[history.list.count - 1].seq;
    return OK;
}

// ---- input and result; `number` is the run's state ----

static Status read_entry_text(Reads *reads, bool is_result) {
    Query *query = reads->query;
    RunRow run;
    LogRow entry;
    TRY(read_find_run(reads, query->run_id, query->run, &run));
    int64_t seq = is_result ? run.result_seq : run.input_seq;
    Status status = seq == 0 ? ERR_NOT_FOUND : log_entry(reads, run.key, seq, &entry);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "RESULT_NOT_FOUND",
                        "the run \"%.*s\" is %s and has no %s", STR_ARG(run.id),
                        run_state_name(run.state), is_result ? "result" : "input any more");
    }
    TRY(status);
    query->text = entry.data;
    query->number = run.state;
    return OK;
}

Status read_input(Reads *reads) { return read_entry_text(reads, false); }
Status read_result(Reads *reads) { return read_entry_text(reads, true); }
