// Sleeper: a connection that is suspended until somebody wakes it.
//
//   while there is nothing to do:  sleeper_begin;  look;  if nothing came: sleeper_sleep
//
//   [sleeper-1] A wake-up after sleeper_begin is not lost: sleeper_sleep returns and the connection
//        is resumed at once.
//   [sleeper-2] A connection is resumed once per sleep, whoever wakes it and however often.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

struct MHD_Connection;

typedef struct Sleeper {
    struct MHD_Connection *connection;
    _Atomic bool is_woken;
    _Atomic bool is_asleep;
} Sleeper;

void sleeper_init(Sleeper *sleeper, struct MHD_Connection *connection);
void sleeper_begin(Sleeper *sleeper);
void sleeper_sleep(Sleeper *sleeper); // on the connection's own thread
void sleeper_wake(Sleeper *sleeper);  // on any
