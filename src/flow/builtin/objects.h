// The built-ins around objects: tables for the realm, and what their files share.
//
// A method that can be done without running script code in the usual case is a native with a
// prelude routine beside it (NATIVE_SLOW): the native looks at what it got, does the work when it
// is plain data, and otherwise leaves everything to the routine, which follows the specification
// step by step. So the fast path never has to be half right.
#pragma once
#include "flow/realm/realm.h"
#include "flow/value/table.h"
#include "flow/vm/native.h"

extern const FlowClassEntry flow_class_object;
extern const FlowClassEntry flow_class_function;
extern const FlowClassEntry flow_class_array;
extern const FlowClassEntry flow_class_array_iterator;
extern const FlowClassEntry flow_class_map;
extern const FlowClassEntry flow_class_map_iterator;
extern const FlowClassEntry flow_class_set;
extern const FlowClassEntry flow_class_set_iterator;
extern const FlowClassEntry flow_class_weak_map;
extern const FlowClassEntry flow_class_weak_set;
extern const FlowClassEntry flow_class_iterator;
extern const FlowClassEntry flow_class_async_iterator;
extern const FlowClassEntry flow_class_json;
extern const FlowClassEntry flow_class_console;
extern const FlowClassEntry flow_class_error;
extern const FlowClassEntry flow_class_type_error;
extern const FlowClassEntry flow_class_range_error;
extern const FlowClassEntry flow_class_reference_error;
extern const FlowClassEntry flow_class_syntax_error;
extern const FlowClassEntry flow_class_uri_error;
extern const FlowClassEntry flow_class_eval_error;
extern const FlowClassEntry flow_class_aggregate_error;
extern const FlowClassEntry flow_class_task_error;
extern const FlowClassEntry flow_class_timeout_error;
extern const FlowClassEntry flow_class_cancelled_error;
extern const FlowClassEntry flow_class_child_error;

extern const FlowNativeEntry flow_globals_clone[];

extern const FlowNativeEntry flow_intrinsics_object[];
extern const FlowNativeEntry flow_intrinsics_property[];
extern const FlowNativeEntry flow_intrinsics_array[];
extern const FlowNativeEntry flow_intrinsics_collection[];
extern const FlowNativeEntry flow_intrinsics_json[];
extern const FlowNativeEntry flow_intrinsics_function[];
extern const FlowNativeEntry flow_intrinsics_clone[];

// --- fast and slow paths (builtin/objects.c)
#define NATIVE_SLOW(name, function, routine, length)                                               \
    { name, function, routine, length, 0, 0 }
// Ends the native: the prelude routine of its entry runs with the same this and arguments.
FlowNativeResult flow_native_slow(FlowVm *vm, FlowNativeCall *call);

// --- objects (builtin/object.c)
// ToObject. NULL: nullish, TypeError pending.
FlowObject *flow_to_object(FlowVm *vm, FlowValue value);
// [[Class]] as Object.prototype.toString shows it without Symbol.toStringTag.
const char *flow_builtin_tag(FlowValue value);
// Own enumerable string keys with their properties, in order, without running anything. The
// object must not gain or lose properties meanwhile.
typedef struct FlowOwnCursor {
    FlowVm *vm;
    FlowObject *object;
    FlowObject *body;
    uint32_t element; // next index; UINT32_MAX: past the elements
    uint32_t slot;    // next named property
    bool has_symbols; // symbol keys instead of strings
} FlowOwnCursor;
FlowOwnCursor flow_own_cursor(FlowVm *vm, FlowObject *object);
bool flow_own_next(FlowOwnCursor *cursor, FlowKey *ret_key, FlowProperty *ret);
// Prelude and natives of property descriptors (builtin/descriptor.c).
FlowNativeResult flow_object_define_property(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_object_own_descriptor(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_object_own_descriptors(FlowVm *vm, FlowNativeCall *call);

// --- arrays (builtin/array.c)
// An array of this VM with plain elements (dense, or none), and no elements on its prototypes: so
// a hole means "absent" and reads as undefined.
bool flow_array_is_plain(FlowVm *vm, FlowValue value);
// The same, and its elements and length may be changed.
bool flow_array_is_open(FlowVm *vm, FlowValue value);
// Whether ArraySpeciesCreate of it makes an ordinary array.
bool flow_array_has_plain_species(FlowVm *vm, FlowValue value);
// The element of a plain array; HOLE for a hole.
static inline FlowValue flow_array_at(const FlowArray *array, uint32_t index) {
    const FlowStorage *storage = (const FlowStorage *)(const void *)array->object.elements;
    return storage && index < storage->count ? storage->values[index] : FLOW_HOLE;
}
// A relative index (slice, fill, at): negative counts from the end, then clamped to 0..length.
double flow_relative_index(double integer, double length);

// --- iterators (builtin/iterator.c)
typedef enum FlowIteratorKind { // internal[2] of a KIND_ITERATOR; stable: in snapshots
    ITERATOR_ARRAY_KEYS = 1,
    ITERATOR_ARRAY_VALUES,
    ITERATOR_ARRAY_ENTRIES,
    ITERATOR_MAP_KEYS,
    ITERATOR_MAP_VALUES,
    ITERATOR_MAP_ENTRIES,
    ITERATOR_SET_VALUES,
    ITERATOR_SET_ENTRIES,
    ITERATOR_STRING,
    ITERATOR_REGEXP_STRING,
} FlowIteratorKind;
FlowValue flow_iterator_new(FlowVm *vm, FlowProtoId proto, FlowIteratorKind kind, FlowValue over);
// Whether `for (x of array)` can be had by counting: nobody has touched the array's iterator.
bool flow_array_iterates_plainly(FlowVm *vm, FlowValue value);
// What next() of a built-in iterator would answer, without an object for it.
typedef enum FlowIteratorStep {
    ITERATOR_ITEM,
    ITERATOR_END,
    ITERATOR_UNSURE, // nothing was done: `next` is not ours, or what it goes over is not plain
} FlowIteratorStep;
FlowIteratorStep flow_iterator_step(FlowVm *vm, FlowValue iterator, FlowValue next,
                                    FlowValue *ret_item);
uint32_t flow_iterator_remaining(FlowVm *vm, const FlowSlotObject *iterator); // or fewer
// Intrinsics of the prelude's side of array iterators.
FlowNativeResult flow_iterator_target(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_iterator_position(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_iterator_kind(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_iterator_move(FlowVm *vm, FlowNativeCall *call);

// --- Map and Set (builtin/map_set.c)
// The table of a collection of `kind` in `this`. NULL: another kind, TypeError pending.
FlowSlotObject *flow_this_collection(FlowVm *vm, FlowNativeCall *call, FlowKind kind,
                                     const char *method);

// --- JSON (text/json_parse.c, text/json_stringify.c)
FlowNativeResult flow_json_parse(FlowVm *vm, FlowNativeCall *call);
