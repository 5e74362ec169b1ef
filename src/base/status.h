// Status: the answers a function of this code base may give.
//
// Three kinds of trouble exist. Answers (below) must be checked and carry text for people in a
// Diag. Our own bugs hit ASSERT (assert.h). Running out of memory aborts; limits at the edge
// keep it from happening.
#pragma once
#include <stdbool.h>

typedef enum Status {
    OK = 0,
    ERR_NOT_FOUND,   // the key has no row: an answer, not a fault
    ERR_FENCED,      // someone else owns it now: drop what you have
    ERR_TERMINAL,    // the run has ended; nothing changes it any more
    ERR_CONFLICT,    // the key exists already with other content, or the state forbids it
    ERR_INVALID,     // the caller's data is wrong: tell the client, never retry
    ERR_LIMIT,       // a documented limit: see base/limits.h
    ERR_FULL,        // the store has no room: it is read, and written once somebody made some
    ERR_UNSUPPORTED, // this backend or build cannot do it at all
    ERR_OLDER,       // the store has an older form, and was opened in a way that cannot raise it
    ERR_LOCKED,      // another process has the store for itself
    ERR_UNAVAILABLE, // the store cannot answer now, and the outcome may be unknown: reload
    ERR_BUSY,        // the same, because others hold it: they will let go
    ERR_CLOSED,      // the engine is shutting down: nothing was done, and nothing will be
    ERR_INTERRUPTED, // somebody asked us to stop: leave everything as it is
    ERR_CORRUPT,     // stored bytes fail their own check: stop, do not guess
    STATUS_COUNT
} Status; // what a caller must do decides; the code of a Diag is for people and programs outside

// The store cannot answer now, for whatever reason: what was asked may have happened or not.
static inline bool status_is_away(Status status) {
    return status == ERR_UNAVAILABLE || status == ERR_BUSY;
}

// A stable upper-case word for each status: "OK", "NOT_FOUND", …
const char *status_name(Status status);

#define MUST_CHECK __attribute__((warn_unused_result))

// The only control-flow macro.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        Status try_ = (call);                                                                      \
        if (try_ != OK) return try_;                                                               \
    } while (0)
