// The clock: what time it is for runs, and, on a server for tests, moving it.
//
// A test that moves the clock by a day wants to find what a day would have brought. So the clock
// goes from one moment at which something is due to the next, and at each it waits until nothing
// is executed any more: not here, and not by workers, as far as they are there.
//
//   [time-1] The clock stands still while anything is executed.
//   [time-2] Who waits is answered after `wait` of real time at the latest, with what it had come
//        to.
//
// Not here: the clock itself (api/clock.c), which turns workers hold (api/driver/turns.c).
#include "base/array.h"
#include "server/exchange/parts.h"
#include "server/http/connection.h"
#include "server/http/sleeper.h"

enum {
    LOOK_MS = 2,   // between two looks
    TAKE_MS = 200, // tasks that are queued are taken by then, if by anybody
    WAIT_DEFAULT_MS = 30000
};

static void put_clock(const Exchange *exchange, JsonWriter *json) {
    json_put_instant(json, "now", exchange_now_ms(exchange));
    json_put_bool(json, "is_virtual", engine_is_time_virtual(exchange->server->engine));
}

static void read_clock(Exchange *exchange) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    put_clock(exchange, json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static const Field advance_fields[] = {
    {"by", "duration", false, "How far. Either this or `to`."},
    {"to", "instant", false, "To when."},
    {"wait", "duration", false,
     "Of real time, for what is executed to end at each moment on the way; 30s unless given."},
    {0}};

typedef struct Advance {
    Sleeper sleeper;
    Deadline deadline;
    int64_t to_ms;
    int64_t until_ms; // by the real clock [time-2]
    int64_t still_ms; // since when nothing is executed, by the real clock; 0 = something is
    int64_t next_ms;  // when something is due; 0 = nothing is
} Advance;

static Status count(Exchange *exchange, StoreStats *ret_stats, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    Status status = store_stats(exchange_store(exchange), &arena, ret_stats, diag);
    arena_done(&arena);
    return status;
}

// [time-1]
static Status look_around(Exchange *exchange, Advance *advance, bool *ret_is_still, Diag *diag) {
    abide_engine *engine = exchange->server->engine;
    TurnBoard *board = engine_turns(engine);
    int64_t clock_ms = server_clock_ms();
    StoreStats before, after; // a task may end, or begin, beside the look at the engine
    *ret_is_still = false;
    turns_expire(board, clock_ms);
    TRY(count(exchange, &before, diag));
    bool is_resting = engine_is_resting(engine, &advance->next_ms);
    TRY(count(exchange, &after, diag));
    bool is_same = memcmp(&before, &after, sizeof before) == 0;
    if (!is_resting || !is_same || after.counters[COUNTER_TASKS_FIRST + TASK_LEASED] > 0) {
        advance->still_ms = 0;
        return OK;
    }
    if (advance->still_ms == 0) advance->still_ms = clock_ms;
    *ret_is_still = after.counters[COUNTER_TASKS_FIRST + TASK_QUEUED] == 0 ||
                    clock_ms - advance->still_ms >= TAKE_MS;
    return OK;
}

static void answer(Exchange *exchange, bool is_settled) {
    Advance *advance = exchange->state;
    server_clear_deadline(exchange->server, &advance->deadline);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    put_clock(exchange, json);
    json_put_bool(json, "is_settled", is_settled);
    render_instant(json, "next_at", is_settled ? advance->next_ms : 0);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void go_on(Exchange *exchange);

static void look_again(Exchange *exchange, Advance *advance) {
    exchange->next = go_on;
    exchange->is_patient = true;
    exchange->stage = EXCHANGE_WAITING;
    server_set_deadline(exchange->server, &advance->deadline, server_clock_ms() + LOOK_MS);
    sleeper_sleep(&advance->sleeper);
}

// To the next moment. False: it is there already.
static bool step(Exchange *exchange, Advance *advance) {
    int64_t next_ms = advance->next_ms, to_ms = advance->to_ms;
    if (exchange_now_ms(exchange) >= to_ms) return false;
    if (next_ms != 0 && next_ms < to_ms) to_ms = next_ms;
    abide_error error;
    advance->still_ms = 0;
    // Somebody else may have moved it further: then it is there.
    return abide_clock_set(exchange->server->engine, to_ms, &error) == ABIDE_OK;
}

static void go_on(Exchange *exchange) {
    Advance *advance = exchange->state;
    Diag diag = {0};
    bool is_still = false;
    sleeper_begin(&advance->sleeper);
    do {
        Status status = look_around(exchange, advance, &is_still, &diag);
        if (status != OK) {
            server_clear_deadline(exchange->server, &advance->deadline);
            exchange_refuse(exchange, status, &diag);
            return;
        }
    } while (is_still && step(exchange, advance));
    bool is_late = server_clock_ms() >= advance->until_ms || server_is_stopping(exchange->server);
    if (is_still || is_late) answer(exchange, is_still);
    else look_again(exchange, advance);
}

static void look_is_due(Deadline *deadline) {
    sleeper_wake(&container_of(deadline, Advance, deadline)->sleeper);
}

static void abandon(Exchange *exchange) {
    Advance *advance = exchange->state;
    server_clear_deadline(exchange->server, &advance->deadline);
}

static Status read_advance(Exchange *exchange, const JsonValue *body, Advance *advance,
                           Diag *diag) {
    int64_t by_ms = -1, wait_ms = WAIT_DEFAULT_MS, now_ms = exchange_now_ms(exchange);
    TRY(json_get_duration_ms(body, "by", &by_ms, diag));
    TRY(json_get_instant_ms(body, "to", &advance->to_ms, diag));
    TRY(json_get_duration_ms(body, "wait", &wait_ms, diag));
    if ((by_ms >= 0) == (advance->to_ms != 0))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "either by or to");
    if (by_ms >= 0) advance->to_ms = now_ms + by_ms;
    if (advance->to_ms < now_ms)
        return diag_set(diag, ERR_INVALID, "BAD_TIME", "to: the clock does not go back");
    int64_t longest_ms = exchange->policy->limits.wait_ms;
    advance->until_ms = server_clock_ms() + (wait_ms < longest_ms ? wait_ms : longest_ms);
    return OK;
}

static void advance_clock(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Advance *advance = ARENA_NEW(&exchange->arena, Advance);
    Diag diag;
    Status status = read_advance(exchange, body, advance, &diag);
    if (status == OK && !engine_is_time_virtual(exchange->server->engine))
        status = diag_set(&diag, ERR_CONFLICT, "CLOCK_REAL",
                          "this server goes by the real clock; abide serve --virtual-time has one "
                          "that can be moved, for tests");
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    advance->deadline.due = look_is_due;
    sleeper_init(&advance->sleeper, exchange->connection);
    exchange->state = advance;
    exchange->abandoned = abandon;
    go_on(exchange);
}

static const RouteAnswer clock_answers[] = {{200, "What runs go by.", "Time"}, {0}};
static const RouteAnswer advance_answers[] = {
    {200, "Where it stands, and whether everything that was due has been done.", "Advanced"}, {0}};
static const char *const advance_codes[] = {"CLOCK_REAL", NULL};

static const Route routes[] = {
    {"GET", "/v1/time", "readTime", "What time it is for runs", SCOPE_READ, BODY_NONE, NULL, NULL,
     clock_answers, NULL, read_clock},
    {"POST", "/v1/time/advance", "advanceTime", "Move the clock of a server for tests", SCOPE_ADMIN,
     BODY_OBJECT, advance_fields, NULL, advance_answers, advance_codes, advance_clock},
};
const RouteTable routes_time = {routes, COUNT_OF(routes)};
