// Task claims: what a worker asks for, and the tasks that it is given, as JSON.
//
// A claim is a request of its own, or it comes with reports, so that one request says what was done
// and brings what is to be done next.
//
//   [task-claim-1] Only what is written for the worker has the texts of secrets. An attempt that
//        lacks one has failed, and is not handed out.
//   [task-claim-2] What was leased for a worker that has left is handed back, so that nobody waits
//        for the lease to run out.
#pragma once
#include "server/exchange/exchange.h"

typedef struct ClaimNames {
    Str *items;
    size_t count;
} ClaimNames;

typedef struct TaskClaim {
    Exchange *exchange;
    Str worker;
    ClaimNames queues, names;
    int64_t max, lease_ms;
    bool *is_failed; // [task-claim-1] by task; NULL = none is
} TaskClaim;

// "lease" of a body.
MUST_CHECK Status task_lease_read(const JsonValue *body, int64_t *ret_ms, Diag *diag);
// "worker", "queues", "names", "max" from `least`, and "lease".
MUST_CHECK Status task_claim_read(TaskClaim *claim, Exchange *exchange, const JsonValue *said,
                                  int64_t least, Diag *diag);
// It is known what this worker asks for, and that it does.
void task_claim_note(const TaskClaim *claim);
// Workers that ask for the same queues and names are of one kind.
Str task_claim_kind(const TaskClaim *claim);
// Asks the store; `next` finds the answer in exchange->request.
void task_claim_submit(TaskClaim *claim, ExchangeFunction next);
// Before anything of it is written. True: `next` goes on later.
bool task_claim_fill_secrets(TaskClaim *claim, ExchangeFunction next);
// True if the worker has left: then `next` goes on when its tasks are handed back.
bool task_claim_hand_back(TaskClaim *claim, ExchangeFunction next);
// Writes the tasks as the member `name`; others of its kind are told if there may be more.
void task_claim_put(const TaskClaim *claim, JsonWriter *json, const char *name);
