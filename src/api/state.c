// Values that scripts have set with State.set, for readers outside.
//
// They are read from the store, as of the last commit of their run: nobody is asked and nothing is
// loaded, so looking at a million parked runs wakes none of them.
//
// Not here: setting them (engine/runners/flow.c), finding runs by them (look.c).
#include "api/api.h"
#include "base/memory.h"
#include "store/reads.h"

int abide_state_get(abide_engine *engine, const char *run_id, const char *key, char **ret_json,
                    abide_error *error) {
    if (engine == NULL || key == NULL || ret_json == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT",
                          "engine, key and ret_json are required");
    StateRef which = {0};
    Str value;
    Diag diag;
    Arena arena;
    arena_init(&arena);
    Status status = api_check_run_id(run_id, &which.run.id, &diag);
    if (status == OK) status = api_check_name(key, "the key", &which.name, &diag);
    if (status == OK) status = store_find_state(engine->store, &arena, &which, &value, &diag);
    if (status == OK) *ret_json = mem_copy(value.data, value.len);
    arena_done(&arena);
    return api_answer(error, status, &diag);
}

int abide_state_list(abide_engine *engine, const char *run_id,
                     int (*visit)(void *user, const char *key, const char *json), void *user,
                     abide_error *error) {
    if (engine == NULL || visit == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and visit are required");
    Str id;
    StateList list;
    Diag diag;
    Arena arena;
    arena_init(&arena);
    Status status = api_check_run_id(run_id, &id, &diag);
    if (status == OK)
        status = store_list_states(engine->store, &arena, run_of_id(id), &list, &diag);
    for (size_t i = 0; status == OK && i < list.count; i++) {
        const char *key = arena_cstr(&arena, list.rows[i].name);
        if (visit(user, key, arena_cstr(&arena, list.rows[i].value)) != 0) break;
    }
    arena_done(&arena);
    return api_answer(error, status, &diag);
}
