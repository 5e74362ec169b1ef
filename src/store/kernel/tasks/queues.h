// Kernel internals: queues of tasks and concurrency keys.
//
// Invariants: [tasks-queues-1]-[tasks-queues-4] in tasks/queues.c, [keys-1]-[keys-4] in
// tasks/keys.c.
#pragma once
#include "store/kernel/internal.h"

// ---- tasks/queues.c: a queue's row, its limits and its counts ----
MUST_CHECK Status queue_load(Kernel *kernel, Str name, CachedQueue **ret_queue);
// A task of the queue was made (`before` is NULL) or changed.
MUST_CHECK Status queue_count_task(Kernel *kernel, const TaskRow *before, const TaskRow *after);
// How many leases it may give now; *ret_open_at_ms says when more, as far as the clock decides.
int64_t queue_room(const Kernel *kernel, const QueueRow *queue, int64_t *ret_open_at_ms);
void queue_note_lease(Kernel *kernel, CachedQueue *queue);
MUST_CHECK Status queue_fire(Kernel *kernel, const QueueRow *due);
MUST_CHECK Status queues_store(Kernel *kernel); // [cache-1] at the end of a batch
MUST_CHECK Status apply_set_queue(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_queue(Kernel *kernel, Op *op);
MUST_CHECK Status apply_pause_queue(Kernel *kernel, Op *op); // and resume

// ---- tasks/keys.c: who of a concurrency key may be claimed ----
typedef struct KeyChange { // of one task, decided before it is written and counted after
    CachedQueue *queue;
    TaskKeyRow before, row;
    bool is_stored;
    bool is_keyed;
} KeyChange;
// Sets `claim_rank` and `key_rank` of `after`; `before` is NULL for a new task.
MUST_CHECK Status key_decide(Kernel *kernel, const TaskRow *before, TaskRow *after,
                             KeyChange *ret_change);
MUST_CHECK Status key_apply(Kernel *kernel, KeyChange *change);
// False: as many as its queue allows are leased already.
MUST_CHECK Status key_has_room(Kernel *kernel, const TaskRow *task, bool *ret_has_room);
// Brings a page of the queue's keys in line with its limit.
MUST_CHECK Status keys_adjust(Kernel *kernel, CachedQueue *queue);
