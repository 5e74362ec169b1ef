// Names that people give: of tasks, queues, topics, signals, runs … One rule, wherever a name comes
// from (HTTP, C, a script), so that what one of them can name the others can.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stddef.h>

// There, not empty, at most `max` bytes of UTF-8 without control characters. Otherwise ERR_INVALID
// with that code, and a text that says what is wrong with the one called `what`.
MUST_CHECK Status name_check(Str text, const char *what, const char *code, size_t max, Diag *diag);

// "Did you mean": the candidate that is written most like what was wanted, within three letters
// that are put in, left out or replaced, and not as many as it has.
//
//   NameGuess guess = {.wanted = name};
//   for each candidate: name_guess(&guess, candidate);
//   guess.best is NULL when none is near
typedef struct NameGuess {
    Str wanted;
    const char *best;
    size_t distance; // of `best`
} NameGuess;
void name_guess(NameGuess *guess, const char *candidate);
