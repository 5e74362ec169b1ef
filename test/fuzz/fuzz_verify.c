// Fuzz target: the bytecode verifier and the disassembler.
//
// Input: a byte that names a program (snapshot_programs.h), two that name a routine, then patches
// of its code: where (two bytes) and the eight bytes of an instruction.
//
// Properties, for any instructions in otherwise well-formed tables:
//   [fuzz-verify-1] Verifying answers OK, or ERR_CORRUPT or ERR_INVALID with words; it reads
//        nothing outside.
//   [fuzz-verify-2] The code as the compiler made it is accepted.
//   [fuzz-verify-3] What was accepted can be shown.
#include "base/assert.h"
#include "base/memory.h"
#include "flow/code/disasm.h"
#include "flow/code/verify.h"
#include "flow/flow.h"
#include "fuzz.h"
#include "snapshot_programs.h"
#include <string.h>

enum { PATCH_SIZE = 2 + sizeof(FlowInstruction), TEXT_MAX = 8 << 20 };

static FlowModule *modules[SNAPSHOT_PROGRAM_COUNT];

static FlowModule *module_at(size_t index) {
    if (!modules[index]) {
        Diag diag = {0};
        Status status = flow_compile(STR("program.flow"), str_from(snapshot_programs[index]),
                                     &modules[index], NULL, &diag);
        ASSERT(status == OK);
        ASSERT(flow_verify(modules[index], &diag) == OK); // [fuzz-verify-2]
    }
    return modules[index];
}

static void patch(FlowInstruction *code, uint32_t count, const uint8_t *data, size_t size) {
    for (; size >= PATCH_SIZE; data += PATCH_SIZE, size -= PATCH_SIZE) {
        uint32_t at = (uint32_t)(data[0] | data[1] << 8) % count;
        memcpy(&code[at], data + 2, sizeof *code);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    const FlowModule *module = module_at(data[0] % SNAPSHOT_PROGRAM_COUNT);
    uint32_t routine_index = (uint32_t)(data[1] | data[2] << 8);
    FlowRoutine routine = module->routines[routine_index % module->routine_count];
    if (routine.code_count == 0) return 0;
    size_t code_size = routine.code_count * sizeof(FlowInstruction);
    FlowInstruction *code = mem_alloc(code_size); // its own block: one too many is seen
    memcpy(code, routine.code, code_size);
    patch(code, routine.code_count, data + 3, size - 3);
    routine.code = code;
    Diag diag = {0};
    Status status = flow_verify_routine(&routine, &diag);
    if (status == OK) {
        Buf text;
        buf_init(&text, TEXT_MAX);
        flow_disassemble_routine(&routine, &text); // [fuzz-verify-3]
        ASSERT(text.len > 0);
        buf_done(&text);
    } else {
        ASSERT(diag.message[0]); // [fuzz-verify-1]
    }
    mem_free(code);
    return 0;
}
