// The protocol of processes that execute workflows: register, claim, commit, heartbeat.
//
// A worker says which versions of which workflows it has, asks for turns of them, replays the
// journal of each and commits what the function did. docs/protocol.md describes it for those who
// write a worker.
//
//   [routes-turns-1] A claim registers with the hub before it looks at the board, so no turn slips
//        through between the two.
//   [routes-turns-2] Items of one commit are answered one by one; each is a transition of its own,
//        and all of them share a group commit.
//   [routes-turns-3] A worker whose waiting claim ends because it is gone has lost its turns.
//
// Not here: who has which turn (api/driver/turns.c), what a worker may say (engine/runners/code.c).
#include "base/array.h"
#include "engine/runners/code.h"
#include "server/exchange/parts.h"
#include "server/exchange/turn_claim.h"
#include "server/http/connection.h"
#include "server/http/sleeper.h"

enum {
    TURNS_MAX = 1000,
    NEWS_MAX = 100, // in one answer; the others are in the next
    JOURNAL_SIZE = 256 << 20
};

static TurnBoard *board_of(const Exchange *exchange) {
    return engine_turns(exchange->server->engine);
}

// ---- register ----

static const Field register_fields[] = {
    {"workflows", "objects", true,
     "Each {name, version, current?, description?, input?}. A version that is new becomes the one "
     "that new runs get; a known one only with current: true. `input` is a schema: runs are "
     "started with what fits it."},
    {0}};

typedef struct Registration {
    Codes codes;
    Request *requests; // of those that are defined
    size_t request_count;
} Registration;

static void registered(Exchange *exchange) {
    const Registration *registration = exchange->state;
    for (size_t i = 0; i < registration->request_count; i++) {
        const Op *op = &registration->requests[i].op;
        if (op->out.status == OK) continue;
        exchange_refuse(exchange, op->out.status, &op->out.diag);
        return;
    }
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("workflows"));
    json_write_array_begin(json);
    for (size_t i = 0; i < registration->codes.count; i++) {
        const Code *code = &registration->codes.items[i];
        json_write_object_begin(json);
        json_put_string(json, "name", code->name);
        json_put_string(json, "version", code->version);
        json_put_bool(json, "is_new", code->key == 0);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void register_workflows(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Registration *registration = ARENA_NEW(&exchange->arena, Registration);
    Diag diag;
    Status status = codes_read(body, true, &exchange->arena, &registration->codes, &diag);
    if (status == OK) status = codes_find(exchange->server, &registration->codes, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    const Codes *codes = &registration->codes;
    registration->requests = ARENA_ARRAY(&exchange->arena, Request, codes->count);
    for (size_t i = 0; i < codes->count; i++) {
        const Code *code = &codes->items[i];
        if (code->key != 0 && !code->is_current) continue;
        Op *op = &registration->requests[registration->request_count++].op;
        op->kind = OP_DEFINE;
        op->in.define.name = code->name;
        op->in.define.version = code->version;
        op->in.define.config = code->config;
        op->in.define.kind = RUN_CODE;
    }
    exchange->state = registration;
    if (registration->request_count == 0) registered(exchange);
    else
        exchange_submit_all(exchange, registration->requests, registration->request_count,
                            registered);
}

// ---- claim ----

static const Field claim_fields[] = {
    {"worker", "string", true, "Who asks: a name that no other process has."},
    {"workflows", "objects", true, "Each {name, version}: what it can execute."},
    {"max", "integer", false, "Most turns to hand out, 1 to 1000; 1 unless given."},
    {"wait", "duration", false, "Wait this long when there are none."},
    {"lease", "duration", false, "Until it must commit or send a heartbeat; 30 s unless given."},
    {0}};

typedef struct Claim {
    HubWaiter waiter;
    Sleeper sleeper;
    Deadline deadline;
    Watch watch;
    Exchange *exchange;
    int64_t until_ms; // by the real clock
    _Atomic bool has_left;
    TurnClaim turns;
    size_t news_count;
    int64_t news[NEWS_MAX]; // turns that the worker holds
} Claim;

static void turns_are_ready(HubWaiter *waiter) {
    sleeper_wake(&container_of(waiter, Claim, waiter)->sleeper);
}

static void claim_is_due(Deadline *deadline) {
    sleeper_wake(&container_of(deadline, Claim, deadline)->sleeper);
}

static void worker_left(Watch *watch) { // [routes-turns-3]
    Claim *claim = container_of(watch, Claim, watch);
    atomic_store(&claim->has_left, true);
    sleeper_wake(&claim->sleeper);
}

static Status read_claim(Exchange *exchange, const JsonValue *body, Claim *claim, Diag *diag) {
    int64_t wait_ms = 0, longest_ms = exchange->policy->limits.wait_ms;
    TRY(json_get_duration_ms(body, "wait", &wait_ms, diag));
    if (wait_ms > longest_ms) wait_ms = longest_ms;
    claim->until_ms = server_clock_ms() + wait_ms;
    return turn_claim_read(&claim->turns, exchange, body, diag);
}

// Nobody wakes it any more.
static void withdraw(Claim *claim) {
    Server *server = claim->exchange->server;
    turns_wait_no_more(board_of(claim->exchange), claim->turns.keys, claim->turns.codes.count,
                       atomic_load(&claim->has_left));
    hub_remove(&server->hub, &claim->waiter);
    server_clear_deadline(server, &claim->deadline);
    server_unwatch(server, &claim->watch);
}

static void refuse_large(Exchange *exchange) {
    exchange_refuse_with(exchange, ERR_LIMIT, "TURN_TOO_LARGE",
                         "the journals of these turns do not fit into one answer; ask for "
                         "fewer turns at a time");
}

static void put_news(const Claim *claim, JsonWriter *json) {
    json_write_key(json, STR("news"));
    json_write_array_begin(json);
    for (size_t i = 0; i < claim->news_count; i++) json_write_i64(json, claim->news[i]);
    json_write_array_end(json);
}

static void end_claim(Claim *claim) {
    Exchange *exchange = claim->exchange;
    withdraw(claim);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    put_news(claim, json);
    bool is_whole = turn_claim_put(&claim->turns, json, "turns");
    json_write_object_end(json);
    if (is_whole) exchange_send(exchange);
    else refuse_large(exchange);
    turn_claim_done(&claim->turns);
}

static void look_for_turns(Exchange *exchange) {
    Claim *claim = exchange->state;
    Server *server = exchange->server;
    int64_t again_ms = NEVER_MS, now_ms = server_clock_ms();
    sleeper_begin(&claim->sleeper);
    if (atomic_load(&claim->has_left) || connection_has_left(exchange)) {
        turns_drop_worker(board_of(exchange), claim->turns.worker);
        end_claim(claim);
        return;
    }
    turns_expire(board_of(exchange), now_ms);
    size_t count = turn_claim_take(&claim->turns, &again_ms);
    claim->news_count =
        turns_take_news(board_of(exchange), claim->turns.worker, NEWS_MAX, claim->news);
    if (count > 0 || claim->news_count > 0 || now_ms >= claim->until_ms ||
        server_is_stopping(server)) {
        end_claim(claim);
        return;
    }
    exchange->next = look_for_turns;
    exchange->is_patient = true;
    exchange->stage = EXCHANGE_WAITING;
    server_set_deadline(server, &claim->deadline, earlier_ms(again_ms, claim->until_ms));
    connection_watch(exchange, &claim->watch);
    sleeper_sleep(&claim->sleeper);
}

// The connection ended after a wake-up that it will not follow.
static void abandon_claim(Exchange *exchange) {
    Claim *claim = exchange->state;
    withdraw(claim);
    turns_drop_worker(board_of(exchange), claim->turns.worker);
    hub_turns_ready(&exchange->server->hub);
    turn_claim_done(&claim->turns);
}

static void claim_turns(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Claim *claim = ARENA_NEW(&exchange->arena, Claim);
    Diag diag;
    Status status = read_claim(exchange, body, claim, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    claim->exchange = exchange;
    claim->deadline.due = claim_is_due;
    claim->watch.left = worker_left;
    turn_claim_begin(&claim->turns);
    sleeper_init(&claim->sleeper, exchange->connection);
    claim->waiter =
        (HubWaiter){.kind = HUB_TURNS, .key = claim->turns.worker, .wake = turns_are_ready};
    list_init(&claim->waiter.link);
    exchange->state = claim;
    exchange->abandoned = abandon_claim;
    turn_codes_serve(exchange->server, claim->turns.keys, claim->turns.codes.count,
                     claim->until_ms);
    turns_wait(board_of(exchange), claim->turns.keys, claim->turns.codes.count);
    hub_add(&exchange->server->hub, &claim->waiter); // [routes-turns-1]
    look_for_turns(exchange);
}

// ---- commit ----

static const Field commit_fields[] = {
    {"turns", "objects", true,
     "Each {turn, entries, outcome} with waits, result, error or input as the outcome needs, and "
     "keep: the worker keeps the run in memory; number: 1, 2, 3 … of the commits of a turn, so "
     "that one that comes again is not taken again. {turn, outcome: \"released\"} hands it back."},
    {"claim", "object", false,
     "{worker, workflows, max, lease}, as in /v1/turns/claim, without waiting: `claimed` of the "
     "answer has turns that are ready by then."},
    {0}};

typedef struct SaidTurn {
    TurnReturn turn;
    Exchange *exchange;
    const JsonValue *said; // while it is read
    Status status;         // it was refused before it was handed on
    Diag diag;
    bool is_released;
} SaidTurn;

typedef struct CommitCall {
    SaidTurn *items;
    size_t count;
    bool has_claim;
    TurnClaim claim;
} CommitCall;

static Status read_turn(TurnReturn *turn, const RunView *view, Arena *arena, TurnOutput *output,
                        Diag *diag) {
    const SaidTurn *item = container_of(turn, SaidTurn, turn);
    abide_engine *engine = item->exchange->server->engine;
    const CodeTurn code = {.view = view,
                           .now_ms = engine_now_ms(engine),
                           .child_keep_ms = engine_run_retention_ms(engine),
                           .arena = arena,
                           .output = output};
    return code_turn_read(&code, item->said, diag);
}

static void one_done(Exchange *exchange) {
    if (atomic_fetch_sub(&exchange->open_count, 1) == 1) exchange_wake(exchange);
}

static void item_done(TurnReturn *turn) { one_done(container_of(turn, SaidTurn, turn)->exchange); }

static const char *verdict_name(const SaidTurn *item) {
    Status status = item->status != OK ? item->status : item->turn.verdict.status;
    switch (status) {
    case OK: return "accepted";
    case ERR_FENCED:
    case ERR_TERMINAL:
    case ERR_NOT_FOUND: return "fenced";
    default: return "refused";
    }
}

static void write_taken(void *context, const HeldTurn *turn) {
    code_journal_write(&turn->execution->view, turn->after_seq, context);
}

// What came while it executed: entries that the worker has not seen. Nobody writes to the run
// before the worker commits again.
static void put_taken(JsonWriter *json, const SaidTurn *item) {
    const TurnVerdict *verdict = &item->turn.verdict;
    const TurnAsk look = {.take = write_taken, .context = json};
    json_write_key(json, STR("journal"));
    json_write_array_begin(json);
    if (verdict->last_seq > verdict->turn_seq)
        (void)!turns_look(board_of(item->exchange), item->turn.token, verdict->turn_seq, &look);
    json_write_array_end(json);
}

static void put_item(JsonWriter *json, const SaidTurn *item) {
    const Diag *diag = item->status != OK ? &item->diag : &item->turn.verdict.diag;
    bool is_good = item->status == OK && item->turn.verdict.status == OK;
    json_write_object_begin(json);
    json_put_i64(json, "turn", item->turn.token);
    json_put_cstr(json, "status", verdict_name(item));
    json_put_instant(json, "now", exchange_now_ms(item->exchange));
    if (is_good && !item->is_released) {
        json_put_cstr(json, "run_status", run_state_name(item->turn.verdict.state));
        json_put_bool(json, "is_held", item->turn.is_held);
        json_put_bool(json, "cancelled", item->turn.is_cancel_wanted);
        json_put_i64(json, "seq", item->turn.verdict.last_seq);
        if (item->turn.is_held) put_taken(json, item);
    } else if (!is_good) {
        json_put_cstr(json, "code", diag->code);
        json_put_cstr(json, "detail", diag->message);
    }
    json_write_object_end(json);
}

// What it commits is done whatever comes of the claim: turns that do not fit into the answer are
// left, and met again by a claim of their own.
static void put_claimed(CommitCall *call, JsonWriter *json) {
    int64_t again_ms;
    turn_claim_begin(&call->claim);
    (void)turn_claim_take(&call->claim, &again_ms);
    if (!turn_claim_put(&call->claim, json, "claimed")) json_put_raw(json, "claimed", STR("[]"));
    turn_claim_done(&call->claim);
}

static void turns_committed(Exchange *exchange) {
    CommitCall *call = exchange->state;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("turns"));
    json_write_array_begin(json);
    for (size_t i = 0; i < call->count; i++) put_item(json, &call->items[i]);
    json_write_array_end(json);
    if (call->has_claim) put_claimed(call, json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static Status read_item(const JsonValue *said, SaidTurn *item, Diag *diag) {
    static const char *const required[] = {"turn", "outcome", NULL};
    Str outcome = STR_NULL;
    TRY(json_require(said, required, diag));
    TRY(json_get_i64(said, "turn", &item->turn.token, diag));
    TRY(json_get_bool(said, "keep", &item->turn.is_keeping, diag));
    TRY(json_get_i64(said, "number", &item->turn.number, diag));
    if (item->turn.number < 0) return diag_set(diag, ERR_INVALID, "BAD_FIELD", "number: 1, 2, 3 …");
    TRY(json_get_string(said, "outcome", &outcome, diag));
    item->is_released = str_equal(outcome, STR("released"));
    return OK;
}

static void commit_item(Exchange *exchange, const JsonValue *said, SaidTurn *item) {
    item->exchange = exchange;
    item->said = said;
    item->turn.read = read_turn;
    item->turn.done = item_done;
    item->status = read_item(said, item, &item->diag);
    if (item->status != OK) return;
    if (item->is_released) {
        item->status = turns_give_up(board_of(exchange), item->turn.token);
        if (item->status != OK)
            (void)diag_set(&item->diag, item->status, "TURN_FENCED",
                           "the turn is not this worker's any more");
        return;
    }
    atomic_fetch_add(&exchange->open_count, 1);
    item->status = turns_commit(board_of(exchange), &item->turn, &item->diag);
    if (item->status != OK) atomic_fetch_sub(&exchange->open_count, 1);
}

static Status read_claimed(Exchange *exchange, const JsonValue *body, CommitCall *call,
                           Diag *diag) {
    static const char *const allowed[] = {"worker", "workflows", "max", "lease", NULL};
    static const char *const required[] = {"worker", "workflows", NULL};
    const JsonValue *claim = NULL;
    TRY(json_get_object(body, "claim", &claim, diag));
    if (claim == NULL) return OK;
    TRY(json_allow_only(claim, allowed, diag));
    TRY(json_require(claim, required, diag));
    TRY(turn_claim_read(&call->claim, exchange, claim, diag));
    call->has_claim = true;
    turn_codes_serve(exchange->server, call->claim.keys, call->claim.codes.count,
                     server_clock_ms());
    return OK;
}

static void commit_turns(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange), *list = NULL;
    if (body == NULL) return;
    Diag diag;
    CommitCall *call = ARENA_NEW(&exchange->arena, CommitCall);
    Status status = json_get_array(body, "turns", &list, &diag);
    if (status == OK && list->count > TURNS_MAX)
        status = diag_set(&diag, ERR_INVALID, "BAD_FIELD", "turns: at most %d", TURNS_MAX);
    if (status == OK) status = read_claimed(exchange, body, call, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    call->items = ARENA_ARRAY(&exchange->arena, SaidTurn, list->count);
    exchange->state = call;
    atomic_store(&exchange->open_count, 1); // it is ours until all of them are on their way
    JSON_EACH (said, list) commit_item(exchange, said, &call->items[call->count++]);
    exchange_suspend(exchange, turns_committed);
    one_done(exchange);
}

// ---- heartbeat and journal ----

static const Field heartbeat_fields[] = {
    {"turns", "objects", true, "Each {turn}: those that it still executes."},
    {"lease", "duration", false, "From now on; 30 s unless given."},
    {0}};

static const char *renew(Exchange *exchange, TurnRenewal *renewal) {
    RunRow row;
    Diag diag;
    if (turns_renew(board_of(exchange), renewal) != OK) return "fenced";
    Status status =
        store_run_by_key(exchange_store(exchange), &exchange->arena, renewal->run, &row, &diag);
    if (status == OK && run_state_is_terminal(row.state)) return "fenced";
    return status == OK && run_is_cancel_wanted(&row) ? "cancelled" : "accepted";
}

static void heartbeat_turns(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange), *list = NULL;
    if (body == NULL) return;
    int64_t lease_ms;
    Diag diag;
    Status status = turn_lease_read(body, &lease_ms, &diag);
    if (status == OK) status = json_get_array(body, "turns", &list, &diag);
    if (status == OK && list->count > TURNS_MAX)
        status = diag_set(&diag, ERR_INVALID, "BAD_FIELD", "turns: at most %d", TURNS_MAX);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("turns"));
    json_write_array_begin(json);
    JSON_EACH (item, list) {
        TurnRenewal one = {.lease_ms = lease_ms};
        if (json_get_i64(item, "turn", &one.token, &diag) != OK) one.token = 0; // nobody holds it
        json_write_object_begin(json);
        json_put_i64(json, "turn", one.token);
        json_put_cstr(json, "status", renew(exchange, &one));
        json_put_bool(json, "news", one.has_news);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static const Field journal_fields[] = {{"turn", "integer", true, "Token of a turn that it holds."},
                                       {0}};

typedef struct JournalLook {
    JsonWriter json;
    int64_t now_ms;
} JournalLook;

static void look(void *context, const HeldTurn *turn) {
    JournalLook *self = context;
    turn_put(&self->json, turn, STR_NULL, self->now_ms);
}

// The whole journal, for a worker that does not have the run in memory any more.
static void turn_journal(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    int64_t token = 0;
    Diag diag;
    Buf text;
    JournalLook self = {.now_ms = exchange_now_ms(exchange)};
    Status status = json_get_i64(body, "turn", &token, &diag);
    buf_init(&text, JOURNAL_SIZE);
    json_writer_init(&self.json, &text, STR_NULL);
    const TurnAsk ask = {.take = look, .context = &self};
    if (status == OK && turns_look(board_of(exchange), token, 0, &ask) != OK)
        status =
            diag_set(&diag, ERR_FENCED, "TURN_FENCED", "the turn is not this worker's any more");
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else exchange_send_text(exchange, 200, "application/json", buf_str(&text));
    buf_done(&text);
}

static const RouteAnswer register_answers[] = {{200, "Known now.", "RegisteredCode"}, {0}};
static const RouteAnswer claim_answers[] = {{200, "Turns, maybe none.", "ClaimedTurns"}, {0}};
static const RouteAnswer commit_answers[] = {
    {200, "Per item: accepted, fenced or refused.", "CommittedTurns"}, {0}};
static const RouteAnswer heartbeat_answers[] = {
    {200, "Per item: accepted, cancelled or fenced.", "RenewedTurns"}, {0}};
static const RouteAnswer journal_answers[] = {{200, "The turn.", "ClaimedTurn"}, {0}};
static const char *const register_codes[] = {"WORKFLOW_KIND", NULL};
static const char *const claim_codes[] = {"WORKFLOW_NOT_FOUND", NULL};
static const char *const commit_codes[] = {"WORKFLOW_NOT_FOUND", NULL};
static const char *const journal_codes[] = {"TURN_FENCED", NULL};

static const Route routes[] = {
    {"POST", "/v1/turns/register", "registerCode", "Say which workflows a process has",
     SCOPE_WORKER, BODY_OBJECT, register_fields, NULL, register_answers, register_codes,
     register_workflows},
    {"POST", "/v1/turns/claim", "claimTurns", "Take turns to be executed", SCOPE_WORKER,
     BODY_OBJECT, claim_fields, NULL, claim_answers, claim_codes, claim_turns},
    {"POST", "/v1/turns/commit", "commitTurns", "Report what turns did", SCOPE_WORKER, BODY_OBJECT,
     commit_fields, NULL, commit_answers, commit_codes, commit_turns},
    {"POST", "/v1/turns/heartbeat", "heartbeatTurns", "Keep turns", SCOPE_WORKER, BODY_OBJECT,
     heartbeat_fields, NULL, heartbeat_answers, NULL, heartbeat_turns},
    {"POST", "/v1/turns/journal", "turnJournal", "The whole journal of a turn", SCOPE_WORKER,
     BODY_OBJECT, journal_fields, NULL, journal_answers, journal_codes, turn_journal},
};
const RouteTable routes_turns = {routes, COUNT_OF(routes)};
