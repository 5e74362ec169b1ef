// Operations that belong to no room: what is due, what has expired, workflows, tokens; and what a
// batch will ask for first.
#pragma once
#include "store/kernel/internal.h"

// ---- kernel/due.c ----
MUST_CHECK Status apply_fire_due(Kernel *kernel, Op *op);
MUST_CHECK Status apply_sweep(Kernel *kernel, Op *op);

// ---- kernel/define.c ----
MUST_CHECK Status apply_define(Kernel *kernel, Op *op);

// ---- kernel/tokens.c ----
MUST_CHECK Status apply_create_token(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_token(Kernel *kernel, Op *op);

// ---- kernel/expect.c ----
MUST_CHECK Status kernel_expect(Kernel *kernel);
// The same for the runs of tasks that are handed out.
MUST_CHECK Status kernel_expect_runs(Kernel *kernel, const TaskRow *tasks, size_t count);
// The same for runs that are about to be claimed.
MUST_CHECK Status kernel_expect_claims(Kernel *kernel, const RunRow *runs, size_t count);
