// The Redis that test/servers/redis.py has started beside the test.
#pragma once
#include <hiredis/hiredis.h>
#include <stddef.h>

// The URL of a store with that prefix. Ends the test when no server was started.
void test_redis_url(const char *prefix, char *ret_url, size_t size);
// Removes everything on the server but its functions. Nobody may have a store open there.
void test_redis_clear(void);
// A connection of one's own; the caller frees it.
redisContext *test_redis_connect(void);
// Runs a command that must succeed, in hiredis's format (%s, and %b with its size); answers a
// number, the length of a list, or 0.
long long test_redis_command(redisContext *context, const char *format, ...);
