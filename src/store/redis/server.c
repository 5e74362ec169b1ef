// What the server is, and what it promises to keep: asked once, when a store is opened.
//
//   appendfsync always     acknowledged = on the server's disk: P1 holds
//   appendfsync everysec   a crash of Redis or of its machine loses about the last two seconds
//   appendfsync no         a crash of the machine loses what the system had not written yet
//   no append-only file    a restart loses everything since the last snapshot, if there is one
//
//   [redis-server-1] P1 is claimed only when it was seen that the server flushes before it answers.
//   [redis-server-2] A server that would throw rows away to make room is refused.
#include "base/text/number.h"
#include "store/redis/internal.h"
#include <stdio.h>

// The rest of the line that begins with `name:`; null when there is none.
static Str info_line(Str info, const char *name) {
    Str line, key = str_from(name);
    while (str_split(&info, '\n', &line)) {
        line = str_trim(line);
        if (!str_starts_with(line, key) || line.len <= key.len) continue;
        if (line.data[key.len] != ':') continue;
        return (Str){line.data + key.len + 1, line.len - key.len - 1};
    }
    return STR_NULL;
}

static Status refuse(Diag *diag, const char *what, Str value, const char *advice) {
    return diag_set(diag, ERR_UNSUPPORTED, "STORE_SERVER", "Redis: %s \"%.*s\"; %s", what,
                    STR_ARG(value), advice);
}

static Status info_check(Str info, bool is_writing, Diag *diag) {
    Str version = info_line(info, "redis_version");
    Str major = version, mode = info_line(info, "redis_mode");
    const char *dot = version.len > 0 ? memchr(version.data, '.', version.len) : NULL;
    if (dot != NULL) major.len = (size_t)(dot - version.data);
    int64_t number = 0;
    if (!number_parse_count(major, 1000, &number) || number < REDIS_VERSION_MIN) {
        return refuse(diag, "the server has version", version, "abide needs 7.0 or newer");
    }
    if (str_equal(mode, STR("sentinel"))) {
        return refuse(diag, "the server runs as", mode, "name the server that it watches");
    }
    if (is_writing && str_equal(info_line(info, "role"), STR("slave"))) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_READ_ONLY",
                        "Redis: this server is a replica of %.*s: name the one that can be written",
                        STR_ARG(info_line(info, "master_host")));
    }
    Str policy = info_line(info, "maxmemory_policy");
    if (str_starts_with(policy, STR("allkeys-"))) { // [redis-server-2]
        return refuse(diag, "the server has maxmemory-policy", policy,
                      "it would drop parts of the store to make room: set it to noeviction");
    }
    return OK;
}

// One setting; empty when the server does not tell.
static Status config_get(RedisLink *link, const char *name, char *ret_value, size_t size,
                         Diag *diag) {
    redisReply *reply = NULL;
    ret_value[0] = '\0';
    Str words[] = {STR("CONFIG"), STR("GET"), str_from(name)};
    Status status = redis_link_command(link, words, 3, &reply, diag);
    if (!redis_link_is_alive(link)) return status;
    if (status != OK) return OK; // not everybody may ask
    Str value = redis_reply_str(reply, 1);
    if (value.len > 0 && value.len < size) snprintf(ret_value, size, "%.*s", STR_ARG(value));
    freeReplyObject(reply);
    return OK;
}

typedef enum Keeping {
    KEEPS_ALL,
    KEEPS_LATER,
    KEEPS_SOMETIMES,
    KEEPS_LITTLE,
    KEEPS_UNKNOWN
} Keeping;

static const char *const keeping_words[] = {
    [KEEPS_ALL] = "what was acknowledged is on the server's disk and survives a crash and a power "
                  "cut",
    [KEEPS_LATER] = "a crash of Redis or of its machine can lose about the last two seconds of "
                    "what was acknowledged (P1 is not promised; appendfsync always promises it)",
    [KEEPS_SOMETIMES] = "a crash of the machine or a power cut can lose what was acknowledged "
                        "within the last half minute or so (P1 is not promised; appendfsync "
                        "always, without no-appendfsync-on-rewrite, promises it)",
    [KEEPS_LITTLE] = "a restart of Redis loses what was acknowledged since its last snapshot, if "
                     "it makes any (P1 is not promised; appendonly yes with appendfsync always "
                     "promises it)",
    [KEEPS_UNKNOWN] = "the server does not tell how it flushes its log, so nothing is promised "
                      "(let the user run CONFIG GET, and set appendonly yes with appendfsync "
                      "always)",
};

static Keeping keeping_of(Str is_aof, const char *flush, const char *is_lax) {
    if (str_equal(is_aof, STR("0"))) return KEEPS_LITTLE;
    if (!str_equal(is_aof, STR("1"))) return KEEPS_UNKNOWN;
    if (strcmp(flush, "everysec") == 0) return KEEPS_LATER;
    if (strcmp(flush, "no") == 0) return KEEPS_SOMETIMES;
    if (strcmp(flush, "always") != 0) return KEEPS_UNKNOWN;
    if (strcmp(is_lax, "yes") == 0) return KEEPS_SOMETIMES;
    return strcmp(is_lax, "no") == 0 ? KEEPS_ALL : KEEPS_UNKNOWN; // [redis-server-1]
}

Status redis_server_look(RedisLink *link, bool is_writing, RedisServer *ret_server, Diag *diag) {
    redisReply *reply = NULL;
    TRY(redis_link_command(link, &STR("INFO"), 1, &reply, diag));
    bool is_text = reply->type == REDIS_REPLY_STRING;
    Str info = is_text ? (Str){reply->str, reply->len} : STR_NULL;
    Status status = info_check(info, is_writing, diag);
    char flush[16] = "", is_lax[16] = "";
    if (status == OK) status = config_get(link, "appendfsync", flush, sizeof(flush), diag);
    if (status == OK) {
        status = config_get(link, "no-appendfsync-on-rewrite", is_lax, sizeof(is_lax), diag);
    }
    if (status == OK) {
        Str is_aof = info_line(info, "aof_enabled");
        Keeping keeping = keeping_of(is_aof, flush, is_lax);
        bool has_log = str_equal(is_aof, STR("1"));
        ret_server->is_promised = keeping == KEEPS_ALL;
        snprintf(ret_server->promise, sizeof(ret_server->promise), "Redis %.*s, %s%s: %s",
                 STR_ARG(info_line(info, "redis_version")),
                 has_log ? "appendfsync " : "no append-only file",
                 has_log ? (flush[0] ? flush : "unknown") : "", keeping_words[keeping]);
    }
    freeReplyObject(reply);
    return status;
}
