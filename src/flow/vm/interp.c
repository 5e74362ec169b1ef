// Interp: the loop. One label per opcode, computed gotos, fast paths inline; everything else is a
// call into interp_*.c that may push a frame, after which the loop looks at the topmost frame
// again. Script calls never use the C stack.
//
//   [interp-1] frame->pc is written before anything that can throw, push a frame, or look at
//        frames.
//   [interp-2] `registers` is stale after anything that can push a frame: such paths end in RELOAD.
//   [interp-3] Every loop and every call takes fuel, so a turn ends in bounded time. With
//        limits.is_exact each instruction takes one, and the loop can stop before any of them.
//   [interp-4] Collections happen between instructions only (SAFE_POINT), with all values in place.
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/hook.h"
#include "flow/vm/interp_internal.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

// The current instruction, taken apart by shifts: compilers make poor code of the struct.
#define IOP         ((uint16_t)word)
#define IA          ((uint16_t)(word >> 16))
#define IB          ((uint16_t)(word >> 32))
#define IC          ((uint16_t)(word >> 48))
#define IW          ((int32_t)(uint32_t)(word >> 32))
#define INSTRUCTION ((FlowInstruction){.op = IOP, .a = IA, .wide = IW})

#define A   registers[IA]
#define B   registers[IB]
#define C   registers[IC]
#define IMM ((int32_t)(int16_t)IC)

#define NEXT                                                                                       \
    do {                                                                                           \
        memcpy(&word, pc++, sizeof word);                                                          \
        goto *dispatch[IOP];                                                                       \
    } while (0)
#define SAVE() (frame->pc = (uint32_t)(pc - code))
// Runs a slow path: false means an exception, true that the frames may have changed.
#define SLOW(call)                                                                                 \
    do {                                                                                           \
        SAVE();                                                                                    \
        if (UNLIKELY(!(call))) goto unwind;                                                        \
        goto reload;                                                                               \
    } while (0)
// The same for slow paths that push frames only above this one and usually do not: goes on at once
// when the frame is still on top.
#define SLOW_HERE(call)                                                                            \
    do {                                                                                           \
        SAVE();                                                                                    \
        uint32_t depth_ = vm->frame_count;                                                         \
        if (UNLIKELY(!(call))) goto unwind;                                                        \
        if (UNLIKELY(vm->frame_count != depth_ || flow_heap_is_due(&vm->heap))) goto reload;       \
        frame = &vm->frames[depth_ - 1];                                                           \
        registers = vm->stack + frame->base;                                                       \
        pc = code + frame->pc;                                                                     \
        NEXT;                                                                                      \
    } while (0)
// The same for slow paths that never push a frame and never throw.
#define CHECK(call)                                                                                \
    do {                                                                                           \
        SAVE();                                                                                    \
        if (UNLIKELY(!(call))) goto unwind;                                                        \
    } while (0)
#define SAFE_POINT()                                                                               \
    do {                                                                                           \
        if (UNLIKELY(flow_heap_is_due(&vm->heap))) {                                               \
            SAVE();                                                                                \
            if (!flow_vm_safe_point(vm)) goto unwind;                                              \
        }                                                                                          \
    } while (0)
// A taken jump. Backward ones cost as many instructions as they repeat [interp-3].
#define JUMP_BY(distance)                                                                          \
    do {                                                                                           \
        int32_t by_ = (distance);                                                                  \
        pc += by_;                                                                                 \
        if (by_ < 0) {                                                                             \
            vm->fuel += by_;                                                                       \
            if (UNLIKELY(vm->fuel <= 0)) goto preempt;                                             \
        }                                                                                          \
    } while (0)

#define INT_ARITHMETIC(builtin)                                                                    \
    if (LIKELY(flow_is_int(B) && flow_is_int(C))) {                                                \
        int32_t r_;                                                                                \
        if (LIKELY(!builtin(flow_as_int(B), flow_as_int(C), &r_))) {                               \
            A = flow_int(r_);                                                                      \
            NEXT;                                                                                  \
        }                                                                                          \
    }
#define FLOAT_ARITHMETIC(operator)                                                                 \
    if (flow_is_number(B) && flow_is_number(C)) {                                                  \
        A = flow_number(flow_as_number(B) operator flow_as_number(C));                             \
        NEXT;                                                                                      \
    }
#define BINARY_SLOW() SLOW_HERE(interp_binary(vm, IOP, B, C, (uint32_t)(&A - vm->stack)))
#define BINARY_INT_SLOW(OPCODE)                                                                    \
    SLOW_HERE(interp_binary(vm, OPCODE, B, flow_int(IMM), (uint32_t)(&A - vm->stack)))

#define BITWISE(OPCODE, expression)                                                                \
    L_##OPCODE : if (LIKELY(flow_is_int(B) && flow_is_int(C))) {                                   \
        int32_t x = flow_as_int(B);                                                                \
        int32_t y = flow_as_int(C);                                                                \
        A = expression;                                                                            \
        NEXT;                                                                                      \
    }                                                                                              \
    if (flow_is_number(B) && flow_is_number(C)) {                                                  \
        int32_t x = to_int32(B);                                                                   \
        int32_t y = to_int32(C);                                                                   \
        A = expression;                                                                            \
        NEXT;                                                                                      \
    }                                                                                              \
    BINARY_SLOW();
#define BITWISE_INT(OPCODE, expression)                                                            \
    L_##OPCODE##_INT : if (LIKELY(flow_is_int(B))) {                                               \
        int32_t x = flow_as_int(B);                                                                \
        int32_t y = IMM;                                                                           \
        A = expression;                                                                            \
        NEXT;                                                                                      \
    }                                                                                              \
    if (flow_is_double(B)) {                                                                       \
        int32_t x = to_int32(B);                                                                   \
        int32_t y = IMM;                                                                           \
        A = expression;                                                                            \
        NEXT;                                                                                      \
    }                                                                                              \
    BINARY_INT_SLOW(OP_##OPCODE);

#define COMPARE(OPCODE, operator)                                                                  \
    L_##OPCODE : if (LIKELY(flow_is_int(B) && flow_is_int(C))) {                                   \
        A = flow_bool(flow_as_int(B) operator flow_as_int(C));                                     \
        NEXT;                                                                                      \
    }                                                                                              \
    if (flow_is_number(B) && flow_is_number(C)) {                                                  \
        A = flow_bool(flow_as_number(B) operator flow_as_number(C));                               \
        NEXT;                                                                                      \
    }                                                                                              \
    SLOW_HERE(interp_compare(vm, INSTRUCTION));

// Fused compare and jump: `wanted` is the outcome that jumps.
#define JUMP_COMPARE(NAME, OPCODE, operator, wanted)                                               \
    L_JUMP_##NAME : if (LIKELY(flow_is_int(A) && flow_is_int(B))) {                                \
        if ((flow_as_int(A) operator flow_as_int(B)) == wanted) JUMP_BY((int16_t)IC);              \
        NEXT;                                                                                      \
    }                                                                                              \
    if (flow_is_number(A) && flow_is_number(B)) {                                                  \
        if ((flow_as_number(A) operator flow_as_number(B)) == wanted) JUMP_BY((int16_t)IC);        \
        NEXT;                                                                                      \
    }                                                                                              \
    SLOW_JUMP(interp_jump_compare(vm, INSTRUCTION, OPCODE, B));
#define JUMP_COMPARE_INT(NAME, OPCODE, operator, wanted)                                           \
    L_JUMP_##NAME##_INT : if (LIKELY(flow_is_int(A))) {                                            \
        if ((flow_as_int(A) operator(int32_t)(int16_t) IB) == wanted) JUMP_BY((int16_t)IC);        \
        NEXT;                                                                                      \
    }                                                                                              \
    if (flow_is_double(A)) {                                                                       \
        if ((flow_as_double(A) operator(double)(int16_t) IB) == wanted) JUMP_BY((int16_t)IC);      \
        NEXT;                                                                                      \
    }                                                                                              \
    SLOW_JUMP(interp_jump_compare(vm, INSTRUCTION, OPCODE, flow_int((int16_t)IB)));
// A slow comparison may jump backward without passing JUMP_BY: it pays here.
#define SLOW_JUMP(call)                                                                            \
    do {                                                                                           \
        vm->fuel -= 8;                                                                             \
        if (UNLIKELY(vm->fuel <= 0)) SLOW(call);                                                   \
        SLOW_HERE(call);                                                                           \
    } while (0)

// Calls the native of a block: this is in R[a+1], the arguments follow. Natives push no frame.
#define NATIVE_FAST(function_pointer, destination)                                                 \
    FlowNativeFunction *native = (FlowNativeFunction *)(void *)(function_pointer);                 \
    uint32_t return_to = (destination);                                                            \
    FlowNativeCall call;                                                                           \
    flow_native_call_init(&call, registers + IA + 1, IB, flow_from_object(native));                \
    vm->fuel -= 4;                                                                                 \
    FlowNativeResult answer = native->entry->function(vm, &call);                                  \
    if (LIKELY(answer == NATIVE_OK && vm->fuel > 0)) {                                             \
        vm->stack[return_to] = call.result;                                                        \
        SAFE_POINT();                                                                              \
        NEXT;                                                                                      \
    }                                                                                              \
    FlowInvocation invocation = {.function = flow_from_object(native),                             \
                                 .new_target = FLOW_UNDEFINED,                                     \
                                 .base = frame->base + IA + 1,                                     \
                                 .count = IB,                                                      \
                                 .return_to = return_to,                                           \
                                 .return_kind = RETURN_STORE};                                     \
    if (!flow_vm_finish_native(vm, &invocation, &call, answer)) goto unwind;                       \
    goto reload;

// Goes on in a script function for which can_enter() is true. Its block is in place at
// stack[base_], with `given_` arguments.
#define ENTER_SIMPLE(closure_, base_, given_, kind_, return_to_)                                   \
    do {                                                                                           \
        FlowClosure *entered_ = (closure_);                                                        \
        uint32_t block_ = (base_);                                                                 \
        uint32_t i_ = 1 + (given_);                                                                \
        routine = entered_->routine;                                                               \
        uint32_t window_ = block_ + routine->register_count;                                       \
        FlowFrame *next_ = &vm->frames[vm->frame_count++];                                         \
        *next_ = (FlowFrame){.closure = entered_,                                                  \
                             .function = flow_from_object(entered_),                               \
                             .new_target = FLOW_UNDEFINED,                                         \
                             .base = block_,                                                       \
                             .top = window_ > vm->stack_top ? window_ : vm->stack_top,             \
                             .return_to = (return_to_),                                            \
                             .return_kind = (kind_)};                                              \
        frame = next_;                                                                             \
        vm->stack_top = frame->top;                                                                \
        registers = vm->stack + block_;                                                            \
        if (i_ > 1u + routine->parameter_count) i_ = 1u + routine->parameter_count;                \
        for (; i_ <= routine->parameter_count; i_++) registers[i_] = FLOW_UNDEFINED;               \
        for (; i_ < routine->register_count; i_++) registers[i_] = FLOW_HOLE;                      \
        code = routine->code;                                                                      \
        pc = code;                                                                                 \
        caches = caches_of(vm, routine);                                                           \
        if (UNLIKELY(vm->fuel <= 0)) goto preempt;                                                 \
        NEXT;                                                                                      \
    } while (0)

// Returns to a script frame that stores the value; constructors give their object.
#define RETURN_FAST(value)                                                                         \
    if (LIKELY((frame->flags & ~FRAME_CONSTRUCT) == 0 && frame->return_kind <= RETURN_DISCARD &&   \
               vm->frame_count > 1)) {                                                             \
        if (frame->flags && !flow_is_object(value)) value = registers[0];                          \
        if (LIKELY(frame->return_kind == RETURN_STORE)) vm->stack[frame->return_to] = value;       \
        vm->frame_count--;                                                                         \
        frame = &vm->frames[vm->frame_count - 1];                                                  \
        vm->stack_top = frame->top;                                                                \
        if (UNLIKELY(frame->kind != FRAME_SCRIPT)) goto reload;                                    \
        routine = frame->closure->routine;                                                         \
        registers = vm->stack + frame->base;                                                       \
        code = routine->code;                                                                      \
        pc = code + frame->pc;                                                                     \
        caches = caches_of(vm, routine);                                                           \
        NEXT;                                                                                      \
    }

#define BOX_OF(value)                                                                              \
    FlowBox *box = flow_as_box(value);                                                             \
    if (UNLIKELY(!flow_is_cell(value) || box->cell.kind != KIND_BOX)) goto broken;

// A writable data property of the object itself.
static inline bool is_plain_own(const FlowLookup *known, const FlowObject *object) {
    return !known->holder && !(object->cell.flags & CELL_SHARED) &&
           (known->attributes & (PROPERTY_WRITABLE | PROPERTY_ACCESSOR)) == PROPERTY_WRITABLE;
}

// A string that is a property key as it stands.
static inline bool is_key_atom(FlowValue value) {
    if (!flow_is_string(value)) return false;
    uint8_t flags = flow_as_string(value)->cell.flags;
    return (flags & (STRING_ATOM | STRING_IS_INDEX)) == STRING_ATOM;
}

static inline bool is_truthy(FlowValue value) {
    if (flow_is_boolean(value)) return flow_is_true(value);
    return flow_is_int(value) ? flow_as_int(value) != 0 : flow_to_boolean(value);
}

static inline bool has_dense(const FlowObject *object, uint32_t index) {
    const FlowStorage *dense = flow_dense(object);
    return dense && index < dense->count && !flow_is_hole(dense->values[index]);
}

static FlowInlineCache *caches_of(FlowVm *vm, const FlowRoutine *routine) {
    bool is_prelude = routine->flags & ROUTINE_PRELUDE;
    FlowInlineCache **caches = is_prelude ? &vm->prelude_caches : &vm->caches;
    if (UNLIKELY(!*caches)) {
        size_t count = routine->module->site_count;
        *caches = flow_vm_caches_new(count ? count : 1);
    }
    return *caches + routine->site_base;
}

// ToInt32 of a number.
static inline int32_t to_int32(FlowValue number) {
    if (flow_is_int(number)) return flow_as_int(number);
    double value = flow_as_double(number);
    if (value > -9.2e18 && value < 9.2e18) return (int32_t)(uint32_t)(uint64_t)(int64_t)value;
    return flow_double_to_int32(value);
}

// A script function called in the plain way: no new, no rest, nothing to wrap.
static inline bool is_simple_call(const FlowRoutine *routine) {
    return !(routine->flags & (ROUTINE_ASYNC | ROUTINE_GENERATOR | ROUTINE_CONSTRUCTOR |
                               ROUTINE_HAS_REST | ROUTINE_HAS_ARGUMENTS));
}

// Whether the loop may call `callee` itself, its block being at stack[base].
static inline bool can_enter(const FlowVm *vm, FlowValue callee, uint32_t base) {
    if (!flow_is_kind(callee, KIND_CLOSURE)) return false;
    const FlowRoutine *routine = ((const FlowClosure *)flow_as_pointer(callee))->routine;
    return is_simple_call(routine) && base + routine->register_count <= vm->stack_capacity &&
           vm->frame_count < vm->frame_capacity && vm->frame_count < vm->limits.call_depth;
}

// The same for accessors, whose block is above the frame: this, then perhaps the value.
static inline bool can_enter_accessor(const FlowVm *vm, FlowValue function) {
    return vm->stack_top + 2 <= vm->stack_capacity && can_enter(vm, function, vm->stack_top);
}

FlowInterpResult flow_interp_run(FlowVm *vm) {
    static const void *const labels[OP_END] = {
#define OP(NAME, OPERAND_A, OPERAND_B, OPERAND_C, MEANING) &&L_##NAME,
        FLOW_OPCODES(OP)
#undef OP
#define OP(NAME, BASE, MEANING) &&L_##NAME,
            FLOW_FUSED(OP)
#undef OP
    };
    static const void *const counting[OP_END] = {[0 ... OP_END - 1] = &&count_instruction};
    const void *const *dispatch = vm->limits.is_exact ? counting : labels;
    FlowFrame *frame;
    FlowValue *registers;
    const FlowInstruction *code;
    const FlowInstruction *pc;
    const FlowRoutine *routine;
    FlowInlineCache *caches;
    uint64_t word;

    if (!vm->lookups) vm->lookups = flow_vm_lookups_new();
    if (!flow_is_hole(vm->exception)) goto unwind;
reload:
    if (UNLIKELY(flow_heap_is_due(&vm->heap)) && !flow_vm_safe_point(vm)) goto unwind;
    if (UNLIKELY(vm->frame_count == 0)) return INTERP_IDLE;
    frame = &vm->frames[vm->frame_count - 1];
    if (UNLIKELY(frame->kind == FRAME_NATIVE)) {
        if (!flow_vm_resume_native(vm)) goto unwind;
        goto reload;
    }
    if (UNLIKELY(vm->fuel <= 0)) return INTERP_PREEMPTED;
    routine = frame->closure->routine;
    registers = vm->stack + frame->base;
    code = routine->code;
    pc = code + frame->pc;
    caches = caches_of(vm, routine);
    NEXT;

unwind:
    if (UNLIKELY(vm->throw_hook) && vm->throw_hook->stops(vm->throw_hook, vm))
        return INTERP_PREEMPTED;
    if (!flow_vm_unwind(vm)) return INTERP_THROWN;
    goto reload;

preempt:
    SAVE();
    return INTERP_PREEMPTED;

count_instruction:
    if (UNLIKELY(vm->fuel-- <= 0)) {
        pc--;
        goto preempt;
    }
    goto *labels[flow_op_base(IOP)]; // one instruction at a time

broken: // a register does not hold what the compiler put there: damaged state, not a script error
    SAVE();
    flow_throw_error(vm, ERROR_KIND_ERROR, "internal error: damaged execution state");
    goto unwind;

    // --- loads
L_NOP:
    NEXT;
L_LOAD_UNDEFINED:
    A = FLOW_UNDEFINED;
    NEXT;
L_LOAD_NULL:
    A = FLOW_NULL;
    NEXT;
L_LOAD_TRUE:
    A = FLOW_TRUE;
    NEXT;
L_LOAD_FALSE:
    A = FLOW_FALSE;
    NEXT;
L_LOAD_HOLE:
    A = FLOW_HOLE;
    NEXT;
L_LOAD_INT:
    A = flow_int(IW);
    NEXT;
L_LOAD_CONST:
    A = routine->constants[IW];
    NEXT;
L_MOVE:
    A = B;
    NEXT;
L_MOVES:
    do {
        A = B;
        memcpy(&word, pc++, sizeof word);
    } while (IOP == OP_MOVE || IOP == OP_MOVES);
    goto *dispatch[IOP];
L_MOVE_CALL_6:
    A = B;
    memcpy(&word, pc++, sizeof word);
L_MOVE_CALL_5 : {
    FlowValue *block = &A;
    block[0] = B;
    block[1] = registers[pc[0].b];
    block[2] = registers[pc[1].b];
    block[3] = registers[pc[2].b];
    block[4] = registers[pc[3].b];
    pc += 4;
    memcpy(&word, pc++, sizeof word);
    goto L_CALL;
}
L_MOVE_FIELD:
    A = B;
    memcpy(&word, pc++, sizeof word);
    goto L_GET_FIELD;
L_LOAD_CALLEE:
    A = frame->function;
    NEXT;
L_LOAD_NEW_TARGET:
    A = frame->new_target;
    NEXT;
L_LOAD_HOME:
    A = frame->closure->home ? flow_from_object(frame->closure->home) : FLOW_UNDEFINED;
    NEXT;
L_LOAD_PRELUDE:
    A = flow_from_object(vm->realm->prelude_closures[IW]);
    NEXT;

    // --- globals
L_GET_GLOBAL : {
    FlowInlineCache *cache = &caches[IC];
    if (LIKELY(cache->shape == vm->realm->global->shape && !cache->holder)) {
        A = vm->realm->global->slots[cache->slot];
        NEXT;
    }
    SLOW_HERE(interp_get_global(vm, INSTRUCTION, cache));
}
L_TYPEOF_GLOBAL:
    SLOW(interp_typeof_global(vm, INSTRUCTION));
L_SET_GLOBAL:
    SLOW(interp_set_global(vm, INSTRUCTION));

    // --- captured variables
L_NEW_BOX:
    A = flow_from_cell(flow_box_new(vm, FLOW_HOLE));
    SAFE_POINT();
    NEXT;
L_NEW_BOX_VALUE:
    A = flow_from_cell(flow_box_new(vm, B));
    SAFE_POINT();
    NEXT;
L_COPY_BOX : {
    BOX_OF(A)
    A = flow_from_cell(flow_box_new(vm, box->value));
    SAFE_POINT();
    NEXT;
}
L_GET_BOX : {
    BOX_OF(B)
    A = box->value;
    NEXT;
}
L_GET_BOX_CHECKED : {
    BOX_OF(B)
    if (UNLIKELY(flow_is_hole(box->value))) {
        SLOW(interp_throw_uninitialized(vm, routine->constants[IC]));
    }
    A = box->value;
    NEXT;
}
L_SET_BOX : {
    BOX_OF(A)
    box->value = B;
    NEXT;
}
L_SET_BOX_CHECKED : {
    BOX_OF(A)
    if (UNLIKELY(flow_is_hole(box->value))) {
        SLOW(interp_throw_uninitialized(vm, routine->constants[IC]));
    }
    box->value = B;
    NEXT;
}
L_GET_UPVALUE : {
    BOX_OF(frame->closure->upvalues[IW])
    A = box->value;
    NEXT;
}
L_GET_UPVALUE_CHECKED : {
    BOX_OF(frame->closure->upvalues[IW])
    if (UNLIKELY(flow_is_hole(box->value))) {
        SLOW(interp_throw_uninitialized(vm, routine->upvalues[IW].name));
    }
    A = box->value;
    NEXT;
}
L_SET_UPVALUE : {
    BOX_OF(frame->closure->upvalues[IW])
    box->value = A;
    NEXT;
}
L_SET_UPVALUE_CHECKED : {
    BOX_OF(frame->closure->upvalues[IW])
    if (UNLIKELY(flow_is_hole(box->value))) {
        SLOW(interp_throw_uninitialized(vm, routine->upvalues[IW].name));
    }
    box->value = A;
    NEXT;
}
L_UPVALUE_CALLEE : {
    BOX_OF(frame->closure->upvalues[IW])
    A = box->value;
    registers[IA + 1] = FLOW_UNDEFINED;
    pc++;
    NEXT;
}
L_VALUE_CALLEE:
    A = frame->closure->upvalues[IW];
    registers[IA + 1] = FLOW_UNDEFINED;
    pc++;
    NEXT;
L_LOAD_UPVALUE:
    A = frame->closure->upvalues[IW];
    NEXT;
L_CHECK_INITIALIZED:
    if (LIKELY(!flow_is_hole(A))) NEXT;
    SLOW(interp_throw_uninitialized(vm, routine->constants[IW]));
L_CHECK_THIS:
    if (LIKELY(!flow_is_hole(A))) NEXT;
    SLOW(flow_throw_reference(vm, "Must call super constructor in derived class before accessing "
                                  "'this' or returning from derived constructor"));

L_CHECK_THIS_UNSET:
    if (LIKELY(flow_is_hole(A))) NEXT;
    SLOW(flow_throw_reference(vm, "Super constructor may only be called once"));

    // --- arithmetic
L_ADD:
    INT_ARITHMETIC(__builtin_sadd_overflow)
    FLOAT_ARITHMETIC(+)
    BINARY_SLOW();
L_SUB:
    INT_ARITHMETIC(__builtin_ssub_overflow)
    FLOAT_ARITHMETIC(-)
    BINARY_SLOW();
L_MUL:
    if (LIKELY(flow_is_int(B) && flow_is_int(C))) {
        int32_t product;
        bool is_zero = flow_as_int(B) == 0 || flow_as_int(C) == 0; // may be -0
        if (!__builtin_smul_overflow(flow_as_int(B), flow_as_int(C), &product) && !is_zero) {
            A = flow_int(product);
            NEXT;
        }
    }
    FLOAT_ARITHMETIC(*)
    BINARY_SLOW();
L_DIV:
    FLOAT_ARITHMETIC(/)
    BINARY_SLOW();
L_MOD:
    if (LIKELY(flow_is_int(B) && flow_is_int(C) && flow_as_int(B) >= 0 && flow_as_int(C) > 0)) {
        A = flow_int(flow_as_int(B) % flow_as_int(C));
        NEXT;
    }
    BINARY_SLOW();
L_EXP:
    BINARY_SLOW();
    BITWISE(BIT_AND, flow_int(x & y))
    BITWISE(BIT_OR, flow_int(x | y))
    BITWISE(BIT_XOR, flow_int(x ^ y))
    BITWISE(SHL, flow_int((int32_t)((uint32_t)x << ((uint32_t)y & 31))))
    BITWISE(SHR, flow_int(x >> ((uint32_t)y & 31)))
    BITWISE(USHR, flow_uint((uint32_t)x >> ((uint32_t)y & 31)))
    BITWISE_INT(BIT_AND, flow_int(x & y))
    BITWISE_INT(BIT_OR, flow_int(x | y))
    BITWISE_INT(SHL, flow_int((int32_t)((uint32_t)x << ((uint32_t)y & 31))))
    BITWISE_INT(SHR, flow_int(x >> ((uint32_t)y & 31)))
    BITWISE_INT(USHR, flow_uint((uint32_t)x >> ((uint32_t)y & 31)))
L_ADD_INT:
    if (LIKELY(flow_is_int(B))) {
        int32_t sum;
        if (LIKELY(!__builtin_sadd_overflow(flow_as_int(B), IMM, &sum))) {
            A = flow_int(sum);
            NEXT;
        }
    }
    if (flow_is_number(B)) {
        A = flow_number(flow_as_number(B) + IMM);
        NEXT;
    }
    BINARY_INT_SLOW(OP_ADD);
L_SUB_INT:
    if (LIKELY(flow_is_int(B))) {
        int32_t difference;
        if (LIKELY(!__builtin_ssub_overflow(flow_as_int(B), IMM, &difference))) {
            A = flow_int(difference);
            NEXT;
        }
    }
    if (flow_is_number(B)) {
        A = flow_number(flow_as_number(B) - IMM);
        NEXT;
    }
    BINARY_INT_SLOW(OP_SUB);
L_MUL_INT:
    if (LIKELY(flow_is_int(B))) {
        int32_t product;
        bool is_zero = flow_as_int(B) == 0 || IMM == 0; // may be -0
        if (LIKELY(!__builtin_smul_overflow(flow_as_int(B), IMM, &product) && !is_zero)) {
            A = flow_int(product);
            NEXT;
        }
    }
    if (flow_is_number(B)) {
        A = flow_number(flow_as_number(B) * IMM);
        NEXT;
    }
    BINARY_INT_SLOW(OP_MUL);
L_MOD_INT:
    if (LIKELY(flow_is_int(B) && flow_as_int(B) >= 0 && IMM > 0)) {
        A = flow_int(flow_as_int(B) % IMM);
        NEXT;
    }
    BINARY_INT_SLOW(OP_MOD);
L_NEGATE:
    if (LIKELY(flow_is_int(B) && flow_as_int(B) != 0 && flow_as_int(B) != INT32_MIN)) {
        A = flow_int(-flow_as_int(B));
        NEXT;
    }
    SLOW_HERE(interp_unary(vm, INSTRUCTION));
L_TO_NUMBER:
L_TO_NUMERIC:
    if (LIKELY(flow_is_number(B))) {
        A = B;
        NEXT;
    }
    SLOW_HERE(interp_unary(vm, INSTRUCTION));
L_INCREMENT:
    if (LIKELY(flow_is_int(B) && flow_as_int(B) != INT32_MAX)) {
        A = flow_int(flow_as_int(B) + 1);
        NEXT;
    }
    SLOW_HERE(interp_unary(vm, INSTRUCTION));
L_INCREMENT_LT:
    if (LIKELY(flow_is_int(A) && flow_as_int(A) != INT32_MAX)) {
        int32_t next = flow_as_int(A) + 1;
        A = flow_int(next);
        memcpy(&word, pc, sizeof word); // JUMP_LT
        if (UNLIKELY(!flow_is_int(B))) NEXT;
        pc++;
        if (next < flow_as_int(B)) JUMP_BY((int16_t)IC);
        NEXT;
    }
    goto L_INCREMENT;
L_INCREMENT_LT_INT:
    if (LIKELY(flow_is_int(A) && flow_as_int(A) != INT32_MAX)) {
        int32_t next = flow_as_int(A) + 1;
        A = flow_int(next);
        memcpy(&word, pc++, sizeof word); // JUMP_LT_INT
        if (next < (int32_t)(int16_t)IB) JUMP_BY((int16_t)IC);
        NEXT;
    }
    goto L_INCREMENT;
L_DECREMENT:
    if (LIKELY(flow_is_int(B) && flow_as_int(B) != INT32_MIN)) {
        A = flow_int(flow_as_int(B) - 1);
        NEXT;
    }
    SLOW_HERE(interp_unary(vm, INSTRUCTION));
L_BIT_NOT:
    if (LIKELY(flow_is_int(B))) {
        A = flow_int(~flow_as_int(B));
        NEXT;
    }
    SLOW_HERE(interp_unary(vm, INSTRUCTION));
L_NOT:
    A = flow_bool(!flow_to_boolean(B));
    NEXT;
L_TYPEOF:
    A = interp_typeof(vm, B);
    NEXT;
L_TO_STRING:
    if (LIKELY(flow_is_string(B))) {
        A = B;
        NEXT;
    }
    SLOW_HERE(interp_to_string(vm, INSTRUCTION));
L_TO_STRING_PART:
    if (LIKELY(flow_is_string(B) || flow_is_number(B))) {
        A = B;
        NEXT;
    }
    SLOW(interp_to_string(vm, INSTRUCTION));
L_TO_PROPERTY_KEY:
    SLOW_HERE(interp_to_property_key(vm, INSTRUCTION));
L_CONCAT:
    CHECK(interp_concat(vm, INSTRUCTION));
    SAFE_POINT();
    NEXT;

    // --- comparison
L_EQ:
L_NE:
    SLOW_HERE(interp_equal(vm, INSTRUCTION));
L_STRICT_EQ:
    A = flow_bool(flow_strict_equal(vm, B, C));
    NEXT;
L_STRICT_NE:
    A = flow_bool(!flow_strict_equal(vm, B, C));
    NEXT;
    COMPARE(LT, <)
    COMPARE(LE, <=)
    COMPARE(GT, >)
    COMPARE(GE, >=)
L_INSTANCEOF:
    SLOW_HERE(interp_instanceof(vm, INSTRUCTION));
L_IN:
    if (LIKELY(flow_is_object(C))) {
        FlowObject *object = flow_as_object(C);
        if (is_key_atom(B) ? interp_lookup_probe(vm, object->shape, B.bits) != NULL
                           : flow_is_int(B) && has_dense(object, (uint32_t)flow_as_int(B))) {
            A = FLOW_TRUE;
            NEXT;
        }
    }
    SLOW_HERE(interp_in(vm, INSTRUCTION));

    // --- jumps
L_JUMP:
    JUMP_BY(IW);
    NEXT;
L_JUMP_IF_TRUE:
    if (is_truthy(A)) JUMP_BY(IW);
    NEXT;
L_JUMP_IF_FALSE:
    if (!is_truthy(A)) JUMP_BY(IW);
    NEXT;
L_JUMP_IF_NULLISH:
    if (flow_is_nullish(A)) JUMP_BY(IW);
    NEXT;
L_JUMP_IF_NOT_NULLISH:
    if (!flow_is_nullish(A)) JUMP_BY(IW);
    NEXT;
L_JUMP_IF_UNDEFINED:
    if (flow_is_undefined(A)) JUMP_BY(IW);
    NEXT;
L_JUMP_IF_NOT_UNDEFINED:
    if (!flow_is_undefined(A)) JUMP_BY(IW);
    NEXT;
    JUMP_COMPARE(LT, OP_LT, <, true)
    JUMP_COMPARE(NOT_LT, OP_LT, <, false)
    JUMP_COMPARE(LE, OP_LE, <=, true)
    JUMP_COMPARE(NOT_LE, OP_LE, <=, false)
    JUMP_COMPARE(GT, OP_GT, >, true)
    JUMP_COMPARE(NOT_GT, OP_GT, >, false)
    JUMP_COMPARE(GE, OP_GE, >=, true)
    JUMP_COMPARE(NOT_GE, OP_GE, >=, false)
    JUMP_COMPARE_INT(LT, OP_LT, <, true)
    JUMP_COMPARE_INT(NOT_LT, OP_LT, <, false)
    JUMP_COMPARE_INT(LE, OP_LE, <=, true)
    JUMP_COMPARE_INT(NOT_LE, OP_LE, <=, false)
    JUMP_COMPARE_INT(GT, OP_GT, >, true)
    JUMP_COMPARE_INT(NOT_GT, OP_GT, >, false)
    JUMP_COMPARE_INT(GE, OP_GE, >=, true)
    JUMP_COMPARE_INT(NOT_GE, OP_GE, >=, false)
L_JUMP_EQ:
L_JUMP_NE:
    SLOW_JUMP(interp_jump_equal(vm, INSTRUCTION));
L_JUMP_STRICT_EQ:
    if (flow_strict_equal(vm, A, B)) JUMP_BY((int16_t)IC);
    NEXT;
L_JUMP_STRICT_NE:
    if (!flow_strict_equal(vm, A, B)) JUMP_BY((int16_t)IC);
    NEXT;
L_JUMP_STRICT_EQ_INT:
    if (flow_is_number(A) && flow_as_number(A) == (int16_t)IB) JUMP_BY((int16_t)IC);
    NEXT;
L_JUMP_STRICT_NE_INT:
    if (!(flow_is_number(A) && flow_as_number(A) == (int16_t)IB)) JUMP_BY((int16_t)IC);
    NEXT;

    // --- objects
L_NEW_OBJECT:
    A = flow_from_object(
        flow_object_new_sized(vm, vm->realm->protos[PROTO_OBJECT], IW > 0 ? (uint32_t)IW : 2));
    SAFE_POINT();
    NEXT;
L_NEW_ARRAY:
    A = flow_from_object(flow_array_new(vm, (uint32_t)IW));
    SAFE_POINT();
    NEXT;
L_ARRAY_PUSH:
    if (UNLIKELY(!flow_is_array(A))) goto broken;
    flow_array_push(vm, flow_as_array(A), B);
    SAFE_POINT();
    NEXT;
L_ARRAY_PUSH_HOLE:
    if (UNLIKELY(!flow_is_array(A))) goto broken;
    flow_as_array(A)->length++;
    NEXT;
L_ARRAY_SPREAD:
    if (UNLIKELY(!flow_is_array(A))) goto broken;
    SLOW_HERE(interp_array_spread(vm, INSTRUCTION));
L_NEW_REGEXP : {
    SAVE();
    FlowObject *regexp = flow_regexp_new(vm, flow_as_string(routine->constants[IB]),
                                         flow_as_string(routine->constants[IC]));
    if (!regexp) goto unwind;
    A = flow_from_object(regexp);
    SAFE_POINT();
    NEXT;
}
L_TEMPLATE_OBJECT:
    CHECK(interp_template_object(vm, INSTRUCTION));
    NEXT;
L_CLOSURE:
    CHECK(interp_closure(vm, INSTRUCTION));
    SAFE_POINT();
    NEXT;
L_GET_FIELD : {
    FlowValue receiver = B;
    FlowInlineCache *cache = &caches[IC];
    if (LIKELY(flow_is_object(receiver))) {
        FlowObject *object = flow_as_object(receiver);
        if (LIKELY(object->shape == cache->shape)) {
            if (LIKELY(!cache->holder)) {
                A = object->slots[cache->slot];
                NEXT;
            }
            if (LIKELY(cache->epoch == vm->proto_epoch)) {
                A = cache->holder->slots[cache->slot];
                NEXT;
            }
        }
        const FlowLookup *known =
            interp_lookup_probe(vm, object->shape, routine->sites[IC].key.bits);
        if (known && known->attributes & PROPERTY_ACCESSOR) {
            FlowValue pair = (known->holder ? known->holder : object)->slots[known->slot];
            FlowValue getter = ((FlowAccessor *)flow_as_pointer(pair))->getter;
            if (LIKELY(can_enter_accessor(vm, getter))) {
                SAVE();
                vm->fuel -= 2;
                vm->stack[vm->stack_top] = receiver;
                ENTER_SIMPLE(flow_as_pointer(getter), vm->stack_top, 0, RETURN_STORE,
                             frame->base + IA);
            }
        } else if (known && cache->shape && ++cache->misses % 16) {
            A = (known->holder ? known->holder : object)->slots[known->slot];
            NEXT;
        }
    } else if (flow_is_string(receiver)) {
        if (cache->shape == (FlowShape *)(void *)vm->realm->protos[PROTO_STRING] &&
            cache->epoch == vm->proto_epoch) {
            A = cache->holder->slots[cache->slot];
            NEXT;
        }
    }
    SLOW_HERE(interp_get_field(vm, INSTRUCTION, cache));
}
L_SET_FIELD : {
    FlowInlineCache *cache = &caches[IC];
    if (LIKELY(flow_is_object(A) && flow_as_object(A)->shape == cache->shape)) {
        FlowObject *object = flow_as_object(A);
        if (!cache->next) {
            object->slots[cache->slot] = B;
            NEXT;
        }
        if (cache->epoch == vm->proto_epoch && !(object->cell.aux & OBJECT_IS_PROTOTYPE)) {
            flow_object_append_slot(vm, object, cache->next, B);
            SAFE_POINT();
            NEXT;
        }
    } else if (flow_is_object(A)) {
        FlowObject *object = flow_as_object(A);
        const FlowLookup *known =
            interp_lookup_probe(vm, object->shape, routine->sites[IC].key.bits);
        if (known && known->attributes & PROPERTY_ACCESSOR) {
            FlowValue pair = (known->holder ? known->holder : object)->slots[known->slot];
            FlowValue setter = ((FlowAccessor *)flow_as_pointer(pair))->setter;
            if (LIKELY(can_enter_accessor(vm, setter))) {
                SAVE();
                vm->fuel -= 2;
                vm->stack[vm->stack_top] = A;
                vm->stack[vm->stack_top + 1] = B;
                ENTER_SIMPLE(flow_as_pointer(setter), vm->stack_top, 1, RETURN_DISCARD, 0);
            }
        } else if (known && cache->shape && is_plain_own(known, object) && ++cache->misses % 16) {
            object->slots[known->slot] = B;
            NEXT;
        }
    }
    SLOW_HERE(interp_set_field(vm, INSTRUCTION, cache));
}
L_INIT_FIELD : {
    FlowInlineCache *cache = &caches[IC];
    if (UNLIKELY(!flow_is_object(A))) goto broken;
    FlowObject *object = flow_as_object(A);
    if (LIKELY(object->shape == cache->shape && object->cell.kind == KIND_OBJECT)) {
        if (LIKELY(cache->next != NULL)) flow_object_append_slot(vm, object, cache->next, B);
        else object->slots[cache->slot] = B;
        SAFE_POINT();
        NEXT;
    }
    CHECK(interp_init_field(vm, INSTRUCTION, cache));
    SAFE_POINT();
    NEXT;
}
L_DEFINE_FIELD : {
    FlowInlineCache *cache = &caches[IC];
    if (UNLIKELY(!flow_is_object(A))) goto broken;
    FlowObject *object = flow_as_object(A);
    bool is_plain = object->cell.kind == KIND_OBJECT &&
                    !(object->cell.aux & (OBJECT_NOT_EXTENSIBLE | OBJECT_IS_PROTOTYPE));
    if (LIKELY(object->shape == cache->shape && cache->next && is_plain)) {
        flow_object_append_slot(vm, object, cache->next, B);
        SAFE_POINT();
        NEXT;
    }
    CHECK(interp_define_field(vm, INSTRUCTION, cache));
    SAFE_POINT();
    NEXT;
}
L_LENGTH_LT:
    if (LIKELY(flow_is_array(B))) {
        FlowValue length = flow_uint(flow_as_array(B)->length);
        A = length;
        memcpy(&word, pc, sizeof word); // JUMP_LT
        if (UNLIKELY(!flow_is_int(A) || !flow_is_int(length))) NEXT;
        pc++;
        if (flow_as_int(A) < flow_as_int(length)) JUMP_BY((int16_t)IC);
        NEXT;
    }
L_GET_LENGTH:
    if (LIKELY(flow_is_array(B))) {
        A = flow_uint(flow_as_array(B)->length);
        NEXT;
    }
    if (flow_is_string(B)) {
        A = flow_uint(flow_string_length(flow_as_string(B)));
        NEXT;
    }
    SLOW_HERE(interp_get_field(vm, INSTRUCTION, &caches[IC]));
L_ELEMENT_DEFINED:
    if (LIKELY(flow_is_int(C) && flow_is_object(B) &&
               has_dense(flow_as_object(B), (uint32_t)flow_as_int(C)))) {
        FlowValue value = flow_dense(flow_as_object(B))->values[flow_as_int(C)];
        A = value;
        memcpy(&word, pc++, sizeof word); // JUMP_IF_NOT_UNDEFINED
        if (LIKELY(!flow_is_undefined(value))) JUMP_BY(IW);
        NEXT;
    }
L_GET_ELEMENT:
    if (LIKELY(flow_is_int(C))) {
        uint32_t index = (uint32_t)flow_as_int(C);
        if (LIKELY(flow_is_object(B))) {
            FlowStorage *dense = flow_dense(flow_as_object(B));
            if (LIKELY(dense && index < dense->count)) {
                FlowValue value = dense->values[index];
                if (LIKELY(!flow_is_hole(value))) {
                    A = value;
                    NEXT;
                }
            }
        } else if (flow_is_string(B)) {
            FlowString *text = flow_as_string(B);
            if (!(text->cell.flags & STRING_ROPE) && index < flow_string_length(text)) {
                A = flow_from_string(flow_string_unit(vm, flow_string_at(text, index)));
                NEXT;
            }
        }
    } else if (flow_is_object(B) && is_key_atom(C)) {
        FlowObject *object = flow_as_object(B);
        const FlowLookup *known = interp_lookup_probe(vm, object->shape, C.bits);
        if (known && !(known->attributes & PROPERTY_ACCESSOR)) {
            A = (known->holder ? known->holder : object)->slots[known->slot];
            NEXT;
        }
    }
    SLOW_HERE(interp_get_element(vm, INSTRUCTION));
L_SET_ELEMENT:
    if (LIKELY(flow_is_int(B) && flow_is_array(A))) {
        FlowArray *array = flow_as_array(A);
        FlowStorage *dense = flow_dense(&array->object);
        uint32_t index = (uint32_t)flow_as_int(B);
        uint32_t blocked = OBJECT_ELEMENTS_FROZEN | OBJECT_NOT_EXTENSIBLE;
        if (LIKELY(dense && !(array->object.cell.aux & blocked) &&
                   !(array->object.cell.flags & CELL_SHARED))) {
            if (index < dense->count && !flow_is_hole(dense->values[index])) {
                dense->values[index] = C;
                NEXT;
            }
            bool is_append = index == array->length && index == dense->count &&
                             index < dense->cell.aux &&
                             !(array->object.cell.aux & OBJECT_LENGTH_READONLY);
            if (is_append && array->object.shape == vm->array_shape) {
                dense->values[dense->count++] = C;
                array->length++;
                NEXT;
            }
        }
    } else if (flow_is_object(A) && is_key_atom(B)) {
        FlowObject *object = flow_as_object(A);
        const FlowLookup *known = interp_lookup_probe(vm, object->shape, B.bits);
        if (known && is_plain_own(known, object)) {
            object->slots[known->slot] = C;
            NEXT;
        }
    }
    SLOW_HERE(interp_set_element(vm, INSTRUCTION));
L_INIT_ELEMENT:
    if (UNLIKELY(!flow_is_object(A) || flow_is_object(B))) goto broken;
    CHECK(interp_init_element(vm, INSTRUCTION));
    SAFE_POINT();
    NEXT;
L_DELETE_ELEMENT:
    SLOW(interp_delete_element(vm, INSTRUCTION));
L_GET_SUPER:
    if (UNLIKELY(!flow_is_object(B))) goto broken;
    SLOW_HERE(interp_get_super(vm, INSTRUCTION));
L_SET_SUPER:
    if (UNLIKELY(!flow_is_object(B))) goto broken;
    SLOW(interp_set_super(vm, INSTRUCTION));
L_SET_PROTO:
    if (UNLIKELY(!flow_is_object(A))) goto broken;
    if (flow_is_object(B)) flow_object_set_proto(vm, flow_as_object(A), flow_as_object(B));
    else if (flow_is_null(B)) flow_object_set_proto(vm, flow_as_object(A), NULL);
    NEXT;
L_SET_HOME:
    if (UNLIKELY(!flow_is_kind(A, KIND_CLOSURE) || !flow_is_object(B))) goto broken;
    ((FlowClosure *)flow_as_pointer(A))->home = flow_as_object(B);
    NEXT;
L_SET_FUNCTION_NAME:
    CHECK(interp_set_function_name(vm, INSTRUCTION));
    NEXT;
L_DEFINE_METHOD:
    if (UNLIKELY(!flow_is_object(A) || flow_is_object(B))) goto broken;
    CHECK(interp_define_method(vm, INSTRUCTION));
    NEXT;
L_DEFINE_GETTER:
L_DEFINE_SETTER:
L_DEFINE_CLASS_GETTER:
L_DEFINE_CLASS_SETTER:
    if (UNLIKELY(!flow_is_object(A) || flow_is_object(B))) goto broken;
    CHECK(interp_define_accessor(vm, INSTRUCTION));
    NEXT;
L_COPY_PROPERTIES:
    if (UNLIKELY(!flow_is_object(A))) goto broken;
    SLOW_HERE(interp_copy_properties(vm, INSTRUCTION));
L_OBJECT_REST:
    SLOW(interp_object_rest(vm, INSTRUCTION));
L_NEW_CLASS:
    if (UNLIKELY(!flow_is_kind(registers[IA + 1], KIND_CLOSURE))) goto broken;
    CHECK(interp_new_class(vm, INSTRUCTION));
    NEXT;
L_SET_FIELDS:
    if (UNLIKELY(!flow_is_kind(A, KIND_CLOSURE))) goto broken;
    ((FlowClosure *)flow_as_pointer(A))->fields = B;
    NEXT;
L_INIT_FIELDS:
    SLOW(interp_init_fields(vm, INSTRUCTION));
L_GET_SUPER_CONSTRUCTOR:
    if (UNLIKELY(!flow_is_object(B))) goto broken;
    CHECK(interp_get_super_constructor(vm, INSTRUCTION));
    NEXT;
L_NEW_PRIVATE_NAME:
    A = flow_from_symbol(flow_symbol_private(vm, routine->constants[IW]));
    NEXT;
L_NEW_PRIVATE_METHOD_NAME:
    A = flow_from_symbol(flow_symbol_private(vm, routine->constants[IW]));
    flow_as_symbol(A)->cell.aux |= SYMBOL_METHOD;
    NEXT;
L_GET_PRIVATE:
    if (LIKELY(flow_is_object(B) && flow_is_symbol(C))) {
        FlowObject *object = flow_as_object(B);
        const FlowLookup *known = interp_lookup_probe(vm, object->shape, C.bits);
        if (known && !known->holder && !(known->attributes & PROPERTY_ACCESSOR)) {
            A = object->slots[known->slot];
            NEXT;
        }
    }
L_HAS_PRIVATE:
    if (UNLIKELY(!flow_is_symbol(C))) goto broken;
    SLOW_HERE(interp_private(vm, INSTRUCTION));
L_SET_PRIVATE:
    if (LIKELY(flow_is_object(A) && flow_is_symbol(B))) {
        FlowObject *object = flow_as_object(A);
        const FlowLookup *known = interp_lookup_probe(vm, object->shape, B.bits);
        if (known && is_plain_own(known, object)) {
            object->slots[known->slot] = C;
            NEXT;
        }
    }
    if (UNLIKELY(!flow_is_symbol(B))) goto broken;
    SLOW_HERE(interp_private(vm, INSTRUCTION));
L_DEFINE_PRIVATE:
L_DEFINE_PRIVATE_METHOD:
L_DEFINE_PRIVATE_GETTER:
L_DEFINE_PRIVATE_SETTER:
    if (UNLIKELY(!flow_is_symbol(B) || !flow_is_object(A))) goto broken;
    CHECK(interp_private(vm, INSTRUCTION));
    SAFE_POINT();
    NEXT;
L_REQUIRE_OBJECT:
    if (LIKELY(!flow_is_nullish(A))) NEXT;
    SLOW(interp_require_object(vm, INSTRUCTION));
L_CHECK_OBJECT:
    if (LIKELY(flow_is_object(A))) NEXT;
    {
        char text[FLOW_TEXT_MAX];
        SLOW(
            flow_throw_type(vm, "Iterator result %s is not an object", flow_describe(vm, A, text)));
    }

    // --- calls
L_CALL : {
    FlowValue callee = A;
    vm->fuel -= 2;
    uint32_t block = frame->base + IA + 1;
    if (LIKELY(can_enter(vm, callee, block))) {
        SAVE();
        ENTER_SIMPLE(flow_as_pointer(callee), block, IB, RETURN_STORE, frame->base + IC);
    }
    if (LIKELY(flow_is_kind(callee, KIND_NATIVE_FUNCTION) && !vm->checks_intrinsics)) {
        SAVE();
        NATIVE_FAST(flow_as_pointer(callee), frame->base + IC)
    }
    SLOW(interp_call(vm, INSTRUCTION));
}
L_CALL_SPREAD:
L_NEW_SPREAD:
    vm->fuel -= 4;
    if (UNLIKELY(!flow_is_array(registers[IA + 2]))) goto broken;
    SLOW(interp_call_spread(vm, INSTRUCTION));
L_NEW:
    vm->fuel -= 4;
    SLOW(interp_new(vm, INSTRUCTION));
L_INTRINSIC : {
    if (UNLIKELY(vm->checks_intrinsics)) SLOW(interp_intrinsic(vm, INSTRUCTION));
    SAVE();
    NATIVE_FAST(vm->realm->intrinsics[IC], frame->base + IA)
}
L_RETURN : {
    FlowValue value = A;
    RETURN_FAST(value)
    SLOW(flow_vm_return(vm, value));
}
L_RETURN_UNDEFINED : {
    FlowValue value = FLOW_UNDEFINED;
    RETURN_FAST(value)
    SLOW(flow_vm_return(vm, value));
}
L_RETURN_DERIVED:
    SLOW(interp_return_derived(vm, INSTRUCTION));
L_THROW:
    SLOW(flow_throw(vm, A));
L_THROW_ERROR:
    SLOW(interp_throw_error(vm, INSTRUCTION));
L_THROW_CONST_ASSIGN:
    SLOW(flow_throw_type(vm, "Assignment to constant variable."));

    // --- suspension
L_AWAIT:
    if (UNLIKELY(!(routine->flags & ROUTINE_ASYNC) ||
                 (frame->flags & FRAME_GENERATOR && !frame->coroutine))) {
        goto broken;
    }
    SAVE();
    flow_coroutine_await(vm, B, IC);
    goto reload;
L_GENERATOR_START:
    if (UNLIKELY(frame->coroutine || !(frame->flags & FRAME_GENERATOR))) goto broken;
    SLOW(flow_coroutine_start_generator(vm, IC));
L_YIELD:
L_YIELD_RESULT:
    if (UNLIKELY(!frame->coroutine || !(frame->flags & FRAME_GENERATOR))) goto broken;
    SAVE();
    flow_coroutine_yield(vm, B, IC);
    goto reload;
L_RESUME : {
    FlowValue mode = registers[IA + 1];
    if (LIKELY(mode.bits == flow_int(RESUME_NEXT).bits)) NEXT;
    if (mode.bits == flow_int(RESUME_THROW).bits) SLOW(flow_throw(vm, A));
    JUMP_BY((int16_t)IC);
    NEXT;
}

    // --- iteration
L_GET_ITERATOR:
    // A plain array whose iteration nobody can have changed: the record is the array and an index.
    if (LIKELY(flow_is_array(B) && flow_as_object(B)->shape == vm->array_shape &&
               vm->override_count == 0 && IC == 0)) {
        FlowValue array = B;
        A = array;
        registers[IA + 1] = flow_int(0);
        registers[IA + 2] = FLOW_UNDEFINED;
        NEXT;
    }
    SLOW_HERE(interp_get_iterator(vm, INSTRUCTION));
L_GET_ASYNC_ITERATOR:
    SLOW_HERE(interp_get_iterator(vm, INSTRUCTION));
L_ITER_START:
    if (LIKELY(flow_is_int(registers[IA + 1]))) NEXT;
    SLOW_HERE(interp_iter_start(vm, INSTRUCTION));
L_ITER_NEXT:
    if (LIKELY(flow_is_int(registers[IA + 1]) && flow_is_array(A))) {
        FlowStorage *dense = flow_dense(flow_as_object(A));
        uint32_t index = (uint32_t)flow_as_int(registers[IA + 1]);
        if (LIKELY(dense && index < dense->count && !flow_is_hole(dense->values[index]))) {
            registers[IA + 1] = flow_int((int32_t)(index + 1));
            B = dense->values[index];
            pc++;
            NEXT;
        }
    } else if (UNLIKELY(flow_is_int(registers[IA + 1]))) {
        goto broken;
    }
    vm->fuel -= 4;
    SLOW_HERE(interp_iter_next(vm, INSTRUCTION));
L_ITER_CALL_NEXT:
    SLOW(interp_iter_next(vm, INSTRUCTION));
L_ITER_VALUE:
L_ITER_STEP_VALUE:
    SLOW_HERE(interp_iter_value(vm, INSTRUCTION));
L_ITER_STEP:
    if (LIKELY(flow_is_int(registers[IA + 1]))) {
        if (UNLIKELY(!flow_is_array(A))) goto broken;
        FlowStorage *dense = flow_dense(flow_as_object(A));
        uint32_t index = (uint32_t)flow_as_int(registers[IA + 1]);
        if (LIKELY(dense && index < dense->count && !flow_is_hole(dense->values[index]) &&
                   !flow_is_true(registers[IA + 2]))) {
            registers[IA + 1] = flow_int((int32_t)(index + 1));
            B = dense->values[index];
            pc++;
            NEXT;
        }
    }
    SLOW_HERE(interp_iter_step(vm, INSTRUCTION));
L_ITER_REST:
    if (UNLIKELY(flow_is_int(registers[IA + 1]) && !flow_is_array(A))) goto broken;
    SLOW(interp_iter_rest(vm, INSTRUCTION));
L_ITER_CLOSE:
L_ITER_CLOSE_SILENT:
    if (LIKELY(flow_is_int(registers[IA + 1]) || flow_is_true(registers[IA + 2]))) NEXT;
    SLOW_HERE(interp_iter_close(vm, INSTRUCTION));
L_ITER_GET_METHOD:
    SLOW(interp_iter_get_method(vm, INSTRUCTION));
L_FOR_IN_START:
    CHECK(interp_for_in_start(vm, INSTRUCTION));
    SAFE_POINT();
    NEXT;
L_FOR_IN_NEXT:
    if (UNLIKELY(!flow_is_array(A) || !flow_is_int(registers[IA + 1]))) goto broken;
    vm->fuel -= 2;
    SLOW_HERE(interp_for_in_next(vm, INSTRUCTION));
}
