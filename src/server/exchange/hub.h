// Hub: who is to be told when something happens in the engine.
//
// Three kinds of exchanges wait for more than one answer: readers of a run's log, readers of all
// changes (change_stream.h), and workers that asked for tasks when there were none. The engine
// reports what its commits did; the hub wakes those concerned: all readers, and one worker of each
// kind (workers that ask for the same queues and names are of one kind; the one that gets as much
// as it asked for wakes the next).
//
//   [hub-1] A waiter that registers and then looks misses nothing: whatever is committed after the
//        registration wakes it.
//   [hub-2] Telling the hub is cheap when nobody waits: one atomic load.
#pragma once
#include "base/containers/list.h"
#include "base/containers/map.h"
#include <pthread.h>
#include <stdatomic.h>

typedef enum HubKind {
    HUB_READERS,
    HUB_CLAIMERS,
    HUB_CHANGES,
    HUB_TURNS, // processes that asked for turns
    HUB_KIND_COUNT
} HubKind;

typedef struct HubWaiter {
    List link;
    HubKind kind;
    Str key; // run id, or what kind of worker; owned by the waiter
    // Any thread, with the hub locked: it must be quick and must not call the hub. A waiter that is
    // woken stays registered.
    void (*wake)(struct HubWaiter *waiter);
} HubWaiter;

typedef struct Hub {
    pthread_mutex_t lock;
    _Atomic int64_t counts[HUB_KIND_COUNT];
    StrMap groups[HUB_KIND_COUNT]; // key -> HubGroup
} Hub;

void hub_init(Hub *hub);
void hub_done(Hub *hub);
void hub_add(Hub *hub, HubWaiter *waiter);
void hub_remove(Hub *hub, HubWaiter *waiter); // harmless when it is not in
void hub_log_grew(Hub *hub, Str run_id);
bool hub_has_reader(Hub *hub, Str run_id);
void hub_tasks_ready(Hub *hub);
void hub_more_tasks(Hub *hub, Str key); // a worker of this kind got all it asked for
void hub_turns_ready(Hub *hub); // all who asked for turns look: one of them may have the run
void hub_wake_all(Hub *hub);
// Calls `visit` for each waiter of that kind, with the hub locked.
void hub_each(Hub *hub, HubKind kind, void (*visit)(HubWaiter *waiter, const void *context),
              const void *context);
