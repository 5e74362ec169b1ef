// Reading the input of the http task: what cannot be right is refused here, by field.
//
// Names and values of headers are checked byte by byte, so that no flow can smuggle a second
// header or request into the connection.
//
// Not here: the request itself (http.c).
#include "base/limits.h"
#include "tasks/http.h"
#include <strings.h>

enum {
    TIMEOUT_DEFAULT_MS = 30000,
    TIMEOUT_MAX_MS = 3600000,
    BYTES_DEFAULT = 1 << 20,
    URL_MAX = 8192,
    METHOD_MAX = 16,
    HEADERS_MAX = 100,
    HEADERS_SIZE_MAX = 64 << 10,
};

static Status refuse(Diag *diag, const char *message) {
    return diag_set(diag, ERR_INVALID, "TASK_INPUT", "%s", message);
}

static Status check_url(Str url, Diag *diag) {
    if (!str_starts_with(url, STR("http://")) && !str_starts_with(url, STR("https://")))
        return refuse(diag, "url must begin with http:// or https://");
    if (url.len > URL_MAX) return refuse(diag, "url is longer than 8192 bytes");
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.data[i] <= ' ' || url.data[i] == 0x7F)
            return refuse(diag, "url holds a space or a control character; encode it (%20)");
    return OK;
}

static bool is_token(Str text) { // RFC 9110, 5.6.2
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_plain && (c == 0 || strchr(marks, c) == NULL)) return false;
    }
    return text.len > 0;
}

static Status check_header(const JsonValue *header, Diag *diag) {
    Str name = header->key;
    if (!is_token(name))
        return diag_set(diag, ERR_INVALID, "TASK_INPUT", "headers: \"%.*s\" is no header name",
                        STR_ARG(name));
    if (header->kind != JSON_KIND_STRING)
        return diag_set(diag, ERR_INVALID, "TASK_INPUT", "headers: %.*s must be a string",
                        STR_ARG(name));
    if (http_header_is_ours(name))
        return diag_set(diag, ERR_INVALID, "TASK_INPUT",
                        "headers: %.*s follows from the url, the body and the connection; leave "
                        "it out",
                        STR_ARG(name));
    for (size_t i = 0; i < header->string.len; i++) {
        unsigned char c = (unsigned char)header->string.data[i];
        if ((c < ' ' && c != '\t') || c == 0x7F)
            return diag_set(diag, ERR_INVALID, "TASK_INPUT",
                            "headers: the value of %.*s holds a control character", STR_ARG(name));
    }
    return OK;
}

// Names differ in more than case: which of two values a server believes is anybody's guess.
static Status check_headers(const JsonValue *headers, Diag *diag) {
    size_t count = 0, size = 0;
    JSON_EACH (header, headers) {
        TRY(check_header(header, diag));
        size += header->key.len + header->string.len;
        if (++count > HEADERS_MAX || size > HEADERS_SIZE_MAX)
            return refuse(diag, "headers: more than 100, or more than 65536 bytes");
        JSON_EACH (other, headers) {
            if (other == header) break;
            if (other->key.len != header->key.len ||
                strncasecmp(other->key.data, header->key.data, other->key.len) != 0)
                continue;
            return diag_set(diag, ERR_INVALID, "TASK_INPUT",
                            "headers: %.*s and %.*s are the same header; give one of them",
                            STR_ARG(other->key), STR_ARG(header->key));
        }
    }
    return OK;
}

static Status read_method(Arena *arena, Str given, HttpRequest *request, Diag *diag) {
    if (given.len > METHOD_MAX || !is_token(given))
        return refuse(diag, "method is no HTTP method; GET, POST, PUT, PATCH and DELETE are");
    char *method = arena_cstr(arena, given);
    for (size_t i = 0; i < given.len; i++)
        if (method[i] >= 'a' && method[i] <= 'z') method[i] = (char)(method[i] - 'a' + 'A');
    request->method = (Str){method, given.len};
    if (strcmp(method, "CONNECT") == 0 || strcmp(method, "TRACE") == 0)
        return refuse(diag, "method must not be CONNECT or TRACE");
    return OK;
}

static Status read_body(const JsonValue *object, HttpRequest *request, Diag *diag) {
    Str json = STR_NULL, body = STR_NULL;
    json_get_raw(object, "json", &json);
    TRY(json_get_string(object, "body", &body, diag));
    if (!str_is_null(json) && !str_is_null(body))
        return refuse(diag, "give json or body, not both");
    request->is_json = !str_is_null(json);
    request->body = request->is_json ? json : body;
    return OK;
}

static Status check_numbers(const HttpRequest *request, Diag *diag) {
    if (request->timeout_ms < 1 || request->timeout_ms > TIMEOUT_MAX_MS)
        return refuse(diag, "timeout must be between 1ms and 1h");
    if (request->max_bytes < 0 || request->max_bytes > LIMIT_PAYLOAD_SIZE)
        return refuse(diag, "maxBytes must be between 0 and 4194304");
    return OK;
}

Status http_read_input(Arena *arena, const char *input, HttpRequest *ret_request, Diag *diag) {
    static const char *const names[] = {
        "method", "url", "headers", "json", "body", "timeout", "followRedirects", "maxBytes", NULL};
    static const char *const required[] = {"url", NULL};
    *ret_request = (HttpRequest){.timeout_ms = TIMEOUT_DEFAULT_MS, .max_bytes = BYTES_DEFAULT};
    ret_request->is_following = true;
    Str method = STR_NULL, url = STR_NULL;
    const JsonValue *object;
    TRY(task_input(arena, input, names, &object, diag));
    TRY(json_require(object, required, diag));
    TRY(json_get_string(object, "url", &url, diag));
    TRY(check_url(url, diag));
    ret_request->url = arena_str(arena, url);
    TRY(read_body(object, ret_request, diag));
    TRY(json_get_string(object, "method", &method, diag));
    if (str_is_null(method)) method = str_is_null(ret_request->body) ? STR("GET") : STR("POST");
    TRY(read_method(arena, method, ret_request, diag));
    TRY(json_get_object(object, "headers", &ret_request->headers, diag));
    if (ret_request->headers != NULL) TRY(check_headers(ret_request->headers, diag));
    TRY(json_get_duration_ms(object, "timeout", &ret_request->timeout_ms, diag));
    TRY(json_get_bool(object, "followRedirects", &ret_request->is_following, diag));
    TRY(json_get_i64(object, "maxBytes", &ret_request->max_bytes, diag));
    return check_numbers(ret_request, diag);
}
