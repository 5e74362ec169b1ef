// HttpHead: the head of an answer, line by line as it arrives; fields of one name are joined.
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "json/write.h"

// Of all answers to one request together: redirects, and answers that only say "continue".
enum { HTTP_HEAD_MAX = 256 << 10 };

typedef struct HttpField HttpField;

typedef struct HttpHead {
    Arena *arena;
    StrMap by_name;
    VEC(HttpField *) fields; // in order of their first line
    size_t byte_count;       // of all lines of all answers
    long status;             // of the answer that is arriving; 0: its status line was not readable
} HttpHead;

void http_head_init(HttpHead *head, Arena *arena);
void http_head_done(HttpHead *head);
// One line as it came, with its end. A status line begins anew. False: too many bytes.
bool http_head_line(HttpHead *head, Str line);
Str http_head_value(const HttpHead *head, Str name); // `name` in lower case; null: not there
void http_head_write(const HttpHead *head, JsonWriter *writer); // an object
