// Stream: an answer that goes on as long as a run's log grows.
//
//   [stream-1] Entries leave in the order of their sequence numbers, each once.
//   [stream-2] A stream ends by itself after the run's last entry; a server that goes away breaks
//        it off, so that the client comes back and goes on after the last number it saw.
//   [stream-3] A reader that takes nothing costs its socket's buffer and what one read of the log
//        holds.
//   [stream-4] Once a stream runs, the arena of its exchange is gone (http.c): what it needs is its
//        own.
//   [stream-5] A reader that left is noticed at once, whatever the format, so that its run is not
//        kept in memory for nobody. One that has ended its sending side gets what there is, no
//        more.
//   [stream-6] What streams have read and not sent counts as what requests hold does (holding.h);
//        one that takes it over the ceiling is broken off, and its reader comes back.
#pragma once
#include "server/exchange/hub.h"
#include "server/server.h"

// How entries are written. Whoever has more to keep puts this first into something larger, made
// with mem_alloc and freed with the stream.
typedef struct StreamFormat {
    // Appends what the entry says to its readers, which may be nothing. False: that was the last.
    // `mask` hides data of the run.
    bool (*write)(struct StreamFormat *format, Server *server, const LogRow *entry,
                  const struct RenderMask *mask, Buf *out);
    const char *content_type;
    const char *heartbeat; // said now and then when there is nothing else; NULL = nothing
    bool is_owned;         // freed with the stream
} StreamFormat;

// id:, event: kind, data: the entry as JSON
extern StreamFormat stream_log_sse;

// Makes the answer of `exchange` a stream of the log of `run_id` after `after`.
void stream_begin(Exchange *exchange, StreamFormat *format, Str run_id, int64_t after);
struct MHD_Response *stream_response(struct Stream *stream);
