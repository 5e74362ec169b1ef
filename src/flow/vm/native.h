// Natives: built-in functions in C, and the tables that put them into the realm.
//
// A native sees its arguments in place on the VM stack and answers a FlowNativeResult. It never
// calls script code, never runs the interpreter, and never collects: raw pointers stay valid
// until it returns. What needs script code (callbacks, getters, toString of objects) is written
// in the prelude (prelude/*.js) and uses natives as intrinsics.
//
//   [vm-native-1] A native has no effect before it has checked its arguments, because a native that
//        answers NATIVE_NEEDS_PRIMITIVE or NATIVE_NEEDS_ROOM is called again from the start.
//   [vm-native-2] NATIVE_THROW comes with vm->exception set (flow_throw_* and flow_native_throw do
//        it).
//   [vm-native-3] NATIVE_CALL ends the native: what it calls delivers the result in its place.
//
// Adding built-ins: write the functions, list them in a FlowNativeEntry table, list the table in
// a FlowClassEntry (an object or constructor with prototype), and name that in realm/tables.c.
// Entries and classes must not be reordered or removed once released: snapshots name functions
// by their path ("Array.prototype.at"), so additions are free and renames are not.
#pragma once
#include "flow/value/error.h"
#include "flow/value/operators.h"

typedef enum FlowNativeResult {
    NATIVE_OK,
    NATIVE_THROW,
    NATIVE_NEEDS_PRIMITIVE, // call->needs_index/needs_hint say which; see flow_native_primitive
    NATIVE_NEEDS_ROOM,      // collect, then call again; see flow_native_room
    NATIVE_CALL,            // run call->call_function(call_this, call_arguments) instead
    NATIVE_RESUME,          // generators: go on with coroutine resume_target
} FlowNativeResult;

typedef enum FlowHint { HINT_DEFAULT, HINT_NUMBER, HINT_STRING } FlowHint;

typedef struct FlowNativeCall {
    FlowValue *this_value; // in place; -1 as argument index means it
    FlowValue *arguments;  // `count` of them
    uint32_t count;
    FlowValue new_target; // undefined when called without new
    FlowValue function;   // the function object itself (its data: FlowNativeFunction)
    FlowValue result;     // undefined unless set
    // for NATIVE_NEEDS_PRIMITIVE
    int needs_index;
    FlowHint needs_hint;
    // for NATIVE_CALL
    FlowValue call_function;
    FlowValue call_this;
    FlowArray *call_arguments; // NULL: none, or
    uint32_t call_skips;       // not 0: those of this call, without so many at the front
    FlowValue call_new_target; // undefined: a call; else a construction
    // for NATIVE_RESUME
    FlowValue resume_target;
    FlowValue resume_value;
    uint8_t resume_mode; // FlowResumeMode
    bool has_collected;  // second try after NATIVE_NEEDS_ROOM
} FlowNativeCall;

typedef FlowNativeResult (*FlowNative)(FlowVm *vm, FlowNativeCall *call);

// `block` is where this is; the arguments follow. Fields that an answer fills stay unset.
static inline void flow_native_call_init(FlowNativeCall *call, FlowValue *block, uint32_t count,
                                         FlowValue function) {
    call->this_value = block;
    call->arguments = block + 1;
    call->count = count;
    call->new_target = FLOW_UNDEFINED;
    call->function = function;
    call->result = FLOW_UNDEFINED;
    call->call_arguments = NULL;
    call->call_skips = 0;
    call->call_new_target = FLOW_UNDEFINED;
    call->has_collected = false;
}

static inline FlowValue flow_argument(const FlowNativeCall *call, uint32_t index) {
    return index < call->count ? call->arguments[index] : FLOW_UNDEFINED;
}
static inline FlowNativeResult flow_native_return(FlowNativeCall *call, FlowValue value) {
    call->result = value;
    return NATIVE_OK;
}
#define flow_native_throw(vm, kind, ...) (flow_throw_error((vm), (kind), __VA_ARGS__), NATIVE_THROW)
// Asks for argument `index` (-1: this) as a primitive.
static inline FlowNativeResult flow_native_primitive(FlowNativeCall *call, int index,
                                                     FlowHint hint) {
    call->needs_index = index;
    call->needs_hint = hint;
    return NATIVE_NEEDS_PRIMITIVE;
}
// When the heap has no room for `bytes`: asks for a collection, or throws the second time.
FlowNativeResult flow_native_room(FlowVm *vm, FlowNativeCall *call, size_t bytes);

// Argument conversions. Each answers NATIVE_OK or what the native must return at once:
//     FlowNativeResult r = flow_argument_number(vm, call, 0, &x);
//     if (r != NATIVE_OK) return r;
// A missing argument converts undefined.
FlowNativeResult flow_argument_number(FlowVm *vm, FlowNativeCall *call, int index, double *ret);
FlowNativeResult flow_argument_integer(FlowVm *vm, FlowNativeCall *call, int index, double *ret);
FlowNativeResult flow_argument_string(FlowVm *vm, FlowNativeCall *call, int index,
                                      FlowString **ret); // flat
FlowNativeResult flow_argument_key(FlowVm *vm, FlowNativeCall *call, int index, FlowKey *ret);
// this as string for String.prototype methods: refuses nullish with "… called on null …".
FlowNativeResult flow_this_string(FlowVm *vm, FlowNativeCall *call, const char *method,
                                  FlowString **ret);

// A function object made of a native and up to four values: resolving functions and the like.
typedef struct FlowNativeFunction {
    FlowObject object;
    const struct FlowNativeEntry *entry;
    FlowValue data[4];
} FlowNativeFunction;
FlowNativeFunction *flow_native_function_new(FlowVm *vm, const struct FlowNativeEntry *entry);

enum {                 // FlowNativeEntry.flags
    NATIVE_GETTER = 1, // an accessor property's getter; `name` is the property
    NATIVE_SETTER = 2,
    NATIVE_CONSTRUCTOR = 4, // may be called with new
    NATIVE_PRELUDE = 8,     // implemented by the prelude routine named in `prelude`
    NATIVE_VALUE = 16,      // not a function: `function` is called once at realm creation and its
                            // result becomes the property
    NATIVE_FROZEN = 32,     // with NATIVE_VALUE: not writable, not configurable (Math.PI)
    NATIVE_ALIAS = 64,      // same function object as the entry named in `prelude`
    NATIVE_ITERATES = 128,  // makes (or is) a built-in iterator and does nothing else
};

typedef struct FlowNativeEntry {
    const char *name;    // "push", "@@iterator" for a well-known symbol
    FlowNative function; // NULL with NATIVE_PRELUDE
    const char *prelude; // routine name, e.g. "Array_prototype_map"
    uint8_t length;      // the `length` property
    uint8_t flags;
    uint16_t magic; // free for the native: flow_native_magic(call)
} FlowNativeEntry;
static inline uint16_t flow_native_magic(const FlowNativeCall *call) {
    return ((const FlowNativeFunction *)flow_as_pointer(call->function))->entry->magic;
}

// {"slice", string_slice, NULL, 2, 0, 0}
#define NATIVE(name, function, length)                                                             \
    { name, function, NULL, length, 0, 0 }
#define NATIVE_MAGIC(name, function, length, magic)                                                \
    { name, function, NULL, length, 0, magic }
#define NATIVE_ITERATOR(name, function)                                                            \
    { name, function, NULL, 0, NATIVE_ITERATES, 0 }
#define PRELUDE(name, routine, length)                                                             \
    { name, NULL, routine, length, NATIVE_PRELUDE, 0 }
#define GETTER(name, function)                                                                     \
    { name, function, NULL, 0, NATIVE_GETTER, 0 }
#define CONSTANT(name, function)                                                                   \
    { name, function, NULL, 0, NATIVE_VALUE | NATIVE_FROZEN, 0 }
#define ALIAS(name, of)                                                                            \
    { name, NULL, of, 0, NATIVE_ALIAS, 0 }
#define NATIVE_END                                                                                 \
    { NULL, NULL, NULL, 0, 0, 0 }

extern const FlowNativeEntry flow_resolving_entries[2]; // promise.c: resolve, reject

typedef struct FlowClassEntry {
    const char *name;               // global name; "%Name" = not a global, only an intrinsic
    FlowNativeEntry constructor;    // name NULL: a namespace object (Math, JSON)
    const FlowNativeEntry *statics; // or members of the namespace; NULL
    const FlowNativeEntry *members; // of the prototype; NULL
    const char *parent;             // name of the class it extends; NULL: Object
    const char *tag;                // @@toStringTag of the prototype or namespace; NULL: none
    uint8_t kind;                   // KIND of instances, for `prototype` itself KIND_OBJECT
    uint8_t proto_id;               // 1 + FlowProtoId that the prototype becomes; 0: none
} FlowClassEntry;
