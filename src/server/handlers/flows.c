// The handler API: the workflows of this server, what they take and do, and starting them.
//
// Schemas come from the definition: `config.input` and `config.output` are JSON Schemas as they are
// written there, `config.events` lists what may be posted; the rest is read off the script.
//
// Not here: handlers once they are started (handlers/handlers.c).
#include "base/array.h"
#include "base/text/name.h"
#include "engine/definitions/definition.h"
#include "flow/code/outline.h"
#include "server/handlers/handler.h"

enum { RUN_WAIT_MS = 60000 }; // waits are renewed for as long as the client stays

static const Str OPEN_SCHEMA = STR("{\"type\":\"object\",\"properties\":{},"
                                   "\"additionalProperties\":true}");

// ---- GET /health ----

static void health(Exchange *exchange) {
    StoreStats figures;
    Diag diag;
    bool is_well = !server_is_stopping(exchange->server) &&
                   store_stats(exchange_store(exchange), &exchange->arena, &figures, &diag) == OK;
    handler_send_word(exchange, is_well ? 200 : 503, is_well ? "healthy" : "unhealthy");
}

// ---- GET /workflows ----

static void list_workflows(Exchange *exchange) {
    JsonWriter *json = exchange_begin(exchange, 200);
    DefinitionFilter filter = {.page = {.limit = LIMIT_LIST_PAGE, .size_max = HANDLER_PAGE_SIZE}};
    json_write_object_begin(json);
    json_write_key(json, STR("workflows"));
    json_write_array_begin(json);
    do {
        DefinitionPage page;
        Diag diag;
        diag_clear(&diag);
        ArenaMark mark = arena_mark(&exchange->arena); // a page has the sources of its workflows
        Status status = store_list_definitions(exchange_store(exchange), &exchange->arena, &filter,
                                               &page, &diag);
        if (status != OK) {
            handler_refuse_diag(exchange, status, &diag);
            return;
        }
        for (size_t i = 0; i < page.count; i++)
            if (page.rows[i].is_current) json_write_string(json, page.rows[i].name);
        filter.page.after = page.next;
        arena_rewind(&exchange->arena, mark);
    } while (filter.page.after != 0);
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

// ---- what a workflow is like ----

typedef struct Outline {
    Exchange *exchange;
    JsonWriter *json;
    const JsonValue *config; // NULL = none
    FlowModule *module;
    StrMap seen;   // names that have been written
    bool is_edges; // the second pass of a graph
} Outline;

// False: it has been answered.
static bool outline_begin(Exchange *exchange, Outline *ret_outline) {
    *ret_outline = (Outline){.exchange = exchange};
    const DefinitionRef current = {.name = exchange->parameters[0]};
    DefinitionRow row;
    Diag diag;
    diag_clear(&diag);
    Status status =
        store_find_definition(exchange_store(exchange), &exchange->arena, &current, &row, &diag);
    if (status == ERR_NOT_FOUND) {
        handler_refuse(exchange, 404, "Workflow not found");
        return false;
    }
    if (status == OK)
        status = definition_module(&row, &exchange->arena, &ret_outline->module, &diag);
    if (status != OK) {
        handler_refuse_diag(exchange, status, &diag);
        return false;
    }
    Str config = row.config;
    JsonValue *parsed;
    bool has_config = !str_is_null(config) &&
                      json_parse(&exchange->arena, config, &parsed, &diag) == OK &&
                      parsed->kind == JSON_KIND_OBJECT;
    if (has_config) ret_outline->config = parsed;
    strmap_init(&ret_outline->seen);
    return true;
}

static void outline_end(Outline *outline) {
    strmap_done(&outline->seen);
    flow_module_release(outline->module);
    exchange_send(outline->exchange);
}

static bool is_first(Outline *outline, Str name) {
    if (strmap_get(&outline->seen, name) != NULL) return false;
    strmap_put(&outline->seen, name, outline);
    return true;
}

static void put_schema(const Outline *outline, const char *key, const char *member) {
    const JsonValue *schema =
        outline->config ? json_member(outline->config, str_from(member)) : NULL;
    bool is_given = schema != NULL && schema->kind == JSON_KIND_OBJECT;
    json_put_raw(outline->json, key, is_given ? schema->raw : OPEN_SCHEMA);
}

static void get_schema(Exchange *exchange) {
    Outline outline;
    if (!outline_begin(exchange, &outline)) return;
    outline.json = exchange_begin(exchange, 200);
    json_write_object_begin(outline.json);
    put_schema(&outline, "start", "input");
    put_schema(&outline, "stop", "output");
    json_write_object_end(outline.json);
    outline_end(&outline);
}

static void put_event(Outline *outline, Str name) {
    if (!is_first(outline, name)) return;
    JsonWriter *json = outline->json;
    json_write_object_begin(json);
    json_put_string(json, "title", name);
    json_put_cstr(json, "type", "object");
    json_put_raw(json, "properties", STR("{}"));
    json_put_bool(json, "additionalProperties", true);
    json_write_object_end(json);
}

static void visit_event(void *context, const FlowOutlineCall *call) {
    Outline *outline = context;
    bool is_event =
        str_equal(call->object, STR("Signal")) || str_equal(call->object, STR("Stream"));
    if (is_event) put_event(outline, call->name);
}

static void get_events(Exchange *exchange) {
    Outline outline;
    if (!outline_begin(exchange, &outline)) return;
    outline.json = exchange_begin(exchange, 200);
    json_write_object_begin(outline.json);
    json_write_key(outline.json, STR("events"));
    json_write_array_begin(outline.json);
    const JsonValue *listed = outline.config ? json_member(outline.config, STR("events")) : NULL;
    if (listed != NULL && listed->kind == JSON_KIND_ARRAY)
        JSON_EACH (event, listed) {
            if (event->kind == JSON_KIND_STRING) put_event(&outline, event->string);
        }
    flow_outline(outline.module, &exchange->arena, visit_event, &outline);
    json_write_array_end(outline.json);
    json_write_object_end(outline.json);
    outline_end(&outline);
}

// ---- the graph ----

static void put_node(Outline *outline, Str id, Str label, const char *type) {
    json_write_object_begin(outline->json);
    json_put_string(outline->json, "id", id);
    json_put_string(outline->json, "label", label);
    json_put_cstr(outline->json, "node_type", type);
    json_write_object_end(outline->json);
}

static void put_edge(Outline *outline, Str from, Str to) {
    json_write_object_begin(outline->json);
    json_put_string(outline->json, "source", from);
    json_put_string(outline->json, "target", to);
    json_put_null(outline->json, "label");
    json_write_object_end(outline->json);
}

static const char *node_type(const FlowOutlineCall *call) {
    if (str_equal(call->object, STR("Task"))) return "task";
    if (str_equal(call->object, STR("Workflow"))) return "workflow";
    if (str_equal(call->object, STR("Stream"))) return "stream";
    return "external";
}

// Tasks, children and what is written go out from the workflow; signals and topics come in.
static void visit_node(void *context, const FlowOutlineCall *call) {
    Outline *outline = context;
    Str id = arena_printf(&outline->exchange->arena, "%.*s:%.*s", STR_ARG(call->object),
                          STR_ARG(call->name));
    if (!is_first(outline, id)) return;
    Str workflow = outline->exchange->parameters[0];
    bool is_coming = str_equal(call->object, STR("Signal")) || str_equal(call->member, STR("wait"));
    if (!outline->is_edges) put_node(outline, id, call->name, node_type(call));
    else if (is_coming) put_edge(outline, id, workflow);
    else put_edge(outline, workflow, id);
}

static void get_representation(Exchange *exchange) {
    Outline outline;
    if (!outline_begin(exchange, &outline)) return;
    Str name = exchange->parameters[0];
    JsonWriter *json = outline.json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("graph"));
    json_write_object_begin(json);
    json_put_string(json, "name", name);
    json_write_key(json, STR("nodes"));
    json_write_array_begin(json);
    put_node(&outline, STR("StartEvent"), STR("StartEvent"), "event");
    put_node(&outline, name, name, "step");
    flow_outline(outline.module, &exchange->arena, visit_node, &outline);
    put_node(&outline, STR("StopEvent"), STR("StopEvent"), "event");
    json_write_array_end(json);
    json_write_key(json, STR("edges"));
    json_write_array_begin(json);
    put_edge(&outline, STR("StartEvent"), name);
    outline.is_edges = true;
    strmap_done(&outline.seen);
    strmap_init(&outline.seen);
    flow_outline(outline.module, &exchange->arena, visit_node, &outline);
    put_edge(&outline, name, STR("StopEvent"));
    json_write_array_end(json);
    json_put_null(json, "description");
    json_write_object_end(json);
    json_write_object_end(json);
    outline_end(&outline);
}

// ---- POST /workflows/{name}/run, /run-nowait ----

typedef struct Start {
    bool is_waiting;
    Str input;
    Str handler_id; // null = a new one
    Str config;     // of the workflow; null = none
} Start;

static Status check_start(const JsonValue *body, Diag *diag) {
    const JsonValue *context = json_member(body, STR("context"));
    bool has_context = context != NULL && context->kind != JSON_KIND_NULL &&
                       !(context->kind == JSON_KIND_OBJECT && context->count == 0);
    if (has_context)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "Context API is disabled: a run's state is kept by the server");
    const JsonValue *kwargs = json_member(body, STR("kwargs"));
    if (kwargs != NULL && kwargs->kind != JSON_KIND_OBJECT && kwargs->kind != JSON_KIND_NULL)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "kwargs: must be an object");
    return OK;
}

static Status read_event(Exchange *exchange, const JsonValue *body, HandlerEvent *ret_event,
                         Diag *diag) {
    const JsonValue *event = json_member(body, STR("start_event"));
    const JsonValue *kwargs = json_member(body, STR("kwargs"));
    *ret_event = (HandlerEvent){.value = STR("{}")};
    if (event != NULL && event->kind != JSON_KIND_NULL)
        TRY(handler_start_read(exchange, event, ret_event, diag));
    bool has_kwargs = kwargs != NULL && kwargs->kind == JSON_KIND_OBJECT && kwargs->count > 0;
    if (!has_kwargs) return OK;
    JsonValue *value;
    TRY(exchange_parse(exchange, ret_event->value, &value, diag));
    if (value->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "kwargs cannot be joined with a start event that is no object");
    ret_event->value = handler_join(&exchange->arena, value, kwargs);
    return OK;
}

// The class of a workflow's start event is the title of `config.input`, if that is the name of one;
// null otherwise.
static Str start_class(Exchange *exchange, Str config_json) {
    JsonValue *config;
    Diag diag;
    if (str_is_null(config_json) ||
        json_parse(&exchange->arena, config_json, &config, &diag) != OK ||
        config->kind != JSON_KIND_OBJECT)
        return STR_NULL;
    const JsonValue *input = json_member(config, STR("input"));
    const JsonValue *title =
        input != NULL && input->kind == JSON_KIND_OBJECT ? json_member(input, STR("title")) : NULL;
    if (title == NULL || title->kind != JSON_KIND_STRING) return STR_NULL;
    return handler_is_class(title->string) ? title->string : STR_NULL;
}

// A start event that says what it is must be one of the workflow's. Which other class is one nobody
// here can know, unless the workflow says it, or it is one of the protocol's own.
static Status check_class(Str type, Str wanted, Diag *diag) {
    bool is_start = type.len == 0 || str_equal(type, STR("StartEvent")) || str_equal(type, wanted);
    if (is_start || (str_is_null(wanted) && !handler_is_own(type))) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                    "Start event must be an instance of %.*s, not of %.*s",
                    STR_ARG(str_is_null(wanted) ? STR("StartEvent") : wanted), STR_ARG(type));
}

static Status read_input(Exchange *exchange, const JsonValue *body, Start *start, Diag *diag) {
    HandlerEvent event;
    Diag found;
    Status status = read_event(exchange, body, &event, &found);
    if (status != OK)
        return diag_set(diag, status, found.code, "Validation error for 'start_event': %s",
                        found.message);
    start->input = event.value;
    return check_class(event.type, start_class(exchange, start->config), diag);
}

static Status read_start(Exchange *exchange, Start *start, Diag *diag) {
    JsonValue *body;
    Diag found;
    Status status = exchange_parse(exchange, buf_str(&exchange->body), &body, &found);
    if (status != OK)
        return diag_set(diag, status, found.code, "Invalid JSON body: %s", found.message);
    if (body->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST",
                        "Error processing request body: it must be a JSON object");
    TRY(check_start(body, diag));
    TRY(read_input(exchange, body, start, diag));
    const JsonValue *id = json_member(body, STR("handler_id"));
    start->handler_id = STR_NULL;
    bool is_empty = id != NULL && id->kind == JSON_KIND_STRING && id->string.len == 0;
    if (id == NULL || id->kind == JSON_KIND_NULL || is_empty) return OK;
    TRY(json_get_string(body, "handler_id", &start->handler_id, diag));
    return name_check(start->handler_id, "handler_id", "BAD_ID", LIMIT_RUN_ID_SIZE, diag);
}

static void send_started(Exchange *exchange) {
    Start *start = exchange->state;
    RunRow run;
    if (!handler_find(exchange, start->handler_id, &run)) return;
    if (start->is_waiting && !run_state_is_terminal(run.state) && !exchange->has_left &&
        !server_is_stopping(exchange->server))
        exchange_await(exchange, start->handler_id, RUN_WAIT_MS, send_started);
    else if (start->is_waiting) handler_send(exchange, &run, 202, false);
    else handler_send_started(exchange, &run);
}

static void started(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    if (op->out.status == ERR_NOT_FOUND) // of a start nothing else can be missing
        handler_refuse(exchange, 404, "Workflow not found");
    else if (op->out.status != OK) handler_refuse_diag(exchange, op->out.status, &op->out.diag);
    else if (!op->out.create_run.is_new)
        handler_refuse(exchange, 409, "Handler is already running");
    else if (op->out.create_run.row != NULL && !((Start *)exchange->state)->is_waiting)
        handler_send_started(exchange, op->out.create_run.row);
    else send_started(exchange);
}

static void fill_create(Exchange *exchange, const Start *start) {
    abide_engine *engine = exchange->server->engine;
    Op *op = exchange_op(exchange, OP_CREATE_RUN);
    op->in.create_run.is_replacing = true; // the id of one that has ended is used again
    op->in.create_run.spec = (RunSpec){
        .id = start->handler_id,
        .workflow = exchange->parameters[0],
        .input = start->input,
        .kind = engine_knows(engine, exchange->parameters[0]) ? RUN_NATIVE : 0,
        .keep_ms = engine_run_retention_ms(engine),
        .parent_position = NOT_AWAITED,
    };
}

static void start_workflow(Exchange *exchange, bool is_waiting) {
    Start *start = ARENA_NEW(&exchange->arena, Start);
    const DefinitionRef current = {.name = exchange->parameters[0]};
    DefinitionRow row;
    Diag diag;
    diag_clear(&diag);
    start->is_waiting = is_waiting;
    bool is_native = engine_knows(exchange->server->engine, current.name);
    Status status = OK;
    if (!is_native)
        status = store_find_definition(exchange_store(exchange), &exchange->arena, &current, &row,
                                       &diag);
    if (status == ERR_NOT_FOUND) {
        handler_refuse(exchange, 404, "Workflow not found");
        return;
    }
    if (status == OK && !is_native) start->config = row.config;
    if (status == OK) status = read_start(exchange, start, &diag);
    if (status != OK) {
        handler_refuse_diag(exchange, status, &diag);
        return;
    }
    IdText text;
    if (str_is_null(start->handler_id))
        start->handler_id =
            arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "run_", &text));
    fill_create(exchange, start);
    exchange->state = start;
    exchange_submit_any(exchange, started);
}

static void run_waiting(Exchange *exchange) { start_workflow(exchange, true); }
static void run_nowait(Exchange *exchange) { start_workflow(exchange, false); }

static const Field run_fields[] = {
    {"start_event", "any", false, "The fields, an Envelope, or either as a JSON string."},
    {"kwargs", "object", false, "More fields."},
    {"handler_id", "string", false, "A new one unless given."},
    {"context", "any", false, "Must be empty: a run's state is kept by the server."},
    {0}};
static const RouteAnswer health_answers[] = {
    {200, "All is well.", "Word"}, {503, "The store is away.", "Word"}, HANDLER_MALFORMED, {0}};
static const RouteAnswer names_answers[] = {
    {200, "Deployed workflows.", "WorkflowNames"}, HANDLER_MALFORMED, {0}};
static const RouteAnswer schema_answers[] = {
    {200, "JSON Schemas.", "StartAndStop"}, HANDLER_MALFORMED, HANDLER_NO_WORKFLOW, {0}};
static const RouteAnswer events_answers[] = {
    {200, "JSON Schemas.", "EventSchemas"}, HANDLER_MALFORMED, HANDLER_NO_WORKFLOW, {0}};
static const RouteAnswer graph_answers[] = {
    {200, "Its graph.", "Graph"}, HANDLER_MALFORMED, HANDLER_NO_WORKFLOW, {0}};
static const RouteAnswer run_answers[] = {
    {200, "It has completed.", "Handler"},
    {202, "The server stops first; the run goes on.", "Handler"},
    {500, "It failed or was cancelled.", "Handler"},
    HANDLER_MALFORMED,
    HANDLER_NO_WORKFLOW,
    {409, "A handler of that id is still running.", "Detail"},
    {0}};
static const RouteAnswer started_answers[] = {
    {200, "It was started.", "Handler"},
    HANDLER_MALFORMED,
    HANDLER_NO_WORKFLOW,
    {409, "A handler of that id is still running.", "Detail"},
    {0}};

static const Route routes[] = {
    {"GET", "/health", "health", "Can it serve?", SCOPE_NONE, BODY_NONE, NULL, NULL, health_answers,
     foreign_codes, health},
    {"GET", "/workflows", "listWorkflowNames", "Names of workflows", SCOPE_READ, BODY_NONE, NULL,
     NULL, names_answers, foreign_codes, list_workflows},
    {"GET", "/workflows/{name}/schema", "getWorkflowSchema", "What a workflow takes and answers",
     SCOPE_READ, BODY_NONE, NULL, NULL, schema_answers, foreign_codes, get_schema},
    {"GET", "/workflows/{name}/events", "listWorkflowEvents", "Events of a workflow", SCOPE_READ,
     BODY_NONE, NULL, NULL, events_answers, foreign_codes, get_events},
    {"GET", "/workflows/{name}/representation", "getWorkflowGraph", "A workflow as a graph",
     SCOPE_READ, BODY_NONE, NULL, NULL, graph_answers, foreign_codes, get_representation},
    {"POST", "/workflows/{name}/run", "runWorkflow", "Start a workflow and wait for its end",
     SCOPE_CLIENT, BODY_PAYLOAD, run_fields, NULL, run_answers, foreign_codes, run_waiting},
    {"POST", "/workflows/{name}/run-nowait", "runWorkflowNowait", "Start a workflow", SCOPE_CLIENT,
     BODY_PAYLOAD, run_fields, NULL, started_answers, foreign_codes, run_nowait},
};
const RouteTable routes_handler_flows = {routes, COUNT_OF(routes)};
