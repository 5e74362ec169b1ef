// Awaits: who waits for a run to end, and until when.
//
//   [awaits-1] An await is answered exactly once: the run has ended, its deadline came, it was
//        called off, or the engine closes. One that was forgotten is not answered.
//   [awaits-2] Whoever waits is in the group of his run and in the heap of deadlines, or in
//        neither.
//   [awaits-3] A waiter is added only after the store said that the run has not ended. The same
//        thread learns of ends, so none is missed.
//   [awaits-4] Deadlines come also while the store takes nothing.
#pragma once
#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "store/store.h"

typedef struct Await {
    List link;       // the coordinator's; an empty list before it is there and once it is answered
    List called_off; // the driver's
    HeapNode deadline; // .at in ms
    Str run_id;        // owned by the caller until done
    void (*done)(struct Await *await);
    void *context;
    Status status; // OK: it has ended, `state` says how; ERR_LIMIT: the deadline came first;
                   // or why it cannot be known
    int64_t state;
    Diag diag;
} Await;

typedef struct Awaits {
    Store *store;
    StrMap groups;  // run id -> all who wait for that run
    Heap deadlines; // [awaits-2]
    uint64_t last_order;
    bool is_closed; // whoever comes is refused
    Arena scratch;  // of one read
} Awaits;

void awaits_init(Awaits *self, Store *store);
void awaits_done(Awaits *self); // nobody waits any more
// May answer on the spot.
void awaits_add(Awaits *self, Await *await);
// The caller no longer waits; `done` is not called.
void awaits_forget(Awaits *self, Await *await);
// The same; it is answered as if its deadline had come. Only one that is not answered yet.
void awaits_call_off(Awaits *self, Await *await);
void awaits_expire(Awaits *self, int64_t now_ms);
int64_t awaits_next_ms(const Awaits *self); // INT64_MAX = nobody waits
void awaits_ended(Awaits *self, Str run_id, int64_t state);
// Answers were lost: looks each awaited run up.
void awaits_recheck(Awaits *self);
// The engine closes: tells all who wait, and from now on all who come.
void awaits_close(Awaits *self);
