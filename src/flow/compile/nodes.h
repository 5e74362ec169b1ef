// What each form of the tree compiles to: the functions the files of the compiler call each other
// by. State, registers and emission are in compile/internal.h.
//
// `dst` is the register that shall hold the value; NO_REGISTER, where it is allowed, means that
// nobody wants it. Functions put c->top back where they found it, unless they answer a register.
#pragma once
#include "flow/compile/internal.h"

// --- compile/expression.c
void compile_expression(FlowCompiler *c, FlowNode *node, Register dst); // [compile-internal-1]
Register compile_any(FlowCompiler *c, FlowNode *node);
// As compile_any, but what `later` does cannot change the value.
Register compile_stable(FlowCompiler *c, FlowNode *node, const FlowNode *later);
Register compile_next(FlowCompiler *c, FlowNode *node); // into a new temporary
void compile_discard(FlowCompiler *c, FlowNode *node);  // for its effects only
// Gives an anonymous function or class its name.
void compile_named(FlowCompiler *c, FlowNode *node, FlowValue name, Register dst);
bool node_is_anonymous_function(const FlowNode *node);

// --- compile/operator.c
void compile_unary(FlowCompiler *c, FlowNode *node, Register dst);
void compile_binary(FlowCompiler *c, FlowNode *node, Register dst);
void compile_binary_chain(FlowCompiler *c, FlowNode *node, Register dst);
void compile_logical(FlowCompiler *c, FlowNode *node, Register dst);
typedef struct Arithmetic {
    FlowOperator op;
    Register left;
    FlowNode *right;
    uint32_t at;
} Arithmetic;
void compile_arithmetic(FlowCompiler *c, Arithmetic what, Register dst);
void compile_condition(FlowCompiler *c, FlowNode *node, bool sense, JumpList *list);
bool node_may_assign(const FlowNode *node, const FlowVariable *variable);

// --- compile/assign.c, compile/pattern.c
void compile_assign(FlowCompiler *c, FlowNode *node, Register dst); // dst may be NO_REGISTER
void compile_update(FlowCompiler *c, FlowNode *node, Register dst); // dst may be NO_REGISTER
typedef struct Place { // an assignment target whose parts have been evaluated
    FlowNode *node;
    Register object; // member, index, private: the object; super: block of home, key, this
    Register key;
} Place;
Place place_prepare(FlowCompiler *c, FlowNode *target, const FlowNode *later);
void place_store(FlowCompiler *c, const Place *place, Register value);
typedef enum PatternMode { PATTERN_ASSIGN, PATTERN_DECLARE } PatternMode;
typedef struct PatternSource { // what is taken apart
    Register value;
    const FlowNode *node; // its text, for messages; NULL when there is none
    FlowValue text;       // used in its place; HOLE: none
    bool is_nested;       // an item of another pattern
} PatternSource;
void compile_pattern(FlowCompiler *c, FlowNode *target, PatternSource source, PatternMode mode);
void compile_declarator(FlowCompiler *c, FlowNode *node, FlowVariableKind kind);

// --- compile/member.c
void compile_member(FlowCompiler *c, FlowNode *node, Register dst);
void compile_member_of(FlowCompiler *c, FlowNode *node, Register object, Register dst);
void compile_optional_chain(FlowCompiler *c, FlowNode *node, Register dst);
void compile_delete(FlowCompiler *c, FlowNode *node, Register dst);
void compile_super_block(FlowCompiler *c, FlowNode *node, Register block);
void emit_get_field(FlowCompiler *c, Register dst, Register object, const FlowName *name);
void emit_set_field(FlowCompiler *c, Register object, Register value, const FlowName *name);

// --- compile/call.c
void compile_call(FlowCompiler *c, FlowNode *node, Register dst);
void compile_new(FlowCompiler *c, FlowNode *node, Register dst);
void compile_super_call(FlowCompiler *c, FlowNode *node, Register dst);
void compile_tagged(FlowCompiler *c, FlowNode *node, Register dst);
void compile_template(FlowCompiler *c, FlowNode *node, Register dst);
void compile_intrinsic(FlowCompiler *c, FlowNode *node, Register dst);

// --- compile/object.c, compile/class.c, compile/function.c
void compile_array(FlowCompiler *c, FlowNode *node, Register dst);
void compile_array_items(FlowCompiler *c, const FlowNodeList *list, Register array, bool is_call);
void compile_object(FlowCompiler *c, FlowNode *node, Register dst);
typedef struct PropertyKey {
    FlowValue name; // string key known now; HOLE otherwise
    uint32_t index; // array index, when is_index
    bool is_index;
    bool is_dynamic; // computed: in a register
} PropertyKey;
PropertyKey property_key(FlowCompiler *c, const FlowNode *key, bool is_computed);
FlowValue property_key_text(FlowCompiler *c, const PropertyKey *key);
void emit_property_key(FlowCompiler *c, const PropertyKey *key, Register dst);
FlowValue name_with_prefix(FlowCompiler *c, const char *prefix, FlowValue name);
void compile_class(FlowCompiler *c, FlowClass *definition, FlowValue name, Register dst);
void compile_fields(FlowCompiler *c, const Pending *pending);
void compile_default_constructor(FlowCompiler *c, const Pending *pending);
void compile_closure(FlowCompiler *c, FlowFunction *function, FlowValue name, Register dst);
void compile_routine(FlowCompiler *c, const Pending *pending);
void emit_init_fields(FlowCompiler *c, Register this_value);
void emit_return(FlowCompiler *c, Register value);

// --- compile/statement.c, compile/loop.c, compile/try.c
void compile_statement(FlowCompiler *c, FlowNode *node);
void compile_statements(FlowCompiler *c, const FlowNodeList *list);
void compile_return_value(FlowCompiler *c, FlowNode *node); // from a function without clean-up
void compile_for(FlowCompiler *c, FlowNode *node);
void compile_for_in(FlowCompiler *c, FlowNode *node);
void compile_for_of(FlowCompiler *c, FlowNode *node);
void compile_while(FlowCompiler *c, FlowNode *node);
void compile_do_while(FlowCompiler *c, FlowNode *node);
void compile_try(FlowCompiler *c, FlowNode *node);
void control_begin(FlowCompiler *c, Control *control, ControlKind kind, const FlowNode *target);
void control_end(FlowCompiler *c, Control *control);
// Ends the protected region; exceptions in it arrive in `reg` at the next instruction.
void control_catch(FlowCompiler *c, Control *control, Register reg);
void control_exit(FlowCompiler *c, Exit way, Register value);
void iterator_close(FlowCompiler *c, const Control *control);
void iterator_rethrow(FlowCompiler *c, const Control *control, Register error);

// --- compile/yield.c, compile/describe.c, compile/config_literal.c
void compile_await(FlowCompiler *c, FlowNode *node, Register dst);
void emit_await(FlowCompiler *c, Register dst, Register src, uint32_t at);
void compile_yield(FlowCompiler *c, FlowNode *node, Register dst);
FlowValue describe_node(FlowCompiler *c, const FlowNode *node);
FlowValue describe_callee(FlowCompiler *c, const FlowNode *call);
FlowValue describe_iterated(FlowCompiler *c, const FlowNode *node); // what an iterator is made of
Str config_json(Arena *arena, const FlowNode *object);
// Reports every fault of `config` by the table in config.h.
void config_check(const FlowNode *object, Arena *arena, FlowReport *report);
