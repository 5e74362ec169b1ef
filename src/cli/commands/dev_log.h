// DevLog: what happens to runs, in lines for the person who writes their workflows.
//
//   14:03:07 order order-7: started
//   14:03:07 order order-7: log: charging 12 EUR
//   14:03:07 order order-7: waits for signal approval
//   14:03:09 order order-7: completed in 2.1s: {"ok":true}
//   14:03:09 order order-8: failed after 20ms: TypeError: x is not a function
//       at order.flow:3:7
//   … and 312 more: 300 started, 12 completed
//
//   [dev-log-1] Telling it something is quick and never waits for a reader of the output: lines are
//        written by a thread of its own, from a bounded list.
//   [dev-log-2] A second has at most DEV_LOG_LINES events of each class: trouble, console lines,
//        the rest; what is left out is counted and said.
//   [dev-log-3] Between dev_log_start and dev_log_stop it asks the engine for results and waits;
//        outside of them it only says what it was told.
#pragma once
#include "abide.h"
#include "cli/output/output.h"
#include <pthread.h>

enum {
    DEV_LOG_LINES = 20,
    DEV_LOG_PENDING_MAX = 4 * DEV_LOG_LINES,
    DEV_LOG_KINDS = ABIDE_EVENT_RETRIED + 1,
};

typedef enum DevClass { DEV_ORDINARY, DEV_CONSOLE, DEV_TROUBLE, DEV_CLASS_COUNT } DevClass;

typedef struct DevLine { // one event; texts are owned
    int kind;            // ABIDE_EVENT_…
    int64_t at_ms;
    char *run_id, *workflow, *name, *detail; // NULL: none
} DevLine;

typedef struct DevLog {
    FILE *file;
    Terminal terminal;
    abide_engine *engine; // [dev-log-3]; NULL: not to be asked
    pthread_t thread;
    bool is_running;
    int wake;             // an eventfd: there is something to do
    pthread_mutex_t lock; // guards what follows
    bool is_ending;
    int64_t second;                 // of the lines counted below
    size_t counts[DEV_CLASS_COUNT]; // events taken in it
    DevLine lines[DEV_LOG_PENDING_MAX];
    size_t line_count;
    size_t left_out[DEV_LOG_KINDS]; // [dev-log-2] since that was said last
} DevLog;

void dev_log_init(DevLog *log, FILE *file);
// For abide_options.on_event.
void dev_log_notice(DevLog *log, const abide_event *event);
void dev_log_start(DevLog *log, abide_engine *engine);
void dev_log_stop(DevLog *log); // writes what is left; harmless when it was not started
void dev_log_done(DevLog *log);
