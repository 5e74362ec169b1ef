// Timeline: what happened to a run and its children, read from their history as it grows.
//
//   [timeline-1] Every entry is shown once, in order of its time; entries of one run in their own
//        order, and what a child did before its parent learns of its end.
//   [timeline-2] Children are found in the history of who started them.
#pragma once
#include "abide.h"
#include "base/arena.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"

typedef struct TimelineRun { // texts live in the arena
    const char *id;
    const char *workflow;
    int64_t seq; // the last entry that was read
    bool is_ended;
} TimelineRun;

typedef struct TimelineLine {
    int64_t at_ms;
    Str text;
    size_t run;   // whose it is
    size_t after; // the child whose end it tells of, shown behind the child's own; SIZE_MAX = none
    bool is_shown;
} TimelineLine;

typedef struct Timeline {
    abide_engine *engine;
    Arena *arena;
    int64_t start_ms; // times are shown from here
    bool is_shown;    // on stderr; otherwise only read
    VEC(TimelineRun) runs;
    VEC(TimelineLine) lines; // read and not yet shown
    StrMap names;            // id of a task or child -> its name
    size_t reading;          // the run whose history is being read
} Timeline;

void timeline_init(Timeline *timeline, abide_engine *engine, Arena *arena);
void timeline_done(Timeline *timeline);
void timeline_add(Timeline *timeline, const char *run_id, const char *workflow);
// Reads what is new of all runs, and shows it.
void timeline_read(Timeline *timeline);
// The name of the task or child with that id; the id itself when it is unknown.
Str timeline_name(const Timeline *timeline, Str id);
