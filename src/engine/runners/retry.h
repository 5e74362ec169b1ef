// Retry policy: how often, and how long to pause in between. For steps, for whole runs, and for
// batches that the store did not take.
#pragma once
#include "base/text/str.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct RetryPolicy {
    int64_t max_attempts; // in all; 0 and 1 = no further one
    int64_t delay_ms;
    int64_t max_delay_ms;
    int64_t factor_pct;
    int64_t jitter_pct;
    Str non_retryable; // types joined by '\n'
} RetryPolicy;

// The pause after `attempt` failed attempts; `random` feeds the jitter.
int64_t retry_delay_ms(const RetryPolicy *policy, int64_t attempt, uint64_t random);
bool retry_is_allowed(const RetryPolicy *policy, int64_t attempt, Str error_type);
