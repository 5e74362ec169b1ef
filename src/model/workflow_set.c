// Workflow sets: see workflow_set.h.
//
// An array by number, searched by halves. Sets are made when a process registers its workflows, a
// few dozen at most, and asked whenever a run becomes ready: so they are copied to grow, and asking
// costs one hash and a few comparisons.
//
// Not here: who claims and who reserves (store/kernel/nodes/nodes.c, store/kernel/runs/runs.c).
#include "model/workflow_set.h"
#include "base/assert.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "base/text/number.h"
#include <string.h>

// What stands for the owner of a run that is reserved for nodes with that workflow; below zero.
static int64_t workflow_number(Str name) { // [workflow-set-2]
    return -(int64_t)(hash_fixed_bytes(name.data, name.len) >> 1 | 1);
}

Str workflow_code_name(int64_t definition, CodeName *text) {
    text->text[0] = '\n'; // names have none
    return (Str){text->text, 1 + number_format_i64(definition, text->text + 1)};
}

Str run_executor(const RunRow *run, CodeName *text) {
    switch ((RunKind)run->kind) {
    case RUN_NATIVE: return run->workflow;
    case RUN_CODE: return workflow_code_name(run->definition, text);
    case RUN_FLOW: break;
    }
    return STR_NULL;
}

int64_t run_reservation(const RunRow *run) {
    CodeName text;
    Str needed = run_executor(run, &text);
    return str_is_null(needed) ? 0 : workflow_number(needed);
}

static WorkflowSet *set_of(size_t count) {
    WorkflowSet *set = mem_zalloc(sizeof(WorkflowSet) + count * sizeof(WorkflowName));
    set->user_count = 1;
    set->count = count;
    return set;
}

// Where the first name is whose number is not below `from`.
static size_t place_of(const WorkflowSet *set, int64_t from) {
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->names[middle].number < from) low = middle + 1;
        else high = middle;
    }
    return low;
}

WorkflowSet *workflow_set_new(void) { return set_of(0); }

WorkflowSet *workflow_set_with(const WorkflowSet *set, Str name) { // [workflow-set-1]
    WorkflowSet *larger = set_of(set->count + 1);
    int64_t number = workflow_number(name);
    size_t place = place_of(set, number), rest = set->count - place;
    if (place > 0) memcpy(larger->names, set->names, place * sizeof(WorkflowName));
    larger->names[place] = (WorkflowName){.number = number, .name = name};
    if (rest > 0)
        memcpy(&larger->names[place + 1], &set->names[place], rest * sizeof(WorkflowName));
    return larger;
}

WorkflowSet *workflow_set_without(const WorkflowSet *set, Str name) { // [workflow-set-1]
    WorkflowSet *smaller = set_of(set->count);
    smaller->count = 0;
    for (size_t i = 0; i < set->count; i++)
        if (!str_equal(set->names[i].name, name)) smaller->names[smaller->count++] = set->names[i];
    return smaller;
}

WorkflowSet *workflow_set_retain(WorkflowSet *set) {
    set->user_count++;
    return set;
}

void workflow_set_release(WorkflowSet *set) {
    if (set == NULL) return;
    ASSERT(set->user_count > 0);
    if (--set->user_count == 0) mem_free(set);
}

bool workflow_set_has(const WorkflowSet *set, Str name) {
    if (set == NULL) return true;
    if (set->count == 0) return false;
    int64_t number = workflow_number(name);
    for (size_t i = place_of(set, number); i < set->count; i++) {
        if (set->names[i].number != number) return false;
        if (str_equal(set->names[i].name, name)) return true;
    }
    return false;
}

int64_t workflow_set_next(const WorkflowSet *set, int64_t from) {
    if (set == NULL) return from < 0 ? from : 0;
    size_t place = place_of(set, from);
    return place < set->count ? set->names[place].number : 0;
}
