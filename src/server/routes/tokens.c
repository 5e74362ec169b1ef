// Tokens over HTTP: made, listed, removed.
//
// The text of a token leaves with the answer that made it and is kept nowhere. A change counts on
// this server before it is answered; on other nodes within TOKENS_STALE_MS.
//
// Not here: who is asked for a token (auth.c), what the store keeps (model/token.h).
#include "base/array.h"
#include "base/text/name.h"
#include "server/exchange/parts.h"

static void put_scopes(JsonWriter *json, int64_t scopes) {
    json_write_key(json, STR("scopes"));
    json_write_array_begin(json);
    for (int64_t scope = SCOPE_READ; scope <= SCOPE_ADMIN; scope <<= 1)
        if (scopes & scope) json_write_cstr(json, scope_name(scope));
    json_write_array_end(json);
}

static void put_members(JsonWriter *json, const TokenRow *token, int64_t now_ms) {
    json_put_string(json, "id", token->id);
    json_put_string(json, "name", token->name);
    put_scopes(json, token->scopes);
    json_put_string(json, "hint", token->hint);
    render_instant(json, "created_at", token->created_at_ms);
    render_instant(json, "expires_at", token->expires_at_ms);
    json_put_bool(json, "expired", token->expires_at_ms != 0 && token->expires_at_ms <= now_ms);
}

// The cache follows before the answer leaves; when the store is away it follows later.
static void refresh(Exchange *exchange) {
    int64_t now_ms = engine_now_ms(exchange->server->engine);
    Status status = tokens_read(&exchange->server->tokens, now_ms, NULL, NULL);
    (void)status;
}

// ---- create ----

static const Field create_fields[] = {
    {"name", "string", true, "For people, to tell tokens apart."},
    {"scopes", "strings", true, "One or more of read, client, worker, admin."},
    {"expires", "duration", false, "How long it is good for; without it, until it is removed."},
    {0}};

static Status read_scopes(const JsonValue *body, int64_t *ret_scopes, Diag *diag) {
    const JsonValue *list = NULL;
    TRY(json_get_array(body, "scopes", &list, diag));
    JSON_EACH (item, list) {
        int64_t scope = item->kind == JSON_KIND_STRING ? scope_from_name(item->string) : 0;
        if (scope == 0)
            return diag_set(diag, ERR_INVALID, "BAD_SCOPE",
                            "scopes: %.*s is none of \"read\", \"client\", \"worker\", \"admin\"",
                            STR_ARG(item->raw));
        *ret_scopes |= scope;
    }
    return OK;
}

static Status read_token(const JsonValue *body, int64_t now_ms, TokenRow *row, Diag *diag) {
    int64_t lifetime_ms = 0;
    TRY(json_get_string(body, "name", &row->name, diag));
    TRY(name_check(row->name, "name", "BAD_NAME", LIMIT_NAME_SIZE, diag));
    TRY(read_scopes(body, &row->scopes, diag));
    TRY(json_get_duration_ms(body, "expires", &lifetime_ms, diag));
    if (lifetime_ms > 0) row->expires_at_ms = now_ms + lifetime_ms;
    else if (json_member(body, STR("expires")) != NULL)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "expires: must be longer than nothing");
    return OK;
}

static void created(Exchange *exchange) {
    refresh(exchange);
    const TokenText *text = exchange->state;
    TokenRow row = exchange->request->op.in.create_token;
    row.created_at_ms = exchange->request->op.out.create_token.created_at_ms;
    JsonWriter *json = exchange_begin(exchange, 201);
    json_write_object_begin(json);
    put_members(json, &row, row.created_at_ms);
    json_put_cstr(json, "token", text->text);
    json_write_object_end(json);
    exchange_set_header(exchange, "Cache-Control", STR("no-store"));
    exchange_send(exchange);
}

static void create_token(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    abide_engine *engine = exchange->server->engine;
    TokenRow *row = &exchange_op(exchange, OP_CREATE_TOKEN)->in.create_token;
    Diag diag;
    Status status = read_token(body, engine_now_ms(engine), row, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    TokenText *text = ARENA_NEW(&exchange->arena, TokenText);
    *text = token_make(engine_env(engine));
    IdText id;
    row->id = arena_str(&exchange->arena, engine_new_id(engine, "tok_", &id));
    row->hash = (Str){text->hash, SHA256_HEX_SIZE};
    row->hint = (Str){text->text + TOKEN_TEXT_SIZE - TOKEN_HINT_SIZE, TOKEN_HINT_SIZE};
    exchange->state = text;
    exchange_submit(exchange, created);
}

// ---- list and remove ----

static const Field page_query[] = {PAGE_FIELDS, {0}};

static void put_token(Exchange *exchange, JsonWriter *json, const void *row) {
    json_write_object_begin(json);
    put_members(json, row, exchange_now_ms(exchange));
    json_write_object_end(json);
}

static void list_tokens(Exchange *exchange) {
    PageSpec spec;
    TokenPage page;
    Diag diag = {0};
    if (!parts_page(exchange, &spec)) return;
    Status status =
        store_list_tokens(exchange_store(exchange), &exchange->arena, &spec, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_token);
}

static void removed(Exchange *exchange) {
    refresh(exchange);
    exchange_send_text(exchange, 204, NULL, STR(""));
}

static void remove_token(Exchange *exchange) {
    Op *op = exchange_op(exchange, OP_REMOVE_TOKEN);
    op->in.remove_token.id = exchange->parameters[0];
    if (parts_check(exchange, op->in.remove_token.id, "the token's id", "BAD_ID"))
        exchange_submit(exchange, removed);
}

static const RouteAnswer create_answers[] = {
    {201, "The token; its text is shown this once.", "NewToken"}, {0}};
static const RouteAnswer list_answers[] = {{200, "A page, newest first.", "TokenList"}, {0}};
static const RouteAnswer gone_answers[] = {{204, "It is gone.", NULL}, {0}};
static const char *const create_codes[] = {"BAD_NAME", "BAD_SCOPE", "TOO_MANY_TOKENS", NULL};
static const char *const remove_codes[] = {"TOKEN_NOT_FOUND", "BAD_ID", NULL};

static const Route routes[] = {
    {"POST", "/v1/tokens", "createToken", "Make a token", SCOPE_ADMIN, BODY_OBJECT, create_fields,
     NULL, create_answers, create_codes, create_token},
    {"GET", "/v1/tokens", "listTokens", "List tokens", SCOPE_ADMIN, BODY_NONE, NULL, page_query,
     list_answers, NULL, list_tokens},
    {"DELETE", "/v1/tokens/{id}", "removeToken", "Remove a token", SCOPE_ADMIN, BODY_NONE, NULL,
     NULL, gone_answers, remove_codes, remove_token},
};
const RouteTable routes_tokens = {routes, COUNT_OF(routes)};
