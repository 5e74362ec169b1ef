// Code: what the compiler makes and the interpreter runs. Immutable once published.
//
// A FlowModule is a compiled file, a FlowRoutine a compiled function (FlowProgram and FlowFunction
// are their syntax trees, program.h). There is one FlowModule per source version, shared by every
// VM and thread that runs it. It owns its routines, constants and tables in one arena, and the
// source text for error excerpts.
//
//   [code-1] After flow_module_seal() nothing in a module changes but the reference count.
//   [code-2] String constants are atoms: interned in the module, unless the realm already has the
//        atom, so that equal keys are equal pointers within one VM (realm, module, VM: string.h).
//   [code-3] The verifier (verify.c) accepted every function before the first VM runs it: operands
//        in range, jumps on instructions, handlers nested, calls with room for their block.
//
// Registers of a frame
//   R0                 this (undefined in plain calls; arrows do not use it: see "this" below)
//   R1 .. Rn           parameters, n = parameter_count; missing arguments are undefined
//   R(n+1)             the rest array, when ROUTINE_HAS_REST
//   next               the arguments object, when ROUTINE_HAS_ARGUMENTS
//   then               locals and temporaries, in stack discipline
// The VM fills the first three groups at entry; all others start as HOLE (so let/const need no
// code to be uninitialised; `var`s need LOAD_UNDEFINED). parameter_count counts the registers
// that positional arguments land in, whatever `length` says.
//
// Call blocks: R[a] callee, R[a+1] this, R[a+2 ..] arguments.
//   [code-4] Every register above the block is dead at the call: the callee's window lies over it,
//        R0 of the callee being R[a+1] of the caller. After the call only registers below `a`,
//        and the destination, hold what they held.
//
// this, new.target, super, arguments in arrows: the compiler treats them as variables of the
// nearest function that is no arrow (`this` = R0, copied to a box when an arrow captures it), so
// the VM has no lexical this. A derived constructor keeps `this` in a local that starts as HOLE.
#pragma once
#include "base/arena.h"
#include "flow/value/value.h"
#include <stdatomic.h>

typedef struct FlowInstruction {
    uint16_t op; // FlowOp
    uint16_t a;
    union {
        struct {
            uint16_t b;
            uint16_t c;
        };
        int32_t wide; // jump distance, constant index, immediate: see opcodes.h
    };
} FlowInstruction;

enum {
    ROUTINE_ASYNC = 1 << 0,
    ROUTINE_GENERATOR = 1 << 1,
    ROUTINE_ARROW = 1 << 2,
    ROUTINE_METHOD = 1 << 3,      // method, accessor: no prototype, not a constructor
    ROUTINE_CONSTRUCTOR = 1 << 4, // class constructor: throws when called without new
    ROUTINE_DERIVED = 1 << 5,     // of a class with `extends`: `this` comes from super()
    ROUTINE_HAS_REST = 1 << 6,
    ROUTINE_HAS_ARGUMENTS = 1 << 7,
    ROUTINE_PRELUDE = 1 << 8, // written by us: hidden in stacks, may use intrinsics
    ROUTINE_FIELDS = 1 << 9,  // field initialiser or static block of a class
    ROUTINE_MODULE = 1 << 10, // the module's top level (function 0)
};

// Where a closure takes a captured variable from when it is made. What is copied is the content
// of the register (or of the maker's own upvalue): a box for variables that are assigned after
// capture, the plain value for constants (then read with LOAD_UPVALUE).
typedef struct FlowUpvalue {
    uint16_t index;
    uint8_t is_local;    // 1: register `index` of the maker; 0: upvalue `index` of the maker
    uint8_t is_box;      // 0: captured by value
    uint8_t is_settable; // as in FlowLocalName
    FlowValue name;      // atom, for errors and inspection
} FlowUpvalue;

// A named property access. Sites are numbered per function and give each access an inline cache.
typedef struct FlowSite {
    FlowValue key; // atom (never an array index: those use GET_ELEMENT)
} FlowSite;

// try: an exception raised by an instruction in [start, end) lands in R[reg], execution goes on
// at `target`. Inner handlers come first in the table; the first that covers the pc wins.
typedef struct FlowHandler {
    uint32_t start;
    uint32_t end;
    uint32_t target;
    uint16_t reg;
    uint16_t live; // registers below it are alive at the target
} FlowHandler;

typedef struct FlowLine { // sorted by pc; valid up to the next entry
    uint32_t pc;
    uint32_t line;   // from 1
    uint32_t column; // from 1, in UTF-16 units
} FlowLine;

// Source text of the callee, iterable or destructured expression, for "x.y is not a function".
typedef struct FlowDescription { // sorted by pc
    uint32_t pc;
    FlowValue text; // string
} FlowDescription;

typedef struct FlowLocalName { // for inspection: where a variable lives while pc in [start, end)
    FlowValue name;
    uint32_t start;
    uint32_t end;
    uint16_t reg;
    uint8_t is_box;
    uint8_t is_settable; // it may get another value from outside (flow/set.h); not in old images
} FlowLocalName;

typedef struct FlowTemplate { // one tagged template site; cooked may be undefined
    const FlowValue *cooked;
    const FlowValue *raw;
    uint32_t count;
} FlowTemplate;

struct FlowRoutine {
    const FlowModule *module;
    const FlowInstruction *code;
    const FlowValue *constants;
    const FlowSite *sites;
    const FlowUpvalue *upvalues;
    const FlowHandler *handlers;
    const FlowLine *positions;
    const FlowLine *statements; // where each begins, for debuggers; NULL: read from an image
    const FlowDescription *descriptions;
    const FlowLocalName *variables;
    const FlowTemplate *templates;
    FlowValue name; // atom; the static `name` property ("" when anonymous)
    uint32_t index; // in module->routines
    uint32_t code_count;
    uint32_t constant_count;
    uint32_t handler_count;
    uint32_t position_count;
    uint32_t statement_count;
    uint32_t description_count;
    uint32_t variable_count;
    uint32_t template_count;
    uint32_t flags;        // ROUTINE_*
    uint32_t source_start; // byte range of the source text, for toString
    uint32_t source_end;
    uint32_t site_base; // first inline cache number within the module
    uint16_t site_count;
    uint16_t upvalue_count;
    uint16_t register_count; // R0 .. R[register_count-1]; at least 1 + parameter_count
    uint16_t parameter_count;
    uint16_t length; // the `length` property
};

typedef struct FlowWorkflow {
    Str name;                // UTF-8, in the module's arena
    Str config_json;         // the config literal as JSON; null when there is none
    const struct Mask *mask; // what nobody is shown of its data (json/mask.h); NULL: all is shown
    uint32_t line;
} FlowWorkflow;

// routines[0] is the top level: an async function of (inputs, workflow_index). It runs the top
// level statements and then, for files of `workflow` blocks or a default export, returns
// `await chosen(inputs)`. Single-body files ignore both arguments (Inputs is a global).
struct FlowModule {
    atomic_uint reference_count;
    Arena arena; // owns everything below
    Str file_name;
    Str source;            // UTF-8
    char hash[65];         // SHA-256 of the source, hexadecimal: the code version
    FlowRoutine *routines; // dense, indexed by FlowRoutine.index
    uint32_t routine_count;
    FlowWorkflow *workflows;
    uint32_t workflow_count;
    uint32_t site_count;     // inline caches of all functions together
    struct FlowAtoms *atoms; // [code-2]
    FlowString **strings;    // those the code mentions, in order of first use (code_index.c)
    uint32_t *string_slots;  // 1 + index in `strings`, by hash of the content
    uint32_t string_count;
    uint32_t string_capacity; // of string_slots, a power of two
    uint32_t code_checksum;   // of what the compiler made: pcs and registers rely on it
    bool is_prelude;
    bool is_sealed;
};

// --- making modules (compiler)
// A module under construction; strings and numbers it hands out live as long as it does.
FlowModule *flow_module_new(Str file_name, Str source, bool is_prelude);
FlowModule *flow_module_retain(FlowModule *module);
void flow_module_release(FlowModule *module); // NULL is fine
void flow_module_seal(FlowModule *module);    // numbers the sites; nothing changes after it
void flow_module_index(FlowModule *module);   // part of sealing: strings and checksum
// The number of the string with these units in module->strings; UINT32_MAX when it has none.
uint32_t flow_module_string_number(const FlowModule *module, FlowString *flat);
// Interned string constants. The UTF-8 form accepts WTF-8 (lone surrogates as three bytes).
FlowValue flow_module_string(FlowModule *module, Str utf8);
FlowValue flow_module_string_utf16(FlowModule *module, const uint16_t *units, size_t count);
// A BigInt constant from its magnitude, little-endian 32-bit digits without leading zeros.
FlowValue flow_module_bigint(FlowModule *module, const uint32_t *digits, size_t count);

// --- looking at functions
const FlowLine *flow_routine_position(const FlowRoutine *routine, uint32_t pc);   // or NULL
FlowValue flow_routine_description(const FlowRoutine *routine, uint32_t pc);      // or HOLE
const FlowHandler *flow_routine_handler(const FlowRoutine *routine, uint32_t pc); // or NULL
// An index into the prelude routine by name; UINT32_MAX when there is none.
uint32_t flow_module_find_routine(const FlowModule *module, Str name);
