// Ticker: the server's one thread for what happens without a request: times that come, and clients
// that leave while they wait.
//
// The HTTP library does not look at the socket of a connection that is suspended, so the end of a
// reader, of a long poll or of a claim would show only when something is written to it. A watch
// sees it at once: the kernel reports the end of the client's side, and nothing else, so that bytes
// of a next request that came early wake nobody.
//
//   [ticker-1] `due` and `left` are called with the server locked, each once: on the ticker's
//        thread, or, when a socket cannot be watched, by server_watch itself.
//   [ticker-2] Once a deadline or a watch is cleared it is not called any more.
//   [ticker-3] A watch is cleared before the library closes its socket, so that it never means
//        another.
//
// A client that has ended its sending side counts as one that left, although HTTP would let it
// read on: the two look alike until something is written. What is ready for it is still sent.
#pragma once
#include "base/containers/heap.h"
#include "base/diag.h"
#include <pthread.h>

typedef struct Server Server;

// Something that is to happen at a time, unless it is cleared before.
typedef struct Deadline {
    HeapNode node;
    void (*due)(struct Deadline *deadline);
} Deadline;

// Something that is to happen when the client at the other end of a socket has left.
typedef struct Watch {
    int fd;
    bool is_set;                       // guarded by the server's lock
    void (*left)(struct Watch *watch); // it is cleared by then
} Watch;

typedef struct ServerTicker {
    pthread_t thread;
    bool is_running;
    int timer;          // fires when the next deadline is due
    int watched;        // the set of sockets
    int64_t tick_at_ms; // what `timer` is set to; guarded by the server's lock
    Heap deadlines;     // likewise
} ServerTicker;

// Code: LISTEN_FAILED.
MUST_CHECK Status ticker_start(Server *server, Diag *diag);
void ticker_join(Server *server); // after the server is known to be stopping
void ticker_done(Server *server);
void ticker_stir(Server *server); // with the server locked: it looks around at once

void server_set_deadline(Server *server, Deadline *deadline, int64_t at_ms); // moves it
// Of a deadline that is due, by its `due` and nobody else.
void server_repeat_deadline(Server *server, Deadline *deadline, int64_t at_ms);
void server_clear_deadline(Server *server, Deadline *deadline);
// One watch per socket at a time; one that is set stays. When the system cannot watch it, the
// client counts as left.
void server_watch(Server *server, Watch *watch, int fd);
void server_unwatch(Server *server, Watch *watch); // harmless when it is not set
