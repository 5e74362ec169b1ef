// Redirects: what the next request is, and which headers may go with it.
//
// libcurl could follow by itself, but would hand every header of the flow to whomever the answer
// names, but for two. A server that is asked with an API key could so send that key to another.
//   [http-hop-1] Once a request has left the origin (scheme, host, port) it was meant for, only
//        headers of a short list go on, also when a later redirect leads back.
//   [http-hop-2] As browsers do it: 303 makes everything but HEAD a GET, 301 and 302 make a POST a
//        GET; a request that became a GET has no body and nothing that describes one.
//
// Not here: the transfer (http.c); whom we connect to is decided for each connection there.
#include "tasks/http.h"
#include <strings.h>

bool http_method_changes(Str method) {
    return !str_equal(method, STR("GET")) && !str_equal(method, STR("HEAD")) &&
           !str_equal(method, STR("OPTIONS"));
}

static bool is_one_of(Str name, const char *const *names) {
    for (; *names != NULL; names++)
        if (name.len == strlen(*names) && strncasecmp(name.data, *names, name.len) == 0)
            return true;
    return false;
}

static bool parts_equal(const Curl *curl, CURLU *a, CURLU *b, CURLUPart part) {
    char *left = NULL, *right = NULL;
    bool is_equal = curl->url_get(a, part, &left, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                    curl->url_get(b, part, &right, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                    strcasecmp(left, right) == 0;
    curl->free(left);
    curl->free(right);
    return is_equal;
}

// False in doubt.
static bool is_same_origin(const Curl *curl, Str a, Str b) {
    CURLU *left = curl->url(), *right = curl->url();
    bool is_same = left != NULL && right != NULL &&
                   curl->url_set(left, CURLUPART_URL, a.data, 0) == CURLUE_OK &&
                   curl->url_set(right, CURLUPART_URL, b.data, 0) == CURLUE_OK &&
                   parts_equal(curl, left, right, CURLUPART_SCHEME) &&
                   parts_equal(curl, left, right, CURLUPART_HOST) &&
                   parts_equal(curl, left, right, CURLUPART_PORT);
    curl->url_cleanup(left);
    curl->url_cleanup(right);
    return is_same;
}

void http_hop_follow(const Curl *curl, HttpHop *hop, long status, Str url) {
    bool is_post = str_equal(hop->method, STR("POST"));
    bool is_head = str_equal(hop->method, STR("HEAD"));
    if ((status == 303 && !is_head) ||
        ((status == 301 || status == 302) && is_post)) { // [http-hop-2]
        hop->method = STR("GET");
        hop->body = STR_NULL;
        hop->is_without_body = true;
    }
    if (!is_same_origin(curl, hop->url, url)) hop->is_foreign = true; // [http-hop-1]
    hop->url = url;
}

bool http_hop_sends(const HttpHop *hop, Str name) {
    static const char *const of_body[] = {"Content-Encoding", "Content-Language",
                                          "Content-Location", "Content-Type",
                                          "Idempotency-Key",  NULL};
    static const char *const safe[] = {"Accept",        "Accept-Charset",   "Accept-Language",
                                       "Cache-Control", "Content-Encoding", "Content-Language",
                                       "Content-Type",  "Idempotency-Key",  "User-Agent",
                                       "traceparent",   "tracestate",       NULL};
    if (hop->is_without_body && is_one_of(name, of_body)) return false;
    return !hop->is_foreign || is_one_of(name, safe);
}

// The url, the body and the connection decide about these; a second opinion in the same request is
// how one server's request becomes another server's two.
bool http_header_is_ours(Str name) {
    static const char *const ours[] = {"Connection",       "Content-Length",
                                       "Expect",           "Host",
                                       "Keep-Alive",       "TE",
                                       "Proxy-Connection", "Proxy-Authorization",
                                       "Trailer",          "Transfer-Encoding",
                                       "Upgrade",          NULL};
    return is_one_of(name, ours);
}
