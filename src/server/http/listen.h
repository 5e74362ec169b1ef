// Listen: the socket a server listens on, opened here or handed over by a service manager.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stdint.h>

enum { LISTEN_TEXT_MAX = 128 };

// "host:port", "[address]:port", ":port" (every address), "port" (loopback). Code: BAD_LISTEN.
MUST_CHECK Status listen_parse(Str text, Str *ret_host, uint16_t *ret_port, Diag *diag);
// Code: LISTEN_FAILED.
MUST_CHECK Status listen_open(Str host, uint16_t port, int *ret_fd, Diag *diag);
// Makes a socket that was handed over fit for use. Code: LISTEN_FAILED when it does not listen.
MUST_CHECK Status listen_adopt(int fd, Diag *diag);
uint16_t listen_port(int fd);    // 0 for sockets of files
bool listen_is_loopback(int fd); // nobody outside of this machine reaches it
// "127.0.0.1", "::1", "unix:/run/abide.sock": the address it is bound to, without the port.
Str listen_host(int fd, char ret_text[LISTEN_TEXT_MAX]);
