// Whether text is one valid JSON value, without building anything.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"

// The faults are those of json_next (json/read.h).
MUST_CHECK Status json_validate(Str text, Diag *diag);
