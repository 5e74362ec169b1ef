// What the files of the board share.
#pragma once
#include "api/driver/turns.h"

typedef struct ServedCode { // a version that is asked for
    int64_t definition;
    int64_t until_ms;
    int64_t asked_ms;     // the last time; 0 = whoever asked has ended
    int64_t waiter_count; // who wait for turns of it
    List waiting;
} ServedCode;

// With the board locked; NULL = nobody asks for it.
ServedCode *turns_find_served(const TurnBoard *board, int64_t definition);
void turns_give_back_waiting(TurnBoard *board, ServedCode *served);
