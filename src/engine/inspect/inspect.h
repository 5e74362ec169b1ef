// Inspect: where a run stands, its kept turns, and what changed between two of them, as JSON.
//
// One place for HTTP and C, so that both say the same. A run without a snapshot (a C function, one
// that has not waited yet, one that has ended well) has no frames. Of one that failed they are
// those with which its last turn began; how it looked when it failed is in its log.
#pragma once
#include "engine/inspect/standing.h"
#include "json/write.h"

enum { INSPECT_DEPTH_MAX = 16, INSPECT_TURNS_MAX = 100 };

typedef struct InspectWish {
    StandingWish standing;
    int64_t depth; // levels of each value that are shown
    Str path;      // one value besides; null = none
} InspectWish;

// All answers live in the arena of the wish.

// {"run_id","kind","status","bytes","taken_at","waits","frames","variables","value","failure"}
// Codes: those of standing.h, BAD_PATH, VARIABLE_NOT_FOUND, ANSWER_TOO_LARGE.
MUST_CHECK Status inspect_snapshot(const InspectWish *wish, Str *ret_json, Diag *diag);

typedef struct InspectTurns {
    Store *store;
    Arena *arena;
    Str run_id;
    PageSpec page; // at most INSPECT_TURNS_MAX
} InspectTurns;
// {"items":[{"turn","bytes","after","last","file","line","column","function"}],"next"}
// One that cannot be opened has no position. Codes: RUN_NOT_FOUND.
MUST_CHECK Status inspect_turns(const InspectTurns *wish, Str *ret_json, Diag *diag);

// {"run_id","from","to","changes","more"}: from the turn of the wish to `to_turn`, 0 = now.
// Codes: those of standing.h.
MUST_CHECK Status inspect_diff(const StandingWish *from, int64_t to_turn, Str *ret_json,
                               Diag *diag);

// What a debugger needs to go on with a copy of the run: {"run_id","workflow","version","file",
// "source","turn","at","input","snapshot","deliveries":[{"slot","outcome","data"}]}; the snapshot
// is hexadecimal, null of a run that has not begun. Codes: those of standing.h, RUN_TERMINAL,
// RUN_NOT_SCRIPT, ANSWER_TOO_LARGE.
MUST_CHECK Status inspect_copy(const StandingWish *wish, Str *ret_json, Diag *diag);

// What a parked run waits for; empty when it does not wait.
void inspect_waits(const RunRow *run, Arena *arena, WaitSet *ret_set);
// The members of one wait, without the braces.
void inspect_put_wait(JsonWriter *json, const WaitItem *item);
