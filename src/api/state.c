// Values that scripts have set with State.set, for readers outside.
//
// They are read from the store, as of the last commit of their run: nobody is asked and nothing is
// loaded, so looking at a million parked runs wakes none of them.
//
// Not here: setting them (engine/runners/flow.c), finding runs by them (look.c).
#include "api/api.h"
#include "base/memory.h"

static Status check(const char *run_id, const char *key, Query *query, Diag *diag) {
    TRY(api_check_run_id(run_id, &query->run_id, diag));
    return key ? api_check_name(key, "the key", &query->name, diag) : OK;
}

int abide_state_get(abide_engine *engine, const char *run_id, const char *key, char **ret_json,
                    abide_error *error) {
    if (engine == NULL || key == NULL || ret_json == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT",
                          "engine, key and ret_json are required");
    Query query = {.kind = QUERY_STATE};
    Diag diag;
    Arena arena;
    arena_init(&arena);
    Status status = check(run_id, key, &query, &diag);
    if (status == OK) status = store_read(engine->store, &arena, &query, &diag);
    if (status == OK) *ret_json = mem_copy(query.text.data, query.text.len);
    arena_done(&arena);
    return api_answer(error, status, &diag);
}

int abide_state_list(abide_engine *engine, const char *run_id,
                     int (*visit)(void *user, const char *key, const char *json), void *user,
                     abide_error *error) {
    if (engine == NULL || visit == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and visit are required");
    Query query = {.kind = QUERY_LIST_STATES};
    Diag diag;
    Arena arena;
    arena_init(&arena);
    Status status = check(run_id, NULL, &query, &diag);
    if (status == OK) status = store_read(engine->store, &arena, &query, &diag);
    for (size_t i = 0; status == OK && i < query.count; i++) {
        const char *key = arena_cstr(&arena, query.values[i].name);
        if (visit(user, key, arena_cstr(&arena, query.values[i].value)) != 0) break;
    }
    arena_done(&arena);
    return api_answer(error, status, &diag);
}
