// Calls of our functions: one command, one answer, whatever its size.
//
// The functions live on the server under a name made from their own text, so that different
// versions of abide stand beside each other there. A server that has not got them (a new one, a
// flushed one, a replica that was promoted early) is given them when it says so.
//
//   [redis-call-1] Keys are declared by the call that touches them: the common ones first, always.
#include "base/assert.h"
#include "base/containers/hash.h"
#include "base/text/number.h"
#include "store/redis/internal.h"
#include <inttypes.h>
#include <stdio.h>

extern const unsigned char redis_functions[]; // made from redis/functions.lua
extern const size_t redis_functions_size;

void redis_wire_append(Buf *buf, Str word) {
    char head[32];
    int len = snprintf(head, sizeof(head), "$%zu\r\n", word.len);
    buf_append(buf, head, (size_t)len);
    buf_append(buf, word.data, word.len);
    buf_append(buf, "\r\n", 2);
}

void redis_call_begin(RedisLink *link) {
    buf_clear(&link->keys);
    buf_clear(&link->arguments);
    link->key_count = link->argument_count = 0;
    memset(link->places, 0, sizeof(link->places));
    for (int key = 0; key < REDIS_KEY_COMMON_COUNT; key++)
        redis_call_place(link, key); // [redis-call-1]
}

int redis_call_place(RedisLink *link, int key) {
    ASSERT(key >= 0 && key < REDIS_KEY_COUNT);
    if (link->places[key] == 0) {
        redis_key_name(&link->name, link->address, key);
        redis_wire_append(&link->keys, buf_str(&link->name));
        link->places[key] = (int)++link->key_count;
    }
    return link->places[key];
}

void redis_call_add(RedisLink *link, Str argument) {
    redis_wire_append(&link->arguments, argument);
    link->argument_count++;
}

void redis_call_add_i64(RedisLink *link, int64_t argument) {
    char text[24];
    int len = snprintf(text, sizeof(text), "%" PRId64, argument);
    redis_call_add(link, (Str){text, (size_t)len});
}

void redis_call_add_head(RedisLink *link, int64_t version) {
    redis_call_add(link, str_from(link->holder));
    if (version == VERSION_ANY) redis_call_add(link, STR(""));
    else redis_call_add_i64(link, version);
    redis_call_add(link, str_from(link->layout));
}

// ---- the functions ----

void redis_call_init(RedisLink *link) {
    snprintf(link->functions, sizeof(link->functions), "%08" PRIx32,
             crc32c(0, redis_functions, redis_functions_size));
}

static Status functions_load(RedisLink *link, Diag *diag) {
    enum { TEXT_SIZE_MAX = 1 << 20 };
    Str left = {(const char *)redis_functions, redis_functions_size}, mark = STR("@ID@");
    Buf text;
    buf_init(&text, TEXT_SIZE_MAX);
    while (left.len > 0) {
        const char *found = memmem(left.data, left.len, mark.data, mark.len);
        size_t len = found != NULL ? (size_t)(found - left.data) : left.len;
        buf_append(&text, left.data, len);
        if (found != NULL) {
            buf_append_cstr(&text, link->functions);
            len += mark.len;
        }
        left = (Str){left.data + len, left.len - len};
    }
    redisReply *reply = NULL;
    Diag detail;
    diag_clear(&detail);
    Str words[] = {STR("FUNCTION"), STR("LOAD"), buf_str(&text)};
    Status status = redis_link_command(link, words, 3, &reply, &detail);
    buf_done(&text);
    if (status == OK) freeReplyObject(reply);
    // Another node was quicker.
    if (status != OK && link->trouble == REDIS_TROUBLE_IS_THERE) return OK;
    if (status != OK && diag != NULL) *diag = detail;
    return status;
}

static bool is_read_only(const char *function) {
    static const char *const names[] = {"read", "look", "count", "leases", NULL};
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strcmp(function, names[i]) == 0) return true;
    }
    return false;
}

static Status call_once(RedisLink *link, const char *function, redisReply **ret_reply, Diag *diag) {
    char name[48];
    int name_len = snprintf(name, sizeof(name), "abide_%s_%s", link->functions, function);
    buf_clear(&link->bytes);
    buf_printf(&link->bytes, "*%zu\r\n", 3 + link->key_count + link->argument_count);
    redis_wire_append(&link->bytes, is_read_only(function) ? STR("FCALL_RO") : STR("FCALL"));
    redis_wire_append(&link->bytes, (Str){name, (size_t)name_len});
    char count[24];
    int count_len = snprintf(count, sizeof(count), "%zu", link->key_count);
    redis_wire_append(&link->bytes, (Str){count, (size_t)count_len});
    buf_append_str(&link->bytes, buf_str(&link->keys));
    // Small calls in one piece, large ones without copying them once more.
    enum { COPIED_MAX = 32 << 10 };
    bool is_small = link->arguments.len <= COPIED_MAX;
    if (is_small) buf_append_str(&link->bytes, buf_str(&link->arguments));
    TRY(redis_link_send(link, buf_str(&link->bytes), diag));
    if (!is_small) TRY(redis_link_send(link, buf_str(&link->arguments), diag));
    return redis_link_receive(link, REDIS_ANSWER_TIMEOUT_MS, ret_reply, diag);
}

Status redis_call_run(RedisLink *link, const char *function, redisReply **ret_reply, Diag *diag) {
    if (link->keys.is_overflown || link->arguments.is_overflown) {
        return diag_set(diag, ERR_LIMIT, "STORE_TOO_BIG", "more than %d MiB in one call to Redis",
                        REDIS_CALL_SIZE_MAX >> 20);
    }
    Diag detail;
    diag_clear(&detail);
    Status status = call_once(link, function, ret_reply, &detail);
    if (status != OK && link->trouble == REDIS_TROUBLE_NO_FUNCTION) {
        status = functions_load(link, &detail);
        if (status == OK) status = call_once(link, function, ret_reply, &detail);
    }
    if (status != OK && diag != NULL) *diag = detail;
    return status;
}

// ---- answers ----

Str redis_reply_str(const redisReply *reply, size_t place) {
    if (reply->type != REDIS_REPLY_ARRAY || place >= reply->elements) return STR_NULL;
    const redisReply *element = reply->element[place];
    bool is_text = element->type == REDIS_REPLY_STRING || element->type == REDIS_REPLY_STATUS;
    return is_text ? (Str){element->str, element->len} : STR_NULL;
}

bool redis_reply_is(const redisReply *reply, size_t place, const char *word) {
    return str_equal(redis_reply_str(reply, place), str_from(word));
}

bool redis_reply_i64(const redisReply *reply, size_t place, int64_t *ret_value) {
    if (reply->type != REDIS_REPLY_ARRAY || place >= reply->elements) return false;
    if (reply->element[place]->type == REDIS_REPLY_INTEGER) {
        *ret_value = reply->element[place]->integer;
        return true;
    }
    Str text = redis_reply_str(reply, place);
    return !str_is_null(text) && number_parse_count(text, INT64_MAX, ret_value);
}

Status redis_call_status(RedisLink *link, const redisReply *reply, Diag *diag) {
    if (redis_reply_is(reply, 0, "ok")) return OK;
    bool is_layout = redis_reply_is(reply, 0, "layout");
    if (is_layout) link->layout[0] = '\0'; // looked at again when the next one connects
    if (is_layout || redis_reply_is(reply, 0, "changed")) {
        return diag_set(diag, ERR_CONFLICT, "STORE_CHANGED", "another node has written meanwhile");
    }
    if (redis_reply_is(reply, 0, "busy")) {
        return diag_set(diag, ERR_BUSY, "STORE_BUSY",
                        "Redis: another node holds the store for more than %d seconds",
                        REDIS_BUSY_TIMEOUT_MS / 1000);
    }
    if (redis_reply_is(reply, 0, "missing")) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_NOT_FOUND",
                        "Redis: the store \"%s\" is not there (any more); was the server flushed, "
                        "or did it lose its data?",
                        link->address->prefix);
    }
    if (redis_reply_is(reply, 0, "damaged")) {
        Str key = redis_reply_str(reply, 1), what = redis_reply_str(reply, 2);
        return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT",
                        "Redis: a row of %.*s to %.*s is not as it was (nothing was written); were "
                        "the keys of the store changed by hand?",
                        STR_ARG(key), STR_ARG(what));
    }
    return redis_strange("an answer that makes no sense", diag);
}
