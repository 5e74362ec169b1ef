// What the parts of the parser share: the state, the tokens, the ways to complain.
//
// Errors without longjmp: parse_panic reports, then makes the parser believe that the text has
// ended. Every loop of the parser ends at TOKEN_END, so it unwinds by itself up to the innermost
// statement list, which moves back to the error and skips to where a statement may begin.
//   [parser-internal-1] While is_panicking nothing is reported and no token is read.
//   [parser-internal-2] Every parse function answers a node, also after an error.
//   [parser-internal-3] Errors that leave the structure intact (parse_error) do not panic.
// Cover grammar: `(a, b)` and `{a, b}` are read as expressions and turned into patterns when
// `=>`, `=` or `of` follows; every node is turned at most once, so time stays linear.
#pragma once
#include "base/assert.h"
#include "base/containers/vec.h"
#include "flow/lexer/lexer.h"
#include "flow/parser/parse.h"

enum { OFFSET_NONE = UINT32_MAX };

// What break and continue may name; lives on the C stack of the statement that it stands for.
typedef struct FlowTarget {
    struct FlowTarget *outer;
    FlowName *label; // NULL: the loop or switch itself
    FlowNode *node;
    FlowNode *loop;      // a label: the loop it stands before, NULL when it is none
    uint32_t body_start; // a label: where the statement after it begins
    bool is_loop;
} FlowTarget;

typedef struct FlowFunctionContext { // one per function being parsed, on the C stack
    struct FlowFunctionContext *outer;
    FlowFunction *function;
    FlowTarget *targets;
    size_t var_mark;        // where its names begin in FlowParser.vars
    uint32_t last_await_at; // of the enclosing function, while this one is parsed
    uint32_t last_yield_at;
    bool is_async;
    bool is_generator;
    bool is_in_parameters;
    bool allows_super_call;
    bool allows_super_property;
    bool allows_new_target;
    bool refuses_arguments; // field initializers and static blocks, and arrows in them
    bool is_static_block;   // directly, or an arrow in one: await is reserved
    bool was_in_allowed;
} FlowFunctionContext;

typedef struct FlowParser {
    FlowLexer lexer;
    FlowToken token;       // the current one
    uint32_t previous_end; // end of the token before it
    Arena *arena;
    FlowReport *report;
    FlowNames names;
    FlowParseMode mode;
    FlowFunctionContext *context;
    uint32_t depth;       // of the recursive descent, up to FLOW_NESTING_MAX
    uint32_t height;      // of member and operator chains below: see parse_height_*
    uint32_t block_depth; // statement lists that end with a brace
    uint32_t function_count;
    uint32_t arrow_at;      // where an arrow function may begin: start of an assignment expression
    FlowNode *arrow;        // the arrow function just parsed: no operator may follow it
    uint32_t cover_at;      // `=` of a shorthand with initializer that waits to become a pattern
    uint32_t proto_at;      // second __proto__ of an object that may yet become a pattern
    uint32_t last_await_at; // of the last await expression of this function, OFFSET_NONE
    uint32_t last_yield_at;
    uint32_t template_depth; // substitutions `${…}` around the current token
    uint32_t error_at;       // where the panic began
    uint32_t error_template_depth;
    bool is_error_lexical; // the offending token was malformed: its line is lost, the next is not
    bool is_panicking;     // [parser-internal-1]
    bool is_in_allowed;    // `in` is an operator here
    uint8_t binding_kind;  // FlowVariableKind of the pattern being parsed
    bool is_binding_async; // parameters of an async arrow: no `await` among them
    FlowNode *nodes;       // block of nodes to hand out
    uint32_t nodes_left;
    VEC(FlowNode *) stack; // items of the lists being parsed
    VEC(FlowNode *) vars;  // var names of the functions being parsed
    VEC(FlowChainLink) links;
    VEC(FlowTemplatePart) parts;
    // Top level.
    uint32_t top_return_at;
    uint32_t top_await_at;
    FlowNode *config;
    VEC(FlowEntry) entries;
    FlowForm form;
} FlowParser;

// ---- tokens (parse.c)
static inline void parse_next(FlowParser *p) {
    p->previous_end = p->token.end;
    flow_lexer_next(&p->lexer, &p->token);
}
static inline bool parse_accept(FlowParser *p, FlowTokenKind kind) {
    if (p->token.kind != kind) return false;
    parse_next(p);
    return true;
}
void parse_expect(FlowParser *p, FlowTokenKind kind); // panics when it is another
void parse_semicolon(FlowParser *p);                  // or where one may be left out
FlowToken parse_peek(FlowParser *p);                  // the token after the current one
bool parse_is_identifier(const FlowParser *p);        // the current token may be a binding's name

// ---- errors (parse.c)
void parse_error(FlowParser *p, const FlowFinding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void parse_error_node(FlowParser *p, const FlowNode *node, FlowCode code, const char *message);
// Report at the current token and panic.
void parse_panic(FlowParser *p, FlowCode code, const char *message, const char *hint);
void parse_unexpected(FlowParser *p);
void parse_stop(FlowParser *p); // panic without a word
void parse_recover(FlowParser *p, uint32_t statement_start);
bool parse_enter(FlowParser *p); // one level deeper; false: too deep, and panics
static inline void parse_leave(FlowParser *p) { p->depth--; }

// ---- nodes
FlowNode *parse_nodes_refill(FlowParser *p);
static inline FlowNode *parse_node(FlowParser *p, FlowNodeKind kind, uint32_t start) {
    FlowNode *node = p->nodes_left > 0 ? p->nodes++ : parse_nodes_refill(p);
    p->nodes_left--;
    node->kind = (uint8_t)kind;
    node->start = node->at = start;
    node->end = p->previous_end;
    return node;
}
static inline FlowNode *parse_unary_node(FlowParser *p, FlowNodeKind kind, uint32_t start,
                                         FlowNode *operand) {
    FlowNode *node = parse_node(p, kind, start);
    node->unary.operand = operand;
    return node;
}
static inline size_t parse_list_begin(const FlowParser *p) { return p->stack.count; }
static inline void parse_list_push(FlowParser *p, FlowNode *node) { vec_push(&p->stack, node); }
FlowNodeList parse_list_end(FlowParser *p, size_t mark);
// Height of the tree: of the items of a list the highest counts, all else adds up.
static inline uint32_t parse_height_begin(FlowParser *p) {
    uint32_t height = p->height;
    p->height = 0;
    return height;
}
static inline void parse_height_end(FlowParser *p, uint32_t before) {
    if (p->height < before) p->height = before;
}
void parse_height_add(FlowParser *p); // one link more; panics above FLOW_CHAIN_MAX

// ---- expressions
FlowNode *parse_expression(FlowParser *p);       // with commas
FlowNode *parse_assignment(FlowParser *p);       // without
FlowNode *parse_assignment_cover(FlowParser *p); // may leave cover_at, proto_at to the caller
void parse_check_cover(FlowParser *p);           // reports and clears them
FlowNode *parse_left_hand_side(FlowParser *p);   // members and calls
FlowNode *parse_primary(FlowParser *p);
FlowNode *parse_template(FlowParser *p, bool is_tagged);
FlowNode *parse_object(FlowParser *p);
FlowNodeList parse_arguments(FlowParser *p, bool is_cover); // at the `(`
bool parse_is_simple_target(const FlowNode *node);
void parse_check_simple_target(FlowParser *p, const FlowNode *node, const char *message);
bool parse_is_arrow_next(const FlowParser *p); // `=>` on the same line

// A property or element key. Sets *ret_is_computed. Private names only when `allows_private`.
FlowNode *parse_key(FlowParser *p, bool allows_private, bool *ret_is_computed);

// ---- patterns
FlowNode *parse_binding_target(FlowParser *p);  // identifier or pattern, of binding_kind
FlowNode *parse_binding_element(FlowParser *p); // with a default
FlowNode *parse_binding_identifier(FlowParser *p);
void parse_to_pattern(FlowParser *p, FlowNode *node, bool is_binding);

// ---- functions and classes
typedef struct FlowFunctionHead {
    FlowFunctionKind kind;
    bool is_async;
    bool is_generator;
    bool is_hoisted;
    uint32_t start;
    FlowName *name;
    FlowNode *name_node;
} FlowFunctionHead;
FlowFunction *parse_function_rest(FlowParser *p, const FlowFunctionHead *head); // at the `(`
FlowNode *parse_function_expression(FlowParser *p, uint32_t start, bool is_async);
FlowNode *parse_function_declaration(FlowParser *p, uint32_t start, bool is_async);
typedef struct FlowArrowHead {
    uint32_t start;
    bool is_async;
    FlowNodeList parameters;   // expressions yet
    uint32_t functions_before; // function_count when the parameters began
} FlowArrowHead;
FlowNode *parse_arrow(FlowParser *p, const FlowArrowHead *head); // at the `=>`
FlowNode *parse_class(FlowParser *p, bool is_declaration);
FlowFunction *parse_function_new(FlowParser *p, FlowFunctionKind kind, uint32_t start);
void parse_context_begin(FlowParser *p, FlowFunctionContext *context, FlowFunction *function);
void parse_context_end(FlowParser *p, FlowFunctionContext *context);

// ---- statements
FlowNode *parse_statement(FlowParser *p);      // where no declaration may stand
FlowNode *parse_statement_item(FlowParser *p); // a statement or declaration
FlowNodeList parse_statement_list(FlowParser *p, FlowTokenKind terminator);
FlowNode *parse_variables(FlowParser *p, bool is_for_head); // at let, const, var; no semicolon
FlowNode *parse_loop(FlowParser *p);                        // for, while, do
FlowNode *parse_switch(FlowParser *p);
FlowNode *parse_jump(FlowParser *p);                     // break, continue
FlowNode *parse_labeled(FlowParser *p, FlowNode *label); // at the colon
void parse_push_directives(FlowParser *p);               // the directive prologue, if any
FlowNodeList parse_function_statements(FlowParser *p);   // with directives, up to the `}`

// ---- top level
FlowProgram *parse_program(FlowParser *p);
