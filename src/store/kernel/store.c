// KernelStore: one batch, one transaction.
//
//   begin -> apply each operation -> node's batch number, changed counters -> commit
//
// Counters are kept in memory and written when a batch changed them, so statistics are exact and
// cost one small row each per batch, not per operation.
//   [kernel-store-3] When the transaction is rolled back, counters and caches are as before it.
//        When the commit itself fails nobody knows whether it happened: memory is dropped and
//        loaded again by the next batch.
//   [kernel-store-4] A store that is marked (model/rows.h) is changed by no batch: who opens it is
//        refused, and so is who had it open before. One that was moved away may be looked at.
//   [kernel-store-7] A run that a batch made ready and then changed again is not announced in its
//        old form.
//
// Not here: what the operations do (kernel_*.c), reads (reads_*.c).
#include "base/assert.h"
#include "base/memory.h"
#include "store/kernel/events/events.h"
#include "store/kernel/held.h"
#include "store/kernel/nodes/nodes.h"
#include "store/kernel/operations.h"
#include "store/kernel/quarantine.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/schedules/schedules.h"
#include "store/kernel/tasks/queues.h"
#include "store/kernel/tasks/tasks.h"
#include "store/kernel/waits/waits.h"

enum {
    ATTEMPTS_MAX = 8 // of one batch, when other nodes write in between; the second is safe
};
#define EVENT_RETENTION_MS (7LL * 24 * 3600 * 1000)

typedef Status (*Applier)(Kernel *kernel, Op *op);

static const Applier appliers[OP_KIND_COUNT] = {
    [OP_JOIN] = apply_join,
    [OP_RENEW] = apply_renew,
    [OP_LEAVE] = apply_leave,
    [OP_DESCRIBE_NODE] = apply_describe_node,
    [OP_DEFINE] = apply_define,
    [OP_CREATE_RUN] = apply_create_run,
    [OP_CLAIM] = apply_claim,
    [OP_COMMIT_TURN] = apply_commit_turn,
    [OP_RELEASE] = apply_release,
    [OP_CREATE_TASK] = apply_create_task,
    [OP_CLAIM_TASKS] = apply_claim_tasks,
    [OP_HEARTBEAT_TASK] = apply_heartbeat_task,
    [OP_COMPLETE_TASK] = apply_complete_task,
    [OP_FAIL_TASK] = apply_fail_task,
    [OP_PUBLISH] = apply_publish,
    [OP_SIGNAL] = apply_signal,
    [OP_FIRE_DUE] = apply_fire_due,
    [OP_CANCEL] = apply_cancel,
    [OP_PAUSE] = apply_pause,
    [OP_RESUME] = apply_resume,
    [OP_REWIND] = apply_rewind,
    [OP_MOVE] = apply_move,
    [OP_NOTE_RATES] = apply_note_rates,
    [OP_FORK] = apply_fork,
    [OP_SET_TOPIC] = apply_set_topic,
    [OP_REPLAY_DEAD_LETTER] = apply_replay_dead_letter,
    [OP_REMOVE_DEAD_LETTER] = apply_remove_dead_letter,
    [OP_PURGE_RUN] = apply_purge_run,
    [OP_SWEEP] = apply_sweep,
    [OP_APPEND_LOG] = apply_append_log,
    [OP_RETRY_TASK] = apply_retry_task,
    [OP_RELEASE_TASK] = apply_release_task,
    [OP_SET_SCHEDULE] = apply_set_schedule,
    [OP_REMOVE_SCHEDULE] = apply_remove_schedule,
    [OP_PAUSE_SCHEDULE] = apply_pause_schedule,
    [OP_RESUME_SCHEDULE] = apply_resume_schedule,
    [OP_TRIGGER_SCHEDULE] = apply_trigger_schedule,
    [OP_BACKFILL_SCHEDULE] = apply_backfill_schedule,
    [OP_SET_QUEUE] = apply_set_queue,
    [OP_REMOVE_QUEUE] = apply_remove_queue,
    [OP_PAUSE_QUEUE] = apply_pause_queue,
    [OP_RESUME_QUEUE] = apply_pause_queue,
    [OP_CREATE_TOKEN] = apply_create_token,
    [OP_REMOVE_TOKEN] = apply_remove_token,
    [OP_NOTE_RELEASED] = apply_note_memory,
    [OP_NOTE_RELOADED] = apply_note_memory,
    [OP_REMOVE_EVENTS] = apply_remove_events,
    [OP_REMOVE_SIGNALS] = apply_remove_signals,
};

static Status counters_load(Kernel *kernel, RowStore *rows) {
    CounterRow *stored = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_COUNTERS, .index = SCAN_PRIMARY, .limit = COUNTER_COUNT};
    TRY(rows_scan(rows, &scan, &kernel->scratch, &stored, &count));
    memset(kernel->counters, 0, sizeof(kernel->counters));
    kernel->stored_counters = 0;
    for (size_t i = 0; i < count; i++) {
        if (stored[i].number < 0 || stored[i].number >= COUNTER_COUNT) continue;
        kernel->counters[stored[i].number] = stored[i].value;
        kernel->stored_counters |= UINT64_C(1) << stored[i].number;
    }
    return OK;
}

static Status counters_store(Kernel *kernel, uint64_t *ret_stored) {
    *ret_stored = kernel->stored_counters;
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (kernel->counters[i] == kernel->saved_counters[i]) continue;
        CounterRow row = {.number = i, .value = kernel->counters[i]};
        uint64_t bit = UINT64_C(1) << i;
        if (*ret_stored & bit) {
            TRY(kernel_update_columns(kernel, TABLE_COUNTERS, &row,
                                      column_bit(TABLE_COUNTERS, offsetof(CounterRow, value))));
        } else {
            TRY(kernel_insert(kernel, TABLE_COUNTERS, &row));
            *ret_stored |= bit;
        }
    }
    return OK;
}

// [kernel-store-4]
static Status mark_check(const Kernel *kernel, Status refusal, Diag *diag) {
    switch ((StoreMark)kernel->counters[COUNTER_MARK]) {
    case MARK_NONE: return OK;
    case MARK_FILLING:
        return diag_set(diag, refusal, "STORE_FILLING",
                        "this store is the half of a copy that was interrupted, or that is still "
                        "being made; let it be finished, or remove this store");
    case MARK_MOVED:
    case MARK_COUNT: break;
    }
    return diag_set(diag, refusal, "STORE_MOVED",
                    "the content of this store was moved to another one; use that, or open this "
                    "one again if nothing works on the other");
}

// A node that was fenced off may not change anything: what it holds belongs to others now.
// [store-batch-5]
static Status node_check(Kernel *kernel) {
    if (kernel->batch->node == 0) return OK;
    NodeRow wanted = {.key = kernel->batch->node}, node;
    Status status = kernel_get(kernel, TABLE_NODES, &wanted, &node);
    if (status == OK && !node_is_fenced(&node)) return OK;
    if (status != OK && status != ERR_NOT_FOUND) return status;
    return node_refuse_fenced(&kernel->rows_diag);
}

// One that leaves has no row any more. A batch that changed nothing may as well not have happened:
// nobody is to be disturbed by it.
static Status node_store_batch(Kernel *kernel, int64_t writes_before) {
    const Batch *batch = kernel->batch;
    if (batch->node == 0 || kernel->write_count == writes_before) return OK;
    NodeRow row = {.key = batch->node, .last_batch = batch->number};
    Status status = rows_update(kernel->writer, TABLE_NODES, &row, kernel->node_batch_bit);
    if (status == OK || status == ERR_NOT_FOUND) return OK;
    if (kernel->failure == OK) kernel->failure = status;
    return status;
}

// [kernel-store-7]
static Status ready_settle(Kernel *kernel) {
    Batch *batch = kernel->batch;
    size_t kept = 0;
    for (size_t i = 0; i < batch->out.ready_count; i++) {
        ReadyRun *ready = &batch->out.ready[i];
        Run run;
        arena_reset(&kernel->scratch);
        Status status = run_load(kernel, ready->run, &run);
        if (status == ERR_NOT_FOUND) continue; // ended and purged
        TRY(status);
        bool is_ours = run.row.state == RUN_RUNNING && run.row.owner == batch->node;
        if (!is_ours || run.row.epoch != ready->claim.epoch) continue;
        ready->claim = run_claim_of(&run.row);
        batch->out.ready[kept++] = *ready;
    }
    batch->out.ready_count = kept;
    return OK;
}

static Status batch_apply(Kernel *kernel) {
    Batch *batch = kernel->batch;
    int64_t writes_before = kernel->write_count;
    TRY(kernel_expect(kernel));
    TRY(node_check(kernel));
    tasks_begin_batch(kernel);
    for (size_t i = 0; i < batch->count; i++) {
        Op *op = batch->ops[i];
        ASSERT(op->kind > 0 && op->kind < OP_KIND_COUNT);
        int64_t write_count = kernel->write_count;
        arena_reset(&kernel->scratch);
        kernel->last_op = i > 0 ? batch->ops[i - 1] : NULL;
        kernel->next_op = i + 1 < batch->count ? batch->ops[i + 1] : NULL;
        kernel->op = op;
        kernel->fresh_after = kernel->counters[COUNTER_NEXT_KEY];
        diag_clear(&op->out.diag);
        op->out.status = appliers[op->kind](kernel, op);
        if (kernel->failure != OK) return kernel->failure;
        ASSERT(op->out.status == OK || kernel->write_count == write_count); // [kernel-2]
        TRY(held_end_op(kernel));
    }
    ASSERT(kernel->held.changes == 0); // [held-1]
    TRY(ready_settle(kernel));
    TRY(queues_store(kernel));
    TRY(places_store(kernel));
    return node_store_batch(kernel, writes_before);
}

static Status quarantine_apply(Kernel *kernel, const Damage *quarantined) {
    TRY(node_check(kernel));
    TRY(damage_quarantine(kernel, quarantined));
    TRY(queues_store(kernel));
    return places_store(kernel);
}

// [cache-2] What is small and cheap to read again goes whole.
static void memory_forget_small(Kernel *kernel) {
    task_cache_clear(&kernel->tasks);
    topic_cache_clear(&kernel->topics);
    queue_cache_clear(&kernel->queues);
    places_clear(&kernel->places);
}

static void batch_undo(Kernel *kernel) {
    memcpy(kernel->counters, kernel->saved_counters, sizeof(kernel->counters));
    fact_cache_rollback(&kernel->facts);
    memory_forget_small(kernel);
}

static Status batch_failed(Kernel *kernel, Status status, Diag *diag) {
    if (!kernel->batch->out.has_answers) batch_clear_answers(kernel->batch);
    kernel->batch = NULL;
    kernel->op = NULL;
    if (kernel->rows_diag.code[0] && diag) *diag = kernel->rows_diag;
    if (status != ERR_CONFLICT && status != ERR_NOT_FOUND && status != ERR_TERMINAL) return status;
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "the %s store answered %s within a batch",
                    kernel->ops.name, status_name(status));
}

static Status memory_reload(Kernel *kernel) {
    fact_cache_clear(&kernel->facts);
    memory_forget_small(kernel);
    arena_reset(&kernel->scratch);
    TRY(counters_load(kernel, kernel->writer));
    kernel->is_stale = false;
    return OK;
}

static Status batch_check(const Kernel *kernel, const Batch *batch, Diag *diag) {
    if (kernel->config.is_read_only) {
        return diag_set(diag, ERR_UNSUPPORTED, "STORE_READ_ONLY",
                        "the store was opened for reading only");
    }
    if (batch->count > LIMIT_BATCH_OPS) {
        return diag_set(diag, ERR_LIMIT, "BATCH_TOO_LARGE",
                        "a batch of %zu operations; at most %d are allowed", batch->count,
                        LIMIT_BATCH_OPS);
    }
    return OK;
}

// Whether other nodes are at work, and the batch concerns them.
static Status members_find(Kernel *kernel, RowStore *rows) {
    enum { NODES_LOOKED_AT = 64 };
    const Batch *batch = kernel->batch;
    if (!rows->is_shared) return OK;
    NodeRow *nodes = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_NODES, .index = SCAN_PRIMARY, .limit = NODES_LOOKED_AT};
    arena_reset(&kernel->scratch);
    TRY(kernel_scan(kernel, &scan, &nodes, &count));
    for (size_t i = 0; i < count; i++) {
        bool is_alive = node_lease_known(kernel, &nodes[i]) > batch->now_ms;
        if (is_alive && nodes[i].key != batch->node) rows->has_members = true;
    }
    bool is_news = batch->out.unclaimed_count > 0 || batch->out.reserved_count > 0 ||
                   batch->out.left_until_ms > 0 || batch->out.has_tasks ||
                   batch->out.ended_count > 0;
    rows->has_news = rows->has_members && is_news;
    return OK;
}

static void kernel_listen(Store *store, const StoreListener *listener) {
    RowStore *rows = ((Kernel *)store)->writer;
    if (rows->ops->listen != NULL) rows->ops->listen(rows, listener);
}

// With something to quarantine, that alone is done, in a transaction of its own.
static Status batch_commit(Kernel *kernel, Batch *batch, const Damage *quarantined, Diag *diag) {
    ASSERT(kernel->batch == NULL); // [kernel-1]
    batch_clear_answers(batch);
    RowStore *rows = kernel->writer;
    kernel->is_repetition_wanted = false;
    TRY(rows->ops->begin(rows, diag));
    ASSERT(!rows->wants_restart); // [rowstore-10]
    if (rows->is_reloaded) kernel->is_stale = true;
    rows->diag = &kernel->rows_diag;
    diag_clear(&kernel->rows_diag);
    kernel->batch = batch;
    kernel->failure = OK;
    kernel->has_looked = false;
    Status status = kernel->is_stale ? memory_reload(kernel) : OK;
    if (status == OK) status = mark_check(kernel, ERR_UNAVAILABLE, &kernel->rows_diag);
    memcpy(kernel->saved_counters, kernel->counters, sizeof(kernel->counters));
    fact_cache_begin(&kernel->facts);
    kernel->held = (HeldRow){0};
    kernel->ended_task = (EndedTask){0};
    wait_cache_begin(&kernel->waits);
    uint64_t stored_counters = kernel->stored_counters;
    if (status == OK)
        status = quarantined ? quarantine_apply(kernel, quarantined) : batch_apply(kernel);
    if (status == OK) status = counters_store(kernel, &stored_counters);
    if (status == OK) status = members_find(kernel, rows);
    if (status != OK) {
        damage_settle(kernel, status);
        rows->ops->rollback(rows);
        batch_undo(kernel);
        return batch_failed(kernel, status, diag);
    }
    diag_clear(&kernel->rows_diag);
    status = rows->ops->commit(rows, &kernel->rows_diag);
    batch->out.has_answers =
        !quarantined && (status == OK || status_is_away(status)); // [store-batch-3]
    if (status != OK) {
        kernel->is_stale = true; // [kernel-store-3]
        return batch_failed(kernel, status, diag);
    }
    kernel->stored_counters = stored_counters;
    queue_cache_trim(&kernel->queues);
    places_trim(&kernel->places);
    kernel->batch = NULL;
    kernel->op = NULL;
    return OK;
}

static Status kernel_commit(Store *store, Batch *batch, Diag *diag) {
    Kernel *kernel = (Kernel *)store;
    TRY(batch_check(kernel, batch, diag));
    if (batch_is_heartbeat(kernel, batch)) return batch_heartbeat(kernel, batch, diag);
    Str found = STR_NULL; // damaged rows, over all attempts
    kernel->damage = (Damage){0};
    for (int attempt = 1;;) {
        Damage damage = kernel->damage;
        bool is_quarantine = damage.row != NULL;
        kernel->damage.row = NULL;
        Status status = batch_commit(kernel, batch, is_quarantine ? &damage : NULL, diag);
        if (status == OK && is_quarantine) found = damage_text(batch->arena, &damage, found);
        batch->out.damage = found;
        if (status == OK && !is_quarantine) {
            heartbeats_follow(kernel, batch);
            return OK;
        }
        if (is_quarantine) kernel->damage.row = NULL;
        if (status == OK || kernel->damage.row != NULL)
            continue;                               // [quarantine-4] of kernel/quarantine.c
        if (kernel->is_repetition_wanted) continue; // each time with one participant less
        if (!kernel->writer->wants_restart || attempt++ == ATTEMPTS_MAX) return status;
    }
}

static void memory_init(Kernel *kernel) {
    fact_cache_init(&kernel->facts);
    task_cache_init(&kernel->tasks);
    topic_cache_init(&kernel->topics);
    queue_cache_init(&kernel->queues);
    places_init(&kernel->places);
    zone_cache_init(&kernel->zones);
    wait_cache_init(&kernel->waits);
    arena_init(&kernel->scratch);
}

static void kernel_free(Kernel *kernel) {
    fact_cache_done(&kernel->facts);
    task_cache_done(&kernel->tasks);
    topic_cache_done(&kernel->topics);
    queue_cache_done(&kernel->queues);
    places_done(&kernel->places);
    zone_cache_done(&kernel->zones);
    wait_cache_done(&kernel->waits);
    vec_free(&kernel->heartbeats);
    arena_done(&kernel->scratch);
    mem_free(kernel);
}

static void kernel_close(Store *store) {
    Kernel *kernel = (Kernel *)store;
    if (kernel->reader != kernel->writer) kernel->reader->ops->close(kernel->reader);
    kernel->writer->ops->close(kernel->writer);
    kernel_free(kernel);
}

static void config_fill(StoreConfig *config) {
    if (config->events_per_topic <= 0) config->events_per_topic = LIMIT_EVENTS_PER_TOPIC;
    if (config->event_retention_ms <= 0) config->event_retention_ms = EVENT_RETENTION_MS;
}

Status kernel_store_new(RowStorePair pair, const StoreConfig *config, const char *name,
                        Store **ret_store, Diag *diag) {
    Kernel *kernel = mem_zalloc(sizeof(Kernel));
    kernel->ops = (StoreOps){.name = name,
                             .commit = kernel_commit,
                             .read = kernel_read,
                             .verify = kernel_verify,
                             .listen = kernel_listen,
                             .close = kernel_close};
    kernel->base.ops = &kernel->ops;
    kernel->writer = pair.writer;
    kernel->reader = pair.reader;
    if (config) kernel->config = *config;
    config_fill(&kernel->config);
    kernel->run_snapshot_bit = column_bit(TABLE_RUNS, offsetof(RunRow, snapshot));
    kernel->log_position_bit = column_bit(TABLE_LOG, offsetof(LogRow, position));
    kernel->node_batch_bit = column_bit(TABLE_NODES, offsetof(NodeRow, last_batch));
    kernel->run_text_bits = table_text_bits(TABLE_RUNS) & ~kernel->run_snapshot_bit &
                            ~column_bit(TABLE_RUNS, offsetof(RunRow, waits));
    memory_init(kernel);

    RowStore *rows = kernel->reader;
    Status status = rows->ops->read_begin(rows, diag);
    if (status == OK) {
        rows->diag = diag;
        status = counters_load(kernel, rows);
        rows->ops->read_end(rows);
    }
    bool may_look = kernel->config.ignores_mark ||
                    (kernel->config.is_read_only && kernel->counters[COUNTER_MARK] == MARK_MOVED);
    if (status == OK && !may_look) status = mark_check(kernel, ERR_CONFLICT, diag);
    if (status != OK) {
        kernel_free(kernel);
        return status;
    }
    rows->diag = NULL;
    *ret_store = &kernel->base;
    return OK;
}
