// Snapshot reader, last step: what only the whole shows.
//
//   [snapshot-check-1] Prototype chains end, and so do chains of bound functions: C code follows
//        them in loops.
//   [snapshot-check-2] A suspended coroutine is resumed by at most one reaction; a running one has
//        one frame.
//
// Marks: CELL_MARKED on an object means that its chain is known to end; it is taken away again
// before anybody collects.
#include "flow/code/opcodes.h"
#include "flow/snapshot/internal.h"

enum { ON_PATH = 1 << 7 }; // of FlowCell.flags; free for objects

// --- prototypes

static FlowObject *next_body(const SnapshotReader *r, FlowObject *body) {
    FlowObject *proto = body->shape->proto;
    return proto ? flow_object_override(r->vm, proto) : NULL;
}

static bool is_settled(const FlowObject *body) { return body->cell.flags & CELL_MARKED; }

// Walks up from `start` twice: to see whether the chain ends, then to say so on each object.
static void check_chain(SnapshotReader *r, FlowObject *start) {
    FlowObject *at = start;
    for (; at && !is_settled(at); at = next_body(r, at)) {
        if (at->cell.flags & CELL_SHARED) continue;
        if (at->cell.flags & ON_PATH) {
            snapshot_fail(r, "a prototype chain has no end");
            break;
        }
        at->cell.flags |= ON_PATH;
    }
    bool is_cyclic = snapshot_is_bad(r);
    for (at = start; at && !is_settled(at); at = next_body(r, at)) {
        if (at->cell.flags & CELL_SHARED) continue;
        at->cell.flags &= (uint8_t)~ON_PATH;
        at->cell.flags |= CELL_MARKED;
    }
    (void)is_cyclic; // after a fault the VM is thrown away, marks and all
}

static void check_prototypes(SnapshotReader *r) {
    for (uint32_t i = 0; i < r->shape_count && !snapshot_is_bad(r); i++) {
        FlowObject *proto = r->shapes[i].shape->proto;
        if (proto) check_chain(r, flow_object_override(r->vm, proto));
    }
    for (uint32_t i = 0; i < r->vm->override_count && !snapshot_is_bad(r); i++) {
        check_chain(r, r->vm->overrides[i].copy);
    }
    if (snapshot_is_bad(r)) return;
    for (uint32_t i = 0; i < r->node_count; i++) {
        FlowValue value = r->nodes[i].value;
        if (flow_is_object(value)) flow_as_cell(value)->flags &= (uint8_t)~CELL_MARKED;
    }
    for (uint32_t i = 0; i < r->vm->override_count; i++) {
        r->vm->overrides[i].copy->cell.flags &= (uint8_t)~CELL_MARKED;
    }
}

// --- bound functions

static FlowBoundFunction *bound_target(const FlowBoundFunction *bound) {
    bool is_bound = flow_is_kind(bound->target, KIND_BOUND_FUNCTION);
    return is_bound ? flow_as_pointer(bound->target) : NULL;
}

static void check_bound(SnapshotReader *r) {
    for (uint32_t i = 0; i < r->node_count && !snapshot_is_bad(r); i++) {
        if (!flow_is_kind(r->nodes[i].value, KIND_BOUND_FUNCTION)) continue;
        FlowBoundFunction *start = flow_as_pointer(r->nodes[i].value);
        // `unused` is 1 on the path, 2 when the chain is known to end.
        for (FlowBoundFunction *at = start; at && at->unused != 2; at = bound_target(at)) {
            if (at->unused == 1) {
                snapshot_fail(r, "a bound function is bound to itself");
                return;
            }
            at->unused = 1;
        }
        for (FlowBoundFunction *at = start; at && at->unused == 1; at = bound_target(at)) {
            at->unused = 2;
        }
    }
    for (uint32_t i = 0; i < r->node_count && !snapshot_is_bad(r); i++) {
        if (!flow_is_kind(r->nodes[i].value, KIND_BOUND_FUNCTION)) continue;
        ((FlowBoundFunction *)flow_as_pointer(r->nodes[i].value))->unused = 0;
    }
}

// --- coroutines

static void check_claims(SnapshotReader *r) { // [snapshot-check-2]
    for (size_t i = 0; i < r->claims.count && !snapshot_is_bad(r); i++) {
        const SnapshotClaim *claim = &r->claims.data[i];
        FlowCoroutine *coroutine = claim->coroutine;
        bool is_fine = coroutine->unused == 0 && coroutine->state == claim->state &&
                       (claim->state != COROUTINE_SUSPENDED || coroutine->is_awaiting);
        snapshot_require(r, is_fine, "a coroutine would be resumed twice, or is not waiting");
        coroutine->unused = 1;
    }
    for (size_t i = 0; i < r->claims.count; i++) r->claims.data[i].coroutine->unused = 0;
}

void snapshot_check(SnapshotReader *r) {
    if (!snapshot_is_bad(r)) check_prototypes(r);
    if (!snapshot_is_bad(r)) check_bound(r);
    if (!snapshot_is_bad(r)) check_claims(r);
}
