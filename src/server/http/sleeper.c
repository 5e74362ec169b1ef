// Suspending and resuming a connection without losing a wake-up.
//
// The connection is suspended before it says so, and looks once more after it said so: whoever
// wakes it in between finds either "not asleep yet", and is seen by that last look, or "asleep",
// and resumes it. Invariants [sleeper-1] and [sleeper-2] are in sleeper.h.
#include "server/http/sleeper.h"
#include <microhttpd.h>

void sleeper_init(Sleeper *sleeper, struct MHD_Connection *connection) {
    sleeper->connection = connection;
    atomic_init(&sleeper->is_woken, false);
    atomic_init(&sleeper->is_asleep, false);
}

void sleeper_begin(Sleeper *sleeper) { atomic_store(&sleeper->is_woken, false); }

static void resume(Sleeper *sleeper) { // [sleeper-2]
    if (atomic_exchange(&sleeper->is_asleep, false)) MHD_resume_connection(sleeper->connection);
}

void sleeper_sleep(Sleeper *sleeper) {
    MHD_suspend_connection(sleeper->connection);
    atomic_store(&sleeper->is_asleep, true);
    if (atomic_load(&sleeper->is_woken)) resume(sleeper); // [sleeper-1]
}

void sleeper_wake(Sleeper *sleeper) {
    atomic_store(&sleeper->is_woken, true);
    resume(sleeper);
}
