// Reads of a run's log: its history, its checkpoints, what a runner needs, its result.
//
//   [reads-log-1] Checkpoints are ordered by position, not by the time they were written.
//   [reads-log-2] A flow run with a snapshot needs only what its snapshot has not seen: the
//        LOG_WAIT entries past log_seq. Any other run is replayed from its checkpoints; the failed
//        attempts of its steps come with them, so that retries are counted across restarts.
//   [reads-log-3] Checkpoints of the present incarnation stand past input_seq ([turn-5] of
//        runs/turn.c).
//   [reads-log-4] Why a run is paused stands in its log, and nearly always at the very end: while
//        it is held nothing executes that could add to it. So the log is looked through from its
//        end.
//   [reads-log-5] The end of a task or child has the name and iteration of its beginning: the one
//        of the same position in a script, the one with its id in a C workflow. Scripts do not
//        number iterations; they are counted here, as rewinding does (runs/snapshots.c).
//   [reads-log-6] Many runs are loaded in two questions: their rows, then what their logs and
//        parents have.
//
// Not here: what a runner makes of them.
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "store/reads/internal.h"
#include <stdlib.h>

// The next entries of the run in `wanted`.
static Scan log_scan(const LogRow *wanted, int64_t after, int64_t limit) {
    return (Scan){.table = TABLE_LOG,
                  .index = SCAN_PRIMARY,
                  .match = wanted,
                  .match_count = 1,
                  .has_min = true,
                  .min = after + 1,
                  .limit = limit};
}

static Status log_walk(Reads *reads, int64_t run, int64_t after, LogSeen seen, void *context) {
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

static LogRow *log_list_room(LogList *list) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        LogRow *grown = ARENA_ARRAY(list->arena, LogRow, capacity);
        if (list->count > 0) memcpy(grown, list->rows, list->count * sizeof(LogRow));
        list->rows = grown;
        list->capacity = capacity;
    }
    return &list->rows[list->count++];
}

static void log_list_add(LogList *list, const LogRow *entry) {
    LogRow *room = log_list_room(list);
    row_copy(&tables[TABLE_LOG], list->arena, entry, room);
}

static int position_compare(const void *left, const void *right) { // [reads-log-1]
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
                   log_has_position(entry) && entry->seq > loading->run->log_seq;
    bool is_replayed = !loading->has_snapshot && log_is_positioned(entry);
    if (is_news || is_replayed) log_list_add(&loading->list, entry);
    return true;
}

// The first questions about a run's log: its entries, and its input. `wanted` lives as long as they
// are expected.
static void load_scans(const RunRow *run, LogRow *wanted, Scan ret_scans[2]) {
    int64_t after = str_is_null(run->snapshot) ? run->input_seq : run->log_seq;
    *wanted = (LogRow){.run = run->key, .seq = run->input_seq};
    ret_scans[0] = log_scan(wanted, after, read_chunk(0));
    ret_scans[1] = (Scan){
        .table = TABLE_LOG, .index = SCAN_PRIMARY, .match = wanted, .match_count = 2, .limit = 1};
}

// What the log has of a run whose row is in the load. [reads-log-2]
static Status load_log(Reads *reads, RunLoad *load) {
    const RunRow *run = &load->run;
    Loading loading = {
        .list = {.arena = reads->arena}, .run = run, .has_snapshot = !str_is_null(run->snapshot)};
    LogRow wanted = {.run = run->key, .seq = run->input_seq}, input;
    Status status = rows_get(reads->rows, TABLE_LOG, &wanted, reads->arena, &input);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, ERR_CORRUPT, "STORE_CORRUPT",
                        "the run \"%.*s\" has no entry for its input", STR_ARG(run->id));
    }
    TRY(status);
    load->input = input.data;
    int64_t after = loading.has_snapshot ? run->log_seq : run->input_seq;
    TRY(log_walk(reads, run->key, after, loading_seen, &loading));
    if (!loading.has_snapshot && loading.list.count > 0) {
        qsort(loading.list.rows, loading.list.count, sizeof(LogRow), position_compare);
    }
    load->log = loading.list.rows;
    load->log_count = loading.list.count;
    return OK;
}

Status read_run_load(Reads *reads, int64_t key, RunLoad *ret_load) {
    LogRow wanted;
    Scan scans[2];
    TRY(read_run(reads, run_of_key(key), &ret_load->run));
    load_scans(&ret_load->run, &wanted, scans);
    TRY(rows_expect(reads->rows, scans, 2));
    return load_log(reads, ret_load);
}

// ---- load many ----

// What one run answers by itself; anything else concerns the store.
static bool is_of_run(Status status) {
    return status == OK || status == ERR_NOT_FOUND || status == ERR_CORRUPT;
}

// A damaged row among many: each is asked for by itself, and answers for itself.
static Status expect_all(Reads *reads, const Scan *scans, size_t count) {
    Status status = count > 0 ? rows_expect(reads->rows, scans, count) : OK;
    return status == ERR_CORRUPT ? OK : status;
}

static Scan run_scan(Arena *arena, int64_t key) {
    RunRow *wanted = ARENA_NEW(arena, RunRow);
    wanted->key = key;
    return (Scan){
        .table = TABLE_RUNS, .index = SCAN_PRIMARY, .match = wanted, .match_count = 1, .limit = 1};
}

static Status load_rows(Reads *reads, RunLoadReply *replies, size_t count) {
    Scan *scans = ARENA_ARRAY(reads->arena, Scan, count);
    for (size_t i = 0; i < count; i++) scans[i] = run_scan(reads->arena, replies[i].key);
    TRY(expect_all(reads, scans, count));
    for (size_t i = 0; i < count; i++) {
        RunLoadReply *reply = &replies[i];
        reply->status = read_run(reads, run_of_key(reply->key), &reply->load.run);
        if (!is_of_run(reply->status)) return reply->status;
        if (reply->status != OK) reply->diag = *reads->diag;
    }
    return OK;
}

static Status expect_logs(Reads *reads, const RunLoadReply *replies, size_t count) {
    Scan *scans = ARENA_ARRAY(reads->arena, Scan, 3 * count);
    LogRow *wanted = ARENA_ARRAY(reads->arena, LogRow, count);
    size_t scan_count = 0;
    for (size_t i = 0; i < count; i++) {
        const RunRow *run = &replies[i].load.run;
        if (replies[i].status != OK) continue;
        load_scans(run, &wanted[i], &scans[scan_count]);
        scan_count += 2;
        if (run->parent != 0) scans[scan_count++] = run_scan(reads->arena, run->parent);
    }
    return expect_all(reads, scans, scan_count);
}

// Children of one parent are loaded side by side. Its row is read for the first of them, because it
// may be large: it has what the parent waits for.
static Status load_parent_id(Reads *reads, RunLoad *load, const RunLoadReply *before) {
    if (load->run.parent == 0) return OK;
    if (before && before->status == OK && before->load.run.parent == load->run.parent) {
        load->parent_id = before->load.parent_id;
        return OK;
    }
    RunRow wanted = {.key = load->run.parent}, parent;
    Status status = rows_get(reads->rows, TABLE_RUNS, &wanted, reads->arena, &parent);
    if (status == OK) load->parent_id = parent.id;
    return status == ERR_NOT_FOUND ? OK : status; // it is gone
}

Status read_run_loads(Reads *reads, RunKeys which, RunLoads *ret_loads) { // [reads-log-6]
    ASSERT(which.count > 0 && which.count <= LOAD_KEYS_MAX);
    size_t start_size = reads->arena->used_size;
    RunLoadReply *replies = ARENA_ARRAY(reads->arena, RunLoadReply, which.count);
    for (size_t i = 0; i < which.count; i++) replies[i].key = which.keys[i];
    TRY(load_rows(reads, replies, which.count));
    TRY(expect_logs(reads, replies, which.count));
    ret_loads->replies = replies;
    for (size_t i = 0; i < which.count; i++, ret_loads->count++) {
        RunLoadReply *reply = &replies[i];
        bool is_cut =
            i > 0 && reads->arena->used_size - start_size > READ_SIZE_MAX; // [reads-internal-2]
        if (is_cut) return OK;
        if (reply->status != OK) continue;
        reply->status = load_log(reads, &reply->load);
        if (reply->status == OK)
            reply->status = load_parent_id(reads, &reply->load, i > 0 ? reply - 1 : NULL);
        if (!is_of_run(reply->status)) return reply->status;
        if (reply->status != OK) reply->diag = *reads->diag;
    }
    return OK;
}

// ---- steps ----

typedef struct StepName {
    Str text;
    int64_t count; // of a script: how often it was begun
} StepName;

// A task, a child or a wait that was begun. [reads-log-5]
typedef struct Begun {
    const StepName *name;
    int64_t iteration;
    int64_t result_seq; // 0 = it has not ended
} Begun;

typedef struct StepPlace {
    int64_t position;
    int64_t seq;
    const StepName *name;
    int64_t iteration;
    const Begun *begun; // NULL = nothing was begun here
} StepPlace;

typedef struct StepBook { // all checkpoints of a run
    Arena arena;
    bool is_flow;
    StrMap names;
    StrMap by_id;    // C workflows: what was begun, by its id in quotes
    Map by_position; // scripts: the same by its position + 1
    VEC(StepPlace) places;
} StepBook;

static StepName *book_name(StepBook *book, Str text) {
    StepName *name = strmap_get(&book->names, text);
    if (name) return name;
    name = ARENA_NEW(&book->arena, StepName);
    name->text = arena_str(&book->arena, text);
    strmap_put(&book->names, name->text, name);
    return name;
}

static Begun *book_begin(StepBook *book, const LogRow *entry) {
    Begun *begun = ARENA_NEW(&book->arena, Begun);
    StepName *name = book_name(book, entry->name);
    begun->name = name;
    begun->iteration = book->is_flow ? name->count++ : entry->iteration;
    if (book->is_flow) map_put(&book->by_position, (uint64_t)entry->position + 1, begun);
    else strmap_put(&book->by_id, arena_str(&book->arena, entry->data), begun);
    return begun;
}

// What the delivery is the end of; NULL when it began nowhere that we know.
static Begun *book_end(StepBook *book, const LogRow *entry) {
    Begun *begun;
    if (book->is_flow) {
        begun = map_get(&book->by_position, (uint64_t)entry->position + 1);
    } else {
        ArenaMark mark = arena_mark(&book->arena);
        Str id = arena_printf(&book->arena, "\"%.*s\"", STR_ARG(entry->name));
        begun = strmap_get(&book->by_id, id);
        arena_rewind(&book->arena, mark);
    }
    if (begun) begun->result_seq = entry->seq;
    return begun;
}

static bool book_seen(const LogRow *entry, void *context) {
    StepBook *book = context;
    if (!log_has_position(entry)) return true;
    bool is_task = entry->kind == LOG_TASK || entry->kind == LOG_CHILD;
    Begun *begun = NULL;
    if (is_task || (book->is_flow && entry->kind == LOG_WAITING)) begun = book_begin(book, entry);
    if (entry->kind == LOG_WAIT) begun = book_end(book, entry);
    if (!log_is_checkpoint(entry)) return true;
    StepPlace place = {.position = entry->position, .seq = entry->seq, .begun = begun};
    place.name = begun ? begun->name : book_name(book, log_entry_name(entry));
    place.iteration = begun ? begun->iteration : entry->iteration;
    vec_push(&book->places, place);
    return true;
}

static Status book_fill(Reads *reads, const RunRow *run, StepBook *ret_book) {
    *ret_book = (StepBook){.is_flow = run->kind == RUN_FLOW};
    arena_init(&ret_book->arena);
    strmap_init(&ret_book->names);
    strmap_init(&ret_book->by_id);
    map_init(&ret_book->by_position);
    return log_walk(reads, run->key, run->input_seq, book_seen, ret_book);
}

static void book_done(StepBook *book) {
    vec_free(&book->places);
    map_done(&book->by_position);
    strmap_done(&book->by_id);
    strmap_done(&book->names);
    arena_done(&book->arena);
}

static bool place_is_named(const StepPlace *place, Str name) {
    return str_is_null(name) || str_equal(place->name->text, name);
}

static Status log_entry(Reads *reads, int64_t run, int64_t seq, LogRow *ret_entry) {
    LogRow wanted = {.run = run, .seq = seq};
    return rows_get(reads->rows, TABLE_LOG, &wanted, reads->arena, ret_entry);
}

// The entry, with the name and the iteration that people know it by.
static Status place_entry(Reads *reads, int64_t run, const StepPlace *place, LogRow *ret_entry) {
    TRY(log_entry(reads, run, place->seq, ret_entry));
    Str target = log_entry_target(ret_entry), name = place->name->text;
    bool is_named = str_is_null(target) || str_equal(target, name);
    ret_entry->name =
        is_named ? arena_str(reads->arena, name)
                 : arena_printf(reads->arena, "%.*s\n%.*s", STR_ARG(name), STR_ARG(target));
    ret_entry->iteration = place->iteration;
    return OK;
}

// The last one of the name, or the first of that iteration; of a task or child that has ended its
// end, which has the result.
static bool book_find(const StepBook *book, const StepRef *step, StepPlace *ret_place) {
    bool is_found = false;
    for (size_t i = 0; i < book->places.count; i++) {
        const StepPlace *place = &book->places.data[i];
        bool is_meant = step->is_last || place->iteration == step->iteration;
        if (!is_meant || !place_is_named(place, step->name)) continue;
        bool is_later = is_found && place->position > ret_place->position;
        if (is_found && is_later != step->is_last) continue;
        *ret_place = *place;
        is_found = true;
    }
    if (is_found && ret_place->begun && ret_place->begun->result_seq != 0) {
        ret_place->seq = ret_place->begun->result_seq;
    }
    return is_found;
}

Status read_step(Reads *reads, const StepRef *step, LogRow *ret_entry) {
    RunRow run;
    StepBook book;
    StepPlace place;
    TRY(read_run(reads, step->run, &run));
    Status status = book_fill(reads, &run, &book);
    if (status == OK && !book_find(&book, step, &place)) {
        status = diag_set(reads->diag, ERR_NOT_FOUND, "STEP_NOT_FOUND",
                          "the run \"%.*s\" has no checkpoint of a step \"%.*s\"", STR_ARG(run.id),
                          STR_ARG(step->name));
    }
    if (status == OK) status = place_entry(reads, run.key, &place, ret_entry);
    book_done(&book);
    return status;
}

static int place_compare(const void *left, const void *right) {
    const StepPlace *a = left, *b = right;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

// A page may be longer than it was asked to be: what began and ended at one position is not torn
// apart, because the next page begins with a position.
static Status steps_answer(Reads *reads, const StepFilter *filter, int64_t run,
                           const StepBook *book, LogPage *ret_page) {
    size_t limit = (size_t)read_limit(filter->page.limit), start_size = reads->arena->used_size;
    size_t size_max = read_size_max(filter->page.size_max);
    LogList list = {.arena = reads->arena};
    int64_t last = -1, next = 0;
    for (size_t i = 0; i < book->places.count; i++) {
        const StepPlace *place = &book->places.data[i];
        bool is_meant = !filter->has_iteration || place->iteration == filter->iteration;
        if (!is_meant || !place_is_named(place, filter->name)) continue;
        if (place->position < filter->page.after) continue;
        bool is_cut = list.count >= limit || reads->arena->used_size - start_size > size_max;
        if (is_cut && list.count > 0 && place->position != last) {
            next = place->position;
            break;
        }
        last = place->position;
        TRY(place_entry(reads, run, place, log_list_room(&list)));
    }
    *ret_page = (LogPage){list.rows, list.count, next};
    return OK;
}

Status read_steps(Reads *reads, const StepFilter *filter, LogPage *ret_page) {
    RunRow run;
    StepBook book;
    TRY(read_run(reads, filter->run, &run));
    Status status = book_fill(reads, &run, &book);
    if (status == OK && book.places.count > 0) {
        qsort(book.places.data, book.places.count, sizeof(StepPlace), place_compare);
    }
    if (status == OK) status = steps_answer(reads, filter, run.key, &book, ret_page);
    book_done(&book);
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

Status read_log(Reads *reads, const LogFilter *filter, LogPage *ret_page) {
    RunRow run;
    TRY(read_run(reads, filter->run, &run));
    History history = {.list = {.arena = reads->arena},
                       .limit = (size_t)read_limit(filter->page.limit),
                       .start_size = reads->arena->used_size,
                       .size_max = read_size_max(filter->page.size_max)};
    TRY(log_walk(reads, run.key, filter->page.after, history_seen, &history));
    const LogList *list = &history.list;
    int64_t next = history.has_more ? list->rows[list->count - 1].seq : 0;
    *ret_page = (LogPage){list->rows, list->count, next};
    return OK;
}

// ---- result ----

Status read_result(Reads *reads, RunRef which, RunResult *ret_result) {
    RunRow run;
    LogRow entry;
    TRY(read_run(reads, which, &run));
    Status status =
        run.result_seq == 0 ? ERR_NOT_FOUND : log_entry(reads, run.key, run.result_seq, &entry);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "RESULT_NOT_FOUND",
                        "the run \"%.*s\" is %s and has no result", STR_ARG(run.id),
                        run_state_name(run.state));
    }
    TRY(status);
    *ret_result = (RunResult){entry.data, run.state};
    return OK;
}

// ---- why it is paused ----

static const Str PAUSE_ASKED_FOR =
    STR("{\"type\":\"PauseRequested\",\"message\":\"somebody asked for it\"}");
static const Str PAUSE_UNKNOWN =
    STR("{\"type\":\"Unknown\",\"message\":\"its log does not say why\"}");

// [reads-log-4] The last LOG_PAUSED entry among the last LIMIT_READ_LOOKS.
static Status find_pause(Reads *reads, int64_t run, LogRow *ret_entry) {
    int64_t limit = 1;
    size_t count = 1;
    for (int64_t before = INT64_MAX, looks = 0; count > 0 && looks < LIMIT_READ_LOOKS;) {
        LogRow wanted = {.run = run}, *rows = NULL;
        Scan scan = scan_of(TABLE_LOG, SCAN_PRIMARY, &wanted, limit);
        scan.has_max = true;
        scan.max = before;
        scan.is_descending = true;
        arena_reset(&reads->scratch);
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            before = rows[i].seq - 1;
            if (rows[i].kind != LOG_PAUSED) continue;
            row_copy(&tables[TABLE_LOG], reads->arena, &rows[i], ret_entry);
            return OK;
        }
        looks += (int64_t)count;
        limit = LIMIT_READ_CHUNK;
    }
    return ERR_NOT_FOUND;
}

Status read_pause_reason(Reads *reads, RunRef which, Str *ret_reason) {
    RunRow run;
    LogRow entry;
    TRY(read_run(reads, which, &run));
    *ret_reason = STR_NULL;
    if (run.state != RUN_PAUSED) return OK;
    Status status = find_pause(reads, run.key, &entry);
    if (status == ERR_NOT_FOUND) entry.data = PAUSE_UNKNOWN;
    else TRY(status);
    *ret_reason = str_is_null(entry.data) ? PAUSE_ASKED_FOR : entry.data;
    return OK;
}
