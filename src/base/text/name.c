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
