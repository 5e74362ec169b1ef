// Scan: the tokens of a text that may be half written, with their brackets matched.
//
// The parser refuses a file at its first error, and a file in an editor is wrong most of the time.
// So completion, symbols and definitions go by tokens, which every text has.
//
//   [scan-1] Every byte that is no white space and no comment belongs to exactly one token.
//   [scan-2] `open` of a token is the bracket around it, `close` of a bracket the one that ends
//        it; SCAN_NONE where the text does not say.
#pragma once
#include "base/arena.h"
#include <stdint.h>

enum { SCAN_NONE = UINT32_MAX };

typedef enum ScanKind {
    SCAN_WORD, // an identifier or keyword
    SCAN_NUMBER,
    SCAN_STRING, // also a part of a template
    SCAN_REGEXP,
    SCAN_PUNCTUATOR // one character, but for => ?. and ...
} ScanKind;

typedef struct ScanToken {
    ScanKind kind;
    uint32_t start; // byte offsets
    uint32_t end;
    uint32_t open;  // [scan-2]
    uint32_t close; // of ( [ { and of the ${ of a template
} ScanToken;

typedef struct Scan {
    Str text;
    ScanToken *tokens; // in the arena
    uint32_t count;
    bool is_in_text; // the text ends inside a string, a comment or a regular expression
} Scan;

void scan_text(Scan *scan, Str text, Arena *arena);
Str scan_str(const Scan *scan, uint32_t token);
// The token is that word or punctuator; false when there is no such token.
bool scan_is(const Scan *scan, uint32_t token, const char *text);
bool scan_is_word(const Scan *scan, uint32_t token);
// The word that covers the offset or ends there; SCAN_NONE when there is none.
uint32_t scan_word_at(const Scan *scan, uint32_t offset);
