// Stream: an answer that goes on as long as a run's log grows.
//
//   [T1] Entries leave in the order of their sequence numbers, each once.
//   [T2] A stream ends by itself after the run's last entry; a server that goes away breaks it off,
//        so that the client comes back and goes on after the last number it saw.
//   [T3] A reader that takes nothing costs its socket's buffer and what one read of the log holds.
#pragma once
#include "server/hub.h"
#include "server/server.h"

typedef enum StreamFormat {
    STREAM_LOG_SSE // id:, event: kind, data: the entry as JSON
} StreamFormat;

// Makes the answer of `exchange` a stream of the log of `run_id` after `after`.
void stream_begin(Exchange *exchange, StreamFormat format, Str run_id, int64_t after);
struct MHD_Response *stream_response(struct Stream *stream);
