// Heap: allocation and sweeping; see heap.h for the contract. What refers to what is in
// heap_trace.c.
//
// A chunk is a row of cells without gaps: each cell's size is in its header (`units`), and free
// memory is itself a cell of KIND_FREE, so a sweep can walk a chunk from front to back and join
// neighbours that died. Freed runs up to HEAP_SMALL_MAX go to the list of their exact size, longer
// ones become ranges to bump in.
//
//   [value-heap-5] Between collections the range [bump, bump_end) has no headers; heap_retire_bump
//        gives it one before anybody walks the chunk.
//   [value-heap-6] Every cell and every free run is a multiple of HEAP_UNIT.
//   [value-heap-7] Empty chunks go back to the system, except the last one.
#include "flow/value/heap.h"
#include "base/memory.h"
#include "flow/value/object.h"

enum {
    CHUNK_FIRST_SIZE = 2048,
    CHUNK_MAX_SIZE = 256 << 10,
    LARGE_BYTES_PER_FUEL = 64,     // bytes that are written in the time of an instruction
    COLLECT_MIN_BYTES = 512 << 10, // heaps below it are not worth a collection
};

struct FlowChunk {
    FlowChunk *next;
    size_t size; // of the cells, which follow
};

struct FlowLargeCell {
    FlowLargeCell *next;
    FlowLargeCell *prev;
    size_t size; // of the cell
    size_t unused;
};

static inline char *chunk_cells(FlowChunk *chunk) { return (char *)(chunk + 1); }
static inline FlowLargeCell *large_of(void *cell) { return (FlowLargeCell *)cell - 1; }

void flow_heap_init(FlowHeap *heap, size_t limit, bool is_shared) {
    memset(heap, 0, sizeof *heap);
    heap->limit = limit;
    heap->is_shared = is_shared;
    heap->collect_at = limit < COLLECT_MIN_BYTES ? limit : COLLECT_MIN_BYTES;
}

size_t flow_cell_size(const FlowCell *cell) {
    if (cell->units) return (size_t)cell->units * HEAP_UNIT;
    if (cell->kind == KIND_FREE) return cell->aux;
    return ((const FlowLargeCell *)(const void *)cell - 1)->size;
}

// Writes the free range as a cell of its own, so that the chunk can be walked.
static void free_range_write(void *start, size_t size) {
    FlowFreeRange *range = start;
    memset(range, 0, sizeof *range);
    if (size <= HEAP_SMALL_MAX) range->cell.units = (uint8_t)(size / HEAP_UNIT);
    else range->cell.aux = (uint32_t)size;
}

static void heap_add_free(FlowHeap *heap, void *start, size_t size) {
    free_range_write(start, size);
    FlowFreeRange *range = start;
    FlowFreeRange **list =
        size <= HEAP_SMALL_MAX ? &heap->classes[size / HEAP_UNIT] : &heap->ranges;
    range->next = *list;
    *list = range;
}

static void heap_retire_bump(FlowHeap *heap) { // [value-heap-5]
    if (heap->bump < heap->bump_end) {
        heap_add_free(heap, heap->bump, (size_t)(heap->bump_end - heap->bump));
    }
    heap->bump = heap->bump_end = NULL;
}

static void heap_add_chunk(FlowHeap *heap) {
    size_t size = heap->chunk_bytes;
    if (size < CHUNK_FIRST_SIZE) size = CHUNK_FIRST_SIZE;
    if (size > CHUNK_MAX_SIZE) size = CHUNK_MAX_SIZE;
    FlowChunk *chunk = mem_alloc(size);
    chunk->next = heap->chunks;
    chunk->size = (size - sizeof *chunk) / HEAP_UNIT * HEAP_UNIT;
    heap->chunks = chunk;
    heap->chunk_bytes += size;
    heap->bump = chunk_cells(chunk);
    heap->bump_end = heap->bump + chunk->size;
}

// A small cell when neither its free list nor the bump range has one.
static void *heap_alloc_slow(FlowHeap *heap, size_t size) {
    heap_retire_bump(heap);
    FlowFreeRange *range = heap->ranges;
    if (range) {
        heap->ranges = range->next;
        heap->bump = (char *)range;
        heap->bump_end = heap->bump + flow_cell_size(&range->cell);
    } else {
        heap_add_chunk(heap);
    }
    void *cell = heap->bump;
    heap->bump += size;
    return cell;
}

static void *heap_alloc_large(FlowHeap *heap, size_t size) {
    if (heap->fuel) *heap->fuel -= (int64_t)(size / LARGE_BYTES_PER_FUEL); // [value-heap-4]
    FlowLargeCell *large = mem_alloc(sizeof *large + size);
    large->size = size;
    large->unused = 0;
    large->prev = NULL;
    large->next = heap->large;
    if (heap->large) heap->large->prev = large;
    heap->large = large;
    return large + 1;
}

static inline FlowCell *heap_take(FlowHeap *heap, FlowKind kind, size_t size) {
    FlowCell *cell;
    bool is_small = size <= HEAP_SMALL_MAX;
    if (is_small) {
        FlowFreeRange **list = &heap->classes[size / HEAP_UNIT];
        if (*list) {
            cell = &(*list)->cell;
            *list = (*list)->next;
        } else if ((size_t)(heap->bump_end - heap->bump) >= size) {
            cell = (FlowCell *)(void *)heap->bump;
            heap->bump += size;
        } else {
            cell = heap_alloc_slow(heap, size);
        }
    } else {
        cell = heap_alloc_large(heap, size);
    }
    *cell = (FlowCell){
        .kind = (uint8_t)kind,
        .flags = heap->is_shared ? CELL_SHARED : 0,
        .units = is_small ? (uint8_t)(size / HEAP_UNIT) : 0,
    };
    heap->bytes += size;
    return cell;
}

static inline size_t heap_rounded(size_t size) {
    return (size + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
}

void *flow_heap_take(FlowHeap *heap, FlowKind kind, size_t size) {
    return heap_take(heap, kind, heap_rounded(size));
}

// Most cells are a few units: a loop of word stores, which must not become a call of memset.
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif
void *
flow_heap_alloc(FlowHeap *heap, FlowKind kind, size_t size) {
    size = heap_rounded(size);
    FlowCell *cell = heap_take(heap, kind, size);
    if (size > 256) {
        memset(cell + 1, 0, size - sizeof *cell);
    } else {
        uint64_t *end = (uint64_t *)(void *)((char *)cell + size);
        for (uint64_t *at = (uint64_t *)(void *)(cell + 1); at < end; at++) *at = 0;
    }
    return cell;
}

static void large_free(FlowHeap *heap, FlowLargeCell *large) {
    if (large->prev) large->prev->next = large->next;
    else heap->large = large->next;
    if (large->next) large->next->prev = large->prev;
    mem_free(large);
}

void *flow_heap_buffer(FlowHeap *heap, size_t size) {
    heap->bytes += size;
    return mem_zalloc(size);
}

void flow_heap_buffer_free(FlowHeap *heap, void *buffer, size_t size) {
    if (!buffer) return;
    ASSERT(heap->bytes >= size);
    heap->bytes -= size;
    mem_free(buffer);
}

static inline bool owns_memory(const FlowCell *cell) {
    return cell->kind == KIND_KEYS || cell->kind == KIND_SHAPE || cell->kind == KIND_BYTES;
}

// What a dying cell owns outside the heap.
static void cell_finalize(FlowHeap *heap, FlowCell *cell) {
    if (cell->kind == KIND_KEYS) {
        FlowKeys *keys = (FlowKeys *)cell;
        flow_heap_buffer_free(heap, keys->hash, keys->hash_capacity * sizeof *keys->hash);
    } else if (cell->kind == KIND_SHAPE) {
        FlowShape *shape = (FlowShape *)cell;
        if (shape->transition_count > 1) {
            flow_heap_buffer_free(heap, shape->transitions,
                                  shape->transition_capacity * sizeof *shape->transitions);
        }
    } else if (cell->kind == KIND_BYTES) {
        FlowBytes *bytes = (FlowBytes *)cell;
        if (bytes->data && bytes->release) bytes->release(bytes->data);
        heap->bytes -= bytes->size;
    }
}

void flow_heap_free(FlowHeap *heap, void *pointer) {
    FlowCell *cell = pointer;
    ASSERT(cell->kind != KIND_FREE);
    size_t size = flow_cell_size(cell);
    cell_finalize(heap, cell);
    heap->bytes -= size;
    if (cell->units) heap_add_free(heap, cell, size);
    else large_free(heap, large_of(cell));
}

void flow_heap_done(FlowHeap *heap) {
    heap_retire_bump(heap);
    for (FlowChunk *chunk = heap->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        char *end = chunk_cells(chunk) + chunk->size;
        for (char *at = chunk_cells(chunk); at < end;) {
            FlowCell *cell = (FlowCell *)(void *)at;
            at += flow_cell_size(cell);
            cell_finalize(heap, cell);
        }
        mem_free(chunk);
    }
    for (FlowLargeCell *large = heap->large, *next; large; large = next) {
        next = large->next;
        cell_finalize(heap, (FlowCell *)(large + 1));
        mem_free(large);
    }
    mem_free(heap->mark_stack);
    memset(heap, 0, sizeof *heap);
}

// Sweeps one chunk; answers true when nothing in it is alive (then its runs are not listed).
static bool chunk_sweep(FlowHeap *heap, FlowChunk *chunk) {
    char *at = chunk_cells(chunk);
    char *end = at + chunk->size;
    char *run = NULL;
    while (at < end) {
        FlowCell *cell = (FlowCell *)(void *)at;
        size_t size = cell->units ? (size_t)cell->units * HEAP_UNIT : cell->aux; // no large ones
        if (cell->flags & CELL_MARKED) {
            cell->flags &= (uint8_t)~CELL_MARKED;
            if (run) heap_add_free(heap, run, (size_t)(at - run));
            run = NULL;
        } else {
            if (cell->kind != KIND_FREE) {
                if (owns_memory(cell)) cell_finalize(heap, cell);
                heap->bytes -= size;
            }
            if (!run) run = at;
        }
        at += size;
    }
    if (run == chunk_cells(chunk)) return true;
    if (run) heap_add_free(heap, run, (size_t)(end - run));
    return false;
}

static void heap_sweep_large(FlowHeap *heap) {
    for (FlowLargeCell *large = heap->large, *next; large; large = next) {
        next = large->next;
        FlowCell *cell = (FlowCell *)(large + 1);
        if (cell->flags & CELL_MARKED) {
            cell->flags &= (uint8_t)~CELL_MARKED;
        } else {
            cell_finalize(heap, cell);
            heap->bytes -= large->size;
            large_free(heap, large);
        }
    }
}

void flow_heap_sweep(FlowHeap *heap) {
    heap_retire_bump(heap);
    memset(heap->classes, 0, sizeof heap->classes);
    heap->ranges = NULL;
    for (FlowChunk **link = &heap->chunks; *link;) {
        FlowChunk *chunk = *link;
        bool is_only = heap->chunks == chunk && !chunk->next;
        if (chunk_sweep(heap, chunk)) {
            if (!is_only) { // [value-heap-7]
                *link = chunk->next;
                heap->chunk_bytes -= chunk->size + sizeof *chunk;
                mem_free(chunk);
                continue;
            }
            heap_add_free(heap, chunk_cells(chunk), chunk->size);
        }
        link = &chunk->next;
    }
    heap_sweep_large(heap);
    size_t next = heap->bytes * 2;
    if (next < COLLECT_MIN_BYTES) next = COLLECT_MIN_BYTES;
    // Near the limit: still leave some room, or every allocation would collect.
    if (next > heap->limit) next = heap->bytes + (heap->limit - heap->bytes) / 2 + 1;
    if (heap->bytes >= heap->limit) next = heap->bytes + 1;
    heap->collect_at = heap->collect_step ? heap->bytes + heap->collect_step : next;
    if (heap->mark_capacity > 1024) {
        mem_free(heap->mark_stack);
        heap->mark_stack = NULL;
        heap->mark_capacity = 0;
    }
}

void flow_heap_each(FlowHeap *heap, void (*visit)(void *context, FlowCell *cell), void *context) {
    heap_retire_bump(heap);
    for (FlowChunk *chunk = heap->chunks; chunk; chunk = chunk->next) {
        char *end = chunk_cells(chunk) + chunk->size;
        for (char *at = chunk_cells(chunk); at < end;) {
            FlowCell *cell = (FlowCell *)(void *)at;
            at += flow_cell_size(cell);
            if (cell->kind != KIND_FREE) visit(context, cell);
        }
    }
    for (FlowLargeCell *large = heap->large; large; large = large->next)
        visit(context, (FlowCell *)(large + 1));
}

void flow_heap_mark_cell(FlowHeap *heap, const void *pointer) {
    FlowCell *cell = (FlowCell *)(uintptr_t)pointer;
    if (!cell || cell->flags & (CELL_MARKED | CELL_SHARED)) return;
    cell->flags |= CELL_MARKED;
    if (cell->kind == KIND_STRING && !(cell->flags & STRING_ROPE)) return;
    if (heap->mark_count == heap->mark_capacity) {
        heap->mark_capacity = heap->mark_capacity ? heap->mark_capacity * 2 : 64;
        heap->mark_stack =
            mem_realloc(heap->mark_stack, heap->mark_capacity * sizeof *heap->mark_stack);
    }
    heap->mark_stack[heap->mark_count++] = cell;
}

size_t flow_heap_large_bytes(const FlowHeap *heap) {
    size_t bytes = 0;
    for (const FlowLargeCell *large = heap->large; large; large = large->next) {
        bytes += large->size + sizeof *large;
    }
    return bytes;
}
