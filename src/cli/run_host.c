// RunHost: what the functions of flow/host.h mean without an engine.
//
// Starting anything succeeds and is only remembered: whether the script may wait for it is
// decided when it does (run_program.c), so that fire and forget needs nobody.
//   [H1] Names and state are copied into the arena: the VM's texts are valid during a call only.
//   [H2] Nothing here calls back into the VM.

#include "cli/run_host.h"
#include "json/escape.h"
#include <stdio.h>

enum { CONTEXT_MAX = 1 << 16 };

static RunHost *run_host_of(FlowHost *host) { return (RunHost *)host; }

static Status host_start(FlowHost *base, const FlowStart *start, Str *ret_handle_id, Diag *diag) {
    (void)ret_handle_id;
    (void)diag;
    RunHost *host = run_host_of(base);
    RunWait wait = {.id = start->id,
                    .kind = start->kind,
                    .name = arena_str(host->arena, start->name),
                    .due_ms = -1};
    int64_t now = env_now_ms(host->env);
    if (start->at_ms >= 0) wait.due_ms = start->at_ms;
    else if (start->delay_ms >= 0) wait.due_ms = now + start->delay_ms;
    else if (start->timeout_ms >= 0) wait.due_ms = now + start->timeout_ms;
    vec_push(&host->waits, wait);
    return OK;
}

static Status host_effect(FlowHost *base, const FlowEffect *effect, Diag *diag) {
    (void)diag;
    RunHost *host = run_host_of(base);
    switch (effect->kind) {
    case FLOW_EFFECT_LOG:
        fwrite(effect->json.data, 1, effect->json.len, stderr);
        fputc('\n', stderr);
        break;
    case FLOW_EFFECT_EMIT:
        fprintf(stderr, "event %.*s %.*s\n", STR_ARG(effect->name), STR_ARG(effect->json));
        break;
    case FLOW_EFFECT_STREAM:
        fprintf(stderr, "stream %.*s %.*s\n", STR_ARG(effect->name), STR_ARG(effect->json));
        break;
    case FLOW_EFFECT_STATE: {
        Str *value = ARENA_NEW(host->arena, Str);
        *value = arena_str(host->arena, effect->json);
        strmap_put(&host->state, arena_str(host->arena, effect->name), value);
        break;
    }
    }
    return OK;
}

static Status host_state_get(FlowHost *base, Str key, Str *ret_json, Diag *diag) {
    (void)diag;
    const Str *value = strmap_get(&run_host_of(base)->state, key);
    *ret_json = value ? *value : STR_NULL;
    return OK;
}

static Status host_context(FlowHost *base, Str *ret_json, Diag *diag) {
    (void)diag;
    RunHost *host = run_host_of(base);
    Buf json;
    buf_init(&json, CONTEXT_MAX);
    buf_append_cstr(&json, "{\"runId\":\"local\",\"workflow\":");
    json_append_string(&json, host->workflow_name);
    buf_append_cstr(&json, ",\"version\":");
    json_append_string(&json, host->version);
    buf_append_cstr(&json, ",\"attempt\":1,\"parentId\":null,\"startedAt\":");
    json_append_number(&json, (double)host->started_at_ms);
    buf_append_cstr(&json, ",\"tags\":[],\"namespace\":\"default\"}");
    *ret_json = arena_str(host->arena, buf_str(&json));
    buf_done(&json);
    return OK;
}

static int64_t host_now_ms(FlowHost *base) { return env_now_ms(run_host_of(base)->env); }
static uint64_t host_random(FlowHost *base) { return env_random_u64(run_host_of(base)->env); }

static const FlowHostOps run_host_ops = {
    .start = host_start,
    .effect = host_effect,
    .state_get = host_state_get,
    .context = host_context,
    .now_ms = host_now_ms,
    .random_u64 = host_random,
};

void run_host_init(RunHost *host, Arena *arena, const FlowModule *module, uint32_t workflow_index) {
    *host = (RunHost){.base = {&run_host_ops},
                      .env = env_system(),
                      .arena = arena,
                      .workflow_name = flow_module_workflow(module, workflow_index).name,
                      .version = flow_module_hash(module)};
    host->started_at_ms = env_now_ms(host->env);
    strmap_init(&host->state);
}

void run_host_done(RunHost *host) {
    vec_free(&host->waits);
    strmap_done(&host->state);
}

void run_host_forget(RunHost *host) { vec_clear(&host->waits); }

RunWait *run_host_find(RunHost *host, uint32_t id) {
    for (size_t i = 0; i < host->waits.count; i++)
        if (host->waits.data[i].id == id) return &host->waits.data[i];
    return NULL;
}

void run_host_remove(RunHost *host, uint32_t id) {
    for (size_t i = 0; i < host->waits.count; i++) {
        if (host->waits.data[i].id != id) continue;
        memmove(&host->waits.data[i], &host->waits.data[i + 1],
                (host->waits.count - i - 1) * sizeof(RunWait));
        host->waits.count--;
        return;
    }
}

const char *run_wait_kind_name(FlowAwaitKind kind) {
    switch (kind) {
    case FLOW_AWAIT_TASK: return "task";
    case FLOW_AWAIT_TIMER: return "timer";
    case FLOW_AWAIT_SIGNAL: return "signal";
    case FLOW_AWAIT_EVENT: return "event";
    case FLOW_AWAIT_WORKFLOW: return "workflow";
    case FLOW_AWAIT_NONE:
    case FLOW_AWAIT_COUNT: break;
    }
    return "promise";
}
