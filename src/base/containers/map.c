// Map and StrMap: open addressing with linear probing.
//
// Removing shifts the following entries back instead of leaving tombstones, so a map that is
// filled and emptied for months stays as fast as a fresh one.
//   [map-1] An empty slot is one whose value is NULL; therefore values are never NULL.
//   [map-2] Between the home slot of an entry and the entry there is no empty slot.
//   [map-3] At most three quarters of the slots are used, so every probe ends.
#include "base/containers/map.h"
#include "base/assert.h"
#include "base/containers/hash.h"
#include "base/memory.h"

enum { MAP_FIRST_CAPACITY = 16 };

static bool is_full(size_t count, size_t capacity) {
    return (count + 1) * 4 > capacity * 3; // [map-3]
}

// Whether the entry at `at` whose home is `home` may move back to the empty slot `hole` [map-2]:
// it may when its home does not lie strictly between the hole and itself, going round.
static bool may_move(size_t hole, size_t home, size_t at, size_t mask) {
    return ((at - home) & mask) >= ((at - hole) & mask);
}

// ---- numbers

struct MapSlot {
    uint64_t key;
    void *value;
};

void map_init(Map *map) { *map = (Map){0}; }

void map_done(Map *map) {
    mem_free(map->slots);
    *map = (Map){0};
}

// The slot of `key`, or the empty one where it would go.
static size_t map_find(const Map *map, uint64_t key) {
    size_t mask = map->capacity - 1;
    size_t at = (size_t)hash_u64(key) & mask;
    while (map->slots[at].value && map->slots[at].key != key) at = (at + 1) & mask;
    return at;
}

static void map_grow(Map *map) {
    Map bigger = {.count = map->count};
    bigger.capacity = map->capacity ? map->capacity * 2 : MAP_FIRST_CAPACITY;
    bigger.slots = mem_zalloc(bigger.capacity * sizeof(struct MapSlot));
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->slots[i].value) continue;
        bigger.slots[map_find(&bigger, map->slots[i].key)] = map->slots[i];
    }
    mem_free(map->slots);
    *map = bigger;
}

void *map_get(const Map *map, uint64_t key) {
    if (map->count == 0) return NULL;
    return map->slots[map_find(map, key)].value;
}

void *map_put(Map *map, uint64_t key, void *value) {
    ASSERT(value != NULL); // [map-1]
    if (is_full(map->count, map->capacity)) map_grow(map);
    struct MapSlot *slot = &map->slots[map_find(map, key)];
    void *old = slot->value;
    if (!old) map->count++;
    *slot = (struct MapSlot){key, value};
    return old;
}

void *map_remove(Map *map, uint64_t key) {
    if (map->count == 0) return NULL;
    size_t mask = map->capacity - 1;
    size_t hole = map_find(map, key);
    void *old = map->slots[hole].value;
    if (!old) return NULL;
    for (size_t at = (hole + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
        size_t home = (size_t)hash_u64(map->slots[at].key) & mask;
        if (!may_move(hole, home, at, mask)) continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole].value = NULL;
    map->count--;
    return old;
}

bool map_next(const Map *map, size_t *at, uint64_t *ret_key, void **ret_value) {
    while (*at < map->capacity) {
        const struct MapSlot *slot = &map->slots[(*at)++];
        if (!slot->value) continue;
        *ret_key = slot->key;
        *ret_value = slot->value;
        return true;
    }
    return false;
}

// ---- byte strings

struct StrMapSlot {
    Str key;
    uint64_t hash; // kept, so that growing and shifting do not touch the keys
    void *value;
};

void strmap_init(StrMap *map) { *map = (StrMap){0}; }

void strmap_done(StrMap *map) {
    mem_free(map->slots);
    *map = (StrMap){0};
}

static size_t strmap_find(const StrMap *map, Str key, uint64_t hash) {
    size_t mask = map->capacity - 1;
    size_t at = (size_t)hash & mask;
    for (;; at = (at + 1) & mask) {
        const struct StrMapSlot *slot = &map->slots[at];
        if (!slot->value || (slot->hash == hash && str_equal(slot->key, key))) return at;
    }
}

static void strmap_grow(StrMap *map) {
    StrMap bigger = {.count = map->count};
    bigger.capacity = map->capacity ? map->capacity * 2 : MAP_FIRST_CAPACITY;
    bigger.slots = mem_zalloc(bigger.capacity * sizeof(struct StrMapSlot));
    size_t mask = bigger.capacity - 1;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->slots[i].value) continue;
        size_t at = (size_t)map->slots[i].hash & mask;
        while (bigger.slots[at].value) at = (at + 1) & mask; // keys are known to differ
        bigger.slots[at] = map->slots[i];
    }
    mem_free(map->slots);
    *map = bigger;
}

void *strmap_get(const StrMap *map, Str key) {
    if (map->count == 0) return NULL;
    return map->slots[strmap_find(map, key, hash_bytes(key.data, key.len))].value;
}

void *strmap_put(StrMap *map, Str key, void *value) {
    ASSERT(value != NULL); // [map-1]
    if (is_full(map->count, map->capacity)) strmap_grow(map);
    uint64_t hash = hash_bytes(key.data, key.len);
    struct StrMapSlot *slot = &map->slots[strmap_find(map, key, hash)];
    void *old = slot->value;
    if (!old) map->count++;
    *slot = (struct StrMapSlot){key, hash, value};
    return old;
}

void *strmap_remove(StrMap *map, Str key) {
    if (map->count == 0) return NULL;
    size_t mask = map->capacity - 1;
    size_t hole = strmap_find(map, key, hash_bytes(key.data, key.len));
    void *old = map->slots[hole].value;
    if (!old) return NULL;
    for (size_t at = (hole + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
        if (!may_move(hole, (size_t)map->slots[at].hash & mask, at, mask)) continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole].value = NULL;
    map->count--;
    return old;
}

bool strmap_next(const StrMap *map, size_t *at, Str *ret_key, void **ret_value) {
    while (*at < map->capacity) {
        const struct StrMapSlot *slot = &map->slots[(*at)++];
        if (!slot->value) continue;
        *ret_key = slot->key;
        *ret_value = slot->value;
        return true;
    }
    return false;
}
