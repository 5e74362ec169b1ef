// Secret: a text that only the environment of this process knows, by its name.
//
//   [base-secret-1] It is looked up each time it is needed and kept nowhere, so one that is changed
//        counts from the next time on.
//   [base-secret-2] Messages have the name and never the text.
#pragma once
#include "base/containers/buf.h"
#include "base/diag.h"

enum { SECRET_NAME_MAX = 64, SECRET_SIZE_MAX = 64 << 10 };

// A letter, then letters, digits and "_".
bool secret_is_name(Str name);
// Appends the variable ABIDE_SECRET_NAME, or the file NAME in $CREDENTIALS_DIRECTORY without one
// line break at its end. ERR_NOT_FOUND: SECRET_NOT_SET. ERR_INVALID: BAD_SECRET.
MUST_CHECK Status secret_read(Str name, Buf *ret_text, Diag *diag);
