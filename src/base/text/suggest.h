// "Did you mean": the nearest of a list of names.
#pragma once
#include <stddef.h>

// The candidate written most like `word`: at most a third of its letters, and at most three, are
// put in, left out or replaced; upper and lower case count as equal. The word itself is no
// suggestion. NULL when nothing is near. The answer is one of `candidates`.
const char *suggest_nearest(const char *word, const char *const *candidates, size_t count);
