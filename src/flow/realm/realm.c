// Realm: the one of the process, and the paths of its objects.
//
// Built by a bootstrap VM whose heap marks every cell as shared; the heap then belongs to the
// realm and stays until the process ends.
//
//   [realm-3] flow_realm() is safe from any thread; the first caller builds, the others wait.
//   [realm-4] A path is given to an object once, by the first name it is found under.
#include "base/containers/vec.h"
#include "base/memory.h"
#include "flow/realm/tables.h"
#include "flow/vm/vm.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct FlowRealmPath {
    const void *object;
    Str path;
} FlowRealmPath;

static FlowRealm the_realm;
static FlowRealm *building;
static StrMap objects_by_path;
static Arena path_arena;
static VEC(FlowRealmPath) paths;
static Map named; // object -> path, while building

FlowRealm *flow_realm_building(void) { return building; }

void flow_realm_name(FlowVm *vm, const void *object, const char *prefix, const char *name) {
    ASSERT(vm->building);
    uint64_t key = (uint64_t)(uintptr_t)object;
    if (map_get(&named, key)) return; // [realm-4]
    Str path = *prefix ? arena_printf(&path_arena, "%s.%s", prefix, name)
                       : arena_printf(&path_arena, "%s", name);
    vec_push(&paths, (FlowRealmPath){object, path});
    map_put(&named, key, (void *)(uintptr_t)object);
    strmap_put(&objects_by_path, path, (void *)(uintptr_t)object);
}

static int compare_paths(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const FlowRealmPath *)a)->object;
    uintptr_t y = (uintptr_t)((const FlowRealmPath *)b)->object;
    return x < y ? -1 : x > y;
}

static void realm_make(void) {
    arena_init(&path_arena);
    map_init(&named);
    strmap_init(&objects_by_path);
    FlowVm *vm = mem_zalloc(sizeof *vm);
    building = &the_realm;
    vm->realm = vm->building = &the_realm;
    vm->limits = FLOW_LIMITS_DEFAULT;
    vm->exception = FLOW_HOLE;
    flow_heap_init(&vm->heap, SIZE_MAX / 4, true);
    vm->heap.collect_at = SIZE_MAX;
    flow_realm_build(vm);
    the_realm.heap = vm->heap;
    qsort(paths.data, paths.count, sizeof *paths.data, compare_paths);
    the_realm.paths = paths.data;
    the_realm.path_count = (uint32_t)paths.count;
    map_done(&named);
    mem_free(vm->roots);
    mem_free(vm);
    building = NULL;
}

const FlowRealm *flow_realm(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, realm_make);
    return &the_realm;
}

Str flow_realm_path(const void *object) {
    const FlowRealm *realm = flow_realm();
    FlowRealmPath wanted = {object, STR_NULL};
    const FlowRealmPath *found =
        bsearch(&wanted, realm->paths, realm->path_count, sizeof wanted, compare_paths);
    return found ? found->path : STR_NULL;
}

void *flow_realm_find(Str path) {
    flow_realm();
    return strmap_get(&objects_by_path, path);
}

// --- intrinsics

const FlowNativeEntry *flow_intrinsic(uint32_t id) {
    for (size_t table = 0; flow_realm_intrinsics[table]; table++) {
        for (const FlowNativeEntry *entry = flow_realm_intrinsics[table]; entry->name; entry++) {
            if (id-- == 0) return entry;
        }
    }
    return NULL;
}

uint32_t flow_intrinsic_find(Str name) {
    uint32_t id = 0;
    for (size_t table = 0; flow_realm_intrinsics[table]; table++) {
        for (const FlowNativeEntry *entry = flow_realm_intrinsics[table]; entry->name; entry++) {
            if (str_equal(str_from(entry->name), name)) return id;
            id++;
        }
    }
    return UINT32_MAX;
}
