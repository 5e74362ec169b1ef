// Sandbox: turns of a copy of a run, and what is answered in between.
//
// The runner is the one that executes runs (runners/flow.c). It is given a view that was loaded
// like that of any run, and an environment whose clock is moved here; its outputs go no further.
//
// Not here: the copy (copy.c), how answers are read (answers.c), what is said about it all
// (report.c).
#include "base/limits.h"
#include "base/memory.h"
#include "engine/runners/filter.h"
#include "engine/sandbox/internal.h"
#include "flow/mask/hide.h"

enum { INSPECT_MAX = 4 << 20, RANDOM_SEED = 1 };

// ---- what a turn did ----

static void add_effect(Sandbox *self, LogKind kind, Str name, Str json) {
    if (self->effects.count >= SANDBOX_EFFECTS_MAX) return; // counted out by is_over
    SandboxEffect effect = {self->env.now_ms, kind, name, json};
    vec_push(&self->effects, effect);
}

static Str task_input(const TurnOutput *output, size_t *next) {
    return *next < output->tasks.count ? output->tasks.data[(*next)++].input : STR_NULL;
}

static Str child_input(const TurnOutput *output, size_t *next) {
    return *next < output->children.count ? output->children.data[(*next)++].input : STR_NULL;
}

// Each LOG_TASK and LOG_CHILD has its spec, in the same order.
static void take_effects(Sandbox *self) {
    const TurnOutput *output = &self->output;
    size_t task = 0;
    size_t child = 0;
    for (size_t i = 0; i < output->log.count; i++) {
        const LogRow *row = &output->log.data[i];
        switch (row->kind) {
        case LOG_TASK: add_effect(self, LOG_TASK, row->name, task_input(output, &task)); break;
        case LOG_CHILD: add_effect(self, LOG_CHILD, row->name, child_input(output, &child)); break;
        case LOG_LINE:
        case LOG_STREAM:
        case LOG_EMIT: add_effect(self, (LogKind)row->kind, row->name, row->data); break;
        default: break; // the beginning of a wait is not something that was done
        }
    }
    for (size_t i = 0; i < output->states.count; i++)
        vec_push(&self->states, output->states.data[i]);
}

static Str inspect(Sandbox *self) {
    const FlowMachine *machine = self->output.machine;
    if (machine == NULL) return STR_NULL;
    FlowVm *shown;
    Diag diag;
    if (self->mask == NULL) shown = machine->vm;
    else if (flow_mask_copy(machine->vm, &shown, &diag) != OK) return STR_NULL;
    Buf text;
    buf_init(&text, INSPECT_MAX);
    flow_vm_inspect(shown, 0, &text);
    if (shown != machine->vm) flow_vm_free(shown);
    Str json = text.is_overflown ? STR_NULL : arena_str(self->arena, buf_str(&text));
    buf_done(&text);
    return json;
}

static void stop(Sandbox *self, const char *reason) { // [sandbox-2]
    self->end = SANDBOX_STOPPED;
    self->reason = reason;
}

// One turn; false: there is none after it.
static bool run_turn(Sandbox *self) {
    TurnOutput *output = &self->output;
    int slices = 0;
    do {
        if (slices++ == SANDBOX_SLICES_MAX) {
            stop(self, "the script takes more instructions than a try may");
            return false;
        }
        self->runner.base.ops->turn(&self->runner.base, &self->view, &self->env.base, self->arena,
                                    output);
    } while (output->is_preempted);
    self->turns++;
    take_effects(self);
    static const SandboxEnd ends[] = {
        [NEXT_SUSPEND] = SANDBOX_WAITS,         [NEXT_COMPLETE] = SANDBOX_COMPLETED,
        [NEXT_FAIL] = SANDBOX_FAILED,           [NEXT_CANCELLED] = SANDBOX_CANCELLED,
        [NEXT_CONTINUE_AS] = SANDBOX_CONTINUED,
    };
    self->result = output->result;
    if (output->next == NEXT_SUSPEND) return true;
    bool is_known = (size_t)output->next < sizeof ends / sizeof *ends;
    self->end = is_known ? ends[output->next] : SANDBOX_FAILED;
    return false;
}

// ---- answers ----

Str sandbox_wait_name(const Sandbox *self, const WaitItem *item) {
    const FlowPending *pending = flow_machine_find(self->output.machine, item->slot);
    return pending != NULL ? pending->name : item->name;
}

static bool is_answer_for(const SandboxAnswer *answer, const WaitItem *item, Str name) {
    static const int kinds[WAIT_KIND_COUNT] = {[WAIT_TASK] = ANSWER_TASK,
                                               [WAIT_CHILD] = ANSWER_CHILD,
                                               [WAIT_SIGNAL] = ANSWER_SIGNAL,
                                               [WAIT_EVENT] = ANSWER_EVENT};
    bool is_lasting = answer->kind == ANSWER_TASK || answer->kind == ANSWER_CHILD;
    if (answer->is_used && !is_lasting) return false;
    if ((int)answer->kind != kinds[item->kind] || !str_equal(answer->name, name)) return false;
    return str_is_null(item->filter) || filter_matches(item->filter, answer->json);
}

static SandboxAnswer *find_answer(Sandbox *self, const WaitItem *item) {
    Str name = sandbox_wait_name(self, item);
    for (size_t i = 0; i < self->what->answers->count; i++)
        if (is_answer_for(&self->what->answers->items[i], item, name))
            return &self->what->answers->items[i];
    return NULL;
}

static void deliver(Sandbox *self, const WaitItem *item, Outcome outcome, Str json) {
    self->deliveries[self->delivery_count++] = (LogRow){
        .kind = LOG_WAIT,
        .at_ms = self->env.now_ms,
        .position = item->position,
        .slot = item->slot,
        .attempt = 1,
        .outcome = outcome,
        .name = sandbox_wait_name(self, item),
        .data = json,
    };
}

static void deliver_answers(Sandbox *self, const WaitSet *set) {
    for (size_t i = 0; i < set->count; i++) {
        SandboxAnswer *answer = find_answer(self, &set->items[i]);
        if (answer == NULL) continue;
        answer->is_used = true;
        deliver(self, &set->items[i], answer->is_error ? OUTCOME_ERROR : OUTCOME_OK, answer->json);
    }
}

static void deliver_due(Sandbox *self, const WaitSet *set) {
    for (size_t i = 0; i < set->count; i++) {
        const WaitItem *item = &set->items[i];
        if (item->deadline_at_ms == 0 || item->deadline_at_ms > self->env.now_ms) continue;
        bool is_timer = item->kind == WAIT_TIMER || item->kind == WAIT_RETRY;
        deliver(self, item, is_timer ? OUTCOME_OK : OUTCOME_TIMEOUT, STR_NULL);
    }
}

// What comes next for a script that waits. False: nothing does.
static bool answer(Sandbox *self) {
    const WaitSet *set = &self->output.waits;
    self->delivery_count = 0;
    deliver_answers(self, set);
    if (self->delivery_count == 0) deliver_due(self, set);
    int64_t deadline = wait_set_deadline(set);
    int64_t latest = self->began_at_ms + self->what->answers->time_ms;
    if (self->delivery_count == 0 && deadline != 0 && deadline <= latest) { // [sandbox-3]
        if (deadline > self->env.now_ms) self->env.now_ms = deadline;
        deliver_due(self, set);
    }
    return self->delivery_count > 0;
}

// The machine goes from the output of one turn into the view of the next.
static void pass_on(Sandbox *self) {
    self->view.machine = self->output.machine;
    self->output.machine = NULL;
    turn_output_clear(&self->output);
    self->view.deliveries = self->deliveries;
    self->view.delivery_count = self->delivery_count;
    self->view.last_seq += 1000;
}

static uint64_t instructions(const Sandbox *self) {
    FlowVmStats stats;
    flow_vm_stats(((const FlowMachine *)self->output.machine)->vm, &stats);
    return stats.instructions;
}

static void go_on(Sandbox *self) {
    bool is_alive = run_turn(self);
    self->before = inspect(self);
    if (is_alive) self->instructions = instructions(self);
    while (is_alive) {
        if (!answer(self)) {
            self->end = SANDBOX_WAITS;
            break;
        }
        if (self->turns == SANDBOX_TURNS_MAX) {
            stop(self, "the script takes more turns than a try may");
            break;
        }
        if (instructions(self) - self->instructions > SANDBOX_INSTRUCTIONS_MAX) {
            stop(self, "the script takes more instructions than a try may");
            break;
        }
        if (self->effects.count >= SANDBOX_EFFECTS_MAX) {
            stop(self, "the script does more than a try may list");
            break;
        }
        pass_on(self);
        is_alive = run_turn(self);
    }
    self->after = inspect(self);
}

static Status try_copy(Sandbox *self, Str *ret_json, Diag *diag) {
    self->deliveries = ARENA_ARRAY(self->arena, LogRow, (size_t)LIMIT_WAITS_PER_RUN + 1);
    flow_runner_init(&self->runner, 0, 0);
    self->runner.limits.instructions_per_turn = SANDBOX_SLICE_INSTRUCTIONS;
    self->runner.is_child_failure_isolated = self->what->is_child_failure_isolated;
    TRY(sandbox_copy(self, diag));
    fixed_env_init(&self->env, self->began_at_ms, RANDOM_SEED);
    turn_output_init(&self->output);
    go_on(self);
    *ret_json = sandbox_report(self);
    Status status = OK;
    if (str_is_null(*ret_json))
        status = diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE", "the report is over %d MiB",
                          SANDBOX_REPORT_MAX >> 20);
    if (self->output.machine != NULL) flow_runner_drop(self->output.machine);
    turn_output_done(&self->output);
    vec_free(&self->effects);
    vec_free(&self->states);
    return status;
}

Status sandbox_try(const SandboxRun *what, Arena *arena, Str *ret_json, Diag *diag) {
    Sandbox *self = mem_zalloc(sizeof *self);
    self->what = what;
    self->arena = arena;
    Status status = try_copy(self, ret_json, diag);
    flow_module_release(self->module);
    mem_free(self);
    return status;
}
