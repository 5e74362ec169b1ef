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
#include "json/schema.h"
#include "json/write.h"
#include "server/server.h"
#include "store/reads.h"

enum {
    LINGER_MS = 10000,   // [turn-codes-1]
    WORKFLOWS_MAX = 256, // of one worker
    DESCRIPTION_MAX = 4096
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

// What of it belongs into the definition, as a script's config says it.
static Status read_config(const JsonValue *item, Arena *arena, Code *code, Diag *diag) {
    Str description = STR_NULL;
    const JsonValue *input = NULL;
    JsonFault fault;
    TRY(json_get_bool(item, "current", &code->is_current, diag));
    TRY(json_get_string(item, "description", &description, diag));
    TRY(json_get_object(item, "input", &input, diag));
    if (str_is_null(description) && input == NULL) return OK;
    if (description.len > DESCRIPTION_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "description: at most %d bytes",
                        DESCRIPTION_MAX);
    if (input != NULL && !schema_check(input, arena, &fault))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "input of \"%.*s\" is no schema: %.*s",
                        STR_ARG(code->name), STR_ARG(fault.message));
    Buf text;
    JsonWriter json;
    buf_init(&text, LIMIT_PAYLOAD_SIZE);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    if (!str_is_null(description)) json_put_string(&json, "description", description);
    if (input != NULL) json_put_raw(&json, "input", input->raw);
    json_write_object_end(&json);
    bool is_large = text.is_overflown;
    code->config = arena_str(arena, buf_str(&text));
    buf_done(&text);
    if (!is_large) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "input of \"%.*s\" is too large",
                    STR_ARG(code->name));
}

static Status read_code(const JsonValue *item, bool is_registration, Arena *arena, Code *code,
                        Diag *diag) {
    static const char *const claimed[] = {"name", "version", NULL};
    static const char *const registered[] = {"name",        "version", "current",
                                             "description", "input",   NULL};
    if (item->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "workflows: a list of objects");
    TRY(json_allow_only(item, is_registration ? registered : claimed, diag));
    TRY(json_require(item, claimed, diag));
    TRY(json_get_string(item, "name", &code->name, diag));
    TRY(json_get_string(item, "version", &code->version, diag));
    TRY(name_check(code->name, "name", "BAD_NAME", LIMIT_NAME_SIZE, diag));
    TRY(name_check(code->version, "version", "BAD_NAME", LIMIT_NAME_SIZE, diag));
    return is_registration ? read_config(item, arena, code, diag) : OK;
}

Status codes_read(const JsonValue *body, bool is_registration, Arena *arena, Codes *codes,
                  Diag *diag) {
    const JsonValue *list = NULL;
    TRY(json_get_array(body, "workflows", &list, diag));
    if (list == NULL || list->count == 0 || list->count > WORKFLOWS_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "workflows: 1 to %d", WORKFLOWS_MAX);
    codes->items = ARENA_ARRAY(arena, Code, list->count);
    JSON_EACH (item, list) {
        Code *code = &codes->items[codes->count++];
        TRY(read_code(item, is_registration, arena, code, diag));
    }
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
