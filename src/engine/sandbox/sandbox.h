// Sandbox: a copy of a script's run goes on with made-up answers, to see what it would do.
//
//   the run as it is stored -> restored beside it -> turn, answers, turn, answers … -> a report
//
//   [sandbox-1] Nothing is written and nothing leaves: no operation is made, the outputs of the
//        turns are read and dropped. Tasks, children, events and stream entries are listed only.
//   [sandbox-2] Everything is bounded: turns, instructions, memory, what is reported. What comes to
//        a bound ends with the status "stopped" and says why.
//   [sandbox-3] Time stands still unless the script waits for it and the caller lets it pass:
//        then the clock goes to the next deadline, never beyond `time`.
//
// Answers, in this order whenever the script waits: tasks and children by name (as often as they
// are asked for), signals and events (each once, in the order given), then what is due.
#pragma once
#include "engine/definitions/modules.h"
#include "json/value.h"
#include "store/reads.h"

enum {
    SANDBOX_ANSWERS_MAX = 1000,
    SANDBOX_TURNS_MAX = 1000,
    SANDBOX_SLICES_MAX = 5,               // of one turn …
    SANDBOX_SLICE_INSTRUCTIONS = 5000000, // … so many instructions each
    SANDBOX_INSTRUCTIONS_MAX = 25000000,  // of all turns together
    SANDBOX_EFFECTS_MAX = 10000,
    SANDBOX_REPORT_MAX = 32 << 20, // bytes
};

typedef enum SandboxAnswerKind {
    ANSWER_NONE,
    ANSWER_TASK,
    ANSWER_CHILD,
    ANSWER_SIGNAL,
    ANSWER_EVENT
} SandboxAnswerKind;

typedef struct SandboxAnswer {
    SandboxAnswerKind kind;
    Str name;
    Str json;      // a result, an error or a payload; null = none
    bool is_error; // of tasks and children
    bool is_used;  // written by the sandbox
} SandboxAnswer;

typedef struct SandboxStart { // what the copy begins as
    int64_t turn;             // as that kept turn began; 0 = as the run is now
    Str version;              // of its workflow, as move_find_version takes it; null = its own
    Str source;               // of a version that is not deployed; null = none
} SandboxStart;

typedef struct SandboxAnswers {
    SandboxStart start;
    SandboxAnswer *items; // in an arena
    size_t count;
    int64_t time_ms; // how much time may pass
} SandboxAnswers;

// {"tasks":[{"name","result"} or {"name","error"}],"children":[likewise],
// "signals":[{"name","payload"}],"events":[{"topic","payload"}],"time":"2d","turn":3,
// "version":"current","source":"…"}; every part may be missing.
// Codes: BAD_FIELD, UNKNOWN_FIELD, BAD_NAME, BAD_DURATION.
MUST_CHECK Status sandbox_read_answers(Arena *arena, const JsonValue *object,
                                       SandboxAnswers *ret_answers, Diag *diag);

typedef struct SandboxRun {
    Store *store;
    Str run_id;
    SandboxAnswers *answers;
    int64_t now_ms;
    bool is_child_failure_isolated; // as the engine has it (runners/flow.h)
} SandboxRun;

// The report as JSON in the arena. Codes: RUN_NOT_FOUND, RUN_TERMINAL, RUN_NOT_SCRIPT,
// TURN_NOT_KEPT, WORKFLOW_NOT_FOUND, MOVE_REFUSED, those of compiling, of snapshots and of the
// store.
MUST_CHECK Status sandbox_try(const SandboxRun *what, Arena *arena, Str *ret_json, Diag *diag);
