// Modules: scripts made ready from their definitions on demand.
//
// The oldest are dropped when there are too many. [modules-1] is in modules.h.
//
// Not here: deploying (the store's OP_DEFINE), executing (runners/flow.c), rows into modules
// (definition.c).
#include "engine/definitions/modules.h"
#include "base/assert.h"
#include "base/limits.h"
#include "engine/definitions/definition.h"
#include "store/reads.h"

void modules_init(Modules *self, Store *store) {
    *self = (Modules){.store = store};
    map_init(&self->by_definition);
    arena_init(&self->scratch);
}

void modules_done(Modules *self) {
    uint64_t key;
    void *module;
    for (size_t at = 0; map_next(&self->by_definition, &at, &key, &module);)
        flow_module_release(module);
    map_done(&self->by_definition);
    arena_done(&self->scratch);
}

static void make_room(Modules *self) {
    if (self->by_definition.count < LIMIT_CACHED_MODULES) return;
    size_t at = 0;
    uint64_t key;
    void *module;
    if (!map_next(&self->by_definition, &at, &key, &module)) return;
    (void)map_remove(&self->by_definition, key);
    flow_module_release(module);
}

static Status compile(Modules *self, int64_t definition, FlowModule **ret_module, Diag *diag) {
    DefinitionRow row;
    Status status = store_definition_by_key(self->store, &self->scratch, definition, &row, diag);
    if (status == ERR_NOT_FOUND)
        return diag_set(diag, ERR_NOT_FOUND, "DEFINITION_MISSING",
                        "the version of the workflow that this run is pinned to is gone");
    TRY(status);
    return definition_module(&row, &self->scratch, ret_module, diag);
}

Status modules_get(Modules *self, int64_t definition, FlowModule **ret_module, Diag *diag) {
    FlowModule *module = map_get(&self->by_definition, (uint64_t)definition);
    if (module == NULL) {
        Status status = compile(self, definition, &module, diag);
        arena_reset(&self->scratch);
        TRY(status);
        make_room(self);
        (void)map_put(&self->by_definition, (uint64_t)definition, module);
        ASSERT(self->by_definition.count <= LIMIT_CACHED_MODULES); // [modules-1]
    }
    *ret_module = module;
    return OK;
}
