// The rows of runs that an SQLite store has in memory.
//
// Most texts of a run never change, so they live in the same block as the entry; only the wait set,
// the snapshot and the task change and have buffers of their own that are used again. A run that
// wakes and parks over and over therefore costs no allocation here.
//
// Invariants [run-cache-1]-[run-cache-4] are in run_cache.h.
//
// Not here: who reads and writes rows (rows.c).
#include "store/sqlite/run_cache.h"
#include "base/assert.h"
#include "base/memory.h"

enum {
    RUN_PART = 4,           // a wait set may take so much of the cache: one quarter
    RUN_WAITS = 256 << 10,  // bytes; but this much in any case
    SNAPSHOT_MAX = 2 << 10, // bytes, [run-cache-4]
};

typedef struct OwnText { // a buffer that is used again
    char *text;
    size_t capacity;
} OwnText;

typedef struct CachedRun {
    List use;
    RunRow row;
    uint64_t touched_by; // serial of the transaction that wrote it last
    OwnText waits, snapshot, task;
    size_t size; // bytes accounted for
    char text[]; // owned text of all other columns
} CachedRun;

static uint64_t changing_bits(const RunCache *cache) {
    return cache->waits_bit | cache->snapshot_bit | cache->task_bit;
}

void run_cache_init(RunCache *cache, size_t max_size) {
    *cache = (RunCache){.max_size = max_size,
                        .waits_bit = column_bit(TABLE_RUNS, offsetof(RunRow, waits)),
                        .snapshot_bit = column_bit(TABLE_RUNS, offsetof(RunRow, snapshot)),
                        .task_bit = column_bit(TABLE_RUNS, offsetof(RunRow, task))};
    cache->fixed_bits = table_text_bits(TABLE_RUNS) & ~changing_bits(cache);
    map_init(&cache->by_key);
    strmap_init(&cache->by_id);
    list_init(&cache->uses);
}

static void free_entry(RunCache *cache, CachedRun *entry) {
    map_remove(&cache->by_key, (uint64_t)entry->row.key);
    strmap_remove(&cache->by_id, entry->row.id);
    list_remove(&entry->use);
    ASSERT(cache->size >= entry->size);
    cache->size -= entry->size;
    mem_free(entry->waits.text);
    mem_free(entry->snapshot.text);
    mem_free(entry->task.text);
    mem_free(entry);
}

void run_cache_clear(RunCache *cache) {
    LIST_EACH_SAFE (node, after, &cache->uses) {
        free_entry(cache, container_of(node, CachedRun, use));
    }
    vec_clear(&cache->touched);
    ASSERT(cache->size == 0);
}

void run_cache_done(RunCache *cache) {
    run_cache_clear(cache);
    map_done(&cache->by_key);
    strmap_done(&cache->by_id);
    vec_free(&cache->touched);
}

static const RunRow *use(RunCache *cache, CachedRun *entry) {
    if (entry == NULL) return NULL;
    list_remove(&entry->use);
    list_append(&cache->uses, &entry->use);
    return &entry->row;
}

const RunRow *run_cache_find(RunCache *cache, int64_t key) {
    return use(cache, map_get(&cache->by_key, (uint64_t)key));
}

const RunRow *run_cache_find_id(RunCache *cache, Str id) {
    return use(cache, strmap_get(&cache->by_id, id));
}

static CachedRun *entry_new(RunCache *cache, const RunRow *row) {
    const Table *table = &tables[TABLE_RUNS];
    size_t text_size = 1; // one byte more, so that empty text has an address inside the block
    for (uint8_t i = 0; i < table->column_count; i++)
        if (cache->fixed_bits >> i & 1) text_size += row_str(row, &table->columns[i]).len;
    CachedRun *entry = mem_zalloc(sizeof(CachedRun) + text_size);
    entry->row = *row;
    entry->row.waits = entry->row.snapshot = entry->row.task = STR_NULL;
    char *at = entry->text;
    for (uint8_t i = 0; i < table->column_count; i++) {
        Str text = cache->fixed_bits >> i & 1 ? row_str(row, &table->columns[i]) : STR_NULL;
        if (str_is_null(text)) continue;
        if (text.len > 0) memcpy(at, text.data, text.len);
        row_set_str(&entry->row, &table->columns[i], (Str){at, text.len});
        at += text.len;
    }
    entry->size = sizeof(CachedRun) + text_size;
    list_init(&entry->use);
    list_append(&cache->uses, &entry->use);
    cache->size += entry->size;
    map_put(&cache->by_key, (uint64_t)row->key, entry);
    strmap_put(&cache->by_id, entry->row.id, entry);
    return entry;
}

static Str own(RunCache *cache, CachedRun *entry, OwnText *buffer, Str s) {
    if (str_is_null(s)) return STR_NULL;
    if (s.len + 1 > buffer->capacity) {
        size_t capacity = s.len + 1 < 64 ? 64 : s.len + 1;
        mem_free(buffer->text);
        buffer->text = mem_alloc(capacity);
        entry->size += capacity - buffer->capacity;
        cache->size += capacity - buffer->capacity;
        buffer->capacity = capacity;
    }
    memcpy(buffer->text, s.data, s.len);
    return (Str){buffer->text, s.len};
}

// A run that waits for ten thousand tasks is looked at once for each of them: reading its wait set
// from the store every time would make the last task as dear as all before it together.
static bool has_room(const RunCache *cache, Str waits) { // [run-cache-3]
    return waits.len <= RUN_WAITS || waits.len <= cache->max_size / RUN_PART;
}

static void set_waits(RunCache *cache, CachedRun *entry, Str waits) {
    entry->row.waits = own(cache, entry, &entry->waits, waits);
}

static void set_snapshot(RunCache *cache, CachedRun *entry, Str snapshot) {
    bool is_large = snapshot.len > SNAPSHOT_MAX; // [run-cache-4]
    entry->row.snapshot = is_large ? TEXT_KEPT : own(cache, entry, &entry->snapshot, snapshot);
}

static void set_task(RunCache *cache, CachedRun *entry, Str task) {
    entry->row.task = own(cache, entry, &entry->task, task);
}

static void trim(RunCache *cache, const CachedRun *kept) { // [run-cache-3]
    while (cache->size > cache->max_size && cache->uses.next != &kept->use)
        free_entry(cache, container_of(cache->uses.next, CachedRun, use));
}

const RunRow *run_cache_add(RunCache *cache, const RunRow *row) {
    CachedRun *entry = map_get(&cache->by_key, (uint64_t)row->key);
    if (entry != NULL) return use(cache, entry);
    if (!has_room(cache, row->waits)) return NULL;
    entry = entry_new(cache, row);
    set_waits(cache, entry, row->waits);
    set_snapshot(cache, entry, row->snapshot);
    set_task(cache, entry, row->task);
    trim(cache, entry);
    return &entry->row;
}

// [run-cache-2] Also of a row that is not here: it may be read before the transaction is undone.
static void touch(RunCache *cache, int64_t key, CachedRun *entry) {
    if (entry != NULL && entry->touched_by == cache->serial) return;
    if (entry != NULL) entry->touched_by = cache->serial;
    vec_push(&cache->touched, key);
}

void run_cache_insert(RunCache *cache, const RunRow *row) {
    ASSERT(map_get(&cache->by_key, (uint64_t)row->key) == NULL); // it was not there
    (void)run_cache_add(cache, row);
    touch(cache, row->key, map_get(&cache->by_key, (uint64_t)row->key));
}

void run_cache_update(RunCache *cache, const RunRow *row, uint64_t changes) {
    CachedRun *entry = map_get(&cache->by_key, (uint64_t)row->key);
    touch(cache, row->key, entry);
    if (entry == NULL) return;
    bool is_waits = (changes & cache->waits_bit) != 0;
    if ((changes & cache->fixed_bits) != 0 || (is_waits && !has_room(cache, row->waits))) {
        free_entry(cache, entry); // it is read again when it is asked for
        return;
    }
    row_copy_columns(&tables[TABLE_RUNS], changes & ~changing_bits(cache), row, &entry->row);
    if (is_waits) set_waits(cache, entry, row->waits);
    if (changes & cache->snapshot_bit) set_snapshot(cache, entry, row->snapshot);
    if (changes & cache->task_bit) set_task(cache, entry, row->task);
    (void)use(cache, entry);
    trim(cache, entry);
}

void run_cache_remove(RunCache *cache, int64_t key) {
    CachedRun *entry = map_get(&cache->by_key, (uint64_t)key);
    touch(cache, key, entry);
    if (entry != NULL) free_entry(cache, entry);
}

void run_cache_begin(RunCache *cache) {
    cache->serial++;
    vec_clear(&cache->touched);
}

void run_cache_undo(RunCache *cache) {
    for (size_t i = 0; i < cache->touched.count; i++) {
        CachedRun *entry = map_get(&cache->by_key, (uint64_t)cache->touched.data[i]);
        if (entry != NULL) free_entry(cache, entry);
    }
    vec_clear(&cache->touched);
}
