// Secrets: the environment first, then a credential as systemd passes it.
//
// A variable is what people set by hand and in containers; a credential is a file that only the
// service may read. Names are held to letters, digits and "_", so that each is a variable and no
// path.
//
// Invariants [base-secret-1], [base-secret-2] are in secret.h.
//
// Not here: who gets the text (engine/world/secrets.c).
#include "base/secret.h"
#include "base/text/utf.h"
#include <stdio.h>
#include <stdlib.h>

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool secret_is_name(Str name) {
    if (name.len == 0 || name.len > SECRET_NAME_MAX || !is_letter(name.data[0])) return false;
    for (size_t i = 1; i < name.len; i++) {
        char c = name.data[i];
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '_') return false;
    }
    return true;
}

static Status read_file(Str name, FILE *file, Buf *ret_text, Diag *diag) {
    char part[4096];
    size_t size = 0, start = ret_text->len;
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) {
        size += got;
        if (size > SECRET_SIZE_MAX) break;
        buf_append(ret_text, part, got);
    }
    bool is_bad = ferror(file) != 0 || size > SECRET_SIZE_MAX;
    explicit_bzero(part, sizeof part);
    if (is_bad)
        return diag_set(diag, ERR_INVALID, "BAD_SECRET",
                        "the credential %.*s cannot be read, or is larger than %d bytes",
                        STR_ARG(name), SECRET_SIZE_MAX);
    bool has_break = ret_text->len > start && ret_text->data[ret_text->len - 1] == '\n';
    if (has_break) ret_text->len--;
    return OK;
}

static Status read_credential(Str name, Buf *ret_text, Diag *diag) {
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    char path[4096];
    int len = folder == NULL ? -1 : snprintf(path, sizeof path, "%s/%.*s", folder, STR_ARG(name));
    FILE *file = len > 0 && (size_t)len < sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL)
        return diag_set(diag, ERR_NOT_FOUND, "SECRET_NOT_SET",
                        "the secret %.*s is not set where its task is handed out: set the variable "
                        "ABIDE_SECRET_%.*s of the server, or its credential %.*s",
                        STR_ARG(name), STR_ARG(name), STR_ARG(name));
    Status status = read_file(name, file, ret_text, diag);
    fclose(file);
    return status;
}

Status secret_read(Str name, Buf *ret_text, Diag *diag) {
    char variable[sizeof "ABIDE_SECRET_" + SECRET_NAME_MAX];
    if (!secret_is_name(name))
        return diag_set(diag, ERR_INVALID, "BAD_SECRET", "there is no such name of a secret");
    snprintf(variable, sizeof variable, "ABIDE_SECRET_%.*s", STR_ARG(name));
    const char *text = getenv(variable);
    size_t start = ret_text->len;
    if (text != NULL) buf_append_cstr(ret_text, text);
    else TRY(read_credential(name, ret_text, diag));
    bool is_text = !ret_text->is_overflown &&
                   utf8_is_valid((Str){ret_text->data + start, ret_text->len - start});
    if (is_text) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_SECRET", "the secret %.*s is no UTF-8 text",
                    STR_ARG(name));
}
