// Move: a snapshot taken in one version of a script goes on in another version, at the same place.
//
//   [move-1] What is allowed is decided, not hoped: every function in flight stands at a place that
//        the new code has, and every variable and pending operand that the new code may read from
//        there on has a value: the one it had, or the one that the new code is certain to have
//        given it. Everything else is refused, with a reason.
//   [move-2] The result of a move is a snapshot of the new version, read back before it is
//        answered. The old bytes are not changed.
//   [move-3] The bytes are not trusted: they are read as any snapshot is.
//
// A place is an await, a yield, or the start of a generator. Its identity is the function it is in
// (by name and nesting; a renamed one by its unchanged body) and, in that function, its label
// (`// @label NAME` at the end of its line or on the line before), or what is awaited: the same
// expression, or the same call with other options between the same neighbours.
#pragma once
#include "flow/flow.h"

typedef struct FlowMove FlowMove;

// Compares two versions once; any number of snapshots can be moved with the answer. Both modules
// are retained. Not for several threads at a time.
FlowMove *flow_move_new(FlowModule *from, FlowModule *to);
void flow_move_free(FlowMove *move); // NULL is fine

// OK: movable, and the new snapshot is appended to `ret_bytes` (NULL: only the question is
// answered). ERR_CONFLICT with the code MOVE_REFUSED: not movable, the Diag says why. Other
// answers are those of flow_snapshot_read and flow_snapshot_write.
MUST_CHECK Status flow_move_snapshot(FlowMove *move, Str bytes, FlowLimits limits, Buf *ret_bytes,
                                     Diag *diag);
// Where the last snapshot that was moved stands in the new code (snapshot/place.h).
int64_t flow_move_place(const FlowMove *move);
