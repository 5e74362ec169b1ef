// Scope analysis: which declaration each name means, and where the variable lives.
//
// Runs once over a parsed program, fills every FlowReference and every `scope` of the tree, and
// reports what only it can know: names declared twice, private names that do not exist, globals
// that a workflow does not have.
//
//   [scope-1] A variable that an inner function uses is_captured: it lives in a heap cell of its
//        own, made when its scope is entered. Any other variable lives in a register.
//   [scope-2] Closures hold cells: FlowFunction.captures lists them, each found in the parent's
//        own cells or in the parent's captures. A function never reaches further than its parent.
//   [scope-3] A scope inside a loop is entered anew for each iteration, so fresh cells are made
//        each time. The scope of `for (let …;;)` is copied between iterations: needs_copy says so.
//   [scope-4] Parameters and body share one scope, unless the parameters contain closures: then the
//        body has its own, and a `var` named like a parameter starts with the parameter's value
//        (FlowVariable.parameter).
//   [scope-5] needs_tdz_check of a reference is false only when the initialisation provably came
//        first. A variable with needs_tdz must be marked uninitialised when its scope is entered;
//        all others need no mark.
#pragma once
#include "flow/tree/program.h"

typedef struct FlowReport FlowReport; // report.h

typedef enum FlowVariableKind {
    VARIABLE_VAR, // also of functions declared at the top level of a function
    VARIABLE_LET,
    VARIABLE_CONST,       // assignment throws TypeError "Assignment to constant variable."
    VARIABLE_FUNCTION,    // declared by a function declaration: initialised on scope entry
    VARIABLE_CLASS,       // class declaration: like let
    VARIABLE_CLASS_INNER, // the name inside the class: like const
    VARIABLE_PARAMETER,
    VARIABLE_CATCH,         // catch parameter
    VARIABLE_FUNCTION_NAME, // self name of a function expression: assignment throws TypeError
    VARIABLE_ARGUMENTS,
    VARIABLE_THIS, // TDZ until super() in a derived constructor
    VARIABLE_NEW_TARGET,
    VARIABLE_HOME_OBJECT,
    VARIABLE_CALLEE,
    VARIABLE_PRIVATE,   // a private name: holds the private key, made with the class
    VARIABLE_FIELD_KEY, // value of a computed field key
    VARIABLE_DEFAULT,   // what `export default` of an anonymous function is bound to
} FlowVariableKind;

typedef enum FlowPrivateKind {
    PRIVATE_FIELD,
    PRIVATE_METHOD,
    PRIVATE_GETTER,   // getter only
    PRIVATE_SETTER,   // setter only
    PRIVATE_ACCESSOR, // both
} FlowPrivateKind;

struct FlowVariable {
    FlowName *name; // NULL for FIELD_KEY and DEFAULT; "this" etc. for the special ones
    FlowScope *scope;
    FlowFunction *function;  // == scope->function
    FlowVariable *next;      // in the scope, in order of declaration
    FlowVariable *parameter; // [scope-4]: the parameter this var starts as; else NULL
    FlowVariable *shadowed;  // the outer binding of the same name; analysis only
    uint32_t index;          // dense from 0 within the scope
    uint32_t start;          // of the declaring identifier, for messages
    uint32_t reg;            // free for the compiler
    uint8_t kind;            // FlowVariableKind
    uint8_t private_kind;    // FlowPrivateKind
    bool is_static;          // private name of a static element
    bool is_captured;        // [scope-1]
    bool needs_tdz;          // [scope-5]
    bool is_assigned;        // written after its initialisation, anywhere
    bool is_used;            // read anywhere; an unused function name or `arguments` costs nothing
    // Analysis only.
    bool is_initialized;   // in the order of execution, as far as the walk has come
    bool is_simple_catch;  // catch (e): a var of that name may stand inside
    FlowVariable *behind;  // of a simple catch: the first outer binding that is none
    uint32_t serial;       // dense over the program
    uint32_t last_capture; // where last_capture_function has it
    FlowFunction *last_capture_function;
    FlowReference *uses;   // in its own function
    FlowNode *declaration; // of a function: the last one wins
};

typedef enum FlowScopeKind {
    SCOPE_PARAMETERS, // and the body, when they share one [scope-4]
    SCOPE_BODY,       // the body of a function, [scope-4]
    SCOPE_SELF,       // name of a function expression
    SCOPE_BLOCK,
    SCOPE_FOR, // let/const of a for, for-in, for-of head
    SCOPE_SWITCH,
    SCOPE_CATCH, // the catch parameter; the block inside has its own
    SCOPE_CLASS,
} FlowScopeKind;

struct FlowScope {
    FlowScopeKind kind;
    FlowScope *parent;
    FlowFunction *function;
    FlowVariable *variables; // in order of declaration, linked by `next`
    FlowVariable *last;
    uint32_t variable_count;
    uint32_t captured_count; // how many of them need a cell
    uint32_t start;          // offset where it is entered
    FlowNodeList functions;  // NODE_FUNCTION_DECLARATION / NODE_WORKFLOW to make on entry;
                             // of two with one name only the last is in the list
    bool needs_copy;         // [scope-3]: for(let;;) whose variables are captured
};

// Answers false when it reported an error. In a prelude no global is refused.
bool flow_scope_analyze(FlowProgram *program, Arena *arena, FlowReport *report);

// Names a workflow does not have, with what to do instead.
typedef struct FlowRefusedGlobal {
    const char *name;
    const char *hint;
} FlowRefusedGlobal;
const FlowRefusedGlobal *flow_refused_global_find(Str name); // NULL: not refused
