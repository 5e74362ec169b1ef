// Where: pages of the store, filtered by an expression.
//
// The store is asked for rows with their snapshots, a chunk at a time, in an arena that is reset in
// between; what matches is copied without its snapshot. The expression is compiled once for each
// set of bound names (flow/evaluate), the scripts once for each version.
#include "engine/where/where.h"
#include "engine/runners/flow_machine.h"
#include "flow/evaluate.h"
#include "model/tables.h"

enum { CHUNK_ROWS = 500, CHUNK_SIZE_MAX = 8 << 20, LOOK_PRICE = 1000 };

typedef struct WhereHost {
    FlowHost base;
    int64_t now_ms;
} WhereHost;

static int64_t where_now(FlowHost *host) { return ((WhereHost *)host)->now_ms; }
static const FlowHostOps where_ops = {.now_ms = where_now};

typedef struct Where {
    Store *store;
    Arena *arena; // of the answer
    Arena chunk;
    Modules modules;
    FlowExpression *expression;
    WhereHost host;
    int64_t instructions; // left
    int64_t limit;
    const WhereSieve *sieve; // NULL = none
    WherePage *page;
} Where;

static Status test_run(Where *self, const RunRow *run, bool *ret_is_true, Diag *diag) {
    FlowModule *module;
    Str bytes;
    TRY(modules_get(&self->modules, run->definition, &module, diag));
    TRY(flow_machine_vm_bytes(run->snapshot, &bytes, diag));
    FlowVmOptions options = {
        .module = module, .host = &self->host.base, .limits = FLOW_LIMITS_DEFAULT};
    options.limits.instructions_per_turn = WHERE_RUN_INSTRUCTIONS_MAX;
    return flow_expression_test_snapshot(self->expression, bytes, &options, ret_is_true, diag);
}

static bool is_fault_of_run(Status status) { return status != ERR_UNAVAILABLE; }

// Reading a snapshot costs something, too.
static void pay(Where *self) {
    self->instructions -= LOOK_PRICE + (int64_t)flow_expression_cost(self->expression);
}

static Status sift(const Where *self, const RunRow *run, bool *ret_is_taken, Diag *diag) {
    *ret_is_taken = run->kind == RUN_FLOW && run->snapshot.len > 0;
    if (!*ret_is_taken || self->sieve == NULL) return OK;
    return self->sieve->takes(self->sieve->context, run, ret_is_taken, diag);
}

static Status look_at(Where *self, const RunRow *run, Diag *diag) {
    bool is_taken;
    TRY(sift(self, run, &is_taken, diag));
    if (!is_taken) return OK;
    WherePage *page = self->page;
    bool is_true = false;
    Diag why = {0};
    Status status = test_run(self, run, &is_true, &why);
    pay(self);
    page->looked_at++;
    if (status != OK && !is_fault_of_run(status)) {
        if (diag) *diag = why;
        return status;
    }
    if (status != OK) { // [where-2]
        if (page->errors++ == 0) page->first_error = why;
        return OK;
    }
    if (!is_true) return OK;
    RunRow bare = *run;
    bare.snapshot = STR_NULL;
    row_copy(&tables[TABLE_RUNS], self->arena, &bare, &page->runs.rows[page->runs.count++]);
    return OK;
}

static bool is_used_up(const Where *self) { // [where-1]
    const WherePage *page = self->page;
    return (int64_t)page->runs.count == self->limit || page->looked_at >= WHERE_LOOKS_MAX ||
           self->instructions <= 0 ||
           (self->sieve != NULL && self->sieve->is_spent(self->sieve->context));
}

static Status look_through(Where *self, RunFilter *filter, Diag *diag) {
    for (;;) {
        RunPage rows;
        arena_reset(&self->chunk);
        TRY(store_list_runs(self->store, &self->chunk, filter, &rows, diag));
        for (size_t i = 0; i < rows.count; i++) {
            TRY(look_at(self, &rows.rows[i], diag));
            bool is_last = i + 1 == rows.count;
            if (!is_used_up(self)) continue;
            self->page->runs.next = is_last ? rows.next : rows.rows[i].key;
            return OK;
        }
        if (rows.next == 0) return OK;
        filter->cursor = rows.next;
        self->instructions -= LOOK_PRICE; // a chunk that holds nothing costs something, too
    }
}

Status where_check(Str text, Diag *diag) {
    FlowExpression *expression;
    TRY(flow_expression_parse(text, &expression, diag));
    flow_expression_free(expression);
    return OK;
}

Status where_list_runs(Store *store, Arena *arena, const WhereQuery *query, WherePage *ret_page,
                       Diag *diag) {
    const uint32_t standing = 1u << RUN_SUSPENDED | 1u << RUN_PAUSED;
    RunFilter filter = query->filter;
    filter.states = filter.states ? filter.states & standing : standing;
    *ret_page = (WherePage){0};
    Where self = {.store = store,
                  .arena = arena,
                  .host = {{&where_ops}, query->now_ms},
                  .instructions = WHERE_INSTRUCTIONS_MAX,
                  .limit = filter.limit,
                  .sieve = query->sieve,
                  .page = ret_page};
    TRY(flow_expression_parse(query->expression, &self.expression, diag));
    ret_page->runs.rows = ARENA_ARRAY(arena, RunRow, (size_t)filter.limit + 1);
    filter.has_snapshots = true;
    filter.limit = CHUNK_ROWS;
    filter.size_max = CHUNK_SIZE_MAX;
    modules_init(&self.modules, store);
    arena_init(&self.chunk);
    Status status = OK;
    if (filter.states != 0) status = look_through(&self, &filter, diag);
    arena_done(&self.chunk);
    modules_done(&self.modules);
    flow_expression_free(self.expression);
    return status;
}
