// LocalServer: an engine on a store and its HTTP server, for the length of one command.
//
// `--store URL` opens a store that no server owns. The commands still speak only HTTP: to this
// server, over a Unix socket in a folder that only the user can enter.
//
//   [local-1] A store that is only looked at is not put to work: no run goes on, no timer fires.
//   [local-2] A store that is changed is put to work until the command ends and runs have come to
//        their next wait (two seconds at most); then it is left in order: what executes is awaited,
//        claims are handed back. What is cut short goes on next time.
//   [local-3] Nobody but the user's own processes can reach the socket; it is gone when it is
//        closed.
#pragma once
#include "base/arena.h"
#include "base/diag.h"

typedef struct LocalServer LocalServer;

typedef struct LocalConfig {
    Str store;              // URL
    bool is_working;        // [local-2]; false: [local-1]
    bool is_create_allowed; // a file that does not exist is made
} LocalConfig;

// Codes: those of abide_open and server_start, LOCAL_SERVER, STORE_NOT_FOUND.
MUST_CHECK Status local_open(const LocalConfig *config, LocalServer **ret_server, Diag *diag);
// ERR_NOT_FOUND, code STORE_NOT_FOUND, when the store is a file that does not exist.
MUST_CHECK Status local_check_exists(Str store, Diag *diag);
// The file of a store; empty for one that is no file.
Str local_file(Str store);
Str local_socket(const LocalServer *server); // its path
void local_close(LocalServer *server);       // NULL is fine
