// What the files of the move share. Begin with move.h.
#pragma once
#include "base/containers/vec.h"
#include "flow/code/opcodes.h"
#include "flow/move/move.h"
#include "flow/snapshot/rewrite.h"
#include "flow/vm/vm.h"

#define MOVE_NONE   UINT32_MAX
#define MOVE_ENTRY  UINT32_MAX // in MoveDefinitions: a register as the call filled it
#define MOVE_CAUGHT (1u << 31) // in MoveDefinitions, with the pc of a handler: what it caught
enum {
    MOVE_DEFINITIONS_MAX = 8,
    MOVE_DEPTH_MAX = 24,   // of expressions that are compared
    MOVE_PARTS_MAX = 2000, // of one of them
    MOVE_LABEL_MAX = 64,
};

// --- code.c: what instructions do to registers
typedef struct MoveCode {
    const FlowRoutine *routine;
    uint32_t *sources; // pcs of jumps, grouped by their target
    uint32_t *first;   // where the group of a target begins; code_count + 1 of them
    uint32_t *visited; // the walk that saw a pc last
    uint32_t *stack;   // of a walk
    uint32_t walk;     // number of the walk
} MoveCode;

typedef struct MoveDefinitions { // instructions whose result a register may hold at a place
    uint32_t pcs[MOVE_DEFINITIONS_MAX];
    uint32_t count;
    bool is_too_many;
} MoveDefinitions;

// Registers [first, first + count) that an instruction reads as a block.
typedef struct MoveBlock {
    uint32_t first;
    uint32_t count;
} MoveBlock;
MoveBlock move_code_block(const FlowRoutine *routine, uint32_t pc);

MoveCode *move_code_new(Arena *arena, const FlowRoutine *routine);
bool move_code_reads(const FlowRoutine *routine, uint32_t pc, uint32_t reg);
// Whether a function that goes on at the suspended `pc` may read what `reg` holds now.
bool move_code_is_live(MoveCode *code, uint32_t pc, uint32_t reg);
typedef struct MoveAt { // a register at a place
    uint32_t pc;
    uint32_t reg;
    uint32_t floor; // where its scope begins: what was before is not it. 0: the function
} MoveAt;
void move_code_definitions(MoveCode *code, MoveAt at, MoveDefinitions *ret);
// The same for the content of the box in the register: NEW_BOX, NEW_BOX_VALUE, SET_BOX.
void move_code_contents(MoveCode *code, MoveAt at, MoveDefinitions *ret);
bool move_code_is_in_loop(const MoveCode *code, uint32_t pc);

// --- versions
typedef struct MovePlace {
    uint32_t pc;
    uint32_t op;
    uint32_t other; // index of the same place in the other version; MOVE_NONE
    uint64_t exact; // the awaited expression
    uint64_t rough; // what is called, without its options
    uint64_t after; // what follows it
    Str label;      // null: none
    bool is_ambiguous;
} MovePlace;

typedef struct MoveRoutine {
    MoveCode *code;    // made when first needed
    uint32_t parent;   // MOVE_NONE: the top level, or code that makes no function of it
    uint32_t made_at;  // the CLOSURE in the parent
    uint32_t other;    // the same function in the other version; MOVE_NONE
    uint64_t body;     // hash
    MovePlace *places; // by pc; made when the functions are paired
    uint32_t place_count;
} MoveRoutine;

typedef struct MoveRename { // of a function
    FlowValue from;
    FlowValue to;
} MoveRename;

typedef struct MoveSide { // one version
    FlowModule *module;
    MoveRoutine *routines;
    uint32_t *lines; // where they begin in the source
    uint32_t line_count;
    bool is_new;
} MoveSide;

struct FlowMove {
    Arena arena;
    MoveSide from;
    MoveSide to;
    VEC(MoveRename) renames;
    int64_t place; // of the last snapshot that was moved
};

MoveCode *move_side_code(FlowMove *move, MoveSide *side, uint32_t routine);
bool move_name_same(FlowValue a, FlowValue b); // strings of different modules
// The name that a variable of the new code had in the old one.
FlowValue move_old_name(const FlowMove *move, const MoveSide *side, FlowValue name);
// The variable that `reg` holds at `pc`, or NULL.
const FlowLocalName *move_variable_at(const FlowRoutine *routine, uint32_t pc, uint32_t reg);

// --- symbol.c: expressions as numbers that are equal in both versions
uint64_t move_symbol_register(FlowMove *move, MoveSide *side, uint32_t routine, uint32_t pc,
                              uint32_t reg);
void move_symbol_place(FlowMove *move, MoveSide *side, uint32_t routine, MovePlace *place);
uint64_t move_symbol_body(const FlowRoutine *routine);

// --- side.c
void move_side_init(FlowMove *move, MoveSide *side, FlowModule *module);
void move_side_places(FlowMove *move, MoveSide *side, uint32_t routine);

// --- pair.c
void move_pair(FlowMove *move);
MovePlace *move_place_find(MoveSide *side, uint32_t routine, uint32_t pc);

// --- initial.c: what the new code is certain to have given a variable or an operand
typedef enum MoveInitialKind {
    INITIAL_UNKNOWN,
    INITIAL_HOLE, // not initialised yet
    INITIAL_VALUE,
    INITIAL_FUNCTION, // a function object of routine `routine`
} MoveInitialKind;

typedef struct MoveInitial {
    MoveInitialKind kind;
    bool may_be_hole; // UNKNOWN: there is a way here without an initialisation
    FlowValue value;
    uint32_t routine;
} MoveInitial;
// `variable` is NULL for operands.
MoveInitial move_initial(FlowMove *move, uint32_t routine, MoveAt at,
                         const FlowLocalName *variable);
// The function and register that an upvalue comes from.
typedef struct MoveOrigin {
    uint32_t routine;
    uint32_t reg;
    uint32_t made_at; // the CLOSURE in that function
} MoveOrigin;
MoveOrigin move_origin(const MoveSide *side, uint32_t routine, uint32_t upvalue);

// --- one snapshot
typedef struct MoveFrame { // a suspended function
    FlowCoroutine *coroutine;
    uint32_t routine;     // old
    uint32_t new_routine; //
    uint32_t pc;          // old
    uint32_t new_pc;
    uint32_t count;    // registers of the new routine
    FlowValue *values; // by new register
    uint8_t *is_known; // values[i] is set
} MoveFrame;

typedef struct MoveClosure {
    FlowClosure *closure;
    FlowValue *upvalues; // by new number
} MoveClosure;

typedef struct MoveMade { // a function object that the new code has made before this place
    FlowClosure *closure;
    MoveFrame *frame;
} MoveMade;

typedef struct MoveRun {
    FlowMove *move;
    FlowVm *vm;
    Arena arena;
    VEC(MoveFrame *) frames;
    VEC(MoveClosure) closures; // ascending by address
    VEC(MoveMade) made;
    Diag *diag;
    bool is_refused; // diag says why
} MoveRun;

// The first reason sticks. Answers false.
bool move_refuse(MoveRun *run, const MoveFrame *frame, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *move_text(MoveRun *run, FlowValue name); // a name for messages
// What the new register `reg` holds at the frame's place (frame.c). False: refused.
bool move_frame_register(MoveRun *run, MoveFrame *frame, uint32_t reg, FlowValue *ret);
bool move_frame_fill(MoveRun *run, MoveFrame *frame);
// What a closure captures in the new code (closure.c). False: refused.
bool move_closure_fill(MoveRun *run, MoveClosure *closure);
bool move_made_fill(MoveRun *run, const MoveMade *made);
