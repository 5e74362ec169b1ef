// End: what must be true when nothing has to happen any more.
//
//   - every run has ended, or waits only for what the file says never comes
//   - the script did not fail by a mistake of its own
//   - what was acknowledged is there: a signal was taken once, or is still to be taken; a result of
//     a task is its result
//   - every Eventually was true once, and the checks of the file are true now
//
// The world that a check sees: {"status", "result", "error", "calls", "done", "once", "sent",
// "taken", "order", "inputs"} (docs/sim.md).
#include "base/array.h"
#include "explore/trial.h"
#include "json/value.h"
#include "json/write.h"
#include "model/waits.h"

enum { WORLD_MAX = 4 << 20 };

typedef struct Ending {
    Trial *trial;
    RunPage runs;
    const RunRow *run; // the one that was started
    RunResult result;  // of it, if it has ended
    size_t *taken;     // signals and events that runs have taken, by part
} Ending;

// ---- waiting ----

static const RunRow *run_called(const Ending *ending, Str id) {
    for (size_t i = 0; i < ending->runs.count; i++)
        if (str_equal(ending->runs.rows[i].id, id)) return &ending->runs.rows[i];
    return NULL;
}

static const Part *part_of_wait(const Ending *ending, const WaitItem *item) {
    const Scenario *scenario = ending->trial->subject->scenario;
    switch ((WaitKind)item->kind) {
    case WAIT_SIGNAL: return scenario_part(scenario, PART_SIGNAL, item->name);
    case WAIT_EVENT: return scenario_part(scenario, PART_EVENT, item->name);
    case WAIT_TASK: return scenario_part(scenario, PART_TASK, item->label);
    case WAIT_CHILD: return scenario_part(scenario, PART_WORKFLOW, item->label);
    case WAIT_TIMER:
    case WAIT_RETRY:
    case WAIT_KIND_COUNT: break;
    }
    return NULL;
}

static bool is_expected(const Ending *ending, const WaitItem *item) {
    const Part *part = part_of_wait(ending, item);
    if (part != NULL) return part->is_never;
    // A child of the file is a run of its own and is looked at by itself.
    return item->kind == WAIT_CHILD && run_called(ending, item->name) != NULL;
}

static void judge_waits(Ending *ending, const RunRow *run) {
    Trial *self = ending->trial;
    WaitSet set = {0};
    if (str_is_null(run->waits) || wait_set_decode(&self->step, run->waits, &set) != OK) {
        trial_fail(self, "stuck", run->workflow, "%.*s is %s and stays so", STR_ARG(run->workflow),
                   run_state_name(run->state));
        return;
    }
    for (size_t i = 0; i < set.count; i++) {
        const WaitItem *item = &set.items[i];
        if (is_expected(ending, item)) continue;
        Str name = str_is_null(item->label) ? item->name : item->label;
        const Part *part = part_of_wait(ending, item);
        trial_fail(self, "stuck", name, "%.*s waits for %s \"%.*s\", %s", STR_ARG(run->workflow),
                   wait_kind_name(item->kind), STR_ARG(name),
                   part != NULL ? "which does not come" : "which the mocks do not name");
        return;
    }
}

static void judge_runs(Ending *ending) {
    for (size_t i = 0; i < ending->runs.count; i++)
        if (!run_state_is_terminal(ending->runs.rows[i].state))
            judge_waits(ending, &ending->runs.rows[i]);
}

// ---- mistakes ----

static void judge_failure(Ending *ending, const RunRow *run) {
    static const char *const mistakes[] = {"TypeError",   "ReferenceError", "RangeError",
                                           "SyntaxError", "StuckError",     "MockError"};
    Trial *self = ending->trial;
    RunResult result;
    JsonValue *error;
    Diag diag;
    Str type = STR(""), message = STR("");
    if (run->state != RUN_FAILED ||
        store_find_result(self->store, &self->step, run_of_key(run->key), &result, &diag) != OK ||
        json_parse(&self->step, result.json, &error, &diag) != OK ||
        json_get_string(error, "type", &type, &diag) != OK ||
        json_get_string(error, "message", &message, &diag) != OK)
        return;
    for (size_t i = 0; i < COUNT_OF(mistakes); i++)
        if (str_equal(type, str_from(mistakes[i])))
            trial_fail(self, "mistake", type, "%.*s fails with %.*s: %.*s", STR_ARG(run->workflow),
                       STR_ARG(type), STR_ARG(message));
}

// ---- what was acknowledged ----

static void count_entry(Ending *ending, const LogRow *entry) {
    const Scenario *scenario = ending->trial->subject->scenario;
    if (entry->kind != LOG_WAIT || entry->outcome != OUTCOME_OK) return;
    for (size_t i = 0; i < scenario->part_count; i++) {
        const Part *part = &scenario->parts[i];
        bool is_sent = part->kind == PART_SIGNAL || part->kind == PART_EVENT;
        if (is_sent && str_equal(part->name, log_entry_name(entry))) ending->taken[i]++;
    }
}

static void count_taken(Ending *ending) {
    Trial *self = ending->trial;
    ending->taken = ARENA_ARRAY(&self->step, size_t, self->subject->scenario->part_count + 1);
    for (size_t i = 0; i < ending->runs.count; i++) {
        LogFilter filter = {run_of_key(ending->runs.rows[i].key), {.limit = LIMIT_LIST_PAGE}};
        LogPage page = {.next = 1};
        Diag diag;
        while (page.next != 0 &&
               store_read_log(self->store, &self->step, &filter, &page, &diag) == OK) {
            for (size_t k = 0; k < page.count; k++) count_entry(ending, &page.rows[k]);
            filter.page.after = page.next;
        }
    }
}

static size_t count_pending(Ending *ending, Str name) {
    size_t count = 0;
    for (size_t i = 0; i < ending->runs.count; i++) {
        const SignalFilter filter = {run_of_key(ending->runs.rows[i].key),
                                     {.limit = LIMIT_LIST_PAGE}};
        EventPage page;
        Diag diag;
        if (store_list_signals(ending->trial->store, &ending->trial->step, &filter, &page, &diag) !=
            OK)
            continue;
        for (size_t k = 0; k < page.count; k++) count += str_equal(page.rows[k].name, name);
    }
    return count;
}

// [trial-3] of signals. Those for a run that ended are gone with it.
static void judge_signals(Ending *ending) {
    Trial *self = ending->trial;
    const Scenario *scenario = self->subject->scenario;
    bool has_ended = false;
    for (size_t i = 0; i < ending->runs.count; i++)
        has_ended = has_ended || run_state_is_terminal(ending->runs.rows[i].state);
    for (size_t i = 0; i < scenario->part_count; i++) {
        const Part *part = &scenario->parts[i];
        if (part->kind != PART_SIGNAL) continue;
        size_t seen = ending->taken[i] + count_pending(ending, part->name);
        if (seen > self->sent[i] || (seen < self->sent[i] && !has_ended))
            trial_fail(self, "lost", part->name, "signal \"%.*s\" was sent %zu times and seen %zu",
                       STR_ARG(part->name), self->sent[i], seen);
    }
}

// [trial-3] of tasks.
static void judge_tasks(Trial *self) {
    for (size_t i = 0; i < self->attempts.count; i++) {
        const Attempt *attempt = &self->attempts.data[i];
        TaskRow task;
        Diag diag;
        if (!attempt->is_accepted) continue;
        Status status = store_find_task(self->store, &self->step, attempt->task, &task, &diag);
        if (status == OK && task.state == TASK_COMPLETED) continue;
        trial_fail(self, "lost", attempt->name, "the result of task %.*s#%zu is lost",
                   STR_ARG(attempt->name), attempt->number);
    }
}

// ---- the checks of the file ----

static const char *status_of(const Ending *ending) {
    if (ending->run == NULL) return "missing";
    switch ((RunState)ending->run->state) {
    case RUN_COMPLETED: return "completed";
    case RUN_FAILED: return "failed";
    case RUN_CANCELLED: return "cancelled";
    default: return "waiting";
    }
}

static void put_raw(JsonWriter *json, const char *key, Str value) {
    json_put_raw(json, key, str_is_null(value) ? STR("null") : value);
}

static bool is_first_of_task(const Trial *self, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (str_equal(self->effects.data[i].task, self->effects.data[index].task)) return false;
    return true;
}

static int64_t count_effects(const Trial *self, Str name, bool is_once) {
    int64_t count = 0;
    for (size_t i = 0; i < self->effects.count; i++)
        if (str_equal(self->effects.data[i].name, name))
            count += !is_once || is_first_of_task(self, i);
    return count;
}

typedef enum Tally { TALLY_CALLS, TALLY_DONE, TALLY_ONCE, TALLY_SENT, TALLY_TAKEN } Tally;

static void put_tally(const Ending *ending, JsonWriter *json, const char *key, Tally tally) {
    const Trial *self = ending->trial;
    const Scenario *scenario = self->subject->scenario;
    json_write_key(json, str_from(key));
    json_write_object_begin(json);
    for (size_t i = 0; i < scenario->part_count; i++) {
        const Part *part = &scenario->parts[i];
        bool is_sent = part->kind == PART_SIGNAL || part->kind == PART_EVENT;
        if (is_sent != (tally >= TALLY_SENT)) continue;
        int64_t number = tally == TALLY_TAKEN  ? (int64_t)ending->taken[i]
                         : tally == TALLY_SENT ? (int64_t)self->sent[i]
                         : tally == TALLY_DONE ? count_effects(self, part->key, false)
                         : tally == TALLY_ONCE ? count_effects(self, part->key, true)
                                               : (int64_t)self->calls[i];
        json_write_key(json, part->name);
        json_write_i64(json, number);
    }
    json_write_object_end(json);
}

static void put_effects(const Trial *self, JsonWriter *json) {
    json_write_key(json, STR("order"));
    json_write_array_begin(json);
    for (size_t i = 0; i < self->effects.count; i++)
        json_write_string(json, self->effects.data[i].name);
    json_write_array_end(json);
    json_write_key(json, STR("inputs"));
    json_write_array_begin(json);
    for (size_t i = 0; i < self->effects.count; i++) {
        Str input = self->effects.data[i].input;
        json_write_raw(json, str_is_null(input) ? STR("null") : input);
    }
    json_write_array_end(json);
}

static Str describe_world(const Ending *ending) {
    Trial *self = ending->trial;
    Buf text;
    JsonWriter json;
    buf_init(&text, WORLD_MAX);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    bool is_failed = ending->result.state != RUN_COMPLETED;
    json_put_cstr(&json, "status", status_of(ending));
    put_raw(&json, "result", is_failed ? STR_NULL : ending->result.json);
    put_raw(&json, "error", is_failed ? ending->result.json : STR_NULL);
    put_tally(ending, &json, "calls", TALLY_CALLS);
    put_tally(ending, &json, "done", TALLY_DONE);
    put_tally(ending, &json, "once", TALLY_ONCE);
    put_tally(ending, &json, "sent", TALLY_SENT);
    put_tally(ending, &json, "taken", TALLY_TAKEN);
    put_effects(self, &json);
    json_write_object_end(&json);
    Str world = text.is_overflown ? STR("{}") : arena_str(&self->step, buf_str(&text));
    buf_done(&text);
    return world;
}

static void judge_condition(Trial *self, const Condition *condition, Str world) {
    FlowVmOptions options = {
        .module = condition->module, .input_json = world, .limits = FLOW_LIMITS_DEFAULT};
    FlowVm *vm;
    FlowRunResult result;
    Diag diag;
    if (flow_vm_new(&options, &vm, &diag) != OK) {
        trial_fail(self, "check", condition->name, "check \"%.*s\": %s", STR_ARG(condition->name),
                   diag.message);
        return;
    }
    flow_vm_run(vm, &result);
    if (result.outcome == FLOW_FAILED)
        trial_fail(self, "check", condition->name, "check \"%.*s\" throws %.*s",
                   STR_ARG(condition->name), STR_ARG(result.failure.message));
    else if (result.outcome != FLOW_COMPLETED || !str_equal(result.result_json, STR("true")))
        trial_fail(self, "check", condition->name, "check \"%.*s\" is not true",
                   STR_ARG(condition->name));
    flow_vm_free(vm);
}

void trial_judge(Trial *self) {
    Ending ending = {.trial = self, .runs = trial_runs(self)};
    Diag diag;
    ending.run = run_called(&ending, STR("local"));
    if (ending.run != NULL && run_state_is_terminal(ending.run->state) &&
        store_find_result(self->store, &self->step, run_of_key(ending.run->key), &ending.result,
                          &diag) != OK)
        ending.result = (RunResult){0};
    count_taken(&ending);
    judge_runs(&ending);
    for (size_t i = 0; i < ending.runs.count; i++) judge_failure(&ending, &ending.runs.rows[i]);
    judge_signals(&ending);
    judge_tasks(self);
    for (size_t i = 0; i < self->hopes.count; i++)
        if (!self->hopes.data[i].is_true)
            trial_fail(self, "eventually", self->hopes.data[i].name,
                       "Eventually \"%.*s\" was never true", STR_ARG(self->hopes.data[i].name));
    const Scenario *scenario = self->subject->scenario;
    Str world = scenario->condition_count > 0 ? describe_world(&ending) : STR_NULL;
    for (size_t i = 0; i < scenario->condition_count && !trial_has_failed(self); i++)
        judge_condition(self, &scenario->conditions[i], world);
}
