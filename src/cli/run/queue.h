// QueueLimit: a queue's limits as `abide run --queue` takes them: mail:max=2,per-key=1,rate=3/1m
#pragma once
#include "abide.h"
#include "base/arena.h"
#include "base/diag.h"

typedef struct QueueLimit { // texts live in the arena
    const char *name;
    abide_queue_limits limits;
} QueueLimit;

// ERR_INVALID: it does not read like that.
MUST_CHECK Status queue_limit_parse(Arena *arena, const char *text, QueueLimit *ret_limit,
                                    Diag *diag);
