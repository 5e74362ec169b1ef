// Service: what a service manager (systemd) says to its services, and wants to hear from them.
//
// The protocol is a few environment variables and datagrams on a socket; no library is needed.
// Without a manager every function does nothing.
//
//   [service-1] The variables are taken out of the environment, so that programs that the task exec
//        starts do not believe they were meant.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stdint.h>

typedef struct Service {
    char socket_path[108]; // of the manager; empty = there is none. '@' first: an abstract name
    int64_t watchdog_ms;   // a sign of life is expected within so long; 0 = never
    int listen_fd;         // handed over (socket activation); < 0 = none
} Service;

// Codes: LISTEN_FAILED when more than one socket was handed over.
MUST_CHECK Status service_init(Service *service, Diag *diag);
// "READY=1", "STOPPING=1\nSTATUS=…": lines of the protocol.
void service_notify(const Service *service, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
