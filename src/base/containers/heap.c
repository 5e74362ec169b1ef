// Heap: a binary min-heap in an array that starts at index 1.
//
// Why nodes know their place: a wait that is satisfied must take its timer out at once, in
// O(log n), without searching.
//   [containers-heap-1] nodes[n->place] == n for every node in the heap; place is 0 outside.
//   [containers-heap-2] No node is before its parent, nodes[place / 2].
#include "base/containers/heap.h"
#include "base/assert.h"
#include "base/containers/vec.h"
#include "base/memory.h"

void heap_init(Heap *heap) { *heap = (Heap){0}; }

void heap_done(Heap *heap) {
    for (size_t i = 1; i <= heap->count; i++) heap->nodes[i]->place = 0;
    mem_free(heap->nodes);
    *heap = (Heap){0};
}

static bool is_before(const HeapNode *a, const HeapNode *b) {
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void set_place(Heap *heap, HeapNode *node, size_t place) {
    heap->nodes[place] = node;
    node->place = place; // [containers-heap-1]
}

static void sift_up(Heap *heap, HeapNode *node, size_t place) {
    while (place > 1 && is_before(node, heap->nodes[place / 2])) {
        set_place(heap, heap->nodes[place / 2], place);
        place /= 2;
    }
    set_place(heap, node, place);
}

static void sift_down(Heap *heap, HeapNode *node, size_t place) {
    for (;;) {
        size_t child = place * 2;
        if (child > heap->count) break;
        if (child < heap->count && is_before(heap->nodes[child + 1], heap->nodes[child])) child++;
        if (!is_before(heap->nodes[child], node)) break;
        set_place(heap, heap->nodes[child], place);
        place = child;
    }
    set_place(heap, node, place);
}

void heap_push(Heap *heap, HeapNode *node) {
    ASSERT(node->place == 0);
    if (heap->count + 2 > heap->capacity) {
        vec_grow(&heap->nodes, &heap->capacity, heap->count + 2, sizeof(heap->nodes[0]));
    }
    heap->count++;
    sift_up(heap, node, heap->count);
}

void heap_remove(Heap *heap, HeapNode *node) {
    if (node->place == 0) return;
    ASSERT(node->place <= heap->count && heap->nodes[node->place] == node);
    size_t place = node->place;
    HeapNode *last = heap->nodes[heap->count--];
    node->place = 0;
    if (last == node) return;
    if (place > 1 && is_before(last, heap->nodes[place / 2])) sift_up(heap, last, place);
    else sift_down(heap, last, place);
}

HeapNode *heap_peek(const Heap *heap) { return heap->count ? heap->nodes[1] : NULL; }

HeapNode *heap_pop(Heap *heap) {
    HeapNode *node = heap_peek(heap);
    if (node) heap_remove(heap, node);
    return node;
}
