// The program as it is shipped, but with limits from ABIDE_TEST_LIMITS (base/limits.h).
//
// What a herd of ten thousand does to a server whose batches hold 4,096 operations a herd of a few
// hundred does to one whose batches hold 8: so a test can do it in seconds.
//
// Not here: what the limits mean.
#include "base/limits.h"
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void lower_limits(void) {
    const char *limits = getenv("ABIDE_TEST_LIMITS");
    if (limits == NULL || limits_read(str_from(limits))) return;
    fprintf(stderr, "ABIDE_TEST_LIMITS: \"%s\" is not understood\n", limits);
    abort();
}
