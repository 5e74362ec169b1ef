// Tokens: made once, listed, removed; only their digests are kept.
#include "contract/contract.h"
#include <stdio.h>

// A token whose digest is that of `text`; the batch is not submitted yet.
static Op *token_op(World *world, const char *id, const char *text) {
    Op *op = op_new(world, OP_CREATE_TOKEN);
    char *hash = arena_alloc(&world->arena, SHA256_HEX_SIZE + 1);
    token_hash(str_from(text), hash);
    op->in.create_token = (TokenRow){.id = str_from(id),
                                     .name = STR("deploys"),
                                     .hash = {hash, SHA256_HEX_SIZE},
                                     .hint = STR("7k3q"),
                                     .scopes = SCOPE_CLIENT | SCOPE_WORKER};
    return op;
}

static TokenPage list_tokens(World *world, int64_t after, int64_t limit) {
    const PageSpec spec = {.after = after, .limit = limit};
    TokenPage page = {0};
    assert_ok(store_list_tokens(world->store, &world->arena, &spec, &page, &world->diag));
    return page;
}

static void token_is_listed_as_it_was_made(void **state) {
    World *world = *state;
    Op *op = token_op(world, "tok_1", "secret");
    op->in.create_token.expires_at_ms = world->now_ms + DAY_MS;
    op_run(world, op, OK);
    assert_true(op->out.create_token.key > 0);
    assert_int_equal(op->out.create_token.created_at_ms, world->now_ms);
    world_reopen(world);
    TokenPage found = list_tokens(world, 0, 10);
    assert_int_equal(found.count, 1);
    const TokenRow *token = &found.rows[0];
    assert_text(token->id, "tok_1");
    assert_text(token->name, "deploys");
    assert_text(token->hint, "7k3q");
    assert_int_equal(token->scopes, SCOPE_CLIENT | SCOPE_WORKER);
    assert_int_equal(token->expires_at_ms, world->now_ms + DAY_MS);
    char hash[SHA256_HEX_SIZE + 1];
    token_hash(STR("secret"), hash);
    assert_text(token->hash, hash);
}

static void id_and_digest_are_unique(void **state) {
    World *world = *state;
    op_run(world, token_op(world, "tok_1", "a"), OK);
    Str before = world_dump(world);
    Op *same_id = token_op(world, "tok_1", "b");
    op_run(world, same_id, ERR_CONFLICT);
    assert_refused(same_id, ERR_CONFLICT, "TOKEN_EXISTS");
    op_run(world, token_op(world, "tok_2", "a"), ERR_CONFLICT);
    assert_unchanged(world, before);
    op_run(world, token_op(world, "tok_2", "b"), OK);
}

static void removed_token_is_gone_and_its_id_free(void **state) {
    World *world = *state;
    op_run(world, token_op(world, "tok_1", "a"), OK);
    op_run(world, token_op(world, "tok_2", "b"), OK);
    Op *op = op_new(world, OP_REMOVE_TOKEN);
    op->in.remove_token.id = STR("tok_1");
    op_run(world, op, OK);
    TokenPage found = list_tokens(world, 0, 10);
    assert_int_equal(found.count, 1);
    assert_text(found.rows[0].id, "tok_2");
    op = op_new(world, OP_REMOVE_TOKEN);
    op->in.remove_token.id = STR("tok_1");
    op_run(world, op, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "TOKEN_NOT_FOUND");
    op_run(world, token_op(world, "tok_1", "a"), OK);
}

static void expired_token_stays_until_it_is_removed(void **state) {
    World *world = *state;
    Op *op = token_op(world, "tok_1", "a");
    op->in.create_token.expires_at_ms = world->now_ms + SECOND_MS;
    op_run(world, op, OK);
    world->now_ms += DAY_MS;
    fire(world);
    sweep(world);
    assert_int_equal(list_tokens(world, 0, 10).count, 1);
}

static void token_that_makes_no_sense_is_refused(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    Op *op = token_op(world, "tok_1", "a");
    op->in.create_token.scopes = 0;
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_SCOPE");
    op = token_op(world, "tok_1", "a");
    op->in.create_token.scopes = SCOPE_ALL + 1;
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_SCOPE");
    op = token_op(world, "tok_1", "a");
    op->in.create_token.hash.len--;
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_TOKEN");
    op = token_op(world, "tok_1", "a");
    op->in.create_token.expires_at_ms = world->now_ms;
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_TIME");
    op = token_op(world, "tok_1", "a");
    op->in.create_token.name = STR("");
    op_run(world, op, ERR_INVALID);
    assert_unchanged(world, before);
}

static void tokens_are_counted_and_paged(void **state) {
    World *world = *state;
    for (int i = 0; i < (int)LIMIT_TOKEN_COUNT; i++) {
        char *name = arena_alloc(&world->arena, 16);
        snprintf(name, 16, "tok_%d", i);
        op_run(world, token_op(world, name, name), OK);
    }
    Op *op = token_op(world, "tok_more", "more");
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOO_MANY_TOKENS");
    TokenPage first = list_tokens(world, 0, 600);
    assert_int_equal(first.count, 600);
    assert_text(first.rows[0].id, "tok_999");
    TokenPage second = list_tokens(world, first.next, 600);
    assert_int_equal(second.count, 400);
    assert_text(second.rows[399].id, "tok_0");
    assert_int_equal(second.next, 0);
}

int contract_tokens(void) {
    const struct CMUnitTest tests[] = {
        CASE(token_is_listed_as_it_was_made),        CASE(id_and_digest_are_unique),
        CASE(removed_token_is_gone_and_its_id_free), CASE(expired_token_stays_until_it_is_removed),
        CASE(token_that_makes_no_sense_is_refused),  CASE(tokens_are_counted_and_paged),
    };
    return run_group("tokens", tests);
}
