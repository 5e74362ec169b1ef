// Kernel internals: how many runs stand at each place of each version (model/snapshot.h).
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "model/rows.h"

struct Kernel;

typedef struct CachedPlace CachedPlace;

// The rows of the places that batches have changed lately, as they are in the store between two
// batches: places_clear wherever that is not certain.
typedef struct PlaceCache {
    Map by_key;                 // a mix of version and place -> CachedPlace
    VEC(CachedPlace *) touched; // by the present batch
} PlaceCache;

typedef enum PlaceCount { PLACE_NOT_COUNTED, PLACE_WAITING, PLACE_FAILED } PlaceCount;
PlaceCount place_count_of(const RunRow *run); // [snapshot-4]

void places_init(PlaceCache *cache);
void places_done(PlaceCache *cache);
void places_clear(PlaceCache *cache);
void places_trim(PlaceCache *cache); // between batches
// A run's row is about to be changed, or removed (`after` is NULL).
MUST_CHECK Status places_note(struct Kernel *kernel, const RunRow *before, const RunRow *after);
// At the end of a batch.
MUST_CHECK Status places_store(struct Kernel *kernel);
