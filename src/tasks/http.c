// http: one request, its answer as the result.
//
// {method?, url, headers?, json? | body?, timeout?, followRedirects?, maxBytes?}
//     -> {status, headers, json | body}
//
//   [H1] Only http and https, also after redirects; no proxy, since one would connect for us.
//   [H2] Whom we talk to is decided on the address being connected to, for each connection; every
//        request has its own, so none is inherited.
//   [H3] An answer that is not 2xx is an HttpError with status and the beginning of the body:
//        worth another attempt for 5xx, 408 and 429, final otherwise.
//   [H4] Requests that change something carry the task's key as Idempotency-Key, the same for all
//        attempts, unless the flow sets one.
//
// Not here: libcurl itself (curl.c), which addresses are public (address.c), reading the input
// (http_input.c).
#include "tasks/http.h"
#include "base/limits.h"
#include "json/validate.h"
#include "json/write.h"
#include "tasks/curl.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REDIRECTS_MAX = 10, HEADERS_MAX = 256 << 10, EXCERPT_MAX = 1000 };

typedef struct HttpHeader {
    Str name, value; // name in lower case
} HttpHeader;

typedef struct Exchange { // one request under way
    const HttpRequest *request;
    const Curl *curl;
    Arena *arena;
    const TaskSettings *settings;
    Buf body;
    size_t header_bytes;
    VEC(HttpHeader) headers; // of the last response
    char refused[INET6_ADDRSTRLEN]; // the address that was refused; empty = none
    bool is_too_large;
    long status;
} Exchange;

// ---- what libcurl calls ----

static void note_refused(Exchange *exchange, const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        inet_ntop(AF_INET, &v4->sin_addr, exchange->refused, sizeof exchange->refused);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        inet_ntop(AF_INET6, &v6->sin6_addr, exchange->refused, sizeof exchange->refused);
    } else {
        snprintf(exchange->refused, sizeof exchange->refused, "no IP address");
    }
}

static bool may_connect(const TaskSettings *settings, const struct sockaddr *address) {
    if (settings->is_private_allowed || address_is_public(address)) return true;
    for (size_t i = 0; i < settings->allowed_count; i++)
        if (address_is_in(address, &settings->allowed[i])) return true;
    return false;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address) { // [H2]
    (void)purpose;
    Exchange *exchange = context;
    if (!may_connect(exchange->settings, &address->addr)) {
        note_refused(exchange, &address->addr);
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_body(char *data, size_t size, size_t count, void *context) {
    Exchange *exchange = context;
    buf_append(&exchange->body, data, size * count);
    if (!exchange->body.is_overflown) return size * count;
    exchange->is_too_large = true;
    return 0; // libcurl ends the transfer
}

static Str to_lower(Arena *arena, Str text) {
    char *copy = arena_cstr(arena, text);
    for (size_t i = 0; i < text.len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z') copy[i] = (char)(copy[i] - 'A' + 'a');
    return (Str){copy, text.len};
}

static void add_header(Exchange *exchange, Str name, Str value) {
    for (size_t i = 0; i < exchange->headers.count; i++) {
        HttpHeader *known = &exchange->headers.data[i];
        if (!str_equal(known->name, name)) continue;
        known->value = arena_printf(exchange->arena, "%.*s, %.*s", STR_ARG(known->value),
                                    STR_ARG(value));
        return;
    }
    HttpHeader header = {name, arena_str(exchange->arena, value)};
    vec_push(&exchange->headers, header);
}

static size_t take_header(char *data, size_t size, size_t count, void *context) {
    Exchange *exchange = context;
    Str line = {data, size * count};
    exchange->header_bytes += line.len;
    if (exchange->header_bytes > HEADERS_MAX) {
        exchange->is_too_large = true;
        return 0;
    }
    if (str_starts_with(line, STR("HTTP/"))) { // another response begins, after a redirect
        vec_clear(&exchange->headers);
        buf_clear(&exchange->body);
        return line.len;
    }
    const char *colon = memchr(line.data, ':', line.len);
    if (colon == NULL) return line.len;
    Str name = {line.data, (size_t)(colon - line.data)};
    Str value = {colon + 1, line.len - name.len - 1};
    add_header(exchange, to_lower(exchange->arena, str_trim(name)), str_trim(value));
    return line.len;
}

// ---- the request ----

static bool is_named(const JsonValue *header, const char *name) {
    size_t len = strlen(name);
    return header->key.len == len && strncasecmp(header->key.data, name, len) == 0;
}

static struct curl_slist *make_headers(const Exchange *exchange, abide_call *call) {
    const char *key = abide_call_key(call), *trace = abide_call_traceparent(call);
    const HttpRequest *request = exchange->request;
    const Curl *curl = exchange->curl;
    struct curl_slist *list = NULL;
    bool has_type = false, has_key = false, has_trace = false;
    static const JsonValue no_headers = {.kind = JSON_KIND_OBJECT};
    JSON_EACH(header, request->headers != NULL ? request->headers : &no_headers) {
        Str name = header->key, value = header->string;
        has_type = has_type || is_named(header, "Content-Type");
        has_key = has_key || is_named(header, "Idempotency-Key");
        has_trace = has_trace || is_named(header, "traceparent");
        // libcurl's way to say "an empty value" is a semicolon.
        Str line = value.len > 0 ? arena_printf(exchange->arena, "%.*s: %.*s", STR_ARG(name),
                                                STR_ARG(value))
                                 : arena_printf(exchange->arena, "%.*s;", STR_ARG(name));
        list = curl->slist_append(list, line.data);
    }
    if (!str_is_null(request->body) && !has_type)
        list = curl->slist_append(list, request->is_json
                                            ? "Content-Type: application/json"
                                            : "Content-Type: text/plain; charset=utf-8");
    if (request->is_change && !has_key && key != NULL) // [H4]
        list = curl->slist_append(
            list, arena_printf(exchange->arena, "Idempotency-Key: %s", key).data);
    if (!has_trace && trace != NULL)
        list = curl->slist_append(list,
                                  arena_printf(exchange->arena, "traceparent: %s", trace).data);
    return curl->slist_append(list, "Expect:"); // no pause before larger bodies
}

static void set_method(const Exchange *exchange, CURL *handle) {
    const HttpRequest *request = exchange->request;
    const Curl *curl = exchange->curl;
    bool has_body = !str_is_null(request->body);
    bool is_post = str_equal(request->method, STR("POST"));
    if (has_body || is_post) {
        Str body = has_body ? request->body : STR("");
        curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
        curl->easy_setopt(handle, CURLOPT_POSTFIELDS, body.data);
    }
    if (str_equal(request->method, STR("HEAD"))) curl->easy_setopt(handle, CURLOPT_NOBODY, 1L);
    else if (!is_post && (has_body || !str_equal(request->method, STR("GET"))))
        curl->easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request->method.data);
}

static void set_options(Exchange *exchange, CURL *handle, struct curl_slist *headers) {
    const HttpRequest *request = exchange->request;
    const Curl *curl = exchange->curl;
    curl->easy_setopt(handle, CURLOPT_URL, request->url.data);
    curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https"); // [H1]
    curl->easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl->easy_setopt(handle, CURLOPT_PROXY, "");
    curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    curl->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, request->is_following ? 1L : 0L);
    curl->easy_setopt(handle, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl->easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
    curl->easy_setopt(handle, CURLOPT_USERAGENT, "abide/" ABIDE_VERSION);
    curl->easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl->easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl->easy_setopt(handle, CURLOPT_OPENSOCKETDATA, exchange);
    curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
    curl->easy_setopt(handle, CURLOPT_WRITEDATA, exchange);
    curl->easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
    curl->easy_setopt(handle, CURLOPT_HEADERDATA, exchange);
    set_method(exchange, handle);
}

// ---- the answer ----

static bool is_json_type(const Exchange *exchange) {
    for (size_t i = 0; i < exchange->headers.count; i++) {
        if (!str_equal(exchange->headers.data[i].name, STR("content-type"))) continue;
        Str value = to_lower(exchange->arena, exchange->headers.data[i].value);
        const char *end = memchr(value.data, ';', value.len);
        if (end != NULL) value = str_trim((Str){value.data, (size_t)(end - value.data)});
        bool has_suffix =
            value.len > 5 && memcmp(value.data + value.len - 5, "+json", 5) == 0;
        return has_suffix || str_equal(value, STR("application/json"));
    }
    return false;
}

static int answer(abide_call *call, const Exchange *exchange) {
    Buf text;
    JsonWriter writer;
    Diag diag;
    buf_init(&text, 2 * (size_t)LIMIT_PAYLOAD_SIZE);
    json_writer_init(&writer, &text, STR_NULL);
    json_write_object_begin(&writer);
    json_put_i64(&writer, "status", exchange->status);
    json_write_key(&writer, STR("headers"));
    json_write_object_begin(&writer);
    for (size_t i = 0; i < exchange->headers.count; i++) {
        json_write_key(&writer, exchange->headers.data[i].name);
        json_write_string(&writer, exchange->headers.data[i].value);
    }
    json_write_object_end(&writer);
    Str body = buf_str(&exchange->body);
    if (is_json_type(exchange) && json_validate(body, &diag) == OK)
        json_put_raw(&writer, "json", body);
    else json_put_string(&writer, "body", body);
    json_write_object_end(&writer);
    int code = text.is_overflown || text.len > LIMIT_PAYLOAD_SIZE
                   ? abide_throw_with(call, "HttpError", "the answer is too large for a result",
                                      "{\"code\":\"BODY_TOO_LARGE\"}", 1)
                   : abide_return(call, buf_cstr(&text));
    buf_done(&text);
    return code;
}

// `code` is NULL for answers that have a status.
static int fail(abide_call *call, const Exchange *exchange, const char *code, const char *message) {
    bool is_final = code != NULL && (strcmp(code, "ADDRESS_REFUSED") == 0 ||
                                     strcmp(code, "BODY_TOO_LARGE") == 0);
    long status = exchange->status;
    if (code == NULL) is_final = status < 500 && status != 408 && status != 429; // [H3]
    Buf details;
    JsonWriter writer;
    buf_init(&details, LIMIT_ERROR_SIZE);
    json_writer_init(&writer, &details, STR_NULL);
    json_write_object_begin(&writer);
    if (code != NULL) json_put_cstr(&writer, "code", code);
    json_put_string(&writer, "url", exchange->request->url);
    if (code == NULL) {
        json_put_i64(&writer, "status", status);
        Str body = buf_str(&exchange->body);
        if (body.len > EXCERPT_MAX) body.len = EXCERPT_MAX;
        json_put_string(&writer, "body", body);
    }
    json_write_object_end(&writer);
    int answered = abide_throw_with(call, "HttpError", message, buf_cstr(&details), is_final);
    buf_done(&details);
    return answered;
}

static int sort_out(abide_call *call, Exchange *exchange, CURLcode code, const char *detail) {
    const HttpRequest *request = exchange->request;
    if (exchange->is_too_large)
        return fail(call, exchange, "BODY_TOO_LARGE",
                    abide_call_printf(call, "the answer has more than %zu bytes",
                                      exchange->body.max_size));
    if (code == CURLE_OPERATION_TIMEDOUT)
        return fail(call, exchange, "TIMEOUT",
                    abide_call_printf(call, "no complete answer from %.*s within %lld ms",
                                      STR_ARG(request->url), (long long)request->timeout_ms));
    if (code != CURLE_OK && exchange->refused[0] != 0)
        return fail(call, exchange, "ADDRESS_REFUSED",
                    abide_call_printf(call,
                                      "%.*s leads to %s, which is no public address; "
                                      "allow_addresses or allow_private (abide run: "
                                      "--allow-address, --allow-private) let it",
                                      STR_ARG(request->url), exchange->refused));
    if (code == CURLE_TOO_MANY_REDIRECTS)
        return fail(call, exchange, "TOO_MANY_REDIRECTS",
                    abide_call_printf(call, "%.*s redirects more than %d times",
                                      STR_ARG(request->url), REDIRECTS_MAX));
    if (code != CURLE_OK)
        return fail(call, exchange, "CONNECTION",
                    abide_call_printf(call, "no answer from %.*s: %s", STR_ARG(request->url),
                                      detail));
    bool is_redirect = exchange->status >= 300 && exchange->status < 400;
    bool is_wanted = exchange->status >= 200 && exchange->status < 300;
    if (is_wanted || (is_redirect && !request->is_following)) return answer(call, exchange);
    return fail(call, exchange, NULL,
                abide_call_printf(call, "%.*s answered %ld", STR_ARG(request->url),
                                  exchange->status));
}

static int perform(abide_call *call, Exchange *exchange) {
    const Curl *curl = exchange->curl;
    char detail[CURL_ERROR_SIZE] = "";
    CURL *handle = curl->easy_init();
    if (handle == NULL) return abide_throw(call, "HttpError", "libcurl has no handle to give");
    struct curl_slist *headers = make_headers(exchange, call);
    curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
    set_options(exchange, handle, headers);
    CURLcode code = curl->easy_perform(handle);
    curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &exchange->status);
    int answered = sort_out(call, exchange, code, detail);
    curl->easy_cleanup(handle);
    curl->slist_free_all(headers);
    return answered;
}

int task_http(abide_call *call, const char *input) {
    const TaskSettings *settings = abide_call_user_data(call);
    Arena arena;
    Diag diag;
    HttpRequest request;
    arena_init(&arena);
    int code;
    Exchange exchange = {.request = &request, .arena = &arena, .settings = settings};
    if (http_read_input(&arena, input, &request, &diag) != OK) {
        code = task_refuse(call, &diag);
    } else if ((exchange.curl = curl_get(&diag)) == NULL) {
        code = abide_throw_final(call, "HttpError", diag.message);
    } else {
        buf_init(&exchange.body, (size_t)request.max_bytes);
        code = perform(call, &exchange);
        buf_done(&exchange.body);
        vec_free(&exchange.headers);
    }
    arena_done(&arena);
    return code;
}
