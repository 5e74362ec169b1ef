// Plans and places: where the runs of a workflow stand, and what a new version would mean for them.
//
// Both are read from what the store counts, so they cost the same for ten runs and for a million.
//
// Not here: finding it out (engine/definitions/plan.c), deploying (routes/workflows.c).
#include "server/routes/plan.h"
#include "base/array.h"

static void put_number(JsonWriter *json, const char *name, uint32_t number) { // 0 = not known
    if (number > 0) json_put_i64(json, name, number);
    else json_put_raw(json, name, STR("null"));
}

static void put_place(JsonWriter *json, const PlanGroup *group) {
    put_number(json, "line", group->line);
    put_number(json, "column", group->column);
    json_put_string(json, "function", group->function);
    json_put_string(json, "source", group->source);
}

static void put_group(JsonWriter *json, const PlanGroup *group) {
    json_write_object_begin(json);
    json_put_string(json, "version", group->version);
    put_place(json, group);
    json_put_i64(json, "count", group->waiting_count + group->failed_count);
    json_put_i64(json, "failed", group->failed_count);
    json_put_cstr(json, "verdict", plan_verdict_name(group->verdict));
    json_put_string(json, "reason", group->reason);
    json_put_string(json, "example", group->example);
    json_write_object_end(json);
}

static void put_plan(JsonWriter *json, const Plan *plan) {
    json_put_string(json, "workflow", plan->workflow);
    json_put_string(json, "current", plan->current);
    json_put_string(json, "new", plan->new_version);
    json_put_bool(json, "is_same", str_equal(plan->current, plan->new_version));
    json_write_key(json, STR("groups"));
    json_write_array_begin(json);
    for (size_t i = 0; i < plan->count; i++) put_group(json, &plan->groups[i]);
    json_write_array_end(json);
    for (int verdict = 0; verdict < PLAN_VERDICT_COUNT; verdict++)
        json_put_i64(json, plan_verdict_name((PlanVerdict)verdict), plan->totals[verdict]);
    json_put_bool(json, "more", plan->is_cut);
}

static Status make(Exchange *exchange, FlowModule *module, Str workflow, Plan *ret_plan,
                   Diag *diag) {
    PlanWish wish = {.store = exchange_store(exchange),
                     .arena = &exchange->arena,
                     .module = module,
                     .workflow = workflow};
    return plan_make(&wish, ret_plan, diag);
}

// A file may have several workflows: the one that was asked for comes first.
void plan_send(Exchange *exchange, FlowModule *module, Str workflow, Str warnings) {
    uint32_t count = flow_module_workflow_count(module);
    Plan *plans = ARENA_ARRAY(&exchange->arena, Plan, count);
    Diag diag = {0};
    Status status = make(exchange, module, workflow, &plans[0], &diag);
    size_t made = 1;
    for (uint32_t i = 0; i < count && status == OK; i++) {
        Str name = flow_module_workflow(module, i).name;
        if (str_equal(name, workflow)) continue;
        status = make(exchange, module, name, &plans[made++], &diag);
    }
    if (!exchange_found(exchange, status, &diag)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    put_plan(json, &plans[0]);
    json_write_key(json, STR("others"));
    json_write_array_begin(json);
    for (size_t i = 1; i < made; i++) {
        json_write_object_begin(json);
        put_plan(json, &plans[i]);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_put_raw(json, "warnings", warnings);
    json_write_object_end(json);
    exchange_send(exchange);
}

// ---- GET /v1/workflows/{name}/places ----

static const Field places_query[] = {
    {"version", "string", false, "A version; the current one unless given."}, {0}};

static void send_places(Exchange *exchange, const Plan *plan) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_string(json, "version", plan->new_version);
    json_write_key(json, STR("places"));
    json_write_array_begin(json);
    for (size_t i = 0; i < plan->count; i++) {
        const PlanGroup *group = &plan->groups[i];
        json_write_object_begin(json);
        put_place(json, group);
        json_put_i64(json, "waiting", group->waiting_count);
        json_put_i64(json, "failed", group->failed_count);
        json_put_string(json, "example", group->example);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_put_bool(json, "more", plan->is_cut);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void get_places(Exchange *exchange) {
    const DefinitionRef which = {.name = exchange->parameters[0],
                                 .version = exchange_query(exchange, "version")};
    Store *store = exchange_store(exchange);
    DefinitionRow row;
    Plan plan = {0};
    Diag diag = {0};
    Status status = store_find_definition(store, &exchange->arena, &which, &row, &diag);
    if (status == OK && row.kind == RUN_FLOW)
        status = plan_places(store, &exchange->arena, &row, &plan, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    plan.new_version = row.version;
    send_places(exchange, &plan);
}

static const RouteAnswer places_answers[] = {{200, "Where its runs stand.", "Places"}, {0}};
static const char *const places_codes[] = {"WORKFLOW_NOT_FOUND", NULL};

static const Route routes[] = {
    {"GET", "/v1/workflows/{name}/places", "listPlaces",
     "Where the runs of a version wait and failed, and how many", SCOPE_READ, BODY_NONE, NULL,
     places_query, places_answers, places_codes, get_places},
};
const RouteTable routes_plan = {routes, COUNT_OF(routes)};
