// What the files of the compiler share.
//
// The tree is walked once per function; inner functions wait in a queue until the outer one is
// done, so the state below always belongs to one function. Registers are handed out like a stack:
// variables when their scope is entered, temporaries above them.
//
//   [compile-internal-1] An expression compiled into a destination writes it last: a variable keeps
//        its old value until the whole expression has been evaluated. A destination that is a
//        temporary may be written earlier.
//   [compile-internal-2] c->top is the number of registers in use. Whoever takes temporaries puts
//        it back.
//   [compile-internal-3] A call block lies at the top (code.h [code-4]): nothing in use is above
//        it.
//   [compile-internal-4] A function whose NEAR jumps do not reach is compiled a second time with
//        far jumps. The second time allocates the same registers, so inner functions notice
//        nothing.
#pragma once
#include "base/containers/vec.h"
#include "flow/code/opcodes.h"
#include "flow/compile/compile.h"

typedef uint32_t Register;
enum {
    REGISTER_MAX = 65000, // registers of one function, with room for call blocks
    SITE_MAX = 60000,     // beyond it named properties are accessed as elements
    NEAR_MAX = 32000,     // distance of a NEAR jump
    NO_REGISTER = 0xFFFFFFFF,
    NO_OFFSET = 0xFFFFFFFF,
    DESCRIPTION_MAX = 80, // bytes of a FlowDescription
};

typedef struct JumpList { // jumps that wait for their target
    uint32_t head;        // 1 + index into c->jumps; 0: none
} JumpList;

typedef enum ExitKind { EXIT_RETURN, EXIT_BREAK, EXIT_CONTINUE } ExitKind;

typedef struct Exit { // a way out through a finally block
    struct Exit *next;
    ExitKind kind;
    const FlowNode *target;
    int32_t number; // value of the completion register
} Exit;

typedef enum ControlKind {
    CONTROL_LABEL,    // labelled statement or switch: may be left by break
    CONTROL_LOOP,     // may be left by break and continue
    CONTROL_ITERATOR, // for-of, array pattern: the iterator is closed on the way out
    CONTROL_CATCH,    // protected by a catch clause
    CONTROL_FINALLY,  // protected by a finally block
} ControlKind;

// What a jump out of a statement must pass, innermost first.
typedef struct Control {
    struct Control *outer;
    const FlowNode *target; // the statement that break and continue name; NULL: none
    ControlKind kind;
    bool is_async;   // ITERATOR: of for await
    Register record; // ITERATOR: 3 registers; FINALLY: completion kind and value
    JumpList breaks;
    JumpList continues;
    JumpList entries; // FINALLY: jumps to the finally block
    Exit *exits;      // FINALLY
    int32_t exit_count;
    uint32_t region_start; // first instruction its handler covers
    uint32_t gap_base;     // gaps of this region are at or above it in c->gaps
    uint32_t gap_start;    // while an exit is being emitted
} Control;

typedef struct Gap { // instructions that a region's handler does not cover
    const Control *owner;
    uint32_t start;
    uint32_t end;
} Gap;

typedef enum PendingKind {
    PENDING_FUNCTION,
    PENDING_DEFAULT_CONSTRUCTOR, // function is NULL
    PENDING_FIELDS,
} PendingKind;

typedef struct ExtraUpvalue { // a private method that a field routine needs besides its captures
    Register source;          // register of the maker
    FlowNode *element;
} ExtraUpvalue;

typedef struct Pending { // a routine that waits to be compiled
    PendingKind kind;
    FlowFunction *function;
    FlowClass *class_definition; // constructors and PENDING_FIELDS
    FlowValue name;
    uint32_t index;  // of the routine
    bool is_static;  // PENDING_FIELDS
    bool has_fields; // constructors: the class has instance_fields
    ExtraUpvalue *extras;
    uint32_t extra_count;
} Pending;

typedef struct OptionalChain { // where ?. goes when it finds nullish
    struct OptionalChain *outer;
    JumpList exits;
} OptionalChain;

typedef struct PositionNote {
    uint32_t pc;
    uint32_t offset;
} PositionNote;

typedef struct NameCache {   // per FlowName.id
    FlowValue atom;          // HOLE: not yet asked for
    uint32_t constant_stamp; // the function in which constant_index is valid
    uint32_t constant_index;
    uint32_t site_stamp; // the same for the shared site of a global
    uint32_t site_index;
    FlowVariable *prelude; // the prelude function of that name; NULL: none
} NameCache;

typedef struct FlowCompiler {
    const FlowProgram *program;
    const FlowSource *source;
    FlowReport *report;
    Arena *arena; // lives as long as the compilation
    FlowModule *module;
    NameCache *names;
    VEC(Pending) queue;
    uint32_t routine_count; // indices handed out
    VEC(FlowRoutine) routines;
    bool has_failed;
    bool is_prelude;
    bool is_ascii; // the whole source: columns need no counting
    // The function being compiled.
    const Pending *pending;
    FlowFunction *function; // NULL for synthetic ones
    Register top;           // [compile-internal-2]
    Register max_top;
    uint32_t stamp; // changes with each function
    bool is_far;    // [compile-internal-4]
    bool needs_far;
    Control *control;
    OptionalChain *chain;
    const FlowNode *iterated; // the expression whose value is iterated next
    VEC(FlowInstruction) code;
    VEC(FlowValue) constants;
    VEC(FlowSite) sites;
    VEC(FlowHandler) handlers;
    VEC(PositionNote) positions;
    VEC(PositionNote) statements; // where each begins
    VEC(FlowDescription) descriptions;
    VEC(FlowLocalName) variables;
    VEC(FlowTemplate) templates;
    VEC(PositionNote) jumps; // pc, next
    VEC(Gap) gaps;
    VEC(uint8_t) is_variable; // by register: holds a variable [compile-internal-1]
    struct {                  // constants by bits, open addressing
        uint32_t *slots;      // stamp and index interleaved
        uint32_t capacity;
        uint32_t count;
    } constant_table;
    // Cache of compile_position.
    uint32_t last_line; // from 0
    uint32_t last_offset;
    uint32_t last_column;
} FlowCompiler;

// --- compile/emit.c
uint32_t emit_here(const FlowCompiler *c);
uint32_t emit_abc(FlowCompiler *c, FlowOp op, uint32_t a, uint32_t b, uint32_t cc);
uint32_t emit_wide(FlowCompiler *c, FlowOp op, uint32_t a, int32_t wide);
void emit_position(FlowCompiler *c, uint32_t offset);         // of the next instruction
void emit_statement(FlowCompiler *c, const FlowNode *node);   // one begins here
void emit_description(FlowCompiler *c, const FlowNode *node); // of the next instruction
void emit_description_text(FlowCompiler *c, FlowValue text);
void emit_move(FlowCompiler *c, Register to, Register from); // nothing when they are the same
void emit_jump(FlowCompiler *c, JumpList *list);
void emit_jump_if(FlowCompiler *c, FlowOp op, Register reg, JumpList *list);
// A jump with a NEAR distance; `op` is one of the fused comparisons.
void emit_compare(FlowCompiler *c, FlowOp op, uint32_t a, uint32_t b, JumpList *list);
void emit_jump_back(FlowCompiler *c, uint32_t target);
void jump_add(FlowCompiler *c, JumpList *list, uint32_t pc);
void jump_patch(FlowCompiler *c, JumpList *list, uint32_t target);
void jump_patch_here(FlowCompiler *c, JumpList *list);
void compile_limit(FlowCompiler *c, uint32_t offset, const char *what);

// --- compile/unit.c
FlowPosition compile_position(FlowCompiler *c, uint32_t offset);
FlowRoutine *compile_routine_slot(FlowCompiler *c, uint32_t index);

// --- compile/constant.c
uint32_t constant_index(FlowCompiler *c, FlowValue value);
uint32_t constant_short(FlowCompiler *c, FlowValue value); // for 16-bit operands
FlowValue name_atom(FlowCompiler *c, const FlowName *name);
uint32_t name_constant(FlowCompiler *c, const FlowName *name);
uint32_t site_new(FlowCompiler *c, FlowValue key); // NO_REGISTER when there are too many
uint32_t site_global(FlowCompiler *c, const FlowName *name);
void emit_constant(FlowCompiler *c, FlowValue value, Register dst);
bool text_is_index(Str text, uint32_t *ret_index); // canonical array index
// The value of a literal, with folding of operators on literals. False: not a constant.
bool constant_of(FlowCompiler *c, const FlowNode *node, FlowValue *ret_value);
bool node_is_short_int(const FlowNode *node, int32_t *ret_value); // fits an immediate

// --- compile/variable.c
Register register_new(FlowCompiler *c); // a temporary
Register register_block(FlowCompiler *c, uint32_t count);
Register register_scratch(FlowCompiler *c, Register dst); // dst, or a temporary when a variable
bool variable_is_boxed(const FlowVariable *variable);
// Whether giving it another value from outside reaches all code that reads it, and is no breach of
// what the script says: no const, and not captured by value.
bool variable_is_settable(const FlowVariable *variable);
bool variable_is_prelude(const FlowCompiler *c, const FlowVariable *variable);
void variable_declare(FlowCompiler *c, FlowVariable *variable); // takes a register
void scope_enter(FlowCompiler *c, FlowScope *scope);
void scope_enter_variables(FlowCompiler *c, FlowScope *scope);
void scope_renew(FlowCompiler *c, FlowScope *scope); // next iteration: fresh bindings
void scope_leave(FlowCompiler *c, FlowScope *scope, Register mark, uint32_t start_pc);
uint32_t upvalue_index(const FlowCompiler *c, const FlowFunction *function, uint32_t capture);
typedef struct Use { // a name at a place of the source
    const FlowReference *to;
    const FlowName *name;
    uint32_t at;
} Use;
void variable_load(FlowCompiler *c, Use use, Register dst);
// The register that holds it now, or a new temporary.
Register variable_any(FlowCompiler *c, Use use);
void variable_store(FlowCompiler *c, Use use, Register value);
void variable_initialize(FlowCompiler *c, Use use, Register value);
// The register an initialisation may compute into; NO_REGISTER: compute elsewhere, then store.
Register variable_target(FlowCompiler *c, Use use, bool is_declaration);
FlowVariable *prelude_function(const FlowCompiler *c, const FlowName *name); // or NULL
void compile_this(FlowCompiler *c, const FlowReference *to, uint32_t at, Register dst);
static inline Use use_of(const FlowNode *node) {
    return (Use){&node->reference.to, node->reference.name, node->at};
}
