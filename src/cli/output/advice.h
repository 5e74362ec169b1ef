// Advice: what to do on the command line about an answer of the library, which knows no flags.
#pragma once
#include "base/diag.h"

// Appends "; what to do" to the message, where there is something to be said for its code.
void advice_add(Diag *diag);
// Whether what was typed is to blame. `is_of_server`: a server said so, and not the command.
bool advice_is_misuse(const Diag *diag, bool is_of_server);
