// Plan: what a version of a script that is not deployed yet would mean for the runs there are.
//
//   [plan-1] Runs are counted by the store where they stand; one of each place is opened, not all.
//        What is found out of it holds for the others as far as it depends on the code and on where
//        functions are in flight; what depends on a run's own values is found out when it is moved.
//   [plan-2] Nothing is written.
#pragma once
#include "flow/flow.h"
#include "store/store.h"

typedef enum PlanVerdict {
    PLAN_MOVES,   // they can go on in the new version, the failed ones by a retry
    PLAN_REFUSED, // they cannot: `reason`
    PLAN_STAYS,   // they have that version
    PLAN_UNKNOWN, // none of them could be looked at: `reason`
    PLAN_VERDICT_COUNT
} PlanVerdict;
const char *plan_verdict_name(PlanVerdict verdict);

typedef struct PlanGroup { // the runs of one version at one place
    Str version;
    uint32_t line, column; // 0 = not known
    Str function, source;  // null = not known
    int64_t waiting_count, failed_count;
    PlanVerdict verdict; // of a plan
    Str reason;          // null = none
    Str example;         // id of one of the runs; null = none is known
} PlanGroup;

typedef struct Plan {
    Str workflow;
    Str current, new_version; // the first is null when there is none
    PlanGroup *groups;
    size_t count;
    bool is_cut;                        // there are more groups
    int64_t totals[PLAN_VERDICT_COUNT]; // runs
} Plan;

typedef struct PlanWish {
    Store *store;
    Arena *arena;       // for the texts of the answer; others are the module's
    FlowModule *module; // the script
    Str workflow;       // one of its
} PlanWish;
MUST_CHECK Status plan_make(const PlanWish *wish, Plan *ret_plan, Diag *diag);
// The same of one version as it is: where its runs stand. Verdicts are not found out.
MUST_CHECK Status plan_places(Store *store, Arena *arena, const DefinitionRow *definition,
                              Plan *ret_plan, Diag *diag);
