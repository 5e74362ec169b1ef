// Session: see session.h.
//
//   go: execute a slice -> waits? checkpoint, let the next thing happen -> execute …
//
// The machine is always in exact mode, so going on is slow by the standards of a server and fast by
// those of a person: some ten million instructions a second.
#include "cli/debug/session.h"
#include "base/memory.h"

enum { SLICE = 20000, SNAPSHOT_MAX = 64 << 20, LOG_MAX = 1 << 16, MEMORY_MAX = 1 << 30 };

// ---- machines ----

FlowVmOptions session_vm_options(DebugSession *session) {
    FlowVmOptions options = {.module = session->setting.module,
                             .workflow_index = session->setting.workflow_index,
                             .input_json = session->input,
                             .host = &session->world.host,
                             .limits = FLOW_LIMITS_DEFAULT};
    options.limits.snapshot_bytes = SNAPSHOT_MAX;
    options.limits.heap_bytes = MEMORY_MAX;
    return options;
}

static void use_vm(DebugSession *session, FlowVm *vm) {
    flow_vm_free(session->vm);
    session->vm = vm;
    flow_debug_attach(session->debugger, vm);
}

static Status begin(DebugSession *session, Diag *diag) {
    FlowVmOptions options = session_vm_options(session);
    FlowVm *vm;
    TRY(flow_vm_new(&options, &vm, diag));
    use_vm(session, vm);
    return OK;
}

static void world_begin(DebugSession *session) {
    const SessionSetting *setting = &session->setting;
    WorldSetting world = {.arena = session->arena,
                          .mocks = setting->mocks,
                          .script = setting->script,
                          .start_ms = setting->start_ms,
                          .run_id = setting->run_id};
    world.workflow = flow_module_workflow(setting->module, setting->workflow_index).name;
    world.version = flow_module_hash(setting->module);
    World before = session->world;
    world_init(&session->world, &world);
    session->world.say = before.say;
    session->world.context = before.context;
}

Status session_open(DebugSession *session, const SessionSetting *setting, Arena *arena,
                    Diag *diag) {
    session->arena = arena;
    session->setting = *setting;
    session->input = setting->input_json;
    flow_module_retain(setting->module);
    session->debugger = flow_debug_new();
    world_begin(session);
    return begin(session, diag);
}

static void checkpoint_done(Checkpoint *checkpoint) {
    buf_done(&checkpoint->snapshot);
    world_state_done(&checkpoint->state);
}

void session_close(DebugSession *session) {
    if (!session->debugger) return;
    session_clear_breakpoints(session);
    vec_free(&session->breakpoints);
    for (size_t i = 0; i < session->history.count; i++) checkpoint_done(&session->history.data[i]);
    vec_free(&session->history);
    flow_vm_free(session->vm);
    flow_debug_free(session->debugger);
    world_done(&session->world);
    flow_module_release(session->setting.module);
    *session = (DebugSession){0};
}

// ---- breakpoints ----

void breakpoint_done(Breakpoint *breakpoint) {
    flow_expression_free(breakpoint->condition);
    mem_free(breakpoint->log);
}

void session_clear_breakpoints(DebugSession *session) {
    for (size_t i = 0; i < session->breakpoints.count; i++)
        breakpoint_done(&session->breakpoints.data[i]);
    vec_clear(&session->breakpoints);
    flow_debug_clear_breaks(session->debugger);
}

void session_add_breakpoint(DebugSession *session, const Breakpoint *breakpoint) {
    vec_push(&session->breakpoints, *breakpoint);
    flow_debug_set_break(session->debugger, breakpoint->line, true);
}

Status session_evaluate(DebugSession *session, Str text, uint32_t frame, Buf *ret_json,
                        Diag *diag) {
    FlowExpression *expression;
    FlowEvaluation at = {session->vm, frame, EVALUATE_BUDGET};
    TRY(flow_expression_parse(text, &expression, diag));
    Status status = flow_expression_evaluate(expression, &at, ret_json, diag);
    flow_expression_free(expression);
    return status;
}

// "total is {total}": what stands in braces is evaluated.
static void say_log(DebugSession *session, const char *text) {
    Buf line;
    Diag diag;
    buf_init(&line, LOG_MAX);
    for (const char *at = text; *at;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (!end) {
            buf_append_char(&line, *at++);
            continue;
        }
        Str expression = {at + 1, (size_t)(end - at - 1)};
        if (session_evaluate(session, expression, 0, &line, &diag) != OK)
            buf_printf(&line, "{%s}", diag.message);
        at = end + 1;
    }
    session->world.say(session->world.context, "console", buf_str(&line));
    buf_done(&line);
}

static bool is_condition_true(DebugSession *session, const Breakpoint *breakpoint) {
    FlowEvaluation at = {session->vm, 0, EVALUATE_BUDGET};
    bool is_true = false;
    Diag diag;
    if (!breakpoint->condition) return true;
    if (flow_expression_test(breakpoint->condition, &at, &is_true, &diag) == OK) return is_true;
    session->world.say(session->world.context, "stderr",
                       arena_printf(session->arena, "the condition of line %u: %s",
                                    breakpoint->line, diag.message));
    return true; // a person should look at it
}

// [debug-session-2] All breakpoints of the line; answers whether one of them stops.
static bool takes_breakpoint(DebugSession *session) {
    FlowDebugFrame frame;
    bool is_stopped = false;
    if (!flow_debug_frame(session->vm, 0, session->arena, &frame)) return false;
    for (size_t i = 0; i < session->breakpoints.count; i++) {
        Breakpoint *breakpoint = &session->breakpoints.data[i];
        if (breakpoint->line != frame.line || !is_condition_true(session, breakpoint)) continue;
        breakpoint->hits++;
        if (breakpoint->hits < breakpoint->hits_wanted) continue;
        if (breakpoint->log) say_log(session, breakpoint->log);
        else is_stopped = true;
    }
    return is_stopped;
}

// ---- going on ----

static void push_checkpoint(DebugSession *session, Checkpoint *checkpoint) {
    world_state_copy(&checkpoint->state, &session->world.state);
    if (session->history.count == CHECKPOINTS_MAX) {
        checkpoint_done(&session->history.data[0]);
        memmove(session->history.data, session->history.data + 1,
                --session->history.count * sizeof(Checkpoint));
    }
    vec_push(&session->history, *checkpoint);
}

// [debug-session-1] A machine that cannot be kept (it is too large) is no place to go back to.
static void keep_checkpoint(DebugSession *session) {
    Checkpoint checkpoint;
    Diag diag;
    buf_init(&checkpoint.snapshot, SNAPSHOT_MAX);
    if (flow_snapshot_write(session->vm, &checkpoint.snapshot, &diag) != OK) {
        buf_done(&checkpoint.snapshot);
        session->world.say(session->world.context, "stderr", str_from(diag.message));
        return;
    }
    push_checkpoint(session, &checkpoint);
}

void session_add_place(DebugSession *session, Str vm_snapshot) {
    Checkpoint checkpoint;
    buf_init(&checkpoint.snapshot, SNAPSHOT_MAX);
    buf_append_str(&checkpoint.snapshot, vm_snapshot);
    push_checkpoint(session, &checkpoint);
}

static SessionEvent begin_again(DebugSession *session, Str input, Str *ret_text) {
    Diag diag;
    session->input = arena_str(session->arena, input);
    world_restart(&session->world);
    if (begin(session, &diag) == OK) return SESSION_RUNNING;
    *ret_text = arena_str(session->arena, str_from(diag.message));
    return SESSION_FAILED;
}

static SessionEvent end_turn(DebugSession *session, const FlowRunResult *result, Str *ret_text) {
    switch (result->outcome) {
    case FLOW_COMPLETED: *ret_text = result->result_json; return SESSION_COMPLETED;
    case FLOW_FAILED:
        *ret_text = result->failure.stack.len > 0
                        ? result->failure.stack
                        : arena_printf(session->arena, "%.*s: %.*s", STR_ARG(result->failure.name),
                                       STR_ARG(result->failure.message));
        return SESSION_FAILED;
    case FLOW_CONTINUE_AS: return begin_again(session, result->result_json, ret_text);
    case FLOW_PREEMPTED: return SESSION_RUNNING;
    case FLOW_PARKED: break;
    }
    keep_checkpoint(session);
    if (world_advance(&session->world, session->vm)) return SESSION_RUNNING;
    *ret_text = world_waits_for(&session->world);
    return SESSION_STUCK;
}

SessionEvent session_go(DebugSession *session, Str *ret_text) {
    FlowRunResult result;
    switch (flow_debug_run(session->debugger, SLICE, &result)) {
    case DEBUG_STOP_NONE: return SESSION_RUNNING;
    case DEBUG_STOP_STEP: return SESSION_STOPPED_STEP;
    case DEBUG_STOP_EXCEPTION: return SESSION_STOPPED_EXCEPTION;
    case DEBUG_STOP_BREAKPOINT:
        if (takes_breakpoint(session)) return SESSION_STOPPED_BREAKPOINT;
        return flow_debug_is_step_done(session->debugger) ? SESSION_STOPPED_STEP : SESSION_RUNNING;
    case DEBUG_STOP_TURN_END: return end_turn(session, &result, ret_text);
    }
    UNREACHABLE();
}

// ---- back ----

static void to_beginning(DebugSession *session) {
    Diag diag;
    Str text;
    world_done(&session->world);
    world_begin(session);
    session->input = session->setting.input_json;
    Status status = begin(session, &diag);
    ASSERT(status == OK); // it began before
    flow_debug_mode(session->debugger, DEBUG_STEP_IN);
    while (session_go(session, &text) == SESSION_RUNNING) {}
}

bool session_step_back(DebugSession *session) {
    FlowVmOptions options = session_vm_options(session);
    FlowVm *vm;
    Diag diag;
    if (session->history.count > 0) {
        Checkpoint checkpoint = vec_pop(&session->history);
        if (flow_snapshot_read(buf_str(&checkpoint.snapshot), &options, &vm, &diag) == OK) {
            use_vm(session, vm);
            world_state_done(&session->world.state);
            world_state_copy(&session->world.state, &checkpoint.state);
            checkpoint_done(&checkpoint);
            return true;
        }
        checkpoint_done(&checkpoint);
    }
    to_beginning(session);
    return false;
}

static bool waits_at_breakpoint(DebugSession *session) {
    FlowDebugFrame frame;
    if (!flow_debug_frame(session->vm, 0, session->arena, &frame)) return false;
    for (size_t i = 0; i < session->breakpoints.count; i++)
        if (session->breakpoints.data[i].line == frame.line) return true;
    return false;
}

bool session_reverse(DebugSession *session) {
    while (session_step_back(session))
        if (waits_at_breakpoint(session)) return true;
    return false;
}
