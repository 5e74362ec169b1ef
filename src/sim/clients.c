// Clients: calls that are sent to any node that is up, and sent again until they are answered.
//
// A client whose call was not acknowledged asks again with the same id, as real ones do; so
// operations may arrive twice, and must count once. An acknowledged event goes into the ledger.
//
// Not here: when clients act (run.c, scenario.c).
#include "sim/clients.h"
#include "base/memory.h"
#include "engine/definitions/move.h"
#include "sim/generate.h"
#include "store/reads.h"
#include <stdio.h>

// Not acknowledged; or stopping a schedule whose making is still on its way.
static bool must_ask_again(const Op *op, Sim *sim) {
    if (request_is_unanswered(op->out.status)) return true;
    // Refused by the simulated store: no call of a client comes near a limit.
    if (op->out.status == ERR_LIMIT) return true;
    // Sent before the start of its run got through.
    bool is_early = op->kind == OP_SIGNAL && op->out.status == ERR_NOT_FOUND &&
                    str_equal(op->in.signal.name, STR("sure"));
    if (is_early) return true;
    bool is_stopping = op->kind == OP_PAUSE_SCHEDULE && !sim->has_faults &&
                       str_starts_with(op->in.schedule.name, STR("kept"));
    return is_stopping && op->out.status == ERR_NOT_FOUND;
}

static void call_free(ClientCall *call) {
    arena_done(&call->arena);
    mem_free(call);
}

void clients_init(Clients *clients, Sim *sim, int to_start) {
    *clients = (Clients){.sim = sim, .to_start = to_start};
    list_init(&clients->calls);
    list_init(&clients->claims);
}

static void call_done(Request *request) {
    ClientCall *call = container_of(request, ClientCall, request);
    Clients *clients = call->clients;
    Sim *sim = clients->sim;
    call->is_waiting = false;
    if (sim->options.is_traced)
        printf("%lld call %s of %s %s answered %s\n", (long long)sim->now_ms,
               op_kind_name(request->op.kind), call->run_id, call->text,
               status_name(request->op.out.status));
    if (call->answered != NULL) {
        call->answered(call);
        return;
    }
    if (must_ask_again(&request->op, sim)) {
        call->retry_at_ms = sim->now_ms + 100 + (int64_t)sim_random(sim, 3000);
        list_append(&clients->calls, &call->link);
        return;
    }
    bool is_accepted = request->op.out.status == OK;
    if (request->op.kind == OP_PUBLISH && is_accepted && call->text[0] == '"')
        ledger_acknowledge(sim, str_from(call->text));
    if (request->op.kind == OP_REMOVE_EVENTS && is_accepted)
        ledger_note_removed(sim, str_from(call->text));
    if (request->op.kind == OP_CREATE_RUN && !is_accepted)
        sim_fail(sim, "start of %s answered %s", call->run_id, request->op.out.diag.message);
    if (request->op.kind == OP_SET_SCHEDULE && !is_accepted)
        sim_fail(sim, "schedule %s answered %s", call->run_id, request->op.out.diag.message);
    call_free(call);
}

ClientCall *clients_call(Clients *clients, OpKind kind) {
    ClientCall *call = mem_zalloc(sizeof(ClientCall));
    arena_init(&call->arena);
    call->request.op.kind = kind;
    call->request.done = call_done;
    call->clients = clients;
    list_init(&call->request.link);
    list_init(&call->link);
    list_append(&clients->calls, &call->link);
    return call;
}

static void pick_run(Clients *clients, ClientCall *call) {
    snprintf(call->run_id, sizeof call->run_id, "r%d",
             (int)sim_random(clients->sim, (uint64_t)clients->started));
}

static const char *pick_workflow(Sim *sim, int64_t *ret_kind) {
    int native_count = 0;
    if (sim->options.flow_count > 0 && sim_chance(sim, 70)) {
        *ret_kind = 0;
        return sim_generated_name(sim, (int)sim_random(sim, (uint64_t)sim->options.flow_count));
    }
    while (sim_workflow_names[native_count] != NULL) native_count++;
    uint64_t number = sim_random(sim, (uint64_t)(native_count + sim_flow_count()));
    bool is_native = number < (uint64_t)native_count;
    *ret_kind = is_native ? RUN_NATIVE : 0;
    return is_native ? sim_workflow_names[number] : sim_flow_name((int)number - native_count);
}

// What a generated script waits for comes, early or late, until it has been accepted.
static void call_wanted(Clients *clients, const char *run_id, const GeneratedFlow *flow) {
    Sim *sim = clients->sim;
    for (int i = 0; i < flow->signal_count + flow->event_count; i++) {
        bool is_signal = i < flow->signal_count;
        ClientCall *call = clients_call(clients, is_signal ? OP_SIGNAL : OP_PUBLISH);
        call->retry_at_ms = sim->now_ms + (int64_t)sim_random(sim, 90000);
        snprintf(call->run_id, sizeof call->run_id, "%s", run_id);
        snprintf(call->id, sizeof call->id, "w%d", clients->sent++);
        Op *op = &call->request.op;
        if (is_signal) {
            snprintf(call->text, sizeof call->text, "%d", i + 1);
            op->in.signal.run_id = str_from(call->run_id);
            op->in.signal.name = STR("sure");
            op->in.signal.id = str_from(call->id);
            op->in.signal.is_deduplicated = true;
            op->in.signal.payload = str_from(call->text);
        } else {
            snprintf(call->text, sizeof call->text, "{\"run\":\"%s\",\"n\":%d}", run_id,
                     i - flow->signal_count + 1);
            op->in.publish.event = (EventSpec){.topic = STR("mine"),
                                               .id = str_from(call->id),
                                               .is_deduplicated = true,
                                               .payload = str_from(call->text)};
        }
    }
}

static void call_start(Clients *clients) {
    ClientCall *call = clients_call(clients, OP_CREATE_RUN);
    snprintf(call->run_id, sizeof call->run_id, "r%d", clients->started++);
    int64_t kind;
    RunSpec *spec = &call->request.op.in.create_run.spec;
    *spec = (RunSpec){
        .id = str_from(call->run_id),
        .workflow = str_from(pick_workflow(clients->sim, &kind)),
        .kind = kind,
        .keep_ms = KEEP_FOR_EVER,
        .parent_position = NOT_AWAITED,
        .priority = (int64_t)sim_random(clients->sim, 3),
    };
    if (sim_chance(clients->sim, 20)) spec->start_at_ms = clients->sim->now_ms + 30000;
    const GeneratedFlow *flow = sim_flow_generated(clients->sim, spec->workflow);
    if (flow != NULL) call_wanted(clients, call->run_id, flow);
}

static void call_event(Clients *clients) {
    ClientCall *call = clients_call(clients, OP_PUBLISH);
    snprintf(call->id, sizeof call->id, "e%d", clients->sent);
    snprintf(call->text, sizeof call->text, "\"e%d\"", clients->sent++);
    call->request.op.in.publish.event = (EventSpec){.topic = STR("jobs"),
                                                    .id = str_from(call->id),
                                                    .is_deduplicated = true,
                                                    .payload = str_from(call->text)};
}

// Removes the oldest pending event, unless a run is quicker.
static void call_removal(Clients *clients) {
    Sim *sim = clients->sim;
    Arena arena;
    arena_init(&arena);
    const EventFilter oldest = {STR("jobs"), {.limit = 1}};
    EventPage page;
    Diag diag;
    if (store_list_events(sim->store, &arena, &oldest, &page, &diag) == OK && page.count == 1) {
        ClientCall *call = clients_call(clients, OP_REMOVE_EVENTS);
        snprintf(call->text, sizeof call->text, "%.*s", STR_ARG(page.rows[0].payload));
        call->request.op.in.remove_events =
            (EventRemoval){.topic = STR("jobs"), .key = page.rows[0].key};
        ledger_want_removed(sim, str_from(call->text));
    }
    arena_done(&arena);
}

static void call_signal(Clients *clients) {
    ClientCall *call = clients_call(clients, OP_SIGNAL);
    pick_run(clients, call);
    snprintf(call->id, sizeof call->id, "s%d", clients->sent);
    snprintf(call->text, sizeof call->text, "\"s%d\"", clients->sent++);
    Op *op = &call->request.op;
    op->in.signal.run_id = str_from(call->run_id);
    op->in.signal.name = STR("go");
    op->in.signal.id = str_from(call->id);
    op->in.signal.is_deduplicated = true;
    op->in.signal.payload = str_from(call->text);
}

static void call_change(Clients *clients) {
    static const OpKind kinds[] = {OP_CANCEL, OP_PAUSE, OP_RESUME, OP_REWIND};
    OpKind kind = kinds[sim_random(clients->sim, 4)];
    ClientCall *call = clients_call(clients, kind);
    pick_run(clients, call);
    Op *op = &call->request.op;
    Str id = str_from(call->run_id);
    if (kind == OP_CANCEL) {
        op->in.cancel.run_id = id;
        op->in.cancel.grace_ms = sim_chance(clients->sim, 50) ? 10000 : 0;
    } else if (kind == OP_REWIND) {
        op->in.rewind.run_id = id;
        op->in.rewind.step.name = STR("work");
        op->in.rewind.step.is_last = true;
    } else {
        op->in.hold.run_id = id;
    }
}

// A version of the workflow, any but the one that the run has if there is another.
static Status pick_version(Clients *clients, const RunRow *run, Arena *arena, Str *ret_version) {
    DefinitionFilter filter = {.name = run->workflow};
    DefinitionPage page;
    Diag diag;
    TRY(store_list_definitions(clients->sim->store, arena, &filter, &page, &diag));
    for (size_t i = 0; i < page.count; i++)
        if (page.rows[i].key != run->definition) *ret_version = page.rows[i].version;
    return OK;
}

// A script goes on in its other version, which does the same. What it was decided on may be gone
// when the call arrives.
static void call_move(Clients *clients) {
    ClientCall *call = clients_call(clients, OP_MOVE);
    pick_run(clients, call);
    MoveWish wish = {
        .store = clients->sim->store, .arena = &call->arena, .run_id = str_from(call->run_id)};
    RunRow run;
    MoveAnswer answer = {0};
    Diag diag;
    Status status = store_run_by_id(wish.store, wish.arena, wish.run_id, &run, &diag);
    if (status == OK) status = pick_version(clients, &run, wish.arena, &wish.version);
    if (status == OK) status = move_fill(&wish, &call->request.op, &answer, &diag);
    if (status == OK && !answer.is_there) return;
    list_remove(&call->link);
    call_free(call);
}

void clients_act(Clients *clients) {
    Sim *sim = clients->sim;
    if (clients->started < clients->to_start && sim_chance(sim, 30)) call_start(clients);
    schedules_act(clients);
    if (clients->started == 0) return;
    if (sim_chance(sim, 10)) call_event(clients);
    if (sim_chance(sim, 10)) call_signal(clients);
    if (sim_chance(sim, 4)) call_change(clients);
    if (sim_chance(sim, 4)) call_move(clients);
    if (sim_chance(sim, 1)) call_removal(clients);
}

static bool send_one(Sim *sim, List *calls) {
    LIST_EACH_SAFE (link, after, calls) {
        ClientCall *call = container_of(link, ClientCall, link);
        if (call->retry_at_ms > sim->now_ms) continue;
        SimNode *node = &sim->nodes[sim_random(sim, (uint64_t)sim->options.node_count)];
        if (node->coordinator == NULL || !node->is_recovered) continue;
        list_remove(link);
        call->is_waiting = true;
        OpKind kind = call->request.op.kind;
        call->request.op.out.status = OK;
        ASSERT(kind != 0);
        coordinator_submit(node->coordinator, &call->request);
        return true;
    }
    return false;
}

bool clients_send(Clients *clients) {
    return send_one(clients->sim, &clients->calls) || send_one(clients->sim, &clients->claims);
}

static void free_calls(List *calls) {
    LIST_EACH_SAFE (link, after, calls) {
        list_remove(link);
        call_free(container_of(link, ClientCall, link));
    }
}

void clients_free(Clients *clients) {
    free_calls(&clients->calls);
    free_calls(&clients->claims);
}

void clients_resume_all(Clients *clients) {
    for (int i = 0; i < clients->started; i++) {
        ClientCall *call = clients_call(clients, OP_RESUME);
        snprintf(call->run_id, sizeof call->run_id, "r%d", i);
        call->request.op.in.hold.run_id = str_from(call->run_id);
    }
}
