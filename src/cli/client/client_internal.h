// Inside of the HTTP client: what calls and streams share.
#pragma once
#include "base/assert.h"
#include "base/containers/buf.h"
#include "cli/client/client.h"
#include "tasks/curl.h"

struct Client {
    Arena arena; // holds the texts of the config
    ClientConfig config;
    const Curl *curl;
    CURL *handle;
    int http_status;               // of the last transfer
    char trouble[CURL_ERROR_SIZE]; // libcurl's own words for the last failure
};

typedef struct Transfer { // one request on the wire
    Client *client;
    // Takes the body in pieces; answers less than size * count to break off. NULL: into `body`.
    size_t (*take)(char *data, size_t size, size_t count, void *transfer);
    void *context; // of `take`
    bool is_stream;
    Str last_event_id; // null: none
    Buf body;
    int http_status;
    int64_t date_ms; // 0: not given
} Transfer;

CURLcode client_perform(Client *client, const ClientRequest *request, Transfer *transfer);
bool client_is_stopped(const Client *client);
// A failure of the connection, in words.
Status client_explain(const Client *client, CURLcode code, Diag *diag);
// An answer that is not 2xx, in words.
Status client_read_problem(const Client *client, const ClientAnswer *answer, Diag *diag);
// "Sun, 06 Nov 1994 08:49:37 GMT"; 0 when it does not read so.
int64_t http_date_parse(Str text);
