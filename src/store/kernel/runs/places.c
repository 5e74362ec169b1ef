// Places: runs are counted where they stand, with every write of their rows.
//
// A batch changes the rows of a place in memory and writes each once, at its end, so what is
// counted costs a batch a few small rows and not an index entry per run. Which run stands there is
// known of one of them, the example: the next one that comes takes over when it goes on.
//   [places-1] A row that the store does not have is all zeros here, and is never written so: it is
//        removed when it counts nothing any more.
//   [places-2] After a rollback nothing is remembered.
//   [places-3] A count that is wrong, because rows were damaged, stops nobody: it does not go below
//        0, and the check of the store finds it.
#include "store/kernel/runs/places.h"
#include "base/memory.h"
#include "store/kernel/internal.h"

enum { PLACES_KEPT_MAX = 4096 };

struct CachedPlace {
    PlaceRow row;    // as the batch has it
    PlaceRow stored; // as the store has it
    bool is_touched; // by this batch
};

void places_init(PlaceCache *cache) {
    *cache = (PlaceCache){0};
    map_init(&cache->by_key);
}

void places_clear(PlaceCache *cache) {
    uint64_t key;
    void *entry;
    for (size_t at = 0; map_next(&cache->by_key, &at, &key, &entry);) mem_free(entry);
    map_done(&cache->by_key);
    map_init(&cache->by_key);
    vec_clear(&cache->touched);
}

void places_done(PlaceCache *cache) {
    places_clear(cache);
    map_done(&cache->by_key);
    vec_free(&cache->touched);
}

void places_trim(PlaceCache *cache) {
    if (cache->by_key.count > PLACES_KEPT_MAX) places_clear(cache);
}

PlaceCount place_count_of(const RunRow *run) {
    if (run->kind != RUN_FLOW) return PLACE_NOT_COUNTED;
    if (run->state == RUN_FAILED) return PLACE_FAILED;
    bool is_held = run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED;
    return run->state == RUN_SUSPENDED || is_held ? PLACE_WAITING : PLACE_NOT_COUNTED;
}

// The entry of that place, or the free key where it belongs.
static CachedPlace *find(const PlaceCache *cache, const RunRow *run, uint64_t *ret_key) {
    uint64_t key = (uint64_t)run->place ^ (uint64_t)run->definition * UINT64_C(0x9E3779B97F4A7C15);
    for (;; key++) {
        CachedPlace *entry = map_get(&cache->by_key, key);
        *ret_key = key;
        if (entry == NULL) return NULL;
        if (entry->row.definition == run->definition && entry->row.place == run->place)
            return entry;
    }
}

static Status load(Kernel *kernel, const RunRow *run, CachedPlace **ret_entry) {
    uint64_t key;
    *ret_entry = find(&kernel->places, run, &key);
    if (*ret_entry != NULL) return OK;
    PlaceRow wanted = {.definition = run->definition, .place = run->place}, row;
    Status status = kernel_get(kernel, TABLE_PLACES, &wanted, &row);
    if (status == ERR_NOT_FOUND) row = wanted; // [places-1]
    else TRY(status);
    CachedPlace *entry = mem_alloc(sizeof(*entry));
    *entry = (CachedPlace){.row = row, .stored = row};
    map_put(&kernel->places.by_key, key, entry);
    *ret_entry = entry;
    return OK;
}

static Status count(Kernel *kernel, const RunRow *run, PlaceCount what, int64_t delta) {
    if (what == PLACE_NOT_COUNTED) return OK;
    CachedPlace *entry;
    TRY(load(kernel, run, &entry));
    if (!entry->is_touched) vec_push(&kernel->places.touched, entry);
    entry->is_touched = true;
    PlaceRow *row = &entry->row;
    int64_t *counter = what == PLACE_WAITING ? &row->waiting_count : &row->failed_count;
    *counter += delta;
    if (*counter < 0) *counter = 0; // [places-3]
    if (delta > 0 && row->example == 0) row->example = run->key;
    if (delta < 0 && row->example == run->key) row->example = 0;
    return OK;
}

Status places_note(Kernel *kernel, const RunRow *before, const RunRow *after) {
    PlaceCount was = place_count_of(before);
    PlaceCount is = after != NULL ? place_count_of(after) : PLACE_NOT_COUNTED;
    bool is_same = after != NULL && was == is && before->place == after->place &&
                   before->definition == after->definition;
    if (is_same) return OK;
    TRY(count(kernel, before, was, -1));
    return after != NULL ? count(kernel, after, is, 1) : OK;
}

static bool is_empty(const PlaceRow *row) {
    return row->waiting_count == 0 && row->failed_count == 0;
}

static Status store(Kernel *kernel, CachedPlace *entry) {
    const PlaceRow *row = &entry->row;
    entry->is_touched = false;
    bool is_there = !is_empty(&entry->stored);
    if (is_empty(row)) {
        entry->row.example = 0;
        if (is_there) TRY(kernel_remove(kernel, TABLE_PLACES, row));
    } else if (is_there) {
        TRY(kernel_update(kernel, TABLE_PLACES, &entry->stored, row));
    } else {
        TRY(kernel_insert(kernel, TABLE_PLACES, row));
    }
    entry->stored = entry->row;
    return OK;
}

Status places_store(Kernel *kernel) {
    for (size_t i = 0; i < kernel->places.touched.count; i++)
        TRY(store(kernel, kernel->places.touched.data[i]));
    vec_clear(&kernel->places.touched);
    return OK;
}
