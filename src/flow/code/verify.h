// Verify: proves that a module's bytecode cannot make the interpreter leave its tables.
//
// For arbitrary instructions in otherwise well-formed tables: every register, constant, site,
// upvalue, template, routine and intrinsic number is in range, every jump and handler lands on an
// instruction, blocks and records lie inside the frame, two-part instructions come in pairs, and
// code never runs past its end. What values the registers hold is the interpreter's business.
#pragma once
#include "base/diag.h"
#include "flow/code/code.h"

MUST_CHECK Status flow_verify(const FlowModule *module, Diag *diag);
MUST_CHECK Status flow_verify_routine(const FlowRoutine *routine, Diag *diag);
