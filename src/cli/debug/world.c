// World: a host without an engine; see world.h.
//
// The answer of a task is known when it is started: its mock is asked attempt by attempt, and the
// pauses between the attempts decide when the answer is due. What comes from outside (signals,
// events, a cancel) is in the script.
//
// Not here: when the clock may move (session.c asks), what people see of it (view.c).
#include "cli/debug/world.h"
#include "base/limits.h"
#include "engine/runners/filter.h"
#include "json/write.h"
#include <math.h>

enum { STATE_ENTRIES_MAX = 100, ATTEMPTS_DEFAULT = 3, CONTEXT_MAX = 4096 };

static World *world_of(FlowHost *host) { return (World *)(void *)host; }

static Str keep(World *world, Str text) { return arena_str(world->arena, text); }

// ---- replies ----

typedef struct Retry {
    int64_t attempts;
    double delay_ms, factor, max_delay_ms;
    const JsonValue *final_types; // NULL: none
} Retry;

// The VM has checked the options.
static Retry read_retry(Arena *arena, Str options_json) {
    Retry retry = {ATTEMPTS_DEFAULT, 1000, 2, 3600e3, NULL};
    JsonValue *options;
    const JsonValue *object = NULL;
    int64_t ms = 0;
    if (str_is_null(options_json) || json_parse(arena, options_json, &options, NULL) != OK)
        return retry;
    if (json_get_object(options, "retry", &object, NULL) != OK || !object) return retry;
    (void)!json_get_i64(object, "attempts", &retry.attempts, NULL);
    (void)!json_get_number(object, "factor", &retry.factor, NULL);
    if (json_has(object, "delay") && json_get_duration_ms(object, "delay", &ms, NULL) == OK)
        retry.delay_ms = (double)ms;
    if (json_has(object, "maxDelay") && json_get_duration_ms(object, "maxDelay", &ms, NULL) == OK)
        retry.max_delay_ms = (double)ms;
    (void)!json_get_array(object, "nonRetryable", &retry.final_types, NULL);
    return retry;
}

static bool is_final(const Retry *retry, const MockReply *reply) {
    if (reply->is_final) return true;
    if (retry->final_types)
        JSON_EACH (type, retry->final_types)
            if (type->kind == JSON_KIND_STRING && str_equal(type->string, reply->type)) return true;
    return false;
}

static void take_reply(World *world, WorldPending *pending, const MockReply *reply) {
    pending->is_failed = reply->is_error || reply->is_exhausted;
    pending->json = keep(world, reply->json);
    pending->type = reply->is_exhausted ? STR("MockError") : keep(world, reply->type);
    pending->message =
        reply->is_exhausted ? STR("the mock has no more answers") : keep(world, reply->message);
}

static void ask_mock(World *world, WorldPending *pending, Str options_json) {
    MockKind kind = pending->kind == FLOW_AWAIT_TASK ? MOCK_TASK : MOCK_WORKFLOW;
    size_t index = mocks_find(world->mocks, kind, pending->name);
    if (index == SIZE_MAX) return; // [debug-world-1]
    Retry retry = read_retry(world->arena, options_json);
    if (kind == MOCK_WORKFLOW) retry.attempts = 1;
    double pause_ms = retry.delay_ms, passed_ms = 0;
    MockReply reply;
    for (;;) {
        mocks_reply(world->mocks, index, world->state.calls.data[index]++, &reply);
        pending->attempts++;
        bool is_last = pending->attempts >= retry.attempts || reply.is_exhausted;
        if (!reply.is_error || is_last || is_final(&retry, &reply)) break;
        passed_ms += fmin(pause_ms, retry.max_delay_ms);
        pause_ms *= retry.factor;
    }
    pending->due_ms = world->state.now_ms + (int64_t)fmin(passed_ms, (double)LIMIT_DURATION_MS);
    take_reply(world, pending, &reply);
}

// ---- what the script asks for ----

static bool take_early_signal(World *world, WorldPending *pending) {
    for (size_t i = 0; i < world->state.signals.count; i++) {
        WorldText *signal = &world->state.signals.data[i];
        if (!str_equal(signal->name, pending->name)) continue;
        pending->json = signal->json;
        pending->due_ms = world->state.now_ms;
        size_t left = --world->state.signals.count - i;
        memmove(signal, signal + 1, left * sizeof *signal);
        return true;
    }
    return false;
}

static Status host_start(FlowHost *host, const FlowStart *start, Str *ret_handle_id, Diag *diag) {
    World *world = world_of(host);
    (void)ret_handle_id;
    int64_t now_ms = world->state.now_ms;
    WorldPending pending = {.id = start->id, .kind = start->kind, .due_ms = -1};
    pending.name = keep(world, start->name);
    pending.timeout_at_ms = start->timeout_ms >= 0 ? now_ms + start->timeout_ms : -1;
    switch (start->kind) {
    case FLOW_AWAIT_TIMER:
        pending.due_ms = start->delay_ms >= 0 ? now_ms + start->delay_ms : start->at_ms;
        break;
    case FLOW_AWAIT_SIGNAL: take_early_signal(world, &pending); break;
    case FLOW_AWAIT_EVENT:
        if (!str_is_null(start->options_json)) {
            JsonValue *options;
            Str filter = STR_NULL;
            TRY(json_parse(world->arena, keep(world, start->options_json), &options, diag));
            json_get_raw(options, "filter", &filter);
            if (!str_is_null(filter)) TRY(filter_check(filter, diag));
            pending.filter = filter;
        }
        break;
    default: ask_mock(world, &pending, keep(world, start->options_json)); break;
    }
    vec_push(&world->state.pending, pending);
    return OK;
}

static void deliver_event(World *world, Str topic, Str payload) {
    for (size_t i = 0; i < world->state.pending.count; i++) {
        WorldPending *pending = &world->state.pending.data[i];
        bool is_for_it = pending->kind == FLOW_AWAIT_EVENT && pending->due_ms < 0 &&
                         str_equal(pending->name, topic) &&
                         (str_is_null(pending->filter) || filter_matches(pending->filter, payload));
        if (!is_for_it) continue;
        pending->json = payload;
        pending->due_ms = world->state.now_ms;
    }
}

static Status set_entry(World *world, Str key, Str json, Diag *diag) {
    for (size_t i = 0; i < world->state.entries.count; i++) {
        WorldText *entry = &world->state.entries.data[i];
        if (!str_equal(entry->name, key)) continue;
        entry->json = keep(world, json);
        return OK;
    }
    if (world->state.entries.count == STATE_ENTRIES_MAX)
        return diag_set(diag, ERR_LIMIT, "STATE_TOO_LARGE", "a run has at most %d state entries",
                        STATE_ENTRIES_MAX);
    WorldText entry = {keep(world, key), keep(world, json)};
    vec_push(&world->state.entries, entry);
    return OK;
}

static Status host_effect(FlowHost *host, const FlowEffect *effect, Diag *diag) {
    World *world = world_of(host);
    switch (effect->kind) {
    case FLOW_EFFECT_STATE: return set_entry(world, effect->name, effect->json, diag);
    case FLOW_EFFECT_LOG: {
        bool is_error =
            str_equal(effect->name, STR("error")) || str_equal(effect->name, STR("warn"));
        world->say(world->context, is_error ? "stderr" : "stdout", effect->json);
        return OK;
    }
    case FLOW_EFFECT_EMIT:
        deliver_event(world, effect->name, keep(world, effect->json));
        world->say(world->context, "console",
                   arena_printf(world->arena, "event %.*s %.*s", STR_ARG(effect->name),
                                STR_ARG(effect->json)));
        return OK;
    case FLOW_EFFECT_STREAM:
        world->say(world->context, "console",
                   arena_printf(world->arena, "stream %.*s %.*s", STR_ARG(effect->name),
                                STR_ARG(effect->json)));
        return OK;
    }
    UNREACHABLE();
}

static Status host_state_get(FlowHost *host, Str key, Str *ret_json, Diag *diag) {
    const World *world = world_of(host);
    (void)diag;
    for (size_t i = 0; i < world->state.entries.count; i++)
        if (str_equal(world->state.entries.data[i].name, key))
            *ret_json = world->state.entries.data[i].json;
    return OK;
}

static Status host_start_run(FlowHost *host, const FlowStart *start, Str *ret_run_id, Diag *diag) {
    World *world = world_of(host);
    (void)diag;
    *ret_run_id = arena_printf(world->arena, "debug.%u", ++world->state.start_count);
    world->say(world->context, "console",
               arena_printf(world->arena, "Workflow.start %.*s: nothing is started here",
                            STR_ARG(start->name)));
    return OK;
}

static Status host_context(FlowHost *host, Str *ret_json, Diag *diag) {
    (void)diag;
    *ret_json = world_of(host)->context_json;
    return OK;
}

static int64_t host_now_ms(FlowHost *host) { return world_of(host)->state.now_ms; }

static uint64_t host_random(FlowHost *host) { // the same each time, also after going back
    uint64_t *state = &world_of(host)->state.random;
    *state += 0x9E3779B97F4A7C15ull;
    uint64_t mixed = (*state ^ (*state >> 30)) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
    return mixed ^ (mixed >> 31);
}

// ---- life ----

static Str context_json(const WorldSetting *setting) {
    Buf text;
    JsonWriter json;
    buf_init(&text, CONTEXT_MAX);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "runId", str_is_null(setting->run_id) ? STR("debug") : setting->run_id);
    json_put_string(&json, "workflow", setting->workflow);
    json_put_string(&json, "version", setting->version);
    json_put_i64(&json, "attempt", 1);
    json_put_null(&json, "parentId");
    json_put_i64(&json, "startedAt", setting->start_ms);
    json_put_raw(&json, "tags", STR("[]"));
    json_put_cstr(&json, "namespace", "default");
    json_write_object_end(&json);
    Str copy = arena_str(setting->arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

void world_init(World *world, const WorldSetting *setting) {
    static const FlowHostOps ops = {host_start,   host_effect, host_state_get, host_start_run,
                                    host_context, host_now_ms, host_random,    NULL};
    *world = (World){.host = {&ops}, .arena = setting->arena, .mocks = setting->mocks};
    world->script = setting->script;
    world->start_ms = world->state.now_ms = setting->start_ms;
    world->context_json = context_json(setting);
    for (size_t i = 0; i < setting->mocks->count; i++) vec_push(&world->state.calls, 0);
}

void world_done(World *world) { world_state_done(&world->state); }

void world_restart(World *world) {
    vec_clear(&world->state.pending);
    vec_clear(&world->state.entries);
}

// ---- a run that stands at a wait ----

void world_stand(World *world, int64_t now_ms) {
    world_state_done(&world->state);
    world->state = (WorldState){.now_ms = now_ms};
    for (size_t i = 0; i < world->mocks->count; i++) vec_push(&world->state.calls, 0);
}

// The options are those of the past: a mock that fails is not tried again.
void world_add_pending(World *world, const WorldPending *given) {
    WorldPending pending = *given;
    pending.name = keep(world, given->name);
    pending.filter = keep(world, given->filter);
    if (pending.kind == FLOW_AWAIT_TASK || pending.kind == FLOW_AWAIT_WORKFLOW)
        ask_mock(world, &pending, STR("{\"retry\":{\"attempts\":1}}"));
    vec_push(&world->state.pending, pending);
}

void world_add_entry(World *world, Str key, Str json) {
    WorldText entry = {keep(world, key), keep(world, json)};
    vec_push(&world->state.entries, entry);
}

static bool has_mock(const World *world, const WorldPending *pending) {
    bool is_signal = pending->kind == FLOW_AWAIT_SIGNAL;
    bool is_asked = pending->kind == FLOW_AWAIT_TASK || pending->kind == FLOW_AWAIT_WORKFLOW;
    if (is_asked) return pending->due_ms >= 0;
    return is_signal && mocks_find(world->mocks, MOCK_SIGNAL, pending->name) != SIZE_MAX;
}

void world_deliver(World *world, uint32_t id, const WorldReply *reply) {
    for (size_t i = 0; i < world->state.pending.count; i++) {
        WorldPending *pending = &world->state.pending.data[i];
        if (pending->id != id || has_mock(world, pending)) continue;
        pending->due_ms = reply->is_timeout ? -1 : world->state.now_ms;
        if (reply->is_timeout) pending->timeout_at_ms = world->state.now_ms;
        pending->is_failed = reply->is_failed;
        pending->json = keep(world, reply->json);
        pending->type = keep(world, reply->type);
        pending->message = keep(world, reply->message);
        pending->attempts = 1;
    }
}

#define COPY_VEC(to, from)                                                                         \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (from)->count; i_++) vec_push((to), (from)->data[i_]);            \
    } while (0)

void world_state_copy(WorldState *ret_copy, const WorldState *state) {
    WorldState copy = {.now_ms = state->now_ms, .script_done = state->script_done};
    copy.random = state->random;
    copy.start_count = state->start_count;
    copy.is_cancel_due = state->is_cancel_due;
    COPY_VEC(&copy.pending, &state->pending);
    COPY_VEC(&copy.entries, &state->entries);
    COPY_VEC(&copy.signals, &state->signals);
    COPY_VEC(&copy.calls, &state->calls);
    *ret_copy = copy;
}

void world_state_done(WorldState *state) {
    vec_free(&state->pending);
    vec_free(&state->entries);
    vec_free(&state->signals);
    vec_free(&state->calls);
}

// ---- what happens next ----

static void forget(World *world, size_t index) {
    WorldPending *pending = &world->state.pending.data[index];
    size_t left = --world->state.pending.count - index;
    memmove(pending, pending + 1, left * sizeof *pending);
}

static Str failure_properties(World *world, const WorldPending *pending) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 6 * pending->name.len + 100); // every byte of it may need an escape
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, pending->kind == FLOW_AWAIT_TASK ? "task" : "workflow", pending->name);
    json_put_i64(&json, "attempts", pending->attempts);
    json_write_object_end(&json);
    Str copy = keep(world, buf_str(&text));
    buf_done(&text);
    return copy;
}

// False: the script does not wait for it any more.
static bool settle(World *world, FlowVm *vm, size_t index, bool is_timeout) {
    WorldPending pending = world->state.pending.data[index];
    FlowSettlement settlement = {.id = pending.id, .json = pending.json};
    Diag diag;
    settlement.is_rejected = is_timeout || pending.is_failed;
    if (is_timeout) {
        settlement.error_class = "TimeoutError";
        settlement.message = arena_printf(world->arena, "timed out waiting for %s \"%.*s\"",
                                          pending.kind == FLOW_AWAIT_EVENT ? "event" : "signal",
                                          STR_ARG(pending.name));
    } else if (pending.is_failed) {
        bool is_task = pending.kind == FLOW_AWAIT_TASK;
        settlement.error_class = is_task ? "TaskError" : "ChildWorkflowError";
        settlement.message = arena_printf(world->arena, "%s \"%.*s\" failed",
                                          is_task ? "task" : "child", STR_ARG(pending.name));
        settlement.cause_json = json_error(world->arena, pending.type, STR_NULL, pending.message);
        settlement.properties_json = failure_properties(world, &pending);
    }
    forget(world, index);
    return flow_vm_settle(vm, &settlement, &diag) == OK;
}

// The next thing that is due at that time or before; SIZE_MAX: none.
static size_t find_due(const World *world, int64_t at_ms, bool *ret_is_timeout) {
    size_t best = SIZE_MAX;
    int64_t best_ms = INT64_MAX;
    for (size_t i = 0; i < world->state.pending.count; i++) {
        const WorldPending *pending = &world->state.pending.data[i];
        bool is_timeout = pending->due_ms < 0;
        int64_t due_ms = is_timeout ? pending->timeout_at_ms : pending->due_ms;
        if (due_ms < 0 || due_ms > at_ms || due_ms >= best_ms) continue;
        best = i;
        best_ms = due_ms;
        *ret_is_timeout = is_timeout;
    }
    return best;
}

static bool send_mocked_signal(World *world) {
    for (size_t i = 0; i < world->state.pending.count; i++) {
        WorldPending *pending = &world->state.pending.data[i];
        if (pending->kind != FLOW_AWAIT_SIGNAL || pending->due_ms >= 0) continue;
        size_t index = mocks_find(world->mocks, MOCK_SIGNAL, pending->name);
        if (index == SIZE_MAX) continue;
        MockReply reply;
        mocks_reply(world->mocks, index, world->state.calls.data[index], &reply);
        if (reply.is_exhausted) continue;
        world->state.calls.data[index]++;
        pending->json = keep(world, reply.json);
        pending->due_ms = world->state.now_ms;
        return true;
    }
    return false;
}

static void receive_signal(World *world, const ScriptItem *item) {
    for (size_t i = 0; i < world->state.pending.count; i++) {
        WorldPending *pending = &world->state.pending.data[i];
        bool is_for_it = pending->kind == FLOW_AWAIT_SIGNAL && pending->due_ms < 0 &&
                         str_equal(pending->name, item->name);
        if (!is_for_it) continue;
        pending->json = item->payload;
        pending->due_ms = world->state.now_ms;
        return;
    }
    WorldText signal = {item->name, item->payload};
    vec_push(&world->state.signals, signal);
}

static void perform(World *world, FlowVm *vm, const ScriptItem *item) {
    switch (item->kind) {
    case SCRIPT_SIGNAL: receive_signal(world, item); break;
    case SCRIPT_EVENT:
        deliver_event(world, item->name, str_is_null(item->payload) ? STR("null") : item->payload);
        break;
    case SCRIPT_CANCEL:
        flow_vm_cancel(vm, str_is_null(item->name) ? STR("the run was cancelled") : item->name);
        break;
    }
}

bool world_advance(World *world, FlowVm *vm) {
    if (world->state.is_cancel_due) {
        world->state.is_cancel_due = false;
        flow_vm_cancel(vm, STR("the run was cancelled"));
        return true;
    }
    for (;;) {
        bool is_timeout = false;
        size_t due = find_due(world, world->state.now_ms, &is_timeout);
        if (due != SIZE_MAX) {
            if (settle(world, vm, due, is_timeout)) return true;
            continue;
        }
        if (send_mocked_signal(world)) continue;
        const ScriptItem *item = world->script->count > world->state.script_done
                                     ? &world->script->items[world->state.script_done]
                                     : NULL;
        size_t next = find_due(world, INT64_MAX, &is_timeout);
        int64_t next_ms = INT64_MAX;
        if (next != SIZE_MAX) {
            const WorldPending *pending = &world->state.pending.data[next];
            next_ms = is_timeout ? pending->timeout_at_ms : pending->due_ms;
        }
        int64_t item_ms = item ? world->start_ms + item->after_ms : INT64_MAX;
        if (next == SIZE_MAX && !item) return false;
        int64_t then_ms = item_ms < next_ms ? item_ms : next_ms;
        if (then_ms > world->state.now_ms) world->state.now_ms = then_ms; // [debug-world-2]
        if (item_ms > next_ms) continue;
        world->state.script_done++;
        perform(world, vm, item);
        if (item->kind == SCRIPT_CANCEL) return true;
    }
}

Str world_waits_for(const World *world) {
    static const char *const kinds[FLOW_AWAIT_COUNT] = {"something", "task",  "timer",
                                                        "signal",    "event", "workflow"};
    if (world->state.pending.count == 0) return STR("nothing that can come");
    const WorldPending *first = &world->state.pending.data[0];
    return arena_printf(world->arena, "%s \"%.*s\"", kinds[first->kind], STR_ARG(first->name));
}
