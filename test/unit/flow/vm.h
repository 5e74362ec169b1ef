// A small host and a few verbs for tests that run Flow programs.
#pragma once
#include "base/arena.h"
#include "flow/flow.h"
#include "unit/unit.h"
#include <stdio.h>
#include <time.h>

typedef struct TestHost {
    FlowHost base;
    char log[4096]; // one line per request: "task charge {...}"
    uint32_t start_count;
    bool refuses; // `start` answers an error
    int64_t now_ms;
} TestHost;

static inline void test_host_line(TestHost *host, const char *word, Str name, Str text) {
    size_t used = strlen(host->log);
    snprintf(host->log + used, sizeof host->log - used, "%s %.*s %.*s\n", word, STR_ARG(name),
             STR_ARG(text));
}

static Status test_host_start(FlowHost *base, const FlowStart *start, Str *ret_id, Diag *diag) {
    TestHost *host = (TestHost *)base;
    (void)ret_id;
    if (host->refuses) return diag_set(diag, ERR_INVALID, "REFUSED", "the host said no");
    static const char *const words[] = {"", "task", "timer", "signal", "event", "workflow"};
    char text[128];
    if (start->kind == FLOW_AWAIT_TIMER) {
        snprintf(text, sizeof text, "%lld %lld", (long long)start->delay_ms,
                 (long long)start->at_ms);
        test_host_line(host, words[start->kind], STR("-"), str_from(text));
    } else {
        test_host_line(host, words[start->kind], start->name, start->input_json);
    }
    host->start_count++;
    return OK;
}

static Status test_host_effect(FlowHost *base, const FlowEffect *effect, Diag *diag) {
    (void)diag;
    static const char *const words[] = {"emit", "stream", "state", "log"};
    test_host_line((TestHost *)base, words[effect->kind], effect->name, effect->json);
    return OK;
}

static Status test_host_context(FlowHost *base, Str *ret_json, Diag *diag) {
    (void)base;
    (void)diag;
    *ret_json = STR("{\"runId\":\"r1\"}");
    return OK;
}

static int64_t test_host_now(FlowHost *base) { return ((TestHost *)base)->now_ms; }
static uint64_t test_host_random(FlowHost *base) {
    (void)base;
    return 4;
}

static const FlowHostOps test_host_ops = {
    .start = test_host_start,
    .effect = test_host_effect,
    .context = test_host_context,
    .now_ms = test_host_now,
    .random_u64 = test_host_random,
};

// Of this thread: what others do on the machine does not count.
static inline double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

typedef struct Run { // one program in execution
    TestHost host;
    FlowModule *module;
    FlowVm *vm;
    FlowRunResult result;
} Run;

static inline void run_begin_limited(Run *run, const char *source, const char *input,
                                     FlowLimits limits) {
    memset(run, 0, sizeof *run);
    run->host.base.ops = &test_host_ops;
    Diag diag = {0};
    Status status = flow_compile(STR("test.flow"), str_from(source), &run->module, NULL, &diag);
    if (status != OK) fail_msg("%s", diag.message);
    FlowVmOptions options = {
        .module = run->module,
        .input_json = input ? str_from(input) : STR_NULL,
        .host = &run->host.base,
        .limits = limits,
    };
    assert_int_equal(flow_vm_new(&options, &run->vm, &diag), OK);
}

static inline void run_begin(Run *run, const char *source, const char *input) {
    run_begin_limited(run, source, input, FLOW_LIMITS_DEFAULT);
}

static inline FlowOutcome run_turn(Run *run) {
    do {
        flow_vm_run(run->vm, &run->result);
    } while (run->result.outcome == FLOW_PREEMPTED);
    return run->result.outcome;
}

static inline void run_settle(Run *run, uint32_t id, const char *json) {
    Diag diag = {0};
    FlowSettlement settlement = {.id = id, .json = str_from(json)};
    assert_int_equal(flow_vm_settle(run->vm, &settlement, &diag), OK);
}

static inline void run_end(Run *run) {
    flow_vm_free(run->vm);
    flow_module_release(run->module);
}

// Runs a program that needs no host and compares its result as JSON.
static inline void assert_flow(const char *source, const char *json) {
    Run run;
    run_begin(&run, source, NULL);
    FlowOutcome outcome = run_turn(&run);
    if (outcome == FLOW_FAILED) fail_msg("%.*s", STR_ARG(run.result.failure.stack));
    assert_int_equal(outcome, FLOW_COMPLETED);
    char text[4096];
    snprintf(text, sizeof text, "%.*s", STR_ARG(run.result.result_json));
    assert_string_equal(text, json);
    run_end(&run);
}

static inline void assert_flow_fails(const char *source, const char *name, const char *message) {
    Run run;
    run_begin(&run, source, NULL);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    char text[1024];
    snprintf(text, sizeof text, "%.*s: %.*s", STR_ARG(run.result.failure.name),
             STR_ARG(run.result.failure.message));
    char wanted[1024];
    snprintf(wanted, sizeof wanted, "%s: %s", name, message);
    assert_string_equal(text, wanted);
    run_end(&run);
}
