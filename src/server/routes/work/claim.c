// Claims of tasks: a worker asks for some, and waits when there are none.
//
// A claim is registered with the hub before it looks, so no task slips through between the two, and
// looks again when the engine reports that tasks became claimable.
//
//   [claim-1] Nothing is leased for a worker that is known to be gone: one whose connection is
//        closed, or that has called its waiting claims off. Whoever steps back wakes the next.
//   [claim-2] A claim that waits is watched: one whose client has left does not wait on.
//
// Not here: what a claim says and is given (task_claim.c), reports (report.c).
#include "base/array.h"
#include "server/exchange/parts.h"
#include "server/http/connection.h"
#include "server/http/sleeper.h"
#include "server/routes/work/task_claim.h"

static const Field claim_fields[] = {
    {"worker", "string", true, "Who asks; shown to operators."},
    {"queues", "strings", false, "[\"default\"] unless given."},
    {"names", "strings", false, "Tasks it can do; any unless given."},
    {"max", "integer", false,
     "Most tasks to hand out, 1 to 1000; 1 unless given. 0 hands out none and ends at once the "
     "claims of this worker that still wait: for a worker that is about to stop."},
    {"wait", "duration", false, "Wait this long when there are none."},
    {"lease", "duration", false, "Until it must heartbeat or complete; 30 s unless given."},
    {0}};

typedef struct Claim {
    TaskClaim asked;
    HubWaiter waiter;
    Sleeper sleeper;
    Deadline deadline;
    Watch watch;
    int64_t until_ms;
    _Atomic bool is_called_off;
    bool is_waiting; // and counted as such
} Claim;

static void tasks_are_ready(HubWaiter *waiter) {
    sleeper_wake(&container_of(waiter, Claim, waiter)->sleeper);
}

static void claim_is_due(Deadline *deadline) {
    sleeper_wake(&container_of(deadline, Claim, deadline)->sleeper);
}

static void call_claim_off(Claim *claim) {
    atomic_store(&claim->is_called_off, true);
    sleeper_wake(&claim->sleeper);
}

static void worker_left(Watch *watch) {
    call_claim_off(container_of(watch, Claim, watch));
} // [claim-2]

static void set_waiting(Claim *claim, bool is_waiting) {
    Server *server = claim->asked.exchange->server;
    if (claim->is_waiting == is_waiting) return;
    claim->is_waiting = is_waiting;
    workers_waiting(&server->workers, claim->asked.worker, is_waiting ? 1 : -1,
                    engine_now_ms(server->engine));
}

// Nobody wakes it any more.
static void withdraw(Claim *claim) {
    Server *server = claim->asked.exchange->server;
    set_waiting(claim, false);
    hub_remove(&server->hub, &claim->waiter);
    server_clear_deadline(server, &claim->deadline);
    server_unwatch(server, &claim->watch);
}

static void end_claim(Claim *claim) {
    Exchange *exchange = claim->asked.exchange;
    withdraw(claim);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    task_claim_put(&claim->asked, json, "tasks");
    json_write_object_end(json);
    exchange_send(exchange);
}

static void ask_for_tasks(Exchange *exchange);

static void step_back(Claim *claim) { // [claim-1]
    Exchange *exchange = claim->asked.exchange;
    exchange_op(exchange, OP_CLAIM_TASKS);
    Str kind = claim->waiter.key;
    end_claim(claim);
    hub_more_tasks(&exchange->server->hub, kind);
}

// [claim-1] The client went away after a wake-up that it will not follow: another of its kind does.
static void abandon_claim(Exchange *exchange) {
    Claim *claim = exchange->state;
    withdraw(claim);
    hub_more_tasks(&exchange->server->hub, claim->waiter.key);
}

static void handed_back(Exchange *exchange) { step_back(exchange->state); }

static void failed_some(Exchange *exchange) { end_claim(exchange->state); }

static void claimed(Exchange *exchange) {
    Claim *claim = exchange->state;
    Server *server = exchange->server;
    const Op *op = &exchange->request->op;
    if (op->out.status == ERR_CLOSED) {
        step_back(claim); // there are none for it here any more
        return;
    }
    if (op->out.status != OK) {
        withdraw(claim);
        exchange_refuse(exchange, op->out.status, &op->out.diag);
        return;
    }
    if (task_claim_hand_back(&claim->asked, handed_back)) return;
    if (task_claim_fill_secrets(&claim->asked, failed_some)) return;
    bool is_over = server_clock_ms() >= claim->until_ms;
    if (op->out.claim_tasks.task_count > 0 || is_over || server_is_stopping(server)) {
        end_claim(claim);
        return;
    }
    set_waiting(claim, true);
    exchange->next = ask_for_tasks;
    exchange->is_patient = true;
    exchange->stage = EXCHANGE_WAITING;
    server_set_deadline(server, &claim->deadline, claim->until_ms);
    connection_watch(exchange, &claim->watch);
    sleeper_sleep(&claim->sleeper);
}

static void ask_for_tasks(Exchange *exchange) {
    Claim *claim = exchange->state;
    sleeper_begin(&claim->sleeper);
    bool is_unwanted = atomic_load(&claim->is_called_off) || connection_has_left(exchange);
    if (is_unwanted || server_is_stopping(exchange->server)) {
        step_back(claim);
        return;
    }
    task_claim_submit(&claim->asked, claimed);
}

static void call_off(HubWaiter *waiter, const void *context) { // with the hub locked
    Claim *claim = container_of(waiter, Claim, waiter);
    const Str *worker = context;
    if (str_equal(claim->asked.worker, *worker)) call_claim_off(claim);
}

static void call_off_claims(Exchange *exchange, const Claim *claim) {
    hub_each(&exchange->server->hub, HUB_CLAIMERS, call_off, &claim->asked.worker);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("tasks"));
    json_write_array_begin(json);
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static Status read_claim(Exchange *exchange, const JsonValue *body, Claim *claim, Diag *diag) {
    int64_t wait_ms = 0;
    TRY(task_claim_read(&claim->asked, exchange, body, 0, diag));
    TRY(json_get_duration_ms(body, "wait", &wait_ms, diag));
    int64_t longest_ms = exchange->policy->limits.wait_ms;
    if (wait_ms > longest_ms) wait_ms = longest_ms;
    claim->until_ms = server_clock_ms() + wait_ms;
    return OK;
}

static void claim_tasks(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Claim *claim = ARENA_NEW(&exchange->arena, Claim);
    Diag diag;
    Status status = read_claim(exchange, body, claim, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    if (claim->asked.max == 0) {
        workers_left(&exchange->server->workers, claim->asked.worker);
        call_off_claims(exchange, claim);
        return;
    }
    task_claim_note(&claim->asked);
    claim->deadline.due = claim_is_due;
    claim->watch.left = worker_left;
    sleeper_init(&claim->sleeper, exchange->connection);
    claim->waiter = (HubWaiter){
        .kind = HUB_CLAIMERS, .key = task_claim_kind(&claim->asked), .wake = tasks_are_ready};
    list_init(&claim->waiter.link);
    exchange->state = claim;
    exchange->abandoned = abandon_claim;
    hub_add(&exchange->server->hub, &claim->waiter);
    ask_for_tasks(exchange);
}

static const RouteAnswer claim_answers[] = {{200, "Tasks, maybe none.", "Claimed"}, {0}};

static const Route routes[] = {
    {"POST", "/v1/tasks/claim", "claimTasks", "Take tasks to be done", SCOPE_WORKER, BODY_OBJECT,
     claim_fields, NULL, claim_answers, NULL, claim_tasks},
};
const RouteTable routes_work = {routes, COUNT_OF(routes)};
