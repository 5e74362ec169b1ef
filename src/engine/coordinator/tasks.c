// In-process tasks: claimed in batches, executed by the world, their leases kept alive.
//
// The engine is a worker like any other: it claims tasks whose names are registered here, of any
// queue and within that queue's limits, with a fencing token each, and reports results through
// the same operations as a remote one. A claim rides in the batch that queues the tasks, so
// handing them out costs no commit of its own, and mostly not even a statement: they are inserted
// as leased.
//
//   [T1] How many are claimed ahead of the threads that run them follows their speed: twice as
//        many as soon as half of them were done before more were asked for, half as many when one
//        takes so long that its lease must be renewed. So short tasks flow in large batches, and
//        long ones are left to whoever has a thread for them.
//   [T2] What was done and waits to be committed does not count, but nothing more is claimed while
//        there is more of it than one batch takes (coordinator/gather.c): that bounds how much
//        there can be.
//
// Not here: what a task is and how it is retried (store/kernel/tasks/tasks.c).
#include "base/limits.h"
#include "engine/coordinator/internal.h"
#include "model/trace.h"
#include "store/reads.h"

void tasks_add_heartbeats(Coordinator *c, Turn *turn) {
    while (turn_room(turn) > 0) {
        HeapNode *node = heap_peek(&c->heartbeats);
        if (node == NULL || node->at > turn->batch.now_ms) return;
        (void)heap_pop(&c->heartbeats);
        if (c->task_window > c->config.first_tasks) c->task_window /= 2; // [T1]
        Execution *execution = container_of(node, Execution, heartbeat);
        Op *op = turn_add(turn, OP_HEARTBEAT_TASK, NULL, NULL);
        op->in.heartbeat.id = arena_str(&turn->arena, execution->task.id);
        op->in.heartbeat.token = execution->task.token;
        op->in.heartbeat.lease_ms = c->config.task_lease_ms;
        node->at = turn->batch.now_ms + c->config.task_lease_ms / 3;
        heap_push(&c->heartbeats, node);
    }
}

bool tasks_release(Coordinator *c, Turn *turn) {
    while (turn_room(turn) > 0) {
        HeapNode *node = heap_pop(&c->heartbeats);
        if (node == NULL) return true;
        const Execution *execution = container_of(node, Execution, heartbeat);
        Op *op = turn_add(turn, OP_RELEASE_TASK, NULL, NULL);
        op->in.release_task.id = arena_str(&turn->arena, execution->task.id);
        op->in.release_task.token = execution->task.token;
    }
    return false;
}

static int64_t room_for_tasks(const Coordinator *c) {
    return c->task_window - (int64_t)c->task_count - c->tasks_asked;
}

bool tasks_can_claim(const Coordinator *c) {
    return c->task_names.count > 0 && room_for_tasks(c) > 0;
}

static void widen_window(Coordinator *c) { // [T1]
    bool is_half_done = room_for_tasks(c) >= c->task_window / 2;
    if (c->was_window_full && is_half_done && 2 * c->task_window <= c->config.max_tasks)
        c->task_window *= 2;
}

// As many as the batch makes itself, and of what waits besides half of what there is room for: the
// next batch is gathered before this one is answered, and has tasks of its own to lease.
static int64_t tasks_to_ask(const Coordinator *c, const Turn *turn) {
    int64_t room = room_for_tasks(c), made = (int64_t)turn->made_tasks;
    if (room > (int64_t)turn->most) room = (int64_t)turn->most;
    if (made >= room) return room;
    return c->has_tasks ? made + (room - made + 1) / 2 : made;
}

void tasks_add_claim(Coordinator *c, Turn *turn) {
    widen_window(c);
    int64_t asked = tasks_to_ask(c, turn);
    Op *op = turn_add(turn, OP_CLAIM_TASKS, NULL, NULL);
    op->in.claim_tasks.worker = c->config.node_name;
    op->in.claim_tasks.is_any_queue = true;
    op->in.claim_tasks.is_eager = true; // nothing is added behind it
    op->in.claim_tasks.first_queue = c->first_queue++;
    // A copy: more may be registered while the batch is on its way.
    size_t count = c->task_names.count;
    op->in.claim_tasks.names = ARENA_ARRAY(&turn->arena, Str, count);
    if (count > 0) memcpy(op->in.claim_tasks.names, c->task_names.data, count * sizeof(Str));
    op->in.claim_tasks.name_count = count;
    op->in.claim_tasks.max = asked;
    op->in.claim_tasks.lease_ms = c->config.task_lease_ms;
    c->tasks_asked += asked;
    c->has_heard = false;
}

static void set_trace(const Coordinator *c, Execution *execution, Str run_id, Str tags) {
    if (!c->is_traced && str_is_null(tags_trace(tags))) return;
    TraceParent run;
    (void)trace_of_run(run_id, tags, &run, NULL);
    TraceParent attempt = trace_of_attempt(&run, execution->task.id, execution->task.attempt);
    TraceParentText text = trace_parent_format(&attempt);
    execution->call.traceparent = arena_str(&execution->arena, str_from(text.text));
    execution->call.tracestate = arena_str(&execution->arena, tags_trace_state(tags));
}

// What its function may ask about the run that a task belongs to. The run has mostly just parked
// and is in memory; of one that has been purged nothing is known.
static void describe_run(Coordinator *c, Execution *execution) {
    int64_t key = execution->task.run;
    const ResidentRun *run = key != 0 ? residents_get(&c->residents, key) : NULL;
    RunRow row;
    Diag diag;
    bool is_stored = key != 0 && run == NULL;
    if (key == 0 || (is_stored && store_run_by_key(c->store, &c->scratch, key, &row, &diag) != OK))
        return;
    Str id = is_stored ? row.id : run->id;
    execution->call.run_id = arena_str(&execution->arena, id);
    set_trace(c, execution, id, is_stored ? row.tags : run->tags);
    arena_reset(&c->scratch);
}

static void execute_task(Coordinator *c, const TaskRow *row) {
    TaskEntry *entry = strmap_get(&c->tasks, row->name);
    ASSERT(entry != NULL);
    Execution *execution = execution_get(c);
    execution->kind = EXECUTE_TASK;
    execution->run = 0;
    execution->function = entry->function;
    row_copy(&tables[TABLE_TASKS], &execution->arena, row, &execution->task);
    execution->call = (NativeCall){
        .arena = &execution->arena,
        .name = execution->task.name,
        .run_id = STR_NULL,
        .key = execution->task.id,
        .attempt = row->attempt,
        .user = entry->user,
    };
    describe_run(c, execution);
    execution->heartbeat.at = env_now_ms(c->env) + c->config.task_lease_ms / 3;
    heap_push(&c->heartbeats, &execution->heartbeat);
    c->executing_count++;
    c->task_count++;
    c->world->ops->execute(c->world, execution);
}

void tasks_apply_claimed(Coordinator *c, const Op *op) {
    c->tasks_asked -= op->in.claim_tasks.max;
    if (op->out.status != OK) return;
    for (size_t i = 0; i < op->out.claim_tasks.task_count; i++)
        execute_task(c, &op->out.claim_tasks.tasks[i]);
    size_t count = op->out.claim_tasks.task_count;
    bool has_all = (int64_t)count == op->in.claim_tasks.max;
    // One that was cut short comes further the next time only if it got something out of the way.
    bool has_more = has_all || (op->out.claim_tasks.is_cut && count > 0);
    c->has_tasks = has_more || c->has_heard;
    c->was_window_full = has_more; // there are more than it was allowed to ask for
}

void tasks_forget_claims(Coordinator *c, const Turn *turn) {
    for (size_t i = 0; i < turn->items.count; i++) {
        const Op *op = turn->items.data[i].op;
        if (op->kind == OP_CLAIM_TASKS) c->tasks_asked -= op->in.claim_tasks.max;
    }
}

void tasks_fill_result(Coordinator *c, Execution *execution, Turn *turn) {
    (void)c;
    const NativeCall *call = &execution->call;
    if (execution->is_undone) {
        Op *op = turn_add(turn, OP_RELEASE_TASK, NULL, execution);
        op->in.release_task.id = execution->task.id;
        op->in.release_task.token = execution->task.token;
    } else if (call->has_error) {
        Op *op = turn_add(turn, OP_FAIL_TASK, NULL, execution);
        op->in.fail_task.id = execution->task.id;
        op->in.fail_task.token = execution->task.token;
        op->in.fail_task.type = call->error_type;
        op->in.fail_task.error = call->error;
        op->in.fail_task.is_final = call->is_final;
    } else {
        Op *op = turn_add(turn, OP_COMPLETE_TASK, NULL, execution);
        op->in.complete_task.id = execution->task.id;
        op->in.complete_task.token = execution->task.token;
        op->in.complete_task.result = call->result;
    }
}

void tasks_refused(Coordinator *c, Execution *execution, Status status, const Diag *diag) {
    LOG(c->logger, LOG_ERROR, "task %.*s: the store refuses what came of it: %s",
        STR_ARG(execution->task.id), diag->message);
    if (execution->is_repaired || execution->is_undone) { // its lease runs out
        execution_put(c, execution);
        return;
    }
    NativeCall *call = &execution->call;
    Str code = str_from(diag->code);
    if (code.len == 0) code = str_from(status_name(status));
    call->error_type = arena_str(&execution->arena, code);
    call->error = error_object(&execution->arena, code, str_from(diag->message));
    if (!call->has_error) call->is_final = true; // it would come to the same result
    call->has_error = true;
    execution->is_repaired = true;
    executed_add(c, execution);
}

// Taken, or not wanted any more (fenced, gone): either way this attempt is over.
void tasks_apply_result(Coordinator *c, Execution *execution, const Op *op) {
    bool is_over = op->out.status == OK || op->out.status == ERR_FENCED ||
                   op->out.status == ERR_NOT_FOUND || op->out.status == ERR_TERMINAL ||
                   op->out.status == ERR_CONFLICT;
    if (is_over) execution_put(c, execution);
    else tasks_refused(c, execution, op->out.status, &op->out.diag);
}

void tasks_apply_heartbeat(Coordinator *c, const Op *op) {
    if (op->out.status == ERR_FENCED)
        LOG(c->logger, LOG_WARN, "task %.*s lost its lease", STR_ARG(op->in.heartbeat.id));
}
