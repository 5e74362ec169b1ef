// World: what a script that is debugged asks for, answered from mocks in virtual time.
//
//   [debug-world-1] Nothing leaves: a task or a child is answered by its mock, or not at all.
//   [debug-world-2] The clock moves only when nothing can happen at the present moment.
//   [debug-world-3] All that changes is in WorldState, and its texts live as long as the session;
//        so a copy of it is a way back.
#pragma once
#include "base/containers/vec.h"
#include "cli/run/mock.h"
#include "cli/run/script.h"
#include "flow/flow.h"

typedef struct WorldPending { // what the script waits for
    uint32_t id;
    FlowAwaitKind kind;
    Str name;
    Str filter;            // of an event; null: none
    int64_t due_ms;        // when `reply` comes; -1: it has none
    int64_t timeout_at_ms; // -1: none
    bool is_failed;        // the reply is an error
    Str json;              // the result
    Str type, message;     // of an error
    unsigned attempts;
} WorldPending;

typedef struct WorldText { // a state entry, or a signal that came early
    Str name, json;
} WorldText;

typedef struct WorldState {
    int64_t now_ms;
    size_t script_done; // items of the script that have happened
    uint64_t random;
    uint32_t start_count; // runs that the script has started
    VEC(WorldPending) pending;
    VEC(WorldText) entries;
    VEC(WorldText) signals;
    VEC(unsigned) calls; // of each mock
    bool is_cancel_due;  // the run was asked to end, and has not seen it
} WorldState;

typedef struct World {
    FlowHost host; // first
    Arena *arena;  // texts [debug-world-3]
    const Mocks *mocks;
    const EventScript *script;
    int64_t start_ms;
    Str context_json;
    WorldState state;
    void (*say)(void *context, const char *category, Str text);
    void *context;
} World;

typedef struct WorldSetting {
    Arena *arena;
    const Mocks *mocks; // may be empty
    const EventScript *script;
    int64_t start_ms;
    Str workflow;
    Str version;
    Str run_id; // null: "debug"
} WorldSetting;

typedef struct WorldReply { // of something that has come already
    bool is_timeout, is_failed;
    Str json;          // the result or payload
    Str type, message; // of an error
} WorldReply;

void world_init(World *world, const WorldSetting *setting);
void world_done(World *world);
// A run that begins again has the time and the mocks, and nothing else.
void world_restart(World *world);
// A run that stands at a wait has that time and nothing else yet; then comes what it waits for,
// with a mock's answer where there is one, and what it has set. All texts are copied.
void world_stand(World *world, int64_t now_ms);
void world_add_pending(World *world, const WorldPending *pending);
void world_add_entry(World *world, Str key, Str json);
// What has come for it, unless a mock answers that.
void world_deliver(World *world, uint32_t id, const WorldReply *reply);
// Lets the next thing happen to a VM that waits. False: nothing can.
bool world_advance(World *world, FlowVm *vm);
// The first thing that it waits for: `task "charge"`.
Str world_waits_for(const World *world);
void world_state_copy(WorldState *ret_copy, const WorldState *state);
void world_state_done(WorldState *state);
