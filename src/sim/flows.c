// Flow runs in the simulator: scripts whose result is known, whatever happens to the nodes.
//
// Each script uses tasks, timers, signals, events, children or races in a way that leaves only
// one possible result; a doubled effect, a lost delivery or a snapshot that forgot something
// shows in it.
//
// Not here: native workflows (workload.c), who starts them (clients.c).
#include "sim/sim.h"
#include <stdio.h>

typedef struct SimFlow {
    const char *name;
    const char *source;
    const char *result; // NULL: any
} SimFlow;

static const SimFlow flows[] = {
    {"flow_chain",
     "let total = 0\n"
     "for (let i = 1; i <= 4; i++) total += await Task.run('double', i, {retry: {attempts: 40}})\n"
     "return total\n",
     "20"},
    {"flow_fan",
     "const results = await Task.all([1, 2, 3, 4, 5, 6, 7, 8].map(i =>\n"
     "  Task.run('double', i, {retry: {attempts: 40, delay: '1s'}})))\n"
     "return results\n",
     "[2,4,6,8,10,12,14,16]"},
    {"flow_sleep",
     "const before = Date.now()\n"
     "await Promise.all([Timer.delay('20s'), Timer.delay(40), (async () => {\n"
     "  await Timer.delay('10s'); await Task.run('double', 1, {retry: {attempts: 40}}) })()])\n"
     "return Date.now() - before >= 38000\n",
     "true"},
    {"flow_race",
     "const winner = await Task.race([Timer.delay('30d'),\n"
     "  Task.run('double', 21, {retry: {attempts: 40, delay: '1s', maxDelay: '2s'}})])\n"
     "return [winner.status, winner.result]\n",
     "[\"completed\",42]"},
    {"flow_signal",
     "const seen = []\n"
     "for (let i = 0; i < 2; i++) {\n"
     "  const value = await Signal.when('go', {timeout: '4m'}).catch(e => e.name)\n"
     "  seen.push(typeof value)\n"
     "}\n"
     "return seen\n",
     "[\"string\",\"string\"]"},
    {"flow_event",
     "const got = await Event.wait('jobs', {timeout: '5m'}).catch(e => e.name)\n"
     "await Task.run('double', 1, {retry: {attempts: 40}})\n"
     "return typeof got\n",
     "\"string\""},
    {"flow_child",
     "const [a, b] = await Promise.all([Workflow.run('flow_chain'), Workflow.run('flow_fan')])\n"
     "const bad = await Workflow.run('no_such_workflow').catch(e => e.name)\n"
     "return [a, b.length, bad]\n",
     "[20,8,\"ChildWorkflowError\"]"},
    {"flow_again",
     "const round = Inputs ?? 0\n"
     "await Timer.delay(1)\n"
     "if (round < 3) Workflow.continueAs(round + 1)\n"
     "return round\n",
     "3"},
    {"flow_cleanup",
     "try { await Timer.delay('10m') } finally {\n"
     "  await Task.run('double', 5, {retry: {attempts: 40}})\n"
     "}\n"
     "return 'rested'\n",
     "\"rested\""},
};
enum { FLOW_COUNT = sizeof flows / sizeof flows[0] };

int sim_flow_count(void) { return FLOW_COUNT; }
const char *sim_flow_name(int number) { return flows[number].name; }

void sim_flows_define(Sim *sim) {
    Arena arena;
    arena_init(&arena);
    Batch batch;
    batch_init(&batch, &arena, sim->now_ms);
    for (int i = 0; i < FLOW_COUNT; i++) {
        Op *op = batch_add(&batch, OP_DEFINE);
        op->define.name = str_from(flows[i].name);
        op->define.version = STR("v1");
        op->define.source = str_from(flows[i].source);
        op->define.kind = RUN_FLOW;
    }
    Diag diag;
    Status status = store_commit(sim->store, &batch, &diag);
    ASSERT(status == OK);
    arena_done(&arena);
}

static const SimFlow *find(Str name) {
    for (int i = 0; i < FLOW_COUNT; i++)
        if (str_equal(str_from(flows[i].name), name)) return &flows[i];
    return NULL;
}

static void check_run(Sim *sim, const RunRow *row, Arena *arena) {
    const SimFlow *flow = find(row->workflow);
    if (flow == NULL || flow->result == NULL || row->state == RUN_CANCELLED) return;
    Query query = {.kind = QUERY_RESULT, .run_id = row->id};
    Diag diag;
    if (store_read(sim->store, arena, &query, &diag) != OK) {
        sim_fail(sim, "[X6] run %.*s has no result", STR_ARG(row->id));
        return;
    }
    if (row->state == RUN_COMPLETED && str_equal(query.text, str_from(flow->result))) return;
    sim_fail(sim, "[X1] run %.*s of %s is %s with %.*s instead of %s", STR_ARG(row->id), flow->name,
             run_state_name(row->state), STR_ARG(query.text), flow->result);
}

void sim_flows_check(Sim *sim) {
    Arena arena;
    arena_init(&arena);
    int64_t cursor = 0;
    do {
        Query query = {.kind = QUERY_LIST_RUNS};
        query.filter.limit = 500;
        query.filter.cursor = cursor;
        Diag diag;
        if (store_read(sim->store, &arena, &query, &diag) != OK) break;
        for (size_t i = 0; i < query.count; i++) check_run(sim, &query.runs[i], &arena);
        cursor = query.next;
    } while (cursor != 0 && !sim_has_failed(sim));
    arena_done(&arena);
}
