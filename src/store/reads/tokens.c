// Reads of tokens, newest first, expired ones included.
//
// What is stored of a token is a digest, so no read can give it away.
//
// Not here: making and removing them (kernel/tokens.c), what a token allows (server/access).
#include "store/reads/internal.h"

Status read_tokens(Reads *reads, const PageSpec *spec, TokenPage *ret_page) {
    Walk walk;
    TRY(walk_newest(reads, TABLE_TOKENS, spec, &walk));
    *ret_page = (TokenPage){(TokenRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}
