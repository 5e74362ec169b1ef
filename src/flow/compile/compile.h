// Compile: a parsed program -> a module of bytecode.
//
// flow_compile (flow.h) does the whole way from text; here is what only src/flow needs.
#pragma once
#include "flow/code/code.h"
#include "flow/flow.h"
#include "flow/parser/parse.h"

// Compiles built-ins written in our own language (docs/internals/flow-vm.md, "Prelude mode").
MUST_CHECK Status flow_compile_prelude(Str file_name, Str source, FlowModule **ret_module,
                                       Diag *diag);
