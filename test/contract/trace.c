// Traces: see trace.h. Each `build_` function turns one number into one operation.
#include "contract/trace.h"
#include "base/array.h"
#include "base/env.h"
#include "model/tasks/id.h"
#include <stdio.h>
#include <stdlib.h>

#define START_MS INT64_C(1700000000000) // 2023-11-14T22:13:20Z
enum { KNOWN_RUNS = TRACE_RUNS + TRACE_GUESTS };

const char *const trace_topics[] = {"t0", "t1", "t2", "t3"};
const size_t trace_topic_count = 4;
const char *const trace_tags[] = {"red", "blue"};
const size_t trace_tag_count = 2;

typedef struct Maker { // of one operation
    uint64_t random;
    const Knowledge *knowledge;
    Arena *arena;
    int64_t node;
} Maker;

static uint32_t pick(Maker *maker, uint32_t count) {
    return (uint32_t)(random_next(&maker->random) >> 33) % count;
}
static bool chance(Maker *maker, uint32_t percent) { return pick(maker, 100) < percent; }
static int64_t between(Maker *maker, int64_t min, int64_t max) {
    return min + (int64_t)(random_next(&maker->random) % (uint64_t)(max - min + 1));
}
static uint64_t some_columns(Maker *maker, uint32_t first, uint32_t last) { // by place
    return (uint64_t)between(maker, 0, (1 << (last - first + 1)) - 1) << first;
}
static Str numbered(Maker *maker, const char *prefix, uint32_t count) {
    return arena_printf(maker->arena, "%s%u", prefix, pick(maker, count));
}
static int64_t later(Maker *maker, int64_t min, int64_t max) {
    return maker->knowledge->now_ms + between(maker, min, max);
}

static Str payload(Maker *maker) {
    static const Str all[] = {STR_NULL,
                              STR(""),
                              STR("null"),
                              STR("[]"),
                              STR("{}"),
                              STR("12345678901234567"),
                              STR("\"\xf0\x9f\x8d\xb0'%\\\""),
                              STR("{\"kind\":\"a\"}"),
                              STR("{\"kind\":\"b\"}")};
    uint32_t place = pick(maker, 11);
    if (place < 9) return all[place];
    if (place == 9) return arena_printf(maker->arena, "%u", pick(maker, 1000));
    size_t size = pick(maker, 9000); // over a page of any backend
    char *text = arena_alloc(maker->arena, size + 1);
    for (size_t i = 0; i < size; i++) text[i] = (char)('a' + (i * 7 + size) % 26);
    return (Str){text, size};
}

// Places in the pool: runs of callers, then children, then forks.
static Str run_name(Arena *arena, uint32_t place) {
    return arena_printf(arena, "%s%u", place < 12 ? "r" : place < 20 ? "c" : "f", place);
}
typedef enum Wanted { WANTED_LIVE, WANTED_ENDED, WANTED_FREE } Wanted;

static bool run_is(const KnownRun *run, Wanted wanted) {
    if (wanted == WANTED_FREE) return run->key == 0;
    return run->key != 0 && run->is_ended == (wanted == WANTED_ENDED);
}

// Mostly one of the kind that makes sense, out of the first `count` of the pool.
static Str some_run(Maker *maker, Wanted wanted, uint32_t count) {
    uint32_t first = pick(maker, count);
    if (chance(maker, 10)) return run_name(maker->arena, first);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = (first + i) % count;
        if (run_is(&maker->knowledge->runs[place], wanted)) return run_name(maker->arena, place);
    }
    return run_name(maker->arena, first);
}
static Str some_child(Maker *maker) { return run_name(maker->arena, 12 + pick(maker, 8)); }
static Str task_name(const Knowledge *knowledge, Arena *arena, uint32_t place) {
    if (place < TRACE_TASKS) return arena_printf(arena, "task:%u", place);
    return str_from(knowledge->tasks[place].own_id);
}
static uint32_t some_task_place(Maker *maker, bool is_leased) {
    enum { COUNT = TRACE_TASKS + TRACE_OWN_TASKS };
    if (chance(maker, 8)) return pick(maker, TRACE_TASKS);
    uint32_t first = pick(maker, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const KnownTask *task = &maker->knowledge->tasks[(first + i) % COUNT];
        if (is_leased ? task->token != 0 : task->exists) return (first + i) % COUNT;
    }
    if (first >= TRACE_TASKS) first = 0;
    return first;
}

static const char *const op_steps[] = {"step1", "step10", "step2", "zeta", "alpha"};
static Str some_step(Maker *maker) { return str_from(op_steps[pick(maker, 5)]); }
static Str some_topic(Maker *maker) { return str_from(trace_topics[pick(maker, 4)]); }

static RunSpec some_spec(Maker *maker, Str id) {
    static const Str tags[] = {STR_NULL, STR("red"), STR("blue"), STR("red\nblue"), STR("")};
    static const int64_t keeps[] = {-1, -1, 0, 2000, 60000};
    bool is_pinned = chance(maker, 15); // to the current definition, if there is one
    Str workflow = chance(maker, 50) ? STR("order") : STR("mail");
    return (RunSpec){
        .id = id,
        .workflow = is_pinned ? numbered(maker, "workflow", 3) : workflow,
        .kind = is_pinned           ? 0
                : chance(maker, 60) ? RUN_NATIVE
                                    : RUN_FLOW,
        .input = payload(maker),
        .dedupe_key = chance(maker, 15) ? numbered(maker, "k", 4) : STR_NULL,
        .start_at_ms = chance(maker, 15) ? later(maker, -1000, 5000) : 0,
        .priority = between(maker, -1, 1),
        .timeout_ms = chance(maker, 20) ? between(maker, 1, 20000) : 0,
        .keep_ms = keeps[pick(maker, 5)],
        .queue = chance(maker, 10) ? STR("fast") : STR_NULL,
        .tags = tags[pick(maker, 5)],
        .leftover_policy = pick(maker, 3),
        .leftover_topic = chance(maker, 80) ? some_topic(maker) : STR_NULL,
        .parent_position = between(maker, -1, 5),
        .close_policy = pick(maker, 2),
    };
}

static TaskSpec some_task(Maker *maker) {
    return (TaskSpec){
        .id = numbered(maker, "task:", TRACE_TASKS),
        .name = chance(maker, 50) ? STR("charge") : STR("ship"),
        .queue = chance(maker, 50) ? STR_NULL : STR("q1"),
        .input = payload(maker),
        .position = between(maker, 0, 20),
        .priority = between(maker, -1, 1),
        .delay_ms = chance(maker, 20) ? between(maker, 1, 2000) : 0,
        .max_attempts = pick(maker, 4),
        .backoff_ms = chance(maker, 50) ? between(maker, 1, 2000) : 0,
        .backoff_max_ms = chance(maker, 50) ? 3000 : 0,
        .backoff_factor_pct = chance(maker, 50) ? 200 : 0,
        .jitter_pct = chance(maker, 30) ? 50 : 0,
        .start_timeout_ms = chance(maker, 20) ? between(maker, 1, 3000) : 0,
        .run_timeout_ms = chance(maker, 20) ? between(maker, 1, 3000) : 0,
        .heartbeat_ms = chance(maker, 20) ? between(maker, 1, 2000) : 0,
        .non_retryable = chance(maker, 20) ? STR("Fatal\nTaskTimeoutError") : STR_NULL,
        .concurrency_key = chance(maker, 40) ? numbered(maker, "key", 2) : STR_NULL,
    };
}

static EventSpec some_event(Maker *maker) {
    return (EventSpec){.topic = some_topic(maker),
                       .id = numbered(maker, "e", 5),
                       .is_deduplicated = chance(maker, 25),
                       .payload = payload(maker)};
}

static LogRow some_entry(Maker *maker) {
    static const LogKind kinds[] = {LOG_STEP,   LOG_STEP, LOG_STEP, LOG_STEP_ATTEMPT,
                                    LOG_CHILD,  LOG_TASK, LOG_EMIT, LOG_MARK,
                                    LOG_STREAM, LOG_LINE, LOG_TASK, LOG_WAITING};
    LogRow entry = {.kind = kinds[pick(maker, 12)],
                    .position = between(maker, 0, 20),
                    .iteration = pick(maker, 3),
                    .attempt = pick(maker, 3),
                    .outcome = chance(maker, 90) ? OUTCOME_OK : pick(maker, OUTCOME_COUNT),
                    .name = some_step(maker),
                    .data = payload(maker)};
    if (entry.kind == LOG_LINE) entry.position = -1;
    return entry;
}

// A claim to use: mostly one of the node that submits, sometimes anybody's, sometimes stale.
static const KnownRun *some_claim(Maker *maker, int64_t *ret_epoch) {
    const KnownRun *runs = maker->knowledge->runs;
    uint32_t first = pick(maker, KNOWN_RUNS);
    bool is_own = chance(maker, 92), is_stale = chance(maker, 4);
    for (uint32_t i = 0; i < KNOWN_RUNS && !is_stale; i++) {
        const KnownRun *run = &runs[(first + i) % KNOWN_RUNS];
        bool is_ours = maker->node == 0 || run->node == maker->node || !is_own;
        if (run->epoch == 0 || !is_ours) continue;
        *ret_epoch = run->epoch;
        return run;
    }
    *ret_epoch = runs[first].stale_epoch;
    return &runs[first];
}

static bool has_claim(const Maker *maker) {
    for (uint32_t i = 0; i < KNOWN_RUNS; i++) {
        const KnownRun *run = &maker->knowledge->runs[i];
        if (run->epoch != 0 && (maker->node == 0 || run->node == maker->node)) return true;
    }
    return false;
}

static WaitItem some_wait(Maker *maker, int64_t slot) {
    WaitItem item = {.kind = between(maker, WAIT_EVENT, WAIT_KIND_COUNT - 1),
                     .slot = slot,
                     .position = between(maker, 0, 20),
                     .iteration = pick(maker, 2)};
    bool is_bounded = chance(maker, 30);
    uint32_t task = some_task_place(maker, false);
    uint32_t child = 12 + pick(maker, 8);
    bool is_known = item.kind == WAIT_TASK ? maker->knowledge->tasks[task].exists
                                           : maker->knowledge->runs[child].key != 0;
    bool has_target = item.kind == WAIT_TASK || item.kind == WAIT_CHILD;
    if (has_target && !is_known && !chance(maker, 3)) item.kind = WAIT_SIGNAL;
    switch ((WaitKind)item.kind) {
    case WAIT_EVENT:
        item.name = some_topic(maker);
        if (chance(maker, 30)) item.filter = chance(maker, 50) ? STR("\"a\"") : STR("\"b\"");
        break;
    case WAIT_SIGNAL: item.name = numbered(maker, "go", 3); break;
    case WAIT_TIMER:
    case WAIT_RETRY: is_bounded = true; break;
    case WAIT_CHILD: item.name = run_name(maker->arena, child); break;
    case WAIT_TASK: item.name = task_name(maker->knowledge, maker->arena, task); break;
    case WAIT_KIND_COUNT: abort();
    }
    if (is_bounded) item.deadline_at_ms = later(maker, -500, 4000);
    return item;
}

static void build_waits(Maker *maker, TurnCommit *turn) {
    turn->waits.mode = chance(maker, 60) ? WAIT_FIRST : WAIT_EACH;
    turn->waits.count = 1 + pick(maker, 4);
    turn->waits.items = ARENA_ARRAY(maker->arena, WaitItem, turn->waits.count);
    for (size_t i = 0; i < turn->waits.count; i++) {
        WaitItem *item = &turn->waits.items[i];
        *item = some_wait(maker, (int64_t)i);
        bool has_target = item->kind == WAIT_TASK || item->kind == WAIT_CHILD;
        if (!has_target || !chance(maker, 60)) continue;
        item->group = between(maker, 1, 2); // refused where groups are not allowed
        item->quiet = between(maker, WAIT_QUIET_OK, WAIT_QUIET_OK | WAIT_QUIET_ERROR);
    }
}

// As scripts do: one task under an id that leads to the run, and nothing else is waited for.
static void build_chain(Maker *maker, TurnCommit *turn) {
    static const Str name = STR("a run");
    TaskPlace place = {name, turn->run, maker->knowledge->batch_number, pick(maker, 1000)};
    turn->next = NEXT_SUSPEND;
    turn->child_count = 0;
    turn->task_count = 1;
    turn->tasks[0] = some_task(maker);
    turn->tasks[0].id = task_id_make(maker->arena, &place);
    turn->tasks[0].delay_ms = 0;
    if (chance(maker, 90)) turn->tasks[0].concurrency_key = STR_NULL;
    turn->waits.mode = WAIT_EACH;
    turn->waits.count = 1;
    turn->waits.items = ARENA_ARRAY(maker->arena, WaitItem, 1);
    turn->waits.items[0] = (WaitItem){.kind = WAIT_TASK,
                                      .slot = turn->tasks[0].position,
                                      .position = turn->tasks[0].position,
                                      .name = turn->tasks[0].id};
}

static void build_turn(Maker *maker, Op *op) {
    static const TurnNext nexts[] = {NEXT_CONTINUE, NEXT_CONTINUE,  NEXT_CONTINUE,    NEXT_CONTINUE,
                                     NEXT_CONTINUE, NEXT_CONTINUE,  NEXT_SUSPEND,     NEXT_SUSPEND,
                                     NEXT_SUSPEND,  NEXT_SUSPEND,   NEXT_SUSPEND,     NEXT_SUSPEND,
                                     NEXT_SUSPEND,  NEXT_COMPLETE,  NEXT_COMPLETE,    NEXT_FAIL,
                                     NEXT_PAUSE,    NEXT_CANCELLED, NEXT_CONTINUE_AS, NEXT_RETRY,
                                     NEXT_RETRY};
    TurnCommit *turn = &op->in.turn;
    const KnownRun *run = some_claim(maker, &turn->epoch);
    turn->run = run->key;
    turn->next = nexts[pick(maker, COUNT_OF(nexts))];
    turn->log_count = pick(maker, 4);
    turn->log = ARENA_ARRAY(maker->arena, LogRow, 4);
    for (size_t i = 0; i < turn->log_count; i++) turn->log[i] = some_entry(maker);
    turn->child_count = chance(maker, 15) ? 1 + pick(maker, 2) : 0;
    turn->children = ARENA_ARRAY(maker->arena, RunSpec, 2);
    for (size_t i = 0; i < turn->child_count; i++) {
        turn->children[i] = some_spec(maker, some_child(maker));
    }
    turn->task_count = chance(maker, 20) ? 1 + pick(maker, 2) : 0;
    turn->tasks = ARENA_ARRAY(maker->arena, TaskSpec, 2);
    for (size_t i = 0; i < turn->task_count; i++) turn->tasks[i] = some_task(maker);
    turn->event_count = chance(maker, 20) ? 1 + pick(maker, 2) : 0;
    turn->events = ARENA_ARRAY(maker->arena, EventSpec, 2);
    for (size_t i = 0; i < turn->event_count; i++) turn->events[i] = some_event(maker);
    if (run->is_flow && chance(maker, 60)) turn->snapshot = payload(maker);
    if (run->is_flow) turn->place = between(maker, 0, 3);
    turn->keep_snapshots = pick(maker, 4);
    turn->is_kept = pick(maker, 2) == 0;
    turn->state_count = chance(maker, 30) ? 1 + pick(maker, 2) : 0;
    turn->states = ARENA_ARRAY(maker->arena, StateSpec, 2);
    for (size_t i = 0; i < turn->state_count; i++) {
        turn->states[i] = (StateSpec){numbered(maker, "key", 3), payload(maker)};
    }
    turn->result = payload(maker);
    if (turn->next == NEXT_RETRY) turn->retry_at_ms = later(maker, -500, 4000);
    if (turn->next == NEXT_SUSPEND) build_waits(maker, turn);
    if (run->is_flow && chance(maker, 30)) build_chain(maker, turn);
}

static void build_task_op(Maker *maker, Op *op) {
    uint32_t place = some_task_place(maker, op->kind != OP_RETRY_TASK);
    const KnownTask *task = &maker->knowledge->tasks[place];
    Str id = task_name(maker->knowledge, maker->arena, place);
    bool is_stale = task->token == 0 || chance(maker, 5);
    int64_t token = is_stale ? task->stale_token : task->token;
    switch (op->kind) {
    case OP_HEARTBEAT_TASK:
        op->in.heartbeat.id = id;
        op->in.heartbeat.token = token;
        op->in.heartbeat.lease_ms = between(maker, 0, 3000);
        op->in.heartbeat.progress = payload(maker);
        break;
    case OP_COMPLETE_TASK:
        op->in.complete_task.id = id;
        op->in.complete_task.token = token;
        op->in.complete_task.result = payload(maker);
        break;
    case OP_FAIL_TASK:
        op->in.fail_task.id = id;
        op->in.fail_task.token = token;
        op->in.fail_task.type = chance(maker, 20) ? STR("Fatal") : STR("Busy");
        op->in.fail_task.error = payload(maker);
        op->in.fail_task.is_final = chance(maker, 10);
        break;
    case OP_RELEASE_TASK:
        op->in.release_task.id = id;
        op->in.release_task.token = token;
        break;
    default: op->in.retry_task.id = id; break;
    }
}

static void build_claim_tasks(Maker *maker, Op *op) {
    op->in.claim_tasks.worker = numbered(maker, "w", 2);
    op->in.claim_tasks.queues = ARENA_ARRAY(maker->arena, Str, 2);
    op->in.claim_tasks.queues[0] = chance(maker, 50) ? STR("default") : STR("q1");
    op->in.claim_tasks.queues[1] = STR("q1");
    op->in.claim_tasks.queue_count = 1 + pick(maker, 2);
    op->in.claim_tasks.is_any_queue = chance(maker, 30);
    op->in.claim_tasks.first_queue = pick(maker, 3);
    op->in.claim_tasks.names = ARENA_ARRAY(maker->arena, Str, 1);
    op->in.claim_tasks.names[0] = STR("ship");
    op->in.claim_tasks.name_count = chance(maker, 25);
    op->in.claim_tasks.is_eager = chance(maker, 60);
    op->in.claim_tasks.max = between(maker, 1, 4);
    op->in.claim_tasks.lease_ms = between(maker, 0, 3000);
}

// Mostly of a parked script, with the epoch that it has.
static void build_move(Maker *maker, Op *op) {
    const KnownRun *runs = maker->knowledge->runs;
    uint32_t place = pick(maker, TRACE_RUNS);
    for (uint32_t i = 0; i < TRACE_RUNS; i++) {
        uint32_t next = (place + i) % TRACE_RUNS;
        bool is_parked = runs[next].is_flow && !runs[next].is_ended && runs[next].epoch == 0;
        if (!is_parked || chance(maker, 10)) continue;
        place = next;
        break;
    }
    op->in.move.run_id = run_name(maker->arena, place);
    op->in.move.epoch = runs[place].stale_epoch + (chance(maker, 10) ? 1 : 0);
    op->in.move.definition = between(maker, 0, 2);
    op->in.move.place = between(maker, 0, 3);
    op->in.move.snapshot = payload(maker);
    op->in.move.note = STR("{}");
}

// Made of what a script without a version, or without a snapshot, has there; often wrong.
static ForkVersion some_version(Maker *maker) {
    return (ForkVersion){.definition = between(maker, 1, 2),
                         .from = between(maker, 0, 1),
                         .digest = snapshot_digest(chance(maker, 60) ? STR_NULL : payload(maker)),
                         .snapshot = payload(maker),
                         .place = between(maker, 0, 3),
                         .note = STR("{}")};
}

static void build_outside(Maker *maker, Op *op) {
    static const int64_t graces[] = {0, 1000, 5000};
    switch (op->kind) {
    case OP_PUBLISH: op->in.publish.event = some_event(maker); break;
    case OP_SIGNAL:
        op->in.signal.run_id = some_run(maker, WANTED_LIVE, TRACE_RUNS);
        op->in.signal.name = numbered(maker, "go", 3);
        op->in.signal.id = numbered(maker, "s", 5);
        op->in.signal.is_deduplicated = chance(maker, 20);
        op->in.signal.payload = payload(maker);
        break;
    case OP_CANCEL:
        op->in.cancel.run_id = some_run(maker, WANTED_LIVE, TRACE_RUNS);
        op->in.cancel.reason = payload(maker);
        op->in.cancel.grace_ms = graces[pick(maker, 3)];
        break;
    case OP_PAUSE:
    case OP_RESUME: op->in.hold.run_id = some_run(maker, WANTED_LIVE, TRACE_RUNS); break;
    case OP_REWIND:
        op->in.rewind.run_id = some_run(maker, WANTED_LIVE, TRACE_RUNS);
        op->in.rewind.step.name = some_step(maker);
        op->in.rewind.step.is_last = chance(maker, 75);
        if (!op->in.rewind.step.is_last) op->in.rewind.step.iteration = between(maker, 0, 1);
        break;
    case OP_FORK:
        op->in.fork.run_id = some_run(maker, WANTED_LIVE, TRACE_RUNS);
        op->in.fork.step.name = chance(maker, 70) ? some_step(maker) : STR_NULL;
        op->in.fork.step.is_last = true;
        op->in.fork.new_id = run_name(maker->arena, 20 + pick(maker, TRACE_RUNS - 20));
        if (!chance(maker, 40)) break;
        op->in.fork.run_id = some_run(maker, WANTED_ENDED, TRACE_RUNS);
        op->in.fork.is_retry = true;
        if (chance(maker, 50)) op->in.fork.new_id = STR_NULL;
        if (chance(maker, 50)) op->in.fork.version = some_version(maker);
        break;
    case OP_MOVE: build_move(maker, op); break;
    case OP_REMOVE_EVENTS:
        op->in.remove_events.topic = some_topic(maker);
        if (chance(maker, 60)) op->in.remove_events.key = between(maker, 1, 300);
        break;
    case OP_REMOVE_SIGNALS:
        op->in.remove_events.run_id = some_run(maker, WANTED_LIVE, TRACE_RUNS);
        if (chance(maker, 50)) op->in.remove_events.name = numbered(maker, "go", 3);
        if (chance(maker, 30)) op->in.remove_events.key = between(maker, 1, 300);
        break;
    case OP_PURGE_RUN: op->in.purge.run_id = some_run(maker, WANTED_ENDED, TRACE_RUNS); break;
    case OP_SET_TOPIC:
        op->in.set_topic.row = (TopicRow){.name = some_topic(maker),
                                          .consume = pick(maker, 2),
                                          .visible = pick(maker, 3),
                                          .cap = pick(maker, 8),
                                          .expire_ms = chance(maker, 30) ? 2000 : 0};
        if (chance(maker, 50)) op->in.set_topic.kept = some_columns(maker, 1, 4);
        break;
    default: abort();
    }
}

// Mostly a row of the present, sometimes an old one, or one that is no row.
static void build_rates(Maker *maker, RateRow *rows) {
    for (int i = 0; i < RATE_RESOLUTION_COUNT; i++) {
        int64_t step_ms = i == 0 ? RATE_FINE_MS : RATE_COARSE_MS, row_ms = rate_row_ms(step_ms);
        int64_t now_ms = maker->knowledge->now_ms;
        rows[i] = (RateRow){.step_ms = step_ms,
                            .from_ms = now_ms - now_ms % row_ms - row_ms * between(maker, 0, 30),
                            .source = maker->node};
        if (chance(maker, 3)) rows[i].from_ms += between(maker, -1, 1);
        if (chance(maker, 80)) rows[i].points = numbered(maker, "points", 3);
    }
}

static void build_node_op(Maker *maker, Op *op) {
    // A lease that is made shorter is noticed late by nodes that know the longer one
    // (nodes/heartbeats.c), and no engine does that: so it is never made shorter here.
    static const int64_t leases[] = {3000, 9000, 20000};
    switch (op->kind) {
    case OP_JOIN:
        op->in.join.name = numbered(maker, "node", 3);
        if (chance(maker, 2)) op->in.join.version = numbered(maker, "0.1.", 3);
        op->in.join.lease_ms = leases[pick(maker, 3)];
        op->in.join.is_exclusive = chance(maker, 6);
        break;
    case OP_RENEW:
        op->in.renew.lease_ms = leases[2];
        op->in.renew.resident_count = between(maker, 0, 9);
        break;
    case OP_LEAVE: break;
    case OP_DESCRIBE_NODE:
        if (chance(maker, 80)) op->in.describe_node.workers = numbered(maker, "workers", 3);
        break;
    case OP_NOTE_RATES: build_rates(maker, op->in.note_rates.rows); break;
    case OP_CLAIM: op->in.claim.max = between(maker, 0, 6); break;
    case OP_DEFINE:
        op->in.define.name = numbered(maker, "workflow", 2);
        op->in.define.version = numbered(maker, "v", 3);
        op->in.define.kind = RUN_FLOW;
        op->in.define.config = payload(maker);
        op->in.define.source = payload(maker);
        break;
    case OP_FIRE_DUE: op->in.fire_due.max = chance(maker, 70) ? 1000 : between(maker, 1, 5); break;
    case OP_SWEEP: op->in.sweep.max = chance(maker, 70) ? 1000 : between(maker, 1, 5); break;
    default: abort();
    }
}

static void build_rest(Maker *maker, Op *op) {
    switch (op->kind) {
    case OP_CREATE_RUN: {
        Str id = some_run(maker, WANTED_FREE, 12);
        op->in.create_run.spec = some_spec(maker, id);
        break;
    }
    case OP_CREATE_TASK: op->in.create_task.spec = some_task(maker); break;
    case OP_RELEASE: op->in.release.run = some_claim(maker, &op->in.release.epoch)->key; break;
    case OP_APPEND_LOG:
        op->in.append_log.run = some_claim(maker, &op->in.append_log.epoch)->key;
        if (chance(maker, 50)) op->in.append_log.is_any_epoch = true;
        op->in.append_log.entry =
            (LogRow){.kind = LOG_LINE, .position = -1, .data = payload(maker)};
        op->in.append_log.has_idle_since = !chance(maker, 80);
        op->in.append_log.idle_since_ms = maker->knowledge->now_ms;
        break;
    case OP_NOTE_RELEASED:
    case OP_NOTE_RELOADED:
        if (chance(maker, 30)) op->in.memory.run = some_claim(maker, &op->in.memory.epoch)->key;
        else op->in.memory.run_id = some_run(maker, WANTED_LIVE, TRACE_RUNS);
        if (chance(maker, 80)) op->in.memory.is_any_epoch = true;
        op->in.memory.is_forced = chance(maker, 50);
        op->in.memory.has_entry = chance(maker, 70);
        break;
    case OP_REPLAY_DEAD_LETTER:
    case OP_REMOVE_DEAD_LETTER:
        op->in.dead_letter.key = 424242;
        if (maker->knowledge->letter_count > 0) {
            uint32_t count = (uint32_t)maker->knowledge->letter_count;
            op->in.dead_letter.key = maker->knowledge->letters[pick(maker, count)];
        }
        break;
    default: abort();
    }
}

static ScheduleRow some_schedule(Maker *maker, Str name) {
    static const struct {
        ScheduleKind kind;
        Str spec;
    } whens[] = {{SCHEDULE_INTERVAL, STR("10s")},
                 {SCHEDULE_INTERVAL, STR("25s")},
                 {SCHEDULE_CRON, STR("* * * * *")},
                 {SCHEDULE_CRON, STR("30 2 * * 1-5")},
                 {SCHEDULE_ONCE, STR("2023-11-14T22:13:50Z")},
                 {SCHEDULE_CRON, STR("not a schedule")}};
    uint32_t when = pick(maker, 6);
    return (ScheduleRow){.name = name,
                         .workflow = numbered(maker, "workflow", 3),
                         .run_kind = chance(maker, 30) ? 0 : RUN_NATIVE,
                         .input = payload(maker),
                         .tags = chance(maker, 30) ? STR("blue") : STR_NULL,
                         .priority = between(maker, -1, 1),
                         .timeout_ms = between(maker, 1, 15000),
                         .keep_ms = between(maker, 0, 2000),
                         .kind = whens[when].kind,
                         .spec = whens[when].spec,
                         .jitter_ms = chance(maker, 30) ? 3000 : 0,
                         .overlap = pick(maker, OVERLAP_COUNT),
                         .grace_ms = chance(maker, 50) ? 1000 : 0,
                         .catch_up_ms = chance(maker, 50) ? 30000 : 0,
                         .is_paused = chance(maker, 10)};
}

static void build_schedule_op(Maker *maker, Op *op) {
    Str name = numbered(maker, "every", 3);
    switch (op->kind) {
    case OP_SET_SCHEDULE: op->in.set_schedule.row = some_schedule(maker, name); break;
    case OP_TRIGGER_SCHEDULE:
        op->in.trigger_schedule.name = name;
        if (chance(maker, 30)) op->in.trigger_schedule.id = some_run(maker, WANTED_FREE, 12);
        break;
    case OP_BACKFILL_SCHEDULE:
        op->in.backfill.name = name;
        op->in.backfill.from_ms = later(maker, -60000, 0);
        op->in.backfill.to_ms = later(maker, -20000, 20000);
        op->in.backfill.limit = between(maker, 1, 4);
        break;
    default: op->in.schedule.name = name; break;
    }
}

static void build_queue_op(Maker *maker, Op *op) {
    Str name = chance(maker, 50) ? STR("default") : STR("q1");
    if (op->kind != OP_SET_QUEUE) {
        op->in.queue.name = name;
        return;
    }
    bool has_rate = chance(maker, 40);
    op->in.set_queue.row = (QueueRow){.name = name,
                                      .max_running = chance(maker, 50) ? between(maker, 0, 3) : 0,
                                      .max_per_key = pick(maker, 3),
                                      .rate_count = has_rate ? between(maker, 1, 3) : 0,
                                      .rate_period_ms = has_rate ? between(maker, 1, 2000) : 0,
                                      .is_paused = chance(maker, 15)};
    if (chance(maker, 3)) op->in.set_queue.row.max_running = -1;
    if (chance(maker, 50)) op->in.set_queue.kept = some_columns(maker, 2, 6);
}

static void build_token_op(Maker *maker, Op *op) {
    Str id = numbered(maker, "tok", 4);
    op->in.remove_token.id = id;
    if (op->kind == OP_REMOVE_TOKEN) return;
    char *hash = arena_alloc(maker->arena, SHA256_HEX_SIZE + 1);
    sha256_hex(numbered(maker, "text", 6), hash);
    op->in.create_token =
        (TokenRow){.id = id,
                   .name = STR("t"),
                   .hash = {hash, SHA256_HEX_SIZE},
                   .hint = STR("wxyz"),
                   .scopes = pick(maker, SCOPE_ALL + 2),
                   .expires_at_ms = chance(maker, 30) ? later(maker, -5, 60000) : 0};
}

static void build_op(Maker *maker, Op *op) {
    // Who has nothing to work on looks for something.
    bool is_turn = op->kind == OP_COMMIT_TURN || op->kind == OP_RELEASE;
    if (is_turn && !has_claim(maker) && chance(maker, 95)) {
        op->kind = maker->node != 0 && chance(maker, 50) ? OP_CLAIM : OP_CREATE_RUN;
    }
    bool is_nodes = op->kind == OP_CLAIM || op->kind == OP_RENEW || op->kind == OP_LEAVE ||
                    op->kind == OP_DESCRIBE_NODE || op->kind == OP_NOTE_RATES;
    if (is_nodes && maker->knowledge->node_count == 0 && chance(maker, 90)) op->kind = OP_JOIN;
    switch (op->kind) {
    case OP_COMMIT_TURN: build_turn(maker, op); return;
    case OP_CLAIM_TASKS: build_claim_tasks(maker, op); return;
    case OP_HEARTBEAT_TASK:
    case OP_COMPLETE_TASK:
    case OP_FAIL_TASK:
    case OP_RETRY_TASK:
    case OP_RELEASE_TASK: build_task_op(maker, op); return;
    case OP_PUBLISH:
    case OP_SIGNAL:
    case OP_CANCEL:
    case OP_PAUSE:
    case OP_RESUME:
    case OP_REWIND:
    case OP_FORK:
    case OP_MOVE:
    case OP_REMOVE_EVENTS:
    case OP_REMOVE_SIGNALS:
    case OP_PURGE_RUN:
    case OP_SET_TOPIC: build_outside(maker, op); return;
    case OP_JOIN:
    case OP_RENEW:
    case OP_LEAVE:
    case OP_DESCRIBE_NODE:
    case OP_NOTE_RATES:
    case OP_CLAIM:
    case OP_DEFINE:
    case OP_FIRE_DUE:
    case OP_SWEEP: build_node_op(maker, op); return;
    case OP_SET_SCHEDULE:
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE:
    case OP_TRIGGER_SCHEDULE:
    case OP_BACKFILL_SCHEDULE: build_schedule_op(maker, op); return;
    case OP_SET_QUEUE:
    case OP_REMOVE_QUEUE:
    case OP_PAUSE_QUEUE:
    case OP_RESUME_QUEUE: build_queue_op(maker, op); return;
    case OP_CREATE_TOKEN:
    case OP_REMOVE_TOKEN: build_token_op(maker, op); return;
    default: build_rest(maker, op); return;
    }
}

// ---- traces ----

static const struct {
    OpKind kind;
    uint32_t weight;
} weights[] = {
    {OP_COMMIT_TURN, 30},
    {OP_CREATE_RUN, 10},
    {OP_CLAIM, 8},
    {OP_PUBLISH, 8},
    {OP_SIGNAL, 8},
    {OP_FIRE_DUE, 6},
    {OP_CLAIM_TASKS, 5},
    {OP_COMPLETE_TASK, 4},
    {OP_FAIL_TASK, 3},
    {OP_HEARTBEAT_TASK, 2},
    {OP_CREATE_TASK, 3},
    {OP_CANCEL, 3},
    {OP_PAUSE, 3},
    {OP_RESUME, 4},
    {OP_REWIND, 3},
    {OP_FORK, 2},
    {OP_MOVE, 3},
    {OP_PURGE_RUN, 5},
    {OP_SET_TOPIC, 2},
    {OP_REPLAY_DEAD_LETTER, 2},
    {OP_REMOVE_DEAD_LETTER, 1},
    {OP_SWEEP, 3},
    {OP_APPEND_LOG, 1},
    {OP_RETRY_TASK, 1},
    {OP_RELEASE, 2},
    {OP_DEFINE, 1},
    {OP_RENEW, 2},
    {OP_JOIN, 2},
    {OP_LEAVE, 1},
    {OP_DESCRIBE_NODE, 1},
    {OP_NOTE_RATES, 1},
    {OP_SET_SCHEDULE, 4},
    {OP_REMOVE_SCHEDULE, 1},
    {OP_PAUSE_SCHEDULE, 1},
    {OP_RESUME_SCHEDULE, 1},
    {OP_TRIGGER_SCHEDULE, 2},
    {OP_BACKFILL_SCHEDULE, 1},
    {OP_RELEASE_TASK, 1},
    {OP_SET_QUEUE, 2},
    {OP_REMOVE_QUEUE, 1},
    {OP_PAUSE_QUEUE, 1},
    {OP_RESUME_QUEUE, 2},
    {OP_CREATE_TOKEN, 1},
    {OP_REMOVE_TOKEN, 1},
    {OP_NOTE_RELEASED, 3},
    {OP_NOTE_RELOADED, 2},
    {OP_REMOVE_EVENTS, 2},
    {OP_REMOVE_SIGNALS, 2},
};

static OpKind some_kind(uint64_t *random) {
    uint32_t total = 0;
    for (size_t i = 0; i < COUNT_OF(weights); i++) total += weights[i].weight;
    uint32_t place = (uint32_t)(random_next(random) % total);
    for (size_t i = 0;; i++) {
        if (place < weights[i].weight) return weights[i].kind;
        place -= weights[i].weight;
    }
}

Trace trace_generate(Arena *arena, uint64_t seed, size_t batch_count) {
    uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
    Trace trace = {ARENA_ARRAY(arena, TraceBatch, batch_count), batch_count};
    for (size_t i = 0; i < batch_count; i++) {
        TraceBatch *batch = &trace.batches[i];
        uint64_t dice = random_next(&random) % 1000;
        batch->advance_ms = (int64_t)(random_next(&random) % 300);
        if (dice < 30) batch->advance_ms += 6000;
        if (dice < 6) batch->advance_ms += 90 * 1000;
        if (dice < 2) batch->advance_ms += 2 * 24 * 3600 * 1000;
        batch->node = (uint32_t)(random_next(&random) >> 32);
        batch->claim_max = (int64_t)(random_next(&random) % 5) * 2;
        batch->reopens = (uint32_t)(random_next(&random) >> 32);
        batch->count = 1 + random_next(&random) % (TRACE_OPS_MAX - 2);
        for (size_t j = 0; j < batch->count; j++) {
            batch->ops[j] = (TraceOp){some_kind(&random), random_next(&random)};
        }
        // As engines do: what the batch queues is claimed by its last operation.
        if (random_next(&random) % 100 < 25) batch->ops[batch->count - 1].kind = OP_CLAIM_TASKS;
        if (i == 0) batch->ops[0].kind = OP_JOIN;
    }
    return trace;
}

void knowledge_init(Knowledge *knowledge) { *knowledge = (Knowledge){.now_ms = START_MS}; }

void trace_advance(Knowledge *knowledge, const TraceBatch *from) {
    knowledge->now_ms += from->advance_ms;
    knowledge->batch_number++;
}

// Every third node lacks the workflow "order".
static const WorkflowSet *executes_of(int64_t node, Arena *arena) {
    if (node % 3 != 0) return NULL;
    const RunRow mail = {.kind = RUN_NATIVE, .workflow = STR("mail")};
    WorkflowSet *set = arena_zalloc(arena, sizeof(WorkflowSet) + sizeof(WorkflowName));
    set->count = 1;
    set->names[0] = (WorkflowName){.number = run_reservation(&mail), .name = STR("mail")};
    return set;
}

void trace_build(const Knowledge *knowledge, const TraceBatch *from, Arena *arena,
                 Batch *ret_batch) {
    batch_init(ret_batch, arena, knowledge->now_ms);
    ret_batch->number = knowledge->batch_number;
    ret_batch->claim_max = from->claim_max;
    bool is_anonymous = knowledge->node_count == 0 || from->node % 10 == 0;
    if (!is_anonymous) {
        // Mostly the nodes that joined last: the others have probably been fenced off.
        size_t back = from->node % 7 < 5 ? from->node % 2 : from->node % knowledge->node_count;
        if (back >= knowledge->node_count) back = 0;
        ret_batch->node = knowledge->nodes[knowledge->node_count - 1 - back];
        ret_batch->executes = executes_of(ret_batch->node, arena);
    }
    for (size_t i = 0; i < from->count; i++) {
        Maker maker = {from->ops[i].seed, knowledge, arena, ret_batch->node};
        build_op(&maker, batch_add(ret_batch, from->ops[i].kind));
    }
}

// ---- learning ----

static KnownRun *known_run(Knowledge *knowledge, Arena *arena, Str id) {
    for (uint32_t i = 0; i < TRACE_RUNS; i++) {
        if (str_equal(run_name(arena, i), id)) return &knowledge->runs[i];
    }
    return NULL;
}

static KnownRun *run_or_guest(Knowledge *knowledge, Arena *arena, Str id, int64_t key) {
    KnownRun *run = known_run(knowledge, arena, id);
    return run ? run : &knowledge->runs[TRACE_RUNS + key % TRACE_GUESTS];
}

static KnownTask *task_of_id(Knowledge *knowledge, Arena *arena, Str id) {
    for (uint32_t i = 0; i < TRACE_TASKS + TRACE_OWN_TASKS; i++) {
        if (str_equal(task_name(knowledge, arena, i), id)) return &knowledge->tasks[i];
    }
    return NULL;
}

static void learn_key(Knowledge *knowledge, Arena *arena, Str id, int64_t key) {
    KnownRun *run = known_run(knowledge, arena, id);
    if (!run || run->key == key) return;
    *run = (KnownRun){.key = key};
}

static void claim_lost(Knowledge *knowledge, int64_t key) {
    for (uint32_t i = 0; i < KNOWN_RUNS; i++) {
        KnownRun *run = &knowledge->runs[i];
        if (run->key != key) continue;
        if (run->epoch != 0) run->stale_epoch = run->epoch; // which a parked run still has
        run->epoch = 0;
    }
}

static void lease_set(KnownTask *task, bool exists, int64_t token) {
    if (!task) return;
    task->exists = exists;
    if (task->token != 0) task->stale_token = task->token;
    task->token = token;
}

static void node_forget(Knowledge *knowledge, int64_t node) {
    size_t kept = 0;
    for (size_t i = 0; i < knowledge->node_count; i++) {
        if (knowledge->nodes[i] != node) knowledge->nodes[kept++] = knowledge->nodes[i];
    }
    knowledge->node_count = kept;
}

static void learn_node(Knowledge *knowledge, int64_t node) {
    if (knowledge->node_count == TRACE_NODES_MAX) node_forget(knowledge, knowledge->nodes[0]);
    knowledge->nodes[knowledge->node_count++] = node;
}

static void learn_turn(Knowledge *knowledge, Arena *arena, const Op *op) {
    const TurnCommit *turn = &op->in.turn;
    if (op->out.status != OK || op->out.turn.state != RUN_RUNNING) claim_lost(knowledge, turn->run);
    if (op->out.status != OK) return;
    for (size_t i = 0; i < turn->child_count; i++) {
        learn_key(knowledge, arena, turn->children[i].id, op->out.turn.child_keys[i]);
    }
    for (size_t i = 0; i < turn->task_count; i++) {
        TaskPlace place;
        KnownTask *task = task_of_id(knowledge, arena, turn->tasks[i].id);
        if (!task && task_id_read(arena, turn->tasks[i].id, &place)) {
            task = &knowledge->tasks[TRACE_TASKS + place.position % TRACE_OWN_TASKS];
            *task = (KnownTask){0};
            snprintf(task->own_id, sizeof task->own_id, "%.*s", STR_ARG(turn->tasks[i].id));
        }
        if (task) task->exists = true;
    }
}

static void learn_op(Knowledge *knowledge, Arena *arena, const Op *op) {
    bool is_ok = op->out.status == OK;
    switch (op->kind) {
    case OP_JOIN:
        if (is_ok) learn_node(knowledge, op->out.join.node);
        break;
    case OP_CREATE_RUN:
        if (is_ok) learn_key(knowledge, arena, op->out.create_run.id, op->out.create_run.key);
        break;
    case OP_FORK:
        if (is_ok) learn_key(knowledge, arena, op->out.fork.id, op->out.fork.key);
        break;
    case OP_TRIGGER_SCHEDULE:
        if (is_ok) {
            learn_key(knowledge, arena, op->out.trigger_schedule.run_id,
                      op->out.trigger_schedule.run);
        }
        break;
    case OP_PURGE_RUN:
        if (is_ok) learn_key(knowledge, arena, op->in.purge.run_id, 0);
        break;
    case OP_COMMIT_TURN: learn_turn(knowledge, arena, op); break;
    case OP_RELEASE: claim_lost(knowledge, op->in.release.run); break;
    case OP_CREATE_TASK: {
        KnownTask *task = task_of_id(knowledge, arena, op->in.create_task.spec.id);
        if (is_ok && task) task->exists = true;
        break;
    }
    case OP_CLAIM_TASKS:
        for (size_t i = 0; i < op->out.claim_tasks.task_count; i++) {
            const TaskRow *row = &op->out.claim_tasks.tasks[i];
            lease_set(task_of_id(knowledge, arena, row->id), true, row->token);
        }
        break;
    case OP_COMPLETE_TASK:
        lease_set(task_of_id(knowledge, arena, op->in.complete_task.id),
                  op->out.status != ERR_NOT_FOUND, 0);
        break;
    case OP_FAIL_TASK:
        lease_set(task_of_id(knowledge, arena, op->in.fail_task.id),
                  op->out.status != ERR_NOT_FOUND, 0);
        break;
    case OP_RELEASE_TASK:
        lease_set(task_of_id(knowledge, arena, op->in.release_task.id),
                  op->out.status != ERR_NOT_FOUND, 0);
        break;
    default: break;
    }
}

static void learn_letters(Knowledge *knowledge, Arena *arena, Store *store) {
    DeadLetterPage found;
    knowledge->letter_count = 0;
    if (store_list_dead_letters(store, arena, &(PageSpec){.limit = TRACE_LETTERS_MAX}, &found,
                                NULL) != OK)
        return;
    for (size_t i = 0; i < found.count; i++) {
        knowledge->letters[knowledge->letter_count++] = found.rows[i].key;
    }
}

void trace_learn(Knowledge *knowledge, const Batch *batch, Status status, Store *store) {
    if (status != OK) {
        node_forget(knowledge, batch->node);
        return;
    }
    Arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < batch->count; i++) learn_op(knowledge, &arena, batch->ops[i]);
    for (size_t i = 0; i < batch->out.ready_count; i++) {
        const ReadyRun *ready = &batch->out.ready[i];
        KnownRun *run = run_or_guest(knowledge, &arena, ready->id, ready->run);
        *run = (KnownRun){
            ready->run,  ready->claim.epoch,      run->epoch ? run->epoch : run->stale_epoch,
            batch->node, ready->kind == RUN_FLOW, false};
    }
    for (size_t i = 0; i < batch->out.ended_count; i++) {
        const EndedRun *ended = &batch->out.ended[i];
        KnownRun *run = run_or_guest(knowledge, &arena, ended->id, ended->run);
        if (run->key != ended->run) continue;
        run->is_ended = true;
        run->epoch = 0;
    }
    learn_letters(knowledge, &arena, store);
    arena_done(&arena);
}
