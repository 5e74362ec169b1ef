// Vec: growth by half as much again, so that pushing n items copies O(n) in all.
//
// The macros of vec.h hand over the address of a `T *` as `void *`; it is read and written with
// memcpy because its real type is not `void *` and the compiler may rely on that.
//   [vec-1] After vec_grow at least `needed` items fit; items that were there are kept.
#include "base/containers/vec.h"
#include "base/memory.h"
#include <stdint.h>
#include <string.h>

enum { VEC_FIRST_CAPACITY = 8 };

void vec_grow(void *data_field, size_t *capacity, size_t needed, size_t item_size) {
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < needed) wanted = needed;
    if (wanted < VEC_FIRST_CAPACITY) wanted = VEC_FIRST_CAPACITY;
    size_t size;
    if (__builtin_mul_overflow(wanted, item_size, &size)) out_of_memory();
    void *data;
    memcpy(&data, data_field, sizeof(data));
    data = mem_realloc(data, size);
    memcpy(data_field, &data, sizeof(data));
    *capacity = wanted;
}

void vec_release(void *data_field) {
    void *data;
    memcpy(&data, data_field, sizeof(data));
    mem_free(data);
    data = NULL;
    memcpy(data_field, &data, sizeof(data));
}
