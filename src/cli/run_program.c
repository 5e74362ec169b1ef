// RunProgram: turns of the VM, and sleeping between them.
//
//   run -> completed | failed | parked: sleep, settle, run again | preempted: run again
//
//   [R1] Only what the script awaits keeps it running: a timer nobody waits for is not slept for.
//   [R2] A script that awaits only what nobody here can answer fails, and the message names it.

#include "cli/run_program.h"
#include <poll.h>

enum { STEPS_PER_TURN = 50000000, SLEEP_MAX_MS = 60000 };

typedef struct RunLoop {
    const RunRequest *request;
    Arena *arena;
    RunHost host;
    FlowVm *vm;
    uint64_t steps_left;
    RunAnswer answer;
} RunLoop;

static void fail_with(RunLoop *loop, Str message) {
    loop->answer = (RunAnswer){.error_name = STR("Error"), .error_message = message};
}

// --- waiting
static Status settle_due(RunLoop *loop, const RunWait *wait, Diag *diag) {
    FlowSettlement settlement = {.id = wait->id};
    if (wait->kind != FLOW_AWAIT_TIMER) {
        settlement.is_rejected = true;
        settlement.error_class = "TimeoutError";
        settlement.message = arena_printf(loop->arena, "No %s \"%.*s\" within its timeout",
                                          run_wait_kind_name(wait->kind), STR_ARG(wait->name));
    }
    return flow_vm_settle(loop->vm, &settlement, diag);
}

static const RunWait *earliest_due(RunLoop *loop, const FlowRunResult *result) {
    const RunWait *earliest = NULL;
    for (uint32_t i = 0; i < result->wait_count; i++) {
        if (!result->waits[i].is_awaited) continue; // [R1]
        const RunWait *wait = run_host_find(&loop->host, result->waits[i].id);
        if (!wait || wait->due_ms < 0) continue;
        if (!earliest || wait->due_ms < earliest->due_ms) earliest = wait;
    }
    return earliest;
}

static void fail_stuck(RunLoop *loop, const FlowRunResult *result) { // [R2]
    for (uint32_t i = 0; i < result->wait_count; i++) {
        const RunWait *wait = run_host_find(&loop->host, result->waits[i].id);
        if (!wait || !result->waits[i].is_awaited) continue;
        const char *kind = run_wait_kind_name(wait->kind);
        fail_with(loop, arena_printf(loop->arena,
                                     "The script waits for %s \"%.*s\", which nothing here can "
                                     "answer: abide run has no handlers for it",
                                     kind, STR_ARG(wait->name)));
        return;
    }
    fail_with(loop, STR("The script waits for a promise that nothing can settle"));
}

static void sleep_until(Env *env, int64_t at_ms) {
    for (;;) {
        int64_t left = at_ms - env_now_ms(env);
        if (left <= 0) return;
        poll(NULL, 0, (int)(left < SLEEP_MAX_MS ? left : SLEEP_MAX_MS));
    }
}

// Answers false when the script cannot go on.
static bool wait_for_next(RunLoop *loop, const FlowRunResult *result) {
    const RunWait *wait = earliest_due(loop, result);
    Diag diag;
    if (!wait) {
        fail_stuck(loop, result);
        return false;
    }
    sleep_until(loop->host.env, wait->due_ms);
    if (settle_due(loop, wait, &diag) != OK) {
        fail_with(loop, arena_str(loop->arena, str_from(diag.message)));
        return false;
    }
    run_host_remove(&loop->host, wait->id);
    return true;
}

// --- turns
static Status vm_begin(RunLoop *loop, Str input_json, Diag *diag) {
    FlowVmOptions options = {.module = loop->request->module,
                             .workflow_index = loop->request->workflow_index,
                             .input_json = input_json,
                             .host = &loop->host.base,
                             .limits = FLOW_LIMITS_DEFAULT};
    if (loop->request->memory_bytes) options.limits.heap_bytes = loop->request->memory_bytes;
    options.limits.instructions_per_turn =
        loop->steps_left < STEPS_PER_TURN ? loop->steps_left : STEPS_PER_TURN;
    return flow_vm_new(&options, &loop->vm, diag);
}

static void take_failure(RunLoop *loop, const FlowFailure *failure) {
    loop->answer = (RunAnswer){.error_name = arena_str(loop->arena, failure->name),
                               .error_message = arena_str(loop->arena, failure->message),
                               .error_stack = arena_str(loop->arena, failure->stack)};
}

// Counts what the turn used; answers false when --max-steps is used up.
static bool has_steps_left(RunLoop *loop) {
    FlowVmStats stats;
    flow_vm_stats(loop->vm, &stats);
    if (!loop->request->max_steps || stats.instructions < loop->request->max_steps) return true;
    fail_with(loop, arena_printf(loop->arena, "The script was stopped after %llu steps",
                                 (unsigned long long)loop->request->max_steps));
    return false;
}

// One turn. Answers whether there is another one.
static bool run_turn(RunLoop *loop, Diag *diag, Status *ret_status) {
    FlowRunResult result;
    flow_vm_run(loop->vm, &result);
    switch (result.outcome) {
    case FLOW_COMPLETED:
        loop->answer = (RunAnswer){.is_completed = true,
                                   .result_json = arena_str(loop->arena, result.result_json)};
        return false;
    case FLOW_FAILED: take_failure(loop, &result.failure); return false;
    case FLOW_PARKED: return wait_for_next(loop, &result);
    case FLOW_PREEMPTED: return has_steps_left(loop);
    case FLOW_CONTINUE_AS: {
        Str input = arena_str(loop->arena, result.result_json);
        flow_vm_free(loop->vm);
        loop->vm = NULL;
        run_host_forget(&loop->host);
        *ret_status = vm_begin(loop, input, diag);
        return *ret_status == OK;
    }
    }
    return false;
}

Status run_program(const RunRequest *request, Arena *arena, RunAnswer *ret_answer, Diag *diag) {
    RunLoop loop = {.request = request, .arena = arena};
    loop.steps_left = request->max_steps ? request->max_steps : UINT64_MAX;
    run_host_init(&loop.host, arena, request->module, request->workflow_index);
    Status status = vm_begin(&loop, request->input_json, diag);
    if (status == OK)
        while (run_turn(&loop, diag, &status)) continue;
    if (status == OK) *ret_answer = loop.answer;
    flow_vm_free(loop.vm);
    run_host_done(&loop.host);
    return status;
}
