// Program: the functions, classes and workflows of a parsed file.
//
// These are the parts of the tree that are too large for a FlowNode and that the compiler visits
// one by one. The parser fills the upper half of each struct, scope analysis the lower one.
#pragma once
#include "flow/tree/ast.h"

// What super.x and super(…) read, each possibly captured by an arrow function.
typedef struct FlowSuper {
    FlowReference this_value;  // for super(…): the binding it initialises
    FlowReference home_object; // super.x
    FlowReference new_target;  // super(…)
    FlowReference callee;      // super(…): the active constructor, whose prototype is called
} FlowSuper;

// The key of an element that the fields function needs again: a computed field key, evaluated
// with the class and used with each instance, or a private name (field, method or accessor).
typedef struct FlowFieldKey {
    FlowReference store; // in the function around the class
    FlowReference load;  // in the fields function
} FlowFieldKey;

typedef enum FlowFunctionKind {
    FUNCTION_KIND_NORMAL,
    FUNCTION_KIND_ARROW,
    FUNCTION_KIND_METHOD,
    FUNCTION_KIND_GETTER,
    FUNCTION_KIND_SETTER,
    FUNCTION_KIND_CONSTRUCTOR,
    FUNCTION_KIND_DERIVED_CONSTRUCTOR,
    FUNCTION_KIND_FIELDS,       // no text of its own: runs the field initializers of a class
    FUNCTION_KIND_STATIC_BLOCK, // called by the static fields function with its `this`
    FUNCTION_KIND_PROGRAM,      // the top level of the file
} FlowFunctionKind;

typedef struct FlowCapture {
    FlowVariable *variable;
    uint32_t parent_index; // into the parent's captures, when not is_parent_local
    bool is_parent_local;  // the cell of a variable of the parent function itself
} FlowCapture;

struct FlowFunction {
    FlowName *name;          // as written; NULL when anonymous (the compiler infers names)
    FlowNode *name_node;     // the declared identifier, NULL when anonymous or a method
    FlowFunction *parent;    // NULL for the program
    FlowNodeList parameters; // identifier, pattern, NODE_DEFAULT or NODE_REST (last)
    FlowNodeList body;       // statements; the one expression when has_expression_body
    FlowNodeList vars;       // every identifier node declared by `var` in it, in source order
    uint32_t id;             // dense; the program is 0, outer functions before inner ones
    uint32_t start;          // of the whole text, as Function.prototype.toString shows it
    uint32_t end;
    uint32_t body_start; // of the `{`, or of the expression of an arrow
    uint32_t length;     // the `length` property
    uint8_t kind;        // FlowFunctionKind
    bool is_async;
    bool is_generator;
    bool is_hoisted;                // declaration (or workflow block)
    bool has_expression_body;       // arrow without braces
    bool has_simple_parameters;     // identifiers only
    bool has_parameter_expressions; // defaults or computed keys
    bool has_parameter_closures;    // a function or class inside the parameters [scope.h S4]
    bool contains_await;            // directly, not in inner functions
    bool contains_yield;
    bool contains_super_call;
    bool contains_super_property; // directly or in an arrow inside: needs a home object
    // Filled by scope analysis.
    FlowScope *self_scope;      // named function expression: holds its own name; else NULL
    FlowScope *parameter_scope; // always there
    FlowScope *body_scope;      // == parameter_scope unless [scope-4]
    FlowCapture *captures;
    uint32_t capture_count;
    FlowVariable *this_variable; // NULL when neither it nor an arrow in it says `this`
    FlowVariable *new_target_variable;
    FlowVariable *home_variable;
    FlowVariable *callee_variable;
    FlowVariable *arguments_variable; // NULL when `arguments` is not used
};

struct FlowClass {
    FlowName *name;            // NULL when anonymous
    FlowNode *name_node;       // declaration: the outer binding's identifier (FLAG_DECLARES)
    FlowNode *heritage;        // NULL without `extends`
    FlowFunction *constructor; // NULL: the default one
    FlowNodeList elements;     // NODE_CLASS_ELEMENT in source order
    // What runs on each new instance, and once on the class: the fields (and static blocks) in
    // source order, after the private methods. NULL when there is nothing to do.
    FlowFunction *instance_fields; // FUNCTION_KIND_FIELDS
    FlowFunction *static_fields;   // FUNCTION_KIND_FIELDS, parent of the static blocks
    uint32_t start;
    uint32_t end;
    FlowScope *scope;                  // inner name and private names
    FlowVariable *inner_variable;      // the inner binding of `name`; NULL when not used inside
    bool has_instance_private_methods; // methods or accessors to add before the fields
    bool has_static_private_methods;
};

typedef enum FlowForm {
    FORM_BODY,      // the file is the workflow: top level is an async function body
    FORM_WORKFLOWS, // one or more `workflow name(inputs) {…}`
    FORM_DEFAULT,   // export default function
    FORM_PRELUDE,   // built-ins in our own language
} FlowForm;

typedef struct FlowEntry {  // a workflow of the file
    FlowName *name;         // NULL: named after the file
    FlowNode *node;         // NODE_WORKFLOW or NODE_EXPORT_DEFAULT; NULL for FORM_BODY
    FlowVariable *variable; // of the program's body scope, holds the function; NULL for FORM_BODY
} FlowEntry;

typedef struct FlowProgram {
    FlowFunction *main; // the top level, async: runs first, also beside workflows [tree-program-1]
    FlowForm form;
    FlowEntry *entries; // at least one, except for FORM_PRELUDE
    uint32_t entry_count;
    FlowNode *config; // NODE_OBJECT of `export const config`: literals only; NULL without
    uint32_t name_count;
    uint32_t function_count;
} FlowProgram;
//   [tree-program-1] For FORM_WORKFLOWS and FORM_DEFAULT a run evaluates `main` (declarations
//      beside the workflows) and then calls the variable of the chosen entry with the run's input.

// The statements as S-expressions, one per line, for tests and for people who debug the parser.
// With `shows_access` each name says how it is reached: x@local x@cell x@3 (capture) x@global,
// and x! when it needs a check for its initialisation.
struct Buf;
void flow_ast_print(const FlowProgram *program, bool shows_access, struct Buf *ret_text);
