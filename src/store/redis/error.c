// Redis's answers in the words of this code base.
//
//   READONLY                            ERR_UNAVAILABLE  STORE_READ_ONLY   a replica
//   MISCONF, MASTERDOWN, NOREPLICAS     ERR_UNAVAILABLE  STORE_READ_ONLY   it may not write
//   OOM                                 ERR_FULL         STORE_FULL
//   LOADING, BUSY                       ERR_BUSY         STORE_BUSY
//   NOAUTH, WRONGPASS, NOPERM           ERR_UNAVAILABLE  STORE_DENIED
//   MOVED, ASK, CROSSSLOT, CLUSTERDOWN  ERR_UNAVAILABLE  STORE_SERVER      a cluster
//   WRONGTYPE                           ERR_CORRUPT      STORE_CORRUPT
//   everything else, no connection      ERR_UNAVAILABLE  STORE_IO, with the server's own text
#include "base/array.h"
#include "store/redis/internal.h"

Status redis_lost(const char *reason, Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "Redis: %s",
                    reason != NULL && reason[0] ? reason : "the connection was lost");
}

Status redis_strange(const char *what, Diag *diag) {
    return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT",
                    "Redis: %s; were the keys of the store changed by hand?", what);
}

typedef struct Known {
    const char *word;
    Status status;
    const char *code;
    const char *advice;
} Known;

static const Known known_errors[] = {
    {"READONLY", ERR_UNAVAILABLE, "STORE_READ_ONLY",
     "this server is a replica: name the one that can be written"},
    {"MISCONF", ERR_UNAVAILABLE, "STORE_READ_ONLY",
     "the server cannot save its data and takes no writes: look at its log and its disk"},
    {"MASTERDOWN", ERR_UNAVAILABLE, "STORE_READ_ONLY", "the replica has lost its master"},
    {"NOREPLICAS", ERR_UNAVAILABLE, "STORE_READ_ONLY",
     "the server wants more replicas before it writes (min-replicas-to-write)"},
    {"OOM", ERR_FULL, "STORE_FULL",
     "the server has used up its maxmemory: raise it, or give it more memory"},
    {"LOADING", ERR_BUSY, "STORE_BUSY", "the server is still reading its data"},
    {"BUSY", ERR_BUSY, "STORE_BUSY", "the server is busy with another script"},
    {"NOAUTH", ERR_UNAVAILABLE, "STORE_DENIED",
     "give user and password: redis://USER:PASSWORD@HOST"},
    {"WRONGPASS", ERR_UNAVAILABLE, "STORE_DENIED", "look at user and password in the URL"},
    {"NOPERM", ERR_UNAVAILABLE, "STORE_DENIED",
     "the user needs the keys and channels of the store, and the commands in docs/redis.md"},
    {"MOVED", ERR_UNAVAILABLE, "STORE_SERVER",
     "this is a cluster, and the store's keys belong to the node named here: use that one"},
    {"ASK", ERR_UNAVAILABLE, "STORE_SERVER", "the cluster is moving the store's keys"},
    {"CLUSTERDOWN", ERR_UNAVAILABLE, "STORE_SERVER", "the cluster is not complete"},
    {"CROSSSLOT", ERR_UNAVAILABLE, "STORE_SERVER", "the keys are in more than one place"},
    {"WRONGTYPE", ERR_CORRUPT, "STORE_CORRUPT", "were the keys of the store changed by hand?"},
};

// A function's error has the word that matters at its beginning or after "Error: ".
static bool is_word(Str text, const char *word) {
    size_t len = strlen(word);
    if (text.len < len || memcmp(text.data, word, len) != 0) return false;
    return text.len == len || text.data[len] == ' ';
}

// Redis has no word for them: "ERR Function not found", "ERR Library 'x' already exists".
static RedisTrouble trouble_of(Str text) {
    static const Str unknown = STR("Function not found"), known = STR("already exists");
    if (memmem(text.data, text.len, unknown.data, unknown.len)) return REDIS_TROUBLE_NO_FUNCTION;
    if (memmem(text.data, text.len, known.data, known.len)) return REDIS_TROUBLE_IS_THERE;
    return REDIS_TROUBLE_OTHER;
}

Status redis_error(Str text, RedisTrouble *ret_trouble, Diag *diag) {
    text = str_trim(text);
    *ret_trouble = trouble_of(text);
    for (size_t i = 0; i < COUNT_OF(known_errors); i++) {
        const Known *known = &known_errors[i];
        if (!is_word(text, known->word)) continue;
        return diag_set(diag, known->status, known->code, "Redis: %s (%.*s)", known->advice,
                        STR_ARG(text));
    }
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "Redis: %.*s", STR_ARG(text));
}
