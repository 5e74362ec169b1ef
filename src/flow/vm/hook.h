// The throw hook: how a debugger sees an exception before any frame is left.
#pragma once
#include "flow/vm/vm.h"

// True stops the turn (FLOW_PREEMPTED) with the exception pending; the next turn asks again.
typedef struct FlowThrowHook {
    bool (*stops)(struct FlowThrowHook *hook, FlowVm *vm);
} FlowThrowHook;
