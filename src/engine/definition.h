// Definitions: scripts into the store's rows and back into modules.
//
//   [D1] What a version was compiled to when it was deployed is what its runs execute, whichever
//        build they are taken up by. Only where that is not kept, or cannot be used by this build,
//        the source is compiled anew; snapshots taken in other code are then refused one by one.
#pragma once
#include "flow/flow.h"
#include "store/batch.h"

// Fills an OP_DEFINE with workflow `index` of the module; its texts live in the arena or in the
// module. Codes: IMAGE_TOO_LARGE.
MUST_CHECK Status definition_fill(const FlowModule *module, uint32_t index, Arena *arena, Op *op,
                                  Diag *diag);
// The caller releases the module.
MUST_CHECK Status definition_module(const DefinitionRow *row, Arena *arena,
                                    FlowModule **ret_module, Diag *diag);
