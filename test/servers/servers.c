// A further server is one more line in each function.
#include "servers/servers.h"
#include "base/limits.h"
#include "servers/postgres.h"
#include "servers/redis.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Before anything is opened: a suite runs a second time with limits that it crosses.
__attribute__((constructor)) static void lower_limits(void) {
    const char *limits = getenv("ABIDE_TEST_LIMITS");
    if (limits == NULL || limits_read(str_from(limits))) return;
    fprintf(stderr, "ABIDE_TEST_LIMITS: \"%s\" is not understood\n", limits);
    abort();
}

const char *test_backend(void) {
    const char *name = getenv("ABIDE_TEST_BACKEND");
    return name != NULL ? name : "memory";
}

bool test_backend_is(const char *backend) { return strcmp(test_backend(), backend) == 0; }

bool test_server_is(const char *backend) {
    return strcmp(backend, "postgres") == 0 || strcmp(backend, "redis") == 0;
}

void test_server_store(const char *backend, const char *name, char *ret_url, size_t size) {
    if (strcmp(backend, "redis") == 0) {
        test_redis_clear();
        test_redis_url(name, ret_url, size);
        return;
    }
    test_postgres_clear(name);
    test_postgres_url(name, ret_url, size);
}
