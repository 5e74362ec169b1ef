// Caches of the kernel: see kernel/cache.h for the invariants.
//
// Most texts of a run never change (run_text), so they live in the same block as the entry; only
// the wait set and the snapshot change and have buffers of their own that are used again. A run
// that wakes and parks over and over therefore costs no allocation here.
//
// Not here: deciding what is written (runs/runs.c).
#include "store/kernel/cache.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/memory.h"

enum {
    CACHED_RUN_PART = 4,           // a wait set may take so much of the cache: one quarter
    CACHED_RUN_MIN = 256 << 10,    // bytes; but this much in any case
    CACHED_SNAPSHOT_MAX = 2 << 10, // bytes; a larger one is read again when it is needed
    CACHED_TASK_MAX = 4 << 10,     // bytes of text; a larger task is left out
    CACHED_ZONES_MAX = 64,
    CACHED_WAITS_MIN = 512,   // bytes; a smaller set is decoded as fast as it is found
    KEPT_WAITS_MAX = 2 << 20, // bytes of sets that a batch leaves for the next one
};

const Str RUN_SNAPSHOT_KEPT = {"", 0};

static const size_t run_texts[RUN_TEXT_COUNT] = {
    offsetof(RunRow, id),   offsetof(RunRow, workflow),       offsetof(RunRow, queue),
    offsetof(RunRow, tags), offsetof(RunRow, leftover_topic),
};

Str *run_text(RunRow *row, size_t at) {
    ASSERT(at < RUN_TEXT_COUNT);
    return (Str *)(void *)((char *)row + run_texts[at]);
}

static void check_texts(void) { // a text column that is added must be among them
    const Table *table = &tables[TABLE_RUNS];
    size_t count = 0;
    for (uint8_t i = 0; i < table->column_count; i++) count += table->columns[i].type != COLUMN_I64;
    ASSERT(count == RUN_TEXT_COUNT + 2); // and waits and snapshot
}

void run_cache_init(RunCache *cache, size_t max_size) {
    check_texts();
    *cache = (RunCache){.max_size = max_size, .serial = 1};
    map_init(&cache->by_key);
    strmap_init(&cache->by_id);
    list_init(&cache->uses);
}

static void run_cache_free_entry(RunCache *cache, CachedRun *entry) {
    if (entry->touched_by == cache->serial) cache->has_lost = true;
    map_remove(&cache->by_key, (uint64_t)entry->row.key);
    strmap_remove(&cache->by_id, entry->row.id);
    list_remove(&entry->use);
    cache->size -= entry->size;
    mem_free(entry->waits);
    mem_free(entry->snapshot_text);
    mem_free(entry);
}

void run_cache_clear(RunCache *cache) {
    LIST_EACH_SAFE (node, after, &cache->uses) {
        run_cache_free_entry(cache, container_of(node, CachedRun, use));
    }
    vec_clear(&cache->touched);
}

void run_cache_done(RunCache *cache) {
    run_cache_clear(cache);
    map_done(&cache->by_key);
    strmap_done(&cache->by_id);
    vec_free(&cache->touched);
}

static CachedRun *run_cache_use(RunCache *cache, CachedRun *entry) {
    if (!entry) return NULL;
    list_remove(&entry->use);
    list_append(&cache->uses, &entry->use);
    return entry;
}

CachedRun *run_cache_find(RunCache *cache, int64_t key) {
    return run_cache_use(cache, map_get(&cache->by_key, (uint64_t)key));
}

CachedRun *run_cache_find_id(RunCache *cache, Str id) {
    return run_cache_use(cache, strmap_get(&cache->by_id, id));
}

static Str text_take(char **at, Str s) {
    if (str_is_null(s)) return s;
    char *start = *at;
    if (s.len > 0) memcpy(start, s.data, s.len);
    *at += s.len;
    return (Str){start, s.len};
}

static CachedRun *run_cache_add(RunCache *cache, const RunRow *row) {
    RunRow copy = *row;
    size_t text_size = 0;
    for (size_t i = 0; i < RUN_TEXT_COUNT; i++) text_size += run_text(&copy, i)->len;
    // One byte more, so that empty text has an address inside the block.
    CachedRun *entry = mem_zalloc(sizeof(CachedRun) + text_size + 1);
    char *at = entry->text;
    for (size_t i = 0; i < RUN_TEXT_COUNT; i++)
        *run_text(&copy, i) = text_take(&at, *run_text(&copy, i));
    entry->row = copy;
    entry->row.waits = STR_NULL;
    entry->size = sizeof(CachedRun) + text_size + 1;
    list_init(&entry->use);
    list_append(&cache->uses, &entry->use);
    cache->size += entry->size;
    map_put(&cache->by_key, (uint64_t)row->key, entry);
    strmap_put(&cache->by_id, entry->row.id, entry);
    return entry;
}

typedef struct OwnText { // a buffer of an entry
    char **text;
    size_t *capacity;
} OwnText;

static Str run_cache_own(RunCache *cache, CachedRun *entry, OwnText own, Str s) {
    if (str_is_null(s)) return STR_NULL;
    if (s.len + 1 > *own.capacity) {
        size_t capacity = s.len + 1 < 64 ? 64 : s.len + 1;
        mem_free(*own.text);
        *own.text = mem_alloc(capacity);
        entry->size += capacity - *own.capacity;
        cache->size += capacity - *own.capacity;
        *own.capacity = capacity;
    }
    memcpy(*own.text, s.data, s.len);
    return (Str){*own.text, s.len};
}

static void run_cache_set_snapshot(RunCache *cache, CachedRun *entry, Str snapshot) { // [cache-4]
    entry->row.snapshot = str_is_null(snapshot) ? STR_NULL : RUN_SNAPSHOT_KEPT;
    if (snapshot.data == RUN_SNAPSHOT_KEPT.data) return;
    bool is_large = snapshot.len > CACHED_SNAPSHOT_MAX;
    OwnText own = {&entry->snapshot_text, &entry->snapshot_capacity};
    entry->snapshot = run_cache_own(cache, entry, own, is_large ? STR_NULL : snapshot);
}

Str run_cache_snapshot(const RunCache *cache, int64_t key) {
    const CachedRun *entry = map_get(&cache->by_key, (uint64_t)key);
    return entry ? entry->snapshot : STR_NULL;
}

// A run that waits for ten thousand tasks is looked at once for each of them: reading its wait set
// from the store every time would make the last task as dear as all before it together.
static bool run_cache_has_room(const RunCache *cache, size_t waits_size) {
    return waits_size <= CACHED_RUN_MIN || waits_size <= cache->max_size / CACHED_RUN_PART;
}

CachedRun *run_cache_put(RunCache *cache, const RunRow *row, const RunFacts *facts) {
    CachedRun *entry = map_get(&cache->by_key, (uint64_t)row->key);
    if (!run_cache_has_room(cache, row->waits.len)) {
        if (entry) run_cache_free_entry(cache, entry);
        return NULL;
    }
    if (!entry) {
        entry = run_cache_add(cache, row);
    } else {
        RunRow kept = entry->row; // its texts are the same and already owned
        run_cache_use(cache, entry);
        entry->row = *row;
        for (size_t i = 0; i < RUN_TEXT_COUNT; i++) *run_text(&entry->row, i) = *run_text(&kept, i);
    }
    OwnText waits = {&entry->waits, &entry->waits_capacity};
    entry->row.waits = run_cache_own(cache, entry, waits, row->waits);
    run_cache_set_snapshot(cache, entry, row->snapshot);
    entry->facts = *facts;
    while (cache->size > cache->max_size && cache->uses.next != &entry->use) { // [cache-3]
        run_cache_free_entry(cache, container_of(cache->uses.next, CachedRun, use));
    }
    return entry;
}

static void run_cache_mark(RunCache *cache, CachedRun *entry) {
    if (entry->touched_by == cache->serial) return;
    entry->touched_by = cache->serial;
    vec_push(&cache->touched, entry->row.key);
}

static void run_cache_mark_lost(RunCache *cache, int64_t key) {
    cache->has_lost = true;
    vec_push(&cache->touched, key);
}

void run_cache_write(RunCache *cache, const RunRow *row, const RunFacts *facts) {
    CachedRun *entry = run_cache_put(cache, row, facts);
    if (entry) run_cache_mark(cache, entry);
    else run_cache_mark_lost(cache, row->key);
}

void run_cache_write_facts(RunCache *cache, int64_t key, const RunFacts *facts) {
    CachedRun *entry = map_get(&cache->by_key, (uint64_t)key);
    if (!entry) {
        run_cache_mark_lost(cache, key);
        return;
    }
    entry->facts = *facts;
    run_cache_mark(cache, entry);
}

void run_cache_remove(RunCache *cache, int64_t key) {
    CachedRun *entry = map_get(&cache->by_key, (uint64_t)key);
    vec_push(&cache->touched, key);
    if (!entry) return;
    entry->touched_by = 0; // nobody will look for it: that is no loss
    run_cache_free_entry(cache, entry);
}

void run_cache_begin(RunCache *cache) {
    cache->serial++;
    cache->has_lost = false;
    vec_clear(&cache->touched);
}

void run_cache_rollback(RunCache *cache) { // [cache-2]
    for (size_t i = 0; i < cache->touched.count; i++) {
        CachedRun *entry = map_get(&cache->by_key, (uint64_t)cache->touched.data[i]);
        if (entry) run_cache_free_entry(cache, entry);
    }
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

const TaskRow *task_cache_find(const TaskCache *cache, Str id) {
    const CachedTask *entry = strmap_get(&cache->by_id, id);
    return entry ? &entry->row : NULL;
}

void task_cache_remove(TaskCache *cache, Str id) {
    CachedTask *entry = strmap_get(&cache->by_id, id);
    if (entry) task_cache_free_entry(cache, entry);
}

static size_t task_text_size(const TaskRow *row) {
    const Table *table = &tables[TABLE_TASKS];
    size_t size = 0;
    for (uint8_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].type != COLUMN_I64) size += row_str(row, &table->columns[i]).len;
    }
    return size;
}

void task_cache_write(TaskCache *cache, const TaskRow *row) {
    const Table *table = &tables[TABLE_TASKS];
    task_cache_remove(cache, row->id);
    if (row->state != TASK_LEASED || !str_is_null(row->concurrency_key)) return;
    size_t text_size = task_text_size(row);
    if (text_size > CACHED_TASK_MAX) return;
    CachedTask *entry = mem_zalloc(sizeof(CachedTask) + text_size + 1);
    char *at = entry->text;
    entry->row = *row;
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
