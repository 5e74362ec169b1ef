// Replies that outlive their batch.
//
// What an operation answers may point to texts, rows and lists in the arena of its batch, and that
// is gone as soon as the answers have been sent. Whoever looks at a reply later has it copied here,
// all of it, whatever the operation was.
//
//   [replies-1] Each kind of operation has its case, and each reply the size it had when somebody
//        last looked for pointers in it: a new kind, or a reply that grows, does not compile before
//        it is dealt with here.
//   [replies-2] What is not kept is cleared: no reply points to memory that is gone.
//
// Not here: who keeps replies, and where (engine/world/request.h).
#include "model/tables.h"
#include "store/ops.h"
#include <string.h>

// [replies-1] Sizes of a 64-bit machine; on others the fields are the same.
#if UINTPTR_MAX == UINT64_MAX
#define HAS_SIZE(reply, size)                                                                      \
    _Static_assert(sizeof((OpOut){0}.reply) == (size), "copy what the reply points to")
HAS_SIZE(join, 8);
HAS_SIZE(renew, 16);
HAS_SIZE(leave, 8);
HAS_SIZE(define, 24);
HAS_SIZE(create_run, 64);
HAS_SIZE(claim, 40);
HAS_SIZE(turn, 104);
HAS_SIZE(create_task, 16);
HAS_SIZE(claim_tasks, 48);
HAS_SIZE(heartbeat, 1);
HAS_SIZE(complete_task, 80);
HAS_SIZE(fail_task, 72);
HAS_SIZE(publish, 16);
HAS_SIZE(signal, 2);
HAS_SIZE(fire_due, 56);
HAS_SIZE(cancel, 1);
HAS_SIZE(hold, 1);
HAS_SIZE(rewind, 16);
HAS_SIZE(fork, 32);
HAS_SIZE(dead_letter, 8);
HAS_SIZE(remove_events, 24);
HAS_SIZE(sweep, 40);
HAS_SIZE(retry_task, 1);
HAS_SIZE(set_schedule, 24);
HAS_SIZE(schedule, 16);
HAS_SIZE(trigger_schedule, 32);
HAS_SIZE(backfill, 24);
HAS_SIZE(queue, 1);
HAS_SIZE(create_token, 16);
HAS_SIZE(memory, 32);
#endif

// ---- parts; without an arena there is nothing left of them [replies-2] ----

static Str kept_text(Arena *arena, Str text) {
    return arena != NULL ? arena_str(arena, text) : STR_NULL;
}

static void *kept_list(Arena *arena, const void *list, size_t count, size_t size) {
    if (arena == NULL || list == NULL) return NULL;
    void *copy = arena_alloc(arena, count * size);
    if (count > 0) memcpy(copy, list, count * size);
    return copy;
}

static void *kept_rows(Arena *arena, TableNumber number, const void *rows, size_t count) {
    const Table *table = &tables[number];
    char *copies = kept_list(arena, rows, count, table->row_size);
    for (size_t i = 0; i < count && copies != NULL; i++) {
        size_t at = i * table->row_size;
        row_copy(table, arena, (const char *)rows + at, copies + at);
    }
    return copies;
}

// ---- replies ----

static void keep_turn(Op *op, Arena *arena) {
    const TurnCommit *asked = &op->in.turn;
    TurnReply *reply = &op->out.turn;
    reply->log = kept_rows(arena, TABLE_LOG, reply->log, asked->log_count);
    reply->resolved = kept_rows(arena, TABLE_LOG, reply->resolved, reply->resolved_count);
    if (reply->resolved == NULL) reply->resolved_count = 0;
    reply->step_error = kept_text(arena, reply->step_error);
    reply->child_keys =
        kept_list(arena, reply->child_keys, asked->child_count, sizeof(*reply->child_keys));
    reply->task_keys =
        kept_list(arena, reply->task_keys, asked->task_count, sizeof(*reply->task_keys));
}

static void keep_claimed(Op *op, Arena *arena) {
    size_t count = op->out.claim_tasks.task_count;
    op->out.claim_tasks.tasks = kept_rows(arena, TABLE_TASKS, op->out.claim_tasks.tasks, count);
    TaskRun *runs = kept_list(arena, op->out.claim_tasks.runs, count, sizeof(*runs));
    for (size_t i = 0; i < count && runs != NULL; i++)
        runs[i] = (TaskRun){kept_text(arena, runs[i].id), kept_text(arena, runs[i].tags)};
    op->out.claim_tasks.runs = runs;
    if (op->out.claim_tasks.tasks == NULL) op->out.claim_tasks.task_count = 0;
    op->out.claim_tasks.task_capacity = op->out.claim_tasks.task_count;
}

static void keep_attempt(TaskAttempt *attempt, Arena *arena) {
    attempt->name = kept_text(arena, attempt->name);
    attempt->worker = kept_text(arena, attempt->worker);
}

void op_keep_reply(Op *op, Arena *arena) {
    if (op->out.status != OK) arena = NULL; // what stands there then was never meant to be read
    switch (op->kind) {
    case OP_DEFINE:
        op->out.define.others = kept_list(arena, op->out.define.others, op->in.define.other_count,
                                          sizeof(*op->out.define.others));
        break;
    case OP_CREATE_RUN:
        op->out.create_run.id = kept_text(arena, op->out.create_run.id);
        op->out.create_run.version = kept_text(arena, op->out.create_run.version);
        op->out.create_run.row = kept_rows(arena, TABLE_RUNS, op->out.create_run.row, 1);
        break;
    case OP_COMMIT_TURN: keep_turn(op, arena); break;
    case OP_CLAIM_TASKS: keep_claimed(op, arena); break;
    case OP_COMPLETE_TASK: keep_attempt(&op->out.complete_task.attempt, arena); break;
    case OP_FAIL_TASK: keep_attempt(&op->out.fail_task.attempt, arena); break;
    case OP_FORK: op->out.fork.id = kept_text(arena, op->out.fork.id); break;
    case OP_TRIGGER_SCHEDULE:
        op->out.trigger_schedule.run_id = kept_text(arena, op->out.trigger_schedule.run_id);
        break;
    // These hold numbers only.
    case OP_JOIN:
    case OP_RENEW:
    case OP_LEAVE:
    case OP_DESCRIBE_NODE:
    case OP_CLAIM:
    case OP_RELEASE:
    case OP_CREATE_TASK:
    case OP_HEARTBEAT_TASK:
    case OP_PUBLISH:
    case OP_SIGNAL:
    case OP_FIRE_DUE:
    case OP_CANCEL:
    case OP_PAUSE:
    case OP_RESUME:
    case OP_REWIND:
    case OP_MOVE:
    case OP_SET_TOPIC:
    case OP_REPLAY_DEAD_LETTER:
    case OP_REMOVE_DEAD_LETTER:
    case OP_PURGE_RUN:
    case OP_SWEEP:
    case OP_APPEND_LOG:
    case OP_RETRY_TASK:
    case OP_RELEASE_TASK:
    case OP_SET_SCHEDULE:
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE:
    case OP_BACKFILL_SCHEDULE:
    case OP_SET_QUEUE:
    case OP_REMOVE_QUEUE:
    case OP_PAUSE_QUEUE:
    case OP_RESUME_QUEUE:
    case OP_CREATE_TOKEN:
    case OP_REMOVE_TOKEN:
    case OP_NOTE_RELEASED:
    case OP_NOTE_RELOADED:
    case OP_REMOVE_EVENTS:
    case OP_REMOVE_SIGNALS:
    case OP_NOTE_RATES:
    case OP_KIND_COUNT: break;
    }
}
