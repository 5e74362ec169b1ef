// What the kernel remembers between operations, one cache after the other.
//
// Each is found by a key, owns its texts and is bounded. None reads the store: who misses something
// here reads it and puts it in.
//
// Invariants [cache-1]-[cache-3] are in cache.h.
//
// Not here: deciding what is written (runs/runs.c).
#include "store/kernel/cache.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/memory.h"

enum {
    CACHED_TASK_MAX = 4 << 10, // bytes of text; a larger task is left out
    CACHED_ZONES_MAX = 64,
    CACHED_WAITS_MIN = 512,   // bytes; a smaller set is decoded as fast as it is found
    KEPT_WAITS_MAX = 2 << 20, // bytes of sets that a batch leaves for the next one
};

typedef struct KnownRun {
    List use;
    int64_t key;
    RunFacts facts;
    uint64_t touched_by; // serial of the batch that wrote it last
} KnownRun;

void fact_cache_init(FactCache *cache) {
    *cache = (FactCache){.max_count = LIMIT_KNOWN_RUNS, .serial = 1};
    map_init(&cache->by_key);
    list_init(&cache->uses);
}

static void fact_cache_free_entry(FactCache *cache, KnownRun *entry) {
    map_remove(&cache->by_key, (uint64_t)entry->key);
    list_remove(&entry->use);
    mem_free(entry);
}

void fact_cache_clear(FactCache *cache) {
    LIST_EACH_SAFE (node, after, &cache->uses) {
        fact_cache_free_entry(cache, container_of(node, KnownRun, use));
    }
    vec_clear(&cache->touched);
    ASSERT(cache->by_key.count == 0);
}

void fact_cache_done(FactCache *cache) {
    fact_cache_clear(cache);
    map_done(&cache->by_key);
    vec_free(&cache->touched);
}

static void fact_cache_use(FactCache *cache, KnownRun *entry) {
    list_remove(&entry->use);
    list_append(&cache->uses, &entry->use);
}

const RunFacts *fact_cache_find(FactCache *cache, int64_t key) {
    KnownRun *entry = map_get(&cache->by_key, (uint64_t)key);
    if (entry == NULL) return NULL;
    fact_cache_use(cache, entry);
    return &entry->facts;
}

static KnownRun *fact_cache_add(FactCache *cache, int64_t key) {
    ASSERT(map_get(&cache->by_key, (uint64_t)key) == NULL);
    KnownRun *entry = mem_zalloc(sizeof(KnownRun));
    entry->key = key;
    list_init(&entry->use);
    list_append(&cache->uses, &entry->use);
    map_put(&cache->by_key, (uint64_t)key, entry);
    if (cache->by_key.count > cache->max_count) // [cache-3]
        fact_cache_free_entry(cache, container_of(cache->uses.next, KnownRun, use));
    return entry;
}

void fact_cache_write(FactCache *cache, int64_t key, const RunFacts *facts) {
    KnownRun *entry = map_get(&cache->by_key, (uint64_t)key);
    if (entry == NULL) entry = fact_cache_add(cache, key);
    else fact_cache_use(cache, entry);
    entry->facts = *facts;
    if (entry->touched_by == cache->serial) return;
    entry->touched_by = cache->serial;
    vec_push(&cache->touched, key);
}

void fact_cache_remove(FactCache *cache, int64_t key) {
    KnownRun *entry = map_get(&cache->by_key, (uint64_t)key);
    if (entry != NULL) fact_cache_free_entry(cache, entry);
}

void fact_cache_begin(FactCache *cache) {
    cache->serial++;
    vec_clear(&cache->touched);
}

void fact_cache_rollback(FactCache *cache) { // [cache-2]
    for (size_t i = 0; i < cache->touched.count; i++)
        fact_cache_remove(cache, cache->touched.data[i]);
    vec_clear(&cache->touched);
}

void task_cache_init(TaskCache *cache) {
    *cache = (TaskCache){0};
    strmap_init(&cache->by_id);
    list_init(&cache->uses);
}

static void task_cache_free_entry(TaskCache *cache, CachedTask *entry) {
    strmap_remove(&cache->by_id, entry->row.id);
    list_remove(&entry->use);
    ASSERT(cache->size >= entry->size); // [cache-3]
    cache->size -= entry->size;
    mem_free(entry);
}

void task_cache_clear(TaskCache *cache) {
    LIST_EACH_SAFE (node, after, &cache->uses) {
        task_cache_free_entry(cache, container_of(node, CachedTask, use));
    }
}

void task_cache_done(TaskCache *cache) {
    task_cache_clear(cache);
    strmap_done(&cache->by_id);
}

const CachedTask *task_cache_find(const TaskCache *cache, Str id) {
    return strmap_get(&cache->by_id, id);
}

void task_cache_remove(TaskCache *cache, Str id) {
    CachedTask *entry = strmap_get(&cache->by_id, id);
    if (entry) task_cache_free_entry(cache, entry);
}

static Str text_take(char **at, Str s) {
    if (str_is_null(s)) return s;
    char *start = *at;
    if (s.len > 0) memcpy(start, s.data, s.len);
    *at += s.len;
    return (Str){start, s.len};
}

static size_t task_text_size(const TaskRow *row) {
    const Table *table = &tables[TABLE_TASKS];
    size_t size = 0;
    for (uint8_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].type != COLUMN_I64) size += row_str(row, &table->columns[i]).len;
    }
    return size;
}

static void task_cache_put(TaskCache *cache, const TaskRow *row, bool is_embedded) {
    const Table *table = &tables[TABLE_TASKS];
    task_cache_remove(cache, row->id);
    if (row->state != TASK_LEASED || !str_is_null(row->concurrency_key)) return;
    size_t text_size = task_text_size(row);
    if (text_size > CACHED_TASK_MAX) return;
    CachedTask *entry = mem_zalloc(sizeof(CachedTask) + text_size + 1);
    char *at = entry->text;
    entry->row = *row;
    entry->is_embedded = is_embedded;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) continue;
        row_set_str(&entry->row, column, text_take(&at, row_str(row, column)));
    }
    entry->size = sizeof(CachedTask) + text_size + 1;
    list_init(&entry->use);
    list_append(&cache->uses, &entry->use);
    cache->size += entry->size;
    strmap_put(&cache->by_id, entry->row.id, entry);
    while (cache->size > LIMIT_TASK_CACHE_SIZE) { // [cache-3]
        task_cache_free_entry(cache, container_of(cache->uses.next, CachedTask, use));
    }
}

void task_cache_write(TaskCache *cache, const TaskRow *row) { task_cache_put(cache, row, false); }

void task_cache_write_embedded(TaskCache *cache, const TaskRow *task) {
    task_cache_put(cache, task, true);
}

void topic_cache_init(TopicCache *cache) {
    *cache = (TopicCache){0};
    strmap_init(&cache->by_name);
}

void topic_cache_clear(TopicCache *cache) {
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(&cache->by_name, &at, &name, &entry);) mem_free(entry);
    strmap_done(&cache->by_name);
    strmap_init(&cache->by_name);
}

void topic_cache_done(TopicCache *cache) {
    topic_cache_clear(cache);
    strmap_done(&cache->by_name);
}

const CachedTopic *topic_cache_find(const TopicCache *cache, Str name) {
    return strmap_get(&cache->by_name, name);
}

void topic_cache_put(TopicCache *cache, const TopicRow *row, bool is_stored) {
    CachedTopic *entry = strmap_get(&cache->by_name, row->name);
    if (!entry) {
        if (cache->by_name.count >= LIMIT_CACHED_TOPICS) topic_cache_clear(cache); // [cache-3]
        entry = mem_zalloc(sizeof(CachedTopic) + row->name.len + 1);
        if (row->name.len > 0) memcpy(entry->text, row->name.data, row->name.len);
        strmap_put(&cache->by_name, (Str){entry->text, row->name.len}, entry);
    }
    Str name = {entry->text, row->name.len};
    entry->row = *row;
    entry->row.name = name;
    entry->is_stored = is_stored;
}

void queue_cache_init(QueueCache *cache) {
    *cache = (QueueCache){0};
    strmap_init(&cache->by_name);
}

void queue_cache_clear(QueueCache *cache) {
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(&cache->by_name, &at, &name, &entry);) mem_free(entry);
    strmap_done(&cache->by_name);
    strmap_init(&cache->by_name);
}

void queue_cache_done(QueueCache *cache) {
    queue_cache_clear(cache);
    strmap_done(&cache->by_name);
}

void queue_cache_trim(QueueCache *cache) {
    if (cache->by_name.count > LIMIT_CACHED_QUEUES) queue_cache_clear(cache);
}

CachedQueue *queue_cache_find(const QueueCache *cache, Str name) {
    return strmap_get(&cache->by_name, name);
}

CachedQueue *queue_cache_add(QueueCache *cache, const QueueRow *row, bool is_stored) {
    ASSERT(queue_cache_find(cache, row->name) == NULL);
    CachedQueue *entry = mem_zalloc(sizeof(CachedQueue) + row->name.len + 1);
    if (row->name.len > 0) memcpy(entry->text, row->name.data, row->name.len);
    entry->row = *row;
    entry->row.name = (Str){entry->text, row->name.len};
    entry->stored = entry->row;
    entry->is_stored = is_stored;
    strmap_put(&cache->by_name, entry->row.name, entry);
    return entry;
}

void wait_cache_init(WaitCache *cache) {
    *cache = (WaitCache){0};
    arena_init(&cache->arena);
}

void wait_cache_done(WaitCache *cache) { arena_done(&cache->arena); }

void wait_cache_begin(WaitCache *cache) {
    if (cache->size > KEPT_WAITS_MAX) {
        arena_reset(&cache->arena);
        cache->size = cache->next = 0;
        memset(cache->entries, 0, sizeof(cache->entries));
    }
    for (size_t i = 0; i < CACHED_WAIT_SETS; i++) cache->entries[i].is_checked = false;
}

static const CachedWaits *wait_cache_find(WaitCache *cache, const RunRow *row) {
    for (size_t i = 0; i < CACHED_WAIT_SETS; i++) {
        CachedWaits *entry = &cache->entries[i];
        if (entry->run != row->key || entry->generation != row->generation) continue;
        if (!entry->is_checked && !str_equal(entry->bytes, row->waits)) continue;
        entry->is_checked = true;
        return entry;
    }
    return NULL;
}

Status wait_cache_get(WaitCache *cache, const RunRow *row, Arena *scratch, WaitSet *ret_set) {
    bool is_worth_it = row->waits.len >= CACHED_WAITS_MIN &&
                       cache->size + row->waits.len <= LIMIT_WAIT_CACHE_SIZE; // [cache-3]
    const CachedWaits *found = wait_cache_find(cache, row);
    if (found) {
        *ret_set = found->set;
        return OK;
    }
    if (!is_worth_it) return wait_set_decode(scratch, row->waits, ret_set);
    cache->size += row->waits.len; // a damaged one takes room as well
    TRY(wait_set_decode(&cache->arena, row->waits, ret_set));
    cache->entries[cache->next++ % CACHED_WAIT_SETS] =
        (CachedWaits){.run = row->key,
                      .generation = row->generation,
                      .is_checked = true,
                      .bytes = arena_str(&cache->arena, row->waits),
                      .set = *ret_set};
    return OK;
}

Str wait_cache_bytes(WaitCache *cache, const RunRow *row, Arena *scratch) {
    if (row->waits.len < CACHED_WAITS_MIN) return arena_str(scratch, row->waits);
    const CachedWaits *found = wait_cache_find(cache, row);
    return found ? found->bytes : arena_str(scratch, row->waits);
}

void zone_cache_init(ZoneCache *cache) { strmap_init(&cache->by_name); }

static void zone_cache_clear(ZoneCache *cache) {
    Str name;
    void *zone;
    for (size_t at = 0; strmap_next(&cache->by_name, &at, &name, &zone);) timezone_free(zone);
    strmap_done(&cache->by_name);
    strmap_init(&cache->by_name);
}

void zone_cache_done(ZoneCache *cache) {
    zone_cache_clear(cache);
    strmap_done(&cache->by_name);
}

Status zone_cache_get(ZoneCache *cache, Str name, const TimeZone **ret_zone, Diag *diag) {
    if (str_is_null(name)) name = STR("UTC");
    TimeZone *zone = strmap_get(&cache->by_name, name);
    if (!zone) {
        TRY(timezone_load(name, &zone, diag));
        if (cache->by_name.count >= CACHED_ZONES_MAX) zone_cache_clear(cache); // [cache-3]
        strmap_put(&cache->by_name, timezone_name(zone), zone);
    }
    *ret_zone = zone;
    return OK;
}
