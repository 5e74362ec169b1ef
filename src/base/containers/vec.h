// VEC(T): a growing array of T. Zero-initialise to start; vec_free to end.
#pragma once
#include "base/assert.h"
#include <stddef.h>

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *data;                                                                                   \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

// Grows the array whose pointer is kept at `data_field` so that `needed` items of `item_size`
// fit; aborts when out of memory.
void vec_grow(void *data_field, size_t *capacity, size_t needed, size_t item_size);

#define vec_reserve(vec, needed)                                                                   \
    ((needed) > (vec)->capacity                                                                    \
         ? vec_grow(&(vec)->data, &(vec)->capacity, (needed), sizeof(*(vec)->data))                \
         : (void)0)
#define vec_push(vec, ...)                                                                         \
    (vec_reserve((vec), (vec)->count + 1), (void)((vec)->data[(vec)->count++] = (__VA_ARGS__)))
#define vec_pop(vec)   (ASSERT((vec)->count > 0), (vec)->data[--(vec)->count])
#define vec_last(vec)  ((vec)->data[(vec)->count - 1])
#define vec_clear(vec) ((void)((vec)->count = 0))
#define vec_free(vec)  (vec_release(&(vec)->data), (void)((vec)->count = (vec)->capacity = 0))
void vec_release(void *data_field);
