// A further server is one more line in each function.
#include "servers/servers.h"
#include "base/limits.h"
#include "servers/postgres.h"
#include "servers/redis.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

const char *test_folders(void) { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }

bool test_folder_new(const char *name, char *ret_path, size_t size) {
    int len = snprintf(ret_path, size, "%s/abide-%s-XXXXXX", test_folders(), name);
    return len > 0 && (size_t)len < size && mkdtemp(ret_path) != NULL;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

// Not by rm: starting two programs took longer than most of the tests that had a folder.
void test_folder_remove(const char *path) {
    enum { FILES_MAX = 8 };
    if (access(path, F_OK) != 0) return;
    if (nftw(path, remove_entry, FILES_MAX, FTW_DEPTH | FTW_PHYS) == 0) return;
    fprintf(stderr, "%s is left behind\n", path);
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
