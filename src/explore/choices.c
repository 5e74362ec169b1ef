// Choices: what may happen now, and doing it.
//
// What must happen sooner or later comes first (answers, what is sent for certain, time), then what
// may happen (what may be sent, faults). A run that has all of the former behind it has to be at a
// good end (end.c).
//
// What a choice does to the engine is a call of a client or a worker, or the clock; what comes of
// it is for the engine to say. A refused answer changes nothing, as it should.
#include "base/containers/hash.h"
#include "explore/trial.h"
#include "model/waits.h"

static const int64_t lost_lease_ms = 30000, jump_beyond_ms = 3600000;

typedef struct Listing {
    Trial *trial;
    Arena *arena;
    Choices *choices;
    RunPage runs;
    bool has_faults; // may there be one more?
} Listing;

// ---- what the runs wait for ----

static bool waits_for(Listing *listing, const RunRow *run, WaitKind kind, Str name) {
    WaitSet set;
    if (run->state != RUN_SUSPENDED || str_is_null(run->waits)) return false;
    if (wait_set_decode(listing->arena, run->waits, &set) != OK) return false;
    for (size_t i = 0; i < set.count; i++)
        if (set.items[i].kind == kind && str_equal(set.items[i].name, name)) return true;
    return false;
}

static bool is_waited_for(Listing *listing, const Part *part) {
    WaitKind kind = part->kind == PART_SIGNAL ? WAIT_SIGNAL : WAIT_EVENT;
    for (size_t i = 0; i < listing->runs.count; i++)
        if (waits_for(listing, &listing->runs.rows[i], kind, part->name)) return true;
    return false;
}

// ---- listing ----

static void add(Listing *listing, Choice choice, Str line) {
    choice.line = line;
    vec_push(listing->choices, choice);
}

#define LINE(listing, ...) arena_printf((listing)->arena, __VA_ARGS__)

static void add_answers(Listing *listing, size_t index) {
    const Attempt *attempt = &listing->trial->attempts.data[index];
    if (attempt->part == NULL) return; // nobody says what it answers
    const Call *call = part_call(attempt->part, attempt->call);
    if (call == NULL) {
        add(listing, (Choice){CHOICE_ANSWER, index, 0, false, STR_NULL},
            LINE(listing, "task %.*s has no answer left", STR_ARG(attempt->label)));
        return;
    }
    for (size_t i = 0; i < call->count; i++) {
        const Reply *reply = &call->replies[i];
        Choice choice = {.kind = reply->is_never ? CHOICE_NEVER : CHOICE_ANSWER};
        choice.index = index;
        choice.alternative = i;
        const char *verb = reply->is_never   ? "never answers"
                           : reply->is_error ? "fails "
                                             : "returns ";
        add(listing, choice,
            LINE(listing, "task %.*s %s%.*s", STR_ARG(attempt->label), verb, STR_ARG(reply->json)));
    }
}

static void add_sends(Listing *listing, size_t index, bool is_optional) {
    const Part *part = &listing->trial->subject->scenario->parts[index];
    if (part->kind != PART_SIGNAL && part->kind != PART_EVENT) return;
    if (part->is_never || part->is_optional != is_optional) return;
    size_t sent = listing->trial->calls[index];
    bool is_once = part->is_list || part->is_optional;
    if (is_once ? sent >= part->call_count : !is_waited_for(listing, part)) return;
    const Call *call = part_call(part, sent);
    for (size_t i = 0; i < call->count; i++) {
        Choice choice = {.kind = CHOICE_SEND, .index = index, .alternative = i};
        choice.is_optional = is_optional;
        add(listing, choice,
            LINE(listing, "%s %.*s %.*s", part->kind == PART_SIGNAL ? "signal" : "event",
                 STR_ARG(part->name), STR_ARG(call->replies[i].json)));
    }
}

static void add_fault(Listing *listing, ChoiceKind kind, size_t index, Str line) {
    add(listing, (Choice){kind, index, 0, true, STR_NULL}, line);
}

static void add_attempt_faults(Listing *listing, size_t index) {
    const Attempt *attempt = &listing->trial->attempts.data[index];
    if (attempt->part == NULL || attempt->part->is_never) return;
    switch (attempt->state) {
    case ATTEMPT_IN_HAND:
        add_fault(listing, CHOICE_FAIL, index,
                  LINE(listing, "task %.*s breaks", STR_ARG(attempt->label)));
        add_fault(
            listing, CHOICE_LOSE, index,
            LINE(listing, "task %.*s is done, and its answer is lost", STR_ARG(attempt->label)));
        break;
    case ATTEMPT_ANSWERED:
        add_fault(listing, CHOICE_REPEAT, index,
                  LINE(listing, "task %.*s answers again", STR_ARG(attempt->label)));
        break;
    case ATTEMPT_LOST:
    case ATTEMPT_HANGING:
    case ATTEMPT_REPEATED: break;
    }
}

static void add_faults(Listing *listing, int64_t due_ms) {
    Trial *self = listing->trial;
    for (size_t i = 0; i < self->attempts.count; i++) add_attempt_faults(listing, i);
    if (due_ms != 0) add_fault(listing, CHOICE_JUMP, 0, STR("the clock jumps"));
    if (self->armed != CHOICE_START) return;
    add_fault(listing, CHOICE_CRASH_BEFORE, 0, STR("a crash loses the next turn"));
    add_fault(listing, CHOICE_CRASH_AFTER, 0, STR("a crash follows the next turn"));
}

// Lost is what a worker did before it died; its answer may have been under way.
static void add_late(Listing *listing) {
    for (size_t i = 0; i < listing->trial->attempts.count; i++) {
        const Attempt *attempt = &listing->trial->attempts.data[i];
        if (attempt->state == ATTEMPT_LOST)
            add_fault(listing, CHOICE_REPEAT, i,
                      LINE(listing, "task %.*s answers late", STR_ARG(attempt->label)));
    }
}

void trial_choices(Trial *self, size_t fault_max, Arena *arena, Choices *ret_choices) {
    Listing listing = {.trial = self, .arena = arena, .choices = ret_choices};
    listing.has_faults = self->faults < fault_max;
    vec_clear(ret_choices);
    if (!self->is_started) {
        add(&listing, (Choice){.kind = CHOICE_START}, STR("start"));
        if (listing.has_faults) add_faults(&listing, 0);
        return;
    }
    listing.runs = trial_runs(self);
    bool is_live = trial_is_live(&listing.runs);
    size_t part_count = self->subject->scenario->part_count;
    int64_t due_ms = trial_next_due(self);
    for (size_t i = 0; i < self->attempts.count; i++)
        if (self->attempts.data[i].state == ATTEMPT_IN_HAND) add_answers(&listing, i);
    for (size_t i = 0; is_live && i < part_count; i++) add_sends(&listing, i, false);
    if (due_ms != 0) add(&listing, (Choice){.kind = CHOICE_TIME}, STR("time passes"));
    for (size_t i = 0; is_live && i < part_count; i++) add_sends(&listing, i, true);
    add_late(&listing);
    if (listing.has_faults && is_live) add_faults(&listing, due_ms);
}

// ---- doing ----

static void start(Trial *self) {
    const ExploreSubject *subject = self->subject;
    Request request = {.op.kind = OP_CREATE_RUN};
    request.op.in.create_run.spec = (RunSpec){
        .id = STR("local"),
        .workflow = flow_module_workflow(subject->module, subject->workflow_index).name,
        .input = subject->input_json,
        .keep_ms = KEEP_FOR_EVER,
        .parent_position = NOT_AWAITED,
    };
    self->is_started = true;
    if (trial_ask(self, &request) != OK)
        trial_fail(self, VIOLATION_START, STR("start"), "the run is not started: %s",
                   request.op.out.diag.message);
}

static void note_effect(Trial *self, const Attempt *attempt) {
    Effect effect = {attempt->name, attempt->task, attempt->input};
    vec_push(&self->effects, effect);
}

static void complete(Trial *self, Attempt *attempt) {
    Request request = {.op.kind = OP_COMPLETE_TASK};
    request.op.in.complete_task.id = attempt->task;
    request.op.in.complete_task.token = attempt->token;
    request.op.in.complete_task.result = attempt->reply->json;
    if (trial_ask(self, &request) == OK) attempt->is_accepted = true;
}

static void fail(Trial *self, const Attempt *attempt, const Reply *reply) {
    Request request = {.op.kind = OP_FAIL_TASK};
    request.op.in.fail_task.id = attempt->task;
    request.op.in.fail_task.token = attempt->token;
    request.op.in.fail_task.type = reply->type;
    request.op.in.fail_task.error = reply->json;
    request.op.in.fail_task.is_final = reply->is_final;
    (void)trial_ask(self, &request);
}

static void say(Trial *self, Attempt *attempt) {
    if (attempt->reply->is_error) fail(self, attempt, attempt->reply);
    else complete(self, attempt);
}

static const Reply *reply_of(const Attempt *attempt, size_t alternative) {
    static const Reply exhausted = {
        .is_error = true,
        .is_final = true,
        .json = STR("{\"type\":\"MockError\",\"message\":\"the mock has no answer left\"}"),
        .type = STR("MockError")};
    const Call *call = part_call(attempt->part, attempt->call);
    return call != NULL ? &call->replies[alternative] : &exhausted;
}

static void answer(Trial *self, const Choice *choice) {
    Attempt *attempt = &self->attempts.data[choice->index];
    attempt->reply = reply_of(attempt, choice->alternative);
    attempt->state = ATTEMPT_ANSWERED;
    if (!attempt->reply->is_error) note_effect(self, attempt);
    say(self, attempt);
}

static void break_attempt(Trial *self, Attempt *attempt) {
    static const Reply broken = {
        .is_error = true,
        .json = STR("{\"type\":\"Error\",\"message\":\"abide sim let it fail\"}"),
        .type = STR("Error")};
    attempt->state = ATTEMPT_REPEATED;
    attempt->reply = &broken;
    fail(self, attempt, &broken);
}

// The first answer that is a success is what it would have said.
static void lose(Trial *self, Attempt *attempt) {
    const Call *call = part_call(attempt->part, attempt->call);
    attempt->reply = reply_of(attempt, 0);
    for (size_t i = 0; call != NULL && i < call->count; i++)
        if (attempt->reply->is_error || attempt->reply->is_never)
            attempt->reply = &call->replies[i];
    bool has_answer = !attempt->reply->is_never;
    attempt->state = has_answer ? ATTEMPT_LOST : ATTEMPT_HANGING;
    if (has_answer && !attempt->reply->is_error) note_effect(self, attempt);
    Request request = {.op.kind = OP_HEARTBEAT_TASK}; // its last
    request.op.in.heartbeat.id = attempt->task;
    request.op.in.heartbeat.token = attempt->token;
    request.op.in.heartbeat.lease_ms = lost_lease_ms;
    (void)trial_ask(self, &request);
}

// Whom a signal is for: who waits for it, else the run that was started.
static Str addressee(Trial *self, Str name) {
    Listing listing = {.trial = self, .arena = &self->step, .runs = trial_runs(self)};
    for (size_t i = 0; i < listing.runs.count; i++)
        if (waits_for(&listing, &listing.runs.rows[i], WAIT_SIGNAL, name))
            return listing.runs.rows[i].id;
    return STR("local");
}

static void send(Trial *self, const Choice *choice) {
    const Part *part = &self->subject->scenario->parts[choice->index];
    size_t number = self->calls[choice->index]++;
    Str payload = part_call(part, number)->replies[choice->alternative].json;
    uint64_t *digest = &self->digests[choice->index];
    *digest = hash_fixed_u64(*digest * 31 + choice->alternative + 1);
    Str id = arena_printf(&self->step, "%.*s/%zu", STR_ARG(part->key), number);
    Request request = {.op.kind = part->kind == PART_SIGNAL ? OP_SIGNAL : OP_PUBLISH};
    if (part->kind == PART_SIGNAL) {
        request.op.in.signal.run_id = addressee(self, part->name);
        request.op.in.signal.name = part->name;
        request.op.in.signal.id = id;
        request.op.in.signal.is_deduplicated = true;
        request.op.in.signal.payload = payload;
    } else {
        request.op.in.publish.event =
            (EventSpec){.topic = part->name, .id = id, .is_deduplicated = true, .payload = payload};
    }
    // One for a run that has ended reaches nobody.
    if (trial_ask(self, &request) == OK) self->sent[choice->index]++;
}

static void latest(const WaitSet *set, int64_t *ret_at_ms) {
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].deadline_at_ms > *ret_at_ms) *ret_at_ms = set->items[i].deadline_at_ms;
}

static int64_t beyond_all(Trial *self) {
    int64_t at_ms = trial_next_due(self);
    RunPage runs = trial_runs(self);
    for (size_t i = 0; i < runs.count; i++) {
        WaitSet set;
        if (runs.rows[i].state == RUN_SUSPENDED && !str_is_null(runs.rows[i].waits) &&
            wait_set_decode(&self->step, runs.rows[i].waits, &set) == OK)
            latest(&set, &at_ms);
    }
    return at_ms + jump_beyond_ms;
}

static void move_clock(Trial *self, int64_t at_ms) {
    if (at_ms > self->env.now_ms) self->env.now_ms = at_ms;
    trial_settle(self);
}

void trial_do(Trial *self, const Choice *choice) {
    arena_reset(&self->step);
    if (choice->kind >= CHOICE_FAIL) self->faults++;
    Attempt *attempt =
        choice->index < self->attempts.count ? &self->attempts.data[choice->index] : NULL;
    switch (choice->kind) {
    case CHOICE_START: start(self); break;
    case CHOICE_ANSWER: answer(self, choice); break;
    case CHOICE_NEVER: attempt->state = ATTEMPT_HANGING; break;
    case CHOICE_SEND: send(self, choice); break;
    case CHOICE_TIME: move_clock(self, trial_next_due(self)); break;
    case CHOICE_FAIL: break_attempt(self, attempt); break;
    case CHOICE_LOSE: lose(self, attempt); break;
    case CHOICE_REPEAT:
        attempt->state = ATTEMPT_REPEATED;
        say(self, attempt);
        break;
    case CHOICE_JUMP: move_clock(self, beyond_all(self)); break;
    case CHOICE_CRASH_BEFORE:
    case CHOICE_CRASH_AFTER: self->armed = choice->kind; break;
    }
    self->steps++;
    if (self->is_started) trial_claim(self);
}
