// Following a run: to its end, or line by line.
#pragma once
#include "cli/client/session.h"

// Waits for the end of the run, at most `limit_ms` (0: for ever). False: it failed, or the time is
// over (code RUN_NOT_ENDED), which has been said. The last answer is that of /result.
bool follow_to_end(Session *session, Str run_id, int64_t limit_ms);
// Prints the result of a run that has ended, from the answer of /result: the result itself, or
// with -o json {"id", "status", "result" | "error"}. A run that did not complete is a failure.
bool follow_print_result(Session *session, Str run_id);
// Prints the history as it happens until the run ends: a line, or with -o json an object, each.
// False when it failed; a run that did not complete is a failure too.
bool follow_print_log(Session *session, Str run_id);
// Hands on each entry of the history, as it happens, until the run ends or `on_event` (which gets
// the session) has enough. False: it failed, and that has been said.
bool follow_stream(Session *session, Str run_id, ClientEventFunction on_event);
// A duration option; null leaves *ret_ms alone.
bool follow_read_limit(Session *session, const char *option, Str text, int64_t *ret_ms);
