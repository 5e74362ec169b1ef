// Every crash point of every small scenario.
//
// A scenario is a workflow and what clients do to it at which moment. It is run once undisturbed
// to count its store calls; then once for each call and each kind of fault at that call: error
// before, error after (outcome unknown), crash before, crash after. Whatever happened, the run
// must end the same way, and the ledger must balance.
//
// Not here: random histories (run.c).
#include "base/array.h"
#include "base/memory.h"
#include "engine/definitions/start.h"
#include "engine/runners/filter.h"
#include "sim/clients.h"
#include "store/reads.h"
#include <stdio.h>

typedef struct Action {
    int64_t at_ms; // after the start
    OpKind kind;
    const char *text; // payload or step
} Action;

enum { ACTIONS_MAX = 4 };

typedef struct Scenario {
    const char *name;
    const char *workflow;
    const char *input;
    Action actions[ACTIONS_MAX];
    RunState end;
    bool has_outside; // a worker that is no node
} Scenario;

static const Scenario scenarios[] = {
    {.name = "a chain of steps", .workflow = "chain", .input = "4", .end = RUN_COMPLETED},
    {.name = "a timer", .workflow = "sleeper", .end = RUN_COMPLETED},
    {.name = "two events in time",
     .workflow = "consumer",
     .actions = {{1000, OP_PUBLISH, "\"a\""}, {2000, OP_PUBLISH, "\"b\""}},
     .end = RUN_COMPLETED},
    {.name = "an event that never comes", .workflow = "consumer", .end = RUN_COMPLETED},
    {.name = "two signals",
     .workflow = "listener",
     .actions = {{1000, OP_SIGNAL, "\"x\""}, {1000, OP_SIGNAL, "\"y\""}},
     .end = RUN_COMPLETED},
    {.name = "children, awaited and not", .workflow = "parent", .end = RUN_COMPLETED},
    {.name = "a race that a signal wins",
     .workflow = "racer",
     .actions = {{1000, OP_SIGNAL, "\"s\""}, {1500, OP_PUBLISH, "\"e\""}},
     .end = RUN_COMPLETED},
    {.name = "continue as new", .workflow = "looper", .input = "3", .end = RUN_COMPLETED},
    {.name = "tasks, awaited and not", .workflow = "tasker", .end = RUN_COMPLETED},
    {.name = "events from a workflow", .workflow = "publisher", .end = RUN_COMPLETED},
    {.name = "cancel with cleanup",
     .workflow = "careful",
     .actions = {{1000, OP_CANCEL, "10000"}},
     .end = RUN_CANCELLED},
    {.name = "cancel at once",
     .workflow = "careful",
     .actions = {{1000, OP_CANCEL, "0"}},
     .end = RUN_CANCELLED},
    {.name = "pause and resume",
     .workflow = "careful",
     .actions = {{1000, OP_PAUSE, NULL}, {5000, OP_RESUME, NULL}},
     .end = RUN_COMPLETED},
    {.name = "a schedule, every tick of which counts",
     .workflow = "chain",
     .actions = {{0, OP_SET_SCHEDULE, "0"}, {900000, OP_PAUSE_SCHEDULE, NULL}},
     .end = RUN_COMPLETED},
    {.name = "a schedule whose ticks wait for the run before",
     .workflow = "chain",
     .actions = {{0, OP_SET_SCHEDULE, "1"}, {200000, OP_PAUSE_SCHEDULE, NULL}},
     .end = RUN_COMPLETED},
    {.name = "a schedule whose ticks cancel the run before",
     .workflow = "chain",
     .actions = {{0, OP_SET_SCHEDULE, "2"}, {200000, OP_PAUSE_SCHEDULE, NULL}},
     .end = RUN_COMPLETED},
    {.name = "a schedule that skips ticks",
     .workflow = "chain",
     .actions = {{0, OP_SET_SCHEDULE, "3"}, {200000, OP_PAUSE_SCHEDULE, NULL}},
     .end = RUN_COMPLETED},
    {.name = "rewind a waiting run",
     .workflow = "consumer",
     .actions = {{1000, OP_PUBLISH, "\"a\""},
                 {3000, OP_REWIND, "handle"},
                 {9000, OP_PUBLISH, "\"b\""}},
     .end = RUN_COMPLETED},
    {.name = "flow: tasks in a row", .workflow = "flow_chain", .end = RUN_COMPLETED},
    {.name = "flow: tasks of a worker outside",
     .workflow = "flow_away",
     .end = RUN_COMPLETED,
     .has_outside = true},
    {.name = "flow: tasks side by side", .workflow = "flow_fan", .end = RUN_COMPLETED},
    {.name = "flow: timers side by side", .workflow = "flow_sleep", .end = RUN_COMPLETED},
    {.name = "flow: a race", .workflow = "flow_race", .end = RUN_COMPLETED},
    {.name = "flow: signals",
     .workflow = "flow_signal",
     .actions = {{1000, OP_SIGNAL, "\"x\""}, {2000, OP_SIGNAL, "\"y\""}},
     .end = RUN_COMPLETED},
    {.name = "flow: an event",
     .workflow = "flow_event",
     .actions = {{1000, OP_PUBLISH, "\"a\""}},
     .end = RUN_COMPLETED},
    {.name = "flow: children", .workflow = "flow_child", .end = RUN_COMPLETED},
    {.name = "flow: continue as new", .workflow = "flow_again", .end = RUN_COMPLETED},
    {.name = "flow: a task that fails", .workflow = "flow_failing", .end = RUN_COMPLETED},
    {.name = "flow: all with a failure", .workflow = "flow_all_failing", .end = RUN_COMPLETED},
    {.name = "flow: the first success", .workflow = "flow_any", .end = RUN_COMPLETED},
    {.name = "flow: a race won by a failure",
     .workflow = "flow_race_failing",
     .end = RUN_COMPLETED},
    {.name = "flow: a signal that lost a race",
     .workflow = "flow_lost_race",
     .actions = {{300000, OP_SIGNAL, "\"x\""}}, // a crash may delay the race
     .end = RUN_COMPLETED},
    {.name = "flow: a timer that lost a race",
     .workflow = "flow_lost_timer",
     .actions = {{1000, OP_SIGNAL, "\"x\""}},
     .end = RUN_COMPLETED},
    {.name = "flow: a signal before the wait",
     .workflow = "flow_early_signal",
     .actions = {{500, OP_SIGNAL, "\"x\""}},
     .end = RUN_COMPLETED},
    {.name = "flow: a child ends while its parent is busy",
     .workflow = "flow_busy_parent",
     .end = RUN_COMPLETED},
    {.name = "flow: continue as new with what was seen",
     .workflow = "flow_carried",
     .end = RUN_COMPLETED},
    {.name = "flow: preempted work", .workflow = "flow_preempted", .end = RUN_COMPLETED},
    {.name = "flow: cancelled with cleanup",
     .workflow = "flow_cleanup",
     .actions = {{1000, OP_CANCEL, "10000"}},
     .end = RUN_CANCELLED},
};
enum { SCENARIO_COUNT = COUNT_OF(scenarios) };

static void fill_action(ClientCall *call, const Action *action, int number) {
    Op *op = &call->request.op;
    snprintf(call->run_id, sizeof call->run_id, "r0");
    snprintf(call->id, sizeof call->id, "id%d", number);
    snprintf(call->text, sizeof call->text, "%s", action->text != NULL ? action->text : "");
    Str run = str_from(call->run_id), id = str_from(call->id), text = str_from(call->text);
    switch (action->kind) {
    case OP_PUBLISH:
        op->in.publish.event =
            (EventSpec){.topic = STR("jobs"), .id = id, .is_deduplicated = true, .payload = text};
        break;
    case OP_SIGNAL:
        op->in.signal.run_id = run;
        op->in.signal.name = STR("go");
        op->in.signal.id = id;
        op->in.signal.is_deduplicated = true;
        op->in.signal.payload = text;
        break;
    case OP_CANCEL:
        op->in.cancel.run_id = run;
        op->in.cancel.grace_ms = text.len > 1 ? 10000 : 0;
        break;
    case OP_REWIND:
        op->in.rewind.run_id = run;
        op->in.rewind.step.name = text;
        op->in.rewind.step.is_last = true;
        break;
    case OP_SET_SCHEDULE:
        snprintf(call->run_id, sizeof call->run_id, "kept");
        schedules_fill(call, action->text[0] - '0');
        break;
    case OP_PAUSE_SCHEDULE:
        snprintf(call->run_id, sizeof call->run_id, "kept");
        op->in.schedule.name = str_from(call->run_id);
        break;
    default: op->in.hold.run_id = run;
    }
}

static void add_calls(Clients *clients, const Scenario *scenario) {
    Sim *sim = clients->sim;
    ClientCall *start = clients_call(clients, OP_CREATE_RUN);
    snprintf(start->run_id, sizeof start->run_id, "r0");
    start->request.op.in.create_run.spec = (RunSpec){
        .id = str_from(start->run_id),
        .workflow = str_from(scenario->workflow),
        .input = str_from(scenario->input),
        .kind = strncmp(scenario->workflow, "flow_", 5) == 0 ? 0 : RUN_NATIVE,
        .keep_ms = KEEP_FOR_EVER,
        .parent_position = NOT_AWAITED,
    };
    for (int i = 0; i < ACTIONS_MAX && scenario->actions[i].kind != 0; i++) {
        ClientCall *call = clients_call(clients, scenario->actions[i].kind);
        fill_action(call, &scenario->actions[i], i);
        call->retry_at_ms = sim->now_ms + scenario->actions[i].at_ms;
    }
}

// Is everything over, children included?
static bool is_over(Sim *sim, int64_t *ret_state) {
    Arena arena;
    arena_init(&arena);
    Diag diag;
    int64_t live = 0;
    StoreStats stats;
    RunRow run;
    bool is_known = store_stats(sim->store, &arena, &stats, &diag) == OK &&
                    store_run_by_id(sim->store, &arena, STR("r0"), &run, &diag) == OK;
    if (is_known) {
        for (int state = RUN_PENDING; state <= RUN_PAUSED; state++)
            live += stats.counters[COUNTER_RUNS_FIRST + state];
        *ret_state = run.state;
    }
    arena_done(&arena);
    return is_known && live == 0;
}

static void play(Sim *sim, const Scenario *scenario) {
    SimNode *node = &sim->nodes[0];
    Clients clients;
    clients_init(&clients, sim, 0);
    if (scenario->has_outside) outside_begin(&clients);
    add_calls(&clients, scenario);
    int64_t state = 0;
    int rounds = 0;
    for (; rounds < 5000 && !sim_has_failed(sim); rounds++) {
        if (node->coordinator == NULL) node_start(node);
        bool has_acted = clients_send(&clients);
        has_acted = node_act(node) || has_acted;
        if (has_acted) continue;
        if (list_is_empty(&clients.calls) && is_over(sim, &state)) break;
        sim_advance(sim, &clients);
    }
    if (rounds == 5000) sim_fail(sim, "stuck");
    if (!sim_has_failed(sim) && state != (int64_t)scenario->end)
        sim_fail(sim, "ended %s instead of %s", run_state_name(state),
                 run_state_name(scenario->end));
    node_crash(node);
    clients_free(&clients);
    int64_t row_count;
    Diag diag;
    if (!sim_has_failed(sim)) ledger_check(sim);
    if (!sim_has_failed(sim)) schedules_check(sim);
    if (!sim_has_failed(sim)) sim_flows_check(sim);
    if (!sim_has_failed(sim) && store_verify(sim->store, &row_count, &diag) != OK)
        sim_fail(sim, "the store does not verify: %s", diag.message);
}

// Plays it once; answers the number of store calls, or < 0 with the failure.
static int64_t play_once(const Scenario *scenario, int64_t crash_at, Fault kind, bool is_traced,
                         char ret_failure[512]) {
    Sim *sim = mem_zalloc(sizeof(Sim));
    sim->options = (SimOptions){.seed = 1, .node_count = 1, .is_traced = is_traced};
    sim->options.schedule_count = scenario->actions[0].kind == OP_SET_SCHEDULE;
    sim->random_state = 12345;
    sim->now_ms = 1800000000000;
    sim->crash_at_call = crash_at;
    sim->crash_kind = kind;
    sim->ledger = ledger_new(sim);
    StoreConfig config = {.filter_matches = filter_matches, .run_prepare = start_prepare};
    Diag diag;
    Status status = store_open(STR("memory:"), &config, &sim->store, &diag);
    ASSERT(status == OK);
    sim_flows_define(sim);
    node_init(sim, &sim->nodes[0], 0);
    play(sim, scenario);
    int64_t answer = sim->store_calls;
    if (sim_has_failed(sim)) {
        snprintf(ret_failure, 512, "scenario \"%s\", fault %d at store call %lld: %.350s",
                 scenario->name, (int)kind, (long long)crash_at, sim->failure);
        answer = -1;
    }
    store_close(sim->store);
    ledger_free(sim->ledger);
    sim_flows_done(sim);
    mem_free(sim);
    return answer;
}

int64_t sim_exhaustive(bool is_traced, char ret_failure[512]) {
    int64_t points = 0;
    for (size_t i = 0; i < SCENARIO_COUNT; i++) {
        int64_t calls = play_once(&scenarios[i], 0, FAULT_NONE, is_traced, ret_failure);
        if (calls < 0) return -1;
        for (int64_t call = 1; call <= calls; call++)
            for (int kind = FAULT_BEFORE; kind <= FAULT_CRASH_AFTER; kind++) {
                if (play_once(&scenarios[i], call, (Fault)kind, is_traced, ret_failure) < 0)
                    return -1;
                points++;
            }
    }
    return points;
}
