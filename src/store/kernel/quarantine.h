// Quarantine: rows that contradict themselves are put where they harm nobody. See quarantine.c.
#pragma once
#include "store/kernel/runs/runs.h"

// To be called where the row is found to contradict itself, or what belongs to it.
void run_blame(Kernel *kernel, const Run *run);
void row_blame(Kernel *kernel, TableNumber table, const void *row);
void damage_settle(Kernel *kernel, Status status);
MUST_CHECK Status damage_quarantine(Kernel *kernel, const Damage *damage);
// What was quarantined, for people; behind what was `earlier`.
Str damage_text(Arena *arena, const Damage *damage, Str earlier);
