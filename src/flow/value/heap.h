// Heap: the memory of one VM (and, with is_shared, of the realm).
//
// Small cells are carved from chunks by bumping a pointer or from free lists by size; a sweep
// walks each chunk from cell to cell. Large cells (property storage, long strings) are blocks of
// their own in a list. Nothing moves. A fresh VM owns one chunk of 2 KiB.
//
//   [value-heap-1] Allocation never collects and never fails, so C code may hold raw pointers until
//        it returns. The interpreter collects between instructions, when everything alive is
//        reachable from the VM's roots (stack, frames, queue, tables).
//   [value-heap-2] `bytes` counts every byte handed out. Code that is about to allocate by a size
//        the script controls asks flow_heap_has_room() first (natives: see NATIVE_NEEDS_ROOM).
//   [value-heap-3] Cells with CELL_SHARED are never marked or freed here.
//   [value-heap-4] Large cells are paid for by their size, because whoever asks for one also fills
//        it.
#pragma once
#include "flow/value/value.h"

typedef struct FlowChunk FlowChunk;
typedef struct FlowLargeCell FlowLargeCell;

enum { HEAP_UNIT = 16, HEAP_SMALL_MAX = 512, HEAP_CLASS_COUNT = HEAP_SMALL_MAX / HEAP_UNIT + 1 };

typedef struct FlowFreeRange { // a free cell; its size is in units, or in aux (bytes) when 0
    FlowCell cell;
    struct FlowFreeRange *next;
} FlowFreeRange;

struct FlowHeap {
    char *bump; // next free byte of the current range
    char *bump_end;
    FlowFreeRange *classes[HEAP_CLASS_COUNT]; // free cells by exact size in units
    FlowFreeRange *ranges;                    // longer free ranges, for bumping
    FlowChunk *chunks;
    FlowLargeCell *large;
    FlowShape *shapes;   // that have transitions, linked by next_shape
    size_t bytes;        // in use, garbage included
    size_t chunk_bytes;  // taken from the system for chunks
    size_t limit;        // bytes; see FlowLimits.heap_bytes
    size_t collect_at;   // a collection is due when bytes reaches it
    size_t collect_step; // bytes between collections; 0: in proportion to what is alive
    FlowCell **mark_stack;
    size_t mark_count;
    size_t mark_capacity;
    int64_t *fuel;  // of the VM; large cells take some. NULL: for free
    bool is_shared; // the realm's: every cell gets CELL_SHARED
};

void flow_heap_init(FlowHeap *heap, size_t limit, bool is_shared);
void flow_heap_done(FlowHeap *heap);
// A cell of `size` bytes (header included), zeroed, kind set.
void *flow_heap_alloc(FlowHeap *heap, FlowKind kind, size_t size);
// The same, but only the header is set: for cells that the caller fills at once.
void *flow_heap_take(FlowHeap *heap, FlowKind kind, size_t size);
// Gives back a cell that the caller knows nobody refers to (grown storage).
void flow_heap_free(FlowHeap *heap, void *cell);
static inline bool flow_heap_has_room(const FlowHeap *heap, size_t extra) {
    return extra <= heap->limit && heap->bytes <= heap->limit - extra;
}
static inline bool flow_heap_is_due(const FlowHeap *heap) {
    return heap->bytes >= heap->collect_at;
}
// Marking: roots push what they hold; flow_heap_collect drains, sweeps and sets collect_at.
void flow_heap_mark_cell(FlowHeap *heap, const void *cell); // NULL is fine
static inline void flow_heap_mark(FlowHeap *heap, FlowValue value) {
    if (flow_is_heap(value)) flow_heap_mark_cell(heap, flow_as_cell(value));
}
void flow_heap_drain(FlowHeap *heap); // marks all that is reachable from what was pushed
void flow_heap_sweep(FlowHeap *heap);
// Calls with each cell there is, garbage included; nothing may be allocated meanwhile.
void flow_heap_each(FlowHeap *heap, void (*visit)(void *context, FlowCell *cell), void *context);
size_t flow_cell_size(const FlowCell *cell);
size_t flow_heap_large_bytes(const FlowHeap *heap); // taken from the system for large cells

// Opaque memory of a built-in (a compiled regular expression). Never in a snapshot: whoever holds
// one can make it again, and must cope with finding undefined in its place.
typedef struct FlowBytes {
    FlowCell cell;
    void *data;
    void (*release)(void *data); // called when the cell is swept
    size_t size;                 // of what is behind `data`, as far as it counts in heap->bytes
} FlowBytes;

// Memory outside cells that belongs to a cell (hash indices): counted, freed by the owner.
void *flow_heap_buffer(FlowHeap *heap, size_t size); // zeroed
void flow_heap_buffer_free(FlowHeap *heap, void *buffer, size_t size);

// What a kind refers to. One function per kind in the table of heap_trace.c; it calls
// flow_heap_mark on each value. Finalizers run when a cell is swept (KIND_BYTES only).
typedef void (*FlowTrace)(FlowHeap *heap, FlowCell *cell);
