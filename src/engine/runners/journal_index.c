// JournalIndex: two hash maps beside a list of entries.
//
// Names are known by their hash: two that share one would count together, which changes nothing but
// the number that people see beside a repeated step.
//
// Invariant [journal-index-1] is in journal_index.h.
//
// Not here: what the entries mean (code.c), who keeps them (residents/resident.c).
#include "engine/runners/journal_index.h"
#include "base/containers/hash.h"

void journal_index_init(JournalIndex *index) {
    map_init(&index->counts);
    map_init(&index->begun);
}

void journal_index_done(JournalIndex *index) {
    map_done(&index->counts);
    map_done(&index->begun);
}

static bool begins(const LogRow *entry) {
    return entry->kind == LOG_TASK || entry->kind == LOG_CHILD;
}

static uint64_t key_of(int64_t kind, Str name) {
    return hash_bytes(name.data, name.len) + (uint64_t)kind;
}

static void *number(uint64_t value) { return (void *)(uintptr_t)value; }

void journal_index_add(JournalIndex *index, const LogRow *entry, size_t place) {
    uint64_t key = key_of(entry->kind, entry->name);
    uintptr_t before = (uintptr_t)map_get(&index->counts, key);
    map_put(&index->counts, key, number(before + 1));
    if (begins(entry)) map_put(&index->begun, (uint64_t)entry->slot, number(place + 1));
}

int64_t journal_index_count(const JournalIndex *index, const LogRow *rows, size_t count,
                            int64_t kind, Str name) {
    int64_t found = 0;
    if (index != NULL) return (int64_t)(uintptr_t)map_get(&index->counts, key_of(kind, name));
    for (size_t i = 0; i < count; i++)
        found += rows[i].kind == kind && str_equal(rows[i].name, name);
    return found;
}

const LogRow *journal_index_begun(const JournalIndex *index, const LogRow *rows, size_t count,
                                  int64_t op) {
    if (index != NULL) {
        uintptr_t place = (uintptr_t)map_get(&index->begun, (uint64_t)op);
        return place == 0 ? NULL : &rows[place - 1];
    }
    for (size_t i = count; i-- > 0;)
        if (begins(&rows[i]) && rows[i].slot == op) return &rows[i];
    return NULL;
}
