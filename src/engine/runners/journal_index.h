// JournalIndex: what is asked of a journal by name and by operation, without reading it all.
//
//   [journal-index-1] A cache of the entries that were added; who has a long journal keeps one
//        beside it, so that a turn costs what is new in it.
#pragma once
#include "base/containers/map.h"
#include "model/rows.h"

typedef struct JournalIndex {
    Map counts; // kind and name -> how many entries
    Map begun;  // operation -> LogRow: the task or child that it began
} JournalIndex;

enum { JOURNAL_INDEX_FROM = 64 }; // entries; a shorter journal is read

void journal_index_init(JournalIndex *index);
void journal_index_done(JournalIndex *index);
// `place` is that of the entry in its list, which is what is found again.
void journal_index_add(JournalIndex *index, const LogRow *entry, size_t place);

// How many entries of the kind have the name; `index` may be NULL.
int64_t journal_index_count(const JournalIndex *index, const LogRow *rows, size_t count,
                            int64_t kind, Str name);
// What the operation began; NULL = nothing.
const LogRow *journal_index_begun(const JournalIndex *index, const LogRow *rows, size_t count,
                                  int64_t op);
