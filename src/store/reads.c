// Reads: the questions of reads.h, put to the one verb of a store.
//
//   [reads-1] of reads.h: what a request answers is copied out only when the answer
//   is OK.
//
// Not here: how they are answered (reads/).
#include "store/reads.h"
#include "store/read_request.h"

static Status ask(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    return store->ops->read(store, arena, request, diag);
}

static Status find_run(Store *store, Arena *arena, RunRef run, RunRow *ret_run, Diag *diag) {
    ReadRequest request = {.kind = READ_RUN, .in.run = run};
    TRY(ask(store, arena, &request, diag));
    *ret_run = request.out.run;
    return OK;
}

Status store_run_by_id(Store *store, Arena *arena, Str id, RunRow *ret_run, Diag *diag) {
    return find_run(store, arena, (RunRef){.id = id}, ret_run, diag);
}

Status store_run_by_key(Store *store, Arena *arena, int64_t key, RunRow *ret_run, Diag *diag) {
    return find_run(store, arena, (RunRef){.key = key}, ret_run, diag);
}

Status store_next_due(Store *store, Arena *arena, int64_t *ret_due_at_ms, Diag *diag) {
    ReadRequest request = {.kind = READ_DUE};
    TRY(ask(store, arena, &request, diag));
    *ret_due_at_ms = request.out.due_at_ms;
    return OK;
}

Status store_stats(Store *store, Arena *arena, StoreStats *ret_stats, Diag *diag) {
    ReadRequest request = {.kind = READ_STATS};
    TRY(ask(store, arena, &request, diag));
    *ret_stats = request.out.stats;
    return OK;
}

// store_list_runs and the others, each as reads.h says.
#define READ_FUNCTION(KIND, name, verb, Question, Answer)                                          \
    Status store_##verb(Store *store, Arena *arena, Question asked, Answer *ret_answer,            \
                        Diag *diag) {                                                              \
        ReadRequest request = {.kind = READ_##KIND, .in.name = asked};                             \
        TRY(ask(store, arena, &request, diag));                                                    \
        *ret_answer = request.out.name;                                                            \
        return OK;                                                                                 \
    }
READ_LIST(READ_FUNCTION)
