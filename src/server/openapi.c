// Writing the description of the API.
//
// Everything comes from the tables that requests are matched and checked against, so the document
// cannot say anything else than what the server does; a test holds the two against each other,
// code by code.
//
// A problem's status has its codes in `x-codes`. Codes that have nothing to do with what a route
// does (no token, the store is away …) are those of the response `default`.
//
// Not here: what answers look like (openapi_schemas.c).
#include "server/openapi.h"
#include "abide.h"
#include "base/assert.h"
#include "server/problem.h"
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
    {"any", NULL, NULL},           {"string", "string", NULL},   {"integer", "integer", "int64"},
    {"number", "number", NULL},    {"boolean", "boolean", NULL}, {"instant", "string", "date-time"},
    {"duration", "string", "duration-text"}, {"object", "object", NULL},
};

static const PlainType *find_plain(Str name) {
    for (size_t i = 0; i < sizeof plain_types / sizeof plain_types[0]; i++)
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

static void put_items(JsonWriter *json, Str item) {
    put_type(json, "array", false);
    json_write_key(json, STR("items"));
    json_write_object_begin(json);
    const PlainType *plain = find_plain(item);
    if (plain != NULL) put_type(json, plain->type, false);
    else put_ref(json, "schemas", item);
    json_write_object_end(json);
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
        put_items(json, STR("string"));
    } else if (str_equal(type, STR("objects"))) {
        put_items(json, STR("object"));
    } else {
        ASSERT(type.data[0] == '[' && !is_nullable);
        put_items(json, (Str){type.data + 1, type.len - 2});
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
    {"streamEvents", {"Last-Event-ID", "integer", false, "Begin after this sequence number."}},
};

static void put_headers(JsonWriter *json, const char *operation) {
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
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

static void put_fields(JsonWriter *json, const Field *fields) {
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
    json_put_bool(json, "additionalProperties", false);
}

static void put_body(JsonWriter *json, const Route *route) {
    if (route->body == BODY_NONE) return;
    bool is_text = route->body == BODY_TEXT;
    json_write_key(json, STR("requestBody"));
    json_write_object_begin(json);
    json_put_bool(json, "required", is_text || route->body == BODY_OBJECT);
    json_write_key(json, STR("content"));
    json_write_object_begin(json);
    json_write_key(json, is_text ? STR("text/plain") : STR("application/json"));
    json_write_object_begin(json);
    json_write_key(json, STR("schema"));
    json_write_object_begin(json);
    if (is_text) put_type(json, "string", false);
    else if (route->body != BODY_PAYLOAD) put_fields(json, route->fields);
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

static void put_content(JsonWriter *json, const char *content_type, const char *schema) {
    json_write_key(json, STR("content"));
    json_write_object_begin(json);
    json_write_key(json, str_from(content_type));
    json_write_object_begin(json);
    json_write_key(json, STR("schema"));
    json_write_object_begin(json);
    if (schema != NULL) put_ref(json, "schemas", str_from(schema));
    else put_type(json, "string", false);
    json_write_object_end(json);
    json_write_object_end(json);
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
    for (size_t i = 0; i < count; i++) {
        int status = problem_code_status(codes[i]); // a test finds those that are missing there
        if (status == 0 || answers_with(route, status) || !is_first_of_status(codes, i)) continue;
        begin_response(json, status, problem_title(status));
        put_codes(json, codes, count, status);
        put_content(json, "application/problem+json", "Problem");
        json_write_object_end(json);
    }
    json_write_key(json, STR("default"));
    json_write_object_begin(json);
    put_ref(json, "responses", STR("Problem"));
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

// "/v1/runs/{id}" belongs to runs, "/livez" to system.
static void put_tag(JsonWriter *json, const char *pattern) {
    Str tag = STR("system");
    if (strncmp(pattern, "/v1/", 4) == 0) tag = (Str){pattern + 4, strcspn(pattern + 4, "/")};
    json_write_key(json, STR("tags"));
    json_write_array_begin(json);
    json_write_string(json, tag);
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
    put_tag(json, route->pattern);
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
        if (route_is_foreign(route_at(i)) || !is_first_of_path(i)) continue;
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

void openapi_write(JsonWriter *json) {
    json_write_object_begin(json);
    json_put_cstr(json, "openapi", "3.1.0");
    json_write_key(json, STR("info"));
    json_write_object_begin(json);
    json_put_cstr(json, "title", "abide");
    json_put_cstr(json, "summary", "Durable workflows");
    json_put_cstr(json, "version", abide_version());
    json_write_object_end(json);
    put_paths(json);
    put_components(json);
    json_write_object_end(json);
}
