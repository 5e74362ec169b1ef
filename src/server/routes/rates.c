// Rates: how much happened, step by step.
//
// Steps begin at multiples of their length, so that two answers have the same steps; the last one
// goes on, and has what happened in it so far.
//
// Not here: how it is collected and added up (observe/rates.h).
#include "server/observe/rates.h"
#include "base/array.h"
#include "server/exchange/parts.h"

enum {
    HOUR_MS = 3600 * 1000,
    SINCE_MAX_MS = 24 * HOUR_MS,
    LONG_STEP_MS = 300 * 1000, // of more than six hours, unless another is asked for
};

static const Field rates_query[] = {
    {"since", "duration", false, "How far back, up to 24h; 1h unless given."},
    {"step", "duration", false,
     "A multiple of 10s, or beyond an hour of 1m; unless given 10s for up to an hour, 1m for up to "
     "six, 5m beyond."},
    {0}};

static int64_t usual_step(int64_t since_ms) {
    if (since_ms <= HOUR_MS) return RATE_FINE_MS;
    return since_ms <= 6 * HOUR_MS ? RATE_COARSE_MS : LONG_STEP_MS;
}

static bool read_span(Exchange *exchange, RateSpan *ret_span) {
    int64_t since_ms = HOUR_MS, now_ms = server_clock_ms();
    if (!exchange_query_duration(exchange, "since", &since_ms)) return false;
    int64_t step_ms = usual_step(since_ms);
    if (!exchange_query_duration(exchange, "step", &step_ms)) return false;
    if (since_ms <= 0 || since_ms > SINCE_MAX_MS) {
        exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY",
                             "since: rates are kept for a day; ask for up to 24h");
        return false;
    }
    int64_t unit_ms = since_ms > HOUR_MS ? RATE_COARSE_MS : RATE_FINE_MS;
    if (step_ms <= 0 || step_ms % unit_ms != 0 || step_ms > SINCE_MAX_MS) {
        exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY",
                             "step: not a multiple of %ds, which is what is kept of %s",
                             (int)(unit_ms / 1000),
                             since_ms > HOUR_MS ? "more than an hour" : "the last hour");
        return false;
    }
    int64_t to_ms = now_ms - now_ms % step_ms + step_ms;
    int64_t count = (since_ms + step_ms - 1) / step_ms;
    *ret_span = (RateSpan){step_ms, to_ms - count * step_ms, to_ms};
    return true;
}

static void send_rates(Exchange *exchange) {
    RateSpan span;
    Diag diag = {0};
    if (!read_span(exchange, &span)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    Status status = rates_write(exchange->server, &exchange->arena, &span, json, &diag);
    if (exchange_found(exchange, status, &diag)) exchange_send(exchange);
}

static const RouteAnswer rates_answers[] = {
    {200, "Series of as many values as there are steps; the last step goes on.", "Rates"}, {0}};

static const Route routes[] = {
    {"GET", "/v1/rates", "rates", "How much happened, step by step", SCOPE_READ, BODY_NONE, NULL,
     rates_query, rates_answers, NULL, send_rates},
};
const RouteTable routes_rates = {routes, COUNT_OF(routes)};
