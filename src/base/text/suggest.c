// Suggestions: the nearest of a list of names.
//
// The distance is the one of name.h. It is narrowed here: three letters are much for a short word,
// and a suggestion that is far off sends the reader the wrong way.
//   [S1] Both words are compared in lower case, so that "Task.Run" finds "Task.run".
//   [S2] What is equal letter by letter is not suggested: it is what was written.
//
// Not here: candidates that are not a list (NameGuess of name.h takes one at a time).
#include "base/text/suggest.h"
#include "base/text/name.h"

enum { WORD_MAX = 64 }; // longer words are nobody's mistyped name

static bool to_lower(const char *word, char ret_lower[WORD_MAX]) {
    size_t len = strlen(word);
    if (len >= WORD_MAX) return false;
    for (size_t i = 0; i <= len; i++) {
        char c = word[i];
        ret_lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    return true;
}

const char *suggest_nearest(const char *word, const char *const *candidates, size_t count) {
    char wanted[WORD_MAX], lower[WORD_MAX];
    const char *best = NULL;
    size_t best_distance = 0;
    if (!to_lower(word, wanted)) return NULL;
    size_t allowed = (strlen(wanted) + 2) / 3;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, candidates[i]) == 0) continue; // [S2]
        if (!to_lower(candidates[i], lower)) continue;  // [S1]
        NameGuess guess = {.wanted = str_from(wanted)};
        name_guess(&guess, lower);
        if (guess.best == NULL || guess.distance > allowed) continue;
        if (best != NULL && guess.distance >= best_distance) continue;
        best = candidates[i];
        best_distance = guess.distance;
    }
    return best;
}
