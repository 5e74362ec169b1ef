// Serving: an engine and its server from start to orderly end.
#pragma once
#include "base/log.h"
#include "server/server.h"

typedef struct ServeConfig {
    Str store;     // URL
    Str listen;    // "127.0.0.1:7433", "[::1]:7433", ":7433"
    Str tls_certificate_file, tls_key_file; // null = plain HTTP
    Str directory; // its .flow files are deployed and watched; null = none
    int threads;   // of the server; 0 = 2
    bool is_insecure; // listen outside of loopback without tokens
    bool is_exec_allowed, is_private_allowed; // of the built-in tasks
    Logger *logger;
    void (*on_ready)(void *context, const Server *server); // it listens; may be NULL
    void *context;
} ServeConfig;

// Serves until SIGTERM or SIGINT; a second one ends it at once. Codes: those of abide_open and
// server_start and flow_folder_open, BAD_LISTEN, NOT_LOOPBACK, FILE_NOT_READ.
MUST_CHECK Status serve(const ServeConfig *config, Diag *diag);
