// Value: anything a script can hold, in 64 bits.
//
// A double is stored as its own bits with every NaN made canonical; all other values live in the
// space of negative quiet NaNs that this leaves free. The tag names the type, so that typeof, the
// operators and the marker decide without touching memory.
//
//   [value-1] A value at or above VALUE_TAG_FIRST is tagged; everything below is a double.
//   [value-2] A number that is an int32 (and not -0) is always stored with VALUE_TAG_INT: two equal
//        numbers that are int32 have equal bits. flow_number() keeps this; flow_double() does not.
//   [value-3] HOLE never reaches a script: it marks array holes, uninitialised bindings and
//        "absent".
//   [value-4] VALUE_TAG_CELL (cells, accessors, records) appears only in registers and internal
//        slots.
#pragma once
#include "base/assert.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct FlowVm FlowVm;
typedef struct FlowObject FlowObject;
typedef struct FlowString FlowString;
typedef struct FlowSymbol FlowSymbol;
typedef struct FlowBigInt FlowBigInt;
typedef struct FlowShape FlowShape;
typedef struct FlowModule FlowModule;
typedef struct FlowRoutine FlowRoutine;
typedef struct FlowHeap FlowHeap;

typedef struct FlowValue {
    uint64_t bits;
} FlowValue;

#define VALUE_TAG_FIRST    0xFFF9000000000000ull
#define VALUE_TAG_INT      0xFFF9000000000000ull
#define VALUE_TAG_SPECIAL  0xFFFA000000000000ull
#define VALUE_TAG_OBJECT   0xFFFB000000000000ull
#define VALUE_TAG_STRING   0xFFFC000000000000ull
#define VALUE_TAG_SYMBOL   0xFFFD000000000000ull
#define VALUE_TAG_BIGINT   0xFFFE000000000000ull
#define VALUE_TAG_CELL     0xFFFF000000000000ull
#define VALUE_TAG_MASK     0xFFFF000000000000ull
#define VALUE_PAYLOAD_MASK 0x0000FFFFFFFFFFFFull
#define VALUE_NAN_BITS     0x7FF8000000000000ull

#define FLOW_UNDEFINED ((FlowValue){VALUE_TAG_SPECIAL | 0})
#define FLOW_NULL      ((FlowValue){VALUE_TAG_SPECIAL | 1})
#define FLOW_FALSE     ((FlowValue){VALUE_TAG_SPECIAL | 2})
#define FLOW_TRUE      ((FlowValue){VALUE_TAG_SPECIAL | 3})
#define FLOW_HOLE      ((FlowValue){VALUE_TAG_SPECIAL | 4})
#define FLOW_NAN       ((FlowValue){VALUE_NAN_BITS})

// Every heap thing begins with this. Who writes: the heap (`units`, mark bit), the owner (rest).
typedef struct FlowCell {
    uint8_t kind;  // FlowKind
    uint8_t flags; // CELL_*; the upper six bits belong to the kind
    uint8_t units; // size in 16-byte units, 0 = large (own allocation)
    uint8_t small; // for the kind: e.g. inline slot count of an object
    uint32_t aux;  // for the kind: string length, storage capacity, object flags
} FlowCell;

enum {
    CELL_MARKED = 1, // set and cleared by the collector only
    CELL_SHARED = 2, // belongs to the realm or a module: immutable, never marked, never freed
};

typedef enum FlowKind {
    KIND_FREE = 0,
    // Primitives and storage.
    KIND_STRING,
    KIND_SYMBOL,
    KIND_BIGINT,
    KIND_SHAPE,
    KIND_KEYS,       // FlowKeys: the key table that shapes of one chain share
    KIND_SLOTS,      // FlowStorage: out-of-line property values
    KIND_ELEMENTS,   // FlowStorage: dense elements
    KIND_SPARSE,     // FlowSparse: elements with attributes or big gaps
    KIND_BOX,        // FlowBox: one captured variable
    KIND_ACCESSOR,   // FlowAccessor: getter and setter of a property
    KIND_REACTION,   // FlowReaction: what to do when a promise settles
    KIND_COMBINATOR, // FlowCombinator: state of Promise.all and its kin
    KIND_REQUEST,    // FlowRequest: one queued next/throw/return of an async generator
    KIND_TABLE,      // FlowTable: ordered hash table behind Map and Set
    KIND_BYTES,      // FlowBytes: opaque bytes of a built-in (compiled regular expressions)
    // Objects: everything from here on begins with FlowObject.
    KIND_OBJECT,
    KIND_FIRST_OBJECT = KIND_OBJECT,
    KIND_ARRAY,
    KIND_ARGUMENTS,
    KIND_ERROR,
    KIND_CLOSURE,         // FlowClosure: a script function
    KIND_NATIVE_FUNCTION, // FlowNativeFunction
    KIND_BOUND_FUNCTION,  // FlowBoundFunction
    KIND_PROMISE,
    KIND_COROUTINE, // async function in flight, generator, async generator
    // FlowSlotObject: objects whose hidden state is a few values.
    KIND_BOOLEAN_OBJECT,
    KIND_FIRST_SLOT_OBJECT = KIND_BOOLEAN_OBJECT,
    KIND_NUMBER_OBJECT,
    KIND_STRING_OBJECT,
    KIND_SYMBOL_OBJECT,
    KIND_BIGINT_OBJECT,
    KIND_DATE,
    KIND_REGEXP,
    KIND_MAP,
    KIND_SET,
    KIND_WEAK_MAP,
    KIND_WEAK_SET,
    KIND_WEAK_REF,
    KIND_ITERATOR,    // built-in iterators: which one is in FlowSlotObject.internal[2]
    KIND_SECRET,      // Secret.get: internal[0] its name, internal[1] the prefix, both strings
    KIND_HOST_OBJECT, // for built-ins with hidden state
    KIND_LAST_SLOT_OBJECT = KIND_HOST_OBJECT,
    KIND_COUNT
} FlowKind;

// One captured variable: shared by the function that declares it and the closures that use it.
typedef struct FlowBox {
    FlowCell cell;
    FlowValue value; // HOLE until initialised
} FlowBox;

static inline FlowValue flow_from_bits(uint64_t bits) { return (FlowValue){bits}; }
static inline bool flow_same_bits(FlowValue a, FlowValue b) { return a.bits == b.bits; }

// --- tests
static inline bool flow_is_double(FlowValue v) { return v.bits < VALUE_TAG_FIRST; }
static inline bool flow_has_tag(FlowValue v, uint64_t tag) {
    return (v.bits & VALUE_TAG_MASK) == tag;
}
static inline bool flow_is_int(FlowValue v) { return flow_has_tag(v, VALUE_TAG_INT); }
static inline bool flow_is_number(FlowValue v) { return v.bits < VALUE_TAG_SPECIAL; }
static inline bool flow_is_object(FlowValue v) { return flow_has_tag(v, VALUE_TAG_OBJECT); }
static inline bool flow_is_string(FlowValue v) { return flow_has_tag(v, VALUE_TAG_STRING); }
static inline bool flow_is_symbol(FlowValue v) { return flow_has_tag(v, VALUE_TAG_SYMBOL); }
static inline bool flow_is_bigint(FlowValue v) { return flow_has_tag(v, VALUE_TAG_BIGINT); }
static inline bool flow_is_cell(FlowValue v) { return flow_has_tag(v, VALUE_TAG_CELL); }
// Points into a heap (or the realm, or a module): what a collector must follow.
static inline bool flow_is_heap(FlowValue v) { return v.bits >= VALUE_TAG_OBJECT; }
static inline bool flow_is_undefined(FlowValue v) { return v.bits == FLOW_UNDEFINED.bits; }
static inline bool flow_is_null(FlowValue v) { return v.bits == FLOW_NULL.bits; }
static inline bool flow_is_nullish(FlowValue v) { return (v.bits | 1) == FLOW_NULL.bits; }
static inline bool flow_is_boolean(FlowValue v) { return (v.bits | 1) == FLOW_TRUE.bits; }
static inline bool flow_is_true(FlowValue v) { return v.bits == FLOW_TRUE.bits; }
static inline bool flow_is_hole(FlowValue v) { return v.bits == FLOW_HOLE.bits; }
static inline bool flow_is_primitive(FlowValue v) { return !flow_is_object(v); }

// --- making
static inline FlowValue flow_bool(bool b) { return b ? FLOW_TRUE : FLOW_FALSE; }
static inline FlowValue flow_int(int32_t i) { return (FlowValue){VALUE_TAG_INT | (uint32_t)i}; }
static inline FlowValue flow_double(double d) { // for results known not to be int32; see [value-2]
    FlowValue v;
    if (d != d) return FLOW_NAN;
    memcpy(&v.bits, &d, sizeof d);
    return v;
}
static inline FlowValue flow_number(double d) {
    // The range test also refuses NaN, so that the conversion below is always defined.
    if (d >= -2147483648.0 && d <= 2147483647.0) {
        int32_t i = (int32_t)d;
        if ((double)i == d && (i != 0 || !signbit(d))) return flow_int(i);
    }
    return flow_double(d);
}
static inline FlowValue flow_uint(uint32_t u) {
    return u <= INT32_MAX ? flow_int((int32_t)u) : flow_double((double)u);
}
static inline FlowValue flow_pointer(uint64_t tag, const void *p) {
    return (FlowValue){tag | (uint64_t)(uintptr_t)p};
}
static inline FlowValue flow_from_object(const void *object) {
    return flow_pointer(VALUE_TAG_OBJECT, object);
}
static inline FlowValue flow_from_string(const FlowString *s) {
    return flow_pointer(VALUE_TAG_STRING, s);
}
static inline FlowValue flow_from_symbol(const FlowSymbol *s) {
    return flow_pointer(VALUE_TAG_SYMBOL, s);
}
static inline FlowValue flow_from_bigint(const FlowBigInt *b) {
    return flow_pointer(VALUE_TAG_BIGINT, b);
}
static inline FlowValue flow_from_cell(const void *cell) {
    return flow_pointer(VALUE_TAG_CELL, cell);
}

// --- taking apart; the caller knows the type
static inline int32_t flow_as_int(FlowValue v) { return (int32_t)(uint32_t)v.bits; }
static inline double flow_as_double(FlowValue v) {
    double d;
    memcpy(&d, &v.bits, sizeof d);
    return d;
}
static inline double flow_as_number(FlowValue v) {
    return flow_is_int(v) ? (double)flow_as_int(v) : flow_as_double(v);
}
static inline void *flow_as_pointer(FlowValue v) {
    return (void *)(uintptr_t)(v.bits & VALUE_PAYLOAD_MASK);
}
static inline FlowCell *flow_as_cell(FlowValue v) { return (FlowCell *)flow_as_pointer(v); }
static inline FlowObject *flow_as_object(FlowValue v) { return (FlowObject *)flow_as_pointer(v); }
static inline FlowString *flow_as_string(FlowValue v) { return (FlowString *)flow_as_pointer(v); }
static inline FlowSymbol *flow_as_symbol(FlowValue v) { return (FlowSymbol *)flow_as_pointer(v); }
static inline FlowBigInt *flow_as_bigint(FlowValue v) { return (FlowBigInt *)flow_as_pointer(v); }
static inline FlowBox *flow_as_box(FlowValue v) { return (FlowBox *)flow_as_pointer(v); }
static inline FlowKind flow_kind_of(FlowValue v) { return (FlowKind)flow_as_cell(v)->kind; }
static inline bool flow_is_kind(FlowValue v, FlowKind kind) { // an object of that kind
    return flow_is_object(v) && flow_as_cell(v)->kind == kind;
}
static inline bool flow_is_callable(FlowValue v) {
    return flow_is_object(v) && flow_as_cell(v)->kind >= KIND_CLOSURE &&
           flow_as_cell(v)->kind <= KIND_BOUND_FUNCTION;
}

// Sign and magnitude; `digits` little-endian, no leading zero digit, zero has none.
struct FlowBigInt {
    FlowCell cell; // aux = number of digits
    uint32_t is_negative;
    uint32_t digits[];
};
