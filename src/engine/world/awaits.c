// Waiting for results: callers park here until a run ends or their patience does.
//
// All who wait for one run are a group, found by the id of the run; deadlines are in a heap. A
// group has at least one waiter, and goes with its last one.
//
// Invariants [awaits-1]-[awaits-4] are in awaits.h.
//
// Not here: reading the result itself (the caller does, from the store).
#include "engine/world/awaits.h"
#include "base/assert.h"
#include "base/containers/vec.h"
#include "base/memory.h"
#include "store/reads.h"

typedef struct AwaitGroup { // all who wait for one run
    Str run_id;             // owned
    List waiters;
} AwaitGroup;

void awaits_init(Awaits *self, Store *store) {
    *self = (Awaits){.store = store};
    strmap_init(&self->groups);
    heap_init(&self->deadlines);
    arena_init(&self->scratch);
}

void awaits_done(Awaits *self) {
    ASSERT(self->groups.count == 0 && self->deadlines.count == 0); // [awaits-1]
    strmap_done(&self->groups);
    heap_done(&self->deadlines);
    arena_done(&self->scratch);
}

static void group_free(Awaits *self, AwaitGroup *group) {
    ASSERT(list_is_empty(&group->waiters));
    strmap_remove(&self->groups, group->run_id);
    mem_free((void *)(uintptr_t)group->run_id.data);
    mem_free(group);
}

static AwaitGroup *group_of(Awaits *self, Str run_id) {
    AwaitGroup *group = strmap_get(&self->groups, run_id);
    if (group != NULL) return group;
    group = mem_zalloc(sizeof(AwaitGroup));
    group->run_id = (Str){mem_copy(run_id.data, run_id.len), run_id.len};
    list_init(&group->waiters);
    strmap_put(&self->groups, group->run_id, group);
    return group;
}

static void answer(Await *await, Status status, int64_t state) {
    ASSERT(list_is_empty(&await->link) && await->deadline.place == 0); // [awaits-2]
    await->status = status;
    await->state = state;
    await->done(await);
}

static void refuse(Await *await) {
    Status status = diag_set(&await->diag, ERR_CLOSED, "CLOSED", "the engine is shutting down");
    answer(await, status, 0);
}

void awaits_close(Awaits *self) {
    self->is_closed = true;
    for (HeapNode *node; (node = heap_peek(&self->deadlines)) != NULL;) {
        Await *await = container_of(node, Await, deadline);
        awaits_forget(self, await);
        refuse(await);
    }
}

static Status read_state(Awaits *self, Str run_id, int64_t *ret_state, Diag *diag) {
    RunRow run;
    Status status = store_run_by_id(self->store, &self->scratch, run_id, &run, diag);
    if (status == OK) *ret_state = run.state;
    arena_reset(&self->scratch);
    return status;
}

void awaits_add(Awaits *self, Await *await) {
    if (self->is_closed) {
        refuse(await);
        return;
    }
    int64_t state = 0;
    Status status = read_state(self, await->run_id, &state, &await->diag); // [awaits-3]
    if (status != OK || run_state_is_terminal(state)) {
        answer(await, status, state);
        return;
    }
    list_append(&group_of(self, await->run_id)->waiters, &await->link);
    await->deadline.order = self->last_order++;
    heap_push(&self->deadlines, &await->deadline);
}

void awaits_forget(Awaits *self, Await *await) {
    AwaitGroup *group = strmap_get(&self->groups, await->run_id);
    list_remove(&await->link);
    heap_remove(&self->deadlines, &await->deadline);
    if (group != NULL && list_is_empty(&group->waiters)) group_free(self, group);
}

void awaits_ended(Awaits *self, Str run_id, int64_t state) {
    AwaitGroup *group = strmap_get(&self->groups, run_id);
    if (group == NULL) return;
    LIST_EACH_SAFE (node, after, &group->waiters) {
        Await *await = container_of(node, Await, link);
        list_remove(node);
        heap_remove(&self->deadlines, &await->deadline);
        answer(await, OK, state);
    }
    group_free(self, group);
}

void awaits_call_off(Awaits *self, Await *await) {
    awaits_forget(self, await);
    answer(await, ERR_LIMIT, 0);
}

int64_t awaits_next_ms(const Awaits *self) {
    const HeapNode *first = heap_peek(&self->deadlines);
    return first != NULL ? first->at : INT64_MAX;
}

void awaits_expire(Awaits *self, int64_t now_ms) {
    for (HeapNode *node; (node = heap_peek(&self->deadlines)) != NULL && node->at <= now_ms;)
        awaits_call_off(self, container_of(node, Await, deadline));
}

void awaits_recheck(Awaits *self) {
    VEC(AwaitGroup *) groups = {0};
    Str id;
    void *entry;
    for (size_t at = 0; strmap_next(&self->groups, &at, &id, &entry);) vec_push(&groups, entry);
    for (size_t i = 0; i < groups.count; i++) {
        Diag diag;
        int64_t state;
        if (read_state(self, groups.data[i]->run_id, &state, &diag) == OK &&
            run_state_is_terminal(state))
            awaits_ended(self, groups.data[i]->run_id, state);
    }
    vec_free(&groups);
}
