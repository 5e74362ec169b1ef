// Regular expressions from the inside: pattern text -> tree -> program -> match.
//
// Two engines run a pattern. Ours (regexp/match.c) has exactly the semantics of the
// language and is the reference. PCRE2 (regexp/translate.c) is faster and takes over when
// a pattern is used a lot and the translation is known to mean the same: it differs in what
// captures hold after a loop, in loops over the empty string and in lookbehind, so patterns with
// those stay with ours.
//
//   [regexp-internal-1] A tree or program never changes once made, so threads may share it.
//   [regexp-internal-2] Both engines work on UTF-16 units or Latin-1 bytes, as the string is
//        stored.
//   [regexp-internal-3] Every match has a budget of steps and of memory; beyond it is a script
//        error. A step is a few nanoseconds on either engine, whatever pattern and subject are.
//   [regexp-internal-4] Reading a pattern has a budget as well: REGEXP_WORK_MAX steps,
//        REGEXP_MEMORY_MAX bytes.
#pragma once
#include "base/arena.h"
#include "base/containers/vec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { // flags
    REGEXP_HAS_INDICES = 1,
    REGEXP_GLOBAL = 2,
    REGEXP_IGNORE_CASE = 4,
    REGEXP_MULTILINE = 8,
    REGEXP_DOT_ALL = 16,
    REGEXP_UNICODE = 32,
    REGEXP_STICKY = 64,
};
enum {
    REGEXP_MESSAGE_MAX = 96,
    REGEXP_DEPTH_MAX = 500, // nested groups
    REGEXP_CAPTURES_MAX = 1 << 15,
    REGEXP_PROGRAM_MAX = 1 << 20, // words of a program
    REGEXP_REPEAT_MAX = INT32_MAX,
    REGEXP_WORK_MAX = 1 << 25,    // [regexp-internal-4]
    REGEXP_MEMORY_MAX = 16 << 20, // [regexp-internal-4] tree and program
};
#define REGEXP_FOREVER UINT32_MAX // max of a quantifier without one

// --- sets of characters (regexp/set.c)
typedef struct RegexpRange {
    uint32_t first;
    uint32_t last;
} RegexpRange;
typedef VEC(RegexpRange) RegexpRanges; // under construction: any order, may overlap

typedef struct RegexpSet { // ranges ascend, do not touch
    const RegexpRange *ranges;
    uint32_t count;
    uint32_t bitmap[8]; // the same for characters below 256
} RegexpSet;

void regexp_ranges_add(RegexpRanges *ranges, uint32_t first, uint32_t last);
void regexp_ranges_add_all(RegexpRanges *ranges, const RegexpRanges *others);
void regexp_ranges_normalize(RegexpRanges *ranges);
void regexp_ranges_invert(RegexpRanges *ranges); // normalizes first
// Adds every character that ignoring case makes equal to one that is there; normalizes.
void regexp_ranges_close_case(RegexpRanges *ranges, bool is_unicode);
typedef enum RegexpClass { CLASS_DIGIT, CLASS_SPACE, CLASS_WORD } RegexpClass;
// \d \s \w; `flags` because /iu counts two more characters as words.
void regexp_ranges_add_class(RegexpRanges *ranges, RegexpClass class, bool is_negated,
                             uint32_t flags);
// \p{text}; false: there is no such property.
bool regexp_ranges_add_property(RegexpRanges *ranges, Str text, bool is_negated);
bool regexp_set_has(const RegexpSet *set, uint32_t character);
RegexpSet *regexp_set_new(Arena *arena, const RegexpRanges *normalized);
// The same for all characters that ignoring case makes equal.
uint32_t regexp_canonicalize(uint32_t character, bool is_unicode);

// --- trees (regexp/parse.c)
typedef enum RegexpNodeKind {
    REGEXP_NODE_EMPTY,
    REGEXP_NODE_CHARACTER, // a: the character
    REGEXP_NODE_SET,       // set
    REGEXP_NODE_SEQUENCE,  // children
    REGEXP_NODE_CHOICE,    // children
    REGEXP_NODE_CAPTURE,   // a: number; one child
    REGEXP_NODE_REPEAT,    // a: min, b: max; is_greedy; one child
    REGEXP_NODE_LINE_START,
    REGEXP_NODE_LINE_END,
    REGEXP_NODE_WORD_EDGE, // is_negated: \B
    REGEXP_NODE_LOOK,      // is_negated, is_behind; one child
    REGEXP_NODE_REFERENCE, // a: number of the capture
} RegexpNodeKind;

typedef struct RegexpNode {
    uint8_t kind; // RegexpNodeKind
    bool is_greedy;
    bool is_negated;
    bool is_behind;
    uint32_t a;
    uint32_t b;
    uint32_t first_capture; // captures inside are first_capture .. end_capture - 1
    uint32_t end_capture;
    const RegexpSet *set;
    struct RegexpNode *child; // the first one
    struct RegexpNode *next;  // sibling
} RegexpNode;

typedef struct RegexpName {
    const uint16_t *units;
    uint32_t length;
    uint32_t capture;
} RegexpName;

typedef struct RegexpTree {
    RegexpNode *root;
    uint32_t flags;
    uint32_t capture_count; // without the whole match
    RegexpName *names;      // in order of appearance
    uint32_t name_count;
    bool has_reference;
    bool has_look_behind;
    uint32_t work; // steps that reading it took [regexp-internal-4]
} RegexpTree;

typedef struct RegexpSource {
    const uint16_t *units;
    size_t length;
    uint32_t flags;
} RegexpSource;
// Reads a pattern; everything is in `arena`. False: `ret_message` says why, in V8's words.
bool regexp_parse(Arena *arena, const RegexpSource *source, RegexpTree *ret_tree,
                  char ret_message[REGEXP_MESSAGE_MAX]);
bool regexp_node_can_be_empty(const RegexpNode *node);

// --- programs of our own engine (regexp/program.c, regexp/match.c)
typedef struct RegexpProgram {
    const uint32_t *code;
    uint32_t code_count;
    uint32_t register_count;
    uint32_t capture_count; // without the whole match
    uint32_t flags;
    const RegexpSet **sets;
    uint32_t set_count;
    bool has_first;     // a match can only begin with a character of `first`
    uint32_t first[8];  // characters below 256
    bool is_first_wide; // or with some character above
    bool has_required;  // every match contains the unit `required`
    uint16_t required;
} RegexpProgram;
// False: too large.
bool regexp_compile(Arena *arena, const RegexpTree *tree, RegexpProgram *ret_program);

typedef struct RegexpSubject {
    const uint8_t *latin1; // one of the two
    const uint16_t *wide;
    uint32_t length;
} RegexpSubject;

typedef struct RegexpBudget {
    uint64_t steps;     // left; the match takes what it used
    size_t memory_size; // bytes for what backtracking remembers
} RegexpBudget;

static inline void regexp_pay(RegexpBudget *budget, uint64_t steps) {
    budget->steps = budget->steps > steps ? budget->steps - steps : 0;
}

typedef enum RegexpOutcome {
    REGEXP_NO_MATCH,
    REGEXP_MATCH,
    REGEXP_OUT_OF_STEPS,
    REGEXP_OUT_OF_MEMORY,
    REGEXP_UNUSABLE, // PCRE2 only: ask the other engine
} RegexpOutcome;

// The first match at or after `start` (exactly there when sticky). `ret_captures`: pairs of start
// and end for the whole match and each capture, -1 for those that took no part.
RegexpOutcome regexp_match(const RegexpProgram *program, const RegexpSubject *subject,
                           uint32_t start, RegexpBudget *budget, int32_t *ret_captures);

// --- the same through PCRE2 (regexp/translate.c)
typedef struct RegexpFast RegexpFast;
// NULL: the pattern is not one that means the same there. For Latin-1 or wide subjects.
RegexpFast *regexp_fast_new(const RegexpTree *tree, bool is_wide);
void regexp_fast_free(RegexpFast *fast);           // NULL is fine
uint64_t regexp_fast_work(const RegexpFast *fast); // steps that making it took, about
RegexpOutcome regexp_fast_match(RegexpFast *fast, const RegexpSubject *subject, uint32_t start,
                                RegexpBudget *budget, int32_t *ret_captures);
