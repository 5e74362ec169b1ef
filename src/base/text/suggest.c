// Suggestions: how near two names are, and when that is near enough.
//
//   [suggest-1] Upper and lower case count as equal, so that "Task.Run" finds "Task.run".
//   [suggest-2] What is equal letter by letter is not suggested: it is what was written.
//   [suggest-3] At most a third of the letters differ, and at most three: a suggestion that is far
//        off sends the reader the wrong way.
//
// Not here: who is told, and in which words.
#include "base/text/suggest.h"
#include "base/assert.h"

enum { COMPARED_MAX = 48, NEAR_MAX = 3 }; // nobody means a name that long by another one

static char to_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static size_t distance_between(Str a, Str b) {
    size_t row[COMPARED_MAX + 1];
    ASSERT(a.len <= COMPARED_MAX && b.len <= COMPARED_MAX);
    for (size_t j = 0; j <= b.len; j++) row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool is_equal = to_lower(a.data[i - 1]) == to_lower(b.data[j - 1]); // [suggest-1]
            size_t replaced = diagonal + !is_equal;
            size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[b.len];
}

void suggest(Suggestion *suggestion, const char *candidate) {
    Str wanted = suggestion->wanted, name = str_from(candidate);
    if (wanted.len > COMPARED_MAX || name.len > COMPARED_MAX) return;
    if (str_equal(wanted, name)) return; // [suggest-2]
    size_t found = distance_between(wanted, name);
    if (found > NEAR_MAX || found > (wanted.len + 2) / 3) return; // [suggest-3]
    if (found >= wanted.len && found > 0) return;                 // nothing of it would be left
    if (suggestion->best != NULL && found >= suggestion->distance) return;
    suggestion->best = candidate;
    suggestion->distance = found;
}

const char *suggest_nearest(Str wanted, const char *const *candidates, size_t count) {
    Suggestion suggestion = {.wanted = wanted};
    for (size_t i = 0; i < count; i++) suggest(&suggestion, candidates[i]);
    return suggestion.best;
}
