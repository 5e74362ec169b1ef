// Secrets of tasks: their texts are put into an input when it is handed out, and at no other time.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "model/rows.h"

// The input of the task with the texts of its secrets, in the arena; as it is when it has none.
// Fails when one is not set here: an attempt without it must not begin. `diag` names it.
MUST_CHECK Status secrets_fill(const TaskRow *task, Arena *arena, Str *ret_input, Diag *diag);

#define SECRET_ERROR STR("SecretError") // the type of an attempt that fails so
// Its error object.
Str secrets_error(const Diag *diag, Arena *arena);
