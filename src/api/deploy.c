// Deploying scripts: source text becomes the current definition of its workflows.
//
// The whole file is kept as the source of each workflow in it; the version is the hash of that
// text, so deploying the same text twice changes nothing, and deploying an old one is a rollback.
//
// Not here: compiling (flow/), pinning runs to versions (store/kernel_create.c).
#include "api/api.h"
#include "base/limits.h"
#include "engine/definition.h"
#include "engine/flow_options.h"
#include "flow/flow.h"
#include <stdio.h>

enum { SOURCE_SIZE_MAX = 1 << 20 };

typedef struct Deploying {
    abide_engine *engine;
    FlowModule *module;
    Str source;
    void (*visit)(void *user, const abide_deployment *deployment);
    void *user;
} Deploying;

static Status check_config(const FlowModule *module, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    FlowConfig config = {0};
    Status status = flow_config_options(&arena, flow_module_workflow(module, 0).config_json,
                                        &config, diag);
    arena_done(&arena);
    return status;
}

static Status define_workflow(const Deploying *deploying, uint32_t index, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    Request request = {.op.kind = OP_DEFINE};
    Status status = definition_fill(deploying->module, index, &arena, &request.op, diag);
    if (status == OK) {
        status = driver_request(&deploying->engine->driver, &request, NULL);
        if (status != OK) *diag = request.op.diag;
    }
    arena_done(&arena);
    if (status != OK) return status;
    if (deploying->visit == NULL) return OK;
    abide_deployment deployment = {.is_new = request.op.define.is_new};
    snprintf(deployment.name, sizeof deployment.name, "%.*s", STR_ARG(request.op.define.name));
    snprintf(deployment.version, sizeof deployment.version, "%.*s",
             STR_ARG(request.op.define.version));
    deploying->visit(deploying->user, &deployment);
    return OK;
}

int abide_deploy(abide_engine *engine, const char *file_name, const char *source,
                 void (*visit)(void *user, const abide_deployment *deployment), void *user,
                 abide_error *error) {
    if (engine == NULL || source == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and source are required");
    Deploying deploying = {
        .engine = engine, .source = str_from(source), .visit = visit, .user = user};
    Diag diag;
    Str name;
    Status status = api_check_name(file_name, "the file name", &name, &diag);
    if (status == OK && deploying.source.len > SOURCE_SIZE_MAX)
        status = diag_set(&diag, ERR_LIMIT, "SOURCE_TOO_LARGE",
                          "the source has %zu bytes; at most %d are allowed", deploying.source.len,
                          SOURCE_SIZE_MAX);
    if (status == OK) status = flow_compile(name, deploying.source, &deploying.module, NULL, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    uint32_t count = flow_module_workflow_count(deploying.module);
    status = check_config(deploying.module, &diag);
    for (uint32_t i = 0; i < count && status == OK; i++)
        status = define_workflow(&deploying, i, &diag);
    flow_module_release(deploying.module);
    return api_answer(error, status, &diag);
}
