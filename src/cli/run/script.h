// EventScript: what the outside world does to a run, and when (docs/run.md).
//
//   [{"at": "5s", "signal": "approval", "payload": {"ok": true}},
//    {"at": "1m", "event": "prices", "payload": 7}, {"at": "2h", "cancel": true}]
//
// or one per line:   at 5s signal approval {"ok": true}
#pragma once
#include "base/arena.h"
#include "base/diag.h"

typedef enum ScriptKind { SCRIPT_SIGNAL, SCRIPT_EVENT, SCRIPT_CANCEL } ScriptKind;

typedef struct ScriptItem { // texts end with a NUL
    int64_t after_ms;       // since the start
    ScriptKind kind;
    Str name;    // of the signal, or the topic; the reason of a cancel, may be null
    Str payload; // JSON; null = none
    Str run_id;  // signals and cancels; null = the run itself
} ScriptItem;

typedef struct EventScript {
    ScriptItem *items; // ascending by time, else in the order of the file
    size_t count;
} EventScript;

MUST_CHECK Status script_parse(Arena *arena, Str text, EventScript *ret_script, Diag *diag);
