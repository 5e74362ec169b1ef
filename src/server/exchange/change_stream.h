// A stream of what changes, for a page: server-sent events that name things and their new status.
//
//   [change-stream-1] At most one write per CHANGE_PAUSE_MS: what changes in between is told once.
//   [change-stream-2] A reader that sleeps holds no buffer and costs nothing until it is woken.
#pragma once
#include "server/exchange/exchange.h"
#include "server/observe/change_ring.h"

enum {
    CHANGE_PAUSE_MS = 250,
    CHANGE_CLUSTER_MS = 5000, // other nodes change things too: readers look again so often
    CHANGE_HEARTBEAT_MS = 25000,
    CHANGE_READERS_MAX = 1000
};

struct MHD_Response;
// Makes the answer a stream; answers 503 SERVER_BUSY when there are too many.
void change_stream_begin(Exchange *exchange, const ChangeReader *reader);
// Something was noted in the ring.
void change_streams_wake(Server *server);
// Notes what a request that was answered has changed.
void change_streams_answered(const Exchange *exchange);
struct MHD_Response *change_stream_response(struct ChangeStream *stream);
