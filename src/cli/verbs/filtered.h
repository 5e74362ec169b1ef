// The same change to all runs that a filter finds, a page at a time.
//
//   [filtered-1] A page is one request; what it changed is durable when it is answered. A command
//        that is interrupted has changed some of the runs, and can be given again.
#pragma once
#include "cli/client/session.h"

typedef struct Filtered {
    const char *verb; // "move": of POST /v1/runs/bulk
    const char *done; // "moved"
    Str filter;
    Str version;   // null: none
    Str step;      // of a rewind; null: it is none
    Str iteration; // JSON; null: the last one
    bool is_dry;
} Filtered;

// Says how many were changed, how many were not and why. False: it failed.
bool filtered_run(Session *session, const Filtered *filtered);
