// Standing: see standing.h.
//
// Which version executed a turn is not in its row. The snapshot names its code, so nothing is
// looked for unless that is not the run's present version; then the log is (LOG_MOVED).
//
// Not here: what a machine says about itself (inspect.c).
#include "engine/inspect/standing.h"
#include "base/containers/vec.h"

Standing standing_of_turn(const RunRow *run, const SnapshotRow *row) {
    Standing standing = {*run, row->number, row->log_seq, row->start_seq, row->end_seq};
    standing.run.snapshot = row->snapshot;
    return standing;
}

static Status take_turn(const StandingWish *wish, Standing *standing, Diag *diag) {
    SnapshotFilter filter = {run_of_key(standing->run.key), {.after = wish->turn - 1, .limit = 1}};
    SnapshotPage page;
    TRY(store_list_snapshots(wish->store, wish->arena, &filter, &page, diag));
    if (page.count == 0 || page.rows[0].number != wish->turn)
        return diag_set(diag, ERR_NOT_FOUND, "TURN_NOT_KEPT",
                        "the beginning of turn %lld of run \"%.*s\" is not kept",
                        (long long)wish->turn, STR_ARG(wish->run_id));
    *standing = standing_of_turn(&standing->run, &page.rows[0]);
    return OK;
}

Status standing_read(const StandingWish *wish, Standing *ret_standing, Diag *diag) {
    *ret_standing = (Standing){0};
    TRY(store_run_by_id(wish->store, wish->arena, wish->run_id, &ret_standing->run, diag));
    return wish->turn != 0 ? take_turn(wish, ret_standing, diag) : OK;
}

// ---- what came for it ----

typedef VEC(LogRow) LogRows;

// The entries of waits between the snapshot of a turn and its beginning; the last one before them
// says when it came to stand there.
static Status read_deliveries(const StandingWish *wish, const Standing *standing, LogRows *rows,
                              int64_t *ret_at_ms, Diag *diag) {
    LogFilter filter = {run_of_key(standing->run.key), {.after = standing->log_seq - 1}};
    for (bool is_over = false; !is_over;) {
        LogPage page;
        TRY(store_read_log(wish->store, wish->arena, &filter, &page, diag));
        for (size_t i = 0; i < page.count && !is_over; i++) {
            const LogRow *row = &page.rows[i];
            is_over = row->seq > standing->start_seq;
            if (row->seq == standing->log_seq) *ret_at_ms = row->at_ms;
            else if (!is_over && row->kind == LOG_WAIT) vec_push(rows, *row);
        }
        filter.page.after = page.next;
        is_over = is_over || page.next == 0;
    }
    return OK;
}

static Status take_deliveries(const StandingWish *wish, const Standing *standing,
                              StandingMore *more, Diag *diag) {
    LogRows rows = {0};
    Status status = read_deliveries(wish, standing, &rows, &more->at_ms, diag);
    LogRow *copy = ARENA_ARRAY(wish->arena, LogRow, rows.count + 1);
    for (size_t i = 0; i < rows.count; i++) copy[i] = rows.data[i];
    more->deliveries = copy;
    more->delivery_count = rows.count;
    vec_free(&rows);
    return status;
}

// A script that waits has parked, so it has a snapshot.
static Status check_snapshot(const RunRow *run, Diag *diag) {
    bool is_held = run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED;
    bool is_parked = run->kind == RUN_FLOW && (run->state == RUN_SUSPENDED || is_held);
    if (!is_parked || run->snapshot.len > 0) return OK;
    return diag_set(diag, ERR_CORRUPT, "SNAPSHOT_CORRUPT",
                    "the run \"%.*s\" waits and has no snapshot; it was left as it is",
                    STR_ARG(run->id));
}

Status standing_more(const StandingWish *wish, Standing *standing, StandingMore *ret_more,
                     Diag *diag) {
    RunLoads loads;
    RunKeys keys = {&standing->run.key, 1};
    TRY(store_load_runs(wish->store, wish->arena, keys, &loads, diag));
    RunLoadReply *reply = &loads.replies[0];
    if (reply->status != OK && diag != NULL) *diag = reply->diag;
    TRY(reply->status);
    *ret_more = (StandingMore){.input = reply->load.input, .parent_id = reply->load.parent_id};
    if (standing->turn != 0) return take_deliveries(wish, standing, ret_more, diag);
    standing->run = reply->load.run;
    TRY(check_snapshot(&standing->run, diag));
    if (standing->run.snapshot.len == 0) return OK; // its log is its input
    ret_more->deliveries = reply->load.log;
    ret_more->delivery_count = reply->load.log_count;
    return OK;
}

// ---- versions ----

// The first move after the turn names the version before it.
static Status find_definition(const Standing *standing, Store *store, Arena *arena,
                              int64_t *ret_definition, Diag *diag) {
    LogFilter filter = {run_of_key(standing->run.key), {.after = standing->end_seq}};
    *ret_definition = standing->run.definition;
    do {
        LogPage page;
        TRY(store_read_log(store, arena, &filter, &page, diag));
        for (size_t i = 0; i < page.count; i++) {
            if (page.rows[i].kind != LOG_MOVED) continue;
            *ret_definition = page.rows[i].iteration;
            return OK;
        }
        filter.page.after = page.next;
    } while (filter.page.after != 0);
    return OK;
}

// Bytes that do not say are for flow_machine_restore to refuse.
static bool is_of_module(Str snapshot, const FlowModule *module) {
    Str bytes;
    char hash[65];
    Diag diag;
    if (flow_machine_vm_bytes(snapshot, &bytes, &diag) != OK) return true;
    if (flow_snapshot_module_hash(bytes, hash, &diag) != OK) return true;
    return str_equal(flow_module_hash(module), str_from(hash));
}

Status standing_module(const Standing *standing, Modules *modules, Arena *arena,
                       FlowModule **ret_module, Diag *diag) {
    TRY(modules_get(modules, standing->run.definition, ret_module, diag));
    if (standing->turn == 0 || is_of_module(standing->run.snapshot, *ret_module)) return OK;
    int64_t definition;
    TRY(find_definition(standing, modules->store, arena, &definition, diag));
    return modules_get(modules, definition, ret_module, diag);
}

Status standing_open(const Standing *standing, Modules *modules, Arena *arena,
                     FlowMachine **ret_machine, Diag *diag) {
    FlowVmOptions options = {.limits = FLOW_LIMITS_DEFAULT};
    TRY(standing_module(standing, modules, arena, &options.module, diag));
    return flow_machine_restore(standing->run.snapshot, &options, ret_machine, diag);
}
