// Flow runs in the simulator: scripts whose result is known, whatever happens to the nodes.
//
// Each script uses tasks, timers, signals, events, children or races in a way that leaves only
// one possible result; a doubled effect, a lost delivery or a snapshot that forgot something
// shows in it. Beside those written by hand there are some generated from the seed.
//   [flows-9] What a script waited for is delivered once: within one incarnation no two entries of
//        its log settle the same thing, and a task settles after it was queued. A further attempt
//        is another incarnation.
//
// Not here: native workflows (workload.c), who starts them (clients.c), how scripts are
// generated (generate.c).
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/limits.h"
#include "base/memory.h"
#include "engine/definitions/definition.h"
#include "sim/generate.h"
#include "store/reads.h"
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
    {"flow_away",
     "let total = 0\n"
     "for (let i = 1; i <= 4; i++)\n"
     "  total += await Task.run('away', i, {retry: {attempts: 60, maxDelay: '3s'}})\n"
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
     "  Task.run('tidy', 5, {retry: {attempts: 40}})\n"
     "}\n"
     "return 'rested'\n",
     "\"rested\""},
    {"flow_retried",
     "export const config = { retry: { attempts: 3, delay: 2, factor: 1 } }\n"
     "const { attempt } = Context\n"
     "Task.run('double', 100, {retry: {attempts: 40}, delay: '1m'})\n"
     "const [n, kid] = await Promise.all([Task.run('double', attempt, {retry: {attempts: 40}}),\n"
     "  Workflow.run('flow_chain', null, {parentClose: 'cancel'}), Timer.delay(attempt)])\n"
     "if (attempt < 3) throw new Error('again')\n"
     "return [n, kid]\n",
     "[6,20]"},
};
enum { FLOW_COUNT = COUNT_OF(flows) };

#define RETRY "{retry: {attempts: 60, maxDelay: '3s'}}"

// Those that clients do not start at random: what generated scripts start, and what scenarios need.
static const SimFlow others[] = {
    {"gen_leaf",
     "await Timer.delay(1)\n"
     "return await Task.run('double', Inputs, " RETRY ") + 1\n",
     NULL},
    {"gen_bad", "await Timer.delay(1)\nthrow new RangeError('as always')\n", NULL},
    {"flow_failing", "try { await Task.run('refuse') } catch (e) { return [e.name, e.task] }\n",
     "[\"TaskError\",\"refuse\"]"},
    {"flow_all_failing",
     "const e = await Task.all([Task.run('double', 1, " RETRY "), Task.run('refuse'),\n"
     "  Timer.delay(9)]).catch(e => e)\n"
     "return [e.name, await Task.run('double', 2, " RETRY ")]\n",
     "[\"TaskError\",4]"},
    {"flow_any",
     "const first = await Task.any([Task.run('refuse'), Task.run('double', 4, " RETRY ")])\n"
     "const none = await Task.any([Task.run('refuse')]).catch(e => e.errors[0].name)\n"
     "return [first.result, none]\n",
     "[8,\"TaskError\"]"},
    {"flow_race_failing",
     "const r = await Task.race([Timer.delay('1h'), Task.run('refuse')])\n"
     "await Timer.delay(1)\n"
     "return [r.status, r.error.name]\n",
     "[\"failed\",\"TaskError\"]"},
    {"flow_lost_race",
     "const first = await Promise.race([Signal.next('go'), Timer.delay(1)])\n"
     "return [first ?? 'none', await Signal.next('go')]\n",
     "[\"none\",\"x\"]"},
    {"flow_lost_timer",
     "const first = await Promise.race([Signal.next('go'), Timer.delay('10m')])\n"
     "await Timer.delay('15m')\n" // the lost timer comes due during this one
     "return [first, await Promise.race([Timer.delay(5), Signal.next('never')]) ?? 'none']\n",
     "[\"x\",\"none\"]"},
    {"flow_early_signal", "await Timer.delay(5)\nreturn await Signal.next('go')\n", "\"x\""},
    {"flow_busy_parent",
     "const child = Workflow.run('gen_leaf', 4)\n"
     "let n = 0\n"
     "for (let i = 0; i < 3; i++) n += await Task.run('double', i, " RETRY ")\n"
     "return [n, await child]\n",
     "[6,9]"},
    {"flow_carried",
     "const { round, seen } = Inputs ?? { round: 0, seen: [] }\n"
     "State.set('round', round)\n"
     "const [n] = await Promise.all([Task.run('double', round, " RETRY "), Timer.delay(1)])\n"
     "seen.push(n, State.get('round'))\n"
     "if (round < 2) Workflow.continueAs({ round: round + 1, seen })\n"
     "return seen\n",
     "[0,0,2,1,4,2]"},
    {"flow_preempted",
     "let x = 0\n"
     "for (let i = 0; i < 20000; i++) x += i % 2\n"
     "const n = await Task.run('double', x, " RETRY ")\n"
     "for (let i = 0; i < 20000; i++) x += i % 2\n"
     "return [n, x]\n",
     "[20000,20000]"},
};
enum { OTHER_COUNT = COUNT_OF(others) };

typedef struct SimFlows {
    Arena arena;
    GeneratedFlow generated[SIM_FLOWS_MAX];
    char names[SIM_FLOWS_MAX][16];
} SimFlows;

int sim_flow_count(void) { return FLOW_COUNT; }
const char *sim_flow_name(int number) { return flows[number].name; }
const char *sim_generated_name(const Sim *sim, int number) { return sim->flows->names[number]; }

const GeneratedFlow *sim_flow_generated(const Sim *sim, Str name) {
    for (int i = 0; i < sim->options.flow_count; i++)
        if (str_equal(str_from(sim->flows->names[i]), name)) return &sim->flows->generated[i];
    return NULL;
}

static void add_definition(Batch *batch, Str name, Str source) {
    Op *op = batch_add(batch, OP_DEFINE);
    FlowModule *module;
    Diag diag;
    Str file_name = arena_printf(batch->arena, "%.*s.flow", STR_ARG(name));
    Status status = flow_compile(file_name, source, &module, NULL, &diag);
    ASSERT(status == OK);
    status = definition_fill(module, batch->arena, op, &diag);
    ASSERT(status == OK);
    op->in.define.name = name;
    op->in.define.version = arena_str(batch->arena, op->in.define.version);
    op->in.define.config = arena_str(batch->arena, op->in.define.config);
    op->in.define.source = source;
    flow_module_release(module);
}

void sim_flows_done(Sim *sim) {
    arena_done(&sim->flows->arena);
    mem_free(sim->flows);
}

void sim_flows_define(Sim *sim) {
    sim->flows = mem_zalloc(sizeof(SimFlows));
    arena_init(&sim->flows->arena);
    for (int i = 0; i < FLOW_COUNT; i++)
        sim_flow_define(sim, str_from(flows[i].name), str_from(flows[i].source));
    for (int i = 0; i < OTHER_COUNT; i++)
        sim_flow_define(sim, str_from(others[i].name), str_from(others[i].source));
    for (int i = 0; i < sim->options.flow_count; i++) {
        GeneratedFlow *flow = &sim->flows->generated[i];
        snprintf(sim->flows->names[i], sizeof sim->flows->names[i], "gen%d", i);
        generate_flow(sim, &sim->flows->arena, flow);
        sim_flow_define(sim, str_from(sim->flows->names[i]), flow->source);
        if (sim->options.is_traced)
            printf("%s is\n%.*s// answers %.*s\n", sim->flows->names[i], STR_ARG(flow->source),
                   STR_ARG(flow->result));
    }
}

static void define(Sim *sim, Str name, Str source) {
    Arena arena;
    arena_init(&arena);
    Batch batch;
    batch_init(&batch, &arena, sim->now_ms);
    add_definition(&batch, name, source);
    Diag diag;
    Status status = store_commit(sim->store, &batch, &diag);
    ASSERT(status == OK);
    arena_done(&arena);
}

void sim_flow_define(Sim *sim, Str name, Str source) {
    Arena *arena = &sim->flows->arena;
    // Another version that does the same: what a run is moved to, and back (clients.c).
    define(sim, name, arena_printf(arena, "%.*s\n// earlier\n", STR_ARG(source)));
    define(sim, name, source);
}

// Null: any will do.
static Str expected_result(const Sim *sim, Str name) {
    const GeneratedFlow *generated = sim_flow_generated(sim, name);
    if (generated != NULL) return generated->result;
    for (int i = 0; i < FLOW_COUNT; i++)
        if (str_equal(str_from(flows[i].name), name)) return str_from(flows[i].result);
    for (int i = 0; i < OTHER_COUNT; i++)
        if (str_equal(str_from(others[i].name), name)) return str_from(others[i].result);
    return STR_NULL;
}

typedef struct LogCheck {
    Map settled, queued;
    bool is_cut; // a continue-as removed the beginning of what comes before it
} LogCheck;

// [flows-9]
static void check_entry(Sim *sim, LogCheck *check, const LogRow *entry, Str run_id) {
    Map *settled = &check->settled, *queued = &check->queued;
    if (entry->kind == LOG_CONTINUED || entry->kind == LOG_RETRY) {
        map_done(settled);
        map_done(queued);
        map_init(settled);
        map_init(queued);
        check->is_cut = false;
    }
    // By slot, because continue-as takes away positions. Slots count from 0, and a map keeps no 0.
    uint64_t key = (uint64_t)entry->slot + 1;
    // The entry that queues a task holds its id in quotes.
    if (entry->kind == LOG_TASK && entry->data.len > 2)
        (void)map_put(queued, hash_bytes(entry->data.data + 1, entry->data.len - 2), sim);
    if (entry->kind != LOG_WAIT || entry->outcome == OUTCOME_CANCELLED) return;
    if (map_get(settled, key) != NULL)
        sim_fail(sim, "[X9] run %.*s was given awaitable %lld twice", STR_ARG(run_id),
                 (long long)entry->slot);
    (void)map_put(settled, key, sim);
    Str target = log_entry_target(entry);
    bool is_task = str_starts_with(target, STR("task"));
    bool is_queued = map_get(queued, hash_bytes(target.data, target.len)) != NULL;
    if (is_task && !check->is_cut && !is_queued)
        sim_fail(sim, "[X9] run %.*s: awaitable %lld settled before it was queued", STR_ARG(run_id),
                 (long long)entry->slot);
}

static void check_log(Sim *sim, Str run_id, Arena *arena) {
    LogCheck check = {0};
    map_init(&check.settled);
    map_init(&check.queued);
    LogFilter filter = {run_of_id(run_id), {.limit = LIMIT_LIST_PAGE}};
    LogPage page;
    Diag diag;
    do {
        if (store_read_log(sim->store, arena, &filter, &page, &diag) != OK) break;
        for (size_t i = 0; i < page.count; i++) {
            if (filter.page.after == 0) check.is_cut = page.rows[i].seq > 1;
            filter.page.after = page.rows[i].seq;
            check_entry(sim, &check, &page.rows[i], run_id);
        }
    } while (page.count == LIMIT_LIST_PAGE);
    map_done(&check.settled);
    map_done(&check.queued);
}

static void check_run(Sim *sim, const RunRow *row, Arena *arena) {
    if (row->kind == RUN_FLOW) check_log(sim, row->id, arena);
    Str expected = expected_result(sim, row->workflow);
    if (str_is_null(expected) || row->state == RUN_CANCELLED) return;
    RunResult result;
    Diag diag;
    if (store_find_result(sim->store, arena, run_of_id(row->id), &result, &diag) != OK) {
        sim_fail(sim, "[X6] run %.*s has no result", STR_ARG(row->id));
        return;
    }
    if (row->state == RUN_COMPLETED && str_equal(result.json, expected)) return;
    sim_fail(sim, "[X1] run %.*s of %.*s is %s with %.*s instead of %.*s", STR_ARG(row->id),
             STR_ARG(row->workflow), run_state_name(row->state), STR_ARG(result.json),
             STR_ARG(expected));
}

void sim_flows_check(Sim *sim) {
    Arena arena;
    arena_init(&arena);
    RunFilter filter = {.limit = LIMIT_LIST_PAGE};
    do {
        RunPage page;
        Diag diag;
        if (store_list_runs(sim->store, &arena, &filter, &page, &diag) != OK) break;
        for (size_t i = 0; i < page.count; i++) check_run(sim, &page.rows[i], &arena);
        filter.cursor = page.next;
    } while (filter.cursor != 0 && !sim_has_failed(sim));
    arena_done(&arena);
}
