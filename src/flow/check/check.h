// Check: what a parsed file says that cannot work, though it is JavaScript.
//
//   names that are declared nowhere     FLOW_UNDECLARED  error
//   members that an object lacks        FLOW_MEMBER      error
//   wrong arguments of a workflow call  FLOW_ARGUMENT    error
//   options that do not exist           FLOW_OPTION      error
//   promises that nothing waits for     FLOW_UNAWAITED   warning; `void` says that it is meant
//
//   [check-1] What is an error here would throw, or be undefined, whenever it is reached. In doubt
//        nothing is said: a name that is shadowed, an object that the file extends, a member or a
//        name that is tested for somewhere.
//   [check-2] The VM knows nothing of it: compiling and running stay ECMAScript's. So what is in a
//        store already goes on, and is held to this when it is deployed again.
//   [check-3] Time is linear in the size of the tree, but for the names that are looked for when
//        something is misspelt.
#pragma once
#include "flow/lexer/report.h"
#include "flow/tree/program.h"

// `program` is free of errors, its scopes resolved. Findings are added to the report.
void flow_check(const FlowProgram *program, Arena *arena, FlowReport *report);
