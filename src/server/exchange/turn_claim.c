// Turn claims: what of a body says who asks for what, and what the answer has of it.
//
// A turn is written while the board is locked, because what it shows points into the run in memory.
//
// Invariant [turn-claim-1] is in turn_claim.h.
//
// Not here: who has which turn (api/driver/turns.c), waiting for turns (routes/turns.c).
#include "server/exchange/turn_claim.h"
#include "base/text/name.h"
#include "engine/runners/code.h"
#include "model/trace.h"
#include "server/exchange/parts.h"
#include "server/server.h"

enum { CLAIM_MAX = 1000, LEASE_MIN_MS = 100, LEASE_MAX_MS = 3600 * 1000, ANSWER_SIZE = 256 << 20 };

Status turn_lease_read(const JsonValue *body, int64_t *ret_ms, Diag *diag) {
    *ret_ms = TURN_LEASE_DEFAULT_MS;
    TRY(json_get_duration_ms(body, "lease", ret_ms, diag));
    if (*ret_ms >= LEASE_MIN_MS && *ret_ms <= LEASE_MAX_MS) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "lease: from 100ms to 1h");
}

Status turn_claim_read(TurnClaim *claim, Exchange *exchange, const JsonValue *said, Diag *diag) {
    claim->exchange = exchange;
    claim->max = 1;
    TRY(json_get_string(said, "worker", &claim->worker, diag));
    TRY(name_check(claim->worker, "worker", "BAD_FIELD", LIMIT_NAME_SIZE, diag));
    TRY(json_get_i64(said, "max", &claim->max, diag));
    if (claim->max < 1 || claim->max > CLAIM_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "max: from 1 to %d", CLAIM_MAX);
    TRY(turn_lease_read(said, &claim->lease_ms, diag));
    TRY(codes_read(said, false, &exchange->arena, &claim->codes, diag));
    TRY(codes_find(exchange->server, &claim->codes, diag));
    claim->keys = ARENA_ARRAY(&exchange->arena, int64_t, claim->codes.count);
    for (size_t i = 0; i < claim->codes.count; i++) {
        const Code *code = &claim->codes.items[i];
        claim->keys[i] = code->key;
        if (code->key == 0)
            return diag_set(diag, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND",
                            "\"%.*s\" has no version \"%.*s\": register it first",
                            STR_ARG(code->name), STR_ARG(code->version));
    }
    return OK;
}

// ---- turns ----

static const Code *code_of(const Codes *codes, int64_t key) {
    size_t place = 0;
    while (place + 1 < codes->count && codes->items[place].key != key) place++;
    return &codes->items[place];
}

static void put_trace(JsonWriter *json, const RunView *view) {
    TraceParent run;
    if (str_is_null(tags_trace(view->tags))) {
        json_put_null(json, "traceparent");
        return;
    }
    (void)trace_of_run(view->id, view->tags, &run, NULL);
    json_put_cstr(json, "traceparent", trace_parent_format(&run).text);
}

static void put_tags(JsonWriter *json, Str tags) {
    Str left = tags_without_trace(tags), tag = STR_NULL;
    json_write_key(json, STR("tags"));
    json_write_array_begin(json);
    while (!str_is_null(left) && str_split(&left, '\n', &tag)) json_write_string(json, tag);
    json_write_array_end(json);
}

void turn_put(JsonWriter *json, const HeldTurn *turn, Str version, int64_t now_ms) {
    const RunView *view = &turn->execution->view;
    json_write_object_begin(json);
    json_put_i64(json, "turn", turn->token);
    json_put_string(json, "run_id", view->id);
    json_put_string(json, "workflow", view->workflow);
    json_put_string(json, "version", version);
    json_put_i64(json, "epoch", turn->execution->epoch);
    json_put_i64(json, "attempt", view->retries + 1);
    json_put_string(json, "parent_id", view->parent_id);
    json_put_instant(json, "started_at", view->started_at_ms);
    put_tags(json, view->tags);
    put_trace(json, view);
    json_put_bool(json, "cancelled", view->is_cancel_wanted);
    json_put_instant(json, "now", now_ms);
    json_put_instant(json, "lease_until", turn->lease.at);
    json_put_raw(json, "input", turn->after_seq > 0 ? STR_NULL : view->input);
    json_put_i64(json, "after", turn->after_seq);
    json_write_key(json, STR("journal"));
    json_write_array_begin(json);
    code_journal_write(view, turn->after_seq, json);
    json_write_array_end(json);
    json_write_object_end(json);
}

// ---- taking ----

void turn_claim_begin(TurnClaim *claim) {
    buf_init(&claim->turns, ANSWER_SIZE);
    json_writer_init(&claim->json, &claim->turns, STR_NULL);
    json_write_array_begin(&claim->json);
}

void turn_claim_done(TurnClaim *claim) { buf_done(&claim->turns); }

static void take(void *context, const HeldTurn *turn) {
    TurnClaim *claim = context;
    const Code *code = code_of(&claim->codes, turn->definition);
    turn_put(&claim->json, turn, code->version, exchange_now_ms(claim->exchange));
}

size_t turn_claim_take(TurnClaim *claim, int64_t *ret_again_ms) {
    const TurnAsk ask = {.worker = claim->worker,
                         .definitions = claim->keys,
                         .definition_count = claim->codes.count,
                         .max = (size_t)claim->max,
                         .lease_ms = claim->lease_ms,
                         .take = take,
                         .context = claim};
    return turns_take(engine_turns(claim->exchange->server->engine), &ask, ret_again_ms);
}

bool turn_claim_put(TurnClaim *claim, JsonWriter *json, const char *name) {
    json_write_array_end(&claim->json);
    if (claim->turns.is_overflown) { // [turn-claim-1]
        turns_drop_worker(engine_turns(claim->exchange->server->engine), claim->worker);
        return false;
    }
    json_put_raw(json, name, buf_str(&claim->turns));
    return true;
}
