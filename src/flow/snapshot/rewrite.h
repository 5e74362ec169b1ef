// What moving a run to other code (flow/move) needs of the snapshot writer.
#pragma once
#include "flow/flow.h"
#include "flow/value/object.h"

// The captured variables of a closure, where they are not those in the closure itself.
typedef struct FlowRewrite {
    const FlowValue *(*upvalues)(const struct FlowRewrite *rewrite, const FlowClosure *closure);
} FlowRewrite;
// flow_snapshot_write of a VM whose functions in flight were put on other code.
MUST_CHECK Status flow_snapshot_rewrite(FlowVm *vm, const FlowRewrite *rewrite, Buf *ret_bytes,
                                        Diag *diag);
// Every object, box and symbol that a snapshot would hold, once each; `rewrite` may be NULL.
typedef struct FlowVisitor {
    void (*visit)(void *context, FlowCell *cell);
    void *context;
} FlowVisitor;
void flow_snapshot_visit(FlowVm *vm, const FlowRewrite *rewrite, FlowVisitor visitor);
