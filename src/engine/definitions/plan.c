// Plans: the places of a workflow's versions, each with one of its runs put to the question.
//
// The example of a place may have gone on, with nobody having come after it. Then a few of the
// workflow's runs are looked through for another one; with none found the place is counted all the
// same, and what would become of its runs is said to be unknown.
//
// Invariants [plan-1], [plan-2] are in plan.h. Not here: what can move (flow/move), counting
// (store/kernel/runs/places.c).
#include "engine/definitions/plan.h"
#include "engine/definitions/definition.h"
#include "engine/runners/flow_machine.h"
#include "flow/move/move.h"
#include "flow/snapshot/place.h"
#include "store/reads.h"

enum { GROUPS_MAX = 1000, RUNS_LOOKED_AT = 1000 };

static const char *const verdict_names[PLAN_VERDICT_COUNT] = {"moves", "refused", "stays",
                                                              "unknown"};
const char *plan_verdict_name(PlanVerdict verdict) { return verdict_names[verdict]; }

typedef struct Planning {
    Store *store;
    Arena *arena;
    FlowModule *to; // NULL: only where they stand
    Plan *plan;
    Diag *diag;
    const DefinitionRow *definition; // of the version at hand
    FlowModule *from;                // its code
    FlowMove *move;                  // NULL: nothing is to be moved
} Planning;

// ---- one of the runs ----

static bool stands_at(const RunRow *run, const PlaceRow *place) {
    bool is_held = run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED;
    bool is_counted = is_held || run->state == RUN_SUSPENDED || run->state == RUN_FAILED;
    return is_counted && run->definition == place->definition && run->place == place->place;
}

static Status search_run(Planning *p, const PlaceRow *place, RunRow *ret_run) {
    RunFilter filter = {.workflows = p->definition->name,
                        .states = 1u << RUN_SUSPENDED | 1u << RUN_PAUSED | 1u << RUN_FAILED,
                        .is_oldest_first = true,
                        .limit = RUNS_LOOKED_AT};
    RunPage page;
    TRY(store_list_runs(p->store, p->arena, &filter, &page, p->diag));
    for (size_t i = 0; i < page.count; i++) {
        if (!stands_at(&page.rows[i], place)) continue;
        return store_run_by_key(p->store, p->arena, page.rows[i].key, ret_run, p->diag);
    }
    return ERR_NOT_FOUND;
}

// ERR_NOT_FOUND: there is none that is easily found.
static Status find_run(Planning *p, const PlaceRow *place, RunRow *ret_run) {
    if (place->example != 0) {
        Status status = store_run_by_key(p->store, p->arena, place->example, ret_run, p->diag);
        if (status == OK && stands_at(ret_run, place)) return OK;
        if (status != OK && status != ERR_NOT_FOUND) return status;
    }
    if (place->place == PLACE_UNKNOWN) return ERR_NOT_FOUND; // each may stand somewhere else
    Status status = search_run(p, place, ret_run);
    bool has_gone = status == OK && !stands_at(ret_run, place);
    return has_gone ? ERR_NOT_FOUND : status;
}

// ---- what would become of it ----

static Status ask(Planning *p, const RunRow *run, PlanGroup *group) {
    Str machine;
    Diag why = {0};
    if (str_is_null(run->snapshot)) return OK; // it begins at the start, in any version
    Status status = flow_machine_vm_bytes(run->snapshot, &machine, &why);
    if (status == OK)
        status = flow_move_snapshot(p->move, machine, FLOW_LIMITS_DEFAULT, NULL, &why);
    if (status == OK) return OK;
    group->verdict = PLAN_REFUSED;
    group->reason = arena_str(p->arena, str_from(why.message));
    return OK;
}

static Status decide(Planning *p, const PlaceRow *place, PlanGroup *group) {
    RunRow run;
    Status status = find_run(p, place, &run);
    if (status == OK) group->example = run.id;
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (p->move == NULL) {
        group->verdict = PLAN_STAYS;
    } else if (place->place == PLACE_START) {
        group->verdict = PLAN_MOVES;
    } else if (status == OK) {
        group->verdict = PLAN_MOVES;
        return ask(p, &run, group);
    } else {
        group->verdict = PLAN_UNKNOWN;
        group->reason = place->place == PLACE_UNKNOWN
                            ? STR("they stopped before places were counted")
                            : STR("none of these runs was found at once");
    }
    return OK;
}

static void describe(Planning *p, const PlaceRow *place, PlanGroup *group) {
    FlowPlace found;
    if (!flow_module_place(p->from, place->place, p->arena, &found)) return;
    group->line = found.line;
    group->column = found.column;
    group->function = found.function.len > 0 ? found.function : p->definition->name;
    group->source = arena_str(p->arena, found.source);
}

static Status add_group(Planning *p, const PlaceRow *place) {
    Plan *plan = p->plan;
    if (plan->count == GROUPS_MAX) {
        plan->is_cut = true;
        return OK;
    }
    PlanGroup *group = &plan->groups[plan->count++];
    *group = (PlanGroup){.version = p->definition->version,
                         .waiting_count = place->waiting_count,
                         .failed_count = place->failed_count};
    describe(p, place, group);
    TRY(decide(p, place, group));
    plan->totals[group->verdict] += place->waiting_count + place->failed_count;
    return OK;
}

// ---- a version, and all of them ----

static Status add_version(Planning *p, const DefinitionRow *definition) {
    PlaceList list;
    TRY(store_list_places(p->store, p->arena, definition->key, &list, p->diag));
    if (list.count == 0) return OK;
    p->plan->is_cut |= list.is_cut;
    p->definition = definition;
    TRY(definition_module(definition, p->arena, &p->from, p->diag));
    bool is_same = p->to == NULL || str_equal(definition->version, p->plan->new_version);
    p->move = is_same ? NULL : flow_move_new(p->from, p->to);
    Status status = OK;
    for (size_t i = 0; i < list.count && status == OK; i++) status = add_group(p, &list.rows[i]);
    flow_move_free(p->move);
    flow_module_release(p->from);
    return status;
}

static Status add_versions(Planning *p) {
    DefinitionFilter filter = {.name = p->plan->workflow};
    do {
        DefinitionPage page;
        TRY(store_list_definitions(p->store, p->arena, &filter, &page, p->diag));
        for (size_t i = 0; i < page.count; i++) {
            if (page.rows[i].is_current) p->plan->current = page.rows[i].version;
            if (page.rows[i].kind == RUN_FLOW) TRY(add_version(p, &page.rows[i]));
        }
        filter.page.after = page.next;
    } while (filter.page.after > 0);
    return OK;
}

static Planning begin(Store *store, Arena *arena, Plan *plan, Diag *diag) {
    plan->groups = ARENA_ARRAY(arena, PlanGroup, GROUPS_MAX);
    return (Planning){.store = store, .arena = arena, .plan = plan, .diag = diag};
}

Status plan_make(const PlanWish *wish, Plan *ret_plan, Diag *diag) {
    *ret_plan = (Plan){.workflow = wish->workflow, .new_version = flow_module_hash(wish->module)};
    Planning planning = begin(wish->store, wish->arena, ret_plan, diag);
    planning.to = wish->module;
    return add_versions(&planning);
}

Status plan_places(Store *store, Arena *arena, const DefinitionRow *definition, Plan *ret_plan,
                   Diag *diag) {
    *ret_plan = (Plan){.workflow = definition->name, .new_version = definition->version};
    Planning planning = begin(store, arena, ret_plan, diag);
    return add_version(&planning, definition);
}
