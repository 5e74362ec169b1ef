// Client: HTTP calls to a server, as the commands make them.
//
// One Client is one connection and belongs to one thread. Commands that need several at a time open
// several. Everything a call answers lives in the arena it was given.
//
//   [client-1] A call that is not OK has filled the Diag: a problem document gives its own code and
//        detail; a server that cannot be reached gets a sentence that says how to start one.
//   [client-2] A call is sent again only when that is safe: it never reached the server's work, or
//        doing it twice is the same as once (GET, PUT, PATCH, or `is_repeatable`).
//   [client-3] An answer has a ceiling (CLIENT_ANSWER_MAX); beyond it the call fails, memory does
//        not.
//   [client-4] When *stop becomes true, a call ends within a second with code INTERRUPTED.
//   [client-5] A stream that breaks off goes on after the last event it delivered; each comes once.
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "base/diag.h"
#include "json/value.h"
#include <stdatomic.h>

#define CLIENT_DEFAULT_SERVER "http://127.0.0.1:7433"
enum { CLIENT_ANSWER_MAX = 256 << 20 };

typedef struct ClientConfig {
    Str server;      // "http://host:port", "https://…/prefix"; null: CLIENT_DEFAULT_SERVER
    Str token;       // null: none is sent
    Str ca_file;     // PEM: trusted in place of the system's authorities; null: those
    Str socket_path; // a Unix socket to connect to in place of the host; null: none
    const atomic_bool *stop; // [client-4]; set on any thread; NULL: nothing stops a call
} ClientConfig;

typedef struct Client Client;

typedef struct ClientRequest {
    const char *method;       // "GET", "POST" …
    Str path;                 // "/v1/runs?limit=1", encoded
    Str body;                 // null: none
    const char *content_type; // NULL: application/json
    Str idempotency_key;      // null: none; with one the call is repeatable
    bool is_repeatable;       // [client-2]; GET, PUT and PATCH are so without being told
    int64_t wait_ms;          // how long the server may take by request (long poll)
} ClientRequest;

typedef struct ClientAnswer {
    int http_status;       // 0: there was none
    Str body;              // byte for byte; empty when there was none
    const JsonValue *json; // NULL: the body is empty or no JSON
    int64_t date_ms;       // the server's clock by its Date header (full seconds); 0: not given
} ClientAnswer;

typedef struct ClientEvent { // of a stream; texts live during the callback
    Str id;                  // null: none
    Str kind;                // "event:"; null: none
    Str data;
} ClientEvent;

// Answers false to end the stream, which is then OK.
typedef bool (*ClientEventFunction)(void *context, const ClientEvent *event);

// Codes: CURL_MISSING, BAD_SERVER_URL.
MUST_CHECK Status client_open(const ClientConfig *config, Client **ret_client, Diag *diag);
void client_close(Client *client); // NULL is fine

// OK: 2xx. `ret_answer` is filled in any case. Codes besides those of the server's problems:
// SERVER_UNREACHABLE, SERVER_TLS, SERVER_TIMEOUT, BAD_ANSWER, ANSWER_TOO_LARGE, INTERRUPTED.
MUST_CHECK Status client_call(Client *client, Arena *arena, const ClientRequest *request,
                              ClientAnswer *ret_answer, Diag *diag);

typedef struct ClientStream {
    Str path;
    Str after; // goes out as Last-Event-ID; null: from the beginning
    ClientEventFunction on_event;
    void *context;
} ClientStream;

// Server-sent events until the stream ends by itself, the callback has enough, or it is
// interrupted. Codes as for client_call.
MUST_CHECK Status client_stream(Client *client, const ClientStream *stream, Diag *diag);

// Of the last call or stream; 0 when there was no answer.
int client_http_status(const Client *client);

// One segment of a path or one value of a query, percent-encoded.
Str client_escape(Arena *arena, Str text);
// Appends "?name=value" or "&name=value" to a path being written; nothing for a null value.
void client_put_query(Buf *path, const char *name, Str value);
