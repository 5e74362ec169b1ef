// Heap memory for what outlives a turn. Never answers NULL.
#pragma once
#include <stddef.h>

void *mem_alloc(size_t size);                           // not cleared
void *mem_alloc_aligned(size_t alignment, size_t size); // size: a multiple of it
void *mem_zalloc(size_t size);                          // all zero
void *mem_realloc(void *old, size_t size);
void mem_free(void *block);                   // NULL is fine
char *mem_copy(const void *data, size_t len); // followed by a NUL that is not counted
