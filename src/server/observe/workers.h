// Workers: who asks this node for tasks, and which tasks nobody asks for.
//
// Every claim is noted: who, for which queues and names, when. From that, from the functions that
// this process has itself, and from what the other nodes say in their rows, follows whether a task
// that is queued has anybody to do it.
//
//   [workers-1] Memory is bounded: WORKERS_MAX workers with WORKER_ASKS_MAX kinds of claims each.
//        The one that has not asked for the longest time makes room.
//   [workers-2] A worker is present while a claim of it waits, and WORKER_PRESENT_MS after its last
//        one. One that is busy asks for nothing; it is found by the tasks it has leased.
//   [workers-3] A task is unserved when it could be claimed, has waited for UNSERVED_MS, its queue
//        is not paused, and nobody present in the cluster, busy or not, does tasks of its name.
//
// Not here: claims (routes/work/), the route that shows all this (routes/workers.c).
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "engine/coordinator/coordinator.h"
#include "json/write.h"
#include "store/read_types.h"
#include <pthread.h>

enum {
    WORKERS_MAX = 1000,
    WORKER_ASKS_MAX = 4,
    WORKER_PRESENT_MS = 10000,
    UNSERVED_MS = 3000,
    UNSERVED_MAX = 100, // (queue, name) pairs that are remembered
    LOOK_SOON_MS = 500, // until the watch looks because something has changed
    WORKER_RECENT_MINUTES = 5,
    WORKER_LIBRARY_MAX = 100, // bytes of what it says it is written with
};

// What a claim asks for. Lists are joined by '\n', which no name has.
typedef struct WorkerAsk {
    Str queues;
    Str names; // empty: any
} WorkerAsk;

typedef struct WorkerMinute { // what it did in one minute
    int64_t minute;           // since 1970
    int64_t claimed, completed, failed;
} WorkerMinute;

typedef struct Worker {
    Str id;                          // this, `library` and the asks are owned
    Str library;                     // the User-Agent of its last claim; null = none
    WorkerAsk asks[WORKER_ASKS_MAX]; // the one of the last claim first
    size_t ask_count;
    int64_t first_claim_ms, last_claim_ms;
    int64_t waiting;                       // claims of it that wait now
    bool has_left;                         // it has said that it stops
    int64_t handed_out, completed, failed; // tasks
    int64_t last_report_ms;                // when a task of it ended last; 0 = never
    WorkerMinute recent[WORKER_RECENT_MINUTES];
} Worker;

// A pair that nobody serves.
typedef struct Unserved {
    Str queue, name, task_id; // task_id: one that waits
    int64_t since_ms;
    // filled in by workers_explain, in an arena:
    Str asked;                // names that are asked for in its queue, joined by '\n'
    Str other_queues;         // where its name is asked for, likewise
    const char *did_you_mean; // NULL: no name is near
} Unserved;

typedef struct OtherNode { // what another node says
    Str name;
    Str json; // its text, see workers_describe; owned
} OtherNode;

typedef struct Workers {
    pthread_mutex_t lock; // guards what follows
    StrMap by_id;         // id -> Worker
    VEC(OtherNode) others;
    VEC(Unserved) unserved; // as of the last look; texts are owned
    // the thread that looks (workers_watch.c)
    pthread_t thread;
    pthread_cond_t changed; // look_at_ms or is_stopping
    int64_t look_at_ms;     // when it looks next, by the system's clock; 0 = nothing to look for
    bool is_running, is_stopping;
} Workers;

void workers_init(Workers *workers);
void workers_done(Workers *workers);
// A claim has come; `library`: what it was sent with, or null.
void workers_asked(Workers *workers, Str id, WorkerAsk ask, Str library, int64_t now_ms);
// The worker stops.
void workers_left(Workers *workers, Str id);
// A claim of the worker begins to wait (+1), or does not wait any more (-1).
void workers_waiting(Workers *workers, Str id, int change, int64_t now_ms);
// What became of tasks, and that there may be new ones. On the coordinator's thread.
void workers_notice(Workers *workers, const EngineEvent *event);

// The watch looks in so many milliseconds at the latest.
void workers_want_look(Workers *workers, int64_t delay_ms);
// What the watch has found; texts are copied. Reading copies into the arena and answers how many.
void workers_set_others(Workers *workers, const OtherNode *others, size_t count);
void workers_set_unserved(Workers *workers, const Unserved *found, size_t count);
size_t workers_get_unserved(Workers *workers, Arena *arena, Unserved **ret_unserved);

// ---- workers_view.c ----
struct Server;
// What this node tells the others: {"node", "tasks": [names of functions], "workers": [{"id",
// "node", "queues", "names", "asks", "present", …}]}. A brief one has no times and counts: it
// changes only when it matters to the others.
Str workers_describe(struct Server *server, Arena *arena, bool is_brief);
// The descriptions of all nodes, this one first.
typedef struct WorkersView {
    const JsonValue **nodes;
    size_t count;
} WorkersView;
WorkersView workers_view(struct Server *server, Arena *arena);
// Whether somebody present asks for such tasks, or has a function for them.
bool workers_serve(const WorkersView *view, Str queue, Str name);
// Whether this worker asks for such tasks when it is not busy.
bool workers_does(const WorkersView *view, Str id, Str queue, Str name);
void workers_explain(const WorkersView *view, Arena *arena, Unserved *unserved);
void render_unserved(JsonWriter *json, const Unserved *unserved);

// ---- workers_watch.c ----
// Keeps `unserved` up to date and logs what changes.
void workers_watch_start(struct Server *server);
void workers_watch_stop(struct Server *server); // harmless when it was not started
// The tasks that workers have now, a thousand at most.
MUST_CHECK Status workers_read_leased(struct Server *server, Arena *arena, TaskPage *ret_leased,
                                      Diag *diag);
// Asks the store what the other nodes say now.
void workers_read_others(struct Server *server, Arena *arena);
// [workers-3] for one task; fills `ret_unserved`, explained, when it answers true.
bool workers_is_unserved(struct Server *server, Arena *arena, const TaskRow *task,
                         Unserved *ret_unserved);
