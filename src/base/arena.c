// Arena: a list of chunks, each filled from the bottom.
//
//   first -> chunk -> current -> (chunks left over from before a rewind)
//
// Chunks double in size up to a ceiling, so that a small user stays small and a large one calls
// malloc rarely. A block larger than the ceiling gets a chunk of its own size.
//   [arena-4] `used` of every chunk is a multiple of the alignment, and so is the start of its
//        data.
//   [arena-5] After a reset one chunk is left, large enough (up to a ceiling) for what was used.
//   [arena-6] Memory given back is overwritten in debug and sanitizer builds.
//   [arena-7] Chunks behind `current` hold nothing: they are used again before malloc is asked.
#include "base/arena.h"
#include "base/assert.h"
#include "base/memory.h"
#include <stdalign.h>
#include <stdio.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_OVERWRITES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define ARENA_OVERWRITES 1
#endif
#ifndef ARENA_OVERWRITES
#define ARENA_OVERWRITES 0
#endif

enum {
    ARENA_ALIGNMENT = alignof(max_align_t),
    ARENA_CHUNK_MIN = 4096 - 64, // data bytes; leaves room for the headers within a page
    ARENA_CHUNK_MAX = 4 << 20,
    ARENA_KEEP_MAX = 1 << 20, // what a reset leaves at most
    ARENA_HUGE_PAGE = 2 << 20,
};

struct ArenaChunk {
    ArenaChunk *next;
    size_t capacity;
    size_t used;
    alignas(max_align_t) unsigned char data[];
};

// A chunk about as large as huge pages are made of them, where the system has any: a big source
// file else spends a quarter of its compilation in page faults.
static ArenaChunk *chunk_take(size_t *size) {
    if (*size < ARENA_HUGE_PAGE - ARENA_HUGE_PAGE / 16) return mem_alloc(*size);
    *size = (*size + ARENA_HUGE_PAGE - 1) / ARENA_HUGE_PAGE * ARENA_HUGE_PAGE;
    ArenaChunk *chunk = mem_alloc_aligned(ARENA_HUGE_PAGE, *size);
#ifdef MADV_HUGEPAGE
    (void)madvise(chunk, *size, MADV_HUGEPAGE); // a wish
#endif
    return chunk;
}

static ArenaChunk *chunk_new(size_t capacity) {
    size_t size = sizeof(ArenaChunk) + capacity;
    ArenaChunk *chunk = chunk_take(&size);
    capacity = size - sizeof(ArenaChunk);
    chunk->next = NULL;
    chunk->capacity = capacity;
    chunk->used = 0;
    return chunk;
}

static void chunk_list_free(ArenaChunk *chunk) {
    while (chunk) {
        ArenaChunk *next = chunk->next;
        mem_free(chunk);
        chunk = next;
    }
}

static void chunk_cut(ArenaChunk *chunk, size_t used) {
    if (ARENA_OVERWRITES) memset(chunk->data + used, 0xDD, chunk->used - used); // [arena-6]
    chunk->used = used;
}

void arena_init(Arena *arena) { *arena = (Arena){0}; }

void arena_done(Arena *arena) {
    chunk_list_free(arena->first);
    *arena = (Arena){0};
}

void arena_reset(Arena *arena) {
    ArenaChunk *first = arena->first;
    if (!first) return;
    if (first->next) {
        size_t wanted = first->capacity;
        while (wanted < arena->used_size && wanted < ARENA_KEEP_MAX) wanted *= 2;
        chunk_list_free(first->next);
        first->next = NULL;
        if (wanted > first->capacity && wanted <= ARENA_KEEP_MAX) { // [arena-5]
            mem_free(first);
            first = chunk_new(wanted);
        }
    }
    chunk_cut(first, 0);
    arena->first = arena->current = first;
    arena->used_size = 0;
}

ArenaMark arena_mark(const Arena *arena) {
    return (ArenaMark){
        .chunk = arena->current,
        .chunk_used = arena->current ? arena->current->used : 0,
        .used_size = arena->used_size,
    };
}

void arena_rewind(Arena *arena, ArenaMark mark) {
    ArenaChunk *keep = mark.chunk ? mark.chunk : arena->first;
    if (!keep) return;
    for (ArenaChunk *chunk = keep->next; chunk; chunk = chunk->next)
        chunk_cut(chunk, 0); // [arena-7]
    ASSERT(mark.chunk_used <= keep->used);
    chunk_cut(keep, mark.chunk_used);
    arena->current = keep;
    arena->used_size = mark.used_size;
}

// Makes a chunk with room for `size` bytes the current one.
static void arena_advance(Arena *arena, size_t size) {
    ArenaChunk *current = arena->current;
    if (current && current->next && current->next->capacity >= size) {
        arena->current = current->next;
        return;
    }
    size_t capacity = current ? current->capacity * 2 : ARENA_CHUNK_MIN;
    if (capacity > ARENA_CHUNK_MAX) capacity = ARENA_CHUNK_MAX;
    if (capacity < size) capacity = size;
    ArenaChunk *chunk = chunk_new(capacity);
    if (current) {
        chunk->next = current->next;
        current->next = chunk;
    } else {
        arena->first = chunk;
    }
    arena->current = chunk;
}

void *arena_alloc(Arena *arena, size_t size) {
    ASSERT(size <= SIZE_MAX / 2);
    size_t rounded = (size + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    if (rounded == 0) rounded = ARENA_ALIGNMENT;
    ArenaChunk *chunk = arena->current;
    if (!chunk || chunk->capacity - chunk->used < rounded) {
        arena_advance(arena, rounded);
        chunk = arena->current;
    }
    void *block = chunk->data + chunk->used;
    chunk->used += rounded;
    arena->used_size += rounded;
    return block;
}

void *arena_zalloc(Arena *arena, size_t size) { return memset(arena_alloc(arena, size), 0, size); }

void *arena_zalloc_array(Arena *arena, size_t count, size_t item_size) {
    size_t size = 0;
    ASSERT(!__builtin_mul_overflow(count, item_size, &size));
    return arena_zalloc(arena, size);
}

char *arena_cstr(Arena *arena, Str s) {
    char *copy = arena_alloc(arena, s.len + 1);
    if (s.len) memcpy(copy, s.data, s.len);
    copy[s.len] = '\0';
    return copy;
}

Str arena_str(Arena *arena, Str s) {
    if (str_is_null(s)) return s;
    return (Str){arena_cstr(arena, s), s.len};
}

Str arena_vprintf(Arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, arguments);
    ASSERT(len >= 0);
    char *text = arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return (Str){text, (size_t)len};
}

Str arena_printf(Arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Str text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}
