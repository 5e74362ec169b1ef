// Heap memory whose failure is not an answer.
//
// Budgets at the edge (limits.h) keep sizes sane, so a failed allocation means the machine is
// out of memory; going on would only move the crash to a stranger place.
//   [memory-1] No function answers NULL, not even for size 0.
#include "base/memory.h"
#include "base/assert.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t size) {
    void *block = malloc(size ? size : 1);
    if (!block) out_of_memory();
    return block;
}

void *mem_alloc_aligned(size_t alignment, size_t size) {
    void *block = aligned_alloc(alignment, size);
    if (!block) out_of_memory();
    return block;
}

void *mem_zalloc(size_t size) {
    void *block = calloc(1, size ? size : 1);
    if (!block) out_of_memory();
    return block;
}

void *mem_realloc(void *old, size_t size) {
    void *block = realloc(old, size ? size : 1);
    if (!block) out_of_memory();
    return block;
}

void mem_free(void *block) { free(block); }

char *mem_copy(const void *data, size_t len) {
    ASSERT(len < SIZE_MAX);
    char *copy = mem_alloc(len + 1);
    if (len) memcpy(copy, data, len);
    copy[len] = '\0';
    return copy;
}
