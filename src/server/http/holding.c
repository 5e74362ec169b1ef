// Counting what requests and streams hold.
//
// Two sums per server. A holding that is admitted takes its bytes along from one to the other.
// Invariants [holding-1]-[holding-3] are in holding.h.
//
// Not here: what is refused when there is too much (http.c, exchange/request.c, stream.c).
#include "server/http/holding.h"
#include "base/assert.h"

static _Atomic int64_t *sum_of(const Holding *holding) {
    return holding->is_admitted ? &holding->total->admitted : &holding->total->public;
}

void holding_init(Holding *holding, HeldBytes *total) { *holding = (Holding){.total = total}; }

void holding_admit(Holding *holding) {
    size_t size = holding->size;
    holding_remove(holding, size);
    holding->is_admitted = true;
    holding_add(holding, size);
}

void holding_add(Holding *holding, size_t size) {
    holding->size += size;
    atomic_fetch_add(sum_of(holding), (int64_t)size);
}

void holding_remove(Holding *holding, size_t size) {
    ASSERT(size <= holding->size);
    holding->size -= size;
    atomic_fetch_sub(sum_of(holding), (int64_t)size);
}

void holding_done(Holding *holding) { holding_remove(holding, holding->size); }

bool holding_is_over(const Holding *holding, size_t more) {
    int64_t max = holding->is_admitted ? HELD_BYTES_MAX : HELD_PUBLIC_MAX;
    return atomic_load(sum_of(holding)) + (int64_t)more > max;
}
