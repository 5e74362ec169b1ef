// Hide: a machine without the data that nobody is shown, for whatever is written of it.
#pragma once
#include "flow/flow.h"

// [mask-1] The machine must not go on. Nothing happens where nothing is hidden.
void flow_mask_hide(FlowVm *vm);
// The same for one that goes on: a copy, which the caller frees. Codes: those of
// flow_snapshot_write and _read.
MUST_CHECK Status flow_mask_copy(FlowVm *vm, FlowVm **ret_copy, Diag *diag);
