// Workers outside of the nodes: they claim tasks, do them, and report, as programs do over HTTP.
//
// What they ask for is sent to any node that is up. A report is sent until it is answered, some are
// late, some are sent twice, and some never leave, because the worker died.
//
// Not here: tasks that the nodes execute themselves (workload.c).
#include "sim/clients.h"
#include <stdio.h>
#include <stdlib.h>

enum { LEASE_MS = 20000, REST_MS = 5000 };

static void fill_report(Sim *sim, ClientCall *call, const TaskRow *task) {
    Op *op = &call->request.op;
    Str id = arena_str(&call->arena, task->id);
    if (op->kind == OP_RELEASE_TASK) {
        op->in.release_task.id = id;
        op->in.release_task.token = task->token;
    } else if (op->kind == OP_FAIL_TASK) {
        op->in.fail_task.id = id;
        op->in.fail_task.token = task->token;
        op->in.fail_task.type = STR("Flaky");
        op->in.fail_task.error = STR("{\"type\":\"Flaky\",\"message\":\"not this time\"}");
    } else {
        long input = strtol(arena_str(&call->arena, task->input).data, NULL, 10);
        snprintf(call->text, sizeof call->text, "%ld", 2 * input);
        op->in.complete_task.id = id;
        op->in.complete_task.token = task->token;
        op->in.complete_task.result = str_from(call->text);
    }
    call->retry_at_ms = sim->now_ms + (sim_chance(sim, 80) ? 0 : (int64_t)sim_random(sim, 30000));
}

static void report(Clients *clients, const TaskRow *task) {
    Sim *sim = clients->sim;
    OpKind kind = OP_COMPLETE_TASK;
    if (sim->has_faults && sim_chance(sim, 10)) return; // it died
    if (sim->has_faults && sim_chance(sim, 10)) kind = OP_FAIL_TASK;
    if (sim->has_faults && sim_chance(sim, 5)) kind = OP_RELEASE_TASK;
    int count = sim->has_faults && sim_chance(sim, 15) ? 2 : 1;
    for (int i = 0; i < count; i++) fill_report(sim, clients_call(clients, kind), task);
}

static void claim_done(ClientCall *call) {
    Clients *clients = call->clients;
    const Op *op = &call->request.op;
    size_t count = op->out.status == OK ? op->out.claim_tasks.task_count : 0;
    for (size_t i = 0; i < count; i++) report(clients, &op->out.claim_tasks.tasks[i]);
    arena_reset(&call->arena);
    call->retry_at_ms = clients->sim->now_ms + (count > 0 ? 0 : REST_MS);
    list_append(&clients->claims, &call->link);
}

void outside_begin(Clients *clients) {
    static Str name = {"away", 4};
    ClientCall *call = clients_call(clients, OP_CLAIM_TASKS);
    Op *op = &call->request.op;
    snprintf(call->id, sizeof call->id, "outside");
    op->in.claim_tasks.worker = str_from(call->id);
    op->in.claim_tasks.is_any_queue = true;
    op->in.claim_tasks.names = &name;
    op->in.claim_tasks.name_count = 1;
    op->in.claim_tasks.max = 2;
    op->in.claim_tasks.lease_ms = LEASE_MS;
    call->request.arena = &call->arena;
    call->answered = claim_done;
    list_remove(&call->link);
    list_append(&clients->claims, &call->link);
}
