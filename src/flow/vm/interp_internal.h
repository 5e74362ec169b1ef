// What the interpreter loop calls when an instruction is not the simple case. Each answers false
// with an exception pending, or true with the result stored or a frame pushed that will store it;
// the loop then reloads its view of the topmost frame. `pc` of the frame is already the next one.
#pragma once
#include "flow/vm/vm.h"

static inline FlowFrame *interp_frame(FlowVm *vm) { return &vm->frames[vm->frame_count - 1]; }
static inline uint32_t interp_base(FlowVm *vm) { return interp_frame(vm)->base; }

// --- the lookup table
static inline FlowLookup *interp_lookup_entry(FlowVm *vm, const FlowShape *shape, uint64_t key) {
    uint64_t hash = ((uint64_t)(uintptr_t)shape >> 5) + (key >> 4);
    return &vm->lookups[(hash ^ hash >> 8) & (LOOKUP_COUNT - 1)];
}
// What is known about `key` in objects of that shape; NULL: nothing.
static inline const FlowLookup *interp_lookup_probe(FlowVm *vm, const FlowShape *shape,
                                                    uint64_t key) {
    const FlowLookup *entry = interp_lookup_entry(vm, shape, key);
    if (entry->shape != shape || entry->key != key) return NULL;
    return !entry->holder || entry->epoch == vm->proto_epoch ? entry : NULL;
}
// The same, and looks it up when it is not known. NULL: not there, or not to be remembered.
const FlowLookup *interp_lookup(FlowVm *vm, FlowObject *object, FlowKey key);

// --- interp_property.c
bool interp_get_value(FlowVm *vm, FlowValue object, FlowKey key, uint32_t return_to);
bool interp_get_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache);
bool interp_set_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache);
bool interp_init_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache);
bool interp_define_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache);
bool interp_get_element(FlowVm *vm, FlowInstruction in);
bool interp_set_element(FlowVm *vm, FlowInstruction in);
bool interp_init_element(FlowVm *vm, FlowInstruction in);
bool interp_delete_element(FlowVm *vm, FlowInstruction in);
bool interp_get_global(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache);
bool interp_typeof_global(FlowVm *vm, FlowInstruction in);
bool interp_set_global(FlowVm *vm, FlowInstruction in);
bool interp_get_super(FlowVm *vm, FlowInstruction in);
bool interp_set_super(FlowVm *vm, FlowInstruction in);
bool interp_in(FlowVm *vm, FlowInstruction in);

// --- interp_operator.c
bool interp_binary(FlowVm *vm, uint16_t op, FlowValue a, FlowValue b, uint32_t return_to);
bool interp_unary(FlowVm *vm, FlowInstruction in);
bool interp_compare(FlowVm *vm, FlowInstruction in);
bool interp_equal(FlowVm *vm, FlowInstruction in);
// Fused compare and jump: takes the jump in frame->pc, or leaves it to a helper frame.
bool interp_jump_compare(FlowVm *vm, FlowInstruction in, uint16_t op, FlowValue b);
bool interp_jump_equal(FlowVm *vm, FlowInstruction in);
bool interp_instanceof(FlowVm *vm, FlowInstruction in);
bool interp_to_string(FlowVm *vm, FlowInstruction in);
bool interp_to_property_key(FlowVm *vm, FlowInstruction in);
bool interp_concat(FlowVm *vm, FlowInstruction in);
FlowValue interp_typeof(FlowVm *vm, FlowValue value);

// --- interp_class.c
bool interp_new_class(FlowVm *vm, FlowInstruction in);
bool interp_define_method(FlowVm *vm, FlowInstruction in);
bool interp_define_accessor(FlowVm *vm, FlowInstruction in);
bool interp_set_function_name(FlowVm *vm, FlowInstruction in);
bool interp_init_fields(FlowVm *vm, FlowInstruction in);
bool interp_get_super_constructor(FlowVm *vm, FlowInstruction in);
bool interp_private(FlowVm *vm, FlowInstruction in); // all *_PRIVATE* but NEW_PRIVATE_NAME
bool interp_closure(FlowVm *vm, FlowInstruction in);
bool interp_template_object(FlowVm *vm, FlowInstruction in);
bool interp_copy_properties(FlowVm *vm, FlowInstruction in);
bool interp_object_rest(FlowVm *vm, FlowInstruction in);
bool interp_require_object(FlowVm *vm, FlowInstruction in);

// --- interp_iterate.c
bool interp_get_iterator(FlowVm *vm, FlowInstruction in);
bool interp_iter_start(FlowVm *vm, FlowInstruction in);
bool interp_iter_next(FlowVm *vm, FlowInstruction in);  // ITER_NEXT, slow or at the end
bool interp_iter_value(FlowVm *vm, FlowInstruction in); // ITER_VALUE, ITER_STEP_VALUE
bool interp_iter_step(FlowVm *vm, FlowInstruction in);
bool interp_iter_rest(FlowVm *vm, FlowInstruction in);
bool interp_iter_close(FlowVm *vm, FlowInstruction in);
bool interp_iter_get_method(FlowVm *vm, FlowInstruction in);
bool interp_array_spread(FlowVm *vm, FlowInstruction in);
bool interp_for_in_start(FlowVm *vm, FlowInstruction in);
bool interp_for_in_next(FlowVm *vm, FlowInstruction in);

// --- interp_call.c
bool interp_call(FlowVm *vm, FlowInstruction in);
bool interp_call_spread(FlowVm *vm, FlowInstruction in);
bool interp_new(FlowVm *vm, FlowInstruction in);
bool interp_intrinsic(FlowVm *vm, FlowInstruction in); // checked: see vm->checks_intrinsics
bool interp_return_derived(FlowVm *vm, FlowInstruction in);
bool interp_throw_uninitialized(FlowVm *vm, FlowValue name);
bool interp_throw_damaged(FlowVm *vm); // a register holds what the compiler never puts there
bool interp_throw_error(FlowVm *vm, FlowInstruction in);
// "text is not a function", with the source text of the operand if the compiler left one.
bool interp_throw_described(FlowVm *vm, FlowValue value, const char *what);
