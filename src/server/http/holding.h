// Holding: how much memory requests and streams under way take, together.
//
//   [holding-1] What grows with what clients send or are sent is counted as long as it is there:
//        bodies, the trees they are parsed into, answers, what streams have read and not sent.
//   [holding-2] Whoever has not been let in yet, and routes that ask nobody for a token, have a
//        share of their own: strangers cannot shut out those who have one.
//   [holding-3] Answers of these routes that are small are never refused: health is always told.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HELD_BYTES_MAX = 256 << 20,
    HELD_PUBLIC_MAX = 32 << 20,
    HELD_SMALL =
        4096 // bytes of an answer, or of what a stream has read, that are let pass [holding-3]
};

typedef struct HeldBytes { // of one server
    _Atomic int64_t admitted, public;
} HeldBytes;

typedef struct Holding {
    HeldBytes *total;
    size_t size;
    bool is_admitted; // [holding-2]
} Holding;

void holding_init(Holding *holding, HeldBytes *total);
void holding_admit(Holding *holding);
void holding_add(Holding *holding, size_t size);
void holding_remove(Holding *holding, size_t size);
void holding_done(Holding *holding); // removes all of it
// There would be too much with so many bytes more.
bool holding_is_over(const Holding *holding, size_t more);
