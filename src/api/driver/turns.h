// Turns: executions of code that other processes perform, and which of them has which.
//
//     coordinator ──▶ WAITING ──── take ────▶ HELD ──── commit ────▶ COMMITTING ──▶ gone
//                        ▲                     │  ▲                       │
//                        └── lease over, gone ─┘  └───── it goes on ──────┘
//
// The store knows that the run is this node's, under an epoch; who performs its turn is known only
// here. So a worker that is lost costs no write, and a node that is lost takes nothing with it.
//   [turns-1] A turn has one holder at most, and a token that no other turn ever had. Whoever names
//        an old token is refused.
//   [turns-2] What a turn shows points into the run in memory. It is read with the board locked, or
//        by who commits the turn, and by nobody after that.
//   [turns-3] A holder whose commit said that the turn goes on is told so when it holds it again,
//        under the same token.
//   [turns-4] What waits is of a version that somebody asks for; when nobody does any more it is
//        given back.
//   [turns-5] A closed board has no turns.
//   [turns-6] Leases are by the real clock, whatever the runs go by: a worker is a process.
//   [turns-7] A holder that waits for something while it executes (its commit went on, with waits)
//        is told that something came, until it commits again.
//   [turns-8] A commit may have a number. One that said that the turn goes on, and comes again, is
//        not taken again, and is answered as it was.
#pragma once
#include "api/driver/mailbox.h"
#include "base/containers/heap.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"

typedef struct HeldTurn {
    List link; // of its version while it waits; of the board while it is held
    int64_t token;
    int64_t run, definition;
    Execution *execution;    // NULL while it is being committed
    Str worker;              // owned; null while it waits
    HeapNode lease;          // of the holder: .at; on the board while it is HELD or goes on
    int64_t left_until_ms;   // WAITING: until then it is for the worker that has the run in memory
    int64_t after_seq;       // of the journal, what the holder has; 0 = nothing
    int64_t loss_count;      // holders that were lost, since one of them got on
    int64_t incarnation;     // of the run: a journal that was cut is another one
    int64_t number;          // of the last commit, as its holder counts them [turns-8]; 0 = none
    TurnVerdict last;        // HELD: what became of that one
    List news;               // of the board: something came, and the holder was not told [turns-7]
    bool has_news;           // HELD: something came
    bool is_listening;       // HELD: by its run's id, on the board
    bool is_keeping;         // COMMITTING: the holder keeps the run in memory
    bool goes_on;            // COMMITTING: [turns-3]
    struct TurnReturn *told; // COMMITTING: who is told
} HeldTurn;

typedef struct TurnBoard {
    pthread_mutex_t lock; // guards all of it
    Mailbox *mailbox;     // where executions go back to
    int64_t last_token;
    Map by_token;     // HELD and COMMITTING
    Map going_on;     // run -> HeldTurn: those whose next execution is to come
    Map kept;         // run -> KeptRun: who has it in memory
    List held;        // HELD
    Heap leases;      // HELD, and those that go on
    List news;        // of those: [turns-7]
    StrMap listening; // run id -> HeldTurn
    VEC(struct ServedCode *) served;
    size_t waiting_count; // WAITING
    bool is_closed;
    // Something waits to be taken. Called with the board locked.
    void (*ready)(void *context);
    void *ready_context;
} TurnBoard;

void turns_init(TurnBoard *board, Mailbox *mailbox);
void turns_done(TurnBoard *board); // [turns-5]
// Whom to tell that turns wait; once, before anybody asks.
void turns_listen(TurnBoard *board, void (*ready)(void *context), void *context);
// By the coordinator's thread.
void turns_add(TurnBoard *board, Execution *execution);
// Gives everything back; what is being committed is not waited for.
void turns_close(TurnBoard *board);

// ---- versions that are asked for ----

// Somebody asks for turns of it, until then at least. True when it was not asked for before: the
// coordinator is to be told.
MUST_CHECK bool turns_ask(TurnBoard *board, int64_t definition, int64_t until_ms);
// Versions that nobody asks for any more, for the coordinator to be told; at most `max`. [turns-4]
size_t turns_unasked(TurnBoard *board, int64_t now_ms, size_t max, int64_t *ret_definitions);

// A process begins to wait for turns of them, or does not any more; it may have ended.
void turns_wait(TurnBoard *board, const int64_t *definitions, size_t count);
void turns_wait_no_more(TurnBoard *board, const int64_t *definitions, size_t count, bool has_left);
// How many are WAITING.
size_t turns_waiting(TurnBoard *board);
// One of them will be taken presently: somebody waits for such, or has asked a moment ago.
bool turns_are_wanted(TurnBoard *board);

// ---- holding ----

typedef struct TurnAsk {
    Str worker;
    const int64_t *definitions;
    size_t definition_count;
    size_t max;
    int64_t lease_ms;
    // Called for each, with the board locked. [turns-2]
    void (*take)(void *context, const HeldTurn *turn);
    void *context;
} TurnAsk;

// How many were taken. *ret_again_ms: when there may be more without news of it; NEVER_MS = not.
size_t turns_take(TurnBoard *board, const TurnAsk *ask, int64_t *ret_again_ms);
// Looks at one that is held: its journal behind `after_seq`. ERR_FENCED: it is not.
MUST_CHECK Status turns_look(TurnBoard *board, int64_t token, int64_t after_seq,
                             const TurnAsk *look);
typedef struct TurnRenewal {
    int64_t token, lease_ms;
    int64_t run;   // its key
    bool has_news; // [turns-7]
} TurnRenewal;
MUST_CHECK Status turns_renew(TurnBoard *board, TurnRenewal *renewal);
// Something of the run's came, or changed. On the coordinator's thread.
void turns_hear(TurnBoard *board, Str run_id);
// The worker's turns that have news it was not told of; at most `max`. [turns-7]
size_t turns_take_news(TurnBoard *board, Str worker, size_t max, int64_t *ret_tokens);
// It was not performed: somebody else may. ERR_FENCED: it is not held.
MUST_CHECK Status turns_give_up(TurnBoard *board, int64_t token);
// The worker is gone: so are its turns, and what it has in memory.
void turns_drop_worker(TurnBoard *board, Str worker);
// Puts up again what was held under leases that are over.
void turns_expire(TurnBoard *board, int64_t now_ms);
// When the next lease is over, or a version is not asked for any more; NEVER_MS = there is none.
int64_t turns_next_ms(TurnBoard *board);

// ---- committing ----

typedef struct TurnReturn {
    int64_t token;
    // Reads what the holder said into the output. On an error it keeps the turn.
    Status (*read)(struct TurnReturn *self, const RunView *view, Arena *arena, TurnOutput *output,
                   Diag *diag);
    int64_t number;  // [turns-8]; 0 = it has none
    bool is_keeping; // the holder keeps the run in memory, if it goes on or is suspended
    // Called once unless turns_commit answers an error; on the coordinator's thread, maybe with the
    // board locked: it must be quick and must not call the board.
    void (*done)(struct TurnReturn *self);
    void *context;
    TurnVerdict verdict;
    struct TurnReturn *again; // the board's: the same commit, which came again meanwhile
    struct TurnBoard *board;  // the board's
    bool has_waits;           // the board's: it goes on, and waits for something meanwhile
    bool is_held;             // it goes on: the holder holds it again [turns-3]
    bool is_cancel_wanted;    // … and the run was asked to end
} TurnReturn;

// ERR_FENCED: it is not held. [turns-1]
MUST_CHECK Status turns_commit(TurnBoard *board, TurnReturn *turn, Diag *diag);
