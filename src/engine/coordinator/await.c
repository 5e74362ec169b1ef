// Waiting for results: callers park here until a run ends or their patience does.
//
// A waiter is registered only after the store said that the run has not ended; the coordinator's
// thread does both, and it is also the one that learns of ends, so none is missed. Their patience
// ends on time also while the store takes nothing.
//
// Not here: reading the result itself (the caller does, from the store).
#include "base/memory.h"
#include "engine/coordinator/internal.h"
#include "store/reads.h"

typedef struct AwaitGroup { // all who wait for one run
    Str run_id;             // owned
    List waiters;
} AwaitGroup;

void awaits_init(Coordinator *c) {
    strmap_init(&c->awaits);
    heap_init(&c->await_heap);
}

static void group_free(Coordinator *c, AwaitGroup *group) {
    strmap_remove(&c->awaits, group->run_id);
    mem_free((void *)(uintptr_t)group->run_id.data);
    mem_free(group);
}

void awaits_done(Coordinator *c) {
    while (c->awaits.count > 0) {
        size_t at = 0;
        Str id;
        void *group;
        ASSERT(strmap_next(&c->awaits, &at, &id, &group));
        group_free(c, group);
    }
    strmap_done(&c->awaits);
    heap_done(&c->await_heap);
}

static void answer(Await *await, Status status, int64_t state) {
    await->status = status;
    await->state = state;
    await->done(await);
}

static void refuse(Await *await) {
    Status status =
        diag_set(&await->diag, ERR_UNAVAILABLE, "CLOSED", "the engine is shutting down");
    answer(await, status, 0);
}

void awaits_refuse(Coordinator *c) {
    for (HeapNode *node; (node = heap_peek(&c->await_heap)) != NULL;) {
        Await *await = container_of(node, Await, deadline);
        coordinator_forget(c, await);
        refuse(await);
    }
}

void coordinator_await(Coordinator *c, Await *await) {
    if (c->is_stopping) {
        refuse(await);
        return;
    }
    RunRow run;
    Status status = store_run_by_id(c->store, &c->scratch, await->run_id, &run, &await->diag);
    int64_t state = status == OK ? run.state : 0;
    arena_reset(&c->scratch);
    if (status != OK || run_state_is_terminal(state)) {
        answer(await, status, state);
        return;
    }
    AwaitGroup *group = strmap_get(&c->awaits, await->run_id);
    if (group == NULL) {
        group = mem_zalloc(sizeof(AwaitGroup));
        group->run_id = (Str){mem_copy(await->run_id.data, await->run_id.len), await->run_id.len};
        list_init(&group->waiters);
        strmap_put(&c->awaits, group->run_id, group);
    }
    list_append(&group->waiters, &await->link);
    await->deadline.order = c->await_order++;
    heap_push(&c->await_heap, &await->deadline);
}

void coordinator_forget(Coordinator *c, Await *await) {
    AwaitGroup *group = strmap_get(&c->awaits, await->run_id);
    list_remove(&await->link);
    heap_remove(&c->await_heap, &await->deadline);
    if (group != NULL && list_is_empty(&group->waiters)) group_free(c, group);
}

void awaits_ended(Coordinator *c, Str run_id, int64_t state) {
    AwaitGroup *group = strmap_get(&c->awaits, run_id);
    if (group == NULL) return;
    LIST_EACH_SAFE (node, after, &group->waiters) {
        Await *await = container_of(node, Await, link);
        list_remove(node);
        heap_remove(&c->await_heap, &await->deadline);
        answer(await, OK, state);
    }
    group_free(c, group);
}

void coordinator_call_off(Coordinator *c, Await *await) {
    coordinator_forget(c, await);
    answer(await, ERR_LIMIT, 0);
}

int64_t coordinator_next_await_ms(const Coordinator *c) {
    const HeapNode *first = heap_peek(&c->await_heap);
    return first != NULL ? first->at : INT64_MAX;
}

void coordinator_expire_awaits(Coordinator *c) {
    int64_t now_ms = env_now_ms(c->env);
    for (;;) {
        HeapNode *node = heap_peek(&c->await_heap);
        if (node == NULL || node->at > now_ms) return;
        coordinator_call_off(c, container_of(node, Await, deadline));
    }
}

void awaits_recheck(Coordinator *c) {
    VEC(AwaitGroup *) groups = {0};
    Str id;
    void *entry;
    for (size_t at = 0; strmap_next(&c->awaits, &at, &id, &entry);) vec_push(&groups, entry);
    for (size_t i = 0; i < groups.count; i++) {
        RunRow run;
        Diag diag;
        if (store_run_by_id(c->store, &c->scratch, groups.data[i]->run_id, &run, &diag) == OK &&
            run_state_is_terminal(run.state))
            awaits_ended(c, run.id, run.state);
        arena_reset(&c->scratch);
    }
    vec_free(&groups);
}
