// Small help for tests on Redis; what goes wrong here is the test's own trouble and ends it.
#include "servers/redis.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *server_url(void) {
    const char *url = getenv("ABIDE_TEST_REDIS");
    if (url != NULL) return url;
    fprintf(stderr, "no Redis: run this test with test/servers/beside.py\n");
    exit(1);
}

void test_redis_url(const char *prefix, char *ret_url, size_t size) {
    int len = snprintf(ret_url, size, "%s&prefix=%s", server_url(), prefix);
    if (len < 0 || (size_t)len >= size) abort();
}

redisContext *test_redis_connect(void) {
    const char *path = strstr(server_url(), "socket=");
    redisContext *context = redisConnectUnix(path != NULL ? path + strlen("socket=") : "");
    if (context != NULL && context->err == 0) return context;
    fprintf(stderr, "%s\n", context != NULL ? context->errstr : "no memory");
    exit(1);
}

long long test_redis_command(redisContext *context, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(context, format, arguments);
    va_end(arguments);
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "%s: %s\n", format, reply != NULL ? reply->str : context->errstr);
        exit(1);
    }
    long long value =
        reply->type == REDIS_REPLY_INTEGER ? reply->integer : (long long)reply->elements;
    freeReplyObject(reply);
    return value;
}

void test_redis_clear(void) {
    redisContext *context = test_redis_connect();
    test_redis_command(context, "FLUSHALL");
    redisFree(context);
}
