// "Did you mean": the name that is written most like another one.
#pragma once
#include "base/text/str.h"
#include <stddef.h>

// One candidate at a time:
//
//   Suggestion suggestion = {.wanted = name};
//   for each candidate: suggest(&suggestion, candidate);
//   suggestion.best is NULL when none is near
typedef struct Suggestion {
    Str wanted;
    const char *best; // one of the candidates
    size_t distance;  // letters of `best` that are put in, left out or replaced
} Suggestion;
void suggest(Suggestion *suggestion, const char *candidate);
// The nearest of a list; NULL when nothing is near.
const char *suggest_nearest(Str wanted, const char *const *candidates, size_t count);
