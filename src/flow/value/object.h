// Objects: shapes, properties, arrays, functions.
//
// A shape says which named properties an object has and in which slots; objects made by the same
// code share shapes, and inline caches compare shapes. The keys of a chain of shapes are in one
// FlowKeys table: a shape owns its first `count` entries, and property i is in slot i.
// An object with many properties, a deletion or changed attributes gets a shape of its own
// (SHAPE_DICTIONARY), which may change in place.
//
// Elements (array index keys) are apart: dense FlowStorage with HOLE for holes, all with default
// attributes; or FlowSparse when there are big gaps or other attributes.
//
//   [value-object-1] A shape that is not a dictionary never changes (transitions are a cache).
//   [value-object-2] Objects with CELL_SHARED (the realm's) never change; a script that changes one
//        gets a copy in vm->overrides, and flow_object_body() answers the copy. Identity stays with
//        the realm object; hidden state is never copied because realm objects have none that
//        changes.
//   [value-object-3] Changing an object that is some shape's prototype bumps vm->proto_epoch.
//   [value-object-4] Nothing here runs script code: an accessor is answered as such.
#pragma once
#include "flow/code/code.h"
#include "flow/value/string.h"

// A property key: an atom that is no array index, a symbol, or an array index (tag INT with the
// index as uint32 payload).
typedef struct FlowKey {
    uint64_t bits;
} FlowKey;
static inline FlowKey flow_key_index(uint32_t index) { return (FlowKey){VALUE_TAG_INT | index}; }
static inline FlowKey flow_key_atom(FlowValue atom) { return (FlowKey){atom.bits}; }
static inline bool flow_key_is_index(FlowKey key) {
    return (key.bits & VALUE_TAG_MASK) == VALUE_TAG_INT;
}
static inline bool flow_key_is_symbol(FlowKey key) {
    return (key.bits & VALUE_TAG_MASK) == VALUE_TAG_SYMBOL;
}
static inline uint32_t flow_key_as_index(FlowKey key) { return (uint32_t)key.bits; }
FlowKey flow_key_cstr(FlowVm *vm, const char *ascii);
FlowKey flow_key_string(FlowVm *vm, FlowString *s);
// From a primitive value (objects need ToPrimitive first; answers false for them).
bool flow_key_from_value(FlowVm *vm, FlowValue value, FlowKey *ret_key);
// The key as a script sees it: string or symbol.
FlowValue flow_key_to_value(FlowVm *vm, FlowKey key);
bool flow_key_is_private(FlowKey key);

enum { // property attributes
    PROPERTY_WRITABLE = 1,
    PROPERTY_ENUMERABLE = 2,
    PROPERTY_CONFIGURABLE = 4,
    PROPERTY_ACCESSOR = 8, // the slot holds a FlowAccessor
    PROPERTY_DEFAULT = 7,  // what assignment makes
    PROPERTY_HIDDEN = 5,   // what built-in methods have
};

typedef struct FlowKeys { // grows at the end; see file head
    FlowCell cell;        // aux = capacity (entries)
    uint32_t count;
    uint32_t hash_capacity; // 0 while there are few keys: linear search
    uint32_t *hash;         // 1 + entry index by hash; malloc'ed, owned
    struct FlowKeyEntry {
        FlowKey key; // bits 0: deleted (dictionaries only)
        uint32_t attributes;
        uint32_t next; // unused
    } entries[];
} FlowKeys;

enum { SHAPE_DICTIONARY = 1 };

struct FlowShape {
    FlowCell cell;     // aux: SHAPE_*
    FlowObject *proto; // NULL: null prototype
    FlowKeys *keys;    // NULL when count is 0
    uint32_t count;    // entries of keys that belong to this shape = slots in use
    uint32_t transition_count;
    FlowShape *parent; // NULL for the root of a prototype and for dictionaries
    union {
        FlowShape *single;       // transition_count == 1
        FlowShape **transitions; // hash table by (key, attributes); malloc'ed, owned
    };
    uint32_t transition_capacity;
    uint32_t is_listed;    // in heap->shapes
    uint32_t live_count;   // dictionaries: entries that are not deleted
    FlowShape *next_shape; // heap->shapes: those whose transitions a collection looks at
};

typedef struct FlowStorage {
    FlowCell cell;  // aux = capacity in values
    uint32_t count; // elements: used length; slots: unused
    uint32_t unused;
    FlowValue values[];
} FlowStorage;

typedef struct FlowSparse { // elements by index, sorted by index when somebody looks
    FlowCell cell;          // aux = capacity
    uint32_t count;
    uint32_t is_sorted;
    struct FlowSparseEntry {
        uint32_t index;
        uint32_t attributes;
        FlowValue value; // or FlowAccessor
    } entries[];
} FlowSparse;

typedef struct FlowAccessor {
    FlowCell cell;
    FlowValue getter; // function or undefined
    FlowValue setter;
} FlowAccessor;

enum { OBJECT_SLOTS_APART = 1 << 2 }; // cell.flags: slots are in a FlowStorage, not inline

enum { // FlowObject.cell.aux
    OBJECT_NOT_EXTENSIBLE = 1 << 0,
    OBJECT_ELEMENTS_SEALED = 1 << 1, // dense elements are not configurable
    OBJECT_ELEMENTS_FROZEN = 1 << 2, // and not writable
    OBJECT_IS_PROTOTYPE = 1 << 3,    // some shape's proto: see [value-object-3]
    OBJECT_LENGTH_READONLY = 1 << 4, // arrays: length is not writable
    OBJECT_CLASS_CONSTRUCTOR = 1 << 5,
    OBJECT_IS_HANDLE = 1 << 6,     // promise of a host awaitable
    OBJECT_LAZY_FUNCTION = 1 << 7, // function whose name/length/prototype do not exist yet
};

struct FlowObject {
    FlowCell cell; // small = inline slot capacity; aux = OBJECT_*
    FlowShape *shape;
    FlowValue *slots;   // inline area behind the object, or FlowStorage.values
    FlowCell *elements; // NULL, FlowStorage (KIND_ELEMENTS) or FlowSparse
};

typedef struct FlowArray {
    FlowObject object;
    uint32_t length; // >= count of dense elements; the gap reads as holes
    uint32_t unused;
} FlowArray;

typedef struct FlowClosure {
    FlowObject object;
    const FlowRoutine *routine;
    FlowObject *home;     // for super; NULL
    FlowValue fields;     // class constructors: field initialiser, or undefined
    FlowValue name;       // while lazy: HOLE = routine->name, else what SET_FUNCTION_NAME said
    FlowValue upvalues[]; // routine->upvalue_count; boxes or values
} FlowClosure;

typedef struct FlowSlotObject { // hidden state of built-ins
    FlowObject object;
    FlowValue internal[4];
} FlowSlotObject;

typedef struct FlowErrorObject {
    FlowObject object;
    FlowValue frames; // captured stack, rendered lazily: string once rendered (error.h)
} FlowErrorObject;

typedef struct FlowBoundFunction {
    FlowObject object;
    FlowValue target;
    FlowValue this_value;
    uint32_t count;
    uint32_t unused;
    FlowValue arguments[];
} FlowBoundFunction;

// "[secret NAME]": how a KIND_SECRET shows (builtin/text/secret.c).
void flow_secret_mask(FlowVm *vm, const FlowObject *secret, Buf *out);
FlowValue flow_secret_new(FlowVm *vm, FlowString *name); // without a prefix

// --- making
FlowObject *flow_object_new(FlowVm *vm, FlowObject *proto); // KIND_OBJECT
FlowObject *flow_object_new_sized(FlowVm *vm, FlowObject *proto, uint32_t slot_count);
FlowObject *flow_object_plain(FlowVm *vm); // of Object.prototype
// Any kind: `size` bytes of struct; inline slots come behind it.
FlowObject *flow_object_alloc(FlowVm *vm, FlowKind kind, size_t size, FlowObject *proto);
FlowSlotObject *flow_slot_object_new(FlowVm *vm, FlowKind kind, FlowObject *proto);
FlowArray *flow_array_new(FlowVm *vm, uint32_t capacity); // length 0
FlowArray *flow_array_from(FlowVm *vm, const FlowValue *values, uint32_t count);
FlowClosure *flow_closure_new(FlowVm *vm, const FlowRoutine *routine);
FlowBox *flow_box_new(FlowVm *vm, FlowValue value);
bool flow_is_constructor(FlowValue value);
// The name a function gets from its property key; prefix "", "get " or "set ".
FlowValue flow_function_name_of_key(FlowVm *vm, FlowValue key, const char *prefix);

// --- shapes
FlowShape *flow_shape_root(FlowVm *vm, FlowObject *proto); // the empty shape of that prototype
// Where `key` is; false when the shape does not have it. Not for index keys.
bool flow_shape_find(const FlowShape *shape, FlowKey key, uint32_t *ret_slot, uint32_t *ret_attrs);

// --- properties. `object` may be a realm object: all of these go through flow_object_body.
FlowObject *flow_object_override(FlowVm *vm, FlowObject *object);      // the copy, or object itself
FlowObject *flow_object_writable_body(FlowVm *vm, FlowObject *object); // makes the copy
#define flow_object_body(vm, object) flow_object_override((vm), (object))

typedef struct FlowProperty {
    FlowValue value;  // data: the value; accessor: HOLE
    FlowValue getter; // accessors
    FlowValue setter;
    FlowObject *holder; // the body it was found in
    FlowValue *place;   // where the data is stored, NULL for computed ones (array length, string)
    uint32_t slot;      // of named properties in holder
    uint32_t attributes;
} FlowProperty;

// Own property, computed ones included (array length, string characters, lazy function fields).
bool flow_object_get_own(FlowVm *vm, FlowObject *object, FlowKey key, FlowProperty *ret);
// Along the prototype chain.
bool flow_object_lookup(FlowVm *vm, FlowObject *object, FlowKey key, FlowProperty *ret);
// Data value along the chain: undefined when absent or when it is an accessor (built-ins only).
FlowValue flow_object_get_data(FlowVm *vm, FlowObject *object, FlowKey key);
bool flow_object_has_own(FlowVm *vm, FlowObject *object, FlowKey key);
bool flow_object_has(FlowVm *vm, FlowObject *object, FlowKey key);

// CreateDataProperty with default attributes. False: not extensible or not configurable.
bool flow_object_put(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value);
void flow_object_put_cstr(FlowVm *vm, FlowObject *object, const char *name, FlowValue value);
// Adds or replaces with these attributes, no questions asked (built-ins, literals, classes).
void flow_object_define(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value,
                        uint32_t attributes);
typedef struct FlowGetSet {
    FlowValue getter; // HOLE keeps the old one
    FlowValue setter;
} FlowGetSet;
void flow_object_define_accessor(FlowVm *vm, FlowObject *object, FlowKey key, FlowGetSet pair,
                                 uint32_t attributes);

enum { // which fields of a descriptor are present
    DESCRIPTOR_VALUE = 16,
    DESCRIPTOR_GET = 32,
    DESCRIPTOR_SET = 64,
    DESCRIPTOR_WRITABLE = 128,
    DESCRIPTOR_ENUMERABLE = 256,
    DESCRIPTOR_CONFIGURABLE = 512,
};
typedef struct FlowDescriptor {
    FlowValue value;
    FlowValue getter;
    FlowValue setter;
    uint32_t attributes; // PROPERTY_* of the fields present
    uint32_t present;    // DESCRIPTOR_*
} FlowDescriptor;
// ValidateAndApplyPropertyDescriptor. False: refused (the caller throws).
bool flow_object_define_own(FlowVm *vm, FlowObject *object, FlowKey key, const FlowDescriptor *d);
bool flow_object_delete(FlowVm *vm, FlowObject *object, FlowKey key); // false: not configurable

// OrdinarySet up to where script code would run.
typedef enum FlowSetResult {
    SET_DONE,
    SET_SETTER,
    SET_READONLY,
    SET_NO_SETTER,
    SET_NOT_EXTENSIBLE,
    SET_TOO_LONG
} FlowSetResult;
FlowSetResult flow_object_set(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value,
                              FlowValue *ret_setter);

FlowObject *flow_object_proto(FlowVm *vm, FlowObject *object);
bool flow_object_set_proto(FlowVm *vm, FlowObject *object, FlowObject *proto); // false: refused
bool flow_object_is_extensible(FlowVm *vm, FlowObject *object);
void flow_object_prevent_extensions(FlowVm *vm, FlowObject *object);
void flow_object_freeze(FlowVm *vm, FlowObject *object, bool is_seal_only);
bool flow_object_test_integrity(FlowVm *vm, FlowObject *object, bool is_seal_only);
FlowObject *flow_object_of_primitive(FlowVm *vm, FlowValue value); // its prototype; NULL: nullish

// Own keys in specification order: indices, strings, symbols. No private names.
enum { KEYS_STRINGS = 1, KEYS_SYMBOLS = 2, KEYS_ENUMERABLE_ONLY = 4 };
FlowArray *flow_object_keys(FlowVm *vm, FlowObject *object, uint32_t which);

// --- arrays
static inline bool flow_is_array(FlowValue v) { return flow_is_kind(v, KIND_ARRAY); }
static inline FlowArray *flow_as_array(FlowValue v) { return (FlowArray *)flow_as_pointer(v); }
// The dense elements of an array without holes or gap, writable or not; NULL otherwise.
FlowValue *flow_array_dense(FlowArray *array);
void flow_array_push(FlowVm *vm, FlowArray *array, FlowValue value); // extensible literals only
// The same for `count` values that are not in the array itself.
void flow_array_append(FlowVm *vm, FlowArray *array, const FlowValue *values, uint32_t count);
void flow_array_reserve(FlowVm *vm, FlowArray *array, uint32_t capacity);
bool flow_array_set_length(FlowVm *vm, FlowArray *array, uint32_t length); // false: refused
// Own element without holes: HOLE when absent or when it is an accessor.
FlowValue flow_object_element(FlowVm *vm, FlowObject *object, uint32_t index);
