// Map: hash maps from a number or from bytes to a pointer. Open addressing, no tombstones.
// Keys of a StrMap are not copied: the value usually owns them.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

typedef struct Map {
    struct MapSlot *slots;
    size_t count;
    size_t capacity; // power of two, or 0
} Map;

void map_init(Map *map);
void map_done(Map *map);
void *map_get(const Map *map, uint64_t key);        // NULL when absent
void *map_put(Map *map, uint64_t key, void *value); // answers the value it replaced
void *map_remove(Map *map, uint64_t key);           // answers what was there
// Visits all entries in no particular order: for (size_t at = 0; map_next(&m, &at, &k, &v);).
// The map must not change during the walk.
bool map_next(const Map *map, size_t *at, uint64_t *ret_key, void **ret_value);

typedef struct StrMap {
    struct StrMapSlot *slots;
    size_t count;
    size_t capacity;
} StrMap;

void strmap_init(StrMap *map);
void strmap_done(StrMap *map);
void *strmap_get(const StrMap *map, Str key);
void *strmap_put(StrMap *map, Str key, void *value);
void *strmap_remove(StrMap *map, Str key);
bool strmap_next(const StrMap *map, size_t *at, Str *ret_key, void **ret_value);
