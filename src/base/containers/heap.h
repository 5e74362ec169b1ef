// Heap: a binary min-heap of items that know their own place, so that any can be removed.
// Order: `at` first, then `order` (so that equal deadlines leave first in, first out).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HeapNode { // embed it
    int64_t at;
    uint64_t order;
    size_t place; // 0 = not in a heap
} HeapNode;

typedef struct Heap {
    HeapNode **nodes; // nodes[0] is unused
    size_t count;
    size_t capacity;
} Heap;

void heap_init(Heap *heap);
void heap_done(Heap *heap);
void heap_push(Heap *heap, HeapNode *node);
void heap_remove(Heap *heap, HeapNode *node); // no-op when it is not in
HeapNode *heap_peek(const Heap *heap);        // NULL when empty
HeapNode *heap_pop(Heap *heap);
