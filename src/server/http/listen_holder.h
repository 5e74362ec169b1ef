// Who listens on a port already, as far as this process may know.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

enum { LISTEN_HOLDER_MAX = 96 };

// "process 4711 (abide)"; empty when nobody is found, or when it is somebody else's process.
void listen_holder(uint16_t port, char ret_text[LISTEN_HOLDER_MAX]);
