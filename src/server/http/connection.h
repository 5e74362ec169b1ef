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
// The library is told of an end of the client's side once, by the edge that epoll reports. An end
// that came together with bytes goes under: they are read, and the library waits for an edge that
// does not come again. So a connection that is receiving looks for an end now and then, at growing
// intervals, and whoever has finished an answer looks as well.
//
//   [connection-1] A socket is cut on the ticker's thread with the server locked, and forgotten
//        under the same lock before the library closes it, so no other socket can be hit.
//   [connection-2] A client that went away in the middle of a request keeps its connection at most
//        twice as long as the request took until then, and LOOK_MS more.
#pragma once
#include "server/server.h"
#include <microhttpd.h>

typedef struct Connection Connection;

// What the library's MHD_OPTION_NOTIFY_CONNECTION wants.
void connection_notify(void *context, struct MHD_Connection *library, void **socket_context,
                       enum MHD_ConnectionNotificationCode code);
void connection_received(Exchange *exchange); // all of the request is there
void connection_sends(Exchange *exchange, size_t answer_size);
void connection_ended(Exchange *exchange, bool is_whole); // the next request may begin
// Tells when the client of an exchange that waits has left (ticker.h).
void connection_watch(const Exchange *exchange, Watch *watch);
// The client has ended its side, or is gone. The library does not look at a suspended connection,
// so its end shows only to those who look or watch. Bytes that nobody has read, as the goodbye of
// TLS, do not hide it.
bool connection_has_left(const Exchange *exchange);
