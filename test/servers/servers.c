// A further server is one more line in each function.
#include "servers/servers.h"
#include "servers/postgres.h"
#include "servers/redis.h"
#include <stdlib.h>
#include <string.h>

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
