// Deploying scripts: source text becomes the current definition of its workflows.
//
// The whole file is kept as the source of each workflow in it; the version is the hash of that
// text, so deploying the same text twice changes nothing, and deploying an old one is a rollback.
// The workflows of a file become current together: if one is refused, nothing has changed.
//
// Not here: compiling (flow/), pinning runs to versions (store/kernel/runs/create.c).
#include "api/api.h"
#include "base/limits.h"
#include "engine/definitions/definition.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"
#include <stdio.h>

enum { SOURCE_SIZE_MAX = 1 << 20, REPORT_SIZE_MAX = 4 << 20 };

typedef struct Deploying {
    FlowModule *module;
    Buf warnings; // JSON array
    void (*visit)(void *user, const abide_deployment *deployment);
    void *user;
} Deploying;

static void tell(const Deploying *deploying, Str name, bool is_new) {
    abide_deployment deployment = {.is_new = is_new, .warnings = deploying->warnings.data};
    snprintf(deployment.name, sizeof deployment.name, "%.*s", STR_ARG(name));
    snprintf(deployment.version, sizeof deployment.version, "%.*s",
             STR_ARG(flow_module_hash(deploying->module)));
    deploying->visit(deploying->user, &deployment);
}

static Status define(abide_engine *engine, const Deploying *deploying, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    Request request = {.op.kind = OP_DEFINE,
                       .op.in.define.file = flow_module_file_name(deploying->module),
                       .arena = &arena};
    Op *op = &request.op;
    Status status = definition_fill(deploying->module, &arena, op, diag);
    if (status == OK) {
        status = driver_request(&engine->driver, &request);
        if (status != OK) *diag = op->out.diag;
    }
    if (status == OK && deploying->visit != NULL) {
        tell(deploying, op->in.define.name, op->out.define.is_new);
        for (size_t i = 0; i < op->in.define.other_count; i++)
            tell(deploying, op->in.define.others[i].name, op->out.define.others[i].is_new);
    }
    arena_done(&arena);
    return status;
}

// Also held to what can work (flow/check/check.h): what is deployed from now on, not what is there.
static Status compile(Deploying *deploying, Str name, Str text, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    FlowSource source;
    Status status = flow_source_init(&source, name, text, &arena, diag);
    if (status == OK) {
        FlowReport *report = ARENA_NEW(&arena, FlowReport);
        flow_report_init(report, &source, &arena);
        status = flow_compile_checked(report, &deploying->module, diag);
        flow_report_render_json(report, &deploying->warnings);
        buf_cstr(&deploying->warnings);
    }
    arena_done(&arena);
    return status;
}

int abide_deploy(abide_engine *engine, const char *file_name, const char *source,
                 void (*visit)(void *user, const abide_deployment *deployment), void *user,
                 abide_error *error) {
    if (engine == NULL || source == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and source are required");
    Deploying deploying = {.visit = visit, .user = user};
    Diag diag;
    Str name, text = str_from(source);
    Status status = api_check_name(file_name, "the file name", &name, &diag);
    if (status == OK && text.len > SOURCE_SIZE_MAX)
        status =
            diag_set(&diag, ERR_LIMIT, "SOURCE_TOO_LARGE",
                     "the source has %zu bytes; at most %d are allowed", text.len, SOURCE_SIZE_MAX);
    if (status != OK) return api_answer(error, status, &diag);
    buf_init(&deploying.warnings, REPORT_SIZE_MAX);
    status = compile(&deploying, name, text, &diag);
    if (status == OK) {
        status = define(engine, &deploying, &diag);
        flow_module_release(deploying.module);
    }
    buf_done(&deploying.warnings);
    return api_answer(error, status, &diag);
}
