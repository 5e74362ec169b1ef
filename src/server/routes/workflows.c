// Workflows: deploying scripts, checking them, listing what there is.
//
// A file may hold several workflows. PUT deploys all of them or none; the name in the path must be
// one of them, and a file with a top-level body is called by it.
//
// Not here: the language (flow/), pinning runs to versions (store/kernel/runs/create.c).
#include "base/array.h"
#include "engine/definitions/definition.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"
#include "server/exchange/parts.h"
#include "server/routes/plan.h"

enum { SOURCE_SIZE_MAX = 1 << 20, REPORT_SIZE_MAX = 4 << 20 };

// ---- compiling ----

typedef struct Compiled {
    FlowModule *module; // NULL = it has errors
    Buf findings;       // JSON array
    uint32_t error_count;
    const char *refusal; // the code, when it has errors
} Compiled;

static bool check_size(Exchange *exchange) {
    if (exchange->body.len <= SOURCE_SIZE_MAX) return true;
    exchange_refuse_with(exchange, ERR_LIMIT, "SOURCE_TOO_LARGE",
                         "the source has %zu bytes; at most %d are allowed", exchange->body.len,
                         SOURCE_SIZE_MAX);
    return false;
}

// `name_file` names the workflow of a file with a top-level body, `shown_file` stands in findings.
static void compile(Exchange *exchange, Str name_file, Str shown_file, Compiled *ret_compiled) {
    Arena arena; // a tree takes many times the size of its source
    arena_init(&arena);
    *ret_compiled = (Compiled){0};
    buf_init(&ret_compiled->findings, REPORT_SIZE_MAX);
    FlowSource source;
    Diag diag;
    Status status = flow_source_init(&source, name_file, buf_str(&exchange->body), &arena, &diag);
    ASSERT(status == OK); // its size was checked
    FlowReport *report = ARENA_NEW(&arena, FlowReport);
    flow_report_init(report, &source, &arena);
    status = flow_compile_checked(report, &ret_compiled->module, &diag);
    if (status != OK) ret_compiled->module = NULL;
    ret_compiled->error_count = report->error_count;
    ret_compiled->refusal = flow_report_refusal(report);
    source.name = shown_file;
    flow_report_render_json(report, &ret_compiled->findings);
    arena_done(&arena);
}

static void compiled_done(Compiled *compiled) {
    flow_module_release(compiled->module);
    buf_done(&compiled->findings);
}

// ---- POST /v1/check ----

static const Field check_query[] = {
    {"file", "string", false, "Name shown in the findings; workflow.flow unless given."}, {0}};

static void check_source(Exchange *exchange) {
    if (!check_size(exchange)) return;
    Str file = exchange_query(exchange, "file");
    if (str_is_null(file)) file = STR("workflow.flow");
    Compiled compiled;
    compile(exchange, file, file, &compiled);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "ok", compiled.module != NULL);
    json_write_key(json, STR("workflows"));
    json_write_array_begin(json);
    for (uint32_t i = 0; compiled.module && i < flow_module_workflow_count(compiled.module); i++)
        json_write_string(json, flow_module_workflow(compiled.module, i).name);
    json_write_array_end(json);
    json_put_raw(json, "findings", buf_str(&compiled.findings));
    json_write_object_end(json);
    exchange_send(exchange);
    compiled_done(&compiled);
}

// ---- PUT /v1/workflows/{name} ----

static const Field deploy_query[] = {
    {"file", "string", false,
     "Name of the source's file, shown in stacks and findings; of a path the last part is kept."},
    {"plan", "boolean", false,
     "Deploys nothing; says what the version would mean for the runs that wait or failed."},
    {0}};

typedef struct Deploy {
    FlowModule *module;
    Str warnings; // JSON array
} Deploy;

static void refuse_source(Exchange *exchange, const Compiled *compiled) {
    JsonWriter *json = exchange_begin(exchange, 422);
    exchange->content_type = "application/problem+json";
    json_write_object_begin(json);
    json_put_string(json, "type",
                    arena_printf(&exchange->arena, "urn:abide:error:%s", compiled->refusal));
    json_put_cstr(json, "title", "Cannot be processed");
    json_put_i64(json, "status", 422);
    json_put_cstr(json, "code", compiled->refusal);
    Str detail = arena_printf(&exchange->arena, "the source has %u error%s; nothing was deployed",
                              compiled->error_count, compiled->error_count == 1 ? "" : "s");
    json_put_string(json, "detail", detail);
    json_put_raw(json, "findings", buf_str(&compiled->findings));
    json_write_object_end(json);
    exchange_send(exchange);
}

static void put_deployed(JsonWriter *json, Str name, bool is_new) {
    json_write_object_begin(json);
    json_put_string(json, "name", name);
    json_put_bool(json, "new", is_new);
    json_write_object_end(json);
}

static void send_deployed(Exchange *exchange, const Deploy *deploy) {
    const Op *op = &exchange->request->op;
    bool is_new = op->out.define.is_new;
    for (size_t i = 0; i < op->in.define.other_count; i++)
        is_new |= op->out.define.others[i].is_new;
    JsonWriter *json = exchange_begin(exchange, is_new ? 201 : 200);
    json_write_object_begin(json);
    json_put_string(json, "version", flow_module_hash(deploy->module));
    json_write_key(json, STR("workflows"));
    json_write_array_begin(json);
    put_deployed(json, op->in.define.name, op->out.define.is_new);
    for (size_t i = 0; i < op->in.define.other_count; i++)
        put_deployed(json, op->in.define.others[i].name, op->out.define.others[i].is_new);
    json_write_array_end(json);
    json_put_raw(json, "warnings", deploy->warnings);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void deployed(Exchange *exchange) {
    const Deploy *deploy = exchange->state;
    const Op *op = &exchange->request->op;
    if (op->out.status == OK) send_deployed(exchange, deploy);
    else exchange_refuse(exchange, op->out.status, &op->out.diag);
    flow_module_release(deploy->module);
}

static void submit_definitions(Exchange *exchange, const Compiled *compiled, Str file) {
    Op *op = exchange_op(exchange, OP_DEFINE);
    op->in.define.file = file;
    Diag diag;
    Status status = definition_fill(compiled->module, &exchange->arena, op, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    Deploy *deploy = ARENA_NEW(&exchange->arena, Deploy);
    deploy->module = flow_module_retain(compiled->module);
    deploy->warnings = arena_str(&exchange->arena, buf_str(&compiled->findings));
    exchange->state = deploy;
    exchange_submit_any(exchange, deployed);
}

static bool read_plan(Exchange *exchange, bool *ret_is_plan) {
    Str plan = exchange_query(exchange, "plan");
    *ret_is_plan = str_equal(plan, STR("true"));
    if (*ret_is_plan || str_is_null(plan) || str_equal(plan, STR("false"))) return true;
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY", "plan: true or false");
    return false;
}

static void deploy_workflow(Exchange *exchange) {
    Str name = exchange->parameters[0];
    if (!parts_check(exchange, name, "the workflow's name", "BAD_NAME") || !check_size(exchange))
        return;
    Str file = exchange_query(exchange, "file");
    if (!str_is_null(file) && !parts_check(exchange, file, "the file name", "BAD_NAME")) return;
    bool is_plan = false;
    if (!read_plan(exchange, &is_plan)) return;
    Compiled compiled;
    Str own = arena_printf(&exchange->arena, "%.*s.flow", STR_ARG(name));
    compile(exchange, own, str_is_null(file) ? own : file, &compiled);
    uint32_t index;
    if (compiled.module == NULL) refuse_source(exchange, &compiled);
    else if (flow_module_find_workflow(compiled.module, name, &index) != OK)
        exchange_refuse_with(exchange, ERR_INVALID, "WORKFLOW_NAME",
                             "the source has no workflow called \"%.*s\"", STR_ARG(name));
    else if (is_plan) plan_send(exchange, compiled.module, name, buf_str(&compiled.findings));
    else submit_definitions(exchange, &compiled, file);
    compiled_done(&compiled);
}

// ---- looking ----

static const Field show_query[] = {
    {"version", "string", false, "A version; the current one unless given."}, {0}};
static const Field page_query[] = {
    {"name", "string", false, "All versions of this workflow."}, PAGE_FIELDS, {0}};

static void put_members(Exchange *exchange, JsonWriter *json, const DefinitionRow *definition) {
    render_definition(json, definition);
    json_put_bool(json, "registered",
                  parts_is_registered(exchange, definition->kind, definition->name));
}

static void get_workflow(Exchange *exchange) {
    const DefinitionRef which = {.name = exchange->parameters[0],
                                 .version = exchange_query(exchange, "version")};
    DefinitionRow row;
    Diag diag = {0};
    Status status =
        store_find_definition(exchange_store(exchange), &exchange->arena, &which, &row, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    put_members(exchange, json, &row);
    json_put_string(json, "source", row.source);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void put_definition(Exchange *exchange, JsonWriter *json, const void *row) {
    json_write_object_begin(json);
    put_members(exchange, json, row);
    json_write_object_end(json);
}

static void list_workflows(Exchange *exchange) {
    DefinitionFilter filter = {.name = exchange_query(exchange, "name")};
    DefinitionPage page;
    Diag diag = {0};
    if (!parts_page(exchange, &filter.page)) return;
    Status status =
        store_list_definitions(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_definition);
}

static const RouteAnswer deploy_answers[] = {
    {201, "A new version is current.", "Deployed"},
    {200, "It was there already and is current, or what a plan says.", "Deployed|Plan"},
    {0}};
static const RouteAnswer workflow_answers[] = {{200, "The workflow.", "Workflow"}, {0}};
static const RouteAnswer list_answers[] = {{200, "A page, newest first.", "WorkflowList"}, {0}};
static const RouteAnswer check_answers[] = {{200, "What was found.", "Findings"}, {0}};
static const char *const deploy_codes[] = {"FLOW_SYNTAX", "FLOW_CHECK",    "WORKFLOW_NAME",
                                           "BAD_NAME",    "WORKFLOW_KIND", "SOURCE_TOO_LARGE",
                                           NULL};
static const char *const check_codes[] = {"SOURCE_TOO_LARGE", NULL};
static const char *const workflow_codes[] = {"WORKFLOW_NOT_FOUND", NULL};

static const Route routes[] = {
    {"GET", "/v1/workflows", "listWorkflows", "List workflows and their versions", SCOPE_READ,
     BODY_NONE, NULL, page_query, list_answers, NULL, list_workflows},
    {"GET", "/v1/workflows/{name}", "getWorkflow", "Show a workflow", SCOPE_READ, BODY_NONE, NULL,
     show_query, workflow_answers, workflow_codes, get_workflow},
    {"PUT", "/v1/workflows/{name}", "deployWorkflow", "Deploy a script; the body is its source",
     SCOPE_CLIENT, BODY_TEXT, NULL, deploy_query, deploy_answers, deploy_codes, deploy_workflow},
    {"POST", "/v1/check", "checkSource", "Check a script without deploying it", SCOPE_READ,
     BODY_TEXT, NULL, check_query, check_answers, check_codes, check_source},
};
const RouteTable routes_workflows = {routes, COUNT_OF(routes)};
