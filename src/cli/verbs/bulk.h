// Bulk: the same change to each of several things, named as operands or on stdin.
//
//   [bulk-1] "-" among the operands stands for the lines of stdin; the first word of each is an id,
//        so that the output of `-o ids` and of tables can be piped in.
//   [bulk-2] One that fails does not keep the others from being changed; the exit code is that of
//        the first failure.
//   [bulk-3] -o json is one document: {"items": [{"id", …the answer} | {"id", "error"}]}. -o ids
//        prints those that were changed.
#pragma once
#include "cli/client/session.h"

typedef struct Bulk {
    // The request for one id; texts from the session's arena.
    ClientRequest (*request)(Session *session, const struct Bulk *bulk, Str id);
    const char *path; // for the usual request: "/v1/runs/%s/pause"
    const char *method;
    Str body;             // null: none
    const char *id_field; // name of the id in JSON: "id", "name"
    const char *done;     // "paused"
    const char *not_done; // shown when the answer has "changed": false
    const char *product;  // member of the answer that names what came of it; NULL: nothing did
} Bulk;

// The request made of path, method and body.
ClientRequest bulk_request(Session *session, const Bulk *bulk, Str id);
// Always says what it did; false when one failed.
bool bulk_run(Session *session, const Operands *operands, const Bulk *bulk);
