// Workflow sets: which workflows a node can execute beside scripts, so that it claims no other:
// those in C that it has functions for, by their name, and those in code of other processes that
// ask it for turns, by their version.
//
// A ready run that is met by a node which cannot execute it is reserved: its row names the workflow
// where the key of an owner would stand, as a number below zero. So nodes that can find such runs
// by the index that they claim from, and the others do not meet them again.
//   [workflow-set-1] A set never changes: batches on their way to a store may refer to it. Adding a
//        name makes another set.
//   [workflow-set-2] Numbers are the same in every process. Two names may share one, so whoever
//        claims by number also looks at the name.
#pragma once
#include "model/rows.h"

typedef struct WorkflowName {
    int64_t number;
    Str name; // the caller's
} WorkflowName;

typedef struct WorkflowSet {
    size_t user_count;
    size_t count;
    WorkflowName names[]; // by number
} WorkflowSet;

// What stands in a set for a version of code: no workflow can be called so.
typedef struct CodeName {
    char text[40];
} CodeName;
Str workflow_code_name(int64_t definition, CodeName *text);

// What a node must have in its set to execute the run; null: any node can.
Str run_executor(const RunRow *run, CodeName *text);
// What stands for the owner of the run while it is reserved; 0: it never is.
int64_t run_reservation(const RunRow *run);

// All count one user, the caller. The name outlives every set that it is in.
WorkflowSet *workflow_set_new(void);
WorkflowSet *workflow_set_with(const WorkflowSet *set, Str name);
WorkflowSet *workflow_set_without(const WorkflowSet *set, Str name);
WorkflowSet *workflow_set_retain(WorkflowSet *set);
void workflow_set_release(WorkflowSet *set); // NULL is nothing

// NULL stands for a set of all there are.
bool workflow_set_has(const WorkflowSet *set, Str name);
// The first number of the set that is not below `from`; 0 = there is none.
int64_t workflow_set_next(const WorkflowSet *set, int64_t from);
