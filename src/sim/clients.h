// Clients: whoever starts, signals, publishes, cancels, pauses and rewinds from outside.
#pragma once
#include "sim/sim.h"

typedef struct ClientCall {
    Request request;
    struct Clients *clients;
    char run_id[48];
    char text[80]; // payload
    char id[48];   // event id
    Arena arena;   // of what else it says
    int64_t retry_at_ms;
    bool is_waiting;                           // with a node
    void (*answered)(struct ClientCall *call); // takes the call; NULL = as calls of clients are
    List link;
} ClientCall;

typedef struct Clients {
    Sim *sim;
    List calls;  // to be sent (again)
    List claims; // likewise: those of workers outside, which ask for ever
    int started, sent;
    int to_start;
} Clients;

// A new call to be sent; the caller fills the operation.
ClientCall *clients_call(Clients *clients, OpKind kind);
// Invents a call now and then.
void clients_act(Clients *clients);
// Sends one call that is due to some node; true when there was one.
bool clients_send(Clients *clients);
void clients_init(Clients *clients, Sim *sim, int to_start);
// outside.c: a worker that is no node begins to ask for tasks.
void outside_begin(Clients *clients);
// schedules.c: makes them, handles them now and then, stops them; fills in the making of one whose
// name is in the call, of that sort.
void schedules_fill(ClientCall *call, int number);
void schedules_begin(Clients *clients);
void schedules_act(Clients *clients);
void schedules_end(Clients *clients);
// Nothing stays paused for ever.
void clients_resume_all(Clients *clients);
void clients_free(Clients *clients);

// Moves the clock to the next thing that will happen by itself.
void sim_advance(Sim *sim, const Clients *clients);
