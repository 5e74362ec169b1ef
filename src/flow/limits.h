// Limits of one VM. The embedder sets them per run; the defaults suit a shared server.
#pragma once
#include <stdint.h>

typedef struct FlowLimits {
    uint64_t instructions_per_turn; // flow_vm_run answers FLOW_PREEMPTED after so many
    uint64_t heap_bytes;            // script error "out of memory budget" beyond
    uint32_t call_depth;            // frames; RangeError: Maximum call stack size exceeded
    uint32_t string_length;         // UTF-16 units; RangeError: Invalid string length
    uint32_t array_length;          // dense elements; RangeError: Invalid array length
    uint32_t snapshot_bytes;        // ERR_LIMIT from the snapshot writer
    uint32_t regexp_steps;          // backtracking steps of one match
    uint32_t pending_awaitables;    // RangeError when a script starts more
    uint32_t is_exact;              // 1: count every single instruction (tests that stop anywhere)
} FlowLimits;

#define FLOW_LIMITS_DEFAULT                                                                        \
    ((FlowLimits){.instructions_per_turn = 10000000,                                               \
                  .heap_bytes = 64ull << 20,                                                       \
                  .call_depth = 10000,                                                             \
                  .string_length = (1u << 29) - 24,                                                \
                  .array_length = 1u << 26,                                                        \
                  .snapshot_bytes = 1u << 20,                                                      \
                  .regexp_steps = 10000000,                                                        \
                  .pending_awaitables = 10000,                                                     \
                  .is_exact = 0})
