// Set: other values for variables of a parked run, and for what is inside them.
//
//   [set-1] Only plain data is replaced, and only by plain data: null, booleans, numbers, texts,
//        arrays and objects of them; undefined and bigints may be replaced too. A function, a
//        promise, an instance of a class, an accessor, what is frozen and what has no value yet is
//        refused. So is a constant: a const, or a variable that nothing assigns and that inner
//        functions hold copies of. What is inside the object that a constant holds can be set.
//   [set-2] A path names something that is there, a new property of a plain object, a new key of a
//        Map, or the next index of an array.
//   [set-3] All values or none: the bytes are not changed, and the result is read back before it is
//        answered. They are not trusted: they are read as any snapshot is.
//
// Names mean what they mean in an expression (evaluate.h).
#pragma once
#include "flow/flow.h"

enum { FLOW_SET_MAX = 100, FLOW_SET_TEXT_MAX = 200 }; // values at once; units of a text in changes

typedef struct FlowSetValue {
    Str path; // "order.items[3].price"
    Str json;
} FlowSetValue;

typedef struct FlowSet {
    FlowModule *module;
    FlowLimits limits;
    const FlowSetValue *values;
    size_t count;
} FlowSet;

// Appends the new snapshot to `ret_bytes`, and to `ret_changes` a JSON array with an object for
// each value: path, old (null: it was not there), new; both as texts, cut.
// Codes: BAD_PATH, VARIABLE_NOT_FOUND, SET_REFUSED, and those of flow_snapshot_read and _write.
MUST_CHECK Status flow_set_snapshot(const FlowSet *set, Str bytes, Buf *ret_bytes, Buf *ret_changes,
                                    Diag *diag);
