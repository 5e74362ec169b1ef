// Trial: one history, as far as it has been played.
//
//   start, choice, choice …      each followed by everything the engine does by itself
//
//   [trial-1] Between two choices nothing executes and nothing is left to commit.
//   [trial-2] A client whose call was not acknowledged asks again with the same id.
//   [trial-3] What was acknowledged is not lost: see end.c.
#pragma once
#include "base/containers/vec.h"
#include "engine/coordinator/coordinator.h"
#include "engine/runners/flow.h"
#include "explore/explore.h"
#include "store/reads.h"

#define VIOLATION_START "start" // the run could not be started at all

enum { TRIAL_TAIL_MAX = 150, TRIAL_RUNS_MAX = 1000 };

typedef enum ChoiceKind {
    CHOICE_START,
    CHOICE_ANSWER, // an attempt of a task answers
    CHOICE_NEVER,  // an attempt hangs: it is alive and does not answer
    CHOICE_SEND,   // a signal or an event
    CHOICE_TIME,   // goes on to what is due next
    // faults
    CHOICE_FAIL,         // an attempt fails, whatever the file says
    CHOICE_LOSE,         // the work is done, and whoever did it dies before it can say so
    CHOICE_REPEAT,       // an attempt that was lost or has answered says it (again)
    CHOICE_JUMP,         // the clock goes past everything that is due
    CHOICE_CRASH_BEFORE, // the process dies before the next turn is committed
    CHOICE_CRASH_AFTER,  // … when it was, and nobody has been told
} ChoiceKind;

typedef struct Choice {
    ChoiceKind kind;
    size_t index;       // of the attempt or of the part
    size_t alternative; // which of its replies
    bool is_optional;   // need not happen: a fault, or what may be sent
    Str line;           // how a script says it; null where nobody reads it
} Choice;

typedef VEC(Choice) Choices;

typedef enum AttemptState {
    ATTEMPT_IN_HAND,
    ATTEMPT_HANGING, // for ever
    ATTEMPT_LOST,    // done; may still answer, too late
    ATTEMPT_ANSWERED,
    ATTEMPT_REPEATED,
} AttemptState;

typedef struct Attempt { // of a task, as its worker has it
    Str task;            // id
    Str name;
    const Part *part; // NULL: the file does not say what it answers
    size_t call;      // number of the call of that name, from 0
    Str label;        // "charge#2", of its second attempt "charge#2.2"
    size_t number;    // of the task among those of its name, from 1
    int64_t token;
    Str input;
    AttemptState state;
    const Reply *reply; // what it answered
    bool is_accepted;   // the engine acknowledged a result
} Attempt;

typedef struct Effect { // work that was done in the world
    Str name, task, input;
} Effect;

typedef struct Hope { // an Eventually
    Str run, name;
    bool is_true;
} Hope;

typedef struct TrialEnv {
    Env base;
    int64_t now_ms;
    uint64_t random_state;
} TrialEnv;

typedef struct Trial {
    World world; // first
    const ExploreSubject *subject;
    Arena arena; // as long as the history
    Arena step;  // what was read of the store for the present state
    TrialEnv env;
    Store *store;
    Coordinator *coordinator;
    List executing;
    FlowLooker looker;
    NativeRunner *children; // those of PART_WORKFLOW, by part
    ChoiceKind armed;       // CHOICE_CRASH_…; CHOICE_START = none
    size_t faults;
    size_t steps;
    bool is_started;
    VEC(Attempt) attempts;
    VEC(Effect) effects;
    VEC(Hope) hopes;
    size_t *calls;       // of each part: asked for, or sent
    size_t *sent;        // of each part: sent and acknowledged
    uint64_t *digests;   // of each part: what was sent, in order
    Violation violation; // the first
} Trial;

// ERR_INVALID: the definition or the input is refused.
MUST_CHECK Status trial_init(Trial *self, const ExploreSubject *subject, Diag *diag);
void trial_done(Trial *self);
void trial_fail(Trial *self, const char *kind, Str name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static inline bool trial_has_failed(const Trial *self) { return self->violation.kind != NULL; }
// Lets the engine do all it has to do now. [trial-1]
void trial_settle(Trial *self);
// Asks the engine, again and again until it answers. [trial-2]
Status trial_ask(Trial *self, Request *request);
// All runs, oldest first, with their snapshots; until the next choice.
RunPage trial_runs(Trial *self);
bool trial_is_live(const RunPage *runs);
// When something is due by itself; 0 = never.
int64_t trial_next_due(Trial *self);
// Hands out the tasks that can be claimed.
void trial_claim(Trial *self);

// choices.c: what may happen now, in a fixed order; lines and list live in `arena`.
void trial_choices(Trial *self, size_t fault_max, Arena *arena, Choices *ret_choices);
void trial_do(Trial *self, const Choice *choice);
// end.c: whether the world may stay silent from here on, and what is wrong then.
void trial_judge(Trial *self);
// state.c: equal where the same may happen, with the same consequences.
uint64_t trial_state(Trial *self);
