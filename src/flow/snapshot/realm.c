// Snapshots and the realm: names of shared objects, kinds, and the prototypes that go without
// saying.
//
//   [snapshot-realm-1] Realm objects are named by path; the common ones have a number that never
//        changes (snapshot/format.h). A number whose path the realm no longer has is refused when
//        read.
//   [snapshot-realm-2] Helpers and intrinsics of the prelude mean something only to the prelude
//        they belong to: a snapshot that names one carries the prelude's checksum.
#include "base/array.h"
#include "base/containers/map.h"
#include "flow/snapshot/internal.h"
#include <pthread.h>

static const char *const paths[] = {
#define PATH(text) text,
    SNAPSHOT_REALM_PATHS(PATH)
#undef PATH
};
enum { PATH_COUNT = COUNT_OF(paths) };

static void *objects[PATH_COUNT];
static Map numbers; // object -> 1 + number; immutable once made

static void numbers_make(void) {
    map_init(&numbers);
    for (uint32_t i = 0; i < PATH_COUNT; i++) {
        objects[i] = flow_realm_find(str_from(paths[i]));
        if (objects[i]) {
            map_put(&numbers, (uint64_t)(uintptr_t)objects[i], (void *)(uintptr_t)(i + 1));
        }
    }
}

static void numbers_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, numbers_make);
}

bool snapshot_path_is_prelude(Str path) { // [snapshot-realm-2]
    return str_starts_with(path, STR("%prelude.")) || str_starts_with(path, STR("%intrinsic."));
}

bool snapshot_realm_name(const void *cell, SnapshotRealmRef *ret_ref) {
    numbers_init();
    uint32_t number = (uint32_t)(uintptr_t)map_get(&numbers, (uint64_t)(uintptr_t)cell);
    *ret_ref = (SnapshotRealmRef){.number = number - 1};
    if (number) return true;
    ret_ref->path = flow_realm_path(cell);
    if (str_is_null(ret_ref->path)) return false;
    ret_ref->is_prelude = snapshot_path_is_prelude(ret_ref->path);
    return true;
}

void *snapshot_realm_at(uint32_t number) {
    numbers_init();
    return number < PATH_COUNT ? objects[number] : NULL;
}

// --- kinds

static const uint8_t node_kinds[KIND_COUNT] = {
    // 1 + SnapshotNodeKind
    [KIND_SYMBOL] = 1 + NODE_SYMBOL,
    [KIND_BIGINT] = 1 + NODE_BIGINT,
    [KIND_BOX] = 1 + NODE_BOX,
    [KIND_COMBINATOR] = 1 + NODE_COMBINATOR,
    [KIND_OBJECT] = 1 + NODE_OBJECT,
    [KIND_ARRAY] = 1 + NODE_ARRAY,
    [KIND_ARGUMENTS] = 1 + NODE_ARGUMENTS,
    [KIND_ERROR] = 1 + NODE_ERROR,
    [KIND_CLOSURE] = 1 + NODE_CLOSURE,
    [KIND_NATIVE_FUNCTION] = 1 + NODE_NATIVE,
    [KIND_BOUND_FUNCTION] = 1 + NODE_BOUND,
    [KIND_PROMISE] = 1 + NODE_PROMISE,
    [KIND_COROUTINE] = 1 + NODE_COROUTINE,
    [KIND_BOOLEAN_OBJECT] = 1 + NODE_BOOLEAN,
    [KIND_NUMBER_OBJECT] = 1 + NODE_NUMBER,
    [KIND_STRING_OBJECT] = 1 + NODE_STRING,
    [KIND_SYMBOL_OBJECT] = 1 + NODE_SYMBOL_OBJECT,
    [KIND_BIGINT_OBJECT] = 1 + NODE_BIGINT_OBJECT,
    [KIND_DATE] = 1 + NODE_DATE,
    [KIND_REGEXP] = 1 + NODE_REGEXP,
    [KIND_MAP] = 1 + NODE_MAP,
    [KIND_SET] = 1 + NODE_SET,
    [KIND_WEAK_MAP] = 1 + NODE_WEAK_MAP,
    [KIND_WEAK_SET] = 1 + NODE_WEAK_SET,
    [KIND_WEAK_REF] = 1 + NODE_WEAK_REF,
    [KIND_ITERATOR] = 1 + NODE_ITERATOR,
    [KIND_SECRET] = 1 + NODE_SECRET,
    [KIND_HOST_OBJECT] = 1 + NODE_HOST_OBJECT,
};

SnapshotNodeKind snapshot_node_kind(const FlowCell *cell) {
    uint8_t kind = node_kinds[cell->kind];
    return kind ? (SnapshotNodeKind)(kind - 1) : NODE_KIND_COUNT;
}

FlowKind snapshot_flow_kind(SnapshotNodeKind kind) {
    for (int i = 0; i < KIND_COUNT; i++) {
        if (node_kinds[i] == kind + 1) return (FlowKind)i;
    }
    return KIND_FREE;
}

static FlowProtoId closure_proto(const FlowRoutine *routine) {
    bool is_async = routine->flags & ROUTINE_ASYNC;
    if (routine->flags & ROUTINE_GENERATOR) {
        return is_async ? PROTO_ASYNC_GENERATOR_FUNCTION : PROTO_GENERATOR_FUNCTION;
    }
    return is_async ? PROTO_ASYNC_FUNCTION : PROTO_FUNCTION;
}

FlowObject *snapshot_default_proto(const FlowVm *vm, FlowKind kind, const FlowRoutine *routine) {
    static const uint8_t protos[KIND_COUNT] = {
        // 1 + FlowProtoId; 0: none
        [KIND_OBJECT] = 1 + PROTO_OBJECT,
        [KIND_ARRAY] = 1 + PROTO_ARRAY,
        [KIND_ARGUMENTS] = 1 + PROTO_OBJECT,
        [KIND_ERROR] = 1 + PROTO_ERROR,
        [KIND_NATIVE_FUNCTION] = 1 + PROTO_FUNCTION,
        [KIND_BOUND_FUNCTION] = 1 + PROTO_FUNCTION,
        [KIND_PROMISE] = 1 + PROTO_PROMISE,
        [KIND_BOOLEAN_OBJECT] = 1 + PROTO_BOOLEAN,
        [KIND_NUMBER_OBJECT] = 1 + PROTO_NUMBER,
        [KIND_STRING_OBJECT] = 1 + PROTO_STRING,
        [KIND_SYMBOL_OBJECT] = 1 + PROTO_SYMBOL,
        [KIND_BIGINT_OBJECT] = 1 + PROTO_BIGINT,
        [KIND_DATE] = 1 + PROTO_DATE,
        [KIND_REGEXP] = 1 + PROTO_REGEXP,
        [KIND_MAP] = 1 + PROTO_MAP,
        [KIND_SET] = 1 + PROTO_SET,
        [KIND_WEAK_MAP] = 1 + PROTO_WEAK_MAP,
        [KIND_WEAK_SET] = 1 + PROTO_WEAK_SET,
        [KIND_SECRET] = 1 + PROTO_SECRET,
    };
    if (kind == KIND_CLOSURE) return vm->realm->protos[closure_proto(routine)];
    uint8_t id = protos[kind];
    return id ? vm->realm->protos[id - 1] : NULL;
}
