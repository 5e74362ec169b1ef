// Process: a command run to its end, with bounded output and a deadline.
//
//   [exec-1] The command runs in a process group of its own; when it has ended, or must end,
//        whatever is left of the group is killed. Nothing of it outlives process_run.
//   [exec-2] It inherits no descriptors but its three, and of the environment only what is passed.
//   [exec-3] No shell takes part.
//   [exec-4] A command that does not read its input does no harm to us (SIGPIPE).
//   [exec-5] A command that must end before it has ended gets SIGTERM and, when there is a grace,
//        that long to obey; then SIGKILL.
#pragma once
#include "base/containers/buf.h"
#include "base/diag.h"
#include <stdint.h>

typedef struct ProcessSpec {
    char **argv;        // ended by NULL
    char **environment; // ended by NULL; "NAME=value"
    const char *cwd;    // NULL = ours
    Str input;          // for its standard input
    int64_t timeout_ms;
    int64_t grace_ms; // [exec-5]; 0 = SIGKILL at once
    const int *stop;  // descriptor: the command must end when it becomes readable; NULL = none
    void (*on_error_text)(void *context, Str text); // its standard error as it comes; may be NULL
    void *context;
} ProcessSpec;

enum { PROCESS_TAIL_SIZE = 4096 };

typedef struct ProcessEnd {
    int exit_status;              // -1 when a signal ended it
    int signal;                   // 0 = none
    bool is_late;                 // ended at its deadline
    bool is_stopped;              // ended because `stop` became readable
    bool is_too_loud;             // killed because `output` was full
    char tail[PROCESS_TAIL_SIZE]; // the last of its standard error
    size_t tail_len;
} ProcessEnd;

// `output` receives its standard output up to the buffer's ceiling. ERR_NOT_FOUND: it could not be
// started at all.
MUST_CHECK Status process_run(const ProcessSpec *spec, Buf *output, ProcessEnd *ret_end,
                              Diag *diag);
