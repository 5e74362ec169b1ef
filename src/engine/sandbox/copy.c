// Copy: the run that a sandbox goes on with.
//
// It is the run as it is with what was delivered to it, or as a kept turn began, with nothing
// delivered and the clock at the moment when it came to stand there. A wish for another version is
// met as a move would meet it (definitions/move.h), on the copy alone.
//
// Not here: what the copy does then (sandbox.c).
#include "base/limits.h"
#include "engine/definitions/definition.h"
#include "engine/definitions/move.h"
#include "engine/inspect/standing.h"
#include "engine/sandbox/internal.h"
#include "flow/lexer/report.h"
#include <stdio.h>

static Status check_run(const Standing *standing, Diag *diag) {
    const RunRow *run = &standing->run;
    if (run->kind != RUN_FLOW)
        return diag_set(diag, ERR_CONFLICT, "RUN_NOT_SCRIPT",
                        "\"%.*s\" is a run of a C function; only scripts can be tried",
                        STR_ARG(run->id));
    bool has_place =
        !run_state_is_terminal(run->state) || (run->state == RUN_FAILED && run->snapshot.len > 0);
    if (has_place || standing->turn != 0) return OK;
    return diag_set(diag, ERR_TERMINAL, "RUN_TERMINAL",
                    "\"%.*s\" has ended; a run that waits or has failed can be tried, or one of "
                    "its kept turns",
                    STR_ARG(run->id));
}

// ---- versions ----

// A source that is not deployed, as if it were. The caller releases the module.
static Status compile(Str file, Str text, FlowModule **ret_module, Diag *diag) {
    Arena arena; // a tree takes many times the size of its source
    FlowSource source;
    arena_init(&arena);
    Status status = flow_source_init(&source, file, text, &arena, diag);
    if (status == OK) {
        FlowReport *report = ARENA_NEW(&arena, FlowReport);
        flow_report_init(report, &source, &arena);
        status = flow_compile_checked(report, ret_module, diag);
        if (status != OK && diag != NULL)
            snprintf(diag->code, sizeof diag->code, "%s", flow_report_refusal(report));
    }
    arena_done(&arena);
    return status;
}

static Status find_module(const Sandbox *self, FlowModule **ret_module, Diag *diag) {
    const SandboxStart *start = &self->what->answers->start;
    if (!str_is_null(start->source))
        return compile(flow_module_file_name(self->module), start->source, ret_module, diag);
    DefinitionRef which = {.name = self->view.workflow, .version = start->version};
    DefinitionRow row;
    TRY(move_find_version(self->what->store, self->arena, which, &row, diag));
    return definition_module(&row, self->arena, ret_module, diag);
}

static const Mask *mask_of(const FlowModule *module, Str workflow) {
    uint32_t index;
    if (flow_module_find_workflow(module, workflow, &index) != OK) return NULL;
    return flow_module_workflow(module, index).mask;
}

// Or whoever tries could look at what the version of the run hides.
static Status check_masks(FlowModule *const modules[2], Str workflow, Diag *diag) {
    Str path = mask_missing(mask_of(modules[1], workflow), mask_of(modules[0], workflow));
    if (str_is_null(path)) return OK;
    return diag_set(diag, ERR_CONFLICT, "MOVE_REFUSED",
                    "the version would show `%.*s`, which that of the run hides: name it in "
                    "config.secret",
                    STR_ARG(path));
}

static Status put_on_version(Sandbox *self, Diag *diag) {
    FlowModule *modules[2] = {self->module, NULL};
    RunView *view = &self->view;
    uint32_t index;
    TRY(find_module(self, &modules[1], diag));
    Status status = flow_module_find_workflow(modules[1], view->workflow, &index);
    if (status != OK)
        status = diag_set(diag, ERR_CONFLICT, "MOVE_REFUSED",
                          "that version has no workflow \"%.*s\"", STR_ARG(view->workflow));
    if (status == OK) status = check_masks(modules, view->workflow, diag);
    Moved moved = {.snapshot = view->snapshot};
    if (status == OK && !str_is_null(view->snapshot))
        status = move_snapshot(view->snapshot, modules, self->arena, &moved, diag);
    if (status == OK) view->snapshot = moved.snapshot;
    flow_module_release(status == OK ? self->module : modules[1]);
    if (status == OK) self->module = view->module = modules[1];
    return status;
}

// ---- the run ----

static void make_view(const StandingMore *more, const Standing *standing, RunView *ret_view) {
    const RunRow *run = &standing->run;
    *ret_view = (RunView){
        .key = run->key,
        .id = run->id,
        .workflow = run->workflow,
        .input = more->input,
        .parent_id = more->parent_id,
        .incarnation = run->incarnation,
        .retries = run->retries,
        .started_at_ms = run->started_at_ms,
        .snapshot = run->snapshot.len > 0 ? run->snapshot : STR_NULL,
        .tags = run->tags,
        .last_seq = run->log_seq,
    };
    if (standing->turn != 0) return; // the caller answers
    ret_view->deliveries = more->deliveries;
    ret_view->delivery_count = more->delivery_count;
}

static Status take_module(Sandbox *self, const Standing *standing, Diag *diag) {
    Modules modules;
    FlowModule *module;
    modules_init(&modules, self->what->store);
    Status status = standing_module(standing, &modules, self->arena, &module, diag);
    if (status == OK) self->module = self->view.module = flow_module_retain(module);
    modules_done(&modules);
    return status;
}

// What the snapshot holds, so that one that cannot be read is refused and not tried.
static Status restore(Sandbox *self, Diag *diag) {
    if (str_is_null(self->view.snapshot)) return OK;
    FlowVmOptions options = {.module = self->view.module, .limits = self->runner.limits};
    FlowMachine *machine;
    TRY(flow_machine_restore(self->view.snapshot, &options, &machine, diag));
    self->view.machine = machine;
    return OK;
}

Status sandbox_copy(Sandbox *self, Diag *diag) {
    const SandboxRun *what = self->what;
    const SandboxStart *start = &what->answers->start;
    StandingWish wish = {what->store, self->arena, what->run_id, start->turn};
    Standing standing;
    StandingMore more;
    TRY(standing_read(&wish, &standing, diag));
    TRY(check_run(&standing, diag));
    TRY(standing_more(&wish, &standing, &more, diag));
    make_view(&more, &standing, &self->view);
    self->began_at_ms = more.at_ms != 0 ? more.at_ms : what->now_ms;
    TRY(take_module(self, &standing, diag));
    if (!str_is_null(start->version) || !str_is_null(start->source))
        TRY(put_on_version(self, diag));
    self->mask = mask_of(self->module, self->view.workflow);
    return restore(self, diag);
}
