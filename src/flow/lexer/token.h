// Tokens: the words and signs of the language.
//
// One list, included wherever a table is needed: TOKEN(name, text, precedence, operator).
// Precedence is that of the binary operator, 0 when the token is none; higher binds tighter.
// The order matters: see the ranges below the enum.
#pragma once
#include "flow/tree/ast.h"

#define FLOW_TOKENS(TOKEN)                                                                         \
    TOKEN(END, "end of input", 0, NONE)                                                            \
    TOKEN(ERROR, "", 0, NONE)                                                                      \
    TOKEN(NUMBER, "number", 0, NONE)                                                               \
    TOKEN(BIGINT, "number", 0, NONE)                                                               \
    TOKEN(STRING, "string", 0, NONE)                                                               \
    TOKEN(TEMPLATE_TAIL, "template string", 0, NONE) /* ends with a quote */                       \
    TOKEN(TEMPLATE_HEAD, "template string", 0, NONE) /* ends before a substitution */              \
    TOKEN(REGEXP, "regular expression", 0, NONE)                                                   \
    TOKEN(PRIVATE_NAME, "private name", 0, NONE)                                                   \
    TOKEN(BRACE_OPEN, "{", 0, NONE)                                                                \
    TOKEN(BRACE_CLOSE, "}", 0, NONE)                                                               \
    TOKEN(PAREN_OPEN, "(", 0, NONE)                                                                \
    TOKEN(PAREN_CLOSE, ")", 0, NONE)                                                               \
    TOKEN(BRACKET_OPEN, "[", 0, NONE)                                                              \
    TOKEN(BRACKET_CLOSE, "]", 0, NONE)                                                             \
    TOKEN(DOT, ".", 0, NONE)                                                                       \
    TOKEN(ELLIPSIS, "...", 0, NONE)                                                                \
    TOKEN(OPTIONAL, "?.", 0, NONE)                                                                 \
    TOKEN(SEMICOLON, ";", 0, NONE)                                                                 \
    TOKEN(COMMA, ",", 0, NONE)                                                                     \
    TOKEN(QUESTION, "?", 0, NONE)                                                                  \
    TOKEN(COLON, ":", 0, NONE)                                                                     \
    TOKEN(ARROW, "=>", 0, NONE)                                                                    \
    TOKEN(INCREMENT, "++", 0, ADD)                                                                 \
    TOKEN(DECREMENT, "--", 0, SUBTRACT)                                                            \
    TOKEN(NOT, "!", 0, NOT)                                                                        \
    TOKEN(BIT_NOT, "~", 0, BIT_NOT)                                                                \
    TOKEN(ASSIGN, "=", 0, NONE)                                                                    \
    TOKEN(ASSIGN_ADD, "+=", 0, ADD)                                                                \
    TOKEN(ASSIGN_SUBTRACT, "-=", 0, SUBTRACT)                                                      \
    TOKEN(ASSIGN_MULTIPLY, "*=", 0, MULTIPLY)                                                      \
    TOKEN(ASSIGN_DIVIDE, "/=", 0, DIVIDE)                                                          \
    TOKEN(ASSIGN_REMAINDER, "%=", 0, REMAINDER)                                                    \
    TOKEN(ASSIGN_POWER, "**=", 0, POWER)                                                           \
    TOKEN(ASSIGN_SHIFT_LEFT, "<<=", 0, SHIFT_LEFT)                                                 \
    TOKEN(ASSIGN_SHIFT_RIGHT, ">>=", 0, SHIFT_RIGHT)                                               \
    TOKEN(ASSIGN_SHIFT_RIGHT_UNSIGNED, ">>>=", 0, SHIFT_RIGHT_UNSIGNED)                            \
    TOKEN(ASSIGN_BIT_AND, "&=", 0, BIT_AND)                                                        \
    TOKEN(ASSIGN_BIT_OR, "|=", 0, BIT_OR)                                                          \
    TOKEN(ASSIGN_BIT_XOR, "^=", 0, BIT_XOR)                                                        \
    TOKEN(ASSIGN_LOGICAL_AND, "&&=", 0, LOGICAL_AND)                                               \
    TOKEN(ASSIGN_LOGICAL_OR, "||=", 0, LOGICAL_OR)                                                 \
    TOKEN(ASSIGN_NULLISH,                                                                          \
          "??"                                                                                     \
          "=",                                                                                     \
          0, NULLISH) /* in two pieces: a trigraph otherwise */                                    \
    TOKEN(NULLISH, "??", 1, NULLISH)                                                               \
    TOKEN(LOGICAL_OR, "||", 2, LOGICAL_OR)                                                         \
    TOKEN(LOGICAL_AND, "&&", 3, LOGICAL_AND)                                                       \
    TOKEN(BIT_OR, "|", 4, BIT_OR)                                                                  \
    TOKEN(BIT_XOR, "^", 5, BIT_XOR)                                                                \
    TOKEN(BIT_AND, "&", 6, BIT_AND)                                                                \
    TOKEN(EQUAL, "==", 7, EQUAL)                                                                   \
    TOKEN(NOT_EQUAL, "!=", 7, NOT_EQUAL)                                                           \
    TOKEN(STRICT_EQUAL, "===", 7, STRICT_EQUAL)                                                    \
    TOKEN(STRICT_NOT_EQUAL, "!==", 7, STRICT_NOT_EQUAL)                                            \
    TOKEN(LESS, "<", 8, LESS)                                                                      \
    TOKEN(LESS_EQUAL, "<=", 8, LESS_EQUAL)                                                         \
    TOKEN(GREATER, ">", 8, GREATER)                                                                \
    TOKEN(GREATER_EQUAL, ">=", 8, GREATER_EQUAL)                                                   \
    TOKEN(SHIFT_LEFT, "<<", 9, SHIFT_LEFT)                                                         \
    TOKEN(SHIFT_RIGHT, ">>", 9, SHIFT_RIGHT)                                                       \
    TOKEN(SHIFT_RIGHT_UNSIGNED, ">>>", 9, SHIFT_RIGHT_UNSIGNED)                                    \
    TOKEN(ADD, "+", 10, ADD)                                                                       \
    TOKEN(SUBTRACT, "-", 10, SUBTRACT)                                                             \
    TOKEN(MULTIPLY, "*", 11, MULTIPLY)                                                             \
    TOKEN(DIVIDE, "/", 11, DIVIDE)                                                                 \
    TOKEN(REMAINDER, "%", 11, REMAINDER)                                                           \
    TOKEN(POWER, "**", 12, POWER)                                                                  \
    /* Identifiers, then words that are identifiers except in certain places. */                   \
    TOKEN(IDENTIFIER, "identifier", 0, NONE)                                                       \
    TOKEN(ASYNC, "async", 0, NONE)                                                                 \
    TOKEN(GET, "get", 0, NONE)                                                                     \
    TOKEN(OF, "of", 0, NONE)                                                                       \
    TOKEN(SET, "set", 0, NONE)                                                                     \
    TOKEN(TARGET, "target", 0, NONE)                                                               \
    TOKEN(WORKFLOW, "workflow", 0, NONE)                                                           \
    TOKEN(EVAL, "eval", 0, NONE)                                                                   \
    TOKEN(ARGUMENTS, "arguments", 0, NONE)                                                         \
    TOKEN(AWAIT, "await", 0, NONE)                                                                 \
    /* Reserved in strict mode only. */                                                            \
    TOKEN(IMPLEMENTS, "implements", 0, NONE)                                                       \
    TOKEN(INTERFACE, "interface", 0, NONE)                                                         \
    TOKEN(LET, "let", 0, NONE)                                                                     \
    TOKEN(PACKAGE, "package", 0, NONE)                                                             \
    TOKEN(PRIVATE, "private", 0, NONE)                                                             \
    TOKEN(PROTECTED, "protected", 0, NONE)                                                         \
    TOKEN(PUBLIC, "public", 0, NONE)                                                               \
    TOKEN(STATIC, "static", 0, NONE)                                                               \
    TOKEN(YIELD, "yield", 0, NONE)                                                                 \
    /* Reserved always. */                                                                         \
    TOKEN(ESCAPED_WORD, "", 0, NONE) /* any reserved word written with an escape */                \
    TOKEN(BREAK, "break", 0, NONE)                                                                 \
    TOKEN(CASE, "case", 0, NONE)                                                                   \
    TOKEN(CATCH, "catch", 0, NONE)                                                                 \
    TOKEN(CLASS, "class", 0, NONE)                                                                 \
    TOKEN(CONST, "const", 0, NONE)                                                                 \
    TOKEN(CONTINUE, "continue", 0, NONE)                                                           \
    TOKEN(DEBUGGER, "debugger", 0, NONE)                                                           \
    TOKEN(DEFAULT, "default", 0, NONE)                                                             \
    TOKEN(DELETE, "delete", 0, DELETE)                                                             \
    TOKEN(DO, "do", 0, NONE)                                                                       \
    TOKEN(ELSE, "else", 0, NONE)                                                                   \
    TOKEN(ENUM, "enum", 0, NONE)                                                                   \
    TOKEN(EXPORT, "export", 0, NONE)                                                               \
    TOKEN(EXTENDS, "extends", 0, NONE)                                                             \
    TOKEN(FALSE, "false", 0, NONE)                                                                 \
    TOKEN(FINALLY, "finally", 0, NONE)                                                             \
    TOKEN(FOR, "for", 0, NONE)                                                                     \
    TOKEN(FUNCTION, "function", 0, NONE)                                                           \
    TOKEN(IF, "if", 0, NONE)                                                                       \
    TOKEN(IMPORT, "import", 0, NONE)                                                               \
    TOKEN(IN, "in", 8, IN)                                                                         \
    TOKEN(INSTANCEOF, "instanceof", 8, INSTANCEOF)                                                 \
    TOKEN(NEW, "new", 0, NONE)                                                                     \
    TOKEN(NULL, "null", 0, NONE)                                                                   \
    TOKEN(RETURN, "return", 0, NONE)                                                               \
    TOKEN(SUPER, "super", 0, NONE)                                                                 \
    TOKEN(SWITCH, "switch", 0, NONE)                                                               \
    TOKEN(THIS, "this", 0, NONE)                                                                   \
    TOKEN(THROW, "throw", 0, NONE)                                                                 \
    TOKEN(TRUE, "true", 0, NONE)                                                                   \
    TOKEN(TRY, "try", 0, NONE)                                                                     \
    TOKEN(TYPEOF, "typeof", 0, TYPEOF)                                                             \
    TOKEN(VAR, "var", 0, NONE)                                                                     \
    TOKEN(VOID, "void", 0, VOID)                                                                   \
    TOKEN(WHILE, "while", 0, NONE)                                                                 \
    TOKEN(WITH, "with", 0, NONE)

typedef enum FlowTokenKind {
#define TOKEN(NAME, TEXT, PRECEDENCE, OPERATOR) TOKEN_##NAME,
    FLOW_TOKENS(TOKEN)
#undef TOKEN
        TOKEN_COUNT
} FlowTokenKind;

typedef struct FlowTokenInfo {
    const char *text;
    uint8_t precedence;
    uint8_t op; // FlowOperator
} FlowTokenInfo;
extern const FlowTokenInfo flow_token_info[TOKEN_COUNT]; // names.c

typedef struct FlowToken {
    uint8_t kind; // FlowTokenKind
    bool is_after_newline;
    bool has_escape;
    bool is_ascii; // string
    uint32_t start;
    uint32_t end;
    FlowName *name; // identifiers, words, private names; strings short enough to be keys
    double number;
    Str text;            // string, BigInt digits, cooked template (null: invalid), regexp pattern
    Str raw;             // raw template text, regexp flags
    const char *problem; // template: what is wrong with the cooked text, when that is null
} FlowToken;

// Any word that may stand after a dot or as a key.
static inline bool token_is_word(uint8_t kind) { return kind >= TOKEN_IDENTIFIER; }
// Names a binding may have, strict mode; await depends on the function.
static inline bool token_is_identifier(uint8_t kind) {
    return kind >= TOKEN_IDENTIFIER && kind <= TOKEN_ARGUMENTS;
}
static inline bool token_is_strict_reserved(uint8_t kind) {
    return kind >= TOKEN_IMPLEMENTS && kind <= TOKEN_YIELD;
}
static inline bool token_is_assignment(uint8_t kind) {
    return kind >= TOKEN_ASSIGN && kind <= TOKEN_ASSIGN_NULLISH;
}
