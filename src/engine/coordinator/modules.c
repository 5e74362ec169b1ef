// Modules: scripts made ready from their definitions on demand, once per version.
//
// A definition never changes, so a compiled one never goes stale; the oldest are dropped when
// there are too many (runs that execute them hold their own reference).
//
// Not here: deploying (the store's OP_DEFINE), executing (runners/flow.c).
#include "base/limits.h"
#include "engine/coordinator/definition.h"
#include "engine/coordinator/internal.h"
#include "store/reads.h"

static void make_room(Coordinator *c) {
    if (c->modules.count < LIMIT_CACHED_MODULES) return;
    size_t at = 0;
    uint64_t key;
    void *module;
    if (!map_next(&c->modules, &at, &key, &module)) return;
    (void)map_remove(&c->modules, key);
    flow_module_release(module);
}

Status modules_get(Coordinator *c, int64_t definition, FlowModule **ret_module, Diag *diag) {
    FlowModule *module = map_get(&c->modules, (uint64_t)definition);
    if (module == NULL) {
        DefinitionRow row;
        Status status = store_definition_by_key(c->store, &c->scratch, definition, &row, diag);
        if (status == ERR_NOT_FOUND)
            return diag_set(diag, ERR_NOT_FOUND, "DEFINITION_MISSING",
                            "the version of the workflow that this run is pinned to is gone");
        TRY(status);
        TRY(definition_module(&row, &c->scratch, &module, diag));
        make_room(c);
        (void)map_put(&c->modules, (uint64_t)definition, module);
    }
    *ret_module = module;
    return OK;
}

void modules_done(Coordinator *c) {
    uint64_t key;
    void *module;
    for (size_t at = 0; map_next(&c->modules, &at, &key, &module);) flow_module_release(module);
    map_done(&c->modules);
}
