// Traces as text: what was asked for, and everything that was answered.
#include "base/containers/buf.h"
#include "contract/trace.h"

enum { TEXT_SIZE_MAX = 64 << 20, SHOWN_MAX = 24 };

static void put(Buf *text, const char *name, int64_t value) {
    if (value != 0) buf_printf(text, " %s=%lld", name, (long long)value);
}

static void put_str(Buf *text, const char *name, Str s) {
    if (str_is_null(s)) return;
    buf_printf(text, " %s=\"", name);
    for (size_t i = 0; i < s.len && i < SHOWN_MAX; i++) {
        char c = s.data[i];
        if (c >= ' ' && c < 127) buf_append_char(text, c);
        else buf_printf(text, "\\%02x", (unsigned)(unsigned char)c);
    }
    buf_printf(text, s.len > SHOWN_MAX ? "…\"(%zu)" : "\"", s.len);
}

static Str finish(Arena *arena, Buf *text) {
    Str result = arena_str(arena, buf_str(text));
    buf_done(text);
    return result;
}

// ---- answers ----

static void put_row(Buf *text, TableNumber number, const void *row) {
    const Table *table = &tables[number];
    buf_append_cstr(text, "\n   ");
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) put(text, column->name, row_i64(row, column));
        else put_str(text, column->name, row_str(row, column));
    }
}

static void put_turn(Buf *text, const Op *op) {
    const TurnReply *turn = &op->out.turn;
    put(text, "state", turn->state);
    put(text, "last_seq", turn->last_seq);
    put(text, "cancel", turn->is_cancel_wanted);
    for (size_t i = 0; turn->child_keys && i < op->in.turn.child_count; i++) {
        put(text, "child", turn->child_keys[i]);
    }
    for (size_t i = 0; turn->task_keys && i < op->in.turn.task_count; i++) {
        put(text, "task", turn->task_keys[i]);
    }
    for (size_t i = 0; i < turn->resolved_count; i++) put_row(text, TABLE_LOG, &turn->resolved[i]);
}

static void put_schedule(Buf *text, const Op *op) {
    switch (op->kind) {
    case OP_SET_SCHEDULE:
        put(text, "key", op->out.set_schedule.key);
        put(text, "new", op->out.set_schedule.is_new);
        put(text, "next", op->out.set_schedule.next_at_ms);
        break;
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE:
        put(text, "changed", op->out.schedule.is_changed);
        put(text, "next", op->out.schedule.next_at_ms);
        break;
    case OP_TRIGGER_SCHEDULE:
        put_str(text, "run_id", op->out.trigger_schedule.run_id);
        put(text, "run", op->out.trigger_schedule.run);
        put(text, "new", op->out.trigger_schedule.is_new);
        break;
    case OP_BACKFILL_SCHEDULE:
        put(text, "started", op->out.backfill.started_count);
        put(text, "existing", op->out.backfill.existing_count);
        put(text, "next", op->out.backfill.next_ms);
        break;
    default: break;
    }
}

static void put_counts(Buf *text, const Op *op) {
    switch (op->kind) {
    case OP_FIRE_DUE:
        put(text, "fired", op->out.fire_due.fired_count);
        put(text, "started", op->out.fire_due.started_count);
        put(text, "woken", op->out.fire_due.woken_count);
        put(text, "ended", op->out.fire_due.ended_count);
        put(text, "tasks", op->out.fire_due.task_count);
        put(text, "ticks", op->out.fire_due.tick_count);
        put(text, "more", op->out.fire_due.has_more);
        break;
    case OP_SWEEP:
        put(text, "purged", op->out.sweep.purged_runs);
        put(text, "events", op->out.sweep.expired_events);
        put(text, "keys", op->out.sweep.expired_keys);
        put(text, "reclaimed", op->out.sweep.reclaimed_runs);
        put(text, "more", op->out.sweep.has_more);
        break;
    case OP_REWIND:
        put(text, "position", op->out.rewind.position);
        put(text, "dropped", op->out.rewind.dropped_count);
        break;
    case OP_CLAIM:
        put(text, "count", op->out.claim.count);
        put(text, "taken_over", op->out.claim.taken_over);
        break;
    case OP_CLAIM_TASKS:
        for (size_t i = 0; i < op->out.claim_tasks.task_count; i++) {
            put_row(text, TABLE_TASKS, &op->out.claim_tasks.tasks[i]);
        }
        put(text, "open_at", op->out.claim_tasks.open_at_ms);
        break;
    case OP_REMOVE_QUEUE:
    case OP_PAUSE_QUEUE:
    case OP_RESUME_QUEUE: put(text, "changed", op->out.queue.is_changed); break;
    case OP_CREATE_TOKEN:
        put(text, "key", op->out.create_token.key);
        put(text, "created", op->out.create_token.created_at_ms);
        break;
    default: put_schedule(text, op); break;
    }
}

static void put_answer(Buf *text, const Op *op) {
    buf_printf(text, "  %s: %s %s", op_kind_name(op->kind), status_name(op->out.status),
               op->out.status == OK ? "" : op->out.diag.code);
    switch (op->kind) {
    case OP_JOIN: put(text, "node", op->out.join.node); break;
    case OP_LEAVE: put(text, "released", op->out.leave.released_count); break;
    case OP_DEFINE:
        put(text, "key", op->out.define.key);
        put(text, "new", op->out.define.is_new);
        break;
    case OP_CREATE_RUN:
        put(text, "key", op->out.create_run.key);
        put(text, "new", op->out.create_run.is_new);
        put_str(text, "id", op->out.create_run.id);
        put(text, "state", op->out.create_run.state);
        break;
    case OP_COMMIT_TURN: put_turn(text, op); break;
    case OP_CREATE_TASK:
        put(text, "key", op->out.create_task.key);
        put(text, "new", op->out.create_task.is_new);
        break;
    case OP_HEARTBEAT_TASK: put(text, "cancel", op->out.heartbeat.is_cancel_wanted); break;
    case OP_FAIL_TASK:
        put(text, "retried", op->out.fail_task.is_retried);
        put(text, "at", op->out.fail_task.retry_at_ms);
        break;
    case OP_PUBLISH:
        put(text, "resumed", op->out.publish.resumed_count);
        put(text, "kept", op->out.publish.is_kept);
        put(text, "duplicate", op->out.publish.is_duplicate);
        break;
    case OP_SIGNAL:
        put(text, "delivered", op->out.signal.is_delivered);
        put(text, "duplicate", op->out.signal.is_duplicate);
        break;
    case OP_REMOVE_EVENTS:
    case OP_REMOVE_SIGNALS:
        put(text, "removed", op->out.remove_events.removed_count);
        put(text, "next", op->out.remove_events.next_key);
        break;
    case OP_CANCEL: put(text, "changed", op->out.cancel.is_changed); break;
    case OP_PAUSE:
    case OP_RESUME: put(text, "changed", op->out.hold.is_changed); break;
    case OP_FORK:
        put(text, "key", op->out.fork.key);
        put(text, "new", op->out.fork.is_new);
        put_str(text, "id", op->out.fork.id);
        break;
    case OP_REPLAY_DEAD_LETTER: put(text, "resumed", op->out.dead_letter.resumed_count); break;
    default: put_counts(text, op); break;
    }
    buf_append_char(text, '\n');
}

Str trace_answers(Arena *arena, Status status, const Diag *diag, const Batch *batch) {
    Buf text;
    buf_init(&text, TEXT_SIZE_MAX);
    buf_printf(&text, "batch: %s %s", status_name(status), status == OK ? "" : diag->code);
    put(&text, "unclaimed", batch->out.unclaimed_count);
    put(&text, "reserved", (int64_t)batch->out.reserved_count);
    put(&text, "due", batch->out.earliest_due_ms);
    put(&text, "has_tasks", batch->out.has_tasks);
    buf_append_char(&text, '\n');
    for (size_t i = 0; i < batch->count; i++) put_answer(&text, batch->ops[i]);
    for (size_t i = 0; i < batch->out.ready_count; i++) {
        const ReadyRun *ready = &batch->out.ready[i];
        buf_append_cstr(&text, "  ready");
        put(&text, "run", ready->run);
        put(&text, "epoch", ready->claim.epoch);
        put_str(&text, "id", ready->id);
        put_str(&text, "workflow", ready->workflow);
        put(&text, "kind", ready->kind);
        put(&text, "cancel", ready->claim.is_cancel_wanted);
        put(&text, "last_seq", ready->last_seq);
        for (size_t j = 0; j < ready->resolved_count; j++) {
            put_row(&text, TABLE_LOG, &ready->resolved[j]);
        }
        buf_append_char(&text, '\n');
    }
    for (size_t i = 0; i < batch->out.ended_count; i++) {
        buf_append_cstr(&text, "  ended");
        put(&text, "run", batch->out.ended[i].run);
        put_str(&text, "id", batch->out.ended[i].id);
        put(&text, "state", batch->out.ended[i].state);
        buf_append_char(&text, '\n');
    }
    return finish(arena, &text);
}

// ---- questions ----

static void put_spec(Buf *text, const RunSpec *spec) {
    put_str(text, "id", spec->id);
    put(text, "kind", spec->kind);
    put_str(text, "dedupe_key", spec->dedupe_key);
    put(text, "start_at", spec->start_at_ms);
    put(text, "timeout", spec->timeout_ms);
    put(text, "keep", spec->keep_ms);
    put_str(text, "tags", spec->tags);
    put(text, "leftover", spec->leftover_policy);
    put_str(text, "leftover_topic", spec->leftover_topic);
    put(text, "close", spec->close_policy);
}

static void put_task_spec(Buf *text, const TaskSpec *task) {
    put_str(text, "task", task->id);
    put_str(text, "queue", task->queue);
    put(text, "delay", task->delay_ms);
    put(text, "attempts", task->max_attempts);
    put(text, "backoff", task->backoff_ms);
    put(text, "start_timeout", task->start_timeout_ms);
    put(text, "run_timeout", task->run_timeout_ms);
}

static void put_event(Buf *text, const EventSpec *event) {
    put_str(text, "topic", event->topic);
    put_str(text, "id", event->id);
    put(text, "dedupe", event->is_deduplicated);
    put_str(text, "payload", event->payload);
}

static void put_turn_question(Buf *text, const TurnCommit *turn) {
    static const char *const names[] = {"",          "continue", "suspend",     "complete", "fail",
                                        "cancelled", "pause",    "continue_as", "retry"};
    put(text, "run", turn->run);
    put(text, "epoch", turn->epoch);
    buf_printf(text, " next=%s", names[turn->next]);
    put(text, "retry_at", turn->retry_at_ms);
    put(text, "foreseen", turn->foreseen_seq);
    put_str(text, "snapshot", turn->snapshot);
    put(text, "place", turn->place);
    for (size_t i = 0; i < turn->log_count; i++) put_row(text, TABLE_LOG, &turn->log[i]);
    for (size_t i = 0; i < turn->child_count; i++) {
        buf_append_cstr(text, "\n    child");
        put_spec(text, &turn->children[i]);
    }
    for (size_t i = 0; i < turn->task_count; i++) {
        buf_append_cstr(text, "\n   ");
        put_task_spec(text, &turn->tasks[i]);
    }
    for (size_t i = 0; i < turn->event_count; i++) {
        buf_append_cstr(text, "\n    event");
        put_event(text, &turn->events[i]);
    }
    for (size_t i = 0; i < turn->waits.count; i++) {
        const WaitItem *item = &turn->waits.items[i];
        buf_printf(text, "\n    wait %s %s", turn->waits.mode == WAIT_FIRST ? "first" : "each",
                   wait_kind_name(item->kind));
        put_str(text, "name", item->name);
        put_str(text, "filter", item->filter);
        put(text, "deadline", item->deadline_at_ms);
    }
}

static void put_outside_question(Buf *text, const Op *op) {
    switch (op->kind) {
    case OP_PUBLISH: put_event(text, &op->in.publish.event); break;
    case OP_SIGNAL:
        put_str(text, "run", op->in.signal.run_id);
        put_str(text, "name", op->in.signal.name);
        put_str(text, "id", op->in.signal.id);
        put(text, "dedupe", op->in.signal.is_deduplicated);
        break;
    case OP_CANCEL:
        put_str(text, "run", op->in.cancel.run_id);
        put(text, "grace", op->in.cancel.grace_ms);
        break;
    case OP_PAUSE:
    case OP_RESUME: put_str(text, "run", op->in.hold.run_id); break;
    case OP_MOVE:
        put_str(text, "run", op->in.move.run_id);
        put(text, "epoch", op->in.move.epoch);
        put(text, "definition", op->in.move.definition);
        put(text, "place", op->in.move.place);
        put(text, "set", op->in.move.is_set);
        put_str(text, "snapshot", op->in.move.snapshot);
        break;
    case OP_REWIND:
        put_str(text, "run", op->in.rewind.run_id);
        put_str(text, "step", op->in.rewind.step.name);
        put(text, "iteration", op->in.rewind.step.is_last ? -1 : op->in.rewind.step.iteration);
        break;
    case OP_FORK:
        put_str(text, "run", op->in.fork.run_id);
        put_str(text, "step", op->in.fork.step.name);
        put_str(text, "new_id", op->in.fork.new_id);
        put(text, "retry", op->in.fork.is_retry);
        put(text, "definition", op->in.fork.version.definition);
        put(text, "from", op->in.fork.version.from);
        put(text, "digest", op->in.fork.version.digest);
        break;
    case OP_PURGE_RUN: put_str(text, "run", op->in.purge.run_id); break;
    case OP_SET_TOPIC:
        put_row(text, TABLE_TOPICS, &op->in.set_topic.row);
        put(text, "kept", (int64_t)op->in.set_topic.kept);
        break;
    case OP_REPLAY_DEAD_LETTER:
    case OP_REMOVE_DEAD_LETTER: put(text, "key", op->in.dead_letter.key); break;
    case OP_REMOVE_EVENTS:
    case OP_REMOVE_SIGNALS:
        put_str(text, "topic", op->in.remove_events.topic);
        put_str(text, "run", op->in.remove_events.run_id);
        put_str(text, "name", op->in.remove_events.name);
        put(text, "key", op->in.remove_events.key);
        break;
    case OP_SET_QUEUE:
        put_row(text, TABLE_QUEUES, &op->in.set_queue.row);
        put(text, "kept", (int64_t)op->in.set_queue.kept);
        break;
    case OP_CREATE_TOKEN: put_row(text, TABLE_TOKENS, &op->in.create_token); break;
    case OP_REMOVE_TOKEN: put_str(text, "id", op->in.remove_token.id); break;
    case OP_REMOVE_QUEUE:
    case OP_PAUSE_QUEUE:
    case OP_RESUME_QUEUE: put_str(text, "name", op->in.queue.name); break;
    case OP_SET_SCHEDULE: put_row(text, TABLE_SCHEDULES, &op->in.set_schedule.row); break;
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE: put_str(text, "name", op->in.schedule.name); break;
    case OP_TRIGGER_SCHEDULE:
        put_str(text, "name", op->in.trigger_schedule.name);
        put_str(text, "id", op->in.trigger_schedule.id);
        break;
    case OP_BACKFILL_SCHEDULE:
        put_str(text, "name", op->in.backfill.name);
        put(text, "from", op->in.backfill.from_ms);
        put(text, "to", op->in.backfill.to_ms);
        break;
    default: break;
    }
}

static void put_question(Buf *text, const Op *op) {
    buf_printf(text, "  %s", op_kind_name(op->kind));
    switch (op->kind) {
    case OP_JOIN:
        put(text, "lease", op->in.join.lease_ms);
        put(text, "exclusive", op->in.join.is_exclusive);
        break;
    case OP_RENEW:
        put(text, "lease", op->in.renew.lease_ms);
        put(text, "resident", op->in.renew.resident_count);
        break;
    case OP_NOTE_RATES:
        for (int i = 0; i < RATE_RESOLUTION_COUNT; i++)
            put_row(text, TABLE_RATES, &op->in.note_rates.rows[i]);
        break;
    case OP_DESCRIBE_NODE: put_str(text, "workers", op->in.describe_node.workers); break;
    case OP_CREATE_RUN: put_spec(text, &op->in.create_run.spec); break;
    case OP_CLAIM: put(text, "max", op->in.claim.max); break;
    case OP_COMMIT_TURN: put_turn_question(text, &op->in.turn); break;
    case OP_RELEASE:
        put(text, "run", op->in.release.run);
        put(text, "epoch", op->in.release.epoch);
        break;
    case OP_CREATE_TASK: put_task_spec(text, &op->in.create_task.spec); break;
    case OP_CLAIM_TASKS:
        put(text, "max", op->in.claim_tasks.max);
        put(text, "lease", op->in.claim_tasks.lease_ms);
        put(text, "eager", op->in.claim_tasks.is_eager);
        break;
    case OP_HEARTBEAT_TASK: put_str(text, "id", op->in.heartbeat.id); break;
    case OP_COMPLETE_TASK: put_str(text, "id", op->in.complete_task.id); break;
    case OP_FAIL_TASK: put_str(text, "id", op->in.fail_task.id); break;
    case OP_RETRY_TASK: put_str(text, "id", op->in.retry_task.id); break;
    case OP_RELEASE_TASK: put_str(text, "id", op->in.release_task.id); break;
    case OP_FIRE_DUE: put(text, "max", op->in.fire_due.max); break;
    case OP_SWEEP: put(text, "max", op->in.sweep.max); break;
    case OP_NOTE_RELEASED:
    case OP_NOTE_RELOADED:
        put(text, "run", op->in.memory.run);
        put(text, "epoch", op->in.memory.is_any_epoch ? -1 : op->in.memory.epoch);
        put(text, "forced", op->in.memory.is_forced);
        put(text, "entry", op->in.memory.has_entry);
        break;
    case OP_APPEND_LOG:
        put(text, "run", op->in.append_log.run);
        put(text, "epoch", op->in.append_log.is_any_epoch ? -1 : op->in.append_log.epoch);
        break;
    default: put_outside_question(text, op); break;
    }
    buf_append_char(text, '\n');
}

Str trace_describe(Arena *arena, const Batch *batch) {
    Buf text;
    buf_init(&text, TEXT_SIZE_MAX);
    buf_printf(&text, "batch %lld at %lld, node %lld, claim_max %lld\n", (long long)batch->number,
               (long long)batch->now_ms, (long long)batch->node, (long long)batch->claim_max);
    for (size_t i = 0; i < batch->count; i++) put_question(&text, batch->ops[i]);
    return finish(arena, &text);
}
