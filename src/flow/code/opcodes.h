// Opcodes: the one list of instructions. The interpreter's jump table, the verifier and the
// disassembler are made from it; nothing else knows the numbers.
//
// An instruction is 64 bits: op, a, b, c of 16 bits each, or b and c together as `wide` (int32).
// OP(NAME, A, B, C, "meaning"); the operand kinds say what a, b and c are:
//
//   NONE            not used, zero
//   OUT, IN, INOUT  a register that is written, read, both
//   BLOCK           first register of a call block or record; the meaning gives its size
//   COUNT           number of arguments in the block (register a + 1 + count must exist)
//   LIVE            number of live registers: those at or above are dead at this instruction
//   SITE            index into routine->sites (a named property with its inline cache)
//   NEAR            int16 jump distance, from the next instruction
//   IMM             int16 immediate
//   CONST           uint16 index into routine->constants
//   ID              a small number explained in the meaning
//   W_JUMP W_CONST W_INT W_FUNCTION W_UPVALUE W_TEMPLATE W_COUNT   b: the same, in `wide`; c: NONE
//
// Calls of script code made by an instruction (getters, conversions, iterators, helpers) run in a
// frame of their own; the instruction completes when that frame returns, so an instruction is
// never half done when the VM stops.
#pragma once
#include <stdint.h>

#define FLOW_OPCODES(OP)                                                                           \
    OP(NOP, NONE, NONE, NONE, "do nothing")                                                        \
    /* loads */                                                                                    \
    OP(LOAD_UNDEFINED, OUT, NONE, NONE, "a = undefined")                                           \
    OP(LOAD_NULL, OUT, NONE, NONE, "a = null")                                                     \
    OP(LOAD_TRUE, OUT, NONE, NONE, "a = true")                                                     \
    OP(LOAD_FALSE, OUT, NONE, NONE, "a = false")                                                   \
    OP(LOAD_HOLE, OUT, NONE, NONE, "a = HOLE: makes a binding uninitialised again")                \
    OP(LOAD_INT, OUT, W_INT, NONE, "a = wide as a number")                                         \
    OP(LOAD_CONST, OUT, W_CONST, NONE, "a = constants[wide]")                                      \
    OP(MOVE, OUT, IN, NONE, "a = b")                                                               \
    OP(LOAD_CALLEE, OUT, NONE, NONE, "a = the running function object")                            \
    OP(LOAD_NEW_TARGET, OUT, NONE, NONE, "a = new.target (undefined in calls)")                    \
    OP(LOAD_HOME, OUT, NONE, NONE, "a = home object of the running function (for super)")          \
    OP(LOAD_PRELUDE, OUT, W_FUNCTION, NONE, "a = realm closure of prelude function wide")          \
    /* globals */                                                                                  \
    OP(GET_GLOBAL, OUT, NONE, SITE, "a = global c; ReferenceError when there is none")             \
    OP(TYPEOF_GLOBAL, OUT, NONE, SITE, "a = typeof global c; \"undefined\" when there is none")    \
    OP(SET_GLOBAL, IN, NONE, SITE, "global c = a; ReferenceError when there is none")              \
    /* captured variables */                                                                       \
    OP(NEW_BOX, OUT, NONE, NONE, "a = new box holding HOLE")                                       \
    OP(NEW_BOX_VALUE, OUT, IN, NONE, "a = new box holding b (a may equal b: boxes a parameter)")   \
    OP(COPY_BOX, INOUT, NONE, NONE, "a = new box with the content of box a (next iteration)")      \
    OP(GET_BOX, OUT, IN, NONE, "a = content of box b")                                             \
    OP(GET_BOX_CHECKED, OUT, IN, CONST, "the same; ReferenceError naming c when it is HOLE")       \
    OP(SET_BOX, IN, IN, NONE, "content of box a = b")                                              \
    OP(SET_BOX_CHECKED, IN, IN, CONST, "the same; ReferenceError naming c when it was HOLE")       \
    OP(GET_UPVALUE, OUT, W_UPVALUE, NONE, "a = content of the box in upvalue wide")                \
    OP(GET_UPVALUE_CHECKED, OUT, W_UPVALUE, NONE, "the same; ReferenceError when it is HOLE")      \
    OP(SET_UPVALUE, IN, W_UPVALUE, NONE, "content of the box in upvalue wide = a")                 \
    OP(SET_UPVALUE_CHECKED, IN, W_UPVALUE, NONE, "the same; ReferenceError when it was HOLE")      \
    OP(LOAD_UPVALUE, OUT, W_UPVALUE, NONE, "a = upvalue wide itself (captured by value)")          \
    OP(CHECK_INITIALIZED, IN, W_CONST, NONE, "ReferenceError naming constants[wide] if a is HOLE") \
    OP(CHECK_THIS_UNSET, IN, NONE, NONE, "ReferenceError (super called twice) unless a is HOLE")   \
    OP(CHECK_THIS, IN, NONE, NONE, "ReferenceError (super not called) when a is HOLE")             \
    /* operators */                                                                                \
    OP(ADD, OUT, IN, IN, "a = b + c")                                                              \
    OP(SUB, OUT, IN, IN, "a = b - c")                                                              \
    OP(MUL, OUT, IN, IN, "a = b * c")                                                              \
    OP(DIV, OUT, IN, IN, "a = b / c")                                                              \
    OP(MOD, OUT, IN, IN, "a = b % c")                                                              \
    OP(EXP, OUT, IN, IN, "a = b ** c")                                                             \
    OP(BIT_AND, OUT, IN, IN, "a = b & c")                                                          \
    OP(BIT_OR, OUT, IN, IN, "a = b | c")                                                           \
    OP(BIT_XOR, OUT, IN, IN, "a = b ^ c")                                                          \
    OP(SHL, OUT, IN, IN, "a = b << c")                                                             \
    OP(SHR, OUT, IN, IN, "a = b >> c")                                                             \
    OP(USHR, OUT, IN, IN, "a = b >>> c")                                                           \
    OP(ADD_INT, OUT, IN, IMM, "a = b + immediate c")                                               \
    OP(SUB_INT, OUT, IN, IMM, "a = b - immediate c")                                               \
    OP(MUL_INT, OUT, IN, IMM, "a = b * immediate c")                                               \
    OP(MOD_INT, OUT, IN, IMM, "a = b % immediate c")                                               \
    OP(BIT_AND_INT, OUT, IN, IMM, "a = b & immediate c")                                           \
    OP(BIT_OR_INT, OUT, IN, IMM, "a = b | immediate c")                                            \
    OP(SHL_INT, OUT, IN, IMM, "a = b << immediate c")                                              \
    OP(SHR_INT, OUT, IN, IMM, "a = b >> immediate c")                                              \
    OP(USHR_INT, OUT, IN, IMM, "a = b >>> immediate c")                                            \
    OP(NEGATE, OUT, IN, NONE, "a = -b")                                                            \
    OP(TO_NUMBER, OUT, IN, NONE, "a = +b")                                                         \
    OP(TO_NUMERIC, OUT, IN, NONE, "a = ToNumeric(b), the old value of b++")                        \
    OP(INCREMENT, OUT, IN, NONE, "a = ToNumeric(b) + 1")                                           \
    OP(DECREMENT, OUT, IN, NONE, "a = ToNumeric(b) - 1")                                           \
    OP(BIT_NOT, OUT, IN, NONE, "a = ~b")                                                           \
    OP(NOT, OUT, IN, NONE, "a = !b")                                                               \
    OP(TYPEOF, OUT, IN, NONE, "a = typeof b")                                                      \
    OP(TO_STRING, OUT, IN, NONE, "a = ToString(b)")                                                \
    OP(TO_PROPERTY_KEY, OUT, IN, NONE, "a = ToPropertyKey(b): string, symbol or int")              \
    OP(TO_STRING_PART, OUT, IN, NONE, "the same, but a number stays one: for CONCAT")              \
    OP(CONCAT, OUT, BLOCK, ID, "a = the c parts from R[b] on, joined (made by TO_STRING_PART)")    \
    OP(EQ, OUT, IN, IN, "a = b == c")                                                              \
    OP(NE, OUT, IN, IN, "a = b != c")                                                              \
    OP(STRICT_EQ, OUT, IN, IN, "a = b === c")                                                      \
    OP(STRICT_NE, OUT, IN, IN, "a = b !== c")                                                      \
    OP(LT, OUT, IN, IN, "a = b < c")                                                               \
    OP(LE, OUT, IN, IN, "a = b <= c")                                                              \
    OP(GT, OUT, IN, IN, "a = b > c")                                                               \
    OP(GE, OUT, IN, IN, "a = b >= c")                                                              \
    OP(INSTANCEOF, OUT, IN, IN, "a = b instanceof c")                                              \
    OP(IN, OUT, IN, IN, "a = b in c")                                                              \
    /* jumps; the distance counts from the next instruction */                                     \
    OP(JUMP, NONE, W_JUMP, NONE, "go on at wide")                                                  \
    OP(JUMP_IF_TRUE, IN, W_JUMP, NONE, "jump when ToBoolean(a)")                                   \
    OP(JUMP_IF_FALSE, IN, W_JUMP, NONE, "jump when not ToBoolean(a)")                              \
    OP(JUMP_IF_NULLISH, IN, W_JUMP, NONE, "jump when a is undefined or null")                      \
    OP(JUMP_IF_NOT_NULLISH, IN, W_JUMP, NONE, "jump when a is neither undefined nor null")         \
    OP(JUMP_IF_UNDEFINED, IN, W_JUMP, NONE, "jump when a is undefined")                            \
    OP(JUMP_IF_NOT_UNDEFINED, IN, W_JUMP, NONE, "jump when a is not undefined (defaults)")         \
    OP(JUMP_LT, IN, IN, NEAR, "jump when a < b")                                                   \
    OP(JUMP_NOT_LT, IN, IN, NEAR, "jump unless a < b (differs from >= for NaN)")                   \
    OP(JUMP_LE, IN, IN, NEAR, "jump when a <= b")                                                  \
    OP(JUMP_NOT_LE, IN, IN, NEAR, "jump unless a <= b")                                            \
    OP(JUMP_GT, IN, IN, NEAR, "jump when a > b")                                                   \
    OP(JUMP_NOT_GT, IN, IN, NEAR, "jump unless a > b")                                             \
    OP(JUMP_GE, IN, IN, NEAR, "jump when a >= b")                                                  \
    OP(JUMP_NOT_GE, IN, IN, NEAR, "jump unless a >= b")                                            \
    OP(JUMP_EQ, IN, IN, NEAR, "jump when a == b")                                                  \
    OP(JUMP_NE, IN, IN, NEAR, "jump when a != b")                                                  \
    OP(JUMP_STRICT_EQ, IN, IN, NEAR, "jump when a === b")                                          \
    OP(JUMP_STRICT_NE, IN, IN, NEAR, "jump when a !== b")                                          \
    OP(JUMP_LT_INT, IN, IMM, NEAR, "jump when a < immediate b")                                    \
    OP(JUMP_NOT_LT_INT, IN, IMM, NEAR, "jump unless a < immediate b")                              \
    OP(JUMP_LE_INT, IN, IMM, NEAR, "jump when a <= immediate b")                                   \
    OP(JUMP_NOT_LE_INT, IN, IMM, NEAR, "jump unless a <= immediate b")                             \
    OP(JUMP_GT_INT, IN, IMM, NEAR, "jump when a > immediate b")                                    \
    OP(JUMP_NOT_GT_INT, IN, IMM, NEAR, "jump unless a > immediate b")                              \
    OP(JUMP_GE_INT, IN, IMM, NEAR, "jump when a >= immediate b")                                   \
    OP(JUMP_NOT_GE_INT, IN, IMM, NEAR, "jump unless a >= immediate b")                             \
    OP(JUMP_STRICT_EQ_INT, IN, IMM, NEAR, "jump when a === immediate b")                           \
    OP(JUMP_STRICT_NE_INT, IN, IMM, NEAR, "jump when a !== immediate b")                           \
    FLOW_OPCODES_OBJECTS(OP)                                                                       \
    FLOW_OPCODES_CONTROL(OP)

#define FLOW_OPCODES_OBJECTS(OP)                                                                   \
    OP(NEW_OBJECT, OUT, W_COUNT, NONE, "a = {}, with room for wide properties")                    \
    OP(NEW_ARRAY, OUT, W_COUNT, NONE, "a = [], with room for wide elements")                       \
    OP(ARRAY_PUSH, IN, IN, NONE, "append b to array literal a")                                    \
    OP(ARRAY_PUSH_HOLE, IN, NONE, NONE, "append a hole to array literal a")                        \
    OP(ARRAY_SPREAD, IN, IN, ID, "append all items of b to array a; c: 1 = arguments of a call")   \
    OP(NEW_REGEXP, OUT, CONST, CONST, "a = new RegExp(pattern b, flags c)")                        \
    OP(TEMPLATE_OBJECT, OUT, W_TEMPLATE, NONE, "a = the frozen strings array of template wide")    \
    OP(CLOSURE, OUT, W_FUNCTION, NONE, "a = new function object of routine wide")                  \
    OP(GET_FIELD, OUT, IN, SITE, "a = b.c")                                                        \
    OP(SET_FIELD, IN, IN, SITE, "a.c = b")                                                         \
    OP(INIT_FIELD, IN, IN, SITE, "define a.c = b on a literal (own, enumerable)")                  \
    OP(DEFINE_FIELD, IN, IN, SITE, "class field: define a.c = b; TypeError when a refuses it")     \
    OP(GET_LENGTH, OUT, IN, SITE, "a = b.length (site's key is \"length\"); fast for arrays")      \
    OP(GET_ELEMENT, OUT, IN, IN, "a = b[c]")                                                       \
    OP(SET_ELEMENT, IN, IN, IN, "a[b] = c")                                                        \
    OP(INIT_ELEMENT, IN, IN, IN, "define a[b] = c; b is a property key (literals, fields)")        \
    OP(DELETE_ELEMENT, OUT, IN, IN, "a = delete b[c]")                                             \
    OP(GET_SUPER, OUT, BLOCK, NONE, "a = super[key]; block of 3: home, key, this")                 \
    OP(SET_SUPER, IN, BLOCK, NONE, "super[key] = a; block of 3: home, key, this")                  \
    OP(SET_PROTO, IN, IN, NONE, "__proto__: b in literal a (ignored when b is no object or null)") \
    OP(SET_HOME, IN, IN, NONE, "home object of function a = b")                                    \
    OP(SET_FUNCTION_NAME, IN, IN, ID, "name of function a = key b; c: 0 plain, 1 get, 2 set")      \
    OP(DEFINE_METHOD, IN, IN, IN, "class: define a[b] = function c, not enumerable, home a")       \
    OP(DEFINE_GETTER, IN, IN, IN, "literal: getter a[b] = c, enumerable, home a")                  \
    OP(DEFINE_SETTER, IN, IN, IN, "literal: setter a[b] = c, enumerable, home a")                  \
    OP(DEFINE_CLASS_GETTER, IN, IN, IN, "class: getter a[b] = c, not enumerable, home a")          \
    OP(DEFINE_CLASS_SETTER, IN, IN, IN, "class: setter a[b] = c, not enumerable, home a")          \
    OP(COPY_PROPERTIES, IN, IN, NONE, "{...b} into literal a")                                     \
    OP(OBJECT_REST, OUT, IN, IN, "a = rest of object b without the keys in array c")               \
    OP(NEW_CLASS, BLOCK, NONE, NONE,                                                               \
       "block of 2: superclass (HOLE: none), constructor closure -> constructor, prototype")       \
    OP(SET_FIELDS, IN, IN, NONE, "constructor a runs b (a ROUTINE_FIELDS closure) on instances")   \
    OP(INIT_FIELDS, BLOCK, NONE, NONE, "block of 2: constructor, this: runs the fields of it")     \
    OP(GET_SUPER_CONSTRUCTOR, OUT, IN, NONE, "a = prototype of function b; TypeError if no ctor")  \
    OP(NEW_PRIVATE_NAME, OUT, W_CONST, NONE, "a = fresh private name, text constants[wide] (#x)")  \
    OP(NEW_PRIVATE_METHOD_NAME, OUT, W_CONST, NONE, "the same, for a method or accessor")          \
    OP(GET_PRIVATE, OUT, IN, IN, "a = b.#c")                                                       \
    OP(SET_PRIVATE, IN, IN, IN, "a.#b = c")                                                        \
    OP(DEFINE_PRIVATE, IN, IN, IN, "add private field #b = c to a")                                \
    OP(DEFINE_PRIVATE_METHOD, IN, IN, IN, "add private method #b = c to a (read-only)")            \
    OP(DEFINE_PRIVATE_GETTER, IN, IN, IN, "add private getter #b = c to a")                        \
    OP(DEFINE_PRIVATE_SETTER, IN, IN, IN, "add private setter #b = c to a")                        \
    OP(HAS_PRIVATE, OUT, IN, IN, "a = #c in b")                                                    \
    OP(REQUIRE_OBJECT, IN, W_CONST, NONE,                                                          \
       "TypeError when a is nullish: cannot destructure; constants[wide]: first key or undefined") \
    OP(CHECK_OBJECT, IN, ID, NONE, "TypeError when a is no object; b: 0 iterator result")

#define FLOW_OPCODES_CONTROL(OP)                                                                   \
    /* calls: block = callee, this, arguments */                                                   \
    OP(CALL, BLOCK, COUNT, OUT, "c = callee(arguments)")                                           \
    OP(CALL_SPREAD, BLOCK, NONE, OUT, "block of 3: callee, this, array of arguments; c = result")  \
    OP(NEW, BLOCK, COUNT, OUT, "c = new callee(arguments); R[a+1] = new.target (= callee, super)") \
    OP(NEW_SPREAD, BLOCK, NONE, OUT, "block of 3: callee, new.target, array; c = result")          \
    OP(INTRINSIC, BLOCK, COUNT, ID, "prelude only: R[a] = intrinsic c(arguments from R[a+2] on)")  \
    OP(RETURN, IN, NONE, NONE, "return a (async: settles the promise; base ctor: object or this)") \
    OP(RETURN_UNDEFINED, NONE, NONE, NONE, "return undefined")                                     \
    OP(RETURN_DERIVED, IN, IN, NONE, "return a from a derived constructor whose this is b")        \
    OP(THROW, IN, NONE, NONE, "throw a")                                                           \
    OP(THROW_ERROR, ID, W_CONST, NONE, "throw a new error of kind a (FlowErrorKind), text wide")   \
    OP(THROW_CONST_ASSIGN, NONE, W_CONST, NONE, "TypeError: Assignment to constant variable.")     \
    /* suspension; LIVE keeps dead temporaries out of snapshots */                                 \
    OP(AWAIT, OUT, IN, LIVE, "a = await b; a rejection is thrown here")                            \
    OP(GENERATOR_START, NONE, NONE, LIVE, "after parameters: return the generator object")         \
    OP(YIELD, OUT, IN, LIVE, "yield b; a = value sent, R[a+1] = 0 next, 1 throw, 2 return")        \
    OP(YIELD_RESULT, OUT, IN, LIVE, "yield*: as YIELD, but b is the result object to hand out")    \
    OP(RESUME, IN, NONE, NEAR, "after YIELD: by R[a+1]: 0 go on, 1 throw a, 2 jump to c")          \
    /* iteration; record = 3 registers: iterator, next, state (true = done) */                     \
    OP(GET_ITERATOR, BLOCK, IN, ID,                                                                \
       "record a = iterator of b; ITER_START must follow;"                                         \
       " c: 1 = with an iterator object in any case (yield*)")                                     \
    OP(GET_ASYNC_ITERATOR, BLOCK, IN, NONE, "record a = async iterator of b; ITER_START follows")  \
    OP(ITER_START, BLOCK, NONE, NONE, "checks record a's iterator and fetches its next method")    \
    OP(ITER_NEXT, BLOCK, OUT, NEAR, "b = next item, or jump to c when done; ITER_VALUE follows")   \
    OP(ITER_VALUE, BLOCK, OUT, NEAR, "second half of ITER_NEXT: takes the result object apart")    \
    OP(ITER_STEP, BLOCK, OUT, NONE,                                                                \
       "destructuring: b = next item or undefined when done;"                                      \
       " ITER_STEP_VALUE follows")                                                                 \
    OP(ITER_STEP_VALUE, BLOCK, OUT, ID, "second half of ITER_STEP; c: 1 = a hole, value not read") \
    OP(ITER_REST, BLOCK, OUT, NONE, "b = array of the remaining items")                            \
    OP(ITER_CALL_NEXT, BLOCK, NONE, NONE, "R[a+2] = iterator.next(): await it, then ITER_VALUE")   \
    OP(ITER_CLOSE, BLOCK, NONE, NONE, "unless done: iterator.return(); its errors are thrown")     \
    OP(ITER_CLOSE_SILENT, BLOCK, NONE, NONE, "the same, errors ignored (an error is on its way)")  \
    OP(ITER_GET_METHOD, OUT, BLOCK, ID,                                                            \
       "a = method c of record b's iterator (0 next, 1 return,"                                    \
       " 2 throw) or undefined")                                                                   \
    OP(FOR_IN_START, BLOCK, IN, NONE, "record a = enumerable string keys of b and its prototypes") \
    OP(FOR_IN_NEXT, BLOCK, OUT, NEAR, "b = next key that is still there, or jump to c")

// Fused instructions: OP(NAME, BASE, "meaning"). Once a module is verified, flow_fuse() writes NAME
// over the opcode BASE where the instruction begins a frequent sequence. Operands and the rest of
// the sequence stay as they are, so every pc and every jump means what it meant; who asks for
// the opcode of an instruction asks flow_op_base(). When the case is not the simple one, a fused
// instruction does what BASE does and leaves the rest to the instructions that follow.
#define FLOW_FUSED(OP)                                                                             \
    OP(MOVES, MOVE, "all the MOVEs from here on")                                                  \
    OP(MOVE_CALL_5, MOVE, "five MOVEs into a block, CALL: a callback with three arguments")        \
    OP(MOVE_CALL_6, MOVE, "six MOVEs into a block, CALL: the same with four")                      \
    OP(MOVE_FIELD, MOVE, "MOVE, GET_FIELD: the callee of o.m()")                                   \
    OP(UPVALUE_CALLEE, GET_UPVALUE, "GET_UPVALUE, LOAD_UNDEFINED: the callee of f()")              \
    OP(VALUE_CALLEE, LOAD_UPVALUE, "LOAD_UPVALUE, LOAD_UNDEFINED: the same")                       \
    OP(INCREMENT_LT, INCREMENT, "INCREMENT, JUMP_LT of the same: the end of a counting loop")      \
    OP(INCREMENT_LT_INT, INCREMENT, "INCREMENT, JUMP_LT_INT of the same")                          \
    OP(LENGTH_LT, GET_LENGTH, "GET_LENGTH, JUMP_LT against it")                                    \
    OP(ELEMENT_DEFINED, GET_ELEMENT, "GET_ELEMENT, JUMP_IF_NOT_UNDEFINED of it")

typedef enum FlowOp {
#define OP(NAME, A, B, C, MEANING) OP_##NAME,
    FLOW_OPCODES(OP)
#undef OP
        OP_COUNT,
    OP_FUSED_BEFORE_FIRST = OP_COUNT - 1,
#define OP(NAME, BASE, MEANING) OP_##NAME,
    FLOW_FUSED(OP)
#undef OP
        OP_END
} FlowOp;

typedef enum FlowOperand {
    OPERAND_NONE,
    OPERAND_OUT,
    OPERAND_IN,
    OPERAND_INOUT,
    OPERAND_BLOCK,
    OPERAND_COUNT,
    OPERAND_LIVE,
    OPERAND_SITE,
    OPERAND_NEAR,
    OPERAND_IMM,
    OPERAND_CONST,
    OPERAND_ID,
    OPERAND_W_JUMP,
    OPERAND_W_CONST,
    OPERAND_W_INT,
    OPERAND_W_FUNCTION,
    OPERAND_W_UPVALUE,
    OPERAND_W_TEMPLATE,
    OPERAND_W_COUNT,
} FlowOperand;

typedef struct FlowOpInfo {
    const char *name;
    FlowOperand a;
    FlowOperand b;
    FlowOperand c;
    const char *meaning;
} FlowOpInfo;

extern const FlowOpInfo flow_op_info[OP_COUNT]; // opcodes.c
uint16_t flow_op_base(uint16_t op);             // of a fused one; else `op` itself
