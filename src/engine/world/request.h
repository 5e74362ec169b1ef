// Requests: operations that somebody outside asks for.
#pragma once
#include "base/containers/list.h"
#include "store/batch.h"

// Somebody outside asks for an operation. The answers are in `op`, and stay there.
typedef struct Request {
    List link;
    Op op;
    Arena
        *arena; // for what the reply points to; nobody else uses it until `done` is called. NULL =
                // no texts, rows or lists are wanted
    void (*done)(struct Request *request); // on the coordinator's thread, once
    void *context;
} Request;

// It may not have happened, and that is no answer to what was asked for: it can be asked again.
static inline bool request_is_unanswered(Status status) {
    return status_is_away(status) || status == ERR_CLOSED;
}

// The operation has its reply: whoever asked is told, with one that outlives the batch.
static inline void request_finish(Request *request) {
    op_keep_reply(&request->op, request->arena);
    request->done(request);
}

// `diag` may be NULL: the operation has its text already.
static inline void request_answer(Request *request, Status status, const Diag *diag) {
    request->op.out.status = status;
    if (diag != NULL) request->op.out.diag = *diag;
    request_finish(request);
}
