// RunProgram: decides whether a program needs an engine, and runs those that do not.
//
//   run -> completed | failed | parked: it can only be stuck | preempted: run again
//
// Whether it needs one is read off the text: a program reaches the workflow API by its names alone
// (or through globalThis, or with escapes in identifiers), so a text without any of these words
// cannot. A word in a comment or string costs the milliseconds of an engine and changes nothing
// else. What has a config is the engine's, which knows what that means. Invariants [run-program-1],
// [run-program-2] are in run/program.h.

#include "cli/run/program.h"
#include "base/array.h"
#include "base/env.h"
#include "cli/run/session.h"
#include "json/write.h"
#include <stdio.h>

enum { STEPS_PER_TURN = 50000000, FAILURE_JSON_MAX = 4 << 20 };

// ---- the world of a pure program: a console, a clock, random numbers ----

static Status host_effect(FlowHost *host, const FlowEffect *effect, Diag *diag) {
    (void)host;
    (void)diag;
    ASSERT(effect->kind == FLOW_EFFECT_LOG); // the others have names that it does not write
    fwrite(effect->json.data, 1, effect->json.len, stderr);
    fputc('\n', stderr);
    return OK;
}

static int64_t host_now_ms(FlowHost *host) {
    (void)host;
    return env_now_ms(env_system());
}

static uint64_t host_random(FlowHost *host) {
    (void)host;
    return env_random_u64(env_system());
}

static const FlowHostOps pure_host_ops = {
    .effect = host_effect, .now_ms = host_now_ms, .random_u64 = host_random};

static bool is_pure(Str source) { // [run-program-1]
    static const char *const words[] = {"Task",   "Timer", "Signal",  "Event",      "Workflow",
                                        "Stream", "State", "Context", "globalThis", "\\u"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (memmem(source.data, source.len, words[i], strlen(words[i])) != NULL) return false;
    return true;
}

// ---- turns ----

typedef struct PureRun {
    const RunRequest *request;
    Arena *arena;
    FlowHost host;
    FlowVm *vm;
    RunAnswer answer;
} PureRun;

static void fail_with(PureRun *run, Str message) {
    run->answer = (RunAnswer){.error_name = STR("Error"), .error_message = message};
}

// The members that failed runs keep.
static Str failure_json(Arena *arena, const FlowFailure *failure) {
    Buf text;
    JsonWriter json;
    buf_init(&text, FAILURE_JSON_MAX);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "type", failure->name);
    json_put_string(&json, "message", failure->message);
    json_put_string(&json, "stack", failure->stack);
    json_put_raw(&json, "value", failure->json);
    json_write_object_end(&json);
    Str answer = text.is_overflown ? STR_NULL : arena_str(arena, buf_str(&text));
    buf_done(&text);
    return answer;
}

static void take_failure(PureRun *run, const FlowFailure *failure) {
    run->answer = (RunAnswer){.error_name = arena_str(run->arena, failure->name),
                              .error_message = arena_str(run->arena, failure->message),
                              .error_stack = arena_str(run->arena, failure->stack),
                              .error_json = failure_json(run->arena, failure)};
}

// Answers false when --max-steps is used up.
static bool has_steps_left(PureRun *run) {
    FlowVmStats stats;
    flow_vm_stats(run->vm, &stats);
    if (!run->request->max_steps || stats.instructions < run->request->max_steps) return true;
    fail_with(run, arena_printf(run->arena, "The script was stopped after %llu steps",
                                (unsigned long long)run->request->max_steps));
    return false;
}

// One turn. Answers whether there is another one.
static bool run_turn(PureRun *run) {
    FlowRunResult result;
    flow_vm_run(run->vm, &result);
    switch (result.outcome) {
    case FLOW_COMPLETED:
        run->answer = (RunAnswer){.is_completed = true,
                                  .result_json = arena_str(run->arena, result.result_json)};
        return false;
    case FLOW_FAILED: take_failure(run, &result.failure); return false;
    case FLOW_PREEMPTED: return has_steps_left(run);
    case FLOW_PARKED:
        fail_with(run, STR("The script waits for a promise that nothing can settle"));
        return false;
    case FLOW_CONTINUE_AS: break; // it would have written Workflow
    }
    UNREACHABLE();
}

static Status run_pure(const RunRequest *request, Arena *arena, RunAnswer *ret_answer, Diag *diag) {
    PureRun run = {.request = request, .arena = arena, .host.ops = &pure_host_ops};
    FlowVmOptions options = {.module = request->module,
                             .workflow_index = request->workflow_index,
                             .input_json = request->input_json,
                             .host = &run.host,
                             .limits = FLOW_LIMITS_DEFAULT};
    uint64_t max_steps = request->max_steps ? request->max_steps : UINT64_MAX;
    if (request->memory_bytes) options.limits.heap_bytes = request->memory_bytes;
    options.limits.instructions_per_turn = max_steps < STEPS_PER_TURN ? max_steps : STEPS_PER_TURN;
    TRY(flow_vm_new(&options, &run.vm, diag));
    while (run_turn(&run)) continue;
    *ret_answer = run.answer;
    flow_vm_free(run.vm);
    return OK;
}

Status run_program(const RunRequest *request, Arena *arena, RunAnswer *ret_answer, Diag *diag) {
    Str config = flow_module_workflow(request->module, request->workflow_index).config_json;
    if (request->setting == NULL && str_is_null(config) && is_pure(request->source))
        return run_pure(request, arena, ret_answer, diag);
    return run_session(request, arena, ret_answer, diag); // [run-program-2]
}
