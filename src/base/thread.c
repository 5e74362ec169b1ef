// Starting a thread, or an answer why not.
//
// The system refuses for want of memory (RLIMIT_AS, a cgroup), or because the user, the cgroup or
// the machine has as many as it may. That is for the operator to know and to change, with a way out
// in the message; a bug of ours it is not.
//
// Not here: what threads do, and who waits for their end (api/, server/, cli/).
#include "base/thread.h"
#include <string.h>

Status thread_start(pthread_t *ret_thread, void *(*thread_main)(void *), void *context,
                    Diag *diag) {
    int reason = pthread_create(ret_thread, NULL, thread_main, context);
    if (reason == 0) return OK;
    return diag_set(diag, ERR_LIMIT, "NO_THREADS",
                    "no thread can be started (%s): allow more memory or more processes "
                    "(ulimit -v, ulimit -u, TasksMax), or set fewer threads",
                    strerror(reason));
}
