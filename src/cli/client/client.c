// HTTP calls over libcurl.
//
// One handle is kept for all calls of a client, so that bulk changes share a connection. The
// library is loaded when the first client is opened (tasks/curl.h says why).
//
// Invariants [client-1]-[client-5] are in client.h.
//
// Not here: what is called (the commands), streams (client/stream.c), a server of one's own
// (local.c).
#include "base/array.h"
#include "base/containers/buf.h"
#include "base/memory.h"
#include "cli/client/client_internal.h"
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

enum {
    CONNECT_TIMEOUT_MS = 5000,
    ANSWER_TIMEOUT_MS = 60000, // beyond what the request itself asks the server to wait
    ATTEMPTS_MAX = 3,
    FIRST_PAUSE_MS = 100,
};

// ---- addresses ----

static bool has_scheme(Str url, Str scheme) { return str_starts_with(url, scheme); }

static Status check_url(Str url, Diag *diag) {
    bool is_http = has_scheme(url, STR("http://")) && url.len > strlen("http://");
    bool is_https = has_scheme(url, STR("https://")) && url.len > strlen("https://");
    if (is_http || is_https) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_SERVER_URL",
                    "\"%.*s\" is no address of a server; write it as in " CLIENT_DEFAULT_SERVER,
                    STR_ARG(url));
}

// A proxy for what is on this very machine would only be in the way.
static bool is_this_machine(Str url) {
    static const char *const hosts[] = {"//127.", "//localhost", "//[::1]"};
    size_t at = 0;
    while (at < url.len && url.data[at] != '/') at++;
    Str rest = {url.data + at, url.len - at};
    for (size_t i = 0; i < COUNT_OF(hosts); i++)
        if (str_starts_with(rest, str_from(hosts[i]))) return true;
    return false;
}

Str client_escape(Arena *arena, Str text) {
    static const char digits[] = "0123456789ABCDEF";
    char *out = arena_alloc(arena, 3 * text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_plain = is_letter || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '~' ||
                        (c == '.' && text.len > 2); // "." and ".." would climb
        if (is_plain) {
            out[len++] = (char)c;
        } else {
            out[len++] = '%';
            out[len++] = digits[c >> 4];
            out[len++] = digits[c & 15];
        }
    }
    out[len] = 0;
    return (Str){out, len};
}

void client_put_query(Buf *path, const char *name, Str value) {
    if (str_is_null(value)) return;
    Arena arena;
    arena_init(&arena);
    bool has_query = memchr(path->data, '?', path->len) != NULL;
    buf_printf(path, "%c%s=", has_query ? '&' : '?', name);
    buf_append_str(path, client_escape(&arena, value));
    arena_done(&arena);
}

// ---- one transfer ----

static size_t take_body(char *data, size_t size, size_t count, void *context) {
    Transfer *transfer = context;
    buf_append(&transfer->body, data, size * count);
    return transfer->body.is_overflown ? 0 : size * count; // [client-3]
}

static size_t take_header(char *data, size_t size, size_t count, void *context) {
    Transfer *transfer = context;
    Str line = str_trim((Str){data, size * count});
    if (line.len > 5 && strncasecmp(line.data, "date:", 5) == 0)
        transfer->date_ms = http_date_parse(str_trim((Str){line.data + 5, line.len - 5}));
    return size * count;
}

static int look_for_stop(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)a, (void)b, (void)c, (void)d;
    return client_is_stopped(context);
}

bool client_is_stopped(const Client *client) {
    return client->config.stop != NULL && atomic_load(client->config.stop);
}

static void set_connection(Client *client) {
    const Curl *curl = client->curl;
    CURL *handle = client->handle;
    const ClientConfig *config = &client->config;
    curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, client->trouble);
    curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, look_for_stop);
    curl->easy_setopt(handle, CURLOPT_XFERINFODATA, client);
    curl->easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl->easy_setopt(handle, CURLOPT_USERAGENT, "abide/" ABIDE_VERSION);
    if (is_this_machine(config->server)) curl->easy_setopt(handle, CURLOPT_PROXY, "");
    if (!str_is_null(config->socket_path))
        curl->easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, config->socket_path.data);
    if (!str_is_null(config->ca_file))
        curl->easy_setopt(handle, CURLOPT_CAINFO, config->ca_file.data);
}

static struct curl_slist *add_header(const Client *client, struct curl_slist *list,
                                     const char *name, Str value) {
    Arena arena;
    arena_init(&arena);
    Str line = arena_printf(&arena, "%s: %.*s", name, STR_ARG(value));
    struct curl_slist *longer = client->curl->slist_append(list, line.data);
    arena_done(&arena);
    return longer;
}

static struct curl_slist *make_headers(const Client *client, const ClientRequest *request,
                                       Str last_event_id) {
    struct curl_slist *list = NULL;
    list = client->curl->slist_append(list, "Expect:"); // no round trip before a large body
    list = client->curl->slist_append(list, "User-Agent: abide/" ABIDE_VERSION);
    if (!str_is_null(client->config.token)) {
        Arena arena;
        arena_init(&arena);
        Str bearer = arena_printf(&arena, "Bearer %.*s", STR_ARG(client->config.token));
        list = add_header(client, list, "Authorization", bearer);
        arena_done(&arena);
    }
    if (!str_is_null(request->body)) {
        const char *type = request->content_type ? request->content_type : "application/json";
        list = add_header(client, list, "Content-Type", str_from(type));
    } else {
        list = client->curl->slist_append(list, "Content-Type:"); // not the form libcurl assumes
    }
    if (!str_is_null(request->idempotency_key))
        list = add_header(client, list, "Idempotency-Key", request->idempotency_key);
    if (!str_is_null(last_event_id))
        list = add_header(client, list, "Last-Event-ID", last_event_id);
    return list;
}

CURLcode client_perform(Client *client, const ClientRequest *request, Transfer *transfer) {
    const Curl *curl = client->curl;
    CURL *handle = client->handle;
    Arena arena;
    arena_init(&arena);
    Str url =
        arena_printf(&arena, "%.*s%.*s", STR_ARG(client->config.server), STR_ARG(request->path));
    struct curl_slist *headers = make_headers(client, request, transfer->last_event_id);
    long limit_ms = transfer->is_stream ? 0 : (long)(ANSWER_TIMEOUT_MS + request->wait_ms);
    bool has_body = !str_is_null(request->body);
    bool is_get = strcmp(request->method, "GET") == 0;
    curl->easy_setopt(handle, CURLOPT_URL, url.data);
    curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, limit_ms);
    curl->easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, transfer->is_stream ? 1L : 0L);
    curl->easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, transfer->is_stream ? 90L : 0L);
    curl->easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    if (is_get && !has_body) {
        curl->easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    } else {
        curl->easy_setopt(handle, CURLOPT_POST, 1L);
        curl->easy_setopt(handle, CURLOPT_POSTFIELDS, has_body ? request->body.data : "");
        curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    }
    curl->easy_setopt(handle, CURLOPT_CUSTOMREQUEST, is_get ? NULL : request->method);
    curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION,
                      transfer->take != NULL ? transfer->take : take_body);
    curl->easy_setopt(handle, CURLOPT_WRITEDATA, transfer);
    curl->easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
    curl->easy_setopt(handle, CURLOPT_HEADERDATA, transfer);
    client->trouble[0] = 0;
    CURLcode code = curl->easy_perform(handle);
    long http_status = 0;
    curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &http_status);
    transfer->http_status = client->http_status = (int)http_status;
    curl->easy_setopt(handle, CURLOPT_HTTPHEADER, NULL);
    curl->slist_free_all(headers);
    arena_done(&arena);
    return code;
}

// ---- what came of it ----

Status client_explain(const Client *client, CURLcode code, Diag *diag) {
    const char *why = client->trouble[0] ? client->trouble : "no answer";
    Str server = client->config.server;
    if (client_is_stopped(client))
        return diag_set(diag, ERR_INTERRUPTED, "INTERRUPTED", "interrupted");
    switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return diag_set(diag, ERR_UNAVAILABLE, "SERVER_UNREACHABLE",
                        "no server answers at %.*s (%s); start one with `abide serve`, name "
                        "another with --server URL or ABIDE_SERVER, or open a store with --store "
                        "URL",
                        STR_ARG(server), why);
    case CURLE_URL_MALFORMAT: return check_url(STR(""), diag);
    case CURLE_OPERATION_TIMEDOUT:
        return diag_set(diag, ERR_UNAVAILABLE, "SERVER_TIMEOUT",
                        "%.*s does not answer (%s); whether it did what was asked is not known",
                        STR_ARG(server), why);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
        return diag_set(diag, ERR_UNAVAILABLE, "SERVER_TLS",
                        "no secure connection to %.*s (%s); --ca-file FILE names the certificate "
                        "to trust",
                        STR_ARG(server), why);
    case CURLE_WRITE_ERROR:
        return diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE",
                        "the answer has more than %d bytes; ask for fewer items with --limit",
                        CLIENT_ANSWER_MAX);
    default:
        return diag_set(diag, ERR_UNAVAILABLE, "SERVER_UNREACHABLE",
                        "the connection to %.*s broke (%s); whether the server did what was asked "
                        "is not known",
                        STR_ARG(server), why);
    }
}

static Status status_of(int http_status) {
    switch (http_status) {
    case 404: return ERR_NOT_FOUND;
    case 409: return ERR_CONFLICT;
    case 429: return ERR_LIMIT;
    case 501: return ERR_UNSUPPORTED;
    default: return http_status >= 500 ? ERR_UNAVAILABLE : ERR_INVALID;
    }
}

Status client_read_problem(const Client *client, const ClientAnswer *answer, Diag *diag) {
    Str code = STR_NULL, detail = STR_NULL;
    bool is_problem = answer->json != NULL && answer->json->kind == JSON_KIND_OBJECT &&
                      json_get_string(answer->json, "code", &code, NULL) == OK &&
                      json_get_string(answer->json, "detail", &detail, NULL) == OK &&
                      !str_is_null(code);
    if (!is_problem)
        return diag_set(diag, status_of(answer->http_status), "BAD_ANSWER",
                        "%.*s answered with status %d and no reason; is it an abide server?",
                        STR_ARG(client->config.server), answer->http_status);
    char name[DIAG_CODE_MAX];
    snprintf(name, sizeof name, "%.*s", STR_ARG(code));
    return diag_set(diag, status_of(answer->http_status), name, "%.*s", STR_ARG(detail));
}

static void fill_answer(const Transfer *transfer, Arena *arena, ClientAnswer *ret_answer) {
    Str body = arena_str(arena, buf_str(&transfer->body));
    JsonValue *json = NULL;
    if (body.len > 0 && json_parse(arena, body, &json, NULL) != OK) json = NULL;
    *ret_answer = (ClientAnswer){
        .http_status = transfer->http_status,
        .body = body,
        .json = json,
        .date_ms = transfer->date_ms,
    };
}

// ---- calls ----

// [client-2]
static bool is_repeatable(const ClientRequest *request) {
    return request->is_repeatable || !str_is_null(request->idempotency_key) ||
           strcmp(request->method, "GET") == 0 || strcmp(request->method, "PUT") == 0 ||
           strcmp(request->method, "PATCH") == 0;
}

static bool is_broken(CURLcode code) {
    return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
           code == CURLE_PARTIAL_FILE;
}

Status client_call(Client *client, Arena *arena, const ClientRequest *request,
                   ClientAnswer *ret_answer, Diag *diag) {
    Transfer transfer = {.client = client};
    buf_init(&transfer.body, CLIENT_ANSWER_MAX);
    CURLcode code = CURLE_OK;
    for (int attempt = 1, pause_ms = FIRST_PAUSE_MS;; attempt++, pause_ms *= 4) {
        buf_clear(&transfer.body);
        transfer.date_ms = 0;
        code = client_perform(client, request, &transfer);
        bool is_passing = is_broken(code) || (code == CURLE_OK && transfer.http_status == 503);
        bool is_again = is_passing && attempt < ATTEMPTS_MAX && is_repeatable(request);
        if (!is_again || client_is_stopped(client)) break;
        usleep((useconds_t)pause_ms * 1000);
    }
    *ret_answer = (ClientAnswer){0};
    Status status = OK;
    if (code == CURLE_OK) fill_answer(&transfer, arena, ret_answer);
    else status = client_explain(client, code, diag);
    if (status == OK && (ret_answer->http_status < 200 || ret_answer->http_status > 299))
        status = client_read_problem(client, ret_answer, diag);
    buf_done(&transfer.body);
    return status;
}

// ---- life ----

Status client_open(const ClientConfig *config, Client **ret_client, Diag *diag) {
    Str server = str_is_null(config->server) ? STR(CLIENT_DEFAULT_SERVER) : config->server;
    while (server.len > 0 && server.data[server.len - 1] == '/') server.len--;
    TRY(check_url(server, diag));
    const Curl *curl = curl_get(diag);
    if (curl == NULL) return ERR_UNAVAILABLE;
    Client *client = mem_zalloc(sizeof *client);
    arena_init(&client->arena);
    client->curl = curl;
    client->config = (ClientConfig){
        .server = arena_str(&client->arena, server),
        .token = arena_str(&client->arena, config->token),
        .ca_file = arena_str(&client->arena, config->ca_file),
        .socket_path = arena_str(&client->arena, config->socket_path),
        .stop = config->stop,
    };
    client->handle = curl->easy_init();
    ASSERT(client->handle != NULL);
    set_connection(client);
    *ret_client = client;
    return OK;
}

int client_http_status(const Client *client) { return client->http_status; }

void client_close(Client *client) {
    if (client == NULL) return;
    client->curl->easy_cleanup(client->handle);
    arena_done(&client->arena);
    mem_free(client);
}
