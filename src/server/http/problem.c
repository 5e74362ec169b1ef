// Which HTTP status an answer has, and how it is written.
//
// The codes are those of docs/errors.md; `type` names the section there, so that a person who meets
// a problem finds its description by the code alone.
//
// Not here: what went wrong (whoever filled the Diag).
#include "server/http/problem.h"
#include "base/array.h"
#include <string.h>

typedef struct CodeStatus {
    const char *code;
    int status;
} CodeStatus;

// Codes that say more than their Status.
static const CodeStatus special[] = {
    {"PAYLOAD_TOO_LARGE", 413},  {"BODY_TOO_LARGE", 413},       {"SOURCE_TOO_LARGE", 413},
    {"TOPIC_FULL", 429},         {"TOO_MANY_SIGNALS", 429},     {"DUPLICATE_KEY", 422},
    {"METHOD_NOT_ALLOWED", 405}, {"UNAUTHORIZED", 401},         {"FORBIDDEN", 403},
    {"DATA_HIDDEN", 403},        {"HOST_NOT_ALLOWED", 403},     {"ORIGIN_NOT_ALLOWED", 403},
    {"TOO_MANY_TOKENS", 429},    {"TOO_MANY_CONNECTIONS", 503}, {"HEADERS_TOO_LARGE", 431},
    {"MEDIA_TYPE", 415},         {"LENGTH_REQUIRED", 411},      {"CLOSED", 503},
    {"FLOW_SYNTAX", 422},        {"FLOW_CHECK", 422},           {"SERVER_BUSY", 503},
    {"STORE_FULL", 507},
};

static int find_status(const CodeStatus *codes, size_t count, const char *code) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(codes[i].code, code) == 0) return codes[i].status;
    return 0;
}

const char *problem_code(Status status, const Diag *diag) {
    const char *code = diag->code[0] != 0 ? diag->code : status_name(status);
    bool is_store = strncmp(code, "STORE_", 6) == 0;
    return status_is_away(status) && is_store ? "STORE_UNAVAILABLE" : code;
}

int problem_status(Status status, const char *code) {
    int own = find_status(special, COUNT_OF(special), code);
    if (own != 0) return own;
    switch (status) {
    case OK: return 200;
    case ERR_NOT_FOUND: return 404;
    case ERR_FENCED:
    case ERR_TERMINAL:
    case ERR_LOCKED:
    case ERR_CONFLICT: return 409;
    case ERR_INVALID: return 400;
    case ERR_LIMIT: return 422;
    case ERR_FULL: return 507;
    case ERR_OLDER:
    case ERR_UNSUPPORTED: return 501;
    case ERR_BUSY:
    case ERR_CLOSED:
    case ERR_INTERRUPTED:
    case ERR_UNAVAILABLE: return 503;
    case ERR_CORRUPT:
    case STATUS_COUNT: break;
    }
    return 500;
}

// Where a code is refused with its Status alone; openapi.c has no other way to know.
static const CodeStatus ordinary[] = {
    {"BAD_CRON", 400},
    {"BAD_DURATION", 400},
    {"BAD_FIELD", 400},
    {"BAD_FILTER", 400},
    {"BAD_HEADER", 400},
    {"BAD_ID", 400},
    {"BAD_INPUT", 400},
    {"BAD_JSON", 400},
    {"BAD_KEY", 400},
    {"BAD_NAME", 400},
    {"BAD_OPTION", 400},
    {"BAD_QUERY", 400},
    {"BAD_QUEUE_LIMIT", 400},
    {"BAD_REQUEST", 400},
    {"BAD_SCHEDULE", 400},
    {"BAD_SCOPE", 400},
    {"TOKEN_NOT_FOUND", 404},
    {"BAD_TAG", 400},
    {"BAD_TIME", 400},
    {"CLOCK_REAL", 409},
    {"BAD_TIMEZONE", 400},
    {"BAD_URI", 400},
    {"BODY_REQUIRED", 400},
    {"BODY_UNEXPECTED", 400},
    {"DEAD_LETTER_NOT_FOUND", 404},
    {"EXPRESSION_INVALID", 400},
    {"EXPRESSION_REFUSED", 400},
    {"JSON_TOO_DEEP", 422},
    {"MISSING_FIELD", 400},
    {"NO_SUCH_PATH", 404},
    {"EVENT_NOT_FOUND", 404},
    {"SIGNAL_NOT_FOUND", 404},
    {"RUN_EXISTS", 409},
    {"RUN_NOT_FAILED", 409},
    {"BAD_PATH", 400},
    {"TURN_NOT_KEPT", 404},
    {"VARIABLE_NOT_FOUND", 404},
    {"RUN_NOT_FOUND", 404},
    {"RUN_NOT_IDLE", 409},
    {"RUN_HAS_READER", 409},
    {"RUN_NOT_TERMINAL", 409},
    {"RUN_PURGED", 409},
    {"RUN_TERMINAL", 409},
    {"SCHEDULE_NOT_FOUND", 404},
    {"SNAPSHOT_CORRUPT", 500},
    {"SNAPSHOT_VERSION", 501},
    {"SNAPSHOT_OTHER_CODE", 409},
    {"SNAPSHOT_NOT_KEPT", 409},
    {"STEP_NOT_FOUND", 404},
    {"STORE_UNAVAILABLE", 503},
    {"TASK_HAS_RUN", 409},
    {"TASK_NOT_FAILED", 409},
    {"TASK_NOT_FOUND", 404},
    {"UNKNOWN_FIELD", 400},
    {"UNKNOWN_PARAMETER", 400},
    {"WORKFLOW_NAME", 400},
    {"WORKFLOW_NOT_FOUND", 404},
    {"WORKFLOW_KIND", 409},
    {"RUN_NOT_SCRIPT", 409},
    {"RUN_NOT_PARKED", 409},
    {"RUN_CHANGED", 409},
    {"MOVE_REFUSED", 409},
    {"TURN_FENCED", 409},
    {"SET_REFUSED", 409},
};

int problem_code_status(const char *code) {
    int status = find_status(special, COUNT_OF(special), code);
    if (status != 0) return status;
    return find_status(ordinary, COUNT_OF(ordinary), code);
}

const char *problem_title(int http_status) {
    switch (http_status) {
    case 400: return "Bad request";
    case 401: return "Not authenticated";
    case 403: return "Not allowed";
    case 404: return "Not found";
    case 405: return "Method not allowed";
    case 409: return "Conflict";
    case 411: return "Length required";
    case 413: return "Too large";
    case 415: return "Unsupported media type";
    case 422: return "Cannot be processed";
    case 429: return "Too many";
    case 431: return "Headers too large";
    case 501: return "Not supported";
    case 503: return "Not available";
    case 507: return "No room";
    default: return "Internal error";
    }
}

void problem_write_detail(JsonWriter *writer, const char *detail) {
    json_write_object_begin(writer);
    json_write_key(writer, STR("detail"));
    json_write_cstr(writer, detail);
    json_write_object_end(writer);
}

void problem_write(JsonWriter *writer, int http_status, const char *code, const char *detail) {
    json_write_object_begin(writer);
    json_write_key(writer, STR("type"));
    char type[128] = "about:blank";
    if (code[0] != 0) {
        size_t at = strlen("urn:abide:error:");
        memcpy(type, "urn:abide:error:", at);
        size_t len = strlen(code);
        if (len > sizeof type - at - 1) len = sizeof type - at - 1;
        memcpy(type + at, code, len);
        type[at + len] = 0;
    }
    json_write_cstr(writer, type);
    json_put_cstr(writer, "title", problem_title(http_status));
    json_put_i64(writer, "status", http_status);
    json_put_cstr(writer, "code", code);
    json_put_cstr(writer, "detail", detail);
    json_write_object_end(writer);
}
