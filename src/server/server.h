// Server: the engine's HTTP face.
//
// libmicrohttpd's threads read requests and write answers; the engine's coordinator does the work.
// The two exchange messages (exchange.h), so a thousand long polls and streams cost no thread.
//
//   [server-1] A connection that waits is suspended: it holds no thread and is not polled.
//   [server-2] Stopping: no new connections, waiting ones are answered or dropped so that their
//        clients come back, then the engine stops, then the threads end. Nothing acknowledged is
//        lost.
//   [server-3] Every size a client controls has a ceiling (ServerLimits).
//   [server-4] What requests and streams hold has a ceiling, together (holding.h): over it requests
//        are answered 503, so that many clients with large bodies cannot take all memory.
#pragma once
#include "api/engine.h"
#include "server/access/policy.h"
#include "server/access/tokens.h"
#include "server/exchange/exchange.h"
#include "server/exchange/hub.h"
#include "server/exchange/offload.h"
#include "server/exchange/turn_codes.h"
#include "server/http/ticker.h"
#include "server/observe/attention.h"
#include "server/observe/change_ring.h"
#include "server/observe/metrics.h"
#include "server/observe/rates.h"
#include "server/observe/trace.h"
#include "server/observe/workers.h"
#include <stdatomic.h>

typedef struct ServerConfig {
    Str host;      // "127.0.0.1", "::1", "0.0.0.0"
    uint16_t port; // 0 = any free one
    int listen_fd; // given by a service manager; < 0 = none
    int thread_count;
    Str certificate, key; // PEM texts; null = plain HTTP
    // What follows to `limits` makes the policy (policy.h).
    bool is_open, is_host_checked;
    const Str *origins;
    size_t origin_count;
    int64_t slow_ms;
    ServerLimits limits;
    Str store;      // URL, to see how much room is left for it; null = not known
    Str settings;   // for people to see, a JSON array; copied; null = none is known
    Logger *logger; // may be NULL
} ServerConfig;

ServerLimits server_default_limits(void);

typedef struct ServerCounters { // for /metrics
    _Atomic int64_t requests, problems, streams;
    _Atomic int64_t connections, cut_connections; // open ones; those cut off for taking too long
    _Atomic int64_t bytes_in, bytes_out;
} ServerCounters;

struct Server {
    abide_engine *engine; // not owned
    ServerConfig config;
    struct MHD_Daemon *daemon;
    uint16_t port; // the one it listens on
    int64_t started_at_ms;
    ServerCounters counters;
    Metrics metrics;
    Workers workers;
    Rates rates;
    Attention attention;
    ChangeRing changes;
    HeldBytes held;                             // [server-4]
    _Atomic int64_t spill_count, spilled_bytes; // [spill-2] of exchange/spill.c
    Tracer *tracer;                             // NULL = no traces
    EngineWatcher watcher;
    Hub hub;
    TurnCodes codes;
    PolicyHolder policy;
    TokenCache tokens;
    ServerTicker ticker;
    Offload offload;
    pthread_mutex_t lock; // guards what follows
    pthread_cond_t idle;  // no exchange is left
    List exchanges;
    bool is_stopping;
    Str settings; // owned, as of the last reload; null = none
};

// What it was told, for people to see: a JSON array in the arena.
Str server_settings(Server *server, Arena *arena);
// Begins to listen. Codes: LISTEN_FAILED, BAD_CERTIFICATE.
MUST_CHECK Status server_start(abide_engine *engine, const ServerConfig *config,
                               Server **ret_server, Diag *diag);
// [server-2] up to the engine, which the caller stops between the two.
void server_drain(Server *server);
void server_free(Server *server); // NULL is fine
// Takes over what of `config` can change while it runs, and reads the tokens again.
MUST_CHECK Status server_reload(Server *server, const ServerConfig *config, Diag *diag);
bool server_is_stopping(Server *server);
// The real clock, which clients are waited for by, also when runs go by a virtual one.
int64_t server_clock_ms(void);
