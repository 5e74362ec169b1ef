// Turn codes: which versions of code workers ask this server for.
//
//   [turn-codes-1] The engine claims runs of a version while somebody asks for its turns, and for a
//        while longer, so that a worker that commits or reconnects finds its runs here.
#pragma once
#include "base/containers/map.h"
#include "base/diag.h"
#include "json/value.h"
#include "server/http/ticker.h"

typedef struct TurnCodes {
    pthread_mutex_t lock; // guards what follows
    StrMap keys;          // "name\nversion" -> key of the definition; definitions are never removed
    Deadline deadline;    // when a lease ends, or a version is asked for no more
    Server *server;
} TurnCodes;

typedef struct Code { // a workflow that a worker has
    Str name, version;
    bool is_current; // it is to be the one that new runs get
    Str config;      // of a registration: {"description"?, "input"?}; null = nothing was said
    int64_t key;     // of its definition; 0 = nobody has registered it
} Code;

typedef struct Codes {
    Code *items;
    size_t count;
} Codes;

// "workflows" of a body: [{name, version}]. Of a registration they may say more: `current`,
// `description`, and `input`, a schema that the input of its runs is held to.
MUST_CHECK Status codes_read(const JsonValue *body, bool is_registration, Arena *arena,
                             Codes *codes, Diag *diag);
// Fills in their keys.
MUST_CHECK Status codes_find(Server *server, const Codes *codes, Diag *diag);

void turn_codes_init(TurnCodes *self, Server *server);
void turn_codes_done(TurnCodes *self);
// A worker asks for turns of them until then.
void turn_codes_serve(Server *server, const int64_t *keys, size_t count, int64_t until_ms);
