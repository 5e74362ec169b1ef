// Serving: an engine and its server from start to orderly end.
//
//   SIGTERM, SIGINT   end in order: no new connections, waiting requests answered or dropped so
//                     that their clients come back, running functions awaited up to `drain_ms`,
//                     claims and leases handed back; once more ends it at once
//   SIGHUP            settings, tokens and TLS files are read again; without `reload`: as SIGTERM
//
// A service manager is told READY, RELOADING, STOPPING and, when it wants to hear it, that the
// coordinator is alive (WATCHDOG); a socket it hands over is used in place of `listen`.
#pragma once
#include "base/log.h"
#include "server/server.h"

typedef struct ServeConfig {
    Str store;                              // URL
    Str listen;                             // "127.0.0.1:7433", "[::1]:7433", ":7433"
    Str tls_certificate_file, tls_key_file; // null = plain HTTP
    Str directory;                          // its .flow files are deployed and watched; null = none
    int threads;                            // of the server; 0 = 2
    bool is_time_virtual;                   // tests: the clock stands still until it is moved
    bool is_insecure;                       // no tokens are asked for, wherever it listens
    bool is_token_required;                 // also on loopback
    bool is_exec_allowed, is_private_allowed; // of the built-in tasks
    const Str *origins;                       // pages that may call (CORS); "*" = any
    size_t origin_count;
    int64_t slow_ms;     // requests that take longer are logged; 0 = none
    int64_t drain_ms;    // 0 = 30 seconds
    ServerLimits limits; // members that are 0 have their default, but for connections_per_address
    // The engine's: 0 or null = what include/abide.h says.
    int task_threads, max_resident_runs, max_active_runs, keep_snapshots, max_crashes;
    Str run_retention, event_retention, cancel_grace;
    Str idle_release_timeout, idle_timeouts, node_lease;
    int64_t max_resident_memory;
    int event_consume, max_pending_events_per_topic, store_retry_attempts;
    Str timer_resolution, store_retry_delay, store_retry_max_delay;
    bool is_child_failure_isolated;
    const Str *plugins; // shared objects with tasks and workflows
    size_t plugin_count;
    Str settings; // what GET /v1/settings shows, a JSON array; null = none is known
    Logger *logger;
    void (*on_ready)(void *context, const Server *server); // it listens; may be NULL
    void (*on_ending)(void *context); // it is about to end, and the engine still there; may be NULL
    // What happens to runs, on a thread of the engine (abide_options.on_event); may be NULL.
    void (*on_event)(void *context, const abide_event *event);
    // Reads the settings again into *config, which comes as it is in force; texts live in `arena`.
    // Members that cannot change while it runs are left alone. May be NULL.
    Status (*reload)(void *context, Arena *arena, struct ServeConfig *config, Diag *diag);
    void *context;
} ServeConfig;

// Serves until it is told to end. Codes: those of abide_open, server_start and flow_folder_open,
// BAD_LISTEN, NOT_LOOPBACK, NO_TOKENS, BAD_CERTIFICATE, FILE_NOT_READ; SHUTDOWN_TIMEOUT when
// functions were still running at the end: then the process must end without further ado, because
// they still use the engine.
MUST_CHECK Status serve(const ServeConfig *config, Diag *diag);
