// AST: what the parser makes of a Flow file, and what the compiler reads.
//
// One tagged struct for every node. Everything (nodes, lists, names, variables) lives in the
// arena given to flow_parse and dies with it. Functions, classes and the program as a whole are in
// program.h, scopes and variables in scope.h.
//
// What a reader of the tree may rely on:
//   [ast-1] A tree that comes with a report free of errors has passed every early error of
//        ECMAScript strict mode; the compiler need not check any of them again.
//   [ast-2] `start` and `end` are byte offsets into the source, `at` is the offset a stack trace
//        names (the operator, the property, the opening parenthesis' callee …); start <= at.
//   [ast-3] Parentheses leave no node. A pattern is a pattern node, never an object literal.
//   [ast-4] The tree is at most FLOW_TREE_HEIGHT_MAX nodes high, so that recursion over it is safe
//        on an 8 MB stack. Long runs of binary operators are NODE_BINARY_CHAIN / NODE_LOGICAL_CHAIN
//        and lists; only member and call chains are deep on the left.
//   [ast-5] Names are interned: two equal names of one program are the same pointer.
//   [ast-6] Text is UTF-8, where an unpaired surrogate takes its three bytes (WTF-8); a surrogate
//        pair written as two escapes is one four-byte character.
#pragma once
#include "base/arena.h"
#include "base/text/str.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    FLOW_NESTING_MAX = 1000,      // levels of the recursive descent
    FLOW_CHAIN_MAX = 2000,        // a.b.c() … links along one path of the tree
    FLOW_TREE_HEIGHT_MAX = 8000,  // follows from the two above
    FLOW_CHAIN_OPERANDS_MIN = 16, // more operands of one precedence than this become a chain node
};

typedef struct FlowNode FlowNode;
typedef struct FlowFunction FlowFunction;
typedef struct FlowClass FlowClass;
typedef struct FlowScope FlowScope;       // scope.h
typedef struct FlowVariable FlowVariable; // scope.h

typedef struct FlowName { // an interned identifier, property or label name
    Str text;             // UTF-8, NUL after it; private names include the '#'
    uint32_t hash;
    uint32_t id;           // dense from 0: index for a side table of the compiler
    uint16_t keyword;      // FlowToken of a reserved or contextual word, else 0; lexer only
    bool is_checked;       // scope analysis has looked it up among the refused globals
    FlowVariable *binding; // innermost declaration during scope analysis; NULL before and after
} FlowName;

typedef struct FlowNodeList {
    FlowNode **items; // NULL items are holes, in array literals and patterns only
    uint32_t count;
} FlowNodeList;

typedef enum FlowNodeKind {
    // Literals. Member of the union in brackets.
    NODE_UNDEFINED = 1, // not written by anyone: a place the parser filled after an error
    NODE_NULL,
    NODE_TRUE,
    NODE_FALSE,
    NODE_NUMBER,   // [number]
    NODE_BIGINT,   // [string] digits: decimal, or with 0x 0o 0b in lower case; no 'n', no '_'
    NODE_STRING,   // [string]
    NODE_REGEXP,   // [regexp]
    NODE_TEMPLATE, // [template] `a${b}c`
    NODE_ARRAY,    // [list] items: expression, NODE_SPREAD or NULL (hole)
    NODE_OBJECT,   // [list] items: NODE_PROPERTY or NODE_SPREAD
    NODE_FUNCTION, // [function] expression, arrow
    NODE_CLASS,    // [class_definition] expression

    // Names.
    NODE_IDENTIFIER,   // [reference] use, assignment target or declaration (FLAG_DECLARES)
    NODE_THIS,         // [reference]
    NODE_NEW_TARGET,   // [reference]
    NODE_PRIVATE_NAME, // [reference] as a member's property, an element's key, or `#x in o`

    // Operators.
    NODE_UNARY,          // [unary] op: OPERATOR_NEGATE … OPERATOR_DELETE
    NODE_UPDATE,         // [unary] op: OPERATOR_ADD (++) or OPERATOR_SUBTRACT (--); FLAG_PREFIX
    NODE_BINARY,         // [binary] op
    NODE_BINARY_CHAIN,   // [chain] first op1 x op2 y …, left to right, op per link
    NODE_LOGICAL,        // [binary] op: OPERATOR_LOGICAL_AND, OPERATOR_LOGICAL_OR, OPERATOR_NULLISH
    NODE_LOGICAL_CHAIN,  // [chain] all links have the same op as the node
    NODE_PRIVATE_IN,     // [binary] left is NODE_PRIVATE_NAME
    NODE_ASSIGN,         // [binary] op: OPERATOR_NONE (=) or that of `op=`; left: target/pattern
    NODE_CONDITIONAL,    // [conditional]
    NODE_SEQUENCE,       // [list] a, b, c
    NODE_MEMBER,         // [member] object.name
    NODE_INDEX,          // [binary] left[right]
    NODE_PRIVATE_MEMBER, // [binary] left.#name; right is NODE_PRIVATE_NAME
    NODE_SUPER_MEMBER,   // [super_access] super.name
    NODE_SUPER_INDEX,    // [super_access] super[index]
    NODE_OPTIONAL_CHAIN, // [unary] where a FLAG_OPTIONAL link inside jumps to when nullish
    NODE_CALL,           // [call]
    NODE_SUPER_CALL,     // [super_call]
    NODE_NEW,            // [call]
    NODE_TAGGED,         // [call] callee is the tag, arguments[0] the NODE_TEMPLATE
    NODE_SPREAD,         // [unary] ...x in an array, call or object literal
    NODE_AWAIT,          // [unary]
    NODE_YIELD,          // [unary] operand may be NULL; FLAG_DELEGATE: yield*
    NODE_INTRINSIC,      // [intrinsic] %name(args), in the prelude only

    // Parts.
    NODE_PROPERTY,       // [property] of an object literal or object pattern; op: FlowPropertyKind
    NODE_CLASS_ELEMENT,  // [element]; op: FlowElementKind
    NODE_ARRAY_PATTERN,  // [list] items: target, NODE_DEFAULT, NODE_REST (last) or NULL
    NODE_OBJECT_PATTERN, // [list] items: NODE_PROPERTY or NODE_REST (last)
    NODE_DEFAULT,        // [binary] left: target, right: value when undefined
    NODE_REST,           // [unary] ...target
    NODE_DECLARATOR,     // [binary] left: identifier or pattern, right: initializer or NULL
    NODE_CASE,           // [switch_case]
    NODE_CATCH,          // [catch_clause]

    // Statements.
    NODE_EXPRESSION_STATEMENT, // [unary]
    NODE_VARIABLES,            // [list] of NODE_DECLARATOR; op: FlowVariableKind (VAR, LET, CONST)
    NODE_FUNCTION_DECLARATION, // [function] hoisted: see FlowScope.functions
    NODE_CLASS_DECLARATION,    // [class_definition]
    NODE_BLOCK,                // [block]
    NODE_EMPTY,
    NODE_IF,             // [conditional] alternate may be NULL
    NODE_FOR,            // [loop]
    NODE_FOR_IN,         // [iteration]
    NODE_FOR_OF,         // [iteration] FLAG_AWAIT: for await
    NODE_WHILE,          // [binary] left: test, right: body
    NODE_DO_WHILE,       // [binary] left: test, right: body
    NODE_RETURN,         // [unary] operand may be NULL
    NODE_BREAK,          // [jump]
    NODE_CONTINUE,       // [jump]
    NODE_THROW,          // [unary]
    NODE_TRY,            // [try_statement]
    NODE_SWITCH,         // [switch_statement]
    NODE_LABELED,        // [labeled]
    NODE_WORKFLOW,       // [function] `workflow name(inputs) {…}`: a hoisted async function
    NODE_EXPORT_DEFAULT, // [unary] NODE_FUNCTION, NODE_FUNCTION_DECLARATION or an expression
    NODE_EXPORT_CONFIG,  // [unary] NODE_VARIABLES with the one declarator `config = {literal}`
    NODE_KIND_COUNT
} FlowNodeKind;

typedef enum FlowOperator {
    // clang-format off
    OPERATOR_NONE, OPERATOR_ADD, OPERATOR_SUBTRACT, OPERATOR_MULTIPLY, OPERATOR_DIVIDE,
    OPERATOR_REMAINDER, OPERATOR_POWER, OPERATOR_SHIFT_LEFT, OPERATOR_SHIFT_RIGHT,
    OPERATOR_SHIFT_RIGHT_UNSIGNED, OPERATOR_BIT_AND, OPERATOR_BIT_OR, OPERATOR_BIT_XOR,
    OPERATOR_EQUAL, OPERATOR_NOT_EQUAL, OPERATOR_STRICT_EQUAL, OPERATOR_STRICT_NOT_EQUAL,
    OPERATOR_LESS, OPERATOR_LESS_EQUAL, OPERATOR_GREATER, OPERATOR_GREATER_EQUAL,
    OPERATOR_INSTANCEOF, OPERATOR_IN, OPERATOR_LOGICAL_AND, OPERATOR_LOGICAL_OR, OPERATOR_NULLISH,
    OPERATOR_NEGATE, OPERATOR_PLUS, OPERATOR_NOT, OPERATOR_BIT_NOT, OPERATOR_TYPEOF,
    OPERATOR_VOID, OPERATOR_DELETE, OPERATOR_COUNT,
    // clang-format on
} FlowOperator;

typedef enum FlowPropertyKind {
    PROPERTY_VALUE,     // key: value
    PROPERTY_SHORTHAND, // { name }: key is NODE_STRING, value is the identifier
    PROPERTY_METHOD,    // value is NODE_FUNCTION
    PROPERTY_GETTER,
    PROPERTY_SETTER,
    PROPERTY_PROTO, // __proto__: value, which sets the prototype
} FlowPropertyKind;

typedef enum FlowElementKind {
    ELEMENT_METHOD, // value is NODE_FUNCTION; the constructor is not among the elements
    ELEMENT_GETTER,
    ELEMENT_SETTER,
    ELEMENT_FIELD,        // value is the initializer or NULL
    ELEMENT_STATIC_BLOCK, // key NULL, value is NODE_FUNCTION of kind FUNCTION_KIND_STATIC_BLOCK
} FlowElementKind;

enum {                            // FlowNode.flags
    FLAG_DECLARES = 1 << 0,       // identifier: a binding is created or initialised here
    FLAG_OPTIONAL = 1 << 1,       // member, index, call: preceded by `?.`
    FLAG_COMPUTED = 1 << 2,       // property, element: key is an expression in brackets
    FLAG_STATIC = 1 << 3,         // element
    FLAG_PREFIX = 1 << 4,         // update: ++x
    FLAG_DELEGATE = 1 << 5,       // yield*
    FLAG_AWAIT = 1 << 6,          // for await
    FLAG_PARENTHESIZED = 1 << 7,  // was in parentheses: (a) = 1, (a, b); no anonymous naming
    FLAG_TRAILING_COMMA = 1 << 8, // parser only
    FLAG_ASCII = 1 << 9,          // string: every byte < 0x80
    FLAG_ESCAPED = 1 << 10,       // parser only: identifier or string written with an escape
    FLAG_DIRECTIVE = 1 << 11,     // expression statement of the directive prologue
};

// How code reaches a variable: filled by scope analysis.
typedef enum FlowAccess {
    ACCESS_UNRESOLVED,
    ACCESS_LOCAL,   // variable of this function, in a register (variable->is_captured is false)
    ACCESS_CELL,    // variable of this function, in a heap cell (variable->is_captured is true)
    ACCESS_CAPTURE, // variable of an outer function: cell number `capture_index` of the closure
    ACCESS_GLOBAL,  // not declared in the file: property of the global object
} FlowAccess;

typedef struct FlowReference {
    FlowVariable *variable;         // NULL when ACCESS_GLOBAL
    uint32_t capture_index;         // into FlowFunction.captures, when ACCESS_CAPTURE
    uint8_t access;                 // FlowAccess
    bool needs_tdz_check;           // this use may happen before the initialisation
    struct FlowReference *next_use; // analysis only
} FlowReference;

typedef struct FlowChainLink {
    FlowNode *operand;
    uint32_t at; // of the operator
    uint8_t op;  // FlowOperator
} FlowChainLink;

typedef struct FlowTemplatePart {
    Str cooked; // null (Str.data == NULL) when a tagged template has an invalid escape here
    Str raw;
} FlowTemplatePart;

typedef struct FlowLoop {  // for (initializer; test; update) body; each may be NULL but body
    FlowNode *initializer; // NODE_VARIABLES or an expression
    FlowNode *test;
    FlowNode *update;
    FlowNode *body;
    FlowScope *scope; // of let/const in the initializer; NULL when there are none
} FlowLoop;

struct FlowNode {
    uint8_t kind; // FlowNodeKind
    uint8_t op;   // FlowOperator, FlowPropertyKind, FlowElementKind or FlowVariableKind
    uint16_t flags;
    uint32_t start;
    uint32_t end;
    uint32_t at; // [ast-2]
    // clang-format off
    union {
        double number;
        struct { Str text; FlowName *name; } string; // name: when it is interned, as keys are
        struct { Str pattern; Str flags; } regexp;   // flags: valid and each once
        struct {
            FlowTemplatePart *parts; // expressions.count + 1 of them
            FlowNodeList expressions;
        } template;
        FlowNodeList list;
        FlowFunction *function;
        FlowClass *class_definition;
        struct { FlowName *name; FlowReference to; } reference;
        struct { FlowNode *operand; } unary;
        struct { FlowNode *left; FlowNode *right; } binary;
        struct { FlowNode *first; FlowChainLink *links; uint32_t count; } chain;
        struct { FlowNode *test; FlowNode *consequent; FlowNode *alternate; } conditional;
        struct { FlowNode *object; FlowName *name; } member;
        struct { FlowNode *callee; FlowNodeList arguments; } call;
        struct { FlowNode *key; FlowNode *value; } property;
        struct {
            FlowNode *key;   // NODE_STRING, NODE_NUMBER, NODE_BIGINT, NODE_PRIVATE_NAME, computed
            FlowNode *value;
            struct FlowFieldKey *field_key; // computed field or private name; else NULL
        } element;
        struct { FlowName *name; FlowNode *index; struct FlowSuper *super; } super_access;
        struct { FlowNodeList arguments; struct FlowSuper *super; } super_call;
        struct { FlowName *name; FlowNodeList arguments; } intrinsic;
        struct { FlowNodeList statements; FlowScope *scope; } block; // scope NULL: nothing declared
        FlowLoop *loop;
        struct {
            FlowNode *left; // NODE_VARIABLES of one declarator, or target/pattern
            FlowNode *right;
            FlowNode *body;
            FlowScope *scope; // of let/const on the left; NULL when there are none
        } iteration;
        // target of `break label`: the NODE_LABELED; of `break`: loop or switch; of continue: loop
        struct { FlowName *label; FlowNode *target; } jump;
        struct { FlowNode *block; FlowNode *handler; FlowNode *finalizer; } try_statement;
        struct {
            FlowNode *parameter; // NULL: optional catch binding
            FlowNode *body;      // NODE_BLOCK
            FlowScope *scope;    // of the parameter; NULL when there is none
        } catch_clause;
        struct { FlowNode *discriminant; FlowNodeList cases; FlowScope *scope; } switch_statement;
        struct { FlowNode *test; FlowNodeList body; } switch_case; // test NULL: default
        struct { FlowName *label; FlowNode *body; } labeled;
    };
    // clang-format on
};

const char *flow_node_kind_name(FlowNodeKind kind);
const char *flow_operator_text(FlowOperator op); // "+", "instanceof", "typeof"
