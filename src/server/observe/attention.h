// Attention: what needs a person, in groups, with what helps.
//
//   [attention-1] A look costs a bounded number of reads (the constants below), however much there
//        is; groups say whether they were counted to the end.
//   [attention-2] What was found is kept for ATTENTION_FRESH_MS: many readers cost as much as one.
#pragma once
#include "base/containers/buf.h"
#include "json/write.h"
#include <pthread.h>

enum {
    ATTENTION_FRESH_MS = 1000,
    ATTENTION_RUNS = 200,    // failed ones, and as many paused ones
    ATTENTION_TASKS = 500,   // queued ones, among which retries are found
    ATTENTION_LETTERS = 100, // dead ones
    ATTENTION_GROUPS_MAX = 100,
    ATTENTION_EXAMPLES = 5,
    ATTENTION_RETRIES = 2,       // a task that failed so often and will be tried again
    ATTENTION_LATE_MS = 60000,   // of a schedule
    ATTENTION_TEXT_SIZE = 300,   // of a message that is told
    ATTENTION_SIZE_MAX = 1 << 20 // of the whole answer
};

typedef struct Attention {
    pthread_mutex_t lock; // guards what follows
    Buf text;             // the answer as JSON; empty = none yet
    int64_t made_at_ms;
} Attention;

struct Server;
void attention_init(Attention *attention);
void attention_done(Attention *attention);
// Writes the answer of GET /v1/attention; looks if the last one is too old.
MUST_CHECK Status attention_write(struct Server *server, JsonWriter *json, Diag *diag);
