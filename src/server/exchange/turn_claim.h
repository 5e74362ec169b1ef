// Turn claims: what a worker asks for, and the turns that it is given, as JSON.
//
// A claim is a request of its own, or it comes with a commit, so that one request reports what was
// done and brings what is to be done next.
//
//   [turn-claim-1] What was taken is in the answer, or is given up again: nobody else would know.
#pragma once
#include "server/exchange/exchange.h"
#include "server/exchange/turn_codes.h"

enum { TURN_LEASE_DEFAULT_MS = 30000 };

typedef struct TurnClaim {
    Exchange *exchange;
    Str worker;
    Codes codes;
    int64_t *keys; // of their definitions
    int64_t max, lease_ms;
    Buf turns; // what was taken
    JsonWriter json;
} TurnClaim;

// "lease" of a body.
MUST_CHECK Status turn_lease_read(const JsonValue *body, int64_t *ret_ms, Diag *diag);
// "worker", "workflows", "max" and "lease". Code: WORKFLOW_NOT_FOUND.
MUST_CHECK Status turn_claim_read(TurnClaim *claim, Exchange *exchange, const JsonValue *said,
                                  Diag *diag);
// Before anything is taken; turn_claim_done lets go of it, however it ended.
void turn_claim_begin(TurnClaim *claim);
void turn_claim_done(TurnClaim *claim);
// How many more were taken. *ret_again_ms as of turns_take.
size_t turn_claim_take(TurnClaim *claim, int64_t *ret_again_ms);
// Writes them as the member `name`. False: they are too large for one answer, and were given up.
bool turn_claim_put(TurnClaim *claim, JsonWriter *json, const char *name);
// One turn, as an object.
void turn_put(JsonWriter *json, const HeldTurn *turn, Str version, int64_t now_ms);
