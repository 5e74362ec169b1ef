// Names that people give: of tasks, queues, topics, signals, runs … One rule, wherever a name comes
// from (HTTP, C, a script), so that what one of them can name the others can.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stddef.h>

// There, not empty, at most `max` bytes of UTF-8 without control characters. Otherwise ERR_INVALID
// with that code, and a text that says what is wrong with the one called `what`.
MUST_CHECK Status name_check(Str text, const char *what, const char *code, size_t max, Diag *diag);
