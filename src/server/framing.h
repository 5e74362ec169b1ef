// Framing: whether it is beyond doubt where a request ends.
//
//   [M1] A request whose length two programs could read differently is refused and its connection
//        closed: two lengths, a length and chunks, codings we do not know, names of headers with
//        spaces in them. Behind a proxy such a request could hide a second one from it.
#pragma once
#include "server/exchange.h"

// False: the exchange has been answered.
bool framing_is_sound(Exchange *exchange, Str version);
