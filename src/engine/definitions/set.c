// Setting variables: reads the run and its version, and lets the language set the values.
//
// As with a move (move.c), it is done on what the store says now, and the operation that writes it
// checks the epoch. HTTP and C give the same array, so it is read and refused here.
//
//   [definitions-set-1] What a run waits for stays as it is: the engine's part of the snapshot is
//        copied, only the machine's part is new.
//
// Not here: what can be set (flow/set.h), the operation (store/kernel/runs/move.c).
#include "engine/definitions/set.h"
#include "base/limits.h"
#include "engine/definitions/definition.h"
#include "engine/runners/flow_machine.h"
#include "flow/set.h"
#include "json/write.h"
#include "store/reads.h"

enum { CHANGES_SIZE_MAX = 1 << 20 };

typedef struct SetAnswer {
    Str snapshot; // the new one
    Str changes;  // JSON
} SetAnswer;

static Status bad_values(Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                    "values: 1 to %d objects, each with a path and a value", FLOW_SET_MAX);
}

static Status read_value(const JsonValue *item, FlowSetValue *ret, Diag *diag) {
    *ret = (FlowSetValue){0};
    if (item->kind != JSON_KIND_OBJECT) return bad_values(diag);
    JSON_EACH (member, item)
        if (!str_equal(member->key, STR("path")) && !str_equal(member->key, STR("value")))
            return diag_set(diag, ERR_INVALID, "UNKNOWN_FIELD",
                            "values: there is no field \"%.*s\"", STR_ARG(member->key));
    TRY(json_get_string(item, "path", &ret->path, diag));
    json_get_raw(item, "value", &ret->json);
    return str_is_null(ret->path) || str_is_null(ret->json) ? bad_values(diag) : OK;
}

static Status read_values(const SetWish *wish, FlowSet *ret, Diag *diag) {
    FlowSetValue *values = ARENA_ARRAY(wish->arena, FlowSetValue, FLOW_SET_MAX);
    if (wish->values == NULL || wish->values->kind != JSON_KIND_ARRAY) return bad_values(diag);
    JSON_EACH (item, wish->values) {
        if (ret->count == FLOW_SET_MAX) return bad_values(diag);
        TRY(read_value(item, &values[ret->count++], diag));
    }
    ret->values = values;
    return ret->count > 0 ? OK : bad_values(diag);
}

static Status check_parked(const RunRow *run, Diag *diag) {
    bool is_held = run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED;
    bool is_parked = (run->state == RUN_SUSPENDED || is_held) && run->snapshot.len > 0;
    if (run->kind == RUN_FLOW && is_parked) return OK;
    return diag_set(diag, ERR_CONFLICT, "RUN_NOT_PARKED",
                    "the run \"%.*s\" is %s; only variables of a script that waits can be set",
                    STR_ARG(run->id),
                    run->kind == RUN_FLOW ? run_state_name(run->state) : "of a C workflow");
}

// [definitions-set-1]
static Status set_bytes(const FlowSet *set, Str bytes, Buf *ret_bytes, Buf *ret_changes,
                        Diag *diag) {
    Str machine;
    TRY(flow_machine_vm_bytes(bytes, &machine, diag));
    buf_append(ret_bytes, bytes.data, (size_t)(machine.data - bytes.data));
    TRY(flow_set_snapshot(set, machine, ret_bytes, ret_changes, diag));
    if (!ret_bytes->is_overflown && !ret_changes->is_overflown) return OK;
    return diag_set(diag, ERR_LIMIT, "SNAPSHOT_TOO_LARGE",
                    "the state of the run would be larger than %d bytes", LIMIT_SNAPSHOT_SIZE);
}

static Str write_note(const SetWish *wish, Str changes) {
    Buf text;
    JsonWriter json;
    buf_init(&text, CHANGES_SIZE_MAX * 2);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "by", wish->by);
    json_put_raw(&json, "values", changes);
    json_write_object_end(&json);
    Str note = arena_str(wish->arena, buf_str(&text));
    buf_done(&text);
    return note;
}

static Status set_run(const SetWish *wish, const RunRow *run, FlowSet *set, SetAnswer *ret,
                      Diag *diag) {
    DefinitionRow row;
    Buf bytes, changes;
    TRY(store_definition_by_key(wish->store, wish->arena, run->definition, &row, diag));
    TRY(definition_module(&row, wish->arena, &set->module, diag));
    buf_init(&bytes, LIMIT_SNAPSHOT_SIZE);
    buf_init(&changes, CHANGES_SIZE_MAX);
    Status status = set_bytes(set, run->snapshot, &bytes, &changes, diag);
    if (status == OK) ret->snapshot = arena_str(wish->arena, buf_str(&bytes));
    if (status == OK) ret->changes = arena_str(wish->arena, buf_str(&changes));
    buf_done(&bytes);
    buf_done(&changes);
    flow_module_release(set->module);
    return status;
}

Status set_fill(const SetWish *wish, Op *op, Str *ret_changes, Diag *diag) {
    RunRow run;
    SetAnswer answer;
    FlowSet set = {.limits = FLOW_LIMITS_DEFAULT};
    TRY(read_values(wish, &set, diag));
    TRY(store_run_by_id(wish->store, wish->arena, wish->run_id, &run, diag));
    TRY(check_parked(&run, diag));
    TRY(set_run(wish, &run, &set, &answer, diag));
    *ret_changes = answer.changes;
    op->kind = OP_MOVE;
    op->in.move.run_id = wish->run_id;
    op->in.move.epoch = run.epoch;
    op->in.move.definition = run.definition;
    op->in.move.is_set = true;
    op->in.move.snapshot = answer.snapshot;
    op->in.move.place = run.place; // the same await
    op->in.move.note = write_note(wish, answer.changes);
    return OK;
}
