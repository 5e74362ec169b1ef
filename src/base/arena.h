// Arena: memory that is given back all at once.
//
// A function that takes an Arena allocates from it, and what it returns lives until that arena
// is reset; a function that takes none does not allocate.
//   [arena-1] Blocks are aligned for any type.
//   [arena-2] arena_reset keeps one chunk, so a steady user stops calling malloc.
//   [arena-3] In debug builds reset memory is overwritten, so that stale pointers show.
#pragma once
#include "base/text/str.h"
#include <stdarg.h>
#include <stdint.h>

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
    ArenaChunk *first;
    ArenaChunk *current;
    size_t used_size; // bytes handed out since the last reset
} Arena;

typedef struct ArenaMark { // a point to go back to
    ArenaChunk *chunk;
    size_t chunk_used;
    size_t used_size;
} ArenaMark;

void arena_init(Arena *arena);
void arena_done(Arena *arena);
void arena_reset(Arena *arena);
ArenaMark arena_mark(const Arena *arena);
void arena_rewind(Arena *arena, ArenaMark mark);

void *arena_alloc(Arena *arena, size_t size);  // not cleared
void *arena_zalloc(Arena *arena, size_t size); // all zero
#define ARENA_NEW(arena, Type) ((Type *)arena_zalloc((arena), sizeof(Type)))
void *arena_zalloc_array(Arena *arena, size_t count, size_t item_size);
#define ARENA_ARRAY(arena, Type, count) ((Type *)arena_zalloc_array((arena), (count), sizeof(Type)))

// Copies; the copy is followed by a NUL that is not counted. A null Str stays null.
Str arena_str(Arena *arena, Str s);
char *arena_cstr(Arena *arena, Str s);
Str arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
Str arena_vprintf(Arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
