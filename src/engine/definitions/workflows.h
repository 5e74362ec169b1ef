// Workflows: the workflows in C that this process has functions for.
#pragma once
#include "base/containers/map.h"
#include "engine/runners/runner.h"
#include "model/workflow_set.h"

typedef struct Workflows {
    StrMap runners;   // name -> Runner
    WorkflowSet *set; // their names, for batches
} Workflows;

void workflows_init(Workflows *self);
void workflows_done(Workflows *self);
// ERR_CONFLICT when the name is taken. The runner must outlive this.
MUST_CHECK Status workflows_add(Workflows *self, Str name, Runner *runner);
Runner *workflows_get(const Workflows *self, Str name); // NULL = there is none
