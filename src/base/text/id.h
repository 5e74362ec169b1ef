// Ids: a prefix, 48 bits of milliseconds and 80 random bits, in Crockford's base 32, so that
// the text sorts by time: "run_01jczk7v9m4q8r2t6w0x5y3z1a". Lower case, 26 characters.
#pragma once
#include "base/env.h"
#include "base/text/str.h"

enum { ID_BODY_SIZE = 26, ID_PREFIX_MAX = 8, ID_TEXT_MAX = ID_PREFIX_MAX + ID_BODY_SIZE };

typedef struct IdText { // a value; NUL-terminated
    char text[ID_TEXT_MAX + 1];
    uint8_t len;
} IdText;

// Ids made by one generator ascend even within one millisecond.
typedef struct IdSource {
    Env *env;
    int64_t last_ms;
    uint64_t last_high; // 16 bits used
    uint64_t last_low;
} IdSource;

void id_source_init(IdSource *source, Env *env);
// The prefix is taken as it is, so it brings its own separator: "run_".
IdText id_next(IdSource *source, const char *prefix);
// The same text for the same moment and number, always: an id for what has these two already.
IdText id_at(const char *prefix, int64_t at_ms, uint64_t number);
static inline Str id_str(const IdText *id) { return (Str){id->text, id->len}; }
