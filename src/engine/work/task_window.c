// TaskWindow: arithmetic on what runs, what is asked for, and how fast it goes.
//
// It knows nothing of tasks: only how many there are. So how claims follow the load can be read
// and tested in one place.
//
// Invariants [task-window-1]-[task-window-3] are in task_window.h.
//
// Not here: the claims themselves (tasks.c).
#include "engine/work/task_window.h"
#include "base/assert.h"

void task_window_init(TaskWindow *self, int64_t first, int64_t max) {
    *self = (TaskWindow){.size = first, .first = first, .max = max};
}

void task_window_hear(TaskWindow *self) { self->has_tasks = self->has_heard = true; }
void task_window_note_tasks(TaskWindow *self) { self->has_tasks = true; }

int64_t task_window_room(const TaskWindow *self) {
    int64_t room = self->size - self->running - self->asked;
    return room > 0 ? room : 0; // it may have become smaller since they were claimed
}

static void widen(TaskWindow *self) { // [task-window-1]
    bool is_half_done = task_window_room(self) >= self->size / 2;
    if (self->was_too_few && is_half_done && 2 * self->size <= self->max) self->size *= 2;
}

int64_t task_window_ask(TaskWindow *self, int64_t made, int64_t most) {
    widen(self);
    int64_t room = task_window_room(self), count = made;
    if (room > most) room = most;
    if (made >= room) count = room;
    else if (self->has_tasks) count = made + (room - made + 1) / 2;
    self->asked += count;
    self->has_heard = false;
    ASSERT(count == 0 || self->running + self->asked <= self->size); // [task-window-2]
    return count;
}

static void subtract(TaskWindow *self, int64_t asked) {
    ASSERT(asked <= self->asked);
    self->asked -= asked;
}

void task_window_answered(TaskWindow *self, const TaskClaimAnswer *answer) {
    subtract(self, answer->asked);
    if (answer->asked == answer->made && answer->count == answer->asked) { // [task-window-3]
        self->was_too_few = self->has_tasks;
        return;
    }
    // One that was cut short comes further the next time only if it got something out of the way.
    bool has_all = answer->count == answer->asked;
    self->was_too_few = has_all || (answer->is_cut && answer->count > 0);
    self->has_tasks = self->was_too_few || self->has_heard;
}

void task_window_forget(TaskWindow *self, int64_t asked) { subtract(self, asked); }

void task_window_undo(TaskWindow *self, int64_t asked) {
    subtract(self, asked);
    self->has_tasks = true;
}

void task_window_began(TaskWindow *self) { self->running++; }

void task_window_ended(TaskWindow *self) {
    ASSERT(self->running > 0);
    self->running--;
}

void task_window_slow(TaskWindow *self) {
    if (self->size > self->first) self->size /= 2;
}
