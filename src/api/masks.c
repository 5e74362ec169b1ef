// Masks of workflows: what `config.secret` of a version hides, for whoever shows data of its runs.
//
//   [api-masks-1] A version does not change and is never removed, so what was read once stays.
//   [api-masks-2] While a version cannot be read, everything of its runs is hidden.
//
// Not here: variables, which are hidden where they are looked at (flow/mask).
#include "api/api.h"
#include "flow/check/config.h"
#include "store/reads.h"

static const Mask hides_all = {.hides_all = true};
static const Mask hides_nothing = {0};

static const Mask *known(abide_engine *engine, int64_t definition) {
    pthread_mutex_lock(&engine->lock);
    const Mask *mask = map_get(&engine->masks, (uint64_t)definition);
    pthread_mutex_unlock(&engine->lock);
    return mask;
}

static const Mask *learn(abide_engine *engine, int64_t definition, Str config) {
    pthread_mutex_lock(&engine->lock);
    const Mask *mask = map_get(&engine->masks, (uint64_t)definition);
    if (mask == NULL) {
        mask = flow_config_mask(&engine->mask_arena, config);
        if (mask == NULL) mask = &hides_nothing;
        map_put(&engine->masks, (uint64_t)definition, (void *)(uintptr_t)mask);
    }
    pthread_mutex_unlock(&engine->lock);
    return mask;
}

static const Mask *or_null(const Mask *mask) { return mask == &hides_nothing ? NULL : mask; }

const Mask *engine_mask(abide_engine *engine, int64_t definition) {
    if (definition == 0) return NULL; // of a workflow in C
    const Mask *mask = known(engine, definition);
    if (mask != NULL) return or_null(mask);
    Arena arena;
    DefinitionRow row;
    arena_init(&arena);
    if (store_definition_by_key(engine->store, &arena, definition, &row, NULL) == OK)
        mask = learn(engine, definition, row.config);
    arena_done(&arena);
    return mask != NULL ? or_null(mask) : &hides_all; // [api-masks-2]
}

static bool add_page(abide_engine *engine, const DefinitionPage *page, EngineMasks *masks,
                     Arena *arena) {
    const Mask **items = ARENA_ARRAY(arena, const Mask *, masks->count + page->count + 1);
    for (size_t i = 0; i < masks->count; i++) items[i] = masks->items[i];
    for (size_t i = 0; i < page->count; i++) {
        const DefinitionRow *row = &page->rows[i];
        const Mask *mask = or_null(learn(engine, row->key, row->config));
        if (mask != NULL) items[masks->count++] = mask;
    }
    masks->items = items;
    return page->next != 0;
}

EngineMasks engine_common_masks(abide_engine *engine, Arena *arena) {
    static const Mask *const all[] = {&hides_all};
    EngineMasks masks = {0};
    DefinitionFilter filter = {.page = {.limit = 100}};
    Arena rows;
    arena_init(&rows);
    for (bool has_more = true; has_more;) {
        DefinitionPage page;
        arena_reset(&rows);
        if (store_list_definitions(engine->store, &rows, &filter, &page, NULL) != OK) {
            masks = (EngineMasks){all, 1}; // [api-masks-2]
            break;
        }
        has_more = add_page(engine, &page, &masks, arena);
        filter.page.after = page.next;
    }
    arena_done(&rows);
    return masks;
}

Str engine_hide(const EngineMasks *masks, Str name, Str json, Arena *arena) {
    for (size_t i = 0; i < masks->count; i++) json = mask_json(masks->items[i], name, json, arena);
    return json;
}
