// Secrets of the tasks that a claim was given.
#pragma once
#include "server/exchange/exchange.h"

// Puts the texts of secrets into the inputs of the tasks in exchange->request. Answers for how many
// that cannot be done here: the operations that fail those attempts, and which tasks they are by
// their index, are in the arena.
size_t claim_secrets_fill(Exchange *exchange, Request **ret_failed, bool **ret_is_failed);
