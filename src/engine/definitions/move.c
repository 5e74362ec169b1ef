// Moving a run: reads the run, its version and the wanted one, and lets the language decide.
//
// It is decided on what the store says now; the operation that writes it checks the epoch, so a run
// that goes on meanwhile is not touched (store/kernel/runs/move.c).
//
//   [definitions-move-1] What a run waits for stays as it is: the engine's part of the snapshot is
//        copied, only the machine's part is moved.
//
// Not here: what can move (flow/move).
#include "engine/definitions/move.h"
#include "engine/definitions/definition.h"
#include "engine/runners/flow_machine.h"
#include "flow/move/move.h"
#include "store/reads.h"

enum { VERSION_SHORT_MIN = 6, VERSION_SIZE = 64, VERSIONS_MAX = 1000 };

static Status check_run(const RunRow *run, Diag *diag) {
    bool is_held = run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED;
    bool is_parked = run->state == RUN_SUSPENDED || is_held;
    if (run->kind == RUN_FLOW && is_parked && run->snapshot.len > 0) return OK;
    if (run->kind != RUN_FLOW)
        return diag_set(diag, ERR_CONFLICT, "RUN_NOT_PARKED",
                        "the run \"%.*s\" is of a C workflow, which has no versions",
                        STR_ARG(run->id));
    return diag_set(diag, ERR_CONFLICT, "RUN_NOT_PARKED",
                    "the run \"%.*s\" is %s; only a script that waits can be moved",
                    STR_ARG(run->id), run_state_name(run->state));
}

static bool begins_with(Str text, Str start) {
    return text.len >= start.len && memcmp(text.data, start.data, start.len) == 0;
}

// The version that begins so, if there is one.
static Status find_short(Store *store, Arena *arena, DefinitionRef *which, Diag *diag) {
    DefinitionFilter filter = {.name = which->name, .page = {.limit = VERSIONS_MAX}};
    DefinitionPage page;
    TRY(store_list_definitions(store, arena, &filter, &page, diag));
    Str found = STR_NULL;
    for (size_t i = 0; i < page.count; i++) {
        if (!begins_with(page.rows[i].version, which->version)) continue;
        if (!str_is_null(found))
            return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                            "version: several versions begin with \"%.*s\"",
                            STR_ARG(which->version));
        found = page.rows[i].version;
    }
    if (!str_is_null(found)) which->version = found;
    return OK;
}

Status move_find_version(Store *store, Arena *arena, DefinitionRef which, DefinitionRow *ret_row,
                         Diag *diag) {
    if (str_equal(which.version, STR("current"))) which.version = STR_NULL;
    bool is_short = which.version.len >= VERSION_SHORT_MIN && which.version.len < VERSION_SIZE;
    if (is_short) TRY(find_short(store, arena, &which, diag));
    TRY(store_find_definition(store, arena, &which, ret_row, diag));
    if (ret_row->kind == RUN_FLOW) return OK;
    return diag_set(diag, ERR_CONFLICT, "RUN_NOT_PARKED",
                    "\"%.*s\" is a C workflow now; its runs cannot be moved there",
                    STR_ARG(which.name));
}

// [definitions-move-1]
Status move_snapshot(Str bytes, FlowModule *const modules[2], Arena *arena, Moved *ret_moved,
                     Diag *diag) {
    Str machine;
    TRY(flow_machine_vm_bytes(bytes, &machine, diag));
    Buf moved;
    buf_init(&moved, LIMIT_SNAPSHOT_SIZE);
    buf_append(&moved, bytes.data, (size_t)(machine.data - bytes.data));
    FlowMove *move = flow_move_new(modules[0], modules[1]);
    Status status = flow_move_snapshot(move, machine, FLOW_LIMITS_DEFAULT, &moved, diag);
    ret_moved->place = flow_move_place(move);
    flow_move_free(move);
    if (status == OK && moved.is_overflown)
        status = diag_set(diag, ERR_LIMIT, "SNAPSHOT_TOO_LARGE",
                          "the state of the run is larger than %d bytes", LIMIT_SNAPSHOT_SIZE);
    if (status == OK) ret_moved->snapshot = arena_str(arena, buf_str(&moved));
    buf_done(&moved);
    return status;
}

Status move_between(const DefinitionRow rows[2], Str bytes, Arena *arena, Moved *ret_moved,
                    Diag *diag) {
    FlowModule *modules[2] = {NULL, NULL};
    Status status = definition_module(&rows[0], arena, &modules[0], diag);
    if (status == OK) status = definition_module(&rows[1], arena, &modules[1], diag);
    if (status == OK) status = move_snapshot(bytes, modules, arena, ret_moved, diag);
    flow_module_release(modules[0]);
    flow_module_release(modules[1]);
    return status;
}

Str move_note(Arena *arena, const DefinitionRow rows[2]) {
    return arena_printf(arena, "{\"from\":\"%.*s\",\"to\":\"%.*s\"}", STR_ARG(rows[0].version),
                        STR_ARG(rows[1].version));
}

Status move_fill(const MoveWish *wish, Op *op, MoveAnswer *ret_answer, Diag *diag) {
    Arena *arena = wish->arena;
    RunRow run;
    DefinitionRow rows[2];
    TRY(store_run_by_id(wish->store, arena, wish->run_id, &run, diag));
    TRY(check_run(&run, diag));
    const DefinitionRef which = {.name = run.workflow, .version = wish->version};
    TRY(move_find_version(wish->store, wish->arena, which, &rows[1], diag));
    TRY(store_definition_by_key(wish->store, arena, run.definition, &rows[0], diag));
    *ret_answer = (MoveAnswer){
        .from = rows[0].version, .to = rows[1].version, .is_there = rows[0].key == rows[1].key};
    if (ret_answer->is_there) return OK;
    op->kind = OP_MOVE;
    op->in.move.run_id = wish->run_id;
    op->in.move.epoch = run.epoch;
    op->in.move.definition = rows[1].key;
    op->in.move.note = move_note(arena, rows);
    Moved moved;
    TRY(move_between(rows, run.snapshot, arena, &moved, diag));
    op->in.move.snapshot = moved.snapshot;
    op->in.move.place = moved.place;
    return OK;
}
