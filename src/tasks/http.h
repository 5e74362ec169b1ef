// HttpRequest: the checked input of the http task, and what becomes of it from hop to hop.
#pragma once
#include "base/containers/vec.h"
#include "tasks/curl.h"
#include "tasks/tasks.h"

typedef struct HttpRequest { // texts live in the arena and end with a NUL
    Str method;              // upper case
    Str url;
    const JsonValue *headers; // an object of strings; NULL = none
    Str body;                 // null = none
    bool is_json;             // the body came as `json`
    bool is_following;        // redirects
    int64_t timeout_ms;
    int64_t max_bytes; // of the answer's body
} HttpRequest;

MUST_CHECK Status http_read_input(Arena *arena, const char *input, HttpRequest *ret_request,
                                  Diag *diag);
bool http_header_is_ours(Str name);   // a flow may not set it
bool http_method_changes(Str method); // is none of those that only read

typedef struct HttpHop { // the request as it is sent this time
    Str url;
    Str method;
    Str body;             // null = none
    bool is_foreign;      // it has left the origin that the flow named
    bool is_without_body; // a redirect made it a GET
} HttpHop;

// The answer had `status` and leads to `url`, which outlives the hop.
void http_hop_follow(const Curl *curl, HttpHop *hop, long status, Str url);
bool http_hop_sends(const HttpHop *hop, Str name); // a header of the flow, or one of ours
