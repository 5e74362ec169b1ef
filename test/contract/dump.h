// Dump: the whole logical state of a store as text, read through queries only.
//
// Two stores that hold the same give the same text, whatever keeps their rows; so "nothing was
// changed" and "both say the same" are comparisons of two strings.
//   [dump-1] Every listing is read page by page with the page size asked for, so a dump also tests
//        that pages join without gaps or repetitions.
//   [dump-2] Counters, waits and snapshots are part of it; the numbers of nodes' batches only if
//        asked for, because a batch that changes nothing else still counts.
#pragma once
#include "store/reads.h"

typedef struct DumpOptions {
    const char *const *topics; // whose waiters and events are listed, besides the stored topics
    size_t topic_count;
    const char *const *tags;
    size_t tag_count;
    int64_t now_ms;     // for what is due
    int64_t page_limit; // 0 = as many as a page may have
    bool has_batch_numbers;
} DumpOptions;

// The text lives in the arena. Ends the test program when a query fails, as nothing here may.
Str store_dump(Store *store, Arena *arena, const DumpOptions *options);
// Where two texts first differ, with the lines around it, printed to stderr.
void dump_print_difference(Str expected, Str actual);
