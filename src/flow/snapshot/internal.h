// What the files of the snapshot share. The format is in snapshot/format.h.
#pragma once
#include "base/containers/bytes.h"
#include "base/containers/vec.h"
#include "flow/snapshot/format.h"
#include "flow/snapshot/place.h"
#include "flow/snapshot/rewrite.h"
#include "flow/value/object_layout.h"
#include "flow/value/table.h"
#include "flow/vm/vm.h"

// --- realm objects by name (snapshot/realm.c)
typedef struct SnapshotRealmRef {
    uint32_t number; // in SNAPSHOT_REALM_PATHS; UINT32_MAX: by path
    Str path;
    bool is_prelude; // means something only together with this prelude
} SnapshotRealmRef;
// False: the cell has no name (it is no realm object, symbol or native entry).
bool snapshot_realm_name(const void *cell, SnapshotRealmRef *ret_ref);
void *snapshot_realm_at(uint32_t number); // NULL: no such number, or gone from the realm
bool snapshot_path_is_prelude(Str path);

// --- kinds (snapshot/realm.c)
SnapshotNodeKind snapshot_node_kind(const FlowCell *cell); // NODE_KIND_COUNT: never a node
FlowKind snapshot_flow_kind(SnapshotNodeKind kind);
// The prototype of an object of that kind when the snapshot names no shape.
FlowObject *snapshot_default_proto(const FlowVm *vm, FlowKind kind, const FlowRoutine *routine);

// --- writing
typedef struct SnapshotNode {
    FlowCell *cell;
    uint32_t shape;  // index + 1; 0: none
    uint32_t extras; // EXTRA_*
    uint32_t bytes;  // accounting: what it takes in the payload
    uint32_t edges;  // accounting: start of its references in SnapshotWriter.edges
} SnapshotNode;

typedef struct SnapshotText {
    FlowString *string; // flat
    bool is_key;
} SnapshotText;

typedef struct SnapshotSlot { // of the table that finds a cell's number
    const void *cell;
    uint32_t index;
} SnapshotSlot;

typedef struct SnapshotWriter {
    FlowVm *vm;
    VEC(SnapshotNode) nodes;
    VEC(const FlowShape *) shapes;
    VEC(SnapshotText) texts;
    VEC(uint32_t) edges;
    SnapshotSlot *slots;    // nodes and shapes by address
    uint32_t slot_capacity; // a power of two
    uint32_t slot_count;
    uint32_t *text_slots; // 1 + index of texts by hash of the content
    uint32_t text_capacity;
    size_t text_bytes; // of the texts, roughly
    size_t raw_max;
    uint32_t next_body; // nodes below it are written
    uint32_t current;   // accounting: the node whose body is being written
    Buf shape_bytes;
    Buf bodies;
    Buf roots;
    Buf weak;
    Buf *out;                   // where values go: bodies, roots, weak or shape_bytes
    const FlowRewrite *rewrite; // NULL: none
    FlowPlaceSet places;
    bool has_prelude;
    bool is_accounting;
    bool is_too_large;
    bool has_unnamed; // a shared object without a name: our bug
} SnapshotWriter;

void snapshot_writer_init(SnapshotWriter *w, FlowVm *vm, bool is_accounting);
void snapshot_writer_done(SnapshotWriter *w);
// Walks the VM and fills the sections.
void snapshot_walk(SnapshotWriter *w);
// The payload, from the sections.
void snapshot_assemble(SnapshotWriter *w, Buf *out);

// values (snapshot/write_value.c)
void snapshot_put_value(SnapshotWriter *w, FlowValue value);
void snapshot_put_object(SnapshotWriter *w, const void *object); // NULL: null
uint32_t snapshot_text_index(SnapshotWriter *w, FlowString *flat, bool is_key);
uint32_t snapshot_shape_index(SnapshotWriter *w, const FlowShape *shape);
bool snapshot_has_number(const SnapshotWriter *w, FlowValue value); // or needs none
bool snapshot_find_node(const SnapshotWriter *w, const FlowCell *cell, uint32_t *ret_index);
void snapshot_put_realm(SnapshotWriter *w, const void *thing); // object, symbol, native entry
static inline void snapshot_put_number(SnapshotWriter *w, uint64_t number) {
    if (number < 0x80) buf_append_char(w->out, (char)number);
    else bytes_put_varint(w->out, number);
}
// bodies (snapshot/write_heap.c)
void snapshot_write_body(SnapshotWriter *w, uint32_t index);
void snapshot_write_directory(SnapshotWriter *w, Buf *out);
void snapshot_write_shape(SnapshotWriter *w, const FlowShape *shape);
void snapshot_write_reaction(SnapshotWriter *w, const FlowReaction *reaction);
void snapshot_write_elements(SnapshotWriter *w, const FlowObject *body);
void snapshot_write_property(SnapshotWriter *w, FlowValue value, uint32_t attributes);
uint32_t snapshot_extras(const FlowObject *object);
// roots (snapshot/write_state.c)
void snapshot_write_roots(SnapshotWriter *w);
void snapshot_write_scalars(SnapshotWriter *w, Buf *out);

// --- variables and their sizes (inspect.c)
typedef struct SnapshotVariable {
    FlowValue name; // string
    const FlowRoutine *routine;
    size_t bytes;
} SnapshotVariable;
typedef VEC(SnapshotVariable) SnapshotVariables;
// "orders: 812 kB, cache: 140 kB"
void snapshot_name_largest(SnapshotWriter *w, char *ret_text, size_t size);

// --- reading
typedef struct SnapshotShape {
    FlowShape *shape; // once built
    FlowValue proto;  // object or null
    uint32_t first_key;
    uint32_t count;
    bool is_dictionary;
    bool is_used; // dictionaries belong to one object
} SnapshotShape;

typedef struct SnapshotKey {
    FlowValue key;
    uint32_t attributes;
} SnapshotKey;

typedef struct SnapshotReadNode {
    FlowValue value;
    uint32_t shape; // index + 1
    uint32_t extras;
} SnapshotReadNode;

typedef struct SnapshotClaim { // a coroutine that somebody will resume, or that has a frame
    FlowCoroutine *coroutine;
    FlowCoroutineState state; // what it must be in
} SnapshotClaim;

typedef struct SnapshotReader {
    ByteReader in;
    FlowVm *vm;
    FlowValue *strings;
    uint32_t string_count;
    SnapshotShape *shapes;
    uint32_t shape_count;
    VEC(SnapshotKey) keys;
    SnapshotReadNode *nodes;
    uint32_t node_count;
    VEC(SnapshotClaim) claims;
    bool has_prelude;
    bool is_over_budget;
    const char *fault; // what is wrong with the bytes; NULL: nothing so far
} SnapshotReader;

// The first fault sticks; from then on every read answers zero or undefined.
void snapshot_fail(SnapshotReader *r, const char *what);
static inline bool snapshot_is_bad(const SnapshotReader *r) { return r->fault || r->in.is_bad; }
static inline void snapshot_require(SnapshotReader *r, bool condition, const char *what) {
    if (__builtin_expect(!condition, 0)) snapshot_fail(r, what);
}
uint64_t snapshot_get_number(SnapshotReader *r, uint64_t max);
uint32_t snapshot_get_count(SnapshotReader *r);  // of things of a byte or more each
FlowValue snapshot_get_raw(SnapshotReader *r);   // anything, HOLE and cells too
FlowValue snapshot_get_value(SnapshotReader *r); // what a script can hold
FlowValue snapshot_get_object(SnapshotReader *r);
FlowValue snapshot_get_kind(SnapshotReader *r, FlowKind kind);
FlowValue snapshot_get_callable(SnapshotReader *r, bool or_undefined);
void *snapshot_get_realm(SnapshotReader *r);
// Room for `size` more bytes under the heap's budget; false: fault.
bool snapshot_has_room(SnapshotReader *r, size_t size);

void snapshot_read_strings(SnapshotReader *r);
void snapshot_read_shapes(SnapshotReader *r);
void snapshot_build_shapes(SnapshotReader *r);
void snapshot_read_directory(SnapshotReader *r);
void snapshot_read_bodies(SnapshotReader *r);
void snapshot_read_roots(SnapshotReader *r);
void snapshot_read_weak(SnapshotReader *r);
FlowReaction *snapshot_read_reaction(SnapshotReader *r);
void snapshot_read_promise(SnapshotReader *r, FlowPromise *promise);
void snapshot_read_combinator(SnapshotReader *r, FlowCombinator *combinator);
void snapshot_read_coroutine(SnapshotReader *r, FlowCoroutine *coroutine);
FlowValue snapshot_get_register(SnapshotReader *r); // a value, HOLE or a box
void snapshot_read_elements(SnapshotReader *r, FlowObject *body, uint32_t extras);
FlowValue snapshot_read_property(SnapshotReader *r, uint32_t attributes);
// What only the whole shows (snapshot/check.c).
void snapshot_check(SnapshotReader *r);
