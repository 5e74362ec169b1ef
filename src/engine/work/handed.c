// Handed: a map from tokens, which are unique and given to one worker each.
//
// Invariants [handed-1], [handed-2] are in handed.h.
//
// Not here: what is done with it (coordinator/foresee.c).
#include "engine/work/handed.h"
#include "base/memory.h"

void handed_init(Handed *self) { map_init(&self->by_token); }

void handed_done(Handed *self) {
    size_t at = 0;
    uint64_t token;
    void *task;
    while (map_next(&self->by_token, &at, &token, &task)) mem_free(task);
    map_done(&self->by_token);
}

void handed_note(Handed *self, const TaskRow *task) {
    if (self->by_token.count >= HANDED_MAX) { // [handed-2]
        handed_done(self);
        handed_init(self);
    }
    HandedTask *handed = mem_alloc(sizeof(HandedTask));
    *handed = (HandedTask){task->run, task->position, task->attempt};
    mem_free(map_put(&self->by_token, (uint64_t)task->token, handed));
}

bool handed_take(Handed *self, int64_t token, HandedTask *ret_task) {
    HandedTask *task = map_remove(&self->by_token, (uint64_t)token);
    if (task == NULL) return false;
    *ret_task = *task;
    mem_free(task);
    return true;
}
