// Copy: all that is needed to go on with a run somewhere else, for a debugger.
//
// The snapshot goes out as it is stored. Whoever restores it must be of a build that reads it, as a
// node that takes the run over must be; it checks the bytes as any reader does.
//
// Not here: a run that goes on in this process (engine/sandbox).
#include "base/memory.h"
#include "base/text/hex.h"
#include "engine/inspect/inspect.h"

enum { COPY_SIZE_MAX = 256 << 20 };

static void put_hex(JsonWriter *json, const char *key, Str bytes) {
    if (bytes.len == 0) {
        json_put_null(json, key);
        return;
    }
    char *text = mem_alloc(2 * bytes.len);
    hex_write(text, (const uint8_t *)bytes.data, bytes.len);
    json_put_string(json, key, (Str){text, 2 * bytes.len});
    mem_free(text);
}

static void put_deliveries(JsonWriter *json, const StandingMore *more) {
    static const char *const outcomes[OUTCOME_COUNT] = {"ok", "error", "timeout", "cancelled"};
    json_write_key(json, STR("deliveries"));
    json_write_array_begin(json);
    for (size_t i = 0; i < more->delivery_count; i++) {
        const LogRow *row = &more->deliveries[i];
        bool is_known = row->outcome >= 0 && row->outcome < OUTCOME_COUNT;
        json_write_object_begin(json);
        json_put_i64(json, "slot", row->slot);
        json_put_cstr(json, "outcome", is_known ? outcomes[row->outcome] : "error");
        json_put_raw(json, "data", str_is_null(row->data) ? STR("null") : row->data);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

typedef struct Copy {
    const Standing *standing;
    const StandingMore *more;
    const FlowModule *module;
} Copy;

static void put_copy(JsonWriter *json, const Copy *copy) {
    const RunRow *run = &copy->standing->run;
    int64_t at_ms = copy->more->at_ms != 0 ? copy->more->at_ms : run->updated_at_ms;
    json_write_object_begin(json);
    json_put_string(json, "run_id", run->id);
    json_put_string(json, "workflow", run->workflow);
    json_put_string(json, "version", flow_module_hash(copy->module));
    json_put_string(json, "file", flow_module_file_name(copy->module));
    json_put_string(json, "source", flow_module_source(copy->module));
    if (copy->standing->turn == 0) json_put_null(json, "turn");
    else json_put_i64(json, "turn", copy->standing->turn);
    json_put_instant(json, "at", at_ms);
    json_put_raw(json, "input", str_is_null(copy->more->input) ? STR("null") : copy->more->input);
    put_hex(json, "snapshot", run->snapshot);
    put_deliveries(json, copy->more);
    json_write_object_end(json);
}

static Status write_copy(const Copy *copy, Arena *arena, Str *ret_json, Diag *diag) {
    Buf text;
    JsonWriter json;
    buf_init(&text, COPY_SIZE_MAX);
    json_writer_init(&json, &text, STR_NULL);
    put_copy(&json, copy);
    Status status = OK;
    if (text.is_overflown)
        status = diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE", "the copy is over %d MiB",
                          COPY_SIZE_MAX >> 20);
    else *ret_json = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return status;
}

// A run that has ended well has no place to stand at, but its kept turns do.
static Status check_place(const Standing *standing, Diag *diag) {
    const RunRow *run = &standing->run;
    if (run->kind != RUN_FLOW)
        return diag_set(diag, ERR_CONFLICT, "RUN_NOT_SCRIPT",
                        "\"%.*s\" is a run of a C function; only scripts can be copied",
                        STR_ARG(run->id));
    if (!run_state_is_terminal(run->state) || run->snapshot.len > 0) return OK;
    return diag_set(diag, ERR_TERMINAL, "RUN_TERMINAL",
                    "\"%.*s\" has ended; one of its kept turns can be copied", STR_ARG(run->id));
}

Status inspect_copy(const StandingWish *wish, Str *ret_json, Diag *diag) {
    Standing standing;
    StandingMore more;
    TRY(standing_read(wish, &standing, diag));
    TRY(check_place(&standing, diag));
    TRY(standing_more(wish, &standing, &more, diag));
    if (standing.run.snapshot.len > 0) TRY(flow_machine_check(standing.run.snapshot, diag));
    Modules modules;
    FlowModule *module;
    modules_init(&modules, wish->store);
    Status status = standing_module(&standing, &modules, wish->arena, &module, diag);
    const Copy copy = {&standing, &more, module};
    if (status == OK) status = write_copy(&copy, wish->arena, ret_json, diag);
    modules_done(&modules);
    return status;
}
