// One reader at a time, with patience (read_turn.h).
//
// An eventfd instead of a mutex, because it can be waited for a while without asking for the time.
//
//   [read-turn-1] The token is in the eventfd or with exactly one reader.
//   [read-turn-2] Who gives it back says whether the server has answered; only that decides about
//        is_down, and a reader whose patience is at an end.
//
// Not here: how long an answer may take (postgres/link.c, redis/link.c).
#include "store/reads/read_turn.h"
#include "base/assert.h"
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

void read_turn_init(ReadTurn *turn) {
    turn->token = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    ASSERT(turn->token >= 0);
    atomic_store(&turn->is_down, false);
}

void read_turn_done(ReadTurn *turn) { close(turn->token); }

static bool try_take(const ReadTurn *turn) {
    eventfd_t value;
    return eventfd_read(turn->token, &value) == 0;
}

Status read_turn_take(ReadTurn *turn, Diag *diag) {
    while (!try_take(turn)) {
        struct pollfd poll_for = {.fd = turn->token, .events = POLLIN};
        int patience_ms = atomic_load(&turn->is_down) ? 0 : READ_PATIENCE_MS;
        int count = poll(&poll_for, 1, patience_ms);
        if (count > 0 || (count < 0 && errno == EINTR)) continue;
        atomic_store(&turn->is_down, true);
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_UNAVAILABLE",
                        "the store has not answered for a while; it is being asked again");
    }
    return OK;
}

void read_turn_give(ReadTurn *turn, bool has_failed) {
    atomic_store(&turn->is_down, has_failed);
    int code = eventfd_write(turn->token, 1);
    ASSERT(code == 0);
}
