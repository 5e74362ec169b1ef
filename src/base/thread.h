// Starting a thread, or saying why not.
#pragma once
#include "base/diag.h"
#include <pthread.h>

// ERR_LIMIT/NO_THREADS when the system has no room for another one: an answer, not our bug.
MUST_CHECK Status thread_start(pthread_t *ret_thread, void *(*thread_main)(void *), void *context,
                               Diag *diag);
