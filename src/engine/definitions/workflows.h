// Workflows: what this process can execute beside scripts: the workflows in C that it has functions
// for, and versions of code that other processes execute for it.
#pragma once
#include "base/containers/map.h"
#include "engine/runners/runner.h"
#include "model/workflow_set.h"

typedef struct Workflows {
    StrMap runners;   // name -> Runner
    StrMap codes;     // names that stand for code in sets; they stay, because sets refer to them
    WorkflowSet *set; // all of them, for batches
} Workflows;

void workflows_init(Workflows *self);
void workflows_done(Workflows *self);
// ERR_CONFLICT when the name is taken. The runner must outlive this.
MUST_CHECK Status workflows_add(Workflows *self, Str name, Runner *runner);
// Versions of code, while somebody asks for their turns.
void workflows_serve(Workflows *self, int64_t definition, bool is_served);
bool workflows_is_served(const Workflows *self, int64_t definition);
Runner *workflows_get(const Workflows *self, Str name); // NULL = there is none
