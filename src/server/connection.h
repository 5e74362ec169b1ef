// Connection: how long a client may take over a request and over its answer.
//
// The library closes connections on which nothing moves. That is not enough: one byte now and then
// keeps a connection for ever. So each connection has a deadline by which its present phase must be
// over, and is cut when it passes.
//
//   receiving    from the accept, or from the end of the answer before, until the body is complete
//   (none)       while the server works, or the client waits by its own wish, or reads a stream
//   sending      until the answer is gone, longer for a larger one
//
//   [I1] A socket is cut on the ticker's thread with the server locked, and forgotten under the
//        same lock before the library closes it, so no other socket can be hit.
#pragma once
#include "server/server.h"
#include <microhttpd.h>

typedef struct Connection Connection;

// What the library's MHD_OPTION_NOTIFY_CONNECTION wants.
void connection_notify(void *context, struct MHD_Connection *library, void **socket_context,
                       enum MHD_ConnectionNotificationCode code);
void connection_received(Exchange *exchange); // all of the request is there
void connection_sends(Exchange *exchange, size_t answer_size);
void connection_ended(Exchange *exchange); // the next request may begin
