// TaskWindow: how many in-process tasks may be claimed, and how many are asked for.
//
//   [task-window-1] How many are claimed ahead of the threads that run them follows their speed:
//        twice as many as soon as half of them were done before more were asked for, half as many
//        when one takes so long that its lease must be renewed. So short tasks flow in large
//        batches, and long ones are left to whoever has a thread for them.
//   [task-window-2] `running` and `asked` are together never more than the window was when they
//        were asked for: a claim asks for no more than there is room.
//   [task-window-3] A claim that asked for just what its batch made, and got it, has not learned
//        whether others wait: what was known of them stays. So a run that does one task after the
//        other costs no claims in vain.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TaskWindow {
    int64_t size; // how many may be claimed at a time now
    int64_t first, max;
    int64_t running;  // with the world
    int64_t asked;    // by claims that are in batches
    bool has_tasks;   // tasks may be claimable
    bool has_heard;   // of some since the last claim was made
    bool was_too_few; // the last claim left some that it was not allowed to ask for
} TaskWindow;

typedef struct TaskClaimAnswer {
    int64_t asked;
    int64_t made;  // how many the batch itself queued
    int64_t count; // how many came
    bool is_cut;   // the store stopped looking before the end
} TaskClaimAnswer;

void task_window_init(TaskWindow *self, int64_t first, int64_t max);
void task_window_hear(TaskWindow *self);          // others have queued some
void task_window_note_tasks(TaskWindow *self);    // a batch of ours has queued some
int64_t task_window_room(const TaskWindow *self); // for how many more
// For a batch that queues `made` tasks itself and may ask for `most`: as many as it makes, and of
// what waits besides half of what there is room for. The next batch is gathered before this one is
// answered, and has tasks of its own to lease. Counts them as asked for.
int64_t task_window_ask(TaskWindow *self, int64_t made, int64_t most);
void task_window_answered(TaskWindow *self, const TaskClaimAnswer *answer);
void task_window_forget(TaskWindow *self, int64_t asked); // no answer will come
void task_window_undo(TaskWindow *self, int64_t asked);   // nothing of it happened
void task_window_began(TaskWindow *self);
void task_window_ended(TaskWindow *self);
void task_window_slow(TaskWindow *self); // one has to have its lease renewed [task-window-1]
