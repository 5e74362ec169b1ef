// Tokens: made and removed; what they may do never changes.
//
//   [kernel-tokens-3] Id and digest of a token are unique. There are at most LIMIT_TOKEN_COUNT, so
//        that a server can keep all of them in memory.
//   [kernel-tokens-4] A token that has expired stays until a person removes it: whoever still uses
//        it is told that it expired, and not that it never was.
//
// Not here: texts and scopes (model/token.c), who is asked for one (server/access/auth.c).
#include "store/kernel/operations.h"

static Status token_check(Kernel *kernel, const TokenRow *row) {
    TRY(kernel_check_name(kernel, "the token's id", row->id, LIMIT_KEY_SIZE));
    TRY(kernel_check_name(kernel, "the token's name", row->name, LIMIT_NAME_SIZE));
    if (row->scopes == 0 || (row->scopes & ~(int64_t)SCOPE_ALL) != 0)
        return kernel_refuse(kernel, ERR_INVALID, "BAD_SCOPE",
                             "a token has one or more of the scopes read, client, worker, admin");
    if (row->hash.len != SHA256_HEX_SIZE || row->hint.len > TOKEN_HINT_SIZE)
        return kernel_refuse(kernel, ERR_INVALID, "BAD_TOKEN", "not the digest of a token");
    if (row->expires_at_ms != 0 && row->expires_at_ms <= kernel_now(kernel))
        return kernel_refuse(kernel, ERR_INVALID, "BAD_TIME",
                             "the token would have expired already");
    return OK;
}

Status apply_create_token(Kernel *kernel, Op *op) {
    TokenRow row = op->in.create_token;
    TRY(token_check(kernel, &row));
    TokenRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_TOKENS, .index = SCAN_PRIMARY, .limit = LIMIT_TOKEN_COUNT};
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count >= LIMIT_TOKEN_COUNT)
        return kernel_refuse(kernel, ERR_LIMIT, "TOO_MANY_TOKENS",
                             "there are %d tokens, which is the limit; remove some",
                             LIMIT_TOKEN_COUNT);
    for (size_t i = 0; i < count; i++) // [kernel-tokens-3]
        if (str_equal(rows[i].id, row.id) || str_equal(rows[i].hash, row.hash))
            return kernel_refuse(kernel, ERR_CONFLICT, "TOKEN_EXISTS",
                                 "there is a token of that id or digest already");
    row.key = kernel_next_key(kernel);
    row.created_at_ms = kernel_now(kernel);
    TRY(kernel_insert(kernel, TABLE_TOKENS, &row));
    op->out.create_token.key = row.key;
    op->out.create_token.created_at_ms = row.created_at_ms;
    return OK;
}

Status apply_remove_token(Kernel *kernel, Op *op) {
    TokenRow wanted = {.id = op->in.remove_token.id}, *rows = NULL;
    size_t count = 0;
    TRY(kernel_check_name(kernel, "the token's id", wanted.id, LIMIT_KEY_SIZE));
    Scan scan = scan_of(TABLE_TOKENS, TOKENS_BY_ID, &wanted, 1);
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0)
        return kernel_refuse(kernel, ERR_NOT_FOUND, "TOKEN_NOT_FOUND", "there is no token \"%.*s\"",
                             STR_ARG(wanted.id));
    return kernel_remove(kernel, TABLE_TOKENS, &rows[0]);
}
