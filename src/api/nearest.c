// The workflow that was meant: the deployed or registered one whose name is nearest.
//
// Asked only after a name was found nowhere, so it may look at the store. It looks at one page of
// definitions, the newest: with more of them than fit, a name that nobody deployed lately is not
// suggested.
//
// Not here: how near is near (base/text/suggest.c).
#include "api/api.h"
#include "base/containers/vec.h"
#include "base/text/suggest.h"
#include "store/reads.h"

enum { LOOKED_AT_SIZE_MAX = 4 << 20 }; // bytes of definitions, which have their sources with them

typedef VEC(const char *) Names;

static void add_registered(abide_engine *engine, Arena *arena, Names *names) {
    size_t at = 0;
    Str name;
    void *value;
    pthread_mutex_lock(&engine->lock);
    while (strmap_next(&engine->registered, &at, &name, &value))
        vec_push(names, arena_cstr(arena, name));
    pthread_mutex_unlock(&engine->lock);
}

const char *engine_nearest_workflow(abide_engine *engine, Arena *arena, Str name) {
    Names names = {0};
    const DefinitionFilter all = {
        .page = {.limit = LIMIT_LIST_PAGE, .size_max = LOOKED_AT_SIZE_MAX}};
    DefinitionPage page;
    Diag diag;
    add_registered(engine, arena, &names);
    if (store_list_definitions(engine->store, arena, &all, &page, &diag) == OK)
        for (size_t i = 0; i < page.count; i++)
            vec_push(&names, arena_cstr(arena, page.rows[i].name));
    const char *nearest = suggest_nearest(name, names.data, names.count);
    vec_free(&names);
    return nearest;
}
