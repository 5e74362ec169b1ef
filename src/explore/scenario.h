// Scenario: what the world around a script may answer and send, from the file of mocks.
//
// The file is that of `abide run` (docs/run.md), and says more where it wants to:
//
//   {"charge": {"any": [{"id": 7}, {"error": {"message": "declined", "final": true}}]},
//    "ship": {"any": [true, {"never": true}]}, "signal:approval": {"maybe": {"ok": true}},
//    "event:prices": [1, 2], "check:charged at most once": "done.charge <= 1"}
//
//   [scenario-1] Values are kept without the space between their parts, so that one fits a line.
//   [scenario-2] A list has one entry per call, in order; anything else answers every call.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "flow/flow.h"

typedef struct Reply { // one of the things that may be answered
    bool is_error;
    bool is_final; // of an error: no further attempt
    bool is_never; // no answer comes
    Str json;      // a result or a payload; of an error, all of it
    Str type;      // of an error
} Reply;

typedef struct Call { // the alternatives for one call
    Reply *replies;
    size_t count; // at least one
} Call;

typedef enum PartKind { PART_TASK, PART_WORKFLOW, PART_SIGNAL, PART_EVENT } PartKind;

typedef struct Part { // one key of the file
    PartKind kind;
    Str key;  // "signal:approval"
    Str name; // "approval"
    Call *calls;
    size_t call_count;
    bool is_list;     // [scenario-2]
    bool is_optional; // {"maybe": …}: may be sent, at any time, or not
    bool is_never;    // {"never": true}: nobody answers, and waiting for it is a good end
} Part;

typedef struct Condition { // "check:NAME"
    Str name;
    FlowModule *module;  // answers whether it is true, given the world as it is at the end
    bool looks_at_order; // at the order of what happened, not only at how often
} Condition;

typedef struct Scenario { // lives in the arena it was read with, up to scenario_done
    Part *parts;
    size_t part_count;
    Condition *conditions;
    size_t condition_count;
} Scenario;

// ERR_INVALID, code BAD_MOCK. `text` need not outlive the call.
MUST_CHECK Status scenario_read(Arena *arena, Str text, Scenario *ret_scenario, Diag *diag);
void scenario_done(Scenario *scenario);
// NULL: the file does not name it.
const Part *scenario_part(const Scenario *scenario, PartKind kind, Str name);
// The alternatives for call number `number` from 0; NULL: the list has no more.
const Call *part_call(const Part *part, size_t number);
