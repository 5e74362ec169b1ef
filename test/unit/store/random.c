// Random traces of operations on several stores at once: the plain one, one whose row verbs fail
// now and then (each failed batch is submitted again), SQLite, and SQLite with caches too small to
// keep anything. All of them must give the same answers, end with the same rows, and hold
// their invariants all along.
//
// The operations of a batch are a function of a seed and of the claims that earlier answers gave,
// so the same batch can be built for each store.
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/env.h"
#include "base/limits.h"
#include "store/kernel/internal.h"
#include "store/reads.h"
#include "unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    RUN_IDS = 24,
    TOPICS = 4,
    TASK_IDS = 12,
    SIGNALS = 3,
    CLAIMS_MAX = 10,
    LETTERS_MAX = 4,
    STORES = 4
};

// ---- a row store that fails ----

typedef struct FlakyRows {
    RowStore base;
    RowStore *inner;
    int64_t calls_left; // the call that counts it down to 0 fails; < 0 = never
} FlakyRows;

static bool flaky_fails(RowStore *rows) {
    FlakyRows *self = (FlakyRows *)rows;
    self->inner->diag = rows->diag;
    return self->calls_left >= 0 && self->calls_left-- == 0;
}
static RowStore *inner_of(RowStore *rows) { return ((FlakyRows *)rows)->inner; }

static Status flaky_begin(RowStore *rows, Diag *diag) {
    return inner_of(rows)->ops->begin(inner_of(rows), diag);
}
static Status flaky_commit(RowStore *rows, Diag *diag) {
    if (!flaky_fails(rows)) return inner_of(rows)->ops->commit(inner_of(rows), diag);
    inner_of(rows)->ops->rollback(inner_of(rows));
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "made to fail");
}
static void flaky_rollback(RowStore *rows) { inner_of(rows)->ops->rollback(inner_of(rows)); }
static Status flaky_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                        void *ret_row) {
    if (flaky_fails(rows)) return ERR_UNAVAILABLE;
    return rows_get(inner_of(rows), table, key_row, arena, ret_row);
}
static Status flaky_find(RowStore *rows, const RowKey *key, Arena *arena, const void **ret_row) {
    if (flaky_fails(rows)) return ERR_UNAVAILABLE;
    return rows_find(inner_of(rows), key, arena, ret_row);
}
static Status flaky_insert(RowStore *rows, TableNumber table, const void *row) {
    if (flaky_fails(rows)) return ERR_UNAVAILABLE;
    return rows_insert(inner_of(rows), table, row);
}
static Status flaky_update(RowStore *rows, TableNumber table, const void *row, uint64_t changes) {
    if (flaky_fails(rows)) return ERR_UNAVAILABLE;
    return rows_update(inner_of(rows), table, row, changes);
}
static Status flaky_remove(RowStore *rows, TableNumber table, const void *key_row) {
    if (flaky_fails(rows)) return ERR_UNAVAILABLE;
    return rows_remove(inner_of(rows), table, key_row);
}
static Status flaky_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                         size_t *ret_count) {
    if (flaky_fails(rows)) return ERR_UNAVAILABLE;
    return rows_scan(inner_of(rows), scan, arena, ret_rows, ret_count);
}
static StepDatabase flaky_database(RowStore *rows) {
    return inner_of(rows)->ops->database(inner_of(rows));
}
static void flaky_close(RowStore *rows) {
    inner_of(rows)->ops->close(inner_of(rows));
    free(rows);
}

static const RowStoreOps flaky_ops = {
    .name = "flaky",
    .begin = flaky_begin,
    .commit = flaky_commit,
    .rollback = flaky_rollback,
    .get = flaky_get,
    .find = flaky_find,
    .insert = flaky_insert,
    .update = flaky_update,
    .remove = flaky_remove,
    .scan = flaky_scan,
    .database = flaky_database,
    .close = flaky_close,
};

// ---- the stores and what is known of them ----

typedef struct Claim {
    int64_t run;
    int64_t epoch;
} Claim;

typedef struct TaskClaim {
    Str id;
    int64_t token;
} TaskClaim;

typedef struct Trace {
    Store *stores[STORES];
    FlakyRows *flaky;
    Arena arena; // one batch
    Arena kept;
    uint64_t random;
    int64_t now_ms;
    int64_t node;
    int64_t batch_number;
    Claim claims[CLAIMS_MAX];
    size_t claim_count;
    TaskClaim tasks[CLAIMS_MAX];
    size_t task_count;
    int64_t letters[LETTERS_MAX];
    size_t letter_count;
    Str run_ids[RUN_IDS], topics[TOPICS], task_ids[TASK_IDS], signals[SIGNALS];
    char paths[2][64]; // of SQLite
    int64_t failed_count, op_counts[OP_KIND_COUNT], ok_counts[OP_KIND_COUNT];
} Trace;

static bool filter_is_even(Str filter, Str payload) {
    (void)filter;
    return payload.len > 0 && (payload.data[0] - '0') % 2 == 0;
}

static uint64_t pick(uint64_t *random, uint64_t count) { return random_next(random) % count; }

// ---- building a batch ----

typedef struct Builder {
    Trace *trace;
    Batch *batch;
    uint64_t random; // a copy: each store's batch is built from the same numbers
} Builder;

static uint64_t roll(Builder *builder, uint64_t count) { return pick(&builder->random, count); }
static Str any(Builder *builder, Str *list, size_t count) { return list[roll(builder, count)]; }
static Str any_run(Builder *b) { return any(b, b->trace->run_ids, RUN_IDS); }
static Str any_payload(Builder *b) {
    return arena_printf(&b->trace->arena, "%d", (int)roll(b, 10));
}

static RunSpec any_run_spec(Builder *b) {
    RunSpec spec = {.id = any_run(b),
                    .workflow = STR("w"),
                    .kind = RUN_NATIVE,
                    .input = any_payload(b),
                    .priority = (int64_t)roll(b, 3),
                    .keep_ms = (int64_t)roll(b, 4) * 100 - 100,
                    .leftover_policy = (int64_t)roll(b, 3),
                    .leftover_topic = any(b, b->trace->topics, TOPICS),
                    .close_policy = (int64_t)roll(b, 2)};
    if (roll(b, 4) == 0) spec.start_at_ms = b->trace->now_ms + (int64_t)roll(b, 200);
    if (roll(b, 4) == 0) spec.timeout_ms = 1 + (int64_t)roll(b, 2000);
    if (roll(b, 4) == 0) spec.tags = STR("x\ny\nx");
    if (roll(b, 6) == 0) spec.dedupe_key = STR("key");
    return spec;
}

static TaskSpec any_task_spec(Builder *b) {
    return (TaskSpec){.id = any(b, b->trace->task_ids, TASK_IDS),
                      .name = STR("n"),
                      .position = (int64_t)roll(b, 6),
                      .priority = (int64_t)roll(b, 3),
                      .delay_ms = roll(b, 3) ? 0 : (int64_t)roll(b, 100),
                      .max_attempts = (int64_t)roll(b, 4),
                      .backoff_ms = (int64_t)roll(b, 50),
                      .backoff_factor_pct = 150,
                      .jitter_pct = 20,
                      .start_timeout_ms = roll(b, 4) ? 0 : 50,
                      .run_timeout_ms = roll(b, 4) ? 0 : 80};
}

static EventSpec any_event(Builder *b) {
    return (EventSpec){.topic = any(b, b->trace->topics, TOPICS),
                       .id = any_payload(b),
                       .is_deduplicated = roll(b, 4) == 0,
                       .payload = any_payload(b)};
}

static WaitItem any_item(Builder *b, const TurnCommit *turn) {
    WaitItem item = {.kind = 1 + (int64_t)roll(b, WAIT_KIND_COUNT - 1),
                     .position = (int64_t)roll(b, 8)};
    // Mostly on what exists; a target that does not is refused.
    bool is_there =
        roll(b, 8) == 0 || (item.kind == WAIT_CHILD ? turn->child_count : turn->task_count) > 0;
    if ((item.kind == WAIT_CHILD || item.kind == WAIT_TASK) && !is_there) item.kind = WAIT_EVENT;
    if (roll(b, 3) == 0) item.deadline_at_ms = b->trace->now_ms + (int64_t)roll(b, 100) - 20;
    if (item.kind == WAIT_EVENT) {
        item.name = any(b, b->trace->topics, TOPICS);
        if (roll(b, 3) == 0) item.filter = STR("even");
    }
    if (item.kind == WAIT_SIGNAL) item.name = any(b, b->trace->signals, SIGNALS);
    if (item.kind == WAIT_TIMER || item.kind == WAIT_RETRY) {
        item.deadline_at_ms = b->trace->now_ms + (int64_t)roll(b, 100);
    }
    if (item.kind == WAIT_CHILD) {
        item.name = turn->child_count > 0 ? turn->children[0].id : any_run(b);
    }
    if (item.kind == WAIT_TASK) {
        item.name = turn->task_count > 0 ? turn->tasks[0].id : any(b, b->trace->task_ids, TASK_IDS);
    }
    return item;
}

static void fill_turn(Builder *b, Op *op) {
    Trace *trace = b->trace;
    Arena *arena = &trace->arena;
    TurnCommit *turn = &op->in.turn;
    if (trace->claim_count > 0) {
        Claim claim = trace->claims[roll(b, trace->claim_count)];
        turn->run = claim.run;
        turn->epoch = claim.epoch;
    }
    turn->next = 1 + (TurnNext)roll(b, NEXT_RETRY);
    if (roll(b, 3)) turn->next = NEXT_SUSPEND;
    turn->result = any_payload(b);
    turn->log_count = roll(b, 3);
    turn->log = ARENA_ARRAY(arena, LogRow, turn->log_count + 1);
    for (size_t i = 0; i < turn->log_count; i++) {
        turn->log[i] = (LogRow){.kind = LOG_STEP,
                                .position = (int64_t)roll(b, 8),
                                .name = any(b, trace->signals, SIGNALS),
                                .data = any_payload(b)};
    }
    turn->child_count = roll(b, 3) == 0;
    turn->children = ARENA_NEW(arena, RunSpec);
    *turn->children = any_run_spec(b);
    turn->task_count = roll(b, 3) == 0;
    turn->tasks = ARENA_NEW(arena, TaskSpec);
    *turn->tasks = any_task_spec(b);
    turn->event_count = roll(b, 4) == 0;
    turn->events = ARENA_NEW(arena, EventSpec);
    *turn->events = any_event(b);
    if (roll(b, 3) == 0) turn->snapshot = STR("snapshot");
    size_t count = 1 + roll(b, 4);
    turn->waits = (WaitSet){.mode = 1 + (int64_t)roll(b, 2),
                            .items = ARENA_ARRAY(arena, WaitItem, count),
                            .count = count};
    for (size_t i = 0; i < count; i++) {
        turn->waits.items[i] = any_item(b, turn);
        turn->waits.items[i].slot = (int64_t)i;
    }
}

static void fill_task_op(Builder *b, Op *op) {
    Trace *trace = b->trace;
    TaskClaim claim = {.id = any(b, trace->task_ids, TASK_IDS)};
    if (trace->task_count > 0) claim = trace->tasks[roll(b, trace->task_count)];
    switch (op->kind) {
    case OP_CREATE_TASK: op->in.create_task.spec = any_task_spec(b); break;
    case OP_CLAIM_TASKS:
        op->in.claim_tasks.worker = STR("worker");
        op->in.claim_tasks.queues = ARENA_NEW(&trace->arena, Str);
        op->in.claim_tasks.queues[0] = STR("default");
        op->in.claim_tasks.queue_count = 1;
        op->in.claim_tasks.max = 1 + (int64_t)roll(b, 3);
        op->in.claim_tasks.lease_ms = 200;
        break;
    case OP_HEARTBEAT_TASK:
        op->in.heartbeat.id = claim.id;
        op->in.heartbeat.token = claim.token;
        op->in.heartbeat.lease_ms = 200;
        break;
    case OP_COMPLETE_TASK:
        op->in.complete_task.id = claim.id;
        op->in.complete_task.token = claim.token;
        op->in.complete_task.result = any_payload(b);
        break;
    case OP_FAIL_TASK:
        op->in.fail_task.id = claim.id;
        op->in.fail_task.token = claim.token;
        op->in.fail_task.error = any_payload(b);
        break;
    case OP_RELEASE_TASK:
        op->in.release_task.id = claim.id;
        op->in.release_task.token = claim.token;
        break;
    default: op->in.retry_task.id = claim.id; break;
    }
}

static Str any_schedule(Builder *b) { return any(b, b->trace->signals, SIGNALS); }

static ScheduleRow any_schedule_row(Builder *b) {
    static const struct {
        ScheduleKind kind;
        Str spec;
    } times[] = {{SCHEDULE_INTERVAL, STR("1s")},
                 {SCHEDULE_INTERVAL, STR("1s")},
                 {SCHEDULE_INTERVAL, STR("3s")},
                 {SCHEDULE_CRON, STR("* * * * *")},
                 {SCHEDULE_ONCE, STR("1970-01-01T00:16:50Z")},
                 {SCHEDULE_CRON, STR("bad")}};
    size_t time = roll(b, COUNT_OF(times));
    return (ScheduleRow){.name = any_schedule(b),
                         .workflow = STR("w"),
                         .run_kind = RUN_NATIVE,
                         .input = any_payload(b),
                         .keep_ms = (int64_t)roll(b, 3) * 100 - 100,
                         .kind = times[time].kind,
                         .spec = times[time].spec,
                         .zone = roll(b, 2) ? STR_NULL : STR("Europe/Berlin"),
                         .jitter_ms = (int64_t)roll(b, 3) * 300,
                         .overlap = (int64_t)roll(b, 4),
                         .grace_ms = (int64_t)roll(b, 3) * 30,
                         .catch_up_ms = (int64_t)roll(b, 3) * 2000,
                         .is_paused = roll(b, 8) == 0};
}

static void fill_schedule_op(Builder *b, Op *op) {
    switch (op->kind) {
    case OP_SET_SCHEDULE: op->in.set_schedule.row = any_schedule_row(b); break;
    case OP_TRIGGER_SCHEDULE:
        op->in.trigger_schedule.name = any_schedule(b);
        if (roll(b, 2)) op->in.trigger_schedule.id = any_run(b);
        break;
    case OP_BACKFILL_SCHEDULE:
        op->in.backfill =
            (ScheduleBackfill){.name = any_schedule(b),
                               .from_ms = b->trace->now_ms - (int64_t)roll(b, 5000),
                               .to_ms = b->trace->now_ms + (int64_t)roll(b, 5000) - 100,
                               .limit = (int64_t)roll(b, 4)};
        break;
    default: op->in.schedule.name = any_schedule(b); break;
    }
}

static void fill_op(Builder *b, Op *op) {
    Trace *trace = b->trace;
    Claim claim = {0};
    if (trace->claim_count > 0) claim = trace->claims[roll(b, trace->claim_count)];
    switch (op->kind) {
    case OP_CREATE_RUN: op->in.create_run.spec = any_run_spec(b); break;
    case OP_CLAIM: op->in.claim.max = 1 + (int64_t)roll(b, 4); break;
    case OP_COMMIT_TURN: fill_turn(b, op); break;
    case OP_RELEASE:
        op->in.release.run = claim.run;
        op->in.release.epoch = claim.epoch;
        break;
    case OP_PUBLISH: op->in.publish.event = any_event(b); break;
    case OP_SIGNAL:
        op->in.signal.run_id = any_run(b);
        op->in.signal.name = any(b, trace->signals, SIGNALS);
        op->in.signal.id = any_payload(b);
        op->in.signal.is_deduplicated = roll(b, 4) == 0;
        op->in.signal.payload = any_payload(b);
        break;
    case OP_FIRE_DUE: op->in.fire_due.max = 1 + (int64_t)roll(b, 20); break;
    case OP_CANCEL:
        op->in.cancel.run_id = any_run(b);
        op->in.cancel.grace_ms = (int64_t)roll(b, 3) * 30;
        break;
    case OP_PAUSE:
    case OP_RESUME: op->in.hold.run_id = any_run(b); break;
    case OP_REWIND:
        op->in.rewind.run_id = any_run(b);
        op->in.rewind.step.name = any(b, trace->signals, SIGNALS);
        op->in.rewind.step.is_last = true;
        break;
    case OP_FORK:
        op->in.fork.run_id = any_run(b);
        op->in.fork.new_id = any_run(b);
        op->in.fork.step.name = roll(b, 2) ? STR_NULL : any(b, trace->signals, SIGNALS);
        op->in.fork.step.is_last = true;
        op->in.fork.is_retry = roll(b, 3) == 0;
        break;
    case OP_SET_TOPIC:
        op->in.set_topic.row = (TopicRow){.name = any(b, trace->topics, TOPICS),
                                          .consume = (int64_t)roll(b, 2),
                                          .visible = (int64_t)roll(b, 3),
                                          .expire_ms = (int64_t)roll(b, 200),
                                          .cap = (int64_t)roll(b, 6)};
        break;
    case OP_PURGE_RUN: op->in.purge.run_id = any_run(b); break;
    case OP_REMOVE_EVENTS: op->in.remove_events.topic = any(b, trace->topics, TOPICS); break;
    case OP_REMOVE_SIGNALS: op->in.remove_events.run_id = any_run(b); break;
    case OP_SWEEP: op->in.sweep.max = 1 + (int64_t)roll(b, 10); break;
    case OP_REPLAY_DEAD_LETTER:
    case OP_REMOVE_DEAD_LETTER:
        if (trace->letter_count > 0) {
            op->in.dead_letter.key = trace->letters[roll(b, trace->letter_count)];
        }
        break;
    case OP_SET_SCHEDULE:
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE:
    case OP_TRIGGER_SCHEDULE:
    case OP_BACKFILL_SCHEDULE: fill_schedule_op(b, op); break;
    default: fill_task_op(b, op); break;
    }
}

static OpKind any_kind(Builder *b) {
    static const OpKind often[] = {OP_COMMIT_TURN,   OP_COMMIT_TURN, OP_CREATE_RUN, OP_PUBLISH,
                                   OP_SIGNAL,        OP_FIRE_DUE,    OP_CLAIM,      OP_CLAIM_TASKS,
                                   OP_COMPLETE_TASK, OP_FAIL_TASK};
    static const OpKind rare[] = {OP_RELEASE,
                                  OP_CREATE_TASK,
                                  OP_HEARTBEAT_TASK,
                                  OP_CANCEL,
                                  OP_PAUSE,
                                  OP_RESUME,
                                  OP_RESUME,
                                  OP_REWIND,
                                  OP_FORK,
                                  OP_SET_TOPIC,
                                  OP_PURGE_RUN,
                                  OP_SWEEP,
                                  OP_REPLAY_DEAD_LETTER,
                                  OP_REMOVE_DEAD_LETTER,
                                  OP_RETRY_TASK,
                                  OP_RELEASE_TASK,
                                  OP_REMOVE_EVENTS,
                                  OP_REMOVE_SIGNALS};
    static const OpKind schedules[] = {
        OP_SET_SCHEDULE,    OP_SET_SCHEDULE,     OP_SET_SCHEDULE,
        OP_REMOVE_SCHEDULE, OP_PAUSE_SCHEDULE,   OP_RESUME_SCHEDULE,
        OP_RESUME_SCHEDULE, OP_TRIGGER_SCHEDULE, OP_BACKFILL_SCHEDULE};
    if (roll(b, 12) == 0) return schedules[roll(b, COUNT_OF(schedules))];
    if (roll(b, 4)) return often[roll(b, COUNT_OF(often))];
    return rare[roll(b, COUNT_OF(rare))];
}

static Batch *build_batch(Trace *trace) {
    Batch *batch = ARENA_NEW(&trace->arena, Batch);
    batch_init(batch, &trace->arena, trace->now_ms);
    Builder builder = {trace, batch, trace->random};
    batch->node = roll(&builder, 8) ? trace->node : 0;
    batch->number = trace->batch_number;
    batch->claim_max = (int64_t)roll(&builder, 6);
    size_t count = 1 + roll(&builder, 6);
    for (size_t i = 0; i < count; i++) fill_op(&builder, batch_add(batch, any_kind(&builder)));
    return batch;
}

// ---- applying and comparing ----

static void apply(Trace *trace, size_t place, Batch *batch) {
    Diag diag;
    uint64_t random = trace->random ^ 77;
    for (;;) {
        bool may_fail = place == 1 && pick(&random, 3) == 0;
        if (place == 1) trace->flaky->calls_left = may_fail ? (int64_t)pick(&random, 40) : -1;
        Status status = store_commit(trace->stores[place], batch, &diag);
        if (status == OK) return;
        if (place != 1) print_error("store %zu: %s: %s\n", place, diag.code, diag.message);
        assert_int_equal(status, ERR_UNAVAILABLE);
        assert_int_equal(place, 1);
        trace->failed_count++;
    }
}

static void compare_answers(const Batch *a, const Batch *b) {
    for (size_t i = 0; i < a->count; i++) {
        if (a->ops[i]->out.status != b->ops[i]->out.status) {
            print_error("op %zu %s: %s %s, %s %s\n", i, op_kind_name(a->ops[i]->kind),
                        status_name(a->ops[i]->out.status), a->ops[i]->out.diag.message,
                        status_name(b->ops[i]->out.status), b->ops[i]->out.diag.message);
        }
        assert_int_equal(a->ops[i]->out.status, b->ops[i]->out.status);
        assert_string_equal(a->ops[i]->out.diag.code, b->ops[i]->out.diag.code);
    }
    assert_int_equal(a->out.ready_count, b->out.ready_count);
    for (size_t i = 0; i < a->out.ready_count; i++) {
        assert_int_equal(a->out.ready[i].run, b->out.ready[i].run);
        const RunClaim *claim = &a->out.ready[i].claim, *other = &b->out.ready[i].claim;
        assert_int_equal(claim->epoch, other->epoch);
        assert_int_equal(claim->incarnation, other->incarnation);
        assert_int_equal(claim->attempts, other->attempts);
        assert_int_equal(claim->is_cancel_wanted, other->is_cancel_wanted);
        assert_int_equal(a->out.ready[i].last_seq, b->out.ready[i].last_seq);
        assert_int_equal(a->out.ready[i].resolved_count, b->out.ready[i].resolved_count);
    }
    assert_int_equal(a->out.ended_count, b->out.ended_count);
    assert_int_equal(a->out.unclaimed_count, b->out.unclaimed_count);
    assert_int_equal(a->out.earliest_due_ms, b->out.earliest_due_ms);
}

static uint64_t hash_row(const Table *table, const void *row, uint64_t hash) {
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) {
            hash = hash_u64(hash ^ (uint64_t)row_i64(row, column));
            continue;
        }
        Str text = row_str(row, column);
        hash = hash_u64(hash ^ (str_is_null(text) ? 1 : hash_bytes(text.data, text.len)));
    }
    return hash;
}

static void hash_tables(Trace *trace, size_t place, uint64_t ret_hashes[TABLE_COUNT]) {
    RowStore *rows = ((Kernel *)trace->stores[place])->reader;
    Diag diag;
    assert_int_equal(rows->ops->read_begin(rows, &diag), OK);
    for (int table = 0; table < TABLE_COUNT; table++) {
        char *found = NULL;
        size_t count = 0;
        Scan scan = {.table = (TableNumber)table, .index = SCAN_PRIMARY, .limit = 1 << 20};
        assert_int_equal(rows_scan(rows, &scan, &trace->arena, &found, &count), OK);
        ret_hashes[table] = count;
        for (size_t i = 0; i < count; i++) {
            ret_hashes[table] =
                hash_row(&tables[table], found + i * tables[table].row_size, ret_hashes[table]);
        }
    }
    rows->ops->read_end(rows);
}

static void compare_rows(Trace *trace) {
    uint64_t first[TABLE_COUNT], other[TABLE_COUNT];
    hash_tables(trace, 0, first);
    for (size_t place = 1; place < STORES; place++) {
        hash_tables(trace, place, other);
        for (int table = 0; table < TABLE_COUNT; table++) {
            if (first[table] != other[table]) {
                print_error("store %zu differs in %s\n", place, tables[table].name);
            }
            assert_true(first[table] == other[table]);
        }
    }
}

static void verify_all(Trace *trace) {
    for (size_t place = 0; place < STORES; place++) {
        Diag diag;
        int64_t row_count;
        Status status = store_verify(trace->stores[place], &row_count, &diag);
        if (status != OK) print_error("store %zu: %s\n", place, diag.message);
        assert_int_equal(status, OK);
    }
}

static void learn_claim(Trace *trace, Claim claim) {
    size_t place = 0;
    while (place < trace->claim_count && trace->claims[place].run != claim.run) place++;
    if (place == CLAIMS_MAX) place = (size_t)claim.run % CLAIMS_MAX;
    if (place == trace->claim_count) trace->claim_count++;
    trace->claims[place] = claim;
}

static void learn_task(Trace *trace, const TaskRow *task) {
    size_t place =
        trace->task_count < CLAIMS_MAX ? trace->task_count++ : (size_t)task->token % CLAIMS_MAX;
    trace->tasks[place] = (TaskClaim){arena_str(&trace->kept, task->id), task->token};
}

static void learn(Trace *trace, const Batch *batch) {
    for (size_t i = 0; i < batch->out.ready_count; i++) {
        learn_claim(trace, (Claim){batch->out.ready[i].run, batch->out.ready[i].claim.epoch});
    }
    for (size_t i = 0; i < batch->count; i++) {
        const Op *op = batch->ops[i];
        trace->op_counts[op->kind]++;
        trace->ok_counts[op->kind] += op->out.status == OK;
        if (op->kind != OP_CLAIM_TASKS) continue;
        for (size_t k = 0; k < op->out.claim_tasks.task_count; k++) {
            learn_task(trace, &op->out.claim_tasks.tasks[k]);
        }
    }
    DeadLetterPage found;
    assert_int_equal(store_list_dead_letters(trace->stores[0], &trace->arena,
                                             &(PageSpec){.limit = LETTERS_MAX}, &found, NULL),
                     OK);
    trace->letter_count = found.count;
    for (size_t i = 0; i < found.count; i++) trace->letters[i] = found.rows[i].key;
}

static void one_batch(Trace *trace) {
    Batch *batches[STORES];
    trace->batch_number++;
    for (size_t place = 0; place < STORES; place++) {
        batches[place] = build_batch(trace);
        apply(trace, place, batches[place]);
        if (place > 0) compare_answers(batches[0], batches[place]);
    }
    learn(trace, batches[0]);
    random_next(&trace->random);
    trace->now_ms += (int64_t)pick(&trace->random, 30);
    if (pick(&trace->random, 16) == 0) trace->now_ms += 700; // so that schedules tick
}

// ---- opening ----

static void names_fill(Trace *trace, Str *names, size_t count, const char *prefix) {
    for (size_t i = 0; i < count; i++) {
        names[i] = arena_printf(&trace->kept, "%s%zu", prefix, i);
    }
}

static Store *sqlite_open(char path[64], const StoreConfig *config) {
    Store *store = NULL;
    Diag diag;
    snprintf(path, 64, "/tmp/abide-random-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    assert_int_equal(store_open(str_from(path), config, &store, &diag), OK);
    return store;
}

// Answers what it was before.
static uint32_t limit_change(const char *name, uint32_t value) {
    for (size_t i = 0; i < limit_count; i++) {
        if (strcmp(limit_infos[i].name, name) != 0) continue;
        uint32_t before = limits_get(&limit_infos[i]);
        limits_set(&limit_infos[i], value);
        return before;
    }
    fail_msg("there is no limit %s", name);
    return 0;
}

static void stores_open(Trace *trace) {
    StoreConfig config = {
        .filter_matches = filter_is_even, .event_retention_ms = 400, .events_per_topic = 5};
    Diag diag;
    RowStorePair pair;
    assert_int_equal(store_open(STR("memory:"), &config, &trace->stores[0], &diag), OK);
    assert_int_equal(memory_rows_open(&pair, &diag), OK);
    trace->flaky = calloc(1, sizeof(FlakyRows));
    *trace->flaky =
        (FlakyRows){.base = {.ops = &flaky_ops}, .inner = pair.writer, .calls_left = -1};
    pair.writer = &trace->flaky->base;
    assert_int_equal(kernel_store_new(pair, &config, "flaky", &trace->stores[1], &diag), OK);
    trace->stores[2] = sqlite_open(trace->paths[0], &config);
    uint32_t size = limit_change("run_cache_size", 1), count = limit_change("known_runs", 1);
    trace->stores[3] = sqlite_open(trace->paths[1], &config);
    (void)limit_change("run_cache_size", size);
    (void)limit_change("known_runs", count);
}

static void trace_close(Trace *trace) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-lock", ".lock"};
    for (size_t place = 0; place < STORES; place++) store_close(trace->stores[place]);
    for (size_t i = 0; i < 2 * COUNT_OF(suffixes); i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s%s", trace->paths[i % 2], suffixes[i / 2]);
        unlink(name);
    }
    arena_done(&trace->arena);
    arena_done(&trace->kept);
}

static void run_trace(uint64_t seed, int batch_count) {
    Trace *trace = calloc(1, sizeof(Trace));
    trace->random = seed;
    trace->now_ms = 1000000;
    arena_init(&trace->arena);
    arena_init(&trace->kept);
    names_fill(trace, trace->run_ids, RUN_IDS, "run");
    names_fill(trace, trace->topics, TOPICS, "topic");
    names_fill(trace, trace->task_ids, TASK_IDS, "task");
    names_fill(trace, trace->signals, SIGNALS, "s");
    stores_open(trace);
    for (size_t place = 0; place < STORES; place++) {
        Batch batch;
        batch_init(&batch, &trace->arena, trace->now_ms);
        Op *op = batch_add(&batch, OP_JOIN);
        op->in.join.name = STR("node");
        op->in.join.lease_ms = 1000000000;
        apply(trace, place, &batch);
        trace->node = op->out.join.node;
    }
    for (int i = 0; i < batch_count; i++) {
        one_batch(trace);
        if (i % 16 == 15) {
            verify_all(trace);
            compare_rows(trace);
            arena_reset(&trace->arena);
        }
    }
    if (getenv("ABIDE_TEST_VERBOSE")) {
        print_message("seed %llu: %lld batches failed\n", (unsigned long long)seed,
                      (long long)trace->failed_count);
        for (int kind = 1; kind < OP_KIND_COUNT; kind++) {
            print_message("%-20s %6lld of %6lld OK\n", op_kind_name((OpKind)kind),
                          (long long)trace->ok_counts[kind], (long long)trace->op_counts[kind]);
        }
    }
    trace_close(trace);
    free(trace);
}

static int test_scale(void) {
    const char *scale = getenv("ABIDE_TEST_SCALE");
    long percent = scale ? strtol(scale, NULL, 10) : 100;
    return percent > 0 ? (int)percent : 100;
}

static void random_traces_agree_on_every_store(void **state) {
    (void)state;
    const char *seed = getenv("ABIDE_TEST_SEED");
    if (seed) {
        run_trace(strtoull(seed, NULL, 10), 2000);
        return;
    }
    int trace_count = 6 * test_scale() / 100;
    for (int i = 0; i < (trace_count > 1 ? trace_count : 1); i++) {
        print_message("# seed %d\n", i + 1);
        run_trace((uint64_t)i + 1, 400);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces_agree_on_every_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
