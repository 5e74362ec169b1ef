// Evaluate: one expression of the language, in the place where a run stands.
//
//   text --flow_expression_parse--> FlowExpression --flow_expression_evaluate--> JSON
//
// Names mean what they mean at that place: the variables of the frame, what its function captured,
// the top level of the script, then the built-ins. Frames count from the innermost one, 0.
//
//   [evaluate-1] Evaluation changes nothing of the VM: it happens in a private copy. What would
//        have changed the copy is refused, not ignored: assignments, await, our own API and
//        definitions when the text is parsed, calls that write when they have run.
//   [evaluate-2] It ends: `budget` counts instructions, the heap has the limit of the run.
//
// An expression may be used again and again, for VMs of any module, by one thread at a time.
#pragma once
#include "flow/flow.h"

typedef struct FlowExpression FlowExpression;

enum {
    FLOW_EXPRESSION_MAX = 4096,     // bytes of its text
    FLOW_EXPRESSION_NAMES_MAX = 64, // different names from outside
};

// ERR_INVALID: EXPRESSION_INVALID (no expression), EXPRESSION_REFUSED (it does more than read).
MUST_CHECK Status flow_expression_parse(Str text, FlowExpression **ret, Diag *diag);
void flow_expression_free(FlowExpression *expression); // NULL is fine

typedef struct FlowEvaluation {
    FlowVm *vm;      // parked, preempted or ended
    uint32_t frame;  // 0: the innermost
    uint64_t budget; // instructions
} FlowEvaluation;

// The value as JSON.stringify writes it, appended; what it leaves out (undefined, a function) is
// null. ERR_NOT_FOUND: there is no such frame. ERR_INVALID: the expression threw
// (EXPRESSION_FAILED) or would change something (EXPRESSION_REFUSED). ERR_LIMIT: the budget is used
// up (EXPRESSION_BUDGET).
MUST_CHECK Status flow_expression_evaluate(FlowExpression *expression, const FlowEvaluation *at,
                                           Buf *ret_json, Diag *diag);
// How many instructions the last evaluation took.
uint64_t flow_expression_cost(const FlowExpression *expression);
// Whether the value counts as true.
MUST_CHECK Status flow_expression_test(FlowExpression *expression, const FlowEvaluation *at,
                                       bool *ret_is_true, Diag *diag);
// The same in the innermost frame of a snapshot, for many of them: `options` say what
// flow_snapshot_read needs and, by limits.instructions_per_turn, the budget; of its host the time
// and the context are asked. Here a call by a name that only reads in the language itself (map,
// includes, get) is taken for one.
MUST_CHECK Status flow_expression_test_snapshot(FlowExpression *expression, Str bytes,
                                                const FlowVmOptions *options, bool *ret_is_true,
                                                Diag *diag);
