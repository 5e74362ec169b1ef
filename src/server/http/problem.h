// Problems: answers of the inside as HTTP statuses and RFC 9457 documents.
#pragma once
#include "base/diag.h"
#include "json/write.h"

// The code that clients see. However a store is away, they do the same about it: come back later.
const char *problem_code(Status status, const Diag *diag);
// The HTTP status of an answer; some codes have their own (413 for PAYLOAD_TOO_LARGE …).
int problem_status(Status status, const char *code);
// The HTTP status of a code that routes name; 0 = they name no such code.
int problem_code_status(const char *code);
const char *problem_title(int http_status);
// {"type","title","status","code","detail"}
void problem_write(JsonWriter *writer, int http_status, const char *code, const char *detail);
// As routes of the handler API have it: {"detail": text}.
void problem_write_detail(JsonWriter *writer, const char *detail);
