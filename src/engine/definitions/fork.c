// Forks and retries in another version of the script: where the new run begins, and whether that
// version can go on there. A rewind looks for the same place in the run itself.
//
// The place is found on what the store says now, as the operation will find it
// (store/kernel/runs/snapshots.c); what was found is named in the operation, which refuses when it
// finds something else ([create-6] of store/kernel/runs/create.c).
//
//   [definitions-fork-1] A retry that was done before is found, whatever can be moved now: nothing
//        is decided for it.
//
// Not here: what can move (flow/move).
#include "engine/definitions/move.h"
#include "store/reads.h"

enum { PAGE_ENTRIES = 500 };

typedef struct Place { // where the new run begins
    int64_t definition;
    Str snapshot; // null = at the start
} Place;

typedef struct StepWalk {
    const RunRow *run;
    StepChoice step;
    int64_t count;        // of steps of that name
    int64_t seq;          // of the one that was asked for; 0 = none yet
    bool is_first;        // it was begun before anything was delivered
    bool has_delivery;    // up to here
    int64_t moved_before; // the version before the first move past the step; 0 = no move
} StepWalk;

static bool begins_step(const LogRow *entry) {
    return entry->kind == LOG_TASK || entry->kind == LOG_CHILD || entry->kind == LOG_WAITING;
}

static void walk_entry(StepWalk *walk, const LogRow *entry) {
    bool is_found = walk->seq != 0;
    if (entry->kind == LOG_MOVED && is_found && walk->moved_before == 0)
        walk->moved_before = entry->iteration;
    if (entry->seq <= walk->run->input_seq || entry->position < 0) return;
    if (entry->kind == LOG_WAIT) walk->has_delivery = true;
    if (!begins_step(entry) || !str_equal(entry->name, walk->step.name)) return;
    if (!walk->step.is_last && walk->count++ != walk->step.iteration) return;
    walk->seq = entry->seq;
    walk->is_first = !walk->has_delivery;
    walk->moved_before = 0;
}

static Status walk_log(const MoveWish *wish, StepWalk *walk, Diag *diag) {
    LogFilter filter = {.run = {.key = walk->run->key}, .page = {.limit = PAGE_ENTRIES}};
    do {
        LogPage page;
        TRY(store_read_log(wish->store, wish->arena, &filter, &page, diag));
        for (size_t i = 0; i < page.count; i++) walk_entry(walk, &page.rows[i]);
        filter.page.after = page.next;
    } while (filter.page.after > 0);
    if (walk->seq != 0) return OK;
    return diag_set(diag, ERR_NOT_FOUND, "STEP_NOT_FOUND",
                    "the run \"%.*s\" has not begun a step \"%.*s\" so often",
                    STR_ARG(walk->run->id), STR_ARG(walk->step.name));
}

static Status find_kept(const MoveWish *wish, const StepWalk *walk, Str *ret_snapshot, Diag *diag) {
    SnapshotFilter filter = {.run = {.key = walk->run->key}, .page = {.limit = 1}};
    do {
        SnapshotPage page;
        TRY(store_list_snapshots(wish->store, wish->arena, &filter, &page, diag));
        if (page.count > 0 && page.rows[0].start_seq < walk->seq &&
            walk->seq <= page.rows[0].end_seq) {
            *ret_snapshot = page.rows[0].snapshot;
            return OK;
        }
        filter.page.after = page.next;
    } while (filter.page.after > 0);
    return diag_set(diag, ERR_CONFLICT, "SNAPSHOT_NOT_KEPT",
                    "the snapshot from before the step \"%.*s\" of run \"%.*s\" is no longer kept; "
                    "choose a later step, the first one, or raise keepSnapshots",
                    STR_ARG(walk->step.name), STR_ARG(walk->run->id));
}

static Status find_place(const MoveWish *wish, const Op *op, const RunRow *run, Place *ret_place,
                         Diag *diag) {
    *ret_place = (Place){.definition = run->definition};
    if (op->in.fork.is_retry) {
        ret_place->snapshot = run->snapshot;
        return OK;
    }
    if (str_is_null(op->in.fork.step.name)) return OK;
    StepWalk walk = {.run = run, .step = op->in.fork.step};
    TRY(walk_log(wish, &walk, diag));
    if (walk.moved_before != 0) ret_place->definition = walk.moved_before;
    return walk.is_first ? OK : find_kept(wish, &walk, &ret_place->snapshot, diag);
}

static Status check_source(const Op *op, const RunRow *run, Diag *diag) {
    if (run->kind != RUN_FLOW)
        return diag_set(diag, ERR_CONFLICT, "RUN_NOT_PARKED",
                        "the run \"%.*s\" is of a C workflow, which has no versions",
                        STR_ARG(run->id));
    if (!op->in.fork.is_retry || run->state == RUN_FAILED) return OK;
    return diag_set(diag, ERR_CONFLICT, "RUN_NOT_FAILED",
                    "the run \"%.*s\" is %s; only a run that failed can be retried",
                    STR_ARG(run->id), run_state_name(run->state));
}

// [definitions-fork-1]
static Status find_taken_up(const MoveWish *wish, const Op *op, bool *ret_is_there, Diag *diag) {
    RetryId text;
    RunRow found;
    *ret_is_there = false;
    if (!op->in.fork.is_retry || !str_is_null(op->in.fork.new_id)) return OK;
    Str id = run_retry_id(op->in.fork.run_id, &text);
    Status status = store_run_by_id(wish->store, wish->arena, id, &found, diag);
    *ret_is_there = status == OK;
    return status == ERR_NOT_FOUND ? OK : status;
}

Status move_check_rewind(const MoveWish *wish, const StepChoice *step, Diag *diag) {
    RunRow run;
    TRY(store_run_by_id(wish->store, wish->arena, wish->run_id, &run, diag));
    if (run_state_is_terminal(run.state))
        return diag_set(diag, ERR_TERMINAL, "RUN_TERMINAL",
                        "the run \"%.*s\" has %s and is final; fork it to try again from a step",
                        STR_ARG(run.id), run_state_name(run.state));
    if (run.kind == RUN_FLOW) {
        StepWalk walk = {.run = &run, .step = *step};
        Str snapshot;
        TRY(walk_log(wish, &walk, diag));
        return walk.is_first ? OK : find_kept(wish, &walk, &snapshot, diag);
    }
    LogRow entry;
    const StepRef which = {{.key = run.key}, step->name, step->iteration, step->is_last};
    Status status = store_find_step(wish->store, wish->arena, &which, &entry, diag);
    if (status != ERR_NOT_FOUND) return status;
    return diag_set(diag, ERR_NOT_FOUND, "STEP_NOT_FOUND",
                    "the run \"%.*s\" has no checkpoint of a step \"%.*s\"", STR_ARG(run.id),
                    STR_ARG(step->name));
}

Status move_fill_fork(const MoveWish *wish, Op *op, MoveAnswer *ret_answer, Diag *diag) {
    RunRow run;
    Place place;
    DefinitionRow rows[2];
    bool is_taken_up;
    *ret_answer = (MoveAnswer){0};
    TRY(store_run_by_id(wish->store, wish->arena, wish->run_id, &run, diag));
    TRY(check_source(op, &run, diag));
    TRY(find_place(wish, op, &run, &place, diag));
    const DefinitionRef which = {.name = run.workflow, .version = wish->version};
    TRY(move_find_version(wish->store, wish->arena, which, &rows[1], diag));
    TRY(store_definition_by_key(wish->store, wish->arena, place.definition, &rows[0], diag));
    *ret_answer = (MoveAnswer){
        .from = rows[0].version, .to = rows[1].version, .is_there = rows[0].key == rows[1].key};
    TRY(find_taken_up(wish, op, &is_taken_up, diag));
    if (ret_answer->is_there || is_taken_up) return OK;
    ForkVersion *version = &op->in.fork.version;
    Moved moved = {.place = PLACE_START};
    if (!str_is_null(place.snapshot))
        TRY(move_between(rows, place.snapshot, wish->arena, &moved, diag));
    version->snapshot = moved.snapshot;
    version->place = moved.place;
    version->definition = rows[1].key;
    version->from = rows[0].key;
    version->digest = snapshot_digest(place.snapshot);
    version->note = move_note(wish->arena, rows);
    return OK;
}
