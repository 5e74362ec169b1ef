// Looking: status, results, lists, history, statistics, into a run. All read the store beside the
// engine.
//
// A read never waits for the coordinator, except abide_result, which parks there until the run
// ends.
//
// Not here: the queries themselves (store/reads_*.c).
#include "api/api.h"
#include "base/limits.h"
#include "base/memory.h"
#include "engine/inspect/inspect.h"
#include "engine/runners/flow_machine.h"
#include "engine/sandbox/sandbox.h"
#include "engine/where/where.h"
#include "json/value.h"
#include "store/reads.h"
#include <stdio.h>

const char *abide_state_name(int state) { return run_state_name(state); }

// ---- one run ----

static void copy_text(char *to, size_t size, Str from) {
    snprintf(to, size, "%.*s", STR_ARG(from));
}

static void describe_waits(const RunRow *row, Arena *arena, char *ret_text, size_t size) {
    ret_text[0] = 0;
    WaitSet set;
    if (str_is_null(row->waits) || wait_set_decode(arena, row->waits, &set) != OK) return;
    size_t at = 0;
    for (size_t i = 0; i < set.count && at < size; i++) {
        const WaitItem *item = &set.items[i];
        bool is_named = item->kind != WAIT_TIMER;
        int wrote = snprintf(ret_text + at, size - at, "%s%s%s%.*s", i > 0 ? ", " : "",
                             wait_kind_name(item->kind), is_named ? ":" : "",
                             is_named ? (int)item->name.len : 0, is_named ? item->name.data : "");
        at += (size_t)wrote;
    }
}

Status engine_pause_reason(abide_engine *engine, Arena *arena, const RunRow *run, Str *ret_reason,
                           Diag *diag) {
    *ret_reason = STR_NULL;
    if (run->state != RUN_PAUSED) return OK;
    Status status =
        store_find_pause_reason(engine->store, arena, run_of_key(run->key), ret_reason, diag);
    return status == ERR_NOT_FOUND ? OK : status; // it has just been removed
}

Status engine_check_released(abide_engine *engine, const RunRow *run, Diag *diag) {
    bool has_snapshot = run->kind == RUN_FLOW && run->snapshot.len > 0;
    if (!has_snapshot || !engine_has_released(engine, run)) return OK;
    return flow_machine_check(run->snapshot, diag);
}

// "TypeError: message" of an error object.
static void describe_error(Str error, Arena *arena, char *ret_text, size_t size) {
    JsonValue *object;
    Diag diag;
    Str type = STR_NULL, message = STR_NULL;
    ret_text[0] = 0;
    if (str_is_null(error)) return;
    bool is_read = json_parse(arena, error, &object, &diag) == OK &&
                   object->kind == JSON_KIND_OBJECT &&
                   json_get_string(object, "type", &type, &diag) == OK &&
                   json_get_string(object, "message", &message, &diag) == OK;
    if (!is_read) copy_text(ret_text, size, error);
    else snprintf(ret_text, size, "%.*s: %.*s", STR_ARG(type), STR_ARG(message));
}

static Status describe_run(abide_engine *engine, const RunRow *row, Arena *arena,
                           abide_run_info *info, Diag *diag) {
    Str reason;
    TRY(engine_pause_reason(engine, arena, row, &reason, diag));
    *info = (abide_run_info){
        .state = (int)row->state,
        .attempts = (int)run_lost(row),
        .attempt = (int)row->retries + 1,
        .priority = (int)row->priority,
        .is_cancel_requested = run_is_cancel_wanted(row),
        .created_at_ms = row->created_at_ms,
        .updated_at_ms = row->updated_at_ms,
        .started_at_ms = row->started_at_ms,
        .finished_at_ms = row->finished_at_ms,
        .wakes_at_ms = run_state_is_terminal(row->state) ? 0 : row->due_at_ms,
        .idle_since_ms = row->idle_since_ms,
        .is_released = engine_has_released(engine, row),
    };
    copy_text(info->id, sizeof info->id, row->id);
    copy_text(info->workflow, sizeof info->workflow, row->workflow);
    describe_waits(row, arena, info->waiting_on, sizeof info->waiting_on);
    describe_error(reason, arena, info->pause_reason, sizeof info->pause_reason);
    return OK;
}

static Status read_status(abide_engine *engine, Str run_id, Arena *arena, abide_run_info *info,
                          Diag *diag) {
    RunRow row, parent;
    TRY(store_run_by_id(engine->store, arena, run_id, &row, diag));
    TRY(describe_run(engine, &row, arena, info, diag));
    StepFilter filter = {.run = run_of_id(run_id), .page.limit = LIMIT_LIST_PAGE};
    do {
        LogPage steps;
        TRY(store_list_steps(engine->store, arena, &filter, &steps, diag));
        info->step_count += (int64_t)steps.count;
        filter.page.after = steps.next;
    } while (filter.page.after != 0);
    if (row.parent == 0) return OK;
    Status status = store_run_by_key(engine->store, arena, row.parent, &parent, diag);
    if (status == OK) copy_text(info->parent_id, sizeof info->parent_id, parent.id);
    return status == ERR_NOT_FOUND ? OK : status; // the parent may be purged
}

int abide_status(abide_engine *engine, const char *run_id, abide_run_info *ret_info,
                 abide_error *error) {
    if (engine == NULL || ret_info == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and ret_info are required");
    Diag diag;
    Str id;
    Status status = api_check_run_id(run_id, &id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    Arena arena;
    arena_init(&arena);
    abide_run_info info;
    status = read_status(engine, id, &arena, &info, &diag);
    if (status == OK) *ret_info = info;
    arena_done(&arena);
    return api_answer(error, status, &diag);
}

// ---- results ----

static int code_of_end(int64_t state) {
    if (state == RUN_COMPLETED) return ABIDE_OK;
    return state == RUN_FAILED ? ABIDE_FAILED : ABIDE_CANCELLED;
}

static Status read_end(abide_engine *engine, Str run_id, int64_t *ret_state, char **ret_json,
                       Diag *diag) {
    Arena arena;
    arena_init(&arena);
    RunRow run;
    Status status = store_run_by_id(engine->store, &arena, run_id, &run, diag);
    if (status == OK) {
        *ret_state = run.state;
        RunResult result = {0};
        if (run_state_is_terminal(run.state))
            status = store_find_result(engine->store, &arena, run_of_id(run_id), &result, diag);
        if (status == OK && !str_is_null(result.json))
            *ret_json = mem_copy(result.json.data, result.json.len);
    }
    arena_done(&arena);
    return status;
}

int abide_result(abide_engine *engine, const char *run_id, const char *wait, char **ret_json,
                 abide_error *error) {
    if (engine == NULL || ret_json == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and ret_json are required");
    *ret_json = NULL;
    Diag diag;
    Str id;
    int64_t wait_ms;
    Status status = api_check_run_id(run_id, &id, &diag);
    if (status == OK) status = api_check_duration(wait, 0, &wait_ms, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int64_t state = 0;
    status = read_end(engine, id, &state, ret_json, &diag);
    if (status == OK && !run_state_is_terminal(state) && wait_ms > 0) {
        Await await = {.run_id = id};
        await.deadline.at = env_now_ms(engine->driver.env) + wait_ms;
        driver_await(&engine->driver, &await);
        if (await.status == OK) status = read_end(engine, id, &state, ret_json, &diag);
        else if (await.status != ERR_LIMIT) return api_answer(error, await.status, &await.diag);
    }
    if (status != OK) return api_answer(error, status, &diag);
    (void)api_answer(error, OK, &diag);
    return run_state_is_terminal(state) ? code_of_end(state) : ABIDE_PENDING;
}

// ---- lists ----

static Status fill_filter(const abide_list_options *options, RunFilter *filter, Diag *diag) {
    *filter = (RunFilter){.limit = 100};
    if (options == NULL) return OK;
    if (options->limit < 0 || options->limit > (int)LIMIT_LIST_PAGE)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "limit is %d; at most %d are given",
                        options->limit, LIMIT_LIST_PAGE);
    if (options->limit > 0) filter->limit = options->limit;
    filter->workflows = str_from(options->workflow);
    filter->tag = str_from(options->tag);
    filter->parent_id = str_from(options->parent_id);
    filter->waiting_on = str_from(options->waiting_on);
    filter->state_key = str_from(options->state_key);
    filter->state_value = str_from(options->state_value);
    if ((options->state_key == NULL) != (options->state_value == NULL))
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "state_key and state_value go together");
    filter->states = options->states;
    filter->idle_before_ms = options->idle_before_ms;
    filter->created_before_ms = options->created_before_ms;
    filter->created_after_ms = options->created_after_ms;
    filter->cursor = options->cursor;
    return OK;
}

typedef struct Listed { // what a list is asked for, and where its answer goes
    const abide_list_options *options;
    const RunFilter *filter;
    RunPage *page;
} Listed;

static Status list_where(abide_engine *engine, const Listed *listed, Arena *arena, Diag *diag) {
    WhereQuery query = {*listed->filter, str_from(listed->options->where),
                        env_now_ms(engine->driver.env), NULL};
    WherePage found;
    TRY(where_list_runs(engine->store, arena, &query, &found, diag));
    *listed->page = found.runs;
    abide_where_counts *counts = listed->options->where_counts;
    if (counts == NULL) return OK;
    *counts = (abide_where_counts){.looked_at = found.looked_at, .errors = found.errors};
    copy_text(counts->first_error, sizeof counts->first_error, str_from(found.first_error.message));
    return OK;
}

int abide_list(abide_engine *engine, const abide_list_options *options,
               int (*visit)(void *user, const abide_run_info *run), void *user, int64_t *ret_next,
               abide_error *error) {
    if (engine == NULL || visit == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and visit are required");
    RunFilter filter = {0};
    RunPage page;
    Diag diag;
    Status status = fill_filter(options, &filter, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    Arena arena;
    arena_init(&arena);
    if (options != NULL && options->where != NULL)
        status = list_where(engine, &(Listed){options, &filter, &page}, &arena, &diag);
    else status = store_list_runs(engine->store, &arena, &filter, &page, &diag);
    for (size_t i = 0; status == OK && i < page.count; i++) {
        abide_run_info info;
        status = describe_run(engine, &page.rows[i], &arena, &info, &diag);
        if (status == OK && visit(user, &info) != 0) break;
    }
    if (status == OK && ret_next != NULL) *ret_next = page.next;
    arena_done(&arena);
    return api_answer(error, status, &diag);
}

static int code_of_outcome(int64_t outcome) {
    static const int outcomes[OUTCOME_COUNT] = {
        [OUTCOME_OK] = ABIDE_OK,
        [OUTCOME_ERROR] = ABIDE_FAILED,
        [OUTCOME_TIMEOUT] = ABIDE_TIMEOUT,
        [OUTCOME_CANCELLED] = ABIDE_CANCELLED,
    };
    return outcome >= 0 && outcome < OUTCOME_COUNT ? outcomes[outcome] : ABIDE_FAILED;
}

static void describe_entry(const LogRow *row, Arena *arena, abide_log_entry *entry) {
    *entry = (abide_log_entry){
        .seq = row->seq,
        .at_ms = row->at_ms,
        .kind = log_kind_name(row->kind),
        .name = arena_str(arena, log_entry_name(row)).data,
        .target = arena_str(arena, log_entry_target(row)).data,
        .data = arena_str(arena, row->data).data,
        .position = row->position,
        .iteration = (int)row->iteration,
        .attempt = (int)row->attempt,
        .outcome = code_of_outcome(row->outcome),
    };
}

int abide_history(abide_engine *engine, const char *run_id, int64_t after, int limit,
                  int (*visit)(void *user, const abide_log_entry *entry), void *user,
                  abide_error *error) {
    if (engine == NULL || visit == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and visit are required");
    if (limit < 0 || limit > (int)LIMIT_LIST_PAGE)
        return api_refuse(error, ABIDE_INVALID, "BAD_OPTION", "limit is %d; at most %d are given",
                          limit, LIMIT_LIST_PAGE);
    Diag diag;
    Str id;
    Status status = api_check_run_id(run_id, &id, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    const LogFilter filter = {run_of_id(id), {.after = after, .limit = limit ? limit : 100}};
    LogPage page;
    Arena arena;
    arena_init(&arena);
    status = store_read_log(engine->store, &arena, &filter, &page, &diag);
    for (size_t i = 0; status == OK && i < page.count; i++) {
        abide_log_entry entry;
        describe_entry(&page.rows[i], &arena, &entry);
        if (visit(user, &entry) != 0) break;
    }
    arena_done(&arena);
    return api_answer(error, status, &diag);
}

int abide_read_step(abide_engine *engine, const char *run_id, const char *name, int iteration,
                    char **ret_json, abide_error *error) {
    if (engine == NULL || ret_json == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and ret_json are required");
    *ret_json = NULL;
    StepRef step = {.iteration = iteration, .is_last = iteration == ABIDE_LAST_ITERATION};
    LogRow entry;
    Diag diag;
    Status status = api_check_run_id(run_id, &step.run.id, &diag);
    if (status == OK) status = api_check_name(name, "the step name", &step.name, &diag);
    if (status == OK && iteration < ABIDE_LAST_ITERATION)
        status = diag_set(&diag, ERR_INVALID, "BAD_OPTION", "iteration is %d; they count from 0",
                          iteration);
    if (status != OK) return api_answer(error, status, &diag);
    Arena arena;
    arena_init(&arena);
    status = store_find_step(engine->store, &arena, &step, &entry, &diag);
    int code = api_answer(error, status, &diag);
    if (status == OK) {
        bool has_begun = entry.kind == LOG_TASK || entry.kind == LOG_CHILD;
        code = has_begun ? ABIDE_PENDING : code_of_outcome(entry.outcome);
        if (!has_begun && !str_is_null(entry.data))
            *ret_json = mem_copy(entry.data.data, entry.data.len);
    }
    arena_done(&arena);
    return code;
}

// ---- statistics ----

typedef struct LiveStats {
    CoordinatorStats stats;
    size_t resident_count, active_count, resident_size;
} LiveStats;

static void read_live(Coordinator *coordinator, void *context) {
    LiveStats *live = context;
    live->stats = coordinator_stats(coordinator);
    live->resident_count = coordinator_resident_count(coordinator);
    live->active_count = coordinator_active_count(coordinator);
    live->resident_size = coordinator_resident_size(coordinator);
}

static void read_node(Coordinator *coordinator, void *context) {
    *(EngineNode *)context = (EngineNode){
        .key = coordinator_node(coordinator),
        .resident_count = (int64_t)coordinator_resident_count(coordinator),
        .active_count = (int64_t)coordinator_active_count(coordinator),
    };
}

EngineNode engine_node(abide_engine *engine) {
    EngineNode node = {0};
    driver_control(&engine->driver, read_node, &node);
    return node;
}

int abide_get_stats(abide_engine *engine, abide_stats *ret_stats, abide_error *error) {
    if (engine == NULL || ret_stats == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT",
                          "engine and ret_stats are required");
    Diag diag;
    Arena arena;
    arena_init(&arena);
    StoreStats stored;
    Status status = store_stats(engine->store, &arena, &stored, &diag);
    arena_done(&arena);
    if (status != OK) return api_answer(error, status, &diag);
    LiveStats live = {0};
    driver_control(&engine->driver, read_live, &live);
    const int64_t *counters = stored.counters;
    *ret_stats = (abide_stats){
        .started_total = counters[COUNTER_STARTED_TOTAL],
        .completed_total = counters[COUNTER_COMPLETED_TOTAL],
        .failed_total = counters[COUNTER_FAILED_TOTAL],
        .cancelled_total = counters[COUNTER_CANCELLED_TOTAL],
        .pending_events = counters[COUNTER_EVENTS],
        .pending_signals = counters[COUNTER_SIGNALS],
        .dead_letters = counters[COUNTER_DEAD_LETTERS],
        .tasks_queued = counters[COUNTER_TASKS_FIRST + TASK_QUEUED],
        .tasks_leased = counters[COUNTER_TASKS_FIRST + TASK_LEASED],
        .resident_runs = (int64_t)live.resident_count,
        .active_runs = (int64_t)live.active_count,
        .commits = live.stats.commits,
        .committed_operations = live.stats.operations,
        .store_errors = live.stats.store_errors,
        .turns = live.stats.turns,
        .steps = live.stats.steps,
        .reloads = live.stats.reloads,
        .releases = live.stats.releases,
        .resident_bytes = (int64_t)live.resident_size,
    };
    for (int state = RUN_PENDING; state < RUN_STATE_COUNT; state++)
        ret_stats->runs[state] = counters[COUNTER_RUNS_FIRST + state];
    return api_answer(error, OK, &diag);
}

// ---- into a run ----

// All answers are JSON, the same as those of the server: both come from engine/inspect and
// engine/sandbox.
typedef struct Look { // one question
    abide_engine *engine;
    Arena arena;
    Str run_id;
    Diag diag;
} Look;

static Status look_begin(Look *look, abide_engine *engine, const char *run_id) {
    *look = (Look){.engine = engine};
    arena_init(&look->arena);
    return api_check_run_id(run_id, &look->run_id, &look->diag);
}

static int look_end(Look *look, Status status, Str json, char **ret_json, abide_error *error) {
    if (status == OK) *ret_json = mem_copy(json.data, json.len);
    arena_done(&look->arena);
    return api_answer(error, status, &look->diag);
}

static int refuse_arguments(abide_error *error) {
    return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and ret_json are required");
}

static int refuse_turn(abide_error *error, int64_t turn) {
    return api_refuse(error, ABIDE_INVALID, "BAD_OPTION", "turn is %lld; they count from 1",
                      (long long)turn);
}

static StandingWish wish_of(Look *look, int64_t turn) {
    return (StandingWish){look->engine->store, &look->arena, look->run_id, turn};
}

int abide_snapshot(abide_engine *engine, const char *run_id, const abide_snapshot_options *options,
                   char **ret_json, abide_error *error) {
    static const abide_snapshot_options defaults = {0};
    if (engine == NULL || ret_json == NULL) return refuse_arguments(error);
    *ret_json = NULL;
    if (options == NULL) options = &defaults;
    if (options->turn < 0) return refuse_turn(error, options->turn);
    if (options->depth < 0 || options->depth > INSPECT_DEPTH_MAX)
        return api_refuse(error, ABIDE_INVALID, "BAD_OPTION", "depth is %d; it may be 0 to %d",
                          options->depth, INSPECT_DEPTH_MAX);
    Look look;
    Str json = STR_NULL;
    Status status = look_begin(&look, engine, run_id);
    InspectWish wish = {wish_of(&look, options->turn), options->depth, STR_NULL};
    if (options->path != NULL) wish.path = str_from(options->path);
    if (status == OK) status = inspect_snapshot(&wish, &json, &look.diag);
    return look_end(&look, status, json, ret_json, error);
}

int abide_turns(abide_engine *engine, const char *run_id, int64_t after, int limit, char **ret_json,
                abide_error *error) {
    if (engine == NULL || ret_json == NULL) return refuse_arguments(error);
    *ret_json = NULL;
    if (after < 0) return refuse_turn(error, after);
    if (limit < 0 || limit > INSPECT_TURNS_MAX)
        return api_refuse(error, ABIDE_INVALID, "BAD_OPTION", "limit is %d; at most %d are given",
                          limit, INSPECT_TURNS_MAX);
    Look look;
    Str json = STR_NULL;
    Status status = look_begin(&look, engine, run_id);
    PageSpec page = {.after = after, .limit = limit != 0 ? limit : INSPECT_TURNS_MAX};
    InspectTurns wish = {engine->store, &look.arena, look.run_id, page};
    if (status == OK) status = inspect_turns(&wish, &json, &look.diag);
    return look_end(&look, status, json, ret_json, error);
}

int abide_diff(abide_engine *engine, const char *run_id, int64_t from_turn, int64_t to_turn,
               char **ret_json, abide_error *error) {
    if (engine == NULL || ret_json == NULL) return refuse_arguments(error);
    *ret_json = NULL;
    if (from_turn < 0 || to_turn < 0)
        return refuse_turn(error, from_turn < 0 ? from_turn : to_turn);
    Look look;
    Str json = STR_NULL;
    Status status = look_begin(&look, engine, run_id);
    StandingWish from = wish_of(&look, from_turn);
    if (status == OK) status = inspect_diff(&from, to_turn, &json, &look.diag);
    return look_end(&look, status, json, ret_json, error);
}

// ---- what a run would do ----

static Status try_run(Look *look, Str text, Str *ret_json) {
    JsonValue *object = NULL;
    SandboxAnswers answers;
    TRY(json_parse(&look->arena, text, &object, &look->diag));
    if (object->kind != JSON_KIND_OBJECT)
        return diag_set(&look->diag, ERR_INVALID, "BAD_JSON", "the answers are not a JSON object");
    TRY(sandbox_read_answers(&look->arena, object, &answers, &look->diag));
    SandboxRun what = {look->engine->store, look->run_id, &answers,
                       env_now_ms(look->engine->driver.env),
                       look->engine->is_child_failure_isolated};
    return sandbox_try(&what, &look->arena, ret_json, &look->diag);
}

int abide_try(abide_engine *engine, const char *run_id, const char *answers_json, char **ret_json,
              abide_error *error) {
    if (engine == NULL || ret_json == NULL) return refuse_arguments(error);
    *ret_json = NULL;
    Look look;
    Str json = STR_NULL;
    Status status = look_begin(&look, engine, run_id);
    Str text = answers_json != NULL ? str_from(answers_json) : STR("{}");
    if (status == OK) status = try_run(&look, text, &json);
    return look_end(&look, status, json, ret_json, error);
}
