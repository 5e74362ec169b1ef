// ChangeRing: what has changed lately, for pages that show it.
//
// What the engine tells and what requests change is noted here by its id, a bounded number of
// things; streams (exchange/change_stream.c) read on from the number they have seen.
//
//   [change-ring-1] Memory is bounded: the last CHANGES_MAX changes, with texts of bounded size.
//   [change-ring-2] Nothing is noted while nobody reads: the first reader begins it, and it ends
//        when a whole ring has passed since the last one left. What was not noted is told as
//        missed.
//   [change-ring-3] Numbers begin anew above those of an earlier process, so that a reader who
//        comes back after a restart is told that it missed something.
#pragma once
#include "engine/coordinator/coordinator.h"
#include "json/write.h"
#include <pthread.h>
#include <stdatomic.h>

enum { CHANGES_MAX = 1000, CHANGES_TOLD_MAX = 200 };

typedef enum ChangeKind {
    CHANGE_RUNS,
    CHANGE_TASKS,
    CHANGE_SCHEDULES,
    CHANGE_TOPICS,
    CHANGE_QUEUES,
    CHANGE_WORKFLOWS,
    CHANGE_KIND_COUNT
} ChangeKind;
const char *change_kind_name(int kind); // "runs"

typedef struct Change {
    ChangeKind kind;
    bool is_whole;      // any of the kind may have changed: `id` is null
    Str id;             // of a run or task; else its name. This and the next are owned
    Str label;          // of a run: its workflow; of a task: its name
    int64_t run;        // of a task: key of its run; 0 = none
    const char *status; // of runs and tasks
} Change;

typedef struct ChangeRing {
    pthread_mutex_t lock; // guards what follows
    Change items[CHANGES_MAX];
    int64_t first, next; // numbers of what it has: first … next - 1
    int64_t reader_count;
    int64_t left_at; // `next` when the last reader left
    _Atomic bool is_noting;
} ChangeRing;

void change_ring_init(ChangeRing *ring, int64_t now_ms);
void change_ring_done(ChangeRing *ring);
void change_ring_enter(ChangeRing *ring); // a reader comes
void change_ring_leave(ChangeRing *ring);
// True when something was noted. On the coordinator's thread.
bool change_ring_notice(ChangeRing *ring, const EngineEvent *event);
// A request has changed something; texts are copied. On any thread. True likewise.
bool change_ring_note(ChangeRing *ring, const Change *change);

// What a reader wants, and where it stands.
typedef struct ChangeReader {
    unsigned kinds; // bits (1 << ChangeKind)
    Str run_id;     // null = any run
    int64_t run;    // its key; 0 = it did not exist
    int64_t after;  // the number it has seen; 0 = begin with what comes
} ChangeReader;
// Writes what has come as server-sent events, and moves `after`.
void change_ring_read(ChangeRing *ring, ChangeReader *reader, Buf *out);
// "id: …\nevent: resync\ndata: …": any of the kinds may have changed.
void change_write_resync(Buf *out, int64_t number, const char *reason, unsigned kinds);
