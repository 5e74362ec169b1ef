// Workflows: names and runners.
//
// A batch refers to the set of names as it was when the batch was gathered; so a set never changes,
// and adding a name makes another one ([workflow-set-1] of model/workflow_set.h). The names
// themselves stay as long as this does.
//
// Not here: scripts (modules.c), calling the functions (runners/native.c).
#include "engine/definitions/workflows.h"
#include "base/memory.h"

void workflows_init(Workflows *self) {
    strmap_init(&self->runners);
    strmap_init(&self->codes);
    self->set = workflow_set_new();
}

static void free_names(StrMap *map) {
    Str name;
    void *value;
    for (size_t at = 0; strmap_next(map, &at, &name, &value);)
        mem_free((void *)(uintptr_t)name.data);
    strmap_done(map);
}

void workflows_done(Workflows *self) {
    workflow_set_release(self->set);
    free_names(&self->runners);
    free_names(&self->codes);
}

static void replace_set(Workflows *self, WorkflowSet *set) {
    workflow_set_release(self->set);
    self->set = set;
}

Status workflows_add(Workflows *self, Str name, Runner *runner) {
    if (workflows_get(self, name) != NULL) return ERR_CONFLICT;
    Str own = {mem_copy(name.data, name.len), name.len};
    strmap_put(&self->runners, own, runner);
    replace_set(self, workflow_set_with(self->set, own));
    return OK;
}

// The name as the sets have it. What stands for a version once stays, so there are at most as many
// as versions were ever asked for.
static Str code_name(Workflows *self, int64_t definition) {
    CodeName text;
    Str name = workflow_code_name(definition, &text);
    const char *known = strmap_get(&self->codes, name);
    if (known != NULL) return (Str){known, name.len};
    Str own = {mem_copy(name.data, name.len), name.len};
    strmap_put(&self->codes, own, (void *)(uintptr_t)own.data);
    return own;
}

bool workflows_is_served(const Workflows *self, int64_t definition) {
    CodeName text;
    return workflow_set_has(self->set, workflow_code_name(definition, &text));
}

void workflows_serve(Workflows *self, int64_t definition, bool is_served) {
    if (workflows_is_served(self, definition) == is_served) return;
    Str name = code_name(self, definition);
    replace_set(self, is_served ? workflow_set_with(self->set, name)
                                : workflow_set_without(self->set, name));
}

Runner *workflows_get(const Workflows *self, Str name) { return strmap_get(&self->runners, name); }
