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
    self->set = workflow_set_new();
}

void workflows_done(Workflows *self) {
    workflow_set_release(self->set);
    Str name;
    void *runner;
    for (size_t at = 0; strmap_next(&self->runners, &at, &name, &runner);)
        mem_free((void *)(uintptr_t)name.data);
    strmap_done(&self->runners);
}

Status workflows_add(Workflows *self, Str name, Runner *runner) {
    if (workflows_get(self, name) != NULL) return ERR_CONFLICT;
    Str own = {mem_copy(name.data, name.len), name.len};
    strmap_put(&self->runners, own, runner);
    WorkflowSet *before = self->set;
    self->set = workflow_set_with(before, own);
    workflow_set_release(before);
    return OK;
}

Runner *workflows_get(const Workflows *self, Str name) { return strmap_get(&self->runners, name); }
