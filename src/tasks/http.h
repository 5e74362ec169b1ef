// HttpRequest: the checked input of the http task.
#pragma once
#include "base/vec.h"
#include "tasks/tasks.h"

typedef struct HttpRequest { // texts live in the arena and end with a NUL
    Str method;              // upper case
    Str url;
    const JsonValue *headers; // an object of strings; NULL = none
    Str body;                 // null = none
    bool is_json;             // the body came as `json`
    bool is_following;        // redirects
    bool is_change;           // the method is one that changes something
    int64_t timeout_ms;
    int64_t max_bytes;        // of the answer's body
} HttpRequest;

MUST_CHECK Status http_read_input(Arena *arena, const char *input, HttpRequest *ret_request,
                                  Diag *diag);
