// Snapshot format, version 1: the bytes of a stopped VM. Both sides (snapshot_write*.c,
// snapshot_read*.c) are made from this file.
//
//   "AFS" version flags hash[32] code:u32 [prelude:u32] [raw size] payload crc:u32
//
// `hash` is the SHA-256 of the source, `code` the checksum of what the compiler made of it (pcs
// and register numbers mean nothing without it), `prelude` the same for the prelude, present only
// when the payload refers to prelude code. The payload is plain or one zstd frame; the CRC-32C
// covers everything before it. Payload, all numbers varints unless told otherwise:
//
//   scalars   state and counters of the VM
//   strings   every text that is no constant of the module, once
//   shapes    (prototype, keys, attributes), once per shape that has properties
//   directory one entry per node: its kind and what is needed to allocate it
//   bodies    the content of each node, in the same order
//   roots     what the VM itself holds: globals, queue, awaitables, overrides, frames, stack
//   weak      entries of weak collections whose keys are reachable
//
// Nodes are what can be referred to from several places (objects, boxes, symbols, BigInts,
// combinators), numbered in the order in which a breadth-first walk from the roots meets them.
// Everything with one owner (reactions, requests, tables, elements, accessors) is written in place.
//
//   [format-1] Same state, same bytes: no addresses, no hash order, no time. Writing what was read
//        gives the bytes that were read.
//   [format-2] Numbers in this file are for ever: additions go to the end of an enum or of the list
//        of realm paths. A change that old readers would misread gets a new version, and the reader
//        keeps reading the old ones (test/flow/golden).
//   [format-3] Shared things are named, not written: strings of the module by their index
//        (code_index.c), realm objects by path, routines by index.
#pragma once
#include <stdint.h>

enum {
    SNAPSHOT_VERSION = 1,
    SNAPSHOT_MAGIC_SIZE = 3,
    SNAPSHOT_HASH_AT = 5,
    SNAPSHOT_HASH_SIZE = 32,
    SNAPSHOT_HEAD_SIZE = SNAPSHOT_HASH_AT + SNAPSHOT_HASH_SIZE + 4,
    SNAPSHOT_CRC_SIZE = 4,
    SNAPSHOT_COMPRESS_MIN = 2048, // payloads below are left as they are
    SNAPSHOT_RAW_FACTOR = 16,     // a payload may be so many times its compressed limit
};
#define SNAPSHOT_MAGIC "AFS"

enum { // flags of the head
    SNAPSHOT_COMPRESSED = 1,
    SNAPSHOT_HAS_PRELUDE = 2,
    SNAPSHOT_FLAGS = 3,
};

enum { // flags among the scalars
    SCALAR_CANCELLED = 1,
    SCALAR_CANCEL_PENDING = 2,
    SCALAR_RANDOM = 4, // two u64 follow
};

// The first byte of a value.
enum {
    TAG_UNDEFINED = 0,
    TAG_NULL,
    TAG_FALSE,
    TAG_TRUE,
    TAG_HOLE,
    TAG_INT,       // zigzag, int32
    TAG_DOUBLE,    // 8 bytes
    TAG_WHOLE,     // zigzag, beyond int32, at most 2^53
    TAG_DECIMAL_1, // zigzag / 10
    TAG_DECIMAL_2, // zigzag / 100
    TAG_DECIMAL_3, // zigzag / 1000
    TAG_STRING,    // index
    TAG_CONSTANT,  // index of a string of the module
    TAG_NODE,      // index
    TAG_REALM,     // 2 * number in the list below, or 2 * string index + 1 for other paths
    TAG_SMALL_INT = 0x10,
    TAG_SMALL_NODE = 0x40,
    TAG_SMALL_CONSTANT = 0x80,
    TAG_SMALL_STRING = 0xC0,
    SMALL_INT_MIN = -1, // TAG_SMALL_INT + (i - SMALL_INT_MIN)
    SMALL_INT_MAX = SMALL_INT_MIN + TAG_SMALL_NODE - TAG_SMALL_INT - 1,
    SMALL_INDEX_COUNT = 64,
};

enum { // how the units of a string are stored; length << 3 | encoding << 1 | is a key
    TEXT_LATIN1,
    TEXT_UTF8,  // the length counts bytes
    TEXT_UTF16, // the length counts units
};

enum { SHAPE_IS_DICTIONARY = 1, SHAPE_ALL_DEFAULT = 2, SHAPE_COUNT_SHIFT = 2 };

typedef enum SnapshotNodeKind {
    NODE_OBJECT,
    NODE_ARRAY,
    NODE_ARGUMENTS,
    NODE_ERROR,
    NODE_CLOSURE, // directory: routine << 1 | is prelude
    NODE_NATIVE,  // directory: realm reference of the entry
    NODE_BOUND,   // directory: number of arguments
    NODE_PROMISE,
    NODE_COROUTINE,
    NODE_BOX,
    NODE_SYMBOL, // directory: flags, description
    NODE_BIGINT, // directory: digits << 1 | is negative, digits (u32)
    NODE_COMBINATOR,
    NODE_BOOLEAN,
    NODE_NUMBER,
    NODE_STRING,
    NODE_SYMBOL_OBJECT,
    NODE_BIGINT_OBJECT,
    NODE_DATE,
    NODE_REGEXP,
    NODE_MAP,
    NODE_SET,
    NODE_WEAK_MAP,
    NODE_WEAK_SET,
    NODE_WEAK_REF,
    NODE_ITERATOR,
    NODE_SECRET,
    NODE_HOST_OBJECT,
    NODE_KIND_COUNT,
    NODE_KIND_MASK = 0x3F,
    NODE_HAS_EXTRAS = 0x40, // EXTRA_* follow
    NODE_HAS_SHAPE = 0x80,  // a shape index follows; else: no properties, the kind's prototype
} SnapshotNodeKind;

enum { // of objects
    EXTRA_DENSE = 1,
    EXTRA_SPARSE = 2,
    EXTRA_NOT_EXTENSIBLE = 4,
    EXTRA_SEALED = 8,
    EXTRA_FROZEN = 16,
    EXTRA_LENGTH_READONLY = 32,
    EXTRA_MATERIALIZED = 64, // functions: has its own length, name, prototype
    EXTRA_ALL = 127,
};

enum { CLOSURE_HAS_HOME = 1, CLOSURE_HAS_FIELDS = 2, CLOSURE_HAS_NAME = 4, CLOSURE_ALL = 7 };

enum { // first byte of a promise: state in the lowest two bits
    PROMISE_STATE_MASK = 3,
    PROMISE_IS_HANDLED = 4,
    PROMISE_IS_RESOLVED = 8,
    PROMISE_IS_AWAITABLE = 16, // id and kind follow
    PROMISE_HAS_REACTIONS = 32,
    PROMISE_ALL = 63,
};

enum { // which fields of a reaction are not undefined
    REACTION_HAS_FULFILLED = 1,
    REACTION_HAS_REJECTED = 2,
    REACTION_HAS_TARGET = 4,
    REACTION_HAS_PROMISE = 8,
    REACTION_HAS_RESOLVE = 16,
    REACTION_HAS_REJECT = 32,
    REACTION_HAS_INDEX = 64,
    REACTION_ALL = 127,
};

enum { // first byte of a coroutine: state in the lowest three bits
    COROUTINE_STATE_MASK = 7,
    COROUTINE_HAS_RETURNED = 8,
    COROUTINE_HAS_PROMISE = 16,
    COROUTINE_HAS_REQUESTS = 32,
    COROUTINE_ALL = 63,
};

enum { TABLE_IS_DENSE = 1 }; // sequence numbers follow each other

enum { // first number of a frame: return kind << 3 | these
    FRAME_IS_NATIVE = 1,
    FRAME_HAS_TARGET = 2, // new.target
    FRAME_HAS_COROUTINE = 4,
    FRAME_RETURN_SHIFT = 3,
};

enum { JOB_IS_REJECTED = 1, JOB_KIND_SHIFT = 1 };

// Realm objects that snapshots mention often, by number. Append only [format-2].
// clang-format off
#define SNAPSHOT_REALM_PATHS(PATH)                                                                 \
    PATH("Object.prototype") PATH("Function.prototype") PATH("Array.prototype")                    \
    PATH("Promise.prototype") PATH("%AsyncFunction.prototype") PATH("Error.prototype")             \
    PATH("%resolving.resolve") PATH("%resolving.reject") PATH("%element.resolve")                  \
    PATH("%element.reject") PATH("@@.iterator") PATH("@@.asyncIterator") PATH("globalThis")        \
    PATH("Map.prototype") PATH("Set.prototype") PATH("Date.prototype") PATH("RegExp.prototype")    \
    PATH("TypeError.prototype") PATH("RangeError.prototype") PATH("ReferenceError.prototype")      \
    PATH("SyntaxError.prototype") PATH("AggregateError.prototype") PATH("TaskError.prototype")     \
    PATH("TimeoutError.prototype") PATH("CancelledError.prototype")                                \
    PATH("ChildWorkflowError.prototype") PATH("%GeneratorFunction.prototype")                      \
    PATH("%AsyncGeneratorFunction.prototype") PATH("%Generator.prototype")                         \
    PATH("%AsyncGenerator.prototype") PATH("%ArrayIterator.prototype")                             \
    PATH("%MapIterator.prototype") PATH("%SetIterator.prototype")                                  \
    PATH("%StringIterator.prototype") PATH("%RegExpStringIterator.prototype")                      \
    PATH("%AsyncFromSyncIterator.prototype") PATH("Array.prototype.values") PATH("Promise")        \
    PATH("Error") PATH("Array") PATH("Object") PATH("Task") PATH("Task.run") PATH("Timer")         \
    PATH("Timer.delay") PATH("Signal") PATH("Event") PATH("Workflow") PATH("console")              \
    PATH("console.log") PATH("JSON") PATH("Math") PATH("Promise.all") PATH("WeakMap.prototype")    \
    PATH("WeakSet.prototype") PATH("String.prototype") PATH("Number.prototype")                    \
    PATH("Boolean.prototype") PATH("Symbol.prototype") PATH("BigInt.prototype")                    \
    PATH("Array.prototype.map") PATH("Array.prototype.forEach")                                    \
    PATH("Array.prototype.filter") PATH("Array.prototype.reduce") PATH("Array.prototype.push")
// clang-format on
