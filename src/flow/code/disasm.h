// Disassembler: bytecode as text, for people who debug the compiler or wonder about speed.
#pragma once
#include "base/containers/buf.h"
#include "flow/code/code.h"

// Every routine: its head, its code with the source lines in between, handlers and upvalues.
void flow_disassemble(const FlowModule *module, Buf *ret_text);
void flow_disassemble_routine(const FlowRoutine *routine, Buf *ret_text);
