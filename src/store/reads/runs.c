// Reads of runs: one run, listings by the index that fits the filter best, who waits, what
// a node owns.
//
//   [reads-runs-1] Listings are newest first by key and go on strictly below the cursor, so rows
//        that come and go meanwhile neither repeat nor hide others.
//   [reads-runs-2] The most selective condition that has an index drives the walk; all others are
//        checked on each row.
//
// Not here: logs, inputs, results (reads/log.c).
#include "model/phase.h"
#include "store/reads/internal.h"
#include <stdlib.h>

enum { IDLE_KEYS_MAX = LIMIT_READ_LOOKS_MAX, OWNED_KEYS_MAX = 100000 };

Status read_run(Reads *reads, RunRef which, RunRow *ret_run) {
    Status status;
    if (str_is_null(which.id)) {
        RunRow wanted = {.key = which.key};
        status = rows_get(reads->rows, TABLE_RUNS, &wanted, reads->arena, ret_run);
    } else {
        RunRow wanted = {.id = which.id}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_RUNS, RUNS_BY_ID, &wanted, 1);
        status = rows_scan(reads->rows, &scan, reads->arena, &rows, &count);
        if (status == OK && count == 0) status = ERR_NOT_FOUND;
        if (status == OK) *ret_run = rows[0];
    }
    if (status != ERR_NOT_FOUND) return status;
    if (str_is_null(which.id)) {
        return diag_set(reads->diag, status, "RUN_NOT_FOUND", "there is no run with key %lld",
                        (long long)which.key);
    }
    return diag_set(reads->diag, status, "RUN_NOT_FOUND", "there is no run \"%.*s\"",
                    STR_ARG(which.id));
}

// ---- list ----

typedef struct Filtering {
    const RunFilter *filter;
    uint32_t states;
    int64_t parent; // 0 = any
    Arena arena;    // wait sets that are looked into
    RunPage *page;  // the answer
} Filtering;

// Lists are joined by '\n'.
static bool list_has(Str list, Str wanted) {
    for (Str left = list, item; str_split(&left, '\n', &item);)
        if (str_equal(item, wanted)) return true;
    return false;
}

static bool waits_name(Filtering *filtering, const RunRow *run, Str name) {
    WaitSet set;
    if (run->state != RUN_SUSPENDED || str_is_null(run->waits)) return false;
    arena_reset(&filtering->arena);
    // A set that cannot be read is for verify to report; a listing just leaves it out.
    if (wait_set_decode(&filtering->arena, run->waits, &set) != OK) return false;
    for (size_t i = 0; i < set.count; i++)
        if (wait_item_is_called(&set.items[i], name)) return true;
    return false;
}

static bool run_is_wanted(const void *row, void *context) {
    Filtering *filtering = context;
    const RunFilter *filter = filtering->filter;
    const RunRow *run = row;
    if (filtering->states && !(filtering->states & (1u << run->state))) return false;
    if (filtering->parent && run->parent != filtering->parent) return false;
    if (!str_is_null(filter->workflows) && !list_has(filter->workflows, run->workflow))
        return false;
    if (filter->created_before_ms && run->created_at_ms >= filter->created_before_ms) return false;
    if (filter->created_after_ms && run->created_at_ms <= filter->created_after_ms) return false;
    if (filter->idle_before_ms &&
        (run->idle_since_ms == 0 || run->idle_since_ms >= filter->idle_before_ms)) {
        return false;
    }
    if (!str_is_null(filter->tag) && !list_has(run->tags, filter->tag)) return false;
    return str_is_null(filter->waiting_on) || waits_name(filtering, run, filter->waiting_on);
}

static int key_compare_descending(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a > b ? -1 : a < b;
}

static int key_compare_ascending(const void *left, const void *right) {
    return key_compare_descending(right, left);
}

typedef struct RunList {
    RunRow *rows;
    size_t count;
    int64_t limit;
} RunList;

// Adds the run of that key if it is wanted; *ret_is_full says that there was no room for it.
static Status list_add(Reads *reads, RunList *list, int64_t key, Filtering *filtering,
                       bool *ret_is_full) {
    RunRow wanted = {.key = key}, run;
    *ret_is_full = false;
    arena_reset(&reads->scratch);
    Status status = rows_get(reads->rows, TABLE_RUNS, &wanted, &reads->scratch, &run);
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    if (filtering && !run_is_wanted(&run, filtering)) return OK;
    *ret_is_full = (int64_t)list->count == list->limit;
    if (*ret_is_full) return OK;
    if (!filtering || !filtering->filter->has_snapshots) run.snapshot = STR_NULL;
    row_copy(&tables[TABLE_RUNS], reads->arena, &run, &list->rows[list->count++]);
    return OK;
}

static RunList list_new(Reads *reads, int64_t limit) {
    limit = read_limit(limit);
    return (RunList){ARENA_ARRAY(reads->arena, RunRow, (size_t)limit), 0, limit};
}

static RunPage page_of(const RunList *list, int64_t next) {
    return (RunPage){list->rows, list->count, next};
}

// A source of run keys, newest first: those below `below` (0 = from the newest). Rows that it has
// looked at count, whether their runs are wanted or not; a key of 0 is passed over.
typedef struct KeyPage {
    int64_t keys[LIMIT_READ_CHUNK_MAX];
    int64_t last; // run of the last row
    size_t count; // rows
} KeyPage;
typedef Status (*KeySource)(Reads *reads, const RunFilter *filter, int64_t below, Arena *arena,
                            KeyPage *ret_page);

static Status tagged_page(Reads *reads, const RunFilter *filter, int64_t below, Arena *arena,
                          KeyPage *ret_page) {
    TagRow wanted = {.tag = filter->tag}, *rows = NULL;
    Scan scan = scan_of(TABLE_TAGS, SCAN_PRIMARY, &wanted, LIMIT_READ_CHUNK);
    scan.has_max = below != 0;
    scan.max = below - 1;
    scan.is_descending = true;
    TRY(rows_scan(reads->rows, &scan, arena, &rows, &ret_page->count));
    for (size_t i = 0; i < ret_page->count; i++) {
        ret_page->last = ret_page->keys[i] = rows[i].run;
    }
    return OK;
}

static Status state_page(Reads *reads, const RunFilter *filter, int64_t below, Arena *arena,
                         KeyPage *ret_page) {
    StateRow wanted = {.name = filter->state_key, .digest = state_digest(filter->state_value)};
    StateRow *rows = NULL;
    Scan scan = scan_of(TABLE_STATES, STATES_BY_VALUE, &wanted, LIMIT_READ_CHUNK);
    scan.match_count = 2;
    scan.has_max = below != 0;
    scan.max = below - 1;
    scan.is_descending = true;
    TRY(rows_scan(reads->rows, &scan, arena, &rows, &ret_page->count));
    for (size_t i = 0; i < ret_page->count; i++) {
        bool is_same = str_equal(rows[i].value, filter->state_value); // not just its digest
        ret_page->keys[i] = is_same ? rows[i].run : 0;
        ret_page->last = rows[i].run;
    }
    return OK;
}

static Status list_by_keys(Reads *reads, Filtering *filtering, KeySource source) {
    const RunFilter *filter = filtering->filter;
    ASSERT(!filter->is_oldest_first);
    RunList list = list_new(reads, filter->limit);
    size_t start_size = reads->arena->used_size;
    int64_t last_key = filter->cursor;
    for (int64_t looks = 0;; looks += LIMIT_READ_CHUNK) {
        KeyPage page = {0};
        Arena arena;
        arena_init(&arena);
        Status status = source(reads, filter, last_key, &arena, &page);
        bool is_full = false;
        for (size_t i = 0; status == OK && i < page.count; i++) {
            if (page.keys[i] == 0) continue;
            status = list_add(reads, &list, page.keys[i], filtering, &is_full);
            if (is_full) break;
            last_key = page.keys[i];
        }
        arena_done(&arena);
        TRY(status);
        *filtering->page = page_of(&list, 0);
        bool is_cut = looks + LIMIT_READ_CHUNK >= LIMIT_READ_LOOKS ||
                      reads->arena->used_size - start_size > READ_SIZE_MAX;
        if (!is_full && page.count < LIMIT_READ_CHUNK) return OK;
        if (!is_full) last_key = page.last;
        if (!is_full && !is_cut) continue;
        filtering->page->next = last_key;
        return OK;
    }
}

// Whether a page that goes on at the cursor has that key behind it.
static bool is_passed(const RunFilter *filter, int64_t key) {
    if (filter->cursor == 0) return false;
    return filter->is_oldest_first ? key <= filter->cursor : key >= filter->cursor;
}

// The page of those among `keys` that are wanted; sorts them.
static Status list_of_keys(Reads *reads, Filtering *filtering, int64_t *keys, size_t count) {
    const RunFilter *filter = filtering->filter;
    qsort(keys, count, sizeof(int64_t),
          filter->is_oldest_first ? key_compare_ascending : key_compare_descending);
    RunList list = list_new(reads, filter->limit);
    int64_t last_key = 0, next = 0;
    for (size_t i = 0; i < count && next == 0; i++) {
        bool is_full, is_repeated = i > 0 && keys[i] == keys[i - 1];
        if (is_repeated || is_passed(filter, keys[i])) continue;
        TRY(list_add(reads, &list, keys[i], filtering, &is_full));
        if (is_full) next = last_key;
        last_key = keys[i];
    }
    *filtering->page = page_of(&list, next);
    return OK;
}

// Runs that are asked for by name.
static Status list_by_ids(Reads *reads, Filtering *filtering) {
    Str left = filtering->filter->ids, id;
    size_t most = 1, count = 0;
    for (size_t i = 0; i < left.len; i++) most += left.data[i] == '\n';
    int64_t *keys = ARENA_ARRAY(reads->arena, int64_t, most);
    while (str_split(&left, '\n', &id)) {
        RunRow run;
        Status status = read_run(reads, run_of_id(id), &run);
        if (status == ERR_NOT_FOUND) continue;
        TRY(status);
        keys[count++] = run.key;
    }
    return list_of_keys(reads, filtering, keys, count);
}

// Idle runs, if they are few enough to be sorted by key here; otherwise *ret_is_done is false.
static Status list_by_idle(Reads *reads, Filtering *filtering, bool *ret_is_done) {
    Scan scan = {.table = TABLE_RUNS,
                 .index = RUNS_BY_IDLE,
                 .has_max = true,
                 .max = filtering->filter->idle_before_ms - 1};
    int64_t *keys;
    size_t count;
    TRY(keys_collect(reads, &scan, IDLE_KEYS_MAX, &keys, &count));
    *ret_is_done = count < IDLE_KEYS_MAX;
    if (!*ret_is_done) return OK;
    return list_of_keys(reads, filtering, keys, count);
}

// The smallest owner of running runs from that one on: a node, nobody, or whom they are kept for.
static Status next_owner(Reads *reads, int64_t *owner, bool *ret_is_found) {
    RunRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .has_min = true, .min = *owner};
    scan.limit = 1;
    arena_reset(&reads->scratch);
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    *ret_is_found = count > 0;
    if (count > 0) *owner = rows[0].owner;
    return OK;
}

// Running ones, if they are few enough: among the parked ones, with which they share a phase, they
// would have to be looked for. Otherwise *ret_is_done is false.
static Status list_running(Reads *reads, Filtering *filtering, bool *ret_is_done) {
    int64_t *keys = ARENA_ARRAY(reads->arena, int64_t, IDLE_KEYS_MAX);
    size_t count = 0;
    for (int64_t owner = INT64_MIN; count < IDLE_KEYS_MAX; owner++) {
        bool is_found;
        TRY(next_owner(reads, &owner, &is_found));
        if (!is_found) break;
        RunRow wanted = {.owner = owner};
        Scan scan = scan_of(TABLE_RUNS, RUNS_BY_OWNER, &wanted, 1);
        TRY(keys_append(reads, &scan, IDLE_KEYS_MAX, keys, &count));
    }
    *ret_is_done = count < IDLE_KEYS_MAX;
    if (!*ret_is_done) return OK;
    return list_of_keys(reads, filtering, keys, count);
}

static Status list_by_walk(Reads *reads, Filtering *filtering) {
    const RunFilter *filter = filtering->filter;
    RunRow matches[RUN_STATE_COUNT] = {0};
    Walk walk = {.table = TABLE_RUNS,
                 .is_descending = !filter->is_oldest_first,
                 .page = {filter->cursor, filter->limit, filter->size_max},
                 .wanted = run_is_wanted,
                 .context = filtering,
                 .has_snapshots = filter->has_snapshots};
    if (filtering->parent) {
        matches[0].parent = filtering->parent;
        walk_add(&walk, RUNS_BY_PARENT, &matches[0], 1);
    } else if (filtering->states) {
        for (int state = RUN_PENDING; state < RUN_STATE_COUNT; state++) {
            int64_t phase = run_phase(state);
            if (!(filtering->states & (1u << state)) || matches[phase].phase != 0) continue;
            matches[phase].phase = phase;
            walk_add(&walk, RUNS_BY_PHASE, &matches[phase], 1);
        }
    } else {
        walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    }
    TRY(walk_run(reads, &walk));
    *filtering->page = (RunPage){(RunRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

static Status list_choose(Reads *reads, Filtering *filtering) { // [reads-runs-2]
    const RunFilter *filter = filtering->filter;
    if (!str_is_null(filter->ids)) return list_by_ids(reads, filtering);
    bool has_state = !str_is_null(filter->state_key) && !str_is_null(filter->state_value);
    if (has_state) return list_by_keys(reads, filtering, state_page);
    if (!filtering->parent && !str_is_null(filter->tag)) {
        return list_by_keys(reads, filtering, tagged_page);
    }
    if (!filtering->parent && filter->idle_before_ms) {
        bool is_done;
        TRY(list_by_idle(reads, filtering, &is_done));
        if (is_done) return OK;
        if (filtering->states == 0) filtering->states = 1u << RUN_SUSPENDED; // where they are
    }
    if (!filtering->parent && filtering->states == 1u << RUN_RUNNING) {
        bool is_done;
        TRY(list_running(reads, filtering, &is_done));
        if (is_done) return OK;
    }
    return list_by_walk(reads, filtering);
}

Status read_runs(Reads *reads, const RunFilter *filter, RunPage *ret_page) {
    const uint32_t every_state = ((1u << RUN_STATE_COUNT) - 1) & ~1u;
    Filtering filtering = {
        .filter = filter, .states = filter->states & every_state, .page = ret_page};
    if (filter->states != 0 && filtering.states == 0) return OK; // no such state, no runs
    if (!str_is_null(filter->parent_id)) {
        RunRow parent;
        Status status = read_run(reads, run_of_id(filter->parent_id), &parent);
        if (status == ERR_NOT_FOUND) return OK;
        TRY(status);
        filtering.parent = parent.key;
    }
    if (!str_is_null(filter->waiting_on)) {
        const uint32_t suspended = 1u << RUN_SUSPENDED;
        if (filtering.states && !(filtering.states & suspended)) return OK;
        filtering.states = suspended;
    }
    if (filtering.states == every_state) filtering.states = 0;
    arena_init(&filtering.arena);
    Status status = list_choose(reads, &filtering);
    arena_done(&filtering.arena);
    return status;
}

// ---- waiters, owned ----

Status read_waiters(Reads *reads, const WaiterFilter *filter, RunPage *ret_page) {
    WaiterRow match = {.topic = filter->topic};
    Walk walk = {.table = TABLE_WAITERS, .page = filter->page};
    walk_add(&walk, WAITERS_BY_TOPIC, &match, 1);
    TRY(walk_run(reads, &walk));
    const WaiterRow *waiters = (const WaiterRow *)(void *)walk.rows;
    RunList list = list_new(reads, filter->page.limit);
    for (size_t i = 0; i < walk.count; i++) {
        bool is_full;
        // A run may wait for the topic more than once; its waiters stand side by side.
        if (i > 0 && waiters[i].run == waiters[i - 1].run) continue;
        TRY(list_add(reads, &list, waiters[i].run, NULL, &is_full));
    }
    *ret_page = page_of(&list, walk.next);
    return OK;
}

Status read_owned(Reads *reads, const OwnedFilter *filter, RunPage *ret_page) {
    RunRow match = {.owner = filter->node};
    Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .match = &match, .match_count = 1};
    int64_t *keys;
    size_t count;
    TRY(keys_collect(reads, &scan, OWNED_KEYS_MAX, &keys, &count));
    qsort(keys, count, sizeof(int64_t), key_compare_ascending);
    RunList list = list_new(reads, filter->page.limit);
    int64_t last_key = 0, next = 0;
    for (size_t i = 0; i < count && next == 0; i++) {
        bool is_full;
        if (keys[i] <= filter->page.after) continue;
        TRY(list_add(reads, &list, keys[i], NULL, &is_full));
        if (is_full) next = last_key;
        last_key = keys[i];
    }
    *ret_page = page_of(&list, next);
    return OK;
}
