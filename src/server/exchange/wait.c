// Waiting for a run to end, as long as the client is there.
//
// The coordinator answers when the run has ended or the time is over; the ticker sees when the
// client leaves. Whoever comes first wakes the exchange, once.
//
//   [exchange-wait-1] `state` leaves WAIT_OPEN once. Until then both the exchange and the
//        coordinator use the wait; after WAIT_ANSWERED it is the exchange's, after WAIT_LEFT the
//        coordinator's, which may be busy with a store that does not answer: the exchange does not
//        wait for that.
//   [exchange-wait-2] The exchange lets go of a wait only after it has cleared its watch, so the
//        ticker never sees one that is gone.
//
// Not here: how runs end (engine/world/awaits.c).
#include "base/memory.h"
#include "server/http/connection.h"
#include "server/server.h"

enum { WAIT_OPEN, WAIT_ANSWERED, WAIT_LEFT };

typedef struct RunWait {
    Await await;
    Watch watch;
    Exchange *exchange;
    abide_engine *engine;
    bool is_called_off; // guarded by the server's lock
    _Atomic int state;  // [exchange-wait-1]
    char run_id[];
} RunWait;

static bool settle(RunWait *wait, int state) { // [exchange-wait-1]
    int open = WAIT_OPEN;
    return atomic_compare_exchange_strong(&wait->state, &open, state);
}

static void run_ended(Await *await) { // on the coordinator's thread
    RunWait *wait = await->context;
    if (settle(wait, WAIT_ANSWERED)) {
        exchange_wake(wait->exchange);
        return;
    }
    engine_forget_call_off(wait->engine, await);
    mem_free(wait);
}

// With the server locked.
static void call_off(RunWait *wait) {
    if (!wait->is_called_off) engine_call_off(wait->engine, &wait->await);
    wait->is_called_off = true;
}

// The coordinator answers soon. With the server locked.
static void time_is_over(Deadline *deadline) {
    RunWait *wait = container_of(deadline, Exchange, wait_end)->wait;
    if (wait != NULL) call_off(wait);
}

static void client_left(Watch *watch) { // with the server locked
    RunWait *wait = container_of(watch, RunWait, watch);
    Exchange *exchange = wait->exchange;
    abide_engine *engine = wait->engine;
    call_off(wait); // first: once it is the coordinator's it may be gone
    if (!settle(wait, WAIT_LEFT)) {
        engine_forget_call_off(engine, &wait->await); // [exchange-wait-2] keeps it
        return;
    }
    exchange->has_left = true;
    exchange->wait = NULL;
    exchange_wake(exchange);
}

static void let_go(Exchange *exchange) {
    server_clear_deadline(exchange->server, &exchange->wait_end); // the ticker reads what follows
    RunWait *wait = exchange->wait;
    exchange->wait = NULL;
    exchange->abandoned = NULL;
    if (wait == NULL) return;                       // it is the coordinator's
    server_unwatch(exchange->server, &wait->watch); // [exchange-wait-2]
    mem_free(wait);
}

static void go_on(Exchange *exchange) {
    let_go(exchange);
    exchange->after_wait(exchange);
}

static RunWait *wait_new(Exchange *exchange, Str run_id, int64_t until_ms) {
    RunWait *wait = mem_zalloc(sizeof *wait + run_id.len + 1);
    memcpy(wait->run_id, run_id.data, run_id.len);
    wait->exchange = exchange;
    wait->engine = exchange->server->engine;
    wait->watch.left = client_left;
    wait->await = (Await){
        .deadline.at = until_ms,
        .run_id = {wait->run_id, run_id.len},
        .done = run_ended,
        .context = wait,
    };
    return wait;
}

void exchange_await(Exchange *exchange, Str run_id, int64_t wait_ms, ExchangeFunction next) {
    Server *server = exchange->server;
    int64_t longest_ms = exchange->policy->limits.wait_ms;
    if (wait_ms > longest_ms) wait_ms = longest_ms;
    bool is_virtual = engine_is_time_virtual(server->engine);
    int64_t until_ms = is_virtual ? NEVER_MS : engine_now_ms(server->engine) + wait_ms;
    RunWait *wait = wait_new(exchange, run_id, until_ms);
    exchange->is_patient = true;
    exchange->after_wait = next;
    exchange->abandoned = let_go;
    exchange->wait = wait;
    exchange_suspend(exchange, go_on);
    engine_submit_await(wait->engine, &wait->await);
    // Still the connection's own thread: nothing goes on before it returns, whoever wakes it.
    if (!exchange->has_left) connection_watch(exchange, &wait->watch);
    exchange->wait_end.due = time_is_over;
    if (is_virtual) server_set_deadline(server, &exchange->wait_end, server_clock_ms() + wait_ms);
}
