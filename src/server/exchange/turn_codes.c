// Turn codes: what workers say that they have, and what the engine is told of it.
//
// A claim names workflows and versions; the engine knows them by the keys of their definitions.
// Those never change, so a key that was found once is kept and costs no look at the store.
//
// Invariant [turn-codes-1] is in turn_codes.h.
//
// Not here: the turns themselves (api/driver/turns.c), the routes (routes/turns.c).
#include "server/exchange/turn_codes.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text/name.h"
#include "server/server.h"
#include "store/reads.h"

enum {
    LINGER_MS = 10000,  // [turn-codes-1]
    WORKFLOWS_MAX = 256 // of one worker
};

static void look_around(Deadline *deadline);

void turn_codes_init(TurnCodes *self, Server *server) {
    *self = (TurnCodes){.server = server, .deadline.due = look_around};
    pthread_mutex_init(&self->lock, NULL);
    strmap_init(&self->keys);
}

void turn_codes_done(TurnCodes *self) {
    Str name;
    void *key;
    for (size_t at = 0; strmap_next(&self->keys, &at, &name, &key);) {
        mem_free((void *)(uintptr_t)name.data);
        mem_free(key);
    }
    strmap_done(&self->keys);
    pthread_mutex_destroy(&self->lock);
}

static bool find_known(TurnCodes *self, Str name, int64_t *ret_key) {
    pthread_mutex_lock(&self->lock);
    const int64_t *known = strmap_get(&self->keys, name);
    if (known != NULL) *ret_key = *known;
    pthread_mutex_unlock(&self->lock);
    return known != NULL;
}

static void note(TurnCodes *self, Str name, int64_t key) {
    pthread_mutex_lock(&self->lock);
    if (strmap_get(&self->keys, name) == NULL) {
        int64_t *own = mem_alloc(sizeof key);
        *own = key;
        strmap_put(&self->keys, (Str){mem_copy(name.data, name.len), name.len}, own);
    }
    pthread_mutex_unlock(&self->lock);
}

static Status find(Server *server, Arena *arena, Code *code, Diag *diag) {
    Str full = arena_printf(arena, "%.*s\n%.*s", STR_ARG(code->name), STR_ARG(code->version));
    if (find_known(&server->codes, full, &code->key)) return OK;
    DefinitionRow row;
    const DefinitionRef which = {.name = code->name, .version = code->version};
    Status status = store_find_definition(engine_store(server->engine), arena, &which, &row, diag);
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    if (row.kind != RUN_CODE)
        return diag_set(diag, ERR_CONFLICT, "WORKFLOW_KIND",
                        "\"%.*s\" is no workflow of another process", STR_ARG(code->name));
    code->key = row.key;
    note(&server->codes, full, row.key);
    return OK;
}

Status codes_find(Server *server, const Codes *codes, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    Status status = OK;
    for (size_t i = 0; i < codes->count && status == OK; i++)
        status = find(server, &arena, &codes->items[i], diag);
    arena_done(&arena);
    return status;
}

static Status read_code(const JsonValue *item, Code *code, Diag *diag) {
    static const char *const allowed[] = {"name", "version", "current", NULL};
    static const char *const required[] = {"name", "version", NULL};
    if (item->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "workflows: a list of objects");
    TRY(json_allow_only(item, allowed, diag));
    TRY(json_require(item, required, diag));
    TRY(json_get_string(item, "name", &code->name, diag));
    TRY(json_get_string(item, "version", &code->version, diag));
    TRY(json_get_bool(item, "current", &code->is_current, diag));
    TRY(name_check(code->name, "name", "BAD_NAME", LIMIT_NAME_SIZE, diag));
    return name_check(code->version, "version", "BAD_NAME", LIMIT_NAME_SIZE, diag);
}

Status codes_read(const JsonValue *body, Arena *arena, Codes *codes, Diag *diag) {
    const JsonValue *list = NULL;
    TRY(json_get_array(body, "workflows", &list, diag));
    if (list == NULL || list->count == 0 || list->count > WORKFLOWS_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "workflows: 1 to %d", WORKFLOWS_MAX);
    codes->items = ARENA_ARRAY(arena, Code, list->count);
    JSON_EACH (item, list) TRY(read_code(item, &codes->items[codes->count++], diag));
    return OK;
}

void turn_codes_serve(Server *server, const int64_t *keys, size_t count, int64_t until_ms) {
    TurnBoard *board = engine_turns(server->engine);
    for (size_t i = 0; i < count; i++)
        if (turns_ask(board, keys[i], until_ms + LINGER_MS))
            engine_serve_code(server->engine, keys[i]);
    server_set_deadline(server, &server->codes.deadline, turns_next_ms(board));
}

// With the server locked, on the ticker's thread.
static void look_around(Deadline *deadline) {
    TurnCodes *self = container_of(deadline, TurnCodes, deadline);
    abide_engine *engine = self->server->engine;
    TurnBoard *board = engine_turns(engine);
    int64_t now_ms = server_clock_ms(), unasked[16];
    turns_expire(board, now_ms);
    size_t count = turns_unasked(board, now_ms, COUNT_OF(unasked), unasked);
    for (size_t i = 0; i < count; i++) engine_unserve_code(engine, unasked[i]);
    int64_t next_ms = turns_next_ms(board);
    if (next_ms != NEVER_MS) server_repeat_deadline(self->server, deadline, next_ms);
}
