// Writing the description of the API.
//
// Everything comes from the tables that requests are matched and checked against, so the document
// cannot say anything else than what the server does; a test holds the two against each other,
// code by code.
//
// A problem's status has its codes in `x-codes`. Codes that have nothing to do with what a route
// does (no token, the store is away …) are those of the response `default`.
//
// Not here: what answers look like (openapi/schemas.c).
#include "server/openapi/openapi.h"
#include "abide.h"
#include "base/array.h"
#include "base/assert.h"
#include "server/http/problem.h"
#include <stdio.h>

// ---- schemas ----

static void put_ref(JsonWriter *json, const char *folder, Str name) {
    char text[128];
    int len = snprintf(text, sizeof text, "#/components/%s/%.*s", folder, STR_ARG(name));
    json_put_string(json, "$ref", (Str){text, (size_t)len});
}

typedef struct PlainType {
    const char *name; // as in tables
    const char *type; // NULL = anything
    const char *format;
} PlainType;

static const PlainType plain_types[] = {
    {"any", NULL, NULL},
    {"string", "string", NULL},
    {"integer", "integer", "int64"},
    {"number", "number", NULL},
    {"boolean", "boolean", NULL},
    {"instant", "string", "date-time"},
    {"duration", "string", "duration-text"},
    {"object", "object", NULL},
};

static const PlainType *find_plain(Str name) {
    for (size_t i = 0; i < COUNT_OF(plain_types); i++)
        if (str_equal(name, str_from(plain_types[i].name))) return &plain_types[i];
    return NULL;
}

static void put_type(JsonWriter *json, const char *type, bool is_nullable) {
    json_write_key(json, STR("type"));
    if (!is_nullable) {
        json_write_cstr(json, type);
        return;
    }
    json_write_array_begin(json);
    json_write_cstr(json, type);
    json_write_cstr(json, "null");
    json_write_array_end(json);
}

static void put_items(JsonWriter *json, Str item, bool is_nullable) {
    put_type(json, "array", is_nullable);
    json_write_key(json, STR("items"));
    json_write_object_begin(json);
    const PlainType *plain = find_plain(item);
    if (plain != NULL) put_type(json, plain->type, false);
    else put_ref(json, "schemas", item);
    json_write_object_end(json);
}

// Another schema, or null.
static void put_maybe(JsonWriter *json, Str schema) {
    json_write_key(json, STR("anyOf"));
    json_write_array_begin(json);
    json_write_object_begin(json);
    put_ref(json, "schemas", schema);
    json_write_object_end(json);
    json_write_object_begin(json);
    json_put_cstr(json, "type", "null");
    json_write_object_end(json);
    json_write_array_end(json);
}

// Members of a schema object for a field's type.
static void put_schema(JsonWriter *json, const char *type_text) {
    Str type = str_from(type_text);
    bool is_nullable = type.data[type.len - 1] == '?';
    if (is_nullable) type.len--;
    const PlainType *plain = find_plain(type);
    if (plain != NULL) {
        if (plain->type != NULL) put_type(json, plain->type, is_nullable);
        if (plain->format != NULL) json_put_cstr(json, "format", plain->format);
    } else if (str_equal(type, STR("strings"))) {
        put_items(json, STR("string"), is_nullable);
    } else if (str_equal(type, STR("objects"))) {
        put_items(json, STR("object"), is_nullable);
    } else if (type.data[0] == '[') {
        put_items(json, (Str){type.data + 1, type.len - 2}, is_nullable);
    } else if (is_nullable) {
        put_maybe(json, type);
    } else {
        put_ref(json, "schemas", type);
    }
}

// What a request may give for it is wider: durations are also numbers of seconds.
static void put_input_schema(JsonWriter *json, const Field *field) {
    json_write_object_begin(json);
    if (strcmp(field->type, "duration") == 0) {
        json_write_key(json, STR("type"));
        json_write_array_begin(json);
        json_write_cstr(json, "string");
        json_write_cstr(json, "number");
        json_write_array_end(json);
    } else {
        put_schema(json, field->type);
    }
    json_put_cstr(json, "description", field->about);
    json_write_object_end(json);
}

static void put_properties(JsonWriter *json, const Schema *schema) {
    if (schema->base != NULL) put_properties(json, openapi_schema(schema->base));
    for (const Field *field = schema->fields; field->name != NULL; field++) {
        json_write_key(json, str_from(field->name));
        json_write_object_begin(json);
        put_schema(json, field->type);
        if (field->about[0] != 0) json_put_cstr(json, "description", field->about);
        json_write_object_end(json);
    }
}

static void put_required(JsonWriter *json, const Schema *schema) {
    if (schema->base != NULL) put_required(json, openapi_schema(schema->base));
    for (const Field *field = schema->fields; field->name != NULL; field++)
        if (field->is_required) json_write_cstr(json, field->name);
}

static void put_schema_component(JsonWriter *json, const Schema *schema) {
    json_write_key(json, str_from(schema->name));
    json_write_object_begin(json);
    put_type(json, "object", false);
    if (schema->about[0] != 0) json_put_cstr(json, "description", schema->about);
    json_write_key(json, STR("properties"));
    json_write_object_begin(json);
    put_properties(json, schema);
    json_write_object_end(json);
    json_write_key(json, STR("required"));
    json_write_array_begin(json);
    put_required(json, schema);
    json_write_array_end(json);
    json_put_bool(json, "additionalProperties", false);
    json_write_object_end(json);
}

// ---- requests ----

static void put_parameter(JsonWriter *json, const char *place, const Field *field) {
    bool is_path = strcmp(place, "path") == 0;
    json_write_object_begin(json);
    json_put_cstr(json, "name", field->name);
    json_put_cstr(json, "in", place);
    json_put_bool(json, "required", is_path || field->is_required);
    if (field->about != NULL) json_put_cstr(json, "description", field->about);
    json_write_key(json, STR("schema"));
    json_write_object_begin(json);
    put_schema(json, field->type);
    json_write_object_end(json);
    json_write_object_end(json);
}

static void put_path_parameters(JsonWriter *json, const char *pattern) {
    for (const char *at = strchr(pattern, '{'); at != NULL; at = strchr(at + 1, '{')) {
        char name[64];
        size_t len = strcspn(at + 1, "}");
        snprintf(name, sizeof name, "%.*s", (int)len, at + 1);
        Field field = {name, "string", true, NULL};
        put_parameter(json, "path", &field);
    }
}

// The few headers that are heeded, by operation.
typedef struct Header {
    const char *operation;
    Field field;
} Header;

static const Header headers[] = {
    {"startRun",
     {"Idempotency-Key", "string", false,
      "The same key and body answer the same run; the same key and another body are refused."}},
    {"startRun",
     {"traceparent", "string", false, "W3C Trace Context: the run and its tasks belong to it."}},
    {"startRun",
     {"tracestate", "string", false, "What belongs to traceparent; handed on with it."}},
    {"streamEvents", {"Last-Event-ID", "integer", false, "Begin after this sequence number."}},
    {"streamHandlerEvents", {"Last-Event-ID", "string", false, "Wins over after_sequence."}},
};

static void put_headers(JsonWriter *json, const char *operation) {
    for (size_t i = 0; i < COUNT_OF(headers); i++)
        if (strcmp(headers[i].operation, operation) == 0)
            put_parameter(json, "header", &headers[i].field);
}

static void put_parameters(JsonWriter *json, const Route *route) {
    json_write_key(json, STR("parameters"));
    json_write_array_begin(json);
    put_path_parameters(json, route->pattern);
    for (const Field *field = route->query; field != NULL && field->name != NULL; field++)
        put_parameter(json, "query", field);
    put_headers(json, route->operation);
    json_write_array_end(json);
}

static void put_fields(JsonWriter *json, const Field *fields, bool is_open) {
    put_type(json, "object", false);
    json_write_key(json, STR("properties"));
    json_write_object_begin(json);
    for (const Field *field = fields; field != NULL && field->name != NULL; field++) {
        json_write_key(json, str_from(field->name));
        put_input_schema(json, field);
    }
    json_write_object_end(json);
    json_write_key(json, STR("required"));
    json_write_array_begin(json);
    for (const Field *field = fields; field != NULL && field->name != NULL; field++)
        if (field->is_required) json_write_cstr(json, field->name);
    json_write_array_end(json);
    json_put_bool(json, "additionalProperties", is_open);
}

static void put_body(JsonWriter *json, const Route *route) {
    if (route->body == BODY_NONE) return;
    bool is_text = route->body == BODY_TEXT;
    bool is_payload = route->body == BODY_PAYLOAD && route->fields == NULL; // any JSON at all
    bool is_optional = is_payload || route->body == BODY_OPTIONAL_OBJECT;
    json_write_key(json, STR("requestBody"));
    json_write_object_begin(json);
    json_put_bool(json, "required", !is_optional);
    json_write_key(json, STR("content"));
    json_write_object_begin(json);
    json_write_key(json, is_text ? STR("text/plain") : STR("application/json"));
    json_write_object_begin(json);
    json_write_key(json, STR("schema"));
    json_write_object_begin(json);
    if (is_text) put_type(json, "string", false);
    else if (!is_payload) put_fields(json, route->fields, route_is_foreign(route));
    json_write_object_end(json);
    json_write_object_end(json);
    json_write_object_end(json);
    json_write_object_end(json);
}

// ---- answers ----

static void begin_response(JsonWriter *json, int status, const char *about) {
    char key[16];
    snprintf(key, sizeof key, "%d", status);
    json_write_key(json, str_from(key));
    json_write_object_begin(json);
    json_put_cstr(json, "description", about);
}

// One media type; a body without a schema of its own is text, or some JSON object.
// "Run" or one of several: "Run|Changed".
static void put_any(JsonWriter *json, Str schemas) {
    if (memchr(schemas.data, '|', schemas.len) == NULL) {
        put_ref(json, "schemas", schemas);
        return;
    }
    json_write_key(json, STR("anyOf"));
    json_write_array_begin(json);
    for (Str one; str_split(&schemas, '|', &one);) {
        json_write_object_begin(json);
        put_ref(json, "schemas", one);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void put_media(JsonWriter *json, Str media_type, const char *schema) {
    json_write_key(json, media_type);
    json_write_object_begin(json);
    json_write_key(json, STR("schema"));
    json_write_object_begin(json);
    bool is_json = str_equal(media_type, STR("application/json"));
    if (schema != NULL) put_any(json, str_from(schema));
    else put_type(json, is_json ? "object" : "string", false);
    json_write_object_end(json);
    json_write_object_end(json);
}

static void put_content(JsonWriter *json, const char *media_types, const char *schema) {
    json_write_key(json, STR("content"));
    json_write_object_begin(json);
    for (Str left = str_from(media_types), one; str_split(&left, ' ', &one);)
        put_media(json, one, schema);
    json_write_object_end(json);
}

static void put_codes(JsonWriter *json, const char *const *codes, size_t count, int status) {
    json_write_key(json, STR("x-codes"));
    json_write_array_begin(json);
    for (size_t i = 0; i < count; i++)
        if (status == 0 || problem_code_status(codes[i]) == status) json_write_cstr(json, codes[i]);
    json_write_array_end(json);
}

static bool is_first_of_status(const char *const *codes, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (problem_code_status(codes[i]) == problem_code_status(codes[index])) return false;
    return true;
}

static bool answers_with(const Route *route, int status) {
    for (const RouteAnswer *answer = route->answers; answer->status != 0; answer++)
        if (answer->status == status) return true;
    return false;
}

static void put_answer(JsonWriter *json, const RouteAnswer *answer) {
    begin_response(json, answer->status, answer->about);
    bool is_media_type = answer->schema != NULL && strchr(answer->schema, '/') != NULL;
    if (is_media_type) put_content(json, answer->schema, NULL);
    else if (answer->schema != NULL) put_content(json, "application/json", answer->schema);
    json_write_object_end(json);
}

static void put_responses(JsonWriter *json, const Route *route) {
    const char *codes[ROUTE_CODES_MAX];
    size_t count = route_codes(route, codes);
    json_write_key(json, STR("responses"));
    json_write_object_begin(json);
    for (const RouteAnswer *answer = route->answers; answer->status != 0; answer++)
        put_answer(json, answer);
    for (size_t i = 0; i < count && !route_is_foreign(route); i++) {
        int status = problem_code_status(codes[i]); // a test finds those that are missing there
        if (status == 0 || answers_with(route, status) || !is_first_of_status(codes, i)) continue;
        begin_response(json, status, problem_title(status));
        put_codes(json, codes, count, status);
        put_content(json, "application/problem+json", "Problem");
        json_write_object_end(json);
    }
    json_write_key(json, STR("default"));
    json_write_object_begin(json);
    put_ref(json, "responses", route_is_foreign(route) ? STR("Detail") : STR("Problem"));
    json_write_object_end(json);
    json_write_object_end(json);
}

// ---- operations ----

static void put_security(JsonWriter *json, const Route *route) {
    json_write_key(json, STR("security"));
    json_write_array_begin(json);
    if (route->scope != SCOPE_NONE) {
        json_write_object_begin(json);
        json_write_key(json, STR("token"));
        json_write_array_begin(json);
        json_write_cstr(json, scope_name(route->scope));
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// "/v1/runs/{id}" belongs to runs, "/livez" to system, all of the handler API to handlers.
static Str tag_of(const Route *route) {
    const char *pattern = route->pattern;
    if (route_is_foreign(route)) return STR("handlers");
    if (strncmp(pattern, "/v1/", 4) != 0) return STR("system");
    return (Str){pattern + 4, strcspn(pattern + 4, "/")};
}

static void put_tag(JsonWriter *json, const Route *route) {
    json_write_key(json, STR("tags"));
    json_write_array_begin(json);
    json_write_string(json, tag_of(route));
    json_write_array_end(json);
}

static bool is_first_of_tag(size_t number) {
    for (size_t i = 0; i < number; i++)
        if (str_equal(tag_of(route_at(i)), tag_of(route_at(number)))) return false;
    return true;
}

typedef struct TagText {
    const char *tag, *about;
} TagText;

static const TagText tag_texts[] = {
    {"tasks", "Work for workers, of runs and on its own."},
    {"runs", "Workflows that are, or were, at work."},
    {"events", "Publishing."},
    {"topics", "What is published, and who waits for it."},
    {"dead-letters", "Events and signals nobody took."},
    {"workflows", "Scripts that are deployed."},
    {"check", "Scripts that are not deployed."},
    {"schedules", "Runs that begin by the clock."},
    {"turns", "How other processes execute workflows: docs/protocol.md."},
    {"queues", "Limits on tasks."},
    {"tokens", "Who may call."},
    {"system", "The server itself."},
    {"stats", "Counters."},
    {"nodes", "The processes on the store."},
    {"workers", "Who asks for tasks."},
    {"filter", "The filter language of lists of runs."},
    {"attention", "What needs a person."},
    {"rates", "How much happened."},
    {"time", "What time it is for runs."},
    {"settings", "What the server was told."},
    {"access", "What the caller may do."},
    {"changes", "What changes, as it happens."},
    {"handlers", "Runs as an established protocol has them."},
};

static const char *tag_text(Str tag) {
    for (size_t i = 0; i < COUNT_OF(tag_texts); i++)
        if (str_equal(tag, str_from(tag_texts[i].tag))) return tag_texts[i].about;
    return NULL; // a test finds it
}

static void put_tags(JsonWriter *json) {
    json_write_key(json, STR("tags"));
    json_write_array_begin(json);
    for (size_t i = 0; i < route_count(); i++) {
        if (!is_first_of_tag(i)) continue;
        json_write_object_begin(json);
        json_put_string(json, "name", tag_of(route_at(i)));
        json_put_cstr(json, "description", tag_text(tag_of(route_at(i))));
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void put_operation(JsonWriter *json, const Route *route) {
    char method[8] = {0};
    for (size_t i = 0; route->method[i] != 0 && i + 1 < sizeof method; i++)
        method[i] = (char)(route->method[i] | 0x20);
    json_write_key(json, str_from(method));
    json_write_object_begin(json);
    json_put_cstr(json, "operationId", route->operation);
    json_put_cstr(json, "summary", route->summary);
    put_tag(json, route);
    put_security(json, route);
    put_parameters(json, route);
    put_body(json, route);
    put_responses(json, route);
    json_write_object_end(json);
}

static bool is_first_of_path(size_t number) {
    for (size_t i = 0; i < number; i++)
        if (strcmp(route_at(i)->pattern, route_at(number)->pattern) == 0) return false;
    return true;
}

static void put_paths(JsonWriter *json) {
    size_t count = route_count();
    json_write_key(json, STR("paths"));
    json_write_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (!is_first_of_path(i)) continue;
        json_write_key(json, str_from(route_at(i)->pattern));
        json_write_object_begin(json);
        for (size_t j = i; j < count; j++)
            if (strcmp(route_at(j)->pattern, route_at(i)->pattern) == 0)
                put_operation(json, route_at(j));
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

// ---- the document ----

static void put_common_problem(JsonWriter *json) {
    size_t count;
    const char *const *codes = route_common_codes(&count);
    json_write_key(json, STR("responses"));
    json_write_object_begin(json);
    json_write_key(json, STR("Problem"));
    json_write_object_begin(json);
    json_put_cstr(json, "description",
                  "A problem that has nothing to do with what is asked for: no token, no such "
                  "path, the store is away. Retry-After comes with 503.");
    put_codes(json, codes, count, 0);
    put_content(json, "application/problem+json", "Problem");
    json_write_object_end(json);
    json_write_key(json, STR("Detail"));
    json_write_object_begin(json);
    json_put_cstr(json, "description", "The same for routes of the handler API.");
    put_content(json, "application/json", "Detail");
    json_write_object_end(json);
    json_write_object_end(json);
}

static void put_components(JsonWriter *json) {
    json_write_key(json, STR("components"));
    json_write_object_begin(json);
    json_write_key(json, STR("securitySchemes"));
    json_write_object_begin(json);
    json_write_key(json, STR("token"));
    json_write_object_begin(json);
    json_put_cstr(json, "type", "http");
    json_put_cstr(json, "scheme", "bearer");
    json_put_cstr(json, "description",
                  "Not asked for on loopback unless configured. admin includes all scopes, client "
                  "includes read.");
    json_write_object_end(json);
    json_write_object_end(json);
    put_common_problem(json);
    json_write_key(json, STR("schemas"));
    json_write_object_begin(json);
    size_t count;
    const Schema *schemas = openapi_schemas(&count);
    for (size_t i = 0; i < count; i++) put_schema_component(json, &schemas[i]);
    json_write_object_end(json);
    json_write_object_end(json);
}

// Paths count from where this document is, whatever name and port it was asked for under.
static void put_servers(JsonWriter *json) {
    json_write_key(json, STR("servers"));
    json_write_array_begin(json);
    json_write_object_begin(json);
    json_put_cstr(json, "url", "/");
    json_put_cstr(json, "description", "The server that this document comes from.");
    json_write_object_end(json);
    json_write_array_end(json);
}

void openapi_write(JsonWriter *json) {
    json_write_object_begin(json);
    json_put_cstr(json, "openapi", "3.1.0");
    json_write_key(json, STR("info"));
    json_write_object_begin(json);
    json_put_cstr(json, "title", "abide");
    json_put_cstr(json, "summary", "Durable workflows");
    json_put_cstr(json, "version", abide_version());
    json_write_key(json, STR("license"));
    json_write_object_begin(json);
    json_put_cstr(json, "name", "Apache License 2.0");
    json_put_cstr(json, "identifier", "Apache-2.0");
    json_write_object_end(json);
    json_write_object_end(json);
    put_servers(json);
    put_tags(json);
    put_paths(json);
    put_components(json);
    json_write_object_end(json);
}
