// Inspect: see inspect.h.
//
// A machine writes what it sees as JSON; that text is read back, and the parts that were asked for
// go into the answer. So frames look the same everywhere, and two of them can be compared.
//
// Not here: how a VM is looked into (flow/snapshot/inspect.c), which snapshot that is (standing.c).
#include "engine/inspect/inspect.h"
#include "base/array.h"
#include "engine/inspect/view_diff.h"
#include "flow/mask/hide.h"
#include "json/value.h"

enum { VARIABLES_SIZE_MAX = 16 << 20, ANSWER_SIZE_MAX = 64 << 20 };

typedef struct Wanted { // of what is in the variables
    Modules *modules;
    Arena *arena;
    int64_t depth;
    Str path;     // null = none
    bool is_long; // with more of each text, for those who compare
} Wanted;

static Status refuse_size(Diag *diag) {
    return diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE", "the variables are over %d MiB",
                    VARIABLES_SIZE_MAX >> 20);
}

// {"found":what flow_vm_inspect says,"value":the one value}
static Status write_vm(FlowVm *vm, const Wanted *wanted, Buf *ret_json, Diag *diag) {
    buf_append_cstr(ret_json, "{\"found\":");
    if (wanted->is_long) flow_vm_inspect_long(vm, (uint32_t)wanted->depth, ret_json);
    else flow_vm_inspect(vm, (uint32_t)wanted->depth, ret_json);
    if (!str_is_null(wanted->path)) {
        buf_append_cstr(ret_json, ",\"value\":");
        TRY(flow_vm_inspect_path(vm, wanted->path, (uint32_t)wanted->depth, ret_json, diag));
    }
    buf_append_cstr(ret_json, "}");
    return ret_json->is_overflown ? refuse_size(diag) : OK;
}

// NULL when there is no snapshot.
static Status look(const Standing *standing, const Wanted *wanted, const JsonValue **ret_all,
                   Diag *diag) {
    Arena *arena = wanted->arena;
    FlowMachine *machine;
    *ret_all = NULL;
    if (standing->run.snapshot.len == 0) return OK;
    TRY(standing_open(standing, wanted->modules, arena, &machine, diag));
    flow_mask_hide(machine->vm);
    Buf text;
    JsonValue *all = NULL;
    buf_init(&text, VARIABLES_SIZE_MAX);
    Status status = write_vm(machine->vm, wanted, &text, diag);
    flow_machine_free(machine);
    if (status == OK) status = json_parse(arena, arena_str(arena, buf_str(&text)), &all, diag);
    buf_done(&text);
    if (status == OK) *ret_all = all;
    return status;
}

static const JsonValue *frames_of(const JsonValue *all) {
    const JsonValue *found = all != NULL ? json_member(all, STR("found")) : NULL;
    return found != NULL ? json_member(found, STR("waitingAt")) : NULL;
}

typedef struct Answer {
    Buf text;
    JsonWriter json;
} Answer;

static void answer_begin(Answer *answer) {
    buf_init(&answer->text, ANSWER_SIZE_MAX);
    json_writer_init(&answer->json, &answer->text, STR_NULL);
    json_write_object_begin(&answer->json);
}

static Status answer_end(Answer *answer, Arena *arena, Str *ret_json, Diag *diag) {
    json_write_object_end(&answer->json);
    Status status = answer->text.is_overflown ? refuse_size(diag) : OK;
    if (status == OK) *ret_json = arena_str(arena, buf_str(&answer->text));
    buf_done(&answer->text);
    return status;
}

// ---- waits ----

void inspect_waits(const RunRow *run, Arena *arena, WaitSet *ret_set) {
    *ret_set = (WaitSet){0};
    bool has_waits = run->state == RUN_SUSPENDED || run->paused_state == RUN_SUSPENDED;
    if (!has_waits || str_is_null(run->waits)) return;
    if (wait_set_decode(arena, run->waits, ret_set) != OK) *ret_set = (WaitSet){0};
}

static void put_instant(JsonWriter *json, const char *key, int64_t at_ms) {
    if (at_ms == 0) json_put_null(json, key);
    else json_put_instant(json, key, at_ms);
}

void inspect_put_wait(JsonWriter *json, const WaitItem *item) {
    json_put_cstr(json, "on", wait_kind_name(item->kind));
    json_put_string(json, "name", item->kind == WAIT_TIMER ? STR_NULL : item->name);
    put_instant(json, "since", item->since_ms);
    put_instant(json, "deadline", item->deadline_at_ms);
    if (!str_is_null(item->filter)) json_put_string(json, "filter", item->filter);
    if (!str_is_null(item->label)) json_put_string(json, "label", item->label);
}

static void put_waits(JsonWriter *json, const RunRow *run, Arena *arena) {
    WaitSet set;
    inspect_waits(run, arena, &set);
    json_write_key(json, STR("waits"));
    json_write_array_begin(json);
    for (size_t i = 0; i < set.count; i++) {
        json_write_object_begin(json);
        inspect_put_wait(json, &set.items[i]);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// ---- where it stands ----

// What was noted when it failed: one of the last entries of its log.
static Status find_failure(const InspectWish *wish, const Standing *standing, Str *ret_json,
                           Diag *diag) {
    enum { LAST_ENTRIES = 4 };
    const RunRow *run = &standing->run;
    *ret_json = STR_NULL;
    if (standing->turn != 0 || run->state != RUN_FAILED || run->kind != RUN_FLOW) return OK;
    int64_t after = run->result_seq > LAST_ENTRIES ? run->result_seq - LAST_ENTRIES : 0;
    LogFilter filter = {run_of_key(run->key), {.after = after, .limit = LAST_ENTRIES}};
    LogPage page;
    TRY(store_read_log(wish->standing.store, wish->standing.arena, &filter, &page, diag));
    for (size_t i = 0; i < page.count; i++)
        if (page.rows[i].kind == LOG_FAILURE) *ret_json = page.rows[i].data;
    return OK;
}

static void put_part(JsonWriter *json, const char *key, const JsonValue *found, const char *name) {
    Str raw = STR("[]");
    if (found != NULL) json_get_raw(found, name, &raw);
    json_put_raw(json, key, raw);
}

typedef struct Seen {
    const JsonValue *all; // of write_vm; NULL: there are no frames
    Str failure;          // JSON; null = none
} Seen;

static Status write_snapshot(const InspectWish *wish, const RunRow *run, const Seen *seen,
                             Str *ret_json, Diag *diag) {
    const JsonValue *found = seen->all != NULL ? json_member(seen->all, STR("found")) : NULL;
    Str value = STR("null");
    if (seen->all != NULL) json_get_raw(seen->all, "value", &value);
    bool is_parked = run->snapshot.len > 0 && !run_state_is_terminal(run->state);
    Answer answer;
    answer_begin(&answer);
    JsonWriter *json = &answer.json;
    json_put_string(json, "run_id", run->id);
    json_put_cstr(json, "kind", run_kind_name(run->kind));
    json_put_cstr(json, "status", run_state_name(run->state));
    json_put_i64(json, "bytes", (int64_t)run->snapshot.len);
    put_instant(json, "taken_at", is_parked ? run->updated_at_ms : 0);
    put_waits(json, run, wish->standing.arena);
    put_part(json, "frames", found, "waitingAt");
    put_part(json, "variables", found, "variables");
    json_put_raw(json, "value", value);
    json_put_raw(json, "failure", str_is_null(seen->failure) ? STR("null") : seen->failure);
    return answer_end(&answer, wish->standing.arena, ret_json, diag);
}

static Status look_at_snapshot(const InspectWish *wish, const Standing *standing,
                               const JsonValue **ret_all, Diag *diag) {
    if (standing->run.snapshot.len == 0 && !str_is_null(wish->path))
        return diag_set(diag, ERR_NOT_FOUND, "VARIABLE_NOT_FOUND",
                        "the run \"%.*s\" has no variables now: it has not waited yet, has "
                        "ended, or is no script",
                        STR_ARG(standing->run.id));
    Modules modules;
    modules_init(&modules, wish->standing.store);
    const Wanted wanted = {&modules, wish->standing.arena, wish->depth, wish->path, false};
    Status status = look(standing, &wanted, ret_all, diag);
    modules_done(&modules);
    return status;
}

Status inspect_snapshot(const InspectWish *wish, Str *ret_json, Diag *diag) {
    Standing standing;
    Seen seen = {0};
    TRY(standing_read(&wish->standing, &standing, diag));
    TRY(find_failure(wish, &standing, &seen.failure, diag));
    TRY(look_at_snapshot(wish, &standing, &seen.all, diag));
    return write_snapshot(wish, &standing.run, &seen, ret_json, diag);
}

// ---- lists and differences of turns ----

// Where the innermost frame stands; all null when that is not known.
static void put_position(JsonWriter *json, const JsonValue *frames) {
    static const char *const fields[] = {"file", "line", "column", "function"};
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        Str raw = STR("null");
        if (frames != NULL && frames->first != NULL) json_get_raw(frames->first, fields[i], &raw);
        json_put_raw(json, fields[i], raw);
    }
}

static void put_turn(const InspectTurns *wish, Modules *modules, JsonWriter *json,
                     const Standing *standing, int64_t start_seq) {
    Diag diag;
    const Wanted wanted = {.modules = modules, .arena = wish->arena};
    const JsonValue *all = NULL;
    if (look(standing, &wanted, &all, &diag) != OK) all = NULL;
    json_write_object_begin(json);
    json_put_i64(json, "turn", standing->turn);
    json_put_i64(json, "bytes", (int64_t)standing->run.snapshot.len);
    json_put_i64(json, "after", start_seq);
    json_put_i64(json, "last", standing->end_seq);
    put_position(json, frames_of(all));
    json_write_object_end(json);
}

static void put_turns(const InspectTurns *wish, JsonWriter *json, const RunRow *run,
                      const SnapshotPage *page) {
    Modules modules;
    modules_init(&modules, wish->store);
    json_write_key(json, STR("items"));
    json_write_array_begin(json);
    for (size_t i = 0; i < page->count; i++) {
        Standing standing = standing_of_turn(run, &page->rows[i]);
        put_turn(wish, &modules, json, &standing, page->rows[i].start_seq);
    }
    json_write_array_end(json);
    modules_done(&modules);
}

Status inspect_turns(const InspectTurns *wish, Str *ret_json, Diag *diag) {
    RunRow run;
    SnapshotPage page;
    TRY(store_run_by_id(wish->store, wish->arena, wish->run_id, &run, diag));
    SnapshotFilter filter = {run_of_key(run.key), wish->page};
    if (filter.page.limit > INSPECT_TURNS_MAX) filter.page.limit = INSPECT_TURNS_MAX;
    TRY(store_list_snapshots(wish->store, wish->arena, &filter, &page, diag));
    Answer answer;
    answer_begin(&answer);
    put_turns(wish, &answer.json, &run, &page);
    Str next = page.next == 0 ? STR_NULL : arena_printf(wish->arena, "%lld", (long long)page.next);
    json_put_string(&answer.json, "next", next);
    return answer_end(&answer, wish->arena, ret_json, diag);
}

static void put_side(JsonWriter *json, const char *key, int64_t turn, const JsonValue *frames) {
    json_write_key(json, str_from(key));
    json_write_object_begin(json);
    if (turn == 0) json_put_null(json, "turn");
    else json_put_i64(json, "turn", turn);
    put_position(json, frames);
    json_write_object_end(json);
}

static Status write_diff(const StandingWish sides[2], const JsonValue *const frames[2],
                         Str *ret_json, Diag *diag) {
    const JsonValue nothing = {.kind = JSON_KIND_ARRAY};
    Answer answer;
    answer_begin(&answer);
    json_put_string(&answer.json, "run_id", sides[0].run_id);
    put_side(&answer.json, "from", sides[0].turn, frames[0]);
    put_side(&answer.json, "to", sides[1].turn, frames[1]);
    json_write_key(&answer.json, STR("changes"));
    json_write_array_begin(&answer.json);
    bool has_more = view_diff_write(frames[0] != NULL ? frames[0] : &nothing,
                                    frames[1] != NULL ? frames[1] : &nothing, &answer.json);
    json_write_array_end(&answer.json);
    json_put_bool(&answer.json, "more", has_more);
    return answer_end(&answer, sides[0].arena, ret_json, diag);
}

Status inspect_diff(const StandingWish *from, int64_t to_turn, Str *ret_json, Diag *diag) {
    StandingWish sides[2] = {*from, *from};
    const JsonValue *frames[2] = {0};
    sides[1].turn = to_turn;
    Modules modules;
    modules_init(&modules, from->store);
    const Wanted wanted = {
        .modules = &modules, .arena = from->arena, .depth = INSPECT_DEPTH_MAX, .is_long = true};
    Status status = OK;
    for (size_t i = 0; i < 2 && status == OK; i++) {
        Standing standing;
        const JsonValue *all = NULL;
        status = standing_read(&sides[i], &standing, diag);
        if (status == OK) status = look(&standing, &wanted, &all, diag);
        frames[i] = frames_of(all);
    }
    modules_done(&modules);
    return status == OK ? write_diff(sides, frames, ret_json, diag) : status;
}
