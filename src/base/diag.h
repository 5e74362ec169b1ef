// Diag: the text that goes with a Status, for people.
//
// `code` is stable and documented (docs/errors.md); `message` says what, where and what to do.
// A function that takes a Diag writes it only when it does not answer OK. A NULL Diag is allowed.
#pragma once
#include "base/status.h"

enum { DIAG_CODE_MAX = 48, DIAG_MESSAGE_MAX = 464 };

typedef struct Diag {
    char code[DIAG_CODE_MAX];       // "RUN_NOT_FOUND"; empty when nothing was said
    char message[DIAG_MESSAGE_MAX]; // one sentence or two, cut at the end when too long
} Diag;

void diag_clear(Diag *diag);
// Fills `diag` and answers `status`, so that a caller can write `return diag_set(...)`.
Status diag_set(Diag *diag, Status status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
