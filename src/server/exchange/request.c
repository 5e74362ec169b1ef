// Reading a request: its query, headers and body, checked against what its route says.
//
// Malformed input is answered here with a problem that names the field, so that handlers only see
// what is well-formed.
//
// Not here: answering (exchange.c), how bytes arrive (http.c).
#include "base/text/number.h"
#include "base/time/duration.h"
#include "json/validate.h"
#include "server/server.h"
#include <strings.h>

Str exchange_query(const Exchange *exchange, const char *name) {
    Str wanted = str_from(name);
    for (size_t i = 0; i < exchange->query_count; i++)
        if (str_equal(exchange->query[i].name, wanted)) return exchange->query[i].value;
    return STR_NULL;
}

static bool is_header(const RequestHeader *header, const char *name) {
    return header->name.len == strlen(name) &&
           strncasecmp(header->name.data, name, header->name.len) == 0;
}

bool exchange_header_at(const Exchange *exchange, const char *name, size_t number, Str *ret_value) {
    for (size_t i = 0; i < exchange->received_count; i++) {
        if (!is_header(&exchange->received[i], name) || number-- > 0) continue;
        *ret_value = exchange->received[i].value;
        return true;
    }
    return false;
}

Str exchange_header(const Exchange *exchange, const char *name) {
    Str value;
    return exchange_header_at(exchange, name, 0, &value) ? value : STR_NULL;
}

size_t exchange_header_count(const Exchange *exchange, const char *name) {
    Str value;
    size_t count = 0;
    while (exchange_header_at(exchange, name, count, &value)) count++;
    return count;
}

bool exchange_query_duration(Exchange *exchange, const char *name, int64_t *ret_ms) {
    Str text = exchange_query(exchange, name);
    if (str_is_null(text)) return true;
    Diag diag;
    Status status = duration_parse(text, ret_ms, &diag);
    if (status == OK) return true;
    exchange_refuse_with(exchange, status, "BAD_QUERY", "%s: %s", name, diag.message);
    return false;
}

bool exchange_query_instant(Exchange *exchange, const char *name, int64_t *ret_ms) {
    Str text = exchange_query(exchange, name);
    if (str_is_null(text)) return true;
    Diag diag;
    Status status = instant_parse(text, ret_ms, &diag);
    if (status == OK) return true;
    exchange_refuse_with(exchange, status, "BAD_QUERY", "%s: %s", name, diag.message);
    return false;
}

bool exchange_query_count(Exchange *exchange, const char *name, int64_t max, int64_t *ret_value) {
    Str text = exchange_query(exchange, name);
    if (str_is_null(text)) return true;
    if (number_parse_count(text, max, ret_value)) return true;
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY",
                         "%s: \"%.*s\" is not a whole number from 0 to %lld", name, STR_ARG(text),
                         (long long)max);
    return false;
}

static bool refuse_json(Exchange *exchange, Status status, const Diag *diag) {
    exchange_refuse(exchange, status, diag);
    return false;
}

static bool check_fields(Exchange *exchange, const JsonValue *object) {
    const char *allowed[ROUTE_FIELDS_MAX + 1];
    const char *required[ROUTE_FIELDS_MAX + 1];
    size_t allowed_count = 0, required_count = 0;
    for (const Field *field = exchange->route->fields; field != NULL && field->name; field++) {
        ASSERT(allowed_count < ROUTE_FIELDS_MAX);
        allowed[allowed_count++] = field->name;
        if (field->is_required) required[required_count++] = field->name;
    }
    allowed[allowed_count] = required[required_count] = NULL;
    Diag diag;
    Status status = json_allow_only(object, allowed, &diag);
    if (status == OK) status = json_require(object, required, &diag);
    return status == OK || refuse_json(exchange, status, &diag);
}

Status exchange_parse(Exchange *exchange, Str text, JsonValue **ret_value, Diag *diag) {
    size_t size = json_tree_size(text);
    bool has_escapes = text.len > 0 && memchr(text.data, '\\', text.len) != NULL;
    size_t texts_size = has_escapes ? text.len : 0;
    if (holding_is_over(&exchange->holding, size + texts_size))
        return diag_set(diag, ERR_UNAVAILABLE, "SERVER_BUSY",
                        "the requests under way, this one as a tree of %zu KiB among them, would "
                        "take over %d MiB together; try again",
                        size >> 10, HELD_BYTES_MAX >> 20);
    holding_add(&exchange->holding, size + texts_size);
    exchange->tree_size += size;
    return json_parse_apart(&exchange->tree, &exchange->arena, text, ret_value, diag);
}

void exchange_drop_tree(Exchange *exchange) { // [exchange-5]
    arena_done(&exchange->tree);
    holding_remove(&exchange->holding, exchange->tree_size);
    exchange->tree_size = 0;
}

const JsonValue *exchange_object(Exchange *exchange) {
    Str text = buf_str(&exchange->body);
    if (text.len == 0 && exchange->route->body == BODY_OPTIONAL_OBJECT) text = STR("{}");
    if (text.len == 0) {
        exchange_refuse_with(exchange, ERR_INVALID, "BODY_REQUIRED",
                             "this request needs a JSON object as its body");
        return NULL;
    }
    JsonValue *value;
    Diag diag;
    Status status = exchange_parse(exchange, text, &value, &diag);
    if (status != OK) {
        refuse_json(exchange, status, &diag);
        return NULL;
    }
    return check_fields(exchange, value) ? value : NULL;
}

bool exchange_payload(Exchange *exchange, Str *ret_payload) {
    *ret_payload = STR_NULL;
    Str text = buf_str(&exchange->body);
    if (text.len == 0) return true;
    Diag diag;
    if (text.len > LIMIT_PAYLOAD_SIZE) {
        exchange_refuse_with(exchange, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                             "the payload has %zu bytes; at most %d are allowed", text.len,
                             LIMIT_PAYLOAD_SIZE);
        return false;
    }
    Status status = json_validate(text, &diag);
    if (status != OK) return refuse_json(exchange, status, &diag);
    *ret_payload = text;
    return true;
}
