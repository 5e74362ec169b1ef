// Player: a history from its first choice to its end.
//
// The way to the end is fair: whoever is asked answers, alternatives take turns, and time passes
// when nothing else has to happen. What does not come to an end that way never does.
//
// Not here: which histories there are (search.c).
#include "base/memory.h"
#include "explore/history.h"

Status player_open(Player *self, const ExploreSubject *subject, Diag *diag) {
    *self = (Player){.subject = subject, .trial = mem_zalloc(sizeof(Trial))};
    arena_init(&self->arena);
    Status status = trial_init(self->trial, subject, diag);
    if (status == OK) return OK;
    arena_done(&self->arena);
    mem_free(self->trial);
    return status;
}

void player_close(Player *self) {
    trial_done(self->trial);
    mem_free(self->trial);
    arena_done(&self->arena);
    vec_free(&self->choices);
    vec_free(&self->steps);
}

void player_do(Player *self, const Choice *choice) {
    trial_do(self->trial, choice);
    if (!self->keeps_steps) return;
    ExploreStep step = {arena_str(&self->arena, choice->line),
                        self->trial->env.now_ms - self->subject->start_ms};
    vec_push(&self->steps, step);
}

void player_look(Player *self, size_t fault_max) {
    trial_choices(self->trial, fault_max, &self->trial->step, &self->choices);
}

bool player_is_at_end(const Player *self) {
    for (size_t i = 0; i < self->choices.count; i++)
        if (!self->choices.data[i].is_optional) return false;
    return true;
}

// The first thing that has to happen; of its alternatives another one each time.
static const Choice *fair_choice(const Player *self, size_t turn) {
    const Choices *choices = &self->choices;
    size_t first = 0;
    while (first < choices->count && choices->data[first].is_optional) first++;
    if (first == choices->count) return NULL;
    size_t count = 1;
    while (first + count < choices->count &&
           choices->data[first + count].kind == choices->data[first].kind &&
           choices->data[first + count].index == choices->data[first].index)
        count++;
    return &choices->data[first + turn % count];
}

void player_finish(Player *self) {
    size_t step_count = self->steps.count;
    for (size_t turn = 0; !trial_has_failed(self->trial); turn++) {
        player_look(self, 0);
        const Choice *choice = fair_choice(self, turn);
        if (choice == NULL) {
            trial_judge(self->trial);
            return;
        }
        if (turn == TRIAL_TAIL_MAX) {
            trial_fail(self->trial, "endless", STR("end"),
                       "the run does not end: %d things have happened since, and it goes on",
                       TRIAL_TAIL_MAX);
            self->steps.count = step_count; // what follows is made up again when it is replayed
            return;
        }
        Choice copy = *choice; // lives in what the next choice gives back
        copy.line = arena_str(&self->arena, copy.line);
        player_do(self, &copy);
    }
}
