// A simulated node: a coordinator whose driver is the simulator, one small action at a time.
//
// Production has threads; here the same moves (perform an execution, hand it back, prepare a
// batch, commit it) are made in any order the seed decides, so every interleaving can happen:
// results that come late, a commit that lands after the node's lease ran out, a crash between any
// two moves.
//
// Not here: which node moves next (run.c).
#include "sim/sim.h"
#include <stdio.h>

static int64_t sim_env_now(Env *env) {
    SimEnv *self = (SimEnv *)env;
    return self->sim->now_ms + self->skew_ms;
}

static uint64_t sim_env_monotonic(Env *env) {
    return (uint64_t)((SimEnv *)env)->sim->now_ms * 1000000u;
}

static uint64_t sim_env_random(Env *env) { return random_next(&((SimEnv *)env)->random_state); }

static const EnvOps sim_env_ops = {
    .now_ms = sim_env_now, .monotonic_ns = sim_env_monotonic, .random_u64 = sim_env_random};

static void world_execute(World *world, Execution *execution) {
    list_append(&((SimNode *)world)->executing, &execution->link);
}

static void world_notify(World *world, const EngineEvent *event) {
    SimNode *node = (SimNode *)world;
    node->sim->event_count++;
    if (node->sim->options.is_traced)
        printf("%lld node %d event %d %.*s %.*s\n", (long long)node->sim->now_ms, node->number,
               (int)event->kind, STR_ARG(event->run_id), STR_ARG(event->detail));
}

static bool world_has_reader(World *world, Str run_id) {
    (void)run_id;
    return ((SimNode *)world)->has_reader;
}

static const WorldOps sim_world_ops = {
    .execute = world_execute, .notify = world_notify, .has_reader = world_has_reader};

void node_init(Sim *sim, SimNode *node, int number) {
    if (sim->room.active_runs == 0) sim->room = sim_room_usual;
    *node = (SimNode){.world.ops = &sim_world_ops, .sim = sim, .number = number};
    node->env = (SimEnv){.base.ops = &sim_env_ops, .sim = sim};
    node->env.random_state = sim->options.seed * 31 + (uint64_t)number;
    list_init(&node->executing);
    list_init(&node->performed);
    sim_store_init(&node->store, node, sim->store);
}

void node_start(SimNode *node) {
    node->is_crashed = false;
    CoordinatorSetup setup = {
        .env = &node->env.base,
        .store = &node->store.base,
        .world = &node->world,
    };
    setup.config = (CoordinatorConfig){
        .node_name = STR("sim"),
        .lease_ms = 10000,
        .max_active_runs = node->sim->room.active_runs,
        .max_parked_runs = node->sim->room.parked_runs,
        .idle_release_ms = 700,
        .first_tasks = node->sim->room.first_tasks,
        .max_tasks = node->sim->room.max_tasks,
        .store_retry_attempts = 3,
        .store_retry_ms = 50,
        .store_retry_max_ms = 2000,
        .timer_resolution_ms = 1,
        .sweep_ms = 20000,
        .task_lease_ms = 9000,
        .run_retention_ms = -1,
        .keep_snapshots = 3,
        .max_turn_slices = 50,
        .slice_instructions = 10000, // small, so that loops are preempted
    };
    Diag diag;
    Status status = coordinator_new(&setup, &node->coordinator, &diag);
    if (status != OK) {
        node->coordinator = NULL;
        return;
    }
    sim_register(node);
    node->is_recovered = false;
}

// Everything in memory is lost; callers learn nothing but that it is gone.
void node_crash(SimNode *node) {
    if (node->coordinator == NULL) return;
    node->sim->crash_count++;
    if (node->commit != NULL) {
        Diag diag;
        Status status = diag_set(&diag, ERR_UNAVAILABLE, "STORE_IO", "crashed");
        coordinator_finish(node->coordinator, node->commit, status, &diag);
        node->commit = NULL;
    }
    List *lists[] = {&node->executing, &node->performed};
    for (int i = 0; i < 2; i++)
        LIST_EACH_SAFE (link, after, lists[i]) {
            list_remove(link);
            Execution *execution = container_of(link, Execution, link);
            execution->is_undone = true;
            coordinator_executed(node->coordinator, execution);
        }
    coordinator_free(node->coordinator);
    node->coordinator = NULL;
    node->is_crashed = false;
}

static List *pick(Sim *sim, List *list) {
    size_t count = 0;
    LIST_EACH (link, list) count++;
    if (count == 0) return NULL;
    uint64_t place = sim_random(sim, count);
    List *link = list->next;
    while (place-- > 0) link = link->next;
    return link;
}

static bool perform_one(SimNode *node) {
    List *link = pick(node->sim, &node->executing);
    if (link == NULL) return false;
    list_remove(link);
    execution_perform(container_of(link, Execution, link), &node->env.base);
    list_append(&node->performed, link);
    return true;
}

static bool hand_back_one(SimNode *node) {
    List *link = pick(node->sim, &node->performed);
    if (link == NULL) return false;
    list_remove(link);
    coordinator_executed(node->coordinator, container_of(link, Execution, link));
    return true;
}

static bool move_turn(SimNode *node) {
    if (node->commit == NULL) {
        node->commit = coordinator_prepare(node->coordinator);
        return node->commit != NULL;
    }
    Diag diag;
    diag_clear(&diag);
    Status status = store_commit(&node->store.base, &node->commit->batch, &diag);
    if (node->is_crashed) return true;
    Commit *commit = node->commit;
    node->commit = NULL;
    coordinator_finish(node->coordinator, commit, status, &diag);
    return true;
}

static bool recover(SimNode *node) {
    RecoveryReport report;
    Diag diag;
    node->is_recovered = coordinator_recover(node->coordinator, &report, &diag) == OK;
    return true;
}

bool node_act(SimNode *node) {
    if (node->coordinator == NULL || node->sim->now_ms < node->paused_until_ms) return false;
    bool has_acted;
    if (!node->is_recovered) {
        has_acted = recover(node);
    } else {
        uint64_t first = sim_random(node->sim, 3);
        has_acted = false;
        for (uint64_t i = 0; i < 3 && !has_acted; i++) {
            uint64_t move = (first + i) % 3;
            if (move == 0) has_acted = perform_one(node);
            else if (move == 1) has_acted = hand_back_one(node);
            else has_acted = move_turn(node);
        }
    }
    if (node->is_crashed) node_crash(node);
    return has_acted;
}

int64_t node_next_wake_ms(SimNode *node) {
    if (node->coordinator == NULL) return INT64_MAX;
    int64_t at = coordinator_next_wake_ms(node->coordinator);
    if (at != INT64_MAX) at -= node->env.skew_ms;
    return at < node->paused_until_ms ? node->paused_until_ms : at;
}
