// History: choices as they were made, and playing on from them.
#pragma once
#include "explore/trial.h"

typedef struct Player { // one history being played
    Trial *trial;
    const ExploreSubject *subject;
    Arena arena;     // lines, as long as the history
    Choices choices; // of the present state
    VEC(ExploreStep) steps;
    bool keeps_steps;
} Player;

MUST_CHECK Status player_open(Player *self, const ExploreSubject *subject, Diag *diag);
void player_close(Player *self);
void player_do(Player *self, const Choice *choice);
// Fills `choices`.
void player_look(Player *self, size_t fault_max);
// The present state may be the last: nothing in `choices` has to happen.
bool player_is_at_end(const Player *self);
// Without faults and what need not happen, each in its turn, to the end; and judges it.
void player_finish(Player *self);
// shrink.c: the same violation with fewer steps.
MUST_CHECK Status history_shrink(const ExploreSubject *subject, Arena *arena, ExploreReport *report,
                                 Diag *diag);
// A run that was not started is no violation: ERR_INVALID says why.
MUST_CHECK Status history_check_start(const ExploreReport *report, Diag *diag);
// The steps and the violation of a player, copied.
void history_report(const Player *player, Arena *arena, ExploreReport *report);
