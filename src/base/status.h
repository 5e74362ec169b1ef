// Status: the answers a function of this code base may give.
//
// Three kinds of trouble exist. Answers (below) must be checked and carry text for people in a
// Diag. Our own bugs hit ASSERT (assert.h). Running out of memory aborts; limits at the edge
// keep it from happening.
#pragma once

typedef enum Status {
    OK = 0,
    ERR_NOT_FOUND,   // the key has no row: an answer, not a fault
    ERR_FENCED,      // someone else owns it now: drop what you have
    ERR_TERMINAL,    // the run has ended; nothing changes it any more
    ERR_CONFLICT,    // the key exists already with other content, or the state forbids it
    ERR_INVALID,     // the caller's data is wrong: tell the client, never retry
    ERR_LIMIT,       // a documented limit: see base/limits.h
    ERR_UNSUPPORTED, // this backend or build cannot do it at all
    ERR_UNAVAILABLE, // the store cannot answer now, and the outcome may be unknown: reload
    ERR_CORRUPT,     // stored bytes fail their own check: stop, do not guess
    STATUS_COUNT
} Status;

// A stable upper-case word for each status: "OK", "NOT_FOUND", …
const char *status_name(Status status);

#define MUST_CHECK __attribute__((warn_unused_result))

// The only control-flow macro.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        Status try_ = (call);                                                                      \
        if (try_ != OK) return try_;                                                               \
    } while (0)
