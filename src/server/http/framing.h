// Framing: the head of a request, taken in once and checked, so that it is beyond doubt where the
// request ends and what it says.
//
//   [framing-1] A request whose length two programs could read differently is refused and its
//        connection closed: two lengths, a length and chunks, codings we do not know, names of
//        headers with spaces in them, lines that are folded or do not end in CR LF, control
//        characters. Behind a proxy such a request could hide a second one from it.
//   [framing-2] Values are what is between the white space around them, for everybody who asks.
//   [framing-3] A body is as long as its Content-Length says: as many bytes have arrived at its
//        end.
#pragma once
#include "server/exchange/exchange.h"

// Reads the headers into the exchange. Both texts stand in the library's memory, where the request
// came in. False: the exchange has been answered.
bool framing_read(Exchange *exchange, const char *method, const char *version);
// At the end of the body. [framing-3]
bool framing_is_whole(Exchange *exchange);
