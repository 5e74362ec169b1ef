// Code runs: turns of a workflow whose function lives in another process.
//
// A worker executes the function by replaying its journal, and says what it did and what it waits
// for. Here that becomes the output of the turn, and the checkpoints of a run become the journal.
//   [runners-code-1] The journal is a line. Commands (a task, a child, an event, a mark) and
//        completions (a step, a failed attempt, a wait) have the next position each, in the order
//        in which they happened; what ends next takes the position after them.
//   [runners-code-2] What the function awaits is an operation; it has a number that the worker
//        gives it, the same whenever the function is replayed (`slot` of its entries). Ids of tasks
//        and children are made of the run and the position, so that a repeated turn makes the same.
//        What it waits for has the next position, whatever comes first.
//   [runners-code-3] Of a turn that cannot be read as a whole nothing is taken.
#pragma once
#include "engine/runners/journal_index.h"
#include "engine/runners/runner.h"
#include "json/value.h"
#include "json/write.h"

typedef struct CodeTurn {
    const RunView *view;
    int64_t now_ms;
    int64_t child_keep_ms; // retention of the children it starts
    Arena *arena;          // of the output
    TurnOutput *output;    // cleared
    JournalIndex *fresh;   // of the entries in the output; code_turn_read's
} CodeTurn;

// What a worker says of the turn: {"entries", "outcome", "waits" | "result" | "error" | "input"}.
// Codes: BAD_FIELD, BAD_OPTION, BAD_NAME, TURN_TOO_LARGE, PAYLOAD_TOO_LARGE.
MUST_CHECK Status code_turn_read(const CodeTurn *turn, const JsonValue *said, Diag *diag);
// The entries past `after_seq`, as members of the open array.
void code_journal_write(const RunView *view, int64_t after_seq, JsonWriter *json);
