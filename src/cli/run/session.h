// RunSession: `abide run` on the engine, from opening the store to the end of the run.
//
//   settle -> show -> ended? -> mocked signals -> next moment (timer or script) -> settle …
//
//   [run-session-1] The session waits for nothing that cannot come: when nothing is due and nobody
//        is left who could answer, it ends with an error that names what the script waits for.
//   [run-session-2] In virtual time the clock moves only when nothing can happen at the present
//        moment.
//   [run-session-3] What executes when the run ends is let finish; what only waits is not waited
//        for.
#pragma once
#include "cli/run/program.h"

// ERR_INVALID and others: it could not be started at all. How the script ended is in the answer.
MUST_CHECK Status run_session(const RunRequest *request, Arena *arena, RunAnswer *ret_answer,
                              Diag *diag);
