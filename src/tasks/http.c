// http: one request, its answer as the result.
//
// {method?, url, headers?, json? | body?, timeout?, followRedirects?, maxBytes?}
//     -> {status, headers, json | body}
//
//   [http-1] Only http and https, also after redirects; no proxy, since one would connect for us.
//   [http-2] Whom we talk to is decided on the address being connected to, for each connection;
//        every request has its own, so none is inherited.
//   [http-3] An answer that is not 2xx is an HttpError with status and the beginning of the body:
//        worth another attempt for 5xx, 408 and 429, final otherwise.
//   [http-4] Requests that change something carry the task's key as Idempotency-Key, the same for
//        all attempts, unless the flow sets one.
//
// Not here: libcurl itself (curl.c), which addresses are public (address.c), reading the input
// (http_input.c), the head of an answer (http_head.c), where a redirect leads (http_hop.c).
#include "tasks/http.h"
#include "base/limits.h"
#include "json/validate.h"
#include "json/write.h"
#include "tasks/http_head.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REDIRECTS_MAX = 10, EXCERPT_MAX = 1000, REDIRECT_BODY_MAX = 1 << 20 };

typedef struct Exchange { // one request under way, with its redirects
    const HttpRequest *request;
    const Curl *curl;
    Arena *arena;
    const TaskSettings *settings;
    HttpHop hop;
    HttpHead head; // of the last answer
    Buf body;
    size_t skipped_bytes;           // of bodies that only say where to go
    int64_t left_ms;                // of the time-out, for what is to come
    char refused[INET6_ADDRSTRLEN]; // the address that was refused; empty = none
    bool is_body_too_large;
    bool is_head_too_large;
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
                                 struct curl_sockaddr *address) { // [http-2]
    (void)purpose;
    Exchange *exchange = context;
    if (!may_connect(exchange->settings, &address->addr)) {
        note_refused(exchange, &address->addr);
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Whether what arrives now only leads somewhere else.
static bool is_leading_on(const Exchange *exchange) {
    bool is_redirect = exchange->head.status >= 300 && exchange->head.status < 400;
    return exchange->request->is_following && is_redirect &&
           strmap_get(&exchange->head.by_name, STR("location")) != NULL;
}

static size_t take_body(char *data, size_t size, size_t count, void *context) {
    Exchange *exchange = context;
    if (is_leading_on(exchange)) {
        exchange->skipped_bytes += size * count;
        exchange->is_body_too_large = exchange->skipped_bytes > REDIRECT_BODY_MAX;
    } else {
        buf_append(&exchange->body, data, size * count);
        exchange->is_body_too_large = exchange->body.is_overflown;
    }
    return exchange->is_body_too_large ? 0 : size * count; // 0: libcurl ends the transfer
}

static size_t take_header(char *data, size_t size, size_t count, void *context) {
    Exchange *exchange = context;
    if (http_head_line(&exchange->head, (Str){data, size * count})) return size * count;
    exchange->is_head_too_large = true;
    return 0;
}

// ---- the request ----

typedef struct HeaderList {
    const Exchange *exchange;
    struct curl_slist *list;
} HeaderList;

static void send_header(HeaderList *headers, Str name, Str value) {
    const Exchange *exchange = headers->exchange;
    if (!http_hop_sends(&exchange->hop, name)) return;
    // libcurl's way to say "an empty value" is a semicolon.
    Str line = value.len > 0
                   ? arena_printf(exchange->arena, "%.*s: %.*s", STR_ARG(name), STR_ARG(value))
                   : arena_printf(exchange->arena, "%.*s;", STR_ARG(name));
    headers->list = exchange->curl->slist_append(headers->list, line.data);
}

static bool is_named(const JsonValue *header, const char *name) {
    size_t len = strlen(name);
    return header->key.len == len && strncasecmp(header->key.data, name, len) == 0;
}

static struct curl_slist *make_headers(const Exchange *exchange, abide_call *call) {
    const char *key = abide_call_key(call), *trace = abide_call_traceparent(call);
    const HttpRequest *request = exchange->request;
    HeaderList headers = {.exchange = exchange};
    bool has_type = false, has_key = false, has_trace = false, has_state = false;
    static const JsonValue no_headers = {.kind = JSON_KIND_OBJECT};
    JSON_EACH (header, request->headers != NULL ? request->headers : &no_headers) {
        has_type = has_type || is_named(header, "Content-Type");
        has_key = has_key || is_named(header, "Idempotency-Key");
        has_trace = has_trace || is_named(header, "traceparent");
        has_state = has_state || is_named(header, "tracestate");
        send_header(&headers, header->key, header->string);
    }
    if (!str_is_null(exchange->hop.body) && !has_type)
        send_header(&headers, STR("Content-Type"),
                    request->is_json ? STR("application/json") : STR("text/plain; charset=utf-8"));
    if (http_method_changes(exchange->hop.method) && !has_key && key != NULL) // [http-4]
        send_header(&headers, STR("Idempotency-Key"), str_from(key));
    if (!has_trace && trace != NULL) {
        const char *trace_state = abide_call_tracestate(call);
        send_header(&headers, STR("traceparent"), str_from(trace));
        if (trace_state != NULL && !has_state)
            send_header(&headers, STR("tracestate"), str_from(trace_state));
    }
    return exchange->curl->slist_append(headers.list, "Expect:"); // no pause before larger bodies
}

static void set_method(const Exchange *exchange, CURL *handle) {
    const HttpHop *request = &exchange->hop;
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
    const Curl *curl = exchange->curl;
    curl->easy_setopt(handle, CURLOPT_URL, exchange->hop.url.data);
    curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https"); // [http-1]
    curl->easy_setopt(handle, CURLOPT_PROXY, "");
    curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)exchange->left_ms);
    curl->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L); // http_hop.c does it
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
    Str value = http_head_value(&exchange->head, STR("content-type"));
    if (str_is_null(value)) return false;
    const char *end = memchr(value.data, ';', value.len);
    if (end != NULL) value = str_trim((Str){value.data, (size_t)(end - value.data)});
    static const char json[] = "application/json", suffix[] = "+json";
    size_t suffix_len = sizeof suffix - 1;
    if (value.len == sizeof json - 1) return strncasecmp(value.data, json, value.len) == 0;
    return value.len > suffix_len &&
           strncasecmp(value.data + value.len - suffix_len, suffix, suffix_len) == 0;
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
    http_head_write(&exchange->head, &writer);
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

// Why there is no answer that counts as one.
typedef struct Failure {
    const char *code; // NULL: the answer has a status, and that says it
    bool is_final;    // another attempt would end the same way
} Failure;

static const Failure headers_too_large = {"HEADERS_TOO_LARGE", true};
static const Failure body_too_large = {"BODY_TOO_LARGE", true};
static const Failure address_refused = {"ADDRESS_REFUSED", true};
static const Failure timed_out = {"TIMEOUT", false};
static const Failure no_connection = {"CONNECTION", false};
static const Failure too_many_redirects = {"TOO_MANY_REDIRECTS", false};

static Failure failure_of_status(long status) { // [http-3]
    return (Failure){.is_final = status < 500 && status != 408 && status != 429};
}

static int fail(abide_call *call, const Exchange *exchange, Failure failure, const char *message) {
    const char *code = failure.code;
    Buf details;
    JsonWriter writer;
    buf_init(&details, LIMIT_ERROR_SIZE);
    json_writer_init(&writer, &details, STR_NULL);
    json_write_object_begin(&writer);
    if (code != NULL) json_put_cstr(&writer, "code", code);
    json_put_string(&writer, "url", exchange->request->url);
    if (code == NULL) {
        json_put_i64(&writer, "status", exchange->status);
        Str body = buf_str(&exchange->body);
        if (body.len > EXCERPT_MAX) body.len = EXCERPT_MAX;
        json_put_string(&writer, "body", body);
    }
    json_write_object_end(&writer);
    int answered =
        abide_throw_with(call, "HttpError", message, buf_cstr(&details), failure.is_final);
    buf_done(&details);
    return answered;
}

static int sort_out(abide_call *call, Exchange *exchange, CURLcode code, const char *detail) {
    const HttpRequest *request = exchange->request;
    if (exchange->is_head_too_large)
        return fail(
            call, exchange, headers_too_large,
            abide_call_printf(call, "the answer has more than %d bytes of headers", HTTP_HEAD_MAX));
    if (exchange->is_body_too_large)
        return fail(
            call, exchange, body_too_large,
            abide_call_printf(call, "the answer has more than %zu bytes", exchange->body.max_size));
    if (code == CURLE_OPERATION_TIMEDOUT)
        return fail(call, exchange, timed_out,
                    abide_call_printf(call, "no complete answer from %.*s within %lld ms",
                                      STR_ARG(request->url), (long long)request->timeout_ms));
    if (code != CURLE_OK && exchange->refused[0] != 0)
        return fail(call, exchange, address_refused,
                    abide_call_printf(call,
                                      "%.*s leads to %s, which is no public address; the "
                                      "settings allow_private and allow_addresses let it",
                                      STR_ARG(request->url), exchange->refused));
    if (code == CURLE_TOO_MANY_REDIRECTS)
        return fail(call, exchange, too_many_redirects,
                    abide_call_printf(call, "%.*s redirects more than %d times",
                                      STR_ARG(request->url), REDIRECTS_MAX));
    if (code != CURLE_OK)
        return fail(
            call, exchange, no_connection,
            abide_call_printf(call, "no answer from %.*s: %s", STR_ARG(request->url), detail));
    bool is_redirect = exchange->status >= 300 && exchange->status < 400;
    bool is_wanted = exchange->status >= 200 && exchange->status < 300;
    if (is_wanted || (is_redirect && !request->is_following)) return answer(call, exchange);
    return fail(
        call, exchange, failure_of_status(exchange->status),
        abide_call_printf(call, "%.*s answered %ld", STR_ARG(request->url), exchange->status));
}

static CURLcode send_once(abide_call *call, Exchange *exchange, CURL *handle, char *detail) {
    const Curl *curl = exchange->curl;
    if (exchange->left_ms <= 0) return CURLE_OPERATION_TIMEDOUT; // 0 would be no limit
    struct curl_slist *headers = make_headers(exchange, call);
    curl->easy_reset(handle);
    curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
    set_options(exchange, handle, headers);
    CURLcode code = curl->easy_perform(handle);
    curl_off_t spent_us = 0;
    curl->easy_getinfo(handle, CURLINFO_TOTAL_TIME_T, &spent_us);
    curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &exchange->status);
    exchange->left_ms -= spent_us / 1000;
    curl->slist_free_all(headers);
    return code;
}

static CURLcode send_and_follow(abide_call *call, Exchange *exchange, CURL *handle, char *detail) {
    for (int redirects = 0;; redirects++) {
        char *url = NULL;
        CURLcode code = send_once(call, exchange, handle, detail);
        if (code != CURLE_OK || !exchange->request->is_following) return code;
        exchange->curl->easy_getinfo(handle, CURLINFO_REDIRECT_URL, &url);
        if (url == NULL) return code;
        if (redirects == REDIRECTS_MAX) return CURLE_TOO_MANY_REDIRECTS;
        Str copy = arena_str(exchange->arena, str_from(url));
        http_hop_follow(exchange->curl, &exchange->hop, exchange->status, copy);
    }
}

static int perform(abide_call *call, Exchange *exchange) {
    const Curl *curl = exchange->curl;
    const HttpRequest *request = exchange->request;
    char detail[CURL_ERROR_SIZE] = "";
    CURL *handle = curl->easy_init();
    if (handle == NULL) return abide_throw(call, "HttpError", "libcurl has no handle to give");
    buf_init(&exchange->body, (size_t)request->max_bytes);
    http_head_init(&exchange->head, exchange->arena);
    exchange->left_ms = request->timeout_ms;
    exchange->hop = (HttpHop){request->url, request->method, request->body, false, false};
    CURLcode code = send_and_follow(call, exchange, handle, detail);
    int answered = sort_out(call, exchange, code, detail);
    http_head_done(&exchange->head);
    buf_done(&exchange->body);
    curl->easy_cleanup(handle);
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
        code = perform(call, &exchange);
    }
    arena_done(&arena);
    return code;
}
