// Definitions: scripts into the store's rows and back into modules.
//
//   [definition-1] What a version was compiled to when it was deployed is what its runs execute,
//        whichever build they are taken up by. Only where that is not kept, or cannot be used by
//        this build, the source is compiled anew; snapshots taken in other code are then refused
//        one by one.
//   [definition-2] A definition whose file nobody has named is called by its workflow: NAME.flow.
#pragma once
#include "flow/flow.h"
#include "store/batch.h"

// Fills an OP_DEFINE with the workflows of the module; their texts live in the arena or in the
// module. The caller has set define.file to the path of the file, or left it null; of a path the
// last part is kept. Codes: IMAGE_TOO_LARGE.
MUST_CHECK Status definition_fill(const FlowModule *module, Arena *arena, Op *op, Diag *diag);
// The caller releases the module.
MUST_CHECK Status definition_module(const DefinitionRow *row, Arena *arena, FlowModule **ret_module,
                                    Diag *diag);
