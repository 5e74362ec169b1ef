// The instructions of our regular expression engine: 32-bit words, operands behind the operation.
#pragma once

typedef enum RegexpOp {
    REGEXP_OP_MATCH,       // the whole pattern has matched
    REGEXP_OP_CHARACTER,   // c: the next character is c
    REGEXP_OP_SET,         // set: the next character is in it
    REGEXP_OP_JUMP,        // to
    REGEXP_OP_SPLIT,       // to: go on, and at `to` when that fails
    REGEXP_OP_SPLIT_LAZY,  // to: go on at `to`, and here when that fails
    REGEXP_OP_RUN,         // set, min, max: as many characters of the set as there are
    REGEXP_OP_RUN_LAZY,    // set, min, max: as few as possible
    REGEXP_OP_MARK,        // register: remembers the position
    REGEXP_OP_CHECK,       // register: fails when nothing was taken since the mark
    REGEXP_OP_CHECK_COUNT, // register, counter, min: the same, once the counter has reached min
    REGEXP_OP_ZERO,        // counter
    REGEXP_OP_COUNT,       // counter, min, max, is_greedy, exit: decides about another round
    REGEXP_OP_ADD,         // counter: plus one
    REGEXP_OP_CAPTURE,     // number, register: the capture is from the mark to here
    REGEXP_OP_RESET,       // first, end: these captures are undefined again
    REGEXP_OP_LINE_START,
    REGEXP_OP_LINE_END,
    REGEXP_OP_WORD_EDGE, // is_negated
    REGEXP_OP_LOOK,      // register, is_negated, exit: what follows must (not) match
    REGEXP_OP_LOOK_END,  // register, is_negated
    REGEXP_OP_REFERENCE, // number: the same text as that capture
} RegexpOp;

// In lookbehind characters are taken backwards: operations with this bit.
enum { REGEXP_OP_BACKWARD = 1 << 8 };
