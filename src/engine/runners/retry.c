// Retry policy: how often, and how long to pause in between.
//
// The pause grows by a factor up to a cap; jitter takes away a random share of it, so that many
// failures at once do not come back at once. Attempts are persisted by those who call this.
//
// Not here: who waits for the pause (the run's wait set, the task's due time).
#include "engine/runners/retry.h"

int64_t retry_delay_ms(const RetryPolicy *policy, int64_t attempt, uint64_t random) {
    double delay = (double)policy->delay_ms;
    double cap = (double)policy->max_delay_ms;
    for (int64_t i = 1; i < attempt && delay < cap; i++)
        delay = delay * (double)policy->factor_pct / 100.0;
    if (delay > cap) delay = cap;
    double share = (double)(random >> 11) * 0x1p-53;
    delay -= delay * share * (double)policy->jitter_pct / 100.0;
    return delay < 0 ? 0 : (int64_t)delay;
}

// True when `type` is one of the lines of `list`.
static bool list_has_line(Str list, Str type) {
    size_t start = 0;
    for (size_t i = 0; i <= list.len; i++) {
        if (i < list.len && list.data[i] != '\n') continue;
        if (str_equal((Str){list.data + start, i - start}, type)) return true;
        start = i + 1;
    }
    return false;
}

bool retry_is_allowed(const RetryPolicy *policy, int64_t attempt, Str error_type) {
    if (attempt >= policy->max_attempts) return false;
    return str_is_null(policy->non_retryable) || !list_has_line(policy->non_retryable, error_type);
}
