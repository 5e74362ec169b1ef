// ReadTurn: readers of one connection, one after the other, none of whom waits for ever.
//
// A server that has stopped answering without a word (a partition, a machine that stands still)
// holds the reader that asks it until its time is up. Those behind it would pile up, with the
// threads they are on; so they wait a little, and once one has been disappointed nobody waits any
// more until the server has answered again.
#pragma once
#include "base/diag.h"
#include "base/status.h"
#include <stdatomic.h>
#include <stdbool.h>

enum {
    READ_PATIENCE_MS = 2000,
    READ_ANSWER_MS = 15 * 1000, // how long the one whose turn it is waits for an answer
};

typedef struct ReadTurn {
    int token;            // an eventfd that holds 1 while it is nobody's turn
    _Atomic bool is_down; // the last one had no answer
} ReadTurn;

void read_turn_init(ReadTurn *turn);
void read_turn_done(ReadTurn *turn);
// ERR_UNAVAILABLE: the one before does not come to an end.
MUST_CHECK Status read_turn_take(ReadTurn *turn, Diag *diag);
void read_turn_give(ReadTurn *turn, bool has_failed);
