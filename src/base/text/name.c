// The rule for names.
//
// Control characters are out because names stand in logs, tables and URLs, and because the store
// keeps some of its own under names that begin with one, and lists with one between them.
//
// Not here: whether what is named exists.
#include "base/text/name.h"
#include "base/text/utf.h"

Status name_check(Str text, const char *what, const char *code, size_t max, Diag *diag) {
    if (text.data == NULL || text.len == 0)
        return diag_set(diag, ERR_INVALID, code, "%s is missing or empty", what);
    if (text.len > max)
        return diag_set(diag, ERR_INVALID, code, "%s has %zu bytes; at most %zu are allowed", what,
                        text.len, max);
    size_t valid = utf8_valid_prefix(text);
    if (valid < text.len)
        return diag_set(diag, ERR_INVALID, code, "%s is not valid UTF-8 at byte %zu", what, valid);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
            return diag_set(diag, ERR_INVALID, code, "%s has a control character at byte %zu", what,
                            i);
    return OK;
}

enum { COMPARED_MAX = 48, NEAR_MAX = 3 }; // nobody means a name that long by another one

static size_t distance_between(Str a, Str b) {
    size_t row[COMPARED_MAX + 1];
    if (a.len > COMPARED_MAX || b.len > COMPARED_MAX) return COMPARED_MAX;
    for (size_t j = 0; j <= b.len; j++) row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t replaced = diagonal + (a.data[i - 1] != b.data[j - 1]);
            size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[b.len];
}

void name_guess(NameGuess *guess, const char *candidate) {
    size_t found = distance_between(guess->wanted, str_from(candidate));
    if (found > NEAR_MAX || found >= guess->wanted.len) return;
    if (guess->best != NULL && found >= guess->distance) return;
    guess->best = candidate;
    guess->distance = found;
}
