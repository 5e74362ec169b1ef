// One simulated history: clients, nodes and faults, drawn from a seed.
//
//     safety phase    nodes crash, pause and restart, clocks jump, store calls fail, while clients
//                     start runs, publish, signal, cancel, pause and rewind
//     liveness phase  faults stop; every run must end
//
// A client whose call was not acknowledged asks again with the same id, as real ones do; so
// operations may arrive twice, and must count once.
//
// Not here: what workflows do (workload.c), what clients ask for (clients.c), what is checked
// (ledger.c).
#include "base/array.h"
#include "base/memory.h"
#include "engine/definitions/start.h"
#include "engine/runners/filter.h"
#include "sim/clients.h"
#include "store/reads.h"
#include <stdarg.h>
#include <stdio.h>

// ---- chance and failure ----

uint64_t sim_random(Sim *sim, uint64_t below) { return random_next(&sim->random_state) % below; }
bool sim_chance(Sim *sim, int64_t percent) { return sim_random(sim, 100) < (uint64_t)percent; }

void sim_fail(Sim *sim, const char *format, ...) {
    if (sim_has_failed(sim)) return; // the first one is the cause
    va_list args;
    va_start(args, format);
    vsnprintf(sim->failure, sizeof sim->failure, format, args);
    va_end(args);
}

// ---- the world ----

static void disturb(Sim *sim) {
    SimNode *node = &sim->nodes[sim_random(sim, (uint64_t)sim->options.node_count)];
    switch (sim_random(sim, 400)) {
    case 0:
        if (sim->options.has_crashes) node_crash(node);
        break;
    case 1: node->paused_until_ms = sim->now_ms + 5000 + (int64_t)sim_random(sim, 25000); break;
    case 2: sim->now_ms += (int64_t)sim_random(sim, 120000); break;
    case 3: node->env.skew_ms = (int64_t)sim_random(sim, 2000) - 1000; break;
    default: break;
    }
}

static void restart_nodes(Sim *sim) {
    for (int i = 0; i < sim->options.node_count; i++)
        if (sim->nodes[i].coordinator == NULL && (!sim->has_faults || sim_chance(sim, 2)))
            node_start(&sim->nodes[i]);
}

void sim_advance(Sim *sim, const Clients *clients) {
    int64_t next = sim->now_ms + 60000;
    for (int i = 0; i < sim->options.node_count; i++) {
        int64_t at = node_next_wake_ms(&sim->nodes[i]);
        if (at < next) next = at;
    }
    const List *const lists[] = {&clients->calls, &clients->claims};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        LIST_EACH (link, lists[i]) {
            int64_t at = container_of(link, ClientCall, link)->retry_at_ms;
            if (at < next) next = at;
        }
    sim->now_ms = next > sim->now_ms ? next : sim->now_ms + 1;
}

static void one_round(Sim *sim, Clients *clients) {
    bool has_acted = clients_send(clients);
    uint64_t first = sim_random(sim, (uint64_t)sim->options.node_count);
    for (int i = 0; i < sim->options.node_count; i++) {
        uint64_t number = (first + (uint64_t)i) % (uint64_t)sim->options.node_count;
        has_acted = node_act(&sim->nodes[number]) || has_acted;
        if (has_acted && sim_chance(sim, 50)) break;
    }
    restart_nodes(sim);
    if (!has_acted) sim_advance(sim, clients);
}

// [sim-3] Looks at every run the clients know.
static int64_t count_unfinished(Sim *sim, const Clients *clients) {
    int64_t unfinished = 0;
    Arena arena;
    arena_init(&arena);
    for (int i = 0; i < clients->started; i++) {
        char id[48];
        snprintf(id, sizeof id, "r%d", i);
        RunRow run;
        Diag diag;
        if (store_run_by_id(sim->store, &arena, str_from(id), &run, &diag) != OK) unfinished++;
        else if (run_state_is_terminal(run.state)) ledger_terminal(sim, run.id, run.state);
        else unfinished++;
        arena_reset(&arena);
    }
    StoreStats stats;
    Diag diag;
    if (store_stats(sim->store, &arena, &stats, &diag) == OK)
        for (int state = RUN_PENDING; state <= RUN_PAUSED; state++)
            unfinished += stats.counters[COUNTER_RUNS_FIRST + state];
    arena_done(&arena);
    return unfinished;
}

static void describe_stuck(Sim *sim) {
    Arena arena;
    arena_init(&arena);
    const RunFilter alive = {.states = 1u << RUN_PENDING | 1u << RUN_RUNNING | 1u << RUN_SUSPENDED |
                                       1u << RUN_PAUSED,
                             .limit = 100};
    RunPage page;
    Diag diag;
    if (store_list_runs(sim->store, &arena, &alive, &page, &diag) == OK && page.count > 0) {
        const RunRow *row = &page.rows[0];
        sim_fail(sim,
                 "[X6] %zu runs are stuck, e.g. %.*s (%.*s): %s, owner %lld, epoch %lld, due "
                 "%lld, now %lld",
                 page.count, STR_ARG(row->id), STR_ARG(row->workflow), run_state_name(row->state),
                 (long long)row->owner, (long long)row->epoch, (long long)row->due_at_ms,
                 (long long)sim->now_ms);
    }
    arena_done(&arena);
    sim_fail(sim, "[X6] something is stuck");
}

// [sim-6] Holds at every moment, not only at the end.
static void verify_store(Sim *sim) {
    int64_t row_count;
    Diag diag;
    if (store_verify(sim->store, &row_count, &diag) != OK)
        sim_fail(sim, "[X6] the store does not verify: %s", diag.message);
}

static void safety_phase(Sim *sim, Clients *clients) {
    sim->has_faults = true;
    for (int i = 0; i < 400 * sim->options.run_count && !sim_has_failed(sim); i++) {
        if (i % 8 == 0) clients_act(clients);
        disturb(sim);
        one_round(sim, clients);
        if (i % 500 == 0) (void)count_unfinished(sim, clients);
        if (i % 1000 == 999) verify_store(sim);
    }
}

static void liveness_phase(Sim *sim, Clients *clients) {
    sim->has_faults = false;
    for (int i = 0; i < sim->options.node_count; i++) sim->nodes[i].paused_until_ms = 0;
    clients_resume_all(clients);
    schedules_end(clients);
    int64_t limit = 20000 + 3000 * (int64_t)sim->options.run_count;
    for (int64_t i = 0; i < limit && !sim_has_failed(sim); i++) {
        one_round(sim, clients);
        if (i % 5000 == 4999) clients_resume_all(clients); // a pause may have come late
        if (i % 200 != 0 || !list_is_empty(&clients->calls)) continue;
        if (count_unfinished(sim, clients) == 0) return;
    }
    if (!sim_has_failed(sim)) describe_stuck(sim);
}

bool sim_run(const SimOptions *options, char ret_failure[512], SimCounts *counts) {
    Sim *sim = mem_zalloc(sizeof(Sim));
    sim->options = *options;
    sim->random_state = options->seed * 0x9E3779B97F4A7C15u + 1;
    sim->now_ms = 1800000000000;
    sim_limits_begin(sim);
    sim->ledger = ledger_new(sim);
    StoreConfig config = {.filter_matches = filter_matches, .run_prepare = start_prepare};
    Diag diag;
    Status status = store_open(STR("memory:"), &config, &sim->store, &diag);
    ASSERT(status == OK);
    sim_flows_define(sim);
    sim_workflows_define(sim);
    for (int i = 0; i < options->node_count; i++) node_init(sim, &sim->nodes[i], i);
    Clients clients;
    clients_init(&clients, sim, options->run_count);
    outside_begin(&clients);
    schedules_begin(&clients);
    safety_phase(sim, &clients);
    if (!sim_has_failed(sim)) liveness_phase(sim, &clients);
    for (int i = 0; i < options->node_count; i++) node_crash(&sim->nodes[i]);
    if (!sim_has_failed(sim)) ledger_check(sim);
    if (!sim_has_failed(sim)) sim_flows_check(sim);
    if (!sim_has_failed(sim)) schedules_check(sim);
    if (!sim_has_failed(sim)) verify_store(sim);
    bool is_clean = !sim_has_failed(sim);
    snprintf(ret_failure, 512, "%s", sim->failure);
    counts->store_calls += sim->store_calls;
    counts->faults += sim->fault_count;
    counts->crashes += sim->crash_count;
    counts->left += sim->left_count;
    counts->affinity += sim->affinity_count;
    counts->reserved += sim->reserved_count;
    counts->refusals += sim->refusal_count;
    clients_free(&clients);
    store_close(sim->store);
    ledger_free(sim->ledger);
    sim_flows_done(sim);
    sim_limits_end();
    mem_free(sim);
    return is_clean;
}
