// Files, as commands read them.
#pragma once
#include "base/containers/buf.h"
#include "base/diag.h"

// Appends the whole file ("-": standard input). ERR_LIMIT beyond the buffer's ceiling.
MUST_CHECK Status file_read(const char *path, Buf *ret_text, Diag *diag);
// The input of a run as JSON text: as given, or from a file (@FILE). Code BAD_INPUT.
MUST_CHECK Status input_read(Str given, Buf *ret_text, Diag *diag);
