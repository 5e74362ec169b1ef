// Rates: how much happened in each span of time, as every process has counted it.
//
// A row has RATE_ROW_STEPS spans that follow each other, in one of two resolutions: short spans for
// the last hour, long ones for the last day. rows.h includes this file.
//
//   [model-rate-1] A row belongs to one process: `source` is the key that it had as a node when it
//        came up. Rows stay when the node is forgotten, so that figures outlive a restart.
//   [model-rate-2] Rows go by their age alone (rate_keep_ms), so there are never more than a day of
//        them.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

enum {
    RATE_RESOLUTION_COUNT = 2,
    RATE_FINE_MS = 10 * 1000,
    RATE_COARSE_MS = 60 * 1000,
    RATE_ROW_STEPS = 60,
};

typedef struct RateRow {
    int64_t step_ms; // RATE_FINE_MS or RATE_COARSE_MS
    int64_t from_ms; // where it begins: a multiple of RATE_ROW_STEPS steps
    int64_t source;  // [model-rate-1]
    Str points;      // JSON; what is in it is the server's (server/observe/rates_text.c)
} RateRow;

static inline int64_t rate_keep_ms(int64_t step_ms) { // [model-rate-2]
    return step_ms == RATE_FINE_MS ? 3600 * 1000 : 24 * 3600 * 1000;
}
static inline int64_t rate_row_ms(int64_t step_ms) { return step_ms * RATE_ROW_STEPS; }
