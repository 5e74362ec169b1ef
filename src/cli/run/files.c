// Files: read at once, with the ceiling of the buffer.
//
// Commands work on whole texts (sources, inputs), so there is nothing to stream. The buffer's
// max_size is what keeps a device or an endless pipe from filling memory.
//   [files-1] The buffer holds what was read even when the answer is an error.

#include "cli/run/files.h"
#include "json/validate.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

Status file_read(const char *path, Buf *ret_text, Diag *diag) {
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    if (!file)
        return diag_set(diag, ERR_NOT_FOUND, "FILE_NOT_READ", "cannot read %s: %s", path,
                        strerror(errno));
    char chunk[16384];
    size_t len;
    while ((len = fread(chunk, 1, sizeof chunk, file)) > 0 && !ret_text->is_overflown)
        buf_append(ret_text, chunk, len);
    bool is_failed = ferror(file);
    int error = errno;
    if (!is_input) fclose(file);
    if (is_failed)
        return diag_set(diag, ERR_NOT_FOUND, "FILE_NOT_READ", "cannot read %s: %s", path,
                        strerror(error));
    if (ret_text->is_overflown)
        return diag_set(diag, ERR_LIMIT, "FILE_TOO_LARGE", "%s has more than %zu bytes", path,
                        ret_text->max_size);
    return OK;
}

Status input_read(Str given, Buf *ret_text, Diag *diag) {
    if (given.len > 0 && given.data[0] == '@') TRY(file_read(given.data + 1, ret_text, diag));
    else buf_append_str(ret_text, given);
    Status status = json_validate(buf_str(ret_text), diag);
    if (status == OK) return OK;
    Diag cause = *diag;
    return diag_set(diag, status, "BAD_INPUT", "the input is no JSON: %s", cause.message);
}
