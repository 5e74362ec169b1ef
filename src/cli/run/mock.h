// Mocks: answers from a file in place of tasks, child workflows and signals (docs/run.md).
//
//   {"charge": {"id": 7}, "http": [{"error": {"message": "away"}}, {"status": 200}],
//    "workflow:audit": true, "signal:approval": {"ok": true}}
//
//   [mock-1] A list has one entry per call (attempts count); anything else answers every call.
//   [mock-2] {"error": {…}} alone is a failure, {"result": …} alone is that result.
//   [mock-3] A signal is sent when a run waits for it and nothing else can happen.
//   [mock-4] Of {"any": […]} the first that answers is taken; abide sim tries them all.
//   [mock-5] "check:…", "event:…" and signals that may come or never do are for abide sim
//        (docs/sim.md): here nothing comes of them.
#pragma once
#include "abide.h"
#include "base/arena.h"
#include "base/containers/vec.h"
#include "base/diag.h"
#include "json/value.h"
#include <stdatomic.h>

typedef enum MockKind { MOCK_TASK, MOCK_WORKFLOW, MOCK_SIGNAL } MockKind;

typedef struct Mock {
    MockKind kind;
    const char *name;
    const JsonValue *answers;
    atomic_uint call_count;
} Mock;

typedef struct Mocks {
    Mock *items;
    size_t count;
} Mocks;

// `text` and `arena` must outlive the mocks. ERR_INVALID: the file is no good.
MUST_CHECK Status mocks_parse(Arena *arena, Str text, Mocks *ret_mocks, Diag *diag);
// The answer to call number `call`, counted from 0, of a mock; nothing is counted.
typedef struct MockReply {
    bool is_exhausted; // the list has no more entries
    bool is_error;
    bool is_final; // of an error: no further attempt
    Str json;      // the result; of an error, all of it
    Str type, message;
} MockReply;
void mocks_reply(const Mocks *mocks, size_t index, unsigned call, MockReply *ret_reply);
// The mock of that name; SIZE_MAX: there is none.
size_t mocks_find(const Mocks *mocks, MockKind kind, Str name);
// Puts the tasks and workflows in place; registered last, so that they win over others.
int mocks_register(Mocks *mocks, abide_engine *engine, abide_error *error);
// The payload of the next signal of that name as JSON; null: none is left, or there is no mock.
Str mocks_next_signal(Mocks *mocks, Str name);
