// Policy: what of a server's configuration can change while it runs.
//
//   [policy-1] A policy never changes once it is published; a new one replaces it as a whole. Those
//        that were replaced live as long as the server, because some request may still look at one,
//        and people reload rarely.
//   [policy-2] A request sees one policy from its first line to its last.
#pragma once
#include "base/arena.h"
#include <stdatomic.h>
#include <stdint.h>

typedef struct ServerLimits {
    size_t body_size; // of a request
    size_t uri_size;
    size_t header_size; // of all headers of a request together, and of those of its answer
    int64_t request_ms; // a client may take so long to send a request, or to take its answer
    int64_t connections;
    int64_t connections_per_address; // 0 = any number; at most half of all
    int64_t idle_seconds; // a connection that sends or takes nothing for so long is closed
    int64_t wait_ms;      // longest long poll
    int64_t spill_size;   // of all long answers under way, in temporary files
} ServerLimits;

typedef struct ServerPolicy {
    bool is_open;         // no tokens are asked for
    bool is_host_checked; // open because it is on loopback: pages of other sites are kept out
    const Str *origins;   // pages that may call us (CORS); "*" = any
    size_t origin_count;
    int64_t slow_ms; // requests that take longer are logged as warnings; 0 = none
    // Of these body_size, uri_size, request_ms, wait_ms and spill_size follow a new policy; the
    // others are the library's from the start.
    ServerLimits limits;
} ServerPolicy;

typedef struct PolicyHolder {
    _Atomic(struct PolicyVersion *) current;
} PolicyHolder;

void policy_init(PolicyHolder *holder, const ServerPolicy *policy); // copies it
void policy_done(PolicyHolder *holder);
void policy_publish(PolicyHolder *holder, const ServerPolicy *policy); // one thread; copies it
const ServerPolicy *policy_get(PolicyHolder *holder);
// True when pages of that origin may call us.
bool policy_has_origin(const ServerPolicy *policy, Str origin);
