// The pattern parser from the inside: regexp/parse.c reads terms and groups,
// regexp/escape.c escapes and classes.
#pragma once
#include "flow/regexp/internal.h"

#define REGEXP_END UINT32_MAX // what regexp_peek answers behind the pattern

typedef struct RegexpNameUse {
    RegexpName name;
    RegexpNode *node;
} RegexpNameUse;

typedef struct RegexpParser {
    Arena *arena;
    RegexpTree *tree;
    const uint16_t *at;
    const uint16_t *end;
    char *message; // empty while all is well
    uint32_t next_capture;
    uint32_t depth;
    bool has_names; // some group has a name: then \k is always a reference
    VEC(RegexpName) names;
    VEC(RegexpNameUse) references;
} RegexpParser;

void regexp_fail(RegexpParser *p, const char *message);
bool regexp_is_unicode(const RegexpParser *p);
uint32_t regexp_peek(const RegexpParser *p, size_t ahead);
bool regexp_skip(RegexpParser *p, uint16_t unit);
uint32_t regexp_take(RegexpParser *p);

// After `\u`: false when it is no escape (nothing taken). `is_code_point`: \u{…} and pairs count.
bool regexp_read_unicode_escape(RegexpParser *p, bool is_code_point, uint32_t *ret_character);
// After a backslash: \d \D \s \S \w \W \p{…} \P{…}. False: it is none of them.
bool regexp_read_class_escape(RegexpParser *p, RegexpRanges *ranges);
// After a backslash: any escape that stands for one character.
uint32_t regexp_read_character_escape(RegexpParser *p, bool is_in_class);
// After `[` or `[^`, up to and with the `]`.
void regexp_read_class(RegexpParser *p, RegexpRanges *ranges);
