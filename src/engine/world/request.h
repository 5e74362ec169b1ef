// Requests: operations that somebody outside asks for.
#pragma once
#include "base/containers/list.h"
#include "store/batch.h"

// Somebody outside asks for an operation. The answers are in `op`; Str answers must be copied in
// `done`, they are gone afterwards.
typedef struct Request {
    List link;
    Op op;
    void (*done)(struct Request *request); // on the coordinator's thread, once
    void *context;
} Request;

// `diag` may be NULL: the operation has its text already.
static inline void request_answer(Request *request, Status status, const Diag *diag) {
    request->op.out.status = status;
    if (diag != NULL) request->op.out.diag = *diag;
    request->done(request);
}
