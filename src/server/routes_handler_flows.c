// The handler API: the workflows of this server, what they take and do, and starting them.
//
// Schemas come from the definition: `config.input` and `config.output` are JSON Schemas as they are
// written there, `config.events` lists what may be posted; the rest is read off the script.
//
// Not here: handlers once they are started (routes_handlers.c).
#include "engine/definition.h"
#include "flow/outline.h"
#include "server/handler.h"

enum { RUN_WAIT_MS = 60000 }; // waits are renewed for as long as the client stays

static const Str OPEN_SCHEMA = STR("{\"type\":\"object\",\"properties\":{},"
                                   "\"additionalProperties\":true}");

// ---- GET /health ----

static void health(Exchange *exchange) {
    Query query = {.kind = QUERY_STATS};
    Diag diag;
    bool is_well =
        !server_is_stopping(exchange->server) &&
        store_read(exchange->server->engine->store, &exchange->arena, &query, &diag) == OK;
    handler_send_word(exchange, is_well ? 200 : 503, is_well ? "healthy" : "unhealthy");
}

// ---- GET /workflows ----

static void list_workflows(Exchange *exchange) {
    JsonWriter *json = exchange_begin(exchange, 200);
    Query query = {.kind = QUERY_LIST_DEFINITIONS, .limit = LIMIT_LIST_PAGE,
                   .size_max = HANDLER_PAGE_SIZE};
    json_write_object_begin(json);
    json_write_key(json, STR("workflows"));
    json_write_array_begin(json);
    do {
        Diag diag;
        diag_clear(&diag);
        ArenaMark mark = arena_mark(&exchange->arena); // a page has the sources of its workflows
        Status status =
            store_read(exchange->server->engine->store, &exchange->arena, &query, &diag);
        if (status != OK) {
            handler_refuse_diag(exchange, status, &diag);
            return;
        }
        for (size_t i = 0; i < query.count; i++)
            if (query.definitions[i].is_current)
                json_write_string(json, query.definitions[i].name);
        query.after = query.next;
        arena_rewind(&exchange->arena, mark);
    } while (query.next != 0);
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
    StrMap seen; // names that have been written
    bool is_edges; // the second pass of a graph
} Outline;

// False: it has been answered.
static bool outline_begin(Exchange *exchange, Outline *ret_outline) {
    *ret_outline = (Outline){.exchange = exchange};
    Query query = {.kind = QUERY_DEFINITION, .name = exchange->parameters[0]};
    Diag diag;
    diag_clear(&diag);
    Status status =
        store_read(exchange->server->engine->store, &exchange->arena, &query, &diag);
    if (status == ERR_NOT_FOUND) {
        handler_refuse(exchange, 404, "Workflow not found");
        return false;
    }
    if (status == OK)
        status = definition_module(&query.definitions[0], &exchange->arena, &ret_outline->module,
                                   &diag);
    if (status != OK) {
        handler_refuse_diag(exchange, status, &diag);
        return false;
    }
    Str config = query.definitions[0].config;
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
    bool is_event = str_equal(call->object, STR("Signal")) ||
                    str_equal(call->object, STR("Stream"));
    if (is_event) put_event(outline, call->name);
}

static void get_events(Exchange *exchange) {
    Outline outline;
    if (!outline_begin(exchange, &outline)) return;
    outline.json = exchange_begin(exchange, 200);
    json_write_object_begin(outline.json);
    json_write_key(outline.json, STR("events"));
    json_write_array_begin(outline.json);
    const JsonValue *listed =
        outline.config ? json_member(outline.config, STR("events")) : NULL;
    if (listed != NULL && listed->kind == JSON_KIND_ARRAY) JSON_EACH(event, listed) {
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
    bool is_coming = str_equal(call->object, STR("Signal")) ||
                     str_equal(call->member, STR("wait"));
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
} Start;

static Status check_start(const JsonValue *body, Diag *diag) {
    const JsonValue *context = json_member(body, STR("context"));
    bool has_context = context != NULL && context->kind != JSON_KIND_NULL &&
                       !(context->kind == JSON_KIND_OBJECT && context->count == 0);
    if (has_context)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "context: a run's state is kept by the server and cannot be sent");
    const JsonValue *kwargs = json_member(body, STR("kwargs"));
    if (kwargs != NULL && kwargs->kind != JSON_KIND_OBJECT && kwargs->kind != JSON_KIND_NULL)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "kwargs: must be an object");
    return OK;
}

static Status read_input(Exchange *exchange, const JsonValue *body, Start *start, Diag *diag) {
    const JsonValue *event = json_member(body, STR("start_event"));
    const JsonValue *kwargs = json_member(body, STR("kwargs"));
    HandlerEvent read = {.value = STR("{}")};
    if (event != NULL && event->kind != JSON_KIND_NULL)
        TRY(handler_start_read(&exchange->arena, event, &read, diag));
    start->input = read.value;
    bool has_kwargs = kwargs != NULL && kwargs->kind == JSON_KIND_OBJECT && kwargs->count > 0;
    if (!has_kwargs) return OK;
    JsonValue *value;
    TRY(json_parse(&exchange->arena, read.value, &value, diag));
    if (value->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "kwargs: cannot be joined with a start event that is no object");
    start->input = handler_join(&exchange->arena, value, kwargs);
    return OK;
}

static Status read_start(Exchange *exchange, Start *start, Diag *diag) {
    JsonValue *body;
    Str text = exchange->body.len > 0 ? buf_str(&exchange->body) : STR("{}");
    TRY(json_parse(&exchange->arena, text, &body, diag));
    if (body->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST", "the body must be a JSON object");
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
    if (start->is_waiting && !run_state_is_terminal(run.state) &&
        !server_is_stopping(exchange->server))
        exchange_await(exchange, start->handler_id, RUN_WAIT_MS, send_started);
    else if (start->is_waiting) handler_send(exchange, &run, 202, false);
    else handler_send_started(exchange, &run);
}

static void started(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    if (strcmp(op->diag.code, "WORKFLOW_NOT_FOUND") == 0 && op->status != OK)
        handler_refuse(exchange, 404, "Workflow not found");
    else if (op->status != OK) handler_refuse_diag(exchange, op->status, &op->diag);
    else if (!op->create_run.is_new) handler_refuse(exchange, 409, "Handler is already running");
    else send_started(exchange);
}

static void fill_create(Exchange *exchange, const Start *start) {
    abide_engine *engine = exchange->server->engine;
    Op *op = exchange_op(exchange, OP_CREATE_RUN);
    op->create_run.is_replacing = true; // the id of one that has ended is used again
    op->create_run.spec = (RunSpec){
        .id = start->handler_id,
        .workflow = exchange->parameters[0],
        .input = start->input,
        .kind = engine_knows(engine, exchange->parameters[0]) ? RUN_NATIVE : 0,
        .keep_ms = engine->run_retention_ms,
        .parent_position = -1,
    };
}

static void start_workflow(Exchange *exchange, bool is_waiting) {
    Start *start = ARENA_NEW(&exchange->arena, Start);
    Query known = {.kind = QUERY_DEFINITION, .name = exchange->parameters[0]};
    Diag diag;
    diag_clear(&diag);
    start->is_waiting = is_waiting;
    bool is_native = engine_knows(exchange->server->engine, known.name);
    Status status = is_native ? OK
                              : store_read(exchange->server->engine->store, &exchange->arena,
                                           &known, &diag);
    if (status == ERR_NOT_FOUND) {
        handler_refuse(exchange, 404, "Workflow not found");
        return;
    }
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

static const Route routes[] = {
    HANDLER_ROUTE("GET", "/health", SCOPE_NONE, BODY_NONE, NULL, health),
    HANDLER_ROUTE("GET", "/workflows", SCOPE_READ, BODY_NONE, NULL, list_workflows),
    HANDLER_ROUTE("GET", "/workflows/{name}/schema", SCOPE_READ, BODY_NONE, NULL, get_schema),
    HANDLER_ROUTE("GET", "/workflows/{name}/events", SCOPE_READ, BODY_NONE, NULL, get_events),
    HANDLER_ROUTE("GET", "/workflows/{name}/representation", SCOPE_READ, BODY_NONE, NULL,
                  get_representation),
    HANDLER_ROUTE("POST", "/workflows/{name}/run", SCOPE_CLIENT, BODY_PAYLOAD, NULL, run_waiting),
    HANDLER_ROUTE("POST", "/workflows/{name}/run-nowait", SCOPE_CLIENT, BODY_PAYLOAD, NULL,
                  run_nowait),
};
const RouteTable routes_handler_flows = {routes, sizeof routes / sizeof routes[0]};
