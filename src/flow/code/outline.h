// Outline: what a compiled script does with the world, as far as its text says so.
//
// Calls of the workflow API whose name is a literal: Task.run("charge"), Signal.when("approval") …
#pragma once
#include "flow/flow.h"

typedef struct FlowOutlineCall {
    Str object; // "Task", "Workflow", "Signal", "Event", "Stream"
    Str member; // "run", "when", "write" …
    Str name;   // of the task, workflow, signal, topic; of Stream.write, the type
    uint32_t line;
} FlowOutlineCall;

// In the order of the code; texts live in the arena.
void flow_outline(const FlowModule *module, Arena *arena,
                  void (*visit)(void *context, const FlowOutlineCall *call), void *context);
