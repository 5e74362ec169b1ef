// Realm: the built-in objects, made once per process, immutable, shared by every VM and thread.
//
// Built from tables (native.h) and the compiled prelude. A VM that changes a built-in gets its own
// copy (object.h [value-object-2]); everybody else keeps the original.
//
//   [realm-1] After flow_realm() answered, no byte of the realm changes.
//   [realm-2] Every realm object has a path ("Array.prototype.map", "globalThis"): flow_realm_path
//        / flow_realm_find translate, and snapshots use them. Atoms of the realm are found by text.
#pragma once
#include "flow/vm/native.h"

typedef enum FlowProtoId { // prototypes and objects C code needs
    PROTO_OBJECT,
    PROTO_FUNCTION,
    PROTO_ARRAY,
    PROTO_STRING,
    PROTO_NUMBER,
    PROTO_BOOLEAN,
    PROTO_SYMBOL,
    PROTO_BIGINT,
    PROTO_PROMISE,
    PROTO_DATE,
    PROTO_REGEXP,
    PROTO_MAP,
    PROTO_SET,
    PROTO_WEAK_MAP,
    PROTO_WEAK_SET,
    PROTO_WEAK_REF,
    PROTO_ITERATOR,
    PROTO_ASYNC_ITERATOR,
    PROTO_ARRAY_ITERATOR,
    PROTO_MAP_ITERATOR,
    PROTO_SET_ITERATOR,
    PROTO_STRING_ITERATOR,
    PROTO_REGEXP_STRING_ITERATOR,
    PROTO_ITERATOR_HELPER,
    PROTO_ASYNC_FROM_SYNC_ITERATOR,
    PROTO_GENERATOR,
    PROTO_ASYNC_GENERATOR,
    PROTO_GENERATOR_FUNCTION,
    PROTO_ASYNC_FUNCTION,
    PROTO_ASYNC_GENERATOR_FUNCTION,
    PROTO_ERROR,
    PROTO_TYPE_ERROR,
    PROTO_RANGE_ERROR,
    PROTO_REFERENCE_ERROR,
    PROTO_SYNTAX_ERROR,
    PROTO_URI_ERROR,
    PROTO_EVAL_ERROR,
    PROTO_AGGREGATE_ERROR,
    PROTO_TASK_ERROR,
    PROTO_TIMEOUT_ERROR,
    PROTO_CANCELLED_ERROR,
    PROTO_CHILD_ERROR,
    PROTO_SECRET,
    PROTO_HANDLE, // not a prototype of anything: holds what each handle gets as its own
    PROTO_COUNT
} FlowProtoId;

typedef enum FlowSymbolId { // well-known symbols, "@@name" in tables
    SYMBOL_ITERATOR,
    SYMBOL_ASYNC_ITERATOR,
    SYMBOL_TO_PRIMITIVE,
    SYMBOL_HAS_INSTANCE,
    SYMBOL_TO_STRING_TAG,
    SYMBOL_SPECIES,
    SYMBOL_IS_CONCAT_SPREADABLE,
    SYMBOL_MATCH,
    SYMBOL_MATCH_ALL,
    SYMBOL_REPLACE,
    SYMBOL_SEARCH,
    SYMBOL_SPLIT,
    SYMBOL_UNSCOPABLES,
    SYMBOL_ID_COUNT
} FlowSymbolId;

// Names the VM itself uses as keys: FLOW_KEY(vm, length) is one load.
// clang-format off
#define FLOW_NAMES(NAME)                                                                           \
    NAME(length) NAME(prototype) NAME(constructor) NAME(name) NAME(message) NAME(stack)            \
    NAME(cause) NAME(errors) NAME(value) NAME(done) NAME(next) NAME(then) NAME(get) NAME(set)      \
    NAME(writable) NAME(enumerable) NAME(configurable) NAME(toString) NAME(valueOf) NAME(toJSON)   \
    NAME(undefined) NAME(object) NAME(boolean) NAME(number) NAME(string) NAME(symbol)              \
    NAME(bigint) NAME(function) NAME(raw) NAME(index) NAME(input) NAME(groups) NAME(indices)       \
    NAME(lastIndex) NAME(id) NAME(status) NAME(reason) NAME(code) NAME(task) NAME(attempts)        \
    NAME(callee) NAME(item_id) NAME(result) NAME(error) NAME(fulfilled) NAME(rejected)             \
    NAME(completed) NAME(failed) NAME(join) NAME(exec) NAME(flags) NAME(source) NAME(size)         \
    NAME(resolve) NAME(reject) NAME(promise) NAME(workflow) NAME(runId) NAME(details)              \
    NAME(data) NAME(has) NAME(keys) NAME(add)
// clang-format on

typedef enum FlowNameId {
#define NAME(text) NAME_##text,
    FLOW_NAMES(NAME)
#undef NAME
        NAME_return, // reserved words of C
    NAME_throw,
    NAME_default,
    NAME_null,
    NAME_true,
    NAME_false,
    NAME_empty, // ""
    NAME_COUNT
} FlowNameId;

// Helpers of the prelude that the interpreter calls by itself (prelude/operators.js).
#define FLOW_HELPERS(HELPER)                                                                       \
    HELPER(toPrimitive)         /* (value, hint) hint: 0 default, 1 number, 2 string */            \
    HELPER(binary)              /* (op, a, b): any arithmetic operator on objects */               \
    HELPER(unary)               /* (op, a) */                                                      \
    HELPER(compare)             /* (op, a, b) -> boolean: < <= > >= */                             \
    HELPER(looseEqual)          /* (a, b) -> boolean */                                            \
    HELPER(toStringValue)       /* (a) -> string */                                                \
    HELPER(toKey)               /* (a) -> string or symbol */                                      \
    HELPER(getElement)          /* (object, key): key is an object */                              \
    HELPER(setElement)          /* (object, key, value) */                                         \
    HELPER(deleteElement)       /* (object, key) -> boolean */                                     \
    HELPER(hasElement)          /* (key, object) -> boolean: `in` */                               \
    HELPER(instanceOf)          /* (value, constructor) -> boolean */                              \
    HELPER(getIterator)         /* (iterable) -> iterator */                                       \
    HELPER(getAsyncIterator)    /* (iterable) -> iterator */                                       \
    HELPER(iteratorResult)      /* (result) -> plain {value, done}: result has getters */          \
    HELPER(iteratorRest)        /* (iterator, next) -> array */                                    \
    HELPER(iteratorClose)       /* (iterator) */                                                   \
    HELPER(iteratorCloseSilent) /* (iterator) */                                                   \
    HELPER(getMethod)           /* (object, key) -> function or undefined */                       \
    HELPER(arraySpread)         /* (array, iterable) */                                            \
    HELPER(copyProperties)      /* (target, source) */                                             \
    HELPER(objectRest)          /* (source, excludedKeys) -> object */                             \
    HELPER(stringify)           /* (value) -> JSON text or undefined; host results */              \
    HELPER(promiseExecute)      /* (promise, executor, resolve, reject) -> promise */              \
    HELPER(promiseThen)         /* (promise, onFulfilled, onRejected): with species */             \
    HELPER(promiseFinally)      /* (thenable, onFinally) */                                        \
    HELPER(promiseSettled)      /* (constructor, value, isReject) */

typedef enum FlowHelperId {
#define HELPER(name) HELPER_##name,
    FLOW_HELPERS(HELPER)
#undef HELPER
        HELPER_COUNT
} FlowHelperId;

typedef struct FlowRealm {
    FlowHeap heap; // shared cells
    FlowAtoms atoms;
    FlowObject *protos[PROTO_COUNT];
    FlowSymbol *symbols[SYMBOL_ID_COUNT];
    FlowValue names[NAME_COUNT]; // atoms
    FlowString *units[256];      // one-character strings
    FlowObject *global;          // globalThis
    FlowObject *promise_constructor;
    FlowObject *array_values;        // Array.prototype.values == [Symbol.iterator]
    FlowObject *array_iterator_next; // %ArrayIteratorPrototype%.next
    FlowObject *promise_then;        // Promise.prototype.then
    FlowObject *thrower;             // %ThrowTypeError%: arguments.callee and its kin
    FlowModule *prelude;
    FlowClosure **prelude_closures; // by routine index
    FlowClosure *helpers[HELPER_COUNT];
    FlowObject **intrinsics;     // native functions by intrinsic number
    struct FlowRealmPath *paths; // [realm-2], sorted by object address
    uint32_t path_count;
} FlowRealm;

// The process's realm; made on the first call, thread-safe.
const FlowRealm *flow_realm(void);
FlowRealm *flow_realm_building(void); // while it is being made, else NULL
// The path of a realm object, symbol or accessor function; null Str when it is not the realm's.
Str flow_realm_path(const void *object);
void *flow_realm_find(Str path); // the object of that path, NULL when unknown

// Intrinsics: natives the prelude calls as %name(...). Numbered by position.
const FlowNativeEntry *flow_intrinsic(uint32_t id);
uint32_t flow_intrinsic_find(Str name); // UINT32_MAX when there is none
// Whether an intrinsic may be called so; natives that are none may be called anyhow
// (intrinsic_types.c).
bool flow_intrinsic_accepts(const FlowNativeEntry *entry, const FlowNativeCall *call);
bool flow_intrinsic_is_typed(const FlowNativeEntry *entry);
#define FLOW_KEY(vm, name)  flow_key_atom((vm)->realm->names[NAME_##name])
#define FLOW_NAME(vm, name) ((vm)->realm->names[NAME_##name]) // as a string value
#define FLOW_SYMBOL(vm, id) ((FlowKey){flow_from_symbol((vm)->realm->symbols[id]).bits})
