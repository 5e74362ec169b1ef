// Idle: every order of what can happen to a waiting run, with every way it can meet the engine.
//
// A history is up to four of {event, second event, release, cancel, timer, reader, store error},
// and after each a pause: none (what follows gets into the same batch), one small move of the node
// (what follows meets a batch on its way), or until nothing moves. Each is played with a C function
// and with a script. Then the world calms down and the run is brought to its end.
//   [sim-idle-1] Events are seen in the order they were sent, each once; one that was acknowledged
//        is seen unless the run ended without it.
//   [sim-idle-2] A run that was asked to end is cancelled, any other completes.
//   [sim-idle-3] In the log nothing is released twice without having come back in between, and a
//        run that was released and went on was reloaded first; it does not become idle twice in a
//        row.
//   [sim-idle-4] The store verifies.
//
// Not here: random histories (run.c), crashes (scenario.c).
#include "base/memory.h"
#include "engine/definitions/start.h"
#include "engine/runners/filter.h"
#include "sim/sim.h"
#include "store/reads.h"
#include <stdio.h>
#include <string.h>

enum {
    HISTORY_MAX = 4,
    CALLS_MAX = HISTORY_MAX + 3, // the run is brought to its end with three more signals
    HISTORIES_PER_STORE = 500,
    SETTLE_ROUNDS = 400,
    WAIT_MS = 60000
};

typedef enum Happening {
    HAPPENS_EVENT,
    HAPPENS_SECOND_EVENT,
    HAPPENS_RELEASE,
    HAPPENS_CANCEL,
    HAPPENS_TIMER,
    HAPPENS_READER,
    HAPPENS_STORE_ERROR, // nothing was done
    HAPPENS_LOST_ANSWER, // done, and the answer is lost
    HAPPENING_COUNT
} Happening;

typedef enum Pause { PAUSE_NONE, PAUSE_MOVE, PAUSE_SETTLE, PAUSE_COUNT } Pause;

typedef struct IdleCall {
    Request request;
    char id[16];
    char payload[16];
    bool is_out, is_done;
} IdleCall;

typedef struct History {
    Sim *sim;
    char run_id[16];
    IdleCall calls[CALLS_MAX];
    int call_count;
    bool is_cancelled; // it was acknowledged that it changed the run
    int timer_count;
} History;

// ---- the workflow: three signals, each within a minute ----

static const char idler_source[] =
    "const seen = []\n"
    "for (let i = 0; i < 3; i++)\n"
    "  seen.push(await Signal.when('go', { timeout: '60s' }).catch(e => {\n"
    "    if (e.name !== 'TimeoutError') throw e\n    return 0\n  }))\n"
    "return seen";

static int idler(NativeContext *context, const char *input) {
    (void)input;
    char text[32] = "";
    for (int i = 0; i < 3; i++) {
        const char *payload = "0";
        int code = abide_await_signal(context, "go", &(abide_wait){.timeout = "60s"}, &payload);
        if (code == ABIDE_TIMEOUT) payload = "0";
        else if (code != ABIDE_OK) return code;
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s%.4s", i > 0 ? "," : "[", payload);
    }
    return abide_complete(context, abide_printf(context, "%s]", text));
}

// ---- what happens ----

static void call_done(Request *request) {
    IdleCall *call = container_of(request, IdleCall, request);
    History *history = request->context;
    call->is_out = false;
    call->is_done = !request_is_unanswered(request->op.out.status);
    bool is_changed = request->op.kind == OP_CANCEL && request->op.out.cancel.is_changed;
    if (request->op.out.status == OK && is_changed) history->is_cancelled = true;
}

static void submit(History *history, IdleCall *call) {
    call->is_out = true;
    coordinator_submit(history->sim->nodes[0].coordinator, &call->request);
}

static IdleCall *new_call(History *history, OpKind kind) {
    ASSERT(history->call_count < CALLS_MAX);
    IdleCall *call = &history->calls[history->call_count++];
    *call = (IdleCall){.request = {.op.kind = kind, .done = call_done, .context = history}};
    list_init(&call->request.link);
    snprintf(call->id, sizeof call->id, "e%d", history->call_count);
    snprintf(call->payload, sizeof call->payload, "%d", history->call_count);
    return call;
}

static void send_signal(History *history) {
    IdleCall *call = new_call(history, OP_SIGNAL);
    Op *op = &call->request.op;
    op->in.signal.run_id = str_from(history->run_id);
    op->in.signal.name = STR("go");
    op->in.signal.id = str_from(call->id);
    op->in.signal.is_deduplicated = true;
    op->in.signal.payload = str_from(call->payload);
    submit(history, call);
}

static void happen(History *history, Happening what) {
    Sim *sim = history->sim;
    Str run_id = str_from(history->run_id);
    IdleCall *call;
    switch (what) {
    case HAPPENS_EVENT:
    case HAPPENS_SECOND_EVENT: send_signal(history); break;
    case HAPPENS_CANCEL:
        call = new_call(history, OP_CANCEL);
        call->request.op.in.cancel.run_id = run_id;
        call->request.op.in.cancel.grace_ms = 10000;
        submit(history, call);
        break;
    case HAPPENS_READER:
    case HAPPENS_RELEASE:
        if (what == HAPPENS_READER) sim->nodes[0].has_reader = true;
        call = new_call(history, what == HAPPENS_READER ? OP_NOTE_RELOADED : OP_NOTE_RELEASED);
        call->request.op.in.memory.run_id = run_id;
        submit(history, call);
        break;
    case HAPPENS_TIMER:
        sim->now_ms += WAIT_MS; // also the time of a release comes with it
        history->timer_count++;
        break;
    case HAPPENS_STORE_ERROR:
    case HAPPENS_LOST_ANSWER:
        sim->crash_at_call = sim->store_calls + 1;
        sim->crash_kind = what == HAPPENS_STORE_ERROR ? FAULT_BEFORE : FAULT_AFTER;
        break;
    case HAPPENING_COUNT: UNREACHABLE();
    }
}

static void settle(Sim *sim) {
    for (int i = 0; i < SETTLE_ROUNDS && node_act(&sim->nodes[0]); i++) continue;
}

// ---- the end ----

static int64_t state_of(Sim *sim, const History *history) {
    Arena arena;
    arena_init(&arena);
    RunRow run;
    Diag diag;
    Str id = str_from(history->run_id);
    bool is_known = store_run_by_id(sim->store, &arena, id, &run, &diag) == OK;
    arena_done(&arena);
    return is_known ? run.state : 0;
}

// Moves the clock over the pause before a store that failed is asked again.
static void wait_for_store(Sim *sim) {
    int64_t next_ms = node_next_wake_ms(&sim->nodes[0]);
    if (next_ms > sim->now_ms && next_ms < sim->now_ms + WAIT_MS / 4) sim->now_ms = next_ms;
}

// Callers whose answer did not come ask again; what is still to come is sent.
static void bring_to_end(History *history) {
    Sim *sim = history->sim;
    sim->nodes[0].has_reader = false;
    for (int round = 0; round < 40; round++) {
        settle(sim);
        bool is_waiting = false;
        for (int i = 0; i < history->call_count; i++) {
            IdleCall *call = &history->calls[i];
            if (!call->is_done && !call->is_out) submit(history, call);
            is_waiting = is_waiting || !call->is_done;
        }
        if (!is_waiting && run_state_is_terminal(state_of(sim, history))) return;
        bool is_calm = !is_waiting && history->call_count < CALLS_MAX;
        if (is_calm && !history->is_cancelled) send_signal(history);
        wait_for_store(sim);
    }
    sim_fail(sim, "[Z2] the run does not end");
}

static void check_result(History *history, Str result) {
    int last = 0, seen = 0, sent = 0;
    for (size_t i = 0; i < result.len; i++) {
        if (result.data[i] < '1' || result.data[i] > '9') continue;
        int number = result.data[i] - '0';
        if (number <= last) sim_fail(history->sim, "[Z1] %.*s", STR_ARG(result));
        last = number;
        seen++;
    }
    for (int i = 0; i < history->call_count; i++) {
        const Op *op = &history->calls[i].request.op;
        sent += op->kind == OP_SIGNAL && op->out.status == OK;
    }
    bool has_room = sent + history->timer_count <= 3;
    if (has_room && seen != sent)
        sim_fail(history->sim, "[Z1] %d of %d events in %.*s", seen, sent, STR_ARG(result));
}

static void check_log(History *history, const LogPage *log) { // [sim-idle-3]
    bool is_idle = false, is_released = false;
    for (size_t i = 0; i < log->count; i++) {
        switch ((LogKind)log->rows[i].kind) {
        case LOG_IDLE:
            if (is_idle) sim_fail(history->sim, "[Z3] idle twice");
            if (is_released) sim_fail(history->sim, "[Z3] it went on without being reloaded");
            is_idle = true;
            break;
        case LOG_WAIT: is_idle = false; break;
        case LOG_RELEASED:
            if (is_released) sim_fail(history->sim, "[Z3] released twice");
            is_released = true;
            break;
        case LOG_RELOADED: is_released = false; break;
        default: break;
        }
    }
}

static void check(History *history) {
    Sim *sim = history->sim;
    Arena arena;
    arena_init(&arena);
    RunRef which = run_of_id(str_from(history->run_id));
    const LogFilter all = {which, {.limit = 1000}};
    RunRow run;
    RunResult result;
    LogPage log;
    Diag diag;
    bool is_read = store_run_by_id(sim->store, &arena, which.id, &run, &diag) == OK &&
                   store_find_result(sim->store, &arena, which, &result, &diag) == OK &&
                   store_read_log(sim->store, &arena, &all, &log, &diag) == OK;
    if (!is_read) {
        sim_fail(sim, "it cannot be read: %s", diag.message);
    } else {
        RunState wanted = history->is_cancelled ? RUN_CANCELLED : RUN_COMPLETED;
        if (run.state != (int64_t)wanted) sim_fail(sim, "[Z2] it is %s", run_state_name(run.state));
        else if (wanted == RUN_COMPLETED) check_result(history, result.json);
        check_log(history, &log);
    }
    arena_done(&arena);
}

// ---- playing ----

typedef struct Plan {
    Happening what[HISTORY_MAX];
    Pause pauses[HISTORY_MAX];
    int length;
    bool is_flow;
} Plan;

static void start_run(History *history, bool is_flow) {
    Sim *sim = history->sim;
    IdleCall *call = new_call(history, OP_CREATE_RUN);
    call->request.op.in.create_run.spec =
        (RunSpec){.id = str_from(history->run_id),
                  .workflow = is_flow ? STR("flow") : STR("idler"),
                  .kind = is_flow ? 0 : RUN_NATIVE,
                  .keep_ms = KEEP_FOR_EVER,
                  .parent_position = NOT_AWAITED};
    submit(history, call);
    for (int i = 0; i < 40 && state_of(sim, history) != RUN_SUSPENDED; i++) {
        settle(sim);
        wait_for_store(sim); // the history before may have ended with an error
        if (!call->is_done && !call->is_out) submit(history, call);
    }
    ASSERT(call->is_done);
    history->call_count = 0;
}

static void play(Sim *sim, const Plan *plan, int64_t number) {
    History history = {.sim = sim};
    snprintf(history.run_id, sizeof history.run_id, "h%lld", (long long)number);
    sim->crash_at_call = INT64_MAX;
    start_run(&history, plan->is_flow);
    for (int i = 0; i < plan->length; i++) {
        happen(&history, plan->what[i]);
        if (plan->pauses[i] == PAUSE_MOVE) (void)node_act(&sim->nodes[0]);
        else if (plan->pauses[i] == PAUSE_SETTLE) settle(sim);
    }
    bring_to_end(&history);
    if (!sim_has_failed(sim)) check(&history);
}

static Sim *open_sim(NativeRunner *runner, bool is_traced) {
    Sim *sim = mem_zalloc(sizeof(Sim));
    sim->options = (SimOptions){.seed = 1, .node_count = 1, .is_traced = is_traced};
    sim->random_state = 12345;
    sim->now_ms = 1800000000000;
    sim->crash_at_call = INT64_MAX;
    sim->ledger = ledger_new(sim);
    StoreConfig config = {.filter_matches = filter_matches, .run_prepare = start_prepare};
    Diag diag;
    Status status = store_open(STR("memory:"), &config, &sim->store, &diag);
    ASSERT(status == OK);
    sim_flows_define(sim);
    sim_flow_define(sim, STR("flow"), str_from(idler_source));
    node_init(sim, &sim->nodes[0], 0);
    node_start(&sim->nodes[0]);
    native_runner_init(runner, idler, sim);
    status = coordinator_add_runner(sim->nodes[0].coordinator, STR("idler"), &runner->base);
    ASSERT(status == OK);
    settle(sim);
    return sim;
}

static void close_sim(Sim *sim) {
    int64_t row_count;
    Diag diag;
    node_crash(&sim->nodes[0]);
    if (!sim_has_failed(sim) && store_verify(sim->store, &row_count, &diag) != OK)
        sim_fail(sim, "[Z4] the store does not verify: %s", diag.message);
    store_close(sim->store);
    ledger_free(sim->ledger);
    sim_flows_done(sim);
}

static void describe(const Plan *plan, const Sim *sim, char ret_failure[512]) {
    static const char *const names[] = {"event", "event 2", "release",     "cancel",
                                        "timer", "reader",  "store error", "lost answer"};
    static const char *const pauses[] = {",", " .", " ..."};
    int at = snprintf(ret_failure, 512, "%s:", plan->is_flow ? "script" : "native");
    for (int i = 0; i < plan->length; i++)
        at += snprintf(ret_failure + at, 512 - (size_t)at, " %s%s", names[plan->what[i]],
                       pauses[plan->pauses[i]]);
    snprintf(ret_failure + at, 512 - (size_t)at, " %.200s", sim->failure);
}

// The plan of that number among those of its length; false = there are no more.
static bool plan_of(int64_t number, int length, Plan *ret_plan) {
    *ret_plan = (Plan){.length = length, .is_flow = number % 2 == 1};
    int64_t rest = number / 2;
    for (int i = 0; i < length; i++) {
        ret_plan->what[i] = (Happening)(rest % HAPPENING_COUNT);
        rest /= HAPPENING_COUNT;
    }
    for (int i = 0; i + 1 < length; i++) { // the last one is followed by calm in any case
        ret_plan->pauses[i] = (Pause)(rest % PAUSE_COUNT);
        rest /= PAUSE_COUNT;
    }
    return rest == 0;
}

int64_t sim_idle_exhaustive(int longest, bool is_traced, char ret_failure[512]) {
    int64_t count = 0;
    NativeRunner runner;
    Sim *sim = open_sim(&runner, is_traced);
    bool is_clean = true;
    Plan plan = {0};
    for (int length = 1; length <= longest && is_clean; length++)
        for (int64_t number = 0; is_clean && plan_of(number, length, &plan); number++) {
            play(sim, &plan, count++);
            if (sim_has_failed(sim)) { // what it left open is not safe to be closed
                describe(&plan, sim, ret_failure);
                return -1;
            }
            if (count % HISTORIES_PER_STORE != 0) continue;
            close_sim(sim);
            is_clean = !sim_has_failed(sim);
            if (!is_clean) describe(&plan, sim, ret_failure);
            mem_free(sim);
            sim = open_sim(&runner, is_traced);
        }
    close_sim(sim);
    mem_free(sim);
    return is_clean ? count : -1;
}
