// Workflow sets: which workflows in C a node has functions for, so that it claims no other.
//
// A ready run of a workflow in C that is met by a node without the function is reserved: its row
// names the workflow where the key of an owner would stand, as a number below zero. So nodes that
// have the function find such runs by the index that they claim from, and the others do not meet
// them again.
//   [workflow-set-1] A set never changes: batches on their way to a store may refer to it. Adding a
//        name makes another set.
//   [workflow-set-2] Numbers are the same in every process. Two names may share one, so whoever
//        claims by number also looks at the name.
#pragma once
#include "base/text/str.h"
#include <stddef.h>
#include <stdint.h>

typedef struct WorkflowName {
    int64_t number;
    Str name; // the caller's
} WorkflowName;

typedef struct WorkflowSet {
    size_t user_count;
    size_t count;
    WorkflowName names[]; // by number
} WorkflowSet;

// What stands for the owner of a run that is reserved for nodes with that workflow; below zero.
int64_t workflow_number(Str name);

// Both count one user, the caller. The name outlives every set that it is in.
WorkflowSet *workflow_set_new(void);
WorkflowSet *workflow_set_with(const WorkflowSet *set, Str name);
WorkflowSet *workflow_set_retain(WorkflowSet *set);
void workflow_set_release(WorkflowSet *set); // NULL is nothing

// NULL stands for a set of all there are.
bool workflow_set_has(const WorkflowSet *set, Str name);
// The first number of the set that is not below `from`; 0 = there is none.
int64_t workflow_set_next(const WorkflowSet *set, int64_t from);
